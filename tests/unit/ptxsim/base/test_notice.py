"""The word on standard error before the simulator is compiled."""

import pytest

import ptxsim
from ptxsim.base import notice

ALL = "compiling the simulator (once after installation, a minute or two) ...\n"
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


def test_the_loop_over_large_sms_is_compiled_by_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notice, "JIT_DISABLED", False)
    monkeypatch.setattr(notice, "is_compiled", {RUN, LAUNCH}.__contains__)
    notice.say_if_compiling("wide")
    said = "compiling the timing model for large SMs (once after installation, half a minute) ...\n"
    assert capsys.readouterr() == ("", said)
    monkeypatch.setattr(notice, "is_compiled", lambda loop: True)
    notice.say_if_compiling("wide")
    assert capsys.readouterr() == ("", "")


def test_the_loop_over_other_than_plain_runs_is_compiled_by_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notice, "JIT_DISABLED", False)
    monkeypatch.setattr(notice, "is_compiled", {RUN, LAUNCH}.__contains__)
    notice.say_if_compiling("any run")
    model = "the timing model for sharing, hot spots and the like"
    said = f"compiling {model} (once after installation, half a minute) ...\n"
    assert capsys.readouterr() == ("", said)


def test_nobody_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notice, "JIT_DISABLED", False)
    monkeypatch.setattr(notice, "is_compiled", lambda loop: False)
    monkeypatch.setattr("sys.stderr", None)
    notice.say_if_compiling("run")
