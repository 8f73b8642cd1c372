package task

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

func multi(t *testing.T, parents [][]int, states int, alpha float64) Multi {
	t.Helper()
	g, err := graph.NewDAG(parents)
	if err != nil {
		t.Fatal(err)
	}
	p, err := markov.NewDirichlet(states, alpha)
	if err != nil {
		t.Fatal(err)
	}
	return Multi{Graph: g, Prior: p}
}

// flatten returns the numbers of nested lists in row-major order.
func flatten(v any) []float64 {
	if x, ok := v.(float64); ok {
		return []float64{x}
	}
	var out []float64
	for _, e := range v.([]any) {
		out = append(out, flatten(e)...)
	}
	return out
}

// digits writes k in base s to x, position 0 most significant.
func digits(x []int, k, s int) {
	for i := len(x) - 1; i >= 0; i-- {
		x[i] = k % s
		k /= s
	}
}

func TestMultiAgainstGolden(t *testing.T) {
	for _, name := range []string{"dag-k2-s2t5", "dag-mixed-s2t5"} {
		b, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var g struct {
			S, T     int
			Alpha    float64
			Dag      [][]int
			Pi       map[string]any
			Expected struct {
				Joint []float64
				Label [][]float64
				Bayes [][]float64
			}
		}
		if err := json.Unmarshal(b, &g); err != nil {
			t.Fatal(err)
		}
		m := multi(t, g.Dag, g.S, g.Alpha)
		pi := Tensors{}
		for k, v := range g.Pi {
			n, _ := strconv.Atoi(k)
			pi[n] = flatten(v)
		}
		x, f := make([]int, g.T), make([]float64, g.S)
		for k, want := range g.Expected.Joint {
			digits(x, k, g.S)
			p, y := m.Probability(pi, x)
			if math.Abs(p-want) > 1e-15 {
				t.Errorf("%s: P(%v) = %v, want %v", name, x, p, want)
			}
			m.Posterior(f, x)
			for a := range y {
				if y[a] != g.Expected.Label[k][a] {
					t.Errorf("%s: label law after %v is %v, want %v", name, x, y, g.Expected.Label[k])
				}
				if math.Abs(f[a]-g.Expected.Bayes[k][a]) > 1e-15 {
					t.Errorf("%s: posterior after %v is %v, want %v", name, x, f, g.Expected.Bayes[k])
				}
			}
		}
	}
}

// TestMultiSamplerLaw compares sampled sequences and the mean of their labels'
// laws with the exact ones: with the tensors integrated out, each token is drawn
// from the posterior mean of its row, a Polya urn. A right sampler fails in one
// of 2 * 10^6 choices of the seed for each chi-squared value, and mean.
func TestMultiSamplerLaw(t *testing.T) {
	const n, p = 200_000, 5e-7
	for _, parents := range [][][]int{
		{{}, {}, {0, 1}, {2, 0}, {3, 1}},
		{{}, {0}, {1, 0}, {2}, {}, {1, 4}},
	} {
		for _, uniform := range []bool{false, true} {
			for _, alpha := range []float64{0.5, 0.35} {
				m := multi(t, parents, 2, alpha)
				m.UniformRoots = uniform
				s, err := NewMultiSampler(m)
				if err != nil {
					t.Fatal(err)
				}
				b := m.NewBatch(n)
				s.Fill(b, num.Stream(1, "multi"))
				cells := 1 << b.T
				seen, label := make([]float64, cells), make([]float64, cells)
				for k := range n {
					x, y := b.Seq(k)
					c := 0
					for _, a := range x {
						c = 2*c + a
					}
					seen[c]++
					label[c] += y[0]
				}
				chi, x := 0.0, make([]int, b.T)
				for c := range cells {
					digits(x, c, 2)
					law, urn := 1.0, map[string][]float64{}
					for i := 0; i <= b.T; i++ {
						key := strconv.Itoa(len(parents[i]))
						for _, q := range parents[i] {
							key += "," + strconv.Itoa(x[q])
						}
						if urn[key] == nil {
							urn[key] = []float64{alpha, alpha}
						}
						u := urn[key]
						if i == b.T {
							if z := (label[c]/seen[c] - u[0]/(u[0]+u[1])) / (0.5 / math.Sqrt(seen[c])); seen[c] > 50 && math.Abs(z) > distuv.UnitNormal.Quantile(1-p/2) {
								t.Errorf("%v: mean label law after %v is %v, want %v", parents, x, label[c]/seen[c], u[0]/(u[0]+u[1]))
							}
						} else if uniform && len(parents[i]) == 0 {
							law /= 2
						} else {
							law *= u[x[i]] / (u[0] + u[1])
							u[x[i]]++
						}
					}
					d := seen[c] - n*law
					chi += d * d / (n * law)
				}
				if q := (distuv.ChiSquared{K: float64(cells - 1)}).Survival(chi); q < p {
					t.Errorf("%v, alpha %v, uniform roots %v: chi-squared %v, p = %v", parents, alpha, uniform, chi, q)
				}
			}
		}
	}
}

func TestBadDAGIsNamed(t *testing.T) {
	for want, parents := range map[string][][]int{
		"node 1 has the parent 1":       {{}, {1}, {0}},
		"node 2 has the parent -1":      {{}, {0}, {-1}},
		"node 2 has the parent 0 twice": {{}, {0}, {0, 0}},
		"node 2, the label":             {{}, {0}, {}},
		"1 nodes":                       {{}},
	} {
		if _, err := graph.NewDAG(parents); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", parents, err, want)
		}
	}
	g, _ := graph.NewDAG([][]int{{}, {0}, {0, 1}})
	if _, err := g.Uniform(); err == nil || !strings.Contains(err.Error(), "node 1 has 1 parents and the label 2") {
		t.Errorf("mixed in-degrees: error %v", err)
	}
	d, _ := markov.NewDirichlet(200, 1)
	if _, err := NewMultiSampler(Multi{Graph: graph.NGram(4, 3), Prior: d}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a tensor with 200^3 rows: error %v", err)
	}
}
