"""Textures, surfaces and tensor maps of a launch file: the options that turn an array into one.

For `launch_file.py`. `texture = { filter = "linear" }` in an argument, `[textures.NAME]` for a variable; `surface`
likewise; `tensor_map = { box = [64, 32] }` in an argument. The names are those of `ptxsim.Texture`, `ptxsim.Surface`
and `ptxsim.TensorMap`, which are created when the launch is run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ptxtool.formats.launch.launch_values import ValueProblem

_ADDRESSES = ("wrap", "mirror", "clamp", "border")
_WORDS: Mapping[str, tuple[str, ...]] = {
    "filter": ("point", "linear"),
    "read": ("element", "normalized"),
    "compare": ("never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always"),
}
_SWITCHES = ("normalized", "layered")
_LISTS = ("box", "sizes", "strides", "steps", "lower", "upper")
_TEXTS = ("type", "swizzle", "fill", "promotion", "wide")
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "texture": ("address", "filter", "normalized", "read", "channels", "layered", "compare", "samples"),
    "surface": ("channels", "layered"),
    "tensor_map": (
        *(
            "box",
            "sizes",
            "strides",
            "steps",
            "type",
            "swizzle",
            "fill",
            "promotion",
            "lower",
            "upper",
            "wide",
        ),
    ),
}
"""The options of each kind."""


@dataclass(frozen=True)
class Opaque:
    """What an array is passed as (texture, surface, tensor map): the kind, its options, their place in the file."""

    kind: str
    options: Mapping[str, Any]
    start: int = 0
    end: int = 0


def check_options(options: Mapping[str, Any]) -> None:
    """Raise `ValueProblem` for an option of the wrong kind."""
    for key, value in options.items():
        if key in _SWITCHES and not isinstance(value, bool):
            raise ValueProblem(key, f"'{key}' must be true or false")
        if key in _LISTS and not (isinstance(value, list) and all(type(n) is int for n in value)):
            raise ValueProblem(key, f"'{key}' must be a list of whole numbers", "innermost dimension first")
        if key in _TEXTS and not isinstance(value, str):
            raise ValueProblem(key, f"'{key}' must be a text")
        if key in _WORDS and value not in _WORDS[key]:
            raise ValueProblem(key, f"'{value}' is no {key}", f"there are {', '.join(_WORDS[key])}")
        if key == "channels" and value not in (1, 2, 4):
            raise ValueProblem(key, f"'{value}' channels", "there are 1, 2 or 4")
        if key == "samples" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise ValueProblem(key, f"'{value}' samples", "a texel has 1 or more")
        if key == "address":
            modes = value if isinstance(value, list) else [value]
            if not 1 <= len(modes) <= 3 or any(mode not in _ADDRESSES for mode in modes):
                advice = f"there are {', '.join(_ADDRESSES)}: one, or a list with one for each axis"
                raise ValueProblem(key, f"'{value}' is no address mode", advice)
