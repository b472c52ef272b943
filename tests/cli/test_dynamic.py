"""`sim --dynamic`: dynamic warp execution from the command line."""

from smallkernel import Cli

SHARED = ("sim", "reduction", "--registers", 44, "--share-registers", 90, "--max-cycles", 3000)


def test_the_report_says_what_came_of_it(cli: Cli) -> None:
    result = cli(*SHARED, "--dynamic-options", "period=500,seed=3")
    assert result.exit_code == 1  # the cycle limit, before the sixth period ends
    assert "dynamic warp execution: 5 periods" in result.stdout
    assert "dynamic warp execution: 2 periods" in cli(*SHARED, "--dynamic").stdout
    assert "dynamic warp execution" not in cli(*SHARED).stdout


def test_it_needs_something_shared(cli: Cli) -> None:
    result = cli("sim", "reduction", "--dynamic")
    assert result.exit_code == 1
    assert "error[E502]: dynamic warp execution without sharing" in result.stderr


def test_wrong_options_are_named(cli: Cli) -> None:
    result = cli(*SHARED, "--dynamic-options", "perod=500")
    assert result.exit_code == 1
    assert "no option 'perod'" in result.stderr
    assert "did you mean 'period'?" in result.stderr
