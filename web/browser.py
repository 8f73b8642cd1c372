"""A site of JupyterLite in headless Chromium, served by a plain file server from a sub-folder."""

import contextlib
import functools
import http.server
import os
import pathlib
import shutil
import threading
import urllib.parse

CHROMIUM = shutil.which("chromium")
FOLDER = "/some/folder"
LIMIT = int(os.environ.get("LIMIT", "1800"))  # seconds for slow steps, on a busy machine

# The settings of a JupyterLite whose parts a test reaches.
OPEN = """{"jupyter-lite-schema-version": 0, "jupyter-config-data": {
  "exposeAppInBrowser": true, "disabledExtensions": ["@jupyter-notebook/notebook-extension:tab-icon"]}}"""

READY = """globalThis.jupyterapp?.shell.currentWidget?.content?.widgets?.length &&
jupyterapp.shell.currentWidget.sessionContext?.session?.kernel?.connectionStatus === 'connected'"""

RUN = """async ([i, source]) => {
  const content = jupyterapp.shell.currentWidget.content, cell = content.widgets[i];
  if (source !== null) cell.model.sharedModel.setSource(source);
  content.activeCellIndex = i;
  await in_time(jupyterapp.commands.execute('notebook:run-cell'));
  return cell.model.outputs ? cell.model.outputs.toJSON() : [];
}"""


# A step that takes longer than LIMIT is a fault.
IN_TIME = """globalThis.in_time = work => Promise.race([
  work, new Promise((_, reject) => setTimeout(() => reject(new Error('it has not ended in LIMIT s')), 1000 * LIMIT))])""".replace(
    "LIMIT", str(LIMIT))


class Handler(http.server.SimpleHTTPRequestHandler):
    def translate_path(self, path):
        self.server.asked.append(urllib.parse.urlsplit(path).path)
        return super().translate_path(path[len(FOLDER):] if path.startswith(FOLDER + "/") else "/nothing")

    def do_GET(self):
        if self.path == "/favicon.ico":  # the browser asks for it
            self.send_response_only(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *args):
        pass

    def log_request(self, code="-", size="-"):
        if code not in (200, 301, 304):  # 301 adds the slash to a folder
            self.server.refused.append(f"{code} {self.path}")


@contextlib.contextmanager
def served(site):
    """Serve a folder; yield its address, the requested paths and the answers without a file."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    server.asked, server.refused = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{FOLDER}", server.asked, server.refused
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def chromium(profile):
    """A browser whose storage is the folder profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(profile), executable_path=CHROMIUM, args=["--no-sandbox"], viewport={"width": 1200, "height": 1200})
        context.set_default_timeout(1000 * LIMIT)
        yield context
        context.close()


def memory(profile):
    """Return the memory, in MiB, of the largest page of the browser with this storage: private and mapped, without decoded
    pictures, which are in shared memory and which the browser discards on demand. Linux only."""
    processes = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended
            status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            taken = sum(int(status.get(part, "0 kB").split()[0]) for part in ("RssAnon", "RssFile")) / 1024
            processes[int(folder.name)] = int(status["PPid"]), command, taken

    def ours(pid):
        return pid in processes and (f"--user-data-dir={profile}" in processes[pid][1] or ours(processes[pid][0]))

    return max((m for pid, (_, command, m) in processes.items() if "--type=renderer" in command and ours(pid)), default=0)


@contextlib.contextmanager
def watched(profile):
    """Yield a list whose entry is the peak memory so far of a page of the browser with this storage."""
    most, over = [0], threading.Event()

    def watch():
        while not over.wait(0.2):
            most[0] = max(most[0], memory(profile))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


class Notebook:
    """A notebook in a tab."""

    def __init__(self, context, address, path, answer=""):
        self.page = context.new_page()
        self.faults, self.hosts = [], set()
        self.page.on("console", lambda m: m.type == "error" and self.faults.append(m.text))
        self.page.on("pageerror", lambda e: self.faults.append(str(e)))
        self.page.on("request", lambda r: self.hosts.add(urllib.parse.urlsplit(r.url).netloc))
        self.page.goto(f"{address}/notebooks/index.html?path={path}")
        if answer:  # to a question that comes first
            self.page.get_by_role("button", name=answer).click()
        self.page.wait_for_function(READY)
        self.page.evaluate(IN_TIME)

    def run(self, cell, source=None):
        """Run a cell, with another source if one is given; return its outputs."""
        return self.page.evaluate(RUN, [cell, source])

    def marks(self, name):
        """Return the times that the kernel has recorded, of its start or of each cell."""
        return self.page.evaluate("name => performance.getEntriesByName('gokernel ' + name).map(e => e.detail)", name)

    def do(self, script):
        """Run JavaScript with the variables session and content."""
        return self.page.evaluate("""async script => {
          const { content, sessionContext: { session } } = jupyterapp.shell.currentWidget;
          return await in_time(new Function('session', 'content', `return (async () => { ${script} })()`)(session, content));
        }""", script)
