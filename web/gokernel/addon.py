"""The addon of JupyterLite that gives the Go kernel the packages, files and links of a project."""

import hashlib
import json
import pathlib
import shutil
import tempfile

from doit.exceptions import TaskFailed
from jupyterlite_core.addons.base import BaseAddon
from traitlets import Dict, Int, List, Unicode

from . import pack

GONBUI = pathlib.Path(__file__).resolve().parent / "gonb"


class GoKernel(BaseAddon):
    """README.md explains the settings. Paths are relative to the folder of the lite project."""

    __all__ = ["build", "post_build"]

    project = Unicode(help="folder of a Go module; without one, cells import the standard library").tag(config=True)
    packages = Unicode("packages.txt", help="file of the project with an import path on each line").tag(config=True)
    notebooks = Unicode(help="folder of notebooks of the project, which the site shows under the same path").tag(config=True)
    files = List(Unicode(), help="files and folders of the project that cells read").tag(config=True)
    links = Dict(help="FILE=PAGE: where links of notebooks to a file of the project lead").tag(config=True)
    kernel = Unicode("gonb", help="name of the kernel in the notebooks").tag(config=True)
    level = Int(19, help="level of zstd: 1 takes a second, for a larger download").tag(config=True)

    def build(self, manager):
        yield self.task(name="notebooks", actions=[(self.attempt, [self.add_notebooks])])

    def post_build(self, manager):
        yield self.task(name="pack", actions=[(self.attempt, [self.write])])

    def attempt(self, work):
        try:
            work((self.manager.lite_dir / self.project).resolve())
        except (OSError, ValueError) as fault:
            return TaskFailed(f"gokernel: {fault}")

    def add_notebooks(self, project):
        for file in sorted((project / self.notebooks).glob("*.ipynb")) if self.notebooks else ():
            shown = self.manager.output_dir / "files" / self.notebooks / file.name
            shown.parent.mkdir(parents=True, exist_ok=True)
            notebook = joined(json.loads(file.read_text("utf-8")))
            notebook["metadata"]["gokernel"] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            shown.write_text(json.dumps(notebook, ensure_ascii=False), "utf-8")

    def write(self, project):
        static = self.manager.output_dir / "extensions" / "gokernel" / "static"
        if not static.is_dir():
            raise ValueError("the site lacks the extension gokernel, which the wheel brings unless ignore_sys_prefix is set")
        books = sorted((self.manager.output_dir / "files").glob(f"{self.notebooks}/*.ipynb")) if self.notebooks else []
        versions = {f"{self.notebooks}/{b.name}": json.loads(b.read_text("utf-8"))["metadata"].get("gokernel") for b in books}
        (static / "settings.json").write_text(json.dumps({"name": self.kernel, "links": self.links, "versions": versions}))
        if self.project:
            self.add_packages(project, static, [{"path": p, "url": f"../../../files/{p}", "size": b.stat().st_size} for p, b in zip(versions, books)])

    def add_packages(self, project, static, books):
        """Replace the standard library by the packages of the project, and add its files and notebooks."""
        manifest = json.loads((static / "manifest.json").read_text())
        for name in "exports", "objects":
            (static / manifest["files"][name]["url"]).unlink(missing_ok=True)
        lines = (project / self.packages).read_text("utf-8").splitlines()
        listed = [word for line in lines for word in line.partition("#")[0].split()] + ["github.com/janpfeifer/gonb/gonbui"]
        with tempfile.TemporaryDirectory() as folder:
            modfile = with_gonbui(project, pathlib.Path(folder))
            pack.packages(static, manifest, project, listed, self.level, self.manager.cache_dir, f"-modfile={modfile}")
        shutil.rmtree(static / "project", ignore_errors=True)
        (static / "project").mkdir()
        manifest["project"] = books
        for file in self.project_files(project):
            data = file.read_bytes()
            url = f"project/{hashlib.sha256(data).hexdigest()[:16]}.bin"
            (static / url).write_bytes(data)
            manifest["project"].append({"path": file.relative_to(project).as_posix(), "url": url, "size": len(data)})
        (static / "manifest.json").write_text(json.dumps(manifest))

    def project_files(self, project):
        for top in (project / name for name in self.files):
            if not top.exists():
                raise ValueError(f"files names {top}, which does not exist")
            yield from sorted(f for f in top.rglob("*") if f.is_file()) if top.is_dir() else [top]


def with_gonbui(project, folder):
    """Write the project's go.mod, in which GoNB's package gonbui is the page's own, into a folder and return its path."""
    for name in ("go.mod", "go.sum"):
        if (project / name).exists():
            shutil.copy(project / name, folder)
    edits = [f"-replace=github.com/janpfeifer/gonb={GONBUI}"]
    if "github.com/janpfeifer/gonb v" not in (folder / "go.mod").read_text("utf-8"):
        edits.append("-require=github.com/janpfeifer/gonb@v0.0.0")
    pack.go(folder, "mod", "edit", *edits, "go.mod")
    return folder / "go.mod"


def joined(notebook):
    """Join the lists of lines in the outputs: JupyterLite's table of contents fails on them."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            for mime, lines in output.get("data", {}).items():
                if isinstance(lines, list) and mime != "application/json":
                    output["data"][mime] = "".join(lines)
            if isinstance(output.get("text"), list):
                output["text"] = "".join(output["text"])
    return notebook
