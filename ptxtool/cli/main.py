"""`ptxtool COMMAND ...`: finds the command, and turns every failure into a message and an exit code.

Commands are modules of this package, `lsp` of one of its own, imported when they are called, so that `ptxtool --help`
imports none of them.
Exit codes: 0 done, 1 diagnostics, 2 usage, 70 our bug, 130 interrupted, 141 standard output was closed.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ptxtool.base.collector import rare_collection
from ptxtool.base.diag import PtxError
from ptxtool.cli import colour
from ptxtool.cli.interrupts import Interrupts
from ptxtool.cli.progress import INTERRUPTED
from ptxtool.cli.streams import (
    ReaderGone,
    flush,
    forget_output,
    print_diagnostics,
    print_error,
    show_sources,
    use_utf8,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

atexit.register(gc.freeze)  # looking for garbage at the end would take a tenth of a short command (measured)

OK, DIAGNOSTICS, USAGE, BUG, BROKEN_PIPE = 0, 1, 2, 70, 141

GROUPS = {
    "Inspect kernels": {
        "check": "Parse and verify files; report every error and warning.",
        "first-use": "Registers in order of first use; where sharing stops first.",
        "live": "Live registers beside every instruction, or as a vector file.",
        "pressure": "Where most registers are live, and which ones.",
        "cfg": "Basic blocks, edges, dominators and reconvergence points.",
        "occupancy": "Resident CTAs and their limiter; with sharing, the plan.",
        "page": "A page to look at: code, live registers, stalls, occupancy, runs.",
    },
    "Change texts and compare them": {
        "rewrite": "Run passes over a file and print the new text.",
        "fmt": "Lay files out canonically, in place.",
        "prove": "Run a kernel before and after it was rewritten; compare the memory.",
        "diff": "What changed between two kernels; for CI, whether it grew.",
        "gate": "Hold kernels to limits and a baseline, for pull requests.",
    },
    "Look up": {
        "isa": "An instruction's forms: modifiers, types, operands, versions.",
        "gpus": "The packaged machines, and every key of one.",
        "samples": "The packaged samples, and how to run one.",
        "overhead": "Storage bits that each sharing scheme adds to a GPU.",
        "help": "List the pages of the documentation by job, or show one.",
    },
    "Run and simulate": {
        "run": "Run one launch without time; print, save and compare its results.",
        "sim": "Simulate one launch and print its counters.",
        "exec": "Run a CUDA application as it is, without a GPU.",
        "compare": "Simulate the papers' ladder of schemes on one kernel.",
        "tune": "Which number of registers pays: variants predicted, simulated, ranked.",
        "reproduce": "Make the papers' tables and figures, ours beside theirs.",
        "sweep": "Make many runs from a file, resumable; tables and charts of them.",
    },
    "Editors": {
        "lsp": "The language server: diagnostics, hover, completion, rename.",
    },
}
"""Every command with its summary, by what it is for, in the order of the help; `module_of` has it."""
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
_WITHOUT_LINEAR_ALGEBRA = frozenset({"occupancy", "pressure", "rewrite"})
"""Commands that import numpy and multiply no matrices: starting OpenBLAS's threads takes 20 ms of CPU (measured)."""


def module_of(command: str) -> str:
    """The module of a command."""
    if command in GROUPS["Editors"]:
        return f"ptxtool.{command}.command"
    folder = "commands.lookup" if command in GROUPS["Look up"] else "commands"
    return f"ptxtool.cli.{folder}.{command.replace('-', '_')}"


class LazyGroup(click.Group):
    """The command group: knows the names, imports a command when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in _WITHOUT_LINEAR_ALGEBRA:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read where numpy is imported first
        command: click.Command = import_module(module_of(cmd_name)).command
        colour.add_option(command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        from ptxtool.cli.completion import complete_command

        return [*complete_command(COMMANDS, incomplete), *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, 1)
            advice = f"Did you mean '{close[0]}'?" if close else f"There are {', '.join(COMMANDS)}."
            ctx.fail(f"No such command '{args[0]}'. {advice}")
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run and exit: no exception but `SystemExit` leaves this function."""
        use_utf8()
        colour.choose("auto")
        show_sources(None)
        try:
            with rare_collection(), Interrupts() as interrupts:
                code = self._run(args, prog_name or "ptxtool", extra, interrupts)
            flush()
        except PtxError as problem:  # standard output cannot be written
            print_diagnostics(problem.diagnostics)
            forget_output()
            code = DIAGNOSTICS
        except ReaderGone:
            forget_output()
            code = BROKEN_PIPE
        sys.exit(code)

    def _run(
        self, args: Sequence[str] | None, prog_name: str, extra: dict[str, Any], interrupts: Interrupts
    ) -> int:
        try:
            result = super().main(args, prog_name, **{**extra, "standalone_mode": False})
        except click.exceptions.Exit as done:
            return done.exit_code
        except click.ClickException as problem:
            problem.show()
            return USAGE
        except PtxError as problem:
            flush()
            print_diagnostics(problem.diagnostics)
            return DIAGNOSTICS
        except (KeyboardInterrupt, click.Abort) as stop:
            if isinstance(stop.__cause__, EOFError):  # click takes it for the end of an interactive input
                return self._bug(stop.__cause__)
            return self._interrupted()
        except ReaderGone:
            raise
        except Exception as bug:
            return self._interrupted() if interrupts.any else self._bug(bug)
        return result if isinstance(result, int) else OK

    def _interrupted(self) -> int:
        print_error("interrupted")
        return INTERRUPTED

    def _bug(self, bug: Exception) -> int:
        """An unexpected exception: print that it is a bug of ptxtool and how to report it."""
        if os.environ.get("PTXTOOL_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        text = str(bug).splitlines()
        print_error(f"internal error: {type(bug).__name__}{': ' + text[0][:200] if text else ''}")
        print_error(
            "this is a bug in ptxtool, not in your input; to report it, run the command again with PTXTOOL_DEBUG=1 "
            "and send what it prints, with the input file"
        )
        return BUG


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="FILE is a PTX or PTXPlus file, - for standard input, or the name of a packaged sample such as sgemm. "
    "Results go to standard output, diagnostics to standard error.",
)
@click.version_option(package_name="ptxtool", message="ptxtool %(version)s")
def main() -> None:
    """Parse, inspect, rewrite and simulate GPU assembly (PTX and PTXPlus)."""


if __name__ == "__main__":
    main()
