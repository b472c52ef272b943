"""One self-contained HTML page: a template, styles, scripts, and the data, embedded once as JSON.

Names in a text may be anything, `</script>` and controls that turn the direction of writing included. Nothing of it can
act on a page:

- strings are `printable` before they are embedded: control characters, bidirectional ones too, are visible escapes;
- the JSON is ASCII and has no `<`, `>` and `&`, so that it cannot end its element;
- scripts set text, never HTML, from the data (htm with Preact, `textContent`);
- a Content-Security-Policy allows the page's own scripts by their digest, and no address to load from or send to.

Scripts are in `assets/`; `htm-preact.js` is htm 3.1.1 with Preact (`assets/LICENSES.txt`), all others are ours.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ptxtool.base.render import printable

_ASSETS = Path(__file__).parent / "assets"
_LIBRARY = "htm-preact.js"


def page(title: str, styles: Sequence[str], scripts: Sequence[str], data: Mapping[str, Any]) -> str:
    """A page: names of files in `assets/`, of which `base.css`, the library and `base.js` are in every page, and the
    data, which the scripts find as `DATA`."""
    css = "\n".join(map(_asset, ("base.css", *styles)))
    script = "\n".join(map(_asset, (_LIBRARY, "base.js", *scripts)))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(
        "page.html.j2", title=printable(title), css=css, script=script, digest=digest, data=embedded(data)
    )


def render(template: str, **values: Any) -> str:
    """A template of `assets/`, which escapes what it is given unless it marks it as safe."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values) + "\n"


def embedded(data: Any) -> str:
    """JSON for a `<script type="application/json">`: ASCII, without the characters that HTML gives a meaning."""
    text = json.dumps(_shown(data), separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _shown(data: Any) -> Any:
    """The data with every string, keys too, as it may be shown."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, Mapping):
        return {printable(str(key)): _shown(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_shown(value) for value in data]
    return data


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
