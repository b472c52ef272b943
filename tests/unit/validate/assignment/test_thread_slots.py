"""Slots of threads in shared memory: what the proof takes for their address, and mutants of demoted kernels."""

import pytest
from kernels import ptxplus

from ptxtool.base.diag import PtxError
from ptxtool.ir.edit import splice
from ptxtool.ir.nodes import Declaration, Function
from ptxtool.parse import parse
from ptxtool.passes.demotion.demote import Demote
from ptxtool.passes.regalloc.claim import AssignmentClaim
from ptxtool.validate.assignment.thread_slots import is_slots, slots_of_threads

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
DECLARED = ".reg .b16 %rs<4>; .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
SLOTS = ".shared .align 4 .b8 __ptxtool_demoted[256];\n"


def kernel(body: str, directives: str) -> Function:
    return parse(f"{HEAD}.entry k() {directives} {{\n{DECLARED}{body}\nret;\n}}\n").kernels["k"]


def slots(entry: str, directives: str, threads: int, declared: str = SLOTS) -> object:
    before, after = kernel("", directives), kernel(declared + entry, directives)
    return slots_of_threads(before, after, [-1] * (len(after.instructions) - 1) + [0], threads)


LINEAR = "mov.u32 %r0, %tid.x; mov.u32 %r1, __ptxtool_demoted; shl.b32 %r0, %r0, 2; add.u32 %r0, %r0, %r1;"
SQUARE = (
    "mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.y; mov.u32 %r0, %tid.x; mad.lo.u32 %r0, %r1, %r2, %r0;"
    "mov.u32 %r1, __ptxtool_demoted; mul.lo.u32 %r0, %r0, 4; add.u32 %r0, %r1, %r0;"
)


@pytest.mark.parametrize(
    ("entry", "directives", "is_right"),
    [
        (LINEAR, ".reqntid 32", True),
        (LINEAR, ".maxntid 32", False),  # there may be a tid.y
        (LINEAR, ".reqntid 8, 4", False),
        (LINEAR.replace("2;", "3;"), ".reqntid 32", False),
        (LINEAR.replace("%tid.x", "%tid.y"), ".reqntid 32", False),
        (LINEAR.replace("%tid.x", "%laneid"), ".reqntid 32", False),
        (f"@%p0 {LINEAR}", ".reqntid 32", False),
        (SQUARE, ".reqntid 8, 4", True),
        (SQUARE, ".reqntid 4, 4, 2", False),
    ],
)
def test_the_address_of_a_thread(entry: str, directives: str, is_right: bool) -> None:
    found = slots(entry, directives, 32)
    assert isinstance(found, str) != is_right, found


def test_what_else_is_wrong() -> None:
    assert "may have more than 16 threads" in str(slots(LINEAR, ".reqntid 32", 16))
    assert "overwrites the address" in str(slots(f"{LINEAR} mov.u32 %r0, 1;", ".reqntid 32", 32))
    assert "has 0 variables" in str(slots("", ".reqntid 32", 32, ".shared .b8 mine[256];\n"))


@pytest.mark.parametrize(
    ("declaration", "is_one"),
    [
        (SLOTS, True),
        (".shared .align 2 .b8 __ptxtool_demoted[256];", False),
        (".shared .align 4 .b32 __ptxtool_demoted[64];", False),
        (".local .align 4 .b8 __ptxtool_demoted[256];", False),
    ],
)
def test_which_variables_hold_slots(declaration: str, is_one: bool) -> None:
    before, after = kernel("", ""), kernel(declaration, "")
    statement = next(s for s in after.body or () if isinstance(s, Declaration) and s.space != "reg")
    assert is_slots(statement, before) == is_one
    assert not is_slots(statement, after), "the original has it too"


BODY = """\
ld.shared.u32 %r0, [0];
ld.shared.u32 %r1, [4];
ld.shared.u64 %rd1, [8];
setp.eq.u32 %p0, %r0, 1;
@%p0 add.u32 %r1, %r1, 1;
st.shared.u32 [0], %r0;
st.shared.u32 [4], %r1;
st.shared.u64 [8], %rd1;"""


def demoted() -> tuple[Function, str, Demote]:
    before = kernel(BODY, ".reqntid 32")
    one = Demote(count=9)
    return before, splice(before.source.text, one.run(before.module).edits), one


def problems(old: str, new: str, skip: int = 0) -> str:
    """What the proof says after a part of the demoted text was replaced."""
    before, text, one = demoted()
    parts = text.split(old)
    assert len(parts) > skip + 1, text
    text = old.join(parts[: skip + 1]) + new + old.join(parts[skip + 1 :])
    claim = one.run(before.module).claim
    if not new:  # the origin of a line that is gone
        line = parse(HEAD + text.partition(HEAD)[2]).kernels["k"]
        origins = [*claim.origins["k"]]  # type: ignore[attr-defined]
        gone = next(
            n for n, t in enumerate(_texts(demoted()[1])) if n >= len(_texts(text)) or t != _texts(text)[n]
        )
        del origins[gone]
        claim = type(claim)({"k": tuple(origins)}, {"k": 32})  # type: ignore[call-arg]
        assert len(line.instructions) == len(origins)
    return "\n".join(map(str, claim(before.module, parse(text))))


def _texts(text: str) -> list[str]:
    function = parse(text).kernels["k"]
    return [function.text(i) for i in range(len(function.instructions))]


def test_what_demote_gives_is_proved() -> None:
    assert problems("ret;", "ret;") == ""


@pytest.mark.parametrize(
    ("old", "new", "skip"),
    [
        ("ld.shared.b32 %r6, [%r5+128];", "ld.shared.b32 %r6, [%r5];", 0),  # another register's slot
        ("ld.shared.b32 %r6, [%r5+128];", "ld.shared.b32 %r6, [%r5+4];", 0),  # another thread's
        ("ld.shared.b32 %r6, [%r5+128];", "ld.shared.b32 %r6, [%r5+4096];", 0),  # outside
        ("ld.shared.b32 %r6, [%r5];\n", "", 0),  # a missing reload
        ("st.shared.b32 [%r5], %r6;\n", "", 0),  # a missing store
        ("@%p0 st.shared", "st.shared", 0),  # a dropped guard
        ("@%p0 st.shared", "@!%p0 st.shared", 0),
        ("mov.b64 %rd3, {%r6, %r7};", "mov.b64 %rd3, {%r7, %r6};", 0),  # halves exchanged
        ("shl.b32 %r6, %r6, 2;", "shl.b32 %r6, %r6, 1;", 0),
        ("__ptxtool_demoted[512]", "__ptxtool_demoted[384]", 0),  # too small
    ],
)
def test_mutants_are_found(old: str, new: str, skip: int) -> None:
    assert "E303" in problems(old, new, skip)


def test_a_larger_cta_is_found() -> None:
    before, text, one = demoted()
    claim = one.run(before.module).claim
    larger = type(claim)(claim.origins, {"k": 31})  # type: ignore[attr-defined, call-arg]
    assert "may have more than 31 threads" in str(larger(before.module, parse(text))[0])
    with pytest.raises(PtxError, match="E301"):
        Demote(count=9, threads=31).run(before.module)


PTXPLUS = """\
mov.u32 $r1, s[0x0010];
mov.u16 $r1.hi, $r0.lo;
@$p0.ne add.u32 $r1, $r1, $r0;
st.global.u32 [$r1], $r0;
ld.shared.u32 $r2, [0x0020];
st.global.u32 [$r0], $r2;
exit;"""


def ptxplus_problems(old: str, new: str, dynamic: int = 64) -> str:
    """What the proof says after a part of a demoted kernel of PTXPlus, with 64 bytes from its launch, was replaced."""
    before = ptxplus(PTXPLUS, ".reg .u32 $r<4>; .reg .pred $p<1>; .shared .align 4 .b8 own[16];")
    result = Demote(count=9, threads=32, dynamic_shared=64).run(before.module)
    text = splice(before.source.text, result.edits)
    assert old in text, text
    claim = AssignmentClaim(result.claim.origins, {"k": 32}, {"k": dynamic})  # type: ignore[attr-defined]
    return "\n".join(map(str, claim(before.module, parse(text.replace(old, new, 1)))))


def test_ptxplus_is_proved() -> None:
    """16 bytes of header, 4 of the parameter, 16 of the variable, rounded up to 48, and 64 dynamic ones: 0x70."""
    assert ptxplus_problems("$r6, 0x00000070;", "$r6, 0x00000070;") == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("$r6, 0x00000070;", "$r6, 0x0000006c;"),  # a word of the kernel's own
        ("$r6, 0x00000070;", "$r6, 0x00000074;"),  # past the end
        ("__ptxtool_demoted[256]", "__ptxtool_demoted[128]"),
        ("ld.shared.u32 $r6, [$r5+0x0080];\n\tmov.u16", "ld.shared.u32 $r6, [$r5];\n\tmov.u16"),
        ("@$p0.ne st.shared", "@$p0.eq st.shared"),
        ("%tid.x", "%tid.y"),
    ],
)
def test_mutants_of_ptxplus_are_found(old: str, new: str) -> None:
    assert "E303" in ptxplus_problems(old, new)


def test_launches_with_more_shared_memory_are_found() -> None:
    """68 dynamic bytes, where the text's slots begin after 64."""
    assert "does not begin with the address" in ptxplus_problems("exit;", "exit;", 68)


def test_an_original_that_may_access_the_slots_is_found() -> None:
    before = ptxplus("mov.u32 $r1, s[0x0040]; exit;", ".reg .u32 $r<4>;")
    result = Demote(count=1, threads=32, dynamic_shared=64).run(before.module)
    claim = AssignmentClaim(result.claim.origins, {"k": 32})  # type: ignore[attr-defined]
    (problem,) = claim(before.module, parse(splice(before.source.text, result.edits)))
    assert "'mov.u32 $r1, s[0x0040];' may access the shared memory of the slots" in problem.message
