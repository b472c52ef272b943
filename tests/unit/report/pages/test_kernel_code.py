"""The columns of a function, on kernels whose live intervals are worked out by hand."""

from kernels import ptx

from ptxtool.analysis.flow.liveness import liveness
from ptxtool.parse import parse
from ptxtool.report.pages.kernel_code import code_data

# 0 mov %r1   1 mov %r2   2 setp %p1   3 @%p1 bra L   4 add %r1 += %r2   L: 5 st [%rd1], %r1   6 ret
FORKED = """
mov.u32 %r1, %tid.x;
mov.u32 %r2, 7;
setp.eq.u32 %p1, %r1, 3;
@%p1 bra L;
add.u32 %r1, %r1, %r2;
L:
st.global.u32 [%rd1], %r1;
ret;
"""


def test_intervals_begin_at_definitions_and_end_at_last_uses() -> None:
    found = code_data(ptx(FORKED))
    by_name = {r["name"]: r for r in found["registers"]}
    # %r1: defined at 0, live before 1 to 5. %r2: defined at 1, last used at 4. %p1: 2 to 3. %rd1: live from the start
    assert by_name["%r1"] == {
        "name": "%r1", "class": "32-bit", "units": 1, "defs": [0, 4], "uses": [2, 4, 5], "live": [0, 5],
    }  # fmt: skip
    assert by_name["%r2"]["live"] == [1, 4]
    assert by_name["%p1"] == {
        "name": "%p1", "class": "predicate", "units": 0, "defs": [2], "uses": [3], "live": [2, 3],
    }  # fmt: skip
    assert by_name["%rd1"]["live"] == [0, 5]
    assert by_name["%rd1"]["units"] == 2
    assert set(by_name) == {"%r1", "%r2", "%p1", "%rd1"}


def test_curves_and_the_peak() -> None:
    found = code_data(ptx(FORKED))
    # %rd1 counts 2: before 0 it is alone, then %r1, then %r2; the add is the last use of %r2
    assert found["thread"] == found["warp"] == [2, 3, 4, 4, 4, 3, 0]
    assert found["peak"] == {"thread": 2, "warp": 2}
    assert found["predicates"] == [0, 0, 0, 1, 0, 0, 0]


def test_blocks_edges_and_where_lanes_rejoin() -> None:
    found = code_data(ptx(FORKED))
    assert [(b["start"], b["end"], b["labels"], b["depth"]) for b in found["blocks"]] == [
        (0, 4, [], 0),
        (4, 5, [], 0),
        (5, 7, ["L"], 0),
    ]
    assert sorted(found["edges"]) == [[0, 1, "fall"], [0, 2, "taken"], [1, 2, "fall"], [2, 3, "exit"]]
    assert found["divergent"] == {"3": 5}


def test_a_definition_that_nothing_reads_is_an_interval_of_its_own() -> None:
    found = code_data(ptx("mov.u32 %r1, 1;\nmov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\nret;"))
    (r1,) = [r for r in found["registers"] if r["name"] == "%r1"]
    assert r1["live"] == [0, 0, 1, 2]


def test_registers_of_waiting_lanes_are_marked() -> None:
    # %r3 is read on one side only: while lanes run the other side, those that wait at L hold it
    text = (
        "mov.u32 %r1, %tid.x;\nmov.u32 %r3, 7;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra L;\nmov.u32 %r1, 5;\nbra E;\n"
        "L:\nadd.u32 %r1, %r1, %r3;\nE:\nst.global.u32 [%rd1], %r1;\nret;"
    )
    found = code_data(ptx(text))
    by_name = {r["name"]: r for r in found["registers"]}
    thread, warp = liveness(ptx(text), "thread"), liveness(ptx(text), "warp")
    for r in found["registers"]:
        spans = r.get("waiting", [])
        marked = {i for k in range(0, len(spans), 2) for i in range(spans[k], spans[k + 1] + 1)}
        assert marked == {
            i for i in range(9) if r["name"] in warp.before[i] and r["name"] not in thread.before[i]
        }
    assert by_name["%r3"]["waiting"] == [4, 5]


def test_places_in_cuda_sources() -> None:
    body = ".reg .b32 %r<3>;\n.loc 1 7 3\nmov.u32 %r1, 1;\nmov.u32 %r2, 1;\n"
    body += ".loc 1 3 1, function_name L, inlined_at 1 7 3\nret;"
    module = parse(f'.version 7.2\n.target sm_70\n.file 1 "/src/k.cu"\n.entry k()\n{{\n{body}\n}}\n')
    found = code_data(module.kernels["k"])
    assert found["cuda"] == [0, 0, 1]
    assert found["places"] == [
        {"path": "/src/k.cu", "line": 7, "name": "k.cu:7", "calls": []},
        {"path": "/src/k.cu", "line": 3, "name": "k.cu:3", "calls": ["k.cu:7"]},
    ]
    assert code_data(ptx("ret;"))["cuda"] == []


def test_zero_registers_and_sinks_have_no_lane() -> None:
    from kernels import ptxplus

    found = code_data(ptxplus("mov.u32 $r1, $r124;\nadd.u32 $p0/$o127, $r1, $r1;\nexit;"))
    assert [r["name"] for r in found["registers"]] == ["$r1", "$p0"]
    assert found["addresses"] == [0, 0, 0]


def test_an_empty_function() -> None:
    found = code_data(ptx(""))
    assert (found["lines"], found["registers"], found["peak"]) == ([], [], {"thread": None, "warp": None})
