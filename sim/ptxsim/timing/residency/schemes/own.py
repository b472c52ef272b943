"""A register scheme of the user's own: `FILE.py:FUNCTION`, loaded, checked and compiled.

The function is `decide`, whatever its name. A name `based_on` of the same file is the built-in scheme that it changes:
that one says where registers are and what a switch costs. `settings` are keys of the machine's `[switching]` table.
Errors are reported with their place in the file: while loading (E501, E502; `timing/own_code.py`) and in a run (E416).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ptxsim.base import jit
from ptxsim.timing.own_code import OwnFile, OwnKind, definition, run_own_file
from ptxsim.timing.residency.decisions import DECIDE, DECISIONS, LOOK_UP, NOTES, STAY
from ptxtool.analysis.occupancy.register_schemes import SCHEMES, RegisterScheme, own_parts
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.base.user_file import raised_at
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.settings import with_settings

_KIND = OwnKind("scheme", "docs/schemes.md", "a view", "view")
_BASES = {scheme.name: scheme for scheme in SCHEMES if scheme.switching != "none"}
_BASE = "virtual-thread"


@dataclass(frozen=True)
class OwnScheme:
    """A scheme of the user's: the parts of the one that it is based on, its settings, and its decision."""

    scheme: RegisterScheme
    settings: tuple[str, ...]
    source: Source
    function: Callable[..., Any]
    decide: Any

    def applied(self, gpu: Gpu) -> Gpu:
        """The machine with the scheme's settings. Raises E502 for a setting that cannot be."""
        return with_settings(gpu, self.settings) if self.settings else gpu

    def wrong_decision(self, decision: int, view: Any) -> PtxError:
        """The scheme has decided what was not possible for the CTA of the view."""
        can = {"SWAP": "can_swap", "FETCH": "can_fetch", "LAUNCH": "can_launch", "LOOK_UP": "can_look_up"}
        able = ", ".join(["STAY", *(name for name, field in can.items() if view[field])])
        known = DECISIONS[decision] if STAY <= decision <= LOOK_UP else str(decision)
        about = f"CTA {int(view['cta'])} on SM {int(view['index'])} in cycle {int(view['cycle'])}"
        message = f"'{self.function.__name__}' decided {known} about {about}, for which there are: {able}"
        help_text = (
            "return what the view says to be possible, such as SWAP where `view.can_swap` is not 0, or STAY"
        )
        return error("E416", message, self.source, *definition(self.source, self.function), help_text)

    def raised(self, problem: Exception) -> PtxError | None:
        """The diagnostic for an exception in a run; None if the scheme did not raise it."""
        place = raised_at(self.source, problem)
        if place == (0, 0):
            if jit.JIT_DISABLED:
                return None
            place = definition(self.source, self.function)
        message = f"'{self.function.__name__}' raised {type(problem).__name__}: {problem}"
        help_text = f"a scheme must return a decision in every case; {_KIND.read_more}"
        if isinstance(problem, IndexError):
            help_text = f"look at every index: `view.notes` has {NOTES} numbers"
        return error("E416", message, self.source, *place, help_text)


def own_scheme(name: str | None) -> OwnScheme | None:
    """Read, check and compile the scheme of a name; None where that is no user's. Raises E501 and E502."""
    parts = own_parts(name) if name else None
    if name is None or parts is None:
        return None
    file = run_own_file(parts[0], _KIND)
    function = file.function(parts[1])
    file.check_parameters(function, ("view",))
    base = file.names.get("based_on", _BASE)
    if not isinstance(base, str) or base not in _BASES:
        there = f"there are {', '.join(_BASES)}"
        help = did_you_mean(str(base), _BASES, then=there)
        raise error("E502", f"based_on is {base!r}: no scheme that switches CTAs", file.source, help=help)
    decide = file.compiled(function, DECIDE, "a decision")
    return OwnScheme(replace(_BASES[base], name=name), _settings(file), file.source, function, decide)


def _settings(file: OwnFile) -> tuple[str, ...]:
    """The settings of a file, as `--set` has them. Raises E502 where they are no dictionary of keys."""
    given = file.names.get("settings", {})
    if not isinstance(given, dict) or "scheme" in given:
        help = 'write a dictionary of keys of [switching], such as settings = {"ctas": 40}; based_on names a scheme'
        raise error("E502", f"settings is {given!r}", file.source, help=help)
    return tuple(f"switching.{key}={_text(value)}" for key, value in given.items())


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
