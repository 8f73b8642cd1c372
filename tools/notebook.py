"""Run, check and lint the notebooks of this repository.

    notebook.py run   [NOTEBOOK...]   execute in place
    notebook.py check [NOTEBOOK...]   execute a copy, many cells in a program, and compare its outputs with the
                                      committed ones; run the exercises and compare with the answers below them
    notebook.py lint  [NOTEBOOK...]   reject faults that GoNB ignores
    notebook.py tidy  [NOTEBOOK...]   give notebooks the stored form, with the bars of links
    notebook.py class  FOLDER         copy the notebooks into a new folder, without the answers of functions to write
    notebook.py kernel                write the kernel description of this checkout
    notebook.py lab   [FLAG...]       open JupyterLab on the first notebook

Without arguments all of notebooks/*.ipynb. A cell is named by its execution
number, the one Jupyter shows in brackets. A code cell with the tag "try" is an
exercise: it has no number and no stored output. If its answer is an error, it has the
tag "raises-exception", and Run All goes on behind it. A code cell with the tag "answer"
declares a function that a student writes, and ends in its judge, nb.Judge.
"""

import argparse
import asyncio
import difflib
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"

# Leave the user's own Jupyter alone.
for _kind in ("config", "data", "runtime"):
    os.environ[f"JUPYTER_{_kind.upper()}_DIR"] = str(ROOT / ".tools" / "jupyter" / _kind)
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"

AT_A_TIME = 2  # notebooks; the Go compiler is parallel
KERNEL_START = 300  # seconds
GRACE = 10  # seconds for an interrupted program to stop
STATUS_EVERY = 10  # seconds between two messages about a slow cell
MAX_LINES = 15  # of a code cell, without its imports
MIN_ALT = 40  # characters that describe an image
MAX_COLUMNS = 100  # of a line of code, a tab counting as four


# --- canonical form -------------------------------------------------------

METADATA = {
    "kernelspec": {"display_name": "Go (gonb)", "language": "go", "name": "gonb"},
    "language_info": {
        "file_extension": ".go",
        "mimetype": "text/x-go",
        "name": "go",
        "pygments_lexer": "go",
    },
}


# Metadata that an execution or an editor adds.
NOISE = {"execution", "ExecuteTime", "trusted", "collapsed", "scrolled", "widgets", "vscode", "pycharm", "gokernel"}

FAILS = "raises-exception"  # Jupyter's tag for a cell behind which Run All goes on


def canonical(nb, stored=None):
    """Return the stored form of a notebook, as bytes.

    It drops everything that differs between two executions or two editors, and the outputs of exercises: of all, or of
    those whose source is among the stored ones. An exercise whose answer is an error has the tag FAILS.
    """
    nb = json.loads(json.dumps(nb, ensure_ascii=False).encode(errors="replace"))  # a lone surrogate has no bytes
    cells, ids, count = [], set(), 0
    for k, cell in enumerate(nb["cells"]):
        source = cell["source"].replace("\r\n", "\n").rstrip()
        c = {
            "cell_type": cell["cell_type"],
            "id": cell_id(cell["cell_type"] + source, ids),
            "metadata": without_noise(cell.get("metadata", {})),
            "source": lines(source),
        }
        if is_exercise(cell):
            kept = cell.get("outputs", []) if stored is not None and source not in stored else []
            c |= {"execution_count": None, "outputs": [canonical_output(o, None) for o in merge_streams(kept)]}
            fails = {FAILS} if to_fail(answer(nb["cells"], k)) else set()
            c["metadata"]["tags"] = sorted({*c["metadata"]["tags"]} - {FAILS} | fails)
        elif cell["cell_type"] == "code":
            count += 1
            executed = cell.get("execution_count") is not None
            c["execution_count"] = count if executed else None
            c["outputs"] = [canonical_output(o, count) for o in merge_streams(cell.get("outputs", []))]
        elif cell.get("attachments"):
            c["attachments"] = cell["attachments"]
        cells.append(c)
    doc = {"cells": cells, "metadata": without_noise(nb.get("metadata", {})) | METADATA, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(doc, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def without_noise(metadata):
    return {k: v for k, v in metadata.items() if k not in NOISE}


def cell_id(content, taken):
    """Return an id that depends on the content, so that an inserted cell changes no other id."""
    name = hashlib.sha256(content.encode()).hexdigest()[:8]
    n, fresh = 1, name
    while fresh in taken:
        n += 1
        fresh = f"{name}-{n}"
    taken.add(fresh)
    return fresh


def merge_streams(outputs):
    """Join consecutive chunks of one stream."""
    merged = []
    for o in outputs:
        if o["output_type"] == "stream" and merged and merged[-1].get("name") == o["name"]:
            merged[-1]["text"] += o["text"]
        else:
            merged.append(dict(o))
    return merged


def canonical_output(output, count):
    kind = output["output_type"]
    if kind == "stream":
        # Drop text that a carriage return has overwritten.
        shown = [line.rstrip("\r").rpartition("\r")[2] for line in output["text"].split("\n")]
        return {"output_type": kind, "name": output["name"], "text": lines("\n".join(shown))}
    if kind == "error":
        return {"output_type": kind} | {k: output[k] for k in ("ename", "evalue", "traceback")}
    data = {k: lines(v) if k.startswith("text/") else v for k, v in output["data"].items()}
    o = {"output_type": kind, "data": data, "metadata": output.get("metadata", {})}
    return o | {"execution_count": count} if kind == "execute_result" else o


def lines(text):
    """Split after each newline only, unlike str.splitlines."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def read(path):
    import nbformat

    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def write(path, data):
    """Replace the file atomically if its content changes. Links and the mode of the file stay."""
    path = path.resolve()
    if path.exists() and path.read_bytes() == data:
        return
    temporary = path.with_name(f".{path.name}-{os.urandom(8).hex()}.tmp")
    with open(temporary, "xb") as f:
        if path.exists():
            shutil.copymode(path, temporary)
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    temporary.replace(path)


def bar(path):
    """Return the links from a notebook to the previous one, the table of contents and the next one."""
    course = sorted(NOTEBOOKS.glob("*.ipynb"))
    if path.resolve() not in course:
        return ""
    k = course.index(path.resolve())
    links = []
    if k > 0:
        links.append(f"[← {title(course[k - 1])}]({course[k - 1].name})")
    if k > 1:
        links.append(f"[contents]({course[0].name})")
    if k + 1 < len(course):
        links.append(f"[{title(course[k + 1])} →]({course[k + 1].name})")
    return " · ".join(links)


def title(path):
    """Return the heading of a notebook."""
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
    return first[0].strip().removeprefix("# ").partition(" — ")[0]


def is_exercise(cell, tag="try"):
    return cell["cell_type"] == "code" and tag in cell.get("metadata", {}).get("tags", ())


def code_cells(nb):
    """Yield (execution number, cell), without the exercises."""
    return enumerate((c for c in nb["cells"] if c["cell_type"] == "code" and not is_exercise(c)), start=1)


def tidy(paths):
    for path in paths:
        nb = read(path)
        if links := bar(path):
            cells = nb["cells"]
            heading, rest = cells[0]["source"].split("\n", 1)
            rest = re.sub(r"\A(\s*(\[[^]]*\]\([^)]*\)( · )?)+\n)?\s*", "", rest)
            cells[0]["source"] = f"{heading}\n\n{links}\n\n{rest}"
            if cells[-1]["source"] != links:
                if cells[-1]["cell_type"] == "markdown" and re.fullmatch(r"(\[[^]]*\]\([^)]*\)( · )?)+", cells[-1]["source"]):
                    cells.pop()
                cells.append({"cell_type": "markdown", "id": "bar", "metadata": {}, "source": links})
        write(path, canonical(nb))
    return []


# --- lint -----------------------------------------------------------------

MAGICS = {"%", "main", "exec", "args", "env", "noautoget"}
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/<])/(?:home|root|tmp|var|usr|opt|work|mnt|Users|private)/[\w.]")
WALL_TIME = re.compile(
    r"\b\d+(?:\.\d+)?[ \u00a0]?(?:ns|µs|us|ms|s|sec|secs|seconds|min|minutes)\b|\b\d+m\d+(?:\.\d+)?s\b"
    r"|\b\d?\d:\d\d:\d\d\b|\b20\d\d-\d\d-\d\d\b"
)
COMMIT = re.compile(r"\b[0-9a-f]{40}\b|\b(?:commit|revision|vcs)\W{1,3}[0-9a-f]{7,}\b", re.IGNORECASE)


def specials(source):
    """Return the GoNB commands of a cell and its lines of Go without comments."""
    commands, code, continued = [], [], False
    for line in source.split("\n"):
        line = line.removeprefix("//gonb:")
        if continued:
            continued = line.endswith("\\")
        elif len(line) > 1 and line[0] in "%!":
            commands.append(line[0] + line[1:].strip())
            continued = line.endswith("\\")
        elif line.strip() and not line.strip().startswith("//"):
            code.append(line)
    return commands, code


def runs(source):
    """Return whether a cell runs a program, and does not only declare names."""
    commands, code = specials(source)
    names = {c[1:].split()[0] for c in commands}
    return bool(code) and (bool(names & {"%", "main", "exec"}) or any(re.match(r"func main\(", c) for c in code))


def lint_source(source):
    """Yield the faults in the source of one code cell."""
    commands, code = specials(source)
    names = []
    for c in commands:
        name = (c[1:].split() or [""])[0]
        names.append(name)
        if c[0] == "!" or c.startswith(("%%bash", "%%sh", "%%script", "%%writefile", "%%gx")):
            yield f"{c.split()[0]!r} runs outside Go, and GoNB passes the cell even if it fails: call a function of pkg"
        elif name not in MAGICS and not c.startswith("%%"):
            yield f"%{name} is not a command that notebooks here use ({', '.join(sorted(MAGICS))}): GoNB passes unknown ones"
    if not code and set(names) <= MAGICS - {"noautoget", "env"}:
        if "exec" in names:
            yield "a cell holding only %exec runs nothing: put %% and the call in its place"
        else:
            yield "the cell holds no Go: it has no effect"
    if re.search(r'"math/rand"', source):
        yield 'import "math/rand/v2", not "math/rand": GoNB remembers imports by name'


def lint_shape(source):
    """Yield a fault if a cell has too many lines, or lines that are too long."""
    code = re.sub(r"(?ms)^import \(.*?^\)\n?", "", source).strip().split("\n")
    if (n := len(code)) > MAX_LINES:
        yield f"{n} lines, at most {MAX_LINES} are allowed: make the cell a function of pkg"
    for line in source.split("\n"):
        if (n := len(line.expandtabs(4))) > MAX_COLUMNS:
            yield f"a line of {n} columns, at most {MAX_COLUMNS} are allowed: {line.strip()[:40]!r}"


MAY_FAIL = re.compile(r"(?m)^(?:var|\t)\s*\w+\s*=\s*(?!\s|func\b).*\b(?:nb\.Must|\w+\.Must\w+)\(")


def lint_declarations(source):
    """Yield declarations that stop every later cell if a reader changes them to an invalid value."""
    for block in re.findall(r"(?ms)^var \(.*?^\)|^var [^(\n][^\n]*", source):
        if m := MAY_FAIL.search(block):
            yield f"{m[0].strip()!r} may fail at the start of every later cell: make it a function"


def lint_exercises(nb):
    """Yield the faults of exercises that are found without running them."""
    names = declared(*(c["source"] for _, c in code_cells(nb)))
    for k, cell in enumerate(nb["cells"]):
        faults = []
        if cell["cell_type"] == "markdown" and re.search(r"(?m)^```go$", cell["source"]):
            faults = ['a block of Go in the text: make it a code cell with the tag "try", without output']
        elif is_exercise(cell):
            faults += lint_source(cell["source"])
            faults += lint_shape(cell["source"])
            faults += [f"it redeclares {name} for all later cells, use a different name"
                       for name in sorted(declared(cell["source"]) & names)]
            if not answer(nb["cells"], k):
                faults += [f"the cell below it must begin with {FOLD} and hold a block of text with lines of the output"]
        for fault in faults:
            yield f"cell {k + 1} from the top: {fault}"


NOT_ON_GITHUB = re.compile(r"\\operatorname|\\DeclareMathOperator|\\newcommand|\\def\b")


OPEN = re.compile(r"\bremains? to be \w+|\bnot (?:yet |been )?(?:tested|checked|tried|decided)\b", re.IGNORECASE)
NEEDED = re.compile(r"\bwould\b|\bneeds?\b|\btakes?\b", re.IGNORECASE)


def lint_open(text):
    """Yield each sentence that leaves something open in a paragraph that does not say what it would take."""
    for paragraph in re.split(r"\n\s*\n|\n(?=- |\d+\. )", text):
        for sentence in re.split(r"(?<=[.?!])\s+", paragraph):
            if OPEN.search(sentence) and not NEEDED.search(paragraph):
                yield f"the text leaves this open and does not say what it would take: {sentence.strip()[:80]!r}"


def lint_bar(path, nb):
    """Yield a fault if the links to the neighbours are missing."""
    links = bar(path)
    if links and (nb["cells"][0]["source"].split("\n")[2:3] != [links] or nb["cells"][-1]["source"] != links):
        yield f"{path.name}: the links to its neighbours are not below its heading and at its end: make tidy"


def lint_outputs(cell):
    """Yield the faults in the outputs of one code cell."""
    kinds = {o["output_type"] for o in cell["outputs"]}
    if "stream" in kinds and len(kinds) > 1:
        yield "prints and displays in one cell arrive in random order: print with nb.Printf, at most 4 KiB in a block"
    if runs(cell["source"]) and not cell["outputs"]:
        yield "the cell runs and shows nothing: values do not carry over to the next cell"
    for o in cell["outputs"]:
        if o["output_type"] == "error":
            yield f"it ended in an error: {o['ename']} {o['evalue']}".rstrip()
            continue
        if o.get("name") == "stderr":
            yield f"it wrote to standard error: {o['text'].strip()}"
            continue
        texts = [o["text"]] if "text" in o else [v for k, v in o["data"].items() if k.startswith("text/")]
        if "data" in o and "text/plain" not in o["data"]:
            yield f"an output of {', '.join(o['data'])} has no plain text for viewers that show only that: use package nb"
        if "image/png" in o.get("data", {}) and len(o["metadata"].get("image/png", {}).get("alt", "")) < MIN_ALT:
            yield f"an image has no description of at least {MIN_ALT} characters for those who do not see it"
        if "image/svg+xml" in o.get("data", {}) or any("<svg" in t for t in texts):
            yield "SVG is not shown in a notebook that is not trusted: show the PNG"
        for text in texts:
            yield from lint_text(text)


def lint_text(text):
    """Yield parts of an output that differ between machines or days."""
    if "<progress" in text:
        yield "a progress bar was left unfinished: call its Done"
        return
    text = re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)
    for what, pattern in (("an absolute path", ABSOLUTE_PATH), ("a wall time or date", WALL_TIME), ("a commit id", COMMIT)):
        if m := pattern.search(text):
            yield f"the output holds {what}: {line_around(text, m)!r}"
    here = [str(ROOT), str(pathlib.Path.home())]
    # Only a host name with a digit, dot or hyphen counts: a host may be called "graph".
    here += [h for h in [socket.gethostname()] if re.search(r"[\d.-]", h) and h != "127.0.0.1"]
    for word in here:
        if len(word) > 3 and word in text:
            yield f"the output names this machine: {word!r}"


def line_around(text, match):
    start = text.rfind("\n", 0, match.start()) + 1
    return text[start:].split("\n", 1)[0].strip()[:100]


def lint(path):
    """Yield the faults of one notebook."""
    name = path.name
    nb = read(path)
    cells = list(code_cells(nb))
    if cells and "%noautoget" not in specials(cells[0][1]["source"])[0]:
        yield f"{name} cell 1: no %noautoget: a new import would go to the network and float versions"
    for k, cell in cells:
        faults = list(lint_source(cell["source"]))
        faults += lint_shape(cell["source"])
        faults += lint_declarations(cell["source"])
        if cell["execution_count"] is None:
            faults.append("not executed: make reproduce")
        else:
            faults += lint_outputs(cell)
            if is_exercise(cell, "answer") and ": right on all " not in shown_text(cell["outputs"]):
                faults.append("the answer is not right")
        for fault in faults:
            yield f"{name} cell {k}: {fault}"
    for fault in lint_exercises(nb):
        yield f"{name} {fault}"
    for k, cell in enumerate(nb["cells"], start=1):
        if m := NOT_ON_GITHUB.search(cell["source"]):
            yield f"{name} cell {k} from the top: GitHub does not show {m[0]} in a formula: \\mathrm, \\ast"
        for fault in lint_open(cell["source"]) if cell["cell_type"] == "markdown" else ():
            yield f"{name} cell {k} from the top: {fault}"
    yield from lint_bar(path, nb)
    if canonical(nb) != path.read_bytes():
        yield f"{name}: not in the stored form (saved by an editor?): make tidy"


# --- execution ------------------------------------------------------------


class CellFailed(Exception):
    pass


def say(text):
    print(text, flush=True)


def make_client(nb, name):
    from nbclient import NotebookClient

    class Client(NotebookClient):
        """A client that prints the status of a progress bar on the terminal."""

        last = time.monotonic()

        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"].endswith("display_data") and time.monotonic() > self.last + STATUS_EVERY:
                html = msg["content"]["data"].get("text/html", "")
                if "<progress" in html:
                    self.last = time.monotonic()
                    say(f"{name}  {' '.join(re.sub('<[^>]*>', ' ', html).split())}")
            return super().process_message(msg, cell, cell_index)

    return Client(
        nb,
        kernel_name="gonb",
        resources={"metadata": {"path": str(NOTEBOOKS)}},
        record_timing=False,
        startup_timeout=KERNEL_START,
        iopub_timeout=60,
        raise_on_iopub_timeout=True,
    )


async def start(client):
    """Start the kernel, with three attempts, because another process may take a port."""
    for attempt in range(3):
        client.create_kernel_manager()
        try:
            await client.async_start_new_kernel()
            await client.async_start_new_kernel_client()
            return
        except RuntimeError:
            if attempt == 2:
                raise


def joined(sources):
    """Yield the indices of cells that are executed together.

    GoNB links and runs a program for each group. A cell of declarations joins the cell below
    it, whose program contains the declarations anyway. The tests of web/cell compile each cell
    without the cells below it.
    """
    at = []
    for i, source in enumerate(sources):
        commands, _ = specials(source)
        if at and (re.search(r"(?m)^import\b", source) or any(c.split()[0] != "%%" for c in commands)):
            yield at
            at = []
        at.append(i)
        if commands or runs(source):
            yield at
            at = []
    if at:
        yield at


MARK = "the end of a cell"


def program(sources):
    """Return one cell whose program runs the programs of the cells in turn, and shows a MARK after each."""
    if len(sources) < 2:
        return "".join(sources)
    heads, _, bodies = zip(*(("\n" + s).partition("\n%%\n") for s in sources))
    ends = (f"func() {{\n{body}\n}}()\nnb.Markdown({json.dumps(MARK)})" for body in bodies)
    return "\n\n".join(h.strip() for h in heads if h.strip()) + "\n\n%%\n" + "\n".join(ends)


def shares(outputs):
    """Return the outputs before each mark, and after the last one."""
    parts = [[]]
    for o in outputs:
        if o.get("data", {}).get("text/markdown") == MARK:
            parts.append([])
        else:
            parts[-1].append(o)
    return parts


def apart(sources):
    """Yield (indices, source) of cells to execute, with one program for each cell that runs."""
    for at in joined(sources):
        yield at, "\n\n".join(sources[i] for i in at)


def together(sources):
    """Yield (indices, source) of cells to execute, with as few programs as possible, because linking is slow.

    Imports begin a program, and a cell with a command other than %% needs a program to itself.
    The tests of web/cell compile each cell separately, and make reproduce runs it separately.
    """
    at = []
    for i, source in enumerate(sources):
        own = set(specials(source)[0]) - {"%%", "%noautoget"} or "func main(" in source
        if at and (own or re.search(r"(?m)^import\b", source)):
            yield at, program([sources[i] for i in at])
            at = []
        at.append(i)
        if own:
            yield at, source
            at = []
    if at:
        yield at, program([sources[i] for i in at])


async def perform(client, source):
    """Return the outputs of a program up to each mark and after the last one, and its error."""
    from nbclient.exceptions import CellExecutionError, DeadKernelError
    from nbformat.v4 import new_code_cell

    cell, fault = new_code_cell(source), ""
    client.nb["cells"].append(cell)
    try:
        await client.async_execute_cell(cell, len(client.nb["cells"]) - 1)
    except CellExecutionError:
        fault = failure(shares(cell["outputs"])[-1])
    except DeadKernelError:  # or a cancelled task, which nbclient reports alike
        if await client.km.is_alive():
            raise asyncio.CancelledError from None
        fault = "the kernel died"
    return shares(cell["outputs"]), fault


async def execute(path, programs, exercised):
    """Return the notebook with new outputs, and the faults of its exercises, or raise CellFailed."""
    from nbformat.v4 import new_notebook

    name, nb = path.name, read(path)
    cells, everything = list(code_cells(nb)), list(exercised(nb))
    joint = joinable(nb, everything)
    alone = [i for i in everything if i not in joint]
    faults = []
    client = make_client(new_notebook(), name)
    client.reset_execution_trackers()
    try:
        await start(client)
        for at, source in programs([c["source"] for _, c in cells] + [code for _, code, _ in joint]):
            begun = time.monotonic()
            group, asked = [cells[i] for i in at if i < len(cells)], [joint[i - len(cells)] for i in at if i >= len(cells)]
            if not group:
                alone = asked + alone
                continue
            parts, fault = await perform(client, source)
            if asked and fault and len(parts) == 1:  # nothing ran: run the cells without the exercises
                alone, asked = asked + alone, []
                parts, fault = await perform(client, program([c["source"] for _, c in group]))
            if said := settle(group, parts, fault):
                raise CellFailed(f"{name} {said[0]} of {len(cells)} failed:\n{said[1]}")
            answers = parts[len(group) :]
            faults += answered(name, asked, answers, fault)
            alone = asked[len(answers) :] + alone
            also = f", exercises: {len(asked)}" if asked else ""
            say(f"{name}  {span(group)} of {len(cells)}{also}  {time.monotonic() - begun:.1f} s")
        for exercise in alone:
            begun, (k, code, _) = time.monotonic(), exercise
            parts, fault = await perform(client, program(["%reset\n" + declarations(nb["cells"][:k]), code]))
            # The mark after the declarations shows that later cells, with the same declarations, start.
            faults += answered(name, [exercise], parts[1:] or [None], fault)
            say(f"{name}  exercise in cell {k + 1}  {time.monotonic() - begun:.1f} s")
    finally:
        await asyncio.shield(stop(client))
    return nb, [f for _, f in sorted(faults, key=lambda f: f[0])]


def settle(group, parts, fault):
    """Give each cell its part of the outputs; return the name and error of the cells that failed, or None."""
    shown = parts if len(parts) > 1 else [[]] * (len(group) - 1) + parts
    for (k, cell), part in zip(group, shown):
        cell["outputs"], cell["execution_count"] = part, k
    failed = group[len(parts) - 1 :]
    if fault and failed:
        return span(failed), fault
    linted = [f"cell {k}: {f}" for k, c in group for f in (*lint_source(c["source"]), *lint_outputs(c))]
    return (span(group), "\n".join(linted)) if linted else None


def span(group):
    """Return the name of a group of (execution number, cell)."""
    return f"cell {group[0][0]}" if len(group) == 1 else f"cells {group[0][0]} to {group[-1][0]}"


async def stop(client):
    """End the kernel and its processes.

    The kernel interrupts a running program, which then has GRACE seconds to store a checkpoint.
    """
    if client.kc is not None:
        client.kc.stop_channels()
    if client.km is None or not client.km.has_kernel:
        return
    group = client.km.provisioner.pgid
    await client.km.shutdown_kernel()
    try:
        for _ in range(10 * GRACE):
            os.killpg(group, 0)
            await asyncio.sleep(0.1)
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def failure(outputs):
    """Return the error message of the compiler or of the program."""
    said = []
    for o in merge_streams(outputs):
        if o["output_type"] == "error":
            said += [o["evalue"], *o["traceback"]]
        elif o.get("name") == "stderr":
            said.append(o["text"])
    said = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(said))
    return "\n".join(dict.fromkeys(line for line in said.split("\n") if line.strip()))


async def each(paths, programs, exercised, finish):
    """Execute notebooks, two at a time, and return their faults."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    slots = asyncio.Semaphore(AT_A_TIME)
    begun, sizes, done = time.monotonic(), {p: p.stat().st_size for p in paths}, []

    def report(path):
        """Print the progress. The time of a notebook is roughly proportional to the size of its file."""
        done.append(path)
        share = sum(sizes[p] for p in done) / sum(sizes.values())
        left = (time.monotonic() - begun) * (1 / share - 1) / 60
        say(f"{path.name}  done, {len(done)} of {len(paths)} notebooks" + (f", about {left:.0f} min to go" if left > 0.5 else ""))

    async def one(path):
        async with slots:
            try:
                return finish(path, *await execute(path, programs, exercised))
            except CellFailed as e:
                say(str(e))
                return [str(e)]
            finally:
                report(path)

    faults = await asyncio.gather(*(one(p) for p in paths))
    return [f for found in faults for f in found]


def run(paths):
    def finish(path, nb, _):
        write(path, canonical(nb))
        return []

    faults = asyncio.run(each(paths, apart, lambda _: [], finish))
    say_end(faults, f"notebooks executed: {len(paths)}")
    return faults


def check(paths):
    before = {p: p.read_bytes() for p in paths}
    exercised = sum(len(list(exercises(read(p)))) for p in paths)

    def finish(path, nb, wrong):
        faults = [*differences(path.name, json.loads(before[path]), json.loads(canonical(nb))), *wrong]
        for f in faults:
            say(f)
        return faults

    faults = asyncio.run(each(paths, together, exercises, finish))
    say_end(faults, f"notebooks executed: {len(paths)}, outputs as committed; exercises run: {exercised}")
    return faults


def differences(name, old, new):
    """Yield a short diff for each cell whose outputs changed."""
    for (k, a), (_, b) in zip(code_cells(old), code_cells(new), strict=True):
        if a["outputs"] == b["outputs"]:
            continue
        diff = difflib.unified_diff(account(a), account(b), "committed", "now", n=1, lineterm="")
        shown = [d[:200] for d in diff][:20]
        yield f"{name} cell {k}: the output is not the committed one\n" + "\n".join(shown)


def account(cell):
    """Return outputs as lines to compare, with the size and hash of an image."""
    shown = []
    for o in cell["outputs"]:
        if "text" in o:
            shown += [f"[{o['name']}]"] + "".join(o["text"]).split("\n")
        elif "data" in o:
            for kind, v in sorted(o["data"].items()):
                if kind.startswith("text/"):
                    shown += [f"[{kind}]"] + "".join(v).split("\n")
                else:
                    v = json.dumps(v)
                    shown.append(f"[{kind}] {len(v)} characters, sha256 {hashlib.sha256(v.encode()).hexdigest()[:12]}")
            shown.append(f"metadata {json.dumps(o['metadata'], sort_keys=True)}")
        else:
            shown.append(f"[{o['output_type']}] {o.get('evalue', '')}")
    return shown


def say_end(faults, passed):
    say(f"faults in notebooks: {len(faults)}\n" + "\n".join(f.split("\n")[0] for f in faults) if faults else passed)


# --- exercises --------------------------------------------------------------

FOLD = "<details><summary>"


def exercises(nb, day=None):
    """Yield (cell number from the top, code, expected lines) for each exercise.

    Exercises with the tag "slow" train for many seconds; one of them, chosen daily, is included.
    """
    found = [(k, c) for k, c in enumerate(nb["cells"]) if is_exercise(c)]
    slow = [k for k, c in found if "slow" in c["metadata"]["tags"]]
    for k, c in found:
        if k not in slow or k == slow[(today() if day is None else day) % len(slow)]:
            yield k, c["source"], answer(nb["cells"], k)


def answer(cells, k):
    """Return the expected lines of the exercise k, from the block of text in the folded cell below it.

    They are lines of the output in their order. If the first starts with "error:" or "panic:", they are the whole output.
    """
    below = cells[k + 1]["source"] if k + 1 < len(cells) else ""
    m = re.search(r"(?ms)^```text\n(.*?)^```$", below) if below.startswith(FOLD) else None
    return [line.strip() for line in m[1].split("\n") if line.strip()] if m else []


def today():
    """Return the number of the day, as trial.Today does."""
    return int(time.time() // (24 * 60 * 60))


def declarations(cells):
    """Return the declarations of the cells, as the source of one cell."""
    cells = [c["source"] for _, c in code_cells({"cells": cells})]
    sources = [s for s in cells if not runs(s)]
    kept = [s.partition("\n%%")[0] for s in cells if runs(s) and not s.startswith("%")]
    text = "\n\n".join(re.sub(r"(?m)^%noautoget$", "", s) for s in sources + kept)
    imports = r"(?ms)^import \(.*?^\)$"  # Go wants them before all else
    return "\n\n".join([*re.findall(imports, text), re.sub(imports, "", text)])


def declared(*sources):
    """Return the names that cells declare."""
    heads = "\n".join(("\n" + s).partition("\n%%\n")[0] for s in sources)
    alike = re.findall(r"(?m)^(?:func(?: \(.*?\))?|type|var|const) (\w+(?:, \w+)*)", heads)
    for block in re.findall(r"(?ms)^(?:type|var|const) \((.*?)^\)", heads):
        alike += re.findall(r"(?m)^\t(\w+(?:, \w+)*)", block)
    return set(re.findall(r"\w+", " ".join(alike)))


def to_fail(want):
    return bool(want) and want[0].startswith(("error:", "panic:"))


def joinable(nb, everything):
    """Return the exercises that can run in the program of the notebook's cells; only the last may fail.

    The program has the declarations of all cells and of these exercises, each name once. An exercise
    runs separately if it redeclares a name of a cell, or uses a name that is declared below it or by
    another exercise.
    """
    sources = [c["source"] if c["cell_type"] == "code" and not is_exercise(c) else "" for c in nb["cells"]]
    fresh = [i for i in everything if not declared(i[1]) & declared(*sources)]

    def fits(exercise):
        k, code, _ = exercise
        above, below = declared(*sources[:k]), declared(*sources[k:])
        others = declared(*(i[1] for i in fresh if i is not exercise))
        return not set(re.findall(r"\w+", code)) & (below | others) and not above & below

    fit = sorted(filter(fits, fresh), key=lambda i: to_fail(i[2]))
    return fit[: 1 + sum(not to_fail(i[2]) for i in fit)]


def answered(name, asked, parts, fault):
    """Yield (cell number from the top, fault) for exercises with unexpected output; the last may have failed."""
    for i, ((k, code, want), part) in enumerate(zip(asked, parts), start=1):
        failed = fault and i == len(parts)
        faults = unlike(want, not failed, fault if failed else shown_text(part))
        if part is None:
            faults = [f"it does not compile, or every later cell fails:\n{fault}"]
        for f in faults:
            yield k, f"{name} cell {k + 1} from the top, {code.strip().splitlines()[0]!r}: {f}"


def shown_text(outputs):
    """Return the text of outputs."""
    return "\n".join(o["text"] if "text" in o else o["data"].get("text/plain", "") for o in outputs)


def unlike(want, passed, said):
    """Yield the differences between an output and the expected lines."""
    if not want:
        yield "no expected output in the cell below it"
    wrong = to_fail(want)
    if passed == wrong:
        yield f"it {'passes' if passed else 'fails'}, but the text says {want[0] if want else 'nothing'!r}:\n{said}"
        return
    lines_said = [line.strip() for line in said.split("\n")]
    if wrong:
        left = [line for line in lines_said if line and line not in want and not re.match(r"exit status|at +\[\[ Cell", line)]
        if left or any(w not in lines_said for w in want):
            yield f"want {want} and nothing else, got\n{said}"
        return
    at = 0
    for w in want:
        found = next((i for i in range(at, len(lines_said)) if w in lines_said[i]), None)
        if found is None:
            yield f"{w!r} is missing in the output:\n{said[:1500]}"
            return
        at = found


def assign(folders):
    """Copy the notebooks into a new folder, where functions of answers have no body, and a judge has no output."""
    for folder in folders:
        if NOTEBOOKS.parent not in folder.resolve().parents:
            return [f"{folder} is not in {NOTEBOOKS.parent}, where the copies find runs and links; want a folder there"]
        folder.mkdir(parents=True)
        for path in sorted(NOTEBOOKS.glob("*.ipynb")):
            nb = json.loads(path.read_bytes())
            for cell in nb["cells"]:
                if is_exercise(cell, "answer"):
                    cell |= {"source": lines(blank("".join(cell["source"]))), "outputs": [], "execution_count": None}
                    cell["metadata"].pop("jupyter", None)
            (folder / path.name).write_text(json.dumps(nb, ensure_ascii=False, indent=1), encoding="utf-8")
    return []


def blank(source):
    """Return an answer with a call of panic as the body of each function. It compiles, and nb.Judge recognizes it."""
    return re.sub(r"(?ms)^(func [^\n]* \{)\n.*?^\}", r'\1\n\tpanic("write me")\n}', source)


# --- kernel ---------------------------------------------------------------


def kernel(_):
    """Register the GoNB kernel in the Jupyter of .venv only."""
    tools = ROOT / ".tools"
    goroot = subprocess.run(["go", "env", "GOROOT"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    share = ROOT / ".venv" / "share" / "jupyter"
    spec = {
        "argv": [
            sys.executable, "-I", str(ROOT / "tools" / "gonb.py"), str(tools / "bin" / "gonb"),
            "--kernel", "{connection_file}", f"-go_work={ROOT}", "-raw_error=true",
            "-logtostderr=false", "-stderrthreshold=3", f"-log_dir={tools / 'log'}",
        ],
        "display_name": METADATA["kernelspec"]["display_name"],
        "language": "go",
        "interrupt_mode": "message",
        "env": {
            "PATH": os.pathsep.join([str(tools / "bin"), str(pathlib.Path(goroot) / "bin"), os.environ["PATH"]]),
            "GOTOOLCHAIN": "local",
            "GOAMD64": "v1",  # as in the Makefile
            "GOFLAGS": "-mod=readonly -ldflags=-s",  # without symbols a cell links a tenth faster
            "GOTRACEBACK": "single",  # package nb shortens the stack of a panic to its place
            "GOPROXY": "off",
            "GOWORK": "",
            "LEARNCAUSAL_CHECKOUT": str(ROOT),  # for cells of a notebook outside
        },
    }
    # Every server of this .venv saves the notebooks of the course in the stored form. The module
    # needs another name, because Jupyter has a module called notebook. Jupyter validates a
    # hook twice, and warns of the second time.
    config = f"""import importlib.util
import warnings

spec = importlib.util.spec_from_file_location("stored_form", {str(ROOT / "tools" / "notebook.py")!r})
stored_form = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stored_form)
warnings.filterwarnings("ignore", "Overriding existing pre_save_hook")
c.FileContentsManager.pre_save_hook = stored_form.save
"""
    quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    for path, content in (
        (share / "kernels" / "gonb" / "kernel.json", spec),
        (share / "lab" / "settings" / "overrides.json", quiet),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, json.dumps(content, indent=1).encode())
    etc = ROOT / ".venv" / "etc" / "jupyter"
    etc.mkdir(parents=True, exist_ok=True)
    write(etc / "jupyter_server_config.py", config.encode())
    (tools / "log").mkdir(parents=True, exist_ok=True)
    return []


def save(model, path, contents_manager):
    """Convert a notebook of the course to the stored form when JupyterLab saves it. An exercise that was changed keeps its output."""
    file = pathlib.Path(contents_manager.root_dir, path.strip("/")).resolve()
    if file.parent != NOTEBOOKS or model["type"] != "notebook" or file.name not in (tracked() or [file.name]):
        return
    if model["content"].get("nbformat") == 4 and ours(model["content"]):
        import nbformat

        cells = json.loads(git("show", f":./{file.name}") or '{"cells": []}')["cells"]
        content = canonical(nbformat.from_dict(model["content"]), {"".join(c["source"]) for c in cells})
        model["content"] = nbformat.reads(content.decode(), as_version=4)


def lab(flags):
    """Replace this process by JupyterLab."""
    if os.geteuid() == 0:
        flags = ["--allow-root", *flags]
    ours = {
        "--ServerApp.root_dir": str(ROOT),
        "--LabApp.default_url": "/lab/tree/notebooks/00-start.ipynb",
        "--LanguageServerManager.autodetect": "False",  # it lists all servers that are not installed
    }
    given = {f.partition("=")[0] for f in flags}
    flags = [f"{name}={value}" for name, value in ours.items() if name not in given] + flags
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", *flags])


def course():
    """Return the notebooks of the course."""
    paths, names = sorted(NOTEBOOKS.glob("*.ipynb")), tracked()
    return [p for p in paths if p.name in (names or [p.name]) and ours(json.loads(p.read_text(encoding="utf-8")))]


def tracked():
    """Return the names of the notebooks that git tracks, none where there is no git."""
    return git("ls-files", "-z", "--", "*.ipynb").split("\0")[:-1]


def git(*args):
    """Return what git prints in the folder of the notebooks, nothing where there is no git or no such thing in it."""
    done = subprocess.run(["git", "-C", str(NOTEBOOKS), *args], capture_output=True, check=False) if shutil.which("git") else None
    return done.stdout.decode() if done and done.returncode == 0 else ""


def ours(nb):
    """Say whether a notebook has the kernel of Go, or names none."""
    return (nb.get("metadata", {}).get("kernelspec") or {}).get("name", "gonb") == "gonb"


def lint_all(paths):
    faults = [f for p in paths for f in lint(p)]
    for f in faults:
        say(f)
    say_end([], f"notebooks linted: {len(paths)}, faults: {len(faults)}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "check", "lint", "tidy", "class", "kernel", "lab"))
    parser.add_argument("notebook", nargs="*", type=pathlib.Path)
    args, flags = parser.parse_known_args()
    if args.command == "lab":
        lab(flags)
    if flags:
        parser.error(f"unknown flag {flags[0]}")
    paths = args.notebook or course()
    command = {"run": run, "check": check, "lint": lint_all, "tidy": tidy, "class": assign, "kernel": kernel}[args.command]
    try:
        sys.exit(1 if command(paths) else 0)
    except FileExistsError as e:
        sys.exit(f"{e.filename} exists, and may have a student's work: name a new folder")
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit("interrupted")


if __name__ == "__main__":
    main()
