"""The instruction table: what it covers, and how opcodes match."""

from pathlib import Path

import pytest

from ptxtool.isa.table import Table, files, load, repeated, table
from ptxtool.parse import parse

# Words of real files that are no opcodes: of ZLUDA's own tests, and one that ptxas refuses (only memory has '.v8').
NO_OPCODES = """
valid zluda.repack_vector.extract.relaxed.b32 zluda.set_mode.denormal.f32::off.f16f64::on mov.v8.u16
"""

# every form of PTXPlus that its converters print or its simulator implements, with its number of operands
PTXPLUS_FORMS = """
mov.u32 2; mov.half.u32 2; mov.b32 2; mov.u16 2; mov.u8 2; mov.s16 2; mov.pred 2; mov.bb64 2; mov.bb128 2
mov.exit.u32 2; mov.half.exit.u32 2; mov.u32 3; cvt.u32.u16 2; cvt.rn.f32.s32 2; cvt.rz.s32.f32 2
cvt.ff64.s32 2; cvt.u32.u32 2; cvt.neg.s32.s32 2; cvt.sat.f32.f32 2; cvt.rni.f32.f32 2; cvt.f32.f16 2
cvt.f64.f32 2; abs.f32 2; abs.u32 2; add.u32 3; add.half.u32 3; add.u32.half 3; add.half.rn.f32 3; add.f32 3
add.ff64 3; add.sat.f32 3; addp.u32 4; sub.u32 3; sub.b32 3; subr.u32 3; addc.u32 3; subc.u32 3; mul.lo.u32 3
mul.wide.u16 3; mul.hi.s32 3; mul.f32 3; mul.half.f32 3; mul.ff64 3; mul.half.lo.u16 3; mul24.lo.u32 3
mul24.hi.s32 3; mad.wide.u16 4; mad.wide.s16 4; mad.wide.u32 4; madp.wide.u16 5; mad.lo.u32 4; mad.lo.u16 4
mad24.lo.u32 4; mad24.lo.s32 4; mad.f32 4; mad.half.f32 4; fma.rz.ff64 4; sad.u32 4; min.s32 3; max.f32 3
min.f64 3; max.ff64 3; set.le.s32.s32 3; set.gt.f32.f32 3; set.lt.f64.f64 3; set.gtu.f32.f32 3
set.abs.lt.f32.f32 3; set.hi.u32.u32 3; and.b32 3; and.half.b32 3; or.u16 3; xor.b32 3; not.b32 2; shl.u32 3
shl.b32 3; shr.s32 3; shr.half.u32 3; rcp.f32 2; rcp.half.f32 2; rsqrt.f32 2; rsqrt.abs.f32 2; ex2.f32 2
lg2.f32 2; sin.f32 2; cos.f32 2; nop 0; nop.exit 0; ld.global.u32 2; ld.global.v2.u32 2; ld.global.v4.u32 2
st.global.u32 2; st.global.v4.u32 2; ld.local.u32 2; st.local.u32 2; ld.shared.u32 2; st.shared.u32 2
atom.global.add.u32 3; atom.global.min.s32 3; atom.global.max.u32 3; atom.shared.add.u32 3; tex.1d.v4.f32.s32 3
tex.3d.b32.f32 3; vote.any 2; vote.all 2; bar.sync 1; bar.sync 2; bra 1; brx.u32 1; brx 1; callp 1; retp 0
ssy 1; exit 0; andn.b32 3; orn.b32 3; nandn.b32 3; norn.b32 3; neg.s32 2; neg.f32 2; slct.u32.s32 4; selp.u32 4
setp.lt.u32 3; div.u32 3; rem.u32 3; sqrt.f32 2; popc.b32 2; clz.b32 2; brev.b32 2; bfe.u32 4; bfi.b32 5
prmt.b32 4; breakaddr 1; break 0; membar.gl 0; and.pred 3; or.pred 3; not.pred 2; xor.pred 3; nandn.pred 3
cnot.pred 2
vote.ballot.b32 2; mul.wide.s16 3; mul.hi.u16 3; set.ltu.u32.f32 3; set.num.f32.f32 3; set.hs.u16.u16 3
set.eq.ff64.ff64 3; abs.f64 2; cvt.rz.f32.f32 2; cvt.rpi.s32.f32 2; cvt.rn.ff64.f32 2; cvt.s32.ff64 2
cvt.neg.f32.f32 2; mov.f32 2; mov.s8 2; mov.ff64 2; sub.ff64 3; add.rz.f32 3; mad.rz.f32 4; mad.sat.f32 4
mul.sat.f32 3; fma.rn.f64 4; mad.half.lo.u16 4; madp.lo.u32 5; addp.half.u32 4; sad.u16 4; sad.s32 4; shl.u16 3
shr.u16 3; slct.u32.f32 4; setp.lt.and.f32 4; setp.eq.s32 3; div.f32 3; atom.global.cas.b32 4; tex.2d.v4.f32.f32 3
membar.sys 0; andn.b16 3; nandn.b64 3; orn.pred 3; norn.pred 3; retp.exit 0; and.exit.b32 3; ret 0; abs.s32 2
sst.sstarr.f32 4; slct.f32.f32 4; selp.f32 4; cvt.u8.u32 2; shr.u64 3; red.shared.add.u32 2; atom.global.inc.u32 3
popc.b64 2; bfe.s32 4; brev.b64 2; mov.bb128 2; st.shared.v2.u32 2; ld.const.u32 2; setp.ne.f32 3; sub.half.u32 3
"""


@pytest.mark.parametrize(
    "form", [f.strip() for f in PTXPLUS_FORMS.replace("\n", ";").split(";") if f.strip()]
)
def test_every_ptxplus_form_matches(form: str) -> None:
    opcode, count = form.split()
    assert table().match(opcode, int(count), True) is not None


def test_every_opcode_of_real_files_matches(shared: Path) -> None:
    lines = (shared / "reference" / "opcode_counts.tsv").read_text().splitlines()[1:]
    opcodes = [line.split("\t")[0] for line in lines]
    unknown = [o for o in opcodes if not any(table().match(o, n, False) for n in range(16))]
    assert len(opcodes) > 1000
    assert sorted(unknown) == sorted(NO_OPCODES.split())


def test_every_instruction_of_the_ptxplus_corpus_matches(corpus: tuple[Path, ...]) -> None:
    unknown: set[str] = set()
    for path in corpus:
        if path.suffix == ".ptxplus":
            for function in parse(path.read_bytes()).functions.values():
                for node in function.instructions:
                    if table().match(node.opcode.text, len(node.operands), True) is None:
                        unknown.add(f"{path.name}: {function.text(node)}")
    assert unknown == set()


@pytest.mark.parametrize(
    ("opcode", "operands", "type", "stype", "modifiers"),
    [
        ("add.s32", 3, "s32", "", set()),
        ("fma.rn.ftz.f32", 4, "f32", "", {"rn", "ftz"}),
        ("cvt.rzi.s32.f32", 2, "s32", "f32", {"rzi"}),
        ("div.ftz.rn.f32", 3, "f32", "", {"rn", "ftz"}),  # ptxas takes either order
        ("atom.add.relaxed.cta.u64", 3, "u64", "", {"add", "relaxed", "cta"}),
        ("atom.global.sys.add.f64", 3, "f64", "", {"global", "sys", "add"}),
        ("min.ftz.xorsign.abs.f32", 3, "f32", "", {"ftz", "xorsign.abs"}),
        ("ld.global.L1::no_allocate.v4.b32", 2, "b32", "", {"global", "L1::no_allocate", "v4"}),
    ],
)
def test_ptx_match(opcode: str, operands: int, type: str, stype: str, modifiers: set[str]) -> None:
    match = table().match(opcode, operands, False)
    assert match is not None
    assert (match.type, match.stype, set(match.modifiers)) == (type, stype, modifiers)


@pytest.mark.parametrize(
    ("opcode", "operands", "ptxplus"),
    [
        ("add.q32", 3, False),  # no such type
        ("add.s32", 2, False),  # too few operands
        ("add.half.u32", 3, False),  # PTXPlus only
        ("frobnicate.u32", 1, False),
        ("add", 3, False),
        ("retp", 0, False),
        ("join", 0, True),
    ],
)
def test_no_match(opcode: str, operands: int, ptxplus: bool) -> None:
    assert table().match(opcode, operands, ptxplus) is None


def test_half_and_exit_fit_every_ptxplus_opcode() -> None:
    match = table().match("mov.half.exit.u32", 2, True)
    assert match is not None
    assert match.modifiers == {"half", "exit"}


def test_one_of_names_the_modifier_present() -> None:
    match = table().match("setp.lt.s32", 3, False)
    assert match is not None
    assert match.one_of("gt", "lt") == "lt"
    assert match.one_of("eq") == ""


def test_the_whole_table_is_consistent() -> None:
    whole = load(files())
    assert dict(whole.forms) == dict(table().forms)
    assert len(whole.forms) > 200


LITTLE = """
f = [
  { ops = "w:d r:mask:u32?m r:policy:b64?h", mods = "m? h? x|y?", types = "u32 u64", not = "$apart, h !y u32" },
]

[groups]
apart = "x|m u64, z u32"
"""


def _little_table() -> Table:
    return load({"family": LITTLE})


@pytest.mark.parametrize(
    ("opcode", "operands"),
    [
        ("f.u32", ["d"]),
        ("f.m.u32", ["d", "mask"]),
        ("f.h.y.u32", ["d", "policy"]),
        ("f.m.h.y.u32", ["d", "mask", "policy"]),
    ],
)
def test_a_modifier_brings_its_operand(opcode: str, operands: list[str]) -> None:
    for n in range(5):
        match = _little_table().match(opcode, n, False)
        assert (match is not None) == (n == len(operands))
        assert match is None or [o.name for o in match.operands] == operands


@pytest.mark.parametrize(
    ("opcode", "is_known"), [("f.x.u32", True), ("f.y.u64", True), ("f.x.u64", False), ("f.u64.x", False)]
)
def test_words_that_exclude_each_other(opcode: str, is_known: bool) -> None:
    assert (_little_table().match(opcode, 1, False) is not None) == is_known


@pytest.mark.parametrize(
    ("opcode", "is_known"), [("f.h.y.u32", True), ("f.h.u64", True), ("f.h.x.u32", False), ("f.h.u32", False)]
)
def test_a_word_that_needs_another(opcode: str, is_known: bool) -> None:
    assert (_little_table().match(opcode, 2, False) is not None) == is_known


def test_a_leading_modifier_keeps_its_place() -> None:
    row = load({"family": 'mul = [{ ops = "w:d r:a r:b", mods = "^lo|hi sat?", types = "u32" }]'})
    assert row.match("mul.lo.sat.u32", 3, False) is not None
    assert row.match("mul.lo.u32.sat", 3, False) is not None
    assert row.match("mul.u32.lo", 3, False) is None
    assert row.match("mul.half.lo.u32", 3, True) is not None


@pytest.mark.parametrize(
    ("opcode", "n", "word"),
    [
        ("add.sat.sat.f32", 3, "sat"),
        ("cos.approx.approx.f32", 2, "approx"),
        ("bra.uni.uni.uni", 1, "uni"),
        ("shfl.sync.idx.sync.b32", 5, "sync"),
        ("bar.sync.sync", 1, "sync"),
        ("add.sat.f32", 3, ""),
    ],
)
def test_some_modifiers_may_stand_twice(opcode: str, n: int, word: str) -> None:
    assert repeated(opcode) == word
    assert table().match(opcode, n, ptxplus=False) is not None


def test_a_surplus_predicate_type_means_nothing() -> None:
    match = table().match("fma.rn.pred.f32", 4, ptxplus=False)
    assert match is not None
    assert match.type == "f32"
    assert table().match("setp.eq.pred", 3, ptxplus=False) is None


@pytest.mark.parametrize("opcode", ["add.rn.rn.f32", "add.ftz.ftz.f32", "add.s32.s32", "add.sat.sat.f64"])
def test_others_may_not(opcode: str) -> None:
    assert table().match(opcode, 3, ptxplus=False) is None


def test_units_are_those_of_the_rows() -> None:
    assert table().units == {form.unit for forms in table().forms.values() for form in forms}
