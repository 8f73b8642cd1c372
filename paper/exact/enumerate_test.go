package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/pkg/graph"
)

func isOne(x *big.Rat) bool { return x.Cmp(Int(1)) == 0 }

// The points of the simplex are the compositions of den into n parts, of which
// there are C(den-1, n-1).
func TestSimplexHasEveryCompositionOnce(t *testing.T) {
	for _, c := range []struct{ n, den, want int }{{1, 1, 1}, {2, 6, 5}, {3, 6, 10}, {4, 7, 20}, {3, 3, 1}, {3, 2, 0}} {
		var before Vector
		points := 0
		for p := range Simplex(c.n, c.den) {
			points++
			if !isOne(Dot(p)) || slices.ContainsFunc(p, func(x *big.Rat) bool { return x.Sign() <= 0 }) {
				t.Errorf("%v is not in the open simplex", p.Strings())
			}
			if before != nil && slices.CompareFunc(before, p, (*big.Rat).Cmp) >= 0 {
				t.Errorf("%v comes after %v", p.Strings(), before.Strings())
			}
			before = p
		}
		if points != c.want {
			t.Errorf("%d vectors of length %d over %d, want %d", points, c.n, c.den, c.want)
		}
	}
	for range Simplex(3, 6) {
		break
	}
}

func TestGridVariesTheFirstEntryFastest(t *testing.T) {
	var got [][]string
	for u := range Grid(2, 2) {
		got = append(got, u.Strings())
	}
	want := [][]string{
		{"0", "0"},
		{"1", "0"},
		{"2", "0"},
		{"0", "1"},
		{"1", "1"},
		{"2", "1"},
		{"0", "2"},
		{"1", "2"},
		{"2", "2"},
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("grid %v, want %v", got, want)
	}
}

func TestPositiveRunsThroughAllMatrices(t *testing.T) {
	for _, c := range []struct{ s, den, want int }{{3, 3, 1}, {3, 4, 27}, {2, 5, 16}, {3, 2, 0}} {
		var before Vector
		n := 0
		for pi := range Positive(c.s, c.den) {
			n++
			if err := CheckRows(pi); err != nil {
				t.Error(err)
			}
			entries := Vector(slices.Concat(pi...))
			if before != nil && slices.CompareFunc(before, entries, (*big.Rat).Cmp) >= 0 {
				t.Errorf("%v comes after %v", entries.Strings(), before.Strings())
			}
			before = entries
		}
		if n != c.want {
			t.Errorf("%d positive matrices over %d states with denominator %d, want %d", n, c.s, c.den, c.want)
		}
	}
}

func TestRoundKeepsRowsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, den := range []int{2, 3, 10, 24, 1000, 1000000} {
		pi := make([]float64, 9)
		for k := range pi {
			pi[k] = r.ExpFloat64()
		}
		for i := 0; i < 9; i += 3 {
			sum := pi[i] + pi[i+1] + pi[i+2]
			for j := range 3 {
				pi[i+j] /= sum
			}
		}
		rounded := Round(pi, 3, den)
		if err := CheckRows(rounded); err != nil {
			t.Errorf("den = %d: %v", den, err)
		}
		for k, q := range rounded.Floats() {
			if math.Abs(q-pi[k]) > 1/float64(den) {
				t.Errorf("den = %d: %v for %v", den, q, pi[k])
			}
		}
	}
	// 0.245 has the largest remainder, and gets the tenth that is left.
	got := Vector(Round([]float64{0.13, 0.245, 0.625, 1, 0, 0, 0, 0, 1}, 3, 10)[0]).Strings()
	if !slices.Equal(got, []string{"1/10", "3/10", "3/5"}) {
		t.Errorf("0.13, 0.245, 0.625 in tenths: %v", got)
	}
}

// The probabilities sum to one, and the probabilities of a pair of positions to their joint
// law.
func TestSequencesHaveTheJointLaws(t *testing.T) {
	pi := Rats("1/2 1/3 1/6; 1/5 3/5 1/5; 1/4 1/2 1/4")
	g := graph.MustNew(-1, 0, -1, 0, -1)
	for i := range g.T() {
		for j := range g.T() {
			law, sum := Zero(3, 3), new(big.Rat)
			for x, p := range Sequences(g, pi) {
				law[x[i]][x[j]].Add(law[x[i]][x[j]], p)
				sum.Add(sum, p)
			}
			if !isOne(sum) {
				t.Fatalf("the probabilities sum to %v", sum)
			}
			for a, row := range Joint(pi, g, i, j) {
				for b, want := range row {
					if law[a][b].Cmp(want) != 0 {
						t.Fatalf("P[s_%d = %d, s_%d = %d] = %v, want %v", i, a, j, b, law[a][b], want)
					}
				}
			}
		}
	}
}

// J(p) u sums to zero, is zero on constants, and has the quadratic form of a
// variance: u.J(p)u = Var_p u.
func TestJacobianIsTheCovariance(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	for range 20 {
		p, u := Vector(random(r, 4, 30)[0]), Vector(random(r, 4, 30)[0])
		j := Jacobian(p, u)
		mean := Dot(p, u)
		if Dot(j).Sign() != 0 || Norm1(Jacobian(p, Ones(4))).Sign() != 0 {
			t.Errorf("J(p)u = %v sums to %v", j.Strings(), Dot(j))
		}
		if got, want := Dot(u, j), Sub(Dot(p, u, u), Mul(mean, mean)); got.Cmp(want) != 0 || got.Sign() < 0 {
			t.Errorf("u.J(p)u = %v, want the variance %v", got, want)
		}
		// |J(p)u|_1 = sum_i p_i |u_i - mean|.
		want := new(big.Rat)
		for i := range p {
			want.Add(want, Mul(p[i], Abs(Sub(u[i], mean))))
		}
		if got := Norm1(j); got.Cmp(want) != 0 {
			t.Errorf("|J(p)u|_1 = %v, want %v", got, want)
		}
	}
}
