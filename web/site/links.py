"""The links of a built site: dead ones, and links to other hosts."""

import html.parser
import pathlib
import re
import urllib.parse

# Hosts that a page may link to. No page loads anything from them.
OUTSIDE = ("https://pkg.go.dev/", "https://arxiv.org/abs/", "https://github.com/EzraEdelman/")


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and its pictures without alt text."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.targets, self.mute = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.anchors.update(a[k] for k in ("id", "name") if a.get(k))
        self.targets += [(tag, a[k]) for k in ("href", "src", "poster", "action", "data-src") if a.get(k)]
        self.targets += [(tag, s.split()[0]) for s in (a.get("srcset") or "").split(",") if s.strip()]
        if tag == "img" and not a.get("alt", "").strip():
            self.mute.append(a.get("src"))

    handle_startendtag = handle_starttag


def dead(site, missing=(), outside=OUTSIDE):
    """Return the faults in the links, anchors and alt texts of the pages of a folder.

    Files whose path begins with one of missing need not exist. Links to other hosts must begin
    with one of outside.
    """
    site = pathlib.Path(site).resolve()
    pages = {p: Page(p) for p in sorted(site.rglob("*.html")) if not p.is_relative_to(site / "lab")}
    faults = []
    for path, page in pages.items():
        name = path.relative_to(site)
        faults += [f"{name}: {src} has no alt text" for src in page.mute]
        for tag, target in page.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme == "data":
                continue
            if url.scheme or url.netloc:
                if tag != "a" or not target.startswith(outside):
                    faults.append(f"{name}: {target} is on another host")
                continue
            file = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if url.path.startswith("/") or not file.is_relative_to(site):
                faults.append(f"{name}: {target} leaves the site")
            elif file.relative_to(site).as_posix().startswith(tuple(missing)):
                continue
            elif not file.is_file():
                faults.append(f"{name}: {target} does not exist")
            elif url.fragment and file in pages and urllib.parse.unquote(url.fragment) not in pages[file].anchors:
                faults.append(f"{name}: {target} has no such anchor")
    for path in sorted(site.rglob("*.css")):
        for target in re.findall(r"url\(\s*[\"']?([^\"')]+)", path.read_text(encoding="utf-8")):
            if not target.startswith(("data:", "#")) and (
                ":" in target or not (path.parent / re.split("[?#]", target)[0]).is_file()
            ):
                faults.append(f"{path.relative_to(site)}: {target} does not exist")
    return faults
