package exact

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// ghatOf returns ghat in floats under the uniform prior over the relabelings of the matrices.
func ghatOf(t *testing.T, g *graph.Forest, eps float64, apart bool, pis ...Matrix) func(i, j int) float64 {
	t.Helper()
	reading := theory.QueryInSequence
	if apart {
		reading = theory.QueryApart
	}
	var bases [][]float64
	for _, pi := range pis {
		bases = append(bases, pi.Floats())
	}
	prior, err := markov.NewOrbit(len(pis[0]), bases...)
	if err != nil {
		t.Fatal(err)
	}
	ghat, err := theory.GHat(g, prior, eps, reading)
	if err != nil {
		t.Fatal(err)
	}
	return ghat.At
}

// The enclosures contain the gradient by quadrature.
func TestInContextContainsTheGradient(t *testing.T) {
	first := Rats("9/10 1/20 1/20; 1/5 1/20 3/4; 1/5 3/4 1/20")
	second := Rats("4/5 1/5; 3/10 7/10")
	for _, pi := range []Matrix{first, second} {
		for _, root := range []int64{9, 15} {
			last := int(root * root)
			for _, apart := range []bool{false, true} {
				ghat := ghatOf(t, graph.InContext(last), 1/float64(root), apart, pi)
				c := NewInContext(pi, Int(root*root), Frac(1, root))
				c.Apart = apart
				for i, at := range map[Role]int{OwnRoot: 40, OwnChild: 41, Query: last - 1} {
					column := map[Role]int{OtherRoot: 20, OtherChild: 21, OwnRoot: at &^ 1, OwnChild: at, Query: at}
					for _, j := range i.columns() {
						got, want := c.GHat(i, j), ghat(at, column[j])
						if !got.Contains(new(big.Rat).SetFloat64(want)) {
							t.Errorf("T = %d, %v, (%d, %d): %v does not contain %v", last, apart, i, j, got, want)
						}
						if width := Float(Sub(got.Hi, got.Lo)); root == 15 && width > 20 {
							t.Errorf("(%d, %d): an enclosure of width %v", i, j, width)
						}
					}
				}
			}
		}
	}
}

// The enclosures of g* contain ghat of a prior of several matrices, and the enclosures
// of a row follow from its entries.
func TestStageOneByEntries(t *testing.T) {
	near := func(what string, got *big.Rat, want float64) {
		t.Helper()
		if !property.Near(Float(got), want, 1e-9) {
			t.Errorf("%s is %v, want %v", what, Float(got), want)
		}
	}
	for _, in := range []struct {
		root int64
		pis  []Matrix
	}{
		{15, []Matrix{Rats("9/10 1/10; 2/5 3/5")}},
		{11, []Matrix{Rats("1/2 1/3 1/6; 1/10 3/5 3/10; 2/7 1/7 4/7")}},
		{13, []Matrix{Rats("4/5 1/5; 1/5 4/5"), Rats("3/10 7/10; 9/10 1/10")}},
	} {
		n, s, eps := int(in.root*in.root), len(in.pis[0]), Frac(1, 10)
		for _, apart := range []bool{false, true} {
			ghat := ghatOf(t, graph.InContext(n), 0.1, apart, in.pis...)
			c := NewStageOne(Int(in.root), eps, in.pis...)
			c.Apart = apart
			place := func(r Role) int {
				if r == Query {
					return n - 1
				}
				return int(r)
			}
			twoS := 2 * float64(s)
			for _, i := range []Role{OwnRoot, OwnChild, Query} {
				var lo, hi, less []float64
				for _, j := range i.columns() {
					star, g := c.GStar(i, j), Float(c.G(i, j))
					shift := 6 * float64(s*s) * 100 / float64(n*n)
					if v := ghat(place(i), place(j)); !(Float(star.Lo) <= v-shift+1e-9 && Float(star.Hi) >= v+shift-1e-9) {
						t.Errorf("g* is in %v, with ghat = %v and beta0 = T^-2", star, v)
					}
					lo, hi = append(lo, Float(star.Lo)), append(hi, Float(star.Hi))
					less = append(less, lo[len(lo)-1]-g, hi[len(hi)-1]-g)
				}
				drive, last := c.Drive(i), len(lo)-1
				near("the least drive", drive.Lo, max(slices.Max(lo)-slices.Min(hi), 0)/twoS)
				near("the largest drive", drive.Hi, (slices.Max(hi)-slices.Min(lo))/twoS)
				near("the distance from g", c.Distance(i, c.G).Hi, max(slices.Max(less), -slices.Min(less)))
				near("the least gap", c.Gap(i, i).Lo, lo[last]-slices.Max(hi[:last]))
				near("the largest gap", c.Gap(i, i).Hi, hi[last]-slices.Max(lo[:last]))
			}
		}
	}
}

// The enclosures of the error of 1/(muhat+eps) against their formulas, on graphs of three
// lengths, and the moments of muhat against the law of the counts. Two lengths give the
// moments of a pair.
func TestFluctuation(t *testing.T) {
	pi := Rats("4/5 1/5; 3/10 7/10")
	chain := theory.MustChain(pi.Floats(), 2)
	for _, last := range []int64{9, 49, 9999} {
		c := NewInContext(pi, Int(last), Frac(1, 10))
		for state, mu := range []float64{0.6, 0.4} {
			n := float64(last)
			moment := func(g *graph.Forest) float64 {
				sum := 0.0
				for k, p := range chain.CountLaw(g, state) {
					off := float64(k) - float64(g.T())*mu
					sum += p * off * off
				}
				return sum
			}
			second := (25 + n/2*(moment(graph.InContext(7))-moment(graph.InContext(5)))) / (n * n)
			far, scale := n*mu/2-5, (mu+0.1)*(mu+0.1)
			want := [2]float64{-5 / n / scale, (5/n + 2/mu*second + mu*mu/0.1*math.Exp(-min(far*far/n, 1000))) / scale}
			if far <= 0 {
				want = [2]float64{-1 / (mu + 0.1), 10}
			}
			got := c.fluctuation(state)
			if !property.Near(Float(got.Lo), want[0], 1e-9) || !property.Near(Float(got.Hi), want[1], 1e-9) {
				t.Errorf("T = %d: the fluctuation is in %v, want %v", last, got, want)
			}
		}
	}
}

func inContext(t *rapid.T) {
	pi := kernel(t, rapid.IntRange(1, 3).Draw(t, "S"))
	length := Add(Int(rapid.Int64Range(0, 12).Draw(t, "T")), Frac(rapid.Int64Range(0, 1).Draw(t, "more"), 2))
	eps := rational().Draw(t, "eps")
	right := isPositive(pi) && length.IsInt() && length.Num().Bit(0) == 1 && length.Cmp(Int(5)) >= 0 && eps.Sign() > 0
	var c InContext
	if !property.Decide(t, right, refused(t, func() { c = NewInContext(pi, length, eps) })) {
		return
	}
	c.Apart = rapid.Bool().Draw(t, "apart")
	role := rapid.Map(rapid.IntRange(-1, 5), func(r int) Role { return Role(r) })
	i, j, s := role.Draw(t, "i"), role.Draw(t, "j"), rapid.IntRange(-1, 3).Draw(t, "s")
	inside := i >= 0 && i <= Query && j >= 0 && j <= Query
	var ghat, off Interval
	if property.Decide(t, inside, refused(t, func() { ghat = c.GHat(i, j) })) && ghat.Lo.Cmp(ghat.Hi) > 0 {
		t.Fatalf("ghat is in %v", ghat)
	}
	if property.Decide(t, inside && s >= 0 && s < len(pi), refused(t, func() { off = c.Error(i, j, s, 0) })) &&
		off.Lo.Cmp(off.Hi) > 0 {
		t.Fatalf("the error is in %v", off)
	}
}

func stageOne(t *rapid.T) {
	pis := []Matrix{kernel(t, 2), kernel(t, rapid.IntRange(2, 3).Draw(t, "S"))}[:rapid.IntRange(0, 2).Draw(t, "matrices")]
	root, eps := Int(rapid.Int64Range(2, 5).Draw(t, "root")), rational().Draw(t, "eps")
	right := len(pis) > 0 && root.Num().Bit(0) == 1 && eps.Sign() > 0
	for _, pi := range pis {
		right = right && isPositive(pi) && len(pi) == len(pis[0])
	}
	var c StageOne
	if !property.Decide(t, right, refused(t, func() { c = NewStageOne(root, eps, pis...) })) {
		return
	}
	i := rapid.SampledFrom([]Role{OwnRoot, OwnChild, Query}).Draw(t, "i")
	property.Decide(t, false, refused(t, func() { c.GStar(i, Query+1) }))
	whole := c.Distance(i, func(Role, Role) *big.Rat { return new(big.Rat) }).Hi
	for _, j := range i.columns() {
		star := c.GStar(i, j)
		if star.Abs().Hi.Cmp(whole) > 0 || c.G(i, j).Cmp(Int(-1)) < 0 {
			t.Fatalf("g* is in %v, |g*_i| at most %v, and g is %v", star, whole, c.G(i, j))
		}
		if gap := c.Gap(i, j); Mul(c.Drive(i).Hi, Int(2*int64(len(pis[0])))).Cmp(gap.Lo) < 0 {
			t.Fatalf("the gap is in %v, the drive in %v", gap, c.Drive(i))
		}
	}
}
