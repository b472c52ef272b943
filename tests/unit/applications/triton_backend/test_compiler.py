"""The stage of Triton's compiler that would make machine code keeps the PTX. Skipped without Triton."""

from types import SimpleNamespace
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
    from ptxtool.applications.triton_backend.compiler import keep_ptx

    stages: dict[str, Any] = {"ptx": None}
    assert keep_ptx(None, stages, None, None) is None
    assert stages["cubin"](".version 8.0", None) == b".version 8.0"
    assert keep_ptx() == ("ptxtool", "ptxtool")


def test_what_is_for_the_cpu_is_compiled_for_the_drivers_target(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptxtool.applications.triton_backend.compiler import Compiler

    def target(kind: str, arch: object) -> Any:
        return triton.backends.compiler.GPUTarget(kind, arch, 32)

    active = SimpleNamespace(get_current_target=lambda: target("cuda", 80))
    monkeypatch.setattr("triton.runtime.driver", SimpleNamespace(active=active))
    assert [Compiler.supports_target(target(kind, 80)) for kind in ("cpu", "cuda")] == [True, False]
    assert Compiler(target("cpu", "")).target == target("cuda", 80)
