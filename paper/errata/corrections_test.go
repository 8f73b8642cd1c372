package errata

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/claims"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// mistaken is a paper with two of the places that the letter corrects, in lines of its own.
const mistaken = `\documentclass{article}
\usepackage{amsmath}
\newtheorem{lemma}{Lemma}
\newcommand{\S@}{}\let\S\mathcal
\begin{document}
\begin{lemma}\label{lem:TV_bound} % \min_{j \neq k}
One has $\min_{j
\neq k} a_{jk}\le1$, and $\min_{j \neq k} b_{jk}\le1$.
\end{lemma}
Words.

Words.

Words.

Words.
\begin{lemma}\label{lem:grad_J} \end{lemma}
Note that $\nabla_v\S(v) = J(v)$.
\end{document}`

// patched returns a source after the program patch, in a folder.
func patched(t *testing.T, source, patch string) string {
	t.Helper()
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("NOT CHECKED: no patch on this machine")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "paper.tex")
	if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "patch", "-p0", "--fuzz=0")
	c.Dir, c.Stdin = dir, strings.NewReader(patch)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("patch: %v\n%s\n%s", err, out, patch)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The patch changes the first place behind a label that LaTeX reads, across a line break, and nothing else.
// What is not found is reported, and a source without the places has no patch.
func TestPatchCorrectsASource(t *testing.T) {
	patch, report, err := Patch(mistaken, "paper.tex")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("$\\min_{j\n\\neq k} a", `$\max_{j \neq k} a`, "J(v)", `J(\S(v))`).Replace(mistaken)
	if got := patched(t, mistaken, patch); got != want {
		t.Errorf("the corrected source is\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(report, "\n"); strings.Contains(got, "lem-tv ") ||
		!strings.Contains(got, "lem-bound-g1 is not corrected: its place, lem:bound_g1, is not found") {
		t.Errorf("the report is\n%s", got)
	}
	again, report, err := Patch(want, "paper.tex")
	if err != nil || strings.Contains(again, "J(") || len(report) != len(corrections())-1 {
		t.Errorf("the corrected source has the patch\n%s\nand the report %q, %v", again, report, err)
	}
	if empty, _, err := Patch(`\begin{document}\end{document}`, "a"); err != nil || empty != "" {
		t.Errorf("a source without the places has the patch %q, %v", empty, err)
	}
	if _, _, err := Patch(`\section{A part}`, "a"); err == nil {
		t.Error("a part of a paper is accepted")
	}
}

// Edits in the first and in the last line, in lines side by side and far apart, and of a whole line.
func TestDiffsAreApplied(t *testing.T) {
	source := strings.Repeat("one two three\n", 40)
	for _, end := range []string{"", "four", "five\r\n"} {
		source := source + end
		for _, at := range [][]int{{0}, {4, 10}, {4, 20}, {4, 32, 500}, {100, 140, 200, 260}, {len(source) - 2}} {
			var edits []edit
			want, last := "", 0
			for _, a := range at {
				edits = append(edits, edit{a, a + 1, "x\ny"})
				want, last = want+source[last:a]+"x\ny", a+1
			}
			want += source[last:]
			if got := patched(t, source, diff(source, "paper.tex", edits)); got != want {
				t.Errorf("edits at %v of a source that ends with %q give\n%s\nwant\n%s", at, end, got, want)
			}
		}
	}
}

// A correction is of a row of the ledger, and each row that fails has one; its words are symbols, not sentences.
func TestCorrectionsAreOfTheLedger(t *testing.T) {
	l, of := stored(t), map[string]Correction{}
	for _, c := range corrections() {
		of[c.ID] = c
		r := l.Find(c.ID)
		if r == nil || len(c.Changes) == 0 || (c.Why == "") != (r.Failed() && len(c.Printed()) > 0) {
			t.Errorf("%s: want a row, changes, and a sentence if the row holds or nothing is printed: %+v", c.ID, c)
		}
		for _, change := range c.Changes {
			words := regexp.MustCompile(`\\[a-zA-Z]+(\{[^}]*\})?|\$[^$]*\$`).ReplaceAllString(change.For, " ")
			if m := regexp.MustCompile(`[a-z]{3,} [a-z]{3,}`).FindString(words); m != "" {
				t.Errorf("%s has words of the paper: %q", c.ID, m)
			}
		}
	}
	e, err := newErratum(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range l.Rows {
		if _, ok := of[r.ID]; r.Failed() && ok == (e.remarks[r.ID].Ours != "") {
			t.Errorf("%s fails: want a correction of the paper, or else that the row is ours", r.ID)
		}
	}
	for _, bad := range []string{"a | b", "a | b | c\n> x", "a | b | c\n< x\n>> y", "< x"} {
		if _, err := parseCorrections(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// The replacements and what the row says instead have a checksum together, so that neither changes without the other,
// and the parts of replacements that are marked as bounds have the value of a bound of the corrected row.
func TestReplacementsSayWhatTheCorrectedRowSays(t *testing.T) {
	all := map[string]ledger.Claim{}
	for _, c := range claims.All() {
		all[c.ID] = c
	}
	ours := strings.NewReplacer(`\TT`, `T_{\mathrm{eff}}`, `\qty`, "", `\S(`, `\mathcal S(`, `\max_{i=1}^k L_i`, `\max_lL_l`,
		`\max_l L_l`, `\max_lL_l`, `1 + \lambda`, `1+\lambda`, `1 - \lambda`, `1-\lambda`, `1 - r`, `1-r`)
	for _, c := range corrections() {
		row := all[c.ID]
		if row.Corrected != "" {
			row = all[row.Corrected]
		}
		said := []string{row.Statement, row.Hypotheses, c.Why}
		for _, change := range c.Changes {
			said = append(said, change.For, change.Read)
			for _, p := range change.bounds {
				marked := ledger.MustBound(ours.Replace(p.latex))
				if !slices.ContainsFunc(row.Bounds, func(b ledger.Bound) bool {
					return marked.IsTimes(b, exact.Rat(p.factor))
				}) {
					t.Errorf("%s: %s is not %s times a bound of %s: %s", c.ID, p.latex, p.factor, row.ID, row.Statement)
				}
			}
		}
		if sum := checksum(strings.Join(said, "\n")); c.sum != sum {
			t.Errorf("%s: a replacement or %s is another: does the one say what the other does? Then write %s for %s", c.ID,
				row.ID, sum, c.sum)
		}
	}
}

// The patch of the paper corrects all places, and the corrected paper is typeset.
func TestThePaperIsCorrected(t *testing.T) {
	source := paperSource(t)
	patch, report, err := Patch(source, "paper.tex")
	if err != nil || len(report) > 0 {
		t.Errorf("%q, %v", report, err)
	}
	graphic := regexp.MustCompile(`(\\includegraphics\[[^\]]*\])\s*\{[^}]*\}`)
	texts(t, graphic.ReplaceAllString(patched(t, source, patch), "$1{drawing}"), "")
}
