"""What is compared: kernels of all papers, columns for all schemes, machines."""

import pytest

from ptxtool.analysis.occupancy.register_schemes import SCHEMES
from ptxtool.base.diag import PtxError
from ptxtool.formats.files import sample_names
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.sweep.reproduction.register_schemes.matrix import (
    Restriction,
    kernel_file,
    kernels,
    matrix,
)


def test_kernels_are_those_of_all_papers() -> None:
    found = kernels()
    others = {name for name in sample_names() if name.startswith(("sharing/", "unlimited/"))}
    assert set(found) == set(sample_names()) - others - {"saxpy", "reduction"}  # in no paper
    assert len(found) == len(set(found)) == 38


def test_kernels_are_in_ptx_where_there_is_one() -> None:
    suffixes = {name: kernel_file(name).suffix for name in kernels()}
    assert {name for name, suffix in suffixes.items() if suffix != ".ptx"} == {"hotspot", "sgemm"}
    assert all(kernel_file(name).is_file() for name in kernels())


def test_every_scheme_has_a_column_and_none_is_the_first() -> None:
    found = matrix(Restriction())
    assert [column.scheme for column in found.columns] == [scheme.name for scheme in SCHEMES]
    assert found.columns[0].name == "none"
    assert len(found.compared) == len(found.columns) - 1


def test_machines_have_unified_memory_and_a_register_file_for_both_parts() -> None:
    for machine in matrix(Restriction()).machines:
        gpu = with_settings(load_gpu(machine.name), machine.settings)
        options = gpu.switching
        assert options.acrf_registers + 32 * options.pcrf_entries == gpu.sm.registers
        l1 = gpu.l1d.sets * gpu.l1d.ways * gpu.l1d.line_bytes
        assert options.unified_bytes == 128 * options.pcrf_entries + gpu.sm.scratchpad_bytes + l1


def test_a_restriction() -> None:
    found = matrix(Restriction(["nw1", "btree"], ["finereg"], ["tesla-c2050"]))
    assert found.kernels == ("btree", "nw1")
    assert [column.name for column in found.columns] == ["none", "finereg"]
    assert [machine.name for machine in found.machines] == ["tesla-c2050"]


@pytest.mark.parametrize(
    ("only", "what"),
    [
        (Restriction(kernels=["nw3"]), "no kernel 'nw3' in this experiment"),
        (Restriction(schemes=["finreg"]), "no scheme 'finreg' in this experiment"),
        (Restriction(gpus=["gtx480"]), "no machine 'gtx480' in this experiment"),
    ],
)
def test_unknown_names(only: Restriction, what: str) -> None:
    with pytest.raises(PtxError) as caught:
        matrix(only)
    assert f"E502]: {what}" in str(caught.value)
    assert "did you mean" in str(caught.value) or "there are" in str(caught.value)
