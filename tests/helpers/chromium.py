"""A headless Chromium for tests of pages: opens a file, evaluates JavaScript, presses keys, takes screenshots.

It speaks the DevTools protocol through two pipes (`--remote-debugging-pipe`), so that no port is open and no client
library is needed. Messages are JSON that ends with a NUL.
`AXE_CORE` names the file `axe.min.js` of axe-core (npm pack axe-core), for tests of accessibility.
"""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

import pytest

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="needs Chromium (apt-get install chromium)")
AXE = Path(os.environ.get("AXE_CORE", "/nowhere/axe.min.js"))
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core: AXE_CORE=PATH/axe.min.js")
_SECONDS = 120
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")
_KEYS = {
    "ArrowDown": 40,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowLeft": 37,
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
    "End": 35,
    "Home": 36,
}


class Browser:
    """One page of a browser. `errors` has what the console and uncaught exceptions reported, `requests` every address
    that was asked for."""

    def __init__(self, to: int, back: int):
        self._to, self._back, self._number, self._rest = to, back, 0, b""
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._events: list[dict[str, Any]] = []
        self._session = ""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._message()
            if found.get("id") == self._number:
                assert "error" not in found, found["error"]
                result: dict[str, Any] = found["result"]
                return result
            self._event(found)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select([self._back], [], [], _SECONDS)
            assert ready, f"Chromium has not answered for {_SECONDS} seconds"
            self._rest += os.read(self._back, 1 << 20)
        first, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(first)
        return found

    def _event(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        self._events.append(event)
        if method == "Runtime.exceptionThrown":
            self.errors.append(
                str(params["exceptionDetails"].get("exception", {}).get("description", params))
            )
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(str([argument.get("value") for argument in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, path: Path, width: int = 1280, height: int = 800, *, dark: bool = False) -> None:
        """Open a file in a window of that size and wait until it is drawn."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        self._events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self._events):
            self._event(self._message())
        self.settle()

    def settle(self) -> None:
        """Wait for two frames: effects and drawing that was put off have happened."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression, of what it promises if it is a promise."""
        asked = {"expression": script, "awaitPromise": True, "returnByValue": True}
        found = self.send("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def serious(self) -> list[list[str]]:
        """What axe-core finds serious or critical in the page as it is: rule, impact, the first element."""
        self.run(f"{AXE.read_text(encoding='utf-8')};0")
        found: list[list[str]] = self.run(
            "axe.run({preload: false}).then((r) => r.violations.map((v) => [v.id, v.impact, v.nodes[0].html]))"
        )
        return [each for each in found if each[1] in ("serious", "critical")]

    def press(self, *keys: str) -> None:
        """Press keys one after the other: characters, or names such as "ArrowDown" and "Shift+Tab"."""
        for key in keys:
            shift = key.startswith("Shift+")
            name = key.removeprefix("Shift+")
            code = _KEYS.get(name) or (ord(name.upper()) if len(name) == 1 and name.isalnum() else 0)
            pressed: dict[str, Any] = {
                "key": name,
                "windowsVirtualKeyCode": code,
                "modifiers": 8 if shift else 0,
            }
            text = {"text": name} if len(name) == 1 else {"text": "\r"} if name == "Enter" else {}
            self.send("Input.dispatchKeyEvent", type="keyDown", **pressed, **text)
            self.send("Input.dispatchKeyEvent", type="keyUp", **pressed)
        self.settle()

    def mouse(self, kind: str, x: float, y: float) -> None:
        """A mouse event at a place of the window: "mouseMoved", "mousePressed", "mouseReleased"."""
        click = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **click)
        self.settle()

    def screenshot(self, path: Path) -> None:
        """Write what the window shows as PNG."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own, which ends with the block."""
    from tempfile import TemporaryDirectory

    assert PROGRAM is not None
    (to_read, to_write), (back_read, back_write) = os.pipe(), os.pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = f'exec "$0" "$@" 3<&{to_read} 4>&{back_write}'
        arguments = (PROGRAM, *_FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank")
        process = subprocess.Popen(
            ["bash", "-c", command, *arguments],
            pass_fds=(to_read, back_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": profile},  # where it leaves folders of its own
        )
        os.close(to_read)
        os.close(back_write)
        try:
            yield Browser(to_write, back_read)
        finally:
            process.terminate()
            process.wait(30)
            os.close(to_write)
            os.close(back_read)
