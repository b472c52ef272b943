"""The texture that a handle surely is: PTXPlus names its textures, PTX of today has handles in registers.

For `families/texture.py`. A handle is that of a `.texref` variable, or of a kernel's parameter, which a register has
from `ld.param`; moves and the arguments of inlined calls keep it. Only values that one instruction writes count.
"""

from collections.abc import Collection, Iterable, Mapping

from ptxtool.ir.nodes import Immediate, Memory, Name
from ptxtool.passes.ptxplus.constants import written_once
from ptxtool.passes.ptxplus.flatten import FlatItem, InlinedInstruction, ParameterCopy, ValueKey


def texture_names(
    items: Iterable[FlatItem], variables: Collection[str], parameters: Mapping[str, str]
) -> Mapping[ValueKey, str]:
    """The texture of each value that is the handle of one, if it is one at all: any parameter of 64 bits may be.

    `variables` are the textures of the module, `parameters` the names in PTXPlus of parameters that may be textures.
    """
    written = written_once(items)
    found: dict[ValueKey, str] = {}
    for key in written:
        chain: list[ValueKey] = []
        last: ValueKey | str | None = key
        while isinstance(last, ValueKey) and last not in found and last not in chain and last in written:
            chain.append(last)
            last = _origin(written[last], variables, parameters)
        name = found.get(last) if isinstance(last, ValueKey) else last
        if name is not None:
            found |= dict.fromkeys(chain, name)
    return found


def _origin(
    item: FlatItem, variables: Collection[str], parameters: Mapping[str, str]
) -> ValueKey | str | None:
    """The value that an item copies to another one, or the texture whose handle it reads."""
    if isinstance(item, ParameterCopy):
        return item.at.key_of(item.operand) if item.is_store else item.piece
    if not isinstance(item, InlinedInstruction) or len(item.instruction.operands) != 2:
        return None
    opcode, source = item.instruction.opcode, item.instruction.operands[1]
    if opcode.base == "mov" and isinstance(source, Name):
        return item.key_of(source) or (source.text if source.text in variables else None)
    is_parameter = opcode.base == "ld" and any(m.startswith("param") for m in opcode.modifiers)
    if not is_parameter or item.activation.number or not isinstance(source, Memory):
        return None
    is_start = source.offset is None or source.offset == Immediate("0")
    return parameters.get(source.base.text) if is_start and isinstance(source.base, Name) else None
