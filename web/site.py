"""Build a JupyterLite site whose kernel compiles and runs Go in the page.

    site.py --project DIR --packages FILE --notebooks DIR [--files PATH...] [--links FILE=PAGE...] [--kernel NAME] [--level N]
            --cache DIR --out DIR

README.md explains the arguments. Only modules missing in Go's caches are downloaded. The
folder --out is replaced.
"""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import zstandard

HERE = pathlib.Path(__file__).resolve().parent
PAGE = ("files.js", "load.js", "unpack.js", "kernel.js", "tool.js", "program.js", "remoteEntry.js")
WINDOW = 27  # log2 of bytes: the archives of packages are similar


def packed(data, name, level, cache):
    """Return the compressed data, from the cache if possible, and its file name in the pack."""
    digest = hashlib.sha256(data).hexdigest()[:16]
    if name == "cell.wasm":  # the reader of zstd cannot be packed with zstd
        return gzip.compress(data, 9, mtime=0), f"cell-{digest}.gz.bin"
    kept = cache / "packed" / f"{digest}-{level}"
    if not kept.exists():
        if level > 9:
            print(f"compressing {name}, once for this content: about {2 + len(data) // 1500000} s", file=sys.stderr)
        parameters = zstandard.ZstdCompressionParameters.from_level(level, window_log=WINDOW)
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        part.write_bytes(zstandard.ZstdCompressor(compression_params=parameters).compress(data))
        part.rename(kept)
    return kept.read_bytes(), f"{name.split('.')[0]}-{digest}.zst.bin"


def with_gonbui(args, folder):
    """Write a go.mod and a list of packages in which GoNB's package gonbui is the page's own."""
    for name in ("go.mod", "go.sum"):
        if (args.project / name).exists():
            shutil.copy(args.project / name, folder)
    edits = [f"-replace=github.com/janpfeifer/gonb={HERE / 'gonb'}"]
    if "github.com/janpfeifer/gonb v" not in (folder / "go.mod").read_text():
        edits.append("-require=github.com/janpfeifer/gonb@v0.0.0")
    subprocess.run(["go", "mod", "edit", *edits, folder / "go.mod"], check=True)
    (folder / "packages.txt").write_text(args.packages.read_text() + "\ngithub.com/janpfeifer/gonb/gonbui\n")


def pack(args, static):
    """Write the pack, the files of the project and the page's programs into a folder."""
    work = static.parent.parent
    raw = work / "raw"
    with_gonbui(args, work)
    subprocess.run(
        ["go", "run", ".", "-project", args.project, "-modfile", work / "go.mod", "-packages", work / "packages.txt",
         "-cache", args.cache, raw],
        cwd=HERE, check=True,
    )
    index = json.loads((raw / "pack.json").read_text())
    manifest = {**index, "files": {}, "project": []}
    for name in ("cell.wasm", "compile.wasm", "link.wasm", "exports.bin", "objects.bin"):
        data = (raw / name).read_bytes()
        small, url = packed(data, name, args.level, args.cache)
        (static / url).write_bytes(small)
        manifest["files"][name.split(".")[0]] = {"url": url, "size": len(small), "unpacked": len(data)}
    (static / "project").mkdir()
    for path in project_files(args):
        data = (args.project / path).read_bytes()
        url = f"project/{hashlib.sha256(data).hexdigest()[:16]}.bin"
        (static / url).write_bytes(data)
        manifest["project"].append({"path": path.as_posix(), "url": url, "size": len(data)})
    (static / "manifest.json").write_text(json.dumps(manifest))
    (static / "settings.json").write_text(json.dumps({"name": args.kernel, "links": dict(link.split("=", 1) for link in args.links)}))
    for name in PAGE:
        shutil.copy(HERE / "page" / name, static)
    shutil.copy(raw / "wasm_exec.js", static)


def project_files(args):
    """Return the files that programs may read, with their paths in the project."""
    found = []
    for name in args.files:
        top = args.project / name
        if not top.exists():
            sys.exit(f"site.py: --files names {name}, which is not in {args.project}")
        found += [f for f in sorted(top.rglob("*")) if f.is_file()] if top.is_dir() else [top]
    return [f.relative_to(args.project) for f in found]


def extension(args, folder):
    """Write the extension of JupyterLite."""
    static = folder / "static"
    static.mkdir(parents=True)
    pack(args, static)
    build = {"load": "static/remoteEntry.js", "extension": "./extension"}
    (folder / "package.json").write_text(json.dumps({
        "name": "gokernel", "version": "1.0.0", "description": "Go, compiled and run in the page", "license": "BSD-3-Clause",
        "jupyterlab": {"extension": True, "outputDir": ".", "_build": build},
    }))


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


def contents(args, folder):
    """Write the notebooks into a folder, under their paths in the project."""
    top = folder / args.notebooks.resolve().relative_to(args.project)
    top.mkdir(parents=True)
    for file in sorted(args.notebooks.glob("*.ipynb")):
        notebook = json.loads(file.read_text())
        (top / file.name).write_text(json.dumps(joined(notebook), ensure_ascii=False))


def site(args, work):
    """Build the site, with a folder to work in."""
    extension(args, work / "gokernel")
    contents(args, work / "contents")
    (work / "jupyter_lite_config.json").write_text(json.dumps({"LiteBuildConfig": {
        "federated_extensions": [str(work / "gokernel")], "ignore_sys_prefix": True, "no_sourcemaps": True,
        "apps": ["lab", "notebooks", "tree"], "no_unused_shared_packages": True,
    }}))
    (work / "jupyter-lite.json").write_text(json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": {
        "appName": "JupyterLite", "exposeAppInBrowser": True,
        "defaultKernelName": args.kernel,
        "disabledExtensions": ["@jupyterlite/application-extension:service-worker-manager", "@jupyter-notebook/notebook-extension:trusted"],
        "settingsOverrides": {"@jupyterlab/apputils-extension:themes": {"adaptive-theme": True}},
    }}))
    shutil.rmtree(args.out, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", work, "--contents", work / "contents",
         "--output-dir", args.out.resolve()],
        cwd=work, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "JUPYTER_PLATFORM_DIRS": "1", "PYTHONWARNINGS": "ignore"},
    )
    # JupyterLite's notebook page requests icons that it does not contain.
    icons = args.out / "static" / "favicons"
    icons.mkdir(parents=True)
    for name in ("favicon.ico", "favicon-notebook.ico", "favicon-busy-1.ico", "favicon-file.ico", "favicon-terminal.ico"):
        shutil.copy(args.out / "notebooks" / "favicon.ico", icons / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--project", type=pathlib.Path, required=True, help="folder of the Go module")
    parser.add_argument("--packages", type=pathlib.Path, required=True, help="file with an import path on each line")
    parser.add_argument("--notebooks", type=pathlib.Path, required=True, help="folder of notebooks in the project")
    parser.add_argument("--files", nargs="*", default=[], help="files and folders of the project that cells read")
    parser.add_argument("--links", nargs="*", default=[], help="FILE=PAGE: where links of notebooks to a file of the project lead")
    parser.add_argument("--kernel", default="gonb", help="name of the kernel in the notebooks")
    parser.add_argument("--level", type=int, default=19, help="level of zstd: 1 takes a second, for a larger download")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder for builds that are reused")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the site")
    args = parser.parse_args()
    args.project, args.cache = args.project.resolve(), args.cache.resolve()
    with tempfile.TemporaryDirectory() as work:
        site(args, pathlib.Path(work))


if __name__ == "__main__":
    main()
