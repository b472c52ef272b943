"""Which schemes the papers' tables and figures need, by application.

Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU Performance Through Resource Sharing, HPDC 2016,
section VI; timing-model section 5.
"""

from dataclasses import replace
from fractions import Fraction

from ptxtool.runs.schemes import Scheme, ladder_schemes, prepared, with_release
from ptxtool.sweep.reproduction.papers import Application, Paper, Unlimited

BASELINE = "Unshared-LRR"
GTO, TWO_LEVEL, DOUBLE = "Unshared-GTO", "Unshared-TwoLevel", "Unshared-LRR-Double"


def rungs(paper: Paper) -> tuple[Scheme, ...]:
    """The baseline and the optimisations one by one, the full scheme last, at the full percentage."""
    return ladder_schemes(paper.resource, Fraction(paper.full_percent))


def full_scheme(paper: Paper, percent: int) -> Scheme:
    """The papers' full scheme at a sharing percentage."""
    full = replace(rungs(paper)[-1], percent=Fraction(percent))
    return full if percent == paper.full_percent else replace(full, name=f"{full.name}-{percent}")


def release_schemes(paper: Paper) -> tuple[Scheme, Scheme]:
    """The full scheme with the passes that let locks go early, without the marks by which they do, and with them."""
    full = full_scheme(paper, paper.full_percent)
    return prepared(full), with_release(full)


def limited_schemes(paper: Paper) -> tuple[Scheme, ...]:
    """All schemes of an application that the resource limits."""
    return (
        *rungs(paper),
        *(full_scheme(paper, percent) for percent in paper.percents[:-1]),
        Scheme(GTO, "gto"),
        Scheme(TWO_LEVEL, "two_level"),
        Scheme(DOUBLE, settings=paper.double),
        *release_schemes(paper),
    )


def unlimited_schemes(paper: Paper) -> tuple[Scheme, ...]:
    """All schemes of an application of Set-3 (figure 12)."""
    full = full_scheme(paper, paper.full_percent)
    under_lrr = replace(full, name=full.name.replace("OWF", "LRR"), scheduler="lrr")
    under_gto = replace(full, name=full.name.replace("OWF", "GTO"), scheduler="gto")
    return Scheme(BASELINE), under_lrr, Scheme(GTO, "gto"), under_gto, full


def schemes(paper: Paper, application: Application | Unlimited) -> tuple[Scheme, ...]:
    """What is run of an application."""
    return limited_schemes(paper) if isinstance(application, Application) else unlimited_schemes(paper)
