"""Results as pandas data frames, a row per run: what their `to_pandas` returns. Needs pandas."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ptxtool.base.diag import error

if TYPE_CHECKING:
    import pandas


def frame(rows: Iterable[Mapping[str, Any]]) -> "pandas.DataFrame":
    """A data frame with a row per mapping and a column per key, in the order in which keys appear. Raises E502 without
    pandas."""
    try:
        import pandas
    except ImportError:
        help = "pip install 'ptxtool[pandas]'"
        raise error("E502", "a data frame needs pandas, which is not installed", help=help) from None
    return pandas.DataFrame.from_records([dict(row) for row in rows])


def plain(counters: Mapping[str, Any]) -> dict[str, Any]:
    """The single values of a run by name: "cycles", "slots.stall", and those of `stats` as GPGPU-Sim names them."""
    found: dict[str, Any] = {}
    for name, value in counters.items():
        if isinstance(value, str | int | float):
            found[name] = value
        elif isinstance(value, Mapping):
            prefix = "" if name == "stats" else f"{name}."
            inner = {f"{prefix}{k}": v for k, v in value.items() if isinstance(v, str | int | float)}
            found |= {k: v for k, v in inner.items() if k not in found}
    return found
