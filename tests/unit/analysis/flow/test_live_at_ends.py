"""Registers live at the ends of blocks, by hand and against the bit sets of `liveness`."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import ptx

from ptxtool.analysis.flow.live_at_ends import live_at_ends
from ptxtool.analysis.flow.liveness import liveness
from ptxtool.base.bits import indices
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.nodes import Function

LOOP = """
    mov.b32 %r1, 0;
    @%p0 bra X;
L:  add.u32 %r1, %r1, %r2;
    setp.lt.u32 %p1, %r1, 5;
    @%p1 bra L;
X:  st.global.u32 [%rd0], %r1;
    ret;
"""


def of_kernel(kernel: Function, cfg: Cfg) -> list[list[int]]:
    """What the instructions of each block read first and overwrite, and the registers live after it."""
    exposed: dict[int, set[int]] = {}
    killed: dict[int, set[int]] = {}
    for block in cfg.blocks:
        for i in block.instructions:
            for k in kernel.def_uses[i].uses:
                if block.index not in killed.get(k, ()):
                    exposed.setdefault(k, set()).add(block.index)
            for k in kernel.def_uses[i].kills:
                killed.setdefault(k, set()).add(block.index)
    return live_at_ends(cfg, exposed, killed)


def test_around_a_loop() -> None:
    kernel = ptx(LOOP)
    live = of_kernel(kernel, build(kernel))
    names = [[kernel.registers.name_of(k) for k in here] for here in live]
    assert names == [["%r1", "%r2", "%rd0"], ["%r1", "%r2", "%rd0"], [], []]  # the last is the exit


def test_a_register_read_at_the_end() -> None:
    """As the results of a function are; it is live where a path without a write leads there."""
    cfg = build(ptx(LOOP))
    assert live_at_ends(cfg, {7: {cfg.exit}}, {7: {1}}) == [[7], [7], [7], []]
    assert live_at_ends(cfg, {7: {cfg.exit}}, {7: {2}}) == [[], [], [7], []]


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_bit_sets_have(random: Random) -> None:
    n = random.randint(1, 8)
    lines = ["ts: .branchtargets L0, L1;", "L1:"] if n == 1 else ["ts: .branchtargets L0, L1;"]
    for block in range(n):
        lines.append(f"L{block}:")
        for _ in range(random.randrange(4)):
            a, b, c = (random.randrange(6) for _ in range(3))
            guard = random.choice(("", "", "@%p0 "))
            lines.append(f"{guard}add.u32 %r{a}, %r{b}, %r{c};")
        lines.append(random.choice((f"bra L{random.randrange(n)};", "brx.idx %r0, ts;", "@%p1 ret;", "")))
    kernel = ptx("\n".join([*lines, "ret;"]))
    live = liveness(kernel, per="thread")
    assert of_kernel(kernel, live.cfg)[: live.cfg.exit] == [[*indices(bits)] for bits in live.block_out]
