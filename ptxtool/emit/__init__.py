"""Nodes to source text: `emit` for a whole module, `printer` for single statements."""

from ptxtool.base.callable_module import make_callable
from ptxtool.ir.nodes import Module


def emit(module: Module) -> str:
    """The module's text: every byte of it as it was parsed, because passes edit text and parse the result."""
    return module.source.text


make_callable(__name__)  # `ptxtool.emit(...)` is the function
