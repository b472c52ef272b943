"""Which schemes the papers' tables and figures need, by application.

Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU Performance Through Resource Sharing, HPDC 2016,
section VI; timing-model section 5.
"""

from dataclasses import replace
from fractions import Fraction

from ptxtool.formats.gpu import load_gpu
from ptxtool.runs.parallel.replicas import replica_settings
from ptxtool.runs.schemes import Scheme, ladder_schemes, prepared, with_release
from ptxtool.sweep.reproduction.papers import Application, Paper, Unlimited

BASELINE = "Unshared-LRR"
REPLICAS = 5
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
        *replicas(paper),
        *variant_schemes(paper),
    )


def compared_schemes(paper: Paper) -> tuple[Scheme, Scheme]:
    """The two whose gain is compared on another grid, and over replicas."""
    return Scheme(BASELINE), full_scheme(paper, paper.full_percent)


def factored_schemes(paper: Paper) -> tuple[Scheme, Scheme, Scheme]:
    """Those of the gain and its factors: without sharing, the full scheme's order without sharing, the full scheme."""
    baseline, full = compared_schemes(paper)
    return baseline, full_scheme(paper, 0), full


def variant_schemes(paper: Paper) -> tuple[Scheme, ...]:
    """Those two on the other paper's machine, if the paper has one."""
    if not paper.variant:
        return ()
    return tuple(
        replace(scheme, name=variant_name(scheme.name), settings=paper.variant_settings)
        for scheme in compared_schemes(paper)
    )


def variant_name(scheme: str) -> str:
    """What a run on the other paper's machine is called."""
    return f"{scheme}-Variant"


def replicas(paper: Paper) -> tuple[Scheme, ...]:
    """Those again, on machines that differ in accidents only (`ptxtool.runs.parallel.replicas`)."""
    machine = load_gpu(paper.gpu)
    return tuple(
        replace(
            scheme,
            name=replica_name(scheme.name, number),
            settings=replica_settings(machine, number, REPLICAS),
        )
        for number in range(1, REPLICAS)
        for scheme in compared_schemes(paper)
    )


def replica_name(scheme: str, number: int) -> str:
    """What a run of a replica is called; that of replica 0 is the scheme's."""
    return f"{scheme}-Replica-{number + 1}" if number else scheme


def unlimited_schemes(paper: Paper) -> tuple[Scheme, ...]:
    """All schemes of an application of Set-3 (figure 12), the five of the figure first."""
    full = full_scheme(paper, paper.full_percent)
    under_lrr = replace(full, name=full.name.replace("OWF", "LRR"), scheduler="lrr")
    under_gto = replace(full, name=full.name.replace("OWF", "GTO"), scheduler="gto")
    return Scheme(BASELINE), under_lrr, Scheme(GTO, "gto"), under_gto, full, *variant_schemes(paper)


def schemes(paper: Paper, application: Application | Unlimited) -> tuple[Scheme, ...]:
    """What is run of an application."""
    return limited_schemes(paper) if isinstance(application, Application) else unlimited_schemes(paper)
