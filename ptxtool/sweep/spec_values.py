"""The values of a sweep file's axes: what each must be, checked on its own. For `spec.py`, which adds the place.

Kernels are in `spec_kernels.py`.
"""

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxtool.analysis.occupancy.register_schemes import own_parts, scheme_named
from ptxtool.analysis.occupancy.sharing_plan import percentage
from ptxtool.base.diag import PtxError, error
from ptxtool.formats.gpu import machine_of
from ptxtool.formats.gpu_names import DEFAULT_GPU
from ptxtool.formats.settings import with_settings
from ptxtool.runs.run_values import for_run

if TYPE_CHECKING:
    from ptxtool.passes.own import OwnPass

READ_MORE = "docs/sweep.md has an example of every key"


def value_of(axis: str, given: Any, folder: Path, own: "Mapping[str, OwnPass] | None" = None) -> Any:
    """What a run takes a value for; paths are relative to `folder`. Raises E501, E502, and E302 for pipelines.

    `own` are the user's own passes that pipelines may have, by name.
    """
    return _passes(given, own or {}) if axis == "passes" else _VALUES[axis](given, folder)


def shown(value: Any) -> str:
    """A value as a message quotes it."""
    return json.dumps(value, default=str, ensure_ascii=False)


def gpu_name(given: str, folder: Path) -> str:
    """A packaged machine's name, or the path of a file."""
    is_file = given.endswith((".toml", ".config")) or "/" in given
    return str(folder / given) if is_file else given


def own_name(given: str, folder: Path) -> str:
    """The name of a scheduler or register scheme; of the user's own, FILE.py:FUNCTION, the path as a run has it."""
    return str(folder / given) if ".py:" in given else given


def wrong(what: str, help: str = "") -> PtxError:
    """E502 about a value."""
    return error("E502", what, help=help or READ_MORE)


def _gpu(given: Any, folder: Path) -> str:
    if not isinstance(given, str) or not given or "\0" in given:
        raise wrong(f"{shown(given)} is no GPU", "give names or files in quotes")
    name = gpu_name(given, folder)
    machine_of(name)
    return name


def _set(given: Any, folder: Path) -> tuple[str, ...]:
    settings = given if isinstance(given, list) else [given] if given != "" else []
    if not all(isinstance(each, str) and each for each in settings):
        raise wrong(f"{shown(given)} is no setting", 'such as "sm.count=7", or a list of some')
    with_settings(machine_of(DEFAULT_GPU), settings)
    return tuple(settings)


def _scheduler(given: Any, folder: Path) -> str:
    if not isinstance(given, str) or "\0" in given:
        raise wrong(f"{shown(given)} is no scheduler", "give its name in quotes")
    if not given:
        return ""
    from ptxsim.timing.schedulers import policy
    from ptxsim.timing.schedulers.own import split

    name = str(folder / given) if split(given) else given
    policy(name)
    return name


def _register_scheme(given: Any, folder: Path) -> str:
    if not isinstance(given, str) or "\0" in given:
        raise wrong(f"{shown(given)} is no register scheme", "give its name in quotes")
    if own_parts(given) is None:
        return scheme_named(given).name if given else ""
    from ptxsim.timing.residency.schemes.own import own_scheme

    name = str(folder / given)
    own_scheme(name)
    return name


def _share(axis: str) -> Callable[[Any, Path], Any]:
    def share(given: Any, folder: Path) -> Any:
        if not isinstance(given, int | float | str):
            raise wrong(f"{shown(given)} is no percentage", "such as 90")
        percentage(given, axis)  # type: ignore[arg-type]  # it refuses floats, with advice
        return given

    return share


def _dynamic(given: Any, folder: Path) -> bool | str:
    if not isinstance(given, bool | str) or given == "":
        raise wrong(f"dynamic is {shown(given)}", 'give true, false or options such as "period=500"')
    if isinstance(given, str):
        from ptxsim.timing.dynamic_execution import dynamic_options

        dynamic_options(given)
    return given


def _passes(given: Any, own: "Mapping[str, OwnPass]") -> str:
    if not isinstance(given, str):
        raise wrong(f"{shown(given)} is no pipeline", 'such as "unroll-decls"; "" rewrites nothing')
    if given:
        from ptxtool.passes.syntax import read_stages

        read_stages(for_run(given, Fraction(0), Fraction(0), lambda: 1), own)
    return given


def _registers(given: Any, folder: Path) -> int | None:
    if given == "":
        return None
    if type(given) is not int or given < 1:
        raise wrong(
            f"{shown(given)} is no number of registers",
            'give whole numbers; "" takes the launch file\'s',
        )
    return given


_VALUES: dict[str, Callable[[Any, Path], Any]] = {
    "gpu": _gpu,
    "set": _set,
    "scheduler": _scheduler,
    "register_scheme": _register_scheme,
    "share_registers": _share("share_registers"),
    "share_scratchpad": _share("share_scratchpad"),
    "dynamic": _dynamic,
    "registers": _registers,
}
