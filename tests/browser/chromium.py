"""A headless Chromium over the DevTools protocol: start it, open a page, run code in it, press keys, read its console.

A browser is looked for on PATH and never downloaded::

    with Chromium(executable) as browser:
        browser.open("file:///tmp/report.html")
        assert browser.run("document.title") == "matmul.mf on NVIDIA H200"
        assert browser.problems == []
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
KEYS = {
    "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Tab": 9, "Home": 36, "End": 35,
    " ": 32,
}  # fmt: skip
START_SECONDS = 60
ANSWER_SECONDS = 120


def found_browser() -> str | None:
    """The browser that is installed here, if one is."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class PageError(Exception):
    """Code that was run in the page threw."""


class Chromium:
    """One browser with one page; ``problems`` are exceptions, console errors and requests over the network."""

    def __init__(self, executable: str) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="comprehensive-browser-", ignore_cleanup_errors=True
        )
        profile = Path(self._folder.name)
        # The sandbox of the browser needs rights that containers do not give; the pages are our own.
        self._process = subprocess.Popen(
            [
                executable, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-extensions", "--hide-scrollbars", "--remote-allow-origins=*",
                "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._number = 0
        self.problems: list[str] = []
        try:
            self._socket = websocket.create_connection(self._address(profile), timeout=ANSWER_SECONDS)
            target = self.send("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        except BaseException:
            self.close()
            raise
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the browser."""
        if hasattr(self, "_socket"):
            self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _address(self, profile: Path) -> str:
        port = profile / "DevToolsActivePort"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"the browser ended with {self._process.returncode}")
            lines = port.read_text().splitlines() if port.exists() else []
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.05)
        raise RuntimeError("the browser did not open its port")

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """The answer to a command; what the page tells meanwhile is kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if hasattr(self, "_session"):
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._told(answer)

    def _told(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = told["exceptionDetails"]
                self.problems.append(details.get("exception", {}).get("description") or details["text"])
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.problems.append(str([each.get("value") for each in told["args"]]))
            case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                self.problems.append(told["entry"]["text"])
            case "Network.requestWillBeSent" if not told["request"]["url"].startswith(
                ("file:", "data:", "about:")
            ):
                self.problems.append(f"asked for {told['request']['url']}")
            case _:
                pass

    def open(self, address: str) -> None:
        """Loads a page and waits until it has run."""
        self.send("Page.navigate", url=address)
        self.run(
            "new Promise(r => document.readyState === 'complete' ? r() : addEventListener('load', () => r()))"
        )
        self.settle()

    def run(self, code: str) -> Any:
        """The value of an expression in the page. PageError where it throws."""
        answer = self.send(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def settle(self) -> None:
        """Waits until what a frame was asked for is done."""
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r())))")

    def press(self, *keys: str) -> None:
        """Presses keys, one after the other, where the focus is."""
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
            code = KEYS.get(key, ord(key[0]))
            common: dict[str, object] = {"key": key, "code": key, "windowsVirtualKeyCode": code}
            self.send("Input.dispatchKeyEvent", type="keyDown", **common, **text)
            self.send("Input.dispatchKeyEvent", type="keyUp", **common)
        self.settle()

    def click(self, selector: str) -> None:
        """Clicks into the middle of the first element that a selector finds, with the mouse."""
        found = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({ block: 'center', behavior: 'instant' }); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send(
                "Input.dispatchMouseEvent", type=kind, x=found[0], y=found[1], button="left", clickCount=1
            )
        self.settle()

    def media(self, **features: str) -> None:
        """Emulates a medium ("print"), or features such as ``prefers_color_scheme="dark"``.

        Nothing scrolls smoothly, so that what is clicked stays where it was found.
        """
        medium = features.pop("medium", "")
        features = {"prefers_reduced_motion": "reduce", **features}
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", media=medium, features=listed)

    def resize(self, width: int, height: int) -> None:
        """Gives the page another size, in CSS pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.settle()
