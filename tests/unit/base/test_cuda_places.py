"""Places in CUDA sources by the offset in a PTX text: up to the next `.loc`, through inlined calls."""

import pytest

from ptxtool.base.cuda_places import CudaPlace
from ptxtool.base.diag import Diagnostic
from ptxtool.base.source import Source

TEXT = """.version 8.0
.target sm_80
.entry k()
{
	before;
	.loc 1 13 5
	direct;
	.loc	1 7 5, function_name $L__info_string0, inlined_at 1 13 5
	once;
	.loc	2 3 5, function_name $L__info_string1, inlined_at 1 7 5
	twice;
	.loc 2 9 1, function_name $L__info_string1, inlined_at 1 99 1
	unknown;
	.loc 1 0 0
	generated;
}
.entry other()
{
	elsewhere;
}
.file 1 "/home/me/k.cu"
.file 2 "C:\\\\cuda\\\\vector.cuh", 12, 34
"""


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("before", "None"),
        ("direct", "k.cu:13"),
        ("once", "k.cu:7 (inlined at k.cu:13)"),
        ("twice", "vector.cuh:3 (inlined at k.cu:7, k.cu:13)"),
        ("unknown", "vector.cuh:9 (inlined at k.cu:99)"),
        ("generated", "None"),
        ("elsewhere", "None"),
    ],
)
def test_the_place_of_a_statement(word: str, shown: str) -> None:
    assert str(Source("k.ptx", TEXT).cuda.at(TEXT.index(f"\t{word};"))) == shown


def test_as_data() -> None:
    place = CudaPlace("a/v.cuh", 3, CudaPlace("k.cu", 7))
    assert place.to_dict() == {"cuda": "v.cuh:3", "cuda_inlined_at": ["k.cu:7"]}
    assert CudaPlace("k.cu", 7).to_dict() == {"cuda": "k.cu:7"}


def test_calls_that_are_inlined_into_themselves_end() -> None:
    text = ".entry k()\n{\n" + ".loc 1 2 3, function_name $f, inlined_at 1 2 3\n" * 1000 + "x;\n}\n"
    place = Source("k.ptx", text).cuda.at(text.index("x;"))
    assert place is not None
    assert 1 <= len(place.calls) <= 17


def test_a_diagnostic_has_its_cuda_line() -> None:
    source = Source("k.ptx", TEXT)
    found = Diagnostic("E201", "wrong", source, TEXT.index("twice"), TEXT.index("twice") + 5, "write it well")
    assert str(found).splitlines()[2:] == [
        "      | \t^^^^^",
        "   cuda: vector.cuh:3 (inlined at k.cu:7, k.cu:13)",
        "   help: write it well",
    ]
    assert found.to_dict()["cuda"] == "vector.cuh:3"
    assert found.to_dict()["cuda_inlined_at"] == ["k.cu:7", "k.cu:13"]
    assert "cuda" not in Diagnostic("E201", "wrong", source, 0, 1).to_dict()
