"""What a shell completes: files and samples, kernels of the file on the line, machines, schedulers, passes, commands.

Functions for the `shell_complete` of click's parameters; `docs/completion.md` says how a shell is set up. A completion
must be there before its user has looked up: nothing here imports numba, and kernels are found by a search of
the text, not by parsing it.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_ENTRY = re.compile(rb"\.entry\s+([\w$.]+)")
_LARGEST = 64 << 20
"""Bytes of the largest file that is searched for kernels."""
SCHEDULERS = ("lrr", "gto", "old", "rrr", "two_level:", "static_limit:", "owf", "owf_greedy")
"""Schedulers, those with a number up to it: a test holds them to `ptxsim.timing.schedulers`, which loads numba."""
CHANGE_KEYS = (
    "name",
    "gpu",
    "set",
    "scheduler",
    "scheme",
    "share-registers",
    "share-scratchpad",
    "dynamic",
    "registers",
    "passes",
)
"""Of a run of `page`: a test holds them to `ptxtool.runs.kernel_runs`."""
_FILE_ARGUMENTS = ("file", "before", "after")


def complete_file(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Files; samples where no file begins like this."""
    from ptxtool.formats.files import sample_names

    return _or_files(sample_names(), incomplete)


def complete_path(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Files."""
    return [CompletionItem(incomplete, type="file")]


def complete_gpu(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Packaged machines, else files."""
    from ptxtool.formats.gpu_names import AUTO, gpu_names

    return _beginning((AUTO, *gpu_names()), incomplete) or complete_path(context, parameter, incomplete)


def complete_scheduler(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Schedulers, else files, which may have one."""
    return _beginning(SCHEDULERS, incomplete) or complete_path(context, parameter, incomplete)


def complete_change(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The next key of a run of `page`, or its value where the key has names."""
    from ptxtool.analysis.occupancy.register_schemes import SCHEMES
    from ptxtool.formats.gpu_names import gpu_names

    before, comma, last = incomplete.rpartition(",")
    key, equals, value = last.partition("=")
    if not equals:
        return [CompletionItem(f"{before}{comma}{each}=") for each in CHANGE_KEYS if each.startswith(key)]
    names = {"gpu": gpu_names(), "scheme": [scheme.name for scheme in SCHEMES], "scheduler": SCHEDULERS}.get(
        key, ()
    )
    return [CompletionItem(f"{before}{comma}{key}={name}") for name in names if name.startswith(value)]


def complete_passes(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The last pass of a pipeline."""
    from ptxtool.passes.registry import pass_infos

    before, comma, last = incomplete.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{each.name}", help=each.summary)
        for each in pass_infos()
        if each.name.startswith(last)
    ]


def complete_kernel(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The kernels of the files on the line: by their plain C++ names where these are unique, else as in the text."""
    from ptxtool.base.mangled import shown_name, source_name

    files = [str(context.params[name]) for name in _FILE_ARGUMENTS if context.params.get(name)]
    files += [
        word for word in context.args if not word.startswith("-")
    ]  # where the line ends with the option
    symbols = list(dict.fromkeys(symbol for file in files for symbol in _kernels(file)))
    plain = [source_name(symbol) for symbol in symbols]
    return [
        CompletionItem(text, help=shown_name(symbol))
        for symbol, name in zip(symbols, plain, strict=True)
        if (text := name if plain.count(name) == 1 else symbol).startswith(incomplete)
    ]


def complete_topic(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """What `ptxtool help` shows: pages, commands, passes, codes of diagnostics."""
    from ptxtool.base.diag import CODES
    from ptxtool.formats.pages import topics
    from ptxtool.passes.registry import PASSES

    root = context.find_root().command
    commands = root.list_commands(context) if isinstance(root, click.Group) else []
    return _beginning(dict.fromkeys((*topics(), *commands, *PASSES, *CODES)), incomplete)


def complete_experiment(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The experiments of the papers."""
    from ptxtool.sweep.reproduction.experiments import EXPERIMENTS

    return _beginning(EXPERIMENTS, incomplete)


def complete_command(commands: dict[str, str], incomplete: str) -> list[CompletionItem]:
    """Commands with their summaries; none is imported."""
    return [CompletionItem(name, help=text) for name, text in commands.items() if name.startswith(incomplete)]


def _beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _or_files(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Names, unless nothing is typed yet or a file begins like this: shells complete those."""
    path = Path(incomplete)
    try:
        is_file = any(each.name.startswith(path.name) for each in path.parent.iterdir())
    except (OSError, ValueError):
        is_file = True
    found = [] if is_file or not incomplete else _beginning(names, incomplete)
    return found or [CompletionItem(incomplete, type="file")]


def _kernels(file: str) -> list[str]:
    """The kernels of a file, or of the file that a launch file names; none where it cannot be read."""
    import tomllib

    from ptxtool.formats.files import find_input

    path = find_input(file)
    try:
        if path.suffix == ".toml":
            with path.open("rb") as launch:
                path = path.parent / str(tomllib.load(launch)["file"])
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return []
        return [name.decode() for name in _ENTRY.findall(path.read_bytes())]
    except (OSError, ValueError, KeyError):  # ValueError: no TOML, no UTF-8, a NUL in the name
        return []
