package claims

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Record is a row of the ledger as it is stored. Floats are rounded to six
// digits, and an Instance holds what JSON gives back: strings, numbers, lists.
type Record struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	Section     string   `json:"section"`
	Statement   string   `json:"statement"`
	Hypotheses  string   `json:"hypotheses"`
	Tier        Tier     `json:"tier"`
	Verdict     Verdict  `json:"verdict"`
	LHS         float64  `json:"lhs"`
	RHS         float64  `json:"rhs"`
	Margin      float64  `json:"margin"`
	Instance    Instance `json:"instance"`
	Instances   int      `json:"instances"`
	Witness     Instance `json:"witness"` // null unless the claim fails
	CorrectedBy optional `json:"corrected_by"`
	Uses        []string `json:"uses"`
	Note        string   `json:"note"`
	Seed        uint64   `json:"seed"`
	Fault       string   `json:"fault"`
}

// optional is a string that JSON shows as null when it is empty.
type optional string

func (o optional) MarshalJSON() ([]byte, error) {
	if o == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(o))
}

// Failed reports whether the row found its statement false, or at odds with the
// data.
func (r Record) Failed() bool { return r.Verdict == Fails || r.Verdict == Inconsistent }

// A Kind says what sentence a row is about.
type Kind string

const (
	Statement Kind = "statement"      // of the paper
	Step      Kind = "step or remark" // of a proof, or about a statement
	Corrected Kind = "correction"     // what holds in place of a statement that fails
)

// Kind returns what the row is about.
func (r Record) Kind() Kind {
	switch {
	case strings.HasSuffix(r.ID, correctedSuffix):
		return Corrected
	case slices.Contains(Statements(), r.ID):
		return Statement
	}
	return Step
}

const correctedSuffix = "-corrected"

//go:embed statements.txt
var statements string

// Statements returns the ids of the paper's statements, in its order.
func Statements() []string { return strings.Fields(statements) }

// A Ledger is the stored rows, in the order of the paper.
type Ledger struct {
	Claims []Record `json:"claims"`
}

// NewLedger returns the rows in their stored form. A number that is not finite
// is an error, for JSON has none.
func NewLedger(rows []Row) (*Ledger, error) {
	l := &Ledger{Claims: make([]Record, len(rows))}
	for i, r := range rows {
		for _, v := range []float64{r.LHS, r.RHS, r.Margin} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("claims: %s: lhs %v, rhs %v, margin %v: want finite numbers", r.ID, r.LHS, r.RHS, r.Margin)
			}
		}
		l.Claims[i] = Record{
			ID: r.ID, Title: r.Title, Section: r.Section, Statement: r.Statement, Hypotheses: r.Hypotheses,
			Tier: r.Tier, Verdict: r.Verdict, LHS: round(r.LHS), RHS: round(r.RHS), Margin: round(r.Margin),
			Instance: r.Instance, Instances: r.Instances, Witness: r.Witness, CorrectedBy: optional(r.Corrected),
			Uses: append([]string{}, r.Uses...), Note: r.Note, Seed: r.Seed, Fault: r.Fault,
		}
		if r.Instance == nil {
			l.Claims[i].Instance = Instance{}
		}
	}
	b, err := l.JSON()
	if err != nil {
		return nil, err
	}
	stored, err := ParseLedger(b)
	if err != nil {
		return nil, err
	}
	for _, r := range stored.Claims {
		roundAll(map[string]any(r.Instance))
		roundAll(map[string]any(r.Witness))
	}
	return stored, nil
}

// ParseLedger reads what JSON has written.
func ParseLedger(b []byte) (*Ledger, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var l Ledger
	if err := d.Decode(&l); err != nil {
		return nil, fmt.Errorf("claims: reading the ledger: %w", err)
	}
	return &l, nil
}

// JSON returns the bytes of claims.json; the same ledger gives the same ones.
func (l *Ledger) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(l); err != nil {
		return nil, fmt.Errorf("claims: writing the ledger: %w", err)
	}
	return b.Bytes(), nil
}

// round keeps six significant digits of v.
func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return r + 0 // no negative zero
}

// roundAll rounds the fractions in a decoded JSON value, in place where it can.
func roundAll(v any) any {
	switch v := v.(type) {
	case float64:
		if v != math.Trunc(v) {
			return round(v)
		}
	case []any:
		for i := range v {
			v[i] = roundAll(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = roundAll(v[k])
		}
	}
	return v
}

// Find returns the row of an id, or nil.
func (l *Ledger) Find(id string) *Record {
	for i := range l.Claims {
		if l.Claims[i].ID == id {
			return &l.Claims[i]
		}
	}
	return nil
}

// Changes says in what the rows of another run differ from the ledger, apart
// from what depends on how much work was done: numbers, instances, notes.
// Rows that the ledger does not have are changes too; rows that only the
// ledger has are not.
func (l *Ledger) Changes(run *Ledger) []string {
	var out []string
	for _, now := range run.Claims {
		old := l.Find(now.ID)
		if old == nil {
			out = append(out, fmt.Sprintf("%s: not in the stored ledger", now.ID))
			continue
		}
		for _, f := range []struct{ what, old, now string }{
			{"verdict", string(old.Verdict), string(now.Verdict)},
			{"tier", string(old.Tier), string(now.Tier)},
			{"title", old.Title, now.Title},
			{"section", old.Section, now.Section},
			{"statement", old.Statement, now.Statement},
			{"hypotheses", old.Hypotheses, now.Hypotheses},
			{"uses", strings.Join(old.Uses, " "), strings.Join(now.Uses, " ")},
			{"corrected_by", string(old.CorrectedBy), string(now.CorrectedBy)},
			{"fault", old.Fault, now.Fault},
		} {
			if f.old != f.now {
				out = append(out, fmt.Sprintf("%s: %s is %q, stored %q", now.ID, f.what, f.now, f.old))
			}
		}
	}
	return out
}

// Nearest returns up to three ids of the claims that look most like id: those
// that contain it, or else those of the least edit distance.
func Nearest(id string, cs []Claim) []string {
	type match struct {
		id string
		d  int
	}
	var ms []match
	for _, c := range cs {
		d := editDistance(id, c.ID)
		if strings.Contains(c.ID, id) {
			d = 0
		}
		ms = append(ms, match{c.ID, d})
	}
	slices.SortStableFunc(ms, func(a, b match) int { return a.d - b.d })
	var out []string
	for _, m := range ms[:min(3, len(ms))] {
		out = append(out, m.id)
	}
	return out
}

// editDistance counts the insertions, deletions and replacements of bytes that
// turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
