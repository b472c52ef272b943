"""Which files are those of GPGPU-Sim."""

from pathlib import Path

import pytest
from gpgpusim_files import OLD, write_config

from ptxtool.formats.gpgpusim.machine import is_config
from ptxtool.formats.gpu import load_gpu


def test_any_name_will_do_for_a_file_of_options(tmp_path: Path) -> None:
    path = write_config(tmp_path, load_gpu(OLD), 3)
    assert load_gpu(path.rename(tmp_path / "c2050.txt")).sm.count == 14


@pytest.mark.parametrize(
    ("name", "text", "is_one"),
    [
        ("gpu.config", "", True),
        ("gpu.toml", "-gpgpu_n_clusters 2\n", False),
        ("gpu.txt", "# of a card\n\n  -gpgpu_n_clusters 2\n", True),
        ("gpu.txt", "--set x\n", False),
        ("gpu.txt", "name = 1 # -gpgpu\n", False),
        ("gpu.txt", "", False),
    ],
)
def test_a_file_is_one_by_its_name_or_its_first_word(
    name: str, text: str, is_one: bool, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert is_config(path) is is_one
