package train

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/model"
)

// The largest number that a field may have is accepted, the next one refused.
func TestFieldsEndAtAllMemory(t *testing.T) {
	for name, c := range map[string]struct {
		most int // by 16 TiB: sequences of 10 numbers, points of 3 after two more, 8 d^2 + 17 d weights
		set  func(s *Spec, n int)
	}{
		"batch": {1 << 44 / 160, func(s *Spec, n int) { s.Batch = n }},
		"test":  {1 << 44 / 80, func(s *Spec, n int) { s.Test = n }},
		"steps": {1<<44/24 - 2, func(s *Spec, n int) { s.Steps, s.Every = n, 1 }},
		"width": {1<<19 - 2, func(s *Spec, n int) { s.Model = MLP{Width: n} }},
	} {
		s := testSpec()
		if c.set(&s, c.most); s.Validate() != nil {
			t.Errorf("%s %d: %v", name, c.most, s.Validate())
		}
		if c.set(&s, c.most+1); s.Validate() == nil || !strings.HasPrefix(s.Validate().Error(), "spec: "+name+" is ") {
			t.Errorf("%s %d: %v", name, c.most+1, s.Validate())
		}
	}
}

// Each part of training is allowed its number of bytes, and refused one
// less.
func TestMemoryIsCountedInBytes(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	if limit() != min(4<<30, installed()) {
		t.Errorf("%v bytes without a limit, want 4 GiB, or the %v that are installed", limit(), installed())
	}
	unset, own := testSpec(), testSpec()
	unset.Test, unset.Every = 0, 0
	k, err := testSpec().Task.(Task1).New()
	if err != nil {
		t.Fatal(err)
	}
	own.Task = k
	for name, c := range map[string]struct {
		spec                               Spec
		arrays, drawing, sequences, points float64 // of the size of the weights; numbers of a sampler; of 3 for a point
	}{
		"sgd":   {testSpec(), 1, 4 * 8 * 9, 2*100 + 1500, 14},
		"unset": {unset, 1, 4 * 8 * 9, 2*100 + 4096, 30},
		"own":   {own, 1, 0, 2*100 + 1500, 14},
		"adamw": {multiSpec(), 4, 8 * (1 + 9), 2*64 + 1500, 14},
		"mlp":   {mlpSpec(MLP{Width: 8}), 4, 4 * 8 * 9, 2*100 + 1500, 14},
	} {
		s, f := c.spec, modelKind(c.spec.Model).footprint(c.spec.S(), c.spec.T())
		sequence, weights := float64(s.S()+s.T()), c.arrays*f.Weights
		with := func(workers float64) float64 {
			return weights + f.Engine + 9*f.Gradient + workers*(f.Pass+c.drawing) + c.sequences*sequence + c.points
		}
		for _, part := range []struct {
			numbers float64
			f       func() error
		}{
			{weights + c.points, func() error { _, err := s.NewSnapshot(s.Steps); return err }},
			{float64(s.Canonical().Test) * sequence, func() error { _, err := s.TestSet(); return err }},
			{with(1), func() error { return CheckMemory(s.Memory(1), "") }},
			{with(16), func() error { return CheckMemory(s.Memory(99), "") }}, // as many as have something to do
		} {
			bytes := int64(8 * part.numbers)
			debug.SetMemoryLimit(bytes)
			enough := part.f()
			debug.SetMemoryLimit(bytes - 1)
			if short := part.f(); enough != nil || short == nil {
				t.Errorf("%s: with %d bytes %v, with one less %v", name, bytes, enough, short)
			}
		}
	}
}

// The error names a sufficient GOMEMLIMIT if the machine has the memory.
func TestRefusalNamesASufficientLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	for bytes, want := range map[float64]string{
		1.8 * (1 << 30): "about 1.8 GiB of memory for it, more than 1 GiB; want less of these, or the environment " +
			"variable GOMEMLIMIT=2GiB",
		1e300: "want less of these",
	} {
		if err := CheckMemory(bytes, "it"); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v bytes: %v, want %s", bytes, err, want)
		}
	}
	if runtime.GOOS == "linux" {
		text, err := os.ReadFile("/proc/meminfo")
		if line := fmt.Sprintf(" %.0f kB", installed()/1024); err != nil || !strings.Contains(string(text), line) {
			t.Errorf("%v bytes are installed: %s, %v", installed(), text, err)
		}
	}
}

// There are no more workers than have something to do, and one for each processor.
func TestWorkersAreAtMostSixteen(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	for asked, want := range map[int]int{-1: min(processors, 16), 0: min(processors, 16), 1: 1, 16: 16, 17: 16} {
		tr, err := New(testSpec(), asked)
		if err != nil || len(tr.workers) != want || runtime.GOMAXPROCS(0) != processors {
			t.Errorf("%d asked for: %d, %v; %d processors", asked, len(tr.workers), err, runtime.GOMAXPROCS(0))
		}
	}
}

// In row 3 one head attends most to position 1, with 5/8, and the other one to position
// 2, with 9/12; all other rows attend to all alike.
func TestEdgesFollowTheHeads(t *testing.T) {
	spec := testSpec()
	spec.Task = Task1{Parents: []int{-1, 0, 0, -1}, States: 2, Prior: "dirichlet(1)"}
	spec.Model = Disentangled{Heads: [2]int{2, 1}}
	w := spec.NewWeights().(*model.Weights)
	one, two := w.A[0][0], w.A[0][1]
	one.Set(2+3, 2+1, math.Log(5))
	two.Set(2+3, 2+2, math.Log(9))
	want := []Edge{{0, 0, 1}, {1, 0, 1. / 2}, {2, 0, 1. / 3}, {3, 1, 5. / 8}, {3, 2, 9. / 12}}
	got := spec.Edges(w)
	if !slices.EqualFunc(got, want, func(a, b Edge) bool {
		return a.Child == b.Child && a.Parent == b.Parent && math.Abs(a.Attention-b.Attention) < 1e-15
	}) {
		t.Errorf("edges %v, want %v", got, want)
	}
	one.Zero()
	two.Set(2+3, 2+2, 0)
	two.Set(2+2, 2+2, math.Log(6)) // row 2 attends most to itself
	if got := spec.Edges(w); !slices.ContainsFunc(got, func(e Edge) bool {
		return e.Child == 2 && e.Parent == 2 &&
			math.Abs(e.Attention-0.75) < 1e-15
	}) {
		t.Errorf("edges %v, want one from position 2 to itself, of attention 3/4", got)
	}
	spec.Batch = 0
	for _, f := range []func(){func() { spec.Edges(w) }, func() { spec.Attention(w) }, func() { spec.MeanAttention(w) }} {
		property.Mentions(t, errors.New(property.Refused(t, "train", f)), "spec: batch is 0, want at least 1")
	}
}
