"""The papers' experiments by name."""

from typing import Any

from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean, series
from ptxtool.results.exhibits import Reproduction
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction import experiment as sharing
from ptxtool.sweep.reproduction.finereg import experiment as finereg
from ptxtool.sweep.reproduction.papers import SHARING
from ptxtool.sweep.reproduction.regdem import experiment as regdem

REGDEM, FINEREG = "regdem", "finereg"
EXPERIMENTS = (*SHARING, REGDEM, FINEREG)


def reproduce(name: str, kernel_named: KernelNamed, **options: Any) -> Reproduction:
    """Make all runs of one of EXPERIMENTS and put the results beside the papers'.

    `options` are those of `run_sweep`. Raises E502 for an unknown name. Runs that fail are among `.failures`.
    """
    if name not in EXPERIMENTS:
        help = did_you_mean(name, EXPERIMENTS, then=f"there are {series(EXPERIMENTS, 'and')}")
        raise error("E502", f"no experiment '{name}'", help=help)
    if name == REGDEM:
        return regdem.reproduce(kernel_named, **options)
    if name == FINEREG:
        return finereg.reproduce(kernel_named, **options)
    return sharing.reproduce(name, kernel_named, **options)
