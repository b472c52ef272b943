"""How often every instruction of a kernel was issued in a run, for passes that weigh code by how often it runs.

The run may have been of a text with other declarations, but of the same instructions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ptxtool.base.diag import PtxError, error
from ptxtool.ir.nodes import Function


@dataclass(frozen=True)
class IssueCounts:
    """The counts that a file holds, as they were read; `path` and `kernel` are the names of the file and the kernel."""

    path: str
    kernel: object
    issues: Sequence[object]

    def of(self, kernel: Function) -> tuple[int, ...] | None:
        """The count of every instruction of a kernel, None if the run was of another one. Raises E502."""
        if self.kernel != kernel.name:
            return None
        counts = tuple(count for count in self.issues if isinstance(count, int) and count >= 0)
        if len(counts) < len(self.issues):
            raise no_counts(self.path, "its 'issues' are no counts")
        n = len(kernel.instructions)
        calls = bool(kernel.at_bases("call"))  # the functions' counts follow
        if len(counts) < n or (len(counts) > n and not calls):
            raise no_counts(self.path, f"it counts {len(counts)} instructions, and '{kernel.name}' has {n}")
        return counts[:n]


ReadCounts = Callable[[str], IssueCounts]
"""Reads a file of issue counts: `ptxtool.formats.issue_counts.read_issue_counts`."""


def no_counts(path: str, what: str) -> PtxError:
    """E502 for a file that is no result of a run."""
    help = "give what 'ptxtool sim --json -o FILE' wrote for this kernel"
    return error("E502", f"'{path}' is no result of a run: {what}", help=help)
