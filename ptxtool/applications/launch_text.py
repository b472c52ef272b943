"""The launch file of a recorded launch: its text, from raw parameters and the blocks of memory at their addresses.

A parameter whose value is the address of a block is that buffer; any other number stays a number, and may be a pointer
into a block. For `recording.py`.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptxtool.formats.launch.launch_values import DTYPES, element_type
from ptxtool.results.applications import Launch

if TYPE_CHECKING:
    from ptxsim.loaded_modules import KernelParameter, LoadedKernel


@dataclass(frozen=True)
class Block:
    """A block of memory, and the files of its contents before and after: a whole array, and changes in order; none for
    zeros. `digest` is that of the contents before."""

    address: int
    n_bytes: int
    files: tuple[str, ...]
    digest: bytes
    after: tuple[str, ...] | None = None
    """None: unknown."""
    is_changed: bool = False

    @property
    def element_bytes(self) -> int:
        """Words where there are whole ones: a launch file has at most 2**30 elements."""
        return 1 if self.n_bytes % 4 else 4


def launch_text(
    title: str,
    entry: Launch,
    kernel: "LoadedKernel",
    parameters: bytes,
    settings: Mapping[str, object],
    blocks: Sequence[Block],
) -> str:
    """The launch file; results are expected where the blocks have them."""
    origin = kernel.module.origin
    counts = f"{entry.warp_instructions} warp instructions" + (
        f", {entry.cycles} cycles" * (entry.cycles > 0)
    )
    lines = [
        f"# {title}",
        f"# {counts}" if not entry.error else f"# ended with CUDA's error {entry.error}",
        'file = "kernel.ptx"',
        f"kernel = {json.dumps(kernel.name)}",
        f"grid = {list(entry.grid)}",
        f"block = {list(entry.block)}",
        *(f"{key} = {value}" for key, value in settings.items() if value),
    ]
    lines += [
        "",
        "[module]",
        f"variables = {origin.variables:#x}",
        f"constants = {origin.constants}",
        f"code = {origin.code}",
        f"constant_memory = {kernel.module.constants_start:#x}",
    ]
    left = {block.address: block for block in blocks}
    names: dict[int, str] = {}
    for k, parameter in enumerate(kernel.parameters):
        data = parameters[parameter.offset : parameter.offset + parameter.n_bytes]
        block = left.pop(int.from_bytes(data, "little"), None) if len(data) == 8 else None
        lines += ["", "[[args]]", f'name = "arg{k}"']
        if block is None:
            lines += _number(parameter, data)
        else:
            names[block.address] = f"arg{k}"
            lines += [*_contents(block), *(["output = true"] if block.is_changed else [])]
    for block in left.values():
        names[block.address] = f"memory_{block.address:x}"
        lines += ["", "[[memory]]", f'name = "{names[block.address]}"', *_contents(block)]
    for block in blocks:
        lines += _expected(block, names[block.address])
    return "\n".join(lines) + "\n"


def _contents(block: Block) -> Iterable[str]:
    yield f"address = {block.address:#x}"
    yield f'type = "u{8 * block.element_bytes}"'
    yield f"count = {block.n_bytes // block.element_bytes}"
    yield from _files(block.files) if block.files else ["value = 0"]


def _files(names: Sequence[str]) -> Iterable[str]:
    yield f'file = "{names[0]}"'
    if len(names) > 1:
        yield f"changes = {json.dumps(names[1:])}"


def _expected(block: Block, name: str) -> Iterable[str]:
    if block.after is None:
        return ()
    after = [f'expr = "{name}"']
    if block.is_changed:
        after = [*_files(block.after)] if block.after else ['expr = "0"']
    return ("", "[[expect]]", f'arg = "{name}"', *after)


def _number(parameter: "KernelParameter", data: bytes) -> Iterable[str]:
    """A parameter by value: a number of its type, or the bytes of a structure."""
    dtype = DTYPES.get(element_type(parameter.type))
    if dtype is None or dtype.itemsize != len(data):
        return 'type = "u8"', f"value = {list(data)}"
    value = np.frombuffer(data, dtype)[0].item()
    is_exact = dtype.kind != "f" or math.isfinite(value)
    text = repr(value) if is_exact else f'"{int.from_bytes(data, "little"):#x}"'
    return f'type = "{parameter.type}"', f"value = {text}"
