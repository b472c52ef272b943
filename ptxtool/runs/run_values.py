"""Values of a run in its passes: `share=run` is its sharing percentage, `registers=run` its registers per thread.

So one pipeline fits all percentages of a sweep. The percentage is that of the resource which a pass is about, 0 in a
run that does not share it. Where a run has no number of registers, the option is left out, and the passes take the
kernel's own count.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from ptxtool.base.diag import error

if TYPE_CHECKING:
    from ptxtool.formats.launch.launch_file import Launch

_PASS = re.compile(r"([\w-]+)(?:(\s*\{)([^{}]*)\}|((?::[^:={},]*=[^:{},]*)+))")
"""A pass with options in braces, or after colons."""
_FROM_RUN = re.compile(r"\s*(share|registers)\s*=\s*run\s*")


def for_run(
    pipeline: str,
    share_registers: Fraction | str,
    share_scratchpad: Fraction | str,
    registers: Callable[[], int | None],
) -> str:
    """The pipeline of a run with these values. `registers` is called where the pipeline asks for them."""

    def value(name: str, option: str) -> str:
        if option == "registers":
            count = registers()
            return "" if count is None else str(count)
        return str(share_scratchpad if _is_about_scratchpad(name) else share_registers)

    def filled(name: str, settings: list[str]) -> list[str]:
        found: list[str] = []
        for setting in settings:
            from_run = _FROM_RUN.fullmatch(setting)
            if from_run is None:
                found.append(setting)
            elif number := value(name, from_run[1]):
                found.append(f"{from_run[1]}={number}")
        return found

    def replaced(hit: re.Match[str]) -> str:
        name, brace, braced, colons = hit.groups()
        if brace:
            return f"{name}{brace}{','.join(filled(name, braced.split(',')))}}}"
        return ":".join([name, *filled(name, colons[1:].split(":"))])

    return _PASS.sub(replaced, pipeline)


def _is_about_scratchpad(name: str) -> bool:
    """True for the passes for scratchpad sharing: they take its bytes, those for register sharing do not."""
    from ptxtool.passes.registry import find_pass, pass_info

    found = find_pass(name)
    return found is not None and any(option.name == "scratchpad" for option in pass_info(found).options)


def asked_registers(launch: "Launch") -> int | None:
    """The registers per thread of a launch file. Raises E502 for a list of launches that differ in them."""
    for step in launch.steps:
        if step.registers != launch.registers:
            help = "say one number for all launches at the head of the file, or 'registers' in the sweep"
            message = "registers=run for a list of launches with different registers per thread"
            raise error("E502", message, launch.source, *step.place, help)
    return launch.registers
