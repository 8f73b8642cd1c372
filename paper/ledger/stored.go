package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"learncausal/internal/files"
)

// A Row is a line of the ledger: a claim with the result of its check.
type Row struct {
	Claim
	Finding
}

var inequality = regexp.MustCompile(`\\(le|ge|lesssim)\b`)

// unsound lists the contradictions within a row: a failure without a witness, sides that differ from the sides
// of the witness, a negative margin of a statement that holds, and others.
func (r Row) unsound() []string {
	var out []string
	fault := func(wrong bool, text string) {
		if wrong {
			out = append(out, text)
		}
	}
	fault(!slices.Contains(Verdicts, r.Verdict), "no verdict")
	fault(r.Failed() && r.Witness == nil, "fails without a witness")
	fault(!r.Failed() && r.Witness != nil, "has a witness but does not fail")
	fault(r.Failed() && r.Margin > 0, "fails with a positive margin")
	fault(r.Holds() && r.Margin < 0, "holds with a negative margin")
	if r.Failed() && r.Witness != nil {
		lhs, rhs, ok := r.Witness.floats()
		fault(!reflect.DeepEqual(r.Instance, r.Witness.Instance), "instance and witness differ")
		fault(ok && (lhs != r.LHS || rhs != r.RHS), "the sides differ from the sides of the witness")
		fault(r.Margin != deviation(r.LHS, r.RHS), "the margin does not belong to the sides")
		fault(inequality.MatchString(r.Statement) && r.Witness.Equation == "" && r.LHS <= r.RHS,
			"an inequality lhs <= rhs fails with lhs <= rhs")
	}
	fault(r.Failed() && r.Defect == "", "fails but has no defect")
	fault(!r.Failed() && r.Defect != "", "has a defect but does not fail")
	fault(r.Instances == Instances{}, "no instances")
	fault(math.IsNaN(r.LHS+r.RHS+r.Margin) || math.IsInf(r.Margin, 0), "a side or the margin is not a number")
	fault(r.Kind == Correction && r.Failed(), "the corrected statement fails")
	return out
}

// A Ledger has the rows in the order of the paper and in their stored form. Floats are rounded to six digits,
// and the values of an Instance are those types to which JSON decodes: strings, numbers, lists.
type Ledger struct{ Rows []Row }

// stored is the form of claims.json, whose first line is a checksum.
type stored struct {
	Layout int   `json:"layout"`
	Rows   []Row `json:"claims"`
}

// form is the number of the layout of claims.json. Files of layout 1 had neither a number nor a checksum.
const form = 2

// New returns the rows in their stored form. It returns an error if a side or a
// margin is infinite or NaN, or if a value of an instance has no stored form.
func New(rows []Row) (*Ledger, error) {
	l := &Ledger{slices.Clone(rows)}
	for i := range l.Rows {
		r := &l.Rows[i]
		r.Uses = append([]string{}, r.Uses...) // [] in JSON, not null
		id := r.ID
		for _, v := range []*float64{&r.LHS, &r.RHS, &r.Margin} {
			if math.IsNaN(*v) || math.IsInf(*v, 0) {
				const want = "ledger: %s: lhs %v, rhs %v, margin %v: want finite numbers"
				return nil, fmt.Errorf(want, id, r.LHS, r.RHS, r.Margin)
			}
			*v = round(*v)
		}
		b, err := json.Marshal(r)
		if err == nil {
			*r = Row{}
			err = json.Unmarshal(b, r)
		}
		if err != nil {
			return nil, fmt.Errorf("ledger: %s: %w", id, err)
		}
	}
	return l, nil
}

// Parse reads the output of [Ledger.JSON]. It returns an error for other bytes, also for the same values laid out
// differently. The error says whether the file is older, newer, edited or damaged.
func Parse(b []byte) (*Ledger, error) {
	fail := func(err error) (*Ledger, error) { return nil, fmt.Errorf("ledger: reading the ledger: %w", err) }
	var file stored
	switch err := json.Unmarshal(b, &file); {
	case err != nil:
		return fail(fmt.Errorf("truncated or damaged: %w", err))
	case file.Layout < form && file.Rows != nil:
		return fail(fmt.Errorf("an older program wrote it, without a checksum: want layout %d", form))
	case file.Layout > form:
		return fail(fmt.Errorf("it has layout %d, and this program reads %d: a newer program reads it", file.Layout, form))
	}
	l := &Ledger{file.Rows}
	written, _ := l.JSON() // nil, and so different, if the rows have no JSON
	first, rest, _ := bytes.Cut(b, []byte("\n"))
	same, lines, _ := bytes.Cut(written, []byte("\n"))
	if !bytes.Equal(rest, lines) {
		k := 0
		for k < min(len(rest), len(lines)) && rest[k] == lines[k] {
			k++
		}
		return fail(fmt.Errorf("line %d was edited", 2+bytes.Count(rest[:k], []byte("\n"))))
	}
	if !bytes.Equal(first, same) {
		return fail(fmt.Errorf("line 1 is %.90q, and the other lines have the SHA-256 of %q: edited", first, same))
	}
	return l, nil
}

// JSON returns the bytes of claims.json, equal bytes for equal ledgers. The first line is the checksum of the
// others, see [files.AddSum].
func (l *Ledger) JSON() ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, files.SumLine-2))
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(stored{form, l.Rows}); err != nil {
		return nil, fmt.Errorf("ledger: writing the ledger: %w", err)
	}
	return files.AddSum(b.Bytes(), ","), nil // over the brace and its line end
}

// round returns v to six significant digits; it leaves integers unchanged.
func round(v float64) float64 {
	switch {
	case v == 0:
		return 0 // never -0
	case v == math.Trunc(v):
		return v
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return r
}

func roundAll(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = round(v)
	}
	return out
}

// Find returns the row with the id, or nil.
func (l *Ledger) Find(id string) *Row {
	for i := range l.Rows {
		if l.Rows[i].ID == id {
			return &l.Rows[i]
		}
	}
	return nil
}

// Below returns the ids and, transitively, the ids on which they rest. It omits ids without a row.
func (l *Ledger) Below(ids ...string) map[string]bool {
	below := map[string]bool{}
	for len(ids) > 0 {
		id := ids[0]
		ids = ids[1:]
		if r := l.Find(id); r != nil && !below[id] {
			below[id] = true
			ids = append(ids, r.Grounds()...)
		}
	}
	return below
}

// Changes lists the differences between the ledger and a run of any budget, which
// may have fewer rows. It compares the claims and verdicts; the other fields of a finding
// depend on the budget. A row without a stored row is a change.
func (l *Ledger) Changes(run *Ledger) []string {
	var out []string
	for _, now := range run.Rows {
		old := l.Find(now.ID)
		if old == nil {
			out = append(out, fmt.Sprintf("%s: not in the stored ledger", now.ID))
			continue
		}
		finding := now.Finding
		finding.Verdict = old.Verdict
		for _, d := range (Row{old.Claim, finding}).Differences(now) {
			out = append(out, now.ID+": "+d.String())
		}
	}
	return out
}

// Differences lists the differences between the findings of the ledger and of a run with the full budget: every
// field of a finding, and rows that the run lacks. A row without a stored row is no difference.
func (l *Ledger) Differences(run *Ledger) []string {
	var out []string
	for _, old := range l.Rows {
		now := run.Find(old.ID)
		if now == nil {
			out = append(out, old.ID+": its row is gone")
			continue
		}
		for _, d := range (Row{now.Claim, old.Finding}).Differences(*now) {
			out = append(out, old.ID+": "+d.String())
		}
	}
	return out
}

// A Difference is a field whose value differs between two rows, with both values in JSON.
type Difference struct{ Field, Stored, Now string }

// String returns the difference as part of a sentence.
func (d Difference) String() string {
	return fmt.Sprintf("%s is %s, stored %s", d.Field, d.Now, d.Stored)
}

// Differences returns the fields in which a later row differs from the stored row, in
// the order of the fields. Both rows are in their stored form ([New], [Parse]).
func (r Row) Differences(now Row) []Difference {
	var out []Difference
	stored, other := reflect.ValueOf(r), reflect.ValueOf(now)
	for _, f := range reflect.VisibleFields(stored.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" {
			continue
		}
		value := func(v reflect.Value) string {
			b, err := json.Marshal(v.FieldByIndex(f.Index).Interface())
			if err != nil {
				panic("ledger: " + err.Error()) // New has encoded it
			}
			return string(b)
		}
		d := Difference{name, value(stored), value(other)}
		if d.Stored != d.Now {
			out = append(out, d)
		}
	}
	return out
}
