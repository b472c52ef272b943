"""Coverage-guided fuzzing of everything that reads text: `parse`, `emit`, `check`, `fmt`.

    pip install atheris
    python tests/prop/fuzz_text.py --corpus FOLDER [FILE ...] [-- -max_total_time=600 and other libFuzzer options]

Whatever the bytes, a module comes back or diagnostics with a next step that can be printed, never another exception.
Of a module: its text is emitted byte for byte, whole-file Lark makes the same nodes, `check` says something
printable, the canonical layout means the same and is its own. What breaks one of these is left as a file `crash-*`,
which replays when its path follows `--`. It begins with the small samples of ptxas' verdicts, kernels of every
instruction form and the files named, and changes tokens as often as bytes. FOLDER keeps the inputs that reached new
code.

Not part of the test suite, and no test needs atheris.
"""

import argparse
import itertools
import random
import re
import sys
from pathlib import Path

import atheris  # type: ignore[import-not-found, unused-ignore]

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "helpers"))
with atheris.instrument_imports(include=["ptxtool"]):
    from ptxtool import api
    from ptxtool.base.diag import PtxError
    from ptxtool.emit import emit
    from ptxtool.emit.layout import layout
    from ptxtool.ir.nodes import Module
    from ptxtool.isa.table import table
    from ptxtool.parse import parse, parse_with_lark
    from ptxtool.parse.driver import MAX_ERRORS
    from ptxtool.sema.module import check_module
    from ptxtool.validate.layout import check_only_layout_changed

from form_text import arch_of, instruction_texts, kernel
from syntax_samples import ACCEPTED, REFUSED, whole

_TOKEN = re.compile(rb'"[^"\n]*"|[A-Za-z_$%.@][A-Za-z0-9_$.:]*|[0-9][A-Za-z0-9_.]*|\s+|.', re.DOTALL)
_LARK_BYTES = 4000
"""Longer texts are not given to whole-file Lark, which would take most of the time."""


def outcome(data: bytes, *, by_lark: bool) -> Module | None:
    """What a parser makes of the bytes; None where it refuses them, in words."""
    try:
        return parse_with_lark(data) if by_lark else parse(data)
    except PtxError as refusal:
        found = refusal.diagnostics
    assert 0 < len(found) <= MAX_ERRORS + 1
    assert all(diagnostic.help and str(diagnostic) for diagnostic in found), found
    return None


def test_one_input(data: bytes) -> None:
    """Check everything that must be true of any bytes."""
    module = outcome(data, by_lark=False)
    if len(data) <= _LARK_BYTES:
        assert outcome(data, by_lark=True) == module, "whole-file Lark sees something else"
    if module is None:
        return
    assert emit(module).encode("utf-8", "surrogateescape") == data
    assert all(str(diagnostic) for diagnostic in check_module(module))
    laid_out = layout(module)
    again = parse(laid_out)
    assert check_only_layout_changed(module, again) == (), laid_out
    assert layout(again) == laid_out == api.fmt(module), laid_out


class Mutator:
    """Changes of tokens, beside those of bytes that libFuzzer knows."""

    def __init__(self, texts: list[bytes]) -> None:
        self.vocabulary = sorted({token for text in texts for token in _TOKEN.findall(text)})

    def __call__(self, data: bytes, max_size: int, seed: int) -> bytes:
        choose = random.Random(seed)
        if choose.random() < 0.4:
            return bytes(atheris.Mutate(data, max_size))
        tokens: list[bytes] = _TOKEN.findall(data)
        for _ in range(choose.randrange(1, 4)):
            at = choose.randrange(len(tokens) + 1)
            match choose.randrange(5):
                case 0:
                    tokens[at : at + choose.randrange(1, 4)] = []
                case 1:
                    tokens[at:at] = [choose.choice(self.vocabulary)]
                case 2:
                    tokens[at : at + 1] = [choose.choice(self.vocabulary)]
                case 3:
                    other = choose.randrange(len(tokens) + 1)
                    tokens[at:at] = tokens[other : other + choose.randrange(1, 12)]
                case _:
                    tokens[at : at + 2] = tokens[at : at + 2][::-1]
        return b"".join(tokens)[:max_size]


def seeds(folder: Path, files: list[Path]) -> list[bytes]:
    """The texts to begin with, written into the folder."""
    texts = [whole(place, text).encode() for place, text in (*ACCEPTED, *REFUSED)]
    for form in itertools.chain.from_iterable(table().forms.values()):
        made = list(itertools.islice(instruction_texts(form, limit=4), 4))
        if made:
            texts.append(kernel([text for text, _ in made], arch_of(form, made[0][1]))[0].encode())
    texts += [path.read_bytes() for path in files]
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"seed-{number:04}").write_bytes(text)
    return texts


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="*", type=Path, help="PTX files to begin with")
    options.add_argument("--corpus", type=Path, required=True, help="a folder for the inputs found")
    own, theirs = sys.argv[1:], list[str]()
    if "--" in own:
        own, theirs = own[: own.index("--")], own[own.index("--") + 1 :]
    arguments = options.parse_args(own)
    mutator = Mutator(seeds(arguments.corpus, arguments.files))
    if all(option.startswith("-") for option in theirs):  # no file to replay
        theirs += ["-max_len=20000", "-mutate_depth=2", str(arguments.corpus)]
    atheris.Setup([sys.argv[0], *theirs], test_one_input, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
