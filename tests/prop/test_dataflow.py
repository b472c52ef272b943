"""Properties on random control flow: against naive searches that share no code with what they check."""

from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import ptx

from ptxtool.analysis.flow.liveness import Liveness, liveness
from ptxtool.analysis.flow.loops import loops
from ptxtool.analysis.flow.pressure import pressure
from ptxtool.cfg.blocks import Cfg, build
from ptxtool.cfg.dominance import dominators, post_dominators
from ptxtool.cfg.reconvergence import reconvergence_points
from ptxtool.ir.nodes import Function


@st.composite
def kernels(draw: st.DrawFn) -> Function:
    """A kernel of up to 8 labelled pieces: moves, guarded moves, then a branch, an exit or nothing."""
    n = draw(st.integers(1, 8))
    register = st.integers(0, 5)
    lines: list[str] = []
    for piece in range(n):
        lines.append(f"L{piece}:")
        for _ in range(draw(st.integers(0, 3))):
            guard = draw(st.sampled_from(["", "", "@%p1 "]))
            lines.append(f"{guard}add.s32 %r{draw(register)}, %r{draw(register)}, %r{draw(register)};")
        target = f"L{draw(st.integers(0, n - 1))}"
        end = draw(st.sampled_from(["", "bra", "@%p2 bra", "@%p2 bra", "@%p3 exit", "ret"]))
        if end:
            lines.append(f"{end} {target};" if "bra" in end else f"{end};")
    lines.append("ret;")
    return ptx("\n".join(lines))


@st.composite
def structured(draw: st.DrawFn) -> Function:
    """A kernel of nested if-else statements and loops, as a compiler writes them."""
    register = st.integers(0, 4)
    count = 0

    def add() -> str:
        return f"add.s32 %r{draw(register)}, %r{draw(register)}, %r{draw(register)};"

    def statement(depth: int) -> list[str]:
        nonlocal count
        kind = draw(st.sampled_from(["add", "if", "if-else", "do", "while"])) if depth else "add"
        if kind == "add":
            return [add()]
        count += 1
        here = count
        body = [line for _ in range(draw(st.integers(1, 2))) for line in statement(depth - 1)]
        if kind == "if":
            return [f"@%p1 bra J{here};", *body, f"J{here}:"]
        if kind == "if-else":
            other = statement(depth - 1)
            return [f"@%p1 bra E{here};", *body, f"bra J{here};", f"E{here}:", *other, f"J{here}:"]
        if kind == "do":
            return [f"H{here}:", *body, f"@%p2 bra H{here};"]
        return [f"H{here}:", add(), f"@%p2 bra J{here};", *body, f"bra H{here};", f"J{here}:"]

    lines = [line for _ in range(draw(st.integers(1, 4))) for line in statement(2)]
    return ptx("\n".join([*lines, add(), "ret;"]))


def following(kernel: Function) -> list[set[int]]:
    """Instruction -> instructions that may run next, read off the text alone."""
    n = len(kernel.instructions)
    after: list[set[int]] = []
    for i, instruction in enumerate(kernel.instructions):
        base = instruction.opcode.base
        places: set[int] = set()
        if base == "bra":
            places.add(kernel.labels[kernel.text(i).rstrip(";").split()[-1]])
        if base == "add" or instruction.guard is not None:
            places.add(i + 1)
        after.append({p for p in places if p < n})
    return after


def reads_and_overwrites(kernel: Function, i: int) -> tuple[set[str], set[str]]:
    words = kernel.text(i).replace(",", " ").replace(";", " ").split()
    guard = {words[0].removeprefix("@")} if words[0].startswith("@") else set()
    words = words[1:] if guard else words
    if words[0] != "add.s32":
        return guard, set()
    return guard | set(words[2:]), set() if guard else {words[1]}


def is_live(kernel: Function, after: list[set[int]], register: str, start: int) -> bool:
    """Whether some path from an instruction reads the register before overwriting it: depth-first, by definition."""
    stack, seen = [start], {start}
    while stack:
        i = stack.pop()
        read, overwritten = reads_and_overwrites(kernel, i)
        if register in read:
            return True
        if register not in overwritten:
            stack += [j for j in after[i] if j not in seen]
            seen |= after[i]
    return False


@given(kernels() | structured())
def test_thread_liveness_is_what_a_path_search_finds(kernel: Function) -> None:
    live = liveness(kernel, per="thread")
    after = following(kernel)
    names = [r.name for r in kernel.registers]
    for i in range(len(kernel.instructions)):
        expected = tuple(name for name in names if is_live(kernel, after, name, i))
        assert live.before[i] == expected
        expected = tuple(name for name in names if any(is_live(kernel, after, name, j) for j in after[i]))
        assert live.after[i] == expected


@given(kernels())
def test_liveness_is_a_fixed_point(kernel: Function) -> None:
    live = liveness(kernel, per="thread")
    after = following(kernel)
    for i, step in enumerate(live.def_uses):
        uses = sum(1 << k for k in step.uses)
        kills = sum(1 << k for k in step.kills)
        union = 0
        for j in after[i]:
            union |= live.before_bits[j]
        assert live.after_bits[i] == union
        assert live.before_bits[i] == uses | (union & ~kills)


def simulate_stack(kernel: Function, live: Liveness, choices: list[bool], steps: int) -> None:
    """Walk a warp of two lanes through the kernel with a SIMT stack; check every waiting lane's needs.

    At every step, what any lane still needs per thread (at its own place) must be live per warp where the warp is.
    """
    thread = liveness(kernel, per="thread")
    points = reconvergence_points(kernel)
    n = len(kernel.instructions)
    labels = kernel.labels
    choice = iter(choices)
    # entries: [place, reconvergence place, lanes]
    stack: list[list[object]] = [[0, n, frozenset({0, 1})]]
    for _ in range(steps):
        while stack and (stack[-1][0] == stack[-1][1] or stack[-1][0] == n or not stack[-1][2]):
            stack.pop()
        if not stack:
            return
        top = stack[-1]
        place, lanes = top[0], top[2]
        assert isinstance(place, int)
        assert isinstance(lanes, frozenset)
        for entry in stack:
            assert isinstance(entry[0], int)
            if entry[0] < n and entry[2]:
                needed = thread.before_bits[entry[0]]
                assert needed & ~live.before_bits[place] == 0, (place, entry[0])
        instruction = kernel.instructions[place]
        base = instruction.opcode.base
        if base == "bra":
            target = labels[kernel.text(place).rstrip(";").split()[-1]]
            if instruction.guard is None:
                top[0] = target
                continue
            taken = frozenset(lane for lane in lanes if next(choice, False))
            if taken in (lanes, frozenset()):
                top[0] = target if taken else place + 1
                continue
            rejoin = points[place]
            top[0] = rejoin
            sides = [[target, rejoin, taken], [place + 1, rejoin, lanes - taken]]
            if next(choice, False):
                sides.reverse()
            stack += sides
        elif base in ("exit", "ret"):
            leaving = frozenset(lane for lane in lanes if instruction.guard is None or next(choice, False))
            for entry in stack:
                assert isinstance(entry[2], frozenset)
                entry[2] = entry[2] - leaving
            top[0] = place + 1
        else:
            top[0] = place + 1


@settings(max_examples=300)
@given(kernels() | structured(), st.lists(st.booleans(), max_size=40))
def test_warp_liveness_covers_every_waiting_lane_of_a_simt_stack(
    kernel: Function, choices: list[bool]
) -> None:
    simulate_stack(kernel, liveness(kernel), choices, steps=120)


@given(kernels())
def test_warp_liveness_contains_thread_liveness_and_only_registers_of_some_thread(kernel: Function) -> None:
    warp, thread = liveness(kernel), liveness(kernel, per="thread")
    anywhere = 0
    for bits in thread.before_bits:
        anywhere |= bits
    for i in range(len(kernel.instructions)):
        assert thread.before_bits[i] & ~warp.before_bits[i] == 0
        assert warp.before_bits[i] & ~anywhere == 0


@given(kernels())
def test_pressure_counts_the_live_sets(kernel: Function) -> None:
    live = liveness(kernel)
    found = pressure(kernel)
    weight = {r.name: r.units for r in kernel.registers}
    assert found.curve == tuple(sum(weight[name] for name in names) for names in live.before)
    assert found.predicates == tuple(sum(name.startswith("%p") for name in names) for names in live.before)


def reaches(cfg: Cfg, start: int, goal: int, without: int) -> bool:
    """Whether a path leads from start to goal that does not touch a block."""
    if without in (start, goal):
        return False
    stack, seen = [start], {start}
    while stack:
        block = stack.pop()
        if block == goal:
            return True
        for successor in cfg.successors[block]:
            if successor not in seen and successor != without:
                seen.add(successor)
                stack.append(successor)
    return False


@given(kernels())
def test_dominators_by_definition(kernel: Function) -> None:
    cfg = build(kernel)
    tree = dominators(cfg)
    reachable = [b for b in range(len(cfg.blocks) + 1) if reaches(cfg, cfg.entry, b, without=-1)]
    for a in range(len(cfg.blocks) + 1):
        for b in range(len(cfg.blocks) + 1):
            expected = a in reachable and b in reachable and not reaches(cfg, cfg.entry, b, without=a)
            assert tree.dominates(a, b) == expected, (a, b)


@given(kernels())
def test_post_dominators_by_definition_where_every_path_can_end(kernel: Function) -> None:
    cfg = build(kernel)
    blocks = range(len(cfg.blocks) + 1)
    if not all(reaches(cfg, b, cfg.exit, without=-1) for b in blocks):
        return
    tree = post_dominators(cfg)
    for a in blocks:
        for b in blocks:
            assert tree.dominates(a, b) == (not reaches(cfg, b, cfg.exit, without=a)), (a, b)


@given(kernels())
def test_every_guarded_branch_rejoins_somewhere_behind_both_sides(kernel: Function) -> None:
    cfg = build(kernel)
    points = reconvergence_points(kernel)
    guarded = {i for i, x in enumerate(kernel.instructions) if x.guard is not None and x.opcode.base == "bra"}
    assert set(points) == guarded
    for i, point in points.items():
        goal = cfg.exit if point == len(kernel.instructions) else cfg.block_of[point]
        assert cfg.start_of(goal) == point
        # no way to the end around it
        assert goal == cfg.exit or not reaches(cfg, cfg.block_of[i], cfg.exit, without=goal)


@given(kernels())
def test_loops_are_entered_at_their_header_only(kernel: Function) -> None:
    found = loops(kernel)
    cfg = found.cfg
    reachable = set(cfg.reverse_postorder)
    for loop in found.loops:
        for block in loop.blocks - {loop.header}:
            assert all(p in loop.blocks for p in cfg.predecessors[block] if p in reachable)
        for latch in loop.latches:
            assert loop.header in cfg.successors[latch]
        if loop.parent is not None:
            assert loop.blocks < found.loops[loop.parent].blocks
    # every cycle is either in a loop or closed by an irreducible edge
    if not found.loops and not found.irreducible:
        for block in reachable:
            assert not any(reaches(cfg, s, block, without=-1) for s in cfg.successors[block])


@given(kernels())
def test_the_same_kernel_gives_the_same_text(kernel: Function) -> None:
    again = ptx_again(kernel)
    assert str(liveness(kernel)) == str(liveness(again))
    assert str(build(kernel)) == str(build(again))


def ptx_again(kernel: Function) -> Function:
    from ptxtool.parse import parse

    return parse(kernel.source.text).kernels["k"]
