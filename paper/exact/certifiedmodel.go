package exact

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// A CertifiedModel bounds the distance of a [model.Positional] that is trained on a chain from a [Circuit] and from
// the empirical transition, on every sequence. An integer k stands for a number from k to k+2 billionths.
type CertifiedModel struct {
	Run     string     // its address
	Circuit [4]float64 // the numbers of the circuit
	Gap     int64      // the largest distance of the model from the circuit
	// Eps has for n = 0, 1, ... the largest distance of the model from the frequencies of the tokens whose parents
	// have the query's token, on sequences with n of them. It is 0 where there are none.
	Eps []int64
}

//go:embed certifiedmodels.json
var certifiedModels []byte

// CertifiedModels returns the stored bounds, in the order of the runs of the experiment "certified".
func CertifiedModels() (all []CertifiedModel, err error) {
	return all, json.Unmarshal(certifiedModels, &all)
}

// Circuit is the model with the same attention P of the first layer whose second layer has four numbers b. With q the
// query's token and c_i(s) = sum_j P_ij 1(x_j = s), position i has the weight e^(score_i) in the output:
//
//	score_i = b_0 1(x_i = q) + b_1 c_i(q) + b_2 c_T(x_i) + b_3 sum_s c_T(s) c_i(s)
func Circuit(w *model.Positional, b [4]float64) *model.Positional {
	c := model.Clone(w).(*model.Positional)
	c.Q.Zero()
	c.K.Zero()
	for s := range w.S {
		for k, v := range b {
			c.Q.Set(k/2*w.S+s, k%2*w.S+s, v)
		}
		c.K.Set(s, s, 1)
		c.K.Set(w.S+s, w.S+s, 1)
	}
	return c
}

// CircuitNumbers reads the numbers of the circuit off the blocks of Q K: the mean on the diagonal less the mean beside
// it, to four decimals. This is the block up to a constant, which the softmax removes, if the block treats all tokens
// alike.
func CircuitNumbers(w *model.Positional) (b [4]float64) {
	var m mat.Dense
	m.Mul(w.Q, w.K)
	for k := range b {
		block := m.Slice(k/2*w.S, (k/2+1)*w.S, k%2*w.S, (k%2+1)*w.S)
		n := float64(w.S)
		on := mat.Trace(block) / n
		off := (mat.Sum(block) - mat.Trace(block)) / (n * (n - 1))
		b[k] = math.Round((on-off)*1e4) / 1e4
	}
	return b
}

// passes are the parts of a forward pass that do not depend on the sequence.
type passes struct{ p, qk [][]Range }

func passOf(w *model.Positional) (r passes) {
	at := func(m mat.Matrix, i, j int) Range { return At(m.At(i, j)) }
	for i := range w.T {
		var scores []Range
		for j := range i + 1 {
			scores = append(scores, at(w.A[0], i, j))
		}
		r.p = append(r.p, softmax(scores))
	}
	d, _ := w.Q.Dims()
	for i := range d {
		row := make([]Range, d)
		for j := range row {
			for k := range d {
				row[j] = row[j].Add(at(w.Q, i, k).Mul(at(w.K, k, j)))
			}
		}
		r.qk = append(r.qk, row)
	}
	return r
}

// forward encloses the output of the model on x, over s tokens.
func (r passes) forward(x []int, s int) []Range {
	copied := make([][]Range, len(x)) // c_i
	for i, row := range r.p {
		copied[i] = make([]Range, s)
		for j, p := range row {
			copied[i][x[j]] = copied[i][x[j]].Add(p)
		}
	}
	last := len(x) - 1
	read := slices.Clone(r.qk[x[last]]) // u_T Q K
	for b := range read {
		for a, c := range copied[last] {
			read[b] = read[b].Add(c.Mul(r.qk[s+a][b]))
		}
	}
	scores := make([]Range, len(x))
	for i := range x {
		scores[i] = read[x[i]]
		for a, c := range copied[i] {
			scores[i] = scores[i].Add(c.Mul(read[s+a]))
		}
	}
	f := make([]Range, s)
	for i, v := range softmax(scores) {
		f[x[i]] = f[x[i]].Add(v)
	}
	return f
}

func softmax(scores []Range) []Range {
	v, sum := make([]Range, len(scores)), At(0)
	for i, z := range scores {
		v[i] = z.Exp()
		sum = sum.Add(v[i])
	}
	for i := range v {
		v[i] = v[i].Quo(sum)
	}
	return v
}

// Enclose returns the bounds of the weights w of the run, with the stored circuit.
func (m CertifiedModel) Enclose(w *model.Positional) (CertifiedModel, error) {
	trained, circuit := passOf(w), passOf(Circuit(w, m.Circuit))
	var gap Range
	eps := make([]Range, w.T-1)
	m.Eps = make([]int64, len(eps))
	for x := range task.Sequences(w.S, w.T) {
		f := trained.forward(x, w.S)
		for s, g := range circuit.forward(x, w.S) {
			gap = gap.Max(f[s].Sub(g).Abs())
		}
		counts, n := make([]float64, w.S), 0
		for i, child := range x[1 : w.T-1] {
			if x[i] == x[w.T-1] {
				counts[child]++
				n++
			}
		}
		for s := 0; n > 0 && s < w.S; s++ {
			share := At(counts[s]).Quo(At(float64(n)))
			eps[n] = eps[n].Max(f[s].Sub(share).Abs())
		}
	}
	var err, wide error
	m.Gap, err = distance(gap)
	for n, e := range eps {
		m.Eps[n], wide = distance(e)
		err = cmp.Or(err, wide)
	}
	return m, err
}

// distance returns a distance of two distributions, at most 1, in billionths.
func distance(r Range) (int64, error) {
	lo, hi := new(big.Rat).SetFloat64(max(r.Lo, 0)), new(big.Rat).SetFloat64(min(r.Hi, 1))
	return billionths(Interval{Lo: lo, Hi: hi})
}

// Decide returns an error unless the weights w have the stored bounds.
func (m CertifiedModel) Decide(w *model.Positional) error {
	fresh, err := m.Enclose(w)
	if err != nil {
		return err
	}
	if fresh.Gap != m.Gap || !slices.Equal(fresh.Eps, m.Eps) {
		return fmt.Errorf("exact: run %s has the distances %d and %d from circuit and frequencies, %d and %d are stored",
			m.Run, fresh.Gap, fresh.Eps, m.Gap, m.Eps)
	}
	return nil
}

// billionths returns the n for which x lies between n and n+2 billionths, or an error if x is wider than one.
func billionths(x Interval) (int64, error) {
	billion := Frac(1e9, 1)
	lo, hi := Mul(x.Lo, billion), Mul(x.Hi, billion)
	if Sub(hi, lo).Cmp(Frac(1, 1)) > 0 {
		return 0, fmt.Errorf("exact: an enclosure %v of a distance, want a width of at most 1e-9", x)
	}
	return new(big.Int).Div(lo.Num(), lo.Denom()).Int64(), nil
}
