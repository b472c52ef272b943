"""A language server in a process of its own, and a client that talks to it, for tests."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psutil
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

SECONDS = 60
"""The longest wait for an answer."""


class Session:
    """One editor with open texts. Diagnostics are kept as they arrive."""

    def __init__(self) -> None:
        self.client = LanguageClient("tests", "1")
        self.reported: dict[str, lsp.PublishDiagnosticsParams] = {}
        self._arrived = asyncio.Condition()
        self.version = 0

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def arrived(params: lsp.PublishDiagnosticsParams) -> None:
            async with self._arrived:
                self.reported[params.uri] = params
                self._arrived.notify_all()

    async def start(self) -> lsp.InitializeResult:
        await self.client.start_io(sys.executable, "-m", "ptxtool", "lsp")
        params = lsp.InitializeParams(capabilities=lsp.ClientCapabilities())
        found = await self.wait(self.client.initialize_async(params))
        self.client.initialized(lsp.InitializedParams())
        return found

    async def stop(self) -> None:
        await self.wait(self.client.shutdown_async(None))
        self.client.exit(None)
        await self.wait(self.client.stop())

    async def wait(self, what: Any) -> Any:
        return await asyncio.wait_for(what, SECONDS)

    async def open(self, uri: str, text: str) -> list[lsp.Diagnostic]:
        """Open a text; what is reported of it."""
        self.version += 1
        item = lsp.TextDocumentItem(uri, "ptx", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.diagnostics(uri)

    async def edit(
        self, uri: str, start: tuple[int, int], end: tuple[int, int], text: str
    ) -> list[lsp.Diagnostic]:
        """Replace what is between two positions; what is reported then."""
        self.version += 1
        change = lsp.TextDocumentContentChangePartial(
            range=lsp.Range(lsp.Position(*start), lsp.Position(*end)), text=text
        )
        versioned = lsp.VersionedTextDocumentIdentifier(self.version, uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(versioned, [change]))
        return await self.diagnostics(uri)

    async def diagnostics(self, uri: str) -> list[lsp.Diagnostic]:
        """The first diagnostics of the version of a text that was sent last."""
        async with self._arrived:
            wanted = lambda: uri in self.reported and self.reported[uri].version == self.version  # noqa: E731
            await self.wait(self._arrived.wait_for(wanted))
        return list(self.reported[uri].diagnostics)

    def cpu_seconds(self) -> float:
        """What the server's process has used so far."""
        process = self.client._server
        assert process is not None
        times = psutil.Process(process.pid).cpu_times()
        return times.user + times.system


@asynccontextmanager
async def session() -> AsyncIterator[Session]:
    """A running server with its client."""
    found = Session()
    await found.start()
    try:
        yield found
    finally:
        await found.stop()
