"""From configurations to tasks: every kernel, launch file, GPU, pass and policy is read and checked, once each.

Policies are warp schedulers and register schemes. Raises all errors before anything runs. Only a pass that declines a
kernel (E301, E303) does not stop the other runs: it is the outcome of the runs with that kernel and pass.

A task's key is a digest of all that its result depends on: the kernel's text after the passes, the launch file and
the files that it names, all keys of the GPU, the options, and the simulator's sources. Names of files are not part of
it, nor is the label: an equal run is the same run.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ptxtool.analysis.occupancy.sharing_plan import percentage
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.settings import with_settings
from ptxtool.results.sweeps import AXES, Configuration, StoredResult, joined
from ptxtool.runs.parallel.replicas import replica
from ptxtool.runs.run_values import asked_registers, for_run
from ptxtool.sweep.run_schemes import RunSchemes
from ptxtool.sweep.run_texts import RunTexts, once
from ptxtool.sweep.task import Task, digest_of, failed
from ptxtool.sweep.version import simulator_version

if TYPE_CHECKING:
    from ptxsim.timing.schedulers.own import OwnName
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.ir.nodes import Function, Module
    from ptxtool.passes.own import OwnPass


@dataclass(frozen=True)
class Planned:
    """A run of the sweep: its configuration and its task. `outcome` is there if it is known without a run."""

    configuration: Configuration
    label: str
    task: Task
    outcome: StoredResult | None = None

    @property
    def key(self) -> str:
        return self.task.key


_READABLE = "give a readable file"

KernelNamed = Callable[["Module", str | None], "Function"]
"""Finds a kernel of a module by its name, the only one for none; raises E205."""


def plan(
    configurations: Iterable[Configuration],
    kernel_named: KernelNamed,
    own: "Mapping[str, OwnPass] | None" = None,
    allow_outside: bool = False,
) -> tuple[Planned, ...]:
    """The tasks of a sweep, in order, whose pipelines may have `own` passes, by name.

    With `allow_outside` launch files may name files outside their folders. Raises all errors of the configurations.
    """
    asked = tuple(configurations)
    labels = labelled(asked)
    planner = _Planner(kernel_named, own or {}, allow_outside)
    before: Configuration | None = None
    problems: dict[Diagnostic, None] = {}
    planned: list[Planned] = []
    for configuration, label in zip(asked, labels, strict=True):
        if planner.has_recorded and before is not None and before.launch is not configuration.launch:
            planner = _Planner(
                kernel_named, own or {}, allow_outside
            )  # frees the contents of a recorded launch
        before = configuration
        try:
            planned.append(planner.planned(configuration, label))
        except PtxError as problem:
            problems |= dict.fromkeys(_placed(each, configuration) for each in problem.diagnostics)
    if problems:
        raise PtxError(problems)
    return tuple(planned)


def _placed(diagnostic: Diagnostic, asked: Configuration) -> Diagnostic:
    """A diagnostic with a place: its own, or where the sweep file names the kernel."""
    if diagnostic.source is not None or asked.origin is None:
        return diagnostic
    source, start, end = asked.origin
    return replace(diagnostic, source=source, start=start, end=end)


def labelled(configurations: Sequence[Configuration]) -> tuple[str, ...]:
    """The label of every run: its own, or else the values of the axes that vary. Raises E502 where two are equal."""
    axes = [configuration.axes for configuration in configurations]
    varying = [
        name for name in AXES if name in ("kernel", "scheme") or len({str(each[name]) for each in axes}) > 1
    ]
    labels = [
        configuration.label or joined({name: each[name] for name in varying})
        for configuration, each in zip(configurations, axes, strict=True)
    ]
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            raise error("E502", f"two runs labelled '{label}'", help="give each run a label of its own")
        seen.add(label)
    return tuple(labels)


class _Planner:
    """Reads every file and makes every kernel once, however many runs have it."""

    def __init__(self, kernel_named: KernelNamed, own: "Mapping[str, OwnPass]", allow_outside: bool) -> None:
        self._kernel_named = kernel_named
        self._texts = RunTexts(kernel_named, own)
        self._schemes = RunSchemes()
        self._allow_outside = allow_outside
        self._kernels: dict[Any, Module] = {}
        self._machines: dict[Any, Gpu] = {}
        self._gpu_digests: dict[int, tuple[Gpu, str]] = {}
        self._schedulers: dict[str, tuple[str, OwnName | None]] = {}
        self._launches: dict[str, _LaunchFile] = {}
        self._launch_values: dict[int, _LaunchFile] = {}
        self._fits: set[Any] = set()

    def planned(self, asked: Configuration, label: str) -> Planned:
        from ptxsim.launch_options import LaunchOptions

        module = once(self._kernels, (str(asked.kernel), asked.text), lambda: _read_kernel(asked))
        file = self._launch(asked, module)
        launch = file.launch
        function = self._function(module, asked.entry or launch.kernel, asked)
        self._check_fit(module, launch, function, asked)
        gpu = self._machine(asked)
        options = _options(asked)
        scheduler, own = self._scheduler(asked, launch, gpu)
        files = dict(file.files)
        if own:
            files[own.file] = digest_of(own.file, _READABLE)
        scheme = self._schemes.on(asked.register_scheme, gpu)
        if scheme.file:
            files[scheme.file] = digest_of(scheme.file, _READABLE)
        passes, digest = _passes(asked, launch), self._gpu_digest(scheme.gpu)
        made = self._texts.made(module, function, launch, passes, scheme.built_in, scheme.gpu, digest)
        outcome = None if made.refusal is None else failed(made.refusal.diagnostics)
        parts = {
            "text": made.text,
            "declined": made.passes if outcome else "",
            "entry": function.name,
            "launch": launch.source.text,
            "files": list(files.values()),
            "gpu": self._gpu_digest(gpu),
            "scheduler": Path(scheduler).name if own else scheduler,
            "options": [[name, str(value)] for name, value in sorted(options.items())],
            "simulator": simulator_version(),
            **({"own_passes": made.code} if made.code else {}),
            **({"remarks": made.remarks} if made.remarks else {}),
        }
        task = Task(
            key=_sha(json.dumps(parts, sort_keys=True).encode()),
            version=simulator_version(),
            label=label,
            kernel_file=module.source.name,
            text=made.text,
            entry=function.name,
            launch_file=launch.source.name,
            launch_text=launch.source.text,
            folder=file.folder,
            files=tuple(files.items()),
            scheduler=scheduler,
            scheduler_path=f"{own.file}:{own.function}:{own.number}" if own else scheduler,
            remarks=made.remarks,
            scheme=asked.register_scheme,
            storage_bits=scheme.storage_bits,
            options=LaunchOptions(gpu=gpu, **options | {"scheme": scheme.option}),
        )
        return Planned(asked, label, task, outcome)

    @property
    def has_recorded(self) -> bool:
        """Whether it has read a launch file with whole memory at fixed addresses."""
        return any(file.launch.is_placed for file in self._launches.values())

    def _function(self, module: "Module", name: str | None, asked: Configuration) -> "Function":
        """The kernel of that name. Raises E205, with advice that names the sweep's key if none was given."""
        from ptxtool.ir.kernel_names import listed

        kernels = module.kernels
        if name is None and len(kernels) > 1:
            ours = 'kernel = "NAME" beside its file here' if asked.origin else "entry of its Configuration"
            help = f"its kernels are {listed(kernels)}; name one: {ours}, or kernel in its launch file"
            raise error("E205", f"several kernels in '{module.source.name}'", help=help)
        return self._kernel_named(module, name)

    def _launch(self, asked: Configuration, module: "Module") -> "_LaunchFile":
        from ptxtool.formats.files import launch_beside

        path = asked.launch
        if path is None and asked.text is None:
            path = launch_beside(Path(module.source.name))
        if path is None:
            help = "name one: launch = FILE (docs/sweep.md)"
            raise error("E501", f"no launch file for '{module.source.name}'", help=help)
        if not isinstance(path, str | Path):
            return once(self._launch_values, id(path), lambda: _launch_file(path))
        return once(self._launches, str(path), lambda: _read_launch(Path(path), self._allow_outside))

    def _check_fit(
        self, module: "Module", launch: "Launch", function: "Function", asked: Configuration
    ) -> None:
        """Raise E401 where arguments do not fit a kernel, E205 for a kernel that is not there."""
        from ptxtool.formats.launch.launch_file import check_arguments
        from ptxtool.formats.launch.launch_steps import launch_of_step

        pair = (id(module), id(launch), function.name)
        if pair in self._fits:
            return
        fits = [(launch, function)]
        if launch.steps:
            steps = dict.fromkeys(launch.steps)
            kernels = [self._function(module, step.kernel or asked.entry, asked) for step in steps]
            fits = [
                (launch_of_step(launch, step, each), each) for step, each in zip(steps, kernels, strict=True)
            ]
        problems = {problem: None for single, each in fits for problem in check_arguments(single, each)}
        if problems:
            raise PtxError(problems)
        self._fits.add(pair)

    def _machine(self, asked: Configuration) -> Gpu:
        if isinstance(asked.gpu, Gpu):
            return replica(with_settings(asked.gpu, asked.settings), asked.replica, asked.replicas)
        where = (str(asked.gpu), asked.settings, asked.replica, asked.replicas)
        return once(
            self._machines,
            where,
            lambda: replica(
                with_settings(machine_of(asked.gpu), asked.settings), asked.replica, asked.replicas
            ),
        )

    def _gpu_digest(self, gpu: Gpu) -> str:
        """The digest of all keys of a machine."""
        if id(gpu) not in self._gpu_digests:
            plain = msgspec.structs.replace(gpu, origin=None, description="")
            self._gpu_digests[id(gpu)] = gpu, _sha(msgspec.json.encode(plain, order="deterministic"))
        return self._gpu_digests[id(gpu)][1]

    def _scheduler(self, asked: Configuration, launch: "Launch", gpu: Gpu) -> "tuple[str, OwnName | None]":
        """The scheduler's name; the parts of a user's own, its file's path absolute. Raises E501, E502."""
        own_choice = launch.scheduler or launch.steps
        where = asked.scheduler or (launch.source.name if own_choice else gpu.scheduler)
        if where not in self._schedulers:
            from ptxsim.timing.schedulers.own import split
            from ptxtool.runs.launch_runs import chosen_policy

            chosen = launch if asked.scheduler else _one_scheduler(launch)
            name = chosen_policy(chosen, gpu, asked.scheduler or None).name
            own = split(name)
            self._schedulers[where] = name, own and replace(own, file=str(Path(own.file).resolve()))
        return self._schedulers[where]


@dataclass(frozen=True)
class _LaunchFile:
    """A launch file that has been read. `files` are the digests of those that it names, by absolute path."""

    folder: str
    files: tuple[tuple[str, str], ...]
    launch: "Launch"


def _read_kernel(asked: Configuration) -> "Module":
    from ptxtool.formats.files import read_input
    from ptxtool.parse import parse
    from ptxtool.sema.verify import verify

    name, data = (str(asked.kernel), asked.text) if asked.text is not None else read_input(asked.kernel)
    module = parse(data, name)
    errors = [problem for problem in verify(module) if problem.is_error]
    if errors:
        raise PtxError(errors)
    return module


def _read_launch(path: Path, allow_outside: bool) -> _LaunchFile:
    from ptxtool.formats.launch.launch_file import load_launch

    return _launch_file(load_launch(path, allow_outside=allow_outside))


def _launch_file(launch: "Launch") -> _LaunchFile:
    files = {
        str(file): digest_of(file, _READABLE) for file in sorted(file.resolve() for file in launch.files)
    }
    folder = Path(launch.source.name).parent.resolve()
    return _LaunchFile(str(folder), tuple(files.items()), launch)


def _one_scheduler(launch: "Launch") -> "Launch":
    """The launch, with the scheduler of its list. Raises E502 where the list has several."""
    if not launch.steps:
        return launch
    first = launch.steps[0]
    other = next((step for step in launch.steps if step.scheduler != first.scheduler), None)
    if other is not None:
        help = "say one for all launches at the head of the file, or 'schedulers' in the sweep"
        message = "a list of launches with different schedulers"
        raise error("E502", message, launch.source, *other.scheduler_place, help)
    return replace(launch, scheduler=first.scheduler, scheduler_place=first.scheduler_place)


def _options(asked: Configuration) -> dict[str, Any]:
    """The options of the launch that differ from their defaults, by their names in the key; and the semantics.

    Raises E502.
    """
    options: dict[str, Any] = {"ptxplus_semantics": asked.ptxplus_semantics}
    shared = {n: p for n in ("share_registers", "share_scratchpad") if (p := _share(asked, n))}
    if len(shared) > 1:
        help = "share the resource that limits the kernel; a sweep leaves combinations out with [[exclude]]"
        raise error("E502", "registers and scratchpad shared at once", help=help)
    if asked.dynamic is not False:
        from ptxsim.timing.dynamic_execution import DynamicExecution, dynamic_options

        if not shared:
            help = "it holds back warps of shared pairs; a sweep leaves combinations out with [[exclude]]"
            raise error("E502", "dynamic warp execution without shared registers", help=help)
        options["dynamic"] = (
            dynamic_options(asked.dynamic) if isinstance(asked.dynamic, str) else DynamicExecution()
        )
    if not asked.allocate:
        options["allocate"] = False
    if asked.hotspots:
        options["hotspots"] = True
    if asked.register_scheme:
        options["scheme"] = Path(asked.register_scheme).name  # of one's own without its folder
    for name in ("registers", "max_cycles"):
        value = getattr(asked, name)
        if value is not None:
            from ptxsim.base.options import whole

            whole(name, value, 1)
            options[name] = value
    return options | shared


def _passes(asked: Configuration, launch: "Launch") -> str:
    """The pipeline, with what the run gives to it."""
    return for_run(
        asked.passes,
        _share(asked, "share_registers"),
        _share(asked, "share_scratchpad"),
        lambda: asked_registers(launch) if asked.registers is None else asked.registers,
    )


def _share(asked: Configuration, name: str) -> Any:
    return percentage(getattr(asked, name), name)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
