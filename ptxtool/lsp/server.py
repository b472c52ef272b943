"""The Language Server Protocol over standard input and output, answered by the other files of this room.

Diagnostics follow a keystroke at once; where an edit makes more than `document.MOST_AT_ONCE` instructions doubtful, the
syntax is reported at once and the rest when the keyboard has rested for `QUIET` seconds. Everything else is computed
when the editor asks for it. Live counts (inlay hints) wait for the same rest, because they need the whole function.

Reference: Language Server Protocol 3.17.
"""

import asyncio
import logging
from collections.abc import Sequence
from importlib.metadata import version

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from ptxtool.base.diag import Diagnostic
from ptxtool.formats.pages import page_path
from ptxtool.ir.nodes import Function
from ptxtool.lsp.completion import Candidate, complete
from ptxtool.lsp.document import Document
from ptxtool.lsp.hover import hover
from ptxtool.lsp.navigation import definition, references
from ptxtool.lsp.outline import Symbol, folds, symbols
from ptxtool.lsp.positions import Position
from ptxtool.lsp.rename import Refused, rename, renameable
from ptxtool.lsp.tokens import KINDS, SemanticToken, semantic_tokens
from ptxtool.sema.fixes import fix_text

QUIET = 0.25
"""Seconds without a keystroke after which heavy work is done."""
FIX_ALL = "source.fixAll.ptxtool"
MOST_FIXED = 400_000
"""Characters of a text for which all fixes are offered at once: they are verified by checking it again."""

_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
_SYMBOLS = {
    "kernel": lsp.SymbolKind.Function,
    "function": lsp.SymbolKind.Function,
    "variable": lsp.SymbolKind.Variable,
    "label": lsp.SymbolKind.Key,
}
_COMPLETIONS = {
    "opcode": lsp.CompletionItemKind.Keyword,
    "modifier": lsp.CompletionItemKind.EnumMember,
    "type": lsp.CompletionItemKind.TypeParameter,
    "register": lsp.CompletionItemKind.Variable,
    "special": lsp.CompletionItemKind.Constant,
    "label": lsp.CompletionItemKind.Reference,
    "name": lsp.CompletionItemKind.Field,
    "directive": lsp.CompletionItemKind.Property,
}


class _Protocol(LanguageServerProtocol):
    """pygls keeps no second copy of the texts: it would cut lines elsewhere, and copy a long text line by line."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        _of(self).opened(params.text_document)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        _of(self).changed(params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        _of(self).closed(params.text_document.uri)


class PtxServer(LanguageServer):
    """The server of one editor."""

    def __init__(self) -> None:
        super().__init__(
            "ptxtool",
            version("ptxtool"),
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
            protocol_cls=_Protocol,
        )
        self.documents: dict[str, Document] = {}
        self.versions: dict[str, int] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}

    def document(self, uri: str) -> Document:
        """An open text."""
        try:
            return self.documents[uri]
        except KeyError:
            raise JsonRpcInvalidParams(f"'{uri}' is not open") from None

    def opened(self, item: lsp.TextDocumentItem) -> None:
        self.documents[item.uri] = Document(to_fs_path(item.uri) or item.uri, item.text)
        self.versions[item.uri] = item.version
        self.report(item.uri)

    def changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        document = self.document(uri)
        self.versions[uri] = params.text_document.version
        for change in params.content_changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                places = Position(start.line, start.character), Position(end.line, end.character)
                document.change(document.positions.edited(*places, change.text))
            else:
                document.change(change.text)
        self.report(uri, wait=True)

    def closed(self, uri: str) -> None:
        self.documents.pop(uri, None)
        self.versions.pop(uri, None)
        self._cancel(uri)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    def report(self, uri: str, wait: bool = False) -> None:
        """Send the diagnostics of a text; with `wait` those that are heavy later."""
        self._cancel(uri)
        document = self.documents.get(uri)
        if document is None:
            return
        found = document.diagnostics(wait)
        if not found.final:
            self._waiting[uri] = asyncio.get_running_loop().call_later(QUIET, self.report, uri)
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(
                uri=uri,
                version=self.versions[uri],
                diagnostics=[_diagnostic(document, uri, one) for one in found.diagnostics],
            )
        )

    def _cancel(self, uri: str) -> None:
        if uri in self._waiting:
            self._waiting.pop(uri).cancel()


def _of(protocol: _Protocol) -> PtxServer:
    server = protocol._server
    assert isinstance(server, PtxServer)
    return server


def _range(document: Document, start: int, end: int) -> lsp.Range:
    first, last = document.positions.at(start), document.positions.at(max(start, end))
    return lsp.Range(lsp.Position(*first), lsp.Position(*last))


def _offset(document: Document, position: lsp.Position) -> int:
    return document.positions.offset(position.line, position.character)


def _diagnostic(document: Document, uri: str, found: Diagnostic) -> lsp.Diagnostic:
    related = None
    if found.note is not None:
        place = lsp.Location(uri, _range(document, found.note.start, found.note.end))
        related = [lsp.DiagnosticRelatedInformation(place, found.note.message)]
    return lsp.Diagnostic(
        range=_range(document, found.start, found.end),
        message=found.message + (f"\n{found.help}" if found.help else ""),
        severity=_SEVERITIES[found.severity],
        code=found.code,
        code_description=lsp.CodeDescription(page_path(found.code).as_uri()),
        source="ptxtool",
        tags=[lsp.DiagnosticTag.Unnecessary] if found.code == "W203" else None,
        related_information=related,
    )


def _symbol(document: Document, found: Symbol) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        name=found.name,
        kind=_SYMBOLS[found.kind],
        detail=found.detail,
        range=_range(document, found.start, found.end),
        selection_range=_range(
            document, found.name_start, min(found.name_start + len(found.name), found.end)
        ),
        children=[_symbol(document, inner) for inner in found.inner],
    )


def _completion(document: Document, start: int, end: int, found: Candidate, n: int) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        label=found.text,
        kind=_COMPLETIONS[found.kind],
        detail=found.detail or None,
        sort_text=f"{n:05}",
        filter_text=found.text,
        text_edit=lsp.TextEdit(_range(document, start, end), found.text),
    )


def _encoded(document: Document, tokens: Sequence[SemanticToken]) -> list[int]:
    """Tokens as the protocol has them: differences of lines and columns, length, kind, no modifiers."""
    data: list[int] = []
    line = column = 0
    for token in tokens:
        at, end = document.positions.at(token.start), document.positions.at(token.end)
        data += (at.line - line, at.column - (column if at.line == line else 0))
        data += (end.column - at.column, token.kind, 0)
        line, column = at
    return data


def _hints(document: Document, start: int, end: int) -> list[lsp.InlayHint]:
    """The live 32-bit registers before every instruction of a stretch, at the end of its line."""
    found: list[lsp.InlayHint] = []
    for item in document.module.items if document.module else ():
        if not isinstance(item, Function) or item.end < start or item.start > end:
            continue
        pressure = document.pressure(item)
        if pressure is None:
            continue
        for n, node in enumerate(item.instructions):
            if start <= node.start <= end:
                is_most = pressure.curve[n] == pressure.maximum
                label = f"{pressure.curve[n]} live" + (" (most)" if is_most else "")
                place = lsp.Position(*document.positions.at(node.end))
                found.append(lsp.InlayHint(place, label, padding_left=True))
    return found


def _fixes(document: Document, uri: str, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """The fixes that diagnostics in a range carry, and all that help together."""
    wanted = params.context.only or [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]
    first, last = _offset(document, params.range.start), _offset(document, params.range.end)
    fixable = [d for d in document.diagnostics().diagnostics if d.fix is not None]
    found: list[lsp.CodeAction] = []
    if any(lsp.CodeActionKind.QuickFix.value.startswith(_word(kind)) for kind in wanted):
        for one in fixable:
            if one.fix is None or one.end < first or one.start > last:
                continue
            edit = lsp.TextEdit(_range(document, one.fix.start, one.fix.end), one.fix.text)
            found.append(
                lsp.CodeAction(
                    title=one.help or f"Fix {one.code}",
                    kind=lsp.CodeActionKind.QuickFix,
                    diagnostics=[_diagnostic(document, uri, one)],
                    is_preferred=True,
                    edit=lsp.WorkspaceEdit(changes={uri: [edit]}),
                )
            )
    is_asked = any(FIX_ALL.startswith(_word(kind)) for kind in wanted)
    if is_asked and fixable and len(document.text) <= MOST_FIXED:
        result = fix_text(document.text, document.parsed.source.name)
        if result.applied:
            edit = lsp.TextEdit(_range(document, 0, len(document.text)), result.text)
            found.append(
                lsp.CodeAction(
                    title=f"Fix all that ptxtool can ({len(result.applied)})",
                    kind=FIX_ALL,
                    edit=lsp.WorkspaceEdit(changes={uri: [edit]}),
                )
            )
    return found


def _word(kind: "lsp.CodeActionKind | str") -> str:
    return kind.value if isinstance(kind, lsp.CodeActionKind) else kind


def create() -> PtxServer:
    """A server with all features; `start_io` runs it."""
    server = PtxServer()

    @server.feature(lsp.INITIALIZED)
    def on_start(params: lsp.InitializedParams) -> None:
        Document("", "add")  # loads Lark, which the first mistake would wait for

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def on_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document = server.document(params.text_document.uri)
        found = hover(document, _offset(document, params.position))
        if found is None:
            return None
        text = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text)
        return lsp.Hover(text, _range(document, found.start, found.end))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        document = server.document(uri)
        found = definition(document, _offset(document, params.position))
        return [lsp.Location(uri, _range(document, o.start, o.end)) for o in found]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        document = server.document(uri)
        found = references(document, _offset(document, params.position))
        with_declaration = params.context.include_declaration
        chosen = (o for o in found if with_declaration or o.role != "declared")
        return [lsp.Location(uri, _range(document, o.start, o.end)) for o in chosen]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def on_highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document = server.document(params.text_document.uri)
        offset = _offset(document, params.position)
        here = document.item_at(offset)
        kinds = {"written": lsp.DocumentHighlightKind.Write, "read": lsp.DocumentHighlightKind.Read}
        return [
            lsp.DocumentHighlight(
                _range(document, o.start, o.end), kinds.get(o.role, lsp.DocumentHighlightKind.Text)
            )
            for o in references(document, offset)
            if here is not None and here.start <= o.start <= here.end
        ]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare(params: lsp.PrepareRenameParams) -> lsp.Range:
        document = server.document(params.text_document.uri)
        try:
            found = renameable(document, _offset(document, params.position))
        except Refused as reason:
            raise JsonRpcInvalidParams(str(reason)) from None
        return _range(document, found.start, found.end)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def on_rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        uri = params.text_document.uri
        document = server.document(uri)
        try:
            edits = rename(document, _offset(document, params.position), params.new_name)
        except Refused as reason:
            raise JsonRpcInvalidParams(str(reason)) from None
        changes = [lsp.TextEdit(_range(document, e.start, e.end), e.text) for e in edits]
        return lsp.WorkspaceEdit(changes={uri: changes})

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "%", "$", "@"])
    )
    def on_completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        document = server.document(params.text_document.uri)
        offset = _offset(document, params.position)
        found = complete(document, offset)
        items = [_completion(document, found.start, offset, one, n) for n, one in enumerate(found.candidates)]
        return lsp.CompletionList(is_incomplete=False, items=items)

    legend = lsp.SemanticTokensLegend(token_types=list(KINDS), token_modifiers=[])

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    def on_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        document = server.document(params.text_document.uri)
        return lsp.SemanticTokens(_encoded(document, [*semantic_tokens(document.text)]))

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, legend)
    def on_tokens_of_range(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        document = server.document(params.text_document.uri)
        first, last = _offset(document, params.range.start), _offset(document, params.range.end)
        statement = document.statement_at(first)
        function = document.function_at(first)
        start = statement.start if statement else function.start if function else 0
        found = [t for t in semantic_tokens(document.text, start, last) if t.end > first]
        return lsp.SemanticTokens(_encoded(document, found))

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def on_folding(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        document = server.document(params.text_document.uri)
        found: list[lsp.FoldingRange] = []
        for fold in folds(document.module) if document.module else ():
            first, last = document.positions.at(fold.start), document.positions.at(fold.end)
            end = last.line - 1 if fold.kind == "region" or last.column == 0 else last.line
            if end > first.line:
                found.append(lsp.FoldingRange(first.line, end, kind=lsp.FoldingRangeKind(fold.kind)))
        return found

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = server.document(params.text_document.uri)
        return [_symbol(document, one) for one in (symbols(document.module) if document.module else ())]

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(
            code_action_kinds=[lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]
        ),
    )
    def on_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        return _fixes(server.document(uri), uri, params)

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def on_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        uri = params.text_document.uri
        document, before = server.document(uri), server.versions[uri]
        await asyncio.sleep(QUIET)
        if server.versions.get(uri) != before:
            return []  # the editor asks again
        return _hints(document, _offset(document, params.range.start), _offset(document, params.range.end))

    return server


def serve() -> None:
    """Serve one editor on standard input and output until it says exit."""
    logging.basicConfig(level=logging.WARNING)  # on standard error
    create().start_io()
