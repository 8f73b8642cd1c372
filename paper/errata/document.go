package errata

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// Letter returns the erratum as LaTeX: what does not change, what is false, and what holds instead.
func Letter(l *ledger.Ledger) (string, error) {
	e, err := newErratum(l)
	if err != nil {
		return "", err
	}
	body := strings.NewReplacer("\\notation\n", text("notation.tex"),
		"\\corrections\n", e.corrections(), "\\steps\n", e.steps())
	return e.resolve(text("preamble.tex") + e.macros() + body.Replace(text("letter.tex")))
}

// Supplement returns the witnesses and proofs as LaTeX.
func Supplement(l *ledger.Ledger) (string, error) {
	e, err := newErratum(l)
	if err != nil {
		return "", err
	}
	var parts [3]string
	for k, part := range []func() (string, error){e.body, e.end, e.chain} {
		if parts[k], err = part(); err != nil {
			return "", err
		}
	}
	return e.resolve(strings.Join([]string{
		text("preamble.tex") + e.macros() + text("front.tex") + text("notation.tex"), text("reading.tex"), parts[0],
		text("survives.tex"), parts[1], parts[2], "\\end{document}\n",
	}, "\n"))
}

// text returns the file of text/ with the name.
func text(name string) string {
	b, err := sources.ReadFile("text/" + name)
	if err != nil {
		panic("errata: " + err.Error()) // it is embedded
	}
	return string(b)
}

// macros returns the definitions of the numbers that the prose quotes.
func (e *erratum) macros() string {
	n := map[string]int{"Proofs": len(e.number), "FalseSteps": 0, "FalseStatements": 0}
	for _, d := range ledger.Defects {
		n["Statement"+camel(string(d))] = 0
	}
	for _, r := range e.ledger.Rows {
		switch {
		case r.Failed() && r.Kind == ledger.Step:
			n["FalseSteps"]++
		case r.Failed() && r.Kind == ledger.Statement:
			n["FalseStatements"]++
			n["Statement"+camel(string(r.Defect))]++
		}
	}
	for _, c := range e.ledger.Classes() {
		n["All"+camel(c.Name)], n["False"+camel(c.Name)] = c.All, c.False
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(n)) {
		fmt.Fprintf(&b, "\\newcommand{\\n%s}{%d}\n", name, n[name])
	}
	return b.String()
}

// camel joins the words of a name, each with a capital letter, for the name of a macro.
func camel(name string) string {
	words := strings.Fields(name)
	for i, w := range words {
		words[i] = capital(w)
	}
	return strings.Join(words, "")
}

// corrections returns an entry for each statement that fails: what is false, its kind, and what holds.
func (e *erratum) corrections() string {
	var b strings.Builder
	for _, r := range e.ledger.Rows {
		if c := e.ledger.Find(r.Corrected); r.Failed() && r.Kind == ledger.Statement && c != nil {
			m := e.remarks[r.ID]
			fmt.Fprintf(&b, "\\finding{%s}{%s}{%s %s}\n", tied(capital(r.Number)), r.Defect, m.line, m.first)
			fmt.Fprintf(&b, "\\holds{\\prop{%s}}{%s}\n", c.ID, e.statement(*c))
		}
	}
	return b.String()
}

// steps returns a table with a line for each step of a proof that fails.
func (e *erratum) steps() string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, r := range e.ledger.Rows {
		if r.Failed() && r.Kind == ledger.Step {
			fmt.Fprintf(&b, "%s & %s & %s & \\short{%s} \\\\\n",
				tied(capital(r.Number)), e.remarks[r.ID].line, r.Defect, r.Corrected)
		}
	}
	return b.String() + "\\bottomrule\n\\end{longtable}}\n"
}

const tableHead = `{\small\begin{longtable}%
{@{}>{\raggedright\arraybackslash}p{25mm}>{\raggedright\arraybackslash}p{78mm}>{\raggedright\arraybackslash}p{31mm}l@{}}
\toprule
Proof of & What is false & Kind & Proof \\
\midrule
\endhead
`

// tied returns a number with unbreakable spaces.
func tied(number string) string { return strings.ReplaceAll(number, " ", "~") }

// body returns an entry for each row that fails or has a proof, in the paper's order, but
// for the corrected main theorem.
func (e *erratum) body() (string, error) {
	var b strings.Builder
	b.WriteString("\\section{The statements, in the paper's order}\\label{sec:body}\n")
	section, done := "", map[string]bool{}
	for _, r := range e.ledger.Rows {
		if last(r.ID) || done[r.ID] || !r.Failed() && e.proofs[r.ID] == "" {
			continue
		}
		if r.Section != section {
			section = r.Section
			fmt.Fprintf(&b, "\n\\subsection{%s}\n", spelled(section))
		}
		entry := e.supplement
		if r.Failed() {
			entry = e.entry
		}
		s, err := entry(r, done)
		if err != nil {
			return "", fmt.Errorf("errata: %s: %w", r.ID, err)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// head returns the heading of a row.
func head(r ledger.Row, what string) (string, error) {
	title, err := figure.EscapeTeX(r.Title)
	where := capital(r.Number)
	if r.Kind == ledger.Step {
		where += " (step)"
	}
	return fmt.Sprintf("\n\\entry{%s}{%s}{%s}{%s}\\label{row:%s}\n", where, spelled(title), r.ID, what, r.ID), err
}

// entry returns the entry of a row that fails.
func (e *erratum) entry(r ledger.Row, done map[string]bool) (string, error) {
	m := e.remarks[r.ID]
	h, err := head(r, string(r.Defect))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\\said{Printed} %s\n", h, m.first, sentence(r.Statement))
	if r.Hypotheses != "" {
		fmt.Fprintf(&b, "\\said{Hypotheses} %s\n", sentence(r.Hypotheses))
	}
	witness, err := e.witness(r, m)
	if err != nil {
		return "", err
	}
	b.WriteString(witness)
	fmt.Fprintf(&b, "\\said{What is wrong} %s\n", m.text)
	c := e.ledger.Find(r.Corrected)
	switch {
	case c == nil:
	case last(c.ID):
		fmt.Fprintf(&b, "\\said{Instead} See \\prop{%s}.\n", c.ID)
	case done[c.ID]:
		fmt.Fprintf(&b, "\\said{Instead} See above, \\prop{%s}.\n", c.ID)
	default:
		done[c.ID] = true
		b.WriteString(e.proposition(*c))
	}
	return b.String(), nil
}

// spelled returns a title, which is plain text, with its symbols as formulas.
func spelled(title string) string {
	return inWords.ReplaceAllStringFunc(title, func(name string) string {
		return fmt.Sprintf(`\texorpdfstring{$%s$}{%s}`, spelling[name], name)
	})
}

var inWords = regexp.MustCompile(`\b(A[12]|E1/E2|E3|beta\*|beta0|k = 0|beta|gamma|J\(S\)v)`)

var spelling = map[string]string{
	"A1": `A^{(1)}`, "A2": `A^{(2)}`, "E1/E2": `E^{(1)}/(E^{(2)}+\epsilon)`, "E3": `E^{(3)}`, "J(S)v": `J(\mathcal S)v`,
	"beta": `\beta`, "beta*": `\beta^*`, "beta0": `\beta_0`, "gamma": `\gamma`, "k = 0": "k=0",
}

// supplement returns the entry of a true row: the row and its proof.
func (e *erratum) supplement(r ledger.Row, done map[string]bool) (string, error) {
	what := "supplement"
	if r.Kind == ledger.Correction {
		what = "corrected"
	}
	h, err := head(r, what)
	if err != nil {
		return "", err
	}
	done[r.ID] = true
	return h + e.proposition(r), nil
}

// statement returns the statement of a true row, readable alone.
func (e *erratum) statement(r ledger.Row) string {
	s := strings.TrimSpace(sentence(r.Statement) + " " + e.where[r.ID])
	if r.Hypotheses != "" {
		s += " \\emph{Hypotheses:} " + sentence(r.Hypotheses)
	}
	return s
}

// proposition returns a true row as a proposition with its proof.
func (e *erratum) proposition(r ledger.Row) string {
	what := tied(capital(r.Number))
	if r.Kind == ledger.Correction {
		what += ", corrected"
	}
	return fmt.Sprintf("\\begin{proposition}[%s]\\label{prop:%s}\n%s\n\\end{proposition}\n"+
		"\\begin{proof}\n%s\n\\end{proof}\n",
		what, r.ID, e.statement(r), e.proofs[r.ID])
}

// capital returns the text with a capital first letter.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// sentence returns the text with a capital first letter and a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	s = capital(s)
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, ".)") {
		return s
	}
	return s + "."
}

// witness returns the witness of a row as a paragraph: its instance and the two sides.
func (e *erratum) witness(r ledger.Row, m remark) (string, error) {
	if r.Witness == nil {
		return "", nil
	}
	w, err := witnessTeX(r.Witness)
	if err != nil {
		return "", err
	}
	sides := m.sides
	if r.Witness.LHS == nil || r.Witness.RHS == nil {
		if speaksOfSides(m) {
			sides = "" // reported by a test
		}
	} else {
		if sides == "" {
			sides = `Left side $\LHS$, right side $\RHS$`
			if r.Witness.Squared {
				sides = `Squares of the sides: left $\LHS$, right $\RHS$`
			}
		}
		lhs, rhs := fraction(r.Witness.LHS.RatString()), fraction(r.Witness.RHS.RatString())
		sides = strings.NewReplacer(`\LHS`, lhs, `\RHS`, rhs).Replace(sides)
	}
	if sides != "" {
		w += " " + sentence(sides)
	}
	if m.limit != "" {
		return "\\said{In the limit} " + sentence(m.limit) + "\n{\\footnotesize\\raggedright\\said{A witness} " + w +
			"\\par}\n", nil
	}
	return "{\\raggedright\\said{A witness} " + w + "\\par}\n", nil
}

// speaksOfSides reports whether a remark gives the values of the two sides.
func speaksOfSides(m remark) bool {
	return strings.Contains(m.sides, `\LHS`) || strings.Contains(m.sides, `\RHS`)
}

// end returns the entries of the corrected main theorem.
func (e *erratum) end() (string, error) {
	var b strings.Builder
	for _, r := range e.ledger.Rows {
		if !last(r.ID) {
			continue
		}
		s, err := e.supplement(r, map[string]bool{})
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// chain returns a table of the rows on which the proofs of the corrected main theorem rest, directly or indirectly.
func (e *erratum) chain() (string, error) {
	var top []string
	for _, r := range e.ledger.Rows {
		if last(r.ID) {
			top = append(top, r.ID)
		}
	}
	below := e.ledger.Below(top...)
	var b strings.Builder
	b.WriteString(chainHead)
	for _, r := range e.ledger.Rows {
		if !below[r.ID] {
			continue
		}
		if r.Failed() {
			return "", fmt.Errorf("errata: the corrected main theorem rests on %s, which %s", r.ID, r.Verdict)
		}
		title, err := figure.EscapeTeX(r.Title)
		if err != nil {
			return "", err
		}
		var uses []string
		for _, id := range r.Grounds() {
			uses = append(uses, `\short{`+id+`}`)
		}
		proof, coq := "the paper's", ""
		if e.number[r.ID] > 0 {
			proof = `\short{` + r.ID + `}`
		}
		if len(r.Proved) > 0 {
			coq = ", Coq"
		}
		fmt.Fprintf(&b, "%s & %s & %s%s & %s \\\\\n",
			tied(r.Number), spelled(title), proof, coq, cmp.Or(strings.Join(uses, ", "), "--"))
	}
	b.WriteString("\\bottomrule\n\\end{longtable}}\nNone of these statements is false.\n\n")
	return b.String(), nil
}

const chainHead = `\subsection{What the corrected main theorem rests on}
The proofs of the corrected Theorems~1 and~2 rest on these statements, directly or indirectly. The last column has the
statements that the proof of a line uses.

{\footnotesize\begin{longtable}{@{}l>{\raggedright\arraybackslash}p{60mm}l>{\raggedright\arraybackslash}p{38mm}@{}}
\toprule
Number & Statement & Proof & Uses \\
\midrule
\endhead
`

var reference = regexp.MustCompile(`\\(prop|short|state|paper)\{([^}]*)\}`)

// named matches an id in parentheses, alone or after a number of the paper.
var named = regexp.MustCompile(` \(([^(){}$]*, )?([a-z0-9]+(?:-[a-z0-9]+)+)\)`)

// paged replaces the ids that statements and titles cite by the pages of their entries. It
// deletes an id without an entry.
func (e *erratum) paged(s string) string {
	return named.ReplaceAllStringFunc(s, func(m string) string {
		part := named.FindStringSubmatch(m)
		number, id := part[1], part[2]
		switch {
		case e.ledger.Find(id) == nil:
			return m
		case strings.Contains(s, `\label{row:`+id+`}`):
			return fmt.Sprintf(` (%sp.~\pageref{row:%s})`, number, id)
		case number != "":
			return " (" + strings.TrimSuffix(number, ", ") + ")"
		}
		return ""
	})
}

// resolve replaces \prop{id} by "Proposition E1", \short{id} by "E1", \state{id} by the statement, and
// \paper{id} by the number of the paper. A row without a proof has the paper's number.
func (e *erratum) resolve(s string) (string, error) {
	var bad []string
	s = reference.ReplaceAllStringFunc(e.paged(s), func(m string) string {
		name := reference.FindStringSubmatch(m)
		r := e.ledger.Find(name[2])
		if r == nil {
			bad = append(bad, m)
			return ""
		}
		number := tied(r.Number)
		proof := fmt.Sprintf(`\proofof{%s}{%d}`, r.ID, e.number[r.ID])
		switch {
		case name[1] == "state":
			return fmt.Sprintf("\\theorem{%s}{%s}{%s}\n", number, proof, e.statement(*r))
		case name[1] == "short" && e.number[r.ID] > 0:
			return proof
		case name[1] == "prop" && e.number[r.ID] > 0:
			return "Proposition~" + proof
		case name[1] == "prop" && r.Kind == ledger.Correction:
			return "the corrected form of " + number
		}
		return number
	})
	if len(bad) > 0 {
		return "", fmt.Errorf("errata: the prose cites rows that are not in the ledger: %s", strings.Join(bad, " "))
	}
	return s, nil
}
