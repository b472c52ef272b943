"""Where the time goes: kernels whose lost slots are worked out by hand, and the sums on everything else.

One warp on one SM, in a loop whose code is in the instruction cache: what a trip loses at each instruction is the
difference of two trip counts. Distances are those of timing-model sections 1.6, 1.9 and 3.6; the first instruction of
a pair in the I-buffer loses one slot to its fetch (section 1.2), a taken branch that is the second of its pair three.
"""

from typing import Any

import numpy as np
from dynamic_kernel import run as run_pairs
from microkernel import kernel, loop

import ptxsim
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.results.hotspots import Hotspot, Hotspots


def run(text: str | Function, trips: int = 1, grid: int = 1, block: int = 32, **options: Any) -> Hotspots:
    code = kernel(text) if isinstance(text, str) else text
    memory = np.zeros(1 << 16, np.uint32)
    found = ptxsim.launch(code, grid, block, [memory, trips], hotspots=True, **options).hotspots
    assert found is not None
    return found


def per_trip(setup: str, body: str, **options: Any) -> list[tuple[dict[str, int], int]]:
    """What a trip of the loop loses at each instruction of the body, the counter and the branch, and causes."""
    few, many = (run(loop(setup, body), trips, **options).instructions for trips in (4, 12))
    found = []
    for a, b in zip(few, many, strict=True):
        if b.issues > a.issues:
            lost = {name: n - a.reasons.get(name, 0) for name, n in b.reasons.items()}
            found.append(({name: n // 8 for name, n in lost.items() if n}, (b.caused - a.caused) // 8))
            assert all(n % 8 == 0 for n in lost.values())
    return found


def spot(found: Hotspots, text: str) -> Hotspot:
    (one,) = (s for s in found.instructions if s.text.startswith(text))
    return one


COUNTER = ({"fetch": 1}, 9)
BRANCH = ({"alu": 9, "branch": 3}, 0)


def test_a_chain_of_additions_waits_for_the_alu() -> None:
    """L 4, one register: 10 apart. The branch waits as long for the counter, and the first addition for nothing."""
    assert per_trip("", "\tadd.f32 $r1, $r1, 0x3f800000;\n" * 4) == [
        ({}, 9),
        ({"alu": 9}, 8),
        ({"fetch": 1, "alu": 8}, 9),
        ({"alu": 9}, 0),
        COUNTER,
        BRANCH,
    ]


def test_reciprocals_wait_for_the_sfu() -> None:
    """L 8: 14 apart; independent ones 8 apart, because that long one holds the unit (13 do not wait for themselves)."""
    chain = per_trip("", "\trcp.f32 $r1, $r1;\n" * 2)
    assert chain == [({}, 13), ({"sfu": 13}, 0), COUNTER, BRANCH]
    apart = per_trip("", "".join(f"\trcp.f32 $r{k}, $r14;\n" for k in range(1, 14)))
    assert [lost for lost, _ in apart[4:8]] == [{"fetch": 1, "sfu_units": 6}, {"sfu_units": 7}] * 2


def test_loads_wait_where_they_go() -> None:
    """Shared memory 8 apart, L1 hits 4 with an address register."""
    shared = per_trip(
        "\tmov.u32 $ofs1, 0x00000010;", "\tmov.u32 $r1, s[$ofs1+0x0000];\n\tadd.u32 $r2, $r1, $r2;\n"
    )
    assert shared[:2] == [({}, 7), ({"shared": 7}, 0)]
    setup = "\tmov.u32 $r3, s[0x0010];\n"
    hit = per_trip(setup, "\tld.global.u32 $r1, [$r3];\n\tadd.u32 $r2, $r1, $r2;\n")
    assert hit[:2] == [({}, 3), ({"l1": 3}, 0)]


def test_a_miss_is_known_when_l1_has_been_asked() -> None:
    """The access is in L1 four cycles after its issue; what follows is the miss."""
    found = run(
        "\tmov.u32 $r3, s[0x0010];\n\tld.global.u32 $r1, [$r3];\n\tadd.u32 $r2, $r1, $r2;\n"
        "\tld.global.u32 $r4, [$r3];\n\tadd.u32 $r2, $r4, $r2;\n"
    )
    miss, hit = (s for s in found.instructions if s.text.startswith("ld.global"))
    first, second = (s for s in found.instructions if s.text.startswith("add"))
    assert (miss.misses, miss.hits, hit.misses, hit.hits) == (1, 0, 0, 1)
    assert first.reasons["l1"] + first.reasons.get("fetch", 0) == 3
    assert first.reasons["l1_miss"] > 140
    assert "l1_miss" not in second.reasons
    assert miss.caused == first.reasons["l1"] + first.reasons["l1_miss"]


def test_a_load_that_passes_l1_by_is_reported_apart() -> None:
    text = PTX.replace("atom.global.add.u32 %r0, [%d0], 1", "ld.global.cg.u32 %r0, [%d0]")
    text = text.replace("mov.u32 %r1, 5", "mov.u32 %r1, %r0")
    found = run(parse(text).kernels["k"])
    load = spot(found, "ld.global.cg")
    assert (load.memory, load.hits, load.misses) == (1, 0, 0)
    assert spot(found, "mov.u32 %r1").reasons["past_l1"] > 140


def test_bank_conflicts_close_the_port() -> None:
    """Lane n reads word 32 n: the head of the LDST unit is held 32 cycles by each load."""
    setup = "\tcvt.u32.u16 $r1, $r0.lo;\n\tshl.u32 $r1, $r1, 0x00000007;\n\tmov.u32 $ofs1, $r1;\n"
    body = "".join(f"\tmov.u32 $r{k}, s[$ofs1+0x0000];\n" for k in range(2, 14))
    found = per_trip(setup, body, dynamic_shared=4096)
    assert [lost for lost, _ in found[6:12]] == [{"fetch": 1, "bank_conflict": 30}, {"bank_conflict": 31}] * 3
    one = spot(run(setup + "\tmov.u32 $r2, s[$ofs1+0x0000];\n", dynamic_shared=4096), "mov.u32 $r2, s[$ofs1")
    assert (one.memory, one.transactions) == (1, 32)


def test_scattered_loads_close_the_port() -> None:
    """32 lines an instruction, one a cycle."""
    setup = "\tcvt.u32.u16 $r1, $r0.lo;\n\tshl.u32 $r1, $r1, 0x00000007;\n\tadd.u32 $r1, $r1, s[0x0010];\n"
    found = run(setup + "".join(f"\tst.global.u32 [$r1+{4 * k:#x}], $r0;\n" for k in range(12)))
    stores = [s for s in found.instructions if s.text.startswith("st.global")]
    assert all((s.memory, s.transactions, s.transactions_per_access) == (1, 32, 32.0) for s in stores)
    assert stores[-1].reasons["accesses"] > 0
    assert stores[0].caused > 31


def test_a_barrier_is_charged_to_itself() -> None:
    """Warp 0 waits for warp 1, which adds a while first: 20 more additions, 10 cycles each."""

    def lost(additions: int) -> dict[str, int]:
        body = (
            "\t@$p0.equ bra l_wait;\n"
            + "\tadd.u32 $r2, $r2, 0x00000001;\n" * additions
            + "\tl_wait: bar.sync 0x00000000;\n"
        )
        setup = "\tcvt.u32.u16 $r1, $r0.lo;\n\tand.b32 $p0|$o127, $r1, 0x00000020;"
        return per_trip(setup, body, block=64)[additions + 1][0]

    assert lost(40)["barrier"] - lost(20)["barrier"] == 200


def test_divergence_is_counted_where_it_happens() -> None:
    text = (
        "\tcvt.u32.u16 $r1, $r0.lo;\n\tand.b32 $p0|$o127, $r1, 0x00000001;\n\t@$p0.ne bra l_odd;\n"
        "\tadd.u32 $r2, $r2, 0x00000001;\n\tl_odd: add.f32 $r3, $r3, $r2;\n\t@$p0.ne mov.u32 $r4, $r3;\n"
    )
    found = run(text)
    assert [s.divergent for s in found.instructions] == [0, 0, 1, 0, 0, 0, 0]
    assert [(s.active, s.lanes) for s in found.instructions] == [
        (32, 32),
        (32, 32),
        (32, 16),
        (16, 16),
        (32, 32),
        (32, 16),
        (32, 32),
    ]


def test_locks_are_charged_as_the_stall_points_are() -> None:
    """600 registers: one CTA of a warp and its partner; the partner stops at the first shared register."""
    body = "\tmov.u32 $r8, $r0;\n" + "\tadd.u32 $r8, $r8, 0x00000001;\n" * 40
    options = {"registers": 600, "share_registers": 99}
    for as_stall, kind in ((False, "scoreboard"), (True, "stall")):
        memory = np.zeros(64, np.uint32)
        result = ptxsim.launch(
            kernel(body), 28, 32, [memory, 1], hotspots=True, lock_as_stall=as_stall, **options
        )
        assert result.hotspots is not None
        (point,) = result.stall_points
        locked = result.hotspots.instructions[point.instruction]
        # both CTAs have one warp, and warps 0 and 1 different schedulers: every cycle of the wait is a slot
        assert locked.reasons["lock"] == point.warp_cycles == result.hotspots.reasons["lock"]
        assert result.hotspots.kind("lock") == kind


def test_what_dynamic_warp_execution_holds_back_is_reported_from_locks() -> None:
    skipped, stepped = (run_pairs(dynamic=True, hotspots=True, event_skip=skip)[0] for skip in (True, False))
    found = skipped.hotspots
    assert found == stepped.hotspots
    held = [s for s in found.instructions if "held" in s.reasons]
    assert held
    assert all(s.text.startswith(("ld.global", "st.global")) for s in held)
    assert found.reasons["lock"] > 0
    assert run_pairs(hotspots=True)[0].hotspots.reasons["held"] == 0


PTX = """.version 3.0
.target sm_20
.address_size 64
.file 1 "/home/me/of mine.cu"
.visible .entry k(.param .u64 a, .param .u32 n)
{
	.reg .u64 %d<2>; .reg .u32 %r<4>;
	.loc 1 7 3
	ld.param.u64 %d0, [a];
	.loc 1 8 0
	atom.global.add.u32 %r0, [%d0], 1;
	mov.u32 %r1, 5;
	st.global.u32 [%d0+64], %r1;
	ld.global.u32 %r3, [%d0+1024];
	.loc 1 0 0
	membar.gl;
	mov.u32 %r2, 5;
	.loc 1 9 1
	st.global.u32 [%d0+4], %r1;
	exit;
}
"""


def test_what_holds_a_warp_back_is_charged() -> None:
    found = run(parse(PTX).kernels["k"])
    assert spot(found, "atom").reasons["atomic"] > 140
    assert spot(found, "membar").reasons["fence"] > 140  # for the load
    assert spot(found, "exit").reasons["exited"] > 100
    assert found.reasons["no_warp"] == found.elsewhere["no_warp"] > 0
    assert [s.cuda for s in found.instructions] == [
        "of mine.cu:7",
        *["of mine.cu:8"] * 4,
        "",
        "",
        *["of mine.cu:9"] * 2,
    ]


def test_a_window_hides_ready_warps() -> None:
    """Four warps of a scheduler, of which it looks at the oldest: the others are ready while that one loads."""
    text = "\tmov.u32 $r3, s[0x0010];\n\tld.global.u32 $r1, [$r3];\n\tadd.u32 $r2, $r1, $r2;\n\tbar.sync 0;\n"
    limited, free = (run(text, block=256, scheduler=name) for name in ("static_limit:1", "gto"))
    assert limited.reasons["window"] > 0
    assert free.reasons["window"] == 0
