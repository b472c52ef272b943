"""Which kernels have a pool of registers, and what is refused."""

import numpy as np
import pytest
from microkernels.measure import parsed

import ptxsim
from ptxtool.base.diag import PtxError

ACQUIRE, RELEASE = '.pragma "acquire-extended-registers";\n', '.pragma "release-extended-registers";\n'
HEAD = (
    ".version 4.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<8>;\n"
)
HELD = f"{ACQUIRE}mov.u32 %r6, 1;\n{RELEASE}"


def launch(body: str, before: str = "", **options: object) -> ptxsim.SimResult:
    text = f"{HEAD}{body}ret;\n}}\n".replace(".visible .entry", f"{before}.visible .entry")
    return ptxsim.launch(parsed(text), 1, 32, [np.zeros(1)], scheme="regmutex", **options)  # type: ignore[arg-type]


def refused(body: str, before: str = "", **options: object) -> str:
    with pytest.raises(PtxError) as caught:
        launch(body, before, **options)
    (found,) = caught.value.diagnostics
    assert found.code == "E502"
    return found.message


def test_a_kernel_without_marks_has_no_pool() -> None:
    result = launch("mov.u32 %r6, 1;\n")
    assert result.pool is None
    assert any("no marks of extended registers" in remark for remark in result.remarks)


def test_the_pool_of_a_kernel_with_marks() -> None:
    result = launch(HELD)
    assert result.pool is not None
    assert (result.pool.base, result.pool.extended, result.pool.acquired) == (0, 7, 1)
    assert result.to_dict()["pool"]["sections_most"] == 1
    assert "1 of" in str(result.pool)


def test_what_is_not_simulated() -> None:
    assert "stands before a label" in refused(f"{ACQUIRE}L: mov.u32 %r6, 1;\n{RELEASE}")
    assert "where none are named" in refused(f"mov.u32 %r6, 1;\n{HELD}")
    assert "sharing of registers" in refused(HELD, share_registers=90)
    function = ".func f() { .reg .b32 %r<2>; mov.u32 %r1, 1; ret; }\n"
    assert "functions that are called" in refused(f"{HELD}call f;\n", function)
