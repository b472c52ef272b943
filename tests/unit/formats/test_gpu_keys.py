"""Keys of machines: every one is found where it is set, and --set takes its name."""

import pytest

from ptxtool import api
from ptxtool.formats.gpu_keys import machine_keys
from ptxtool.formats.gpu_names import gpu_names


@pytest.mark.parametrize("name", gpu_names())
def test_every_key_has_a_place(name: str) -> None:
    keys = machine_keys(api.gpu(name))
    assert len({key.name for key in keys}) == len(keys) > 100
    for key in keys:
        assert key.line, key.name
        last = key.name.rpartition(".")[2]
        with open(key.file, encoding="utf-8") as file:
            line = file.read().splitlines()[key.line - 1]
        assert last in line, key.name


def test_the_names_are_those_of_set() -> None:
    changed = api.gpu("tesla-c2050", settings=["sm.count=3", "l1d.ways=2"])
    values = {key.name: key.value for key in machine_keys(changed)}
    assert (values["sm.count"], values["l1d.ways"]) == (3, 2)
