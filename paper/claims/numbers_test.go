package claims_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/claims"
)

// numbers returns the number that the PDF prints, by id of a claim.
func numbers() map[string]string {
	table := map[string]string{}
	for _, c := range claims.All() {
		table[c.ID] = c.Number
	}
	return table
}

// places are phrases of the paper's source, each of which occurs there once, by
// the id of the statement in which it stands. A step or a correction without a
// phrase of its own has the number of its statement.
var places = map[string]string{
	"def-attention-row":        `The amount that token $i$ attends to token $j$`,
	"ex-induction-head":        `Explicitly, the output of an induction head`,
	"ex-icl":                   `using the transition matrix $\pi(s'|s) = \1(s'=f(s))$`,
	"construct-single":         `\label{thm:single_parent_construct}`,
	"lem-rewrite-tf":           `\label{lem:rewrite_TF}`,
	"alg-training":             `\label{alg:training_alg}`,
	"assume-prior-remark":      `The final two assumptions imply`,
	"def-teff-examples":        `we see that $L_i = 1$`,
	"thm-main":                 `\label{thm:main_thm}`,
	"thm-ood":                  `\label{thm:OOD}`,
	"lem-dpi":                  `Let $I_f$ be an information measure`,
	"alg-oracle":               `\label{alg:oracle_alg}`,
	"rem-chow-liu":             `is indeed the max-weight spanning forest`,
	"lem-gradient-informal":    `\label{lem:gradient_informal}`,
	"eq-g-parent-chi2":         `g_{i,p(i)} = I_{\chi^2}(s_i; s_{p(i)} \mid \pi).`,
	"eq-g-amgm":                `g_{i, j} \le \frac12 I_{\chi^2}(s_i; s_{p(i)} \mid \pi)`,
	"eq-g-root-zero":           `\frac{\pi(s' \mid s)}{\mu_\pi(s')}\mu_\pi(s')\mu_\pi(s)] - 1 = 0`,
	"eq-a2-form":               `Writing $A^{(2)} = \beta I_S + \frac{\beta - \beta_0}{S}1_S1_S^\top $`,
	"eq-f-pointwise":           `\le \exp(-\Theta(\beta)) = \TT^{-\Theta(1)}`,
	"construct-multi":          `\label{thm:multi_parent_construction}`,
	"thm-equivalence":          `\label{thm:disentangled_TF_equivalence}`,
	"eq-loss-rewrite":          `It is easy to see that the perturbed loss`,
	"lem-pop-grads":            `\label{lem:pop_grads}`,
	"thm-dpi-gap":              `\label{thm:DPI}`,
	"thm-stage1-roots":         `G^{(1)}(A^{(1)}, A^{(2)})_{i} = J(\S(A_i^{(1)}))v`,
	"thm-stage1-parents":       `If $p(i) \neq \emptyset$, then for any $j \neq p(i)$`,
	"lem-no-parents":           `\label{lem:no_parents_dont_move}`,
	"lem-a1-dynamics":          `\label{lem:A1_dynamics}`,
	"cor-stage1-parents":       `If $i \in \overline{\calR}$, \begin{align*} 1 - \S`,
	"cor-stage1-roots":         `\sup_{j \in [i]}\abs{\S(A_i^{(1)}(\tau_1))_j - \frac{1}{i}}`,
	"lem-a2-sym":               `\label{lem:A2_grad_sym}`,
	"thm-stage2-upper":         `1 \ge -\Delta_\beta(\theta)`,
	"thm-stage2-lower":         `\frac14\gamma^8S^{-6}e^{-2\beta} > 0`,
	"lem-bound-ghat":           `\label{lem:bound_g_beta}`,
	"lem-a2-dynamics":          `\label{lem:A2_dynamics}`,
	"eq-b-powers":              `(B_{\pi}^k)_{s,s'} := `,
	"lem-spectral-gap":         `\label{lem:spectral_gap_bound}`,
	"lem-mu-lower":             `\label{lem:mu_lowerbound}`,
	"lem-tv":                   `\label{lem:TV_bound}`,
	"lem-bound-g1":             `\label{lem:bound_g1}`,
	"lem-contraction":          `\label{lem:contraction}`,
	"lem-teff-leaves":          `\label{lem:bound_T_eff_leaves}`,
	"lem-covariance":           `For any $\pi$ and any $i,j < T$,`,
	"lem-muhat-var":            `\label{lem:muhat_variance}`,
	"cor-muhat":                `\label{cor:muhat_X}`,
	"lem-chat-var":             `\label{lem:chat_variance}`,
	"lem-muhat-parent-var":     `\label{lem:muhat_parent_variance}`,
	"eq-strong-dpi":            `Let $p(i,j)$ be the least common ancestor of $i$ and $j$`,
	"lem-nonzero-beta":         `\label{lem:nonzero_beta}`,
	"lem-concentration-a1":     `\label{lem:concentration_A1}`,
	"lem-compare-shift":        `\label{lem:compare_to_shift}`,
	"lem-j-l1":                 `\label{lem:J_l1}`,
	"lem-grad-j":               `\label{lem:grad_J}`,
	"lem-compute-diffs":        `\label{lem:compute_diffs}`,
	"lem-compare-z":            `\label{lem:compare_z_tilde}`,
	"lem-concentrate-e3":       `\label{lem:concentrate_E3}`,
	"lem-concentrate-e12":      `\label{lem:concentrate_E1_E2}`,
	"lem-f-to-pi":              `\label{lem:f_to_pi}`,
	"thm-finite-stage1":        `\label{lem:concentrate_stage1}`,
	"claim-sample-size":        `we get that for $N \gtrsim C_{\gamma, S}\TT \log T$`,
	"thm-finite-stage2":        `\begin{lemma} \begin{align*} \norm{\nabla_{A^{(2)}}\hat L(\theta)`,
	"thm-finite-stage2-step-1": `= \abs{\delta_{s'}^\top\qty(\S(\S(A^{(1)})XA^{(2)}(\tau_1 + 1)e_s)`,
	"thm-finite-stage2-step-2": `\le \|\S(\S(A^{(1)})XA^{(2)}(\tau_1 + 1)e_s) -`,
	"thm-finite-stage2-step-3": `\le \|A^{(2)}(\tau_1 + 1) - A^{(2)}_{\mathrm{pop}}\|_\infty`,
}

func TestNumbersAreThoseOfThePaper(t *testing.T) {
	for _, d := range disagreements(paperSource(t), numbers()) {
		t.Error(d)
	}
}

// Each fault, planted in the source, must show in the rows that it moves and in
// no others.
func TestNumbersSeeAChangedSource(t *testing.T) {
	source := paperSource(t)
	lemma := func(label string) string {
		from := strings.LastIndex(source[:strings.Index(source, `\label{`+label+`}`)], `\begin{lemma}`)
		to := strings.Index(source[from:], `\end{lemma}`)
		return source[from : from+to]
	}
	gap, least := lemma("lem:spectral_gap_bound"), lemma("lem:mu_lowerbound")
	heading := `\subsection{Training Algorithm}`
	for _, c := range []struct {
		name    string
		changed string
		moved   []string
	}{
		{
			"two lemmas change places",
			strings.NewReplacer(gap, least, least, gap).Replace(source),
			[]string{
				"lem-mu-lower", "lem-spectral-gap",
				"lem-spectral-gap-step-decomposition", "lem-spectral-gap-step-decomposition-corrected",
			},
		},
		{
			"an equation gets a number",
			strings.Replace(source, heading, heading+` \begin{align} 1 \nonumber \\ 2 \end{align}`, 1),
			[]string{
				"eq-f-pointwise", "eq-f-pointwise-corrected", "eq-g-amgm", "eq-g-parent-chi2",
				"eq-g-root-zero", "eq-g-root-zero-corrected",
			},
		},
		{
			"a subsection is put before another",
			strings.Replace(source, heading, `\subsection{Notation}`+heading, 1),
			[]string{"assume-prior-remark", "assume-prior-remark-corrected", "def-teff-examples"},
		},
	} {
		var moved []string
		for _, d := range disagreements(c.changed, numbers()) {
			id, _, _ := strings.Cut(d, ":")
			moved = append(moved, id)
		}
		if !slices.Equal(moved, c.moved) {
			t.Errorf("%s: disagreements for %q, want %q", c.name, moved, c.moved)
		}
	}
}

func TestNumberingCountsAsLaTeXDoes(t *testing.T) {
	n, err := number(`\newtheorem{lemma}{Lemma}\newtheorem{claim}{Claim}
\begin{document}
\section{A} in A \section*{B} in B
% \section{C}
\subsection{D} in D, 5\% % \begin{lemma}
\begin{lemma}\label{one} of one \begin{align*} a \\ b \end{align*} \end{lemma}
\begin{claim} of a claim
	\begin{align} row 1 \\ row x \nonumber \\ \begin{cases} row 2 \\ still \end{cases} \\ row 3 \end{align}
\end{claim}
\begin{algorithm} the steps \end{algorithm}
\begin{lemma} of two \end{lemma} after two
\begin{equation} row 4 \end{equation}
\appendix
\section{E} in E
\section{F} \subsubsection{G} in
	G
\end{document}`)
	if err != nil {
		t.Fatal(err)
	}
	for phrase, want := range map[string]string{
		"in A": "Section 1", "in B": "Section 1", "in D": "Section 1.1", `\label{one}`: "Lemma 1", `b \end`: "Lemma 1",
		"of a claim": "Claim 1", "row 1": "eq. (1)", "row x": "eq. (2)", "row 2": "eq. (2)", "still": "eq. (2)",
		"row 3": "eq. (3)", "the steps": "Algorithm 1", "of two": "Lemma 2", "after two": "Section 1.1", "row 4": "eq. (4)",
		"in E": "Appendix A", "in G": "Appendix B.0.1",
	} {
		if got, err := n.at(phrase); got != want || err != nil {
			t.Errorf("%q has the number %q (%v), want %q", phrase, got, err, want)
		}
	}
	for _, phrase := range []string{"row", "none"} {
		if got, err := n.at(phrase); err == nil {
			t.Errorf("%q has the number %q, want an error: it does not occur once", phrase, got)
		}
	}
	for what, source := range map[string]string{
		"no document":      `\section{A}`,
		"a shared counter": `\newtheorem{lemma}[theorem]{Lemma}\begin{document}\end{document}`,
		"a tag":            `\begin{document}\begin{align}a\tag{b}\end{align}\end{document}`,
		"a wrong end":      `\begin{document}\begin{align}a\end{equation}\end{document}`,
	} {
		if _, err := number(source); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// paperSource returns the paper's LaTeX source, the file that PAPER_TEX names. It is not part
// of this repository. Without PAPER_TEX the test is skipped.
func paperSource(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PAPER_TEX")
	if path == "" {
		t.Skip("PAPER_TEX is not set; PAPER_TEX=/path/to/paper.tex checks the numbers against the paper's source")
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// disagreements compares a table of numbers with a source, by id.
func disagreements(source string, table map[string]string) []string {
	n, err := number(source)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(table)) {
		phrase := places[statement(id)]
		if phrase == "" {
			out = append(out, id+": no place in the source is named for it")
			continue
		}
		got, err := n.at(phrase)
		switch {
		case err != nil:
			out = append(out, fmt.Sprintf("%s: %v", id, err))
		case got != table[id]:
			out = append(out, fmt.Sprintf("%s: the number is %s, the source has %s", id, table[id], got))
		}
	}
	return out
}

// statement returns the longest id with a place that id is or continues.
func statement(id string) string {
	for places[id] == "" {
		end := strings.LastIndex(id, "-")
		if end < 0 {
			return ""
		}
		id = id[:end]
	}
	return id
}

// A numbering counts what LaTeX numbers in an article with amsmath: each
// theorem-like environment and the algorithms by a counter of their own,
// equations through the whole text, sections, and after \appendix their letters.
type numbering struct {
	text   string            // without comments, all white space one blank
	names  map[string]string // the printed word of a counted environment
	counts map[string]int
	levels [3]int // of section, subsection and subsubsection
	letter bool   // after \appendix
	open   []environment
	spans  []span
}

// A span is a stretch of the text under one printed number.
type span struct {
	from, to int
	number   string
}

// An environment has begun and not ended.
type environment struct {
	name   string
	number string // empty if it has none
	from   int    // for equations, where the row begins
	silent bool   // the row has no number
}

var (
	comments = regexp.MustCompile(`(?m)(^|[^\\])%.*$`)
	blanks   = regexp.MustCompile(`\s+`)
	declared = regexp.MustCompile(`\\newtheorem\{(\w+)\}\{(\w+)\}`)
	marks    = regexp.MustCompile(
		`\\(?:((?:sub){0,2}section)\{|(begin|end)\{(\w+\*?)\}|(appendix|nonumber|notag|tag)\b|(\\))`)
	equations = []string{"equation", "align", "gather"}
)

// number reads a LaTeX source. It refuses what it cannot count.
func number(source string) (*numbering, error) {
	n := &numbering{
		text:   blanks.ReplaceAllString(comments.ReplaceAllString(source, "$1"), " "),
		names:  map[string]string{"algorithm": "Algorithm"},
		counts: map[string]int{},
	}
	for _, m := range declared.FindAllStringSubmatch(n.text, -1) {
		n.names[m[1]] = m[2]
	}
	if len(n.names) != 1+strings.Count(n.text, `\newtheorem`) {
		return nil, errors.New("a theorem without a counter of its own")
	}
	begin := strings.Index(n.text, `\begin{document}`)
	if begin < 0 {
		return nil, errors.New("no document")
	}
	for _, m := range marks.FindAllStringSubmatchIndex(n.text[begin:], -1) {
		var words [6]string
		for i := range words {
			if m[2*i] >= 0 {
				words[i] = n.text[begin+m[2*i] : begin+m[2*i+1]]
			}
		}
		if err := n.read(begin+m[0], words[1], words[2], words[3], words[4]+words[5]); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// read takes the mark at an offset: a heading, the begin or end of an
// environment, or a command.
func (n *numbering) read(at int, heading, edge, name, command string) error {
	switch {
	case heading != "":
		n.heading(at, strings.Count(heading, "sub"))
	case edge == "begin":
		n.begin(at, name)
	case edge == "end":
		return n.end(at, name)
	case command == "tag":
		return fmt.Errorf("a tag of its own: %.60s", n.text[at:])
	case command == "appendix":
		n.levels, n.letter = [3]int{}, true
	case len(n.open) == 0 || !slices.Contains(equations, n.open[len(n.open)-1].name):
	case command == `\`:
		n.row(at)
	default:
		n.open[len(n.open)-1].silent = true
	}
	return nil
}

func (n *numbering) heading(at, level int) {
	n.levels[level]++
	clear(n.levels[level+1:])
	word, number := "Section", fmt.Sprint(n.levels[0])
	if n.letter {
		word, number = "Appendix", string(rune('A'-1+n.levels[0]))
	}
	for _, l := range n.levels[1 : level+1] {
		number += fmt.Sprintf(".%d", l)
	}
	n.spans = append(n.spans, span{at, len(n.text), word + " " + number})
}

func (n *numbering) begin(at int, name string) {
	e := environment{name: name, from: at}
	if word := n.names[name]; word != "" {
		n.counts[name]++
		e.number = fmt.Sprintf("%s %d", word, n.counts[name])
	}
	n.open = append(n.open, e)
}

func (n *numbering) end(at int, name string) error {
	last := len(n.open) - 1
	if last < 0 || n.open[last].name != name {
		return fmt.Errorf(`\end{%s} where another environment is open`, name)
	}
	if slices.Contains(equations, name) {
		n.row(at)
	}
	if e := n.open[last]; e.number != "" {
		n.spans = append(n.spans, span{e.from, at, e.number})
	}
	n.open = n.open[:last]
	return nil
}

// row ends a row of equations. One without a number counts to the next.
func (n *numbering) row(at int) {
	e := &n.open[len(n.open)-1]
	if !e.silent {
		n.counts["equation"]++
		n.spans = append(n.spans, span{e.from, at, fmt.Sprintf("eq. (%d)", n.counts["equation"])})
		e.from = at
	}
	e.silent = false
}

// at returns the number under which a phrase stands that occurs once: that of
// the row of equations, else of the environment, else of the section.
func (n *numbering) at(phrase string) (string, error) {
	if strings.Count(n.text, phrase) != 1 {
		return "", fmt.Errorf("%q occurs %d times in the source, want once", phrase, strings.Count(n.text, phrase))
	}
	at := strings.Index(n.text, phrase)
	var inner span
	for _, s := range n.spans {
		if s.from <= at && at < s.to && (inner.number == "" || s.from >= inner.from) {
			inner = s
		}
	}
	return inner.number, nil
}
