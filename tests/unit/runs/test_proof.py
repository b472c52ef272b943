"""Kernels before and after a rewriting, run with the same inputs: other results are found and shown."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.parse import parse
from ptxtool.results.proofs import Proof
from ptxtool.runs.proof import ProofOptions, difference, prove

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 i, .param .f32 a)
{
	.reg .pred %p;
	.reg .f32 %f<3>;
	.reg .b32 %r<4>;
	.reg .b64 %d<5>;
	ld.param.u64 %d1, [x];
	ld.param.u64 %d2, [i];
	ld.param.f32 %f1, [a];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %d3, %r1, 4, %d1;
	mad.wide.u32 %d4, %r1, 4, %d2;
	ld.global.u32 %r2, [%d4];
	setp.gt.u32 %p, %r2, 7;
	@%p bra SKIP;
	ld.global.f32 %f2, [%d3];
	mul.f32 %f2, %f2, %f1;
	st.global.f32 [%d3], %f2;
SKIP:
	ret;
}
"""
LAUNCH = """grid = 1
block = 4
[[args]]
name = "x"
type = "f32"
value = [0.0, 2.0, 4.0, 2.5]
output = true
[[args]]
name = "i"
type = "u32"
value = [8, 7, 3, 4]
[[args]]
name = "a"
type = "f32"
value = 2.0
"""


def read(text: str = LAUNCH) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


def proof(old: str, new: str, launch: str = LAUNCH, **options: object) -> Proof:
    assert old in TEXT
    chosen = ProofOptions(gpu="tesla-c2050", timed=bool(options.pop("timed", False)), **options)  # type: ignore[arg-type]
    before, after = parse(TEXT, "a.ptx"), parse(TEXT.replace(old, new), "b.ptx")
    return prove(before, after, read(launch), api.kernel, chosen)


def test_a_kernel_that_computes_the_same() -> None:
    announced: list[str] = []
    found = proof("%f2, %f2, %f1;", "%f2, %f1, %f2;", random=2, seed=5, timed=True, announce=announced.append)
    assert found.problems == ()
    assert found.buffers == ("x", "i")
    assert (found.trials[0].seed, found.trials[0].changed) == (None, 3)  # thread 0 skips
    assert [t.seed for t in found.trials] == [None, 5, 6]
    assert announced[:4] == [
        "before, without time",
        "after, without time",
        "before, with time",
        "after, with time",
    ]
    assert found.holds


def test_the_first_element_that_differs_is_shown() -> None:
    found = proof("mul.f32", "add.f32")  # 2 * 2 = 2 + 2, but 4 * 2 != 4 + 2
    (problem,) = found.problems
    assert problem.code == "E305"
    assert problem.message == (
        "the rewritten kernel computes something else: 'x'[2] is 6.0, 8.0 before; 2 of 4 elements differ "
        "(without time, the launch's inputs)"
    )
    assert problem.help == "to see it again: ptxtool prove a.ptx b.ptx --launch launch.toml"
    assert (problem.source and problem.source.name, problem.line) == ("b.ptx", 4)
    assert not found.trials[0].same


def test_random_inputs_find_what_the_launchs_do_not() -> None:
    hidden = "%r2, 7;", "%r2, 6;"
    same = proof(*hidden, launch=LAUNCH.replace("[8, 7, 3, 4]", "[8, 0, 3, 4]"))
    assert same.problems == ()
    found = proof(*hidden, launch=LAUNCH.replace("[8, 7, 3, 4]", "[8, 0, 3, 4]"), random=50, seed=1)
    (problem,) = found.problems
    seed = found.trials[-1].seed
    assert seed is not None
    assert problem.help.endswith(f"--launch launch.toml --random 1 --seed {seed}")
    again = proof(*hidden, launch=LAUNCH.replace("[8, 7, 3, 4]", "[8, 0, 3, 4]"), random=1, seed=seed)
    assert again.problems == found.problems


def test_floats_may_differ_within_a_tolerance() -> None:
    more = "%f2, %f2, %f1;", "%f2, %f2, 0f40000001;"  # 2.0 and one unit in the last place
    assert len(proof(*more).problems) == 1
    assert proof(*more, rtol=1e-6).problems == ()
    assert proof(*more, atol=1e-5).problems == ()
    assert len(proof(*more, rtol=1e-9).problems) == 1


def test_a_rewritten_kernel_that_stops() -> None:
    found = proof("[%d3], %f2;", "[%d3+4096], %f2;")
    first, why = found.problems
    assert "it stops, and the original does not (without time, the launch's inputs)" in first.message
    assert why.code == "E404"


def test_a_rewritten_kernel_that_never_ends() -> None:
    found = proof("SKIP:\n", "SKIP:\n\tbra SKIP;\n")
    assert [problem.code for problem in found.problems] == ["E305", "E408"]


def test_only_the_timed_run_differs() -> None:
    """A kernel that stores the clock, which counts instructions in a run without time."""
    clock = "\tmov.f32 %f2, %f2;\n\tmov.u32 %r1, %clock;\n\tst.global.u32 [%d3], %r1;\nSKIP:\n\tret;"
    texts = [
        TEXT.replace("SKIP:\n\tret;", f"\t{how}\n{clock}")
        for how in ("neg.f32 %f2, %f1;", "sqrt.approx.f32 %f2, %f1;")
    ]
    found = prove(*map(parse, texts), read(), api.kernel, ProofOptions(gpu="tesla-c2050"))
    (problem,) = found.problems
    assert problem.message.endswith("(with time, the launch's inputs)")
    assert problem.help.startswith("both ran with launch.toml")


def test_random_inputs_that_the_original_cannot_run_with_are_skipped() -> None:
    gather = parse(TEXT.replace("\tsetp", "\tmad.wide.u32 %d3, %r2, 4, %d1;\n\tsetp"))
    options = ProofOptions(gpu="tesla-c2050", random=5, timed=False)
    found = prove(gather, gather, read(LAUNCH.replace("[8, 7, 3, 4]", "[0, 3, 8, 9]")), api.kernel, options)
    assert found.trials[0].skipped == ""
    assert any("E404: access out of bounds" in trial.skipped for trial in found.trials[1:])
    assert found.problems == ()
    with pytest.raises(PtxError, match="E404"):  # those of the launch must be possible
        prove(gather, gather, read(), api.kernel, options)


def test_variables_of_the_module_are_not_compared() -> None:
    module = parse(TEXT.replace(".visible", ".global .u32 counter;\n.visible", 1), "a.ptx")
    found = prove(module, module, read(), api.kernel, ProofOptions(gpu="tesla-c2050", timed=False))
    assert found.unseen == ("counter",)


STEPS = LAUNCH.replace("grid", 'kernel = "k"\ngrid').replace(
    "[[args]]", '[[launch]]\nargs = ["x", "i", "a"]\n[[launch]]\nargs = ["x", "i", 3.0]\n[[args]]', 1
)


@pytest.mark.parametrize("text", [LAUNCH, STEPS])
def test_the_schedulers_of_a_launch_are_not_loaded(text: str) -> None:
    own = f'scheduler = "nowhere.py:pick"\n{text}'
    assert proof("%f2, %f2, %f1;", "%f2, %f1, %f2;", own, timed=True).problems == ()


@pytest.mark.parametrize("timed", [False, True])
def test_a_list_of_launches(timed: bool) -> None:
    assert proof("%f2, %f2, %f1;", "%f2, %f1, %f2;", STEPS, timed=timed).problems == ()
    (problem,) = proof("mul.f32", "add.f32", STEPS, timed=timed).problems
    assert "'x'[1] is 7.0, 12.0 before" in problem.message  # 2 + 2 + 3, 2 * 2 * 3


def test_a_kernel_that_is_gone() -> None:
    found = proof(".entry k(", ".entry other(", f'kernel = "k"\n{LAUNCH}')
    assert [problem.code for problem in found.problems] == ["E305", "E205"]
    assert found.trials == ()
    assert not found.holds
    assert proof(".entry k(", ".entry other(").holds  # the only one of its file
    with pytest.raises(PtxError, match="E205"):
        proof("k(", "k(", kernel="nothing")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"random": -1}, "random = -1"),
        ({"seed": 1.5}, "seed = 1.5"),
        ({"rtol": -1.0}, "rtol = -1.0"),
        ({"atol": float("nan")}, "atol = nan"),
    ],
)
def test_wrong_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(PtxError, match=f"E502.*{message}"):
        ProofOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0], np.float32), ""),
        (
            np.array([[1, 2], [3, 4]]),
            np.array([[1, 2], [5, 6]]),
            "[1, 0] is 5, 3 before; 2 of 4 elements differ",
        ),
        (np.array([np.nan]), np.array([np.nan]), ""),
        (np.array([0.0]), np.array([-0.0]), "[0] is -0.0, 0.0 before; 1 of 1 elements differ"),
        (
            np.array([0x7FC00000], np.uint32).view(np.float32),
            np.array([0x7FFFFFFF], np.uint32).view(np.float32),
            "[0] is 0x7fffffff, 0x7fc00000 before; 1 of 1 elements differ",
        ),
    ],
)
def test_the_first_other_element(before: np.ndarray, after: np.ndarray, text: str) -> None:
    assert difference(before, after, 0.0, 0.0) == text


def test_within_a_tolerance() -> None:
    nan, one = np.array([np.nan, 1.0, np.inf]), np.array([1.0, 1.0, np.inf])
    assert difference(nan, nan.copy(), 0.1, 0.0) == ""
    assert difference(nan, one, 0.1, 0.1).startswith("[0] is 1.0, nan before; 1 of 3")
    assert difference(np.array([100]), np.array([101]), 0.5, 5.0) != ""  # integers are exact
