"""The trace of a run: chosen instructions with the values that they read and write."""

import numpy as np
import pytest

import ptxsim
import ptxtool
from ptxsim.functional.tracing import TraceSelection, selection
from ptxtool.base.diag import PtxError

PTX = """\
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 given)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [given];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .f32 %f<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    sub.s32 %r1, %r1, 3;
    setp.lt.s32 %p1, %r1, 0;
@%p1 neg.s32 %r1, %r1;
    cvt.rn.f32.s32 %f1, %r1;
    bar.sync 0;
    {
        .param .b32 a;
        .param .b32 b;
        st.param.b32 [a], %r1;
        call (b), twice, (a);
        ld.param.b32 %r2, [b];
    }
    st.global.u32 [%rd1], %r2;
    ret;
}
"""

PTXPLUS = """\
.version 1.4+
.target sm_10, map_f64_to_f32
.entry k (.param .u32 p)
{
    .reg .u32 $r<5>;
    .reg .u32 $o127;
    .reg .pred $p<2>;
    mov.u32 $r1, 0x3fc00000;
    add.f32 $r2, $r1, $r1;
    sub.u32 $p0/$r3, $r1, $r1;
    exit;
}
"""


def trace(what: str, text: str = PTX, args=None, block: int = 64) -> list[str]:
    kernel = ptxtool.parse(text).kernels["k"]
    steps: list[str] = []
    args = [np.zeros(1, np.uint32)] if args is None else args
    ptxsim.run(
        kernel, 2, block, args, trace=ptxsim.Trace(selection(what), lambda step: steps.append(str(step)))
    )
    return steps


def line_of(piece: str, text: str = PTX) -> int:
    return 1 + next(n for n, line in enumerate(text.split("\n")) if piece in line)


def reported(step: str) -> list[str]:
    return step.split()


def test_values_before_and_behind():
    line = line_of("sub.s32")
    (step,) = trace(f"line {line}; lane 1")
    expected = f"cta 0 warp 0 line {line} lane 1 sub.s32 %r1, %r1, 3; %r1=-2 <- %r1=1"
    assert reported(step) == reported(expected)


def test_the_line_of_the_cuda_source():
    text = PTX.replace("    sub.s32", "    .loc 1 7 5\n    sub.s32")
    line = line_of("sub.s32", text)
    (step,) = trace(f"line {line}; lane 1", text)
    assert reported(step)[:8] == ["cta", "0", "warp", "0", "line", str(line), "1:7", "lane"]


def test_a_step_as_data():
    text = PTX.replace("@%p1 neg", "    .loc 1 7 5\n@%p1 neg")
    line = line_of("neg.s32", text)
    steps = []
    kernel = ptxtool.parse(text).kernels["k"]
    chosen = ptxsim.Trace(selection(f"line {line}; lane 2-4"), lambda step: steps.append(step.to_dict()))
    ptxsim.run(kernel, 1, 32, [np.zeros(1, np.uint32)], trace=chosen)
    assert steps == [
        {
            "cta": 0,
            "warp": 0,
            "line": line,
            "cuda": "1:7",
            "text": "@%p1 neg.s32 %r1, %r1;",
            "mask": "00000007",
            "lanes": [2],
            "writes": {"%r1": ["1"]},
            "reads": {"%r1": ["-1"], "%p1": ["1"]},
        }
    ]


def test_only_lanes_that_execute():
    line = line_of("neg.s32")
    (step,) = trace(f"line {line}; lane 0-5")
    assert [reported(one)[7] for one in step.split("\n")] == ["0", "1", "2"]
    assert reported(step.split("\n")[1])[-4:] == ["%r1=2", "<-", "%r1=-2", "%p1=1"]
    (none,) = trace(f"line {line}; warp 1; lane 0")
    assert reported(none)[6:8] == ["lanes", "00000000"]


def test_floating_point_and_predicates():
    (step,) = trace(f"line {line_of('cvt.rn')}; lane 5")
    assert reported(step)[-3:] == ["%f1=2", "<-", "%r1=2"]
    (step,) = trace(f"line {line_of('setp')}; lane 2")
    assert reported(step)[-3:] == ["%p1=1", "<-", "%r1=-1"]


def test_ptxplus_shows_values_in_the_instruction_s_type():
    add, sub = (line_of(piece, PTXPLUS) for piece in ("add.f32", "sub.u32"))
    steps = trace(f"line {add},{sub}", PTXPLUS, [0], 32)
    assert reported(steps[0])[-3:] == ["$r2=3", "<-", "$r1=1.5"]
    assert "$p0=Z" in steps[1]


def test_functions_are_traced():
    steps = trace(f"line {line_of('add.s32')}; lane 7", block=32)
    assert [reported(step)[-3:] for step in steps] == [["%r2=8", "<-", "%r1=4"]]


def test_every_chosen_warp_and_cta_once():
    line = line_of("mov.u32")
    steps = trace(f"cta 0-1; warp 0,1; line {line}")
    assert [reported(s)[1:4:2] for s in steps] == [["0", "0"], ["0", "1"], ["1", "0"], ["1", "1"]]


def test_a_whole_warp_in_order():
    numbers = [int(reported(s)[5]) for s in trace("warp 1")]
    kernel = [line for line in numbers if line > line_of(".entry")]
    assert kernel == sorted(kernel)
    assert len(numbers) == 12 + 4  # the kernel's and the function's


def test_tracing_changes_nothing():
    kernel = ptxtool.parse(PTX).kernels["k"]
    results = []
    for options in (
        {},
        {"trace": ptxsim.Trace(TraceSelection(frozenset({0, 1}), frozenset({0, 1})), lambda step: None)},
    ):
        p = np.zeros(1, np.uint32)
        count = ptxsim.run(kernel, 2, 64, [p], **options).warp_instructions
        results.append((count, p[0]))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("", TraceSelection()),
        ("cta 3", TraceSelection(ctas=frozenset({3}))),
        ("lanes 0-3, 7; warp=2", TraceSelection(warps=frozenset({2}), lanes=(0, 1, 2, 3, 7))),
        ("line 4-6; line 9", TraceSelection(lines=frozenset({4, 5, 6, 9}))),
    ],
)
def test_selections(given, wanted):
    assert selection(given) == wanted


@pytest.mark.parametrize(
    ("given", "reported_help"),
    [
        ("lone 3", "did you mean"),
        ("warp", "such as"),
        ("lane 32", "lanes are 0 to 31"),
        ("line 5-", "such as"),
        ("line 1-99999999", "such as"),
        ("saxpy", "such as"),
    ],
)
def test_wrong_selections(given, reported_help):
    with pytest.raises(PtxError, match="E502") as caught:
        selection(given)
    assert reported_help in caught.value.diagnostics[0].help


def test_an_endless_loop_is_given_up_under_trace():
    text = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{\nL: bra L;\n}\n"
    kernel = ptxtool.parse(text).kernels["k"]
    steps: list[object] = []
    with pytest.raises(PtxError, match="E408"):
        ptxsim.run(kernel, 1, 1, [], max_instructions=50, trace=ptxsim.Trace(TraceSelection(), steps.append))
    assert len(steps) == 50


@pytest.mark.parametrize(
    ("given", "reported", "reported_help"),
    [
        ("cta 2", "there is no cta 2", "cta 0 to 1"),
        ("warp 1-3", "there is no warp 1", "warp 0 only"),
        ("line 3-4", "no instruction of 'k' is in line 3", "lines 7 to 33"),
    ],
)
def test_selections_of_what_the_launch_has_not(given, reported, reported_help):
    with pytest.raises(PtxError, match="E502") as caught:
        ptxsim.run(
            ptxtool.parse(PTX).kernels["k"],
            2,
            32,
            [np.zeros(1, np.int32)],
            trace=ptxsim.Trace(selection(given), print),
        )
    (found,) = caught.value.diagnostics
    assert reported in found.message
    assert reported_help in found.help
