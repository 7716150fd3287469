"""A real browser, driven over a pipe with the DevTools protocol: keys, sizes, console, pictures."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ABSENT = "no chromium on this machine: nothing is tested in a browser"
KEYS = {"Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe")


class Page:
    """One page of a browser; `said` holds everything that it wrote to the console, and its errors."""

    def __init__(self, address: str, width: int, height: int = 1000) -> None:
        assert BROWSER is not None
        self.said: list[str] = []
        self._folder = tempfile.TemporaryDirectory()
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def connect() -> None:  # the browser reads file 3 and writes file 4
            ours = os.dup(to_browser), os.dup(from_browser)
            os.dup2(ours[0], 3)
            os.dup2(ours[1], 4)

        self._process = subprocess.Popen(
            [BROWSER, *OPTIONS, f"--user-data-dir={self._folder.name}", "about:blank"],
            preexec_fn=connect,
            close_fds=False,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._count, self._rest, self._session, self._loaded = 0, b"", "", False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.size(width, height)
        self.call("Page.navigate", url=address)
        end = time.monotonic() + 60.0
        while not self._loaded and time.monotonic() < end:
            self._read(end)
        assert self._loaded, "the page did not load"

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        self._folder.cleanup()

    def call(self, method: str, **options: Any) -> Any:
        """Return the answer to a command of the protocol."""
        self._count += 1
        own = {"id": self._count, "method": method, "params": options}
        os.write(self._out, json.dumps(own | ({"sessionId": self._session} if self._session else {})).encode() + b"\0")
        end = time.monotonic() + 60.0
        while True:
            message = self._read(end)
            if message.get("id") == self._count:
                assert "error" not in message, message["error"]
                return message["result"]

    def _read(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0], "the browser does not answer"
            found = os.read(self._in, 2**16)
            assert found, "the browser is gone"
            self._rest += found
        first, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(first)
        self._loaded |= message.get("method") == "Page.loadEventFired" and message.get("sessionId") == self._session
        if message.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.said.append(json.dumps(message["params"]))
        return message

    def size(self, width: int, height: int) -> None:
        """Set the size of the window, in pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def run(self, script: str) -> Any:
        """Return the value of an expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        own = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], "nativeVirtualKeyCode": KEYS[key]}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **own)
        self.call("Input.dispatchKeyEvent", type="keyUp", **own)

    def click(self, x: float, y: float) -> None:
        """Click at a point of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path: Path) -> None:
        """Keep a picture of the whole page."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
