"""A pass as a page of the documentation: its options, and what the docstring of its module says. For `ptxtool help`."""

import sys

from ptxtool.formats.pages import pages_of_pass
from ptxtool.passes.base import Pass
from ptxtool.passes.registry import pass_info


def pass_page(cls: type[Pass]) -> str:
    """The page of a pass, as Markdown."""
    info = pass_info(cls)
    options = [f"    {option}" for option in info.options] or ["It has none."]
    setting = f":{info.options[0].shown_name}=..." if info.options else ""
    about = (sys.modules[cls.__module__].__doc__ or "").strip().removeprefix(f"{info.name}: ")
    more = [f"`ptxtool help {topic}`" for topic in ("rewrite", *pages_of_pass(info.name))]
    parts = [
        f"# {info.name}",
        info.summary,
        f"    ptxtool rewrite -p {info.name}{setting} FILE",
        "## Options",
        "\n".join(options),
        "## What it does",
        about[:1].upper() + about[1:],
        "## More",
        ", ".join(more),
    ]
    return "\n\n".join(parts)
