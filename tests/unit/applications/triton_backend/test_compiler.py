"""The stage of Triton's compiler that would make machine code keeps the PTX. Skipped without Triton."""

from typing import Any

import pytest

triton: Any = pytest.importorskip("triton")


@pytest.fixture(autouse=True)
def hook() -> Any:
    """The compiler's hook, as it was before."""
    before = triton.knobs.runtime.add_stages_inspection_hook
    yield
    triton.knobs.runtime.add_stages_inspection_hook = before


def test_the_last_stage_keeps_the_ptx() -> None:
    from ptxtool.applications.triton_backend.compiler import NoCompiler, keep_ptx

    stages: dict[str, Any] = {"ptx": None}
    assert keep_ptx(None, stages, None, None) is None
    assert stages["cubin"](".version 8.0", None) == b".version 8.0"
    assert keep_ptx() == ("ptxtool", "ptxtool")
    assert not NoCompiler.supports_target(triton.backends.compiler.GPUTarget("cuda", 80, 32))
