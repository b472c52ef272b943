"""What MkDocs does not know of this repository: pages that lie outside docs/, references made from the code, links.

README.md is the site's first page, docs/README.md its list by job, which the navigation follows; CONTRIBUTING.md and
CHANGELOG.md are pages too.
Pages link to each other as files of the repository, so that they work there as well: links are rewritten to where the
site has these files. Names of example files (```ptx kernel.ptx) become the titles of blocks.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

CHECKOUT = Path(__file__).parents[1]
MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "docs/README.md": "jobs.md",
}
"""Files of the repository, and the pages that they are."""
_SOURCES = {page: source for source, page in MOVED.items()}
_FENCE = re.compile(r"^( *```)(\w+) +(\S.*)$", re.MULTILINE)
_CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_LISTED = re.compile(r"(?<=[('])[\w-]+(?:/[\w-]+)*\.md")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_LANGUAGES = {"ptx": "ptxplus", "cuda": "cuda", "usage": "text", "output": "text"}
"""Our names of a block's language, and those of Pygments: our lexer of PTX is `ptxplus`."""


REFERENCE = [
    {"Commands": "commands.md"},
    {"Python API": "reference/api.md"},
    {"Instructions": "isa.md"},
    {"Diagnostics": ["errors/README.md", {"Beside those of ptxas": "errors-compared.md"}]},
    {"GPU files": "reference/gpu-files.md"},
    {"Counters": "reference/counters.md"},
]
EXPLAINING = ("Judge and reproduce results", "Work on ptxtool")
"""The sections of docs/README.md that explain; the first one has tutorials, the others say how to do something."""


def on_config(config: Any) -> None:
    """The navigation: every page once, under the first section of docs/README.md that lists it."""
    seen = set(_LISTED.findall(repr(REFERENCE)))
    sections: dict[str, list[Any]] = {}
    for title, text in re.findall(r"(?ms)^## (.*?)\n(.*?)(?=^## |\Z)", _read("docs/README.md")):
        new = [page for page in dict.fromkeys(_LISTED.findall(text)) if page not in seen]
        seen.update(new)
        sections[title] = [
            {"The model": _folder("model")} if page == "model/README.md" else page for page in new
        ]
    (_, tutorials), *rest = sections.items()
    config.nav = [
        {"Home": "index.md"},
        {"Tutorials": tutorials},
        {"How to": ["jobs.md", *({title: pages} for title, pages in rest if title not in EXPLAINING)]},
        {"Reference": REFERENCE},
        {
            "Explanation": [
                *({title: sections[title]} for title in EXPLAINING),
                "contributing.md",
                "changes.md",
            ]
        },
    ]


def _folder(name: str) -> list[str]:
    """The pages of a folder of docs/, its README first."""
    pages = sorted(path.name for path in (CHECKOUT / "docs" / name).glob("*.md"))
    return [f"{name}/{page}" for page in ("README.md", *pages[1:])]


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    texts = {page: _read(source) for source, page in MOVED.items()}
    texts["reference/api.md"] = _api()
    texts["reference/gpu-files.md"] = _gpu_files()
    texts["reference/counters.md"] = _counters()
    texts |= {name: _read(f"website/{name}") for name in ("site.css", "regions.js", "iframe-worker.js")}
    for page, text in texts.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links between files of the repository, and the heads of blocks."""
    here = page.file.src_uri
    source = _SOURCES.get(here, f"docs/{here}")

    def linked(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        found = MOVED.get(target, target.removeprefix("docs/"))
        if target.startswith(("docs/", *MOVED)):
            return f"]({posixpath.relpath(found, posixpath.dirname(here) or '.')}{_anchor(target, match[2] or '')})"
        raise PluginError(f"{source}: a link to {target}, which the site does not have")

    pieces = _CODE.split(markdown)
    pieces[::2] = [_LINK.sub(linked, piece) for piece in pieces[::2]]
    return _FENCE.sub(_head, "".join(pieces))


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Name the dialog of the search: the theme gives it only a role."""
    return output.replace(' role="dialog"', ' role="dialog" aria-label="Search"')


def _anchor(target: str, anchor: str) -> str:
    """GitHub's anchor of a heading as Python-Markdown has it: the second of two equal ones ends in _1, not in -1."""
    numbered = re.fullmatch(r"(#.*)-(\d+)", anchor)
    if numbered is None:
        return anchor
    slugs = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in _HEADING.findall(_read(target))]
    return anchor if anchor[1:] in slugs else f"{numbered[1]}_{numbered[2]}"


def _head(match: re.Match[str]) -> str:
    """The head of a block with a name, as pymdownx.superfences reads it."""
    language = _LANGUAGES.get(match[2], match[2])
    if match[3].startswith("not run"):
        return f"{match[1]}{language}"
    return f'{match[1]}{language} title="{match[3]}"'


def _read(path: str) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def _api() -> str:
    """Every public name of both packages, from their docstrings."""
    import ptxsim
    import ptxtool

    lines = ["# Python API", "", "[From Python](../python.md) shows how they go together.", ""]
    for title, names in (("ptxtool", ptxtool.__all__), ("ptxsim", ptxsim.__all__)):
        lines += [f"## {title}", ""]
        lines += [f"::: {_place(title, name)}\n" for name in names]
    return "\n".join(lines)


def _place(package: str, name: str) -> str:
    """Where a public name is defined: what reads the sources does not follow lazy imports, and the simulator's would
    load compiled code."""
    import ptxsim
    import ptxtool

    if package == "ptxsim":
        return f"{ptxsim._HOMES[name]}.{name}"
    value = getattr(ptxtool, name)
    return f"{value.__module__}.{value.__qualname__}"


def _gpu_files() -> str:
    """Every key of GPU files with its values in the packaged machines, and the meaning or source that a file gives."""
    from ptxtool.api import gpus
    from ptxtool.formats.gpu_keys import machine_keys

    machines = {machine.name: machine for machine in gpus()}
    keys = {name: {key.name: key for key in machine_keys(machine)} for name, machine in machines.items()}
    lines = [
        "# GPU files",
        "",
        "A machine is a TOML file; `ptxtool gpus NAME` prints one with the source of every value,",
    ]
    lines += ["and `--set KEY=VALUE` changes a key for one run ([commands](../commands.md#gpus)).", ""]
    lines += [f"- `{name}`: {machine.description}" for name, machine in machines.items()]
    tables: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for found in keys.values() for name in found):
        table, _, rest = name.partition(".")
        if rest:
            tables.setdefault(table, []).append(name)
    for table, names in tables.items():
        lines += ["", f"## {table}", "", f"| key | {' | '.join(machines)} | meaning or source |"]
        lines += [f"|{' --- |' * (len(machines) + 2)}"]
        for name in names:
            found = [keys[machine].get(name) for machine in machines]
            values = ["" if key is None else f"`{_value(key.value)}`" for key in found]
            comments = [key.comment for key in found if key is not None and key.comment]
            lines.append(f"| `{name}` | {' | '.join(values)} | {comments[0] if comments else ''} |")
    return "\n".join(lines)


def _value(value: object) -> str:
    """A value as a GPU file has it, in a cell."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _counters() -> str:
    """The counters of a run: their section of the page about the simulator, and the fields of its result."""
    found = re.search(r"(?ms)^## Counters\n(.*?)(?=^## |\Z)", _read("docs/simulator.md"))
    assert found is not None
    return f"# Counters\n{found[1]}".replace("](", "](../").replace("](../#", "](../simulator.md#") + (
        "\n## The result of a run\n\n::: ptxtool.results.simulation.SimResult\n    options:\n      members: true\n"
    )
