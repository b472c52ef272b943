"""The release passes on text: where marks go, which marks go, and what they say. `%r2` and above are shared."""

import pytest

from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %r<4>;\n"
MARK = '.pragma "release_registers";'
PASS = "release-registers{share=50,registers=4}"


def released(body: str, pipeline: str = PASS, newline: str = "\n") -> tuple[str, str]:
    text = f"{HEAD}{body}}}\n".replace("\n", newline)
    result = rewrite(parse(text), pipeline)
    assert rewrite(result.module, pipeline).module is result.module, "not idempotent"
    after = result.module.source.text.replace(newline, "\n")
    return after.removeprefix(HEAD).removesuffix("}\n"), result.remarks[0].message


def test_a_mark_has_a_line_of_its_own() -> None:
    for newline in ("\n", "\r\n"):
        found = released("  mov.u32 %r3, 1;\n  mov.u32 %r1, 1;\n  ret;\n", newline=newline)
        assert found == (
            f"  mov.u32 %r3, 1;\n  {MARK}\n  mov.u32 %r1, 1;\n  ret;\n",
            "released before line 8",
        )


def test_a_mark_stands_behind_a_label_on_its_line() -> None:
    body = "\tmov.u32 %r3, 1;\n\tbra L;\nL: mov.u32 %r1, 1;\n\tbra L;\n"
    assert released(body)[0] == f"\tmov.u32 %r3, 1;\n\t{MARK}\n\tbra L;\nL: mov.u32 %r1, 1;\n\tbra L;\n"
    body = "\tmov.u32 %r3, 1;\nL: mov.u32 %r1, 1;\n\tbra L;\n"
    assert released(body)[0] == f"\tmov.u32 %r3, 1;\nL: {MARK} mov.u32 %r1, 1;\n\tbra L;\n"


def test_old_marks_go_and_right_ones_stay() -> None:
    right = f"\tmov.u32 %r3, 1;\n\t{MARK} // mine\n\tmov.u32 %r1, 1;\n\tret;\n"
    assert released(right) == (right, "nothing to do: the marks stand where they should")
    old = f"\t{MARK}\n\tmov.u32 %r3, 1; {MARK} {MARK}\n\tmov.u32 %r1, 1;\n\tret; {MARK}\n"
    assert released(old)[0] == f"\tmov.u32 %r3, 1; {MARK} \n\tmov.u32 %r1, 1;\n\tret; \n"


def test_a_statement_that_releases_both_loses_one() -> None:
    both = '\t.pragma "release_scratchpad", "release_registers";\n'
    body = "\tmov.u32 %r3, 1;\n\tret;\n"
    assert released(both + body)[0] == f'\t.pragma "release_scratchpad";\n{body}'


@pytest.mark.parametrize(
    ("body", "pipeline", "message"),
    [
        ("\tmov.u32 %r3, 1;\n\tret;\n", PASS, "nothing to release: shared registers are in use to the end"),
        ("\tmov.u32 %r1, 1;\n\tret;\n", PASS, "nothing to release: no shared register is used"),
        ("\tret;\n", "release-registers{share=0}", "nothing is shared at 0%"),
        ("\tret;\n", "release-scratchpad{share=90}", "nothing to release: the shared part is not accessed"),
        ("\tret;\n", "release-scratchpad{share=0}", "nothing is shared at 0%"),
    ],
)
def test_nothing_to_release(body: str, pipeline: str, message: str) -> None:
    assert released(body, pipeline) == (body, message)
