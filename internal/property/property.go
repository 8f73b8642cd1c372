// Package property tests functions over shapes and values, wrong ones above all. Each call
// must return a right result, or an error or panic with a message of the package.
//
//	func TestProperties(t *testing.T) {
//		property.Test(t, property.Table{"Exp": exp, "Forest.Parent Forest.Distance": positions})
//	}
//
// A property is a function of a [rapid.T], from which it draws its arguments.
package property

import (
	"flag"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A Table maps the names of the functions of a property, such as "New Forest.Parent", to the property.
type Table map[string]func(*rapid.T)

// Test checks every property of the table 500 times, or 100 times with -short, with a fixed
// seed; the flags -rapid.checks and -rapid.seed change this.
func Test(t *testing.T, table Table) {
	for name, value := range map[string]string{
		"rapid.checks": "500", "rapid.seed": "1", "rapid.nofailfile": "true",
	} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			_ = f.Value.Set(value) // they are what rapid's flags take
		}
	}
	for _, names := range slices.Sorted(maps.Keys(table)) {
		t.Run(strings.ReplaceAll(names, " ", ","), func(t *testing.T) { rapid.Check(t, table[names]) })
	}
}

// Refused calls f and returns the message of its panic, or "" if it has none. The test fails if the message
// lacks the prefix name: a runtime error of a slice or a nil pointer does not explain the fault to a caller.
func Refused(t rapid.TB, name string, f func()) (message string) {
	t.Helper()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case string:
			message = r
		case runtime.Error:
			t.Fatalf("%s panics with %q", name, r.Error())
		default:
			panic(r)
		}
		if message != "" && !strings.HasPrefix(message, name+": ") {
			t.Fatalf("%s panics with %q, want a message of its own", name, message)
		}
	}()
	f()
	return ""
}

// Refuses fails the test unless each call panics with a message of the package name.
func Refuses(t *testing.T, name string, calls map[string]func()) {
	t.Helper()
	for call, f := range calls {
		if Refused(t, name, f) == "" {
			t.Errorf("%s is accepted", call)
		}
	}
}

// Decide fails the test unless a call with right arguments was accepted, and a call with wrong arguments
// refused: refusal is the message of its panic or error, or "". It reports whether there is a result to check.
func Decide(t *rapid.T, right bool, refusal string) bool {
	t.Helper()
	switch {
	case right && refusal != "":
		t.Fatalf("right arguments are refused: %s", refusal)
	case !right && refusal == "":
		t.Fatalf("wrong arguments are accepted")
	}
	return refusal == ""
}

// Said returns the message of an error, or "" for nil. The test fails if the message lacks the prefix name.
func Said(t *rapid.T, name string, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	if !strings.HasPrefix(err.Error(), name+": ") {
		t.Fatalf("%s: error %q does not begin with the package", name, err)
	}
	return err.Error()
}

// Mentions fails the test unless err is an error whose message has all the parts.
func Mentions(t rapid.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q in it", err, part)
		}
	}
}

// Float draws numbers, half of them special: NaN, infinities, zeros of both signs, the
// smallest and the largest, and a few small numbers.
func Float() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.SampledFrom([]float64{
		math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 5e-324, 1e-300, 1e-9, 1e9, 1e300,
		math.MaxFloat64, -math.MaxFloat64, -1e-9, -1, 0.5, 1, 2,
	}), rapid.Float64Range(-3, 3))
}

// Int draws whole numbers, half of them in the range of shapes, the others also far too large.
func Int() *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(-2, 9), rapid.SampledFrom([]int{
		math.MinInt, math.MinInt >> 23, -1, 0, 1, 2, math.MaxInt >> 23, math.MaxInt,
	}))
}

// Law draws probability vectors of length n, some of them with zeros.
func Law(n int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		count := rapid.SliceOfN(rapid.IntRange(0, 4), n, n).Draw(t, "law")
		count[rapid.IntRange(0, n-1).Draw(t, "sure")]++
		total := 0
		for _, c := range count {
			total += c
		}
		p := make([]float64, n)
		for i, c := range count {
			p[i] = float64(c) / float64(total)
		}
		return p
	})
}

// Kernel draws transition matrices over s states with positive entries.
func Kernel(s int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		var pi []float64
		for range s {
			row := Law(s).Draw(t, "row")
			for i, p := range row {
				row[i] = 0.9*p + 0.1/float64(s)
			}
			pi = append(pi, row...)
		}
		return pi
	})
}

// Near reports whether x and y differ by at most tol, relative to the larger magnitude
// if it exceeds one. Equal infinities are near, NaN is near nothing.
func Near(x, y, tol float64) bool {
	gap := math.Abs(x - y)
	return x == y || gap <= tol*max(1, math.Abs(x), math.Abs(y)) && !math.IsInf(gap, 0)
}

// Damages calls f with b after the flip of each bit, and after 300 random changes of two
// bytes. f must not keep the bytes.
func Damages(b []byte, f func(damaged []byte)) {
	b = slices.Clone(b)
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		f(b)
		b[i/8] ^= 1 << (i % 8)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		i, j, di, dj := rng.IntN(len(b)), rng.IntN(len(b)), byte(1+rng.IntN(255)), byte(1+rng.IntN(255))
		if i == j {
			continue
		}
		b[i], b[j] = b[i]^di, b[j]^dj
		f(b)
		b[i], b[j] = b[i]^di, b[j]^dj
	}
}
