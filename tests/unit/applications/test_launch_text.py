"""The launch file of a recorded launch: what it says, and that reading it gives the same launch."""

import struct
from pathlib import Path

import numpy as np

import ptxsim
from ptxtool.applications.launch_text import Block, launch_text
from ptxtool.base.source import Source
from ptxtool.formats.changed_pages import pages_of
from ptxtool.formats.launch.launch_file import Launch, check_arguments, parse_launch
from ptxtool.formats.npy import compressed
from ptxtool.results.applications import Launch as Entry

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 calls = 0;
.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .u64 inner, .param .s8 small, .param .f32 f,
	.param .f64 infinite, .param .align 8 .b8 pair[12], .param .u64 again)
{
	ret;
}
"""
X, Y = 0x1001_0000, 0x1002_0000
PAIR = struct.pack("<QI", Y, 7)
PARAMETERS = struct.pack("<QQb3xfd12s4xQ", X, Y + 4, -3, 0.1, float("-inf"), PAIR, X)
KERNEL = ptxsim.Machine(memory=1 << 20).load(TEXT).kernels["k"]
ENTRY = Entry(3, "k", (2, 1, 1), (32, 1, 1), warp_instructions=12, cycles=40)


def read(folder: Path, blocks: list[Block], entry: Entry = ENTRY) -> Launch:
    text = launch_text("launch 3 of ./app", entry, KERNEL, PARAMETERS, {"dynamic_shared": 16}, blocks)
    return parse_launch(Source("launch.toml", text), folder)


def test_parameters_are_buffers_numbers_and_bytes(tmp_path: Path) -> None:
    launch = read(tmp_path, [Block(X, 8, (), b""), Block(Y, 3, (), b"")])
    assert check_arguments(launch, KERNEL.function) == ()
    x, inner, small, f, infinite, pair, again = (i.value for i in launch.inputs)
    assert (launch.inputs[0].address, np.array(x).tolist()) == (X, [0, 0])
    assert (inner, small, again) == (Y + 4, -3, X)
    assert (np.float32(0.1), float("-inf")) == (f, infinite)
    assert np.array(pair).tobytes() == PAIR
    (memory,) = launch.memory
    assert (memory.address, memory.type, np.array(memory.value).tolist()) == (Y, "u8", [0, 0, 0])


def test_the_head_has_the_launch_and_the_module(tmp_path: Path) -> None:
    launch = read(tmp_path, [Block(X, 8, (), b""), Block(Y, 4, (), b"")])
    assert (launch.kernel, launch.grid, launch.block, launch.dynamic_shared) == (
        "k",
        (2, 1, 1),
        (32, 1, 1),
        16,
    )
    origin, module = KERNEL.module.origin, launch.module
    assert module is not None
    assert (module.variables, module.constants, module.code) == (origin.variables, 0, 0)
    assert module.constant_memory == KERNEL.module.constants_start == 0
    assert launch.source.text.startswith("# launch 3 of ./app\n# 12 warp instructions, 40 cycles\n")


def test_results_are_expected_bit_for_bit(tmp_path: Path) -> None:
    (tmp_path / "a.npy.zst").write_bytes(compressed(np.array([1, 2], np.uint32)))
    (tmp_path / "b.npy.zst").write_bytes(compressed(np.array([3, 4], np.uint32)))
    changed = Block(X, 8, ("a.npy.zst",), b"1", after=("b.npy.zst",), is_changed=True)
    zeroed = Block(Y, 8, ("a.npy.zst",), b"1", after=(), is_changed=True)
    same = Block(Y + 256, 4, (), b"2", after=())
    launch = read(tmp_path, [changed, zeroed, same])
    right = [np.array([3, 4], np.uint32), *launch.arguments()[1:]]
    memory = [np.zeros(2, np.uint32), np.zeros(1, np.uint32)]
    assert launch.check([*right, *memory]) == ()
    memory[1][0] = 1
    (wrong,) = launch.check([*right, *memory])
    assert f"'memory_{Y + 256:x}' is not as expected" in wrong.message
    assert launch.inputs[0].output


def test_a_launch_that_failed_expects_nothing(tmp_path: Path) -> None:
    failed = Entry(1, "k", (1, 1, 1), (1, 1, 1), error=700)
    launch = read(tmp_path, [Block(X, 8, (), b"")], failed)
    assert launch.expectations == ()
    assert "# ended with CUDA's error 700" in launch.source.text


def test_contents_may_be_changes_of_others(tmp_path: Path) -> None:
    whole = np.arange(4096, dtype=np.uint32)
    changed = whole.copy()
    changed[2000] = 7
    (tmp_path / "a.npy.zst").write_bytes(compressed(whole))
    (tmp_path / "b.npy.zst").write_bytes(compressed(pages_of(changed, [1])))
    before, after = ("a.npy.zst",), ("a.npy.zst", "b.npy.zst")
    launch = read(tmp_path, [Block(X, whole.nbytes, before, b"1", after=after, is_changed=True)])
    assert np.array_equal(launch.inputs[0].value, whole)
    assert np.array_equal(launch.expected()["arg0"], changed)
    assert launch.files == (tmp_path / "a.npy.zst", tmp_path / "b.npy.zst")
