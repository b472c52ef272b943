"""The texts of runs: after their passes, and after those of their register schemes."""

from pathlib import Path

import pytest
from crowded import crowded
from crowded import launch as crowded_launch
from pressured import pressured, write
from smallkernel import KERNEL

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse
from ptxtool.sweep.run_texts import RunText, RunTexts, once

GPU = load_gpu("gtx980-finereg")


def made(folder: Path, passes: str, scheme: str, text: str = "", texts: RunTexts | None = None) -> RunText:
    """A text for the launch beside the kernel."""
    path = write(folder)
    if text:
        path.write_text(text)
        (folder / "launch.toml").write_text(crowded_launch())
    module = api.load(path)
    (kernel,) = module.kernels.values()
    launch = api.load_launch(folder / "launch.toml")
    return (texts or RunTexts(api.kernel, {})).made(module, kernel, launch, passes, scheme, GPU, "digest")


def test_a_scheme_that_takes_any_text(tmp_path: Path) -> None:
    for scheme in ("none", "finereg", "release-by-name"):
        assert made(tmp_path, "", scheme) == RunText(pressured(), "")


def test_a_scheme_that_needs_marks(tmp_path: Path) -> None:
    found = made(tmp_path, "", "regmutex")
    assert found.passes == "allocate,split-registers"
    assert found.text.count("acquire-extended-registers") == 1
    (remark,) = found.remarks
    assert remark.startswith("split-registers: pressured: 24 registers in the base set, 10 extended")
    assert found.refusal is None


def test_after_the_passes_of_the_run(tmp_path: Path) -> None:
    found = made(tmp_path, "allocate:order=pressure", "regmutex")
    assert found.passes == "allocate:order=pressure,allocate,split-registers"
    assert "acquire-extended-registers" in found.text
    own = made(tmp_path, "allocate,split-registers:base=20", "regmutex")
    assert own.passes == "allocate,split-registers:base=20"
    assert own.remarks == ()


def test_nothing_to_split_is_the_text_before(tmp_path: Path) -> None:
    """It would have other names of registers after `allocate`, and so other conflicts of their banks."""
    found = made(tmp_path, "", "regmutex", crowded())
    assert found.text == crowded()
    assert "nothing to do: no base set brings another CTA" in found.remarks[0]


def test_a_pass_that_declines(tmp_path: Path) -> None:
    found = made(tmp_path, "allocate{max-regs=1}", "regmutex")
    assert found.passes == "allocate{max-regs=1}"
    assert found.refusal is not None
    assert found.text == pressured()
    module = parse(KERNEL, "k.ptxplus")
    launch = api.load_launch(tmp_path / "launch.toml")
    split = RunTexts(api.kernel, {}).made(module, module.kernels["k"], launch, "", "regmutex", GPU, "digest")
    assert split.refusal is not None
    assert "E301" in str(split.refusal)


def test_what_is_no_pipeline_is_raised(tmp_path: Path) -> None:
    with pytest.raises(PtxError, match="E302"):
        made(tmp_path, "alocate", "none")


def test_a_value_is_made_once() -> None:
    known: dict[object, int] = {}
    assert [once(known, "k", lambda: len(known)) for _ in range(2)] == [0, 0]
