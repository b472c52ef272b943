"""Diagnostics as values: their order, and as plain data."""

import pickle

from ptxtool.base.diag import Diagnostic, Note, PtxError, by_place
from ptxtool.base.source import Source

SOURCE = Source("f.ptx", "one\ntwo three\nfour")


def at(start: int, end: int, code: str = "E201") -> Diagnostic:
    return Diagnostic(code, "m", SOURCE, start, end)


def test_by_place_is_the_order_of_the_text() -> None:
    nowhere = Diagnostic("E501", "m")
    found = [at(8, 13), at(4, 7, "W201"), at(4, 7), at(4, 5), nowhere]
    assert by_place(found) == [nowhere, at(4, 5), at(4, 7), at(4, 7, "W201"), at(8, 13)]


def test_plain_data_has_both_ends_and_the_second_place() -> None:
    note = Note("first declared here", SOURCE, 0, 3)
    assert Diagnostic("E204", "twice", SOURCE, 4, 18, "rename", note).to_dict() == {
        "code": "E204",
        "severity": "error",
        "message": "twice",
        "file": "f.ptx",
        "line": 2,
        "column": 1,
        "end_line": 3,
        "end_column": 5,
        "help": "rename",
        "note": {
            "message": "first declared here",
            "file": "f.ptx",
            "line": 1,
            "column": 1,
            "end_line": 1,
            "end_column": 4,
        },
    }


def test_what_is_not_there_is_no_key() -> None:
    assert Diagnostic("W201", "m").to_dict() == {"code": "W201", "severity": "warning", "message": "m"}


def test_an_error_crosses_a_process_boundary_whole() -> None:
    problem = PtxError(Diagnostic("E204", "m", SOURCE, 4, 7, note=Note("n", SOURCE, 0, 3)))
    assert pickle.loads(pickle.dumps(problem)).diagnostics == problem.diagnostics
