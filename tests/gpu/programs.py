"""A program for every row of the instruction table that a GPU has: what `python -m gpu` runs on both sides.

Rows get instructions from the generators of the table walk (walk_kernels.py), or from the file of their family here.
Instructions that share a kernel follow one another in it. Left out, with the reason: PTXPlus, rows without a meaning
in the simulator, and `NOT_MADE`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gpu.asynchronous_rows import asynchronous_items
from gpu.control_rows import control_items
from gpu.tensor_rows import tensor_items
from gpu.texture_rows import texture_items
from gpu.warp_rows import warp_items
from walk_kernels import LANES, Item, arguments, items, kernel_text

import ptxsim.lowering.lower  # noqa: F401 (it fills RULES)
from ptxsim.lowering.builder import RULES
from ptxtool.isa.forms import Form
from ptxtool.isa.table import table
from ptxtool.isa.targets import FIRST_VERSION, has
from ptxtool.parse import parse
from ptxtool.sema.features import feature_problems

BATCH = 40
_BULK = "bulk copies need more than one instruction: tests/programs/test_tiles.py"
_NEWER = "PTX 9.3: tests/hand/mbarrier_newer.ptx"
NOT_MADE = {
    "wgmma": "a warp group's matrices need a descriptor: tests/programs/test_warpgroup.py",
    "tcgen05": "tensor memory needs an allocation by another instruction: tests/hand/tcgen05.ptx",
    "prefetch tensormap": "it needs a tensor map",
    "cp.async.bulk": _BULK,
    "cp.reduce.async.bulk": _BULK,
    "st.bulk": _BULK,
    "tensormap": _BULK,
    "fence.proxy.tensormap::generic": _BULK,
    "clusterlaunchcontrol": "a GPU may grant the request",
    "createpolicy.cvt": "its operand comes from the runtime of CUDA alone",
    "mapa": "programs are launched without clusters",
    "getctarank": "programs are launched without clusters",
    "barrier.cluster": "programs are launched without clusters",
    "mbarrier.arrive shared::cluster": "programs are launched without clusters",
    "mbarrier.arrive_drop shared::cluster": "programs are launched without clusters",
    "mbarrier phase_type::primary": _NEWER,
    "mbarrier phase_type::conditional": _NEWER,
    "mbarrier.init layout::v0": _NEWER,
    "mbarrier.check_layout": _NEWER,
    "multimem": "it needs a multicast object of several GPUs",
    "st.async mmio": "nothing tells a program that it has happened",
    "red.async mmio": "nothing tells a program that it has happened",
    "tex depth": "CUDA makes no textures that compare",
    "tld4 depth": "CUDA makes no textures that compare",
    "tex 2dms": "CUDA makes no textures with samples",
}
"""Rows, by opcode and a modifier or operand, that no program is made for, and why."""
_CRASHES = re.compile(
    r"\.v8\.[busf](8|16) |^atom\..*\.noftz\S* _,|^tex\.grad\.a?cube.*\{%f32r16(, %f32r17)?\}"
)
"""Instructions at which ptxas 13.0 itself ends with a segmentation fault; the driver has the same compiler."""
_BY_HAND = ("cvta", "isspacep", "alloca", "stacksave", "stackrestore")
_REFUSED = ("shared::cluster", "param::func")  # the simulator refuses them


@dataclass(frozen=True)
class Program:
    """Some items in one kernel, for a target and a PTX version."""

    items: tuple[Item, ...]
    target: str
    version: str

    @property
    def text(self) -> str:
        return kernel_text(self.items, self.target, self.version, lanes_meet=False)

    def arguments(self) -> list[Any]:
        """Arrays for pointers, the bytes of a parameter, textures and surfaces, in the order of the parameters.

        The second array takes the results: (lane, item, slot, word).
        """
        return arguments(self.items)


BLOCK = LANES


def rows() -> list[Form]:
    """The rows of PTX that the simulator knows."""
    every = [f for forms in table().forms.values() for f in forms]
    return [f for f in every if f.dialect != "ptxplus" and f.sem in RULES]


def row_name(form: Form) -> str:
    """A row in words: opcode, and its modifiers as the table prints them."""
    groups = ["|".join(g.alternatives) for g in form.groups]
    return " ".join([form.base, *groups])


def row_items(form: Form, limit: int) -> tuple[list[Item], str]:
    """Up to `limit` instructions of a row, or none and the reason."""
    for name, reason in NOT_MADE.items():
        base, _, modifier = name.partition(" ")
        if (form.base == base or form.base.startswith(base + ".")) and (
            not modifier or modifier in _needed_words(form) or modifier in {o.name for o in form.operands}
        ):
            return [], reason
    makers = {
        "warp": warp_items, "tensor": tensor_items, "asynchronous": asynchronous_items, "texture": texture_items,
        "control": control_items,
    }  # fmt: skip
    make = control_items if form.sem in _BY_HAND else makers.get(form.family, items)
    made = [item for item in make(form, limit) if not _is_refused(item)]
    made = made or [item for item in make(form, 8 * limit + 8) if not _is_refused(item)][:limit]
    return made, "" if made else "the simulator refuses what the generator makes"


def _needed_words(form: Form) -> frozenset[str]:
    """A row's modifiers and types. A mask of CTAs may name the program's own, at a generic address."""
    has_mask = form.base.startswith("mbarrier") and any(o.name == "ctas" for o in form.operands)
    return form.words - {"shared::cluster"} if has_mask else form.words


def _is_refused(item: Item) -> bool:
    """What is left to others: other CTAs of a cluster, parameters of functions; and a vector without its elements."""
    if item.match.form.base == "st" and "param" in item.match.modifiers:
        return True
    if item.match.form.base == "mov" and item.match.n > 1 and item.text.count("{") < 2:
        return True
    return any(m in _REFUSED for m in item.match.modifiers) or bool(_CRASHES.search(item.text))


def lacking(made: Sequence[Item], target: str, version: str) -> dict[int, str]:
    """The items that a target or a PTX version lacks or has given up: by number, the reason."""
    module = parse(kernel_text(made, target, version))
    reasons: dict[str, str] = {}
    nodes = [node for function in module.functions.values() for node in function.instructions]
    for problem in feature_problems(module):
        if problem.code in ("W205", "E203"):
            node = next(n for n in nodes if n.start <= problem.start < n.end)
            reasons[node.opcode.text] = problem.message
    if not reasons:
        return {}
    some = re.compile(rf"(?<![\w.])({'|'.join(re.escape(text) for text in reasons)})(?![\w.:])")
    found = {k: some.search(item.body + item.outside) for k, item in enumerate(made)}
    return {k: reasons[hit[1]] for k, hit in found.items() if hit}


def is_there(form: Form, target: str) -> bool:
    """Whether a target has a row, if not with all its modifiers."""
    wanted = form.since[""].targets if "" in form.since else ()
    return not wanted or any(has(target, t) for t in wanted)


def batches(made: Sequence[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """Items that may share a kernel, together; atomics and what ends threads apart."""
    group: list[Item] = []
    for item in made:
        if item.alone:
            yield [item]
            continue
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def newest_target(capability: tuple[int, int]) -> str:
    """The target of a compute capability: with the features of its architecture alone from 9.0 on."""
    number = 10 * capability[0] + capability[1]
    name = f"sm_{number}a" if number >= 90 else f"sm_{number}"
    if name in FIRST_VERSION:
        return name
    known = [int(t[3:]) for t in FIRST_VERSION if t[3:].isdecimal()]
    return f"sm_{max(n for n in known if n <= number)}"
