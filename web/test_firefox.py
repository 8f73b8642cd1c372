"""The kernel in Debian's Firefox: notebook 0 with its stored outputs, in ../.cache/site/lab or LAB.

Firefox is driven by WebDriver BiDi, which it speaks itself.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import websocket

import browser
from test_kernel import SITE, form, text

FIREFOX = shutil.which("firefox-esr")
MISSING = "" if FIREFOX else "firefox-esr is missing: on Debian, apt-get install firefox-esr"
CONNECT = 300  # seconds to load JupyterLite and to start the kernel, on a busy machine
STATE = """[document.readyState, !!globalThis.jupyterapp, ...(c => [c?.isReady, c?.kernelDisplayStatus, c?.session?.kernel?.connectionStatus])(
    globalThis.jupyterapp?.shell.currentWidget?.sessionContext)]"""
if MISSING:
    print("!!! NOT CHECKED: the kernel in Firefox, because", MISSING, file=sys.stderr)


class Firefox:
    """A tab of headless Firefox, whose storage is the folder profile."""

    def __init__(self, profile):
        self.process = subprocess.Popen([FIREFOX, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = pathlib.Path(profile, "WebDriverBiDiServer.json")
        while not (server.exists() and server.read_text().endswith("}")):
            if self.process.poll() is not None:
                raise RuntimeError("firefox-esr does not start")
            time.sleep(0.1)
        port = json.loads(server.read_text())["ws_port"]
        self.socket = websocket.create_connection(f"ws://127.0.0.1:{port}/session", suppress_origin=True, timeout=browser.LIMIT)
        self.faults, self.asked, self.orders = [], [], 0
        self.order("session.new", capabilities={})
        self.tab = self.order("browsingContext.getTree")["contexts"][0]["context"]
        self.order("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"], contexts=[self.tab])

    def order(self, method, limit=browser.LIMIT, **params):
        """Return the answer to a command, whose parts come within a limit in seconds, and record the events before it."""
        self.orders += 1
        self.socket.settimeout(limit)
        self.socket.send(json.dumps({"id": self.orders, "method": method, "params": params}))
        while True:
            d = json.loads(self.socket.recv())
            if d.get("method") == "log.entryAdded" and d["params"]["level"] == "error":
                self.faults.append(d["params"]["text"])
            if d.get("method") == "network.beforeRequestSent":
                self.asked.append(d["params"]["request"]["url"])
            if d.get("id") == self.orders:
                if d["type"] == "error":
                    raise RuntimeError(f"{method}: {d['message']}")
                return d["result"]

    def run(self, script, limit=browser.LIMIT):
        """Return the value of an expression, or of its promise."""
        answer = self.order("script.evaluate", limit, expression=f"(async () => JSON.stringify(await ({script}) ?? null))()",
                            target={"context": self.tab}, awaitPromise=True)
        if answer["type"] != "success":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def close(self):
        self.order("browser.close")
        self.process.wait()
        self.socket.close()


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(SITE.exists(), f"{SITE} is missing: make site")
class TestFirefox(unittest.TestCase):
    maxDiff = None

    def test_cells_show_their_stored_outputs(self):
        address, _, refused = self.enterContext(browser.served(SITE))
        firefox = Firefox(self.enterContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        self.addCleanup(firefox.close)
        firefox.order("browsingContext.navigate", context=firefox.tab, wait="complete",
                      url=f"{address}/notebooks/index.html?path=notebooks/00-start.ipynb")
        end, state = time.monotonic() + CONNECT, None
        while state != "ready":
            self.assertLess(time.monotonic(), end, f"in {CONNECT} s the notebook has not connected: {state}")
            time.sleep(0.2)
            try:
                state = firefox.run(f"{browser.READY} ? 'ready' : {STATE}", limit=10)
            except websocket.WebSocketTimeoutException:  # Firefox loses an answer while the page loads, and the page goes on
                state = "no answer"
                print("Firefox does not answer; ask again", file=sys.stderr)
        firefox.run(f"void ({browser.IN_TIME})")
        stored = json.loads((SITE / "files" / "notebooks" / "00-start.ipynb").read_text())["cells"]
        for i in (1, 3, 7):
            with self.subTest(cell=i):
                got = firefox.run(f"({browser.RUN})([{i}, null])")
                self.assertEqual([form(o) for o in got], [form(o) for o in stored[i]["outputs"]], text(got))
        self.assertIn("cell[", text(firefox.run(f"({browser.RUN})([1, '%%\\nbad'])")))
        self.assertEqual({urllib.parse.urlsplit(a).netloc for a in firefox.asked if a.startswith("http")}, {address.split("/")[2]})
        self.assertEqual(firefox.faults, [])
        firefox.run("console.error('planted')")
        self.assertEqual(firefox.faults, ["planted"])
        self.assertEqual(refused, [])


if __name__ == "__main__":
    unittest.main()
