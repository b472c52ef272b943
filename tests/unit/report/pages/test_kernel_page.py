"""What the page of a kernel embeds: texts once, pairs of instructions, lines of CUDA sources near used ones."""

from pathlib import Path

from kernels import ptx
from sim_results import sim_result

from ptxtool import api
from ptxtool.formats.cuda_sources import CudaSources
from ptxtool.formats.gpu import machine_of
from ptxtool.parse import parse
from ptxtool.report.pages.kernel_page import KernelView, kernel_data, kernel_page
from ptxtool.report.pages.resident import CtaTakes
from ptxtool.results.kernel_runs import KernelRun
from ptxtool.results.register_counts import register_counts
from ptxtool.results.run_results import Run

C2050 = machine_of("tesla-c2050")
KERNEL = ptx("mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%rd1], %r2;\nret;")


def view(kernel=KERNEL, **more) -> KernelView:
    return KernelView(kernel, C2050, register_counts(kernel, None), None, **more)


def run(name: str, kernel) -> KernelRun:
    return KernelRun(name, {}, kernel, Run(sim_result(), (), (), ()))


def test_a_text_of_several_runs_is_embedded_once() -> None:
    data = kernel_data(view(runs=(run("baseline", KERNEL), run("other", KERNEL))))
    assert len(data["texts"]) == 1
    assert [r["text"] for r in data["runs"]] == [0, 0]


def test_instructions_are_paired_with_those_of_the_first_text() -> None:
    # one instruction more before the store, none of the add
    other = ptx("mov.u32 %r1, %tid.x;\nmul.lo.u32 %r3, %r1, 5;\nst.global.u32 [%rd1], %r3;\nret;")
    text = kernel_data(view(runs=(run("baseline", KERNEL), run("other", other))))["texts"][1]
    assert text["before"] == [0, -1, 2, 3]
    assert text["removed"] == [1]


def test_functions_that_the_kernel_calls_are_part_of_its_text() -> None:
    head = ".version 7.0\n.target sm_70\n.address_size 64\n"
    module = parse(head + ".func f()\n{\nret;\n}\n.func g()\n{\nret;\n}\n.entry k()\n{\ncall f;\nret;\n}\n")
    functions = kernel_data(view(module.kernels["k"]))["texts"][0]["functions"]
    assert [f["name"] for f in functions] == ["k", "f"]


def test_lines_of_sources_near_those_that_are_used(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("\n".join(f"  line {n}" for n in range(1, 101)))
    text = '.version 7.0\n.target sm_70\n.file 1 "k.cu"\n.entry k()\n{\n.loc 1 3 0\nbar.sync 0;\n.loc 1 50 0\nret;\n}\n'
    kernel = parse(text, name=str(tmp_path / "k.ptx")).kernels["k"]
    sources = kernel_data(view(kernel, sources=CudaSources(print)))["texts"][0]["sources"]
    assert [n for n, _ in sources["k.cu"]] == [*range(1, 8), *range(46, 55)]
    assert sources["k.cu"][0] == (1, "  line 1")
    assert kernel_data(view(kernel))["texts"][0]["sources"] == {}


def test_a_cta_that_does_not_fit_has_the_reason() -> None:
    takes = CtaTakes(256, 36, "", 60_000, 0, 0)
    data = kernel_data(KernelView(KERNEL, C2050, register_counts(KERNEL, None), takes))
    assert "does not fit" in data["occupancy"]["reason"]


def test_size_and_hostile_names() -> None:
    body = "\n".join(f"add.u32 %r{k % 9 + 1}, %r{k % 8}, {k};" for k in range(5000))
    data = kernel_data(view(ptx(f"{body}\nret;")))
    assert len(kernel_page(data)) < 2_000_000
    hostile = parse(
        '.version 7.0\n.target sm_70\n.file 1 "</script><script>x"\n.entry k()\n{\n.loc 1 3 0\nret;\n}\n'
    )
    page = kernel_page(kernel_data(view(hostile.kernels["k"])))
    assert page.count("<script") == 2
    assert page.count("</script>") == 2


def test_api_page() -> None:
    page = api.page(KERNEL, threads=128, ptxas=False)
    assert page.runs == ()
    assert page.html.startswith("<!doctype html>")
    assert page.data["occupancy"]["threads"] == 128
