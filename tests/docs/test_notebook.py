"""The example notebook runs from top to bottom, and each value at the end of a cell shows itself as HTML or a picture.

Cells are run as a notebook's kernel does it: all statements of a cell, and then its last expression is shown.
"""

import ast
import json
from typing import Any

import pytest
from checkout import CHECKOUT

pytestmark = pytest.mark.slow
NOTEBOOK = CHECKOUT / "docs" / "notebook.ipynb"
MOST = 20_000
"""Characters of what is shown; but for the page, which is whole."""


def shown(value: Any) -> str:
    """What a notebook shows of a value; "" where it has only text."""
    if hasattr(value, "_repr_html_"):
        return str(value._repr_html_())
    return "PNG" if value._repr_png_().startswith(b"\x89PNG") else ""


def test_the_notebook_runs() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
    names: dict[str, Any] = {}
    found: list[tuple[str, str]] = []
    for cell in cells:
        if cell["cell_type"] == "code":
            *statements, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(statements, []), cell["id"], "exec"), names)
            assert isinstance(last, ast.Expr), cell["id"]
            value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
            found.append((type(value).__name__, shown(value)))
    assert [kind for kind, _ in found] == [
        *("Module", "Function", "Liveness", "Pressure", "Chart"),
        *("SimResult", "Chart", "DataFrame", "Comparison", "DataFrame", "Chart", "KernelPage"),
    ]
    assert [kind for kind, text in found if not text] == []
    assert [kind for kind, text in found if len(text) > MOST] == ["KernelPage"]
    assert "mad.lo.s32" in dict(found)["Function"]
    assert "Shared-OWF-Unrolled-Dyn" in dict(found)["Comparison"]
    assert dict(found)["KernelPage"].startswith('<iframe sandbox="allow-scripts"')
