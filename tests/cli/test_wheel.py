"""The wheel is whole: installed elsewhere, without the checkout, it compares schemes on a packaged sample."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from checkout import CHECKOUT


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_installed_wheel_compares_a_packaged_sample(tmp_path: Path) -> None:
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", CHECKOUT)
    run(sys.executable, *build, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("ptxtool-*.whl")

    # a fresh environment; of the present one it sees the dependencies, not the checkout: a path file inside a
    # folder that is itself on the path is not read, so the editable installation stays out of sight
    env_dir = tmp_path / "env"
    run(sys.executable, "-m", "venv", "--without-pip", env_dir, cwd=tmp_path)
    python = env_dir / "bin" / "python"
    site = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    )
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--no-deps",
        "--no-index",
        wheel,
        cwd=tmp_path,
    )
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    where = run(
        python,
        "-c",
        "import ptxtool, ptxsim; print(ptxtool.__file__, ptxsim.__file__)",
        cwd=tmp_path,
        env=env,
    )
    assert all(Path(name).is_relative_to(env_dir) for name in where.split())

    ptxtool = env_dir / "bin" / "ptxtool"
    need = ("--gpu", "tesla-c2050", "--registers", "36", "--block", "256", "--share-registers", "90")
    plan = json.loads(run(ptxtool, "occupancy", *need, "--json", cwd=tmp_path, env=env))
    assert plan["resident_ctas"] == 6
    page = (CHECKOUT / "docs" / "passes.md").read_text(encoding="utf-8")
    assert run(ptxtool, "help", "passes", cwd=tmp_path, env=env) == page
    assert run(ptxtool, "help", "E305", cwd=tmp_path, env=env).startswith("# E305: ")
    # without machine code, which would take a minute to compile; what the wheel holds is the same
    small = ("--set", "sm.count=1", "--grid", "2", "--block", "64", "--registers", "300")
    arguments = ("--arg", "y:f32[128]", "--arg", "x:f32[128]", "--arg", "2.5", "--arg", "128")
    env |= {"NUMBA_DISABLE_JIT": "1"}
    table = run(ptxtool, "compare", "saxpy", *small, *arguments, cwd=tmp_path, env=env)
    assert "results: all memory identical in all 5 runs" in table
    for scheme in ("Unshared-LRR", "Shared-LRR-NoOpt", "Shared-LRR-Unrolled", "Shared-OWF-Unrolled-Dyn"):
        assert scheme in table
