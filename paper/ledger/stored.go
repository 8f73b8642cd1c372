package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Row is a line of the ledger: a claim and what its check came to.
type Row struct {
	Claim
	Finding
}

// A Ledger is the stored rows, in the order of the paper. Floats are rounded to
// six digits, and an Instance holds what JSON gives back: strings, numbers,
// lists.
type Ledger struct {
	Rows []Row `json:"claims"`
}

// New returns the rows in their stored form. A number that is not finite is an
// error, for JSON has none, and so is a value of an instance that has no stored
// form.
func New(rows []Row) (*Ledger, error) {
	l := &Ledger{Rows: slices.Clone(rows)}
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

// Parse reads what JSON has written, and refuses what it would not have written.
func Parse(b []byte) (*Ledger, error) {
	var l Ledger
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("ledger: reading the ledger: %w", err)
	}
	again, _ := l.JSON() // what cannot be written is nothing, and differs
	if k := firstDifference(b, again); k >= 0 {
		line := 1 + bytes.Count(b[:k], []byte("\n"))
		return nil, fmt.Errorf("ledger: reading the ledger: line %d is not as it was written", line)
	}
	return &l, nil
}

// firstDifference returns how many bytes two texts begin with in common, or -1 if they
// are equal.
func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for k := range n {
		if a[k] != b[k] {
			return k
		}
	}
	if len(a) == len(b) {
		return -1
	}
	return n
}

// JSON returns the bytes of claims.json; the same ledger gives the same ones.
func (l *Ledger) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(l); err != nil {
		return nil, fmt.Errorf("ledger: writing the ledger: %w", err)
	}
	return b.Bytes(), nil
}

// round keeps six significant digits of a fraction, and integers as they are.
func round(v float64) float64 {
	switch {
	case v == 0:
		return 0 // not a negative one
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

// Find returns the row of an id, or nil.
func (l *Ledger) Find(id string) *Row {
	for i := range l.Rows {
		if l.Rows[i].ID == id {
			return &l.Rows[i]
		}
	}
	return nil
}

// Below returns the ids and all that they rest on, directly or by way of others.
// An id that has no row is left out.
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

// Changes says in what the rows of another run differ from the ledger, apart
// from what depends on how much work was done: sides, margin, instances, witness,
// seed, note. Rows that the ledger does not have are changes too; rows that only the
// ledger has are not.
func (l *Ledger) Changes(run *Ledger) []string {
	var out []string
	for _, now := range run.Rows {
		old := l.Find(now.ID)
		if old == nil {
			out = append(out, fmt.Sprintf("%s: not in the stored ledger", now.ID))
			continue
		}
		finding := now.Finding
		finding.Tier, finding.Verdict = old.Tier, old.Verdict
		for _, d := range (Row{old.Claim, finding}).Differences(now) {
			out = append(out, now.ID+": "+d.String())
		}
	}
	return out
}

// Differences says in what a full run of the checks found something else than the
// ledger has: a verdict, a number, an instance, a witness or a note, or no row where
// there was one. A row that the ledger does not have yet is no difference.
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

// A Difference is a field of a row that is another in a later run.
type Difference struct{ Field, Stored, Now string } // its name and its values as they are stored

func (d Difference) String() string {
	return fmt.Sprintf("%s is %s, stored %s", d.Field, d.Now, d.Stored)
}

// Differences returns the fields in which a later run has another row than the stored
// one, in their order. Both are in their stored form, as [New] and [Parse] give it.
func (r Row) Differences(now Row) []Difference {
	var out []Difference
	stored, other := reflect.ValueOf(r), reflect.ValueOf(now)
	for _, f := range reflect.VisibleFields(stored.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" {
			continue
		}
		value := func(v reflect.Value) string { return asJSON(v.FieldByIndex(f.Index).Interface()) }
		d := Difference{name, value(stored), value(other)}
		if d.Stored != d.Now {
			out = append(out, d)
		}
	}
	return out
}

// asJSON returns a value of a stored row as it is written.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("ledger: " + err.Error()) // New has written it
	}
	return string(b)
}
