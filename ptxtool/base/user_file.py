"""A Python file of the user's own, such as a scheduler or a pass: read, run once, and the places of its mistakes.

The file is run as a module with a unique name, and only if the command line or a caller names it. Whatever it
raises becomes a diagnostic at the line of the file that raised it.
"""

import ast
import hashlib
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType

from ptxtool.base.diag import PtxError, error
from ptxtool.base.source import Source

Span = tuple[int, int]


@dataclass(frozen=True)
class UserFile:
    """A file that has been run: its text and the module that it defines."""

    source: Source
    module: ModuleType = field(repr=False)

    @property
    def digest(self) -> str:
        """The SHA-256 of its text."""
        return hashlib.sha256(self.source.to_bytes()).hexdigest()

    def definition(self, name: str, inside: str = "") -> Span:
        """The line that defines a class or function, perhaps a method `inside` a class; (0, 0) if none does."""
        body = ast.parse(self.source.text).body
        if inside:
            body = next((n.body for n in body if isinstance(n, ast.ClassDef) and n.name == inside), [])
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
                return line_span(self.source, node.lineno)
        return 0, 0


def run_user_file(path: str, code: str, what: str) -> UserFile:
    """Read and run a file. Raises E501 if it cannot be read, `code` if it is not Python or raises.

    `what` says what is loaded from it: "scheduler", "pass".
    """
    try:
        source = Source.from_bytes(path, Path(path).read_bytes())
    except (OSError, ValueError) as problem:
        reason = (getattr(problem, "strerror", None) or str(problem)).lower()
        raise error(
            "E501", f"cannot read '{path}': {reason}", help="give the path of a Python file"
        ) from None
    compiled = _compiled(source, code, what)
    digest = hashlib.sha256(f"{path}\0{source.text}".encode("utf-8", "surrogateescape")).hexdigest()
    module = ModuleType(f"ptxtool_user_file_{digest[:16]}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # dataclasses and typing look up the annotations of classes there
    try:
        exec(compiled, module.__dict__)
    except PtxError:
        raise
    except (Exception, SystemExit) as problem:
        help = f"the file is run when the {what} is loaded: correct it there"
        raise error(code, exception_text(problem), source, *raised_at(source, problem), help) from None
    return UserFile(source, module)


def _compiled(source: Source, code: str, what: str) -> CodeType:
    try:
        return compile(source.text, source.name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        span = line_span(source, getattr(problem, "lineno", None) or 1)
        message = f"not Python: {getattr(problem, 'msg', None) or problem}"
        raise error(code, message, source, *span, f"a {what} is loaded from a Python file") from None


def exception_text(problem: BaseException) -> str:
    """An exception in one line: its class and the first line of its text."""
    text = str(problem).strip().splitlines()
    return f"{type(problem).__name__}{': ' + text[0][:200] if text else ''}"


def raised_at(source: Source, problem: BaseException) -> Span:
    """The last line of a file that an exception came through; (0, 0) if it did not."""
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if f.filename == source.name]
    return line_span(source, frames[-1].lineno or 1) if frames else (0, 0)


def line_span(source: Source, line: int) -> Span:
    """A line of a file without its indent; the nearest one if there is no such line."""
    line = min(max(1, line), len(source.line_starts))
    text, start = source.line_text(line), source.line_starts[line - 1]
    return start + len(text) - len(text.lstrip()), start + len(text)
