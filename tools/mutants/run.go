package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A record is what a worker says of a row; worker.go.txt has its twin.
type record struct {
	ID      string
	Verdict string
	Unsound []string
	Faults  []bool
	Repairs []bool
	CPU     float64
	Init    []string `json:",omitempty"`
	Check   []int    `json:",omitempty"`
	Rest    []int    `json:",omitempty"`
}

// A suite is the instrumented ledger with what its rows come to unmutated.
type suite struct {
	program string
	points  []point
	base    map[string]record
	check   map[int]map[string]bool // by mutant ([mutant.id]), the rows to whose check it makes a difference
	rest    map[int]map[string]bool // those to a control of which alone it does
}

// worker runs the program with a value of MUTANT and returns what it prints.
func (s *suite) worker(mutant string, stdin []byte, args ...string) (string, error) {
	runtime.LockOSThread() // or the worker dies with the thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command("nice", append([]string{s.program}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "MUTANT="+mutant)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // so that none goes on alone
	out, err := cmd.Output()
	return string(out), err
}

// leftOut begins the verdict of a row that cannot be used.
const leftOut = "left out: "

// measure runs each of the named rows once, or all if none is named, and records
// to which mutants it makes a difference. What a row came to is kept in a folder, for the next run
// of the same program.
func measure(program, keep string, points []point, units []*unit, workers int, ids ...string) (*suite, error) {
	s := &suite{
		program: program, points: points, base: map[string]record{},
		check: map[int]map[string]bool{}, rest: map[int]map[string]bool{},
	}
	if len(ids) == 0 {
		list, err := s.worker("", nil)
		if err != nil {
			return nil, fmt.Errorf("mutants: the list of rows: %w", err)
		}
		ids = strings.Fields(list)
	}
	records, failures := make([]record, len(ids)), make([]error, len(ids))
	meter := newMeter("rows", len(ids))
	inParallel(workers, len(ids), func(i int) {
		records[i], failures[i] = s.cover(ids[i], filepath.Join(keep, ids[i]+".json"))
		meter.step()
	})
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	var initial []string
	for _, r := range records {
		if reason, out := strings.CutPrefix(r.Verdict, leftOut); out {
			fmt.Fprintf(os.Stderr, "the row %s is left out: %s\n", r.ID, reason)
			continue
		}
		for _, p := range r.Check {
			s.passes(s.check, p, r.ID)
		}
		for _, p := range r.Rest {
			s.passes(s.rest, p, r.ID)
		}
		if r.CPU > 5 {
			fmt.Fprintf(os.Stderr, "the row %s takes %.0f s\n", r.ID, r.CPU)
		}
		initial = r.Init // the same for each
		r.Init, r.Check, r.Rest = nil, nil, nil
		s.base[r.ID] = r
	}
	s.initial(initial, units)
	return s, nil
}

// slow are rows of which it is known that they take longer than a worker has.
var slow = []string{"thm-main", "thm-main-corrected"}

// cover returns what a row came to, from the file if it is there.
func (s *suite) cover(id, file string) (r record, err error) {
	late := record{ID: id, Verdict: leftOut + "it takes more than 30 s"}
	if slices.Contains(slow, id) {
		return late, nil
	}
	if kept, err := os.ReadFile(file); err == nil && json.Unmarshal(kept, &r) == nil {
		return r, nil
	}
	out, err := s.worker("cover", nil, id)
	switch {
	case err == nil:
		err = json.Unmarshal([]byte(out), &r)
	case strings.TrimSpace(out) == "timeout":
		r, err = late, nil
	}
	if err != nil {
		return r, fmt.Errorf("mutants: the row %s does not run in the instrumented build: %w", id, err)
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	return r, err
}

func (s *suite) passes(to map[int]map[string]bool, p int, ids ...string) {
	if to[p] == nil {
		to[p] = map[string]bool{}
	}
	for _, id := range ids {
		to[p][id] = true
	}
}

// initial attributes what differs while packages are initialised: within a
// claim to that claim, or to its controls; elsewhere to the rows that use the
// variable, or to all rows where none is known to.
func (s *suite) initial(lines []string, units []*unit) {
	use := reaching(units)
	for _, line := range lines {
		at, place, _ := strings.Cut(line, " ")
		p, _ := strconv.Atoi(at)
		colon := strings.LastIndex(place, ":")
		n, _ := strconv.Atoi(place[colon+1:])
		id, control := claimAt(units, filepath.Base(place[:colon]), n)
		switch {
		case control && s.base[id].ID != "":
			s.passes(s.rest, p, id)
		case control:
		case s.base[id].ID != "":
			s.passes(s.check, p, id)
		default:
			rows := slices.Collect(maps.Keys(s.base))
			if users := use.of(place[:colon], n); users != nil {
				rows = slices.DeleteFunc(rows, func(id string) bool { return !users[id] })
			}
			s.passes(s.check, p, rows...)
		}
	}
}

// claimAt returns the id of the claim that is declared at a line of a file of
// paper/claims, if any, and whether the line is of its faults or repairs.
func claimAt(units []*unit, file string, line int) (id string, control bool) {
	for _, u := range units {
		f := u.files[filepath.Join("paper/claims", file)]
		if f == nil {
			continue
		}
		covers := func(n ast.Node) bool {
			return u.fset.Position(n.Pos()).Line <= line && line <= u.fset.Position(n.End()).Line
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil || !covers(n) {
				return n == f
			}
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && (key.Name == "Faults" || key.Name == "Repairs") && id != "" {
					control = true
				}
			}
			if lit, ok := n.(*ast.CompositeLit); ok && id == "" {
				id = idOf(lit)
			}
			return true
		})
	}
	return id, control
}

// idOf returns the ID that a literal of a claim sets.
func idOf(lit *ast.CompositeLit) string {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			key, isName := kv.Key.(*ast.Ident)
			text, isText := kv.Value.(*ast.BasicLit)
			if isName && isText && key.Name == "ID" && text.Kind == token.STRING {
				id, _ := strconv.Unquote(text.Value)
				return id
			}
		}
	}
	return ""
}

// A mutant is one variant of a point and what became of it.
type mutant struct {
	point
	variant
	number  int // of the variant, from 1
	tried   bool
	reached bool   // by a test
	killed  string // by what; empty if it survived
}

// key names a mutant by what does not move with the lines of its file.
func (m mutant) key() string {
	return strings.Join([]string{m.file, m.function, m.before + " -> " + m.after, m.source}, "\t")
}

// variants is more than a point has, the code as it is included; inside.go.txt has
// its twin.
const variants = 4

// id numbers the variants of all points.
func (m mutant) id() int { return variants*m.point.id + m.number }

// mutants returns all mutants that make a difference to the check of some row.
func (s *suite) mutants() []mutant {
	return slices.DeleteFunc(planted(s.points), func(m mutant) bool { return len(s.check[m.id()]) == 0 })
}

// planted returns all mutants of the points.
func planted(points []point) []mutant {
	var all []mutant
	for _, p := range points {
		for k, v := range p.variants {
			if v.operator != "" {
				all = append(all, mutant{point: p, variant: v, number: k + 1})
			}
		}
	}
	return all
}

// rows returns the rows to which a mutant makes a difference, those to whose check
// it does first, the cheap ones first.
func (s *suite) rows(m mutant) []record {
	var all []record
	add := func(set map[string]bool, without map[string]bool) {
		var more []record
		for id := range maps.Keys(set) {
			if !without[id] {
				more = append(more, s.base[id])
			}
		}
		slices.SortFunc(more, func(a, b record) int {
			if a.CPU != b.CPU && a.CPU < b.CPU {
				return -1
			} else if a.CPU != b.CPU {
				return 1
			}
			return strings.Compare(a.ID, b.ID)
		})
		all = append(all, more...)
	}
	add(s.check[m.id()], nil)
	add(s.rest[m.id()], s.check[m.id()])
	spent := 0.0
	for k, r := range all {
		if spent += r.CPU; k > 0 && spent > patience {
			return all[:k]
		}
	}
	return all
}

// patience is for how many seconds of rows, unmutated, a mutant is tried.
const patience = 12

// try runs the rows to which a mutant makes a difference until one notices it.
func (s *suite) try(m *mutant) {
	rows, err := json.Marshal(s.rows(*m))
	if err != nil {
		panic(err)
	}
	out, err := s.worker(fmt.Sprintf("%d:%d", m.point.id, m.number), rows, "try")
	switch out = strings.TrimSpace(out); {
	case out == "survived" && err == nil:
	case out != "":
		m.killed = out
	default:
		m.killed = "crash"
	}
}

// tryAll tries all mutants until it is interrupted, and calls survived for those
// that survive, one at a time.
func (s *suite) tryAll(ctx context.Context, all []mutant, workers int, survived func(mutant)) {
	meter := newMeter("mutants", len(all))
	inParallel(workers, len(all), func(i int) {
		if ctx.Err() != nil {
			return
		}
		s.try(&all[i])
		if all[i].tried = ctx.Err() == nil; !all[i].tried {
			return // the worker was interrupted, too
		}
		meter.step()
		if all[i].killed == "" {
			meter.Lock()
			defer meter.Unlock()
			survived(all[i])
		}
	})
}

// inParallel calls f(0), ..., f(n-1) with so many goroutines.
func inParallel(workers, n int, f func(i int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range max(workers, 1) {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// A meter says how far a loop has come and how long it will take, every ten
// seconds.
type meter struct {
	sync.Mutex
	what        string
	n, done     int
	start, last time.Time
}

func newMeter(what string, n int) *meter {
	return &meter{what: what, n: n, start: time.Now(), last: time.Now()}
}

func (m *meter) step() {
	m.Lock()
	defer m.Unlock()
	m.done++
	if time.Since(m.last) < 10*time.Second && m.done < m.n {
		return
	}
	m.last = time.Now()
	spent := time.Since(m.start)
	left := time.Duration(float64(spent) / float64(m.done) * float64(m.n-m.done))
	fmt.Fprintf(os.Stderr, "%d of %d %s, %s spent, %s to go\n",
		m.done, m.n, m.what, spent.Round(time.Second), left.Round(time.Second))
}
