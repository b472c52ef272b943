"""Extended-precision arithmetic: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc` of 32 bits.

PTX has one carry flag per thread: of a + b for sums, of a + ~b + 1 for differences, so that it is clear where one has
to borrow. Here it is a register that holds all ones where the flag is set, so that subtracting it adds one. GPGPU-Sim's
`addp` adds four for a carry: it is not used.
"""

from ptxtool.isa.types import TYPES
from ptxtool.passes.ptxplus.flatten import Refusal, Step
from ptxtool.passes.ptxplus.selection import Selection, modifiers, rule


@rule("addc", "subc", "madc")
def chain(s: Selection, step: Step) -> None:
    """One link of a chain: with a carry in, a carry out, or both."""
    match = step.match
    assert match is not None
    type_ = s.type_of(match.type)
    if type_.bits != 32 or "sat" in match.modifiers:
        raise Refusal(f"'{step.instruction.opcode.text}': carries are lowered for 32 bits")
    base = step.instruction.opcode.base
    takes, gives = base.endswith("c"), "cc" in match.modifiers
    target = s.register(s.destination(step, step.instruction.operands[0]))
    sources = [s.source(step, o, TYPES["u32"]) for o in step.instruction.operands[1:]]
    if base.startswith("mad"):
        product = s.compute(f"mul{modifiers(match, 'lo', 'hi')}.{match.type}", *sources[:2])
        sources = [product, sources[2]]
    is_difference = base.startswith("sub")
    carry = s.carry_register()
    a, b = sources
    if takes:
        b = s.compute("not.b32", b) if is_difference else b
        before = s.compute("add.u32", a, b)
        result = s.compute("sub.u32", before, carry)
        wrapped = [(before, a), (result, before)]  # a sum that wrapped is below its operand
        out = [s.mask("lt", "u32", *pair) for pair in wrapped] if gives else []
    else:
        result = s.compute("sub.u32" if is_difference else "add.u32", a, b)
        out = [s.mask("ge", "u32", a, b) if is_difference else s.mask("lt", "u32", result, a)]
    s.move(target, result)
    if gives:
        s.move(carry, s.compute("or.b32", *out) if len(out) > 1 else out[0])
