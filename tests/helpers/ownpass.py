"""A file with passes of a user's own: one that is wrong, and one that is right."""

from pathlib import Path

OWN = '''"""Passes of my own."""

from dataclasses import dataclass

from ptxtool import PassResult, Remark, TextEdit


@dataclass(frozen=True)
class Swap:
    """Replace an instruction."""

    name = "swap"
    base: str = "mul"
    by: str = "add"

    def run(self, module):
        text = module.source.text
        edits = tuple(
            TextEdit(node.start, node.end, text[node.start : node.end].replace(self.base, self.by, 1))
            for kernel in module.kernels.values()
            for node in kernel.instructions
            if node.opcode.text == f"{self.base}.f32"
        )
        return PassResult(edits, (Remark(self.name, f"{len(edits)} replaced"),))


@dataclass(frozen=True)
class Flip(Swap):
    """Exchange the factors of a product, which changes nothing."""

    name = "flip"

    def run(self, module):
        start = module.source.text.index("%f2, %f1;")
        return PassResult((TextEdit(start, start + 9, "%f1, %f2;"),))
'''


def write_passes(folder: Path, text: str = OWN) -> Path:
    """A file `mine.py` with the passes, in a folder."""
    path = folder / "mine.py"
    path.write_text(text)
    return path
