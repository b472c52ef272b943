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


def test_cycles_of_ctas() -> None:
    """A grid of one CTA launches it in the first cycle, and ends with it."""
    alone = run("mov.u32 %r1, %r2;", gpu=one_sm(OLD))
    assert alone.cycles - 2 <= alone.cta_cycles <= alone.cycles
    assert alone.resident_average == alone.cta_cycles / alone.cycles
    assert alone.stats["cta_cycles"] == alone.cta_cycles
    # 3 CTAs on 2 of 14 SMs: none on the other SMs
    spread = run("mov.u32 %r1, %r2;", grid=2, gpu=OLD)
    assert spread.resident_average == spread.cta_cycles / (14 * spread.cycles) < 2 / 14


def test_the_average_of_switched_ctas_is_that_of_the_monitor() -> None:
    """Both count from the launch of a CTA to its end, one when CTAs come and go, the other between such cycles."""
    options = {"grid": 700, "trips": 5, "gpu": "gtx980-finereg", "setup": "ld.param.u64 %l2, [p];"}
    load = "ld.global.u32 %r1, [%l2];\n\tadd.u32 %r2, %r1, %r2;"
    for scheme in ("virtual-thread", "finereg"):
        for event_skip in (True, False):
            found = run(load, scheme=scheme, event_skip=event_skip, **options)
            assert found.switching is not None
            assert found.resident_average == found.switching.resident_average > 0
            assert found.switches == found.switching.switches
    assert run(load, **options).switches == 0
