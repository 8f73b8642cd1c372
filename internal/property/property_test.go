package property

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The tests of this package draw the same each time, too, and leave no files.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func TestTakersAreTheFunctionsThatTakeNumbers(t *testing.T) {
	folder := t.TempDir()
	const source = `package room

type Point struct{ X, Y float64 }
type Sealed struct{ x float64 }
type Vector []float64
type Shape interface{ Area() float64 }

func New(x, y float64) Point { return Point{x, y} }
func Read(r io.Reader, name string) error { return nil }
func Apply(f func(int) int) {}
func None(loud bool) {}
func small(x int) {}
func (p *Point) Norm() float64 { return 0 }
func (v Vector) Sum() float64 { return 0 }
func (s Sealed) Value() float64 { return s.x }
func (s Sealed) At(i int) float64 { return s.x }
func (p Point) hidden() {}
`
	for name, text := range map[string]string{"room.go": source, "room_test.go": "package room\nfunc Helper(x int) {}\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Takers(folder)
	want := []string{"Apply", "New", "Point.Norm", "Sealed.At", "Vector.Sum"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("takers are %v, %v, want %v", got, err, want)
	}
	if err := os.WriteFile(filepath.Join(folder, "broken.go"), []byte("package room\nfunc Broken("), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := Takers(folder); err == nil {
		t.Errorf("takers are %v in a file that is broken", got)
	}
}

func TestAFunctionIsNamedOnce(t *testing.T) {
	takers := []string{"A", "B", "C.D"}
	none := func(*rapid.T) {}
	for _, c := range []struct {
		table  Table
		exempt Exempt
		want   []string
	}{
		{Table{"A C.D": none}, Exempt{"B": "why"}, nil},
		{Table{"A": none}, Exempt{"B": "why"}, []string{"C.D takes numbers and has no property"}},
		{Table{"A B": none, "C.D": none}, Exempt{"B": "why"}, []string{"B is named twice"}},
		{Table{"A": none, "A B C.D": none}, nil, []string{"A is named twice"}},
		{Table{"A B C.D E": none}, nil, []string{"E is named, but is no exported function that takes numbers"}},
	} {
		if got := compare(takers, c.table, c.exempt); !slices.Equal(got, c.want) {
			t.Errorf("%v, %v: %q, want %q", c.table, c.exempt, got, c.want)
		}
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		x, y float64
		want bool
	}{
		{1, 1 + 1e-13, true},
		{1e300, 1e300 * (1 + 1e-13), true},
		{0, 1e-13, true},
		{0, 1e-12, true},
		{0, 1.5e-12, false},
		{-1e300, -1e300 * (1 + 1e-13), true},
		{-1e300, 1e300, false},
		{1, 2, false},
		{math.Inf(1), math.Inf(1), true},
		{math.Inf(1), 1e300, false},
		{1e300, math.Inf(1), false},
		{math.NaN(), math.NaN(), false},
	} {
		if got := Near(c.x, c.y, 1e-12); got != c.want {
			t.Errorf("Near(%v, %v) is %v", c.x, c.y, got)
		}
	}
}

// A spy is a test that only writes down how it fails.
type spy struct {
	*testing.T
	failed bool
	text   strings.Builder
}

func (s *spy) Logf(format string, args ...any)   { fmt.Fprintf(&s.text, format+"\n", args...) }
func (s *spy) Errorf(format string, args ...any) { s.failed = true; s.Logf(format, args...) }
func (s *spy) Fatalf(format string, args ...any) { s.Errorf(format, args...); runtime.Goexit() }
func (s *spy) Failed() bool                      { return s.failed }
func (s *spy) FailNow()                          { s.failed = true; runtime.Goexit() }
func (s *spy) Fail()                             { s.failed = true }

// failure returns what a property says that fails, and "" of one that does not.
func failure(t *testing.T, f func(t *rapid.T)) string {
	s := &spy{T: t}
	done := make(chan bool)
	go func() {
		defer close(done)
		rapid.Check(s, f)
	}()
	<-done
	if !s.failed {
		return ""
	}
	return s.text.String()
}

// Each way to be refused, or not, is told from the others.
func TestRefusalsAreJudged(t *testing.T) {
	var list []int
	for _, c := range []struct {
		what string
		f    func(t *rapid.T)
		want string // what the failure says, or "" where there is none
	}{
		{"no panic", func(t *rapid.T) { same(t, Refused(t, "room", func() {}), "") }, ""},
		{"its own panic", func(t *rapid.T) {
			same(t, Refused(t, "room", func() { panic("room: no door") }), "room: no door")
		}, ""},
		{"a panic of another", func(t *rapid.T) { Refused(t, "room", func() { panic("house: no door") }) }, "want a message of its own"},
		{"an empty message", func(t *rapid.T) { same(t, Refused(t, "room", func() { panic("") }), "") }, ""},
		{"an index", func(t *rapid.T) { Refused(t, "room", func() { list[0] = 1 }) }, "index out of range"},
		{"another value", func(t *rapid.T) { Refused(t, "room", func() { panic(3) }) }, "3"},

		{"no error", func(t *rapid.T) { same(t, Said(t, "room", nil), "") }, ""},
		{"its own error", func(t *rapid.T) { same(t, Said(t, "room", errors.New("room: full")), "room: full") }, ""},
		{"an error of another", func(t *rapid.T) { Said(t, "room", errors.New("house: full")) }, "does not begin with the package"},

		{"right, accepted", func(t *rapid.T) { same(t, Decide(t, true, ""), true) }, ""},
		{"wrong, refused", func(t *rapid.T) { same(t, Decide(t, false, "room: no"), false) }, ""},
		{"right, refused", func(t *rapid.T) { Decide(t, true, "room: no") }, "right arguments are refused: room: no"},
		{"wrong, accepted", func(t *rapid.T) { Decide(t, false, "") }, "wrong arguments are accepted"},
	} {
		got := failure(t, c.f)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: it says %q, want %q", c.what, got, c.want)
		}
	}
}

func same[T comparable](t *rapid.T, got, want T) {
	if got != want {
		t.Fatalf("it is %v, want %v", got, want)
	}
}

// The tests of a package fail if a function has no property, and where there is none.
func TestForgottenFunctionsFail(t *testing.T) {
	if os.Getenv("FORGOTTEN") != "" {
		Test(t, Table{}, nil)
		return
	}
	for folder, want := range map[string]string{".": "Law takes numbers and has no property", t.TempDir(): "no buildable Go source files"} {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "FORGOTTEN=1")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, want an error that says %q:\n%s", err, want, out)
		}
	}
}

// A property is tried 500 times, or 100 with -short, on the same draws each time.
func TestAPropertyIsTriedOftenAndOnTheSame(t *testing.T) {
	var draws [2][]int
	tried := func(k int) {
		Test(t, Table{"Decide": func(t *rapid.T) { draws[k] = append(draws[k], rapid.Int().Draw(t, "n")) }}, Exempt{
			"Law": "below", "Kernel": "below", "Near": "above", "Refused": "above", "Said": "above", "Test": "this",
			"DrawExample": "draws for tests", "Fill": "the same", "MaxDiff": "the same", "Sequence": "the same",
		})
	}
	tried(0)
	tried(1)
	want := 500
	if testing.Short() {
		want = 100
	}
	if len(draws[0]) != want || !slices.Equal(draws[0], draws[1]) {
		t.Errorf("%d and %d draws, want %d the same", len(draws[0]), len(draws[1]), want)
	}
	draws[0] = nil
	checks := flag.Lookup("rapid.checks").Value
	if err := checks.Set("5"); err != nil {
		t.Fatal(err)
	}
	defer checks.Set("500")
	tried(0)
	if n := len(draws[0]); n != 5*want/500 {
		t.Errorf("%d draws where 5 are asked for", n)
	}
}

// isLaw fails unless the entries of p sum to one and none is below the least.
func isLaw(t *rapid.T, p []float64, least float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
		if v < least {
			t.Fatalf("%v in a law of %d, want %v or more", v, len(p), least)
		}
	}
	if !Near(sum, 1, 1e-12) {
		t.Fatalf("%v sums to %v", p, sum)
	}
}

func TestGeneratorsDrawWhatTheySay(t *testing.T) {
	floats, ints, zeros, most := map[float64]bool{}, map[int]bool{}, 0, 0.0
	nan, plain, tries, below := 0, 0, 0, false
	rapid.Check(t, func(t *rapid.T) {
		for range 50 {
			tries++
			x := Float().Draw(t, "x")
			floats[x] = true
			if math.IsNaN(x) {
				nan++
			}
			below = below || x == 0 && math.Signbit(x)
			if math.Abs(x) < 3 && x != math.Trunc(x) && math.Abs(x) != 1e-9 && x != 0.5 {
				plain++
			}
			ints[Int().Draw(t, "n")] = true
			n := rapid.IntRange(1, 5).Draw(t, "n")
			p, pi := Law(n).Draw(t, "p"), Kernel(n).Draw(t, "pi")
			if len(p) != n || len(pi) != n*n {
				t.Fatalf("a law of %d and a kernel of %d numbers, want %d and %d", len(p), len(pi), n, n*n)
			}
			for row := range slices.Chunk(pi, n) {
				isLaw(t, row, 0.1/float64(n))
			}
			isLaw(t, p, 0)
			for _, v := range p {
				if v == 0 {
					zeros++
				} else {
					most = max(most, slices.Max(p)/v)
				}
			}
		}
	})
	for _, x := range []float64{math.Inf(1), math.Inf(-1), 0, 5e-324, 1e-300, 1e-9, 1e9, 1e300, math.MaxFloat64, -math.MaxFloat64, -1e-9, -1, 0.5, 1, 2} {
		if !floats[x] {
			t.Errorf("%v was not drawn in %d tries", x, tries)
		}
	}
	low, high := 0.0, 0.0 // of the small ones
	for x := range floats {
		if math.Abs(x) < 1e8 {
			low, high = min(low, x), max(high, x)
		}
	}
	if !(low >= -3 && low < -2 && high > 2 && high <= 3) {
		t.Errorf("small numbers from %v to %v were drawn, want about -3 to 3", low, high)
	}
	if !Near(most, 5, 1e-12) {
		t.Errorf("the largest entry of a law is up to %v times another one, want 5", most)
	}
	for n := range ints {
		if n < -2 && n > math.MinInt>>23 || n > 9 && n < math.MaxInt>>23 {
			t.Errorf("%d was drawn", n)
		}
	}
	for _, n := range []int{math.MinInt, math.MinInt >> 23, -2, -1, 0, 1, 2, 9, math.MaxInt >> 23, math.MaxInt} {
		if !ints[n] {
			t.Errorf("%d was not drawn in %d tries", n, tries)
		}
	}
	if nan == 0 || !below || plain < tries/4 || zeros == 0 {
		t.Errorf("%d NaN, a zero below zero is %v, %d small numbers and %d zeros in %d tries", nan, below, plain, zeros, tries)
	}
}

// What breaks things is drawn: all numbers and whole numbers of the kinds that are named.
func TestWhatBreaksThingsIsDrawn(t *testing.T) {
	floats, ints := map[string]bool{}, map[int]bool{}
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			floats[fmt.Sprint(Float().Draw(t, "x"))] = true
			ints[Int().Draw(t, "n")] = true
		}
	})
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64} {
		if !floats[fmt.Sprint(x)] {
			t.Errorf("%v is not drawn", x)
		}
	}
	for _, n := range []int{math.MinInt, -1, 0, 1, 2, math.MaxInt} {
		if !ints[n] {
			t.Errorf("%d is not drawn", n)
		}
	}
}
