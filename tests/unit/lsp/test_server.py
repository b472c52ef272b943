"""The server in a process of its own, asked by a client over its standard streams."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from checkout import CHECKOUT
from lsp_texts import PTX, at

pytest.importorskip("pygls")
from lsp_session import Session, session
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from ptxtool.lsp.document import Document
from ptxtool.lsp.positions import Positions

URI = "file:///work/k.ptx"


def talk(what: Callable[[Session], Awaitable[Any]]) -> Any:
    """What a conversation with a server gives."""

    async def run() -> Any:
        async with session() as found:
            return await what(found)

    return asyncio.run(run())


def place(words: str, inside: str = "", text: str = PTX) -> lsp.Position:
    return lsp.Position(*Positions(text).at(at(text, words, inside=inside or words)))


def test_a_session() -> None:
    async def conversation(s: Session) -> None:
        document = lsp.TextDocumentIdentifier(URI)
        assert await s.open(URI, PTX) == []
        line = place("mov.u32 %r2, 5").line
        found = await s.edit(URI, (line, 2), (line, 5), "mvo")
        assert [(d.code, d.severity) for d in found] == [("E203", lsp.DiagnosticSeverity.Error)]
        assert "mov" in found[0].message
        assert await s.edit(URI, (line, 2), (line, 5), "mov") == []

        hover = await s.client.text_document_hover_async(
            lsp.HoverParams(document, place("[total], %r3", "%r3"))
        )
        assert hover is not None
        assert isinstance(hover.contents, lsp.MarkupContent)
        assert "pressure here: 1 32-bit" in hover.contents.value
        definition = await s.client.text_document_definition_async(
            lsp.DefinitionParams(document, place("bra LOOP", "LOOP"))
        )
        assert isinstance(definition, list | tuple)
        assert definition[0].range.start == place("LOOP:")  # type: ignore[union-attr]
        references = await s.client.text_document_references_async(
            lsp.ReferenceParams(lsp.ReferenceContext(False), document, place("LOOP:"))
        )
        assert [r.range.start.line for r in references or []] == [place("bra LOOP").line]
        marked = await s.client.text_document_document_highlight_async(
            lsp.DocumentHighlightParams(document, place("[total], %r3", "%r3"))
        )
        assert lsp.DocumentHighlightKind.Read in [m.kind for m in marked or []]
        edit = await s.client.text_document_rename_async(lsp.RenameParams(document, place("LOOP:"), "AGAIN"))
        assert edit is not None
        assert edit.changes is not None
        assert [e.new_text for e in edit.changes[URI]] == ["AGAIN", "AGAIN"]
        with pytest.raises(JsonRpcException, match="special register"):
            await s.client.text_document_prepare_rename_async(
                lsp.PrepareRenameParams(document, place("%tid"))
            )
        completion = await s.client.text_document_completion_async(
            lsp.CompletionParams(document, place("mov.u32 %r2, 5", "u32"))
        )
        assert isinstance(completion, lsp.CompletionList)
        assert "b32" in [item.label for item in completion.items]
        tokens = await s.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
        assert tokens is not None
        # the first line: '.version' and '7.5'
        assert list(tokens.data[:10]) == [0, 0, 8, 11, 0, 0, 9, 3, 2, 0]
        folded = await s.client.text_document_folding_range_async(lsp.FoldingRangeParams(document))
        assert [f.start_line + 1 for f in folded or []] == [8, 14, 25]
        outline = await s.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
        assert [o.name for o in outline or []] == ["total", "twice", "k"]
        hints = await s.client.text_document_inlay_hint_async(
            lsp.InlayHintParams(document, lsp.Range(lsp.Position(32, 0), lsp.Position(34, 0)))
        )
        # before the stores of lines 33 and 34: %rd1 (two) with %r3, then %r3 alone
        assert [h.label for h in hints or []] == ["3 live", "1 live"]

    talk(conversation)


def test_a_fix_and_all_fixes() -> None:
    text = PTX.replace("\tret;\n}\n", "}\n").replace("add.u32 %r2, %r2, %r1", "add.u32.u32 %r2, %r2, %r1")

    async def conversation(s: Session) -> None:
        found = await s.open(URI, text)
        codes = [d.code for d in found]
        assert "W207" in codes
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(999, 0))
        actions = await s.client.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(URI), whole, lsp.CodeActionContext(found))
        )
        kinds = [a.kind for a in actions or [] if isinstance(a, lsp.CodeAction)]
        assert lsp.CodeActionKind.QuickFix in kinds
        assert "source.fixAll.ptxtool" in kinds
        everything = next(a for a in actions or [] if a.kind == "source.fixAll.ptxtool")  # type: ignore[union-attr]
        changes = everything.edit.changes  # type: ignore[union-attr]
        assert changes is not None
        assert "\tret;\n}" in changes[URI][0].new_text

    talk(conversation)


def test_edits_in_utf_16_end_with_the_text_of_the_editor() -> None:
    """Random edits by ranges, with emoji and line ends of every kind: the diagnostics are those of the whole text."""
    rng = random.Random(4)
    pieces = [
        "\U0001f600",
        "é",
        "\r",
        "\r\n",
        "\n",
        ";",
        "// ",
        "add.u32 %r1, %r1, 1;\n",
        "\f",
        "\u2028",
        "",
        "",
        "{",
    ]

    async def conversation(s: Session) -> None:
        text = PTX
        await s.open(URI, text)
        for _ in range(40):
            first = rng.randrange(len(text))
            last = min(len(text), first + rng.choice((0, 0, 1, 9)))
            positions = Positions(text)
            start, end = positions.at(first), positions.at(last)
            first, last = positions.offset(*start), positions.offset(*end)
            piece = rng.choice(pieces)
            found = await s.edit(URI, start, end, piece)
            text = text[:first] + piece + text[last:]
            wanted = Document("/work/k.ptx", text).diagnostics().diagnostics
            assert [(d.code, d.message.split("\n")[0]) for d in found] == [
                (d.code, d.message.split("\n")[0]) for d in wanted
            ]

    talk(conversation)


@pytest.mark.slow
def test_latencies_of_20_000_lines() -> None:
    """First diagnostics within a second of CPU time, those after a keystroke within 150 ms."""
    program = (CHECKOUT / "tests" / "programs" / "library.sm75.ptx").read_text(encoding="utf-8")
    kernel = "\tadd.s32 %r1, %r1, %r2;\n\tmul.lo.s32 %r2, %r1, %r2;\n\tld.global.u32 %r3, [%rd1];\n"
    body = kernel * 70
    head = program[: program.index(".address_size 64") + len(".address_size 64")]
    registers = "\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n"
    text = head + "".join(
        f"\n.visible .entry k{n}(.param .u64 p)\n{{\n{registers}\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %r1;\n"
        f"\tld.param.u64 %rd1, [p];\n{body}\tst.global.u32 [%rd1], %r3;\n\tret;\n}}\n"
        for n in range(93)
    )
    assert text.count("\n") >= 20_000

    async def conversation(s: Session) -> tuple[float, list[float]]:
        await asyncio.sleep(0.1)
        before = s.cpu_seconds()
        assert await s.open(URI, text) == []
        opened = s.cpu_seconds() - before
        line = text.count("\n") // 2
        line = next(k for k, row in enumerate(text.split("\n")) if k > line and row.startswith("\tadd"))
        keys: list[float] = []
        for n in range(10):
            before = s.cpu_seconds()
            if n % 2 == 0:
                assert len(await s.edit(URI, (line, 22), (line, 23), "")) == 1
            else:
                assert await s.edit(URI, (line, 22), (line, 22), ";") == []
            keys.append(s.cpu_seconds() - before)
        return opened, keys

    opened, keys = talk(conversation)
    assert opened <= 1.0
    assert max(keys) <= 0.15
