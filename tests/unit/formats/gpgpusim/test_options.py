"""GPGPU-Sim's options: each has one place, and the page lists them."""

import re

from checkout import CHECKOUT

from ptxtool.formats.gpgpusim.options import ALIASES, FIXED, USED, is_unused


def test_every_option_has_one_room() -> None:
    assert not set(USED) & set(FIXED)
    assert set(ALIASES.values()) <= {*USED, *FIXED} | {n for n in ALIASES.values() if is_unused(n)}
    assert not [name for name in (*FIXED, *(n for n in USED if n != "icnt_flit_size")) if is_unused(name)]


def test_the_page_says_what_becomes_of_every_option() -> None:
    page = (CHECKOUT / "docs" / "gpgpusim.md").read_text(encoding="utf-8")
    for name, fixed in FIXED.items():
        refused = " (anything else is refused)" if fixed.refused else ""
        assert f"| `-{name} {fixed.has}` | {fixed.what}{refused} |" in page
    ends = set(re.findall(r"`[-_]?([\w:]+)", page))
    stems = re.findall(r"`-([\w:]+)_\*", page)
    for name in USED:
        assert name in ends or any(name.startswith(stem) for stem in stems), name


def test_options_of_other_purposes_are_unused_as_a_whole() -> None:
    assert is_unused("power_simulation_enabled")
    assert is_unused("gpgpu_ptx_sim_mode")
    assert not is_unused("gpgpu_ptxplus")  # no option of GPGPU-Sim
    assert not is_unused("my_power_simulation_enabled")
