"""From which PTX version and target on the table has an instruction, as questions to ptxas.

For tests that ask an assembler the same. Not asked: what came before PTX 2.0 and sm_20.
"""

from collections.abc import Iterator

from ptxtool.isa.table import Match
from ptxtool.isa.targets import FIRST_VERSION, NEWEST, exists, has

VERSIONS = [(a, b) for a in range(2, 10) for b in range(9) if exists((a, b)) and (a, b) <= NEWEST]
TARGETS = sorted(
    (t for t in FIRST_VERSION if int("".join(filter(str.isdecimal, t))) >= 20),
    key=lambda t: (t.endswith("f"), int("".join(filter(str.isdecimal, t))), t),
)

Question = tuple[str, str, str]
"""Version, target, and what is expected there: "passes", "version" or "target"."""


def needs(match: Match) -> tuple[tuple[int, int], list[tuple[str, ...]]]:
    """The first version of a form with its modifiers and types, and the targets of each."""
    words = ["", *match.modifiers, match.type, match.stype, match.utype, match.vtype]
    found = [match.form.since[w] for w in words if w in match.form.since]
    return max((2, 0), *(s.version for s in found)), [s.targets for s in found if s.targets]


def has_all(target: str, wanted: list[tuple[str, ...]]) -> bool:
    return all(any(has(target, w) for w in alternatives) for alternatives in wanted)


def questions(match: Match) -> Iterator[Question]:
    """A version and target where an instruction passes, and one of each where it is too new."""
    version, wanted = needs(match)
    fitting = [t for t in TARGETS if has_all(t, wanted)]
    target = next(
        (t for t in fitting if FIRST_VERSION[t] <= version), min(fitting, key=FIRST_VERSION.__getitem__)
    )
    yield version_text(max(version, FIRST_VERSION[target])), target, "passes"
    earlier = [v for v in VERSIONS if v < version]
    if earlier and FIRST_VERSION[target] <= earlier[-1] and version != (6, 0):
        yield version_text(earlier[-1]), target, "version"
    lacking = [t for t in TARGETS if t[-1].isdecimal() and not has_all(t, wanted)]
    if lacking:
        yield version_text(max(version, FIRST_VERSION[lacking[-1]])), lacking[-1], "target"


def version_text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def architecture(target: str) -> str:
    """One that ptxas still knows, for a target that may be older."""
    if target[-1] in "af":
        return target
    return (
        "sm_75"
        if int(target[3:]) < 75
        else "sm_90a"
        if int(target[3:]) <= 90
        else target.replace("101", "110")
    )
