"""Random edits of a text, as a person or an editor makes them: for tests of what is kept between two of them."""

import random
from collections.abc import Iterator

_TYPED = (
    *" \n\t;:,.{}()[]<>/*\"'@!%$_#=+-0123456789abcdefxrtu",
    *("add.s32", "mov.u32 %r1, %r2;\n", "bra L1;", "L9:\n", "//", "/*", "*/", ".reg .u32 %q<9>;\n", "{\n", "}\n"),
    *("@%p1 ", "ret;\n", ".entry k()\n{\nret;\n}\n", ".loc 1 2 3\n", "%r9", "[%rd1+4]", "0x10", ".version 7.0\n", "é"),
    "😀",
)  # fmt: skip


def edits(text: str, count: int, seed: int) -> Iterator[str]:
    """Texts, each an edit of the one before; now and then the first again."""
    first, rng = text, random.Random(seed)
    for _ in range(count):
        kind = rng.random()
        at = rng.randrange(len(text) + 1)
        if kind < 0.5:
            text = text[:at] + rng.choice(_TYPED) + text[at:]
        elif kind < 0.75:
            text = text[:at] + text[at + rng.randrange(1, 4) :]
        elif kind < 0.83:  # a stretch is removed
            text = text[:at] + text[at + rng.randrange(200) :]
        elif kind < 0.91:  # a stretch is pasted elsewhere
            copied = text[at : at + rng.randrange(200)]
            to = rng.randrange(len(text) + 1)
            text = text[:to] + copied + text[to:]
        elif kind < 0.96:  # a line is removed
            lines = text.split("\n")
            del lines[rng.randrange(len(lines))]
            text = "\n".join(lines)
        else:
            text = first
        yield text


def typed(text: str, count: int, seed: int) -> Iterator[str]:
    """Texts as somebody types them: statements are deleted character by character and written again."""
    rng = random.Random(seed)
    for _ in range(count):
        lines = text.split("\n")
        k = rng.randrange(len(lines))
        line, start = lines[k], sum(len(x) + 1 for x in lines[:k])
        for n in range(len(line) + 1):
            yield text[:start] + line[:n] + text[start + len(line) :]
        if rng.random() < 0.3:
            text = text[:start] + text[start + len(line) + 1 :]
            yield text
