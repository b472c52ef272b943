"""Nodes to source text: `emit` for a whole module, `printer` for single statements, `layout` for the canonical layout.

Cheap to import: `ptxtool` itself imports this package.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxtool.ir.nodes import Module


def emit(module: "Module") -> str:
    """The module's text: every byte of it as it was parsed, because passes edit text and parse the result."""
    return module.source.text
