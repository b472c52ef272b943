"""Extended-precision arithmetic: `add.cc`, `addc`, `sub.cc`, `subc` of 32 and 64 bits, `mad.cc` and `madc` of 32 bits.

PTX has one carry flag per thread: of a + b for sums, of a + ~b + 1 for differences, so that it is clear where one has
to borrow. Here it is a register that holds all ones where the flag is set, so that subtracting it adds one. GPGPU-Sim's
`addp` adds four for a carry: it is not used.
"""

from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.selection import InstructionSelection, modifiers, rule


@rule("addc", "subc", "madc")
def chain(isel: InstructionSelection) -> None:
    """One link of a chain: with a carry in, a carry out, or both."""
    match = isel.match
    type_ = isel.type_of(match.type)
    base = isel.opcode.base
    if "sat" in match.modifiers:
        raise Refusal(f"PTXPlus does not limit the result of an integer '{base}'")
    is_long = type_.bits == 64
    if is_long and base.startswith("mad"):
        raise Refusal(f"'{isel.opcode.text}': products with a carry are lowered for 32 bits")
    takes, gives, is_difference = base.endswith("c"), "cc" in match.modifiers, base.startswith("sub")
    carry = isel.carry_register()
    coming = carry if takes else ""
    key = isel.destination()
    if is_long:
        a, b = (isel.wide_source(o) for o in isel.operands[1:])
        low, coming = _link(isel, is_difference, a[0], b[0], coming, True)
        high, going = _link(isel, is_difference, a[1], b[1], coming, gives)
        isel.write(key, low, high)
    else:
        sources = isel.sources(isel.operands[1:], TYPES["u32"])
        if base.startswith("mad"):
            product = isel.compute(f"mul{modifiers(match, 'lo', 'hi')}.{match.type}", *sources[:2])
            sources = [product, sources[2]]
        result, going = _link(isel, is_difference, sources[0], sources[1], coming, gives)
        isel.move(isel.register(key), result)
    if gives:
        isel.move(carry, going)


def _link(
    isel: InstructionSelection, is_difference: bool, a: str, b: str, carry: str, gives: bool
) -> tuple[str, str]:
    """A sum or difference of words, and its carry if wanted; `carry` is the carry in, "" for none."""
    if not carry:
        result = isel.compute("sub.u32" if is_difference else "add.u32", a, b)
        pair = ("ge", a, b) if is_difference else ("lt", result, a)
        return result, isel.mask(pair[0], "u32", *pair[1:]) if gives else ""
    b = isel.compute("not.b32", b) if is_difference else b
    before = isel.compute("add.u32", a, b)
    result = isel.compute("sub.u32", before, carry)
    if not gives:
        return result, ""
    wrapped = [(before, a), (result, before)]  # a sum that wrapped is below its operand
    return result, isel.compute("or.b32", *(isel.mask("lt", "u32", *pair) for pair in wrapped))
