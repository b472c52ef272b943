"""What a name means in nested blocks, held to a walk over the statements before it that is as plain as can be."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ptxtool.ir.symbols import LabelTable, RegisterTable
from ptxtool.parse import parse

NAMES = ("a", "a1", "a12", "a2", "b", "a01", "a123")
PIECES = st.sampled_from(
    [
        *("{", "{", "{", "}", "}", "}"),
        *(
            f".reg .b32 {name};"
            for name in ("a", "a1", "a12", "b", "a<2>", "a<3>", "a1<3>", "a<30>", "b<2>, b1")
        ),
        *("use", "use", "use", "a:", "b:", "a1:"),
    ]
)


def closed(pieces: list[str]) -> list[str]:
    """The pieces without braces that close nothing, and with those that are missing; a label once in a block."""
    found: list[str] = []
    labels: list[set[str]] = [set()]
    for piece in pieces:
        if piece == "{":
            labels.append(set())
        elif piece == "}":
            if len(labels) == 1:
                continue
            labels.pop()
        elif piece.endswith(":"):
            if piece in labels[-1]:
                continue
            labels[-1].add(piece)
        found.append(piece)
    return [*found, "use", *["}", "use"] * (len(labels) - 1)]


def declared(piece: str) -> list[str]:
    """The names that a declaration declares, in order."""
    names: list[str] = []
    for declarator in piece.removeprefix(".reg .b32 ").removesuffix(";").split(", "):
        prefix, _, count = declarator.removesuffix(">").partition("<")
        names += [f"{prefix}{k}" for k in range(int(count))] if count else [prefix]
    return names


@settings(deadline=None, max_examples=400)
@given(st.lists(PIECES, max_size=40).map(closed))
@example([".reg .b32 a<2>;", ".reg .b32 a<3>;", "use"])
def test_names_in_nested_blocks(pieces: list[str]) -> None:
    text = "\n".join("mov.b32 q, q;" if piece == "use" else piece for piece in pieces)
    function = parse(f".version 8.0\n.target sm_80\n.entry k() {{\n{text}\n}}\n").kernels["k"]
    registers, labels = RegisterTable(function), LabelTable(function)
    blocks: list[dict[str, int]] = [{}]  # registers
    around: list[dict[str, int]] = []  # labels of the blocks around a use
    count = uses = 0
    for at, piece in enumerate(pieces):
        if piece == "{":
            blocks.append({})
        elif piece == "}":
            blocks.pop()
        elif piece.startswith("."):
            for name in declared(piece):
                if name not in blocks[-1]:
                    blocks[-1][name] = count
                    count += 1
        elif piece == "use":
            around = labels_around(pieces, at)
            for name in NAMES:
                expected = next((block[name] for block in reversed(blocks) if name in block), -1)
                assert registers.resolve_index(name, uses) == expected, (name, at)
                everywhere = registers.everywhere[name]
                assert everywhere in (None, (expected,) if expected >= 0 else ()), (name, at)
                target = next((block[name] for block in reversed(around) if name in block), None)
                assert labels.resolve(name, uses) == target, (name, at)
            uses += 1
    assert len(registers) == count


def labels_around(pieces: list[str], at: int) -> list[dict[str, int]]:
    """The labels of each block that is open at a place, with the number of uses before them."""
    open_blocks: list[dict[str, int]] = [{}]
    found: list[dict[str, int]] = []
    uses = 0
    for k, piece in enumerate(pieces):
        if k == at:
            found = list(open_blocks)
        if piece == "{":
            open_blocks.append({})
        elif piece == "}":
            open_blocks.pop()
        elif piece.endswith(":"):
            open_blocks[-1][piece[:-1]] = uses
        uses += piece == "use"
    return found
