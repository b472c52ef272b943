"""Release marks on random programs and real files: sound, as early as can be, and nothing computes otherwise."""

import random
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import corpus_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_ptx.programs import launch, write
from reference.interpreter import run_reference
from reference_kernels import kernels, launch_named
from release_watch import watch
from simt_walks import touch_behind_mark

from ptxtool.analysis.sharing.release_points import may_touch, release_points
from ptxtool.analysis.sharing.shared_access import place, shared_accesses
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.analysis.sharing.shared_registers import private_registers, touches_shared_registers
from ptxtool.cfg.blocks import build
from ptxtool.ir.edit import splice
from ptxtool.ir.marks import REGISTERS, release_marks
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.sharing.marks import put_marks
from ptxtool.validate.marks import check_marks, unsound_marks

few = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
seeds = st.integers(0, 1 << 32)


def program(seed: int) -> Module:
    return parse(write(random.Random(seed)), f"{seed}.ptx")


def some_touches(kernel: Function, seed: int) -> tuple[bool, ...]:
    """A few touches anywhere, most of them in the first half."""
    chance = random.Random(seed)
    n = len(kernel.instructions)
    chosen = {int(n * chance.random() * chance.choice((0.5, 1))) for _ in range(chance.randint(1, 4))}
    return tuple(i in chosen for i in range(n))


def marked(kernel: Function, at: tuple[int, ...]) -> Function:
    text = splice(kernel.source.text, put_marks(kernel, REGISTERS, at))
    return parse(text, kernel.source.name).kernels[kernel.name]


@few
@given(seeds)
def test_points_are_where_a_search_of_paths_finds_them(seed: int) -> None:
    kernel = program(seed).kernels["k"]
    touches = some_touches(kernel, seed)
    may = may_touch(kernel, touches)
    everywhere = marked(kernel, tuple(range(len(may))))
    early = {d.start for d in unsound_marks(everywhere, REGISTERS, lambda _: touches)}
    unsound = {m.instruction for m in release_marks(everywhere) if m.statement.start in early}
    assert unsound == {i for i, m in enumerate(may) if m}


@few
@given(seeds)
def test_no_warp_touches_anything_behind_a_mark(seed: int) -> None:
    kernel = program(seed).kernels["k"]
    touches = some_touches(kernel, seed)
    assert touch_behind_mark(kernel, touches, release_points(kernel, touches), seed) is None


@pytest.mark.parametrize("path", corpus_files()[::7], ids=lambda p: p.name)
def test_corpus(path: Path) -> None:
    module = parse(path.read_bytes(), path.name)
    for kernel in module.kernels.values():
        if len(kernel.instructions) > 3000:
            continue
        touches = some_touches(kernel, 1)
        points = release_points(kernel, touches)
        after = marked(kernel, points)
        assert [m.instruction for m in release_marks(after)] == list(points)

        def touched(
            k: Function, name: str = kernel.name, known: tuple[bool, ...] = touches
        ) -> tuple[bool, ...]:
            return known if k.name == name else (False,) * len(k.instructions)

        assert check_marks(module, after.module, REGISTERS, touched) == ()
        if all(flow.calls is None for flow in build(kernel).flows.values()):
            assert touch_behind_mark(kernel, touches, points, 1, n_walks=5) is None


PASSES = ("release-registers{{share={share},registers={registers}}}", "release-scratchpad{{share={share}}}")


def released(module: Module, share: int, registers: int) -> Module:
    pipeline = ",".join(PASSES).format(share=share, registers=registers)
    after = rewrite(module, pipeline).module
    assert rewrite(after, pipeline).module is after, "not idempotent"
    return after


def shared_registers(kernel: Function, share: int, registers: int) -> tuple[bool, ...]:
    return touches_shared_registers(kernel, private_registers(kernel, Fraction(share), registers))


@settings(few, max_examples=4)
@given(seeds, st.sampled_from([50, 90]), st.sampled_from([20, 80, 200]))
def test_runs_touch_nothing_behind_a_mark(seed: int, share: int, registers: int) -> None:
    """The memory is the same, and the interpreter sees no warp break its word."""
    module = program(seed)
    kernel = released(module, share, registers).kernels["k"]
    expected, _ = launch(module, run_reference)  # not compiled: NaNs may have other bits there
    with watch(kernel, shared_registers(kernel, share, registers)) as observed:
        found, _ = launch(kernel.module, run_reference)
    assert found == expected
    boundary = shared_layout(kernel).boundary(Fraction(share))
    assert observed.after_registers == set()
    assert {(i, end) for i, end in observed.after_scratchpad if end > boundary} == set()


@pytest.mark.parametrize("name", ["lavamd_f32", "srad1", "nw_diag"])
def test_reference_kernels_touch_nothing_behind_a_mark(shared: Path, name: str) -> None:
    one = launch_named(shared, name)
    kernel = kernels(shared).kernels[name]
    percent = 50
    after = released(kernel.module, percent, 24).kernels[name]
    arguments, _ = one.arguments()
    grid, block = one.data["grid"], one.data["block"]
    with watch(after, shared_registers(after, percent, 24)) as observed:
        run_reference(
            after, grid, block, arguments, one.data["dynamic_shared_bytes"], one.constants(), ctas=[(0, 0, 0)]
        )
    layout, accesses = shared_layout(after), shared_accesses(after)
    boundary = layout.boundary(Fraction(percent))
    assert observed.after_registers == set()
    assert {(i, end) for i, end in observed.after_scratchpad if end > boundary} == set()
    assert observed.reached
    for i, (low, end) in observed.reached.items():
        places = [place(layout, access) for access in accesses[i]]
        assert min(first for first, _ in places) <= low
        assert any(last is None or end <= last for _, last in places)
