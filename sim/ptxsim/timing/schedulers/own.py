"""A warp scheduler of the user's own: `FILE.py:FUNCTION[:NUMBER]`, loaded, checked and compiled.

The function is `pick`, whatever its name; a function `window` of the same file is its window. All errors are reported
with their place in the file: while loading (E501, E502; `timing/own_code.py`) and in a run (E416).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ptxsim.base import jit
from ptxsim.base.warp_masks import MOST_WARPS, NARROW
from ptxsim.timing.own_code import OwnFile, OwnKind, definition, run_own_file
from ptxsim.timing.schedulers.signature import PICK, WINDOW
from ptxsim.timing.sm_state import policy_numbers
from ptxtool.base.diag import PtxError, error
from ptxtool.base.source import Source
from ptxtool.base.user_file import raised_at

_NAME = re.compile(r"(?P<file>.+\.py)(?::(?P<function>[^:]*))?(?::(?P<number>[^:]*))?$", re.DOTALL)
_PARAMETERS = {"pick": ("sm", "scheduler", "candidates"), "window": ("sm", "scheduler")}
_KIND = OwnKind("scheduler", "docs/schedulers.md", "an SM", "sm")


@dataclass(frozen=True)
class OwnName:
    """The parts of the name of a user's scheduler."""

    file: str
    function: str
    number: int


@dataclass(frozen=True)
class OwnPolicy:
    """A user's functions, compiled: for narrow records of SMs, or for wide ones."""

    file: OwnFile
    function: str
    pick: Callable[..., Any]
    window: Callable[..., Any] | None
    compiled_pick: Any
    compiled_window: Any

    @cached_property
    def wide(self) -> "OwnPolicy":
        """The same functions for wide records. Raises E502."""
        return _policy_of(self.file.widened(), self.function)

    @property
    def source(self) -> Source:
        return self.file.source

    def wrong_warp(self, warp: int, candidates: list[int]) -> PtxError:
        """The policy has chosen a warp that cannot issue."""
        able = ", ".join(map(str, candidates))
        message = f"'{self.function}' chose warp {warp}, which cannot issue now: the candidates are {able}"
        help_text = "return one of the candidates, for which `candidates & bit(warp)` is not 0"
        return error("E416", message, self.source, *definition(self.source, self.pick), help_text)

    def raised(self, problem: Exception) -> PtxError | None:
        """The diagnostic for an exception in a run; None if these functions did not raise it."""
        place = raised_at(self.source, problem)
        if place == (0, 0):
            if jit.JIT_DISABLED:
                return None
            place = definition(self.source, self.pick)
        message = f"'{self.function}' raised {type(problem).__name__}: {problem}"
        help_text = f"a scheduler must return one of its candidates in every case; {_KIND.read_more}"
        if isinstance(problem, IndexError):
            n = policy_numbers(MOST_WARPS if self.file.is_wide else NARROW)
            numbers = f"`sm.policy` has {n} numbers for each scheduler"
            help_text = f"look at every index of `sm`'s arrays; {numbers}"
        return error("E416", message, self.source, *place, help_text)


def split(name: str) -> OwnName | None:
    """The parts of a user's scheduler's name; None for a name that is not of this kind. Raises E502."""
    found = _NAME.match(name)
    if found is None:
        return None
    if not found["function"]:
        help_text = f"write '{found['file']}:FUNCTION', such as '{found['file']}:pick'"
        raise error("E502", f"scheduler '{name}' names no function", help=help_text)
    number = found["number"]
    if number is not None and not re.fullmatch(r"-?\d{1,18}", number):
        help_text = "the number after the function is `sm.policy_number`: leave it out where none is needed"
        raise error("E502", f"scheduler '{name}': '{number}' is no whole number", help=help_text)
    return OwnName(found["file"], found["function"], int(number or 0))


def load(name: OwnName) -> OwnPolicy:
    """Read, check and compile a user's scheduler. Raises `PtxError` E501 or E502."""
    return _policy_of(run_own_file(name.file, _KIND), name.function)


def _policy_of(file: OwnFile, name: str) -> OwnPolicy:
    """Check and compile function `name` of a file, and its window."""
    pick = file.function(name)
    window = file.functions.get("window") if name != "window" else None
    file.check_parameters(pick, _PARAMETERS["pick"])
    compiled_window = None
    if window is not None:
        file.check_parameters(window, _PARAMETERS["window"])
        compiled_window = file.compiled(window, WINDOW[file.is_wide], "a mask of warps")
    compiled_pick = file.compiled(pick, PICK[file.is_wide], "the number of a warp")
    return OwnPolicy(file, name, pick, window, compiled_pick, compiled_window)
