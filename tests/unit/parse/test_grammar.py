"""The grammar file as the per-statement parser reads it, and Lark beside it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptxtool.parse import grammar, parse
from ptxtool.parse.grammar import FlatRule, grammar_text, lark_parse, terminals

TYPICAL = """\
.version 8.6
.target sm_75
.address_size 64
.visible .entry k(
	.param .u64 k_param_0
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.shared .align 4 .b8 tile[1024];
	.loc	1 10 3
	ld.param.u64 	%rd1, [k_param_0];
	mad.lo.s32 	%r1, %r2, %r3, -4;
	@%p1 bra 	$L__BB0_2;
	st.global.v2.u32 	[%rd1+8], {%r1, %r2};
	call.uni (retval0), f, (param0, param1);
$L__BB0_2:
	ret;
}
"""


def test_every_terminal_is_read() -> None:
    """None is written in a way that only Lark understands."""
    defined = re.findall(r"^([A-Z_]+)(?:\.\d+)?:", grammar_text(), re.MULTILINE)
    assert sorted(defined) == sorted(terminals())
    for name, terminal in terminals().items():
        assert re.compile(terminal.regex).groups == 0, name


def test_lark_has_the_same_terminals() -> None:
    parser, _ = grammar._lark_parser()
    written = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r", "\f": r"\f", "\v": r"\v"})
    for definition in parser.terminals:
        if definition.name in terminals():
            value = definition.pattern.value.translate(written).replace(r"\/", "/")
            assert value == terminals()[definition.name].regex
            assert definition.priority == terminals()[definition.name].priority


def test_a_shape_reads_the_longest_stretch_that_follows_its_rule() -> None:
    tokens = FlatRule("version").match("  .version /* c */ 1.4+ .target", 0)
    assert tokens is not None
    kinds = [("VERSION", ".version"), ("VERSION_NUMBER", "1.4"), ("PLUS", "+")]
    assert [(t.kind, t.text) for t in tokens] == kinds
    assert FlatRule("version").match(".version sm_20", 0) is None
    target = FlatRule("target").match(".target sm_10, debug .address_size", 0)
    assert target is not None
    assert [t.text for t in target] == [".target", "sm_10", ",", "debug"]


def test_a_shape_prefers_the_terminal_of_higher_priority() -> None:
    head = FlatRule("function_head").match(".entry k (.param .align 8 .b8 a[4]) .maxntid 1 {", 0)
    assert head is not None
    kinds = [t.kind for t in head]
    assert kinds.count("ALIGN") == 1
    assert kinds.count("TUNING") == 1


@pytest.mark.parametrize("garbage", [b"", b"not a parser", b"\x80\x04}."])
def test_a_damaged_cache_file_is_built_anew(
    garbage: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tables"
    file.write_bytes(garbage)
    monkeypatch.setattr(grammar, "_cache_file", lambda: str(file))
    grammar._lark_parser.cache_clear()
    try:
        assert len(lark_parse(parse(TYPICAL).source, "module", 0, len(TYPICAL))) == 4
        assert file.stat().st_size > 1000
        grammar._lark_parser.cache_clear()
        assert len(lark_parse(parse(TYPICAL).source, "module", 0, len(TYPICAL))) == 4
    finally:
        grammar._lark_parser.cache_clear()


def test_no_folder_for_the_cache_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "_cache_file", lambda: None)
    grammar._lark_parser.cache_clear()
    try:
        assert len(lark_parse(parse(TYPICAL).source, "module", 0, len(TYPICAL))) == 4
    finally:
        grammar._lark_parser.cache_clear()


def test_ordinary_files_need_no_lark() -> None:
    """Importing Lark and building its tables would be most of the time a small file takes."""
    program = (
        f"import sys; from ptxtool.parse import parse; parse({TYPICAL!r}); sys.exit('lark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
