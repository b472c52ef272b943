"""The simulator adapts numba for its own functions only: other users of numba in the process notice nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ptxsim
from ptxsim.base import machine_code
from ptxsim.base.jit import JIT_DISABLED

USER = """import json
from pathlib import Path
import numba
import numpy as np
from numba.core import config, cpu, errors, event, postproc
from numba.core.types.functions import BaseFunction
from numba.np import arrayobj

@numba.njit(cache=True)
def before(values):
    return values[-1]

def settings():
    values = {name: repr(value) for name, value in vars(config).items() if name.isupper()}
    classes = numba.core.caching.FunctionCache, numba.core.registry.CPUDispatcher
    functions = arrayobj.fix_integer_index, event.start_event, event.end_event, event.install_timer
    methods = BaseFunction.get_call_type, cpu.CPUContext.load_additional_registries, postproc.PostProcessor.run
    return values, classes, functions, methods, getattr(type(errors.termcolor()), "_markup", None)

old = settings()
import ptxsim
from ptxsim.base import machine_code

@numba.njit(cache=True)
def after(values):
    return values[-2]

values = np.array([1, 2, 3])
found = [int(before(values)), int(after(values))]
assert settings() == old

from ptxtool.parse import parse

KERNEL = '''.version 6.0
.target sm_35
.address_size 64
.visible .entry store(.param .u64 x) {
    .reg .b64 %d<2>;
    ld.param.u64 %d1, [x];
    st.global.u32 [%d1], 7;
    ret;
}'''
x = np.zeros(1, np.uint32)
ptxsim.launch(parse(KERNEL).kernels["store"], 1, 1, [x])
ptxsim.run(parse(KERNEL).kernels["store"], 1, 1, [x])
assert settings() == old

@numba.njit(cache=True)
def last(values):
    return values[-3]

@numba.njit
def uncached(values):
    return values[-1] + values[-3]

found += [int(last(values)), int(uncached(values))]
files = [[str(Path(f.stats.cache_path)), f._cache_misses.total()] for f in (before, after, last)]
print(json.dumps([found, files, int(x[0])]))
"""


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_other_users_of_numba_notice_nothing(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text(USER)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    for misses in (1, 0):  # compiled, then found in its own cache
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found, files, stored = json.loads(done.stdout)
        assert found == [3, 2, 1, 4]
        assert files == [[str(tmp_path / "__pycache__"), misses]] * 3
        assert stored == 7
    for name in ("before", "after", "last"):
        assert list((tmp_path / "__pycache__").glob(f"user.{name}-*.nbi"))
    assert not list((tmp_path / "__pycache__").glob("user.uncached-*"))


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_functions_of_the_simulator_are_cached_in_their_own_folders() -> None:
    from ptxsim.base.code_cache import folder
    from ptxsim.functional.cta_loop import run_ctas

    path = machine_code._path(run_ctas)
    assert path.parent == folder("ptxsim.functional.cta_loop")
    assert Path(ptxsim.__file__).parent not in path.parents
