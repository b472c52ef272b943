"""Extended-precision arithmetic: `add.cc`, `addc`, `sub.cc`, `subc` of 32 and 64 bits, `mad.cc` and `madc` of 32 bits.

PTX has one carry flag per thread: of a + b for sums, of a + ~b + 1 for differences, so that it is clear where one has
to borrow. Here it is a register that holds all ones where the flag is set, so that subtracting it adds one. GPGPU-Sim's
`addp` adds four for a carry: it is not used.
"""

from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.families.wide import write
from ptxtool.passes.ptxplus.flatten import Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, modifiers, rule


@rule("addc", "subc", "madc")
def chain(s: Selection, step: Step) -> None:
    """One link of a chain: with a carry in, a carry out, or both."""
    match = step.match
    assert match is not None
    type_ = s.type_of(match.type)
    base = step.instruction.opcode.base
    if "sat" in match.modifiers:
        raise Refusal(f"PTXPlus does not limit the result of an integer '{base}'")
    is_long = type_.bits == 64
    if is_long and base.startswith("mad"):
        raise Refusal(f"'{step.instruction.opcode.text}': products with a carry are lowered for 32 bits")
    takes, gives, is_difference = base.endswith("c"), "cc" in match.modifiers, base.startswith("sub")
    operands = step.instruction.operands
    carry = s.carry_register()
    coming = carry if takes else ""
    key = s.destination(step, operands[0])
    if is_long:
        a_words, b_words = (s.wide_source(step, o) for o in operands[1:])
        low, coming = _link(s, is_difference, a_words[0], b_words[0], coming, True)
        high, going = _link(s, is_difference, a_words[1], b_words[1], coming, gives)
        write(s, key, (low, high))
    else:
        sources = [s.source(step, o, TYPES["u32"]) for o in operands[1:]]
        if base.startswith("mad"):
            product = s.compute(f"mul{modifiers(match, 'lo', 'hi')}.{match.type}", *sources[:2])
            sources = [product, sources[2]]
        result, going = _link(s, is_difference, sources[0], sources[1], coming, gives)
        s.move(s.register(key), result)
    if gives:
        s.move(carry, going)


def _link(s: Selection, is_difference: bool, a: str, b: str, carry: str, gives: bool) -> tuple[str, str]:
    """A sum or difference of words, and its carry if wanted; `carry` is what comes in, "" for none."""
    if not carry:
        result = s.compute("sub.u32" if is_difference else "add.u32", a, b)
        pair = ("ge", a, b) if is_difference else ("lt", result, a)
        return result, s.mask(pair[0], "u32", *pair[1:]) if gives else ""
    b = s.compute("not.b32", b) if is_difference else b
    before = s.compute("add.u32", a, b)
    result = s.compute("sub.u32", before, carry)
    if not gives:
        return result, ""
    wrapped = [(before, a), (result, before)]  # a sum that wrapped is below its operand
    return result, s.compute("or.b32", *(s.mask("lt", "u32", *pair) for pair in wrapped))
