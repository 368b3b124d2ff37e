# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for tests of pages, controlled through two pipes (the DevTools protocol)."""
import base64
import json
import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Events that report an error of a page: an exception that no script caught, and complaints of Chromium itself.
EXCEPTION, LOG_ENTRY, CONSOLE = "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"
STOPPED = "the browser has ended"


def program():
    """The path of a Chromium, or None."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


class Browser:
    """A browser with one tab. Its profile is in a folder that the caller deletes."""

    def __init__(self, folder):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", program(),
             "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
             "--force-color-profile=srgb", f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(to_browser, from_browser), env={**os.environ, "HOME": str(folder)})
        os.close(to_browser)
        os.close(from_browser)
        self.received, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility", "DOM"):
            self.call(f"{domain}.enable")

    def close(self):
        """Ends the browser."""
        os.close(self.write_end)  # Chromium ends with its pipe
        self.process.wait()
        os.close(self.read_end)

    def receive(self):
        while b"\0" not in self.received:
            part = os.read(self.read_end, 1 << 20)
            if not part:
                raise RuntimeError(STOPPED)
            self.received += part
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        """The result of a command; events that come before it are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address, width, height=900, dark=False):
        """Loads a page in a window of this size. Ends when the page has loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.call("Page.navigate", url=address)
        seen = 0
        while not any(event["method"] == "Page.loadEventFired" for event in self.events[seen:]):
            seen = len(self.events)
            self.events.append(self.receive())

    def evaluate(self, expression):
        """The value of an expression of JavaScript."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def errors(self):
        """The errors of the page since it was opened."""
        self.evaluate("1")  # so that the events of the page's own scripts have arrived
        found = []
        for event in self.events:
            what = event.get("params", {})
            if event["method"] == EXCEPTION:
                found.append(str(what["exceptionDetails"].get("exception", {}).get("description", what)))
            if event["method"] == LOG_ENTRY and what["entry"]["level"] in ("error", "warning"):
                found.append(f"{what['entry']['text']} {what['entry'].get('url', '')}")
            if event["method"] == CONSOLE and what["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(argument.get("value")) for argument in what["args"]))
        return found

    def press_tab(self):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)

    def spoken(self):
        """(role, name) of each node of the page that a screen reader announces."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes
                if not node["ignored"] and "role" in node]

    def picture(self, file):
        """Writes a picture of the window, for people."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
