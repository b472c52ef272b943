"""The report on where the time goes, on a small launch made up by hand."""

from dataclasses import replace

from ptxtool.report.simulations.hotspots import hotspot_parts
from ptxtool.results.hotspots import ISSUED, REASONS, Hotspot, Hotspots, RegisterUse


def table_of(**reasons: int) -> dict[str, int]:
    return {name: reasons.get(name, 0) for name in (ISSUED, *REASONS)}


def spot(i: int, text: str, issues: int, caused: int = 0, **reasons: int) -> Hotspot:
    none = dict.fromkeys(("divergent", "memory", "transactions", "hits", "misses", "pending_hits"), 0)
    return Hotspot(
        i, "k", 10 + i, text, "", issues, 32 * issues, 32 * issues, **none, reasons=reasons, caused=caused
    )


LOAD = replace(
    spot(0, "ld.global.u32 %r1, [%d1];", 8, 30, l1_refuses=10),
    memory=8,
    transactions=20,
    hits=5,
    misses=10,
    pending_hits=5,
)
BRANCH = replace(spot(2, "@%p1 bra L;", 8, branch=4, fetch=4), divergent=2, active=200)
FOUND = Hotspots(
    reasons=table_of(issued=24, l1_refuses=10, l1_miss=30, branch=4, fetch=4, no_warp=28),
    per_sm=(
        table_of(issued=24, l1_refuses=10, l1_miss=10, branch=4, fetch=2),
        table_of(l1_miss=20, fetch=2, no_warp=28),
    ),
    instructions=(LOAD, spot(1, "add.u32 %r2, %r1, 1;", 8, l1_miss=30), BRANCH, spot(3, "trap;", 0)),
    elsewhere={"no_warp": 28},
)


def test_tables() -> None:
    text = "\n".join(map(str, hotspot_parts(FOUND)))
    assert (
        text
        == """\
where the time goes: 100 slots (a scheduler, a cycle), by kind and reason
slots           number  share               least of an SM  most
--------------  ------  -----               --------------  ----
issued              24  24.0%  #######                   0    24
stall               10  10.0%  ###                       0    10
  L1 refuses        10  10.0%  ###                       0    10
idle                36  36.0%  ###########               6    30
  no warp           28  28.0%  ########                  0    28
  branch flush       4   4.0%  #                         0     4
  fetch              4   4.0%  #                         2     2
scoreboard          30  30.0%  #########                10    20
  L1 miss           30  30.0%  #########                10    20

per SM: its slots, and what most of those that did not issue waited for
SM  slots  issued  stall   idle  scoreboard  mostly
--  -----  ------  -----  -----  ----------  --------------------------------------------
 0     50   48.0%  20.0%  12.0%       20.0%  L1 miss 20%, L1 refuses 20%, branch flush 8%
 1     50    0.0%   0.0%  60.0%       40.0%  no warp 56%, L1 miss 40%, fetch 4%

the instructions at which most slots were lost
line  lost  share  waiting for                  instruction
----  ----  -----  ---------------------------  -------------------------
  11    30  30.0%  L1 miss 100%                 add.u32 %r2, %r1, 1;
  10    10  10.0%  L1 refuses 100%              ld.global.u32 %r1, [%d1];
  12     8   8.0%  branch flush 50%, fetch 50%  @%p1 bra L;

k, instruction by instruction
line  issues  lanes  split  acc.  hit  lost         caused  mostly            instruction
----  ------  -----  -----  ----  ---  ----         ------  ----------------  -------------------------
  10       8     32          2.5  25%    10  ##         30  L1 refuses 100%   ld.global.u32 %r1, [%d1];
  11       8     32                      30  #####          L1 miss 100%      add.u32 %r2, %r1, 1;
  12       8     25  25.0%                8  #              branch flush 50%  @%p1 bra L;
1 of its instructions never issued
28 slots (28.0%) without a warp are no instruction's
lanes: active per issue; split: issues that diverged; acc.: accesses per instruction; hit: of loads, in L1 or L1C
lost: slots in which it could not issue, or held its warp back; caused: slots of any that waited for it"""
    )


def test_cuda_lines_have_a_table_of_their_own() -> None:
    placed = replace(
        FOUND,
        instructions=tuple(
            replace(s, cuda=place)
            for s, place in zip(FOUND.instructions, ("a.cu:12", "a.cu:7", "a.cu:12", ""), strict=True)
        ),
    )
    text = "\n".join(map(str, hotspot_parts(placed)))
    assert "\nby line of the CUDA source (.loc)\n" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("a.cu:")]
    assert rows == [
        ["a.cu:7", "8", "30", "30.0%", "L1", "miss", "100%"],
        [
            "a.cu:12",
            "16",
            "18",
            "18.0%",
            "30",
            "L1",
            "refuses",
            "56%,",
            "branch",
            "flush",
            "22%,",
            "fetch",
            "22%",
        ],
    ]


def test_locks_belong_to_the_kind_that_was_asked_for() -> None:
    locked = Hotspots(table_of(lock=5), (table_of(lock=5),), (), {})
    assert locked.kinds(locked.reasons) == {"issued": 0, "stall": 0, "idle": 0, "scoreboard": 5}
    as_stall = replace(locked, lock_as_stall=True)
    assert as_stall.kinds(as_stall.reasons) == {"issued": 0, "stall": 5, "idle": 0, "scoreboard": 0}


def test_the_registers_accessed_come_after_the_sms() -> None:
    used = replace(FOUND, register_use=RegisterUse(1000, 3, 50.0, 25.0, 75.0))
    lines = "\n".join(map(str, hotspot_parts(used))).splitlines()
    (place,) = [k for k, line in enumerate(lines) if line.startswith("registers accessed")]
    assert lines[place] == (
        "registers accessed in 1000 instructions of an SM, of those of its warps: 50.0% (25.0 to 75.0%, 3 times)"
    )
    assert lines[place + 2].startswith("the instructions at which most slots were lost")
    assert "registers accessed" not in "\n".join(map(str, hotspot_parts(FOUND)))
