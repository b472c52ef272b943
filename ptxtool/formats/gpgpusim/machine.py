"""A `gpgpusim.config` as the tables of a GPU file. For `ptxtool.formats.gpu`, which lays them over a packaged machine.

Options that are not in the file have GPGPU-Sim's defaults; keys without an option (how the pipeline behaves) are those
of `tesla-c2050` for files of 3.x, of `gpgpusim42-c2050` for those of 4.x. Files of 4.x are recognised by options and
values that only 4.x has.
Reference: docs/gpgpusim.md has the table of options.
"""

from pathlib import Path

from ptxtool.formats.gpgpusim.core import read_core
from ptxtool.formats.gpgpusim.given import Given, sort_options
from ptxtool.formats.gpgpusim.memory import read_memory
from ptxtool.formats.gpgpusim.text import config_source, read_settings


def is_config(path: Path) -> bool:
    """Whether a file is GPGPU-Sim's: by its name, or because it begins with an option."""
    if path.suffix in (".toml", ".config"):
        return path.suffix == ".config"
    words = (line.split("#")[0].split() for line in config_source(path).text.splitlines())
    first = next((word[0] for word in words if word), "")
    return first.startswith("-") and not first.startswith("--")


def read_config(path: Path) -> Given:
    """Read a GPGPU-Sim file: its tables, the option of each key, the warnings. Raises E501, E502."""
    given = sort_options(path, config_source(path), read_settings(path))
    given.put("name", f"{path} over {given.base}")
    given.put("description", f"options of GPGPU-Sim {given.version}.x over {given.base}")
    given.put("target", "")  # of the base
    read_core(given)
    read_memory(given)
    return given
