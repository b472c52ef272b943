"""docs/simplifications.md names every switch that its script measures, with the settings that make it."""

import re

from scripts import BENCHMARKS, module_of

from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.gpu_names import gpu_names
from ptxtool.formats.settings import with_settings

PAGE = (BENCHMARKS.parent / "docs" / "simplifications.md").read_text(encoding="utf-8")
SCRIPT = module_of(BENCHMARKS / "simplifications.py")


def table(first: str) -> list[list[str]]:
    """The cells of the page's first table whose head begins with that word."""
    lines = PAGE[PAGE.index(f"| {first} |") :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_switch_is_explained_with_its_settings() -> None:
    rows = {row[0]: row[1] for row in table("part")[2:]}
    gpu = load_gpu("tesla-c2050")
    for switch in SCRIPT.SWITCHES:
        keys = {
            s.partition("=")[0].split(".")[-1]
            for s in switch.settings(gpu)
            if ".t" not in s and "L=" not in s
        }
        assert keys <= set(re.findall(r"\w+", rows[switch.name])), switch.name
    assert set(rows) - {switch.name for switch in SCRIPT.SWITCHES} == {"event skip"}


def test_every_switch_is_measured_on_the_same_kernels() -> None:
    heads = re.findall(r"^\| kernel \| cycles \| (.*) \|$", PAGE, re.M)
    measured = [head.split(" | ") for head in heads]
    assert measured[0] == [s.name for s in (*SCRIPT.CORE, SCRIPT.CONTROL)]
    assert measured[1] == [s.name for s in (*SCRIPT.MEMORY, SCRIPT.CONTROL)]
    kernels = [*SCRIPT.SAMPLES, *(f"{name}\\*" for name in SCRIPT.REFERENCE)]
    shown = re.findall(r"^\| (\S+) \| \d+ \|", PAGE, re.M)
    assert shown[: 2 * len(kernels)] == kernels * 2


def test_every_switch_is_a_setting_of_every_machine() -> None:
    for name in gpu_names():
        gpu = load_gpu(name)
        for switch in SCRIPT.SWITCHES:
            changed = with_settings(gpu, switch.settings(gpu))
            assert changed.l2.slices == changed.dram.channels * changed.dram.slices_per_channel
