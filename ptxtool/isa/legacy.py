"""What opcodes mean without saying so for the first targets, sm_10 to sm_13: single precision without subnormals.

There every operation on `.f32` treats subnormal operands and results as zeros of their sign, as `.ftz` does later, and
division without a modifier (PTX before 1.4) is the approximate one. A conversion to 64 bits flushes only since PTX 2.0.

PTXPlus is left alone (docs/ptxplus-semantics.md).

Reference: PTX ISA, sections 9.7.3 and 9.7.6 ("Subnormal numbers", "PTX ISA Notes") and 9.7.9 (cvt).
"""

import re

from msgspec.structs import replace

from ptxtool.isa.table import Match

_FIRST_TARGETS = re.compile(r"(?:sm|compute)_1\d")


def with_defaults(match: Match, version: tuple[int, int], target: str) -> Match:
    """The match with the modifiers that its PTX version and target imply."""
    if not _FIRST_TARGETS.fullmatch(target) or "f32" not in (match.type, match.stype):
        return match
    form = match.form
    if form.sem == "cvt" and version < (2, 0) and match.type in ("f64", "s64", "u64", "b64"):
        return match
    implied = {"ftz"} if "ftz" in form.words or form.until is not None else set()
    if form.sem == "div" and form.until is not None:
        implied.add("approx")
    return replace(match, modifiers=match.modifiers | implied) if implied else match
