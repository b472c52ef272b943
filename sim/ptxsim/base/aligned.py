"""Bytes of numpy that begin where the host's caches, or a simulated machine, want them to."""

from typing import Any

import numpy as np


def aligned(n_bytes: int, to: int, zeroed: bool = True) -> Any:
    """Bytes, uint8, that begin at a multiple of `to` in the simulator's memory."""
    block = (np.zeros if zeroed else np.empty)(n_bytes + to, np.uint8)
    skip = -int(block.ctypes.data) % to
    return block[skip : skip + n_bytes]
