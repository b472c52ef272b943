"""The micro-kernels that hold the machines to known figures: `cases` of a machine, each with what it should measure.

For `tests/sim/machines/test_microkernels.py` and for `benchmarks/accuracy.py`, which prints them for docs/accuracy.md.
"""

from microkernels.case import Case
from microkernels.core import CORE
from microkernels.gpgpusim42 import GPGPUSIM42
from microkernels.memory import MEMORY
from microkernels.scheme import SCHEME
from microkernels.switching import SWITCHING
from microkernels.volta import VOLTA
from microkernels.volta_memory import VOLTA_MEMORY

C2050: tuple[Case, ...] = tuple(
    sorted(
        (*CORE, *MEMORY, *SCHEME, *SWITCHING), key=lambda case: int(case.row)
    )  # rows of timing-model section 7.3
)

__all__ = ["C2050", "GPGPUSIM42", "VOLTA", "VOLTA_MEMORY", "Case"]
