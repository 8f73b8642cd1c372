package nb

import (
	"fmt"
	"math"
	"strings"
	"testing"
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
