"""`ptxtool occupancy` without a file: resident CTAs, their limiter, the sharing plan and the curve."""

from commands import clean_data
from smallkernel import Cli


def test_occupancy_without_a_file(cli: Cli) -> None:
    # hotspot of the papers: 36 registers, 256 threads, 3 resident blocks, 6 at 90% sharing
    found = clean_data(
        cli, "occupancy", "--gpu", "tesla-c2050", "--registers", 36, "--block", 256, "--share-registers", 90
    )
    wanted = {"resident_ctas": 6, "unshared_ctas": 0, "shared_pairs": 3, "private_registers": 3}
    assert {key: found[key] for key in wanted} == wanted
    assert found["limiter"] == "registers"
    text = cli("occupancy", "--registers", 36, "--block", "16,16").stdout
    assert text.startswith("3 resident CTAs on an SM of tesla-c2050, limited by registers\n")


def test_occupancy_with_scratchpad(cli: Cli) -> None:
    # 16 KB of scratchpad: two CTAs of 7 KB and 2 KB left; at 90% sharing 2 / 0.7 = 2 more
    found = clean_data(
        cli,
        *("occupancy", "--registers", 8, "--block", 64, "--scratchpad", 7168),
        *("--scratchpad-per-sm", 16384, "--share-scratchpad", 90),
    )
    wanted = {"resident_ctas": 4, "unshared_ctas": 0, "shared_pairs": 2, "limiter": "scratchpad"}
    assert {key: found[key] for key in wanted} == wanted
    assert found["private_scratchpad"] == 716


def test_occupancy_by_scratchpad_alone(cli: Cli) -> None:
    # 16 KB over 7200 bytes: 2 CTAs and 1984 bytes left; at 90% sharing 1984 / 720 = 2 pairs, so 4
    options = ("--block", 256, "--scratchpad", 7200, "--scratchpad-per-sm", 16384, "--share-scratchpad", 90)
    found = clean_data(cli, "occupancy", "--gpu", "tesla-c2050", *options)
    assert (found["resident_ctas"], found["shared_pairs"], found["limiter"]) == (4, 2, "scratchpad")
    assert (found["unshared_ctas"], found["private_scratchpad"]) == (0, 720)
    assert found["limits"]["registers"] is None
    for options in ((), ("--share-registers", 90)):
        result = cli("occupancy", "--block", 256, *options)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "--registers N is needed" in result.stderr


def test_occupancy_curve(cli: Cli) -> None:
    curve = clean_data(cli, "occupancy", "--block", 256, "--curve")["curve"]
    resident = {plan["registers"]: plan["resident_ctas"] for plan in curve}
    # 32768 / (256 * registers rounded up to 4), at most 6 by threads
    assert [resident[n] for n in (16, 20, 21, 24, 25, 32, 36, 40, 41, 63)] == [6, 6, 5, 5, 4, 4, 3, 3, 2, 2]
    text = cli("occupancy", "--block", 256, "--curve").stdout
    assert "33-40         3" in text
