package markov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/stat/combin"

	"learncausal/pkg/num"
)

// Prior is a distribution P_pi over transition matrices.
type Prior interface {
	// States returns S.
	States() int
	// Draw writes a transition matrix to pi, of length S*S, and its stationary measure to
	// mu, of length S. It panics at other lengths.
	Draw(pi, mu []float64, src *rand.PCG)
	// String returns the prior in the notation of ParsePrior.
	String() string
}

// ParsePrior reads a prior over S states:
//
//	dirichlet(0.1)               rows i.i.d. Dirichlet with parameter 0.1
//	orbit(0.7 0.2 0.1; ... )     uniform over the relabelings of a matrix, rows split by ";"
//	orbit(... | ...)             uniform over the relabelings of several matrices
//	finite(... | ...)            uniform over several matrices
//	doubly-stochastic(uniform)   uniform over the matrices whose columns sum to one as well
//	unigram(1)                   all rows are one draw of Dirichlet with parameter 1
//
// Blanks or commas separate numbers. A row of a matrix whose sum differs from 1 by 1e-12 to
// 1e-6, as rounded numbers do, is divided by its sum. The errors name the prior. They include
// the errors of [NewDirichlet], [NewOrbit], [NewFinite], [newDoublyStochastic] and [newUnigram].
func ParsePrior(text string, states int) (Prior, error) {
	name, rest, ok := strings.Cut(strings.TrimSpace(text), "(")
	if !ok || !strings.HasSuffix(rest, ")") {
		return nil, fmt.Errorf("prior %q: want %s", text, PriorForms())
	}
	name = strings.ToLower(strings.TrimSpace(name))
	for _, f := range families {
		if form, _, _ := strings.Cut(f.form, "("); form == name {
			p, err := f.parse(strings.TrimSuffix(rest, ")"), states)
			if err != nil {
				return nil, fmt.Errorf("prior %q: %w", text, err)
			}
			return p, nil
		}
	}
	return nil, fmt.Errorf("prior %q: unknown family %q, want %s", text, name, PriorForms())
}

// families are the priors that ParsePrior reads: the form, as PriorForms lists it, and the parser of the text
// between its brackets.
var families = []struct {
	form  string
	parse func(text string, states int) (Prior, error)
}{
	{"dirichlet(alpha)", func(text string, states int) (Prior, error) {
		alpha, err := parseAlpha(text, "dirichlet(0.1)")
		if err != nil {
			return nil, err
		}
		return NewDirichlet(states, alpha)
	}},
	{"orbit(matrix)", func(text string, states int) (Prior, error) { return parseFinite(NewOrbit, text, states) }},
	{"finite(matrix)", func(text string, states int) (Prior, error) { return parseFinite(NewFinite, text, states) }},
	{"doubly-stochastic(uniform)", func(text string, states int) (Prior, error) {
		if text = strings.TrimSpace(text); text != "uniform" {
			return nil, fmt.Errorf("%q between the brackets, want uniform", text)
		}
		return newDoublyStochastic(states)
	}},
	{"unigram(alpha)", func(text string, states int) (Prior, error) {
		alpha, err := parseAlpha(text, "unigram(1)")
		if err != nil {
			return nil, err
		}
		return newUnigram(states, alpha)
	}},
}

// parseAlpha reads one number, as in the example.
func parseAlpha(text, example string) (float64, error) {
	alpha, err := parseNumbers(text)
	if err != nil {
		return 0, err
	}
	if len(alpha) != 1 {
		return 0, fmt.Errorf("%d parameters, want one for all states, as in %s", len(alpha), example)
	}
	return alpha[0], nil
}

func parseFinite(of func(int, ...[]float64) (*Finite, error), text string, states int) (Prior, error) {
	matrices, err := parseMatrices(text, states)
	if err != nil {
		return nil, err
	}
	return of(states, matrices...)
}

// PriorForms lists the forms that [ParsePrior] reads.
func PriorForms() string {
	var forms []string
	for _, f := range families {
		forms = append(forms, f.form)
	}
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// parseNumbers reads numbers with blanks or commas between them.
func parseNumbers(text string) ([]float64, error) {
	var all []float64
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", f)
		}
		all = append(all, v)
	}
	return all, nil
}

// parseMatrices reads row-major matrices separated by "|", with rows separated by ";".
// A matrix without ";" is one list.
func parseMatrices(text string, states int) ([][]float64, error) {
	var all [][]float64
	for part := range strings.SplitSeq(text, "|") {
		var m []float64
		rows := strings.Split(strings.TrimSuffix(strings.TrimSpace(part), ";"), ";")
		for i, row := range rows {
			v, err := parseNumbers(row)
			if err != nil {
				return nil, err
			}
			if len(rows) > 1 && len(v) != states {
				return nil, fmt.Errorf("matrix %d: row %d has %d entries, want %d", len(all), i, len(v), states)
			}
			m = append(m, v...)
		}
		if states > 0 && len(m) != states*states {
			return nil, fmt.Errorf(`matrix %d: %d entries, want %d x %d, with rows split by ";", `+
				`as in orbit(0.7 0.3; 0.4 0.6)`, len(all), len(m), states, states)
		}
		for row := range slices.Chunk(m, max(states, 1)) {
			divideBySum(row)
		}
		all = append(all, m)
	}
	return all, nil
}

// divideBySum divides a row by its sum if the sum differs from 1 as sums of rounded numbers do.
func divideBySum(row []float64) {
	sum := 0.0
	for _, p := range row {
		sum += p
	}
	if off := math.Abs(sum - 1); off >= exactRow && off <= 1e-6 {
		for i := range row {
			row[i] /= sum
		}
	}
}

// Finite is a prior of finite support: matrix Pi[k] with probability Weight[k]. [NewFinite], [NewOrbit] and
// [Sampled] return valid priors, which must not be modified. A literal is not checked.
type Finite struct {
	Pi      [][]float64 // each S x S, row-major
	Mu      [][]float64 // stationary measures, each of length S
	Weight  []float64   // sums to one
	text    string
	uniform bool // all weights are 1/n; false in a literal
}

// mostNumbers is the largest number of entries of a finite prior, in 256 MiB.
const mostNumbers = 1 << 25

// checkMost returns an error if the matrices have more than mostNumbers entries in all.
func checkMost(family string, states, matrices int) error {
	if most := mostNumbers / (states*states + states); matrices > most {
		return fmt.Errorf("markov: %s prior of %d matrices over %d states, want at most %d",
			family, matrices, states, most)
	}
	return nil
}

// MinMu is the smallest stationary probability of a state under a [Finite] prior. The proofs
// need the ratios mu(s)/mu(s') and their squares, which overflow for smaller values.
const MinMu = 1e-100

// NewFinite returns the uniform prior over the given matrices, each S x S; a repeated matrix counts repeatedly.
// It returns an error that names the matrix unless 2 <= S <= 255, each row is a probability vector (see
// [CheckRows]), and the stationary measure is unique and at least [MinMu] in every state.
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

// Sampled returns the uniform prior over all relabelings of n draws of a prior over at most
// 8 states. Expectations under it approximate expectations under the prior with an error of
// order 1/sqrt(n). It returns the errors of [NewOrbit].
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

// positiveMeasures returns the stationary measure of each matrix, or an error that names the matrix.
func positiveMeasures(family string, states int, matrices [][]float64) ([][]float64, error) {
	if len(matrices) == 0 {
		return nil, fmt.Errorf("markov: %s prior without a matrix", family)
	}
	mus := make([][]float64, len(matrices))
	for k, pi := range matrices {
		mus[k] = make([]float64, states)
		err := CheckRows(pi, states)
		if err == nil {
			err = Stationary(mus[k], pi)
		}
		if err != nil {
			return nil, fmt.Errorf("markov: %s prior, matrix %d: %w", family, k, err)
		}
		if least := slices.Min(mus[k]); least < MinMu {
			return nil, fmt.Errorf("markov: %s prior, matrix %d: the stationary measure of state %d is %v, "+
				"want at least %v: every state must be recurrent", family, k, slices.Index(mus[k], least), least, MinMu)
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

// NewOrbit returns the uniform prior over the relabelings sigma^-1 pi sigma, sigma in Sym(S), of a
// uniformly drawn base. It is symmetric in the sense of Assumption 1; if every base has trace one,
// the mean of each entry is 1/S. It returns the errors of [NewFinite], for 2 <= S <= 8.
func NewOrbit(states int, bases ...[]float64) (*Finite, error) {
	if states < 2 || states > 8 {
		return nil, fmt.Errorf("markov: orbit prior over %d states, want 2 to 8", states)
	}
	mus, err := positiveMeasures("orbit", states, bases)
	if err != nil {
		return nil, err
	}
	perms := combin.Permutations(states, states)
	slices.SortFunc(perms, slices.Compare)
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

// exactRow bounds the rounding in the sum of a row.
const exactRow = 1e-12

// CheckRows returns an error that names the first row of pi that is not a probability vector
// over S >= 1 states, up to 1e-12.
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
		if !(math.Abs(sum-1) < exactRow) {
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

// index returns the k whose interval of [0, 1), of length Weight[k], contains u. Rounding is
// that of the loop, which subtracts one weight after another from u. For n equal weights the
// quotient gives the same k, unless u is so close to a border that n roundings may matter.
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

// checkRoom panics unless pi and mu have the lengths of a draw over s states.
func checkRoom(pi, mu []float64, s int) {
	if len(pi) != s*s || len(mu) != s {
		panic(fmt.Sprintf("markov: a draw over %d states into %d and %d entries, want %d and %d",
			s, len(pi), len(mu), s*s, s))
	}
}

// String returns the prior in the notation of [ParsePrior], or "" for a literal.
func (f *Finite) String() string { return f.text }
