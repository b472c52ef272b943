"""Files of events as Perfetto reads them: always valid JSON, packed or not, in place only when whole."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.formats.trace_events import TraceEvents


def written(path: Path, n: int = 1) -> dict[str, Any]:
    events = TraceEvents(path)
    for k in range(n):
        events.process(1, 'the "GPU"', 0)
        events.track(1, 10, "Spur \N{LATIN SMALL LETTER A WITH DIAERESIS}\n", 3)
        events.slice(1, 10, 5 * k, 5 * k + 5, "work\\", '{"line":7}')
        events.span(1, k, k + 20, "load")
        events.counter(1, k, "rates", {"a": 0.125, "b": 1 / 3, "c": 12345678})
    assert events.n_events == 4 * n
    assert not path.exists()
    events.close({"about": [n]})
    data = path.read_bytes()
    file: dict[str, Any] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return file


def test_every_kind_of_event(tmp_path: Path) -> None:
    assert written(tmp_path / "t.json") == {
        "traceEvents": [
            {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": 'the "GPU"'}},
            {"ph": "M", "pid": 1, "name": "process_sort_index", "args": {"sort_index": 0}},
            {"ph": "M", "pid": 1, "tid": 10, "name": "thread_name", "args": {"name": "Spur ä\n"}},
            {"ph": "M", "pid": 1, "tid": 10, "name": "thread_sort_index", "args": {"sort_index": 3}},
            {"ph": "X", "pid": 1, "tid": 10, "ts": 0, "dur": 5, "name": "work\\", "args": {"line": 7}},
            {"ph": "b", "cat": "load", "id": "0x1", "pid": 1, "name": "load", "ts": 0, "args": {}},
            {"ph": "e", "cat": "load", "id": "0x1", "pid": 1, "name": "load", "ts": 20},
            {
                "ph": "C",
                "pid": 1,
                "ts": 0,
                "name": "rates",
                "args": {"a": 0.125, "b": 0.333333, "c": 12345678},
            },
        ],
        "otherData": {"about": [1]},
    }


def test_packed_or_not_the_content_is_the_same(tmp_path: Path) -> None:
    plain, packed = tmp_path / "t.json", tmp_path / "t.json.gz"
    assert written(plain, 5000) == written(packed, 5000)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert packed.read_bytes()[4:8] == b"\0\0\0\0"  # the header's time: the same content is the same bytes


def test_no_events(tmp_path: Path) -> None:
    assert written(tmp_path / "t.json", 0) == {"traceEvents": [], "otherData": {"about": [0]}}


def test_dropped(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("old")
    events = TraceEvents(path)
    events.slice(1, 10, 0, 5, "work")
    events.drop()
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk() -> None:
    events = TraceEvents("/dev/full")
    events.slice(1, 10, 0, 5, "work")
    with pytest.raises(PtxError, match="E503"):
        events.close({})
