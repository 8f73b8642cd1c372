"""Tests of the built site in the folder SITE in Debian's Chromium, served from a sub-folder."""

import contextlib
import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

import pages

SITE = pathlib.Path(os.environ["SITE"])
CHROMIUM = shutil.which("chromium")
ROWS = json.loads((pages.ROOT / "figures" / "claims.json").read_text())["claims"]
WAIT = 300_000  # ms, on a machine that has other work
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    CHROMIUM = None
if not CHROMIUM:
    print("!!! NOT CHECKED: the site in a browser, because chromium or playwright is missing")


def luminance(*rgb):
    """Return the relative luminance of a colour, as the contrast of WCAG 2 defines it."""
    return sum(w * (c / 3294.6 if c <= 10 else ((c / 255 + .055) / 1.055) ** 2.4) for w, c in zip((.2126, .7152, .0722), rgb))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@unittest.skipUnless(CHROMIUM, "chromium or playwright is missing")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        handler = functools.partial(Quiet, directory=str(SITE.parent))
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        expect.set_options(timeout=WAIT)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        cls.server.shutdown()

    @contextlib.contextmanager
    def page(self, name, size=DESKTOP, scheme="light"):
        """Open a page, and fail if it writes to the console or contacts another host."""
        home = f"http://127.0.0.1:{self.server.server_port}/{SITE.name}/"
        context = self.browser.new_context(viewport=size, color_scheme=scheme)
        context.set_default_timeout(WAIT)
        page, faults = context.new_page(), []
        page.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: faults.append(str(e)))
        page.on("request", lambda r: faults.append(r.url) if not r.url.startswith((home, "data:", "blob:")) else None)
        page.on("response", lambda r: faults.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        page.goto(home + name)
        yield page
        context.close()
        self.assertEqual(faults, [])

    def test_pages_are_whole_on_a_phone_and_on_a_desktop(self):
        for name in ["index.html", "ledger.html", "gallery.html", "graph.html", "notebooks/03-single-parent.html"]:
            for size, scheme in [(PHONE, "dark"), (DESKTOP, "light")]:
                with self.subTest(name, size=size), self.page(name, size, scheme) as page:
                    page.wait_for_load_state("networkidle")
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), size["width"])

    def test_the_ledger_has_few_elements_when_it_is_opened(self):
        with self.page("ledger.html") as page:
            page.locator("mjx-container mjx-math").first.wait_for()
            page.wait_for_load_state("networkidle")
            self.assertLess(page.evaluate("document.querySelectorAll('*').length"), 8500)

    def test_pages_do_not_shift_while_one_scrolls(self):
        watch = """() => new PerformanceObserver(list => {
            for (const e of list.getEntries()) if (!e.hadRecentInput) globalThis.shift = (globalThis.shift ?? 0) + e.value;
        }).observe({ type: 'layout-shift', buffered: true })"""
        pages = ["index.html", "gallery.html", "ledger.html", "graph.html", *(f"notebooks/{p.name}" for p in sorted(SITE.glob("notebooks/*.html")))]
        for name in pages:
            for size in PHONE, DESKTOP:
                with self.subTest(name, size=size), self.page(name, size) as page:
                    page.wait_for_load_state("networkidle")
                    page.evaluate(watch)
                    for _ in range(15):
                        page.mouse.wheel(0, 400)
                        page.wait_for_timeout(200)
                    self.assertLess(page.evaluate("globalThis.shift ?? 0"), 0.1)

    def test_links_are_legible_on_the_grey_of_tables(self):
        for scheme in "light", "dark":
            with self.subTest(scheme), self.page("index.html", scheme=scheme) as page:
                page.evaluate("document.body.insertAdjacentHTML('beforeend', '<i id=grey style=background:var(--pst-color-surface)></i>')")
                pair = page.evaluate("[getComputedStyle(document.querySelector('td a')).color, getComputedStyle(document.querySelector('#grey')).backgroundColor]")
                dark, bright = sorted(luminance(*map(int, re.findall(r"\d+", c)[:3])) for c in pair)
                self.assertGreaterEqual((bright + .05) / (dark + .05), 4.5, pair)

    def test_formulas_are_typeset(self):
        with self.page("notebooks/05-information.html") as page:
            page.locator("mjx-container mjx-math").first.wait_for()
            self.assertEqual(page.locator("mjx-merror").count(), 0)

    def test_filters_and_links_to_rows(self):
        with self.page("ledger.html?verdict=refuted") as page:
            fails = sum(r["verdict"] == "refuted" for r in ROWS)
            expect(page.locator("#filter output")).to_have_text(f"{fails} of {len(ROWS)} rows")
            expect(page.locator(".facts:visible")).to_have_count(fails)
            page.locator("[name=verdict]").select_option("")
            page.locator("[name=find]").fill("Lemma 1")
            expect(page.locator(".facts:visible")).to_have_count(sum(r["number"] == "Lemma 1" for r in ROWS))
            page.evaluate("location.hash = 'lem-tv'")
            expect(page.locator("[data-id=lem-tv]")).to_be_in_viewport()

    def test_the_filter_is_in_the_address_and_survives_a_reload(self):
        with self.page("ledger.html") as page:
            page.locator("[name=find]").fill("T_{\\mathrm{eff}}")
            page.locator("[name=verdict]").select_option("proved")
            shown = page.locator("#filter output").inner_text()
            self.assertNotRegex(shown, "^0 ")
            page.reload()
            expect(page.locator("#filter output")).to_have_text(shown)
            self.assertEqual(page.locator("[name=verdict]").input_value(), "proved")
            page.locator("#filter").evaluate("f => { f.reset(); f.dispatchEvent(new Event('input')); }")
            self.assertTrue(page.url.endswith("ledger.html"), page.url)

    def test_the_ledger_on_paper_has_the_witnesses(self):
        with self.page("ledger.html?verdict=refuted") as page:
            page.emulate_media(media="print")
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            expect(page.locator("section:not([hidden]) > details[open] pre")).to_have_count(sum(r["verdict"] == "refuted" for r in ROWS))
            expect(page.locator("#jb-print-toc")).to_be_hidden()

    def test_a_picture_has_the_width_that_its_notebook_gives(self):
        for path in sorted(SITE.glob("notebooks/*.html")):
            with self.subTest(path.name), self.page(f"notebooks/{path.name}") as page:
                wrong = page.evaluate("""[...document.querySelectorAll('.cell_output img[width]')].filter(
                    i => Math.abs(i.getBoundingClientRect().width - Math.min(i.getAttribute('width'), Math.max(620, i.closest('.cell_output').clientWidth))) > 1).map(i => i.alt)""")
                self.assertEqual(wrong, [])

    def test_code_is_whole_at_1280_and_on_paper(self):
        cut = "[...document.querySelectorAll('.cell_input pre')].filter(p => p.offsetParent && p.scrollWidth > p.clientWidth + 1).map(p => p.textContent.slice(0, 80))"
        for path in sorted(SITE.glob("notebooks/*.html")):
            with self.subTest(path.name), self.page(f"notebooks/{path.name}") as page:
                self.assertEqual(page.evaluate(cut), [])
                page.emulate_media(media="print")
                page.set_viewport_size({"width": 720, "height": 1000})
                self.assertEqual(page.evaluate(cut), [])

    def test_copies_of_the_code_keep_its_indent(self):
        with self.page(str(min(SITE.glob("source/paper/claims/**/*.go.html")).relative_to(SITE))) as page:
            left = page.evaluate("""[...document.querySelectorAll('pre [id^=L]')].filter(l => /^ *\\d+\\t[^\\t]/.test(l.textContent)).map(l => {
                const range = document.createRange(), walk = document.createTreeWalker(l, NodeFilter.SHOW_TEXT);
                for (let n; (n = walk.nextNode());) {
                    const at = n.parentElement.closest('.linenos') ? -1 : n.data.search(/\\S/);
                    if (at >= 0) { range.setStart(n, at); range.setEnd(n, at + 1); return range.getBoundingClientRect().left - l.getBoundingClientRect().left; }
                }
            })""")
            self.assertTrue(left)
            ch = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.linenos')).width) / 8")
            for x in left:
                self.assertAlmostEqual(x, 12 * ch, delta=1)

    def test_search_and_find_read_a_number_as_one_writes_it(self):
        rows = {q: "ledger.html#lem-bound-g1" for q in ("lemma16", "Lem. 16", "lemma  16", "LEMMA 16", "lem-bound-g1")}
        places = {"Figure 5": "gallery.html#fig-multi-parent", "Definition 7": "notebooks/", "Assumption 1": "notebooks/", "Section 4": "ledger.html#",
                  "Appendix B": "ledger.html#", "Prop. E1": "figures/supplement.pdf", "0.837": "notebooks/", "§4.2": "ledger.html#", "Eq. (24)": "ledger.html#"}
        for query, at in (rows | places).items():
            with self.subTest(query), self.page(f"search.html?q={urllib.parse.quote(query)}") as page:
                expect(page.locator(f"#rows a[href^='{at}']").first).to_be_visible()
                self.assertNotRegex(page.locator("#rows").inner_text(), "&|learncausal")
        wanted = [r["id"] for r in ROWS if r["number"] == "Lemma 16"]
        with self.page("search.html?q=lemma16") as page:
            links = page.locator("#rows a[href*='html#']")
            expect(links).to_have_count(len(wanted))
            self.assertEqual([a.get_attribute("href") for a in links.all()], [f"ledger.html#{i}" for i in wanted])
            links.first.click()
            expect(page.locator(f"[data-id={wanted[0]}]")).to_be_in_viewport()
        with self.page("ledger.html") as page:
            for query in "lemma16", "Lem. 16", "lemma  16", "Lemma 16":
                page.locator("[name=find]").fill(query)
                self.assertEqual([e.get_attribute("data-id") for e in page.locator(".facts:visible").all()], wanted, query)
            for query in "§4.2", "Eq. 24", "sec. 4.2":
                page.locator("[name=find]").fill(query)
                self.assertGreater(page.locator(".facts:visible").count(), 0, query)

    def test_a_verdict_is_a_filter(self):
        with self.page("search.html?q=refuted") as page:
            page.locator("#rows a[href^='ledger.html?find=']").click()
            for words, fits in (("refuted", lambda r: r["verdict"] == "refuted"), ("not tested", lambda r: r["verdict"] == "not tested"),
                                ("Proved", lambda r: r["verdict"] == "proved"), ("spectral refuted", None)):
                page.locator("[name=find]").fill(words)
                shown = {e.get_attribute("data-verdict") for e in page.locator(".facts:visible").all()}
                self.assertLessEqual(shown, {words.lower().removeprefix("spectral ")})
                if fits:
                    expect(page.locator(".facts:visible")).to_have_count(sum(map(fits, ROWS)))

    def test_search_finds_a_statement(self):
        with self.page("search.html?q=spectral") as page:
            expect(page.locator("#search-results a[href*='ledger.html']").first).to_be_visible()

    def test_find_reads_formulas_hypotheses_and_notes(self):
        with self.page("ledger.html") as page:
            counts = {}
            for words in ["T_eff", r"T_{\mathrm{eff}}", "g_ij", "g_{i,j}", "tau", "τ", r"\tau", "lambda", "λ", "chi-squared", "χ²", "chi^2",
                          r"\hat{g}_{ij}", r"\hat g_{i,j}", "hat g_ij", r"$\hat{g}_{i,\,j}$"]:
                page.locator("[name=find]").fill(words)
                counts[words] = page.locator(".facts:visible").count()
                self.assertGreater(counts[words], 0, words)
            for alike in ["T_eff", r"T_{\mathrm{eff}}"], ["tau", "τ", r"\tau"], ["chi-squared", "χ²", "chi^2"], [r"\hat{g}_{ij}", "hat g_ij", r"$\hat{g}_{i,\,j}$"]:
                self.assertEqual(len({counts[words] for words in alike}), 1, alike)
            page.locator("[name=find]").fill("no such word")
            expect(page.locator("#none")).to_have_text("No row has these words and properties.")
            page.locator("[name=find]").fill("")
            expect(page.locator("#none")).to_be_hidden()

    def test_the_start_page_moves_and_its_film_can_be_changed(self):
        film = json.loads((SITE / "_static" / "film.json").read_text())
        last = len(film["Steps"]) - 1

        def predicted(ablation, k):
            return re.compile("".join(f"{s}{int(100 * f + .5)} %" for s, f in zip("abc", film["Frames"][ablation][k]["F"])))

        for size in PHONE, DESKTOP:
            with self.subTest(size=size), self.page("index.html", size) as page:
                guess, step = page.locator(".guess"), page.locator(".steps output")
                expect(step).to_have_text(f"step {film['Steps'][3]}")
                page.locator(".steps .run").click()
                expect(page.locator(".steps .run")).to_have_text("Play")
                page.locator(".steps input").fill(str(last))
                expect(step).to_have_text(f"step {film['Steps'][last]}")
                expect(guess).to_have_text(predicted(0, last))
                for head, ablation in ("first", 1), ("second", 3), ("first", 2), ("second", 0):
                    page.locator(f".{head}-head").click()
                    expect(guess).to_have_text(predicted(ablation, last))
                    expect(guess).to_contain_text(f"Mean loss {film['Losses'][ablation][last]:.2f} nats")
                query = page.locator("#film .nodes button").last
                query.click()
                expect(guess).not_to_have_text(predicted(0, last))
                for _ in range(film["States"] - 1):
                    query.click()
                expect(page.locator("#film [role=status]")).to_have_text("")
                expect(guess).to_have_text(predicted(0, last))  # by the program in the page

    def test_the_film_asks_for_the_program_at_a_click_and_stops_in_a_hidden_tab(self):
        with self.page("index.html") as page:
            asked = []
            page.on("request", lambda r: asked.append(r.url))
            page.locator("#film .nodes").hover()
            page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
            step = page.locator(".steps output").inner_text()
            page.wait_for_timeout(2000)
            self.assertEqual([page.locator(".steps output").inner_text(), [a for a in asked if "wasm" in a]], [step, []])

    def test_a_change_that_cannot_be_computed_is_undone(self):
        with self.page("index.html") as page:
            page.route("**/engine.wasm.gz", lambda route: route.fulfill(body="no program"))
            button = page.locator("#film .nodes button").first
            before = button.inner_text()
            button.click()
            expect(page.locator("#film [role=status]")).to_contain_text("WebAssembly")
            self.assertEqual(button.inner_text(), before)

    def test_the_start_page_has_a_picture_without_scripts(self):
        context = self.browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{self.server.server_port}/{SITE.name}/index.html")
        expect(page.locator("#film img")).to_be_visible()
        context.close()

    def test_the_film_stands_still_for_readers_who_want_that(self):
        film = json.loads((SITE / "_static" / "film.json").read_text())
        with self.page("index.html") as page:
            page.emulate_media(reduced_motion="reduce")
            page.reload()
            expect(page.locator(".steps output")).to_have_text(f"step {film['Steps'][-1]}")
            page.wait_for_timeout(5000)
            expect(page.locator(".steps output")).to_have_text(f"step {film['Steps'][-1]}")

    def test_a_statement_run_here_equals_the_stored_one(self):
        with self.page("ledger.html") as page:
            row = page.locator("section", has=page.locator("> .facts[data-id=lem-bound-g1]"))
            row.locator(".run").click()
            expect(row.locator(".equal")).to_have_text("Equal to the stored row in every part.")
            self.assertIn("Witness, here as stored", row.locator(".result pre").inner_text())
            expect(row.locator(".run")).to_have_text("Run")

    def test_a_statement_that_differs_from_the_stored_one_is_said_to(self):
        with self.page("ledger.html") as page:
            stored = (SITE / "figures" / "claims.json").read_text().split("\n", 1)[1]
            at = stored.index('"id": "lem-tv"')
            summed = lambda text: f'{{"sha256":"{hashlib.sha256(text.encode()).hexdigest()}",\n{text}'
            row = page.locator("section", has=page.locator("> .facts[data-id=lem-tv]"))
            spoilt = stored[:at] + stored[at:].replace('"margin": ', '"margin": 1', 1)
            page.route("**/figures/claims.json", lambda route: route.fulfill(body=summed(spoilt)))
            row.locator(".run").click()
            expect(row.locator(".equal")).to_have_text("The verdict is the stored one.")
            expect(row.locator(".result")).to_contain_text("Other parts differ: margin.")
            page.reload()
            spoilt = stored[:at] + stored[at:].replace('"verdict": "proved"', '"verdict": "refuted"', 1)
            row.locator(".run").click()
            expect(row.locator(".differs")).to_have_text("The verdict differs from the stored one.")

    def test_a_run_is_stopped_at_once(self):
        with self.page("ledger.html") as page:
            row = page.locator("section", has=page.locator("> .facts[data-slow]")).first
            row.locator(".run").click()
            expect(row.locator("progress")).to_be_visible()
            stop = "b => { b.click(); return b.closest('section').querySelector('.result').textContent; }"
            self.assertEqual(row.locator(".run").evaluate(stop), "Stopped.")
            expect(row.locator(".run")).to_have_text("Run (takes longer)")

    def test_a_graph_drawn_and_trained_gives_the_bytes_of_the_command(self):
        with self.page("graph.html", PHONE) as page:
            page.locator("[name=positions]").fill("5")
            for parent, child in [(1, 3), (2, 3)]:  # the first takes an arrow away
                page.locator(".nodes button").nth(parent - 1).click()
                page.locator(".nodes button").nth(child - 1).click()
            page.locator("[name=steps]").select_option("1024")
            self.assertIn("graph=0.1.2.2.0&states=3", page.url)
            page.locator("[name=go]").click()
            expect(page.locator("[data-part=status]")).to_have_text("Done.")
            shown = page.locator("[data-part=ending]").inner_text()
            address = page.url
        with self.page(address.partition(f"/{SITE.name}/")[2]) as page:
            self.assertEqual(page.locator("[name=positions]").input_value(), "5")
            self.assertEqual(page.locator("[name=steps]").input_value(), "1024")
            self.assertIn("s2 -> s4", page.locator("[name=dot]").input_value())
        with tempfile.TemporaryDirectory() as folder:
            dot = pathlib.Path(folder, "my.dot")
            dot.write_text("digraph { s1 -> s2; s2 -> {s3 s4}; s5 }")
            command = ["go", "run", "./cmd/paper", "train", str(dot), "--steps", "1024", "--out", f"{folder}/out"]
            told = subprocess.check_output(command, cwd=pages.ROOT, stderr=subprocess.DEVNULL, text=True)
        losses = re.findall(r"\d\.\d{4} ± \d\.\d{4}", told)
        self.assertEqual(len(losses), 9)
        for loss in losses:
            self.assertIn(loss, shown)

    def test_before_the_first_step_attention_is_uniform(self):
        with self.page("graph.html") as page:
            cell = 300 // 6
            seen = page.evaluate("() => [...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 300, 300).data]")
            whole, first, last = (seen[4 * (300 * (i * cell + 25) + j * cell + 25):][:3] for i, j in [(0, 0), (3, 0), (3, 3)])
            self.assertEqual(whole, [45, 0, 75])  # the first position attends to itself
            self.assertEqual(first, last)
            self.assertNotEqual(first, whole)
            page.locator("[name=states]").fill("4")
            page.locator("[name=states]").blur()
            expect(page.locator("[data-part=loss]")).to_contain_text("uniform guess 1.386")

    def test_reset_brings_the_notebooks_back(self):
        with self.page("index.html") as start:
            start.on("dialog", lambda d: d.accept())
            stored = "async () => [(await indexedDB.databases()).map(d => d.name), (await (await caches.open('gokernel')).keys()).length]"

            def first_cell(change=""):
                book = start.context.new_page()
                book.goto(start.url.replace("index.html", "lab/notebooks/index.html?path=notebooks/00-start.ipynb"))
                book.wait_for_function("globalThis.jupyterapp?.shell.currentWidget?.content?.widgets?.length > 1")
                source = book.evaluate(f"""async () => {{
                    const {{ content, context }} = jupyterapp.shell.currentWidget, cell = content.widgets[1].model.sharedModel;
                    {change}
                    await context.save();
                    return cell.getSource();
                }}""")
                book.close()
                return source

            first_cell("cell.setSource('mine')")
            self.assertEqual(first_cell(), "mine")
            start.evaluate("async () => (await caches.open('gokernel')).put('lab/x', new Response('x'))")
            self.assertNotEqual(start.evaluate(stored), [[], 0])
            start.locator("#reset").click()
            expect(start.locator("#reset-status")).to_have_text("Done.")
            self.assertEqual(start.evaluate(stored), [[], 0])
            self.assertIn("import", first_cell())

    def test_a_faulty_graph_is_told_so(self):
        with self.page("graph.html#dot=digraph+%7B+s1+-%3E+s9+%7D") as page:
            page.locator("[name=go]").click()
            expect(page.locator("[data-part=status]")).to_contain_text("graph: ")
            expect(page.locator("[name=go]")).to_have_text("Train")

    def test_a_graph_as_text_is_drawn_when_it_is_read(self):
        with self.page("graph.html#dot=digraph+%7B+%22wet+road%22%3B+rain+-%3E+wet%3B+q+%7D") as page:
            expect(page.locator(".nodes button")).to_have_text(["wet road", "rain", "wet", "q"])
            self.assertEqual(page.locator("[data-part=arcs] path[marker-end]").count(), 1)
            page.locator(".nodes button").nth(0).click()
            page.locator(".nodes button").nth(1).click()
            self.assertIn('"wet road" -> "rain"; "rain" -> "wet"; "q"', page.locator("[name=dot]").input_value())
            page.locator("summary").click()
            page.locator("[name=dot]").fill("digraph { a -> }")
            expect(page.locator("[data-part=status]")).to_contain_text("graph: not valid DOT")
            expect(page.locator(".nodes button")).to_have_count(0)
            self.assertEqual(page.locator("canvas").get_attribute("width"), "0")
            page.locator("[name=dot]").fill("digraph { a; b; c }")
            expect(page.locator(".nodes button")).to_have_text(["a", "b", "c"])
            page.locator("[name=steps]").select_option("1024")
            page.locator("[name=go]").click()
            expect(page.locator("[data-part=ending]")).to_contain_text("No edges to find")

    def test_a_link_that_is_not_understood_is_kept_and_told(self):
        for tail in ["#graph=0.5.1", "#graph=%zz", "?graph=0.1", "#seed=1e20", "#steps=999&states=2", "#graph=" + ".".join("0" * 25)]:
            with self.subTest(tail), self.page("graph.html" + tail) as page:
                expect(page.locator("[data-part=status]")).to_contain_text("Not understood in the address: ")
                self.assertTrue(page.url.endswith("graph.html" + tail), page.url)
                expect(page.locator(".nodes button")).to_have_count(6)
        with self.page("graph.html?graph=0.1.0&states=4") as page:
            expect(page.locator(".nodes button")).to_have_count(3)
            self.assertEqual(page.locator("[name=states]").input_value(), "4")


if __name__ == "__main__":
    unittest.main()
