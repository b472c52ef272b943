"""Issue counts in what `ptxtool sim --json` wrote."""

import json
from pathlib import Path

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.formats.issue_counts import read_issue_counts


def test_kernel_and_counts(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"kernel": "k", "issues": [3, 0, 7], "cycles": 12}))
    found = read_issue_counts(str(path))
    assert (found.path, found.kernel, found.issues) == (str(path), "k", [3, 0, 7])


@pytest.mark.parametrize("text", ["no JSON", "[1, 2]", '{"kernel": "k"}', '{"kernel": "k", "issues": 3}'])
def test_what_is_no_result_of_a_run(text: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(PtxError) as caught:
        read_issue_counts(str(path))
    assert caught.value.diagnostics[0].code == "E502"
    assert "is no result of a run" in caught.value.diagnostics[0].message


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PtxError) as caught:
        read_issue_counts(str(tmp_path / "none.json"))
    assert caught.value.diagnostics[0].code == "E501"
