// Package ledger is the machine of a ledger of claims: what a claim is, what
// its check comes to, how checks are run, and how their rows are stored and
// told.
//
// A [Claim] is a statement beside a [Check], a function that evaluates the
// statement as printed and tries to break it, and beside [Fault]s, the same
// check with one part spoilt, each of which must be found. A claim that fails
// has [Repair]s instead, which must turn it to one that holds. A check draws its
// work and its random streams from an [Env] and returns a [Finding]. Most
// checks feed the instances that they try to one of two accumulators:
//
//   - [Worst] keeps the instance on which an inequality or equation between
//     floats, rationals or enclosures comes closest to failing, and the first
//     one on which it certainly fails as the [Witness];
//   - [Trend] fits the exponent of a claimed bound with unstated constants.
//
// [Env.Attack] searches for a bad instance in R^n, and [KernelBound] among the
// transition matrices. [Run] checks claims and returns their [Row]s; a [Ledger]
// of rows is stored as JSON, told as a page of Markdown, and knows by its
// [Dependencies] which statement rests on which.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agnivade/levenshtein"
	"golang.org/x/sync/errgroup"

	"learncausal/pkg/num"
)

// A Claim is one statement with its check.
type Claim struct {
	ID         string   `json:"id"`
	Number     string   `json:"number"` // what the paper prints, "Lemma 12", "Section 5.1"; of a step its statement's
	Kind       Kind     `json:"kind"`   // set by Collect where it is empty
	Title      string   `json:"title"`
	Section    string   `json:"section"`            // title of the paper's section; set by Collect
	Statement  string   `json:"statement"`          // LaTeX, one line, in our own words and the paper's symbols
	Parts      []string `json:"parts,omitempty"`    // the conjuncts of the statement, in a few words; none if it is one
	Hypotheses string   `json:"hypotheses"`         // LaTeX, one line, with semicolons: what each instance must meet
	Tried      string   `json:"tried,omitempty"`    // LaTeX, one line: the instances on which it is decided
	Uses       []string `json:"uses"`               // ids that the proof in the paper uses
	RestsOn    []string `json:"rests_on,omitempty"` // ids that its proof in the erratum uses, where that is another one
	Corrected  string   `json:"corrected_by,omitempty"`
	Quick      bool     `json:"-"` // part of the quick ledger: its check takes less than a second or so
	Check      Check    `json:"-"`

	Faults  []Fault  `json:"faults,omitempty"`  // of a claim that does not fail: for each part and each hypothesis
	Repairs []Repair `json:"repairs,omitempty"` // of a claim that fails
	Spare   []Spare  `json:"spare,omitempty"`   // hypotheses that no fault drops
	Proved  []Proof  `json:"proved,omitempty"`  // theorems that a proof assistant has checked
}

// A Check evaluates a statement and tries to break it.
type Check func(*Env) Finding

// Noted returns the check with a note before what it notes itself. A finding
// that is Open keeps its own note.
func (c Check) Noted(note string) Check {
	return func(e *Env) Finding {
		f := c(e)
		if f.Verdict != Open {
			f.Note = note + f.Note
		}
		return f
	}
}

// A Fault is a check with one part of the statement, or one hypothesis, spoilt.
// It must find the statement false or at odds with the data.
type Fault struct {
	What  string // is spoilt
	Part  string // of the claim's Parts, which it spoils; empty where there are none, or where it drops a hypothesis
	Drops string // the hypothesis that it drops, in the words of the claim's Hypotheses; empty for none
	Check Check
}

// A Repair is the check of a claim that fails, with the one change that makes
// it true. It must find that the statement holds, or that it is consistent with
// the data: a check that says "fails" to whatever it is given has no repair.
type Repair struct {
	What  string // is changed
	Check Check
}

// MarshalText returns what is changed, all that is stored of a repair.
func (r Repair) MarshalText() ([]byte, error) { return []byte(r.What), nil }

// UnmarshalText reads what MarshalText writes.
func (r *Repair) UnmarshalText(b []byte) error {
	r.What = string(b)
	return nil
}

// A Spare is a hypothesis that no fault drops, and why: the statement is true
// without it, or means nothing without it.
type Spare struct {
	Hypothesis string `json:"hypothesis"` // in the words of the claim's Hypotheses
	Why        string `json:"why"`
}

// Grounds returns the ids that the statement rests on: what its proof in the
// erratum uses, or else the paper's.
func (c Claim) Grounds() []string {
	if c.RestsOn != nil {
		return c.RestsOn
	}
	return c.Uses
}

// Gaps returns what the controls of a claim leave out: a part of the statement
// or a hypothesis without a fault of its own, a fault of nothing, faults beside
// repairs.
func (c Claim) Gaps() []string {
	var out []string
	if len(c.Repairs) > 0 {
		if len(c.Faults) > 0 {
			out = append(out, "it has repairs, as it fails; what fails already passes every fault")
		}
		return out
	}
	parts := c.Parts
	if len(parts) == 0 {
		parts = []string{""}
	}
	hypotheses := strings.Split(c.Hypotheses, ";")
	for i, h := range hypotheses {
		hypotheses[i] = strings.TrimSpace(h)
	}
	hasFault := func(of func(Fault) bool) bool { return slices.ContainsFunc(c.Faults, of) }
	for _, p := range parts {
		if !hasFault(func(f Fault) bool { return f.Part == p && f.Drops == "" }) {
			out = append(out, fmt.Sprintf("no fault spoils the part %q", p))
		}
	}
	for _, f := range c.Faults {
		if f.Drops == "" && !slices.Contains(parts, f.Part) || f.Drops != "" && !slices.Contains(hypotheses, f.Drops) {
			out = append(out, fmt.Sprintf("the fault %q is of no part and no hypothesis", f.What))
		}
	}
	for _, s := range c.Spare {
		if !slices.Contains(hypotheses, s.Hypothesis) || s.Why == "" {
			out = append(out, fmt.Sprintf("%q is spared and no hypothesis, or without a reason", s.Hypothesis))
		}
	}
	for _, h := range hypotheses {
		spared := slices.ContainsFunc(c.Spare, func(s Spare) bool { return s.Hypothesis == h })
		if h != "" && !spared && !hasFault(func(f Fault) bool { return f.Drops == h }) {
			out = append(out, fmt.Sprintf("no fault drops the hypothesis %q, and nothing says that it is spare", h))
		}
	}
	return out
}

// MarshalText returns what is spoilt, all that is stored of a fault.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.What), nil }

// UnmarshalText reads what MarshalText writes.
func (f *Fault) UnmarshalText(b []byte) error {
	f.What = string(b)
	return nil
}

// A Kind says what sentence a claim is about.
type Kind string

const (
	Statement  Kind = "statement"      // of the paper, numbered or displayed
	Step       Kind = "step or remark" // of a proof, or about a statement
	Correction Kind = "correction"     // what holds in place of a statement that fails
)

// correctedSuffix ends the id of every correction.
const correctedSuffix = "-corrected"

// A Section is a section of the paper with its claims, in its order.
type Section struct {
	Title  string
	Claims []Claim
}

// Collect returns the claims of all sections in order. It sets their Section,
// and their Kind where it is empty: Correction if the id ends in "-corrected",
// else Statement.
func Collect(sections ...Section) []Claim {
	var all []Claim
	for _, s := range sections {
		for _, c := range s.Claims {
			c.Section = s.Title
			switch {
			case c.Kind != "":
			case strings.HasSuffix(c.ID, correctedSuffix):
				c.Kind = Correction
			default:
				c.Kind = Statement
			}
			all = append(all, c)
		}
	}
	return all
}

// Select returns the claims that the names stand for, in the order of all. A
// name is an id, which brings the correction along, or a number as the paper
// prints it, which stands for all claims that carry it. Case does not matter.
// An unknown name is an error that names the nearest ones.
func Select(all []Claim, wanted ...string) ([]Claim, error) {
	want := map[string]bool{}
	for _, name := range wanted {
		known := false
		for _, c := range all {
			if strings.EqualFold(c.ID, name) || strings.EqualFold(c.Number, name) {
				known, want[c.ID] = true, true
				if c.Corrected != "" {
					want[c.Corrected] = true
				}
			}
		}
		if !known {
			return nil, fmt.Errorf("ledger: no statement has the id or number %q; near it: %s (CLAIMS.md lists all)",
				name, strings.Join(Nearest(name, names(all)), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Claim) bool { return !want[c.ID] }), nil
}

// Nearest returns up to three of the names that look most like name: those that
// contain it, or else those of the least edit distance. Case does not matter.
func Nearest(name string, names []string) []string {
	name = strings.ToLower(name)
	far := func(other string) int {
		if other = strings.ToLower(other); strings.Contains(other, name) {
			return 0
		}
		return levenshtein.ComputeDistance(name, other)
	}
	near := slices.Clone(names)
	slices.SortStableFunc(near, func(a, b string) int { return far(a) - far(b) })
	return near[:min(3, len(near))]
}

// names returns the ids and numbers of the claims, each once.
func names(all []Claim) []string {
	var out []string
	for _, c := range all {
		for _, name := range []string{c.ID, c.Number} {
			if name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// An Env is what a check may draw on. Each check has its own random streams,
// so that a row does not depend on which others are run.
type Env struct {
	ctx    context.Context
	id     string
	quick  bool
	seeded atomic.Bool // something has been drawn
}

// NewEnv returns the environment of the claim's check. With quick, Budget
// returns less work.
func NewEnv(ctx context.Context, c Claim, quick bool) *Env {
	return &Env{ctx: ctx, id: c.ID, quick: quick}
}

// Seed of every search and sample in the ledger.
const Seed = 20240222

// Stream returns the random stream of this claim for a purpose, index by index.
func (e *Env) Stream(purpose string, index ...uint64) *rand.PCG {
	e.seeded.Store(true)
	return num.Stream(Seed, "claims/"+e.id+"/"+purpose, index...)
}

// Seed returns the seed for what several claims draw alike and share; what only
// this claim draws has its own [Env.Stream].
func (e *Env) Seed() uint64 {
	e.seeded.Store(true)
	return Seed
}

// Budget returns how much work to do: full in the ledger, quick in the quick
// one.
func (e *Env) Budget(full, quick int) int {
	if e.quick {
		return quick
	}
	return full
}

// Err is not nil when the run was interrupted; long loops return early then.
func (e *Env) Err() error { return e.ctx.Err() }

// Run checks the claims with the given number of workers and returns their rows
// in order. done is called with each row and the time that its check has taken, from
// several goroutines at once; it may be nil. Rows that are unsound, see [Row.Unsound],
// are returned with an error that names them; with that of ctx none are.
func Run(
	ctx context.Context, cs []Claim, quick bool, workers int, done func(Row, time.Duration),
) ([]Row, error) {
	rows := make([]Row, len(cs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(workers, 1))
	for i, c := range cs {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			e, begun := NewEnv(ctx, c, quick), time.Now()
			rows[i] = Row{c, c.Check(e)}
			if e.seeded.Load() {
				rows[i].Seed = Seed
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if done != nil {
				done(rows[i], time.Since(begun))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var faults []string
	for _, r := range rows {
		for _, fault := range r.Unsound() {
			faults = append(faults, r.ID+": "+fault)
		}
	}
	if len(faults) > 0 {
		return rows, errors.New("ledger: " + strings.Join(faults, "\n"))
	}
	return rows, nil
}
