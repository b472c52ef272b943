"""PTX versions and targets of the rows against ptxas: a form is there from its version on, and not one earlier.

Of every form some instructions go to ptxas three times: in a file of the first version and target that the table
says, where they must pass; of the version before; and for the target before, where ptxas must complain of just that.
Not asked: what came before PTX 2.0 and sm_20; after PTX 9.0: `test_newer_versions_against_ptxas.py`.
"""

import re
from collections import defaultdict

import pytest
from form_text import instruction_texts
from form_versions import architecture, needs, questions
from ptxas import needs_ptxas
from verdicts import asked

from ptxtool.isa.table import table

LIMIT = 10
"""Instructions per form."""
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


@needs_ptxas
@pytest.mark.parametrize("family", sorted(table().titles))
def test_forms_are_there_from_their_version_and_target_on(family: str) -> None:
    files: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for forms in table().forms.values():
        for form in forms:
            if form.family == family and form.dialect != "ptxplus":
                for text, match in instruction_texts(form, limit=LIMIT):
                    for version, target, expected in questions(match) if needs(match)[0] <= (9, 0) else ():
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
