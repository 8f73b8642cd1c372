package nb

import (
	"fmt"
	"reflect"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// A Hint is a wrong variant of a function, and the text for a reader whose function has its value.
type Hint[C, V any] struct {
	Text  string
	Wrong func(C) V
}

// Judge compares a reader's function with the definition want. It shows the first case in which they differ, with
// both values, and the first hint whose variant has the reader's value there. Numbers and vectors of float64 may
// differ by 1e-9, absolute or relative. A function that panics with "write me", as in the copies of `make class`,
// is not written yet. Judge panics if it would not recognize the variant of a hint.
func Judge[C, V any](name string, got, want func(C) V, cases []C, hints []Hint[C, V]) {
	for _, h := range hints {
		if said := verdict(h.Wrong, want, cases, hints); !strings.HasSuffix(said, "\n"+h.Text) {
			panic(fmt.Sprintf("nb: %s: a reader who writes the variant of %q is told: %s", name, h.Text, said))
		}
	}
	defer func() {
		if r := recover(); r == "write me" {
			Printf("%s: not written yet\n", name)
		} else if r != nil {
			panic(r)
		}
	}()
	Printf("%s: %s\n", name, verdict(got, want, cases, hints))
}

func verdict[C, V any](got, want func(C) V, cases []C, hints []Hint[C, V]) string {
	for k, c := range cases {
		w, g := want(c), got(c)
		if alike(g, w) {
			continue
		}
		said := fmt.Sprintf("case %d of %d, %v\nyours %s, want %s", k+1, len(cases), c, digits(g), digits(w))
		for _, h := range hints {
			if alike(g, h.Wrong(c)) {
				return said + "\n" + h.Text
			}
		}
		return said
	}
	return fmt.Sprintf("right on all %d cases", len(cases))
}

func alike(a, b any) bool {
	switch a := a.(type) {
	case float64:
		return floats.EqualApprox([]float64{a}, []float64{b.(float64)}, 1e-9)
	case []float64:
		return floats.EqualApprox(a, b.([]float64), 1e-9)
	}
	return reflect.DeepEqual(a, b)
}

func digits(v any) string {
	switch v.(type) {
	case float64, []float64:
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprint(v)
}
