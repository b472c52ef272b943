"""The runner of the file tests itself: what it compares, what it refuses, what it reports."""

from pathlib import Path

import pytest
from casefile import CaseFailure, GoldenFailure, find_notes, read_notes, run_case
from checkout import TESTS

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


def case(folder: Path, text: str) -> str:
    path = folder / "k.ptx"
    path.write_text(text)
    return run_case(path)


def test_output_errors_and_exit_code_are_all_compared(tmp_path: Path) -> None:
    got = case(tmp_path, f"// RUN: ptxtool rewrite -p nothing %s\n// why\n{HEAD}")
    assert got.startswith("---- standard error\n<pipeline>:1:1: error[E302]")
    assert got.endswith("---- exit code 1\n")


def test_several_commands_are_message_apart(tmp_path: Path) -> None:
    run = "// RUN: ptxtool rewrite -p unroll-decls %s\n"
    text = f"{run}{run}// why\n{HEAD}"
    remark = "---- standard error\nunroll-decls: nothing to do: every declaration declares one register\n"
    assert case(tmp_path, text) == 2 * f"$ ptxtool rewrite -p unroll-decls %s\n{text}{remark}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "no '// RUN: ptxtool ... %s' at its head"),
        (f"// RUN: ptxtool check %s\n{HEAD}", "does not say why it exists"),
        (f"// RUN: rm %s\n// why\n{HEAD}", "'rm' is not ptxtool"),
    ],
)
def test_a_case_must_say_what_runs_and_why(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CaseFailure, match=r"^k\.ptx: ") as caught:
        case(tmp_path, text)
    assert message in str(caught.value)


def test_a_failure_shows_a_diff_and_the_bless_command() -> None:
    golden = TESTS / "cases" / "rewrite" / "k.out"
    text = str(GoldenFailure(golden, "a\nb\n", "a\nc"))
    assert "-b\n+c\n\\ no newline\n" in text
    assert text.endswith("pytest --bless tests/cases/rewrite")


def test_notes_are_read_from_the_ends_of_lines() -> None:
    text = "mov.u32 a, b; // live-in: b a  // live-out:\nx // error: E201 E201\n// a comment\n"
    assert read_notes(text) == {(1, "live-in"): "a b", (1, "live-out"): "", (2, "error"): "E201 E201"}


def test_found_notes_have_all_diagnostics_and_the_kinds_asked_for() -> None:
    text = f"{HEAD}.entry k()\n{{\n\t.reg .b32 a;\n\tmov.u32 a, 1;\n\tst.global.u32 [0], a;\n\texit;\n}}\n".encode()
    assert find_notes(text, "k.ptx", {"error"}) == {}
    assert find_notes(text, "k.ptx", {"live-out"}) == {
        (7, "live-out"): "a",
        (8, "live-out"): "",
        (9, "live-out"): "",
    }
    broken = text.replace(b"mov.u32 a, 1", b"mov.u32 a, x")
    assert find_notes(broken, "k.ptx", set()) == {(7, "error"): "E201"}


def test_blessing_is_refused_in_ci(monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> None:
    from casefile import refuse_blessing_in_ci

    monkeypatch.setenv("CI", "1")
    monkeypatch.setattr(pytestconfig.option, "bless", True)
    with pytest.raises(pytest.UsageError, match="refused"):
        refuse_blessing_in_ci(pytestconfig)
    monkeypatch.delenv("CI")
    refuse_blessing_in_ci(pytestconfig)
