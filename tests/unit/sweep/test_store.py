"""The store: what is put in comes out, even with concurrent writers, and what is no store is refused."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from tinysweep import write

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.results.sweeps import Configuration, StoredResult
from ptxtool.sweep.plan import Planned, plan
from ptxtool.sweep.store import Store

DONE = StoredResult("done", {"cycles": 7, "stats": {}}, ("x",), (), "digest")
LOST = StoredResult("lost", problems=({"code": "E504", "message": "gone", "text": "gone"},))


@pytest.fixture
def planned(tmp_path: Path) -> Sequence[Planned]:
    write(tmp_path)
    runs = [Configuration(tmp_path / "scale.ptx", scheduler=name) for name in ("lrr", "gto", "owf")]
    return plan(runs, api.kernel)


def test_what_is_put_in_comes_out(tmp_path: Path, planned: Sequence[Planned]) -> None:
    with Store(tmp_path / "s.db") as store:
        store.begin("one", planned)
        store.put(planned[1].key, DONE)
    with Store(tmp_path / "s.db", reading=True) as store:
        assert store.finished(p.key for p in planned) == {planned[1].key}
        result = store.result()
    assert result.name == "one"
    assert [record.label for record in result] == ["scale lrr", "scale gto", "scale owf"]
    assert [record.status for record in result] == ["waiting", "done", "waiting"]
    assert result["scale gto"].outcome == DONE
    assert result["scale gto"].axes == planned[1].configuration.axes
    assert not result.complete


def test_a_result_stays_and_a_lost_run_is_replaced(tmp_path: Path, planned: Sequence[Planned]) -> None:
    key = planned[0].key
    with Store(None) as store:
        store.begin("one", planned)
        store.put(key, LOST)
        assert store.finished([key]) == set()
        assert store.result()["scale lrr"].outcome == LOST
        store.put(key, DONE)
        store.put(key, LOST)
        assert store.finished([key]) == {key}
        assert store.result()["scale lrr"].outcome == DONE


def test_sweeps_share_results_and_the_latest_is_shown(planned: Sequence[Planned]) -> None:
    with Store(None) as store:
        store.begin("one", planned)
        store.begin("two", planned[:1])
        store.put(planned[0].key, DONE)
        assert store.names() == ("two", "one")
        assert len(store.result()) == 1
        assert store.result("one")["scale lrr"].ok
        store.begin("one", planned[1:])
        assert store.names() == ("one", "two")
        assert [record.status for record in store.result()] == ["waiting", "waiting"]
        with pytest.raises(PtxError, match=r"E502.*has no sweep 'tow'\n.*did you mean 'two'"):
            store.result("tow")


def test_many_may_write_at_once(tmp_path: Path, planned: Sequence[Planned]) -> None:
    path = tmp_path / "s.db"

    def writer(k: int) -> None:
        with Store(path) as store:
            store.begin(f"sweep{k}", planned)
            for n in range(20):
                store.put(f"key{k}.{n}", DONE)
                store.put(planned[n % 3].key, DONE)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(writer, range(6)))
    with Store(path) as store:
        assert set(store.names()) == {f"sweep{k}" for k in range(6)}
        assert len(store.finished(f"key{k}.{n}" for k in range(6) for n in range(20))) == 120
        assert store.result("sweep3").counts() == {"done": 3}
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


@contextmanager
def nobody_in_particular() -> Iterator[None]:
    """The rights of a user who owns nothing: the superuser may write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_store_where_nothing_can_be_written_is_shown(planned: Sequence[Planned]) -> None:
    with tempfile.TemporaryDirectory() as name:  # its parents can be read by all
        folder = Path(name)
        path = folder / "s.db"
        with Store(path) as store:
            store.begin("one", planned)
            store.put(planned[0].key, DONE)
        path.chmod(0o444)
        folder.chmod(0o555)
        before = path.read_bytes()
        try:
            with nobody_in_particular():
                assert api.load_sweep(path).counts() == {"done": 1, "waiting": 2}
                with pytest.raises(PtxError, match=r"E503.*readonly"):
                    Store(path)
        finally:
            folder.chmod(0o755)
        assert (path.read_bytes(), [p.name for p in folder.iterdir()]) == (before, ["s.db"])


def test_reading_writes_nothing_and_sees_what_is_written_meanwhile(
    tmp_path: Path, planned: Sequence[Planned]
) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.begin("one", planned)
        store.put(planned[0].key, DONE)  # in the log, not yet in the file
        with Store(path, reading=True) as reader:
            assert reader.result().counts() == {"done": 1, "waiting": 2}
            with pytest.raises(PtxError, match="readonly"):
                reader.put(planned[1].key, DONE)
            store.put(planned[1].key, DONE)
            assert reader.result().counts() == {"done": 2, "waiting": 1}
    assert [p.name for p in tmp_path.glob("s.db*")] == ["s.db"]


def test_a_file_that_is_no_store_is_reported_in_the_words_of_who_reads(tmp_path: Path) -> None:
    corrupt = tmp_path / "corrupt.db"
    Store(corrupt).__exit__()
    corrupt.write_bytes(corrupt.read_bytes()[:50] + b"x" * 4000)
    empty = tmp_path / "empty.db"
    empty.touch()
    for path in (corrupt, empty):
        with pytest.raises(PtxError, match=r"E502.*is no store of sweeps") as reported:
            api.load_sweep(path)
        assert reported.value.diagnostics[0].help == "give the store that 'ptxtool sweep' has written"
    assert not empty.read_bytes()


def test_what_is_no_store_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database " * 100)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    later = tmp_path / "later.db"
    Store(later).__exit__()
    with sqlite3.connect(later) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    for path, message in (
        (text, r"E502.*is no store of sweeps"),
        (other, r"E502.*is no store of sweeps"),
        (later, r"E502.*of another version"),
        (tmp_path / "no" / "s.db", r"E503.*cannot use store"),
        (tmp_path, r"E503.*cannot use store"),
    ):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(PtxError, match=message):
            Store(path)
        assert before == (path.read_bytes() if path.is_file() else b"")
    with pytest.raises(PtxError, match=r"E501.*no such file"):
        Store(tmp_path / "nowhere.db", reading=True)
    assert not (tmp_path / "nowhere.db").exists()
    with Store(None) as store, pytest.raises(PtxError, match=r"E502.*has no sweep"):
        store.result()


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("results", "outcome", "{"),
        ("results", "outcome", "[" * 100_000),
        ("results", "outcome", '{"status": "ended"}'),
        ("results", "outcome", b"\xff"),
        ("results", "outcome", '{"status": "done", "counters": {"stats": {"l1d_hits": []}}}'),
        ("results", "outcome", '{"status": "done", "counters": {"cycles": 7}}'),
        ("runs", "axes", "{}"),
        ("runs", "axes", "null"),
        ("runs", "label", b"\0"),
    ],
)
def test_a_damaged_row_is_reported(
    tmp_path: Path, planned: Sequence[Planned], table: str, column: str, value: object
) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.begin("one", planned)
        store.put(planned[1].key, DONE)
    database = sqlite3.connect(path)
    database.execute(f"UPDATE {table} SET {column} = ?", (value,))
    database.commit()
    database.close()
    with (
        Store(path, reading=True) as store,
        pytest.raises(PtxError, match=r"E502.*s\.db' is damaged: the row of run"),
    ):
        store.result()
