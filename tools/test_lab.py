"""Drive the server behind `make lab` as JupyterLab and the Jupyter extension of VS Code do."""

import asyncio
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.request
import uuid

import notebook

TOKEN = uuid.uuid4().hex
START = 60  # seconds
CELL = 120


@unittest.skipUnless(importlib.util.find_spec("jupyterlab"), "JupyterLab is not installed: make .tools/lab")
class Lab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.name = "notebooks/01-task.ipynb"
        flags = ["--no-browser", "--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}"]
        cls.server = subprocess.Popen(
            [sys.executable, str(notebook.ROOT / "tools" / "notebook.py"), "lab", *flags],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )
        cls.said = []
        for line in cls.server.stderr:
            cls.said.append(line)
            if m := re.search(r"http://(?:localhost|127\.0\.0\.1):(\d+)/lab", line):
                cls.port = int(m[1])
                break
        else:
            raise AssertionError("the server ended before it named its address")
        for _ in range(10 * START):  # it names its address before it listens
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", cls.port)) == 0:
                    break
            time.sleep(0.1)
        # Nobody reads on; the server must not wait for that.
        cls.reader = threading.Thread(target=cls.server.stderr.read, daemon=True)
        cls.reader.start()

    @classmethod
    def tearDownClass(cls):
        os.killpg(cls.server.pid, signal.SIGTERM)
        cls.server.wait(START)
        cls.reader.join()
        cls.server.stderr.close()

    def ask(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/{path}", method=method, data=json.dumps(body).encode() if body else None,
            headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=START) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def test_the_server_starts_without_a_warning(self):
        self.assertEqual([line for line in self.said if "Warning" in line], [])

    def test_a_saved_notebook_keeps_its_bytes(self):
        path = notebook.ROOT / self.name
        before = path.read_bytes()
        self.addCleanup(notebook.write, path, before)
        content = self.ask("GET", f"contents/{self.name}?content=1")["content"]
        content["metadata"]["language_info"] = {"name": "go", "version": "go1.26", "codemirror_mode": "", "pygments_lexer": ""}
        for k, cell in notebook.code_cells(content):
            cell["metadata"]["trusted"] = True
            cell["execution_count"] = 3 * k
        self.ask("PUT", f"contents/{self.name}", {"type": "notebook", "format": "json", "content": content})
        self.assertEqual(path.read_bytes().decode(), before.decode())

    def test_a_cell_runs(self):
        session = {"kernel": {"name": "gonb"}, "name": self.name, "path": self.name, "type": "notebook"}
        kernel = self.ask("POST", "sessions", session)["kernel"]["id"]
        try:
            said = asyncio.run(self.execute(kernel, '%noautoget\nimport "learncausal/pkg/nb"\n\n%%\nnb.Printf("%d", 6*7)'))
        finally:
            self.ask("DELETE", f"kernels/{kernel}")
        self.assertEqual(said, ["42"])

    def test_gopls_ends_with_the_kernel(self):
        async def live():
            from nbformat.v4 import new_notebook

            client = notebook.make_client(new_notebook(), "t")
            await notebook.start(client)
            kernel = client.km.provisioner.pid
            found = [words for words in processes() if words[1] == str(kernel) and "gopls" in words[2]]
            await notebook.stop(client)
            return found

        [(_, _, command)] = asyncio.run(live())
        self.assertIn("-listen.timeout", command, "a killed kernel cannot stop gopls")
        for _ in range(10 * START):
            if command not in [c for _, _, c in processes()]:
                return
            time.sleep(0.1)
        self.fail(f"{command} is left")

    async def execute(self, kernel, code):
        """Return the texts that a cell shows, by the protocol that every client of the server speaks."""
        from tornado.httpclient import HTTPRequest
        from tornado.websocket import websocket_connect

        url = f"ws://127.0.0.1:{self.port}/api/kernels/{kernel}/channels"
        channel = await websocket_connect(HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"}))
        header = {
            "msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": uuid.uuid4().hex, "version": "5.3",
        }
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
        await channel.write_message(json.dumps(
            {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}))
        shown = []
        while True:
            message = json.loads(await asyncio.wait_for(channel.read_message(), CELL))
            if message["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            if "data" in message["content"]:
                shown.append(message["content"]["data"].get("text/plain"))
            if message["msg_type"] == "stream":
                shown.append(message["content"]["text"])
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                channel.close()
                return shown


def processes():
    """Return process, parent and command of all processes."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], check=True, capture_output=True, text=True).stdout
    return [line.split(None, 2) for line in listed.splitlines()]


if __name__ == "__main__":
    unittest.main()
