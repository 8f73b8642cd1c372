"""The kernel in a real browser: a toy project's site, and then the notebooks with their stored outputs, in ../.cache/site/lab.

LAB is another such site, and LIMIT the seconds that a cell may take, 1800 if not set.
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

import browser
from gokernel import pack

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.append(str(ROOT / "tools"))
import beginner  # noqa: E402

CACHE = ROOT / ".cache" / "web"
MISSING = "" if browser.CHROMIUM else "chromium is missing: on Debian, apt-get install chromium"


def text(outputs):
    """Return the printed text of a cell, followed by its error."""
    return "".join(o.get("text", "") if o["output_type"] == "stream" else o.get("evalue", "") for o in outputs)


def build(project, site):
    """Build the site of a project in its folder."""
    (project / "jupyter-lite.json").write_text(browser.OPEN)
    subprocess.run([sys.executable, HERE / "hatch_build.py", project / "gokernel", "1"], check=True)
    subprocess.run([sys.executable, "-m", "jupyterlite_core", "build", "--output-dir", site, "--GoKernel.level=1"], cwd=project, check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "JUPYTERLITE_CACHE_DIR": str(CACHE), "PYTHONWARNINGS": "ignore"})


class TestPack(unittest.TestCase):
    """The archives of packages."""

    def test_damaged_archives_are_refused(self):
        for archive, want in [
            (b"", "no archive"),
            (b"<!DOCTYPE html>", "no archive"),
            (pack.MAGIC, "no archive"),
            (pack.MAGIC + b"go.o            0           0     0     644     2         `\nab", "no archive"),
            (pack.MAGIC + b"__.PKGDEF       0           0     0     644     99        `\n", "cut off"),
            (pack.MAGIC + b"__.PKGDEF       0           0     0     644     -1        `\n", "cut off"),
            (pack.MAGIC + b"__.PKGDEF       0           0     0     644     2         `\nab", "without export data"),
        ]:
            with self.subTest(archive), self.assertRaisesRegex(ValueError, want):
                pack.divide(archive)

    def test_members_of_archives_begin_at_even_places(self):
        def member(name, size, body):
            return b"%-16s0           0     0     644     %-10d`\n%s" % (name, size, body)

        second, whole = member(b"_go_.o", 2, b"xy"), pack.MAGIC + member(b"__.PKGDEF", 13, b"odd\n$$B\ndata\n\0")
        exports, objects = pack.divide(whole + second)
        self.assertEqual(exports, whole)
        self.assertEqual(objects, pack.MAGIC + member(b"__.PKGDEF", 5, b"odd\n\n\0") + second)

    def test_cells_import_what_the_list_names_first(self):
        paths = ["math/rand", "toy/internal/b", "vendor/x", "toy/go-c", "math/rand/v2"]
        found = pack.importable([(p, "name", "") for p in paths], ["math/rand/v2", "toy/go-c"])
        self.assertEqual([p["path"] for p in found], ["math/rand/v2", "toy/go-c", "math/rand"])

    def test_exported_names_are_those_of_declarations(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "a.go")
            file.write_text("package a\n\nimport (\n\t\"fmt\"\n)\n\n// Say is F.\nfunc F() {\n\tPrint()\n}\n\nfunc (t T) M() {}\n\n"
                            "type T struct {\n\tField int\n}\n\nvar A, b, C = 1, 2, 3\n\nconst (\n\t// Of D.\n\tD, E = 1, 2\n\tg    = T{\n\t\tField: 1,\n\t}\n)\n")
            self.assertEqual(pack.exported([file]), "A C D E F T")

    def test_a_folder_with_other_files_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            thesis = pathlib.Path(folder, "thesis.tex")
            thesis.touch()
            done = subprocess.run([sys.executable, HERE / "hatch_build.py", folder, "1"], capture_output=True, text=True)
            self.assertIn(f"{folder} has other files", done.stderr)
            self.assertTrue(thesis.exists())

    def test_faults_of_a_project_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            toy = shutil.copytree(HERE / "testdata" / "toy", pathlib.Path(folder, "toy"))
            manifest = {"go": pack.go(toy, "env", "GOVERSION").strip(), "files": {}}
            with self.assertRaisesRegex(ValueError, "example.com/toy/nothing"):
                pack.packages(toy, manifest, toy, ["example.com/toy/nothing"], 1, toy)
            (toy / "greet" / "bad.go").write_text("package greet\n\nvar x undefined\n")
            with self.assertRaisesRegex(ValueError, "undefined: undefined"):
                pack.packages(toy, manifest, toy, ["example.com/toy/greet"], 1, toy)


@unittest.skipIf(MISSING, MISSING)
class TestKernel(unittest.TestCase):
    """A toy project of two packages, used as a reader uses a kernel."""

    @classmethod
    def setUpClass(cls):
        work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        toy = work / "toy"
        shutil.copytree(HERE / "testdata" / "toy", toy)
        for name in "other", "changed":
            shutil.copy(toy / "book" / "toy.ipynb", toy / "book" / f"{name}.ipynb")
        cls.site = work / "site"
        build(toy, cls.site)
        cls.address, cls.asked, cls.refused = cls.enterClassContext(browser.served(cls.site))
        cls.context = cls.enterClassContext(browser.chromium(work / "profile"))
        cls.manifest = json.loads((cls.site / "extensions/gokernel/static/manifest.json").read_text())
        cls.book = cls.open("toy")
        cls.first = [cls.book.run(i) for i in range(1, 4)]
        cls.downloaded = list(cls.asked)

    @classmethod
    def open(cls, name="other", answer=""):
        return browser.Notebook(cls.context, cls.address, f"book/{name}.ipynb", answer)

    def last(self):
        """Return the number of the last cell that was run, as Jupyter shows it."""
        return self.book.do("return Math.max(...content.widgets.map(w => w.model.executionCount || 0))")

    def fails(self, source, want):
        """Run a failing cell and compare its message; [] stands for the number of the cell."""
        got = text(self.book.run(3, source))
        self.assertIn(want.replace("[]", f"[{self.last()}]"), got)
        return got

    def test_cells_show_their_output(self):
        self.assertEqual([text(o) for o in self.first], ["", "Hello, world!\n", "read from a file\n<nil>"])

    def test_an_edited_cell_shows_what_it_prints_now(self):
        self.assertEqual(text(self.book.run(2, '%%\nfmt.Print(strings.ToUpper(greet.Greet("you")))')), "HELLO, YOU!")

    def test_a_fault_of_the_compiler_has_its_cell_and_line(self):
        self.assertTrue(self.fails("%%\nbad", "cell[]:2: undefined: bad; run the cells above").startswith(f"cell[{self.last()}]"))
        self.fails("%%\n\nname := 1", "cell[]:3: declared and not used: name")
        self.fails("var x = (", "cell[]:1: syntax error")
        self.fails("%%\n!ls", "cell[]:2: !ls: there is no shell in the page")
        self.fails('import "net/http"', 'cell[]:1: there is no package "net/http" in this page')

    def test_a_panic_has_its_cell_and_line(self):
        self.fails("%%\n\npanic(name)", "cell[]:3")
        self.fails("%%\nos.Exit(3)", "exit status 3")

    def test_timers_that_are_left_over_end_nothing(self):
        self.book.run(3, 'import "time"')
        left = self.book.run(3, '%%\nfor ms := range 200 {\n\ttime.AfterFunc(time.Duration(ms)*time.Millisecond, func() {})\n}\n'
                                'os.WriteFile("../data/late.bin", make([]byte, 1<<24), 0o644)\nos.Remove("../data/late.bin")')
        self.assertEqual(text(left), "")
        self.assertEqual(text(self.book.run(3, '%%\nfmt.Print("next")')), "next")

    def test_what_is_under_way_ends_with_the_program(self):
        self.book.run(3, "var free = map[string]func(){}")
        for work in ('os.WriteFile("/tmp/one", make([]byte, 1<<20), 0o644)', 'os.ReadFile("../data/note.txt")', 'os.ReadDir("..")', 'os.Chmod("/tmp", 0)',
                     'os.Symlink("a", "b")', 'os.Stat("nothing")', 'fmt.Print("")', 'os.MkdirAll("/tmp/a/b", 0o755)', "os.Stdin.Read(make([]byte, 1))"):
            for end in 'fmt.Print("end")', 'os.Stdout.WriteString("end")\nruntime.Gosched()':
                with self.subTest(work, end=end):
                    said = text(self.book.run(3, f"%%\nfor range 4 {{\n\tgo {work}\n}}\n{end}"))
                    self.assertEqual(re.sub("standard input.*\n", "", said), "end")

    def test_many_goroutines_use_files_at_once(self):
        said = text(self.book.run(3, '%%\nvar all sync.WaitGroup\nfor range 20_000 {\n\tall.Go(func() { os.Stat("../data/note.txt") })\n}\nall.Wait()\nfmt.Print("end")'))
        self.assertEqual(said, "end")

    def test_a_file_that_is_not_closed_is_written(self):
        self.book.run(3, '%%\nf, _ := os.Create("../data/open.txt")\nf.WriteString("all of it")')
        self.assertEqual(text(self.book.run(3, '%%\nb, err := os.ReadFile("../data/open.txt")\nfmt.Print(string(b), err)\nos.Remove("../data/open.txt")')), "all of it<nil>")

    def test_a_cell_sees_the_notebooks_of_its_folder(self):
        source = '%%\nfiles, _ := os.ReadDir(".")\nb, _ := os.ReadFile("toy.ipynb")\nfmt.Print(files, strings.Contains(string(b), "# A toy"))'
        self.assertEqual(text(self.book.run(3, source)), "[- changed.ipynb - other.ipynb - toy.ipynb] true")

    def test_an_error_beside_a_program_ends_that_alone(self):
        self.book.run(3, 'import (\n"syscall/js"\n"time"\n)')
        thrown = self.book.run(3, '%%\njs.Global().Call("eval", "setTimeout(() => { throw Error(\'late\') })")\ntime.Sleep(time.Second)')
        self.assertIn("late", text(thrown))
        self.assertEqual(text(self.book.run(3, '%%\nfmt.Print("next")')), "next")

    def test_what_fails_is_not_kept(self):
        self.fails("var name = bad", "cell[]:1: undefined: bad")
        self.assertEqual(text(self.book.run(3, "%%\nfmt.Print(name)")), "world")

    def test_interrupt_ends_a_cell_at_once_and_keeps_the_declarations(self):
        self.book.run(3, 'var survivor = "it is there"')
        took, outputs = self.book.do("""
            const cell = content.widgets[3];
            cell.model.sharedModel.setSource('%%\\nfmt.Println("begun")\\nfor {\\n}');
            content.activeCellIndex = 3;
            const run = jupyterapp.commands.execute('notebook:run-cell');
            const outputs = () => cell.model.outputs.toJSON();
            while (!JSON.stringify(outputs()).includes('begun')) await new Promise(r => setTimeout(r, 100));
            const began = performance.now();
            await session.kernel.interrupt();
            await run;
            return [performance.now() - began, outputs()]""")
        self.assertEqual(text(outputs), "begun\ninterrupted")
        self.assertLess(took, 1000)
        self.assertEqual(text(self.book.run(3, "%%\nfmt.Print(survivor)")), "it is there")

    def test_ten_thousand_lines_take_less_than_a_second_of_the_page(self):
        devtools = self.context.new_cdp_session(self.book.page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

        def spent():
            return next(m["value"] for m in devtools.send("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")

        before = spent()
        outputs = self.book.run(3, '%%\nfor i := range 10000 {\n\tfmt.Println("this is line", i)\n}')
        took = spent() - before
        print(f"10,000 lines: {took:.2f} s of the main thread", file=sys.stderr)
        self.assertEqual(text(outputs), "".join(f"this is line {i}\n" for i in range(10000)))
        self.assertLess(took, 1)

    def test_a_long_text_has_its_begin_and_its_end(self):
        printed = text(self.book.run(3, '%%\nfor i := range 200_000 {\n\tfmt.Printf("line %09d\\n", i)\n}'))
        self.assertLess(len(printed), 2 << 20)
        self.assertTrue(printed.startswith("line 000000000\n") and printed.endswith("line 000199999\n"))
        begin, omitted, end = re.split(r"\n… (\d+) characters omitted …\n", printed)
        self.assertEqual(len(begin) + int(omitted) + len(end), 15 * 200_000)

    def test_a_loop_that_prints_is_interrupted(self):
        took = self.book.do("""
            const cell = content.widgets[3];
            cell.model.sharedModel.setSource('%%\\nfor {\\nfmt.Println("on and on")\\n}');
            content.activeCellIndex = 3;
            const run = jupyterapp.commands.execute('notebook:run-cell');
            while (!JSON.stringify(cell.model.outputs.toJSON()).includes('on and on')) await new Promise(r => setTimeout(r, 100));
            await new Promise(r => setTimeout(r, 3000));
            const began = performance.now();
            await session.kernel.interrupt();
            await run;
            return performance.now() - began""")
        self.assertLess(took, 2000)
        self.assertEqual(text(self.book.run(3, '%%\nfmt.Print("next")')), "next")

    def test_a_flood_of_outputs_is_cut_with_a_sentence(self):
        devtools = self.context.new_cdp_session(self.book.page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

        def spent():
            return next(m["value"] for m in devtools.send("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")

        for loop, count, last in [
            ('for range 20_000 {\n\tgonbui.DisplayHTML("<b>on</b>")\n}', 500, "<b>on</b>"),
            ('for range 100 {\n\tgonbui.DisplayHTML(strings.Repeat("x", 1_000_000))\n}', 9, "x" * 1_000_000),
            ('id := gonbui.UniqueID()\nfor i := range 20_000 {\n\tgonbui.UpdateHTML(id, fmt.Sprint("step ", i+1))\n}', 1, "step 20000"),
        ]:
            with self.subTest(loop):
                before = spent()
                outputs = self.book.run(3, "%%\n" + loop)
                took = spent() - before
                print(f"a flood of outputs: {took:.2f} s of the main thread", file=sys.stderr)
                shown = [o["data"]["text/html"] for o in outputs if "data" in o]
                self.assertEqual([len(shown), shown[-1]], [count, last])
                omitted = "\n… further outputs omitted: a cell shows at most 500, of 10 million characters …\n"
                self.assertEqual(text(outputs), "" if count == 1 else omitted)
                self.assertLess(took, 5)
        self.book.run(3, '%%\nfmt.Print("next")')

    def test_text_and_outputs_keep_their_order(self):
        outputs = self.book.run(3, '%%\nfor _, s := range strings.Fields("a b c") {\n\tfmt.Print(s)\n\tgonbui.DisplayHTML(s)\n}')
        self.assertEqual([o.get("text") or o["data"]["text/html"] for o in outputs], ["a", "a", "b", "b", "c", "c"])

    def test_programs_without_an_end_are_explained(self):
        alone = self.fails("%%\n<-make(chan int)", "cell[]:2")
        self.assertTrue(alone.startswith("fatal error: all goroutines are asleep - deadlock!"), alone)
        self.assertNotIn(".js:", alone)
        self.assertIn("deadlock", self.fails('%%\nfmt.Print(1)\n<-make(chan int)', "cell[]:3"))
        self.fails("func deep(n int) int { return deep(n+1) + 1 }\n%%\nfmt.Print(deep(0))", "stack overflow: a function of this cell calls itself")
        self.assertNotIn(".js:", text(self.book.run(3, "%%\nfmt.Print(deep(0))")))
        self.assertIn("standard input is empty", text(self.book.run(3, "%%\nvar n int\nfmt.Print(fmt.Scan(&n))")))
        self.assertEqual(text(self.book.run(3, 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Print("whole") }')), "whole")
        self.assertEqual(text(self.book.run(3, '%%\ntime.Sleep(time.Second)\nb, _ := os.ReadFile("../data/note.txt")\nfmt.Print(len(b))')), "17")

    def test_interrupt_does_not_wait_for_the_compiler(self):
        took = self.book.do("""
            const cell = content.widgets[3];
            cell.model.sharedModel.setSource('%%\\nfmt.Println("never shown", ' + 7 + ')');
            content.activeCellIndex = 3;
            const run = jupyterapp.commands.execute('notebook:run-cell');
            while (session.kernel.status !== 'busy') await new Promise(r => setTimeout(r, 1));
            const began = performance.now();
            await session.kernel.interrupt();
            await run;
            return performance.now() - began""")
        self.assertLess(took, 1000)
        self.assertEqual(text(self.book.run(3, '%%\nfmt.Print("next")')), "next")

    def test_restart_forgets_and_runs_again(self):
        book = self.open()
        book.run(1)
        book.do("await session.kernel.restart()")
        self.assertIn("undefined: name", text(book.run(3, "%%\nprint(name)")))
        book.run(1)
        self.assertEqual(text(book.run(2)), "Hello, world!\n")
        book.page.close()

    def test_a_spoilt_compiler_is_downloaded_again(self):
        url = self.manifest["files"]["link"]["url"]
        spoil = f"""async () => {{
            const store = await caches.open("gokernel"), [kept] = (await store.keys()).filter(r => r.url.endsWith("{url}"));
            await store.put(kept, new Response("garbage"));
        }}"""
        self.book.page.evaluate(spoil)
        for downloaded in self.manifest["files"]["link"]["size"], 0:
            book = self.open()
            book.run(1)
            self.assertEqual(text(book.run(2)), "Hello, world!\n")
            self.assertEqual(book.marks("ready")[0]["downloaded"], downloaded)
            book.page.close()

    def test_what_is_written_stays_in_its_notebook_and_can_be_restored(self):
        book = self.open()
        read = '%%\nb, err := os.ReadFile("../data/note.txt")\nfmt.Print(string(b), err)'
        book.run(3, "%restore")
        self.assertEqual(text(book.run(3, "%restore")), "no cell of this notebook has written a file\n")
        book.run(3, '%%\nos.WriteFile("../data/note.txt", []byte("mine"), 0o644)')
        self.assertEqual(text(book.run(3, read)), "mine<nil>")
        self.assertEqual(text(self.book.run(3, read)), "read from a file\n<nil>")
        self.assertEqual(text(book.run(3, "%restore\n" + read)), "restored: data/note.txt\nread from a file\n<nil>")
        seen = book.do("return jupyterapp.serviceManager.contents.get('data/note.txt').then(m => m.content, String)")
        self.assertNotIn("mine", str(seen))
        book.page.close()

    def test_what_is_written_stays_and_can_be_downloaded(self):
        book = self.open()
        book.run(3, '%%\nos.MkdirAll("../data/new", 0o755)\nos.WriteFile("../data/new/mine.txt", []byte("mine"), 0o644)\n'
                         'os.Rename("../data/note.txt", "../data/moved.txt")')
        shown = "jupyterapp.serviceManager.contents.get('data/new/mine.txt', { content: true })"
        book.do(f"while (!await {shown}.catch(() => null)) await new Promise(r => setTimeout(r, 100))")
        book.page.close()
        book = self.open()
        read = '%%\nfor _, f := range []string{"new/mine.txt", "moved.txt", "note.txt"} {\n\tb, err := os.ReadFile("../data/" + f)\n' \
               '\tfmt.Println(string(b), err != nil)\n}\nos.Rename("../data/moved.txt", "../data/note.txt")'
        self.assertEqual(text(book.run(3, read)), "mine false\nread from a file\n false\n true\n")
        seen = book.do("return (await jupyterapp.serviceManager.contents.get('data/new/mine.txt', { content: true })).content")
        self.assertIn(seen, ("mine", "bWluZQ=="))
        book.page.close()

    def test_outputs_of_gonbui_are_shown(self):
        outputs = self.book.run(3, '%%\ngonbui.DisplayHTML("<b>bold</b>")\nid := gonbui.UniqueID()\nfor _, word := range strings.Fields("one two") {\n'
                                   '\tgonbui.UpdateHTML(id, word)\n}\ngonbui.DisplayMarkdown("*text*")\ngonbui.DisplayPNG([]byte("picture"))\ngonbui.Sync()')
        self.assertEqual([o["data"] for o in outputs], [{"text/html": "<b>bold</b>"}, {"text/html": "two"}, {"text/markdown": "*text*"},
                                                        {"image/png": "cGljdHVyZQ=="}])

    def test_links_to_what_the_site_has_not_lead_to_pages(self):
        for words, page in {"Its words": "tree/index.html?file=internal/words/words.go#L3", "its package": "lab/index.html",
                            "itself": "notebooks/index.html?path=book%2Ftoy.ipynb"}.items():
            with self.context.expect_page() as opened:
                self.book.page.get_by_role("link", name=words).click()
            opened.value.wait_for_url(f"{self.address}/{page}**")
            opened.value.close()

    def test_an_edit_is_saved_when_its_cell_runs(self):
        book = self.open()
        book.run(3, '%%\nfmt.Print("kept")')
        book.page.close()
        book = self.open()
        self.assertEqual(text(book.run(3)), "kept")
        self.assertEqual(book.page.title(), "other")
        book.page.close()

    def test_the_outputs_of_a_run_are_saved_when_it_ends(self):
        book = self.open()
        book.run(3, '%%\ntime.Sleep(time.Second)\nfmt.Print("fresh")')
        book.page.wait_for_timeout(500)
        book.page.close()
        book = self.open()
        self.assertEqual(text(book.do("return content.widgets[3].model.outputs.toJSON()")), "fresh")
        book.page.close()

    def test_run_all_goes_on_behind_a_cell_that_may_fail(self):
        for tags, last in (["raises-exception"], "next"), ([], ""):
            for fault in "panic(1)", "missing()", "os.Exit(3)":
                with self.subTest(fault, tags=tags):
                    outputs = self.book.do(f"""
                        for (const i of [2, 3]) content.widgets[i].model.outputs.clear();
                        content.widgets[2].model.setMetadata('tags', {json.dumps(tags)});
                        content.widgets[2].model.sharedModel.setSource({json.dumps("%%" + chr(10) + fault)});
                        content.widgets[3].model.sharedModel.setSource('%%\\nfmt.Print("next")');
                        await jupyterapp.commands.execute('notebook:run-all-cells');
                        return [2, 3].map(i => content.widgets[i].model.outputs.toJSON())""")
                    self.assertEqual([outputs[0][-1]["output_type"], text(outputs[1])], ["error", last])
        self.book.do("content.widgets[2].model.setMetadata('tags', [])")

    def test_a_newer_version_is_offered_and_a_readers_copy_stays(self):
        def release(version):
            file, settings = self.site / "files/book/changed.ipynb", self.site / "extensions/gokernel/static/settings.json"
            notebook = json.loads(file.read_text())
            notebook["metadata"]["gokernel"], notebook["cells"][3]["source"] = version, version
            file.write_text(json.dumps(notebook))
            known = json.loads(settings.read_text())
            known["versions"]["book/changed.ipynb"] = version
            settings.write_text(json.dumps(known))

        def source(path="changed", answer=""):
            book = self.open(path, answer)
            found = book.do("await jupyterapp.shell.currentWidget.context.save(); return content.widgets[3].model.sharedModel.getSource()")
            book.page.close()
            return found

        release("first")
        self.assertEqual(source(), "first")  # also if the browser has kept the file
        book = self.open("changed")
        book.run(3, "// mine")
        book.page.close()
        release("second")
        self.assertEqual(source(answer="Keep mine"), "// mine")
        self.assertEqual(source(), "// mine")
        release("third")
        self.assertEqual(source(answer="Show the newer one"), "third")
        self.assertEqual([source(), source("changed (copy)")], ["third", "// mine"])

    def test_names_are_completed(self):
        self.book.run(3, 'import words "strings"')
        for code, want in [("%%\n// é 😀\nwords.ToUp", ["ToUpper", "ToUpperSpecial"]), ("greet.", ["Greet"]), ("x.greet.", []), ("nothing.", []), ("gre", [])]:
            got = self.book.do(f"return (await session.kernel.requestComplete({{ code: {json.dumps(code)}, cursor_pos: {len(code)} }})).content")
            self.assertEqual((got["matches"], got["cursor_start"]), (want, len(code) - len("ToUp") if want[1:] else len(code)))

    def test_two_notebooks_do_not_see_each_other(self):
        other = self.open()
        other.run(3, 'var name = "elsewhere"')
        self.assertEqual(text(self.book.run(3, "%%\nfmt.Print(name)")), "world")
        self.assertEqual(text(other.run(3, "%%\nfmt.Print(name)")), "elsewhere")
        other.page.close()

    def test_a_second_visit_downloads_nothing_of_the_pack(self):
        pack = [f["url"] for f in self.manifest["files"].values()]
        asked = [a.rsplit("/", 1)[-1] for a in self.downloaded]
        self.assertEqual([u for u in pack if u not in asked], [], "not downloaded by the first visit: does the test see it?")
        self.asked.clear()
        book = self.open()
        book.run(1)
        book.run(2)
        asked = [a.rsplit("/", 1)[-1] for a in self.asked]
        self.assertEqual([u for u in pack if u in asked], [])
        self.assertEqual(book.marks("ready")[0]["downloaded"], 0)
        book.page.close()

    def test_no_other_host_is_asked_and_nothing_is_complained_of(self):
        self.assertEqual(self.book.hosts, {self.address.split("/")[2]})
        # JupyterLite requests the contents of each folder, also of folders that the reader has made.
        own = re.compile(r"404 \S*/api/contents/data(/new)?/all\.json(\?.*)?")
        self.assertEqual([r for r in self.refused if not own.fullmatch(r)], [])
        self.assertEqual([f for f in self.book.faults if not f.startswith("Failed to load resource: the server responded")], [])


SITE = pathlib.Path(os.environ.get("LAB", ROOT / ".cache" / "site" / "lab")).resolve()


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(SITE.exists(), f"{SITE} is missing: make site")
class TestFirstVisit(unittest.TestCase):
    def test_a_first_visit_downloads_less_than_35_MB(self):
        with (tempfile.TemporaryDirectory() as profile, browser.served(SITE) as (address, asked, _),
              browser.chromium(profile) as context):
            for visit in "first", "second":
                asked.clear()
                book = browser.Notebook(context, address, "notebooks/00-start.ipynb")
                book.run(1)
                book.run(3)
                files = {SITE / a.removeprefix(browser.FOLDER).lstrip("/") for a in asked}
                contents = [f.read_bytes() for f in files if f.is_file()]
                raw, packed = sum(map(len, contents)) / 1e6, sum(min(len(c), len(gzip.compress(c))) for c in contents) / 1e6
                ready = book.marks("ready")[0]
                print(f"{visit} visit: {len(contents)} files, {raw:.1f} MB, {packed:.1f} from a server that packs with gzip; "
                      f"{ready}, {book.marks('cell')[-1]}", file=sys.stderr, flush=True)
                book.page.close()
                if visit == "first":
                    self.assertGreater(ready["downloaded"], 20e6)
                    self.assertLess(packed, 35)
                else:
                    self.assertEqual(ready["downloaded"], 0)


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(SITE.exists(), f"{SITE} is missing: make site")
class TestNotebooks(unittest.TestCase):
    """The notebooks of this project: all, or those that match NOTEBOOKS, as in NOTEBOOKS='0[45]-*'."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.profile = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.address, cls.asked, cls.refused = cls.enterClassContext(browser.served(SITE))
        cls.context = cls.enterClassContext(browser.chromium(cls.profile))
        cls.took = []  # seconds of each cell, name and number of the cell, and the times of its steps
        cls.most = cls.enterClassContext(browser.watched(cls.profile))
        cls.memory = 0  # MiB

    @classmethod
    def tearDownClass(cls):
        if not cls.took:
            return
        seconds = [t[0] for t in cls.took]
        print(f"{len(seconds)} cells, each in {statistics.median(seconds):.1f} s (median); longest:", file=sys.stderr)
        for second, name, i, parts in sorted(cls.took, key=lambda t: t[0])[:-6:-1]:
            print(f"  {second:.0f} s: {name}, {i}: {parts}", file=sys.stderr)
        print(f"peak memory of a page: {cls.memory:.0f} MiB", file=sys.stderr, flush=True)

    def compare(self, name, only=None):
        """Run the cells of a notebook, all or the given numbers, and compare their outputs with the stored ones."""
        stored = json.loads((SITE / "files" / "notebooks" / f"{name}.ipynb").read_text())["cells"]
        book = browser.Notebook(self.context, self.address, f"notebooks/{name}.ipynb")
        began, run, self.most[0] = time.monotonic(), 0, 0
        for i, cell in enumerate(stored):
            exercise = "try" in cell["metadata"].get("tags", ())  # has no stored output
            if cell["cell_type"] != "code" or exercise or only and i not in only:
                continue
            run += 1
            with self.subTest(notebook=name, cell=i):
                start = time.monotonic()
                # A page replays at most six runs, and says so.
                got, want = [form(o) for o in book.run(i) if "A page replays " not in str(o)], [form(o) for o in cell["outputs"]]
                self.took.append((time.monotonic() - start, name, i, book.marks("cell")[-1]))
                self.assertEqual(len(got), len(want), text(got))
                for g, w in zip(got, want):
                    self.assertEqual(g, w)
        self.assertEqual(book.hosts, {self.address.split("/")[2]})
        self.assertEqual(book.faults, [])
        taken = self.most[0]
        with self.subTest("memory of a page", notebook=name):
            self.assertLess(taken, 1 << 10)
        type(self).memory = max(self.memory, taken)
        book.page.close()
        print(f"{name}: {run} cells in {time.monotonic() - began:.0f} s, at most {taken:.0f} MiB", file=sys.stderr, flush=True)

    def test_a_slice(self):
        """One of these notebooks a day, because the first cell of a notebook takes half of the time."""
        if int(os.environ.get("REPLAY_DAY") or 0) % 2:
            self.compare("00-start", [1, 3, 7])  # a figure, a function
        else:
            self.compare("02-model", [1, 55])  # a statement of the ledger

    def test_a_slice_runs_no_script_that_a_notebook_brings(self):
        away = f"{self.address.replace('127.0.0.1', 'localhost')}/planted"  # another host
        shown = {"output_type": "display_data", "metadata": {}, "data": {
            "text/html": f"<p>shown</p><script>globalThis.ran = true</script><img src='{away}.png'><style>p {{ background: url({away}.svg) }}</style>"}}
        cell = {"cell_type": "code", "execution_count": 1, "id": "a", "metadata": {"trusted": True}, "outputs": [shown], "source": ""}
        kernel = {"kernelspec": {"name": "gonb", "display_name": "Go", "language": "go"}}
        stranger = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        book = browser.Notebook(self.context, self.address, "notebooks/00-start.ipynb")
        book.do("await jupyterapp.serviceManager.contents.save('notebooks/stranger.ipynb', "
                f"{{ type: 'notebook', format: 'json', content: {json.dumps(stranger)} }})")
        book.page.close()
        book = browser.Notebook(self.context, self.address, "notebooks/stranger.ipynb")
        book.page.get_by_text("shown").wait_for()
        self.assertIsNone(book.page.evaluate("globalThis.ran"))
        book.do("content.widgets[0].model.trusted = true")
        book.page.wait_for_function("globalThis.ran")  # so the script could have run
        self.assertEqual([a for a in self.asked if "planted" in a], [])
        book.page.close()

    def test_a_slice_has_the_errors_of_beginners(self):
        book = browser.Notebook(self.context, self.address, "notebooks/00-start.ipynb")
        self.assertEqual(text(book.run(1, beginner.FIRST)), "")
        for source, message, *page in beginner.CASES:
            with self.subTest(source):
                self.assertRegex(text(book.run(3, source)), page[0] if page else message)
        book.page.close()

    def test_plots_are_saved_as_the_documentation_of_gonum_shows(self):
        book = browser.Notebook(self.context, self.address, "notebooks/00-start.ipynb")
        book.run(1, 'import (\n"gonum.org/v1/plot"\n"gonum.org/v1/plot/vg"\n)')
        cell = '%%\np := plot.New()\nfmt.Println(p.Save(4*vg.Inch, 4*vg.Inch, "/tmp/a.png"))\nb, _ := os.ReadFile("/tmp/a.png")\n' \
               'fmt.Println(string(b[1:4]))\nw, err := p.WriterTo(40, 40, "svg")\nfmt.Println(err)\nvar s strings.Builder\n' \
               'w.WriteTo(&s)\nfmt.Println(strings.Contains(s.String(), "<svg "))'
        self.assertEqual(text(book.run(3, cell)), "<nil>\nPNG\n<nil>\ntrue\n")
        book.page.close()

    def test_cells_show_their_stored_outputs(self):
        chosen = sorted((SITE / "files" / "notebooks").glob(os.environ.get("NOTEBOOKS", "*") + ".ipynb"))
        self.assertTrue(chosen, "no such notebook")
        for file in chosen:
            self.compare(file.stem)
        self.assertEqual(self.refused, [])

    def test_full_scale_training_says_first_how_long_it_takes_and_leaves_the_page_responsive(self):
        book = browser.Notebook(self.context, self.address, "notebooks/00-start.ipynb")
        book.run(1, 'import (\n"learncausal/paper/figures"\n"learncausal/paper/show"\n"learncausal/pkg/nb"\n)')
        cell = '%%\nspec := nb.Must(figures.SingleParentNamed("random")).Spec()\nspec.Seed = 12345\nshow.Get()(nb.Context(), spec)'
        said, seconds, then, frames = book.do("""
            const cell = content.widgets[3];
            cell.model.sharedModel.setSource(SOURCE);
            content.activeCellIndex = 3;
            const run = jupyterapp.commands.execute('notebook:run-cell');
            const shown = () => JSON.stringify(cell.model.outputs.toJSON());
            const when = async text => { while (!shown().includes(text)) await new Promise(r => setTimeout(r, 20)); return shown(); };
            const said = await when(' steps take '), began = performance.now(), then = await when(' to go');
            const seconds = (performance.now() - began) / 1000;
            const longest = ms => new Promise(done => {
                let begun, last, most = 0;
                const see = now => {
                    begun ??= now;
                    most = Math.max(most, now - (last ?? now));
                    last = now;
                    if (now - begun < ms) requestAnimationFrame(see); else done(most);
                };
                requestAnimationFrame(see);
            });
            const frames = [];
            for (let i = 0; i < 5; i++) frames.push(await longest(2000));
            await session.kernel.interrupt();
            await run;
            return [said, seconds, then, frames]""".replace("SOURCE", json.dumps(cell)))
        self.assertRegex(said, r"step 0/131072  from the start: 131072 steps take about (\d+h)?\d+m\d+s here<")
        self.assertNotIn(" to go", said)
        self.assertGreater(seconds, 1)
        self.assertRegex(then, r"step [1-9]\d*/131072  loss [0-9.]+, [0-9hms]+ to go")
        print(re.search("131072 steps.*?here", said)[0], file=sys.stderr, flush=True)
        # The bar is drawn five times a second: if the page is slow, every interval of two seconds is slow.
        self.assertLessEqual(min(frames), 100, frames)
        book.page.close()


def form(output):
    """Return an output without its count of executions, and without the numbers of replayed runs."""
    kept = {k: v for k, v in output.items() if k not in ("execution_count", "transient")}
    if "data" in kept:  # stored images end in a line feed
        kept["data"] = {mime: re.sub(r"(?<=Replay: ).* steps in all", "", content.rstrip("\n")) for mime, content in kept["data"].items()}
    return kept


if __name__ == "__main__":
    unittest.main()
