"""Why an instruction without a meaning is refused: what its row of the table says."""

from ptxtool.isa.table import Match


def reason(match: Match) -> str:
    """What to say of a form that has no meaning here."""
    return match.form.refused or "its meaning is not known to the simulator"
