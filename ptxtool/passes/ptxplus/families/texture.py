"""Texture fetches: `tex.2d.v4.f32.f32 {$v1,$v2,_,_}, image, {$v5,$v6};`.

PTXPlus names its textures: a `.texref` variable is declared by a `.tex` line, a kernel's parameter that is a texture
object keeps its name. One coordinate stands in a vector of four, as the converter and decuda print it.

Refused: handles that no variable or parameter of its own holds, samplers, layers, cubes, levels, samples, offsets,
depths, results of 16 bits, queries and surfaces.
"""

from ptxtool.ir.nodes import Memory, Name, Operand, Vector
from ptxtool.passes.ptxplus.flatten import Refusal
from ptxtool.passes.ptxplus.selection import InstructionSelection, is_sink, rule

_AXES = {"1d": 1, "2d": 2, "3d": 3}


@rule("tex")
def _tex(isel: InstructionSelection) -> None:
    match = isel.match
    shape, type_ = match.one_of(*_AXES), match.type
    target, memory, *more = isel.operands
    if not shape or more or type_ not in ("u32", "s32", "f32") or not isinstance(target, Vector):
        raise Refusal("PTXPlus fetches 32-bit texels of 1 to 3 axes, by their coordinates alone")
    if not isinstance(memory, Memory) or len(memory.coordinates) != 1 or memory.base is None:
        raise Refusal("PTXPlus has no samplers apart from textures")
    texture = _texture(isel, memory.base)
    places = _coordinates(isel, memory.coordinates[0], _AXES[shape])
    results = ["_" if is_sink(item) else isel.target(item) for item in target.items]
    isel.emit(f"tex.{shape}.v4.{type_}.{match.stype}", _braced(results), texture, _braced(places))


def _texture(isel: InstructionSelection, base: Operand) -> str:
    """The name of the texture."""
    key, variables = isel.key_of(base), isel.variables
    found = isel.textures.get(key) if key is not None else None
    if key is None and isinstance(base, Name):
        own = {} if isel.current.activation.number else variables.texture_parameters
        found = base.text if base.text in variables.textures else own.get(base.text)
    if found is None:
        raise Refusal("PTXPlus names its textures, and this may be any: no variable or parameter of its own")
    return found


def _coordinates(isel: InstructionSelection, operand: Operand, n: int) -> list[str]:
    """The registers of the coordinates; more than the axes may be written."""
    items = operand.items if isinstance(operand, Vector) else (operand,)
    if len(items) < n:
        raise Refusal("coordinates in a register of vector type")
    found = isel.sources(items[:n], isel.type_of(isel.match.stype))
    found = [text if text.startswith("$") else isel.compute("mov.u32", text) for text in found]
    return found if n > 1 else [*found, "_", "_", "_"]


def _braced(names: list[str]) -> str:
    return f"{{{','.join(names)}}}"
