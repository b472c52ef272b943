"""PTX versions and targets of the rows against ptxas: a form is there from its version on, and not one earlier.

Of every form some instructions go to ptxas three times: in a file of the first version and target that the table
says, where they must pass; of the version before; and for the target before, where ptxas must complain of just that.
Not asked: what came before PTX 2.0 and sm_20.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest
from form_text import instruction_texts
from ptxas import needs_ptxas
from verdicts import asked

from ptxtool.isa.table import Match, table
from ptxtool.isa.targets import FIRST_VERSION, exists, has

LIMIT = 10
"""Instructions per form."""
VERSIONS = [(a, b) for a in range(2, 9) for b in range(9) if exists((a, b))] + [(9, 0)]
TARGETS = sorted(
    (t for t in FIRST_VERSION if int("".join(filter(str.isdecimal, t))) >= 20),
    key=lambda t: (t.endswith("f"), int("".join(filter(str.isdecimal, t))), t),
)
# what ptxas takes in older files than the manual says: nearly all that came with PTX 6.0, and these
TAKEN_EARLIER = re.compile(
    r"cp\.async\.c[ag]\.shared::cta"  # with PTX 7.8
    r"|(tex|tld4).*\], (.*\}, |%[sf]32r\d+, )?%s32r\d+(, %f32r\d+)?;"  # an offset that is no vector
)
# what ptxas takes later than from the first version of the form: on one target, with a modifier left out, with a handle
TAKEN_LATER = {
    r"cvt\..*e[45]m[32]x2": "on sm_89' requires PTX ISA .version 8.1",
    r"tcgen05\.mma.*block_scale[. ](?!scale_vec|block)": "Feature '.block32' requires PTX ISA .version 8.8",
    r"(txq|suq).*\[%u64r": "Feature 'indirect ",
    r"tex\.grad\.a?cube\.v4": "Arguments mismatch for instruction 'st'",  # its own slip
    r"atom\..*add\.noftz.* _, ": "exit code -",  # it dies
}
COMPLAINT = re.compile(r"requires|target|version|support|Illegal rounding modifier")

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
    version, wanted = needs(match)
    fitting = [t for t in TARGETS if has_all(t, wanted)]
    target = next(
        (t for t in fitting if FIRST_VERSION[t] <= version), min(fitting, key=FIRST_VERSION.__getitem__)
    )
    yield _text(max(version, FIRST_VERSION[target])), target, "passes"
    earlier = [v for v in VERSIONS if v < version]
    if earlier and FIRST_VERSION[target] <= earlier[-1] and version != (6, 0):
        yield _text(earlier[-1]), target, "version"
    lacking = [t for t in TARGETS if t[-1].isdecimal() and not has_all(t, wanted)]
    if lacking:
        yield _text(max(version, FIRST_VERSION[lacking[-1]])), lacking[-1], "target"


def _text(version: tuple[int, int]) -> str:
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


@needs_ptxas
@pytest.mark.parametrize("family", sorted(table().titles))
def test_forms_are_there_from_their_version_and_target_on(family: str) -> None:
    files: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for forms in table().forms.values():
        for form in forms:
            if form.family == family and form.dialect != "ptxplus":
                for text, match in instruction_texts(form, limit=LIMIT):
                    for version, target, expected in questions(match):
                        files[version, target].append((text, expected))
    wrong = []
    for (version, target), lines in sorted(files.items()):
        said = asked([text for text, _ in lines], architecture(target), version, target)
        for (text, expected), messages in zip(lines, said, strict=True):
            if not _as_expected(text, expected, messages):
                wrong.append((version, target, expected, text, messages))
    assert wrong == []


def _as_expected(text: str, expected: str, messages: list[str]) -> bool:
    if expected != "passes":
        return any(map(COMPLAINT.search, messages)) or TAKEN_EARLIER.search(text) is not None
    return not messages or any(
        re.match(form, text) and any(reason in m for m in messages) for form, reason in TAKEN_LATER.items()
    )
