"""The names of the checks, and what is set before a checked run begins."""

import numpy as np
import pytest
from small_lowering import GPU, PTX, PTXPLUS, kernel

from ptxsim.lowering.lower import lower
from ptxsim.memory_image.image import MemoryImage
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.prepare import Checks, check_flags, check_names, in_lockstep
from ptxtool.base.diag import PtxError

ALL = state.MEMORY | state.INIT | state.RACES | state.BARRIERS


def built(body: str, text: str = PTX, flags: int = ALL, n_ctas: int = 1) -> Checks:
    function = kernel(body, text)
    program = lower(function, GPU)
    image = MemoryImage.build(program, function, GPU, [np.zeros(4, np.uint8), 1], warp_slots=1)
    return Checks.build(function, program, image, 1, flags, n_ctas=n_ctas)


def test_checks_by_name() -> None:
    assert check_names("memory, races,") == ("memory", "races")
    assert check_names("all") == check_names(["all"]) == ("memory", "init", "races", "barriers")
    assert check_flags("memory,barriers") == state.MEMORY | state.BARRIERS
    assert check_flags(()) == 0
    with pytest.raises(PtxError, match="did you mean 'races'") as caught:
        check_flags(["race"])
    assert caught.value.diagnostics[0].code == "E502"


@pytest.mark.parametrize(
    ("target", "expected"), [("sm_61", True), ("sm_69", True), ("sm_70", False), ("sm_100a", False)]
)
def test_lanes_run_in_step_before_sm_70(target: str, expected: bool) -> None:
    assert in_lockstep(kernel("ret;", PTX.replace("sm_100a", target))) is expected


def test_lanes_of_ptxplus_run_in_step() -> None:
    assert in_lockstep(kernel("exit;", PTXPLUS))


@pytest.mark.parametrize(
    ("body", "shift"),
    [
        ("ld.shared.u64 %rd1, [%r1];", 2),  # at most 4 bytes
        ("ld.shared.u64 %rd1, [%r1]; st.shared.u16 [%r1], %h1;", 1),
        ("ld.shared.u8 %r1, [%r1]; ld.shared.u32 %r1, [%r1];", 0),
        ("ret;", 2),
    ],
)
def test_granules_are_as_small_as_the_smallest_access(body: str, shift: int) -> None:
    assert built(body).state[0]["granule_shift"] == shift


@pytest.mark.parametrize(
    ("body", "shift"),
    [
        ("ld.shared.u8 %r1, [%r1]; ld.global.u32 %r1, [%rd1];", 2),
        ("ld.shared.u8 %r1, [%r1]; ld.global.u16 %h1, [%rd1];", 1),
        ("ld.u8 %r1, [%rd1];", 0),  # generic: it may be global
    ],
)
def test_granules_of_global_memory_depend_on_accesses_that_may_be_global(body: str, shift: int) -> None:
    assert built(body).state[0]["global_shift"] == shift


def test_global_memory_has_rows_only_for_the_check_of_races() -> None:
    assert built("ret;", flags=ALL & ~state.RACES).state[0]["global_granules"] == 0
    assert built("ret;").state[0]["global_granules"] != 0
    with pytest.raises(PtxError, match=r"E402.*the check of races needs more memory .* 17592186044416 CTAs"):
        built("membar.gl;", n_ctas=1 << 44)


@pytest.mark.parametrize(
    ("body", "n_ctas", "there"),
    [
        ("membar.gl;", 2, True),
        ("st.release.gpu.global.u32 [%rd1], %r1;", 2, True),
        ("membar.gl;", 1, False),
        ("membar.cta;", 2, False),
        ("atom.global.add.u32 %r1, [%rd1], 1; ld.acquire.gpu.global.u32 %r1, [%rd1];", 2, False),
    ],
)
def test_ctas_can_be_ordered_where_there_is_a_release_for_the_grid(
    body: str, n_ctas: int, there: bool
) -> None:
    assert (built(body, n_ctas=n_ctas).state[0]["n_slots"] > 0) == there


def test_locations_of_releases_share_slots_in_a_large_grid() -> None:
    n_ctas = 1 << 18
    assert built("membar.gl;", n_ctas=n_ctas).state[0]["n_slots"] * n_ctas * 4 <= state.SLOT_BYTES


def test_only_a_kernel_with_asynchronous_copies_has_segments() -> None:
    assert built("ret;").state[0]["segments"] == 0
    assert built("cp.async.ca.shared.global [%r1], [%rd1], 8;").state[0]["segments"] != 0


def test_without_checks_no_state_of_a_cta_is_kept() -> None:
    assert built("ret;", flags=0).of_cta == ()
    assert built("ret;").of_cta != ()
