"""A headless Chromium that is driven through a pipe by its devtools protocol: pages, keys, screenshots."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {  # key: (code, number of the key)
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "PageUp": 33, "PageDown": 34, "Home": 36, "End": 35,
    "Enter": 13, "Escape": 27, "Tab": 9, " ": 32,
}  # fmt: skip


def program():
    """The path of Chromium, or None."""
    return os.environ.get("NMB_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-headless-shell")


class Chromium:
    def __init__(self, width=1280, height=800):
        self.folder = tempfile.TemporaryDirectory(prefix="nmb_chromium_", ignore_cleanup_errors=True)
        # Chromium reads calls from descriptor 3 and writes answers to descriptor 4.
        in_read, self.to = os.pipe()
        self.back, out_write = os.pipe()

        def descriptors():
            first, second = os.dup(in_read), os.dup(out_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program(), "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "--no-sandbox",
             "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--disable-dev-shm-usage", "--force-color-profile=srgb",
             "--disable-background-networking", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=descriptors, close_fds=False)  # fmt: skip
        os.close(in_read)
        os.close(out_write)
        self.number, self.held, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.folder.cleanup()

    def message(self, until):
        while b"\0" not in self.held:
            if not select.select([self.back], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self.back, 1 << 20)
            if not part:
                raise OSError("Chromium has ended")
            self.held += part
        text, _, self.held = self.held.partition(b"\0")
        return json.loads(text)

    def call(self, method, seconds=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data) :]
        until = time.monotonic() + seconds
        while True:
            answer = self.message(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer.get("result", {})
            self.events.append(answer)

    def wait_for(self, event, seconds=60):
        until = time.monotonic() + seconds
        while True:
            for i, found in enumerate(self.events):
                if found.get("method") == event:
                    del self.events[: i + 1]
                    return
            self.events.append(self.message(until))

    def complaints(self):
        """What the page wrote to the console, and the requests it made."""
        out = []
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                out.append(what["exceptionDetails"].get("exception", {}).get("description") or str(what))
            elif method == "Runtime.consoleAPICalled":
                out.append(f"console: {what['args']}")
            elif method == "Log.entryAdded":
                out.append(f"log: {what['entry']['text']}")
            elif method == "Network.requestWillBeSent" and not what["request"]["url"].startswith("file:"):
                out.append(f"request: {what['request']['url'][:200]}")
        self.events = []
        return out

    def resize(self, width, height, ratio=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)

    def theme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])
        self.settle()

    def open(self, path):
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("Page.loadEventFired")
        self.settle()

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def settle(self):
        """Waits until the page is drawn."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")

    def key(self, key, shift=False):
        text = {"Enter": "\r", "Tab": None}.get(key, key if len(key) == 1 else None)
        about = {"key": key, "modifiers": 8 if shift else 0, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper()) if key.isalnum() else 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)
        self.settle()

    def type(self, text):
        for letter in text:
            self.key(letter)

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
