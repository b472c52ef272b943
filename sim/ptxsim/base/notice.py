"""The note on standard error before the simulator is compiled: when `run`, `launch` or `Machine` is first used.

The first run after installation takes long; without a note it looks as if the kernel hung. Modules are compiled when
they are imported, so that the note has to come before the import.
"""

import contextlib
import sys

from ptxsim.base.code_cache import is_compiled
from ptxsim.base.jit import JIT_DISABLED

_LOOPS = {
    "run": "ptxsim.functional.cta_loop",
    "launch": "ptxsim.timing.core.cycle",
    "Machine": "ptxsim.timing.core.cycle",
}


def say_if_compiling(function: str) -> None:
    """Print the note if a function's loop has no machine code yet."""
    if JIT_DISABLED or is_compiled(_LOOPS[function]):
        return
    if function != "run" and is_compiled(_LOOPS["run"]):
        text = "compiling the timing model (once after installation, half a minute) ...\n"
    else:
        text = "compiling the simulator (once after installation, a minute or two) ...\n"
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text)
        sys.stderr.flush()
