"""Issue counts from what `ptxtool sim --json` wrote: how often every instruction of a kernel was issued in a run."""

import json
from pathlib import Path

from ptxtool.analysis.sharing.issue_counts import IssueCounts, no_counts
from ptxtool.base.diag import error


def read_issue_counts(path: str) -> IssueCounts:
    """The counts in a file. Raises E501, E502."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        help = "give what 'ptxtool sim --json -o FILE' wrote"
        raise error("E501", f"cannot read '{path}': {problem.strerror}", help=help) from None
    except ValueError:
        raise no_counts(path, "it is no JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("issues"), list):
        raise no_counts(path, "it has no 'issues'")
    return IssueCounts(path, data.get("kernel"), data["issues"])
