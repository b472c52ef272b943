"""The papers' experiments by name, and the comparison of all register schemes."""

from pathlib import Path
from typing import Any

from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean, series
from ptxtool.results.exhibits import Reproduction
from ptxtool.sweep.plan import KernelNamed
from ptxtool.sweep.reproduction import experiment as sharing
from ptxtool.sweep.reproduction import explanations
from ptxtool.sweep.reproduction.finereg import experiment as finereg
from ptxtool.sweep.reproduction.papers import SHARING
from ptxtool.sweep.reproduction.regdem import experiment as regdem
from ptxtool.sweep.reproduction.register_schemes import experiment as register_schemes
from ptxtool.sweep.reproduction.register_schemes.matrix import Restriction

REGDEM, FINEREG, SCHEMES = "regdem", "finereg", "schemes"
EXPERIMENTS = (*SHARING, REGDEM, FINEREG, SCHEMES)


def reproduce(
    name: str,
    kernel_named: KernelNamed,
    only: Restriction | None = None,
    explain: str | None = None,
    recorded: Path | None = None,
    **options: Any,
) -> Reproduction:
    """Make all runs of one of EXPERIMENTS, of SCHEMES `only` some, and put the results beside the papers'.

    With `explain` those that explain the result of this application, of SHARING, instead; with `recorded` those of
    SHARING with the recorded launches in that folder.

    `options` are those of `run_sweep`. Raises E502 for an unknown name. Runs that fail are among `.failures`.
    """
    if name not in EXPERIMENTS:
        help = did_you_mean(name, EXPERIMENTS, then=f"there are {series(EXPERIMENTS, 'and')}")
        raise error("E502", f"no experiment '{name}'", help=help)
    only = only or Restriction()
    if name == SCHEMES:
        return register_schemes.reproduce(kernel_named, only, **options)
    if only != Restriction():
        help = f"leave out the names of kernels, schemes and GPUs, or reproduce {SCHEMES}"
        raise error("E502", f"experiment '{name}' is of all its runs", help=help)
    if recorded is not None and (explain is not None or name not in SHARING):
        help = f"recorded launches are compared in the tables of {series(SHARING, 'and')}"
        raise error("E502", "recorded launches have no place in what is asked for", help=help)
    if explain is not None:
        return explanations.explain(name, explain, kernel_named, **options)
    if name == REGDEM:
        return regdem.reproduce(kernel_named, **options)
    if name == FINEREG:
        return finereg.reproduce(kernel_named, **options)
    return sharing.reproduce(name, kernel_named, recorded, **options)
