"""The options of a GPGPU-Sim file, and the keys of a GPU file that they set. For `core.py` and `memory.py`.

`Given` has the version, the options of the file and the defaults of the others; `put` sets a key in the tables and
notes the option that it is from. Each option without a counterpart in the simulator is a warning, W501.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ptxtool.base.diag import Diagnostic
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.formats.gpgpusim import values
from ptxtool.formats.gpgpusim.options import ALIASES, FIXED, NEW_NAMES, USED, is_unused
from ptxtool.formats.gpgpusim.text import Setting
from ptxtool.formats.gpu_names import DEFAULT_GPU

BASES = {3: DEFAULT_GPU, 4: "gpgpusim42-c2050"}
"""The packaged machine for the keys without an option, by the version of the file."""


@dataclass
class Given:
    """The options of a file, and the tables built from them."""

    path: Path
    source: Source
    version: int = 3
    options: dict[str, Setting] = field(default_factory=dict)
    tables: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Setting] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)

    @property
    def base(self) -> str:
        return BASES[self.version]

    # ---- the options

    def setting(self, name: str) -> Setting | None:
        """An option as the file gives it, otherwise with its default; None where there is neither."""
        if name in self.options:
            return self.options[name]
        defaults = USED[name] if name in USED else (FIXED[name].three, FIXED[name].four)
        default = defaults[self.version - 3]
        return None if default is None else Setting(name, default, self.source, 0, 0, 0)

    def need(self, name: str) -> Setting:
        """An option that has a value in every version."""
        found = self.setting(name)
        assert found is not None, f"-{name} has no default"
        return found

    def whole(self, name: str, least: int = 0) -> int:
        return values.whole(self.need(name), least)

    def is_on(self, name: str) -> bool:
        """Whether a switch is on; one that this version does not have is off."""
        found = self.setting(name)
        return found is not None and values.switch(found)

    # ---- the keys

    def put(self, key: str, value: object, name: str = "") -> None:
        """Set a key of the GPU file; `name` is the option that it is from."""
        table = self.tables
        *above, last = key.split(".")
        for part in above:
            table = table.setdefault(part, {})
        table[last] = value
        given = self.setting(name) if name else None
        if given is not None:
            self.places[key] = given

    def put_all(self, table: str, name: str, **values: object) -> None:
        """Set keys of a table that are all from one option."""
        for key, value in values.items():
            self.put(f"{table}.{key}", value, name)

    def take(self, key: str, name: str, least: int = 0) -> None:
        """Set a key of the GPU file to the whole number of an option, if this version has the option."""
        if self.setting(name) is not None:
            self.put(key, self.whole(name, least), name)

    def warn(self, message: str, help: str, setting: Setting | None = None) -> None:
        """Add a W501, at the option if it is in the file."""
        if setting is not None and setting.end > setting.start:
            where = (setting.source, setting.value_start, setting.end)
            self.warnings.append(Diagnostic("W501", message, *where, help))
        else:
            default = "" if setting is None else " (GPGPU-Sim's default)"
            self.warnings.append(Diagnostic("W501", f"{self.source.name}: {message}{default}", help=help))

    def differs(self, setting: Setting, instead: str, what: str = "", worth: str = "") -> None:
        """Warn that an option, or a part of it, is not modelled: what is done instead, and to what it matters."""
        shown = f"'-{setting.name}': {what}" if what else f"'-{setting.name} {setting.value}'"
        matters = f"; it matters {worth}" if worth else ""
        self.warn(f"{shown} is not modelled", f"here {instead}{matters}", setting)


_UNUSED_HELP = "not about the timing of what is modelled; docs/gpgpusim.md says what becomes of every option"


def sort_options(path: Path, source: Source, settings: tuple[Setting, ...]) -> Given:
    """Find the version, keep the options that are used, warn of the others. Raises E502 for those that are refused."""
    given = Given(path, source, 4 if any(map(_is_new, settings)) else 3)
    unused: dict[str, Setting] = {}
    unknown: list[Setting] = []
    for setting in settings:
        name = ALIASES.get(setting.name, setting.name)
        if name in USED or name in FIXED:
            given.options[name] = setting
        elif is_unused(name):
            unused[name] = setting
        else:
            unknown.append(setting)
    if unused:
        first = next(iter(unused.values()))
        names = ", ".join(f"-{s.name} ({s.line})" for s in unused.values())
        count = "an option is" if len(unused) == 1 else f"{len(unused)} options are"
        where = (first.source, first.start, first.end)
        given.warnings.append(Diagnostic("W501", f"{count} not used: {names}", *where, _UNUSED_HELP))
    for setting in unknown:
        known = [*USED, *FIXED, *ALIASES]
        guess = did_you_mean(setting.name, known, "GPGPU-Sim has no such option", mark="-")
        given.warn(f"'-{setting.name}' is not known, and not used", guess, setting)
    _warn_of_fixed(given)
    return given


def _warn_of_fixed(given: Given) -> None:
    """Warn of the options with another value than the simulator has."""
    for name, fixed in FIXED.items():
        setting = given.setting(name)
        if setting is None or setting.value == fixed.has:
            continue
        if fixed.refused:
            message = f"'-{name} {setting.value}' is not modelled: here {fixed.what}"
            raise setting.error(message, f"write '-{name} {fixed.has}'")
        given.differs(setting, fixed.what)


def _is_new(setting: Setting) -> bool:
    """Whether only 4.x has this option, or this form of its value."""
    name, value = setting.name, setting.value
    if name in NEW_NAMES:
        return True
    if name == "gpgpu_pipeline_widths":
        return value.count(",") >= 10
    if name == "gpgpu_coalesce_arch":
        return value != "13"
    return "cache:" in name and (value.startswith("S:") or ",S:" in value or ",T:" in value)
