"""Lines of CUDA sources: at the path in `.file`, beside the PTX, or nowhere, with one remark."""

from pathlib import Path

from ptxtool.base.cuda_places import CudaPlace
from ptxtool.formats.cuda_sources import CudaSources


def test_where_a_source_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "there.cu").write_text("one\n\ttwo  \n")
    (tmp_path / "beside.cu").write_text("first\n")
    remarks: list[str] = []
    sources, ptx = CudaSources(remarks.append), str(tmp_path / "k.ptx")
    assert sources(ptx, CudaPlace(str(tmp_path / "src" / "there.cu"), 2)) == "two"
    assert sources(ptx, CudaPlace("src/there.cu", 1)) == "one"
    assert sources(ptx, CudaPlace("/on/another/machine/beside.cu", 1)) == "first"
    assert sources(ptx, CudaPlace("C:\\work\\beside.cu", 1)) == "first"
    assert sources(ptx, CudaPlace("src/there.cu", 99)) == ""
    assert remarks == []


def test_a_source_that_is_not_there_is_remarked_on_once(tmp_path: Path) -> None:
    remarks: list[str] = []
    sources, ptx = CudaSources(remarks.append), str(tmp_path / "k.ptx")
    for line in (1, 2):
        assert sources(ptx, CudaPlace("/nowhere/no.cu", line)) == ""
    assert sources(ptx, CudaPlace("bad\0name", 1)) == ""
    assert sources(ptx, CudaPlace("/dev/zero", 1)) == ""
    assert remarks[0] == f"--source: '/nowhere/no.cu' is not there, nor is '{tmp_path / 'no.cu'}'"
    assert len(remarks) == 3
