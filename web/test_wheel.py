"""The wheel in an empty virtual environment: a site with the kernels of Go and of Python runs in Chromium, and needs no Go to be built.

The wheel is built by make kernel. Python's kernel and its packages are downloaded once, into ../.cache/python.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import browser
from test_kernel import CACHE, HERE, ROOT, text

PYTHON = ROOT / ".cache" / "python"
PYODIDE = "pyodide@314.0.6"  # the version that the kernel names
KERNEL = "jupyterlite-pyodide-kernel==0.8.6"
MISSING = ", ".join(p for p in ("chromium", "npm") if not shutil.which(p))
if MISSING:
    print("!!! NOT CHECKED: the wheel, because of what is missing:", MISSING, file=sys.stderr)


def python_kernel(lite):
    """Give a lite project Python for the page, which it else loads from other hosts."""
    if not (PYTHON / "pypi").exists():
        (PYTHON / "static").mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", PYODIDE], cwd=PYTHON, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["tar", "xzf", *(f.name for f in PYTHON.glob("*.tgz"))], cwd=PYTHON, check=True)
        (PYTHON / "package").rename(PYTHON / "static" / "pyodide")
        pure = ["--python-version", "3.14", "--implementation", "py", "--abi", "none", "--platform", "any", "--only-binary=:all:"]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", *pure, "-d", PYTHON / "part", "comm", "jedi", "ipython", "micropip==0.11.1"], check=True)
        (PYTHON / "part").rename(PYTHON / "pypi")
    for name in ("static", "pypi"):
        shutil.copytree(PYTHON / name, lite / name)
    # Of Pyodide's own packages only the installer of the others is in the site.
    lock, pyodide = lite / "static/pyodide/pyodide-lock.json", lite / "static/pyodide"
    installer = pathlib.Path(shutil.move(lite / "pypi/micropip-0.11.1-py3-none-any.whl", pyodide))
    known = json.loads(lock.read_text())
    known["packages"] = {"micropip": known["packages"]["micropip"] | {"sha256": hashlib.sha256(installer.read_bytes()).hexdigest()}}
    lock.write_text(json.dumps(known))


def notebook(name, language, *cells):
    code = [{"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": c, "outputs": [], "execution_count": None} for i, c in enumerate(cells)]
    return json.dumps({"cells": code, "nbformat": 4, "nbformat_minor": 5, "metadata": {
        "kernelspec": {"name": name, "language": language, "display_name": name}, "language_info": {"name": language}}})


@unittest.skipIf(MISSING, MISSING)
class TestWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.lite, wheel = cls.work / "lite", next((ROOT / ".cache" / "kernel").glob("*.whl"))
        subprocess.run([sys.executable, "-m", "venv", cls.work / "venv"], check=True)
        subprocess.run([cls.work / "venv/bin/pip", "install", "-q", "--disable-pip-version-check", wheel, KERNEL], check=True)
        (cls.lite / "files").mkdir(parents=True)
        python_kernel(cls.lite)
        (cls.lite / "files" / "go.ipynb").write_text(notebook(
            "gonb", "go", '%%\nfmt.Println(strings.ToUpper("go"), rand.N(1))\ngonbui.DisplayHTML("<b>bold</b>")', "%%\nbad"))
        (cls.lite / "files" / "python.ipynb").write_text(notebook("python", "python", "print(6 * 7)"))

    def built(self, folder, **variables):
        """Build the site of a lite project, as the manual shows, and return a browser and its address."""
        (folder / "jupyter-lite.json").write_text(browser.OPEN)
        subprocess.run([self.work / "venv/bin/jupyter", "lite", "build", "--output-dir", self.work / "site"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "JUPYTERLITE_CACHE_DIR": str(CACHE), "PYTHONWARNINGS": "ignore", **variables})
        address, *_ = self.enterContext(browser.served(self.work / "site"))
        return self.enterContext(browser.chromium(self.enterContext(tempfile.TemporaryDirectory()))), address

    def test_two_kernels_run_in_a_site_that_is_built_without_go(self):
        context, address = self.built(self.lite, PATH="/usr/bin:/bin")
        book = browser.Notebook(context, address, "go.ipynb")
        printed, bold = book.run(0)
        self.assertEqual((printed["text"], bold["data"]), ("GO 0\n", {"text/html": "<b>bold</b>"}))
        self.assertRegex(text(book.run(1)), r"^cell\[2\]:2: undefined: bad; run the cells above")
        other = browser.Notebook(context, address, "python.ipynb")
        self.assertEqual(text(other.run(0)), "42\n")
        self.assertEqual(book.hosts | other.hosts, {address.split("/")[2]})

    def test_the_addon_adds_the_packages_of_a_project(self):
        toy = shutil.copytree(HERE / "testdata" / "toy", self.work / "toy")
        settings = json.loads((toy / "jupyter_lite_config.json").read_text())
        (toy / "jupyter_lite_config.json").write_text(json.dumps({"GoKernel": settings["GoKernel"]}))
        context, address = self.built(toy)
        book = browser.Notebook(context, address, "book/toy.ipynb")
        self.assertEqual([text(book.run(i)) for i in range(1, 4)], ["", "Hello, world!\n", "read from a file\n<nil>"])


if __name__ == "__main__":
    unittest.main()
