"""`ptxtool overhead`: the bits of the papers."""

from commands import clean_data
from smallkernel import Cli


def test_overhead_is_that_of_the_papers(cli: Cli) -> None:
    schemes = clean_data(cli, "overhead")["schemes"]
    assert [s["bits_per_sm"] for s in schemes[:2]] == [273, 93]
    assert "register-sharing                 273" in cli("overhead").stdout


def test_one_scheme_part_by_part(cli: Cli) -> None:
    shown = cli("overhead", "--gpu", "gtx980-finereg", "--scheme", "finereg").stdout
    assert shown.startswith("finereg: 50509 bits per SM (6.17 KB)\n")
    assert "tag of each PCRF entry" in shown
    assert "printed sum is 5.02 KB" in shown
    schemes = clean_data(cli, "overhead", "--scheme", "regmutex", "--scheme", "scratchpad-sharing")["schemes"]
    assert [s["scheme"] for s in schemes] == ["regmutex", "scratchpad-sharing"]


def test_a_scheme_without_storage_is_a_diagnostic(cli: Cli) -> None:
    result = cli("overhead", "--scheme", "fine")
    assert result.exit_code == 1
    assert "error[E502]: no storage of a scheme 'fine'" in result.stderr
    assert "did you mean 'finereg'?" in result.stderr
