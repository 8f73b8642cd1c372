package errata

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"learncausal/internal/figure"
	"learncausal/paper/finitelength"
	"learncausal/paper/ledger"
)

// Letter returns the corrections that we propose as LaTeX: what does not change, and for each false statement its
// place, what to read for what is printed, a witness and the reason.
func Letter(l *ledger.Ledger) (string, error) { return document(l, "letter.tex") }

// Supplement returns the witnesses and proofs as LaTeX.
func Supplement(l *ledger.Ledger) (string, error) { return document(l, "supplement.tex") }

// document returns a document of text/, a template whose commands stand between << and >>.
func document(l *ledger.Ledger, name string) (string, error) {
	e, err := newErratum(l)
	if err != nil {
		return "", err
	}
	t := template.New("").Delims("<<", ">>").Funcs(template.FuncMap{
		"capital": capital, "sentence": sentence, "spelled": spelled, "tied": tied, "title": title,
		"lengths": finitelength.Theorems, "decimal": finitelength.Decimal,
		"witness": witnessTeX, "sides": sides, "short": short,
		"statement": func(id string) (string, error) {
			if r := l.Find(id); r != nil {
				return e.statement(*r), nil
			}
			return "", fmt.Errorf("no row has the id %q", id)
		},
		"proof":    func(id string) string { return e.proofs[id] },
		"numbered": func(id string) bool { return e.number[id] > 0 },
	})
	if t, err = t.ParseFS(sources, "text/*.tex"); err != nil {
		return "", fmt.Errorf("errata: %w", err)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, e); err != nil {
		return "", fmt.Errorf("errata: %w", err)
	}
	return e.resolve(b.String())
}

// text returns the file of text/ with the name.
func text(name string) string {
	b, err := sources.ReadFile("text/" + name)
	if err != nil {
		panic("errata: " + err.Error()) // it is embedded
	}
	return string(b)
}

// Survival returns the sentence on the theorems.
func (e *erratum) Survival() string { return e.ledger.Survival() }

// Counts returns the numbers that the prose quotes, by the names of their macros.
func (e *erratum) Counts() map[string]int {
	n := map[string]int{"Proofs": len(e.number), "FalseSteps": 0, "FalseStatements": 0}
	for _, d := range ledger.Defects {
		n["Statement"+camel(string(d))] = 0
	}
	for _, r := range e.ledger.Rows {
		switch {
		case r.Failed() && r.Kind == ledger.Step && e.remarks[r.ID].Ours == "":
			n["FalseSteps"]++
		case r.Failed() && r.Kind == ledger.Statement:
			n["FalseStatements"]++
			n["Statement"+camel(string(r.Defect))]++
		}
	}
	for _, c := range e.ledger.Classes() {
		n["All"+camel(c.Name)], n["False"+camel(c.Name)] = c.All, c.False
	}
	return n
}

// camel joins the words of a name, each with a capital letter, for the name of a macro.
func camel(name string) string {
	words := strings.Fields(name)
	for i, w := range words {
		words[i] = capital(w)
	}
	return strings.Join(words, "")
}

// An amendment is a correction with its row.
type amendment struct {
	Correction
	Row    ledger.Row
	Remark remark
	Proof  string // id of the row that has the proof
}

// Amendments returns the corrections of statements, steps, or rows that hold, in the order of the ledger.
func (e *erratum) Amendments(what string) (all []amendment) {
	for _, r := range e.ledger.Rows {
		is := string(r.Kind)
		if !r.Failed() {
			is = "holds"
		}
		i := slices.IndexFunc(corrections(), func(c Correction) bool { return c.ID == r.ID })
		if i < 0 || is != what {
			continue
		}
		all = append(all, amendment{corrections()[i], r, e.remarks[r.ID], cmp.Or(r.Corrected, r.ID)})
	}
	return all
}

// Printed returns the changes that the letter prints.
func (c Correction) Printed() (all []Change) {
	for _, change := range c.Changes {
		if !change.Follows {
			all = append(all, Change{For: alone(change.For), Read: alone(change.Read)})
		}
	}
	return all
}

// alone returns symbols of the paper as a formula of a line of text, which may break between factors: without \qty,
// which sets the size of a bracket, and with dots for the denominator of a fraction that goes on in the paper.
func alone(tex string) string {
	tex = strings.NewReplacer(`\qty`, "", `\quad`, `\;`).Replace(tex)
	var b strings.Builder
	depth, numerator := 0, false // numerator: the last group is one
	for i, c := range tex {
		switch {
		case c == '{':
			if depth == 0 {
				numerator = strings.HasSuffix(tex[:i], `\frac`)
			}
			depth++
		case c == '}':
			depth--
		case c == ' ' && depth == 0 && strings.HasPrefix(tex[i+1:], `\`):
			b.WriteString(`\allowbreak`)
		}
		b.WriteRune(c)
	}
	if numerator && strings.HasSuffix(tex, "}") {
		b.WriteString(`{\cdots}`)
	}
	return b.String()
}

// An entry is about a row that fails, or has the proof of a true row.
type entry struct {
	ledger.Row
	Section string // if it begins here
	What    string // defect of the row, supplement or corrected
	Remark  remark
	Proves  *ledger.Row // whose proposition the entry has, or nil
}

// tied returns a number with unbreakable spaces.
func tied(number string) string { return strings.ReplaceAll(number, " ", "~") }

// Body returns an entry for each row that fails or has a proof, in the paper's order, but
// for the corrected main theorem.
func (e *erratum) Body() (all []entry) {
	section, done := "", map[string]bool{}
	for _, r := range e.ledger.Rows {
		if last(r.ID) || done[r.ID] || !r.Failed() && e.proofs[r.ID] == "" {
			continue
		}
		x := e.entry(r)
		if x.Proves != nil {
			done[x.Proves.ID] = true
		}
		if r.Section != section {
			section, x.Section = r.Section, r.Section
		}
		all = append(all, x)
	}
	return all
}

// End returns the entries of the corrected main theorem.
func (e *erratum) End() (all []entry) {
	for _, r := range e.ledger.Rows {
		if last(r.ID) {
			all = append(all, e.entry(r))
		}
	}
	return all
}

// entry returns the entry of a row. The entry of a row that fails has the proof of its correction.
func (e *erratum) entry(r ledger.Row) entry {
	switch {
	case r.Failed():
		return entry{Row: r, What: string(r.Defect), Remark: e.remarks[r.ID], Proves: e.ledger.Find(r.Corrected)}
	case r.Kind == ledger.Correction:
		return entry{Row: r, What: "corrected", Proves: &r}
	}
	return entry{Row: r, What: "supplement", Proves: &r}
}

// title returns a title, which is plain text, as LaTeX.
func title(text string) (string, error) {
	tex, err := figure.EscapeTeX(text)
	return spelled(tex), err
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

// statement returns the statement of a true row, readable alone.
func (e *erratum) statement(r ledger.Row) string {
	s := strings.TrimSpace(sentence(r.Statement) + " " + e.where[r.ID])
	if r.Hypotheses != "" {
		s += " \\emph{Hypotheses:} " + sentence(r.Hypotheses)
	}
	return s
}

// capital returns the text with a capital first letter.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// sentence returns the text with a capital first letter and a full stop.
func sentence(s string) string { return capital(strings.TrimSpace(s)) + "." }

// sides returns the two sides of a witness, in the words of a remark if it has some. The remark alone speaks of
// sides without values.
func sides(w *ledger.Witness, m remark) string {
	text := m.Sides
	switch {
	case w.LHS == nil || w.RHS == nil:
		return text
	case text == "" && w.Squared:
		text = `Squares of the sides: left $\LHS$, right $\RHS$`
	case text == "":
		text = `Left side $\LHS$, right side $\RHS$`
	}
	return strings.NewReplacer(`\LHS`, fraction(w.LHS), `\RHS`, fraction(w.RHS)).Replace(text)
}

// Chain returns the rows on which the proofs of the corrected main theorem rest, directly or indirectly.
func (e *erratum) Chain() (all []ledger.Row, err error) {
	var top []string
	for _, x := range e.End() {
		top = append(top, x.ID)
	}
	if r := e.ledger.Weakest(top...); r.Verdict != ledger.Proved {
		return nil, fmt.Errorf("the corrected main theorem rests on %s, which is %s: want a proof", r.ID, r.Verdict)
	}
	below := e.ledger.Below(top...)
	for _, r := range e.ledger.Rows {
		if below[r.ID] {
			all = append(all, r)
		}
	}
	return all, nil
}

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
		}
		return number
	})
	if len(bad) > 0 {
		return "", fmt.Errorf("errata: the prose cites rows that are not in the ledger: %s", strings.Join(bad, " "))
	}
	return s, nil
}
