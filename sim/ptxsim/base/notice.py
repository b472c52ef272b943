"""The note on standard error before the simulator is compiled: when `run`, `launch` or `Machine` is first used.

The first run after installation takes long; without a note it looks as if the kernel hung. Modules are compiled when
they are imported, so the note is printed before the import, whether standard error is a terminal or a file. The loop
of a run is compiled last: while it has no machine code, a compilation that was interrupted has to go on. Where machine
code was prepared but does not fit, the note says why.
"""

import contextlib
import sys
from collections.abc import Collection
from typing import Any

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.machine_code import is_compiled, is_missing, need
from ptxsim.base.prepared_code import misfit

LOOPS = {
    "run": "ptxsim.functional.cta_loop.run_ctas",
    "launch": "ptxsim.timing.core.cycle._simulate_plain",
    "Machine": "ptxsim.timing.core.cycle._simulate_plain",
    "wide": "ptxsim.timing.core.cycle._simulate_wide_plain",
    "any run": "ptxsim.timing.core.cycle._simulate",
    "any wide run": "ptxsim.timing.core.cycle._simulate_wide",
    "threads": "ptxsim.timing.workers.work._simulate_plain",
    "threads any": "ptxsim.timing.workers.work._simulate",
    "threads wide": "ptxsim.timing.workers.work._simulate_wide_plain",
    "threads wide any": "ptxsim.timing.workers.work._simulate_wide",
}
"""The compiled loop that a function of the package needs, a machine with more than 64 warps or 32 CTAs per SM, or a run
that is not plain (timing/core/plain_run.py), and those of several threads."""


def say_if_compiling(function: str, loop: Any = None) -> None:
    """Print the note if a function's loop has no machine code yet: this `loop`, or any that the function has."""
    if JIT_DISABLED or (is_compiled(LOOPS[function]) if loop is None else not is_missing(loop)):
        return
    reason = misfit()
    why = f"; prepared machine code {reason}" if reason else ""
    if function == "wide":
        text = "the timing model for large SMs (once after installation, half a minute)"
    elif function.startswith("threads"):
        text = "the timing model for several threads (once after installation, half a minute)"
    elif function.startswith("any"):
        text = "the timing model for sharing, hot spots and the like (once after installation, half a minute)"
    elif function != "run" and is_compiled(LOOPS["run"]):
        text = f"the timing model (once after installation, half a minute{why})"
    else:
        text = f"the simulator (once after installation, up to a minute{why})"
    _say(text)


def say_if_one_more(function: str, loop: Any) -> None:
    """The note before a loop for other machines than those simulated so far: where there are none,
    `say_if_compiling(function)` has said it."""
    if not JIT_DISABLED and is_compiled(LOOPS[function]) and is_missing(loop):
        _say("the timing model for such machines (once after installation, half a minute)")


def need_parts(parts: Collection[str]) -> None:
    """Have parts of the simulator loaded, with a note if one has no machine code, unless all of it is compiled."""
    if not JIT_DISABLED and need(parts) and is_compiled(LOOPS["run"]):
        _say("the part of the simulator that this kernel needs (once after installation, some seconds)")


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"compiling {text} ...\n")
        sys.stderr.flush()
