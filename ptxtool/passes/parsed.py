"""The modules of texts that passes write: each is parsed once.

A pass that measures its own result (`demote` counts the registers of the new text) reads the text that the pipeline
reads, verifies and proves after it. Both get one module, and with it the analyses that are kept with its functions.
"""

from functools import lru_cache

from ptxtool.ir.nodes import Module
from ptxtool.parse import parse


@lru_cache(maxsize=4)
def parsed(text: str, name: str) -> Module:
    """The module of a text of that name: one object for equal texts in succession. Raises what `parse` raises."""
    return parse(text, name)
