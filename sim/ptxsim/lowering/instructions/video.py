"""Video instructions: arithmetic on selected bytes and halves, alone or two or four at once.

One value: both sources, extended by their own signs, meet in 64 bits, where nothing overflows; the result is saturated
to the destination's range, then meets a third operand (`.add`, `.min`, `.max`) or is merged into it. Several
values: the same in 32 bits for each element. `vmad` needs 66 bits: its product is kept as 2**32 * high + low.

Reference: PTX ISA, "Video Instructions". Left open there: a secondary operation takes the lower 32 bits of the result.
"""

from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.compare import compare
from ptxsim.lowering.rows import WORD, Operation, extension
from ptxtool.ir.nodes import Name, Operand, Unary
from ptxtool.isa.types import TYPES, Type

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_S64 = TYPES["s64"]


def _bare(operand: Operand) -> tuple[Operand, bool]:
    """An operand without its minus, and whether there was one."""
    if isinstance(operand, Unary) and operand.operator == "-" and isinstance(operand.operand, Name):
        return operand.operand, True
    return operand, False


def _word(builder: UopBuilder, operand: Operand) -> tuple[int, str]:
    """The row of a whole register and the selector after it."""
    operand, _ = _bare(operand)
    if isinstance(operand, Name) and operand.part:
        return builder.value(Name(operand.text), WORD), operand.part
    return builder.value(operand, WORD), ""


def _part(builder: UopBuilder, row: int, bits: int, place: int, signed: bool) -> int:
    """Bits from `place` on, extended to 32."""
    if bits == 32:
        return row
    shifted = row if place == 0 else builder.compute("shr_u32", row, builder.constant(place))
    return builder.compute(f"{'sext' if signed else 'zext'}{bits}_u32", shifted)


def _selected(builder: UopBuilder, operand: Operand, type_: Type) -> int:
    """A source in 64 bits: the byte, half or word that its selector names."""
    row, selector = _word(builder, operand)
    bits, place = _place(selector)
    part = _part(builder, row, bits, place, type_.is_signed)
    return builder.compute(extension(type_), part)


def _place(selector: str) -> tuple[int, int]:
    """Width and first bit of `b2`, `h1` or a whole word."""
    bits = {"b": 8, "h": 16}[selector[0]] if selector else 32
    return bits, int(selector[1:] or 0) * bits if selector else 0


def _limit(builder: UopBuilder, row: int, bits: int, signed: bool, width: int) -> int:
    """A signed value kept within a type of some bits."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    row = builder.compute(f"max_s{width}", row, builder.constant(low, width))
    return builder.compute(f"min_s{width}", row, builder.constant(high, width))


def _primary(builder: UopBuilder, name: str, first: int, second: int, width: int) -> int:
    """vadd, vsub, vabsdiff, vmin, vmax, vavrg of two signed values of some width."""
    if name in ("add", "sub"):
        return builder.compute(f"{name}_u{width}", first, second)
    if name in ("min", "max"):
        return builder.compute(f"{name}_s{width}", first, second)
    if name == "absdiff":
        return builder.compute(f"abs_s{width}", builder.compute(f"sub_u{width}", first, second))
    total = builder.compute(
        "add_u32", first, second
    )  # vavrg: halves are rounded up, but for negative sums down
    negative = builder.compute("shr_s32", total, builder.constant(31))
    rounded = builder.compute("add_u32", builder.compute("add_u32", total, builder.constant(1)), negative)
    return builder.compute("shr_s32", rounded, builder.constant(1))


def _finish(builder: UopBuilder, op: Operation, row: int, type_: Type) -> None:
    """What becomes of a 32-bit result: merged into `c` (a whole one covers it), combined with it, or alone."""
    target, _ = _bare(op.operands[0])
    assert isinstance(target, Name)
    bits, place = _place(target.part)
    if bits < 32:
        mask = ((1 << bits) - 1) << place
        kept = builder.compute("and_u32", builder.value(op.operands[3], WORD), builder.constant(~mask))
        shifted = builder.compute("shl_u32", row, builder.constant(place))
        row = builder.compute("or_u32", kept, builder.compute("and_u32", shifted, builder.constant(mask)))
    elif name := op.match.one_of("add", "min", "max"):
        second = builder.value(op.operands[3], WORD)
        kind = "u32" if name == "add" or not type_.is_signed else "s32"
        row = builder.compute(f"{name}_{kind}", row, second)
    builder.place(Name(target.text), WORD).write("mov_u32", row)


def _types(op: Operation) -> tuple[Type, Type, Type]:
    """The types of destination and sources."""
    return op.type, op.stype, TYPES[op.match.utype]


@rule("vadd", "vsub", "vabsdiff", "vmin", "vmax")
def _video(builder: UopBuilder, op: Operation) -> None:
    type_, first, second = _types(op)
    name = op.match.form.sem[1:]
    value = _primary(
        builder,
        name,
        _selected(builder, op.operands[1], first),
        _selected(builder, op.operands[2], second),
        64,
    )
    _saturated(builder, op, value, type_)


def _saturated(builder: UopBuilder, op: Operation, value: int, type_: Type) -> None:
    """`.sat` of a 64-bit value, to the width of the destination's part; then the rest."""
    target, _ = _bare(op.operands[0])
    if op.has("sat") and isinstance(target, Name):
        value = _limit(builder, value, _place(target.part)[0], type_.is_signed, 64)
    _finish(builder, op, builder.compute("trunc_u64", value), type_)


@rule("vshl", "vshr")
def _shift(builder: UopBuilder, op: Operation) -> None:
    type_, first, _ = _types(op)
    value = _selected(builder, op.operands[1], first)
    row, selector = _word(builder, op.operands[2])
    amount = _part(builder, row, *_place(selector), False)
    if op.has("wrap"):
        amount = builder.compute("and_u32", amount, builder.constant(31))
    else:
        amount = builder.compute("min_u32", amount, builder.constant(32))
    if op.match.form.sem == "vshr":
        value = builder.compute("shr_s64", value, amount)
    elif not op.has("sat"):
        value = builder.compute("shl_u64", value, amount)
    else:  # in two steps: what is beyond 34 bits after the first will be saturated anyhow
        half = builder.compute("shr_u32", amount, builder.constant(1))
        value = _limit(builder, builder.compute("shl_u64", value, half), 35, True, 64)
        value = builder.compute("shl_u64", value, builder.compute("sub_u32", amount, half))
    _saturated(builder, op, value, type_)


@rule("vset")
def _set(builder: UopBuilder, op: Operation) -> None:
    first, second = _selected(builder, op.operands[1], op.type), _selected(builder, op.operands[2], op.stype)
    holds = compare(builder, op.match.one_of(*_COMPARISONS), first, second, _S64)
    _finish(
        builder, op, builder.compute("sel_u32", builder.constant(1), builder.constant(0), holds), TYPES["u32"]
    )


@rule("vmad")
def _vmad(builder: UopBuilder, op: Operation) -> None:
    _, first, second = _types(op)
    minus = [_bare(o)[1] for o in op.operands[1:4]]
    negated = minus[0] != minus[1]
    signed = first.is_signed or second.is_signed or negated or minus[2]
    product = builder.compute(
        "mul_u64", _selected(builder, op.operands[1], first), _selected(builder, op.operands[2], second)
    )
    is_unsigned = not (first.is_signed or second.is_signed)
    low = builder.compute("zext_u64", builder.compute("trunc_u64", product))
    high = builder.compute("shr_u64" if is_unsigned else "shr_s64", product, builder.constant(32))
    if negated:  # -product = ~product + 1
        low, high = builder.compute("neg_u64", low), builder.compute("neg_u64", high)
    addend = builder.value(_bare(op.operands[3])[0], WORD)
    one = int(op.has("po"))
    if minus[2] and not negated:
        addend, one = builder.compute("not_u32", addend), 1
    low = builder.compute("add_u64", low, builder.compute("sext_u64" if signed else "zext_u64", addend))
    low = builder.compute("add_u64", low, builder.constant(one, 64))
    high = builder.compute("add_u64", high, builder.compute("shr_s64", low, builder.constant(32)))
    low = builder.compute("zext_u64", builder.compute("trunc_u64", low))
    shift = {"shr7": 7, "shr15": 15}.get(op.match.one_of("shr7", "shr15"), 0)
    if op.has("sat") and shift == 0:
        high = _limit(builder, high, 8, True, 64)
    upper = builder.compute("shl_u64", high, builder.constant(32 - shift))
    value = builder.compute("add_u64", upper, builder.compute("shr_u64", low, builder.constant(shift)))
    if op.has("sat"):
        value = _limit(builder, value, 32, signed, 64)
    builder.place(op.operands[0], WORD).write("trunc_u64", value)


# ---- two halves or four bytes


def _elements(builder: UopBuilder, op: Operation, index: int, n: int, type_: Type) -> list[int]:
    """The elements of a source, chosen from both by its selector, the lowest first."""
    bits = 32 // n
    words = [_word(builder, op.operands[k]) for k in (1, 2)]
    digits = words[index - 1][1][1:] or "".join(str(k + n * (index - 1)) for k in reversed(range(n)))
    chosen = [int(digit) for digit in reversed(digits)]
    return [_part(builder, words[k // n][0], bits, k % n * bits, type_.is_signed) for k in chosen]


@rule(*(f"v{name}{n}" for name in ("add", "sub", "avrg", "absdiff", "min", "max") for n in (2, 4)))
def _several(builder: UopBuilder, op: Operation) -> None:
    name, n = op.match.form.sem[1:-1], int(op.match.form.sem[-1])
    type_, first, second = _types(op)
    pairs = zip(_elements(builder, op, 1, n, first), _elements(builder, op, 2, n, second), strict=True)
    results = [_primary(builder, name, x, y, 32) for x, y in pairs]
    if op.has("sat"):
        results = [_limit(builder, row, 32 // n, type_.is_signed, 32) for row in results]
    _merge(builder, op, results)


@rule("vset2", "vset4")
def _set_several(builder: UopBuilder, op: Operation) -> None:
    n = int(op.match.form.sem[-1])
    pairs = zip(_elements(builder, op, 1, n, op.type), _elements(builder, op, 2, n, op.stype), strict=True)
    relation = op.match.one_of(*_COMPARISONS)
    holds = [compare(builder, relation, x, y, TYPES["s32"]) for x, y in pairs]
    _merge(
        builder, op, [builder.compute("sel_u32", builder.constant(1), builder.constant(0), p) for p in holds]
    )


def _merge(builder: UopBuilder, op: Operation, results: list[int]) -> None:
    """The elements of the mask summed up with `c`, or put into it."""
    target = op.operands[0]
    assert isinstance(target, Name)
    n = len(results)
    bits = 32 // n
    masked = [int(digit) for digit in target.part[1:]] or list(range(n))
    value = builder.value(op.operands[3], WORD)
    if op.has("add"):
        for k in masked:
            value = builder.compute("add_u32", value, results[k])
    else:
        mask = sum(((1 << bits) - 1) << k * bits for k in masked)
        value = builder.compute("and_u32", value, builder.constant(~mask))
        for k in masked:
            low = builder.compute("and_u32", results[k], builder.constant((1 << bits) - 1))
            value = builder.compute(
                "or_u32", value, builder.compute("shl_u32", low, builder.constant(k * bits))
            )
    builder.place(Name(target.text), WORD).write("mov_u32", value)
