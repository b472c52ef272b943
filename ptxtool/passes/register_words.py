"""The words of an instruction's text that may be registers, and the same text with other words in their place.

For `renaming.py`, which keeps every byte but for the names of registers. Comments and strings are found as well, so
that nothing in them is taken for a word.
"""

import re
from collections.abc import Mapping

# a word, or what words have no meaning in
TOKEN = re.compile(r"(//[^\n]*|/\*.*?\*/|\"[^\"]*\"|(?<![.\w$%])[%$A-Za-z_][\w$]*)", re.DOTALL)
# what may stand before a mark is looked at behind it: where all alternatives begin with a character of their own, the
# search is a third faster (measured)
MARKED = re.compile(r"(//[^\n]*|/\*.*?\*/|\"[^\"]*\"|[%$](?<![\w$%][%$])[\w$]+)", re.DOTALL)
HEAD = re.compile(r"(?:@\s*!?\s*[%$\w]+(?:\.\w+)?\s*)?[\w.:]+")


def replaced(text: str, words: re.Pattern[str], names: Mapping[str, str]) -> str:
    """A text with other names: half as long as with `sub` and a function (measured), for nothing is called."""
    pieces = words.split(text)  # every other one is a word
    pieces[1::2] = map(names.get, pieces[1::2], pieces[1::2])
    return "".join(pieces)


def operands(text: str) -> list[str]:
    """An instruction's text behind its opcode, cut in front of the commas between operands."""
    pieces: list[str] = []
    depth = start = position = 0
    while position < len(text):
        character = text[position]
        if text.startswith("//", position):
            position = text.find("\n", position) % (len(text) + 1)
        elif text.startswith("/*", position):
            position = text.find("*/", position) + 1
        elif character == '"':
            position = text.find('"', position + 1)
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and not depth:
            pieces.append(text[start:position])
            start = position
        position += 1
    pieces.append(text[start:])
    return pieces
