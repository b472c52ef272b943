"""The CTAs of launch files, by kernel."""

from pathlib import Path

import pytest

from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import parse_launch
from ptxtool.parse import parse
from ptxtool.runs.pass_context import pass_context

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
A, B = ".entry a() { ret; }\n", ".entry b() { ret; }\n"

LIST = """
grid = 1
block = [8, 4, 2]
dynamic_shared = 64
[[launch]]
kernel = "a"
[[launch]]
kernel = "b"
block = 96
[[launch]]
kernel = "a"
block = 16
dynamic_shared = 128
"""


@pytest.mark.parametrize(
    ("kernels", "launch", "kernel", "ctas"),
    [
        (A, "grid = 1\nblock = [16, 4]\n", None, {"a": (64, 0)}),
        (A + B, "grid = 1\nblock = 32\n", None, {}),
        (A + B, "grid = 1\nblock = 32\n", "b", {"b": (32, 0)}),
        (A + B, "grid = 1\nblock = 32\ndynamic_shared = 4\nkernel = 'a'\n", "b", {"a": (32, 4)}),
        (A + B, LIST, None, {"a": (64, 128), "b": (96, 64)}),
    ],
)
def test_largest_ctas(
    kernels: str, launch: str, kernel: str | None, ctas: dict[str, tuple[int, int]]
) -> None:
    read = parse_launch(Source("launch.toml", launch), Path())
    assert pass_context(parse(HEAD + kernels), read, None, kernel).ctas == ctas


def test_no_launch() -> None:
    assert pass_context(parse(HEAD + A)).ctas == {}
