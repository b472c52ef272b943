"""The pytest plugin: the fixture `ptx_kernel`, which loads a kernel to be run and measured by a test (docs/pytest.md).

pytest imports this file in every run on a machine that has ptxtool installed, also where no test uses it: it imports
nothing but pytest, and the fixture what it needs.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ptxtool.testing.kernel import KernelLoader


@pytest.fixture
def ptx_kernel(request: pytest.FixtureRequest) -> "KernelLoader":
    """Load a kernel: `ptx_kernel("scale.ptx")`, with a name where the file has several.

    Paths are relative to the test's folder; other names are packaged samples. The kernel's `.run` executes it on numpy
    arrays under all checks, `.simulate` times it, `.assert_registers` and `.assert_cycles` hold it to limits.
    """
    from ptxtool.testing.kernel import KernelLoader

    return KernelLoader(Path(request.path).parent)
