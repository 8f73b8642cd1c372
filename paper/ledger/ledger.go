// Package ledger checks mathematical claims and stores the results.
//
// A [Claim] is a statement with a [Check]: a function that evaluates the statement as printed and searches for
// a counterexample. Its [Fault]s are the same check with one deliberate error; each must be detected. A claim
// that fails has a [Defect] and a correction instead, whose check must accept it. A [Bound] in the statement is a right
// side that the check receives, and [Claim.Resolution] returns the least changes of it that the check refuses.
//
// A check draws its budget and its random streams from an [Env] and gives its instances to a [Worst]: it keeps
// the instance of least margin of an inequality or equation between floats, rationals or enclosures, and as
// the [Witness] the first instance on which it certainly fails.
//
// [Env.Attack] searches for a counterexample in R^n, [KernelBound] among transition matrices. [Run] checks
// claims and returns their [Row]s. A [Ledger] of rows is stored as JSON and rendered as a page of Markdown. Its
// [Dependencies] are the graph of which proof uses which statement.
package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"learncausal/internal/names"
	"learncausal/pkg/num"
)

// A Claim is one statement with its check.
type Claim struct {
	ID         string   `json:"id"`
	Number     string   `json:"number"` // in the paper, "Lemma 12"; of a step the number of its statement
	Kind       Kind     `json:"kind"`   // set by Collect if empty
	Title      string   `json:"title"`
	Section    string   `json:"section"`                   // title of the paper's section; set by Collect
	Statement  string   `json:"statement"`                 // LaTeX, one line, in our words and the paper's symbols; see Bound
	Parts      []string `json:"parts,omitempty"`           // the conjuncts of the statement, in a few words
	Read       string   `json:"read,omitempty"`            // LaTeX, one line: how an ambiguous statement is read
	Hypotheses string   `json:"hypotheses"`                // LaTeX, one line, separated by semicolons
	Tried      string   `json:"tried,omitempty"`           // LaTeX, one line: the instances of an exact decision
	Uses       []string `json:"uses"`                      // ids that the proof in the paper uses
	RestsOn    []string `json:"rests_on,omitempty"`        // ids that the proof in the erratum uses, if it differs
	Corrected  string   `json:"corrected_by,omitempty"`    // set by Collect from Correction
	Defect     Defect   `json:"defect,omitempty"`          // of a claim that fails
	OnPaper    []string `json:"proved_on_paper,omitempty"` // ids whose proofs in the erratum prove the statement
	Slow       bool     `json:"-"`                         // not in the quick ledger: its check takes over a second
	Check      Check    `json:"-"`
	Bounds     []Bound  `json:"-"` // of the statement; set by Collect

	// Correction is the true form of a claim that fails. Collect gives it a row of its own, after the claim's.
	Correction *Claim `json:"-"`

	Faults []Fault `json:"faults,omitempty"` // of a claim that does not fail: one for each part and hypothesis
	Spare  []Spare `json:"spare,omitempty"`  // hypotheses that no fault drops
	Proved []Proof `json:"proved,omitempty"` // theorems checked in Coq
}

// A Check evaluates a statement and searches for a counterexample. It gives its instances to w, and returns the note
// of its finding.
type Check func(e *Env, w *Worst) (note string)

// Finding returns the result of the check.
func (c Check) Finding(e *Env) Finding {
	w := new(Worst)
	return w.Finding(c(e, w))
}

// Decided returns the check that gives its instances by decide, without a note.
func Decided(decide func(w *Worst)) Check {
	return func(_ *Env, w *Worst) string {
		decide(w)
		return ""
	}
}

// Noted returns the check with a text before its note.
func (c Check) Noted(text string) Check {
	return func(e *Env, w *Worst) string { return text + c(e, w) }
}

// A Fault is a check with a deliberate error in one part of the statement, or without
// one hypothesis. Its finding must be a failure.
type Fault struct {
	What  string // the error
	Part  string // the part with the error, one of the claim's Parts, if it has any
	Drops string // the hypothesis left out, as written in Hypotheses; empty for an error in the statement
	Check Check
}

// Plant returns a fault of a statement of one part: the check of the statement with the change.
func Plant(change string, check Check) Fault { return Fault{What: change, Check: check} }

// PlantIn returns a fault in one part of a statement.
func PlantIn(part, change string, check Check) Fault {
	return Fault{What: change, Part: part, Check: check}
}

// Drop returns a fault that violates a hypothesis.
func Drop(hypothesis, change string, check Check) Fault {
	return Fault{What: change, Drops: hypothesis, Check: check}
}

// MarshalText returns What, the only field that is stored.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.What), nil }

// UnmarshalText sets What.
func (f *Fault) UnmarshalText(b []byte) error {
	f.What = string(b)
	return nil
}

// A Spare is a hypothesis that no fault drops, with the reason: the statement is true
// without it, or undefined without it.
type Spare struct {
	Hypothesis string `json:"hypothesis"` // as written in Hypotheses
	Why        string `json:"why"`
}

// Spared returns a hypothesis that no fault drops, and the reason.
func Spared(hypothesis, why string) Spare { return Spare{Hypothesis: hypothesis, Why: why} }

// A Proof is a theorem checked in Coq: the statement of a claim, or its negation.
type Proof struct {
	Theorem string `json:"theorem"`
	File    string `json:"file"`          // path in the repository
	Refutes bool   `json:"refutes"`       // the theorem is the negation
	Gap     string `json:"gap,omitempty"` // difference between theorem and statement, or how the statement was read
}

// String returns the theorem and its file, and whether it proves or refutes the statement, fully or in part.
func (p Proof) String() string {
	switch {
	case p.Refutes && p.Gap == "":
		return fmt.Sprintf("refuted in Coq, witness computed: %s, %s", p.Theorem, p.File)
	case p.Refutes:
		return fmt.Sprintf("refuted in Coq in part: %s, %s (%s)", p.Theorem, p.File, p.Gap)
	case p.Gap == "":
		return fmt.Sprintf("proved in Coq: %s, %s", p.Theorem, p.File)
	}
	return fmt.Sprintf("proved in Coq in part: %s, %s (%s)", p.Theorem, p.File, p.Gap)
}

// Grounds returns the ids on which the statement rests: those of the rows whose proofs prove it, or the ids that its
// own proof in the erratum uses, or else the paper's proof.
func (c Claim) Grounds() []string {
	if c.OnPaper != nil && !slices.Contains(c.OnPaper, c.ID) {
		return c.OnPaper
	}
	if c.RestsOn != nil {
		return c.RestsOn
	}
	return c.Uses
}

// proved reports whether the statement is proved as a whole, on paper or in Coq.
func (c Claim) proved() bool {
	return c.OnPaper != nil || slices.ContainsFunc(c.Proved, func(p Proof) bool { return !p.Refutes && p.Gap == "" })
}

// A Kind is the kind of sentence that a claim checks.
type Kind string

const (
	Statement  Kind = "statement"      // of the paper, numbered or displayed
	Step       Kind = "step or remark" // of a proof, or about a statement
	Correction Kind = "correction"     // of a statement that fails
)

// A Defect is the kind of error in a statement that fails, listed by increasing consequences.
type Defect string

const (
	Misprint  Defect = "misprint"           // a sign, an index or a name; the intended statement is clear and true
	Boundary  Defect = "boundary case"      // one row, entry or position, or a trivial case, is not excluded
	FalseStep Defect = "step of a proof"    // a displayed step; the statement that it serves survives
	Missing   Defect = "missing hypothesis" // true with a hypothesis that the paper does not state
	Constant  Defect = "constant"           // a constant or an exponent changes
)

// Defects are all kinds of errors in order.
var Defects = []Defect{Misprint, Boundary, FalseStep, Missing, Constant}

// A Section is a section of the paper with its claims in order.
type Section struct {
	Title  string
	Claims []Claim
}

// Collect returns the claims of all sections in order, each before its correction. It sets Section, Corrected and
// Bounds, and it sets an empty Kind to Correction if the id ends in "-corrected", else to Statement.
func Collect(sections ...Section) []Claim {
	var all []Claim
	for _, s := range sections {
		for _, c := range s.Claims {
			all = append(all, c.collected(s.Title)...)
		}
	}
	return all
}

// collected returns the claim and its correction.
func (c Claim) collected(section string) []Claim {
	c.Section = section
	c.Statement, c.Bounds = readBounds(c.Statement)
	switch {
	case c.Kind != "":
	case strings.HasSuffix(c.ID, "-corrected"):
		c.Kind = Correction
	default:
		c.Kind = Statement
	}
	if c.Correction == nil {
		return []Claim{c}
	}
	other := *c.Correction
	c.Corrected, other.Number = other.ID, cmp.Or(other.Number, c.Number)
	return append([]Claim{c}, other.collected(section)...)
}

// Select returns the claims with the wanted names, and their corrections, in the order of all. A name is an id
// or a number as the paper prints it; several claims may have one number. Case does not matter. The error for
// an unknown name contains the nearest names.
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
			return nil, fmt.Errorf("ledger: no statement has the id or number %q; nearest: %s (CLAIMS.md lists all)",
				name, strings.Join(names.Nearest(name, allNames(all)), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Claim) bool { return !want[c.ID] }), nil
}

// allNames returns the ids and numbers of the claims, each once.
func allNames(all []Claim) []string {
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

// An Env gives a check its budget and its random streams. The streams of a claim
// depend on its id alone, so a row does not depend on the other rows of a run.
type Env struct {
	ctx    context.Context
	id     string
	quick  bool
	bounds []Bound

	repaired []Bound      // the bounds of the correction
	seeded   *atomic.Bool // a stream or the seed has been used
}

// NewEnv returns the environment for a check of the claim. If quick, Budget returns the smaller budget.
func NewEnv(ctx context.Context, c Claim, quick bool) *Env {
	if c.Bounds == nil {
		_, c.Bounds = readBounds(c.Statement)
	}
	e := &Env{ctx: ctx, id: c.ID, quick: quick, bounds: c.Bounds, seeded: new(atomic.Bool)}
	if c.Correction != nil {
		_, e.repaired = readBounds(c.Correction.Statement)
	}
	return e
}

// with returns the environment with other bounds.
func (e *Env) with(bounds []Bound) *Env {
	other := *e
	other.bounds = bounds
	return &other
}

// Seed is the seed of every search and sample in the ledger.
const Seed = 20240222

// Stream returns the random stream of the claim for a purpose and an index.
func (e *Env) Stream(purpose string, index ...uint64) *rand.PCG {
	e.seeded.Store(true)
	return num.Stream(Seed, "claims/"+e.id+"/"+purpose, index...)
}

// Seed returns the seed for samples that several claims share. For all other samples use [Env.Stream].
func (e *Env) Seed() uint64 {
	e.seeded.Store(true)
	return Seed
}

// Budget returns quick in a quick run, else full.
func (e *Env) Budget(full, quick int) int {
	if e.quick {
		return quick
	}
	return full
}

// Err returns an error once the run is cancelled. Long loops then return early.
func (e *Env) Err() error { return e.ctx.Err() }

// Run checks the claims on the given number of workers and returns their rows in
// order. It calls done, unless nil, with each row and the duration of its check, from
// several goroutines at once. If a row contradicts itself, such as a failure without a
// witness, Run returns the rows with an error. If ctx is cancelled, it returns no rows.
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
			rows[i] = Row{c, c.Check.Finding(e)}
			if rows[i].Holds() && c.proved() {
				rows[i].Verdict = Proved
			}
			if !rows[i].Failed() {
				rows[i].Resolves = c.Resolution(ctx)
			}
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
		for _, fault := range r.unsound() {
			faults = append(faults, r.ID+": "+fault)
		}
	}
	if len(faults) > 0 {
		return rows, errors.New("ledger: " + strings.Join(faults, "\n"))
	}
	return rows, nil
}
