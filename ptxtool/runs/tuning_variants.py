"""The variants of a kernel with fewer registers, each made, proved and predicted: for `ptxtool tune`.

    original        allocate; of PTXPlus, which has physical registers, compact
    local           allocate:max-regs=T
    local-shared    allocate:max-regs=T:spill=shared
    demote          the original's pass, demote:registers=T:rule=R, some of the post passes, compact

Demotion has a variant for each register count T that brings another CTA although the slots take shared memory
(`ptxtool.analysis.demotion.targets`), each of the three rules and each combination of three switches, as RegDem
enumerates them. Spilling has those of each T that would bring another CTA without slots. What a pass declines is no
variant; the reason is kept. Many variants are alike: a pass runs once on each text, and each text is predicted once.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 4.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple, get_args

from ptxtool.analysis.demotion.candidates import Rule
from ptxtool.analysis.demotion.predictor import Prediction, predict
from ptxtool.analysis.demotion.targets import DemotionTargets, demotion_targets
from ptxtool.analysis.occupancy.occupancy import Occupancy, occupancy
from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.base.collector import paused_collector
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.passes.context import CtaSize, PassContext
from ptxtool.passes.pipeline import rewrite
from ptxtool.results.tuning import Declined, Method, Variant
from ptxtool.runs.machine_timing import machine_timing

SWITCHES = ("banks", "substitute", "hoist")
"""What demotion may do besides: keep operands in different banks, use several value registers, hoist loads after
redundant ones were dropped."""


@dataclass(frozen=True)
class Enumerated:
    """The variants in the order in which RegDem enumerates them, the original first; what was declined; and why there
    are no more register counts."""

    variants: tuple[Variant, ...]
    declined: tuple[Declined, ...]
    end: str


class Planned(NamedTuple):
    """A variant that is to be made: by which passes, and its part of the enumeration."""

    name: str
    method: Method
    stages: tuple[str, ...]
    target: int | None = None
    rule: str = ""
    switches: Mapping[str, bool] = dict.fromkeys(SWITCHES, False)


Make = Callable[[Sequence[Planned]], list[Variant | Declined]]
"""Makes planned variants, and returns what became of each in their order."""
MakeInParts = Callable[[Sequence[Planned], Make], list[Variant | Declined]]
"""The same by several processes, or by the function given, which makes them in this one."""


class _Description(NamedTuple):
    """What follows from a text, however it was made: the fields of a `Variant` from `text` on."""

    text: str
    registers: int
    shared_bytes: int
    instructions: int
    occupancy: Occupancy
    prediction: Prediction


def enumerate_variants(
    kernel: Function, cta: CtaSize, gpu: Gpu, in_parts: MakeInParts | None = None
) -> Enumerated:
    """All variants of a kernel, with predictions for a machine.

    `in_parts` may make them elsewhere, part by part. Raises what `allocate` raises for the original, E402 where its
    CTAs do not fit, E301 for recursive calls.
    """
    with paused_collector():  # all modules live until the last variant is made
        return _enumerated(kernel, cta, gpu, in_parts)


def make_variants(
    kernel: Function, cta: CtaSize, gpu: Gpu, plans: Sequence[Planned]
) -> list[Variant | Declined]:
    """What becomes of each planned variant."""
    with paused_collector():
        return _Maker(kernel, cta, gpu).made(plans)


def _enumerated(kernel: Function, cta: CtaSize, gpu: Gpu, in_parts: MakeInParts | None) -> Enumerated:
    maker = _Maker(kernel, cta, gpu)
    original = maker.variant(Planned("original", "original", maker.original))
    targets = maker.targets(original)
    plans = list(maker.planned(original, targets))
    found, declined = [original], list[Declined]()
    for each in in_parts(plans, maker.made) if in_parts else maker.made(plans):
        if isinstance(each, Variant):
            found.append(each)
        else:
            declined.append(each)
    best = max(v.occupancy.fraction for v in found)
    first: dict[str, str] = {}
    for k, variant in enumerate(found):
        same_as = first.setdefault(variant.text, variant.name)
        found[k] = replace(
            variant,
            predicted=variant.prediction.bounded(best, gpu.sm.warps),
            predicted_regdem=variant.prediction.relative_to(best),
            same_as="" if same_as == variant.name else same_as,
        )
    return Enumerated(tuple(found), tuple(declined), targets.end)


class _Maker:
    """Makes texts of one kernel: every pass once on each text, everything else once for each text."""

    def __init__(self, kernel: Function, cta: CtaSize, gpu: Gpu):
        self._cta, self._gpu, self._name = cta, gpu, kernel.name
        self._timing = machine_timing(gpu)
        self._context = PassContext(gpu, {kernel.name: cta})
        self._module = kernel.module
        self._alone = without_other_kernels(kernel)
        self._by_text = {self._alone.source.text: self._alone}
        # by the module before, which `_by_text` keeps, and the pass
        self._after: dict[tuple[int, str], Module | PtxError] = {}
        self._described: dict[int, _Description] = {}
        self.is_ptxplus = kernel.module.is_ptxplus
        self.original = ("compact",) if self.is_ptxplus else ("allocate",)
        bound = block_bound(kernel)
        self._threads = f":threads={cta.threads}" if bound is None else ""

    def targets(self, original: Variant) -> DemotionTargets:
        """The register counts that bring another CTA."""
        static = original.shared_bytes - self._dynamic
        return demotion_targets(self._gpu, original.registers, self._cta.threads, static, self._dynamic)

    def spill_targets(self, original: Variant) -> Iterator[int]:
        """The register counts that bring another CTA where no slots take shared memory."""
        unit, resident = self._gpu.sm.register_allocation_unit, original.occupancy.resident_ctas
        for target in range((original.registers - 1) // unit * unit, 0, -unit):
            plan = occupancy(self._gpu, self._cta.threads, target, original.shared_bytes)
            if plan.resident_ctas > resident:
                resident = plan.resident_ctas
                yield target

    def planned(self, original: Variant, targets: DemotionTargets) -> Iterator[Planned]:
        """Every variant but the original."""
        for target in () if self.is_ptxplus else self.spill_targets(original):
            local = f"allocate:max-regs={target}"
            yield Planned(f"local {target}", "local", (local,), target)
            shared = f"{local}:spill=shared{self._threads}"
            yield Planned(f"local-shared {target}", "local-shared", (shared,), target)
        for target in (found.registers for found in targets.targets):
            for rule in get_args(Rule):
                demote = f"demote:registers={target}:rule={rule}{self._threads}"
                for chosen in product((False, True), repeat=len(SWITCHES)):
                    switches = dict(zip(SWITCHES, chosen, strict=True))
                    on = "+".join(name for name, is_on in switches.items() if is_on)
                    name = f"demote {target} {rule}{' ' if on else ''}{on}"
                    stages = (*self.original, demote, *_post_passes(switches))
                    yield Planned(name, "demote", stages, target, rule, switches)

    def made(self, plans: Sequence[Planned]) -> list[Variant | Declined]:
        """What becomes of each planned variant."""
        found: list[Variant | Declined] = []
        for planned in plans:
            try:
                found.append(self.variant(planned))
            except PtxError as problem:
                found.append(Declined(planned.name, problem.diagnostics[0].message))
        return found

    def variant(self, planned: Planned) -> Variant:
        """Make, prove and predict a variant. Raises E301 where a pass declines, E402 where its CTAs do not fit."""
        module = self._alone
        for stage in planned.stages:
            module = self._rewritten(module, stage)
        if id(module) not in self._described:
            self._described[id(module)] = self._describe(module)
        return Variant(
            planned.name,
            planned.method,
            ",".join(planned.stages),
            planned.target,
            planned.rule,
            planned.switches,
            *self._described[id(module)],
        )

    def _describe(self, module: Module) -> _Description:
        kernel = module.kernels[self._name]
        registers = registers_per_thread(kernel)
        shared = _static_shared(kernel) + self._dynamic
        plan = occupancy(self._gpu, self._cta.threads, registers, shared)
        prediction = predict(kernel, self._timing, plan.fraction)
        return _Description(
            self._spliced(module), registers, shared, len(kernel.instructions), plan, prediction
        )

    @property
    def _dynamic(self) -> int:
        """The dynamic bytes that limit the CTAs: some of the simulated machines ignore them."""
        return self._cta.dynamic_shared if self._gpu.dispatch.dynamic_scratchpad == "counted" else 0

    def _rewritten(self, before: Module, stage: str) -> Module:
        """A module after a pass; one object for each text. Raises what the pass raises."""
        key = id(before), stage
        if key not in self._after:
            try:
                after = rewrite(before, stage, context=self._context).module
                self._after[key] = self._by_text.setdefault(after.source.text, after)
            except PtxError as problem:
                self._after[key] = problem
        found = self._after[key]
        if isinstance(found, PtxError):
            raise found
        return found

    def _spliced(self, made: Module) -> str:
        """The text of the whole file with the functions of a made one; other kernels stay as they are."""
        if len(self._module.kernels) == 1:
            return made.source.text
        edits = [
            TextEdit(old.start, old.end, made.source.text[new.start : new.end])
            for name, new in made.functions.items()
            if (old := self._module.functions[name]).body is not None
        ]
        return splice(self._module.source.text, edits)


def _post_passes(switches: Mapping[str, bool]) -> Iterator[str]:
    """What follows `demote`."""
    if switches["substitute"]:
        yield "substitute-demotion-registers"
    if switches["hoist"]:
        yield from ("drop-redundant-demotions", "hoist-demotion-loads")
    yield "compact:banks=true" if switches["banks"] else "compact"


def without_other_kernels(kernel: Function) -> Module:
    """The kernel's module without the bodies of other kernels, which need not fit the same bounds."""
    others = [k for k in kernel.module.kernels.values() if k is not kernel]
    if not others:
        return kernel.module
    edits = [TextEdit(other.start, other.end, "") for other in others]
    source = kernel.module.source
    return parse(splice(source.text, edits), source.name)


def _static_shared(kernel: Function) -> int:
    """The bytes of shared memory of a CTA that the kernel itself declares."""
    from ptxsim.lowering.variable_layout import lay_out

    return lay_out(kernel).static_shared_bytes
