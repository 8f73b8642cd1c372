package markov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"learncausal/pkg/num"
)

// Prior is a distribution P_pi over transition matrices.
type Prior interface {
	// States returns S.
	States() int
	// Draw writes a transition matrix to pi, of length S*S, and its
	// stationary measure to mu, of length S.
	Draw(pi, mu []float64, src *rand.PCG)
	// String returns the prior in the notation of ParsePrior.
	String() string
}

// ParsePrior reads a prior over S states:
//
//	dirichlet(0.1)               rows i.i.d. Dirichlet with parameter 0.1
//	orbit(0.7 0.2 0.1; ... )     uniform over the relabelings of a matrix, rows split by ";"
//	orbit(... | ...)             uniform over those of several matrices
func ParsePrior(text string, states int) (Prior, error) {
	name, rest, ok := strings.Cut(strings.TrimSpace(text), "(")
	if !ok || !strings.HasSuffix(rest, ")") {
		return nil, fmt.Errorf("prior %q: want dirichlet(alpha) or orbit(matrix)", text)
	}
	rest = strings.TrimSuffix(rest, ")")
	switch name {
	case "dirichlet":
		alpha, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			return nil, fmt.Errorf("prior %q: %q is not a number", text, rest)
		}
		return NewDirichlet(states, alpha)
	case "orbit":
		var bases [][]float64
		for part := range strings.SplitSeq(rest, "|") {
			var m []float64
			for _, f := range strings.Fields(strings.ReplaceAll(part, ";", " ")) {
				v, err := strconv.ParseFloat(f, 64)
				if err != nil {
					return nil, fmt.Errorf("prior %q: %q is not a number", text, f)
				}
				m = append(m, v)
			}
			bases = append(bases, m)
		}
		return NewOrbit(states, bases...)
	}
	return nil, fmt.Errorf("prior %q: unknown family %q, want dirichlet or orbit", text, name)
}

// Finite is a prior of finite support: matrix Pi[k] with probability Weight[k].
// Expectations over it are finite sums.
type Finite struct {
	Pi     [][]float64 // each S x S, row-major
	Mu     [][]float64 // stationary measures, each of length S
	Weight []float64   // sums to one
	text   string
}

// NewOrbit returns the prior that is uniform over the relabelings
// sigma^-1 pi sigma, sigma in Sym(S), of each of the bases, which are drawn
// with equal probability. It is symmetric in the sense of Assumption 1; with
// every base of trace one its mean is 1/S in each entry.
func NewOrbit(states int, bases ...[]float64) (*Finite, error) {
	if states < 2 || states > 8 {
		return nil, fmt.Errorf("markov: orbit prior over %d states, want 2 to 8", states)
	}
	f := &Finite{}
	var texts []string
	perms := permutations(states)
	for b, base := range bases {
		if err := CheckRows(base, states); err != nil {
			return nil, fmt.Errorf("markov: orbit prior, matrix %d: %w", b, err)
		}
		mu := make([]float64, states)
		if err := Stationary(mu, base); err != nil {
			return nil, fmt.Errorf("markov: orbit prior, matrix %d: %w", b, err)
		}
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
		var rows []string
		for s := range states {
			rows = append(rows, strings.Trim(fmt.Sprint(base[s*states:(s+1)*states]), "[]"))
		}
		texts = append(texts, strings.Join(rows, "; "))
	}
	if len(bases) == 0 {
		return nil, fmt.Errorf("markov: orbit prior without a matrix")
	}
	f.text = "orbit(" + strings.Join(texts, " | ") + ")"
	return f, nil
}

// CheckRows returns an error that names the first row of pi that is not a
// probability vector over S states, to 1e-12.
func CheckRows(pi []float64, states int) error {
	if len(pi) != states*states {
		return fmt.Errorf("%d entries, want %d x %d", len(pi), states, states)
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
	u := num.Uniform(src)
	k := 0
	for ; k < len(f.Weight)-1 && u >= f.Weight[k]; k++ {
		u -= f.Weight[k]
	}
	copy(pi, f.Pi[k])
	copy(mu, f.Mu[k])
}

// String returns the prior in the notation of [ParsePrior].
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
