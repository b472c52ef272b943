"""The values of launch files: every way to compute one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.changed_pages import pages_of
from ptxtool.formats.launch.launch_file import parse_launch
from ptxtool.formats.launch.launch_values import ValueProblem, make_value, npy_type, to_dtype


def arguments(rows: str) -> list[object]:
    return parse_launch(Source("launch.toml", f"grid = 1\nblock = 1\n{rows}"), Path()).arguments()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ('[[args]]\ntype = "u8"\nvalue = [1, 2, 255]', np.array([1, 2, 255], np.uint8)),
        ('[[args]]\ntype = "s16"\ncount = 3\nvalue = -1', np.array([-1, -1, -1], np.int16)),
        ('[[args]]\ntype = "u32"\nrange = [4, 10, 2]', np.array([4, 6, 8], np.uint32)),
        ('[[args]]\ntype = "f64"\nrange = [0, 1, 0.25]', np.array([0, 0.25, 0.5, 0.75])),
        (
            '[[args]]\ntype = "s32"\nrange = [0, 6]\nshape = [2, 3]',
            np.arange(6, dtype=np.int32).reshape(2, 3),
        ),
        ('[[args]]\ntype = "f32"\nvalue = "0x3f800000"', np.float32(1)),
        ('[[args]]\ntype = "u64"\nvalue = "0xffffffffffffffff"', np.uint64(2**64 - 1)),
        ('[[args]]\ntype = ".b32"\nvalue = 7', np.uint32(7)),
        ('[[args]]\nstruct = [["u8", 1], ["u16", [2, 3]]]', np.array([1, 0, 2, 0, 3, 0], np.uint8)),
        ('[[args]]\ntype = "f32"\nvalue = inf', np.float32(np.inf)),
        ('[[args]]\ntype = "f16"\nexpr = "np.arange(3) / 2"', np.array([0, 0.5, 1], np.float16)),
        ('[[args]]\ntype = "i32"\nvalue = [-1]', np.array([-1], np.int32)),
        ('[[args]]\ntype = ".i8"\nexpr = "np.arange(2)"', np.array([0, 1], np.int8)),
        (
            '[[args]]\ntype = "u8"\nexpr = "(np.arange(2) + 255).astype(np.uint8)"',
            np.array([255, 0], np.uint8),
        ),
    ],
)
def test_values(rows: str, expected: np.ndarray) -> None:
    (found,) = arguments(rows)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ('struct = [["u8", 1]]\ncount = 1', "'count' beside 'struct'"),
        ('struct = [["u8", 1]]\nvalue = 1', "'value' beside 'struct'"),
        ("struct = []", "where pairs of type and value must stand"),
        ("struct = [1, 2]", "where pairs of type and value must stand"),
        ('struct = [["u8", 256]]', "256 does not fit"),
        ('struct = [["u8", []]]', "where pairs of type and value must stand"),
        ("struct = [[1, 1]]", "'1' where an element type must stand"),
    ],
)
def test_wrong_structures(row: str, reported: str) -> None:
    with pytest.raises(PtxError) as problem:
        arguments(f"[[args]]\n{row}")
    (found,) = problem.value.diagnostics
    assert reported in found.message
    assert found.help
    assert found.line == (4 if "beside" not in reported else 5)


def test_random_whole_numbers_keep_their_limits() -> None:
    (found,) = arguments('[[args]]\ntype = "s32"\ncount = 1000\nrandom = { seed = 3, low = -2, high = 3 }')
    assert isinstance(found, np.ndarray)
    assert sorted(set(found.tolist())) == [-2, -1, 0, 1, 2]


def test_expressions_see_earlier_arguments() -> None:
    rows = '[[args]]\nname = "x"\ntype = "s32"\nrange = [0, 3]\n[[args]]\ntype = "s32"\nexpr = "x.size"'
    assert arguments(rows)[1] == 3


def test_an_output_without_contents_is_all_ones() -> None:
    found = make_value({"type": "f32", "count": 3}, Path(), {}, undefined=True)
    assert isinstance(found, np.ndarray)
    assert found.view(np.uint32).tolist() == [0xFFFFFFFF] * 3
    assert not found.flags.writeable


@pytest.mark.parametrize(
    ("values", "dtype", "reported"),
    [
        ([1, 256], "uint8", "256 does not fit"),
        ([-129], "int8", "-129 does not fit"),
        ([0.5], "int32", "a fraction"),
        ([np.inf], "int32", "inf where type int32 needs whole numbers, -2147483648 to 2147483647"),
        ([1.0, 0.5], "uint8", "a fraction where type uint8 needs whole numbers, 0 to 255: 0.5"),
        ([70000], "float16", "70000 does not fit type float16: -65504.0 to 65504.0"),
        (["x"], "int32", "no number"),
    ],
)
def test_values_that_a_type_does_not_have(values: list[object], dtype: str, reported: str) -> None:
    with pytest.raises(ValueProblem, match=reported):
        to_dtype(values, np.dtype(dtype), "value")


def test_whole_floats_are_whole_numbers() -> None:
    assert to_dtype([2.0, -0.0], np.dtype("int16"), "value").tolist() == [2, 0]


def test_the_type_of_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(2, np.int16))
    np.save(tmp_path / "b.npy", np.zeros(2, bool))
    assert npy_type("a.npy", tmp_path) == "s16"
    for name, code in (("b.npy", "E502"), ("c.npy", "E501")):
        with pytest.raises(PtxError) as caught:
            npy_type(name, tmp_path)
        assert caught.value.diagnostics[0].code == code


@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ('type = "u8"\ncount = 16\nexpr = "300"', "300 does not fit type uint8: 0 to 255"),
        ('type = "u32"\ncount = 16\nexpr = "0.5"', "a fraction where type uint32 needs whole numbers"),
        (
            'type = "u32"\ncount = 16\nexpr = "np.nan"',
            "nan where type uint32 needs whole numbers, 0 to 4294967295",
        ),
        ('type = "u32"\nexpr = "np.arange(4) - 1"', "-1 does not fit type uint32"),
        ('type = "f32"\nexpr = "np.ones(2) * 1e300"', "1e+300 does not fit type float32"),
        ('expr = "np.arange(4)"', "no type where an element type must stand"),
        ('value = "0x10"', "no type where an element type must stand"),
        ('type = "f32"\nrange = [nan, 1]', "where [start, stop] or"),
    ],
)
def test_nothing_wraps(row: str, reported: str) -> None:
    with pytest.raises(PtxError) as problem:
        arguments(f'[[args]]\nname = "x"\n{row}')
    (found,) = problem.value.diagnostics
    assert reported in found.message
    assert "argument 'x'" in found.message
    assert found.help
    assert found.line == (5 + row.count("\n") if "type" in row else 3)


def test_a_scalar_without_a_type_is_a_plain_number() -> None:
    typed = '[[args]]\ntype = "f32"\nexpr = "a * np.float32(2)"\n'
    rows = f'[[args]]\nname = "a"\nvalue = 2.5\n{typed}[[args]]\nexpr = "3 + 4"'
    a, b, c = arguments(rows)
    assert (type(a), a) == (float, 2.5)
    assert b == np.float32(5)
    assert (type(c), c) == (int, 7)


def test_a_file_may_have_changes(tmp_path: Path) -> None:
    whole = np.arange(3000, dtype=np.uint32)
    changed = whole.copy()
    changed[[1, 1030]] = 0
    np.save(tmp_path / "whole.npy", whole)
    for number in (0, 1):
        np.save(tmp_path / f"page{number}.npy", pages_of(changed, [number]))
    spec = {"type": "u32", "count": 3000, "file": "whole.npy", "changes": ["page0.npy", "page1.npy"]}
    assert np.array_equal(make_value(spec, tmp_path, {}), changed)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"changes": "page.npy"}, "'changes' must be a list"),
        ({"changes": ["whole.npy"]}, "cannot use 'whole.npy': it is no array of pages"),
        ({"changes": ["missing.npy"]}, "cannot read 'missing.npy'"),
        ({"changes": [3]}, "'3' is no file name"),
        ({"changes": [], "file": None, "value": 0}, "'changes' goes with 'file'"),
    ],
)
def test_changes_that_are_none(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    np.save(tmp_path / "whole.npy", np.arange(3000, dtype=np.uint32))
    spec = {"type": "u32", "count": 3000, "file": "whole.npy", **changes}
    with pytest.raises(ValueProblem, match=what):
        make_value({key: given for key, given in spec.items() if given is not None}, tmp_path, {})
