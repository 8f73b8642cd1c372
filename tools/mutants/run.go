package main

import (
	"bytes"
	"encoding/json"
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
	check   map[int]map[string]bool // the rows whose check passes a point
	rest    map[int]map[string]bool // those of which only a control does
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
// which points it passes.
func measure(program string, points []point, units []*unit, workers int, ids ...string) (*suite, error) {
	s := &suite{program: program, points: points, base: map[string]record{}, check: map[int]map[string]bool{}, rest: map[int]map[string]bool{}}
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
		var out string
		switch out, failures[i] = s.worker("cover", nil, ids[i]); {
		case failures[i] == nil:
			failures[i] = json.Unmarshal([]byte(out), &records[i])
		case strings.TrimSpace(out) == "timeout":
			records[i], failures[i] = record{ID: ids[i], Verdict: leftOut + "it takes more than 30 s"}, nil
		}
		meter.step()
	})
	for i, r := range records {
		if failures[i] != nil {
			return nil, fmt.Errorf("mutants: the row %s does not run in the instrumented build: %w", ids[i], failures[i])
		}
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
		records[i].Init, records[i].Check, records[i].Rest = nil, nil, nil
		if r.CPU > 5 {
			fmt.Fprintf(os.Stderr, "the row %s takes %.0f s\n", r.ID, r.CPU)
		}
		s.base[r.ID] = records[i]
	}
	s.initial(ids[0], units)
	return s, nil
}

func (s *suite) passes(to map[int]map[string]bool, p int, ids ...string) {
	if to[p] == nil {
		to[p] = map[string]bool{}
	}
	for _, id := range ids {
		to[p][id] = true
	}
}

// initial attributes what is passed while packages are initialised: within a
// claim to that claim, or to its controls; elsewhere to all rows.
func (s *suite) initial(first string, units []*unit) {
	out, err := s.worker("cover", nil, first)
	var r record
	if err == nil {
		err = json.Unmarshal([]byte(out), &r)
	}
	if err != nil {
		panic(err) // it has run before
	}
	for _, line := range r.Init {
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
			s.passes(s.check, p, slices.Collect(maps.Keys(s.base))...)
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
	number int    // of the variant, from 1
	killed string // by what; empty if it survived
}

// key names a mutant by what does not move with the lines of its file.
func (m mutant) key() string {
	return strings.Join([]string{m.file, m.function, m.before + " -> " + m.after, m.source}, "\t")
}

// mutants returns all mutants that the check of some row passes.
func (s *suite) mutants() []mutant {
	var all []mutant
	for _, p := range s.points {
		for k, v := range p.variants {
			if len(s.check[p.id]) > 0 && v.operator != "" {
				all = append(all, mutant{point: p, variant: v, number: k + 1})
			}
		}
	}
	return all
}

// rows returns the rows that pass a point, those whose check does first, the
// cheap ones first.
func (s *suite) rows(p int) []record {
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
	add(s.check[p], nil)
	add(s.rest[p], s.check[p])
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

// try runs the rows that pass a mutant until one notices it.
func (s *suite) try(m *mutant) {
	rows, err := json.Marshal(s.rows(m.id))
	if err != nil {
		panic(err)
	}
	out, err := s.worker(fmt.Sprintf("%d:%d", m.id, m.number), rows, "try")
	switch out = strings.TrimSpace(out); {
	case out == "survived" && err == nil:
	case out != "":
		m.killed = out
	default:
		m.killed = "crash"
	}
}

// tryAll tries all mutants, and calls survived for those that survive, one at a
// time.
func (s *suite) tryAll(all []mutant, workers int, survived func(mutant)) {
	meter := newMeter("mutants", len(all))
	inParallel(workers, len(all), func(i int) {
		s.try(&all[i])
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
	fmt.Fprintf(os.Stderr, "%d of %d %s, %s spent, %s to go\n", m.done, m.n, m.what, spent.Round(time.Second), left.Round(time.Second))
}
