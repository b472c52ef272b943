"""Live registers beside the code: a column per register."""

from kernels import ptx

from ptxtool import api
from ptxtool.report.kernels.live import live_data, live_listing

KERNEL = ptx(
    "mov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r1;\nadd.u32 %r2, %r2, %r1;\nst.global.u32 [%rd1], %r2;\nret;"
)


def test_marks_of_definitions_uses_and_lives() -> None:
    """Columns of %r1, %r2, %rd1: %rd1 is live from the beginning to the store, %r1 to its last use."""
    lines = str(live_listing(api.liveness(KERNEL))).splitlines()
    marks = [line[line.index(";") + 1 :].split(None, 1) for line in lines[-5:]]
    assert [m[0] for m in marks] == ["1", "2", "3", "2", "0"]
    beside = [m[1] if len(m) > 1 else "" for m in marks]
    assert [b.split() for b in beside] == [["^", ":"], ["v", "^", ":"], ["v", "x", ":"], ["v", "v"], []]


def test_where_columns_do_not_fit_names_stand() -> None:
    narrow = str(live_listing(api.liveness(KERNEL), width=41))
    assert "live before" in narrow
    assert "^" not in narrow
    assert max(map(len, narrow.splitlines()[2:])) <= 41


def test_plain_data_has_what_is_live_before_and_after() -> None:
    data = live_data(api.liveness(KERNEL))
    first = data["instructions"][0]
    assert (first["before"], first["after"]) == (["%rd1"], ["%r1", "%rd1"])
    assert data["instructions"][4] == {
        "instruction": 4,
        "line": data["instructions"][0]["line"] + 4,
        "text": "ret;",
        "before": [],
        "after": [],
    }
