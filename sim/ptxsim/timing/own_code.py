"""Functions of the user's own for the compiled loop: found in a Python file, checked and compiled.

For warp schedulers and register schemes. They are compiled with bounds checks, so that a wrong index is an error, not a
memory corruption. All errors are reported with their place in the file.
"""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from ptxsim.base import jit
from ptxsim.base.later import now
from ptxsim.base.warp_masks import for_wide
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.base.user_file import line_span, raised_at

_WIDE_MASKS = (
    "masks of this machine have 128 bits: make them with `bit` and `from_bit`, imported from ptxsim.jit"
)


@dataclass(frozen=True)
class OwnKind:
    """A kind of function that a user may write, in the words of its diagnostics."""

    what: str
    """Such as "scheduler"."""
    page: str
    """Its documentation."""
    record: str
    """What its first argument is, such as "an SM", and how it is called there."""
    argument: str

    @property
    def read_more(self) -> str:
        return f"{self.page} builds one from nothing"


@dataclass(frozen=True)
class OwnFile:
    """A file that has been run: all its names, and the functions that it defines."""

    kind: OwnKind
    source: Source
    names: dict[str, Any]
    functions: dict[str, Callable[..., Any]]
    is_wide: bool = False
    """Whether its `bit` and `from_bit` make masks of 128 bits."""

    def widened(self) -> "OwnFile":
        """The same file for masks of 128 bits. Raises E502."""
        return _run(self.source, self.kind, True)

    def function(self, name: str) -> Callable[..., Any]:
        """A function of the file. Raises E502."""
        if name not in self.functions:
            there = f"its functions are: {', '.join(self.functions) or 'none'}"
            help = did_you_mean(name, self.functions, then=there)
            raise error("E502", f"no function '{name}' in '{self.source.name}'", self.source, help=help)
        return self.functions[name]

    def check_parameters(self, function: Callable[..., Any], wanted: tuple[str, ...]) -> None:
        """Raise E502 for a function that cannot be called with these parameters."""
        try:
            inspect.signature(function).bind(*wanted)
        except TypeError:
            name, given = function.__name__, ", ".join(inspect.signature(function).parameters)
            arguments = "one argument" if len(wanted) == 1 else f"{len(wanted)} arguments"
            message = f"'{name}({given})' cannot be called with {arguments}"
            help_text = f"write 'def {name}({', '.join(wanted)})'; {self.kind.read_more}"
            raise error("E502", message, self.source, *definition(self.source, function), help_text) from None

    def compiled(self, function: Callable[..., Any], signature: Any, returns: str) -> Any:
        """A function, compiled for a signature; `returns` says what it has to return, a whole number.

        Raises E502 where numba cannot compile it, or where it returns something else.
        """
        if jit.JIT_DISABLED:
            return function
        import numba
        from numba.core.errors import NumbaError

        from ptxsim.base.compiler import numba_compiler
        from ptxsim.base.compiler.wide_types import INT128

        numba_compiler.resolve_names(self.names)
        options = {"boundscheck": True, **numba_compiler.OPTIONS}
        signature = now(signature)
        try:
            probe = numba.njit(signature.args, **options)(function)
            returned = probe.nopython_signatures[0].return_type
            is_mask = signature.return_type == INT128
            taken = (type(INT128), numba.types.IntegerLiteral) if is_mask else numba.types.Integer
            if not isinstance(returned, taken):
                what = "nothing" if returned == numba.types.none else f"{returned}"
                message = f"'{function.__name__}' returns {what}, not {returns}"
                place = definition(self.source, function)
                help_text = (
                    _WIDE_MASKS if is_mask else f"return a whole number everywhere; {self.kind.read_more}"
                )
                raise error("E502", message, self.source, *place, help_text)
            return numba.njit(signature, **options)(function)
        except (NumbaError, KeyError, NotImplementedError, TypeError) as problem:
            raise self._uncompilable(function, problem) from None

    def _uncompilable(self, function: Callable[..., Any], problem: Exception) -> PtxError:
        """The error that numba reports for a function, at the line it names."""
        source, kind = self.source, self.kind
        text = re.sub(r"\x1b\[[0-9;]*m", "", str(problem))
        if isinstance(problem, KeyError):  # the record has no such field
            field = str(problem.args[0])
            place = _mention(source, function, field)
            help_text = f"{kind.page} says which fields there are"
            return error("E502", f"{kind.record} has no field '{field}'", source, *place, help_text)
        file = re.escape(Path(source.name).name)  # numba's paths are relative to the working directory
        lines = re.findall(rf'File "[^"]*{file}", line (\d+)', text)
        place = line_span(source, int(lines[-1])) if lines else definition(source, function)
        context = ("Failed in", "During:", "File", "<source", "-")
        stripped = filter(None, map(str.strip, text.splitlines()))
        reason = next((line for line in stripped if not line.startswith(context)), type(problem).__name__)
        message = f"'{function.__name__}' cannot be compiled: {reason}"
        if "int128" in text:
            return error("E502", message, source, *place, _WIDE_MASKS)
        help_text = f"use numbers, loops, `{kind.argument}`'s fields and functions of ptxsim.jit; helpers of your own "
        return error("E502", message, source, *place, f"{help_text}need numba's @njit")


def run_own_file(path: str, kind: OwnKind) -> OwnFile:
    """Read and run a file. Raises E501 if it cannot be read, E502 if it is not Python or raises."""
    try:
        source = Source.from_bytes(path, Path(path).read_bytes())
    except OSError as problem:
        message = f"cannot read '{path}': {(problem.strerror or str(problem)).lower()}"
        raise error("E501", message, help="give the path of a Python file") from None
    return _run(source, kind, False)


def _run(source: Source, kind: OwnKind, is_wide: bool) -> OwnFile:
    """Run a file, with masks of 128 bits or of 64."""
    names: dict[str, Any] = {"__name__": kind.what, "__file__": source.name}
    try:
        exec(_code(source, kind), names)
    except PtxError:
        raise
    except (Exception, SystemExit) as problem:
        message = f"{type(problem).__name__}: {problem}"
        help_text = f"the file is run when the {kind.what} is loaded: mend it there"
        raise error("E502", message, source, *raised_at(source, problem), help_text) from None
    if is_wide:
        names.update(for_wide(names))
    found = {name: getattr(value, "py_func", value) for name, value in names.items()}
    functions: dict[str, Callable[..., Any]] = {
        name: value
        for name, value in found.items()
        if inspect.isfunction(value) and value.__code__.co_filename == source.name
    }
    return OwnFile(kind, source, names, functions, is_wide)


def _code(source: Source, kind: OwnKind) -> CodeType:
    """The code of a file. Raises E502 if it is not Python."""
    text = source.text.replace("ptxsim.schedulers.warps", "ptxsim.jit")  # its name until 0.1
    try:
        return compile(text, source.name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None) or 1
        start, end = line_span(source, line)
        message = f"not Python: {getattr(problem, 'msg', None) or problem}"
        raise error("E502", message, source, start, end, kind.read_more) from None


def definition(source: Source, function: Callable[..., Any]) -> tuple[int, int]:
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
    return definition(source, function)
