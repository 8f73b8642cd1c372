package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Place has the places in the repository that treat a statement.
type Place struct {
	Notebook string // path of the notebook that explains it, "" if none does
	Source   string // path of the file with the statement and its check
	Proof    string // number of its proof in the erratum, "" if it has none there
}

// Page returns the ledger as a page of Markdown, CLAIMS.md: a guide, the number of rows of each kind and
// verdict, and a table with an anchor for each id. where returns the Place of an id.
func (l *Ledger) Page(where func(id string) Place) string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString(l.falsehoods())
	b.WriteString(l.counts())
	theorems := l.Theorems(func(id string) string { return where(id).Proof })
	fmt.Fprintf(&b, "\n%s\n", l.Standing()+" "+l.links()+strings.TrimSpace(theorems+" "+l.Account()))
	b.WriteString(l.theorems())
	b.WriteString(pageGuide + pageTable)
	targets := map[string]string{} // of the links, keyed by their texts
	for _, r := range l.Rows {
		place := where(r.ID)
		link := func(text, target string) string {
			if other := targets[text]; other != "" && other != target {
				text = target // two files have this name
			}
			targets[text] = target
			return "[" + text + "]"
		}
		file := func(name string) string { return link(path.Base(name), name) }
		links := file(place.Source)
		if place.Notebook != "" {
			number, _, _ := strings.Cut(path.Base(place.Notebook), "-")
			links += ", " + link("notebook "+number, place.Notebook)
		}
		proved, refuted, tested := r.inCoq(file), "", r.tested()
		if r.OnPaper != nil {
			proved = joined(r.proofs(func(id string) string { return where(id).Proof }), proved)
		}
		if r.Failed() {
			proved, refuted, tested = "", joined("**"+string(r.Defect)+"**", r.inCoq(file)), ""
		}
		fmt.Fprintf(&b, "| %s | <a id=\"%s\"></a>`%[2]s` | **%s.** %s | %s | %s | %s | %s | %s |\n", r.Number, r.ID,
			cell(r.Title), cell(r.read()), proved, refuted, tested, cell(strings.Join(r.Resolved(), "<br>")), links)
	}
	b.WriteString("\n")
	for _, text := range slices.Sorted(maps.Keys(targets)) {
		fmt.Fprintf(&b, "[%s]: %s\n", text, targets[text])
	}
	return b.String()
}

// inCoq names the files with the theorems on the row, as a whole or in part.
func (r Row) inCoq(link func(file string) string) string {
	var files []string
	part := " in part"
	for _, p := range r.Proved {
		if files = append(files, link(p.File)); p.Gap == "" && p.Refutes == r.Failed() {
			part = ""
		}
	}
	if files == nil {
		return ""
	}
	return "Coq" + part + ": " + strings.Join(slices.Compact(files), ", ")
}

// tested describes the instances of a row that is not refuted.
func (r Row) tested() string {
	switch {
	case r.Verdict == Open:
		return "open: " + r.Instances.String()
	case r.Instances.N() == 0:
		return r.Instances.String()
	}
	return fmt.Sprintf("%s; margin %.3g", r.Instances, r.Margin)
}

// Resolved returns Resolves, or that it was not measured. A row that fails has none.
func (r Row) Resolved() []string {
	switch {
	case r.Failed() || r.Resolves != nil:
		return r.Resolves
	case !inequality.MatchString(r.Statement):
		return []string{"not measured: no inequality"}
	}
	return []string{"not measured"}
}

// joined joins the parts that are not empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

const pageHead = `# The statements of the paper, decided

Each numbered statement of *How Transformers Learn Causal Structure with Gradient Descent* is a function in [paper/claims](paper/claims) that evaluates it **exactly as printed** and searches for a counterexample. ` + "`make verify`" + ` runs all of them and writes this page; ` + "`.tools/bin/paper verify \"Lemma 12\"`" + ` runs one. [A letter](figures/errata.pdf) proposes the corrections to the authors, and [its supplement](figures/supplement.pdf) has every witness and proof.

`

const pageGuide = `
## How to read the table

A row is a statement as printed, a displayed step of a proof, or a correction, whose id ends in ` + "`-corrected`" + `. A step carries the number of the statement whose proof contains it.

- **Proved** names the proof of the whole statement: its number in the supplement, or theorems of Coq. Proofs in the paper are not counted, because each of their displayed steps has a row of its own. *In part* means that the theorem of Coq differs from the statement, as ` + "`paper verify`" + ` explains.
- **Refuted** names what is wrong. A *misprint* is a wrong sign, index or name. In a *boundary case* a row, an entry or a trivial case should be excluded. A *step of a proof* is false although the statement that it serves survives. A *missing hypothesis* makes the statement true, and so does another *constant* or exponent.
- **Tested** counts the instances on which the check found no counterexample although the hypotheses hold, by the method that decided them: rational numbers, enclosures of the rounding error, floats, or confidence limits of a mean. Floats are evidence only. We do not count an instance on which the bound could not fail.
- The **margin** is (rhs − lhs) / max(|lhs|, |rhs|) of lhs ≤ rhs on the worst instance; for an equation it is minus the relative difference.
- **Resolves** is the smallest wrong bound that the check would notice, because a check that accepts every constant decides little. *$4$: 25 %* means that 3.2 in place of 4 is refused (or 5, under ≥), *$S^3$: 1* that $S^2$ in place of $S^3$ is. *Not at all* names the factors of which the check accepts every change that was tried, as a thousandth of a constant. *Not measured* is a row that is not refuted and has no such number, because it states no inequality, or because its check does not read its right side from the statement; most of these are sums and shares, no products of a constant and powers. These changes run with the budget of a quick check, so a margin, which has the full one, may be smaller than the change that is resolved.

Some statements leave a constant or a hypothesis open: Theorems 1 and 2, Lemmas 8, 10, 22 and 30 to 33 and Corollaries 1 and 2. Their rows name what the check takes.
`

const pageTable = `
[fig-ledger](figures/fig-ledger.png) shows all margins. The last column links the check and the notebook.

| number | id | statement | proved | refuted | tested (full budget) | resolves (quick budget) | links |
|---|---|---|---|---|---|---|---|
`

// falsehoods returns a table of the statements that are false as printed, with what is wrong and what is true.
func (l *Ledger) falsehoods() string {
	var b strings.Builder
	b.WriteString("## False as printed\n\n| number | statement | what is wrong | what is proved instead |\n" +
		"|---|---|---|---|\n")
	for _, r := range l.Rows {
		if r.Kind != Statement || !r.Failed() {
			continue
		}
		instead := ""
		if c := l.Find(r.Corrected); c != nil && c.Verdict == Proved {
			instead = fmt.Sprintf("[%s](#%s)", c.Title, c.ID)
		}
		fmt.Fprintf(&b, "| %s | [%s](#%s) | %s | %s |\n", r.Number, cell(r.Title), r.ID, r.Defect, cell(instead))
	}
	return b.String() + "\n## Counts\n\n"
}

// plain escapes the characters of plain text that Markdown would interpret.
var plain = strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`")

// cell escapes |, which ends the cell of a table, also inside a formula.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func emphasis(v Verdict) string {
	if v == Refuted {
		return "**" + string(v) + "**"
	}
	return string(v)
}

// read returns the statement of a row, and how it is read.
func (r Row) read() string {
	if r.Read == "" {
		return r.Statement
	}
	return r.Statement + ". *Read:* " + r.Read
}

// counts returns a table of the number of rows of each kind and verdict. It omits verdicts without a row.
func (l *Ledger) counts() string {
	head, rule := "| |", "|---|"
	occurring := slices.DeleteFunc(slices.Clone(Verdicts), func(v Verdict) bool {
		return !slices.ContainsFunc(l.Rows, func(r Row) bool { return r.Verdict == v })
	})
	for _, v := range occurring {
		head, rule = head+" "+string(v)+" |", rule+"--:|"
	}
	text := head + " rows |\n" + rule + "--:|\n"
	for _, kind := range []Kind{Statement, Step, Correction} {
		n, sum := map[Verdict]int{}, 0
		for _, r := range l.Rows {
			if r.Kind == kind {
				n[r.Verdict]++
				sum++
			}
		}
		if sum == 0 {
			continue
		}
		text += "| " + string(kind) + " |"
		for _, v := range occurring {
			text += fmt.Sprintf(" %d |", n[v])
		}
		text += fmt.Sprintf(" %d |\n", sum)
	}
	return text
}

// theorems returns the numbers of rows refuted and proved in Coq, each as a whole and in part, as Markdown.
func (l *Ledger) theorems() string {
	theorems, rows := 0, map[[2]bool]int{} // refuted; as a whole
	for _, r := range l.Rows {
		theorems += len(r.Proved)
		if len(r.Proved) > 0 {
			refutes := r.Proved[0].Refutes
			whole := func(p Proof) bool { return p.Refutes == refutes && p.Gap == "" }
			rows[[2]bool{refutes, slices.ContainsFunc(r.Proved, whole)}]++
		}
	}
	return fmt.Sprintf("\n%d theorems of Coq in [paper/proofs](paper/proofs), without axioms and with "+
		"[numbers](paper/proofs/instances.v) that satisfy the premises before their conclusions, "+
		"confirm %d counterexamples (%d of them whole) and %d proofs (%d of them whole).\n", theorems,
		rows[[2]bool{true, true}]+rows[[2]bool{true, false}], rows[[2]bool{true, true}],
		rows[[2]bool{false, true}]+rows[[2]bool{}], rows[[2]bool{false, true}])
}

// Verdicts returns the rows as a table of Markdown, each linked to its anchor on the page at the given address.
// Below the table the note and the witness of each row can be unfolded.
func (l *Ledger) Verdicts(page string) string {
	var b strings.Builder
	b.WriteString("| Statement | Verdict | Left side | Right side | Margin | Instances |\n" +
		"|---|---|--:|--:|--:|---|\n")
	for _, r := range l.Rows {
		fmt.Fprintf(&b, "| %s [`%s`](%s#%s) | %s | %.3g | %.3g | %.3g | %s |\n",
			r.Number, r.ID, page, r.ID, marked(r.Verdict), r.LHS, r.RHS, r.Margin, r.Instances)
	}
	for _, r := range l.Rows {
		if r.Note == "" && r.Witness == nil {
			continue
		}
		note := plain.Replace(r.Note)
		fmt.Fprintf(&b, "\n<details><summary><code>%s</code>: %s</summary>\n\n%s\n", r.ID, r.Verdict, note)
		if r.Witness != nil {
			fmt.Fprintf(&b, "\n```text\n%s```\n", r.Witness.Layout())
		}
		b.WriteString("\n</details>\n")
	}
	return b.String()
}

// marked returns a verdict, after a check mark or a cross if the statement is decided.
func marked(v Verdict) string {
	sign := map[Verdict]string{Proved: "✓", Refuted: "✗"}[v]
	return strings.TrimSpace(sign + " " + emphasis(v))
}

// Consequences lists, in Markdown, the statements whose proofs use the given statement, with their verdicts.
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
	var parts []string
	if s := by[false]; len(s) > 0 {
		parts = append(parts, "not refuted: "+strings.Join(s, ", "))
	}
	if s := by[true]; len(s) > 0 {
		parts = append(parts, "false as printed: "+strings.Join(s, ", "))
	}
	if len(parts) == 0 {
		return "No proof of another row uses it."
	}
	return "Proofs that use it, directly or indirectly: " + strings.Join(parts, "; ") + "."
}

// Evidence returns the layout of the witness of a row, with the name "witness". A row
// without a witness has the layout and the name of its worst instance.
func (r Row) Evidence() (name, layout string) {
	if r.Witness != nil {
		return "witness", r.Witness.Layout()
	}
	return "worst instance", r.Instance.Layout()
}

// Layout returns a witness as text: its instance, then the equation and the two sides, if it has them.
func (w *Witness) Layout() string {
	shown := Instance{}
	maps.Copy(shown, w.Instance)
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

// A layout begins with the parameters, the names in first, and ends with the results, the names in last.
var (
	first = []string{"S", "T", "graph", "prior", "pi", "mu"}
	last  = []string{"equation", "lhs", "rhs", "lhs^2", "rhs^2"}
)

// byPlace compares two names by their position in a layout.
func byPlace(a, b string) int {
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i - len(first)
		}
		return slices.Index(last, name) + 1
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
}

// Layout returns an instance as text: a line for each name, the parameters first, and
// matrices in aligned rows. It panics if the type of a value has no stored form.
func (in Instance) Layout() string {
	in = in.stored()
	var rows [][]string
	for _, name := range slices.SortedFunc(maps.Keys(in), byPlace) {
		for _, line := range layout(in[name]) {
			rows = append(rows, []string{name, line})
			name = "" // once
		}
	}
	text := ""
	for _, line := range aligned(rows) {
		text += line + "\n"
	}
	return text
}

// aligned returns the rows as lines, with their cells in columns.
func aligned(rows [][]string) []string {
	width := map[int]int{}
	for _, row := range rows {
		for j, s := range row {
			width[j] = max(width[j], utf8.RuneCountInString(s))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		for j, s := range row {
			lines[i] += fmt.Sprintf("%-*s", width[j]+2, s)
		}
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
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
		return layoutOfList(v)
	}
	return []string{fmt.Sprint(v)}
}

// layoutOfList returns a list of lists as aligned rows, and another list as one line,
// or as one line for each entry if an entry contains a space.
func layoutOfList(list []any) []string {
	if len(list) == 0 {
		return []string{"none"}
	}
	var items []string
	var rows [][]string
	for _, v := range list {
		items = append(items, strings.Join(layout(v), " "))
		cells, ok := v.([]any)
		if !ok {
			continue
		}
		var row []string
		for _, c := range cells {
			row = append(row, strings.Join(layout(c), " "))
		}
		if row == nil {
			row = []string{"none"}
		}
		rows = append(rows, row)
	}
	switch {
	case len(rows) == len(list):
		return aligned(rows)
	case strings.Contains(strings.Join(items, ""), " "):
		return items
	}
	return []string{strings.Join(items, ", ")}
}
