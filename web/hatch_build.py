"""Build the extension of JupyterLab: the compiler and the linker of the installed Go, and compiled packages.

    hatch_build.py FOLDER LEVEL PACKAGE...

writes it into a new folder, or replaces an earlier one, compressed at a level of zstd. The wheel has the whole standard library.
"""

import json
import pathlib
import shutil
import sys
import tomllib

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from gokernel import pack  # noqa: E402

CACHE = HERE.parent / ".cache" / "web"
STANDARD = ["math/rand/v2", "text/template", "text/scanner", "std"]  # the first of a name is meant by a cell without an import
VERSION = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]["version"]


def labextension(folder, level, listed):
    """Write the extension, which has the version of Go that builds this module."""
    version, root = pack.go(HERE, "env", "GOVERSION", "GOROOT").splitlines()
    compress = pack.go(HERE, "list", "-f", "{{.Module.Dir}}", "github.com/klauspost/compress/zstd").strip()  # downloads the module
    static, package = folder / "static", folder / "package.json"
    if folder.exists() and any(folder.iterdir()) and not (package.exists() and '"gokernel"' in package.read_text()):
        sys.exit(f"{folder} has other files, which would be lost: name a new folder")
    shutil.rmtree(folder, ignore_errors=True)
    static.mkdir(parents=True)
    package.write_text(json.dumps({
        "name": "gokernel", "version": VERSION, "description": "Go, compiled and run in the page", "license": "BSD-3-Clause",
        "jupyterlab": {"extension": True, "outputDir": ".", "_build": {"load": "static/remoteEntry.js", "extension": "./extension"}},
    }))
    manifest = {"go": version, "files": {}, "project": []}
    for name in ("cell", "compile", "link"):
        file = CACHE / version / f"{name}.wasm"
        if name == "cell":
            wasm(HERE, file, "./worker")
        elif not file.exists():
            print(f"building cmd/{name} of {version} for the page, once: some minutes", file=sys.stderr)
            wasm(pathlib.Path(root, "src"), file, f"cmd/{name}", "-pgo=off")
        manifest["files"][name] = pack.compressed(static, name, file.read_bytes(), level, CACHE)
    pack.packages(static, manifest, HERE / "gokernel" / "gonb", [*listed, "github.com/janpfeifer/gonb/gonbui"], level, CACHE)
    (static / "manifest.json").write_text(json.dumps(manifest))
    for file in [*sorted((HERE / "page").glob("*.js")), pathlib.Path(root, "lib", "wasm", "wasm_exec.js")]:
        shutil.copy(file, static)
    shutil.copy(pathlib.Path(root, "LICENSE"), folder / "LICENSE.go")
    shutil.copy(pathlib.Path(compress, "LICENSE"), folder / "LICENSE.compress")
    (static / "settings.json").write_text(json.dumps({"name": "gonb", "links": {}, "versions": {}}))


def wasm(folder, file, program, *flags):
    """Build a program for the page."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    pack.go(folder, "build", "-trimpath", "-ldflags=-s -w", "-o", part, *flags, program)
    part.rename(file)


class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "standard":
            labextension(CACHE / "wheel", 19, STANDARD)
            build_data["shared_data"][str(CACHE / "wheel")] = "share/jupyter/labextensions/gokernel"


if __name__ == "__main__":
    labextension(pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
