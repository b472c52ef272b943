"""Do addresses fit: memory operands, state spaces, addresses of variables, texture and tensor coordinates.

For `fit.py`. The base of an address is an integer or untyped register of any width up to 64 bits, or a variable of the
instruction's state space, with or without a constant offset; bare constants address `.local` alone.

Reference: PTX ISA, sections 6.4.1 (addresses as operands), 5.2 (state spaces); the rest was asked of ptxas 13.0.
"""

from ptxtool.isa.operands import Fit
from ptxtool.isa.types import TYPES
from ptxtool.sema.operands import type_fit
from ptxtool.sema.operands.shapes import OperandShape, description, shape
from ptxtool.sema.operands.type_fit import BITS, INTEGERS, joined_type, register_mismatch
from ptxtool.sema.operands.wording import OperandPlace, Problem, wanted, wrong_kind

SPACES = frozenset({"global", "shared", "local", "const", "param"})


def memory_problem(place: OperandPlace, found: OperandShape) -> Problem | None:
    """A memory operand: base, offset, state space."""
    if found.kind != "memory":
        message = f"is {description(found)}, '{place.opcode}' takes an address in brackets here"
        around = ("[", "]") if found.kind in ("register", "variable", "sum") else ()
        return Problem("E206", message, "write '[' and ']' around the address", around=around)
    if found.type == "index":
        return Problem("E206", "indexes what is no array", "write the whole address in brackets: '[a+4]'")
    if found.type == "offset":
        help = "an offset is an integer constant; the index of an array may be an integer register"
        return Problem("E206", "has an offset that is no whole number", help)
    if len(found.items) > 1:
        message = f"has coordinates, '{place.opcode}' takes a plain address here"
        return Problem("E206", message, "an offset is added with '+'")
    base = found.items[0]
    if any(fit.kind == "value" for fit in place.spec.fits):
        return _tensor_memory_problem(place, base)
    spaces = {space_of(word) for word in place.opcode.split(".")} & SPACES
    match base.kind:
        case "constant" if spaces == {"local"}:
            return None
        case "constant":
            help = "only '.local' has them: put the address into a register, or declare a variable"
            return Problem("E206", "is a constant address", help)
        case "register":
            return _base_register_problem(base) or _width_problem(place, base, spaces)
        case "variable":
            return _space_problem(place, base, spaces)
        case "undeclared":
            return None
        case _:
            help = "an address is a register or a variable, and a constant offset if need be"
            if base.kind == "opaque":
                help = "'tex' reads textures, 'suld' and 'sust' access surfaces"
            elif base.kind in ("selected", "special"):
                help = "'mov' copies it into a register first"
            return Problem("E206", f"has {description(base)} as its base", help)


def bare_address_problem(place: OperandPlace, found: OperandShape) -> Problem | None:
    """An address which ptxas takes without brackets too if it stands in a register."""
    is_address = found.kind == "register" and _base_register_problem(found) is None
    return None if is_address else memory_problem(place, found)


def _base_register_problem(base: OperandShape) -> Problem | None:
    if base.length > 1:
        message = f"has {description(base)} as its base"
        return Problem("E210", message, "name one of its elements: '.x', '.y', ...")
    if base.type in INTEGERS or (base.type in BITS and base.type != "b128"):
        return None
    help = "an address is an integer: '.u32', '.u64' or as wide untyped bits"
    return Problem("E207", f"has {description(base)} as its base", help)


def _width_problem(place: OperandPlace, base: OperandShape, spaces: set[str]) -> Problem | None:
    """A narrow address where the file has wide ones: of global memory, or generic."""
    form = place.match.form
    is_plain = form.family == "memory" and bool(form.effects)
    if not place.is_64_bit or not is_plain or spaces - {"global"}:
        return None
    if TYPES[base.type].bits != 32:
        return None
    what = "an address in '.global'" if spaces else "a generic address"
    message = f"has {description(base)} as its base, {what} has 64 bits"
    help = "'cvt.u64.u32' widens a number; addresses in '.shared' have 32 bits: is '.shared' missing?"
    return Problem("E207", message, help)


def _tensor_memory_problem(place: OperandPlace, base: OperandShape) -> Problem | None:
    """An address in tensor memory: an integer register as wide as the column says."""
    name = place.spec.fits[0].type
    if base.kind == "undeclared":
        return None
    if base.kind == "register" and base.length == 1 and base.type in INTEGERS | BITS:
        trouble = register_mismatch(base.type, name, relaxed=False)
    else:
        trouble = "kind"
    if not trouble:
        return None
    message = f"has {description(base)} as its base, '{place.opcode}' takes a '.{name}' register here"
    return Problem("E207", message, "tensor memory is addressed by what 'tcgen05.alloc' has written")


def space_of(word: str) -> str:
    """The state space of `shared::cta`, `param::entry` or `const[2]`."""
    return word.partition("::")[0].partition("[")[0]


def _space_problem(place: OperandPlace, variable: OperandShape, spaces: set[str]) -> Problem | None:
    declared = space_of(variable.type)
    effects = place.match.form.effects
    if variable.type == "param::in" and "store" in effects and declared in spaces:
        message = "is a parameter of this function, which it cannot write"
        return Problem("E206", message, "copy it into a register")
    if variable.type == "param::out" and "store" not in effects and "load" in effects and declared in spaces:
        message = "is a result of this function, which it cannot read"
        return Problem("E206", message, "keep it in a register too")
    if not spaces:
        if declared == "param":
            message = "is a parameter, which has no generic address"
            return Problem(
                "E208", message, "write '.param' after the opcode", opcode=_in_space(place, "param")
            )
        if declared == "const":
            help = "write '.const' after the opcode; 'cvta.const' makes a generic address"
            message = "is in '.const' memory, which has no generic address here"
            return Problem("E208", message, help, opcode=_in_space(place, "const"))
        return None
    if declared in spaces or ("mbarrier" in place.opcode and declared == "shared"):
        return None
    named = " and ".join(f"'.{space}'" for space in sorted(spaces))
    message = f"is in '.{declared}' memory, '{place.opcode}' accesses {named}"
    help = f"write '.{declared}' in its place, or name another variable"
    return Problem("E208", message, help)


def _in_space(place: OperandPlace, space: str) -> str:
    """The opcode with a state space where it has none."""
    base, _, rest = place.opcode.partition(".")
    return f"{base}.{space}.{rest}"


def address_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    """The address of a variable or function as a value, or that of a variable plus a constant."""
    if found.kind == "sum" and not is_displaced(found):
        return wrong_kind(place, found, wanted(place, fit))
    if found.kind not in ("variable", "opaque", "function", "sum"):
        return wrong_kind(place, found, wanted(place, fit))
    type_ = place.match.type
    if type_ and type_ not in INTEGERS and type_ not in BITS:
        message = f"is an address, '{place.opcode}' takes '.{type_}' here"
        return Problem("E207", message, "addresses are '.u32', '.u64' or as wide untyped bits")
    narrow = type_ in TYPES and TYPES[type_].bits < 64
    if place.is_64_bit and narrow and found.kind == "variable" and found.type == "global":
        message = f"is an address in '.global', which has 64 bits, '{place.opcode}' takes '.{type_}'"
        return Problem("E207", message, "write 'mov.u64' and a register of 64 bits")
    if found.kind == "sum":
        found = found.items[0]
    if found.kind == "opaque" and type_ != "u64":
        return Problem("E207", f"is {description(found)}, whose address is '.u64'", "write 'mov.u64'")
    if found.kind == "variable" and found.type == "param":
        help = "read it with 'ld.param'; only the parameters of a function have addresses"
        return Problem("E206", "is an argument of a call, which has no address", help)
    spaces = {space_of(word) for word in place.opcode.split(".")} & SPACES
    return _space_problem(place, found, spaces) if spaces and found.kind == "variable" else None


def is_displaced(found: OperandShape) -> bool:
    """Whether a sum is that of a variable's address, or of an integer register, and a whole number."""
    base = found.items[0]
    is_register = base.kind == "register" and base.length == 1 and base.type in INTEGERS | BITS
    return not found.type and (is_register or base.kind in ("variable", "undeclared"))


# how many coordinates a vector may have; a lone register stands for all
_COORDINATES = {
    "1d": (1, 2, 4),
    "2d": (2, 4),
    "a1d": (2, 4),
    **dict.fromkeys(("3d", "a2d", "cube", "acube", "2dms", "a2dms"), (4,)),
}
_ROWS = frozenset({"tile::gather4", "tile::scatter4"})  # four rows of a matrix: their column and numbers


def coordinates_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    """`[texture, {x, y}]`, `[map, {x, y}]`, and `[handle]` without coordinates."""
    if found.kind != "memory":
        return wrong_kind(place, found, wanted(place, fit))
    base, *coordinates = found.items
    if fit.kind == "handle" and coordinates:
        return Problem("E206", "has coordinates", f"'{place.opcode}' takes {wanted(place, fit)}")
    if fit.kind != "handle" and not coordinates:
        return Problem("E206", "has no coordinates", f"'{place.opcode}' takes {wanted(place, fit)}")
    if base.kind == "register" and base.type not in ("b64", "u64", "s64") and fit.kind != "tensor":
        return Problem("E207", f"has {description(base)} as its base", "a handle has 64 bits")
    is_texture_of_1_4 = fit.kind == "texture" and base.kind == "variable" and base.type == "tex"
    if is_texture_of_1_4:
        return _coordinates_fit(place, fit, coordinates)
    if fit.kind != "tensor" and base.kind in ("variable", "function", "label", "constant", "special"):
        return Problem("E206", f"has {description(base)} as its base", "name a texture or surface")
    if fit.kind == "tensor" and base.kind in ("function", "label", "special"):
        return Problem("E206", f"has {description(base)} as its base", "name a tensor map, or its address")
    if fit.kind == "texture" and len(coordinates) > 1 and (trouble := _sampler_problem(coordinates[0])):
        return trouble
    if fit.kind == "tensor" and coordinates[-1].kind != "vector":
        return Problem("E206", "has coordinates that are no vector", f"'{place.opcode}' takes them in braces")
    return _coordinates_fit(place, fit, coordinates)


def _coordinates_fit(place: OperandPlace, fit: Fit, coordinates: list[OperandShape]) -> Problem | None:
    """How many coordinates a vector has, and of which types."""
    if not coordinates or coordinates[-1].kind != "vector":
        return None
    n = len(coordinates[-1].items)
    sizes = _sizes(place, fit)
    if n not in sizes:
        takes = " or ".join(map(str, sizes))
        has = "1 coordinate" if n == 1 else f"{n} coordinates"
        return Problem("E210", f"has {has}, '{place.opcode}' takes {takes} here", "count them again")
    return _coordinate_types_problem(place, fit, coordinates[-1])


def _sampler_problem(found: OperandShape) -> Problem | None:
    """What stands between a texture and its coordinates is a sampler."""
    is_handle = found.kind == "register" and found.type in ("b64", "u64", "s64")
    if is_handle or found.type == "samplerref" or found.kind == "undeclared":
        return None
    message = f"has {description(found)} for the sampler"
    return Problem("E206", message, "name a '.samplerref' variable, or a 64-bit register with its handle")


def _coordinate_types_problem(place: OperandPlace, fit: Fit, vector: OperandShape) -> Problem | None:
    """Coordinates have the instruction's second type, 32-bit integers where it has none; layers are integers."""
    items = list(vector.items)
    is_float = fit.kind == "texture" and place.match.stype == "f32"
    if fit.kind == "texture" and place.match.one_of("a1d", "a2d", "acube", "a2dms"):
        if not _is_word(items[0]):
            message = f"has {description(items[0])} for the layer of an array"
            return Problem("E207", message, "a layer is a '.u32' register or a whole number")
        items = items[1:]
    joined = joined_type(shape("vector", items=tuple(items)))
    if joined in (type_fit.CLASH_OF_TYPES, type_fit.CLASH_OF_WIDTHS):
        return Problem("E207", "has coordinates of different types", "give them one type")
    for item in items:
        fits = _is_word(item) or (is_float and item.type in ("f32", "f64", "int"))
        if not fits and item.kind in ("register", "constant"):
            wants = "'.f32'" if is_float else "32-bit integers"
            message = f"has {description(item)} among its coordinates, '{place.opcode}' takes {wants}"
            return Problem("E207", message, "'cvt' converts")
    return None


def _is_word(item: OperandShape) -> bool:
    """Whether an element is a 32-bit integer, or may be one."""
    return item.kind not in ("register", "constant") or item.type in ("b32", "u32", "s32", "f16x2", "int")


def _sizes(place: OperandPlace, fit: Fit) -> tuple[int, ...]:
    """The numbers of coordinates that fit."""
    if fit.kind == "texture":
        return _COORDINATES[place.match.one_of(*_COORDINATES)]
    if place.match.modifiers & _ROWS:
        return (5,)
    return (int(place.match.one_of("1d", "2d", "3d", "4d", "5d")[0]),)
