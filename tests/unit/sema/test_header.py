"""The head of a module: which directives, in which order, with which values."""

import pytest
from diagnosed import reported

KERNEL = ".entry k() { ret; }\n"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (".version 7.0\n.target sm_70\n.address_size 64\n", []),
        (".version 7.0\n.target sm_70\n", []),
        (".target sm_10\n", [(1, "E213", ".target sm_10")]),
        (".version 7.0\n.target sm_70\n.version 7.0\n", [(3, "E213", ".version 7.0")]),
        (".version 7.9\n.target sm_70\n", [(1, "E213", "7.9")]),  # 7.8 is followed by 8.0
        (".version 7.0\n.target sm_71\n", [(2, "E213", "sm_71")]),
        (".version 7.0\n.target debug\n", [(2, "E213", ".target debug")]),
        (".version 7.0\n.target sm_90\n", [(2, "W205", "sm_90")]),  # from PTX 7.8 on
        (".version 7.0\n.target sm_70\n.address_size 48\n", [(3, "E213", "48")]),
        (
            ".version 7.0\n.target sm_70, texmode_unified, texmode_independent\n",
            [(2, "E213", "texmode_independent")],
        ),
        (".version 7.0\n.target sm_70, map_f64_to_f32\n", [(2, "E213", "map_f64_to_f32")]),
        (".version 1.4\n.target sm_10, map_f64_to_f32\n", []),
    ],
)
def test_heads(head: str, expected: list[tuple[int, str, str]]) -> None:
    assert reported(head + KERNEL) == expected


def test_a_number_of_two_files() -> None:
    head = '.version 7.0\n.target sm_70\n.file 1 "a.cu"\n.file 2 "b.cu"\n.file 1 "c.cu"\n'
    assert reported(head + KERNEL) == [(5, "E213", '.file 1 "c.cu"')]


def test_only_the_first_character_that_is_no_ascii() -> None:
    assert reported(f".version 7.0\n.target sm_70\n// über\n// Größe\n{KERNEL}") == [(3, "W209", "ü")]
