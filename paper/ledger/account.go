package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// A Class counts the statements of one kind as an author does: two rows of one lemma count once.
type Class struct {
	Name       string // plural, as in "lemmas"
	All, False int
}

// classes are the names of the classes by the first word of a number. Numbers such as
// "eq. (27)" and "Section 4.1" belong to the last class, in which each row counts.
var classes = [][2]string{
	{"Theorem", "theorems"},
	{"Lemma", "lemmas"},
	{"Corollary", "corollaries"},
	{"Algorithm", "algorithms"},
	{"Construction", "constructions"},
	{"", "displays and remarks"},
}

// Classes counts the statements of each class.
func (l *Ledger) Classes() []Class {
	out := make([]Class, len(classes))
	for k, c := range classes {
		out[k].Name = c[1]
	}
	counted, failed := map[string]bool{}, map[string]bool{}
	for _, r := range l.Rows {
		if r.Kind != Statement {
			continue
		}
		word, _, _ := strings.Cut(r.Number, " ")
		k, key := slices.IndexFunc(classes, func(c [2]string) bool { return c[0] == word }), r.Number
		if k < 0 {
			k, key = len(classes)-1, r.ID
		}
		if !counted[key] {
			counted[key] = true
			out[k].All++
		}
		if r.Failed() && !failed[key] {
			failed[key] = true
			out[k].False++
		}
	}
	return out
}

// defects are the plurals of the defects that do not end in s.
var defects = map[Defect]string{FalseStep: "steps of proofs", Missing: "missing hypotheses"}

// Account returns a sentence with the number of false statements of each class, and
// with the number of rows of each defect.
func (l *Ledger) Account() string {
	var parts, kinds []string
	for _, c := range l.Classes() {
		if c.All > 0 {
			parts = append(parts, strings.Replace(fmt.Sprintf("%d of %d %s", c.False, c.All, c.Name), "0 of", "none of", 1))
		}
	}
	for _, d := range Defects {
		n := 0
		for _, r := range l.Rows {
			if r.Kind == Statement && r.Failed() && r.Defect == d {
				n++
			}
		}
		switch many := defects[d]; {
		case n == 1:
			kinds = append(kinds, fmt.Sprintf("1 %s", d))
		case n > 1 && many != "":
			kinds = append(kinds, fmt.Sprintf("%d %s", n, many))
		case n > 1:
			kinds = append(kinds, fmt.Sprintf("%d %ss", n, d))
		}
	}
	text := listed(parts) + " are false as printed"
	if len(kinds) > 0 {
		text += ": " + listed(kinds)
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Standing returns a sentence with the number of statements as printed by verdict.
func (l *Ledger) Standing() string {
	n, all, paper, mended := map[Verdict]int{}, 0, 0, 0
	for _, r := range l.Rows {
		if r.Kind != Statement {
			continue
		}
		all++
		n[r.Verdict]++
		if r.Verdict == Proved && r.OnPaper != nil {
			paper++
		}
		if c := l.Find(r.Corrected); r.Failed() && c != nil && c.Verdict == Proved {
			mended++
		}
	}
	return fmt.Sprintf("Of %d rows of statements as printed, %d are proved, of them %d on paper and %d in Coq alone; "+
		"%d are tested and not proved, %d neither; %d are refuted, and %d of their corrections are proved; %d are open.",
		all, n[Proved], paper, n[Proved]-paper, n[Tested], n[Untested], n[Refuted], mended, n[Open])
}

// Weakest returns the row of the weakest verdict among the given rows and those on which they rest, directly or by way
// of others: the first one, if several have it. It panics if no row has one of the ids.
func (l *Ledger) Weakest(ids ...string) Row {
	var weakest *Row
	below := l.Below(ids...)
	for i, r := range l.Rows {
		if below[r.ID] && (weakest == nil || r.Verdict.weakness() > weakest.Verdict.weakness()) {
			weakest = &l.Rows[i]
		}
	}
	return *weakest
}

// links returns a sentence with the weakest verdict among the proved rows and those on which their proofs rest.
func (l *Ledger) links() string {
	var proved []string
	for _, r := range l.Rows {
		if r.Verdict == Proved {
			proved = append(proved, r.ID)
		}
	}
	if proved == nil {
		return ""
	}
	return fmt.Sprintf("Of the %d proved rows and all rows on which their proofs rest, directly or by way of others, the "+
		"weakest is *%s*. ", len(proved), l.Weakest(proved...).Verdict)
}

// Survival returns a sentence, without its full stop, that names the proved theorems and what those need that are
// read otherwise than printed, or "" if there are none.
func (l *Ledger) Survival() string {
	text, _ := l.survival(func(string) string { return "" })
	return text
}

// Theorems returns Survival and a sentence with the numbers of the proofs, or "" if there are none.
func (l *Ledger) Theorems(proof func(id string) string) string {
	text, proofs := l.survival(proof)
	if text == "" {
		return ""
	}
	return text + fmt.Sprintf(". Their proofs in the supplement are %s.", strings.Join(proofs, "; "))
}

func (l *Ledger) survival(proof func(id string) string) (text string, proofs []string) {
	var names, needs []string
	for _, r := range l.Rows {
		number, theorem := strings.CutPrefix(r.Number, "Theorem ")
		if !theorem || r.Kind != Statement || r.Verdict != Proved {
			continue
		}
		names = append(names, number)
		proofs = append(proofs, r.proofs(proof))
		if r.Read != "" {
			needs = append(needs, fmt.Sprintf("%s needs %s", r.Number, r.Read))
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	text = fmt.Sprintf("Theorems %s survive", listed(names))
	if len(needs) > 0 {
		text += ": " + strings.Join(needs, "; ")
	}
	return text, proofs
}

// proofs lists the numbers of the proofs on paper.
func (r Row) proofs(number func(id string) string) string {
	var out []string
	for _, id := range r.OnPaper {
		out = append(out, number(id))
	}
	return listed(out)
}

// listed joins the parts as a sentence does.
func listed(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
