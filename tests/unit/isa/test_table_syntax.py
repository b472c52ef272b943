"""The table against the manual's syntax of every instruction: nothing that the reference has is missing.

Every line of syntax is expanded. For each of its choices (an alternative, a modifier there or not, an operand there or
not) some instruction with it must be known to the table, with as many operands and of the same kinds: brackets, braces,
a pair `d|p`, a negated predicate, the sink. The manual's lines also stand for many instructions that do not exist
(`atom.and.f32`); of those that the table does not know some thousand go to ptxas, which must refuse them all.
"""

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from form_text import arch_of, operand_text
from ptxas import needs_ptxas
from reference_syntax import Line, Text, lines
from verdicts import asked, compiles

from ptxtool.isa.forms import Form
from ptxtool.isa.operands import OperandSpec
from ptxtool.isa.table import Match, table
from ptxtool.isa.types import TYPES

LIMIT = 400
"""Instructions made of one line of syntax."""

# Choices that no instruction can make, by the beginnings of lines: ptxas refuses all of them, as a test below shows.
_NOT_LOCAL = "const local param param::entry param::func"
_SURFACE = "no trap|clamp|zero"
_FIXED_A = "collector::a::fill collector::a::use"
IMPOSSIBLE = {
    "atom{.sem}{.scope}{.space}.op{.level::cache_hint}": "cas",  # it has three operands
    "atom{.sem}{.scope}{.space}.op.type": "add and dec exch inc max min or xor f32 f64 s32 s64 u32 u64",  # .cas has
    "clusterlaunchcontrol.query_cancel{": "no get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z",
    "cp.reduce.async.bulk.dst.src.completion_mechanism.redOp.type": "b64",
    "ld.global{.cop}.nc{.level::cache_hint}{.level::prefetch_size}.vec": "b128",
    "ld.global.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}.type":
        "L2::evict_first L2::evict_last L2::evict_normal",  # of a vector alone
    "ld.global.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}.vec":
        "b128",
    "ld.volatile": "const param param::entry param::func",
    "ld.relaxed": _NOT_LOCAL,
    "ld.acquire": _NOT_LOCAL,
    "ldmatrix.sync.aligned.m16n16": "x4",
    "ldu{.ss}.vec": "b128",
    "membar.proxy": "async async.global async.shared::cluster async.shared::cta",
    "red.async{.mmio}": "cluster",
    "red.add{.space}{.sem}{.scope}{.level::cache_hint}.vec": "shared shared::cluster shared::cta",
    "red.op{.space}{.sem}{.scope}.noftz": "shared shared::cluster shared::cta",
    "st.async{.sem}": "no mbarrier::complete_tx::bytes",
    "st.volatile": "param param::func",
    "st.relaxed": "local param param::func",
    "st.release": "local param param::func",
    "suld.b": _SURFACE,
    "sust": _SURFACE,
    "tcgen05.ld.red": "x1",
    "tcgen05.mma.sp.cta_group.kind.ashift": _FIXED_A,
    "tcgen05.mma.sp.cta_group.kind::i8.ashift": _FIXED_A,
    "tcgen05.mma.cta_group.kind.ashift": _FIXED_A,
    "tcgen05.mma.cta_group.kind::i8.ashift": _FIXED_A,
    "tensormap.replace.mode.field3": "b64",
    "tex.level": "2dms a2dms",
    "tex.grad": "2dms a2dms",
}  # fmt: skip
# ptxas overlooks a third operand of these; it means `.cas`
SURPLUS = re.compile(r"atom\.(.+\.)?(and|or|xor|exch)\.b32 [^,]+, [^,]+, [^,]+, ")


def fits(spec: OperandSpec, text: str) -> bool:
    """Whether an operand as the manual writes it can be meant by an operand of a form."""
    if spec.role == "m" or text.startswith("["):
        return spec.role == "m" and (text.startswith("[") or any(f.kind == "bare" for f in spec.fits))
    if "|" in text:
        return spec.role == "p"
    if text == "_":
        return any(f.kind == "_" for f in spec.fits)
    if text.startswith("!"):
        return any(f.negatable for f in spec.fits)
    if text.startswith("{"):
        return any(f.length is not None for f in spec.fits)
    return not text.startswith("(") or any(f.kind == "any" for f in spec.fits)


def is_known(text: Text) -> bool:
    return any(
        all(fits(spec, operand) for spec, operand in zip(match.operands, text.operands, strict=False))
        for match in table().matches(text.opcode, len(text.operands), False)
    )


def reference(shared: Path) -> list[Line]:
    return [
        line for path in sorted((shared / "reference" / "ptx_syntax").glob("*.txt")) for line in lines(path)
    ]


def missing_choices(line: Line) -> set[str]:
    """The choices of a line of which the table knows no instruction."""
    texts = line.texts(LIMIT)
    open_ = {c for t in texts for c in t.choices} - {c for t in texts if is_known(t) for c in t.choices}
    return {c for c in open_ if not any(is_known(t) for t in line.texts_with(c, LIMIT))}


def impossible(line: Line) -> set[str]:
    found = [words for start, words in IMPOSSIBLE.items() if line.text.startswith(start)]
    # "no a|b" is one choice
    return {c for words in found for c in ([words] if words.startswith("no ") else words.split())}


def test_every_choice_of_the_manual_is_known(shared: Path) -> None:
    all_lines = reference(shared)
    assert len(all_lines) > 500
    missing = {line: missing_choices(line) for line in all_lines}
    assert {line.text: found for line, found in missing.items() if found ^ impossible(line)} == {}


def unknown_texts(line: Line, rng: random.Random) -> list[list[Text]]:
    """Some instructions of a line that the table does not know; for every impossible choice some with it."""
    unknown = [t for t in line.texts(LIMIT) if not is_known(t)]
    return [[t] for t in rng.sample(unknown, min(len(unknown), 40))] + [
        list(line.texts_with(choice, 6)) for choice in sorted(impossible(line))
    ]


@cache
def _forms(name: str) -> list[Form]:
    """The PTX forms of opcodes that begin with a word."""
    keys = [key for key in table().forms if key.split(".")[0] == name]
    return [f for key in keys for f in table().forms[key] if f.dialect != "ptxplus" and f.until is None]


def written_out(text: Text) -> Iterator[tuple[str, str]]:
    """A text with operands as the most similar forms of its opcode have them, and an architecture."""
    name, *words = text.opcode.split(".")
    found: dict[tuple[str, str], int] = {}
    for form in _forms(name):
        fixed = form.base.split(".")[1:]
        rest = [w for w in words if w not in fixed]
        types = [w for w in rest if w in TYPES] + [""] * 4
        match = Match(form, *types[:4], frozenset(rest) - TYPES.keys())
        pairs = list(zip(match.operands, text.operands, strict=False))
        if (
            set(fixed) <= set(words)
            and match.takes(len(text.operands))
            and all(fits(*pair) for pair in pairs)
        ):
            made = [_operand(spec, match, k) for k, (spec, _) in enumerate(pairs)]
            if all(made):
                found[f"{text.opcode} {', '.join(made)};", arch_of(form, match)] = len(set(rest) - form.words)
    yield from sorted(found, key=found.__getitem__)[:3]


def _operand(spec: OperandSpec, match: Match, place: int) -> str:
    missing = [f for f in spec.fits if f.kind == "value" and len(f.type) == 1 and not match.slot(f.type)]
    return "" if missing or not (spec.fits or spec.role in "ml") else operand_text(spec, match, place)


@needs_ptxas
def test_ptxas_refuses_what_of_the_manual_is_not_known(shared: Path) -> None:
    rng = random.Random(0)
    by_arch: dict[str, list[str]] = {}
    for line in reference(shared):
        for texts in unknown_texts(line, rng):
            items = dict.fromkeys(item for text in texts for item in written_out(text))
            assert items, (line.text, texts[0].choices)
            for text, arch in items:
                by_arch.setdefault(arch, []).append(text)
    assert sum(map(len, by_arch.values())) > 5000
    for arch, written in sorted(by_arch.items()):
        said = zip(written, asked(written, arch), strict=True)
        accepted = [text for text, messages in said if not messages and not SURPLUS.match(text)]
        assert [text for text in accepted if compiles(text, arch)] == []
