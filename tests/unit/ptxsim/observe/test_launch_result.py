"""Counters of a run: slots without issue, cycles of SMs that sleep (timing-model section 4.2)."""

from microkernels.measure import one_sm, run

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"


def test_idle_in_the_wider_sense_is_counted_too() -> None:
    stats = run("add.f32 %f1, %f1, %f2;", trips=20, gpu=one_sm(OLD)).stats
    assert stats["sched_idle_scoreboard"] == stats["sched_w0_idle"] + stats["sched_w0_scoreboard"]
    # one warp: all slots are either these or an issue
    assert stats["sched_idle_scoreboard"] + stats["sched_issued"] == 2 * stats["active_cycles"]


def test_sms_without_work_are_asleep():
    result = run("mov.u32 %r1, %r2;", gpu=NEW)
    assert result.active_cycles == result.cycles - 1  # in the cycle that launches the CTA no SM is active
    counted = run("mov.u32 %r1, %r2;", grid=2, gpu="tesla-c2050")
    assert counted.active_cycles > 2 * counted.cycles - 40
