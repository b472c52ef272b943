"""A warp scheduler of the user's own: `FILE.py:FUNCTION[:NUMBER]`, loaded, checked and compiled.

The function is `pick`, whatever its name; a function `window` of the same file is its window. Both are compiled with
bounds checks, so that a wrong index is an error, not a memory corruption. All errors are reported with their place in
the file: while loading (E501, E502) and in a run (E416).
"""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError

from ptxsim.base import jit
from ptxsim.base.warp_masks import MOST_WARPS, NARROW, for_wide
from ptxsim.base.wide_masks import INT128
from ptxsim.timing.schedulers.signature import PICK, WINDOW
from ptxsim.timing.sm_state import policy_numbers
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.base.user_file import line_span, raised_at

_NAME = re.compile(r"(?P<file>.+\.py)(?::(?P<function>[^:]*))?(?::(?P<number>[^:]*))?$", re.DOTALL)
_PARAMETERS = {"pick": ("sm", "scheduler", "candidates"), "window": ("sm", "scheduler")}
_READ_MORE = "docs/schedulers.md builds one from nothing"
_WIDE_MASKS = (
    "masks of this machine have 128 bits: make them with `bit` and `from_bit`, imported from ptxsim.jit"
)


@dataclass(frozen=True)
class OwnName:
    """The parts of the name of a user's scheduler."""

    file: str
    function: str
    number: int


@dataclass(frozen=True)
class OwnPolicy:
    """A user's functions, compiled: for narrow records of SMs, or for wide ones."""

    source: Source
    function: str
    is_wide: bool
    pick: Callable[..., Any]
    window: Callable[..., Any] | None
    compiled_pick: Any
    compiled_window: Any

    @cached_property
    def wide(self) -> "OwnPolicy":
        """The same functions for wide records. Raises E502."""
        return _policy_of(self.source, self.function, True)

    def wrong_warp(self, warp: int, candidates: list[int]) -> PtxError:
        """The policy has chosen a warp that cannot issue."""
        able = ", ".join(map(str, candidates))
        message = f"'{self.function}' chose warp {warp}, which cannot issue now: the candidates are {able}"
        help_text = "return one of the candidates, for which `candidates & bit(warp)` is not 0"
        return error("E416", message, self.source, *_definition(self.source, self.pick), help_text)

    def raised(self, problem: Exception) -> PtxError | None:
        """The diagnostic for an exception in a run; None if these functions did not raise it."""
        place = raised_at(self.source, problem)
        if place == (0, 0):
            if jit.JIT_DISABLED:
                return None
            place = _definition(self.source, self.pick)
        message = f"'{self.function}' raised {type(problem).__name__}: {problem}"
        help_text = f"a scheduler must return one of its candidates in every case; {_READ_MORE}"
        if isinstance(problem, IndexError):
            n = policy_numbers(MOST_WARPS if self.is_wide else NARROW)
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
    try:
        source = Source.from_bytes(name.file, Path(name.file).read_bytes())
    except OSError as problem:
        message = f"cannot read '{name.file}': {(problem.strerror or str(problem)).lower()}"
        raise error("E501", message, help="give the path of a Python file") from None
    return _policy_of(source, name.function, False)


def _policy_of(source: Source, name: str, is_wide: bool) -> OwnPolicy:
    """Run a file, and check and compile function `name` and its window."""
    functions = _run(source, is_wide)
    if name not in functions:
        there = f"its functions are: {', '.join(functions) or 'none'}"
        help = did_you_mean(name, functions, then=there)
        raise error("E502", f"no function '{name}' in '{source.name}'", source, help=help)
    pick = functions[name]
    window = functions.get("window") if name != "window" else None
    _check_parameters(source, pick, "pick")
    if window is not None:
        _check_parameters(source, window, "window")
    compiled_window = None if window is None else _compile(source, window, WINDOW[is_wide])
    compiled_pick = _compile(source, pick, PICK[is_wide])
    return OwnPolicy(source, name, is_wide, pick, window, compiled_pick, compiled_window)


def _run(source: Source, is_wide: bool) -> dict[str, Callable[..., Any]]:
    """Run a file; the Python functions that it defines, by name. `bit` and `from_bit` are as wide as its masks."""
    names: dict[str, Any] = {"__name__": "scheduler", "__file__": source.name}
    try:
        exec(_code(source), names)
    except PtxError:
        raise
    except Exception as problem:
        message = f"{type(problem).__name__}: {problem}"
        help_text = "the file is run when the scheduler is loaded: mend it there"
        raise error("E502", message, source, *raised_at(source, problem), help_text) from None
    if is_wide:
        names.update(for_wide(names))
    functions = {name: getattr(value, "py_func", value) for name, value in names.items()}
    return {
        n: f for n, f in functions.items() if inspect.isfunction(f) and f.__code__.co_filename == source.name
    }


def _code(source: Source) -> CodeType:
    """The code of a file. Raises E502 if it is not Python."""
    text = source.text.replace("ptxsim.schedulers.warps", "ptxsim.jit")  # its name until 0.1
    try:
        return compile(text, source.name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None) or 1
        start, end = line_span(source, line)
        message = f"not Python: {getattr(problem, 'msg', None) or problem}"
        raise error("E502", message, source, start, end, _READ_MORE) from None


def _check_parameters(source: Source, function: Callable[..., Any], kind: str) -> None:
    """Raise E502 for a function that cannot be called as a policy's."""
    wanted = _PARAMETERS[kind]
    try:
        inspect.signature(function).bind(*wanted)
    except TypeError:
        name, given = function.__name__, ", ".join(inspect.signature(function).parameters)
        message = f"'{name}({given})' cannot be called with {len(wanted)} arguments"
        help_text = f"write 'def {name}({', '.join(wanted)})'; {_READ_MORE}"
        raise error("E502", message, source, *_definition(source, function), help_text) from None


def _compile(source: Source, function: Callable[..., Any], signature: Any) -> Any:
    """Compile a function of the user. Raises E502 where numba cannot, or where it returns no whole number."""
    if jit.JIT_DISABLED:
        return function
    try:
        probe = numba.njit(signature.args, boundscheck=True, **jit.OPTIONS)(function)
        returned = probe.nopython_signatures[0].return_type
        is_wide = signature.return_type == INT128
        taken = (type(INT128), types.IntegerLiteral) if is_wide else types.Integer
        if not isinstance(returned, taken):
            what = "nothing" if returned == types.none else f"{returned}"
            wanted = "the number of a warp" if signature in PICK else "a mask of warps"
            message = f"'{function.__name__}' returns {what}, not {wanted}"
            place = _definition(source, function)
            help_text = _WIDE_MASKS if is_wide else f"return a whole number everywhere; {_READ_MORE}"
            raise error("E502", message, source, *place, help_text)
        return numba.njit(signature, boundscheck=True, **jit.OPTIONS)(function)
    except (NumbaError, KeyError, NotImplementedError, TypeError) as problem:
        raise _uncompilable(source, function, problem) from None


def _uncompilable(source: Source, function: Callable[..., Any], problem: Exception) -> PtxError:
    """The error that numba reports for a function, at the line it names."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(problem))
    if isinstance(problem, KeyError):  # the record has no such field
        field = str(problem.args[0])
        place = _mention(source, function, field)
        help_text = "docs/schedulers.md says which fields there are"
        return error("E502", f"an SM has no field '{field}'", source, *place, help_text)
    file = re.escape(Path(source.name).name)  # numba's paths are relative to the working directory
    lines = re.findall(rf'File "[^"]*{file}", line (\d+)', text)
    place = line_span(source, int(lines[-1])) if lines else _definition(source, function)
    context = ("Failed in", "During:", "File", "<source", "-")
    stripped = filter(None, map(str.strip, text.splitlines()))
    reason = next((line for line in stripped if not line.startswith(context)), type(problem).__name__)
    message = f"'{function.__name__}' cannot be compiled: {reason}"
    if "int128" in text:
        return error("E502", message, source, *place, _WIDE_MASKS)
    help_text = "use numbers, loops, `sm`'s fields and functions of ptxsim.jit; helpers of your own need numba's @njit"
    return error("E502", message, source, *place, help_text)


def _definition(source: Source, function: Callable[..., Any]) -> tuple[int, int]:
    """The line of a function's `def`."""
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            return line_span(source, node.lineno)
    return 0, 0


def _mention(source: Source, function: Callable[..., Any], field: str) -> tuple[int, int]:
    """The first line with `.field`; otherwise that of the function's `def`."""
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Attribute) and node.attr == field:
            return line_span(source, node.lineno)
    return _definition(source, function)
