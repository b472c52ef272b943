"""Where the keys of a machine are set: in which of its files, and at which place of it."""

import pytest

from ptxtool.base.diag import PtxError, error
from ptxtool.base.source import Source
from ptxtool.formats.gpgpusim.text import Setting
from ptxtool.formats.layers import GpuFiles, Layer, locate

TEXT = """name = "mine"
[sm]
count = 7
[latency.add]
int = { latency = 9, interval = 1 }
[dram]
tRP = 5
tRC = [1, 2]
"""


@pytest.mark.parametrize(
    ("keys", "line", "word"),
    [
        ("name", 1, "name"),
        ("sm", 2, "sm"),
        ("sm.count", 3, "count"),
        ("latency.add", 4, "latency.add"),
        ("latency.add.int", 5, "int"),
        ("latency.add.int.interval", 5, "interval"),
        ("dram.tRC", 8, "tRC"),
        ("dram.tRC.1", 8, "tRC"),
    ],
)
def test_a_key_is_found_under_its_header_or_inline(keys: str, line: int, word: str) -> None:
    source = Source("mine.toml", TEXT)
    start, end = locate(source, tuple(keys.split(".")))
    assert (source.line(start), TEXT[start:end]) == (line, word)


@pytest.mark.parametrize(
    ("text", "keys", "place"),
    [
        ('sm.count = "x"', "sm.count", "1:4 count"),
        ("[latency]\nadd.int = { latency = 9, interval = 1 }", "latency.add.int", "2:5 int"),
        ("[latency]\nadd.int = { latency = 9, interval = 1 }", "latency.add.int.interval", "2:26 interval"),
        (
            "latency.add = { fp32 = { latency = 1 }, int.latency = 2 }",
            "latency.add.int.latency",
            "1:45 latency",
        ),
        ("a.b = [{ c = 1 }, { d = [2, { e = 3 }] }]\nc = 1", "c", "2:1 c"),
        ('[ sm ] # [no]\n"count" = 1', "sm.count", '2:1 "count"'),
        ('text = """\n[sm]\ncount = 1\n"""\n[sm]\nwarps = 1\ncount = 2', "sm.count", "7:1 count"),
        ("[sm]\nx = { }\ncount = 2", "sm.count", "3:1 count"),
    ],
)
def test_dotted_keys_and_inline_tables(text: str, keys: str, place: str) -> None:
    source = Source("mine.toml", text)
    start, end = locate(source, tuple(keys.split(".")))
    line, column = source.position(start)
    assert f"{line}:{column} {text[start:end]}" == place


@pytest.mark.parametrize("keys", ["sm.tRP", "l2.sets", "dram.count"])
def test_a_key_of_another_table_is_not_found(keys: str) -> None:
    assert locate(Source("mine.toml", TEXT), tuple(keys.split("."))) == (0, 0)


def test_the_first_file_that_has_a_key_is_its_place() -> None:
    over, below = Source("over.toml", "[sm]\nctas = 2\n"), Source("below.toml", TEXT)
    files = GpuFiles((Layer(over), Layer(below)))
    place = files.find(("sm", "ctas"))
    assert place is not None
    assert place[0] is over
    place = files.find(("sm", "count"))
    assert place is not None
    assert place[0] is below
    assert files.find(("sm", "warps")) is None


def test_a_key_of_a_gpgpu_sim_file_is_at_its_option() -> None:
    source = Source("gpgpusim.config", "-gpgpu_n_clusters 7")
    setting = Setting("gpgpu_n_clusters", "7", source, 0, 18, 19)
    layer = Layer(source, {"sm.count": setting})
    assert layer.find(("sm", "count")) == (source, 18, 19)
    assert layer.find(("sm", "ctas")) is None


def test_an_error_that_names_a_key_is_put_at_its_place() -> None:
    source = Source("mine.toml", TEXT)
    files = GpuFiles((Layer(source),))
    problem = error("E502", "mine: sm.count is 7", help="there are others")
    (found,) = files.placed(problem, "mine").diagnostics
    assert (found.message, found.line) == ("sm.count is 7", 3)
    (other,) = files.placed(error("E502", "mine: l2.sets is 7"), "mine").diagnostics
    assert (other.message, other.source) == ("mine: l2.sets is 7", None)


def test_an_error_that_has_a_place_keeps_it() -> None:
    source = Source("kernel.ptx", "ret;")
    problem: PtxError = error("E401", "sm.count is 7", source, 0, 3)
    (found,) = GpuFiles((Layer(Source("mine.toml", TEXT)),)).placed(problem, "mine").diagnostics
    assert found.source is source
