"""Where the keys of a launch file stand: `tomllib` gives values without places, so that they are looked for again.

For the other parts of the reader.
"""

import re

from ptxtool.base.source import Source


def place_of(source: Source, table: str = "", index: int = 0, key: str = "") -> tuple[int, int]:
    """The span of a key in the index-th table of that name; of the table's header, or of nothing, if not found."""
    text = source.text
    if not table:
        name = re.escape(key)
        match = re.search(rf"(?m)^[ \t]*\[*({name})[ \t]*[]=.]", text) if key else None
        return match.span(1) if match else (0, 0)
    header = rf"(?m)^[ \t]*(\[\[?[ \t]*{re.escape(table)}[ \t]*\]\]?)"
    headers = list(re.finditer(header, text))
    if not headers:
        return place_of(source, key=table)
    start = headers[min(index, len(headers) - 1)]
    following = re.compile(r"(?m)^[ \t]*\[").search(text, start.end())
    stop = following.start() if following else len(text)
    match = (
        re.compile(rf"(?m)^[ \t]*({re.escape(key)})[ \t]*[=.]").search(text, start.end(), stop)
        if key
        else None
    )
    return match.span(1) if match else start.span(1)
