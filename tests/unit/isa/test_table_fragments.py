"""The sizes of matrix fragments, against the shapes: elements times bits, over the threads and 32-bit registers."""

import re
from collections.abc import Iterator

import pytest

from ptxtool.isa.operands import OperandSpec
from ptxtool.isa.table import Form, Match, table
from ptxtool.isa.types import TYPES

SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


def matches(base: str) -> Iterator[Match]:
    """Every form of an opcode under each of its shapes, with the first of its other alternatives."""
    for form in table().forms[base]:
        for shape in shapes(form):
            words = [
                shape if shape in g.alternatives else g.alternatives[0] for g in form.groups if not g.optional
            ]
            text = ".".join([base, *words])
            yield next(m for m in table().matches(text, form.max_operands, False) if m.form is form)


def shapes(form: Form) -> list[str]:
    return [a for g in form.groups for a in g.alternatives if SHAPE.fullmatch(a)]


def registers(spec: OperandSpec, match: Match) -> int:
    """32-bit registers of a vector operand."""
    (fit,) = spec.fits
    assert fit.length is not None
    return fit.length.of(match.n) * max(1, TYPES[fit.type].bits // 32)


def bits(match: Match, name: str) -> int:
    """Of an element: the narrow formats of `kind::f8f6f4` take a byte each."""
    return 8 if match.one_of("kind::f8f6f4", "kind::mxf8f6f4") else TYPES[name].bits


@pytest.mark.parametrize("base", ["mma", "mma.sp", "mma.sp::ordered_metadata"])
def test_fragments_of_mma(base: str) -> None:
    seen = 0
    for match in matches(base):
        (shape,) = (SHAPE.fullmatch(w) for w in match.modifiers if SHAPE.fullmatch(w))
        assert shape is not None
        m, n, k = map(int, shape.groups())
        quads = shape[0] == "m8n8k4" and match.stype == "f16"  # four products of eight threads each
        threads = 8 if quads else 32
        d, a, b, c = match.form.operands[:4]
        per_register = threads * 32
        kept = 2 if base != "mma" else 1  # of a sparse matrix every second element is stored
        assert registers(d, match) * per_register == m * n * TYPES[match.type].bits
        assert registers(a, match) * per_register * kept == m * k * bits(match, match.stype)
        assert registers(b, match) * per_register == k * n * bits(match, match.utype)
        assert registers(c, match) * per_register == m * n * TYPES[match.vtype].bits
        seen += 1
    assert seen >= 13


@pytest.mark.parametrize("base", ["wgmma.mma_async", "wgmma.mma_async.sp"])
def test_fragments_of_wgmma(base: str) -> None:
    seen = 0
    for match in matches(base):
        (shape,) = (SHAPE.fullmatch(w) for w in match.modifiers if SHAPE.fullmatch(w))
        assert shape is not None
        m, n, k = map(int, shape.groups())
        d, a = match.form.operands[:2]
        per_register = 128 * 32
        kept = 2 if base.endswith("sp") else 1
        assert registers(d, match) * per_register == m * n * TYPES[match.type].bits
        if a.fits[0].length is not None:  # in registers, not after a descriptor
            assert registers(a, match) * per_register * kept == m * k * TYPES[match.stype].bits
        seen += 1
    assert seen >= 300


def test_fragments_of_wmma_hold_the_accumulator() -> None:
    for base in ("wmma.load.c", "wmma.store.d"):
        for match in matches(base):
            (shape,) = (SHAPE.fullmatch(w) for w in match.modifiers if SHAPE.fullmatch(w))
            assert shape is not None
            m, n, _ = map(int, shape.groups())
            spec = next(o for o in match.form.operands if o.name == "r")
            assert registers(spec, match) * 32 * 32 == m * n * TYPES[match.type].bits
