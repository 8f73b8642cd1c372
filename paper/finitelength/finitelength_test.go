package finitelength

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

var regen = flag.Bool("theorems", false, "write theorems.json")

// TestTheoremsAreTheBestThatTheProofGives recomputes the stored theorems, those at T = 512 only with -theorems.
func TestTheoremsAreTheBestThatTheProofGives(t *testing.T) {
	var lines []string
	stored := Theorems()
	for k, orbits := range [][]exact.Matrix{
		{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")},
		{exact.Rats("9/10 1/10; 1/10 9/10"), exact.Rats("1/10 9/10; 9/10 1/10")},
	} {
		for l, n := range []int{16, 64, 512} {
			if n == 512 && !*regen {
				continue
			}
			th, err := New(n, orbits...)
			if err != nil {
				t.Fatal(err)
			}
			line, err := json.Marshal(th)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
			if *regen {
				continue
			}
			if want, _ := json.Marshal(stored[3*k+l]); string(want) != string(line) {
				t.Errorf("%s is stored, and the proof gives %s (go test -theorems writes it)", want, line)
			}
		}
	}
	if *regen {
		if err := os.WriteFile("theorems.json", []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The check of each theorem holds, and refutes each planted fault.
func TestTheoremsAreDecided(t *testing.T) {
	for _, c := range Claims() {
		if testing.Short() && strings.Contains(c.ID, "512") {
			continue
		}
		e := ledger.NewEnv(t.Context(), c, false)
		if f := c.Check.Finding(e); !f.Holds() {
			t.Errorf("%s: %+v", c.ID, f)
		}
		for _, fault := range c.Faults {
			if f := fault.Check.Finding(e); !f.Failed() {
				t.Errorf("%s: the planted fault %q is not refuted: %+v", c.ID, fault.What, f)
			}
		}
	}
}

// Runs with the settings of the theorems end inside their bounds. The excess is a mean over fresh sequences, and is
// outside of four standard errors by chance once in 16000 seeds.
func TestRunsEndInsideTheBounds(t *testing.T) {
	for _, th := range Theorems() {
		if th.T > 64 || testing.Short() && th.T > 16 {
			continue
		}
		r := Run{Tau1: 2, Tau2: int(exact.Float(th.Time2))/4 + 1, N1: 1 << 15, N2: 256, Seed: 1}
		e, err := r.Train(th)
		if err != nil {
			t.Fatal(err)
		}
		low, high := e.Excess.Mean-4*e.Excess.StdErr, e.Excess.Mean+4*e.Excess.StdErr
		loss := high >= 0 && low <= exact.Float(th.Excess)
		if e.Attention < 1-exact.Float(th.Alpha) || e.Beta < exact.Float(th.Reach) || !loss {
			t.Errorf("%v: a run ends with %+v, want attention 1 - %v, beta %v and an excess of at most %v",
				th, e, th.Alpha, th.Reach, th.Excess)
		}
		r.Tau2 /= 2
		if _, err := r.Train(th); err == nil {
			t.Errorf("%v: a run with eta_2 = 8 has no error", th)
		}
	}
}
