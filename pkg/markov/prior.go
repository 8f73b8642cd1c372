package markov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"learncausal/pkg/num"
)

// Prior is a distribution P_pi over transition matrices.
type Prior interface {
	// States returns S.
	States() int
	// Draw writes a transition matrix to pi, of length S*S, and its
	// stationary measure to mu, of length S. It panics at other lengths.
	Draw(pi, mu []float64, src *rand.PCG)
	// String returns the prior in the notation of ParsePrior.
	String() string
}

// ParsePrior reads a prior over S states:
//
//	dirichlet(0.1)               rows i.i.d. Dirichlet with parameter 0.1
//	orbit(0.7 0.2 0.1; ... )     uniform over the relabelings of a matrix, rows split by ";"
//	orbit(... | ...)             uniform over those of several matrices
//	finite(... | ...)            uniform over the matrices themselves
//
// The errors name the prior, and what [NewDirichlet], [NewOrbit] and [NewFinite]
// find wrong.
func ParsePrior(text string, states int) (Prior, error) {
	const want = "want dirichlet(alpha), orbit(matrix) or finite(matrix)"
	name, rest, ok := strings.Cut(strings.TrimSpace(text), "(")
	if !ok || !strings.HasSuffix(rest, ")") {
		return nil, fmt.Errorf("prior %q: "+want, text)
	}
	rest = strings.TrimSuffix(rest, ")")
	switch name {
	case "dirichlet":
		alpha, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			return nil, fmt.Errorf("prior %q: %q is not a number", text, rest)
		}
		return NewDirichlet(states, alpha)
	case "orbit", "finite":
		matrices, err := parseMatrices(rest)
		if err != nil {
			return nil, fmt.Errorf("prior %q: %w", text, err)
		}
		if name == "finite" {
			return NewFinite(states, matrices...)
		}
		return NewOrbit(states, matrices...)
	}
	return nil, fmt.Errorf("prior %q: unknown family %q, "+want, text, name)
}

// parseMatrices reads matrices that are split by "|", each row-major with rows
// split by ";".
func parseMatrices(text string) ([][]float64, error) {
	var all [][]float64
	for part := range strings.SplitSeq(text, "|") {
		var m []float64
		for _, f := range strings.Fields(strings.ReplaceAll(part, ";", " ")) {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is not a number", f)
			}
			m = append(m, v)
		}
		all = append(all, m)
	}
	return all, nil
}

// Finite is a prior of finite support: matrix Pi[k] with probability Weight[k].
// Expectations over it are finite sums. [NewFinite], [NewOrbit] and [Sampled]
// check what they are given, and what they return is not to be changed; a literal is the
// caller's to get right.
type Finite struct {
	Pi      [][]float64 // each S x S, row-major
	Mu      [][]float64 // stationary measures, each of length S
	Weight  []float64   // sums to one
	text    string
	uniform bool // all weights are 1/n, which a literal need not say
}

// mostNumbers is the largest number of entries of the matrices and measures of a finite
// prior: a quarter of a gigabyte.
const mostNumbers = 1 << 25

// checkMost returns an error if so many matrices over S states are too many.
func checkMost(family string, states, matrices int) error {
	if most := mostNumbers / (states*states + states); matrices > most {
		return fmt.Errorf("markov: %s prior of %d matrices over %d states, want at most %d",
			family, matrices, states, most)
	}
	return nil
}

// MinMu is the least stationary probability of a state under a [Finite] prior.
// Below it the ratios mu(s)/mu(s') and their squares, which the quantities of the
// proofs are made of, would leave the range of floating point.
const MinMu = 1e-100

// NewFinite returns the prior that is uniform over the given matrices, each
// S x S; one that is given twice weighs twice. There is an error that names the
// matrix unless each has S probability vectors for rows (see [CheckRows]) and one
// stationary measure, in which no state is below [MinMu], a transient one in
// particular. S is 2 to 255.
func NewFinite(states int, matrices ...[]float64) (*Finite, error) {
	if states < 2 || states > 255 {
		return nil, fmt.Errorf("markov: finite prior over %d states, want 2 to 255", states)
	}
	if err := checkMost("finite", states, len(matrices)); err != nil {
		return nil, err
	}
	mus, err := positiveMeasures("finite", states, matrices)
	if err != nil {
		return nil, err
	}
	f := &Finite{text: matrixText("finite", states, matrices), Mu: mus, uniform: true}
	for _, pi := range matrices {
		f.Pi = append(f.Pi, slices.Clone(pi))
		f.Weight = append(f.Weight, 1/float64(len(matrices)))
	}
	return f, nil
}

// Sampled returns the prior that is uniform over all relabelings of n draws of
// a prior over at most 8 states, by which an expectation over a prior without
// finite support, as [Dirichlet] is, becomes a sum. Its error falls like 1/sqrt(n).
// A draw with a state below [MinMu] is an error, as in [NewOrbit].
func Sampled(prior Prior, n int, src *rand.PCG) (*Finite, error) {
	if n < 1 {
		return nil, fmt.Errorf("markov: %d draws of a prior, want at least 1", n)
	}
	s := prior.States()
	bases, mu := make([][]float64, n), make([]float64, s)
	for k := range bases {
		bases[k] = make([]float64, s*s)
		prior.Draw(bases[k], mu, src)
	}
	return NewOrbit(s, bases...)
}

// positiveMeasures returns the stationary measure of each matrix, or an error
// that names the matrix and what is wrong with it.
func positiveMeasures(family string, states int, matrices [][]float64) ([][]float64, error) {
	if len(matrices) == 0 {
		return nil, fmt.Errorf("markov: %s prior without a matrix", family)
	}
	mus := make([][]float64, len(matrices))
	for k, pi := range matrices {
		if err := CheckRows(pi, states); err != nil {
			return nil, fmt.Errorf("markov: %s prior, matrix %d: %w", family, k, err)
		}
		mus[k] = make([]float64, states)
		if err := Stationary(mus[k], pi); err != nil {
			return nil, fmt.Errorf("markov: %s prior, matrix %d: %w", family, k, err)
		}
		if least := slices.Min(mus[k]); least < MinMu {
			return nil, fmt.Errorf("markov: %s prior, matrix %d: the stationary measure of state %d is %v, "+
				"want at least %v: every state must come back", family, k, slices.Index(mus[k], least), least, MinMu)
		}
	}
	return mus, nil
}

// matrixText returns the notation of [ParsePrior] for a family of matrices.
func matrixText(family string, states int, matrices [][]float64) string {
	var texts []string
	for _, pi := range matrices {
		var rows []string
		for s := range states {
			rows = append(rows, strings.Trim(fmt.Sprint(pi[s*states:(s+1)*states]), "[]"))
		}
		texts = append(texts, strings.Join(rows, "; "))
	}
	return family + "(" + strings.Join(texts, " | ") + ")"
}

// NewOrbit returns the prior that is uniform over the relabelings
// sigma^-1 pi sigma, sigma in Sym(S), of each of the bases, which are drawn
// with equal probability. It is symmetric in the sense of Assumption 1; with
// every base of trace one its mean is 1/S in each entry. The errors are those of
// [NewFinite]; S is 2 to 8.
func NewOrbit(states int, bases ...[]float64) (*Finite, error) {
	if states < 2 || states > 8 {
		return nil, fmt.Errorf("markov: orbit prior over %d states, want 2 to 8", states)
	}
	mus, err := positiveMeasures("orbit", states, bases)
	if err != nil {
		return nil, err
	}
	perms := permutations(states)
	if err := checkMost("orbit", states, len(perms)*len(bases)); err != nil {
		return nil, err
	}
	f := &Finite{text: matrixText("orbit", states, bases), uniform: true}
	for b, base := range bases {
		mu := mus[b]
		for _, sigma := range perms {
			pi, m := make([]float64, states*states), make([]float64, states)
			for s := range states {
				m[sigma[s]] = mu[s]
				for t := range states {
					pi[sigma[s]*states+sigma[t]] = base[s*states+t]
				}
			}
			f.Pi, f.Mu = append(f.Pi, pi), append(f.Mu, m)
			f.Weight = append(f.Weight, 1/float64(len(perms)*len(bases)))
		}
	}
	return f, nil
}

// CheckRows returns an error that names the first row of pi that is not a
// probability vector over S >= 1 states, to 1e-12.
func CheckRows(pi []float64, states int) error {
	if states < 1 || len(pi) != states*states {
		return fmt.Errorf("%d entries, want %d x %d, and at least 1 state", len(pi), states, states)
	}
	for s := range states {
		sum := 0.0
		for t, p := range pi[s*states : (s+1)*states] {
			if !(p >= 0) {
				return fmt.Errorf("row %d, column %d is %v, want a probability", s, t, p)
			}
			sum += p
		}
		if !(math.Abs(sum-1) < 1e-12) {
			return fmt.Errorf("row %d sums to %v, want 1", s, sum)
		}
	}
	return nil
}

// States returns S.
func (f *Finite) States() int { return len(f.Mu[0]) }

// Draw implements [Prior].
func (f *Finite) Draw(pi, mu []float64, src *rand.PCG) {
	checkRoom(pi, mu, f.States())
	k := f.index(num.Uniform(src))
	copy(pi, f.Pi[k])
	copy(mu, f.Mu[k])
}

// index returns the k whose share of [0, 1) u in [0, 1) is in, as far as rounding goes: that
// of a walk which takes one weight after another from u. Where the n weights are equal and u
// is not within what n roundings may do of the border of a share, it need not be walked.
func (f *Finite) index(u float64) int {
	if n := float64(len(f.Weight)); f.uniform {
		k := math.Floor(float64(u * n))
		if in, border := float64(u*n)-k, float64(n*n*0x1p-52); in > border && in < 1-border {
			return int(k)
		}
	}
	k := 0
	for ; k < len(f.Weight)-1 && u >= f.Weight[k]; k++ {
		u -= f.Weight[k]
	}
	return k
}

// checkRoom panics unless pi and mu have room for a draw over s states.
func checkRoom(pi, mu []float64, s int) {
	if len(pi) != s*s || len(mu) != s {
		panic(fmt.Sprintf("markov: a draw over %d states into %d and %d entries, want %d and %d",
			s, len(pi), len(mu), s*s, s))
	}
}

// String returns the prior in the notation of [ParsePrior]; it is empty for a
// literal.
func (f *Finite) String() string { return f.text }

// permutations returns the elements of Sym(n) in lexicographic order.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for first := range n {
		for _, p := range permutations(n - 1) {
			q := []int{first}
			for _, v := range p {
				if v >= first {
					v++
				}
				q = append(q, v)
			}
			all = append(all, q)
		}
	}
	return all
}
