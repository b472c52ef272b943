"""A pass of the user's own: `FILE.py:CLASS`, loaded and checked.

The file is run and the class is taken from it; nothing else of the file is looked for. It is a frozen dataclass like
the passes of this package (`base.py`), and everything wrong with it is reported at its line: while loading E302, in a
run E303. docs/passes.md builds one from nothing.
"""

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.user_file import Span, UserFile, exception_text, raised_at, run_user_file
from ptxtool.passes.base import Pass
from ptxtool.passes.registry import PASSES, PassInfo, find_pass, pass_info

OWN_NAME = r"[^,{}:]+\.py(?::\w*)?"
"""What a pipeline takes for `FILE.py:CLASS`."""
READ_MORE = "docs/passes.md builds one from nothing"


@dataclass(frozen=True)
class OwnPass:
    """A class that is a pass. `file` is where it was loaded from, None for one that the caller has."""

    cls: type[Pass]
    info: PassInfo
    file: UserFile | None = None

    @property
    def digest(self) -> str:
        """Identifies the code: the file's digest, or the class's full name."""
        return self.file.digest if self.file else f"{self.cls.__module__}.{self.cls.__qualname__}"

    def problem(
        self, code: str, message: str, raised: BaseException | None = None, help: str = ""
    ) -> PtxError:
        """An error of this pass, at the line that raised an exception, or at its `run`, or at the class."""
        return _problem(self.file, self.cls.__name__, code, message, raised, help)


def is_own(one: Pass) -> bool:
    """True for a pass that is not one of ptxtool's: no proof of its own is known to be right."""
    return type(one) not in PASSES.values()


def load_pass(name: str) -> OwnPass:
    """The class that `FILE.py:CLASS` names. Raises E501 or E302."""
    path, _, cls_name = name.partition(".py")
    path, cls_name = f"{path}.py", cls_name.removeprefix(":")
    if not cls_name:
        raise error("E302", f"pass '{name}' names no class", help=f"write '{path}:CLASS'; {READ_MORE}")
    file = run_user_file(path, "E302", "pass")
    classes = {
        key: value
        for key, value in vars(file.module).items()
        if isinstance(value, type) and value.__module__ == file.module.__name__
    }
    if cls_name not in classes:
        there = f"its classes are: {', '.join(classes) or 'none'}"
        help = did_you_mean(cls_name, classes, then=there)
        raise error("E302", f"no class '{cls_name}' in '{path}'", file.source, help=help)
    try:
        return check_pass(classes[cls_name], file)
    except PtxError:
        raise
    except Exception as problem:  # of a property, a metaclass
        raise _problem(file, cls_name, "E302", exception_text(problem), problem, READ_MORE) from None


def check_pass(cls: type[Any], file: UserFile | None = None) -> OwnPass:
    """A class as a pass. Raises E302, at its line, where it cannot be one."""
    name = getattr(cls, "name", None)
    params = getattr(cls, "__dataclass_params__", None)
    if params is None or not params.frozen:
        raise _not_a_pass(cls, file, "is no frozen dataclass", "write @dataclass(frozen=True) above it")
    if any(field.name == "name" for field in dataclasses.fields(cls)):
        raise _not_a_pass(cls, file, "has 'name' as an option", 'write name = "..." without a type')
    if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]+", name):
        help = 'write name = "..." in it: letters, digits, "-" and "_"; reports call the pass so'
        raise _not_a_pass(cls, file, "has no name", help)
    if find_pass(name) is not None:
        raise _not_a_pass(cls, file, f"has the name of ptxtool's pass '{name}'", "give it another name")
    if not callable(getattr(cls, "run", None)):
        raise _not_a_pass(cls, file, "has no method 'run'", "write def run(self, module): in it")
    for field in dataclasses.fields(cls):
        if field.default is dataclasses.MISSING:
            raise _not_a_pass(cls, file, f"has an option '{field.name}' without a default", "give it one")
    try:
        info = pass_info(cls)
    except Exception as problem:
        what = f"has an option of an impossible type ({exception_text(problem)})"
        raise _not_a_pass(cls, file, what, "an option is str, int, bool or a Literal of texts") from None
    return OwnPass(cls, info, file)


def own_passes(given: "Iterable[str | type[Any] | OwnPass]") -> dict[str, OwnPass]:
    """Passes by name: those of files, `FILE.py:CLASS`, and classes. Raises E302 where two have one name."""
    found: dict[str, OwnPass] = {}
    for each in given:
        own = load_pass(each) if isinstance(each, str) else each
        own = own if isinstance(own, OwnPass) else check_pass(own)
        if own.info.name in found:
            raise _not_a_pass(
                own.cls, own.file, f"has the name '{own.info.name}' too", "give it another name"
            )
        found[own.info.name] = own
    return found


def _not_a_pass(cls: type[Any], file: UserFile | None, what: str, help: str) -> PtxError:
    return _problem(file, cls.__name__, "E302", f"'{cls.__name__}' {what}", None, f"{help}; {READ_MORE}")


def _problem(
    file: UserFile | None, cls_name: str, code: str, message: str, raised: BaseException | None, help: str
) -> PtxError:
    if file is None:
        return error(code, message, help=help)
    span: Span = raised_at(file.source, raised) if raised is not None else (0, 0)
    if span == (0, 0) and code != "E302":
        span = file.definition("run", inside=cls_name)
    if span == (0, 0):
        span = file.definition(cls_name)
    return error(code, message, file.source, *span, help)
