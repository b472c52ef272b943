"""Single keys of a machine changed by hand: `pipeline.bank_conflicts=false`. For `--set`, the API and benchmarks.

A setting is a dotted key of a GPU file and a value as TOML writes it (`2`, `true`, `[6, 7]`); a word that is no TOML is
text. The machine's name then says what was changed, so that no result passes for the machine's own.
"""

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_names import DEFAULT_GPU

_NOT_SET = ("name", "description", "origin", "units")
"""How a machine is called and where it was read is no part of it; what the LDST unit executes is fixed."""


def with_settings(gpu: Gpu, settings: Iterable[str]) -> Gpu:
    """The same machine with these keys changed (KEY=VALUE each; of a key the last one counts). Raises E502."""
    shown: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise error(
                "E502", f"setting '{setting}' is no KEY=VALUE", help="such as pipeline.bank_conflicts=false"
            )
        shown.pop(key.strip(), None)
        shown[key.strip()] = setting
        gpu = _changed(gpu, key.strip().split("."), _value(value.strip()), setting)
    return msgspec.structs.replace(gpu, name=f"{gpu.name} with {', '.join(shown.values())}") if shown else gpu


def _value(text: str) -> object:
    """A value of TOML; the text itself where it is none."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except (ValueError, RecursionError):  # no TOML, thousands of digits or brackets
        return text


def _changed(node: Any, keys: list[str], value: object, setting: str) -> Any:
    """A struct or mapping with what lies under `keys` replaced, checked as in a file."""
    first, rest = keys[0], keys[1:]
    fields: Mapping[str, Any] = node if isinstance(node, dict) else msgspec.structs.asdict(node)
    known = [name for name in fields if name not in _NOT_SET]
    if first not in known:
        help = did_you_mean(first, known, f"there are {', '.join(known)}")
        raise error("E502", f"setting '{setting}': no key '{first}'", help=help)
    inner = fields[first]
    is_part = isinstance(inner, dict | msgspec.Struct)
    if is_part and not rest:
        example = next(iter(inner if isinstance(inner, dict) else inner.__struct_fields__))
        help = f"name one of its keys: {first}.{example}"
        raise error("E502", f"setting '{setting}': '{first}' is a table", help=help)
    if rest and not is_part:
        raise error("E502", f"setting '{setting}': '{first}' has no keys", help=f"write {first}=VALUE")
    new = _changed(inner, rest, value, setting) if rest else value
    if isinstance(node, dict):
        return {**node, first: new}
    if rest:
        return msgspec.structs.replace(node, **{first: new})
    try:
        return msgspec.convert({**fields, first: value}, type(node))
    except (msgspec.ValidationError, UnicodeEncodeError) as problem:  # which the bytes of no text are
        text = str(problem).partition(" - at `")[0].replace("`", "'")
        what = f"setting '{setting}': {text[:1].lower()}{text[1:]}"
        raise error("E502", what, help=f"{DEFAULT_GPU}.toml shows what is meant") from None
