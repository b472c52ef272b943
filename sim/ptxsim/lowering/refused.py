"""Why an instruction without a meaning is refused: the family it belongs to, in words.

What needs machinery that the modelled machine does not have is refused as a whole, such as some of tensor memory.
"""

from ptxtool.isa.table import Match

_FAMILIES = (
    # beginning of the opcode, what the family is
    ("tcgen05.commit", "commits with a mask of 32 CTAs, or a restriction,"),
    ("cp.async.bulk.tensor", "copies of columns of pixels along W (.im2col::w)"),
    ("cp.async.bulk.prefetch.tensor", "copies of columns of pixels along W (.im2col::w)"),
    ("cp.async.bulk", "bulk copies to masks of 32 CTAs"),
)


def reason(match: Match) -> str:
    """What to say of a form that has no meaning here."""
    base = match.form.base
    for beginning, family in _FAMILIES:
        if base == beginning or base.startswith((beginning + ".", beginning + "::")):
            return f"{family} are not simulated"
    return "its meaning is not known to the simulator"
