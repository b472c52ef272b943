"""Random edits of open texts: after each, the editor's document has the state of one that opens the text fresh.

    python tests/prop/fuzz_edits.py --first 0 --count 10000 [FILE ...]

Compared are what was parsed, syntax errors, diagnostics, the names of every function and its live registers. Each seed
makes `EDITS` edits of one of the files, anywhere or keystroke by keystroke: by default of every sample, program and
hand-worked kernel of up to `LONGEST` bytes. What differs is printed with its seed. Not part of the test suite, which
has a few edits of each kind (tests/unit/lsp).
"""

import argparse
import sys
import time
from itertools import islice
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "helpers"))

from checkout import CHECKOUT, TESTS
from random_edits import edits, typed

from ptxtool.lsp.document import Document

EDITS = 50
LONGEST = 12_000


def state(document: Document) -> tuple[object, ...]:
    """Everything that an editor asks a document for."""
    functions = document.module.functions.values() if document.module else ()
    known = [(f.name, document.occurrences(f), repr(document.pressure(f))) for f in functions]
    return document.parsed.module, document.parsed.errors, document.diagnostics(), known


def texts(files: list[Path]) -> list[str]:
    """The texts to edit."""
    folders = (CHECKOUT / "samples", TESTS / "programs", TESTS / "hand")
    found = files or sorted(
        p for f in folders for p in f.rglob("*.ptx*") if p.is_file() and p.stat().st_size < LONGEST
    )
    return [path.read_text(encoding="utf-8") for path in found]


def differs_after(text: str, seed: int, count: int) -> int | None:
    """The number of the first edit of a text after which a fresh document has another state."""
    document = Document("k.ptx", text)
    changes = typed if seed % 2 else edits
    for n, changed in enumerate(islice(changes(text, count, seed), count)):
        document.change(changed)
        if state(document) != state(Document("k.ptx", changed)):
            return n
    return None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, help="the first edit's number, a multiple of 50")
    parser.add_argument("--count", type=int, default=1000, help="how many edits")
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    chosen, start, findings = texts(given.files), time.process_time(), 0
    for first in range(given.first, given.first + given.count, EDITS):
        seed = first // EDITS
        n = differs_after(chosen[seed % len(chosen)], seed, EDITS)
        if n is not None:
            findings += 1
            print(f"seed {seed}: edit {n} of text {seed % len(chosen)} ends with another state")
    print(
        f"{given.count} edits of {len(chosen)} texts, {time.process_time() - start:.0f} s: {findings} findings"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
