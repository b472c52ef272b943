"""Warp schedulers: policies, one file each, with the functions that docs/schedulers.md describes.

`pick(sm, scheduler, candidates) -> warp` chooses a warp of a mask that is not 0. It is called when a warp can issue;
the mask also contains the warps whose buffers hold instructions of a wrong path. If one of these is chosen, its buffer
is flushed, as in a scan in the order of priority, and `pick` is called again without it. A policy that looks at some
of its warps only has also `window(sm, scheduler) -> mask`, called once per cycle before all else: warps outside neither
issue nor count as valid. Both may keep numbers in `sm.policy[scheduler, ...]`, zero at the start. A number after a name
(`two_level:6`) is `sm.policy_number`. `own.py` loads a user's own policy, which is then treated like a built-in one.
"""

import shlex
from dataclasses import dataclass, replace
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from ptxsim.base import jit
from ptxsim.base.warp_masks import MOST_WARPS, for_wide, no_warps
from ptxsim.timing.schedulers import gto, lrr, old, owf, owf_greedy, own, rrr, static_limit, two_level
from ptxsim.timing.schedulers.own import OwnPolicy
from ptxsim.timing.schedulers.signature import PICK, WINDOW
from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean

SCHEDULERS: dict[str, ModuleType] = {
    "lrr": lrr,
    "gto": gto,
    "old": old,
    "rrr": rrr,
    "two_level": two_level,
    "static_limit": static_limit,
    "owf": owf,
    "owf_greedy": owf_greedy,
}
NUMBERED = {"two_level": 6, "static_limit": None}
"""The policies with a number after their name, and its default (None: the number is required)."""


@dataclass(frozen=True)
class Policy:
    """A policy as the compiled loop takes it, and its name."""

    name: str
    pick: Any
    window: Any
    has_window: bool
    number: int
    own: OwnPolicy | None = None

    def for_records(self, is_wide: bool) -> "Policy":
        """The policy for narrow or wide records of SMs; the functions of `policy` are for narrow ones. Raises E502."""
        if not is_wide:
            return self
        if self.own is None:
            return _built_in(self.name, True)
        mine = self.own.wide
        return replace(self, pick=mine.compiled_pick, window=mine.compiled_window or _whole(True), own=mine)

    @property
    def may_ask_for_long(self) -> bool:
        """Whether the policy may look at `sm.long_wait`: of the built-in ones only a window does."""
        return self.has_window or self.own is not None


def policy(name: str) -> Policy:
    """The policy of that name: `NAME`, `NAME:NUMBER` or `FILE.py:FUNCTION[:NUMBER]`.

    Raises `PtxError`: E501 for a file that cannot be read, E502 for an invalid policy.
    """
    found = own.split(name)
    if found is not None:
        mine = own.load(found)
        window = mine.compiled_window or _whole(False)
        return Policy(name, mine.compiled_pick, window, mine.window is not None, found.number, mine)
    return _built_in(name)


def built_in_policy(name: str) -> Policy:
    """The policy that a file of data names. Raises E502 for one of the user's own: its code is not run."""
    if own.split(name) is None:
        return _built_in(name)
    help_text = f"code is run only if the command line names it: --scheduler {shlex.quote(name)}"
    raise error(
        "E502", f"scheduler '{name}' is code, which a launch file or GPU file cannot choose", help=help_text
    )


@cache
def _built_in(name: str, is_wide: bool = False) -> Policy:
    kind, _, number = name.partition(":")
    if kind not in SCHEDULERS:
        known = ", ".join(sorted(SCHEDULERS))
        there = f"the schedulers are {known}; one of your own is FILE.py:FUNCTION"
        raise error("E502", f"no warp scheduler '{name}'", help=did_you_mean(kind, SCHEDULERS, then=there))
    module = SCHEDULERS[kind]
    window = getattr(module, "window", None)
    compiled_window = _whole(is_wide) if window is None else _compiled(WINDOW, window, is_wide)
    n = _number(name, kind, number)
    return Policy(name, _compiled(PICK, module.pick, is_wide), compiled_window, window is not None, n)


def _number(name: str, kind: str, given: str) -> int:
    """The number of a built-in policy; 0 if it has none. Raises E502 for an invalid number."""
    if kind not in NUMBERED:
        if given or ":" in name:
            raise error("E502", f"scheduler '{name}': '{kind}' takes no number", help=f"write '{kind}'")
        return 0
    default = NUMBERED[kind]
    if ":" not in name and default is not None:
        return default
    if not given.isdecimal() or len(given) > 9 or not 1 <= int(given) <= MOST_WARPS:
        what = f"'{given}' is no number of warps" if ":" in name else "a number of warps is missing"
        help_text = f"write '{kind}:N' with N from 1 to {MOST_WARPS}, such as '{kind}:{default or 8}'"
        raise error("E502", f"scheduler '{name}': {what}", help=help_text)
    return int(given)


def _everything(sm: Any, scheduler: int) -> Any:
    return ~no_warps(sm)


def _whole(is_wide: bool) -> Any:
    """The window of a policy that has none; it is never called."""
    return _compiled(WINDOW, _everything, is_wide)


@cache
def _compiled(signatures: Any, function: FunctionType, is_wide: bool) -> Any:
    """A function of a policy, compiled for narrow or wide records."""
    if is_wide:
        function = FunctionType(function.__code__, for_wide(function.__globals__))
    declared = jit.njit(signatures[is_wide])(function)
    return jit.for_records(declared, "wide") if is_wide else declared
