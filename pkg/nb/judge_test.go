package nb

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestJudgeShowsTheFirstDifferenceAndTheHintOfItsVariant(t *testing.T) {
	double := func(x float64) float64 { return 2 * x }
	hints := []Hint[float64, float64]{
		{"twice, not squared", func(x float64) float64 { return x * x }},
		{"the factor is missing", func(x float64) float64 { return x }},
	}
	for said, got := range map[string]func(float64) float64{
		"right on all 3 cases":                                   func(x float64) float64 { return x + x*(1+1e-12) },
		"case 2 of 3, 3\nyours 9, want 6\ntwice, not squared":    hints[0].Wrong,
		"case 1 of 3, 2\nyours 2, want 4\nthe factor is missing": hints[1].Wrong,
		"case 1 of 3, 2\nyours 4.00001, want 4":                  func(x float64) float64 { return 2*x + 1e-5 },
		"case 1 of 3, 2\nyours NaN, want 4":                      func(float64) float64 { return math.NaN() },
		"case 3 of 3, -1\nyours 2, want -2":                      func(x float64) float64 { return 2 * math.Abs(x) },
		"not written yet":                                        func(float64) float64 { panic("write me") },
	} {
		out, _ := capture(t)
		Judge("f", got, double, []float64{2, 3, -1}, hints)
		if want := "f: " + said + "\n"; out.String() != want {
			t.Errorf("got %q, want %q", out, want)
		}
	}
}

func TestJudgeComparesVectorsByTheirNumbers(t *testing.T) {
	two := func(int) []float64 { return []float64{0.5, 1} }
	for said, got := range map[string]func(int) []float64{
		"right on all 1 cases":                      func(int) []float64 { return []float64{0.5, 1 + 1e-12} },
		"case 1 of 1, 7\nyours [0.5], want [0.5 1]": func(int) []float64 { return []float64{0.5} },
		"case 1 of 1, 7\nyours [], want [0.5 1]":    func(int) []float64 { return nil },
	} {
		out, _ := capture(t)
		if Judge("v", got, two, []int{7}, nil); out.String() != "v: "+said+"\n" {
			t.Errorf("got %q, want %q", out, said)
		}
	}
	out, _ := capture(t)
	Judge("n", func(n int) int { return n + 1 }, func(n int) int { return n }, []int{1}, nil)
	if !strings.Contains(out.String(), "yours 2, want 1") {
		t.Errorf("of integers it says %q", out)
	}
}

func TestJudgePanics(t *testing.T) {
	right, wrong := func(n int) int { return n }, func(int) int { return 9 }
	for want, judge := range map[string]func(){
		`"always right" is told: right on all 1 cases`: func() {
			Judge("f", right, right, []int{1}, []Hint[int, int]{{"always right", right}})
		},
		`"second" is told: case 1 of 1`: func() {
			Judge("f", right, right, []int{1}, []Hint[int, int]{{"first", wrong}, {"second", wrong}})
		},
		"of the reader": func() { Judge("f", func(int) int { panic("of the reader") }, right, []int{1}, nil) },
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("recovered %q, want %q", r, want)
				}
			}()
			judge()
			t.Errorf("no panic with %q", want)
		}()
	}
}

// Numbers in containers have the same tolerance: 1e-9, and not 1e-6.
func TestJudgeComparesContainersByTheirNumbers(t *testing.T) {
	type pair struct {
		Name  string
		value float64
		rows  [][]float32
	}
	dense := func(x float64) *mat.Dense { return mat.NewDense(2, 2, []float64{x, 1, 2, 3}) }
	for name, of := range map[string]func(x float64) any{
		"number":    func(x float64) any { return x },
		"vector":    func(x float64) any { return []float64{1, x} },
		"rows":      func(x float64) any { return [][]float64{{1}, {x, 2}} },
		"array":     func(x float64) any { return [2]float64{x, 1} },
		"map":       func(x float64) any { return map[string]float64{"a": x, "b": 2} },
		"struct":    func(x float64) any { return pair{"a", x, nil} },
		"pointer":   func(x float64) any { return &pair{"a", x, [][]float32{{1}}} },
		"matrix":    func(x float64) any { return dense(x) },
		"transpose": func(x float64) any { return dense(x).T() },
		"complex":   func(x float64) any { return complex(1, x) },
		"mixed":     func(x float64) any { return []any{"a", x, nil} },
	} {
		want := func(int) any { return of(0.5) }
		for d, right := range map[float64]bool{0: true, 1e-12: true, 1e-7: false, 1e-3: false} {
			out, _ := capture(t)
			Judge(name, func(int) any { return of(0.5 + d) }, want, []int{1}, nil)
			if got := strings.Contains(out.String(), "right on all"); got != right {
				t.Errorf("%s off by %g: %s", name, d, out)
			}
		}
	}
	for name, got := range map[string]any{
		"another size": mat.NewDense(1, 4, []float64{0.5, 1, 2, 3}), "no matrix": 3, "nil": nil,
		"typed nil": (*mat.Dense)(nil),
	} {
		if alike(got, dense(0.5)) || alike(dense(0.5), got) {
			t.Errorf("%s is like a matrix", name)
		}
	}
	if alike(map[string]float64{"a": 1}, map[string]float64{"b": 1}) || alike(pair{"a", 1, nil}, pair{"b", 1, nil}) {
		t.Error("other keys or names are alike")
	}
}

// An answer that changes its argument changes neither the printed case nor what the definition and hints see.
func TestJudgeGivesEachCallACopy(t *testing.T) {
	type C struct {
		X []int
		M map[string]int
		D *mat.Dense
	}
	c := C{[]int{1, 2}, map[string]int{"a": 1}, mat.NewDense(1, 1, []float64{1})}
	sum := func(c C) float64 { return float64(c.X[0]+c.X[1]+c.M["a"]) + c.D.At(0, 0) }
	spoil := func(c C) float64 {
		v := 2 * sum(c)
		c.X[0], c.M["a"] = 9, 9
		c.D.Set(0, 0, 9)
		return v
	}
	out, _ := capture(t)
	Judge("sum", spoil, sum, []C{c}, []Hint[C, float64]{{"doubled", spoil}})
	said := out.String()
	if !strings.Contains(said, "{[1 2] map[a:1] ") || !strings.HasSuffix(said, "yours 10, want 5\ndoubled\n") {
		t.Errorf("it says %s", said)
	}
	if c.X[0] != 1 || c.M["a"] != 1 || c.D.At(0, 0) != 1 {
		t.Errorf("the case is now %v", c)
	}
}
