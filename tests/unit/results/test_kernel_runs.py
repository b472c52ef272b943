"""A page's runs: what is wrong with which of them."""

from dataclasses import replace

from kernels import ptx
from sim_results import sim_result

from ptxtool.base.diag import Diagnostic
from ptxtool.results.kernel_runs import KernelPage, KernelRun
from ptxtool.results.run_results import Run

KERNEL = ptx("ret;")
WRONG = Diagnostic("E409", "y differs")


def run(name: str, *problems: Diagnostic, status: str = "done") -> KernelRun:
    return KernelRun(name, {}, KERNEL, Run(replace(sim_result(), status=status), (), (), problems))


def test_problems_name_their_run_where_there_are_several() -> None:
    assert [p.message for p in KernelPage("", {}, (run("baseline", WRONG),)).problems] == ["y differs"]
    two = KernelPage("", {}, (run("baseline"), run("scheme=finereg", WRONG)))
    assert [p.message for p in two.problems] == ["scheme=finereg: y differs"]


def test_an_interrupt_leaves_a_page_incomplete() -> None:
    assert KernelPage("", {}, (run("baseline"),)).complete
    assert not KernelPage("", {}, (run("baseline"), run("other", status="interrupted"))).complete
    assert KernelPage("", {"name": "k"}, ()).to_dict() == {"name": "k"}
