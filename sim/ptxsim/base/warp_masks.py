"""Masks over the warps of an SM, as wide as those of its record: 64 bits, or 128 (`wide_masks.py`).

`warp_bit(sm, w)`      the mask of warp w
`from_warp(sm, w)`     the mask of the warps from w upwards; none from the width upwards
`no_warps(sm)`         the empty mask
`warp_slots(sm)`       the width

`ctz` and `popcount` of jit.py take masks of either width. `wide_bit(w)` and `wide_from_bit(w)` are `bit` and `from_bit`
for 128 bits; `for_wide(names)` puts them into the place of these.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ptxsim.base.jit import JIT_DISABLED, bit, compiled, from_bit
from ptxsim.base.wide_masks import WideRecord

NARROW, MOST_WARPS = 64, 128


def _python_wide_bit(position: Any) -> int:
    return 1 << int(position)


def _python_wide_from_bit(position: Any) -> int:
    return max(0, (1 << MOST_WARPS) - (1 << int(position)))


def _python_warp_bit(sm: Any, w: Any) -> Any:
    return _python_wide_bit(w) if isinstance(sm, WideRecord) else bit(w)


def _python_from_warp(sm: Any, w: Any) -> Any:
    return _python_wide_from_bit(w) if isinstance(sm, WideRecord) else from_bit(w)


def _python_no_warps(sm: Any) -> Any:
    return 0 if isinstance(sm, WideRecord) else np.int64(0)


def _python_warp_slots(sm: Any) -> int:
    return MOST_WARPS if isinstance(sm, WideRecord) else NARROW


warp_bit: Any = _python_warp_bit if JIT_DISABLED else compiled("ptxsim.base.compiler.wide_types", "warp_bit")
from_warp: Any = (
    _python_from_warp if JIT_DISABLED else compiled("ptxsim.base.compiler.wide_types", "from_warp")
)
no_warps: Any = _python_no_warps if JIT_DISABLED else compiled("ptxsim.base.compiler.wide_types", "no_warps")
warp_slots: Any = (
    _python_warp_slots if JIT_DISABLED else compiled("ptxsim.base.compiler.wide_types", "warp_slots")
)
wide_bit: Any = _python_wide_bit if JIT_DISABLED else compiled("ptxsim.base.compiler.wide_types", "wide_bit")
wide_from_bit: Any = (
    _python_wide_from_bit if JIT_DISABLED else compiled("ptxsim.base.compiler.wide_types", "wide_from_bit")
)


def for_wide(names: Mapping[str, Any]) -> dict[str, Any]:
    """Global names of a function, for one whose masks have 128 bits."""
    others = {id(bit): wide_bit, id(from_bit): wide_from_bit}
    return {name: others.get(id(value), value) for name, value in names.items()}
