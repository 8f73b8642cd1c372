package engine

import (
	"reflect"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/model"
)

// floats counts the float64 in the arrays that v holds, each once.
func floats(v reflect.Value, seen map[uintptr]bool) (n int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() || v.Kind() == reflect.Pointer && seen[v.Pointer()] {
			return 0
		}
		if v.Kind() == reflect.Pointer {
			seen[v.Pointer()] = true
		}
		return floats(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			n += floats(v.Field(i), seen)
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k == reflect.Float64 || k == reflect.Int {
			for i := range v.Len() {
				if at := v.Index(i).UnsafeAddr(); !seen[at] {
					seen[at] = true
					n++
				}
			}
			return n
		}
		for i := range v.Len() {
			n += floats(v.Index(i), seen)
		}
	}
	return n
}

// The counts are the lengths of the allocated arrays.
func TestFootprintIsTheAllocation(t *testing.T) {
	for name, c := range map[string]struct {
		w    model.Model
		want Footprint
	}{
		"one head":         {model.NewWeights(3, 7, 1, 1), WeightsFootprint(3, 7, 1, 1)},
		"heads [3 2]":      {model.NewWeights(4, 9, 3, 2), WeightsFootprint(4, 9, 3, 2)},
		"many tokens":      {model.NewWeights(20, 4, 1, 1), WeightsFootprint(20, 4, 1, 1)},
		"one of each":      {model.NewWeights(1, 1, 1, 1), WeightsFootprint(1, 1, 1, 1)},
		"one by one":       {model.NewWeights(2, 190, 1, 1), WeightsFootprint(2, 190, 1, 1)},
		"two by two":       {model.NewWeights(3, 130, 2, 2), WeightsFootprint(3, 130, 2, 2)},
		"MLPs":             {model.NewMLP(3, 7, 5), MLPFootprint(3, 7, 5, false)},
		"MLPs, wide":       {model.NewMLP(2, 5, 40), MLPFootprint(2, 5, 40, false)},
		"MLPs, one of all": {model.NewMLP(1, 1, 1), MLPFootprint(1, 1, 1, false)},
		"MLPs, residual":   {model.NewResidualMLP(3, 7, 5), MLPFootprint(3, 7, 5, true)},
	} {
		e := New(c.w)
		weights := 0
		for _, m := range c.w.Matrices() {
			weights += len(m.Data)
		}
		gradient := len(e.NewGradient().Sum())
		if w, g := c.want.Weights, c.want.Gradient; float64(weights) != w || float64(gradient) != g {
			t.Errorf("%s: %d weights, %d entries of a gradient, want %v and %v", name, weights, gradient, w, g)
		}
		engine := floats(reflect.ValueOf(e), map[uintptr]bool{})
		// Products with a transpose and the backward pass of the tables take the
		// matrices of an engine with MLPs a second time.
		if m, ok := e.(*mlpEngine); ok {
			engine += floats(reflect.ValueOf(m.m), map[uintptr]bool{})
		}
		if c.want.Engine != float64(engine) {
			t.Errorf("%s: %d entries of an engine, want %v", name, engine, c.want.Engine)
		}
		seen := map[uintptr]bool{reflect.ValueOf(e).Pointer(): true}
		if n := floats(reflect.ValueOf(e.NewPass()), seen); c.want.Pass != float64(n) {
			t.Errorf("%s: %d entries of a pass, want %v", name, n, c.want.Pass)
		}
	}
	want := "engine: tokens, positions and heads or width are [0 3 1 1], want at least one of each"
	if said := property.Refused(t, "engine", func() { WeightsFootprint(0, 3, 1, 1) }); said != want {
		t.Errorf("the footprint over no tokens: %q, want %s", said, want)
	}
	if f := WeightsFootprint(1<<40, 1<<40, 1, 1).Gradient; !(f > 1e25 && f < 1e26) {
		t.Errorf("2^40 tokens and positions take %v numbers, want about 2^84", f)
	}
}
