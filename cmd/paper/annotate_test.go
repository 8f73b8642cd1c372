//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"learncausal/internal/files"
	"learncausal/internal/property"
	"learncausal/paper/errata"
)

// annotate writes the copy and ledger.sty, with paths from the folder of the copy, and never the source.
func TestAnnotateWritesACopy(t *testing.T) {
	dir := t.TempDir()
	source, out := filepath.Join(dir, "paper.tex"), filepath.Join(dir, "annotated.tex")
	text := "\\begin{document}\n\\begin{theorem}\\label{thm:main_thm} \\end{theorem}\n\\end{document}\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) error { return run(t.Context(), io.Discard, append([]string{"annotate"}, args...)) }
	if err := command(source, "-o", out, "--page", "https://example.org/ledger.html"); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(copied), `\ledgernext{thm-main}\begin{theorem}`) ||
		!strings.Contains(string(copied), `\def\ledgerpage{https://example.org/ledger.html}`) {
		t.Errorf("the copy is %q (%v)", copied, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ledger.sty")); err != nil {
		t.Error(err)
	}
	figures, err := filepath.Abs(filepath.Join("..", "..", "figures"))
	if err != nil {
		t.Fatal(err)
	}
	if figures, err = filepath.Rel(dir, figures); err != nil || !strings.Contains(string(copied),
		`\ledgerfigures{`+errata.Literal(figures)+`/}`) {
		t.Errorf("the copy does not name the figures, %s (%v)", figures, err)
	}
	if _, err := os.Stat(filepath.Join(dir, figures, "fig-mlp.pdf")); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{filepath.Join(dir, "none.tex")}, {}} {
		if err := command(args...); err == nil {
			t.Errorf("annotate %q is accepted", args)
		}
	}
}

// With --corrections the patch names the source, replaces an older patch, and nothing else of the user.
func TestAnnotateWritesAPatch(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "\\begin{document}\n\\begin{lemma}\\label{lem:TV_bound} $\\min_{j \\neq k}$ \\end{lemma}\n\\end{document}\n"
	if err := os.WriteFile("paper.tex", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := run(t.Context(), io.Discard, []string{"annotate", "--corrections", "paper.tex"}); err != nil {
			t.Fatal(err)
		}
		patch, err := os.ReadFile("corrections.patch")
		if err != nil || !strings.Contains(string(patch), "--- paper.tex\n+++ paper.tex\n@@ -1,3 +1,3 @@\n") ||
			!strings.Contains(string(patch), `+\begin{lemma}\label{lem:TV_bound} $\max_{j \neq k}$`) {
			t.Errorf("the patch is %q (%v)", patch, err)
		}
	}
	if err := os.WriteFile("corrections.patch", []byte("--- mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), io.Discard, []string{"annotate", "--corrections", "paper.tex"})
	property.Mentions(t, err, "did not write it")
}

// A command that would replace a file of the user is refused, and writes nothing.
func TestAnnotateReplacesNothingOfItsUser(t *testing.T) {
	const text = "\\begin{document}\n\\end{document}\n"
	folder := func(_, path string) error { return os.Mkdir(path, 0o777) }
	pipe := func(_, path string) error { return syscall.Mkfifo(path, 0o666) }
	for name, c := range map[string]struct {
		out      string
		make     func(from, to string) error // makes the files beside paper.tex
		from, to string
		want     string
	}{
		"the source":          {out: "paper.tex", want: "paper.tex is the source itself"},
		"another spelling":    {out: "../DIR/./paper.tex", want: "paper.tex is the source itself"},
		"a link to it":        {"out.tex", os.Symlink, "paper.tex", "out.tex", "out.tex is the source itself"},
		"a hard link to it":   {"out.tex", os.Link, "paper.tex", "out.tex", "out.tex is the source itself"},
		"a link":              {"out.tex", os.Symlink, "mine", "out.tex", "out.tex is a link to "},
		"a dangling link":     {"out.tex", os.Symlink, "none", "out.tex", "out.tex is a link to "},
		"a folder":            {"out.tex", folder, "", "out.tex", "out.tex is a folder: want"},
		"a pipe":              {"out.tex", pipe, "", "out.tex", "out.tex is a pipe: want"},
		"the style file":      {out: "ledger.sty", want: "ledger.sty has the name"},
		"its other spelling":  {out: "./Ledger.STY", want: "Ledger.STY has the name"},
		"an own ledger.sty":   {"out.tex", os.Rename, "mine", "ledger.sty", "ledger.sty; nothing is written"},
		"a linked ledger.sty": {"out.tex", os.Symlink, "mine", "ledger.sty", "ledger.sty is a link to "},
	} {
		dir := t.TempDir()
		for _, file := range []string{"paper.tex", "mine"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text+file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if c.make != nil {
			if err := c.make(filepath.Join(dir, c.from), filepath.Join(dir, c.to)); err != nil {
				t.Fatal(err)
			}
		}
		before := listing(t, dir)
		out := dir + "/" + strings.Replace(c.out, "DIR", filepath.Base(dir), 1)
		err := run(t.Context(), io.Discard, []string{"annotate", filepath.Join(dir, "paper.tex"), "-o", out})
		property.Mentions(t, err, c.want)
		if after := listing(t, dir); after != before {
			t.Errorf("%s: the folder was\n%s\nand is\n%s", name, before, after)
		}
	}
}

// listing returns the names, modes and contents of the files in a folder.
func listing(t *testing.T, dir string) (all string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintln(e.Name(), info.Mode())
		if b, err := files.Read(filepath.Join(dir, e.Name()), 1<<20); err == nil {
			all += string(b)
		}
	}
	return all
}

// A copy is replaced by the next one, and keeps its mode.
func TestAnnotateReplacesItsCopy(t *testing.T) {
	dir := t.TempDir()
	source, out, stopped := filepath.Join(dir, "paper.tex"), filepath.Join(dir, "a.tex"), filepath.Join(dir, "b.tex")
	for i := range 3 {
		text := fmt.Sprintf("\\begin{document} %d\n\\end{document}\n", i)
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), io.Discard, []string{"annotate", source, "-o", out}); err != nil {
			t.Fatal(err)
		}
		copied, err := os.ReadFile(out)
		info, _ := os.Stat(out)
		if err != nil || !strings.HasSuffix(string(copied), text) || i > 0 && info.Mode() != 0o600 {
			t.Errorf("copy %d is %q, its mode %v, error %v", i, copied, info.Mode(), err)
		}
		if err := errors.Join(os.Chmod(out, 0o600), replaceable(source, out)); err != nil {
			t.Fatal(err)
		}
	}
	property.Mentions(t, replaceable(out, source), "did not write it")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := run(ctx, io.Discard, []string{"annotate", source, "-o", stopped})
	if _, found := os.Stat(stopped); !errors.Is(err, context.Canceled) || !os.IsNotExist(found) {
		t.Errorf("after Ctrl-C: error %v, the copy: %v", err, found)
	}
}

func TestAddressesAreLegal(t *testing.T) {
	for page, want := range map[string]string{
		"":                          "../a%20b%25%23/figures/../CLAIMS.md",
		"https://x.org/a%20b#c?d":   "https://x.org/a%20b#c?d",
		`é {x}\^"`:                  "%C3%A9%20%7Bx%7D%5C%5E%22",
		"https://[::1]:80/~a_b&c=$": "https://[::1]:80/~a_b&c=$",
	} {
		if got := address(page, "../a b%#/figures"); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}
