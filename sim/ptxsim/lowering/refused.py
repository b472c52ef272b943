"""Why an instruction without a meaning is refused: the family it belongs to, in words.

What needs machinery that the modelled machine does not have is refused as a whole: bulk copies with their tensor maps,
matrix instructions of warp groups, tensor memory.
"""

from ptxtool.isa.table import Match

_FAMILIES = (
    # beginning of the opcode, what the family is
    ("wgmma", "matrix instructions of warp groups"),
    ("tcgen05", "tensor memory and its instructions"),
    ("cp.async.bulk", "bulk copies (the tensor memory accelerator)"),
    ("cp.reduce.async.bulk", "bulk copies (the tensor memory accelerator)"),
    ("st.bulk", "bulk copies (the tensor memory accelerator)"),
    ("tensormap", "tensor maps"),
    ("fence.proxy.tensormap", "tensor maps"),
    ("clusterlaunchcontrol", "cancelled launches of clusters"),
)


def reason(match: Match) -> str:
    """What to say of a form that has no meaning here."""
    base = match.form.base
    for beginning, family in _FAMILIES:
        if base == beginning or base.startswith((beginning + ".", beginning + "::")):
            return f"{family} are not simulated"
    return "its meaning is not known to the simulator"
