"""How often every instruction of a kernel was issued in a run: read from what `ptxtool sim --json` wrote.

For passes that weigh code by how often it runs. The run may have been of a text with other declarations, but of the
same instructions.
"""

import json
from pathlib import Path

from ptxtool.base.diag import error
from ptxtool.ir.nodes import Function


def load_issue_counts(path: str, kernel: Function) -> tuple[int, ...] | None:
    """The counts of a kernel, None if the run was of another kernel. Raises E501, E502."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise error(
            "E501",
            f"cannot read '{path}': {problem.strerror}",
            help="give what 'ptxtool sim --json -o FILE' wrote",
        ) from None
    except ValueError:
        raise _wrong(path, "it is no JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("issues"), list):
        raise _wrong(path, "it has no 'issues'")
    if data.get("kernel") != kernel.name:
        return None
    counts = data["issues"]
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise _wrong(path, "its 'issues' are no counts")
    n = len(kernel.instructions)
    calls = any(
        node.opcode.base == "call" for node in kernel.instructions
    )  # then the functions' counts follow
    if len(counts) < n or (len(counts) > n and not calls):
        raise _wrong(path, f"it counts {len(counts)} instructions, and '{kernel.name}' has {n}")
    return tuple(counts[:n])


def _wrong(path: str, what: str) -> Exception:
    help = "give what 'ptxtool sim --json -o FILE' wrote for this kernel"
    return error("E502", f"'{path}' is no result of a run: {what}", help=help)
