"""The word on standard error before the simulator is compiled."""

import pytest

import ptxsim
from ptxsim.base import notice

ALL = "compiling the simulator (once after installation, up to a minute) ...\n"
TIMING = "compiling the timing model (once after installation, half a minute) ...\n"
RUN, LAUNCH = "ptxsim.functional.cta_loop.run_ctas", "ptxsim.timing.core.cycle._simulate_plain"


@pytest.mark.parametrize(
    ("name", "there", "message"),
    [
        ("run", set(), ALL),
        ("launch", set(), ALL),
        ("launch", {RUN}, TIMING),
        ("run", {RUN}, ""),
        ("launch", {RUN, LAUNCH}, ""),
        ("Texture", set(), ""),
    ],
)
def test_what_is_said(
    name: str,
    there: set[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(notice, "JIT_DISABLED", False)
    monkeypatch.setattr(notice, "is_compiled", there.__contains__)
    monkeypatch.delitem(vars(ptxsim), name, raising=False)
    for _ in range(2):
        assert callable(getattr(ptxsim, name))
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(
    ("loop", "model"),
    [
        ("wide", "the timing model for large SMs"),
        ("any run", "the timing model for sharing, hot spots and the like"),
        ("threads", "the timing model for several threads"),
    ],
)
def test_other_loops_are_compiled_by_themselves(
    loop: str, model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notice, "JIT_DISABLED", False)
    monkeypatch.setattr(notice, "is_compiled", {RUN, LAUNCH}.__contains__)
    notice.say_if_compiling(loop)
    said = f"compiling {model} (once after installation, half a minute) ...\n"
    assert capsys.readouterr() == ("", said)
    monkeypatch.setattr(notice, "is_compiled", lambda loop: True)
    notice.say_if_compiling(loop)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("there", "missing"), [(True, True), (True, False), (False, True)])
def test_a_loop_for_another_machine(
    there: bool, missing: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where none is compiled, the launch has said it."""
    monkeypatch.setattr(notice, "JIT_DISABLED", False)
    monkeypatch.setattr(notice, "is_compiled", ({RUN, LAUNCH} if there else {RUN}).__contains__)
    monkeypatch.setattr(notice, "is_missing", lambda loop: missing)
    notice.say_if_one_more("launch", object())
    text = "compiling the timing model for such machines (once after installation, half a minute) ...\n"
    assert capsys.readouterr() == ("", text if there and missing else "")


@pytest.mark.parametrize(
    ("there", "missing", "said"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_parts_are_compiled_by_themselves(
    there: bool,
    missing: bool,
    said: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without a note where the one on the whole simulator is still to come."""
    monkeypatch.setattr(notice, "JIT_DISABLED", False)
    monkeypatch.setattr(notice, "is_compiled", lambda loop: there)
    monkeypatch.setattr(notice, "need", lambda parts: missing)
    notice.need_parts({"matrix"})
    text = "compiling the part of the simulator that this kernel needs (once after installation, some seconds) ...\n"
    assert capsys.readouterr() == ("", text if said else "")


def test_nobody_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notice, "JIT_DISABLED", False)
    monkeypatch.setattr(notice, "is_compiled", lambda loop: False)
    monkeypatch.setattr("sys.stderr", None)
    notice.say_if_compiling("run")
