"""The kernel and the launch that FILE and the options of a command select. For `run`, `sim` and `compare`.

FILE is a kernel's file, a launch file that names one, or a list of recorded launches. The launch comes from a launch
file (the one beside FILE unless `--launch` names another), or from `--grid`, `--block` and an `--arg` for every
parameter (formats/launch/launch_options.py).
"""

from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from ptxtool import api
from ptxtool.base.diag import error
from ptxtool.cli.common import (
    F,
    allow_outside_option,
    allows_outside,
    launch_option,
    load_launch,
    load_module,
    one_kernel_option,
    out_of_bounds_option,
)
from ptxtool.cli.completion import complete_file
from ptxtool.cli.outputs import reads

if TYPE_CHECKING:
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.formats.launch.launch_recording import LaunchRecording
    from ptxtool.ir.nodes import Function, Module


@dataclass(frozen=True)
class Job:
    """The values of the options that `job_options` adds."""

    file: str
    launch_file: str | None
    grid: str | None
    block: str | None
    args: tuple[str, ...]
    constants: tuple[str, ...]
    dynamic_shared: int
    kernel: str | None
    stack_bytes: int | None
    heap_bytes: int | None
    out_of_bounds: Literal["error", "count"] | None

    def load(self, semantics: str | None) -> "tuple[Function, Launch]":
        """The kernel and its launch, with `semantics` of PTXPlus if they are not those of the launch file. Raises E501,
        E502 (for a list of launches too), E205, and what is wrong with the kernel's file."""
        from ptxtool.formats.launch.launch_steps import only_one

        module, launch = self.load_any(semantics)
        return self.kernel_of(module, only_one(launch)), launch

    @property
    def has_launch(self) -> bool:
        """Whether there is a launch: a file, one beside FILE, or options."""
        from ptxtool.formats.files import STDIN, find_input, launch_beside

        if self.launch_file or self.grid or self.args or self.constants:
            return True
        if self.file == STDIN:
            return False
        path = find_input(self.file)
        return path.suffix == ".toml" or launch_beside(path) is not None

    def kernel_of(self, module: "Module", launch: "Launch") -> "Function":
        """The kernel of one launch. Raises E205."""
        return api.kernel(module, self.kernel or launch.kernel)

    def recording(self) -> "LaunchRecording | None":
        """The list of recorded launches that FILE is; None for anything else. Raises E501 and E502."""
        from ptxtool.formats.files import find_input

        path = find_input(self.file)
        if path.suffix != ".toml" or not path.exists():
            return None
        reads(path, "launch file")
        found = api.load_recording(path, allow_outside=allows_outside())
        if found is None:
            return None
        of_one: dict[str, Any] = {
            "--launch": self.launch_file,
            "--kernel": self.kernel,
            "--grid": self.grid,
            "--block": self.block,
            "--arg": self.args,
            "--constant": self.constants,
            "--dynamic-shared": self.dynamic_shared,
            "--stack-bytes": self.stack_bytes,
            "--heap-bytes": self.heap_bytes,
        }
        for flag, value in of_one.items():
            if value:
                raise click.UsageError(f"{flag} goes with one launch: '{path}' is a list of recorded ones")
        for each in found.launches:
            reads(each.file, "recorded launch")
        return found

    def load_any(self, semantics: str | None = None) -> "tuple[Module, Launch]":
        """The kernel's file and its launch, or list of launches, with `semantics` of PTXPlus if given."""
        if self.grid or self.block or self.args or self.constants:
            module, launch = self._from_options()
        elif self.dynamic_shared:
            raise click.UsageError("--dynamic-shared goes with --grid and --block")
        else:
            module, launch = self._from_file()
        if launch.steps and self.kernel:
            raise click.UsageError("--kernel goes with one launch: the launch file has a list")
        return module, replace(
            launch,
            stack_bytes=launch.stack_bytes if self.stack_bytes is None else self.stack_bytes,
            heap_bytes=launch.heap_bytes if self.heap_bytes is None else self.heap_bytes,
            out_of_bounds=self.out_of_bounds or launch.out_of_bounds,
            ptxplus_semantics=semantics or launch.ptxplus_semantics,
        )

    def _from_options(self) -> "tuple[Module, Launch]":
        from ptxtool.formats.launch.launch_options import launch_from_options

        if self.launch_file is not None:
            raise click.UsageError("give --launch, or --grid, --block and --arg, not both")
        if not self.grid or not self.block:
            raise click.UsageError("--grid, --block and --arg go together")
        function = api.kernel(load_module(self.file), self.kernel)
        launch = launch_from_options(
            function, self.grid, self.block, self.args, self.dynamic_shared, constants=self.constants
        )
        for read in launch.files:
            reads(read, "file of an argument")
        return function.module, launch

    def _from_file(self) -> "tuple[Module, Launch]":
        from ptxtool.formats.files import LAUNCH_NAME, STDIN, find_input, launch_beside

        path = find_input(self.file)
        if path.suffix == ".toml":
            if self.launch_file is not None:
                raise click.UsageError("FILE is a launch file already: leave out --launch")
            launch = load_launch(path)
            source = str(launch.file or _only_kernel_file(path))
        else:
            beside = None if self.file == STDIN else launch_beside(path)
            if self.launch_file is None and beside is None:
                raw = api.load(self.file)  # a file that cannot be read is reported first
                raise error(
                    "E501",
                    f"no launch file for '{raw.source.name}'",
                    help=f"give --grid, --block and an --arg for each parameter; or --launch FILE, or a {LAUNCH_NAME} "
                    "beside the file",
                )
            launch = load_launch(self.launch_file or beside or Path())
            source = self.file
        return load_module(source), launch


def _only_kernel_file(path: Path) -> Path:
    """The kernel file beside a launch file that names none."""
    from ptxtool.formats.files import SUFFIXES

    found = sorted(p for p in path.parent.iterdir() if p.suffix in SUFFIXES) if path.parent.is_dir() else []
    if len(found) == 1:
        return found[0]
    raise error(
        "E502", f"'{path}' does not say which file its kernel is in", help='write file = "NAME" in it'
    )


def job_options(command: F) -> F:
    """FILE and the options of a launch; the command gets their values as `job`."""

    @click.argument("file", metavar="FILE", shell_complete=complete_file)
    @launch_option
    @click.option("--grid", metavar="X,Y,Z", help="CTAs of the grid, instead of a launch file.")
    @click.option("--block", metavar="X,Y,Z", help="Threads of a CTA.")
    @click.option(
        "--arg", "args", metavar="VALUE", multiple=True, help="An argument, in the order of the parameters."
    )
    @click.option(
        "--constant",
        "constants",
        metavar="NAME:VALUE",
        multiple=True,
        help="What a variable of the module holds.",
    )
    @click.option(
        "--dynamic-shared",
        type=click.IntRange(0),
        metavar="N",
        default=0,
        help="Bytes of dynamic shared memory.",
    )
    @allow_outside_option
    @one_kernel_option
    @click.option(
        "--stack-bytes",
        type=click.IntRange(0, 512 << 10),
        metavar="N",
        help="Bytes of a thread's stack for recursion, and for alloca (default: 16384).",
    )
    @click.option(
        "--heap-bytes",
        type=click.IntRange(64, 1 << 31),
        metavar="N",
        help="Bytes of malloc's heap (default: 8388608).",
    )
    @out_of_bounds_option(None)
    @wraps(command)
    def with_job(**given: Any) -> Any:
        job = Job(**{field.name: given.pop(field.name) for field in fields(Job)})
        return command(job=job, **given)

    return with_job  # type: ignore[return-value]
