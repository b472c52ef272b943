"""The packaged samples and their files."""

from ptxtool.base.resources import resource_dir
from ptxtool.formats.samples import samples


def test_a_sample_stands_for_its_ptxplus() -> None:
    found = {sample.name: sample for sample in samples()}
    folder = resource_dir("samples")
    assert found["bfs"].file == folder / "bfs" / "kernel.ptxplus"
    assert found["saxpy"].file == folder / "saxpy" / "kernel.ptx"
    assert (
        found["bfs"].summary
        == "One level of a search in a random graph of 131,072 nodes with 2 to 10 edges each"
    )
    assert [path.name for path in found["reduction"].other_launches] == ["two-passes.toml"]
