package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Place says where a reader finds a statement.
type Place struct {
	Notebook string // path of the notebook that tells of it, "" if none does
	Source   string // path of the file with the statement and its check
	Proof    string // number of its proof in the erratum, "" if it has none there
}

// erratum says in the cell of a table where the erratum proves a row.
func (p Place) erratum() string {
	if p.Proof == "" {
		return ""
	}
	return fmt.Sprintf(" Proof: [erratum](figures/errata.pdf), Proposition %s.", p.Proof)
}

// Page returns the ledger as a page of Markdown, CLAIMS.md: the map from the
// paper's numbers, what was found in all, what fails with its witnesses, then
// every row. where returns the place of an id.
func (l *Ledger) Page(where func(id string) Place) (string, error) {
	d, err := l.Dependencies()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(pageHead)
	l.writeMap(&b, where)
	b.WriteString(pageGuide)
	b.WriteString("\n## In numbers\n\n")
	kinds := []string{string(Statement), string(Step), string(Correction)}
	b.WriteString(l.counts("", kinds, func(r Row) string { return string(r.Kind) }))
	b.WriteString("\nBy section of the paper:\n\n")
	b.WriteString(l.counts("#", l.sections(), func(r Row) string { return r.Section }))
	b.WriteString(l.inCoq())
	b.WriteString(pageWitnesses)
	for _, r := range l.Rows {
		if r.Failed() {
			fmt.Fprintf(&b, "\n### %s\n\n%s", heading(r), d.Account(r.ID))
		}
	}
	b.WriteString("\n## Every row\n")
	section := ""
	for _, r := range l.Rows { // which are sorted by section
		if r.Section != section {
			section = r.Section
			fmt.Fprintf(&b, "\n### %s\n\n| number | id | statement | tier | verdict | lhs | rhs | margin | N | note |\n"+
				"|---|---|---|---|---|--:|--:|--:|--:|---|\n", section)
		}
		fmt.Fprintf(&b, "| %s | <a id=\"%s\"></a>`%s` | **%s.** %s | %s | %s | %.4g | %.4g | %.3g | %d | %s |\n",
			r.Number, r.ID, r.ID, cell(r.Title), cell(r.Statement), r.Tier, emphasis(r.Verdict),
			r.LHS, r.RHS, r.Margin, r.Instances, cell(plain.Replace(r.Note))+r.inCoq()+where(r.ID).erratum())
	}
	b.WriteString(pageFoot)
	return b.String(), nil
}

const pageHead = `# The ledger: every statement of the paper, checked

Each numbered statement of *How Transformers Learn Causal Structure with Gradient Descent* is a function in [paper/claims](paper/claims) that evaluates it **as printed** and tries to break it. ` + "`make verify`" + ` runs them all and writes this page; ` + "`go run ./cmd/paper verify \"Lemma 12\"`" + ` runs one, by its number in the PDF or by its id.

## The map, in the paper's order

| number | statement | verdict | notebook | source |
|---|---|---|---|---|
`

const pageGuide = `
**Tiers.** *Exact*: an identity or inequality in rational numbers, or in floats with an enclosure of the rounding error, on given instances. *Enclosed*: statistical, by a confidence bound at a preset level that is corrected for the number of checks. *Consistent with*: a claim with unstated constants or a limit; a fitted exponent with its interval against the claimed one, or the least constant that the data need.

**Verdicts.** *Holds* says that no counterexample was found in the number of instances given; it says "proved" only where the note does. *Fails* comes with a witness in exact numbers. *Consistent* and *inconsistent* belong to the third tier, and *open* says that the check could not decide. An inequality is read as lhs ≤ rhs, also where ≥ is printed; its **margin** is (rhs − lhs) / max(|lhs|, |rhs|) on the worst instance found, that of an equation minus the relative difference: negative where the statement fails. Where an exact row fails, lhs, rhs and margin are those of the witness, which can be worked out by hand; if a search in floats went further, the note says how far. Where a trend is fitted, the margin is what the interval of the exponent leaves. A row whose id ends in ` + "`-corrected`" + ` says what holds in place of the printed statement; a row that is a step or a remark carries the number of the statement whose proof it belongs to.

![Margins](figures/fig-ledger.png)
`

const pageWitnesses = `
## What fails, and what holds instead

A witness lists exact numbers: rows of a transition matrix π are the current state, columns the next one; a graph is the list of the parents of positions 1, 2, …, with 0 for a root.
`

const pageFoot = `
The proofs use one another as the arrows say (from the used statement to its user); a strip at the right end of a box is a corrected statement, one at the left end says that a displayed step of the proof is false.

![Dependencies](figures/fig-claims-graph.png)
`

// heading names a row by number, title and id.
func heading(r Row) string {
	what := map[Kind]string{Step: ", a step or remark", Correction: ", corrected"}[r.Kind]
	return fmt.Sprintf("%s%s: %s (`%s`)", r.Number, what, r.Title, r.ID)
}

// writeMap writes a line for each statement of the paper.
func (l *Ledger) writeMap(b *strings.Builder, where func(id string) Place) {
	for _, r := range l.Rows {
		if r.Kind != Statement {
			continue
		}
		verdict := emphasis(r.Verdict)
		if c := l.Find(r.Corrected); c != nil {
			verdict += fmt.Sprintf("; [corrected](#%s): %s", c.ID, emphasis(c.Verdict))
		}
		place := where(r.ID)
		notebook := ""
		if place.Notebook != "" {
			name, _, _ := strings.Cut(path.Base(place.Notebook), "-")
			notebook = fmt.Sprintf("[%s](%s)", name, place.Notebook)
		}
		fmt.Fprintf(b, "| %s | [`%s`](#%s) %s | %s | %s | [%s](%s) |\n", r.Number, r.ID, r.ID, cell(r.Title), verdict,
			notebook, path.Base(place.Source), place.Source)
	}
}

// sections returns the titles of the sections in their order.
func (l *Ledger) sections() []string {
	var titles []string
	for _, r := range l.Rows {
		if len(titles) == 0 || titles[len(titles)-1] != r.Section {
			titles = append(titles, r.Section)
		}
	}
	return titles
}

// plain keeps Markdown from reading signs in plain text as its own.
var plain = strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`")

// cell keeps text from ending the cell of a table. In formulas | would end it
// too, and \vert prints the same.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func emphasis(v Verdict) string {
	if v == Fails || v == Inconsistent {
		return "**" + string(v) + "**"
	}
	return string(v)
}

var verdicts = []Verdict{Holds, Fails, Consistent, Inconsistent, Open}

// counts returns a table of verdicts, with a line for each group that has rows,
// linked to the heading of its name where link is "#".
func (l *Ledger) counts(link string, groups []string, of func(Row) string) string {
	n := map[string]map[Verdict]int{}
	for _, r := range l.Rows {
		g := of(r)
		if n[g] == nil {
			n[g] = map[Verdict]int{}
		}
		n[g][r.Verdict]++
	}
	head, rule := "| |", "|---|"
	for _, v := range verdicts {
		head, rule = head+" "+string(v)+" |", rule+"--:|"
	}
	text := head + " rows |\n" + rule + "--:|\n"
	for _, g := range groups {
		if n[g] == nil {
			continue
		}
		name := g
		if link != "" {
			name = "[" + g + "](" + link + anchor(g) + ")"
		}
		sum, line := 0, "| "+name+" |"
		for _, v := range verdicts {
			sum += n[g][v]
			line += fmt.Sprintf(" %d |", n[g][v])
		}
		text += fmt.Sprintf("%s %d |\n", line, sum)
	}
	return text
}

// anchor returns what a heading is called in a link: in lower case, with hyphens
// for spaces and without punctuation.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// Verdicts returns the rows as a table of Markdown, each linked to its place on
// the page at the given address, and below it, to be opened by a click, what each
// row has to say: its note, and the witness of one that fails.
func (l *Ledger) Verdicts(page string) string {
	var b strings.Builder
	b.WriteString("| Statement | Tier | Verdict | Left side | Right side | Margin | N |\n|---|---|---|--:|--:|--:|--:|\n")
	for _, r := range l.Rows {
		fmt.Fprintf(&b, "| %s [`%s`](%s#%s) | %s | %s | %.3g | %.3g | %.3g | %d |\n",
			r.Number, r.ID, page, r.ID, r.Tier, marked(r.Verdict), r.LHS, r.RHS, r.Margin, r.Instances)
	}
	for _, r := range l.Rows {
		if r.Note == "" && r.Witness == nil {
			continue
		}
		fmt.Fprintf(&b, "\n<details><summary><code>%s</code>: %s</summary>\n\n%s\n", r.ID, r.Verdict, plain.Replace(r.Note))
		if r.Witness != nil {
			fmt.Fprintf(&b, "\n```text\n%s```\n", r.Witness.Layout())
		}
		b.WriteString("\n</details>\n")
	}
	return b.String()
}

// marked puts a sign before a verdict, so that it is seen at a glance.
func marked(v Verdict) string {
	sign := map[Verdict]string{Holds: "✓", Consistent: "✓", Fails: "✗", Inconsistent: "✗", Open: "?"}[v]
	return sign + " " + emphasis(v)
}

// Account tells, in Markdown, of a row: statement, witness or worst instance,
// correction, and what rests on it.
func (d *Dependencies) Account(id string) string {
	l, r := d.ledger, *d.ledger.Find(id)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", map[bool]string{true: "Printed", false: "Stated"}[r.Kind != Correction], r.Statement)
	if r.Hypotheses != "" {
		fmt.Fprintf(&b, "Hypotheses: %s\n\n", r.Hypotheses)
	}
	fmt.Fprintf(&b, "**%s** (tier: %s): lhs %.6g, rhs %.6g, margin %.3g. %s\n\n",
		capital(r.Verdict), r.Tier, r.LHS, r.RHS, r.Margin, plain.Replace(r.Note))
	what, in := r.Evidence()
	fmt.Fprintf(&b, "%s:\n\n```\n%s```\n\n", capital(what), in)
	for _, p := range r.Proved {
		fmt.Fprintf(&b, "%s.\n\n", capital(plain.Replace(p.String())))
	}
	if c := l.Find(r.Corrected); c != nil {
		fmt.Fprintf(&b, "Instead, `%s` (%s, %s, margin %.3g, N = %d): %s\n",
			c.ID, c.Verdict, c.Tier, c.Margin, c.Instances, c.Statement)
		if c.Note != "" {
			fmt.Fprintf(&b, "\n%s\n", plain.Replace(c.Note))
		}
		b.WriteString("\n")
	}
	b.WriteString(d.Consequences(r.ID) + "\n")
	return b.String()
}

// Consequences says, in Markdown, which statements rest on this one and what
// became of them.
func (d *Dependencies) Consequences(id string) string {
	by := map[bool][]string{}
	for _, u := range d.Users(id) {
		if u.Kind == Correction {
			continue
		}
		name := fmt.Sprintf("%s `%s` (%s)", u.Number, u.ID, u.Verdict)
		if c := d.ledger.Find(u.Corrected); u.Failed() && c != nil {
			name = fmt.Sprintf("%s `%s` (%s; corrected: %s)", u.Number, u.ID, u.Verdict, c.Verdict)
		}
		by[u.Failed()] = append(by[u.Failed()], name)
	}
	var said []string
	if s := by[false]; len(s) > 0 {
		said = append(said, "not found false themselves: "+strings.Join(s, ", "))
	}
	if s := by[true]; len(s) > 0 {
		said = append(said, "false as printed: "+strings.Join(s, ", "))
	}
	if len(said) == 0 {
		return "No other row's proof uses it."
	}
	return "Proofs that rest on it, directly or by way of others. " + capital(strings.Join(said, ". "+"Also ")) + "."
}

// capital returns the word with a capital letter.
func capital[S ~string](s S) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(string(s[:1])) + string(s[1:])
}

// Evidence says what the sides of a row are of, its witness or else its worst instance,
// and returns that as it is laid out.
func (r Row) Evidence() (what, layout string) {
	if r.Witness != nil {
		return "witness", r.Witness.Layout()
	}
	return "worst instance", r.Instance.Layout()
}

// Layout writes a witness for a reader with pencil and paper: its instance, then
// which equation it is about and the two sides, where it has them.
func (w *Witness) Layout() string {
	shown := maps.Clone(w.Instance)
	if shown == nil {
		shown = Instance{}
	}
	if w.Equation != "" {
		shown["equation"] = w.Equation
	}
	if w.LHS != nil && w.RHS != nil {
		square := ""
		if w.Squared {
			square = "^2"
		}
		shown["lhs"+square], shown["rhs"+square] = w.LHS.RatString(), w.RHS.RatString()
	}
	return shown.Layout()
}

// first and last are the names that begin and end a layout: what the others
// speak of, and what comes out.
var (
	first = []string{"S", "T", "graph", "prior", "pi", "mu"}
	last  = []string{"equation", "lhs", "rhs", "lhs^2", "rhs^2"}
)

// byPlace compares two names by their places in a layout.
func byPlace(a, b string) int {
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i - len(first)
		}
		return slices.Index(last, name) + 1
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
}

// Layout writes an instance for a reader with pencil and paper: a line for each
// name, the setting before what follows from it, and matrices in aligned rows.
// It panics if a value is of a type that an Instance may not hold.
func (in Instance) Layout() string {
	in = in.stored()
	var names []string
	wide := 0
	for k := range in {
		names = append(names, k)
		wide = max(wide, utf8.RuneCountInString(k))
	}
	slices.SortFunc(names, byPlace)
	var b strings.Builder
	for _, k := range names {
		for i, line := range layout(in[k]) {
			name := ""
			if i == 0 {
				name = k
			}
			b.WriteString(strings.TrimRight(name+strings.Repeat(" ", wide-utf8.RuneCountInString(name))+"  "+line, " ") + "\n")
		}
	}
	return b.String()
}

// layout returns the lines of a value.
func layout(v any) []string {
	switch v := v.(type) {
	case nil:
		return []string{"none"}
	case string:
		return strings.Split(v, "\n")
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}
	case Instance:
		return layout(map[string]any(v))
	case map[string]any:
		return strings.Split(strings.TrimRight(Instance(v).Layout(), "\n"), "\n")
	case []any:
		if len(v) == 0 {
			return []string{"none"}
		}
		var grid [][]string
		width := map[int]int{}
		nested := true
		for _, row := range v {
			cells, ok := row.([]any)
			nested = nested && ok
			var line []string
			if len(cells) == 0 {
				cells = []any{"none"}
			}
			for j, c := range cells {
				s := strings.Join(layout(c), " ")
				line = append(line, s)
				width[j] = max(width[j], utf8.RuneCountInString(s))
			}
			grid = append(grid, line)
		}
		if !nested {
			var items []string
			for _, c := range v {
				items = append(items, strings.Join(layout(c), " "))
			}
			if strings.Contains(strings.Join(items, ""), " ") {
				return items
			}
			return []string{strings.Join(items, ", ")}
		}
		var lines []string
		for _, row := range grid {
			line := ""
			for j, s := range row {
				line += s + strings.Repeat(" ", width[j]-utf8.RuneCountInString(s)+2)
			}
			lines = append(lines, strings.TrimRight(line, " "))
		}
		return lines
	}
	return []string{fmt.Sprint(v)}
}
