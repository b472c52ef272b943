"""Junctions change no result: kernels with shared lists of targets, against their graphs with all edges."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import ptx

from ptxtool.analysis.flow.liveness import live_registers
from ptxtool.analysis.flow.loops import loops_of
from ptxtool.analysis.regalloc.live_ranges import ranges_of
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.dominance import dominators, post_dominators
from ptxtool.cfg.reconvergence import points_of
from ptxtool.ir.nodes import Function


def kernel_of(random: Random) -> Function:
    """Blocks that branch to lists of each other, to one of them, or go on, some under a guard."""
    n = random.randint(2, 9)
    lists = [random.sample(range(n), random.randint(1, n)) for _ in range(2)]
    lines = [f"t{k}: .branchtargets {', '.join(f'L{x}' for x in one)};" for k, one in enumerate(lists)]
    for block in range(n):
        lines.append(f"L{block}:")
        a, b, c = (random.randrange(5) for _ in range(3))
        lines += random.sample(
            [f"add.u32 %r{a}, %r{b}, %r{c};", f"@%p0 mov.u32 %r{b}, 1;"], random.randrange(3)
        )
        to = random.choice(
            (f"brx.idx %r{c}, t{a % 2};", f"brx.idx %r{c}, t{b % 2};", f"bra L{random.randrange(n)};")
        )
        lines += [random.choice(("", "@%p1 ")) + to] * random.randrange(2)
    return ptx("\n".join([*lines, "ret;"]))


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_graph_with_junctions_is_the_graph_with_all_edges(random: Random) -> None:
    kernel = kernel_of(random)
    cfg = build(kernel)
    full = Cfg(kernel, cfg.blocks, cfg.edges, (), cfg.flows)
    assert full.successors == cfg.successors
    assert [*map(sorted, full.predecessors)] == [*map(sorted, cfg.predecessors)]
    assert full.reverse_postorder == cfg.reverse_postorder
    assert {b for b in range(cfg.exit) if cfg.exit in full.successors[b]} == {
        b for b in cfg.before_exit if b < cfg.exit
    }
    assert dominators(full) == dominators(cfg)
    assert post_dominators(full) == post_dominators(cfg)
    assert points_of(full) == points_of(cfg)
    assert str(loops_of(full)) == str(loops_of(cfg))
    one, other = live_registers(full, kernel.def_uses), live_registers(cfg, kernel.def_uses)
    assert (one.block_in, one.block_out) == (other.block_in, other.block_out)
    webs, others = ranges_of(full), ranges_of(cfg)
    assert (webs.register, [*webs.intervals], [*webs.reads]) == (
        others.register,
        [*others.intervals],
        [*others.reads],
    )
