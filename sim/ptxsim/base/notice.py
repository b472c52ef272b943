"""The note on standard error before the simulator is compiled: when `run`, `launch` or `Machine` is first used.

The first run after installation takes long; without a note it looks as if the kernel hung. Modules are compiled when
they are imported, so the note is printed before the import, whether standard error is a terminal or a file. The loop
of a run is compiled last: while it has no machine code, a compilation that was interrupted has to go on.
"""

import contextlib
import sys

from ptxsim.base.code_cache import is_compiled
from ptxsim.base.jit import JIT_DISABLED

LOOPS = {
    "run": "ptxsim.functional.cta_loop.run_cta",
    "launch": "ptxsim.timing.core.cycle._simulate_plain",
    "Machine": "ptxsim.timing.core.cycle._simulate_plain",
    "wide": "ptxsim.timing.core.cycle._simulate_wide_plain",
}
"""The compiled loop that a function of the package needs, or a machine with more than 64 warps or 32 CTAs per SM."""


def say_if_compiling(function: str) -> None:
    """Print the note if a function's loop has no machine code yet."""
    if JIT_DISABLED or is_compiled(LOOPS[function]):
        return
    if function == "wide":
        text = "compiling the timing model for large SMs (once after installation, half a minute) ...\n"
    elif function != "run" and is_compiled(LOOPS["run"]):
        text = "compiling the timing model (once after installation, half a minute) ...\n"
    else:
        text = "compiling the simulator (once after installation, a minute or two) ...\n"
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text)
        sys.stderr.flush()
