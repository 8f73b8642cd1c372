package exact

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

var regenCertified = flag.Bool("certified", false, "write certified.json")

// Two graphs, 1 -> 2 -> 3, and 1 -> 2 and 3 -> 4, each with its query.
func TestCertifiedRunsAreStored(t *testing.T) {
	var runs []CertifiedRun
	for _, parents := range [][]int{{0, 1, 2, 0}, {0, 1, 0, 3, 0}} {
		// Each step of stage 1 moves a row by 32 J(softmax) ghat, up to order beta0.
		runs = append(runs, CertifiedRun{
			Parents: parents, Orbits: []Matrix{Rats("9/10 1/10; 1/5 4/5"), Rats("1/10 9/10; 4/5 1/5")},
			Eps: Frac(1, 2), Beta0: Frac(1, 64),
			Rate1: Frac(64*32*2*int64(len(parents)), 1), Rate2: Frac(64, 1), Tau1: 20, Tau2: 12,
		})
	}
	if *regenCertified {
		var lines []string
		for _, r := range runs {
			r, err := r.Enclose()
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(b))
		}
		if err := os.WriteFile("certified.json", []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	stored, err := CertifiedRuns()
	if err != nil || len(stored) != len(runs) {
		t.Fatalf("%d runs, %v (go test -certified writes them)", len(stored), err)
	}
	for k, r := range stored {
		guess := 0.0 // excess of the uniform guess
		for _, p := range r.Orbits[0].Floats() {
			guess += p * math.Log(2*p) / 2
		}
		if r.Attention < 99e7 || float64(r.Excess) > 1e9*guess {
			t.Errorf("run %d: attention %d, excess %d, want at most %v", k, r.Attention, r.Excess, 1e9*guess)
		}
		settings := r
		settings.Path, settings.Attention, settings.Excess = nil, 0, 0
		got, _ := json.Marshal(settings)
		if want, _ := json.Marshal(runs[k]); string(got) != string(want) {
			t.Errorf("run %d: %s, want %s", k, got, want)
		}
	}
}

// The first run is computed again. tools/witness.py decides all of them.
func TestCertifiedRunIsDecided(t *testing.T) {
	stored, err := CertifiedRuns()
	if err != nil {
		t.Fatal(err)
	}
	r := stored[0]
	if err := r.Decide(); err != nil {
		t.Error(err)
	}
	r.Tau1, r.Tau2, r.Path = 3, 1, slices.Clone(r.Path[:4])
	if err := r.Decide(); err == nil || !strings.Contains(err.Error(), "step 4 ") {
		t.Errorf("a stage 2 that begins after three steps: %v", err)
	}
	r.Path[1] = slices.Clone(r.Path[1])
	r.Path[1][2]++
	if err := r.Decide(); err == nil || !strings.Contains(err.Error(), "step 2 ") {
		t.Errorf("an entry of step 2 that is larger by a billionth: %v", err)
	}
	if r, err = r.Enclose(); err != nil || r.Decide() != nil {
		t.Errorf("a short run: %v, %v", err, r.Decide())
	}
	r.Excess++
	if err := r.Decide(); err == nil || !strings.Contains(err.Error(), "excess") {
		t.Errorf("another excess: %v", err)
	}
	r.Eps = Frac(1, 3)
	if err := r.Decide(); err == nil || !strings.Contains(err.Error(), "step 1 ") {
		t.Errorf("another eps: %v", err)
	}
	wide := Interval{Lo: Frac(0, 1), Hi: Rat("1.01e-9")}
	if _, err := billionths(wide); err == nil || !strings.Contains(err.Error(), "width") {
		t.Errorf("an enclosure of width 1.01e-9: %v", err)
	}
}
