"""The options `share` and `registers` of the passes for resource sharing."""

from fractions import Fraction

from ptxtool.analysis.sharing import percentage
from ptxtool.base.diag import error


def required_share(name: str, share: str) -> Fraction:
    """The sharing percentage that a pass was given. Raises E301 where it was given none, E502 for a wrong one."""
    if not share:
        raise error(
            "E301",
            f"{name} needs the sharing percentage",
            help=f"say how much is shared, as the run will: {name}{{share=90}}",
        )
    return percentage(share, f"{name}: share")
