"""Tables of the documents that benchmarks write: each stands between `<!-- NAME -->` and `<!-- end of NAME -->`."""

from collections.abc import Mapping
from pathlib import Path


def put_tables(page: Path, tables: Mapping[str, str]) -> None:
    """Put other texts into a page's tables, by name. Raises SystemExit where the page has no table of a name."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        text = replaced(text, name, table, page.name)
    page.write_text(text, encoding="utf-8")


def replaced(text: str, name: str, table: str, page: str) -> str:
    """The text of a page with another table of that name."""
    begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{page} has no table '{name}'")
    return before + begin + table + end + after
