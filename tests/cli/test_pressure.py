"""`ptxtool pressure` on the small kernel."""

from pathlib import Path

from commands import clean_data
from smallkernel import Cli


def test_pressure(cli: Cli, kernel_file: Path) -> None:
    (kernel,) = clean_data(cli, "pressure", kernel_file)["kernels"]
    assert (kernel["maximum"], kernel["line"], kernel["max_predicates"]) == (3, 10, 1)
    assert (kernel["per"], kernel["maximum_per_thread"], kernel["maximum_per_warp"]) == ("warp", 3, 3)
    assert kernel["curve"] == [2, 3, 3, 2, 1, 0]  # the branch is uniform: no lane waits while others add
    text = cli("pressure", kernel_file).stdout
    assert text.startswith("k: 3 live 32-bit registers per thread before line 10:")
    assert text.endswith("3 | ##\n2 |####\n1 |#####\n  +------\n")
