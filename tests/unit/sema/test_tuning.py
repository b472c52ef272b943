"""Performance directives between the parameters of a function and its body."""

import pytest
from diagnosed import reported


def between(directives: str, version: str = "8.0", head: str = ".entry k()") -> list[tuple[int, str, str]]:
    """What is reported about them; they begin on line 1."""
    text = f".version {version}\n.target sm_52\n{head}\n{directives}\n{{ ret; }}\n"
    return [(line - 3, code, marked) for line, code, marked in reported(text)]


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        (".maxntid 256, 1, 1\n.minnctapersm 4", []),
        (".maxntid 256, 0, 1", [(1, "E213", ".maxntid 256, 0, 1")]),
        (".reqntid 64\n.maxntid 64", [(2, "E213", ".maxntid 64")]),  # at the later one
        (".maxntid 64\n.reqntid 64", [(2, "E213", ".reqntid 64")]),
        (".maxnctapersm 4", [(1, "E213", ".maxnctapersm 4")]),  # ended with PTX 2.1
    ],
)
def test_directives(directives: str, expected: list[tuple[int, str, str]]) -> None:
    assert between(directives) == expected


def test_a_directive_that_the_version_does_not_have() -> None:
    assert between(".maxclusterrank 4", "7.7") == [(1, "W205", ".maxclusterrank 4")]
    assert between(".maxclusterrank 4", "7.8") == []


def test_a_result_of_a_function_that_does_not_return() -> None:
    assert between(".noreturn", "6.4", ".func (.reg .b32 r) f()") == [(1, "E213", ".noreturn")]
