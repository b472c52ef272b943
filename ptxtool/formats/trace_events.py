"""Writes a timeline as a trace of events, the JSON that Perfetto and chrome://tracing open, packed or not.

For the simulator's timeline. The file is an object whose `traceEvents` is a list of events, one a line: slices with a
beginning and a duration on a track (`X`); slices that may overlap (`b` and `e`; each pair has a number); counters
(`C`); names and order of processes and tracks (`M`). Times are microseconds, whole numbers here. A track is a thread of
a process; Perfetto knows threads by number across processes, so no two tracks or processes may have the same one. The
order of events in the file means nothing: viewers sort them.

A file whose name ends in `.gz` is packed with gzip. Events are written as they come; `close` puts the file in place.
Reference: N. Duca, D. Sinclair, "Trace Event Format" (Chromium project); Perfetto documentation, "Other formats".
"""

import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ptxtool.formats.files import OutputFile

_LINES = 4096  # that are written at a time
_LEVEL = 4  # three times as fast as zlib's usual one, files a sixth larger
_GZIP = 31  # zlib's window with a gzip header, which has no time in it


@lru_cache(maxsize=1 << 16)
def quoted(text: str) -> str:
    """A text as JSON has it."""
    return json.dumps(text)


class TraceEvents:
    """A file of events that is being written. Raises E503."""

    def __init__(self, path: str | Path):
        self._out = OutputFile(path)
        packed = str(path).endswith(".gz")
        self._pack = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP) if packed else None
        self._lines: list[str] = []
        self._started = False
        self._named: set[int] = set()
        self._n_spans = 0
        self.n_events = 0
        """Those written so far, names not counted."""

    def process(self, pid: int, name: str, order: int) -> None:
        """Name a process, unless it has been, and say where it stands among the others."""
        self._name("process", pid, f'"pid":{pid}', name, order)

    def track(self, pid: int, tid: int, name: str, order: int) -> None:
        """Name a track of a process, unless it has been, and say where it stands among the others."""
        self._name("thread", tid, f'"pid":{pid},"tid":{tid}', name, order)

    def _name(self, kind: str, number: int, of: str, name: str, order: int) -> None:
        if number in self._named:
            return
        self._named.add(number)
        head = f'{{"ph":"M",{of},"name":"{kind}_'
        self._line(f'{head}name","args":{{"name":{quoted(name)}}}}}')
        self._line(f'{head}sort_index","args":{{"sort_index":{order}}}}}')

    def slice(self, pid: int, tid: int, start: int, end: int, name: str, args: str = "{}") -> None:
        """Something on a track from `start` to before `end`; `args` is a JSON object."""
        self._event(
            f'{{"ph":"X","pid":{pid},"tid":{tid},"ts":{start},"dur":{end - start},"name":{quoted(name)},"args":{args}}}'
        )

    def span(self, pid: int, start: int, end: int, name: str, args: str = "{}") -> None:
        """The same on no track of its own, for what may overlap others of its name."""
        self._n_spans += 1
        head = f'"cat":{quoted(name)},"id":"{self._n_spans:#x}","pid":{pid},"name":{quoted(name)}'
        self._event(f'{{"ph":"b",{head},"ts":{start},"args":{args}}}')
        self._event(f'{{"ph":"e",{head},"ts":{end}}}')

    def counter(self, pid: int, time: int, name: str, values: Mapping[str, float]) -> None:
        """What counters are from now on."""
        shown = ",".join(
            f"{quoted(key)}:{value if isinstance(value, int) else f'{value:.6g}'}"
            for key, value in values.items()
        )
        self._event(f'{{"ph":"C","pid":{pid},"ts":{time},"name":{quoted(name)},"args":{{{shown}}}}}')

    def close(self, about: Mapping[str, Any]) -> None:
        """Write the end of the file, with what else there is to say, and put it in its place."""
        self._flush()
        empty = "" if self._started else '{"traceEvents":[\n'
        self._put(f'{empty}\n],\n"otherData":{json.dumps(dict(about))}}}\n')
        if self._pack is not None:
            self._out.write(self._pack.flush())
        self._out.keep()

    def drop(self) -> None:
        """Write nothing."""
        self._out.drop()

    def _event(self, line: str) -> None:
        self.n_events += 1
        self._line(line)

    def _line(self, line: str) -> None:
        self._lines.append(line)
        if len(self._lines) >= _LINES:
            self._flush()

    def _flush(self) -> None:
        if self._lines:
            head = ",\n" if self._started else '{"traceEvents":[\n'
            self._started = True
            lines, self._lines = self._lines, []
            self._put(head + ",\n".join(lines))

    def _put(self, text: str) -> None:
        data = text.encode("utf-8")
        self._out.write(data if self._pack is None else self._pack.compress(data))
