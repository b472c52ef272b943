"""The text of a function whose registers have an assignment, and the origin of each of its instructions."""

import pytest
from kernels import ptx

from ptxtool.analysis.regalloc.assignment import assign
from ptxtool.ir.edit import splice
from ptxtool.ir.nodes import Function
from ptxtool.passes.regalloc import renaming
from ptxtool.passes.regalloc.renaming import rename


def renamed(function: Function, registers: int | None = None) -> tuple[str, tuple[int, ...], int]:
    """The body after its head, the origins and the number of dropped copies."""
    found = rename(function, assign(function, registers))
    text = splice(function.source.text, found.edits)
    return text[text.index("{\n") + 2 : text.rindex("}")], tuple(found.origins), found.n_copies


def test_a_copy_of_a_unit_to_itself_goes_with_its_line() -> None:
    body = "mov.u32 %x, %clock;\nmov.u32 %y, %x; // a copy\nadd.u32 %y, %y, 1;\n"
    body += "mov.b32 %x, %y;\nst.shared.u32 [0], %x;\nret;"
    after, origins, n_copies = renamed(ptx(body, ".reg .b32 %x, %y;"))
    assert after == (
        ".reg .b32 %r<1>;\nmov.u32 %r0, %clock;\n // a copy\nadd.u32 %r0, %r0, 1;\nst.shared.u32 [0], %r0;\nret;\n"
    )
    assert (origins, n_copies) == ((0, 2, 4, 5), 2)


def test_new_declarations_take_the_place_of_the_first() -> None:
    body = (
        "\t.shared .b32 tile;\n\t.reg .b64 %y;\n\tmov.u64 %y, %clock64;\n\tst.shared.u64 [tile], %y;\n\tret;"
    )
    after, _, _ = renamed(ptx(body, "\t.reg .pred %q;\n\t.reg .b32 %unused;"))
    assert after == (
        "\t.reg .b64 %rd<1>;\n\t.shared .b32 tile;\n\tmov.u64 %rd0, %clock64;\n\tst.shared.u64 [tile], %rd0;\n\tret;\n"
    )


def test_declarations_of_an_inner_block_move_to_the_head() -> None:
    body = "\t{\n\t.reg .b32 %x;\n\tmov.u32 %x, 1;\n\tst.shared.u32 [0], %x;\n\t}\n\tret;"
    after, _, _ = renamed(ptx(body, "\t// first"))
    expected = "\t// first\n\t{\n\tmov.u32 %r0, 1;\n\tst.shared.u32 [0], %r0;\n\t}\n\tret;\n"
    assert after == f"\t.reg .b32 %r<1>;\n{expected}"


def test_origins_of_inserted_instructions_are_none() -> None:
    body = "\n".join(
        [
            *(f"mov.u32 %r{k}, %clock;" for k in range(3)),
            *(f"st.shared.u32 [0], %r{k};" for k in range(3)),
            "ret;",
        ]
    )
    after, origins, _ = renamed(ptx(body), 2)
    assert [origin for origin in origins if origin >= 0] == list(range(7))
    assert origins.count(-1) == after.count(".local.b32")
    assert ".local .align 16 .b8 __ptxtool_spill[4];" in after


@pytest.mark.parametrize("at_once", [1, 2, 3, 5])
def test_parts_of_a_text_are_renamed_as_the_whole(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    lines = [f"mov.u32 %x{k}, %clock; // %x{k}" for k in range(9)]
    lines += [f"L{k}: mov.b32 %y, %x{k}; add.u32 %y, %y, %x{k}; st.shared.u32 [0], %y;" for k in range(9)]
    function = ptx("\n".join([*lines, "ret;"]), ".reg .b32 %x<9>, %y;")
    for registers in (None, 4):
        monkeypatch.setattr(renaming, "_AT_ONCE", 1000)
        whole = renamed(function, registers)
        monkeypatch.setattr(renaming, "_AT_ONCE", at_once)
        assert renamed(function, registers) == whole
