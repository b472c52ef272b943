"""The instructions that an assignment inserts."""

import gc
import re

from kernels import ptx, ptxplus

from ptxtool.analysis.regalloc.assignment import assign
from ptxtool.base.collector import paused_collector
from ptxtool.ir.edit import splice
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.regalloc.inserted_code import InsertedCode
from ptxtool.passes.regalloc.renaming import rename


def inserted(function: Function, registers: int, predicates: int | None = None) -> list[str]:
    """The lines that the text has with so many registers, in order, without those of the original."""
    found = rename(function, assign(function, registers, predicates, True))
    text = splice(function.source.text, found.edits)
    after = parse(text).kernels["k"]
    return [after.text(i) for i, origin in enumerate(found.origins) if origin < 0]


def crowd(n: int, name: str, store: str, write: str = "mov.u32 {}, %clock;") -> str:
    names = [name.format(k) for k in range(n)]
    return "\n".join([*map(write.format, names), *map(store.format, names), "ret;"])


def test_a_store_ends_and_a_load_begins_with_the_temporary() -> None:
    store, load = inserted(ptx(crowd(4, "%r{}", "st.shared.u32 [0], {};")), 3)
    assert re.fullmatch(r"st\.local\.b32 \[__ptxtool_spill\], %r[0-2];", store)
    assert re.fullmatch(r"ld\.local\.b32 %r[0-2], \[__ptxtool_spill\];", load)


def test_a_pair_is_moved_at_once_and_each_slot_has_its_own_bytes() -> None:
    body = crowd(4, "%rd{}", "st.shared.u64 [0], {};", "mov.u64 {}, %clock64;")
    lines = inserted(ptx(body), 4)
    assert {re.sub(r"%rd\d", "%rd", line) for line in lines} == {
        *("st.local.b64 [__ptxtool_spill], %rd;", "ld.local.b64 %rd, [__ptxtool_spill];"),
        *("st.local.b64 [__ptxtool_spill+8], %rd;", "ld.local.b64 %rd, [__ptxtool_spill+8];"),
    }


def test_a_load_for_a_guarded_instruction_has_its_guard() -> None:
    lines = inserted(ptx("mov.pred %p1, 1;" + crowd(4, "%r{}", "@!%p1 st.shared.u32 [0], {};")), 3)
    assert [line.split()[0] for line in lines] == ["st.local.b32", "@!%p0"]


def test_ptxplus_spills_to_numbers() -> None:
    body = crowd(4, "$r{}", "mov.u32 s[0x0010], {};")
    lines = inserted(ptxplus(body.replace("ret;", "exit;")), 3)
    assert [re.sub(r"\$r\d", "$r", line) for line in lines] == [
        *("st.local.u32 [0x0000], $r;", "ld.local.u32 $r, [0x0000];")
    ]


def test_a_predicate_without_a_register_is_a_word() -> None:
    tests = "".join(f"setp.eq.u32 %p{k}, %r1, {k};\n" for k in range(3))
    uses = "".join(f"@%p{k} st.shared.u32 [0], {k};\n" for k in range(3))
    lines = inserted(ptx(f"mov.u32 %r1, %clock;\n{tests}{uses}ret;"), 8, 2)
    assert {re.sub(r"%([rp])\d", r"%\1", line) for line in lines} == {
        *("selp.b32 %r, 1, 0, %p;", "setp.ne.b32 %p, %r, 0;")
    }


def test_nothing_of_it_waits_for_the_collector() -> None:
    """The assignment would stay in memory while the new text is proved."""
    gc.collect()
    with paused_collector():
        before = sum(type(one) is InsertedCode for one in gc.get_objects())
        assert len(inserted(ptx(crowd(4, "%r{}", "st.shared.u32 [0], {};")), 3)) == 2
        assert sum(type(one) is InsertedCode for one in gc.get_objects()) <= before
