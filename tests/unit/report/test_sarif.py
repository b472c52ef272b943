"""SARIF: the required properties of the standard's schema, places in UTF-16 columns, names of files as URIs."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from ptxtool.base.diag import CODES, Diagnostic, Fix, Note
from ptxtool.base.source import Source
from ptxtool.report.kernels.checked import Checked
from ptxtool.report.sarif import sarif


def checked(*diagnostics: Diagnostic, name: str = "k.ptx") -> Checked:
    n_errors = sum(d.is_error for d in diagnostics)
    return Checked(name, diagnostics, n_errors, len(diagnostics) - n_errors)


def run_of(*files: Checked) -> dict[str, Any]:
    """The run of a log that has everything that the schema and GitHub's code scanning require."""
    log = sarif(files, "1.2.3")
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    assert set(log) == {"$schema", "version", "runs"}
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("ptxtool", "1.2.3")
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for rule in driver["rules"]:
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
        for key in ("shortDescription", "fullDescription", "help"):
            assert rule[key]["text"]
        uri = urlsplit(rule["helpUri"])
        assert Path(unquote(uri.path)).name == f"{rule['id']}.md"
        assert Path(unquote(uri.path)).is_file()
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert ids[result["ruleIndex"]] == result["ruleId"]
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            check_place(place["physicalLocation"])
        assert all("text" in place["message"] for place in result.get("relatedLocations", ()))
        for fix in result.get("fixes", ()):
            check_fix(fix)
    return run


def check_place(place: dict[str, Any]) -> None:
    uri = place["artifactLocation"]["uri"]
    assert "\\" not in uri
    assert uri.isascii()
    assert not any(c in uri for c in ' <>"')
    if "region" in place:
        region = place["region"]
        assert min(region[key] for key in ("startLine", "startColumn", "endLine", "endColumn")) >= 1
        assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])


def check_fix(fix: dict[str, Any]) -> None:
    """The properties that the schema requires of a fix, and no others."""
    assert set(fix) <= {"description", "artifactChanges"}
    assert fix.get("description", {"text": "-"})["text"]
    for change in fix["artifactChanges"]:
        assert set(change) == {"artifactLocation", "replacements"}
        assert change["replacements"]
        for replacement in change["replacements"]:
            assert set(replacement) <= {"deletedRegion", "insertedContent"}
            place = {"artifactLocation": change["artifactLocation"], "region": replacement["deletedRegion"]}
            check_place(place)
            assert set(replacement.get("insertedContent", {"text": ""})) == {"text"}


def first_place(*files: Checked) -> dict[str, Any]:
    place: dict[str, Any] = run_of(*files)["results"][0]["locations"][0]["physicalLocation"]
    return place


def test_a_result_points_at_its_rule_and_place() -> None:
    source = Source("k.ptx", "one\ntwo three\n")
    run = run_of(
        checked(
            Diagnostic("W201", "odd", source, 0, 3),
            Diagnostic("E201", "no 'three'", source, 8, 13, "try two"),
        )
    )
    rules = run["tool"]["driver"]["rules"]
    assert [(r["id"], r["shortDescription"]["text"]) for r in rules] == [
        ("E201", CODES["E201"]),
        ("W201", CODES["W201"]),
    ]
    warning, error = run["results"]
    assert (warning["ruleId"], warning["level"], warning["ruleIndex"]) == ("W201", "warning", 1)
    assert (error["ruleId"], error["level"], error["ruleIndex"]) == ("E201", "error", 0)
    assert error["message"]["text"] == "no 'three'\ntry two"
    assert error["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "k.ptx", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 10},
    }


@pytest.mark.parametrize(
    ("fix", "columns", "inserted"),
    [
        (Fix(8, 13, "2"), (5, 10), {"insertedContent": {"text": "2"}}),
        (Fix(7, 13, ""), (4, 10), {}),  # a deletion
        (Fix(8, 8, "a\n"), (5, 5), {"insertedContent": {"text": "a\n"}}),  # an insertion
    ],
)
def test_the_edit_of_check_fix_is_a_fix(fix: Fix, columns: tuple[int, int], inserted: dict[str, Any]) -> None:
    source = Source("k.ptx", "one\ntwo three\n")
    run = run_of(
        checked(Diagnostic("E201", "no 'three'", source, 8, 13, "write 2", fix=fix), Diagnostic("E501", "no"))
    )
    first, second = run["results"]
    region = {"startLine": 2, "startColumn": columns[0], "endLine": 2, "endColumn": columns[1]}
    change = {
        "artifactLocation": {"uri": "k.ptx", "uriBaseId": "%SRCROOT%"},
        "replacements": [{"deletedRegion": region, **inserted}],
    }
    assert first["fixes"] == [{"description": {"text": "write 2"}, "artifactChanges": [change]}]
    assert "fixes" not in second


def test_a_second_place_is_a_related_location() -> None:
    source = Source("k.ptx", "x\ny\n")
    run = run_of(checked(Diagnostic("E204", "again", source, 2, 3, note=Note("first here", source, 0, 1))))
    (related,) = run["results"][0]["relatedLocations"]
    assert related["message"] == {"text": "first here"}
    assert related["physicalLocation"]["region"]["startLine"] == 1


def test_columns_count_utf16_units() -> None:
    source = Source("k.ptx", "é𝒳 bad\n")
    region = first_place(checked(Diagnostic("E101", "m", source, 3, 6)))["region"]
    assert (region["startColumn"], region["endColumn"]) == (5, 8)


def test_a_span_over_several_lines() -> None:
    source = Source("k.ptx", "a (\n b\n) c\n")
    region = first_place(checked(Diagnostic("E101", "m", source, 2, 8)))["region"]
    assert region == {"startLine": 1, "startColumn": 3, "endLine": 3, "endColumn": 2}


def test_a_diagnostic_without_a_place_names_the_file() -> None:
    place = first_place(checked(Diagnostic("E501", "cannot read"), name="no where.ptx"))
    assert place == {"artifactLocation": {"uri": "no%20where.ptx", "uriBaseId": "%SRCROOT%"}}


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a b/k#1.ptx", "a%20b/k%231.ptx"),
        ("<stdin>", "%3Cstdin%3E"),
        ("../é.ptx", "../%C3%A9.ptx"),
        ("raw\udcff.ptx", "raw%FF.ptx"),
    ],
)
def test_names_become_uris(name: str, uri: str) -> None:
    place = first_place(checked(Diagnostic("E101", "m", Source(name, "x"), 0, 1)))
    assert place["artifactLocation"] == {"uri": uri, "uriBaseId": "%SRCROOT%"}


def test_absolute_names_are_relative_where_they_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inside = first_place(checked(Diagnostic("E101", "m", Source(str(tmp_path / "k.ptx"), "x"), 0, 1)))
    assert inside["artifactLocation"]["uri"] == "k.ptx"
    outside = first_place(checked(Diagnostic("E101", "m", Source("/elsewhere/k.ptx", "x"), 0, 1)))
    assert outside["artifactLocation"] == {"uri": "file:///elsewhere/k.ptx"}


def test_no_diagnostic_is_an_empty_run() -> None:
    run = run_of(checked())
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
