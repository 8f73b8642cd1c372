"""Build the site from the stored notebooks, ledger and figures.

    build.py OUT [--lab] [--repository URL]

OUT is replaced. With --lab the page of each notebook links to lab/, where it runs. With a
URL, as in https://host/owner/name/blob/main, links to code lead there, otherwise to copies
in the site. Equal input gives equal bytes, and the network is not used.
"""

import argparse
import base64
import gzip
import html
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.parse

import pygments
import pygments.formatters
import pygments.lexers
import sphinx.cmd.build

import links
import pages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FILE_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((\.\./[^)\s]+)\)")
OWN_HEADING = re.compile(r"\]\(#([^)\s]+)\)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--lab", action="store_true")
    parser.add_argument("--repository", default="")
    args = parser.parse_args()
    if args.out.is_symlink() or args.out.exists() and not (args.out / "_static" / "rows.json").is_file() and any(args.out.iterdir()):
        sys.exit(f"build.py: {args.out} would be replaced, and no site is in it: name an empty folder, or a new one")
    site = Site(args.repository.rstrip("/"), args.lab)
    with tempfile.TemporaryDirectory() as folder:
        sources, out = pathlib.Path(folder, "sources"), pathlib.Path(folder, "site")
        site.write_sources(sources)
        os.environ["SITE_LAB"] = "1" if args.lab else ""
        options = ["-q", "-W", "--keep-going", "-d", f"{folder}/doctrees"]
        status = sphinx.cmd.build.build_main([*options, str(sources), str(out)])
        if status:
            sys.exit("build.py: Sphinx found faults in the pages, see above")
        site.add_files(out)
        dead = links.dead(out, missing=("lab/",) if args.lab else ())
        if dead:
            sys.exit("build.py: dead links, or links to other hosts:\n  " + "\n  ".join(dead))
        (out / ".nojekyll").touch()
        shutil.rmtree(args.out, ignore_errors=True)
        args.out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(out, args.out)


class Site:
    """The parts of the site, and the files of the repository that they link to."""

    def __init__(self, repository, lab):
        self.repository, self.lab = repository, lab
        self.linked = set()
        self.anchors = set()  # of rows, in notebooks
        facts = subprocess.run(["go", "run", "./cmd/site"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        self.facts = json.loads(facts)
        self.rows = {r["id"]: r for r in self.facts["rows"]}
        self.notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))

    def write_sources(self, sources):
        (sources / "notebooks").mkdir(parents=True)
        shutil.copy(HERE / "conf.py", sources)
        shutil.copy(ROOT / "CITATION.cff", sources)
        shutil.copytree(HERE / "static", sources / "_static")
        for path in self.notebooks:
            (sources / "notebooks" / path.name).write_text(self.notebook(path), encoding="utf-8")
        for name, text in pages.all(self):
            (sources / name).write_text(text, encoding="utf-8")

    def notebook(self, path):
        """Return a notebook with links inside the site, and an anchor before the first cell that names a statement."""
        nb = json.loads(path.read_text(encoding="utf-8"))
        here = {i for i, r in self.rows.items() if r["Notebook"] == f"notebooks/{path.name}"}
        cells = []
        for cell in nb["cells"]:
            named = {i for i in here if f"`{i}`" in json.dumps(cell) or f"CLAIMS.md#{i})" in json.dumps(cell)}
            here -= named
            self.anchors |= named
            anchors = "".join(f'<a id="{i}"></a>' for i in sorted(named))
            if cell["cell_type"] == "markdown":
                text = self.inside("".join(cell["source"]))
                cell["source"] = f"{anchors}\n\n{text}" if anchors else text
            elif anchors:
                cells.append({"cell_type": "markdown", "id": f"at-{cell['id']}", "metadata": {}, "source": anchors})
            if "".join(cell["source"]).startswith("%noautoget\nimport ("):
                cell["metadata"]["tags"] = ["hide-input"]
            for output in cell.get("outputs", []):
                if "text/markdown" in output.get("data", {}):
                    output["data"]["text/markdown"] = self.inside("".join(output["data"]["text/markdown"]))
            cells.append(cell)
        return json.dumps(nb | {"cells": cells})

    def inside(self, text):
        """Return Markdown of a notebook with links to files of the repository replaced by links in the site."""

        def link(m):
            return f'<a href="{html.escape(self.address(m[2][3:], "../"))}">{m[1]}</a>'

        return OWN_HEADING.sub(lambda m: f"](#{m[1].lower()})", FILE_LINK.sub(link, text))

    def address(self, file, top=""):
        """Return the address of a file of the repository, with or without an anchor; top is the path from the page to the start."""
        name, _, anchor = file.partition("#")
        if name == "CLAIMS.md":
            return f"{top}ledger.html" + (f"#{anchor}" if anchor else "")
        if name.startswith("figures/") and name != "figures/README.md":
            return top + file
        if name.startswith("notebooks/"):
            return top + name.removesuffix(".ipynb") + ".html" + (f"#{anchor}" if anchor else "")
        if not (ROOT / name).is_file():
            sys.exit(f"build.py: a link leads to {name}, which is not in the repository")
        self.linked.add(name)
        where = f"{self.repository}/{name}" if self.repository else f"{top}source/{name}.html"
        return where + (f"#{anchor}" if anchor else "")

    def add_files(self, out):
        """Add the files of the pages: figures, MathJax and copies of linked code."""
        for f in sorted((ROOT / "figures").iterdir()):
            if f.suffix != ".md":
                (out / "figures").mkdir(exist_ok=True)
                shutil.copyfile(f, out / "figures" / f.name)
        mathjax = next(pathlib.Path(p) for p in sys.path if (pathlib.Path(p) / "sphinx-mathjax-offline").is_dir())
        mathjax = mathjax / "sphinx-mathjax-offline" / "static" / "mathjax"
        fonts = [f"output/chtml/fonts/woff-v2/{f.name}" for f in mathjax.glob("output/chtml/fonts/woff-v2/*.woff")]
        for part in ["startup.js", "core.js", "input/tex.js", "output/chtml.js", "output/chtml/fonts/tex.js", "a11y/assistive-mml.js", "ui/lazy.js", *fonts]:
            (out / "_static" / "mathjax" / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(mathjax / part, out / "_static" / "mathjax" / part)
        (out / "_static" / "film.json").write_text(json.dumps(self.facts["film"], separators=(",", ":")))
        (out / "_static" / "thumbs").mkdir()
        for o in self.facts["outputs"]:
            if o["thumb"]:
                (out / "_static" / "thumbs" / f"{o['id']}.png").write_bytes(base64.b64decode(o["thumb"]))
        self.add_engine(out / "_static")
        shutil.copyfile(HERE / "404.html", out / "404.html")
        found = list(pages.found(self))
        (out / "_static" / "rows.json").write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        for unused in [*out.glob("_static/scripts/fontawesome.js*"), *out.glob("_static/*webpack-macros.html")]:  # of the theme
            unused.unlink()
        titled, places = [], {}  # the pages, and those that hold a decimal number
        for page in sorted(out.rglob("*.html")):
            text = lighter(page, page.read_text(encoding="utf-8"))
            page.write_text(text, encoding="utf-8")
            article = re.sub("<[^>]*>", " ", "".join(re.findall("<article.*?</article>", text, re.DOTALL)))
            for number in sorted(set(re.findall(r"\d+\.\d+", article))):
                places.setdefault(number, []).append(len(titled))
            titled.append({"title": html.unescape(re.search("<title>(.*?)(</title>| &#8212; )", text, re.DOTALL)[1]).strip(), "at": page.relative_to(out).as_posix()})
        (out / "_static" / "numbers.json").write_text(json.dumps({"pages": titled, "places": places}, separators=(",", ":")))
        if self.repository:
            return
        for name in sorted(self.linked):
            page = out / "source" / f"{name}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(source_page(name, (ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")

    def add_engine(self, folder):
        """Add the compressed program that checks and trains in the page, and the script of Go that starts it."""
        with tempfile.TemporaryDirectory() as built:
            wasm = pathlib.Path(built, "engine.wasm")
            go = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(wasm), "./cmd/site"]
            subprocess.run(go, cwd=ROOT, check=True, env=os.environ | {"GOOS": "js", "GOARCH": "wasm"})
            (folder / "engine.wasm.gz").write_bytes(gzip.compress(wasm.read_bytes(), 9, mtime=0))
        goroot = subprocess.run(["go", "env", "GOROOT"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        shutil.copyfile(pathlib.Path(goroot, "lib", "wasm", "wasm_exec.js"), folder / "wasm_exec.js")


def lighter(page, text):
    """Return a page with the sizes of its PNG pictures, without empty headers, without the script of all icons, whose font suffices, and
    without the index that the search page alone reads."""
    text = re.sub(r"<(script|link)[^>]*fontawesome\.js[^>]*>(</script>)?\n?", "", text)
    if page.name != "search.html":
        text = re.sub(r'<script src="[^"]*(searchtools|language_data|searchindex)\.js[^>]*></script>\n?', "", text)
    text = re.sub(r"<th[^>]*>(<p></p>)?</th>", "<td></td>", text)
    text = text.replace('<summary aria-label="Toggle hidden content">', "<summary>")

    def sized(m):
        file = page.parent / urllib.parse.unquote(m[2])
        if not file.is_file():
            return m[0]
        width, height = struct.unpack(">II", file.read_bytes()[16:24])
        shown = int(m[3] or width)
        return f'{m[1]}{m[2]}" width="{shown}" height="{round(height * shown / width)}"'

    return re.sub(r'(<img [^>]*?src=")([^":]*\.png)"(?: width="(\d+)")?', sized, text)


def source_page(name, text):
    """Return a file as a page with the anchor Ln at line n."""
    try:
        lexer = pygments.lexers.get_lexer_for_filename(name)
    except pygments.util.ClassNotFound:
        lexer = pygments.lexers.TextLexer()
    formatter = pygments.formatters.HtmlFormatter(linenos="inline", linespans="L", classprefix="c-", wrapcode=True)
    code = pygments.highlight(text, lexer, formatter).replace('id="L-', 'id="L')
    top = "../" * (name.count("/") + 1)
    return f"""<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(name)}</title><link rel="stylesheet" href="{top}_static/source.css"><link rel="icon" href="{top}_static/icon.svg">
<h1>{html.escape(name)}</h1><p><a href="{top}index.html">Start</a> · <a href="{top}ledger.html">The ledger</a></p>
{code}</html>
"""


if __name__ == "__main__":
    main()
