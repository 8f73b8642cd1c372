"""The pages of the site other than notebooks, in MyST Markdown: start, ledger, gallery."""

import csv
import html
import json
import pathlib
import re

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# The sections of the paper in order, with their figures and sections of the ledger. The notebooks are those that show the figures or name the rows.
MAP = [
    ("2", "Setup", "fig-graph-example fig-worked-example fig-stream", ["Setup"]),
    ("3", "What does the transformer learn?", "fig-induction-head fig-forward-pass fig-construction-error",
     ["What does the Transformer Learn?"]),
    ("4", "Main results", "fig-loss-gap fig-ood", ["Main Results"]),
    ("5", "Proof sketch", "fig-proof-sketch fig-gij fig-why-it-stops", ["Proof Sketch"]),
    ("6", "Several parents", "fig-multi-parent", ["Causal Graphs with Multiple Parents"]),
    ("A", "Equivalence of the disentangled transformer", "", ["Disentangled Transformer Equivalence"]),
    ("B", "Construction for several parents", "fig-construction-error", ["Multiple Parents Construction"]),
    ("C", "Additional experiments",
     "fig-single-parent fig-multi-parent-full fig-mlp fig-many-graphs", []),
    ("D", "Dynamics", "fig-stage-one fig-ghat-beta fig-beta-growth",
     ["Gradient Computations", "Gradient of A1 (Stage 1)", "Gradient of A2 (Stage 2)"]),
    ("E", "Markov chains", "", ["Markov Chain Preliminaries"]),
    ("F", "Concentration", "fig-covariance-paths", ["Concentration"]),
    ("G", "Lemmas for stage 1", "", ["Strong Data Processing Inequality", "Lemmas for Stage 1"]),
    ("H", "Lemmas for stage 2", "", ["Lemmas for Stage 2", "Proof of Theorem 2"]),
    ("I", "Finite samples", "fig-finite-samples fig-sample-size", ["Finite Sample Analysis"]),
]
SIGNS = {"proved": "✓", "tested": "·", "not tested": "○", "refuted": "✗", "open": "?"}
KINDS = {"statement": "", "step or remark": ", a step or remark", "correction": ", corrected"}
NO_CONTENTS = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n"  # of the page in a second sidebar
FORMATS = ["png", "pdf", "tex", "csv", "json", "dot"]


def all(site):
    """Yield the name and the text of each page."""
    yield "index.md", start(site)
    yield "ledger.md", ledger(site)
    yield "gallery.md", gallery(site)
    yield "graph.md", (HERE / "graph.md").read_text(encoding="utf-8")


def plain(text):
    """Return plain text with the signs of Markdown escaped."""
    return re.sub(r"([\\`*_{}\[\]<>$#~|])", r"\\\1", text)


def slug(text):
    return re.sub(r"[^a-z0-9-]", "", text.lower().replace(" ", "-"))


def title(path):
    """Return the heading of a notebook up to a dash."""
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
    return first[0].strip().removeprefix("# ").partition(" — ")[0]


def start(site):
    titles = {o["id"]: o["title"] for o in site.facts["outputs"]}
    lines, rest = [], site.notebooks[1:]
    for number, name, figures, sections in MAP:
        where = f"Section {number}" if number.isdigit() else f"Appendix {number}"
        books = [p for p in site.notebooks if any(shows(p, f) for f in figures.split())
                 or any(r["section"] in sections and r["Notebook"] == f"notebooks/{p.name}" for r in site.facts["rows"])]
        rest = [p for p in rest if p not in books]
        read = "<br>".join(map(linked, books))
        shown = "<br>".join(f'<a href="gallery.html#{f}">{figure_name(titles[f])}</a>' for f in figures.split() if f in titles)
        rows = "<br>".join(tally(site, s) for s in sections)
        lines.append(f"| {where}: {name} | {read} | {shown} | {rows} |")
    missing = {r["section"] for r in site.facts["rows"]} - {s for m in MAP for s in m[3]}
    if missing:
        raise SystemExit(f"pages.py: MAP lacks the sections of the ledger {sorted(missing)}")
    text = (HERE / "index.md").read_text(encoding="utf-8")
    live = (HERE / "live.md").read_text(encoding="utf-8") if site.lab else ""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    credit = f'{cff["authors"][0]["name"]}, version {cff["version"]}, {cff["date-released"]}, licence ' \
             f'<a href="{site.address("LICENSE")}">{cff["license"]}</a>; <a href="{site.address("CITATION.cff")}">how to cite it</a>.'
    text = text.replace("CREDIT", credit).replace("MAP", "\n".join(lines)).replace("LIVE", live).replace("REST", ", ".join(map(linked, rest))).replace("ERRATUM", site.address("figures/errata.pdf"))
    names = ["0 · The idea, and what came out", *map(title, site.notebooks[1:])]
    course = "\n".join(f"{name} <notebooks/{p.stem}>" for name, p in zip(names, site.notebooks))
    return text.replace("COURSE", course).replace("ALT", description(site, "fig-induction-head")).replace("GRAPH", description(site, "fig-graph-example"))


def linked(path):
    return f"[{title(path)}](notebooks/{path.name})"


def shows(path, figure):
    """Say whether a notebook shows a figure."""
    return f'\\"{figure}\\"' in path.read_text(encoding="utf-8")


def figure_name(text):
    """Return the number of a figure of the paper, or the title of another figure."""
    m = re.search(r"\((Figure \d)\)", text)
    return m[1] if m else html.escape(text)


def tally(site, section):
    rows = [r for r in site.facts["rows"] if r["section"] == section and r["kind"] == "statement"]
    words = [f"{n} {v}" for v in SIGNS if (n := sum(r["verdict"] == v for r in rows))]
    return f'<a href="ledger.html#{slug(section)}">{", ".join(words) or "steps of proofs"}</a>'


def ledger(site):
    rows = site.facts["rows"]
    guide = re.findall(r"(?m)^- (?:The )?\*\*.*$", (ROOT / "CLAIMS.md").read_text(encoding="utf-8"))
    if not guide:
        raise SystemExit("pages.py: CLAIMS.md has no list that explains its table")
    count = {v: sum(r["verdict"] == v and r["kind"] == "statement" for r in rows) for v in SIGNS}
    tally_of_all = ", ".join(f"{n} are {v}" for v, n in count.items() if n)
    text = [NO_CONTENTS, "# The ledger\n", "The statements of the paper, as printed, each with a check that can refute it. Of "
            f"{sum(count.values())} statements, {tally_of_all}. A false statement has a witness, an instance on which it fails, and a "
            f'correction below it; <a href="{site.address("figures/errata.pdf")}">a letter</a> lists them, and '
            f'<a href="{site.address("figures/supplement.pdf")}">its supplement</a> has the proofs. '
            "*Run* checks a statement in this browser with the program of the project. Most checks take seconds, "
            "and none much longer than half a minute on an idle machine.\n",
            "<details><summary>How to read it</summary>\n", *guide, "\n</details>\n", filters(rows)]
    section = ""
    for r in rows:
        if r["section"] != section:
            section = r["section"]
            text.append(f"({slug(section)})=\n## {section}\n")
        text.append(statement(site, r))
    text.append('<script src="_static/find.js" defer></script><script src="_static/live.js" defer></script>\n')
    return "\n".join(text)


def filters(rows):
    def choice(name, label, values):
        options = "".join(f"<option>{html.escape(v)}</option>" for v in values)
        return f'<label>{label} <select name="{name}"><option value="">all</option>{options}</select></label>'

    there = {r[k] for r in rows for k in ("verdict", "kind")}
    return (
        '<form id="filter" role="search" autocomplete="off" aria-label="Filter the statements">'
        '<label>Find <input name="find" type="search" placeholder="Lemma 16, lem-tv, a word"></label>'
        + choice("verdict", "Verdict", [v for v in SIGNS if v in there])
        + choice("kind", "Kind", [k for k in KINDS if k in there])
        + choice("defect", "Defect", sorted({r["defect"] for r in rows if "defect" in r}))
        + choice("section", "Section", dict.fromkeys(r["section"] for r in rows))
        + f'<output aria-live="polite">{len(rows)} of {len(rows)} rows</output></form>\n'
        '<p id="none" hidden>No row has these words and properties.</p>\n'
    )


def found(site):
    """Yield the number, the title and the address of what the search finds by its number."""
    for r in site.facts["rows"]:
        yield {"id": r["id"], "number": r["number"], "title": r["title"], "at": f"ledger.html#{r['id']}"}
        if r["Proof"]:
            yield {"number": f"Proposition {r['Proof']}", "title": f"{r['title']}, in the supplement", "at": site.address("figures/supplement.pdf")}
    for o in site.facts["outputs"]:
        if (m := re.search(r"\((Figure \d)\)$", o["title"])):
            yield {"number": m[1], "title": o["title"], "at": f"gallery.html#{o['id']}"}
    for number, name, _, sections in MAP:
        at = f"ledger.html#{slug(sections[0])}" if sections else "index.html#the-map-from-the-paper"
        yield {"number": f"{'Section' if number.isdigit() else 'Appendix'} {number}", "title": name, "at": at}
    for p in site.notebooks:
        prose = "".join("".join(c["source"]) for c in json.loads(p.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "markdown")
        for number in sorted(set(re.findall(r"\b(?:Definition|Assumption|Equation) \d+", prose))):
            yield {"number": number, "title": title(p), "at": f"notebooks/{p.stem}.html"}


def statement(site, r):
    """Return a row: heading, verdict, statement, and the folded details."""
    verdict = r["verdict"]
    facts = [f'<b class="{slug(verdict)}">{SIGNS[verdict]} {verdict}</b>', f"<code>{r['id']}</code>",
             f"margin&nbsp;{r['margin']:.3g}", r["tested"]]
    data = {"id": r["id"], "verdict": verdict, "kind": r["kind"], "section": r["section"],
            "defect": r.get("defect", ""),
            "number": r["number"], "words": " ".join(r[k] for k in ("number", "id", "title", "statement", "hypotheses", "note"))}
    if not r["quick"]:
        data["slow"] = "1"
    attributes = " ".join(f'data-{k}="{html.escape(v)}"' for k, v in data.items())
    return f"""({r["id"]})=
### {r["number"]}{KINDS[r["kind"]]}: {plain(r["title"].removesuffix(", corrected"))}

<p class="facts" {attributes}>{" · ".join(facts)}</p>

{r["statement"]}

<p class="more">{" · ".join(elsewhere(site, r))}</p>

<details><summary>{"Witness, hypotheses" if r["witness"] else "Hypotheses, worst instance"}, controls</summary>
<template>

{account(site, r)}

</template></details>
"""


def elsewhere(site, r):
    """Return the links of a row: its check, the cell of a notebook, its correction, its proofs."""
    code = (ROOT / r["Source"]).read_text(encoding="utf-8")
    line = code.count("\n", 0, re.search(rf'\bID: +"{r["id"]}"', code).start()) + 1
    links = [f'<a href="{site.address(r["Source"] + f"#L{line}")}">the check</a>']
    if r["Notebook"]:
        cell = site.address(r["Notebook"] + (f"#{r['id']}" if r["id"] in site.anchors else ""))
        number = pathlib.Path(r["Notebook"]).stem.partition("-")[0].removeprefix("0")
        links.append(f'<a href="{cell}">notebook {number}</a>')
    if r.get("corrected_by"):
        links.append(f'<a href="#{r["corrected_by"]}">correction</a>')
    if r["Proof"]:
        links.append(f'<a href="{site.address("figures/supplement.pdf")}">proof: supplement, Proposition {r["Proof"]}</a>')
    for p in r.get("proved", []):
        how = "refuted" if p["refutes"] else "proved in part" if p.get("gap") else "proved"
        links.append(f'<a href="{site.address(p["file"])}">{how} in Coq: <code>{p["theorem"]}</code></a>')
    return links


def account(site, r):
    def named(words, values):
        return [f"**{words}.** {'; '.join(values)}"] if values else []

    def rows(ids):
        return [f'<a href="#{i}"><code>{i}</code></a>' for i in ids]

    support = re.sub(r"`([\w-]+)`", lambda m: rows([m[1]])[0], r["support"])
    return "\n\n".join([
        *named("Hypotheses", [r["hypotheses"]] if r["hypotheses"] else []),
        *named("Tried", [r["tried"]] if r.get("tried") else []),
        f"**Sides.** lhs {r['lhs']:.6g}, rhs {r['rhs']:.6g}, margin {r['margin']:.6g}. {plain(r['note'])}",
        f"**{'Witness' if r['witness'] else 'Worst instance'}.**", f"```text\n{r['layout']}```",
        *named("Must fail if altered", [plain(f) for f in r.get("faults", [])]),
        *named("Must hold if repaired", [plain(f) for f in r.get("repairs", [])]),
        *named("Defect", [r["defect"]] if "defect" in r else []),
        *named("Proved on paper", rows(r.get("proved_on_paper", []))),
        *named("In Coq", [plain(p) for p in r["coq"] or []]),
        *named("Its proof uses", rows(r["uses"])),
        *named("Its proof in the supplement uses", rows(r.get("rests_on", []))),
        f"**Consequences.** {support}",
    ])


def macros():
    """Return the texts of figures/captions.tex by the names of their macros."""
    text = (ROOT / "figures" / "captions.tex").read_text(encoding="utf-8")
    return dict(re.findall(r"(?m)^\\newcommand\{\\(\w+)\}\{(.*)\}$", text))


def words(tex):
    """Return the text of a caption as Markdown."""
    out = []
    for k, part in enumerate(re.split(r"\$([^$]*)\$", tex)):
        if k % 2:
            out.append(f"${part}$")
            continue
        for old, new in [(r"\textquotedblleft ", "“"), (r"\textquotedblright{}", "”"), (r"\textquotedblright", "”"),
                         (r"\,", "\u202f"), (r"\%", "%"), ("~", "\u00a0"), ("--", "–"), ("{,}", ",")]:
            part = part.replace(old, new)
        if "\\" in part:
            raise SystemExit(f"pages.py: a caption has a command of LaTeX that the site cannot show: {part!r}")
        out.append(part)
    return "".join(out)


def description(site, name):
    macro = next(o["caption"] for o in site.facts["outputs"] if o["id"] == name)
    return html.escape(words(macros()["alt" + macro.removeprefix("cap")]))


def files(name):
    return [f for f in FORMATS if (ROOT / "figures" / f"{name}.{f}").is_file()]


def downloads(name):
    links = [f'<a href="figures/{name}.{f}" download>{f.upper()}</a>' for f in files(name)]
    return f'<p class="more">{" · ".join(links)}</p>\n'


def gallery(site):
    outputs = {o["id"]: o for o in site.facts["outputs"]}
    captions = macros()
    figures = {i: o for i, o in outputs.items() if i.startswith("fig-")}
    thumbs = "".join(
        f'<a href="#{i}"><img src="_static/thumbs/{i}.png" alt="{description(site, i)}" loading="lazy">'
        f"<span>{html.escape(o['title'])}</span></a>" for i, o in figures.items())
    text = [NO_CONTENTS, "# The gallery\n", "Every figure and table, drawn from stored runs, to download: as a picture, or as TeX "
            "with the fonts of your document.\n",
            f'<div class="thumbs">{thumbs}</div>\n', "## Figures\n"]
    for i, o in figures.items():
        text.append(
            f"({i})=\n### {plain(o['title'])}\n\n"
            f'<div class="figure"><img src="figures/{i}.png" alt="{description(site, i)}" loading="lazy"></div>\n\n'
            f"{words(captions[o['caption']])}\n\n" + seen_in(site, i) + downloads(i))
    text.append("## Tables and numbers\n")
    for i, o in outputs.items():
        if i in figures:
            continue
        caption = words(captions[o["caption"]]) if o["caption"] in captions else ""
        folded = ""
        if i.startswith("tab-") or i == "summary":
            folded = f"<details><summary>Show the table</summary>{table(i)}</details>\n"
        text.append(f"({i})=\n### {plain(o['title'])}\n\n{caption}\n\n{folded}\n{downloads(i)}")
    text.append('## Captions\n\n<p class="more"><a href="figures/captions.tex" download>every caption and '
                'description</a> · <a href="figures/values.tex" download>the numbers as macros</a> · '
                '<a href="figures/all.tex" download>a document with all of them</a></p>\n')
    return "\n".join(text)


def seen_in(site, name):
    """Return links to the notebooks that show a figure."""
    where = [linked(p) for p in site.notebooks if shows(p, name)]
    return f"In {', '.join(where)}.\n\n" if where else ""


def table(name):
    with (ROOT / "figures" / f"{name}.csv").open(encoding="utf-8", newline="") as f:
        head, *rows = csv.reader(f)

    def cell(text):
        try:
            return f'<td class="number">{float(text):.4g}</td>' if "." in text else f"<td>{html.escape(text)}</td>"
        except ValueError:
            return f"<td>{html.escape(text)}</td>"

    lines = ["<tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>"]
    lines += ["<tr>" + "".join(map(cell, r)) + "</tr>" for r in rows]
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'
