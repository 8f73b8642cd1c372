package attribution

import (
	"context"
	"flag"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

var regen = flag.Bool("rows", false, "write rows.csv")

func cases(t *testing.T) []Case {
	t.Helper()
	store := runs.Open("../../runs")
	all, err := Cases(context.Background(), func(ctx context.Context, s train.Spec) (*runs.Run, error) {
		return store.Get(ctx, s, runs.Options{})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// write writes the rows of all methods on all cases, in three minutes of a processor. Lines of other methods are lost.
func write(t *testing.T, all []Case) {
	lines := make([]string, len(all))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for k := range next {
				for _, m := range Methods() {
					r, err := Evaluate(all[k], m)
					if err != nil {
						t.Error(err)
					}
					lines[k] += r.CSV() + "\n"
				}
			}
		})
	}
	for k := range all {
		next <- k
	}
	close(next)
	wg.Wait()
	if err := os.WriteFile("rows.csv", []byte(Header+"\n"+strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Each method has a row on each of the 70 cases, in their order. Those on the first case, on the first standard
// transformer and on one case of each set, another one each day, are computed again.
func TestRowsAreStored(t *testing.T) {
	all := cases(t)
	if *regen {
		write(t, all)
		return
	}
	rows, err := Stored()
	if err != nil {
		t.Fatal(err)
	}
	count, stored := map[string]int{}, map[string]Row{}
	for _, r := range rows {
		count[r.Method]++
		stored[r.Set+r.Run+r.Method] = r
	}
	of, at := map[string]int{}, map[string]int{} // the number of cases of a set, and of those before a case
	for _, c := range all {
		of[c.Set]++
	}
	for _, c := range all {
		k := at[c.Set]
		at[c.Set]++
		for _, m := range Methods() {
			want, ok := stored[c.Set+c.Run+m.Name]
			if !ok || want.Graph != c.Graph || want.Step != c.Step {
				t.Fatalf("no row of %s on run %s of set %s (go test -rows writes them)", m.Name, c.Run, c.Set)
			}
			if k != trial.Today()%of[c.Set] && (k > 0 || c.Set == "early") {
				continue
			}
			got, err := Evaluate(c, m)
			if err != nil {
				t.Fatal(err)
			}
			for number, d := range []float64{
				got.AUC - want.AUC, got.Learned - want.Learned, got.Top - want.Top, got.Kept - want.Kept,
				float64(got.Edges - want.Edges),
			} {
				if !(math.Abs(d) < 1e-3) {
					t.Errorf("%s on %s: number %d of %+v, stored %+v", m.Name, c.Run, number, got, want)
				}
			}
		}
	}
	for method, n := range count {
		if n != len(all) {
			t.Errorf("%s has %d rows, want %d", method, n, len(all))
		}
	}
}

// The graph itself has the largest possible results, its reverse the smallest, and equal scores are chance.
func TestKnownScoresHaveKnownResults(t *testing.T) {
	c := cases(t)[0]
	chance, edges := 0.0, 0.0
	for i, p := range c.Parents {
		if p >= 0 {
			chance, edges = chance+1/float64(i), edges+1
		}
	}
	for name, want := range map[string]struct{ on, auc, top float64 }{
		"graph": {1, 1, 1}, "reverse": {-1, 0, 0}, "equal": {0, 0.5, chance / edges},
	} {
		r, err := Evaluate(c, Method{name, func(c Case) (*mat.Dense, error) {
			return c.entries(func(i, j int) float64 {
				if c.Parents[i] == j {
					return want.on
				}
				return 0
			}), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		top := want.top
		if name == "reverse" && c.Parents[1] == 0 {
			top = 1 / edges // position 1 has one candidate
		}
		if r.AUC != want.auc || math.Abs(r.Top-top) > 1e-12 {
			t.Errorf("%s: AUC %v and top %v, want %v and %v", name, r.AUC, r.Top, want.auc, top)
		}
		if kept := r.Kept > 0.7; kept != (name == "graph") {
			t.Errorf("%s keeps %v of the loss", name, r.Kept)
		}
	}
	for want, m := range map[string]*mat.Dense{
		"19 x 20": mat.NewDense(19, 20, nil), "NaN at 1, 0": mat.NewDense(20, 20, []float64{20: math.NaN(), 399: 0}),
	} {
		_, err := Evaluate(c, Method{"mine", func(Case) (*mat.Dense, error) { return m, nil }})
		property.Mentions(t, err, "attribution: mine", want)
	}
	_, err := NewCase("several", &runs.Run{Spec: train.Spec{Task: train.Task2{}}, Address: "x"}, train.Snapshot{})
	property.Mentions(t, err, "attribution: run x", "Task 1")
}

// Three equal pairs of tokens have the information of a token, and a pair with a constant none.
func TestCorrelationIsMutualInformation(t *testing.T) {
	b := &task.Batch{S: 3, T: 4, X: []int{0, 0, 1, 0, 1, 1, 1, 0, 2, 2, 1, 0}, Y: make([]float64, 9)}
	m, err := correlation(Case{Test: b, Data: b})
	if err != nil || math.Abs(m.At(1, 0)-math.Log(3)) > 1e-15 || math.Abs(m.At(2, 0)) > 1e-15 {
		t.Errorf("mutual information %v, %v, want log 3 and 0", m, err)
	}
}

// Integrated gradients add up to the fall of the loss along their path, to the error of the midpoint rule.
func TestIntegratedGradientsAddUp(t *testing.T) {
	c := cases(t)[0]
	scores, err := c.gradients(64)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for n := range c.Test.Len() {
		x, y := c.Test.Seq(n)
		none, err1 := model.Run(c.Model, x, model.Ablate(pattern))
		own, err2 := model.Run(c.Model, x, nil)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		want += none.Loss(y) - own.Loss(y)
	}
	if got := mat.Sum(scores) / 64; !(math.Abs(got-want) < 5e-3*want) {
		t.Errorf("the scores add up to %v, want %v", got, want)
	}
}
