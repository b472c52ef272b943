"""The VS Code extension fits the server: files are there, and its grammar matches."""

import json
import re
from typing import Any

from checkout import CHECKOUT

from ptxtool.lsp.tokens import KINDS

FOLDER = CHECKOUT / "editors" / "vscode"


def data(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def test_the_manifest_names_files_that_are_there() -> None:
    manifest = data("package.json")
    language = manifest["contributes"]["languages"][0]
    names = [manifest["main"], language["configuration"], manifest["contributes"]["grammars"][0]["path"]]
    assert all((FOLDER / name).is_file() for name in names)
    assert manifest["contributes"]["configuration"]["properties"]["ptxtool.command"]["default"] == [
        "ptxtool",
        "lsp",
    ]
    scopes = manifest["contributes"]["semanticTokenScopes"][0]["scopes"]
    assert set(scopes) <= set(KINDS)
    assert re.match(language["firstLine"], ".version 7.5")


def test_the_grammar_matches() -> None:
    patterns = data("syntaxes/ptx.tmLanguage.json")["patterns"]
    named = {p["name"]: re.compile(p["match"]) for p in patterns if "match" in p and "name" in p}
    opcode = next(re.compile(p["match"]) for p in patterns if p.get("captures", {}).get("4"))
    found = opcode.search("\t@!%p1 bra.uni LOOP;")
    assert found is not None
    assert found.group(3, 4) == ("%p1", "bra")
    assert named["variable.language.ptx"].fullmatch("%ntid")
    assert named["constant.numeric.ptx"].fullmatch("0f3F800000")
    assert named["keyword.control.directive.ptx"].fullmatch(".maxntid")
    assert named["support.type.ptx"].fullmatch(".f16x2")
    assert not named["support.type.ptx"].fullmatch(".sat")


def test_the_package_is_whole() -> None:
    # what vsce and VS Code look for; `npm install && npm run package` in that folder makes the .vsix
    manifest = data("package.json")
    program = (FOLDER / manifest["main"]).read_text(encoding="utf-8")
    required = {name.split("/")[0] for name in re.findall(r'require\("([^"]+)"\)', program)}
    assert required == {"vscode", *manifest["dependencies"]}
    commands = {each["command"] for each in manifest["contributes"]["commands"]}
    assert commands == set(re.findall(r'registerCommand\("([^"]+)"', program))
    settings = set(manifest["contributes"]["configuration"]["properties"])
    assert settings == set(re.findall(r'affectsConfiguration\("([^"]+)"', program))
    ignored = (FOLDER / ".vscodeignore").read_text(encoding="utf-8").split()
    shipped = [p for p in FOLDER.rglob("*") if "node_modules" not in p.parts and p.suffix != ".vsix"]
    assert [p.name for p in shipped if any(p.match(glob) for glob in ignored)] == []
    assert {"name", "publisher", "version", "engines", "license", "repository"} <= manifest.keys()
    assert (FOLDER / "README.md").stat().st_size
    assert (FOLDER / "LICENSE.txt").read_text() == (CHECKOUT / "LICENSE").read_text()
