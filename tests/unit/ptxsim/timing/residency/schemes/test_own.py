"""A register scheme of the user's own: loaded, compiled, run, and every mistake reported at its place."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from microkernels.switching import waiting_kernel
from mixed_kernel import run_mixed
from waiting_ctas import one_place

import ptxsim
import ptxtool
from ptxsim.base.jit import JIT_DISABLED
from ptxsim.timing.residency.schemes.own import own_scheme
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

HEAD = "from ptxsim.schemes import FETCH, LAUNCH, LOOK_UP, STAY, SWAP\n"
FINEREG = """
based_on = "finereg"


def decide(view):
    if view.can_swap:
        return SWAP
    if view.can_launch:
        return LAUNCH
    if view.can_look_up:
        return LOOK_UP
    return FETCH if view.can_fetch else STAY
"""
PATIENT = """
def decide(view):
    view.notes[0] += view.notes[0] < 3
    if view.stalled < 70 * view.notes[0]:
        return STAY
    return SWAP if view.can_swap else LAUNCH if view.can_launch else STAY
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + FINEREG)
    return path


def launch(own: Path, n_ctas: int = 6, **options: Any) -> Any:
    kernel = ptxtool.parse(waiting_kernel(20)).kernels["k"]
    memory = np.zeros(32 * n_ctas, np.uint32)
    gpu = one_place("l2.rop_cycles=400")
    return ptxsim.launch(
        kernel, n_ctas, 32, [memory], gpu=gpu, scheme=f"{own}:decide", registers=32, **options
    )


def test_finereg_written_again(own: Path) -> None:
    gpu = with_settings(load_gpu("gtx980-finereg"), ["sm.ctas=2", "sm.count=3"])
    mine, built_in = (
        run_mixed(29, 250, gpu=gpu, scheme=scheme, registers=40) for scheme in (f"{own}:decide", "finereg")
    )
    assert mine[0]["switching"].pop("scheme") == f"{own}:decide"
    assert built_in[0]["switching"].pop("scheme") == "finereg"
    assert mine == built_in
    assert built_in[0]["switching"]["evictions"] > 0


@pytest.mark.parametrize("base", ["virtual-thread", "reg-dram", "virtual-thread-unified"])
def test_one_that_waits_for_a_time(own: Path, base: str) -> None:
    """Skipping cycles changes nothing, though nothing but time makes it decide."""
    own.write_text(f"{HEAD}based_on = {base!r}\n{PATIENT}")
    gpu = with_settings(load_gpu("gtx980-finereg"), ["sm.ctas=2", "sm.count=3"])
    options = {"gpu": gpu, "scheme": f"{own}:decide", "registers": 40}
    skipped, stepped = (run_mixed(29, 250, event_skip=skip, **options) for skip in (True, False))
    assert skipped == stepped
    assert skipped[0]["switching"]["switches"] > 0


def test_its_settings(own: Path) -> None:
    assert (
        launch(own).switching.resident_most == 5
    )  # CTA 0 waits for its vector, and ends before the last begins
    own.write_text(HEAD + 'settings = {"ctas": 3, "overlap": True}\n' + FINEREG)
    found = launch(own)
    assert found.switching.resident_limit == found.switching.resident_most == 3
    assert "switching.overlap=true" in found.gpu
    own.write_text(HEAD + 'settings = {"cats": 3}\n' + FINEREG)
    with pytest.raises(PtxError, match=r"switching\.cats"):
        launch(own)


def test_other_names() -> None:
    assert own_scheme(None) is None
    assert own_scheme("finereg") is None
    with pytest.raises(PtxError, match=r"(?s)E502.*names no function.*such as 'mine.py:decide'"):
        own_scheme("mine.py")
    with pytest.raises(PtxError, match=r"E501.*cannot read 'no.py'"):
        own_scheme("no.py:decide")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def decide(view)\n    return 1\n", "1:1: error.E502.*not Python"),
        ("raise SystemExit(3)\n", "1:1: error.E502.*SystemExit: 3"),
        ("def dcide(view):\n    return 0\n", "no function 'decide'.*did you mean 'dcide'"),
        ("def decide():\n    return 0\n", "1:1: error.E502.*cannot be called with one argument"),
        ("based_on = 'none'\ndef decide(view):\n    return 0\n", "based_on is 'none'.*that switches"),
        ("based_on = []\ndef decide(view):\n    return 0\n", "based_on is .*that switches"),
        ("settings = 3\ndef decide(view):\n    return 0\n", "settings is 3.*write a dictionary"),
        ("settings = {'scheme': 'none'}\ndef decide(view):\n    return 0\n", "settings is .*based_on names"),
    ],
)
def test_files_that_are_none(own: Path, text: str, message: str) -> None:
    own.write_text(text)
    with pytest.raises(PtxError, match=f"(?s){message}"):
        launch(own)


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("view.notes[0] = 3", "1:1: error.E502.*returns nothing, not a decision"),
        ("return view.lives", "2:5: error.E502.*a view has no field 'lives'.*docs/schemes.md"),
        ("return {}", "2:5: error.E502.*cannot be compiled"),
    ],
)
def test_functions_that_cannot_be_compiled(own: Path, body: str, message: str) -> None:
    own.write_text(f"def decide(view):\n    {body}\n")
    with pytest.raises(PtxError, match=f"(?s){re.escape(str(own))}:{message}"):
        launch(own)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "return 2",
            "'decide' decided FETCH about CTA 0 on SM 0 in cycle .*for which there are: STAY, LAUNCH",
        ),
        ("return 9", "decided 9 about"),
        ("return -1", "decided -1 about"),
        ("return 4", "decided LOOK_UP about"),
        ("view.can_fetch = 1\n    return 2", "decided FETCH about .*there are: STAY, LAUNCH"),
        (
            "if view.cta == 0:\n        raise ValueError('what now')\n    return 0",
            "raised ValueError: what now",
        ),
        ("return view.notes[view.cta + 8]", "raised IndexError.*has 8 numbers"),
    ],
)
def test_what_a_scheme_does_wrong(own: Path, body: str, message: str) -> None:
    own.write_text(f"def decide(view):\n    {body}\n")
    with pytest.raises(PtxError, match=f"(?s){re.escape(str(own))}:.*error.E416.*{message}"):
        launch(own)


def test_with_a_scheduler_of_ones_own(own: Path, tmp_path: Path) -> None:
    """An exception is reported where it comes from."""
    scheduler = tmp_path / "order.py"
    scheduler.write_text(
        "from ptxsim.jit import ctz\n\n\ndef pick(sm, scheduler, candidates):\n    return ctz(candidates)\n"
    )
    own.write_text("def decide(view):\n    if view.cta == 0:\n        raise ValueError('no')\n    return 0\n")
    with pytest.raises(PtxError, match=f"(?s){re.escape(str(own))}:.*'decide' raised ValueError"):
        launch(own, scheduler=f"{scheduler}:pick")


def test_a_machine_keeps_it(own: Path) -> None:
    kernel = ptxtool.parse(waiting_kernel(20)).kernels["k"]
    machine = ptxsim.Machine(one_place(far=False), scheme=f"{own}:decide", registers=32)
    memory = np.zeros(320, np.uint32)
    for _ in range(2):
        assert machine.launch(kernel, 10, 32, [memory]).switching.scheme == f"{own}:decide"
