"""docs/model is what the repository cites: cited sections are headings, values of tables are those of the GPU files.

Cited are two documents, each in two ways: "timing-model section 1.5" and "TM 1.5" (all pages but one), "timing-model-42
section 1.5" and "TM42 1.5" (`gpgpusim42.md`). A citation may list several sections ("sections 1.2, 1.8 and 1.10", "3.4
to 3.6") and go on over the end of a line. A file that cites a document may say "(section 1.8)" alone afterwards.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import resident_ctas
from checkout import CHECKOUT

from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.gpu_names import gpu_names

MODEL = CHECKOUT / "docs" / "model"
FOLDERS = ("benchmarks", "docs", "ptxtool", "samples", "sim", "tests")
OLD, NEW = "timing-model", "timing-model-42"
NAMES = {"TM": OLD, "TM42": NEW}

_NUMBER = r"[0-9]+(?:\.[0-9]+)*"
_REMARK = r"(?:\s?\([^)]*\))?"  # "TM 1.3 (which port) and 1.6"
_LIST = rf"(?:{_NUMBER}{_REMARK}(?:(?:,? and |, | to )(?=[0-9]))?)+"
_CITATION = re.compile(
    rf"(?P<document>\b(?i:timing-model)(?:-\w+)?(?:\.md)?)(?:(?:,? sections?)? (?P<sections>{_LIST}))?"
    rf"|\b(?P<short>TM[0-9]*) (?P<short_sections>{_LIST})"
    rf"|(?<=\()section (?P<alone>{_NUMBER})(?=[),: ])"
    r"|(?P<unknown>\b(?i:timing models?))(?=,? (?:sections? )?[0-9])"
)
_CELL = re.compile(r"^(\d+(?:\.\d+)?)$")


def joined(text: str) -> str:
    """A text without the ends of its lines, so that a citation that goes on in the next line is one."""
    return re.sub(r"\s*\n[ \t]*(?:#+[ \t]*)?", " ", text)


def numbers(sections: str) -> Iterator[str]:
    """The sections of a list; those of a range "3.4 to 3.6" are all three."""
    last = ""
    for before, number in re.findall(rf"(to )?({_NUMBER})", re.sub(r"\([^)]*\)", "", sections)):
        if before:
            chapter, _, first = last.rpartition(".")
            end = int(number.rpartition(".")[2])
            yield from (f"{chapter}.{n}".lstrip(".") for n in range(int(first) + 1, end))
        yield number
        last = number


def citations(text: str) -> Iterator[tuple[str, str]]:
    """What a text cites: the document and a section, "" for the document as a whole.

    A section cited alone is of the document that the text cites by name; of the older one if of both.
    """
    found = list(_CITATION.finditer(joined(text)))
    names = [_document(match) for match in found]
    named = {name for name in names if name}
    for match, name in zip(found, names, strict=True):
        if match["alone"]:
            if named:
                yield (NEW if named == {NEW} else OLD), match["alone"]
        elif sections := match["sections"] or match["short_sections"]:
            yield from ((name, number) for number in numbers(sections))
        else:
            yield name, ""


def _document(match: re.Match[str]) -> str:
    """The document that a citation names, "" if none."""
    if match["short"]:
        return NAMES.get(match["short"], match["short"])
    return (match["document"] or match["unknown"] or "").lower()


def headings(page: Path) -> list[str]:
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    return re.findall(r"^#+ (.*)$", text, re.MULTILINE)


def section_numbers(page: Path) -> list[str]:
    return [h.split()[0] for h in headings(page) if re.match(rf"{_NUMBER} ", h)]


PAGES = sorted(MODEL.glob("*.md"))
SECTIONS: Mapping[str, set[str]] = {
    OLD: {n for page in PAGES if page.name != "gpgpusim42.md" for n in section_numbers(page)},
    NEW: set(section_numbers(MODEL / "gpgpusim42.md")),
}


def unresolved(text: str) -> list[str]:
    """Citations of a text that lead nowhere."""
    return [
        f"{document} {section}".rstrip()
        for document, section in citations(text)
        if document not in SECTIONS or (section and section not in SECTIONS[document])
    ]


def cited_files() -> list[Path]:
    found = list(CHECKOUT.glob("*.md"))
    for folder in FOLDERS:
        for suffix in ("py", "toml", "md"):
            found += (CHECKOUT / folder).rglob(f"*.{suffix}")
    return sorted(path for path in found if path != Path(__file__).resolve())


def test_every_cited_section_is_a_heading() -> None:
    wrong, n_citations, n_files = {}, 0, 0
    for path in cited_files():
        text = path.read_text(encoding="utf-8")
        n = len(list(citations(text)))
        n_citations += n
        n_files += n > 0
        if lost := unresolved(text):
            wrong[str(path.relative_to(CHECKOUT))] = lost
    assert not wrong
    assert n_citations > 200  # the patterns still see them
    assert n_files > 60


def test_tables_that_have_a_section_in_each_row() -> None:
    """docs/stages.md (those of 4.2 say so in the row) and the figures of GPGPU-Sim 4.2 in docs/accuracy.md."""
    stages = (CHECKOUT / "docs" / "stages.md").read_text(encoding="utf-8")
    rows = [row for row in _rows(stages) if _CELL.match(row[0])]
    assert len(rows) > 30
    assert [r for r in rows if r[0] not in SECTIONS[NEW if NEW in " ".join(r) else OLD]] == []
    for number in re.findall(rf"^\|[^|]*\(({_NUMBER})(?:: [^)]*)?\) \|", stages, re.MULTILINE):
        assert number in SECTIONS[OLD]
    accuracy = (CHECKOUT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    figures = accuracy.split("<!-- gpgpusim42-c2050 -->")[1].split("<!-- end")[0]
    cited = {row[0] for row in _rows(figures) if _CELL.match(row[0])}
    assert len(cited) > 5
    assert cited <= SECTIONS[NEW]


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("as timing-model section 1.7 says", []),
        ("as timing-model section 1.17 says", ["timing-model 1.17"]),
        ("timing-model-42 section 1.10", []),
        ("timing-model section 1.10", ["timing-model 1.10"]),
        ("(timing-model-42\n    # section 9.9)", ["timing-model-42 9.9"]),
        ("timing-model sections 1.2, 1.8 and 8.1.", ["timing-model 8.1"]),
        ("Timing-model sections 1.8 to 1.11", ["timing-model 1.10", "timing-model 1.11"]),
        ("timing-model 3.5, and timing-model 3.7", ["timing-model 3.7"]),
        ("count = 3 # TM 0, 8: SMs", ["timing-model 8"]),
        ("# TM42 1.3 (which port) and 1.66", ["timing-model-42 1.66"]),
        ("# TM43 1.3", ["TM43 1.3"]),
        ("timing-model-43 section 1", ["timing-model-43 1"]),
        ("the stages of timing-model.md", ["timing-model.md"]),
        ("a figure of timing-model-42.", []),
        ("timing-model section 2; elsewhere (section 2.2)", ["timing-model 2.2"]),
        ("A paper (section 2.2)", []),
        ("timing model, section 1.1", ["timing model"]),
        ("timing models 3.4", ["timing models"]),
        ("a timing model of 3 stages", []),
    ],
)
def test_a_citation_that_leads_nowhere_is_seen(text: str, lost: list[str]) -> None:
    assert unresolved(text) == lost


def test_sections_are_numbered_once_and_in_order() -> None:
    order = ("machine", "memory", "statistics", "sharing", "switching", "simplifications")
    unnumbered = {"README.md", "gpgpusim42.md", "volta.md", "volta-memory.md", "hardware.md"}
    assert {f"{name}.md" for name in order} | unnumbered == {page.name for page in PAGES}
    for pages in (order, ("gpgpusim42",)):
        found = [n for name in pages for n in section_numbers(MODEL / f"{name}.md")]
        assert found == sorted(set(found), key=lambda n: [int(part) for part in n.split(".")])


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_index_has_every_section() -> None:
    index = (MODEL / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\[([^\]]+)\]\((\w+\.md)#([\w-]+)\)", index)
    there = [(h, page.name, _anchor(h)) for page in PAGES for h in headings(page) if re.match(_NUMBER, h)]
    assert sorted(linked) == sorted(there)


def _rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def _value(machine: str, key: str) -> str:
    part: Any = load_gpu(machine)
    if key.startswith("latency."):
        _, unit, kind = key.split(".")
        timing = part.latency[unit][kind]
        return f"{timing.unit} {timing.latency}/{timing.interval}"
    for name in key.split("."):
        part = getattr(part, name)
    if isinstance(part, bool):
        return str(part).lower()
    return ", ".join(map(str, part)) if isinstance(part, tuple) else str(part)


def _tables(text: str) -> Iterator[list[list[str]]]:
    """The tables of a page as rows, the heads first."""
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = _rows(table)
        yield [head, *rows]


def test_values_are_those_of_the_gpu_files() -> None:
    compared = 0
    for page in PAGES:
        for head, *rows in _tables(page.read_text(encoding="utf-8")):
            if head[:2] != ["key", "meaning"]:
                continue
            machines = [name.strip("`") for name in head[2:]]
            for name, _, *cells in rows:
                key = name.strip("`")
                values = [cells[0] if cell == "=" else cell for cell in cells]
                assert values == [_value(machine, key) for machine in machines], f"{page.name}: {key}"
                compared += len(values)
    assert compared > 400


def test_times_of_dram_are_those_of_all_gpu_files() -> None:
    times = re.findall(
        r"^\| `dram\.(\w+)` \| (\d+) \|", (MODEL / "memory.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(times) == 15
    for machine in gpu_names():
        if load_gpu(machine).dram.atom_bytes == 32:
            continue  # other memories, of Pascal and after
        for name, value in times:
            assert _value(machine, f"dram.{name}") == value


def test_resident_ctas_are_those_of_the_papers() -> None:
    expected = {**resident_ctas.REGISTERS, **resident_ctas.SCRATCHPAD}
    seen: set[str] = set()
    for head, *rows in _tables((MODEL / "statistics.md").read_text(encoding="utf-8")):
        if head[0] != "application":
            continue
        assert head[3:] == [f"{percent}%" for percent in resident_ctas.PERCENT]
        for names, threads, _, *ctas in rows:
            for name in names.split(", "):
                assert (int(threads), tuple(map(int, ctas))) == expected[name][::2]
                seen.add(name)
    assert seen == set(expected)


def test_the_rows_of_the_micro_kernels_are_there() -> None:
    tables = list(_tables((MODEL / "simplifications.md").read_text(encoding="utf-8")))
    (rows,) = ([row[0] for row in table[1:]] for table in tables if table[0][0] == "row")
    assert rows == [str(n) for n in range(1, 25)]
    accuracy = (CHECKOUT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    figures = accuracy.split("<!-- tesla-c2050 -->")[1].split("<!-- end")[0]
    assert {row[0] for row in _rows(figures) if _CELL.match(row[0])} == set(rows)
