package nb

import (
	"fmt"
	"math/cmplx"
	"reflect"
	"strings"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

// A Hint is a wrong variant of a function, and the text for a reader whose function has its value.
type Hint[C, V any] struct {
	Text  string
	Wrong func(C) V
}

// Judge compares a reader's function with the definition want. It shows the first case in which they differ, with
// both values, and the first hint whose variant has the reader's value there. Numbers of floating point, also in
// vectors, matrices, maps and structs, may differ by 1e-9, absolute or relative. Each call gets a copy of its case. A
// function that panics with "write me", as in the copies of `make class`,
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
		w, g := want(copied(c)), got(copied(c))
		if alike(g, w) {
			continue
		}
		said := fmt.Sprintf("case %d of %d, %v\nyours %s, want %s", k+1, len(cases), c, digits(g), digits(w))
		for _, h := range hints {
			if alike(g, h.Wrong(copied(c))) {
				return said + "\n" + h.Text
			}
		}
		return said
	}
	return fmt.Sprintf("right on all %d cases", len(cases))
}

func alike(a, b any) bool { return same(reflect.ValueOf(a), reflect.ValueOf(b)) }

// same compares values by their numbers, and matrices of gonum by their entries.
func same(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return a.IsValid() == b.IsValid() && !a.IsValid()
	}
	all := func(n int, at func(v reflect.Value, i int) reflect.Value) bool {
		for i := range n {
			if !same(at(a, i), at(b, i)) {
				return false
			}
		}
		return true
	}
	if m, ok := matrix(a); ok {
		o, ok := matrix(b)
		return ok && mat.EqualApprox(m, o, 1e-9)
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return scalar.EqualWithinAbsOrRel(a.Float(), b.Float(), 1e-9, 1e-9)
	case reflect.Complex64, reflect.Complex128:
		x, y := a.Complex(), b.Complex()
		return cmplx.Abs(x-y) <= 1e-9*max(1, cmplx.Abs(x), cmplx.Abs(y))
	case reflect.Slice, reflect.Array:
		return a.Len() == b.Len() && all(a.Len(), reflect.Value.Index)
	case reflect.Struct:
		return all(a.NumField(), reflect.Value.Field)
	case reflect.Map:
		keys := a.MapKeys()
		return a.Len() == b.Len() && all(len(keys), func(v reflect.Value, i int) reflect.Value { return v.MapIndex(keys[i]) })
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() || a.Kind() == reflect.Pointer && a.Pointer() == b.Pointer() {
			return a.IsNil() == b.IsNil()
		}
		return same(a.Elem(), b.Elem())
	case reflect.Func, reflect.Chan:
		return a.Pointer() == b.Pointer()
	}
	return a.Equal(b)
}

// matrix returns a value that is a matrix of gonum and not nil.
func matrix(v reflect.Value) (m mat.Matrix, ok bool) {
	if v.CanInterface() && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		m, ok = v.Interface().(mat.Matrix)
	}
	return m, ok
}

// copied returns a copy of a value that shares no slice, map or matrix with it; hidden fields are shared.
func copied[T any](v T) T {
	var out T
	reflect.ValueOf(&out).Elem().Set(clone(reflect.ValueOf(&v).Elem()))
	return out
}

func clone(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(clone(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(clone(v.Field(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
		}
		for _, key := range v.MapKeys() {
			out.SetMapIndex(key, clone(v.MapIndex(key)))
		}
	case reflect.Pointer, reflect.Interface:
		m, ok := matrix(v)
		if vec, is := m.(*mat.VecDense); ok && is {
			out.Set(reflect.ValueOf(mat.VecDenseCopyOf(vec)))
		} else if dense, is := m.(*mat.Dense); ok && is {
			out.Set(reflect.ValueOf(mat.DenseCopyOf(dense)))
		}
	}
	return out
}

func digits(v any) string {
	switch v := v.(type) {
	case float64, []float64, [][]float64, map[string]float64, map[int]float64:
		return fmt.Sprintf("%.6g", v)
	case *mat.Dense, *mat.VecDense:
		if m, ok := matrix(reflect.ValueOf(v)); ok {
			return fmt.Sprintf("%.6g", mat.Formatted(m))
		}
	}
	return fmt.Sprint(v)
}
