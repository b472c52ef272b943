"""The performance directives of a kernel's head: their values, and which exclude each other.

Reference: PTX ISA, sections 11.4 (performance-tuning directives), 11.7 (cluster dimension directives).
"""

from collections.abc import Iterator

from ptxtool.base.diag import Diagnostic, Note
from ptxtool.ir.blocks import numbers
from ptxtool.ir.nodes import Directive, Function
from ptxtool.sema.version_fix import raised_version

_POSITIVE = frozenset({"maxnreg", "maxntid", "reqntid", "minnctapersm", "maxnctapersm"})
_CLUSTERS = frozenset({"explicitcluster", "reqnctapercluster", "maxclusterrank"})
_SINCE = {**dict.fromkeys(_CLUSTERS, (7, 8)), "blocksareclusters": (9, 0)}
_OF_BLOCKS = ("reqntid", "reqnctapercluster")
_EXCLUSIVE = (("maxntid", "reqntid"), ("reqnctapercluster", "maxclusterrank"))


def tuning_problems(function: Function) -> Iterator[Diagnostic]:
    """What is wrong with the directives between a function's parameters and its body."""
    source, version = function.source, function.module.version

    def problem(item: Directive, message: str, help: str, note: Note | None = None) -> Diagnostic:
        return Diagnostic("E213", message, source, item.start, item.end, help, note)

    first: dict[str, Directive] = {}
    for item in function.directives:
        first.setdefault(item.name, item)
        if item.name in _POSITIVE and 0 in numbers(item):
            message = f"'.{item.name} {item.text}' leaves nothing"
            yield problem(item, message, "write whole numbers from 1 on")
        if item.name == "maxnctapersm" and version >= (2, 1):
            yield problem(item, "'.maxnctapersm' ended with PTX 2.1", "'.minnctapersm' replaces it")
        since = _SINCE.get(item.name, (1, 0))
        if version < since:
            message = f"'.{item.name}' needs '.version {since[0]}.{since[1]}'"
            fix = raised_version(function.module, message)
            yield Diagnostic("W205", message, source, item.start, item.end, "raise '.version'", None, fix)
        if item.name == "noreturn" and function.returns:
            yield problem(item, f"'{function.name}' has a result and '.noreturn'", "remove one of them")
        names = {directive.name for directive in function.directives}
        if item.name == "blocksareclusters" and not names.issuperset(_OF_BLOCKS):
            message = "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'"
            yield problem(item, message, "write both beside it")
    for pair in _EXCLUSIVE:
        if all(name in first for name in pair):
            earlier, later = sorted((first[name] for name in pair), key=lambda d: d.start)
            note = Note(f"'.{earlier.name}' is here", source, earlier.start, earlier.end)
            message = f"'.{later.name}' and '.{earlier.name}' exclude each other"
            yield problem(later, message, "keep one of them", note)
