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

// A Place says where the repository treats a statement.
type Place struct {
	Notebook string // path of the notebook that explains it, "" if none does
	Source   string // path of the file with the statement and its check
	Proof    string // number of its proof in the erratum, "" if it has none there
}

// Page returns the ledger as a page of Markdown, CLAIMS.md: a guide, the number of rows of
// each kind and verdict, and a table with an anchor for each id. where returns the place of
// an id.
func (l *Ledger) Page(where func(id string) Place) string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString(l.counts())
	b.WriteString(l.inCoq())
	b.WriteString(pageTable)
	targets := map[string]string{} // of the links, by text
	for _, r := range l.Rows {
		place := where(r.ID)
		files := []string{place.Source}
		for _, t := range r.Proved {
			files = append(files, t.File)
		}
		var names []string
		link := func(text, target string) {
			targets[text] = target
			names = append(names, "["+text+"]")
		}
		for _, f := range slices.Compact(files) {
			link(path.Base(f), f)
		}
		if place.Notebook != "" {
			number, _, _ := strings.Cut(path.Base(place.Notebook), "-")
			link("notebook "+number, place.Notebook)
		}
		if place.Proof != "" {
			names = append(names, "erratum "+place.Proof)
		}
		fmt.Fprintf(&b, "| %s | <a id=\"%s\"></a>`%s` | **%s.** %s | %s | %.3g | %s |\n",
			r.Number, r.ID, r.ID, cell(r.Title), cell(r.Statement), emphasis(r.Verdict), r.Margin, strings.Join(names, ", "))
	}
	b.WriteString("\n")
	for _, text := range slices.Sorted(maps.Keys(targets)) {
		fmt.Fprintf(&b, "[%s]: %s\n", text, targets[text])
	}
	return b.String()
}

const pageHead = `# The ledger: every statement of the paper, checked

A function in [paper/claims](paper/claims) evaluates each numbered statement of *How Transformers Learn Causal Structure with Gradient Descent* **as printed** and searches for a counterexample. ` + "`make verify`" + ` runs all checks and writes this page; ` + "`.tools/bin/paper verify \"Lemma 12\"`" + ` runs one, named by its number in the PDF or by its id, and prints its witness or worst instance. [The erratum](figures/errata.pdf) lists the false statements with their witnesses and proves the corrections.

**Tiers.** The check of an *exact* row decides an identity or inequality on given instances, in rational numbers or in floats with an enclosure of the rounding error. An *enclosed* row is statistical: a confidence bound at a preset level, corrected for the number of checks. A row of the tier *consistent with* has unstated constants or a limit: its check compares a fitted exponent and its interval with the claimed exponent, or computes the least constant that the data need.

**Verdicts.** *Holds* means that the check found no counterexample among its instances; the statement is proved only where the row names a proof. *Fails* comes with a witness in exact numbers. *Consistent* and *inconsistent* belong to the third tier. *Open* means that the check could not decide. Every inequality is read as lhs ≤ rhs, also where the paper prints ≥. Its **margin** on the worst instance is (rhs − lhs) / max(|lhs|, |rhs|); the margin of an equation is minus the relative difference. A statement fails where its margin is negative. An exact row that fails reports both sides and the margin of its witness, for a check by hand; ` + "`paper verify`" + ` also prints the largest violation that a search in floats found. The margin of a fitted trend is the distance from the claimed exponent to the end of the interval. A row whose id ends in ` + "`-corrected`" + ` corrects the printed statement. A step or remark carries the number of the statement whose proof contains it.

`

const pageTable = `
[fig-ledger](figures/fig-ledger.png) shows all margins, [fig-claims-graph](figures/fig-claims-graph.png) the dependencies between the statements. The last column links the check, the theorems of Coq and the notebook, and numbers the proof in the erratum.

| number | id | statement | verdict | margin | links |
|---|---|---|---|--:|---|
`

// plain escapes the signs of plain text that Markdown would interpret.
var plain = strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`")

// cell escapes |, which ends the cell of a table, also inside a formula.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func emphasis(v Verdict) string {
	if v == Fails || v == Inconsistent {
		return "**" + string(v) + "**"
	}
	return string(v)
}

var verdicts = []Verdict{Holds, Fails, Consistent, Inconsistent, Open}

// counts returns a table of the number of rows of each kind and verdict.
func (l *Ledger) counts() string {
	head, rule := "| |", "|---|"
	for _, v := range verdicts {
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
		for _, v := range verdicts {
			text += fmt.Sprintf(" %d |", n[v])
		}
		text += fmt.Sprintf(" %d |\n", sum)
	}
	return text
}

// Verdicts returns the rows as a table of Markdown, each linked to its anchor on the page
// at the given address. Below the table the note and the witness of each row can be
// unfolded.
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

// marked returns a verdict behind a sign that is visible at once.
func marked(v Verdict) string {
	sign := map[Verdict]string{Holds: "✓", Consistent: "✓", Fails: "✗", Inconsistent: "✗", Open: "?"}[v]
	return sign + " " + emphasis(v)
}

// Consequences names, in Markdown, the statements whose proofs use this one, with their
// verdicts.
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

// Evidence returns the layout of the witness of a row, or of its worst instance if it has
// no witness, and says which.
func (r Row) Evidence() (name, layout string) {
	if r.Witness != nil {
		return "witness", r.Witness.Layout()
	}
	return "worst instance", r.Instance.Layout()
}

// Layout writes a witness for a reader with pencil and paper: its instance, then the
// equation and the two sides, where it has them.
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

// A layout begins with the names in first, on which the other names depend, and ends with
// the results, the names in last.
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

// Layout writes an instance for a reader with pencil and paper: a line for each
// name, parameters first, and matrices in aligned rows. It panics if an Instance may not
// hold the type of a value.
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
