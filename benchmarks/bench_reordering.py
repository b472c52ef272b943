"""Orders of registers and instructions under register sharing, measured on the samples. Prints Markdown tables.

    python benchmarks/bench_reordering.py [--folder DIR] [--share P] [--write] [--only PART] [SAMPLE ...]

For every sample and pipeline: the instructions that a thread is expected to execute before its first shared register
(`ptxtool/analysis/sharing/first_shared.py`), and thread IPC with Shared-OWF
(`ptxtool sim --share-registers P --scheduler owf`). PTX, whose registers are virtual, is compacted first. The number of
registers per thread is the launch file's, or the kernel's own. For samples that use shared memory also thread IPC where
scratchpad is shared, on the machine with 16 KB of it. The part "split" has the samples and percentages at which
`split-tail-ranges` moves a release: cycles with the papers' full scheme, with marks, and with marks after that pass.

`--write` puts the tables into docs/reordering.md.
"""

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "benchmarks"))

from page_tables import put_tables  # noqa: E402

from ptxtool.analysis.occupancy.sharing_plan import percentage, private_part  # noqa: E402
from ptxtool.analysis.regalloc.register_need import registers_per_thread  # noqa: E402
from ptxtool.analysis.sharing.first_shared import ExpectedPath  # noqa: E402
from ptxtool.analysis.sharing.shared_access import shared_accesses  # noqa: E402
from ptxtool.analysis.sharing.shared_layout import shared_layout  # noqa: E402
from ptxtool.base.resources import resource_dir  # noqa: E402
from ptxtool.formats.gpu_names import DEFAULT_GPU  # noqa: E402
from ptxtool.formats.launch.launch_file import Launch, load_launch  # noqa: E402
from ptxtool.ir.marks import release_marks  # noqa: E402
from ptxtool.ir.nodes import Function, Module  # noqa: E402
from ptxtool.parse import parse  # noqa: E402
from ptxtool.passes.pipeline import rewrite  # noqa: E402

PAGE = CHECKOUT / "docs" / "reordering.md"
SHARE = "90"
PIPELINES = {
    "as declared": "",
    "first use": "unroll-decls,reorder-decls",
    "late": "unroll-decls,reorder-decls{{order=late,{options}}}",
    "late, delayed": "unroll-decls,reorder-decls{{order=late,{options},delay=true}},delay-first-use{{{options}}}",
}
SCRATCHPAD_PIPELINES = {
    "shared": "",
    "released": "release-scratchpad{{{options}}}",
    "laid out, released": "layout-shared{{{options}}},release-scratchpad{{{options}}}",
    "hastened": "hoist-last-access{{{options},registers={registers}}}",
    "hastened, released": "hoist-last-access{{{options},registers={registers}}},release-scratchpad{{{options}}}",
}
SCRATCHPAD_GPU = "tesla-c2050-16k"
RELEASED = ",release-registers{{{options}}}"
"""What the simulated table adds to the last pipeline."""
FULL = "unroll-decls,reorder-decls{{order=text}}"
SPLIT = ",split-tail-ranges{{{options}}}"
SHARES = ("40", "50", "60", "70", "80", "90")


@dataclass(frozen=True)
class Sample:
    """A sample's kernel, with physical registers."""

    name: str
    launch: Launch
    module: Module
    share: str

    @property
    def kernel(self) -> Function:
        return self.module.kernels[str(self.launch.kernel)]

    @cached_property
    def registers(self) -> int:
        return self.launch.registers or registers_per_thread(self.kernel)

    @property
    def kernel_uses_shared(self) -> bool:
        return any(shared_accesses(self.kernel)) and self.scratchpad > shared_layout(self.kernel).start

    @property
    def private(self) -> int:
        return private_part(self.registers, percentage(self.share))

    @cached_property
    def scratchpad(self) -> int:
        return shared_layout(self.kernel).bytes + self.launch.dynamic_shared

    def rewritten(self, pipeline: str, resource: str = "registers") -> Function:
        """The kernel after a pipeline."""
        need = self.registers if resource == "registers" else self.scratchpad
        text = pipeline.format(options=f"share={self.share},{resource}={need}", registers=self.registers)
        module = rewrite(self.module, text).module if text else self.module
        return module.kernels[self.kernel.name]

    def expected(self, kernel: Function) -> float:
        """Instructions before the first shared register."""
        return ExpectedPath(kernel).value((1 << self.private) - 1)

    def thread_ipc(self, kernel: Function, resource: str = "", gpu: str = DEFAULT_GPU) -> float:
        """Thread IPC with Shared-OWF; where nothing is shared that of loose round robin."""
        from ptxtool import api

        options = {f"share_{resource}": self.share, "scheduler": "owf"} if resource else {"scheduler": "lrr"}
        run = api.simulate(kernel, self.launch, gpu=gpu, registers=self.registers, **options)
        if run.problems:
            raise SystemExit(f"{self.name}: {run.problems[0]}")
        return run.result.thread_ipc

    @property
    def n_pairs(self) -> int:
        """Pairs of CTAs on an SM at the sample's percentage."""
        from ptxtool import api

        threads = math.prod(self.launch.block)
        plan = api.occupancy(threads, self.registers, self.scratchpad, share_registers=self.share)
        return plan.shared_pairs

    def cycles(self, kernel: Function) -> int:
        """Cycles of all SMs together with Shared-OWF and dynamic warp execution.

        Not those of the launch, which ends with its last SM: which SM gets the last CTA is chance.
        """
        from ptxtool import api

        options = {"share_registers": self.share, "scheduler": "owf", "dynamic": True}
        run = api.simulate(kernel, self.launch, registers=self.registers, **options)
        if run.problems:
            raise SystemExit(f"{self.name}: {run.problems[0]}")
        return run.result.active_cycles


def samples(folder: Path, share: str, names: Sequence[str] = ()) -> list[Sample]:
    """The samples of a folder that launch one kernel, by name."""
    found: list[Sample] = []
    for path in sorted(folder.glob("*/launch.toml")):
        launch = load_launch(path)
        if (names and path.parent.name not in names) or launch.file is None or launch.kernel is None:
            continue
        module = parse(launch.file.read_bytes(), launch.file.name)
        if not module.is_ptxplus:
            module = rewrite(module, "compact").module
        found.append(Sample(path.parent.name, launch, module, share))
    return found


def mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else 1.0


def table(header: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """A Markdown table; all columns but the first are numbers."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *body]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def expected(found: Sequence[Sample]) -> str:
    """A line per sample: instructions before the first shared register."""
    body = [
        (
            sample.name,
            sample.registers,
            sample.private,
            *(f"{sample.expected(sample.rewritten(p)):.4g}" for p in PIPELINES.values()),
        )
        for sample in found
    ]
    return table(("sample", "registers", "private", *PIPELINES), body)


def simulated(found: Sequence[Sample]) -> str:
    """A line per sample: thread IPC without sharing, and the gain of every pipeline with Shared-OWF over it."""
    pipelines = {**PIPELINES, "late, delayed, released": PIPELINES["late, delayed"] + RELEASED}
    return _gains(found, pipelines, "registers", DEFAULT_GPU)


def scratchpad(found: Sequence[Sample]) -> str:
    """The same for shared memory, of the samples that use some."""
    users = [sample for sample in found if sample.kernel_uses_shared]
    return _gains(users, SCRATCHPAD_PIPELINES, "scratchpad", SCRATCHPAD_GPU)


def _gains(found: Sequence[Sample], pipelines: Mapping[str, str], resource: str, gpu: str) -> str:
    body: list[tuple[object, ...]] = []
    gains: dict[str, list[float]] = {name: [] for name in pipelines}
    for sample in found:
        base = sample.thread_ipc(sample.kernel, gpu=gpu)
        row: list[str] = []
        for name, pipeline in pipelines.items():
            gain = sample.thread_ipc(sample.rewritten(pipeline, resource), resource, gpu) / base
            gains[name].append(gain)
            row.append(f"{100 * (gain - 1):+.2f}%")
            print(f"{sample.name}, {name}: {row[-1]}", file=sys.stderr)
        body.append((sample.name, f"{base:.1f}", *row))
    body.append(("geometric mean", "", *(f"{100 * (mean(gains[name]) - 1):+.2f}%" for name in pipelines)))
    return table(("sample", "thread IPC without sharing", *pipelines), body)


def split(found: Sequence[Sample]) -> str:
    """A line per sample and percentage at which the end moves: cycles, and how many less marks make it."""
    body: list[tuple[object, ...]] = []
    for sample, share in ((s, p) for s in found for p in SHARES):
        one = replace(sample, share=share)
        kernels = [one.rewritten(FULL + more) for more in ("", RELEASED, SPLIT + RELEASED)]
        if kernels[1].source.text == kernels[2].source.text or not one.n_pairs:
            continue
        full, released, moved = (one.cycles(kernel) for kernel in kernels)
        lines = (n_after_mark(kernel) for kernel in kernels[1:])
        gains = (f"{100 * (cycles / full - 1):+.2f}%" for cycles in (released, moved))
        body.append((one.name, f"{share}%", one.private, *lines, full, *gains))
        print(*body[-1], file=sys.stderr)
    header = (
        "sample",
        "shared",
        "private",
        "instructions after the mark",
        "after it, split",
        "cycles",
        "released",
    )
    return table((*header, "split and released"), body)


def n_after_mark(kernel: Function) -> int:
    """The instructions of the text after the first release mark."""
    n = len(kernel.instructions)
    return n - min((mark.instruction for mark in release_marks(kernel)), default=n)


def main() -> None:
    makers = {"expected": expected, "simulated": simulated, "scratchpad": scratchpad, "split": split}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("samples", nargs="*", help="names of samples (default: all)")
    parser.add_argument("--folder", type=Path, default=resource_dir("samples"), help="where the samples are")
    parser.add_argument("--share", default=SHARE, help="sharing percentage")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/reordering.md")
    parser.add_argument("--only", choices=tuple(makers), help="one of the tables")
    options = parser.parse_args()
    found = samples(options.folder, options.share, options.samples)
    if not found:
        parser.error(f"no samples in {options.folder}")
    made = {part: make(found) for part, make in makers.items() if options.only in (None, part)}
    if not options.write:
        print("\n\n".join(made.values()))
        return
    put_tables(PAGE, made)


if __name__ == "__main__":
    main()
