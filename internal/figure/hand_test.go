package figure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The range of a scale is the range of the data or the given range. A signed scale is
// symmetric about zero.
func TestRangeOfAScale(t *testing.T) {
	for _, c := range []struct {
		s      Scale
		m      [][]float64
		lo, hi float64
		fault  string
	}{
		{Scale{}, [][]float64{{1, 2}, {-3, 0}}, -3, 2, ""},
		{Scale{}, [][]float64{{2, 2}}, 2, 3, ""},
		{Scale{Min: -4, Max: 4}, [][]float64{{1, 2}, {-3, 0}}, -4, 4, ""},
		{Scale{Palette: Signed}, [][]float64{{1, 2}, {-3, 0}}, -3, 3, ""},
		{Scale{Palette: Signed}, [][]float64{{-1, -5}}, -5, 5, ""},
		{Scale{Palette: Signed}, [][]float64{{0, 0}}, -1, 1, ""},
		{Scale{Palette: Signed, Min: -4, Max: 4}, [][]float64{{1}}, -4, 4, ""},
		{Scale{Palette: Signed, Min: -4, Max: 5}, [][]float64{{1}}, 0, 0, "signed scale [-4, 5] is not symmetric about 0"},
		{Scale{Min: 0, Max: 1}, [][]float64{{0.5, 1.5}}, 0, 0, "matrix entry (0, 1) = 1.5 lies outside the scale [0, 1]"},
	} {
		r, err := c.s.resolve(c.m)
		if c.fault != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.fault) {
				t.Errorf("%+v of %v: %v, want %s", c.s, c.m, err, c.fault)
			}
		} else if err != nil || r.Min != c.lo || r.Max != c.hi {
			t.Errorf("%+v of %v: [%v, %v], %v, want [%v, %v]", c.s, c.m, r.Min, r.Max, err, c.lo, c.hi)
		}
	}
	one, two := &Matrix{Values: [][]float64{{1, 2}}}, &Matrix{Values: [][]float64{{-1, 0}}}
	if ShareScale(Scale{}, one, two); one.Scale.Min != -1 || two.Scale.Max != 2 || !one.Scale.Hidden || two.Scale.Hidden {
		t.Errorf("a scale for two: %+v and %+v", one.Scale, two.Scale)
	}
}

// The numbers of close nodes stand below them. If not all fit, the first and every fifth
// are shown.
func TestNumbersOfCloseNodes(t *testing.T) {
	numbers := func(n int) (all []string) {
		parents := make([]int, n)
		for i := range parents {
			parents[i] = i - 1
		}
		f := &Figure{ID: "close", Rows: [][]Panel{{&Graph{Parents: parents}}}}
		tex, err := f.TeX()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n + 1 {
			if strings.Contains(string(tex), fmt.Sprintf("{%d}", i)) || strings.Contains(string(tex), fmt.Sprintf("{$%d$}", i)) {
				all = append(all, fmt.Sprint(i))
			}
		}
		return all
	}
	for n, every := range map[int]int{20: 1, 25: 5, 40: 5} {
		var want []string
		for i := 1; i <= n; i++ {
			if i == 1 || i%every == 0 {
				want = append(want, fmt.Sprint(i))
			}
		}
		sevens := func(s string) bool { return s == "7" } // the size of the type is written so too
		if got := slices.DeleteFunc(numbers(n), sevens); !slices.Equal(got, slices.DeleteFunc(want, sevens)) {
			t.Errorf("of %d nodes %v have numbers, want %v", n, got, want)
		}
	}
}

func TestMacrosAreDistinct(t *testing.T) {
	for _, bad := range []Numbers{
		{{ID: "fig9"}, {ID: "fig-nine"}},
		{{ID: "x", Paper: "1"}, {ID: "x-paper"}},
		{{ID: "same"}, {ID: "same"}},
	} {
		if tex, err := bad.TeX(); err == nil {
			t.Errorf("no error for %+v:\n%s", bad, tex)
		}
	}
}
