"""The special registers: names, parts, types, and over what their value is the same.

For the parser's checks (a name that is no declared register), the printer and the simulator's lowering. `scope` says
what shares one value: "lane" (differs between the lanes of a warp), "warp", "cta", "sm", "grid" (one value for the
whole launch) or "time" (changes while the kernel runs).

PTXPlus writes the same registers, also with `.0 .1 .2` for `.x .y .z`, and has `%halfclock` of its own.

Reference: PTX ISA, chapter 10 (special registers).
"""

from functools import cache

import msgspec

PART_ALIASES = {"0": "x", "1": "y", "2": "z", "3": "w"}
"""PTXPlus spellings of the parts."""


class SpecialRegister(msgspec.Struct, frozen=True):
    """One special register. `parts` is empty for a scalar; `type` is the type of a part."""

    name: str
    type: str
    scope: str
    parts: tuple[str, ...] = ()

    def has_part(self, part: str) -> bool:
        """Whether `name.part` exists ("" asks for the whole)."""
        return not part or PART_ALIASES.get(part, part) in self.parts


_VECTORS = {
    "lane": "tid",
    "grid": "ntid nctaid nclusterid cluster_nctaid",
    "cta": "ctaid clusterid cluster_ctaid",
}
_SCALARS = {
    ("lane", "u32"): "laneid lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt",
    ("warp", "u32"): "warpid",
    ("cta", "u32"): "cluster_ctarank",
    ("sm", "u32"): "smid",
    ("grid", "u32"): "nwarpid nsmid cluster_nctarank total_smem_size aggr_smem_size dynamic_smem_size",
    ("grid", "u64"): "gridid current_graph_exec",
    ("grid", "pred"): "is_explicit_cluster",
    ("grid", "b32"): "reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap "
    "reserved_smem_offset_0 reserved_smem_offset_1",
    ("time", "u32"): "clock clock_hi halfclock globaltimer_lo globaltimer_hi",
    ("time", "u64"): "clock64 globaltimer",
}
_FAMILIES = (("envreg", 32, "b32", "grid", ""), ("pm", 8, "u32", "time", ""), ("pm", 8, "u64", "time", "_64"))


@cache
def special_registers() -> dict[str, SpecialRegister]:
    """Every special register by name, `%` included; `WARP_SZ`, a constant, is among them."""
    found = [
        SpecialRegister(f"%{name}", "u32", scope, ("x", "y", "z", "w"))
        for scope, names in _VECTORS.items()
        for name in names.split()
    ]
    for (scope, type_), names in _SCALARS.items():
        found += [SpecialRegister(f"%{name}", type_, scope) for name in names.split()]
    for name, count, type_, scope, suffix in _FAMILIES:
        found += [SpecialRegister(f"%{name}{i}{suffix}", type_, scope) for i in range(count)]
    found.append(SpecialRegister("WARP_SZ", "u32", "grid"))
    return {register.name: register for register in found}


def special(name: str) -> SpecialRegister | None:
    """The special register of that name (without its part), None if it is none."""
    return special_registers().get(name)
