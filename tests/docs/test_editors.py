"""The settings for editors that docs/editor.md shows: a Neovim without a screen talks to the server with them."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import CHECKOUT
from scalekernel import SCALE

pytest.importorskip("pygls")
NVIM = shutil.which("nvim")
PAGE = (CHECKOUT / "docs" / "editor.md").read_text(encoding="utf-8")

CONVERSATION = """
local function eventually(what, why) assert(vim.wait(60000, what, 20), why) end
local found = {}
eventually(function() return #vim.diagnostic.get(0) > 0 end, "no diagnostics")
local first = vim.diagnostic.get(0)[1]
found.diagnostic = { line = first.lnum + 1, code = first.code, message = first.message }
local place = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 14, character = 2 } }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", place, 60000)) do
  found.hover = answer.result.contents.value
end
vim.api.nvim_buf_set_text(0, 17, 1, 17, 4, { "mul" })
eventually(function() return #vim.diagnostic.get(0) == 0 end, "the diagnostic stays after the mend")
found.line = vim.api.nvim_buf_get_lines(0, 17, 18, true)[1]
io.stdout:write(vim.fn.json_encode(found))
vim.cmd("qa!")
"""
"""Asks for diagnostics, hovers over line 15, mends line 18."""


def settings(version: tuple[int, int]) -> str:
    """The block for a version of Neovim: the first is for 0.11 and later, the second for 0.8 to 0.10, then 0.7."""
    section = PAGE.split("\n## Neovim\n")[1].split("\n## ")[0]
    newest, middle, oldest = re.findall(r"```lua\n(.*?)```", section, re.DOTALL)
    return newest if version >= (0, 11) else middle if version >= (0, 8) else oldest


@pytest.mark.skipif(NVIM is None, reason="needs Neovim (apt-get install neovim)")
@pytest.mark.slow
def test_neovim(tmp_path: Path) -> None:
    assert NVIM is not None
    head = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", head)
    assert found is not None
    version = int(found[1]), int(found[2])
    if version < (0, 7):
        pytest.skip("needs Neovim 0.7 or later")
    (tmp_path / "init.lua").write_text(settings(version))
    (tmp_path / "conversation.lua").write_text(CONVERSATION)
    (tmp_path / "scale.ptx").write_text(SCALE.replace("mul.f32", "mlu.f32"))
    folders = {f"XDG_{name}_HOME": str(tmp_path) for name in ("CONFIG", "DATA", "STATE")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [NVIM, "--headless", "-u", "init.lua", "scale.ptx", "-c", "luafile conversation.lua", "-c", "cquit"],
        cwd=tmp_path,
        env=os.environ | folders | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    talk = json.loads(done.stdout)
    assert (talk["diagnostic"]["line"], talk["diagnostic"]["code"]) == (18, "E203")
    assert "mul" in talk["diagnostic"]["message"] or "mlu" in talk["diagnostic"]["message"]
    assert "mul.wide" in talk["hover"]
    assert talk["line"] == "\tmul.f32 %f2, %f2, %f1;"
