"""The public functions: those of the README's example, reading and writing, and the names of the package."""

import ast
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
from smallkernel import KERNEL

import ptxsim
import ptxtool
from ptxtool import api
from ptxtool.base.diag import PtxError

CHECKOUT = Path(__file__).resolve().parents[2]
PIPELINE = "unroll-decls,reorder-decls{order=text}"


def code_of(problem: pytest.ExceptionInfo[PtxError]) -> str:
    return problem.value.diagnostics[0].code


def test_the_usual_way(tmp_path: Path) -> None:
    path = tmp_path / "k.ptxplus"
    path.write_text(KERNEL)
    module = ptxtool.load(path)
    assert ptxtool.emit(module) == KERNEL
    kernel = module.kernels["k"]
    assert list(module.kernels) == ["k"]
    live = ptxtool.liveness(kernel)
    assert live.before[5] == ()
    assert live.after[0] == ("$r1", "$r2", "$r3")
    first = ptxtool.first_use(kernel)[0]
    assert (first.name, first.kind, first.before, first.after, first.instruction, first.line) == (
        "$r1",
        "general",
        2,
        1,
        0,
        9,
    )
    result = ptxtool.rewrite(module, PIPELINE)
    assert [u.before for u in ptxtool.first_use(result.module.kernels["k"])] == list(range(1, 10))
    assert [remark.pass_name for remark in result.remarks] == ["unroll-decls", "reorder-decls"]
    out = tmp_path / "new.ptxplus"
    ptxtool.save(result.module, out)
    assert out.read_text() == ptxtool.emit(result.module)


def test_parse_takes_a_name() -> None:
    assert ptxtool.parse(KERNEL, name="k.ptxplus").source.name == "k.ptxplus"
    with pytest.raises(ptxtool.PtxError, match=r"^bad\.ptx:1:1: error\[E101\]"):
        ptxtool.parse("nonsense here;", name="bad.ptx")


SHARE_A_NAME = ("cfg", "emit", "isa", "parse", "sweep")


def test_subpackages_that_share_a_name_with_a_function_are_known() -> None:
    packages = {path.name for path in (CHECKOUT / "ptxtool").iterdir() if path.is_dir()}
    assert packages & set(ptxtool.__all__) == set(SHARE_A_NAME)


@pytest.mark.parametrize("first", [*SHARE_A_NAME, "sema", "analysis", "runs", "cli"])
def test_functions_are_callable_whatever_was_imported_before(first: str) -> None:
    """In a new interpreter: all modules of a subpackage, then the public names, then modules of other subpackages."""
    folder = CHECKOUT / "ptxtool" / first
    names = [
        ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(folder.rglob("*.py"))
    ]
    code = (
        "import importlib, types\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "def check():\n"
        "    import ptxtool\n"
        "    for name in ptxtool.__all__:\n"
        "        assert not isinstance(getattr(ptxtool, name), types.ModuleType), name\n"
        "        assert callable(getattr(ptxtool, name)), name\n"
        "check()\n"
        "import ptxtool.cfg.blocks, ptxtool.emit.layout, ptxtool.isa.table, ptxtool.parse.driver, ptxtool.sweep.plan\n"
        "from ptxtool import cfg, parse\n"
        "check()\n"
        "text = '.version 2.3 .target sm_20 .entry k () { ret; }'\n"
        "assert ptxtool.emit(parse(text)) == text\n"
        "assert len(cfg(ptxtool.kernel(parse(text, name='x'))).blocks) == 1\n"
        "assert ptxtool.check(parse(text)) == ()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_is_cheap() -> None:
    code = "import sys, ptxtool; print(*sorted(m for m in sys.modules if m.startswith('ptxtool.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"ptxtool.{name}" for name in SHARE_A_NAME]


def test_all_functions_of_the_api_are_public_names() -> None:
    ours = {n: v for n, v in vars(api).items() if getattr(v, "__module__", "").startswith("ptxtool.")}
    functions = {n for n, v in ours.items() if isinstance(v, types.FunctionType) and not n.startswith("_")}
    assert set(ptxtool.__all__) == functions | set(api._HOMES)


def test_the_package_shows_its_api_and_nothing_else() -> None:
    assert sorted(ptxtool.__all__) == [name for name in dir(ptxtool) if not name.startswith("__")]
    with pytest.raises(AttributeError, match="no attribute 'parsee'"):
        _ = ptxtool.parsee  # type: ignore[attr-defined]


@pytest.mark.parametrize("package", ["ptxtool", "ptxsim"])
def test_the_page_lists_the_public_names(package: str) -> None:
    page = (CHECKOUT / "docs" / "python.md").read_text(encoding="utf-8")
    section = page.split(f"## All of {package}\n")[1].split("\n## ")[0]
    listed = [
        name
        for row in re.findall(r"^\|([^|]*)\|", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(listed) == sorted(__import__(package).__all__)


@pytest.mark.parametrize("module", [api, ptxsim], ids=lambda module: module.__name__)
def test_type_checkers_see_what_is_imported_on_first_use(module: types.ModuleType) -> None:
    """The imports under TYPE_CHECKING are the table of names and modules."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    seen = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert seen == module._HOMES


def test_no_public_function_takes_arbitrary_options() -> None:
    for path in (
        "ptxtool/api.py",
        "sim/ptxsim/launcher.py",
        "sim/ptxsim/functional_run.py",
        "sim/ptxsim/machine.py",
    ):
        for node in ast.walk(ast.parse((CHECKOUT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.args.kwarg is not None:
                assert "Unpack[" in ast.unparse(node.args.kwarg), f"{path}: {node.name}"


def test_kernel_by_name_or_the_only_one() -> None:
    module = api.parse(KERNEL)
    assert api.kernel(module) is api.kernel(module, "k")
    with pytest.raises(PtxError, match="its kernels are k") as problem:
        api.kernel(module, "j")
    assert code_of(problem) == "E205"


def test_a_kernel_by_its_name_in_the_source() -> None:
    heads = ("_Z5scalePf", "_Z5shiftPf", "_Z5shiftPd", "_ZN3lib4foldEv", "fold")
    module = api.parse(".version 7.0\n.target sm_70\n" + "\n".join(f".entry {h}() {{ ret; }}" for h in heads))
    assert api.kernel(module, "scale").name == "_Z5scalePf"
    assert api.kernel(module, "_Z5shiftPd").name == "_Z5shiftPd"
    assert api.kernel(module, "fold").name == "fold"
    assert api.kernel(module, "lib::fold").name == "_ZN3lib4foldEv"
    for several in ("shift", "hift", "foldd"):
        with pytest.raises(PtxError) as problem:
            api.kernel(module, several)
        assert code_of(problem) == "E205"


def test_check_returns_errors_and_warnings() -> None:
    module = api.parse(KERNEL.replace("bra L1", "bra L9").replace("add.u32", "adx.u32"))
    assert sorted(d.code for d in api.check(module)) == ["E202", "E203"]
    assert api.check(api.parse(KERNEL)) == ()


def test_control_flow() -> None:
    kernel = api.kernel(api.parse(KERNEL))
    graph = api.cfg(kernel)
    assert [(b.start, b.end) for b in graph.blocks] == [(0, 3), (3, 4), (4, 6)]
    assert api.dominators(graph).dominates(0, 2)
    assert api.post_dominators(graph).dominates(2, 0)
    assert dict(api.reconvergence_points(kernel)) == {2: 4}
    assert api.loops(kernel).depth(0) == 0


def test_machines() -> None:
    plan = api.occupancy(256, 36, share_registers=90)
    assert (plan.resident_ctas, plan.shared_pairs, plan.private_registers) == (6, 3, 3)
    small = api.occupancy(64, 8, 7168, scratchpad_per_sm=16384)
    assert (small.resident_ctas, small.limiter) == (2, "scratchpad")
    assert [storage.bits_per_sm for storage in api.overhead()[:2]] == [273, 93]
    (pool,) = api.overhead(schemes=["regmutex"])
    assert pool.bits_per_sm == 384
    assert [p.resident_ctas for p in api.register_curve(256, registers=(32, 36))] == [4, 3]
    assert api.occupancy(256, 36, gpu=api.gpu("tesla-c2050")).resident_ctas == 3
    (target,) = api.demotion_targets(128, 35, gpu="sm_52").targets
    assert (target.registers, target.slot_bytes, target.occupancy.resident_ctas) == (32, 2560, 16)


def test_unified_memory() -> None:
    # 256 threads x 16 registers x 4 bytes = 16384: a pool of 278528 bytes keeps 8 ways of 6144 for the L1
    split = api.unified_split(256, 16, gpu="gtx980-finereg", scheme="virtual-thread-unified")
    assert (split.ctas, split.l1_ways) == ((131072 + 278528 - 8 * 6144) // 16384, 8) == (22, 8)
    assert api.unified_split(256, 16, gpu="gtx980-finereg", grid_ctas=64).l1_ways == 45
    plan = api.switched_occupancy(256, 16, gpu="gtx980-finereg", scheme="virtual-thread-unified")
    assert plan.ctas == split.ctas
    # 8 in the ACRF; a CTA that waits takes 8 x 4 x 128 = 4096 bytes: 229376 // 4096 = 56, at most 64 in all
    fine = api.switched_occupancy(256, 16, gpu="gtx980-finereg", scheme="finereg-unified", live=4)
    assert fine.pcrf_entries == 56 * 32
    for call, message in (
        (lambda: api.unified_split(256, 16, scheme="finereg"), "'finereg' has no unified memory"),
        (lambda: api.unified_split(256, 300, gpu="gtx980-finereg"), "300 registers"),
        (
            lambda: api.switched_occupancy(
                256, 16, gpu="gtx980-finereg", scheme="finereg-unified", scratchpad_per_sm=4096
            ),
            "scratchpad_per_sm together with 'finereg-unified'",
        ),
    ):
        with pytest.raises(PtxError, match=message):
            call()


def test_vectors_round_trip(tmp_path: Path) -> None:
    live = api.liveness(api.kernel(api.parse(KERNEL)))
    for form in ("binary", "json", "npz"):
        api.write_vectors(live, tmp_path / form, form)
        assert api.read_vectors(tmp_path / form).live(8) == live.before[1]


def test_saving_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = api.parse(KERNEL)
    out = tmp_path / "out.ptxplus"
    out.write_text("old")

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(PtxError, match="no space left") as problem:
        api.save(module, out)
    assert code_of(problem) == "E503"
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_saving_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    api.save(api.parse(KERNEL), link)
    assert link.is_symlink()
    assert target.read_text() == KERNEL


def test_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    data = KERNEL.replace("one branch", "one \udcffbranch").encode("utf-8", "surrogateescape")
    path = tmp_path / "odd.ptxplus"
    path.write_bytes(data)
    result = api.rewrite(api.load(path), PIPELINE)
    api.save(result.module, path)
    assert b"// one \xffbranch\n" in path.read_bytes()


@pytest.mark.parametrize("scheme", ["regmutex", "release-by-name"])
def test_a_scheme_that_depends_on_the_text_has_no_plan_by_needs(scheme: str) -> None:
    with pytest.raises(PtxError, match=f"the CTAs under '{scheme}' depend on the text of a kernel"):
        api.switched_occupancy(256, 32, scheme=scheme)
