"""Where the packaged data lies: grammars, samples, GPU files, the documentation.

In a wheel they are inside the package (`ptxtool/data/...`); in a checkout they are the folders at its root.
"""

from pathlib import Path

_CHECKOUT = {"docs": "docs", "grammars": "grammars", "samples": "samples", "gpus": "sim/gpus"}


def resource_dir(kind: str) -> Path:
    """The folder of one kind of data: "docs", "grammars", "samples" or "gpus"."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "data" / kind
    return installed if installed.is_dir() else package.parent / _CHECKOUT[kind]
