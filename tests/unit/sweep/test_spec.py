"""Sweep files: the runs they mean, and what is said about wrong ones."""

from pathlib import Path

import pytest
from tinysweep import write

from ptxtool.base.diag import PtxError
from ptxtool.sweep.plan import labelled
from ptxtool.sweep.spec import read_spec


def labels(folder: Path, text: str) -> list[str]:
    return list(labelled(read_spec(write(folder, text)).configurations))


def test_the_runs_are_all_combinations_in_the_order_of_the_lists(tmp_path: Path) -> None:
    text = 'kernels = ["scale.ptx", "saxpy"]\nschedulers = ["lrr", "gto"]\nshare-registers = [0, 90]\n'
    assert labels(tmp_path, text) == [
        "scale lrr",
        "scale lrr registers 90%",
        "scale gto",
        "scale gto registers 90%",
        "saxpy lrr",
        "saxpy lrr registers 90%",
        "saxpy gto",
        "saxpy gto registers 90%",
    ]


def test_every_axis(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('inherits = "tesla-c2050"\n')
    text = """\
name = "all"
store = "kept.db"
kernels = [{ file = "scale.ptx", launch = "launch.toml", kernel = "scale", name = "s" }]
gpus = ["mine.toml"]
set = [["sm.count=7", "sm.registers=16384"]]
schedulers = ["two_level:4"]
register-schemes = ["virtual-thread"]
share_registers = ["12.5"]
dynamic = ["period=500"]
passes = ["unroll-decls,reorder-decls{order=text}"]
registers = [24]
ptxplus_semantics = "gpgpu-sim"
as-written = true
max_cycles = 1000
"""
    spec = read_spec(write(tmp_path, text))
    assert (spec.name, spec.store) == ("all", tmp_path / "kept.db")
    (run,) = spec.configurations
    assert run.kernel == str(tmp_path / "scale.ptx")
    assert run.launch == tmp_path / "launch.toml"
    assert (run.entry, run.max_cycles, run.ptxplus_semantics) == ("scale", 1000, "gpgpu-sim")
    assert run.allocate is False
    assert run.axes == {
        "kernel": "s",
        "gpu": str(tmp_path / "mine.toml"),
        "set": "sm.count=7,sm.registers=16384",
        "scheme": "",
        "scheduler": "two_level:4",
        "share_registers": 12.5,
        "share_scratchpad": 0,
        "dynamic": "period=500",
        "register_scheme": "virtual-thread",
        "passes": "unroll-decls,reorder-decls{order=text}",
        "registers": 24,
        "replica": "",
    }


def test_replicas(tmp_path: Path) -> None:
    text = 'kernels = ["saxpy"]\nreplicas = 2\nschedulers = ["lrr", "gto"]\n'
    runs = read_spec(write(tmp_path, text)).configurations
    assert [(run.scheduler, run.replica, run.replicas) for run in runs] == [
        ("lrr", 0, 2),
        ("lrr", 1, 2),
        ("gto", 0, 2),
        ("gto", 1, 2),
    ]
    assert labels(tmp_path, text)[:2] == ["saxpy lrr replica 1", "saxpy lrr replica 2"]


def test_what_is_not_said_is_the_launch_files_and_the_machines(tmp_path: Path) -> None:
    spec = read_spec(write(tmp_path, 'kernels = ["saxpy"]\n'))
    (run,) = spec.configurations
    assert (spec.name, spec.store) == ("tiny", tmp_path / "tiny.db")
    assert (run.scheduler, run.registers, run.gpu, run.passes) == ("", None, "tesla-c2050", "")
    assert run.kernel == "saxpy"


def test_a_scheme_fixes_its_axes_and_the_others_vary(tmp_path: Path) -> None:
    text = """\
kernels = ["scale.ptx", "saxpy"]
schedulers = ["lrr", "gto"]
[[scheme]]
name = "Unshared"
[[scheme]]
name = "Shared-OWF"
scheduler = "owf"
share-registers = 90
dynamic = true
"""
    assert labels(tmp_path, text) == [
        "scale Unshared lrr",
        "scale Unshared gto",
        "scale Shared-OWF owf registers 90% dynamic",
        "saxpy Unshared lrr",
        "saxpy Unshared gto",
        "saxpy Shared-OWF owf registers 90% dynamic",
    ]


def test_register_schemes_are_an_axis(tmp_path: Path) -> None:
    text = """\
kernels = ["saxpy"]
register_schemes = ["none", "finereg"]
[[scheme]]
name = "a"
[[scheme]]
name = "b"
register-scheme = "unified"
"""
    assert labels(tmp_path, text) == ["saxpy a none", "saxpy a finereg", "saxpy b unified"]


def test_exclude(tmp_path: Path) -> None:
    text = """\
kernels = ["scale.ptx", "saxpy"]
schedulers = ["lrr", "gto", "owf"]
share_registers = [0, 50, 90]
dynamic = [false, true]
[[exclude]]
dynamic = true
share_registers = [0, 50]
[[exclude]]
kernel = "saxpy"
scheduler = ["lrr", "gto"]
[[exclude]]
kernel = "scale"
scheduler = "owf"
"""
    assert labels(tmp_path, text) == [
        "scale lrr",
        "scale lrr registers 50%",
        "scale lrr registers 90%",
        "scale lrr registers 90% dynamic",
        "scale gto",
        "scale gto registers 50%",
        "scale gto registers 90%",
        "scale gto registers 90% dynamic",
        "saxpy owf",
        "saxpy owf registers 50%",
        "saxpy owf registers 90%",
        "saxpy owf registers 90% dynamic",
    ]


WRONG = [
    ("", "1:1", "E502", "missing key 'kernels'"),
    ("kernels = [", "2:1", "E502", "not TOML"),
    ("kernels = []", "1:1", "E502", "'kernels' is an empty list"),
    ('kernels = ["saxpy"]\nschedulers = []', "2:1", "E502", "'schedulers' is an empty list"),
    ('kernels = "saxpy"', "1:1", "E502", "'kernels' must be a list of values"),
    ("kernels = [3]", "1:12", "E502", "3 is no kernel"),
    ('kernels = ["nowhere.ptx"]', "1:12", "E501", "cannot read"),
    ('kernels = ["saxpy", "saxpy"]', "1:12", "E502", "'kernels' has \"saxpy\" twice"),
    (
        'kernels = ["scale.ptx", { file = "saxpy", name = "scale" }]',
        "1:34",
        "E502",
        "two kernels named 'scale'",
    ),
    ('kernels = [{ fiel = "saxpy" }]', "1:1", "E502", "unknown key 'fiel' of a kernel"),
    ('kernels = [{ name = "s" }]', "1:1", "E502", "a kernel without 'file'"),
    (
        '[[kernels]]\nfile = "saxpy"\n[[kernels]]\nfile = 3',
        "3:1",
        "E502",
        "'file' of a kernel must be a text",
    ),
    ('kernels = ["launch.toml"]', "1:12", "E502", "'launch.toml' is a launch file"),
    ('kernels = ["saxpy"]\nschedlers = ["lrr"]', "2:1", "E502", "unknown key 'schedlers'"),
    ('kernels = ["saxpy"]\nschedulers = ["lrr", "grt"]', "2:22", "E502", "no warp scheduler 'grt'"),
    ('kernels = ["saxpy"]\nschedulers = ["mine.py:pick"]', "2:15", "E501", "cannot read"),
    ('kernels = ["saxpy"]\ngpus = ["tesla"]', "2:9", "E502", "no GPU named 'tesla'"),
    ('kernels = ["saxpy"]\nset = ["sm.cuont=7"]', "2:8", "E502", "no key 'cuont'"),
    ('kernels = ["saxpy"]\nset = [7]', "2:8", "E502", "7 is no setting"),
    ('kernels = ["saxpy"]\nshare-registers = [0, 100]', "2:23", "E502", "share_registers = 100"),
    ('kernels = ["saxpy"]\nregister_schemes = ["zorua"]', "2:21", "E502", "no register scheme named 'zorua'"),
    ('kernels = ["saxpy"]\nshare_scratchpad = [12.5]', "2:21", "E502", "share_scratchpad = 12.5"),
    ('kernels = ["saxpy"]\nshare_registers = [[]]', "2:20", "E502", "[] is no percentage"),
    ('kernels = ["saxpy"]\ndynamic = [""]', "2:12", "E502", 'dynamic is ""'),
    ('kernels = ["saxpy"]\ndynamic = ["perod=3"]', "2:12", "E502", "no option 'perod'"),
    ('kernels = ["saxpy"]\npasses = ["", "unrol-decls"]', "2:15", "E302", "no pass named 'unrol-decls'"),
    (
        'kernels = ["saxpy"]\npasses = ["unroll-decls{share=run}"]',
        "2:11",
        "E302",
        "'unroll-decls' has no option 'share'",
    ),
    ('kernels = ["saxpy"]\nregisters = [0]', "2:14", "E502", "0 is no number of registers"),
    ('kernels = ["saxpy"]\nmax_cycles = 0', "2:1", "E502", "'max_cycles' must be a whole number"),
    ('kernels = ["saxpy"]\nreplicas = 0', "2:1", "E502", "'replicas' must be a whole number, 1 to 1000"),
    ('kernels = ["saxpy"]\nreplicas = true', "2:1", "E502", "'replicas' must be a whole number, 1 to 1000"),
    ('kernels = ["saxpy"]\nas-written = "yes"', "2:1", "E502", "'as_written' must be true or false"),
    ('kernels = ["saxpy"]\nptxplus_semantics = "sim"', "2:1", "E502", "no semantics 'sim'"),
    ('kernels = ["saxpy"]\nname = ""', "2:1", "E502", "'name' must be a text"),
    ('kernels = ["saxpy"]\nscheme = 3', "2:1", "E502", "'scheme' must be a list of tables"),
    ('kernels = ["saxpy"]\n[[scheme]]\nscheduler = "lrr"', "2:1", "E502", "a scheme without 'name'"),
    ('kernels = ["saxpy"]\n[[scheme]]\nname = "a"\nschemer = 1', "4:1", "E502", "unknown key 'schemer'"),
    (
        'kernels = ["saxpy"]\n[[scheme]]\nname = "a"\n[[scheme]]\nname = "a"',
        "5:1",
        "E502",
        "two schemes named 'a'",
    ),
    (
        'kernels = ["saxpy"]\n[[scheme]]\nname = "a"\n[[scheme]]\nname = "b"\nscheduler = "x"',
        "6:1",
        "E502",
        "no warp scheduler 'x'",
    ),
    (
        'kernels = ["saxpy"]\ndynamic = [true]',
        "2:1",
        "E502",
        "dynamic warp execution where nothing is shared",
    ),
    (
        'kernels = ["saxpy"]\n[[scheme]]\nname = "a"\n[[scheme]]\nname = "b"\ndynamic = true',
        "6:1",
        "E502",
        "dynamic warp execution where nothing is shared (scheme b)",
    ),
    (
        'kernels = ["saxpy"]\nshare-registers = [90]\nshare-scratchpad = [90]',
        "3:1",
        "E502",
        "registers and scratchpad shared at once",
    ),
    ('kernels = ["saxpy"]\n[[exclude]]\nscheduler = "lrr"', "2:1", "E502", "this excludes no run"),
    ('kernels = ["saxpy"]\n[[exclude]]\nkernel = "saxpy"', "2:1", "E502", "all runs are excluded"),
    ('kernels = ["saxpy"]\n[[exclude]]\nkernels = "saxpy"', "3:1", "E502", "unknown key 'kernels'"),
    ('kernels = ["saxpy"]\nset = [""]\nset-x = 1', "3:1", "E502", "unknown key 'set-x'"),
    (
        'kernels = ["saxpy"]\nshare_registers = [0]\nshare-registers = [90]',
        "3:1",
        "E502",
        "'share-registers' is given twice",
    ),
]


@pytest.mark.parametrize(("text", "place", "code", "message"), WRONG, ids=[w[3] for w in WRONG])
def test_what_is_wrong_is_said_at_its_place(
    tmp_path: Path, text: str, place: str, code: str, message: str
) -> None:
    path = write(tmp_path, text + "\n")
    with pytest.raises(PtxError) as problem:
        read_spec(path)
    diagnostic = problem.value.diagnostics[0]
    assert diagnostic.code == code
    assert message in diagnostic.message
    assert diagnostic.help
    assert str(diagnostic).startswith(f"{path}:{place}: ")


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    path = write(
        tmp_path, 'kernels = ["nowhere"]\nschedulers = ["grt"]\npasses = ["unrol"]\nregisters = [-1]\n'
    )
    with pytest.raises(PtxError) as problem:
        read_spec(path)
    assert [d.line for d in problem.value.diagnostics] == [1, 2, 3, 4]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PtxError, match=r"error\[E501\]: cannot read '.*nowhere\.toml'"):
        read_spec(tmp_path / "nowhere.toml")


def test_functions_of_ones_own_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from ptxsim.jit import ctz\n"
        "def pick(sm, scheduler, candidates):\n    return ctz(candidates)\n"
        "def stay(view):\n    return 0\n"
    )
    head = 'kernels = ["saxpy"]\nschedulers = ["lrr", "mine.py:pick"]\nregister_schemes = ["none", "mine.py:stay"]\n'
    left_out = '[[exclude]]\nscheduler = "mine.py:pick"\nregister_scheme = "mine.py:stay"\n'
    runs = read_spec(write(tmp_path, head + left_out)).configurations
    pick, stay = f"{tmp_path}/mine.py:pick", f"{tmp_path}/mine.py:stay"
    assert [(run.scheduler, run.register_scheme) for run in runs] == [
        ("lrr", "none"),
        ("lrr", stay),
        (pick, "none"),
    ]
