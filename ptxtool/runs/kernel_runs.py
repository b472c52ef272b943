"""Runs of one launch that differ in what the user changes, to be shown side by side. For `page`.

A change is written as `KEY=VALUE,...`, the keys being options of `sim` and `passes`: "gpu=gtx480,scheduler=gto",
"scheme=finereg", "passes=allocate:max-regs=20". A comma that no key follows belongs to the value before it, so that
pipelines are written as everywhere else.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.formats.gpu import machine_of
from ptxtool.formats.launch.launch_file import Launch
from ptxtool.formats.settings import with_settings
from ptxtool.ir.kernel_names import kernel_named
from ptxtool.ir.nodes import Function, Module
from ptxtool.results.kernel_runs import KernelRun, RefusedRun
from ptxtool.results.sweeps import REFUSALS
from ptxtool.runs.launch_runs import run_launch
from ptxtool.runs.scheme_texts import scheme_passes

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions

KEYS = (
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
"""What a change may name; `name` is what the page calls the run."""
_KEY = re.compile(r"(?:^|,)\s*([A-Za-z][\w-]*)\s*=")
FIRST = "baseline"

Rewrite = Callable[[Module, str], Module]
"""Runs a pipeline of passes over a module."""


def read_change(text: str) -> dict[str, str]:
    """The keys and values of one change. Raises E502 for one that cannot be read."""
    starts = [found for found in _KEY.finditer(text) if found[1].replace("_", "-") in KEYS]
    if not starts or starts[0].start():
        word = text.partition("=")[0].strip()
        help = did_you_mean(word, KEYS, then=f"write KEY=VALUE,... with keys of {', '.join(KEYS)}")
        raise error("E502", f"'{text}' changes nothing that a run has", help=help)
    ends = [found.start() for found in starts[1:]] + [len(text)]
    change: dict[str, str] = {}
    for found, end in zip(starts, ends, strict=True):
        key = found[1].replace("_", "-")
        if key in change:
            raise error("E502", f"'{text}' has '{key}' twice", help="a run has one value of each key")
        change[key] = text[found.end() : end].strip()
    return change


def run_kernel(
    kernel: Function,
    launch: Launch,
    options: "LaunchOptions",
    changes: Sequence[Mapping[str, str]],
    rewrite: Rewrite,
    announce: Callable[[str], object] | None = None,
) -> tuple[tuple[KernelRun, ...], tuple[RefusedRun, ...]]:
    """Simulate the launch as `options` say, and then with each change, under measurement of where the time goes.

    The second tuple has the changed runs that a pass or the machine declined. Ends early after an interrupt. Raises
    E502 for values that are none, before the first run, and what passes and the simulator raise.
    """
    found: list[KernelRun] = []
    refused: list[RefusedRun] = []
    options = replace(options, hotspots=True)
    texts: dict[str, Function] = {"": kernel}
    chosen = [(change, _changed(options, change)) for change in ({}, *changes)]
    for change, own in chosen:
        name = change.get("name") or ", ".join(f"{k}={v}" for k, v in change.items()) or FIRST
        different = {k: v for k, v in change.items() if k != "name"}
        if announce is not None:
            announce(name)
        try:
            text = _text(kernel, change.get("passes", ""), own.scheme or "", texts, rewrite)
            run = run_launch(text, launch, own)
        except PtxError as problem:
            if not found or problem.diagnostics[0].code not in REFUSALS:
                raise
            refused.append(RefusedRun(name, different, problem))
            continue
        found.append(KernelRun(name, different, text, run))
        if not run.complete:
            break
    return tuple(found), tuple(refused)


def _text(
    kernel: Function, passes: str, scheme: str, texts: dict[str, Function], rewrite: Rewrite
) -> Function:
    """The kernel after the passes of a run and those that its scheme needs; equal texts are one value."""
    pipelines = passes, scheme_passes([_rewritten(kernel, passes, texts, rewrite)], scheme) if scheme else ""
    return _rewritten(kernel, ",".join(filter(None, pipelines)), texts, rewrite)


def _rewritten(kernel: Function, pipeline: str, texts: dict[str, Function], rewrite: Rewrite) -> Function:
    if pipeline not in texts:
        module = rewrite(kernel.module, pipeline)
        same = [text for text in texts.values() if text.source.text == module.source.text]
        texts[pipeline] = same[0] if same else kernel_named(module, kernel.name)
    return texts[pipeline]


def _changed(options: "LaunchOptions", change: Mapping[str, str]) -> "LaunchOptions":
    """The options of a run with a change. Raises E401 and E502."""
    new: dict[str, Any] = {}
    if "gpu" in change or "set" in change:
        machine = machine_of(change.get("gpu", options.gpu))
        new["gpu"] = with_settings(machine, filter(None, change.get("set", "").split(";")))
    if "scheduler" in change:
        from ptxsim.timing.schedulers import policy

        new["scheduler"] = policy(change["scheduler"]) if change["scheduler"] else None
    if "scheme" in change:
        new["scheme"] = change["scheme"] or None
    for key in ("share-registers", "share-scratchpad"):
        if key in change:
            new[key.replace("-", "_")] = change[key] or "0"
    if "dynamic" in change:
        new["dynamic"] = {"": True, "true": True, "false": False}.get(change["dynamic"], change["dynamic"])
    if "registers" in change:
        if not re.fullmatch(r"[1-9]\d{0,3}", change["registers"]):
            help = "write a whole number, such as registers=32"
            raise error("E502", f"'{change['registers']}' is no number of registers", help=help)
        new["registers"] = int(change["registers"])
    return replace(options, **new)
