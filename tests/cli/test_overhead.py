"""`ptxtool overhead`: the bits of the papers."""

from commands import clean_data
from smallkernel import Cli


def test_overhead_is_that_of_the_papers(cli: Cli) -> None:
    schemes = clean_data(cli, "overhead")["schemes"]
    assert [s["bits_per_sm"] for s in schemes] == [273, 93]
    assert "register sharing: 273 bits per SM" in cli("overhead").stdout
