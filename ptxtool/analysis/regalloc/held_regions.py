"""Where warps hold extended registers: the instructions between acquire and release marks.

For `split-registers`. A thread has `base` registers of its own, and holds more inside of regions only. A place is open
if at most `base` units are live there: between two instructions, or at the edges into a block, where a warp can acquire
or release. The held instructions are the least set H with

* demand: instruction i is in H if more than `base` units are live before it, or between its reads and its writes' end;
* places that are not open: what precedes and follows them is in H, or neither is;
* edges: the instructions that end blocks with a common successor, and whether a warp holds on entry to that successor,
  agree, so that a mark is never needed on an edge;
* short gaps: in a block, so few instructions between two of H are in H as well;
* divergence: where lanes wait with values in extended registers, at the other sides of a divergent branch or where its
  lanes rejoin, no path from the branch to there may release: if the branch is in H, or lanes rejoin inside of a region,
  all instructions between are in H.

It does not exist where H has an instruction at which a warp waits for others, or leaves: a barrier, a call, an exit.

Reference: F. Khorasani et al., "RegMutex: inter-warp GPU register time-sharing", ISCA 2018.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ptxtool.analysis.flow.branch_sides import Split
from ptxtool.analysis.flow.uniformity import uniformity
from ptxtool.base.bits import from_indices
from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.nodes import Function
from ptxtool.isa.table import table

_WAITING = frozenset({"barrier", "call", "return", "exit"})


class MustNotHold(Exception):
    """With that base a warp would hold extended registers at an instruction where it must not."""

    def __init__(self, instruction: int):
        super().__init__(instruction)
        self.instruction = instruction


@dataclass(frozen=True)
class HeldRegions:
    """Per instruction the number of its region, -1 outside. Regions that an edge connects are one.

    `acquires` has the instructions that an acquire mark belongs before, `releases` those of release marks, each with
    its region.
    """

    region: tuple[int, ...]
    acquires: dict[int, int]
    releases: dict[int, int]


def never_held(function: Function) -> frozenset[int]:
    """The instructions at which a warp may hold no extended registers: it waits there for other warps, or leaves."""
    found: set[int] = set()
    for i, node in enumerate(function.instructions):
        match = table().match(node.opcode.text, len(node.operands), function.registers.is_ptxplus)
        is_exit = match is not None and (
            "exit" in match.modifiers or not _WAITING.isdisjoint(match.form.effects)
        )
        if is_exit or node.opcode.base == "mbarrier":
            found.add(i)
    return frozenset(found)


class RegionFinder:
    """The held regions of one function, whatever the base. `demand` are the units in use at each of its points."""

    def __init__(self, cfg: Cfg, demand: Sequence[int], gap: int):
        """`gap`: the most instructions of a block between two held ones that are held as well."""
        self._cfg, self._demand, self._gap = cfg, demand, gap
        self._never = never_held(cfg.kernel)
        found = uniformity(cfg.kernel)
        splits = found.sides.different(found.divergent)
        self._splits = [(split, _between(split, found.sides.reaching)) for split in splits]
        self._joints = _joints(cfg)

    def regions(self, base: int) -> HeldRegions:
        """The regions where more than `base` units are live. Raises `MustNotHold`."""
        search = _Search(self._cfg, self._joints, [n > base for n in self._demand])
        while True:
            before = search.n_held
            for block in self._cfg.blocks:
                search.close_places(block.index)
                search.fill_gaps(block.index, self._gap, self._never)
            search.agree()
            for split, blocks in self._splits:
                if search.held[split.instruction] or search.enters(split.rejoin):
                    search.hold(i for b in blocks for i in self._cfg.blocks[b].instructions)
            if search.n_held == before:
                break
        for i in sorted(self._never):
            if search.held[i]:
                raise MustNotHold(i)
        if search.enters(self._cfg.exit) or search.enters(self._cfg.entry):
            raise MustNotHold(len(self._cfg.kernel.instructions) - 1)
        return search.result()


def _between(split: Split, reaching: Sequence[int]) -> list[int]:
    """The blocks that lanes may run after a branch before they rejoin."""
    own = from_indices(split.numbers)
    return [block for block, sides in enumerate(reaching[:-1]) if sides & own]


def _joints(cfg: Cfg) -> list[int]:
    """Per block and virtual exit the number of the edges into it: edges from blocks with a common successor are one."""
    joint = [*range(cfg.exit + 1)]

    def find(block: int) -> int:
        while joint[block] != block:
            joint[block] = joint[joint[block]]
            block = joint[block]
        return block

    for successors in cfg.successors[: cfg.exit]:
        for one in successors[1:]:
            joint[find(one)] = find(successors[0])
    return [find(block) for block in range(cfg.exit + 1)]


class _Search:
    """The held instructions so far, and the joints at which warps hold."""

    def __init__(self, cfg: Cfg, joints: Sequence[int], is_crowded: Sequence[bool]):
        self._cfg, self._joints = cfg, joints
        n = len(cfg.kernel.instructions)
        self._is_closed = is_crowded[::2]
        """Per instruction, whether the place before it is not open."""
        self.held = [is_crowded[2 * i] or is_crowded[2 * i + 1] for i in range(n)]
        self._joint_holds = [False] * (cfg.exit + 1)
        self.n_held = sum(self.held)

    def enters(self, block: int) -> bool:
        """Whether a warp holds on the edges into a block."""
        return self._joint_holds[self._joints[block]]

    def hold(self, instructions: Iterable[int]) -> None:
        for i in instructions:
            self.n_held += not self.held[i]
            self.held[i] = True

    def _hold_joint(self, joint: int) -> None:
        self.n_held += not self._joint_holds[joint]
        self._joint_holds[joint] = True

    def close_places(self, block: int) -> None:
        """Hold on both sides of every place of a block that is not open, if on one."""
        start, end = self._cfg.blocks[block].start, self._cfg.blocks[block].end
        if self._is_closed[start]:
            self._hold_joint(self._joints[block])
        for i in range(end - 1, start, -1):
            if self._is_closed[i]:
                self.hold((i - 1,))

    def fill_gaps(self, block: int, gap: int, never: frozenset[int]) -> None:
        last = -1
        for i in self._cfg.blocks[block].instructions:
            if not self.held[i]:
                continue
            between = range(last + 1, i)
            if last >= 0 and 0 < len(between) <= gap and never.isdisjoint(between):
                self.hold(between)
            last = i

    def agree(self) -> None:
        """Hold at the ends of all blocks with a common successor, and on the edges into it, if at one."""
        blocks = self._cfg.blocks
        for block in blocks:
            if self.held[block.last]:
                self._hold_joint(self._joints[self._cfg.successors[block.index][0]])
        for block in blocks:
            if self._joint_holds[self._joints[self._cfg.successors[block.index][0]]]:
                self.hold((block.last,))

    def result(self) -> HeldRegions:
        """The regions by number, and the places of the marks."""
        cfg, held = self._cfg, self.held
        n = len(held)
        # runs of held instructions in a block, connected by the joints at which warps hold: numbers from n on
        label = [*range(n + cfg.exit + 1)]

        def find(k: int) -> int:
            while label[k] != k:
                label[k] = label[label[k]]
                k = label[k]
            return k

        acquires: dict[int, int] = {}
        releases: dict[int, int] = {}
        for block in cfg.blocks:
            before = n + self._joints[block.index] if self.enters(block.index) else -1
            for i in block.instructions:
                if held[i] and before >= 0:
                    label[find(i)] = find(before)
                elif held[i]:
                    acquires[i] = i
                elif before >= 0:
                    releases[i] = before
                before = i if held[i] else -1
            if before >= 0:
                label[find(n + self._joints[cfg.successors[block.index][0]])] = find(before)
        numbers: dict[int, int] = {}

        def number(k: int) -> int:
            return numbers.setdefault(find(k), len(numbers))

        region = tuple(number(i) if held[i] else -1 for i in range(n))
        places = ({i: number(k) for i, k in some.items()} for some in (acquires, releases))
        return HeldRegions(region, *places)
