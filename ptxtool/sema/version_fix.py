"""The fix of what a file's `.version` lacks: a higher number there."""

import re

from ptxtool.base.diag import Fix
from ptxtool.ir.nodes import Directive, Module

_NUMBER = re.compile(r"[0-9]+\.[0-9]+")


def raised_version(module: Module, lacking: str) -> Fix | None:
    """The edit that raises the version to the one in a text such as "'.version 7.0'"; None where it names none."""
    wanted = _NUMBER.search(lacking) if ".version" in lacking else None
    item = next((i for i in module.items if isinstance(i, Directive) and i.name == "version"), None)
    written = _NUMBER.search(module.source.text, item.start, item.end) if item is not None else None
    return Fix(*written.span(), wanted[0]) if wanted and written else None
