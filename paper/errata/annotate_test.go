package errata

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// small is a paper with some of the labels of the paper, in an order of its own.
const small = `\documentclass{article}
\usepackage{amsmath,amssymb,amsthm,graphicx}
\usepackage[colorlinks]{hyperref}
\newtheorem{lemma}{Lemma} \newtheorem{theorem}{Theorem} \newtheorem{definition}{Definition}
\newtheorem{corollary}{Corollary}
\begin{document}
\section{One}\label{sec:proofs} A text of several words that is long enough for a second line of its paragraph,
which has a mark at its heading.
\begin{definition}\label{def:attention} Of nothing. \end{definition}
The text behind it.
\begin{theorem}[A title]\label{thm:main_thm}
All is well.
\end{theorem}
\begin{lemma}\label{lem:gradient_informal} % \label{lem:bound_g1}
\begin{align} a &= b \\ c &= d \nonumber \\ &= e \end{align}
\end{lemma}
The mean is \textbf{0.837} above \rule{0.837\textwidth}{1pt}. Then
\begin{align}
x &= y, \\
y &= z.
\end{align}
An equation follows a paragraph.

\begin{equation} u = v \end{equation}
\begin{figure}\centering
\rule{1cm}{1cm}\includegraphics
[width=2cm]{drawing}\caption{A drawing}\label{fig:pf_sketch}
\end{figure}
\appendix
\section{Two}
\paragraph{A start.} Words.
\begin{lemma}\label{lem:bound_T_eff_leaves} One. \end{lemma}
\begin{lemma} Two, without a label. \end{lemma}
\begin{lemma}\label{thm:stage1} Two statements:
\begin{itemize} \item one, \item two. \end{itemize}
\end{lemma}
\end{document}
`

// placesIn returns the lines of text/places.txt with the checksums of the texts in a source.
func placesIn(t *testing.T, source string) (out [][]string) {
	t.Helper()
	l, r := stored(t), read(source)
	for _, p := range places() {
		if p = slices.Clone(p); l.Find(p[0]) != nil {
			if s, ok := r.find(p[1 : len(p)-1]); ok {
				p[len(p)-1] = checksum(r.statement(blank(source), s))
			}
		}
		out = append(out, p)
	}
	return out
}

// marksIn returns the marks that Annotate puts into a source, each with what it stands before, and the report.
func marksIn(t *testing.T, source string, places [][]string) (marks []string, report string) {
	t.Helper()
	text, missing, err := annotate(source, stored(t), `\def\a{}`, places)
	if err != nil {
		t.Fatal(err)
	}
	mark := regexp.MustCompile(`(\\ledger\w*(?:\{[^}]*\})+)(\\?\w*(?:\{\w*\*?\})?)`)
	text = regexp.MustCompile(`\\def\\a\{\}\\usepackage\{ledger\}(\\ledgerchanged\{[^}]*\})?`).ReplaceAllString(text, "")
	if plain := mark.ReplaceAllString(text, "$2"); plain != source {
		t.Errorf("the copy without its marks is not the source:\n%s", plain)
	}
	return mark.FindAllString(text, -1), strings.Join(missing, "\n")
}

// A copy with other line breaks and comments has the same marks; in a renumbered copy the marks move with
// their statements; what is missing is reported, and no other statement has its mark.
func TestAnnotateFindsStatements(t *testing.T) {
	want := strings.Split(`\ledgernext{eq-strong-dpi}\section{One}
\ledgernext{def-attention-row}
\ledgernext{thm-main}\begin{theorem}
\ledgernext{lem-gradient-informal}\begin{lemma}
\ledgernumber{num-avg-attn,num-avg-attn-sd}
\ledger{eq-g-parent-chi2}\begin{align}
\ledger{eq-g-amgm}\begin{equation}
\ledgerfigure{fig-proof-sketch}{0}{1}{0.80}\includegraphics
\ledgernext{lem-teff-leaves}\begin{lemma}
\ledgernext{lem-covariance}\begin{lemma}
\ledgernext{thm-stage1-roots,thm-stage1-parents}\begin{lemma}`, "\n")
	without := func(drop string) []string {
		return slices.DeleteFunc(slices.Clone(want), regexp.MustCompile(drop).MatchString)
	}
	reflowed := regexp.MustCompile(`[ \n]*% .*\n|\n\n|[ \n]+`).ReplaceAllStringFunc(small, func(s string) string {
		return map[bool]string{true: "\n\n", false: " % \\label{lem:bound_g1} \\begin{lemma}\n"}[s == "\n\n"]
	})
	unlabelled := strings.Replace(small, `\label{thm:main_thm}`, "", 1)
	renumbered := strings.Replace(small, `\section{Two}`, `\begin{lemma} New. \end{lemma}\section{Two}`, 1)
	two := `\begin{lemma}\label{lem:bound_T_eff_leaves} One. \end{lemma}`
	for _, c := range []struct {
		name, source string
		marks        []string
		reports      []string
	}{
		{"as it is", small, want, []string{
			`lem-bound-g1 (Lemma 16) is not found: it has no \label{lem:bound_g1}`,
			"lem-covariance is Lemma 3 here, in the ledger Lemma 19", "eq-g-root-zero (eq. (27)) is not found",
			"fig:TF_with_MLP is found 0 times, want 3",
		}},
		{"reflowed", reflowed, want, nil},
		{"renumbered", renumbered, want, []string{
			"lem-covariance is Lemma 4 here",
		}},
		{"without a label", unlabelled, want, []string{"thm-main is found by its number, Theorem 1, alone"}},
		{"without a statement", strings.Replace(small, two, "", 1), without("lem-teff|lem-covariance"), []string{
			"lem-teff-leaves (Lemma 18) is not found", "lem-covariance (Lemma 19) is not found",
		}},
		{"with the number twice", strings.Replace(small, "All is", "0.837 is", 1), without("num-"), []string{
			"0.837 is found 2 times, want 1",
		}},
	} {
		marks, report := marksIn(t, c.source, placesIn(t, small))
		if !slices.Equal(marks, c.marks) {
			t.Errorf("%s: marks\n%s\nwant\n%s", c.name, strings.Join(marks, "\n"), strings.Join(c.marks, "\n"))
		}
		for _, r := range c.reports {
			if !strings.Contains(report, r) {
				t.Errorf("%s: the report has no %q:\n%s", c.name, r, report)
			}
		}
	}
	if _, _, err := Annotate(`\section{A part}`, stored(t), ""); err == nil {
		t.Error("a part of a paper is accepted")
	}
}

// A label that LaTeX does not read has no statement. Each text stands before a lemma with a label of its own.
func TestHiddenLabelsDoNotCount(t *testing.T) {
	const label = `\begin{theorem}\label{thm:main_thm} \end{theorem}`
	for text, counts := range map[string]bool{
		label:                 true,
		`% ` + label + "\n":   false,
		`\\% ` + label + "\n": false,
		`\% ` + label:         true,
		"\\begin{verbatim}\n" + label + "\n\\end{verbatim}":                false,
		"\\begin{verbatim} 50 % \\end{verbatim}" + label:                   true,
		`\begin{verbatim*}` + label + `\end{verbatim*}`:                    false,
		`\begin{lstlisting}[a=b]` + label + `\end{lstlisting}`:             false,
		`\begin{comment}` + label + `\end{comment}`:                        false,
		`\verb|\label{thm:main_thm}|`:                                      false,
		`\verb|%|` + label:                                                 true,
		`\verbatiminput{x}` + label:                                        true,
		`\iffalse ` + label + ` \fi`:                                       false,
		`\iffalse \fi ` + label:                                            true,
		`\iffalse \ifx a b \else \fi ` + label + ` \fi`:                    false,
		`\iffalse \ifdraft \fi ` + label + ` \else \fi`:                    false,
		`\iffalse $\iff$ \ifthenelse{a}{b}{c} \fi ` + label:                true,
		`\iffalse x \else ` + label + ` \fi`:                               true,
		"\\iffalse % \\fi\n" + label + ` \fi`:                              false,
		`\iffalse \begin{verbatim} \fi ` + label:                           true,
		`\ifx a b ` + label + ` \fi`:                                       true,
		`\begin{verbatim}\iffalse \begin{comment} \end{verbatim} ` + label: true,
	} {
		r := read(`\begin{document}` + text + ` \begin{lemma}\label{own} \end{lemma}\end{document} \label{behind}`)
		_, found := r.labels["thm:main_thm"]
		_, own := r.labels["own"]
		_, behind := r.labels["behind"]
		if found != counts || !own || behind {
			t.Errorf("%s: the label counts: %t, want %t; the label behind it: %t, behind the document: %t",
				text, found, counts, own, behind)
		}
	}
	quoted := `\begin{verbatim}\begin{document}\end{verbatim}\begin{document}`
	if at := strings.Index(blank(quoted), `\begin{document}`); at != 46 {
		t.Errorf("the document begins at byte %d", at)
	}
}

// Time is linear in the source. In quadratic time, 20,000 open environments took 3 s, and these 50 s.
func TestManyOpenEnvironmentsAreReadInLinearTime(t *testing.T) {
	began := time.Now()
	for _, text := range []string{`\begin{lemma}\label{a}`, `\begin{center}\label{a}`} {
		read(`\begin{document}` + strings.Repeat(text, 60_000))
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("%v, want about a second", took)
	}
}

// text/places.txt has a place for each statement, and for nothing else.
func TestPlacesAreOfTheStatements(t *testing.T) {
	l, rest := stored(t), map[string]bool{}
	for _, p := range places() {
		rest[p[0]] = true
		if len(p) != 3 && len(p) != 5 && l.Find(p[0]) != nil {
			t.Errorf("%q: want an id and a label, or an id, a label, a kind and a count, and a checksum", p)
		}
	}
	for _, r := range l.Rows {
		if rest[r.ID] != (r.Kind == ledger.Statement) {
			t.Errorf("%s is a %s; a place is named for it: %t", r.ID, r.Kind, rest[r.ID])
		}
	}
}

// numbersIn returns the rows of the ledger whose numbers differ from the numbers in a source. A step or a
// correction has the number of its statement, but for the steps of displays below Lemma 34.
func numbersIn(t *testing.T, source string) (differ []string) {
	l, r := stored(t), read(source)
	printed := map[string]string{}
	for _, p := range places() {
		if row := l.Find(p[0]); row != nil {
			s, ok := r.find(p[1 : len(p)-1])
			if !ok {
				t.Errorf("%s is not found", row.ID)
			}
			printed[row.ID] = s.number
		}
	}
	for _, row := range l.Rows {
		id := row.ID
		for printed[id] == "" && id != "" {
			id = id[:max(0, strings.LastIndex(id, "-"))]
		}
		want := printed[id]
		if regexp.MustCompile(`^thm-finite-stage2-step-([123]|bias)`).MatchString(row.ID) {
			want = "Appendix I.2"
		}
		if row.Number != want {
			differ = append(differ, row.ID)
		}
	}
	slices.Sort(differ)
	return differ
}

// paperSource returns the source of the paper, which is not part of this repository.
func paperSource(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PAPER_TEX")
	if path == "" {
		t.Skip("PAPER_TEX is not set; PAPER_TEX=/path/to/paper.tex compares the ledger with the paper's source")
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// The checksums are of the paper's texts. This is the recipe for a new line of text/places.txt.
func TestChecksumsAreOfThePaper(t *testing.T) {
	source, l := paperSource(t), stored(t)
	for i, p := range placesIn(t, source) {
		if l.Find(p[0]) != nil && !slices.Equal(p, places()[i]) {
			t.Errorf("text/places.txt: want %s", strings.Join(p, " "))
		}
	}
}

// A changed statement has a grey mark, and a line says so; so have two statements with exchanged labels and a
// statement that is found by a number that is another's. A renamed environment is another kind of statement.
func TestAnnotateKnowsTheTexts(t *testing.T) {
	known := placesIn(t, small)
	one, two := `\label{lem:bound_T_eff_leaves} One.`, `\label{thm:main_thm}`
	for _, c := range []struct{ name, source, changed, report string }{
		{"as it is", small, "", ""},
		{"reflowed", strings.Replace(small, "All is well.", "All  is % or not\nwell.", 1), "", ""},
		{
			"a changed statement", strings.Replace(small, "All is well.", "All is better.", 1), "thm-main",
			"thm-main (Theorem 1) has another text than the text that was checked; its mark is grey",
		},
		{
			"exchanged labels", strings.NewReplacer(one, two+" One.", two, `\label{lem:bound_T_eff_leaves}`).Replace(small),
			"thm-main,lem-teff-leaves,lem-covariance", "thm-main (Theorem 1) has the text of lem-teff-leaves; its mark is grey",
		},
		{
			"a new theorem, and no label",
			strings.Replace(small, `\begin{theorem}[A title]`+two, "\\begin{theorem}\nNew.\n\\end{theorem}\n\\begin{theorem}", 1),
			"thm-main,thm-ood", "thm-main is found by its number, Theorem 1, alone",
		},
		{
			"a renamed environment", strings.NewReplacer(
				`\begin{theorem}`, `\begin{fact}`, `\end{theorem}`, `\end{fact}`, `{Theorem}`, `{Theorem} \newtheorem{fact}{Fact}`,
			).Replace(small), "", "thm-main is Fact 1 here, in the ledger Theorem 1",
		},
		{
			"an environment of another kind", strings.NewReplacer(
				`\begin{theorem}`, `\begin{quote}`, `\end{theorem}`, `\end{quote}`).Replace(small), "def-attention-row,thm-main",
			"thm-main is Section 1 here, in the ledger Theorem 1",
		},
	} {
		text, lines, err := annotate(c.source, stored(t), "", known)
		if err != nil {
			t.Fatal(err)
		}
		want := `\usepackage{ledger}`
		if c.changed != "" {
			want += `\ledgerchanged{` + c.changed + `}`
		}
		if !strings.Contains(text, want+`\begin{document}`) {
			t.Errorf("%s: want %s in\n%s", c.name, want, text)
		}
		if report := strings.Join(lines, "\n"); !strings.Contains(report, c.report) {
			t.Errorf("%s: want %q in\n%s", c.name, c.report, report)
		}
		if !testing.Short() && c.changed != "" { // the mark is grey, and no other statement stands below
			out := strings.Join(texts(t, text, "corrections"), "")
			grey := strings.Count(out, "another text than the one")
			if want := strings.Count(c.changed, ",") + 1; grey != want {
				t.Errorf("%s: %d grey marks, want %d:\n%s", c.name, grey, want, out)
			}
		}
	}
}

func TestNumbersEqualTheNumbersOfThePaper(t *testing.T) {
	if differ := numbersIn(t, paperSource(t)); len(differ) > 0 {
		t.Errorf("other numbers in the source: %q", differ)
	}
}

// Each fault in the source shows in the rows whose numbers it changes, and in no others.
func TestNumbersSeeAChangedSource(t *testing.T) {
	source := paperSource(t)
	lemma := func(label string) string {
		from := strings.LastIndex(source[:strings.Index(source, `\label{`+label+`}`)], `\begin{lemma}`)
		return source[from : from+strings.Index(source[from:], `\end{lemma}`)]
	}
	gap, least, heading := lemma("lem:spectral_gap_bound"), lemma("lem:mu_lowerbound"), `\subsection{Training Algorithm}`
	for changed, want := range map[string]string{
		strings.NewReplacer(gap, least, least, gap).Replace(source): "lem-mu-lower lem-spectral-gap " +
			"lem-spectral-gap-step-decomposition lem-spectral-gap-step-decomposition-corrected",
		strings.Replace(source, heading, heading+` \begin{align} 1 \nonumber \\ 2 \end{align}`, 1): "eq-f-pointwise " +
			"eq-f-pointwise-corrected eq-g-amgm eq-g-parent-chi2 eq-g-parent-chi2-step-pairs " +
			"eq-g-parent-chi2-step-pairs-corrected eq-g-root-zero eq-g-root-zero-corrected",
		strings.Replace(source, heading, `\subsection{Notation}`+heading, 1): "assume-prior-remark " +
			"def-teff-examples",
	} {
		if differ := strings.Join(numbersIn(t, changed), " "); differ != want {
			t.Errorf("other numbers for %s, want %s", differ, want)
		}
	}
}

func TestNumberingCountsAsLaTeXDoes(t *testing.T) {
	r := read(`\newtheorem{lemma}{Lemma}\newtheorem{claim}{Claim}\newtheorem{fact}[claim]{Fact}
\begin{document}
\section{A} \section*{B}
% \section{C}
\subsection{D} 5\% % \begin{lemma}
\begin{lemma}\label{one} \begin{align*} a \\ b \end{align*} \end{lemma}
\begin{claim} \begin{align} 1 \\ x \nonumber \\ \begin{cases} 2 \\ still \end{cases} \\ 3 \end{align} \end{claim}
\begin{fact} \end{fact} \begin{algorithm} the steps \end{algorithm}
\begin{lemma} two \end{lemma} \begin{equation} 4 \end{equation}
\appendix
\section{E}
\section{F} \subsubsection{G}
\end{document}`)
	var numbers []string
	for _, s := range r.spots {
		if s.kind != "document" && !strings.HasPrefix(s.kind, "end:") {
			numbers = append(numbers, s.kind+": "+s.number)
		}
	}
	want := "section: Section 1, subsection: Section 1.1, lemma: Lemma 1, align*: Section 1.1, claim: Claim 1, " +
		"align: Section 1.1, equation: eq. (1), cases: Section 1.1, equation: eq. (2), equation: eq. (3), fact: Fact 2, " +
		"algorithm: Algorithm 1, lemma: Lemma 2, equation: Section 1.1, equation: eq. (4), section: Appendix A, " +
		"section: Appendix B, subsubsection: Appendix B.0.1"
	if got := strings.Join(numbers, ", "); got != want {
		t.Errorf("numbers\n%s\nwant\n%s", got, want)
	}
}

// texts returns the text of each page of a source, typeset in a folder with ledger.sty and the options.
func texts(t *testing.T, source, options string) []string {
	t.Helper()
	for _, name := range []string{"pdflatex", "pdftotext"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("NOT CHECKED: no %s on this machine", name)
		}
	}
	style, err := Style(stored(t), figure.Numbers{
		{ID: "num-avg-attn", Value: 0.8, Paper: "0.837"}, {ID: "num-avg-attn-sd", Value: 0.05, Paper: "0.054"},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	drawing := `\documentclass{article}\begin{document}\thispagestyle{empty}Drawing\end{document}`
	for name, text := range map[string]string{"ledger.sty": style, "drawing.tex": drawing, "a.tex": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out []byte
	for _, args := range []string{"pdflatex drawing", "pdflatex a", "pdftotext -layout a.pdf -"} {
		words := strings.Fields(args)
		if words[1] == "a" {
			words = []string{
				"pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-jobname=a",
				`\PassOptionsToPackage{` + options + `}{ledger}\input{a}`,
			}
		}
		c := exec.CommandContext(t.Context(), words[0], words[1:]...)
		c.Dir = dir
		if out, err = c.Output(); err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out[max(0, len(out)-1500):])
		}
	}
	return strings.Split(string(out), "\f")
}

// With the option off the copy has the pages of the source. With marks it has one for each statement, and
// with corrections what holds instead of a statement that is false.
func compare(t *testing.T, source string, statements int) {
	t.Helper()
	marked, _, err := annotate(source, stored(t), "", placesIn(t, source))
	if err != nil {
		t.Fatal(err)
	}
	if off := texts(t, marked, "off"); !slices.Equal(off, texts(t, source, "")) {
		t.Errorf("with the option off the copy has other pages:\n%s", off)
	}
	words := regexp.MustCompile(`false as printed|tested, not|• proved`)
	on := strings.Join(texts(t, marked, "corrections"), "")
	if n := len(words.FindAllString(on, -1)); n != statements {
		t.Errorf("%d marks, want %d", n, statements)
	}
	if !strings.Contains(on, "What holds (thm-stage1-parents)") {
		t.Errorf("no correction of thm-stage1-parents:\n%s", on)
	}
}

func TestMarksAreTypeset(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	compare(t, small, 10)
	own := `\documentclass[twocolumn]{article}\usepackage{ledger}\begin{document}words\ledger{lem-tv} here.\end{document}`
	text := strings.Join(texts(t, own, ""), "")
	if !strings.Contains(text, "words here.") || !strings.Contains(text, "lem-tv") {
		t.Errorf("a mark in a text gives\n%s", text)
	}
}

// Characters that TeX reads in another way stand in an address and in the name of a folder.
func TestAddressesOfAnyCharactersAreTypeset(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs LaTeX")
	}
	const odd = `a%b#c~d&e$f^g_h{i}\j`
	before := `\def\ledgerpage{` + Literal(odd) + `}\def\ledgerfigures{` + Literal(odd) + `/}`
	marked, _, err := Annotate(small, stored(t), before)
	if err != nil {
		t.Fatal(err)
	}
	show := `\begin{document}\edef\page{\ledgerpage}\texttt{\expandafter\strip\meaning\page}`
	marked = `\def\strip#1->{}` + strings.Replace(marked, `\begin{document}`, show, 1)
	text := strings.Join(texts(t, marked, ""), "")
	if !strings.Contains(strings.ReplaceAll(text, " ", ""), odd[:len(odd)-7]) {
		t.Errorf("want %s in\n%s", odd, text)
	}
}

// All statements are marked in the paper. Its figures are replaced: they are not in its source.
func TestThePaperIsMarked(t *testing.T) {
	graphic := regexp.MustCompile(`(\\includegraphics\[[^\]]*\])\s*\{[^}]*\}`)
	source := graphic.ReplaceAllString(paperSource(t), "$1{drawing}")
	if _, report := marksIn(t, source, places()); report != "" {
		t.Errorf("the report is not empty:\n%s", report)
	}
	n := 0
	for _, r := range stored(t).Rows {
		if r.Kind == ledger.Statement {
			n++
		}
	}
	compare(t, source, n)
}

// A text that the letter corrects has the mark of the correction, in part a grey one; other texts keep theirs.
func TestCorrectedTextsHaveTheMarksOfTheirCorrections(t *testing.T) {
	source := strings.Replace(small, `\label{lem:bound_T_eff_leaves} One.`, `\label{lem:chat_variance}
$\hat c = x_{p(i),s}
x_{i,s}$, $\hat \mu_{X_{I}}(s) - \mu_\pi(s)\pi(s'|s)$.`, 1)
	all := placesIn(t, source)
	first := strings.NewReplacer("x_{p(i),s}\nx_{i,s}$", "x_{p(i),s} x_{i,s'}$")
	second := strings.NewReplacer(`\hat \mu_{X_{I}}(s) - `, `\hat c_{X_{I}}(s,s') - `)
	for _, c := range []struct {
		source, mark, report string
	}{
		{source, `{lem-chat-var}\begin{lemma}`, ""},
		{second.Replace(first.Replace(source)), `{lem-chat-var-corrected}\begin{lemma}`, ""},
		{first.Replace(source), `{lem-chat-var}\begin{lemma}`, "lem-chat-var (Lemma 21) has another text"},
		{strings.Replace(source, `\hat c =`, `\hat d =`, 1), `{lem-chat-var}\begin{lemma}`, "another text"},
	} {
		marks, report := marksIn(t, c.source, all)
		grey := strings.Contains(report, "lem-chat-var (Lemma 21) has another text")
		if !slices.Contains(marks, `\ledgernext`+c.mark) || grey != (c.report != "") {
			t.Errorf("marks %q, report %q; want %s, %q", marks, report, c.mark, c.report)
		}
	}
}

// After any of the letter's corrections of the paper, such as random ones, no mark is grey, and exactly the corrected
// rows have those of their corrections.
func TestCorrectionsInAnyOrderTurnTheirMarks(t *testing.T) {
	source, l := paperSource(t), stored(t)
	text, r := blank(source), read(source)
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 12 {
		var edits []edit
		applied := map[string]bool{}
		for i, c := range corrections() {
			if round == 1 || round == 2 && i%2 == 0 || round > 2 && random.IntN(2) == 0 {
				e, err := r.edits(text, c)
				if err != nil {
					t.Fatal(err)
				}
				edits, applied[c.ID] = append(edits, e...), true
			}
		}
		slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
		changed := source
		for _, e := range edits {
			changed = changed[:e.from] + e.text + changed[e.to:]
		}
		copied, report, err := Annotate(changed, l, "")
		if err != nil || len(report) > 0 {
			t.Errorf("round %d: %q, %v", round, report, err)
		}
		for _, p := range places() {
			row := l.Find(p[0])
			if row == nil || !row.Failed() {
				continue
			}
			mark := regexp.MustCompile(`\\ledger(next)?\{[^}]*\b` + row.Corrected + `[,}]`)
			if mark.MatchString(copied) != applied[row.ID] {
				t.Errorf("round %d: %s is corrected: %t, and its mark is not", round, row.ID, applied[row.ID])
			}
		}
	}
}
