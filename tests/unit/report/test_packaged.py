"""Machines and samples as tables."""

from ptxtool import api
from ptxtool.formats.gpu_keys import machine_keys
from ptxtool.formats.samples import samples
from ptxtool.report.packaged import gpu_parts, gpus_parts, samples_parts


def test_lines_are_not_cut_in_the_list_of_machines() -> None:
    (shown,) = gpus_parts([api.gpu("gtx480"), api.gpu("tesla-c2050")])
    assert "GeForce GTX 480, GPGPU-Sim 3.2.2 configuration" in str(shown)


def test_values_are_shown_as_a_gpu_file_has_them() -> None:
    machine = api.gpu("tesla-c2050")
    *_, table = gpu_parts(machine, machine_keys(machine))
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in str(table).splitlines()}
    assert rows["fetch.perfect"].startswith("false tesla-c2050.toml:")
    assert rows["ldst.units"].startswith("ld st atom tex membar ")
    assert rows["latency.div.fp64"].startswith("unit SFU, latency 330, interval 130 ")
    assert "description" not in rows


def test_samples_have_a_row_each() -> None:
    (shown,) = samples_parts(samples())
    assert len([line for line in str(shown).splitlines() if line.startswith(("saxpy ", "sgemm "))]) == 2
