"""What the programs of all families are put together from: opcode texts of a row, results, addresses.

The kernel around them is `walk_kernels.kernel_text`: `%lane` is the thread's number of 128, `%data` its place in the
inputs of the item, `tile` and `own` are shared and local memory. Items leave shared memory after a barrier.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from form_text import opcode_texts
from walk_kernels import LANES, SLOT, SLOTS, Item, store_result

from ptxtool.isa.forms import Form
from ptxtool.isa.table import Match, table

WARPS = LANES // 32
_NAME = "%{}r{}"


def opcodes(form: Form, n_operands: int | None = None, limit: int = 60) -> Iterator[tuple[str, Match]]:
    """The opcode texts of a row, with what they mean for a number of operands (by default the largest)."""
    n = form.max_operands if n_operands is None else n_operands
    for text in opcode_texts(form, limit):
        match = next((m for m in table().matches(text, n, False) if m.form is form), None)
        if match is not None:
            yield text, match


def item(
    text: str,
    match: Match,
    lines: Sequence[str],
    results: Sequence[tuple[str, str]],
    data: np.ndarray | None = None,
    **more: object,
) -> Item:
    """An item whose `lines` contain the instruction; `results` are registers ("%b32r5") and their types."""
    stores, types = [], []
    for name, type_ in results:
        declared, _, number = name[1:].rpartition("r")
        stores += store_result(declared, number, len(types))
        types.append(type_)
    assert len(types) <= SLOTS, text
    return Item(text, match, "\n".join([*lines, *stores]), tuple(types), data=data, **more)  # type: ignore[arg-type]


def words(*names: str) -> list[tuple[str, str]]:
    """Results that are no floating-point numbers."""
    return [(name, "b") for name in names]


def load(name: str, word: int, width: int = 32) -> str:
    """A register with a word of the item's inputs."""
    return f"ld.global.b{width} {name}, [%data+IN+{word * LANES * 8}];"


def small_numbers(seed: str, n: int, low: int, high: int) -> np.ndarray:
    """Inputs: whole numbers from `low` to below `high`, as words of 64 bits."""
    generator = np.random.default_rng([*seed.encode()])
    return generator.integers(low, high, (n, LANES)).astype(np.int64).view(np.uint64)


def bits(seed: str, n: int) -> np.ndarray:
    """Inputs: random words of 64 bits."""
    return np.random.default_rng([*seed.encode()]).integers(0, 1 << 64, (n, LANES), np.uint64)


def shared_address(name: str, per_lane: int, generic: bool = False) -> str:
    """A pointer to the lane's bytes of shared memory in a register of 64 bits."""
    lines = f"mov.u64 {name}, tile; mad.wide.u32 {name}, %lane, {per_lane}, {name};"
    return lines + (f" cvta.shared.u64 {name}, {name};" if generic else "")


def show_shared(offset: int, slot: int, per_lane: int = 16) -> str:
    """Sixteen bytes of shared memory as a result: those of the lane."""
    assert slot * SLOT < SLOTS * SLOT
    return (
        f"mov.u64 %y2, tile; mad.wide.u32 %y2, %lane, {per_lane}, %y2;"
        f" ld.shared.v2.u64 {{%y0, %y1}}, [%y2+{offset}]; st.global.v2.u64 [%to+OUT+{slot * SLOT}], {{%y0, %y1}};"
    )
