"""The page of a kernel in a real browser: what is drawn is what was embedded, and the keyboard reaches all of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, browser, needs_axe, needs_chromium
from scalekernel import LAUNCH, SCALE

from ptxtool import api
from ptxtool.parse import parse

pytestmark = [needs_chromium, pytest.mark.slow]
BRANCHES = """\
.version 7.2
.target sm_70
.address_size 64
.file 1 "k.cu"
.visible .entry branches(.param .u64 p)
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<6>;
\t.reg .b64 %rd<2>;
\tld.param.u64 %rd1, [p];
\tmov.u32 %r1, %tid.x;
\tmov.u32 %r2, 0;
$L_loop:
\t.loc 1 3 0
\tadd.u32 %r2, %r2, %r1;
\tsetp.lt.u32 %p1, %r2, 100;
\t@%p1 bra $L_loop;
\t.loc 1 4 0
\tst.global.u32 [%rd1], %r2;
\tret;
}
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages of a kernel with runs, of one without, and of one with 5,000 instructions."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "launch.toml").write_text(LAUNCH)
    (folder / "k.cu").write_text("__global__ void k()\n{\n  for (;;) <b>i</b>;\n  *p = 1;\n}\n")
    scale = parse(SCALE, name="scale.ptx").kernels["scale"]
    changes = ("scheduler=gto", "passes=allocate", "set=sm.count=7", "set=sm.registers=256,name=tiny")
    branches = parse(BRANCHES, name=str(folder / "branches.ptx")).kernels["branches"]
    from ptxtool.formats.cuda_sources import CudaSources

    lines = "\n".join(f"\tadd.u32 %r{k % 5 + 1}, %r{k % 4 + 1}, {k};" for k in range(4998))
    long = BRANCHES.replace("\tst.global", f"{lines}\n\tst.global").replace("branches", "long")
    made = {
        "runs": api.page(scale, folder / "launch.toml", runs=changes, ptxas=False).html,
        "text": api.page(branches, threads=64, ptxas=False, sources=CudaSources(print)).html,
        "long": api.page(parse(long).kernels["long"], ptxas=False).html,
    }
    for name, text in made.items():
        (folder / f"{name}.html").write_text(text)
    return {name: folder / f"{name}.html" for name in made}


VIEW = "(() => { const f = DATA.kernel.texts[0].functions[0]; return %s; })()"


@pytest.mark.parametrize("name", ["runs", "text", "long"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_it_loads_without_errors_and_asks_for_nothing(
    chromium: Browser, pages: dict[str, Path], name: str, width: int, height: int
) -> None:
    chromium.errors.clear()
    chromium.requests.clear()
    chromium.open(pages[name], width, height)
    n_tabs = chromium.run("document.querySelectorAll('[role=tab]').length")
    for k in range(n_tabs):
        chromium.run(f"document.querySelectorAll('[role=tab]')[{k}].click()")
        chromium.settle()
        assert len(chromium.run("document.getElementById('panel').textContent")) > 10
    assert chromium.errors == []
    assert [url for url in chromium.requests if not url.startswith("file:")] == []
    assert chromium.run("document.documentElement.scrollWidth") <= width  # nothing but panes scrolls sideways


def test_rows_are_those_of_the_text(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["text"])
    rows = "[...document.querySelectorAll('.row.is-code .src')].map((c) => c.title)"
    assert chromium.run(rows) == chromium.run(VIEW % "f.texts")
    live = "[...document.querySelectorAll('.row.is-code .live')].map((c) => Number(c.textContent))"
    assert chromium.run(live) == chromium.run(VIEW % "f.warp")
    assert "peak" in chromium.run("document.querySelector('.row.peak').textContent")
    # the branch of the loop is marked, and the block's instructions are indented by its depth
    tags = chromium.run("[...document.querySelectorAll('.tag')].map((t) => t.textContent)")
    assert tags == ["peak: 4 live", "may diverge, rejoins line 19"]


def test_lanes_are_the_live_intervals(chromium: Browser, pages: dict[str, Path]) -> None:
    """Every interval has a lane of its own class, no two values share a place, and what is filled of a row before an
    instruction is the registers live there."""
    chromium.open(pages["long"])
    found = chromium.run(
        VIEW
        % "({ lanes: layLanes(f).intervals, registers: f.registers, warp: f.warp, predicates: f.predicates })"
    )
    places: dict[tuple[int, int], int] = {}
    filled = [0] * len(found["warp"])
    spans: dict[int, list[int]] = {}
    for lane in found["lanes"]:
        spans.setdefault(lane["k"], []).extend((lane["from"], lane["to"]))
        defined = set(found["registers"][lane["k"]]["defs"])
        for i in range(lane["from"], lane["to"] + 1):
            for unit in range(lane["units"]):
                assert places.setdefault((i, lane["x"] + unit), lane["k"]) == lane["k"]
            if not (i == lane["from"] and i in defined):
                filled[i] += found["registers"][lane["k"]]["units"]
    assert filled == found["warp"]
    assert {k: sorted(v) for k, v in spans.items()} == {
        k: register["live"] for k, register in enumerate(found["registers"]) if register["live"]
    }


def test_lanes_are_drawn_where_they_are(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["text"])
    filled, free = chromium.run("""(() => {
      const f = DATA.kernel.texts[0].functions[0], canvas = document.querySelector('.hold canvas');
      const pen = canvas.getContext('2d'), box = canvas.getBoundingClientRect(), { intervals, units } = layLanes(f);
      const size = (canvas.clientWidth - 8) / units, filled = [], free = [];
      document.querySelectorAll('.row.is-code').forEach((row, i) => {
        const y = Math.round(row.getBoundingClientRect().top - box.top + 4);
        const opacity = (unit) => pen.getImageData(Math.floor(unit * size + 3), y, 1, 1).data[3];
        for (const l of intervals) if (l.from < i && i <= l.to) filled.push(opacity(l.x));
        for (let u = 0; u < units && i !== f.peak.warp; u++)
          if (!intervals.some((l) => l.from <= i && i <= l.to && u >= l.x && u < l.x + l.units)) free.push(opacity(u));
      });
      return [filled, free];
    })()""")
    assert len(filled) > 10
    assert min(filled) > 60
    assert len(free) > 5
    assert max(free) == 0


def test_the_curve_is_the_pressure(chromium: Browser, pages: dict[str, Path]) -> None:
    """Below the curve there is colour, above it none: on the curve of 5,000 instructions, at every twentieth pixel."""
    chromium.open(pages["text"])
    chromium.press("Home")
    found = chromium.run("""(() => {
      const f = DATA.kernel.texts[0].functions[0], canvas = document.querySelector('.overview canvas');
      const w = canvas.clientWidth, h = canvas.clientHeight;
      const rows = document.querySelectorAll('.row:not(.head .row)').length;
      const pen = canvas.getContext('2d'), high = h - 8, most = Math.max(...f.warp);
      const row = (i) => Number(document.querySelectorAll('.row.is-code')[i].dataset.row);
      const colour = (x, y) => [...pen.getImageData(x, y, 1, 1).data].join();
      return f.warp.map((n, i) => { const x = Math.round((row(i) + 0.7) * w / rows), top = 4 + high - high * n / most;
        return [n < most ? colour(x, Math.round(top - 4)) : null, n > 1 ? colour(x, Math.round(top + 5)) : null]; });
    })()""")
    above = {a for a, _ in found if a}
    below = {b for _, b in found if b}
    assert above
    assert below
    assert not above & below


def test_the_keyboard_path(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["runs"])
    selected = "document.querySelector('.row.here')?.querySelector('.ln').textContent"
    # Tab reaches the code; arrow keys move in it, and the panel follows
    chromium.run("document.activeElement.blur()")
    for _ in range(20):
        chromium.press("Tab")
        if chromium.run("document.activeElement.getAttribute('role')") == "grid":
            break
    assert chromium.run("document.activeElement.getAttribute('role')") == "grid"
    chromium.press("Home")
    assert chromium.run(selected) == "9"
    chromium.press("ArrowDown", "ArrowDown")
    assert chromium.run(selected) == "11"
    assert "mov.u32 %r1, %ntid.x" in chromium.run("document.getElementById('panel').textContent")
    active = chromium.run(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).className"
    )
    assert "here" in active
    # p: the peak; h: the hottest; 2: the second panel; search
    chromium.press("p")
    assert chromium.run("document.querySelector('.row.peak').classList.contains('here')")
    chromium.press("h")
    hottest = chromium.run(
        "(() => { const s = DATA.kernel.runs[0].hotspots.lost; return s.indexOf(Math.max(...s)); })()"
    )
    assert chromium.run(selected) == str(9 + hottest)
    chromium.press("2")
    assert chromium.run("document.querySelector('[role=tab][aria-selected=true]').textContent") == "Stalls"
    chromium.press("/", *"st.global", "Enter")
    assert chromium.run(selected) == "19"
    # arrows move between tabs
    chromium.run("document.getElementById('tab-stalls').focus()")
    chromium.press("ArrowRight")
    assert chromium.run("document.activeElement.id") == "tab-graph"
    chromium.press("t")
    assert chromium.run("document.documentElement.dataset.theme") == "dark"
    chromium.press("t", "?")
    assert chromium.run("document.querySelector('dialog').open")
    chromium.press("Escape")
    assert not chromium.run("document.querySelector('dialog').open")


def test_a_register_is_pinned_and_stepped_through(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["text"])
    chromium.run("[...document.querySelectorAll('.reg')].find((r) => r.textContent === '%r2').click()")
    chromium.settle()
    assert chromium.run(
        "[...new Set([...document.querySelectorAll('.reg.pin')].map((r) => r.textContent))]"
    ) == ["%r2"]
    line = "Number(document.querySelector('.row.here .ln').textContent)"
    assert chromium.run(line) == 12  # its definition; it is used at 15, 16 and 19
    seen = []
    for _ in range(4):
        chromium.press("]")
        seen.append(chromium.run(line))
    assert seen == [15, 16, 19, 12]


def test_hovering_a_lane_names_its_register(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["text"])
    x, y = chromium.run(
        "((box) => [box.left + 5, box.top + 50])(document.querySelector('.hold canvas').getBoundingClientRect())"
    )
    chromium.mouse("mouseMoved", x, y)
    assert chromium.run("document.querySelector('.tip').textContent").splitlines() == [
        "%r1  32-bit, 1 register",
        "defined at lines 11",
        "used at lines 15",
    ]


def test_runs_side_by_side_and_their_differences(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["runs"])
    choose = (
        "((choice) => { choice.value = '%d'; choice.dispatchEvent(new Event('change', { bubbles: true })); })"
        "(document.querySelectorAll('header select')[%d])"
    )
    chromium.run(choose % (2, 0))
    chromium.run(choose % (0, 1))
    chromium.settle()
    kernel = chromium.run("DATA.kernel")
    cells = "[r.querySelector('.src').title, r.querySelector('.diff').textContent]"
    shown = chromium.run(f"[...document.querySelectorAll('.row.is-code')].map((r) => {cells})")
    text = kernel["texts"][kernel["runs"][2]["text"]]
    assert [title for title, _ in shown] == text["functions"][0]["texts"]
    now, then = (kernel["runs"][k]["hotspots"] for k in (2, 0))
    for g, (_, change) in enumerate(shown):
        percent = 100 * now["lost"][g] / now["total"] - 100 * then["lost"][text["before"][g]] / then["total"]
        assert float((change or "0").replace("−", "-").replace("±", "")) == pytest.approx(percent, abs=0.051)
    chromium.run("document.getElementById('tab-runs').click()")
    chromium.settle()
    heads = chromium.run("[...document.querySelectorAll('#panel thead button')].map((b) => b.textContent)")
    assert heads == ["baseline", "scheduler=gto", "passes=allocate", "set=sm.count=7"]
    # the run that the machine refuses is a column without figures
    assert chromium.run("document.querySelector('#panel thead th:last-child').textContent") == "tiny"
    reason = chromium.run("document.querySelector('td.refused').textContent")
    assert reason.startswith("refused (E402)")
    assert kernel["refused"][0]["reason"] in reason
    assert chromium.run("document.querySelector('#panel h2').textContent") == "4 runs, 1 refused"


def test_the_graph_has_every_block_and_edge(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["text"])
    chromium.run("document.getElementById('tab-graph').click()")
    chromium.settle()
    blocks, edges = chromium.run(VIEW % "[f.blocks.length, f.edges.length]")
    assert chromium.run("document.querySelectorAll('.graph .node').length") == blocks == 3
    # an edge is a line and an arrow: falls to the next block are straight, the others have a title
    falls = chromium.run(VIEW % "f.edges.filter(([a, b]) => b === a + 1 && b < f.blocks.length).length")
    assert (
        chromium.run("document.querySelectorAll('.graph path').length") == 2 * edges + 1
    )  # and a loop's bracket
    assert falls == 2
    titles = chromium.run("[...document.querySelectorAll('.graph title')].map((t) => t.textContent)")
    assert "B1 to B1 (taken), lanes may part" in titles
    chromium.run("document.querySelectorAll('.graph .node')[2].focus()")
    chromium.press("Enter")
    assert chromium.run("document.querySelector('.row.here .ln').textContent") == "19"


def test_cuda_lines_beside_the_code(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["text"])
    chromium.run("document.querySelector('.code').focus()")
    chromium.press("Home")
    lines = chromium.run("[...document.querySelectorAll('.cudalines button')].map((b) => b.textContent)")
    assert lines == ["33×  for (;;) <b>i</b>;", "42×  *p = 1;"]  # 3 instructions of line 3, 2 of line 4
    chromium.run("document.querySelector('.cudalines button').click()")
    assert chromium.run("document.querySelector('.row.here .ln').textContent") == "15"
    assert chromium.run("document.querySelector('.cudalines .here').textContent") == lines[0]


def test_5000_instructions_are_rows_only_where_they_are_seen(
    chromium: Browser, pages: dict[str, Path]
) -> None:
    chromium.open(pages["long"])
    chromium.run("document.querySelector('.code').focus()")
    chromium.press("End")
    assert chromium.run("document.querySelectorAll('.code .row').length") < 100
    assert chromium.run("document.querySelector('.row.here .src').title") == "ret;"
    took = chromium.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert took < 20_000  # 0.3 s on an idle machine; the bound only finds what has become quadratic


@needs_axe
@pytest.mark.parametrize("name", ["runs", "text"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
def test_axe_finds_nothing_serious(
    chromium: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    chromium.open(pages[name], width, 844, dark=dark)
    for k in range(chromium.run("document.querySelectorAll('[role=tab]').length")):
        chromium.run(f"document.querySelectorAll('[role=tab]')[{k}].click()")
        chromium.settle()
        assert chromium.serious() == []
