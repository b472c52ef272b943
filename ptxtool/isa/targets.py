"""PTX versions and targets: which there are, since when, and whether a target has what another one introduced.

For the checks of the head of a file and of newer features. `sm_90a` has what its own architecture alone has; `sm_100f`
what its family has (100, 101, 103 and so on); a plain target has what any plain target up to it introduced.

Reference: PTX ISA, sections 11.1.2 (.target) and 13 (release notes); the first versions: ptxas 13.0 to 13.5.
"""

import re

_MINOR = {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8}
"""The last minor version of every finished major version."""
NEWEST = (9, 5)
"""The newest version whose features the instruction table knows; newer ones are taken as they come."""
OPTIONS = frozenset({"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"})
"""What `.target` may say beside an architecture."""

FIRST_VERSION: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("sm_10", "sm_11"), (1, 0)),
    **dict.fromkeys(("sm_12", "sm_13"), (1, 2)),
    **dict.fromkeys(("sm_20", "sm_21"), (2, 0)),
    "sm_30": (3, 0), "sm_32": (4, 0), "sm_35": (3, 1), "sm_37": (4, 1),
    "sm_50": (4, 0), "sm_52": (4, 1), "sm_53": (4, 2),
    **dict.fromkeys(("sm_60", "sm_61", "sm_62"), (5, 0)),
    "sm_70": (5, 1), "sm_72": (6, 1), "sm_75": (6, 3),
    "sm_80": (7, 0), "sm_82": (6, 2), "sm_86": (7, 1), "sm_87": (7, 4), "sm_88": (7, 3), "sm_89": (7, 8),
    "sm_90": (7, 8), "sm_90a": (8, 0),
    **dict.fromkeys(("sm_100", "sm_100a", "sm_101", "sm_101a"), (8, 6)),
    **dict.fromkeys(("sm_120", "sm_120a"), (8, 7)),
    **dict.fromkeys(("sm_100f", "sm_101f", "sm_103", "sm_103a", "sm_103f", "sm_120f"), (8, 8)),
    **dict.fromkeys(("sm_121", "sm_121a", "sm_121f"), (8, 8)),
    **dict.fromkeys(("sm_110", "sm_110a", "sm_110f"), (9, 0)),
    **dict.fromkeys(("sm_107", "sm_107a", "sm_107f"), (9, 4)),
}  # fmt: skip
"""Every target by name, and the PTX version that introduced it."""

_VERSION = re.compile(
    r"\ufeff?(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+\.version\s++([0-9]{1,4})\.([0-9]{1,4})(?![\w.])"
)
_TARGET = re.compile(r"(?:sm|compute)_(\d+)([af]?)")


def exists(version: tuple[int, int]) -> bool:
    """Whether there is such a PTX version, or may be one in the release series of `NEWEST` or after it."""
    major, minor = version
    return version >= (NEWEST[0], 0) or minor <= _MINOR.get(major, -1)


def is_newer(version: tuple[int, int]) -> bool:
    """Whether a PTX version is above the one that the instruction table knows."""
    return version > NEWEST


def is_newer_text(text: str) -> bool:
    """Whether a text begins with a `.version` above the one that the instruction table knows."""
    found = _VERSION.match(text)
    return found is not None and is_newer((int(found[1]), int(found[2])))


def first_version(target: str) -> tuple[int, int] | None:
    """The PTX version that introduced a target (`sm_90`, `compute_90`), None for an unknown one."""
    return FIRST_VERSION.get(target.replace("compute_", "sm_"))


def is_older(target: str, other: str) -> bool:
    """Whether the GPU of a target (`sm_20`) is older than that of another one. Unknown targets are not."""
    have, wanted = (_TARGET.fullmatch(name.replace("compute_", "sm_")) for name in (target, other))
    return have is not None and wanted is not None and int(have[1]) < int(wanted[1])


def has(target: str, wanted: str) -> bool:
    """Whether a target (`sm_90a`) has what `wanted` introduced: "80"; "90a" itself alone; "100f" its family."""
    have, want = _TARGET.fullmatch(target), _TARGET.fullmatch(f"sm_{wanted}")
    if have is None or want is None:
        return False
    number, least = int(have[1]), int(want[1])
    if want[2] == "a":
        return have[2] == "a" and number == least
    if want[2] == "f":
        return have[2] != "" and number // 10 == least // 10 and number >= least
    return number >= least
