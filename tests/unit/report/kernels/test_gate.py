"""Markdown and tables of a gate: hostile names stay in their cell."""

from ptxtool.formats.gate_limits import DEFAULT
from ptxtool.parse import parse
from ptxtool.report.kernels.gate import gate_markdown, gate_table
from ptxtool.results.gates import Measured, judged

K = parse(".version 7.5\n.target sm_75\n.entry k() { ret; }\n").kernels["k"]


def test_markdown_has_what_is_exceeded_first() -> None:
    found = judged(
        [Measured(K, {"registers": 5, "instructions": 8})],
        {"k": {"registers": 4, "instructions": 9}},
        DEFAULT,
    )
    lines = gate_markdown(found).split("\n")
    assert lines[0] == "### ❌ ptxtool gate: 1 limit exceeded, 1 kernel"
    assert lines[4] == "| `k` | registers | 4 | 5 | +1 (+25.0%) | <= 4 |"
    assert "<details><summary>1 change within limits</summary>" in lines
    assert "| `k` | instructions | 9 | 8 | -1 (-11.1%) |  |" in lines
    assert "EXCEEDED" in str(gate_table(found))


def test_names_do_not_leave_their_cell() -> None:
    found = judged([], {"a|b`<script>": {"registers": 1}}, DEFAULT)
    assert gate_markdown(found).endswith("- `a\\|b'&lt;script>`: no longer there")
