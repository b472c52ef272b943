"""The documentation as a site: built without a warning, works from files, has every page and every public name."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from checkout import CHECKOUT
from chromium import AXE, browser, needs_axe, needs_chromium
from scripts import module_of

import ptxtool
from ptxtool.base.diag import CODES
from ptxtool.formats.gpu_names import gpu_names

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    program = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--quiet"]
    program += ["--config-file", CHECKOUT / "website" / "mkdocs.yml", "--site-dir", folder]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # the theme's note on its successor
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=quiet)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_every_page_of_the_documentation_is_there(site: Path) -> None:
    pages = {p.relative_to(CHECKOUT / "docs").with_suffix(".html") for p in (CHECKOUT / "docs").rglob("*.md")}
    moved = {Path("README.html"): "jobs.html"}
    index = {page: moved.get(page, str(page).replace("README", "index")) for page in pages}
    assert [name for name in index.values() if not (site / name).exists()] == []
    assert "From a CUDA kernel to a comparison" in text_of(site / "index.html")
    assert all((site / "errors" / f"{code}.html").exists() for code in CODES)


def test_it_works_from_files(site: Path) -> None:
    # pages name no folder without its page, nothing is loaded from elsewhere, and the index of the search is a script
    for page in site.rglob("*.html"):
        text = text_of(page)
        assert (
            re.findall(r'src="https?:[^"]*"|<link [^>]*rel="stylesheet"[^>]*href="https?:[^"]*"', text) == []
        ), page
        assert re.findall(r'href="(?!https?:|mailto:)[^"#]*/(?:#[^"]*)?"', text) == [], page
    assert (site / "search" / "search_index.js").exists()


@needs_chromium
def test_search_works_from_files(site: Path) -> None:
    with browser() as opened:
        for page, (width, height) in (("index.html", (1280, 800)), ("tutorials/architect.html", (390, 844))):
            opened.errors.clear()
            opened.requests.clear()
            opened.open(site / page, width, height)
            assert opened.run("document.documentElement.scrollWidth") <= width, page
            opened.run("document.querySelector('.md-search__input').focus()")
            opened.press(*"FineReg")
            found = opened.run(
                "new Promise((done) => { const started = Date.now(); const look = () => {"
                " const links = [...document.querySelectorAll('.md-search-result__link')].map((a) => a.href);"
                " links.length || Date.now() - started > 30000 ? done(links) : setTimeout(look, 50); }; look(); })"
            )
            assert any("switching.html" in link or "finereg" in link for link in found), (page, found)
            assert all(link.startswith("file:") for link in found)
            assert not AXE.is_file() or opened.serious() == []  # in the list of what was found, too
            assert opened.errors == []
            assert [url for url in opened.requests if not url.startswith(("file:", "blob:", "data:"))] == []


@needs_chromium
def test_the_keyboard_reaches_what_scrolls(site: Path) -> None:
    # the theme does it for code alone, and only where a pointer hovers
    with browser() as opened:
        for page, kind in (
            ("commands.html", "pre > code"),
            ("model/machine.html", ".md-typeset__scrollwrap"),
        ):
            opened.open(site / page, 390, 844)
            of = f"[...document.querySelectorAll('.md-typeset {kind}')]"
            scroll = "(e) => e.scrollWidth > e.clientWidth"
            counts = opened.run(
                f"[{of}.filter({scroll}).length, {of}.filter((e) => e.tabIndex === 0).length, {of}.length]"
            )
            assert 0 < counts[0] == counts[1] < counts[2], (page, counts)


PAGES = ("index", "tutorials/architect", "isa", "errors/E203", "commands", "model/machine")


@needs_chromium
@needs_axe
def test_axe_finds_nothing_serious(site: Path) -> None:
    with browser() as opened:
        for page in PAGES:
            for width in (1280, 390):
                for dark in (False, True):
                    opened.open(site / f"{page}.html", width, 844, dark=dark)
                    assert opened.serious() == [], (page, width, dark)


def test_references_are_made_from_the_code(site: Path) -> None:
    api = text_of(site / "reference" / "api.html")
    assert [name for name in ptxtool.__all__ if f">{name}<" not in api] == []
    machines = text_of(site / "reference" / "gpu-files.html")
    assert all(name in machines for name in [*gpu_names(), "l2.slices", "sm.register_allocation_unit"])
    assert "thread_insn" in text_of(site / "reference" / "counters.html")


def test_names_of_example_files_are_titles(site: Path) -> None:
    assert ">bilateral.cu<" in text_of(site / "index.html")


def test_the_list_by_job_and_the_navigation_have_the_same_pages() -> None:
    configuration = SimpleNamespace()
    module_of(CHECKOUT / "website" / "hooks.py").on_config(configuration)
    named = re.findall(r"[\w/-]+\.md", repr(configuration.nav))
    pages = {str(page.relative_to(CHECKOUT / "docs")) for page in (CHECKOUT / "docs").rglob("*.md")}
    of_their_own = {page for page in pages if re.fullmatch(r"errors/[EW]\d+\.md", page)} | {"README.md"}
    made = {"index.md", "jobs.md", "contributing.md", "changes.md"}
    made |= {f"reference/{name}.md" for name in ("api", "gpu-files", "counters")}
    assert sorted(named) == sorted((pages - of_their_own) | made)  # every page, and once
