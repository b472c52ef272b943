"""Where the files of a launch file may lie."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_file import load_launch

HEAD = "grid = 1\nblock = 1\n"
ROWS = {
    "file": (HEAD, 3),
    "args": (HEAD + '[[args]]\ntype = "f32"\ncount = 1\nvalue = 0\n[[args]]\nname = "x"\ntype = "f32"\n', 10),
    "expect": (
        HEAD + '[[args]]\nname = "x"\ntype = "f32"\ncount = 2\noutput = true\n[[expect]]\narg = "x"\n',
        10,
    ),
    "memory": (HEAD + '[[memory]]\naddress = 256\ntype = "f32"\ncount = 2\n', 7),
    "constants": (HEAD + '[constants.c]\ntype = "f32"\n', 5),
    "textures": (HEAD + '[textures.c]\ntype = "f32"\n', 5),
    "surfaces": (HEAD + '[surfaces.c]\ntype = "f32"\n', 5),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file above it, and links to it and to a file inside."""
    inner = tmp_path / "inner"
    (inner / "data").mkdir(parents=True)
    for path in (tmp_path / "outer.npy", inner / "data" / "own.npy"):
        np.save(path, np.zeros(2, np.float32))
    (inner / "link.npy").symlink_to("../outer.npy")
    (inner / "own.npy").symlink_to("data/own.npy")
    return inner


@pytest.mark.parametrize("table", ROWS)
@pytest.mark.parametrize("name", ["../outer.npy", "data/../../outer.npy", "link.npy", "OUTER"])
def test_files_outside_the_folder_are_not_read(folder: Path, table: str, name: str) -> None:
    text, line = ROWS[table]
    name = name.replace("OUTER", str(folder.parent / "outer.npy"))
    path = folder / "launch.toml"
    path.write_text(f'{text}file = "{name}"\n')
    with pytest.raises(PtxError) as caught:
        load_launch(path)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E502", f"'{name}' is not in the folder of the launch file")
    assert "--allow-outside" in found.help
    assert found.line == line
    assert load_launch(path, allow_outside=True)


@pytest.mark.parametrize("table", ROWS)
@pytest.mark.parametrize("name", ["data/own.npy", "own.npy", "data/../own.npy"])
def test_files_in_the_folder_are_read(folder: Path, table: str, name: str) -> None:
    (folder / "launch.toml").write_text(f'{ROWS[table][0]}file = "{name}"\n')
    assert load_launch(folder / "launch.toml")


def test_a_name_that_is_none(folder: Path) -> None:
    (folder / "launch.toml").write_text(HEAD + 'file = "a\\u0000b"\n')
    with pytest.raises(PtxError, match="is not in the folder of the launch file"):
        load_launch(folder / "launch.toml")


def test_changes_lie_in_the_folder_too(folder: Path) -> None:
    text = (
        HEAD
        + '[[memory]]\naddress = 256\ntype = "f32"\ncount = 2\nfile = "own.npy"\nchanges = ["own.npy", "link.npy"]\n'
    )
    (folder / "launch.toml").write_text(text)
    with pytest.raises(PtxError, match=r"launch.toml:8:.*'link.npy' is not in the folder"):
        load_launch(folder / "launch.toml")
