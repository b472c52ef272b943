"""Handles of textures, samplers and surfaces: those of a launch, and those of a machine that outlive one.

A handle is a row of the table that compiled code reads (execute/texture/texture_table.py). A launch's own rows come
first: variables of the module in the order of their layout, then arguments. Those of a machine (`KeptTextures`) follow
at fixed rows, so that their handles may lie in structures, constants or memory.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ptxsim.execute.texture import texture_table as columns
from ptxsim.lowering.callgraph import CallGraph
from ptxsim.lowering.variable_layout import OPAQUE, VariableLayout, names_in, textures_of_head
from ptxsim.memory_image.texture_objects import (
    Sampler,
    Surface,
    Texture,
    TextureObject,
    bytes_of,
    class_of,
    fits,
)
from ptxtool.base.diag import error
from ptxtool.ir.nodes import Binary, Declaration, Declarator, Directive, Function, Immediate, Name, Vector
from ptxtool.ir.variables import round_up

TEXTURE_BASE = 1 << 43
"""Where textures and surfaces lie for caches and DRAM; far from any global buffer."""
_ALIGNMENT = 512
_NAMED_MODES = {
    "wrap": "wrap",
    "mirror": "mirror",
    "clamp_ogl": "clamp",
    "clamp_to_edge": "clamp",
    "clamp_to_border": "border",
}


class KeptTextures:
    """The texture objects of a machine, whose handles outlive a launch: they may lie in memory.

    The rows of a launch's own objects come first, in the first FIRST rows of the table.
    """

    FIRST = 1024

    def __init__(self) -> None:
        self._table = np.zeros((2 * self.FIRST, columns.ROW_WORDS), np.int64)
        self._values: dict[int, TextureObject] = {}
        self._free = list(range(2 * self.FIRST - 1, self.FIRST - 1, -1))
        self._end = TEXTURE_BASE << 1

    def add(self, value: TextureObject) -> int:
        """The handle of an object. Raises E401 for what is none."""
        if not isinstance(value, Texture | Sampler | Surface):
            help = "give a ptxsim.Texture, ptxsim.Sampler or ptxsim.Surface"
            raise error("E401", f"{type(value).__name__} as a texture", help=help)
        if not self._free:
            n = len(self._table)
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            self._free = list(range(2 * n - 1, n - 1, -1))
        row = value.row()
        if isinstance(value, Texture | Surface):
            row[columns.ADDRESS] = self._end
            self._end = round_up(self._end + bytes_of(value), _ALIGNMENT)
        number = self._free.pop()
        self._table[number], self._values[number] = row, value
        return columns.HANDLE_BASE + columns.HANDLE_STEP * number

    def remove(self, handle: int) -> None:
        """Remove an object: its handle is none any more. Raises E401 for a handle that is none."""
        number, rest = divmod(handle - columns.HANDLE_BASE, columns.HANDLE_STEP)
        if rest or number not in self._values:
            raise error(
                "E401",
                f"{handle:#x} is no handle of a texture",
                help="give what 'texture' returned, and once",
            )
        del self._values[number]
        self._table[number] = 0
        self._free.append(number)

    def table_after(self, rows: Sequence[Any]) -> Any:
        """The table with the rows of a launch. Raises E401 for more than have room."""
        if len(rows) > self.FIRST:
            help = f"at most {self.FIRST - 1} are possible beside those of the machine"
            raise error("E401", f"{len(rows) - 1} textures, samplers and surfaces of one launch", help=help)
        self._table[: len(rows)] = rows
        self._table[len(rows) : self.FIRST] = 0
        return self._table


class TextureHandles:
    """The texture objects of a launch: those of the module's variables first, then those of the arguments."""

    def __init__(
        self,
        layout: VariableLayout,
        kernel: Function,
        textures: Mapping[str, Any],
        kept: KeptTextures | None = None,
    ):
        """`kept` are those of the machine."""
        self._kept = kept
        self.rows = [np.zeros(columns.ROW_WORDS, np.int64)]
        self.keep: list[Any] = []
        self._end = TEXTURE_BASE
        self._starts: dict[int, int] = {}
        self._handles: dict[int, int] = {}
        for value in opaque_values(layout, kernel, textures):
            self._add(value)

    def _add(self, value: TextureObject | None) -> int:
        """The handle of a new row."""
        row = np.zeros(columns.ROW_WORDS, np.int64) if value is None else value.row()
        if isinstance(value, Texture | Surface):
            start = row[columns.DATA]
            if start not in self._starts:
                self._starts[start] = self._end
                self._end = round_up(self._end + bytes_of(value), _ALIGNMENT)
            row[columns.ADDRESS] = self._starts[start]
        self.keep.append(value)
        self.rows.append(row)
        return columns.HANDLE_BASE + columns.HANDLE_STEP * (len(self.rows) - 1)

    def handle(self, value: TextureObject) -> int:
        """The handle of an argument."""
        if id(value) not in self._handles:
            self._handles[id(value)] = self._add(value)
        return self._handles[id(value)]

    def array(self) -> Any:
        return np.array(self.rows) if self._kept is None else self._kept.table_after(self.rows)


def opaque_values(
    layout: VariableLayout, kernel: Function, textures: Mapping[str, Any]
) -> list[TextureObject | None]:
    """The objects of the variables of opaque types, in their order; None for an unused variable. Raises E401."""
    variables = {s.name: s for s in layout.symbols.values() if s.type in OPAQUE}
    for name in textures:
        if name not in variables:
            help = f"there are {', '.join(variables)}" if variables else "the module has none"
            raise error("E401", f"no texture, sampler or surface named '{name}'", kernel.source, help=help)
    if not variables:
        return []
    places: dict[str, Declaration | Directive] = dict(textures_of_head(kernel))
    declarators: dict[str, Declarator] = {}
    for declaration in kernel.module.declarations():
        for declarator in declaration.declarators:
            places[declarator.name], declarators[declarator.name] = declaration, declarator
    used = set[str]().union(*map(names_in, CallGraph(kernel).functions))
    found: list[TextureObject | None] = []
    for name, symbol in variables.items():
        value = textures.get(name)
        if value is None and symbol.type == "samplerref":
            value = _declared_sampler(declarators[name])
        if value is None and name not in used:
            found.append(None)
        elif value is None or not fits(symbol.type, value):
            given = "nothing given" if value is None else type(value).__name__
            what = f"{given} for '.{symbol.type} {name}'"
            table = "surfaces" if symbol.type == "surfref" else "textures"
            how = f"give textures={{'{name}': {class_of(symbol.type)}(...)}}, or [{table}.{name}] in a launch file"
            place = places[name]
            raise error("E401", what, kernel.source, place.start, place.end, how)
        else:
            found.append(value)
    return found


def _declared_sampler(declarator: Declarator) -> Sampler:
    """A sampler as its variable is initialised: `{ addr_mode_0 = wrap, filter_mode = linear }`."""
    items = declarator.value.items if isinstance(declarator.value, Vector) else ()
    given: dict[str, str] = {}
    for item in items:
        if isinstance(item, Binary) and item.operator == "=" and isinstance(item.left, Name):
            right = item.right
            given[item.left.text] = right.text if isinstance(right, Name | Immediate) else ""
    modes: Any = [_NAMED_MODES.get(given.get(f"addr_mode_{k}", ""), "clamp") for k in range(3)]
    return Sampler(
        modes,
        "linear" if given.get("filter_mode") == "linear" else "point",
        given.get("force_unnormalized_coords", "0") != "0",
    )
