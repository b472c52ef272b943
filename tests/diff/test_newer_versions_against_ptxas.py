"""What PTX 9.1 to 9.5 brought, against the assemblers of CUDA 13.1 to 13.5.

Which there are is for `PTXTOOL_ASSEMBLERS` to say (`tests/helpers/assemblers.py`). Each is asked for everything that is
newer than PTX 9.0: it takes what its version has, and no more. The newest says from which version and target on each
form is there, and whether it agrees with `check` a step away from what the rows promise.
"""

import random
from collections import defaultdict

import pytest
from assemblers import assemblers
from form_text import instruction_texts, near_misses
from form_versions import TARGETS, architecture, has_all, needs, questions, version_text
from verdicts import asked, verdicts

from ptxtool.isa.table import Match, table
from ptxtool.isa.targets import FIRST_VERSION, NEWEST

OLDEST = (9, 0)
LIMIT = 16
"""Instructions per form."""
# what ptxas lets pass although nothing can be meant by it, as in test_forms_against_ptxas.py; two orders of a fence
TOO_STRICT = {"asynchronous": 0.06, "warp": 0.12}
TOO_LAX = 0.03


def newer(family: str, limit: int = LIMIT) -> list[tuple[str, Match]]:
    """Instructions of a family that came after PTX 9.0."""
    return [
        (text, match)
        for forms in table().forms.values()
        for form in forms
        if form.family == family and any(s.version > OLDEST for s in form.since.values())
        for text, match in instruction_texts(form, limit=limit)
        if needs(match)[0] > OLDEST
    ]


FAMILIES = [family for family in sorted(table().titles) if newer(family, 1)]


def program_of(version: tuple[int, int]) -> str:
    found = assemblers().get(version)
    if found is None:
        pytest.skip(f"needs the assembler of PTX {version_text(version)} in PTXTOOL_ASSEMBLERS")
    return found


def target_of(match: Match, version: tuple[int, int]) -> str | None:
    """The first target that has an instruction and that an assembler of a version knows."""
    wanted = needs(match)[1]
    known = (t for t in TARGETS if FIRST_VERSION[t] <= version and "101" not in t)
    return next(
        (t for t in known if int("".join(filter(str.isdecimal, t))) >= 75 and has_all(t, wanted)), None
    )


@pytest.mark.parametrize("version", [(9, minor) for minor in range(1, NEWEST[1] + 1)], ids=version_text)
@pytest.mark.parametrize("family", FAMILIES)
def test_an_assembler_takes_what_its_version_has_and_no_more(family: str, version: tuple[int, int]) -> None:
    program = program_of(version)
    by_target: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for text, match in newer(family):
        target = target_of(match, version)
        if target is not None:
            by_target[target].append((text, needs(match)[0] <= version))
    wrong = []
    for target, items in sorted(by_target.items()):
        said = asked([text for text, _ in items], target, version_text(version), program=program)
        for (text, is_there), messages in zip(items, said, strict=True):
            if is_there == bool(messages):
                wrong.append((target, text, messages))
    assert wrong == []


@pytest.mark.parametrize("family", FAMILIES)
def test_forms_are_there_from_their_version_and_target_on(family: str) -> None:
    program = program_of(NEWEST)
    files: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for text, match in newer(family):
        for version, target, expected in questions(match):
            files[version, target].append((text, expected))
    wrong = []
    for (version, target), lines in sorted(files.items()):
        said = asked([text for text, _ in lines], architecture(target), version, target, program)
        for (text, expected), messages in zip(lines, said, strict=True):
            if (expected == "passes") == bool(messages):
                wrong.append((version, target, expected, text, messages))
    assert wrong == []


@pytest.mark.parametrize("family", FAMILIES)
def test_check_takes_what_the_rows_promise_and_agrees_a_step_away(family: str) -> None:
    program, version = program_of(NEWEST), version_text(NEWEST)
    made = [(text, match, target_of(match, NEWEST) or "") for text, match in newer(family)]
    found = verdicts([(text, target) for text, _, target in made], version, program)
    assert [v for v in found if v.ours or v.theirs] == []
    rng = random.Random(family)
    items = [(near, target) for text, match, target in made for near in near_misses(text, match, rng)]
    results = verdicts(rng.sample(items, min(len(items), 800)), version, program)
    too_strict = [v for v in results if v.ours and not v.theirs]
    too_lax = [v for v in results if v.theirs and not v.ours]
    assert len(too_strict) <= TOO_STRICT.get(family, 0.03) * len(results), too_strict[:20]
    assert len(too_lax) <= TOO_LAX * len(results), too_lax[:20]
