"""Tests of the built site in the folder SITE, and of its generator."""

import gzip
import html
import json
import os
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import conf
import links
import pages

SITE = pathlib.Path(os.environ["SITE"])


def page(name):
    return links.Page(SITE / name)


class Links(unittest.TestCase):
    def test_every_link_anchor_and_picture_is_in_the_site(self):
        # lab/, where the notebooks run, is built apart.
        self.assertEqual(links.dead(SITE, missing=("lab/",)), [])

    def test_the_checker_sees_each_kind_of_fault(self):
        good = '<p id="here"><a href="#here">a</a> <a href="b.html#there">b</a> <img src="p.png" alt="a picture"></p>'
        faults = {
            '<a href="c.html">': "does not exist",
            '<a href="b.html#nowhere">': "has no such anchor",
            '<a href="#nowhere">': "has no such anchor",
            '<img src="p.png">': "has no alt text",
            '<img src="q.png" alt="q">': "does not exist",
            '<a href="/b.html">': "leaves the site",
            '<a href="../b.html">': "leaves the site",
            '<a href="https://example.org/">': "is on another host",
            '<script src="https://pkg.go.dev/x.js"></script>': "is on another host",
            '<link href="//cdn.example/x.css">': "is on another host",
            "": "theme.css: away.woff2 does not exist",
        }
        for fault, why in faults.items():
            with tempfile.TemporaryDirectory() as folder, self.subTest(fault):
                site = pathlib.Path(folder)
                (site / "b.html").write_text('<p id="there">')
                (site / "p.png").touch()
                (site / "a.html").write_text(good)
                self.assertEqual(links.dead(site), [])
                (site / "a.html").write_text(good + fault)
                if not fault:
                    (site / "theme.css").write_text("@font-face { src: url('away.woff2') }")
                found = links.dead(site)
                self.assertEqual(len(found), 1)
                self.assertIn(why, found[0])


class Contents(unittest.TestCase):
    def test_the_ledger_has_every_row_in_the_papers_order(self):
        rows = json.loads((pages.ROOT / "figures" / "claims.json").read_text())["claims"]
        text, anchors = (SITE / "ledger.html").read_text(), page("ledger.html").anchors
        self.assertLessEqual({r["id"] for r in rows}, anchors)
        places = [text.index(f'data-id="{r["id"]}"') for r in rows]
        self.assertEqual(places, sorted(places))
        for r in rows:
            self.assertIn(f'data-id="{r["id"]}" data-verdict="{r["verdict"]}"', text)

    def test_the_gallery_has_every_figure_in_every_format(self):
        anchors = page("gallery.html").anchors
        targets = {t for _, t in page("gallery.html").targets}
        figures = {p.stem for p in (pages.ROOT / "figures").glob("fig-*.png")}
        self.assertGreater(len(figures), 9)
        for name in figures:
            self.assertIn(name, anchors)
            self.assertLessEqual({f"figures/{name}.{f}" for f in ("png", "pdf", "tex")}, targets)
        for path in (pages.ROOT / "figures").glob("tab-*.csv"):
            self.assertIn(f"figures/{path.name}", targets)

    def test_each_notebook_is_a_page_with_its_pictures_described(self):
        for path in sorted((pages.ROOT / "notebooks").glob("*.ipynb")):
            nb = json.loads(path.read_text())
            text = (SITE / "notebooks" / f"{path.stem}.html").read_text()
            pictures = [o for c in nb["cells"] for o in c.get("outputs", []) if "image/png" in o.get("data", {})]
            alts = [html.unescape(a) for a in re.findall(r'<img alt="([^"]*)" src="../_images/', text)]
            self.assertEqual(alts, [o["metadata"]["image/png"]["alt"] for o in pictures], path.name)
            self.assertEqual(len(re.findall('class="cell (tag_\S+ )*docutils', text)), sum(c["cell_type"] == "code" for c in nb["cells"]))
            self.assertEqual(text.count('class="cell tag_hide-input'), 1)  # the imports

    def test_the_map_names_every_figure_of_the_paper(self):
        text = (SITE / "index.html").read_text()
        for number in range(1, 10):
            self.assertIn(f">Figure {number}</a>", text)

    def test_scripts_and_styles_of_a_page_are_small(self):
        for name in ["index.html", "ledger.html", "gallery.html", "graph.html", *sorted(f"notebooks/{p.name}" for p in SITE.glob("notebooks/*.html"))]:
            files = {(SITE / name).parent / t.split("?")[0] for tag, t in page(name).targets
                     if tag in ("script", "link") and t.split("?")[0].endswith((".js", ".css"))}
            self.assertGreater(len(files), 8)
            size = sum(len(gzip.compress(f.read_bytes())) for f in files if "mathjax" not in f.parts) / 1e3
            print(f"{name}: {size:.0f} kB of packed scripts and styles beside MathJax")
            self.assertLess(size, 250)

    def test_a_page_loads_no_index_and_few_bytes_of_MathJax_and_of_pictures(self):
        self.assertIn("searchindex.js", (SITE / "search.html").read_text())
        for name in ["index.html", "ledger.html", "notebooks/03-single-parent.html"]:
            self.assertNotIn("searchindex.js", (SITE / name).read_text())
        scripts = sum(f.stat().st_size for f in (SITE / "_static" / "mathjax").rglob("*.js"))
        thumbs = [SITE / t for tag, t in page("gallery.html").targets if tag == "img" and "thumbs" in t]
        size = sum(f.stat().st_size for f in thumbs)
        film = (SITE / "_static" / "film.json").stat().st_size
        print(f"MathJax {scripts} bytes, {len(thumbs)} thumbnails {size}, film {film}")
        self.assertGreater(len(thumbs), 9)
        self.assertLess(scripts, 0.8e6)
        self.assertLess(size, 0.8e6)
        self.assertLess(film, 0.2e6)

    def test_the_ledger_has_few_elements_until_a_row_is_unfolded(self):
        text = re.sub("<template>.*?</template>", "", (SITE / "ledger.html").read_text(), flags=re.DOTALL)
        self.assertLess(len(re.findall("<[a-z]", text)), 8000)

    def test_every_png_has_its_size_and_every_page_a_description(self):
        titles = {}
        for path in [p for p in SITE.rglob("*.html") if not {"lab", "source"} & set(p.parts)]:
            text = path.read_text()
            for image in re.findall("<img [^>]*[.]png[^>]*>", text):
                self.assertRegex(image, ' height="[0-9]+"')
            self.assertEqual(re.findall("<th[^>]*>(<p></p>)?</th>|<img [^>]*width=[^>]* width=", text), [], path)
            if path.name != "404.html":
                self.assertIn('<meta name="description" content="', text)
                title = re.search("<title>(.*?)</title>", text, re.DOTALL)[1]
                self.assertNotIn(title, titles)
                titles[title] = path

    def test_previews_show_the_first_sentences(self):
        for path in SITE.glob("notebooks/*.html"):
            text = path.read_text()
            words = re.search('<meta property="og:description" content="([^"]*)"', text)[1]
            self.assertRegex(words, "^[A-Z].{40,}")
            self.assertNotRegex(words, "[←→]|&amp;(lt|gt|amp|quot);|<a ", path)
        self.assertIn('<meta name="citation_title" content="', (SITE / "index.html").read_text())

    def test_a_notebook_runs_live_where_the_site_has_that(self):
        for lab, link in [("", False), ("1", True)]:
            for name in ["notebooks/03-single-parent", "ledger"]:
                with mock.patch.dict(os.environ, SITE_LAB=lab):
                    context = {"body": "text"}
                    conf.run_live(None, name, "", context, None)
                at = '<a href="../lab/notebooks/index.html?path=notebooks/03-single-parent.ipynb">'
                self.assertEqual(at in context["body"], link and "03" in name)

    def test_a_caption_that_cannot_be_shown_is_refused(self):
        self.assertEqual(pages.words(r"(a)~One--two $x_{1}$, 5\,\%"), "(a)\u00a0One–two $x_{1}$, 5\u202f%")
        with self.assertRaisesRegex(SystemExit, "a command of LaTeX"):
            pages.words(r"\emph{one}")


if __name__ == "__main__":
    unittest.main()
