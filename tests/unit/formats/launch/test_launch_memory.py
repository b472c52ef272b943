"""Memory at fixed addresses in a launch file."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_data import Launch, ModuleAddresses
from ptxtool.formats.launch.launch_file import parse_launch

HEAD = "grid = 1\nblock = 1\n"
BUFFER = '[[args]]\nname = "x"\ntype = "u32"\ncount = 2\naddress = 0x10010000\nvalue = 5\n'
MEMORY = '[[memory]]\naddress = 0x10020000\ntype = "u64"\ncount = 1\nvalue = 0x10010004\n'


def launch(text: str) -> Launch:
    return parse_launch(Source("launch.toml", HEAD + text), Path())


def test_buffers_and_memory_have_addresses() -> None:
    read = launch(BUFFER + MEMORY)
    assert [(i.name, i.address) for i in read.contents] == [("x", 0x1001_0000), ("memory0", 0x1002_0000)]
    assert np.array(read.memory[0].value).tolist() == [0x1001_0004]
    assert read.is_placed
    assert read.module is None
    assert not launch(BUFFER.replace("address = 0x10010000\n", "")).is_placed


def test_a_module_has_addresses() -> None:
    read = launch("[module]\nvariables = 0x10030000\ncode = 64\n")
    assert read.module == ModuleAddresses(0x1003_0000, 0, 64, 0)
    assert read.is_placed


def test_memory_can_be_expected() -> None:
    read = launch(BUFFER + MEMORY + '[[expect]]\narg = "memory0"\nexpr = "memory0 + x[0]"\n')
    after = [np.array([5, 5], np.uint32), np.array([0x1001_0009], np.uint64)]
    assert read.check(after) == ()
    after[1][0] += 1
    assert [found.code for found in read.check(after)] == ["E409"]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (BUFFER.replace("count = 2\n", ""), "only a buffer has an address", 6),
        (BUFFER.replace("value = 5\n", "texture = {}\nvalue = 5\n"), "only a buffer has an address", 7),
        (BUFFER.replace("value = 5", "output = true"), "a buffer with an address has contents", 7),
        (BUFFER.replace("0x10010000", "-1"), "'address' must be a whole number >= 1, not '-1'", 7),
        (MEMORY.replace("address = 0x10020000\n", ""), "missing key 'address'", 3),
        (MEMORY.replace("count = 1\n", ""), "only a buffer has an address", 4),
        (MEMORY + 'name = "x"\n' + BUFFER, "two arguments named 'x'", 8),
        (MEMORY.replace("value = 0x10010004\n", ""), "memory 'memory0': exactly one of", 3),
        (MEMORY + "output = true\n", "unknown key 'output'", 8),
        ("[module]\nvariable = 1\n", "unknown key 'variable'", 4),
        ("[module]\nvariables = -1\n", "'variables' must be a whole number >= 0, not '-1'", 4),
        ("module = 1\n", "'module' must be a table", 3),
        (BUFFER + '[[launch]]\nargs = ["x"]\n', "fixed addresses in a list of launches", 3),
        ("[module]\ncode = 0\n[[launch]]\n", "fixed addresses in a list of launches", 3),
    ],
)
def test_mistakes_have_a_place(text: str, message: str, line: int) -> None:
    with pytest.raises(PtxError) as caught:
        launch(text)
    (found,) = caught.value.diagnostics
    assert found.code == "E502"
    assert message in found.message
    assert found.line == line
