"""Issue counts from what `ptxtool sim --json` wrote: how often every instruction of a kernel was issued in a run."""

import json

from ptxtool.analysis.sharing.issue_counts import IssueCounts, no_counts
from ptxtool.formats.files import read_bytes


def read_issue_counts(path: str) -> IssueCounts:
    """The counts in a file. Raises E501, E502."""
    try:
        data = json.loads(read_bytes(path, "give what 'ptxtool sim --json -o FILE' wrote"))
    except (ValueError, RecursionError):
        raise no_counts(path, "it is no JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("issues"), list):
        raise no_counts(path, "it has no 'issues'")
    return IssueCounts(path, data.get("kernel"), data["issues"])
