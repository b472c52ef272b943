"""Every example block of README and docs is true: it is run or read, and prints what the page shows, figures included.

| block | test |
|---|---|
| `console` | every line `$ COMMAND` is run; what follows is all that it prints, a line `...` standing for any lines |
| `python` | is run, with what the blocks before it on the page defined; as `python FILE.py` it is a file of the page |
| `output` | is what the `python` block before it prints |
| `toml` | is loaded as the launch file, GPU file or sweep file that its keys say it is |
| `ptx`, `ptxplus` | has no errors |
| `cuda FILE.cu` | is a file; a `console` block compiles it (with nvcc, or `tests/docs` has what nvcc writes) |
| `c` | compiles |
| `usage` | is a synopsis: its options are those of the command |
| `text` | is a drawing or a fragment: nothing in it is a command. As `text FILE` it is a file of the page |
| `sh not run: REASON` | is not run, for one of `REASONS` |

Any other block fails, an indented one too. `pytest --bless tests/docs/test_examples.py` writes the outputs.
"""

import importlib
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import click
import pytest
from documents import CHECKOUT, Block, Missing, PageRun, agree, blocks_of, shortened
from gpgpusim_files import write_config

from ptxtool import api
from ptxtool.cli.commands.gate import command as gate
from ptxtool.cli.main import main
from ptxtool.formats.gate_limits import load_limits
from ptxtool.formats.launch.launch_recording import is_recording

PAGES = sorted([CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *(CHECKOUT / "docs").rglob("*.md")])
ELSEWHERE = {
    "docs/errors-compared.md": "tests/docs/test_errors_compared.py",
    "docs/isa.md": "tests/unit/report/kernels/test_instructions.py",
    "docs/python-kernels.md": "tests/unit/ptxsim/frontends/test_python_kernels.py",
    "CONTRIBUTING.md": "tests/docs/test_new_instruction.py",
}
"""Pages whose `python`, `ptx` and `console` blocks have a test of their own; `docs/errors` has test_error_pages.py."""
OWN_LANGUAGES = {"console", "ptx", "python", "text", "toml"}
DRAWINGS = ("docs/architecture.md", "docs/stages.md", "docs/model/", "CONTRIBUTING.md")
"""Pages whose indented blocks are drawings, formulas or targets of make."""
REASONS = (
    "installs packages",
    "simulates for a minute",
    "simulates for minutes",
    "simulates for an hour",
    "needs an NVIDIA GPU",
    "needs several machines",
    "needs tinygrad",
    "needs Triton",
    "writes into the checkout",
    "writes into the home folder",
)
_COMMAND = re.compile(r"^\s*(\$ |ptxtool |nvcc |ptxas |python3? |pip |make |cd )", re.MULTILINE)


def everywhere() -> list[Block]:
    """The blocks that this file runs: all but those that have a test of their own."""
    pages = [page for page in PAGES if page.parent.name != "errors" or page.stem == "README"]
    return [block for page in pages for block in blocks_of(page) if not has_own_test(block)]


def has_own_test(block: Block) -> bool:
    return str(block.page.relative_to(CHECKOUT)) in ELSEWHERE and block.language in OWN_LANGUAGES


def parameters() -> list[object]:
    """A page's blocks from the first one that simulates on are slow: each needs those before it."""
    slow_pages: set[Path] = set()
    found = []
    for block in everywhere():
        if block.simulates:
            slow_pages.add(block.page)
        marks = [pytest.mark.slow] if block.page in slow_pages else []
        found.append(pytest.param(block, marks=marks, id=str(block)))
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, PageRun]:
    shared: dict[str, str] = {}
    found = {}
    for page in {block.page: None for block in everywhere()}:
        folder = tmp_path_factory.mktemp(page.stem)
        if page.name == "gpgpusim.md":
            (folder / "GTX480").mkdir()
            write_config(folder / "GTX480", api.gpu("tesla-c2050"), 3)
        found[page] = PageRun(page, folder, shared)
    return found


@pytest.mark.parametrize("block", parameters())
def test_block(block: Block, runs: dict[Path, PageRun], request: pytest.FixtureRequest) -> None:
    check = CHECKS.get(block.language)
    languages = ", ".join(sorted(filter(None, CHECKS)))
    assert check is not None, f"{block}: no test knows a block '{block.language}'; there are {languages}"
    try:
        check(block, runs[block.page], request.config.getoption("bless"))
    except Missing as program:
        pytest.skip(str(program))


def check_console(block: Block, run: PageRun, bless: bool) -> None:
    for (command, shown), printed in zip(block.commands, run.printed(block), strict=True):
        compare(block, f"$ {command}\n", shown, printed, bless)


def check_python(block: Block, run: PageRun, bless: bool) -> None:
    printed = run.printed(block)
    following = run.blocks[run.blocks.index(block) + 1 :][:1]
    if not (following and following[0].language == "output"):
        assert "".join(printed) == "", f"{block} prints something: show it in a block 'output'"


def check_output(block: Block, run: PageRun, bless: bool) -> None:
    before = run.blocks[run.blocks.index(block) - 1]
    assert before.language == "python", f"{block}: 'output' follows a block 'python'"
    compare(block, f"{before.body}```\n\n```output\n", block.body, "".join(run.printed(before)), bless)


def compare(block: Block, before: str, shown: str, printed: str, bless: bool) -> None:
    if agree(shown, printed):
        return
    if bless:
        text = block.page.read_text(encoding="utf-8")
        new = text.replace(before + shown, before + shortened(shown, printed), 1)
        block.page.write_text(new, encoding="utf-8")
        return
    assert printed == shown, f"{block}; pytest --bless {Path(__file__).relative_to(CHECKOUT)} writes it"


def check_toml(block: Block, run: PageRun, bless: bool) -> None:
    run.printed(block)
    path = run.folder / (block.name or "block.toml")
    path.write_text(block.body, encoding="utf-8")
    values = tomllib.loads(block.body)
    keys = values.keys()
    if is_recording(values):
        for row in values["launch"]:
            (run.folder / row["file"]).parent.mkdir()
            (run.folder / row["file"]).write_text("")
        assert api.load_recording(path)
    elif "limits" in keys:
        assert load_limits(path).measures
    elif keys & {"kernels", "scheme"}:
        from ptxtool.sweep.spec import read_spec

        assert read_spec(path).configurations
    elif keys & {"inherits", "sm"}:
        assert api.gpu(path)
    else:
        assert keys & {"grid", "launch"}, f"{block}: neither a launch file nor a GPU file nor a sweep file"
        assert api.load_launch(path)


def check_assembly(block: Block, run: PageRun, bless: bool) -> None:
    run.printed(block)
    found = api.check(api.parse(block.body, block.name or "block"))
    assert not [diagnostic for diagnostic in found if diagnostic.code.startswith("E")], found


def check_cuda(block: Block, run: PageRun, bless: bool) -> None:
    run.printed(block)
    compiled = [other for other in run.blocks if other.language == "console"]
    assert any(block.name in command for other in compiled for command, _ in other.commands), (
        f"{block}: no command compiles it"
    )


def check_c(block: Block, run: PageRun, bless: bool) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        raise Missing("needs a C compiler")
    words = [compiler, "-Wall", "-Werror", "-fsyntax-only", "-x", "c", "-"]
    done = subprocess.run(words, input=block.body, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def check_json(block: Block, run: PageRun, bless: bool) -> None:
    json.loads(block.body)


def check_usage(block: Block, run: PageRun, bless: bool) -> None:
    shown = re.findall(r"^ptxtool (\S+)((?:.|\n +)*)", block.body, re.MULTILINE)
    assert shown, f"{block}: a synopsis begins with 'ptxtool COMMAND'"
    for name, rest in shown:
        if name == "COMMAND":
            continue
        command = main.get_command(click.Context(main), name)
        assert command is not None, f"{block}: no command '{name}'"
        module = importlib.import_module(command.callback.__module__)
        members = [each for each in vars(module).values() if isinstance(each, click.Command)]
        options = {option for each in members for parameter in each.params for option in parameter.opts}
        used = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", rest))
        assert used <= options | {"--help"}, f"{block}: {name} has no {sorted(used - options)}"


def check_text(block: Block, run: PageRun, bless: bool) -> None:
    run.printed(block)
    assert block.name or not _COMMAND.search(block.body), f"{block}: a command in a block 'text'"


def check_sh(block: Block, run: PageRun, bless: bool) -> None:
    said, reason = block.name.partition(": ")[::2]
    assert said == "not run", f"{block}: ```sh not run: REASON, or ```console for what is run"
    assert reason in REASONS, f"{block}: the reasons are {', '.join(REASONS)}"
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w[\w-]*)", block.body, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{block}: no target '{target}'"
    for script in re.findall(r"^python (\S+\.py)", block.body, re.MULTILINE):
        assert (CHECKOUT / script).exists(), f"{block}: no {script}"


def check_indented(block: Block, run: PageRun, bless: bool) -> None:
    page = str(block.page.relative_to(CHECKOUT))
    assert page.startswith(DRAWINGS), f"{block}: an indented block; fence it, with a language"
    commands = [shlex.split(line) for line in block.body.splitlines() if _COMMAND.match(line)]
    assert all(command[0] == "make" for command in commands), f"{block}: a command that is not run"


def check_yaml(block: Block, run: PageRun, bless: bool) -> None:
    """A workflow: it is YAML, and the options of its `ptxtool gate` exist."""
    import yaml

    assert yaml.safe_load(block.body)
    known = {option for parameter in gate.params for option in parameter.opts}
    assert set(re.findall(r"(?<!\w)--[a-z-]+", block.body)) <= known


def check_editor(block: Block, run: PageRun, bless: bool) -> None:
    """Settings of an editor: brackets pair, and those that start the server start ours."""
    code = re.sub(r'"(?:[^"\\]|\\.)*"', "", block.body)
    for opening, closing in ("()", "{}"):
        assert code.count(opening) == code.count(closing)
    assert re.search(r'"ptxtool",? "lsp"', block.body)


CHECKS = {
    "": check_indented,
    "c": check_c,
    "console": check_console,
    "elisp": check_editor,
    "lua": check_editor,
    "cuda": check_cuda,
    "json": check_json,
    "output": check_output,
    "ptx": check_assembly,
    "ptxplus": check_assembly,
    "python": check_python,
    "sh": check_sh,
    "text": check_text,
    "toml": check_toml,
    "usage": check_usage,
    "yaml": check_yaml,
}


@pytest.mark.parametrize("page", ELSEWHERE)
def test_a_page_with_a_test_of_its_own_is_named_there(page: str) -> None:
    assert Path(page).name in (CHECKOUT / ELSEWHERE[page]).read_text(encoding="utf-8")


def test_the_blocks_of_the_error_pages_are_in_the_sections_that_are_run() -> None:
    for page in sorted((CHECKOUT / "docs" / "errors").glob("[EW]*.md")):
        sections = re.split(r"^(?=## )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        run = [text for text in sections if text.startswith(("## Wrong\n", "## Right\n"))]
        assert sum(text.count("\n```") for text in run) == 2 * len(blocks_of(page)), page.name
