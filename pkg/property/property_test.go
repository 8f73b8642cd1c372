package property

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

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
func None() {}
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
		{0, 1e-11, false},
		{1, 2, false},
		{math.Inf(1), math.Inf(1), true},
		{math.Inf(1), 1e300, false},
		{math.NaN(), math.NaN(), false},
	} {
		if got := Near(c.x, c.y, 1e-12); got != c.want {
			t.Errorf("Near(%v, %v) is %v", c.x, c.y, got)
		}
	}
}
