package figures

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/figure"
	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// certifiedPseudo is the parameter of the Dirichlet prior of the certified runs.
const certifiedPseudo = 0.5

// certifiedSpecs are runs of the simplified transformer on chains whose sequences can be enumerated, and one of the
// disentangled transformer, of which there is no [CertifiedModel].
func certifiedSpecs() (specs []train.Spec) {
	for _, size := range [][2]int{{2, 12}, {3, 9}} {
		specs = append(specs, train.Spec{
			Task: train.Task1{
				Parents: graph.Chain(size[1]).Parents(), States: size[0], Prior: fmt.Sprintf("dirichlet(%g)", certifiedPseudo),
			},
			Model:     train.Positional{Heads: 1, Init: 1},
			Optimiser: train.AdamW{Rate: 0.01, Schedule: train.Cosine},
			Batch:     256, Steps: 24000,
		})
	}
	other := specs[0]
	other.Model, other.Steps = train.Disentangled{Heads: [2]int{1, 1}}, 16000
	other.Optimiser = train.SGD{Rate: 1, Schedule: train.Cosine}
	return append(specs, other)
}

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

// ranges are the parts of a forward pass that do not depend on the sequence.
type ranges struct{ p, qk [][]exact.Range }

func enclosed(w *model.Positional) (r ranges) {
	at := func(m mat.Matrix, i, j int) exact.Range { return exact.At(m.At(i, j)) }
	for i := range w.T {
		var scores []exact.Range
		for j := range i + 1 {
			scores = append(scores, at(w.A[0], i, j))
		}
		r.p = append(r.p, softmax(scores))
	}
	d, _ := w.Q.Dims()
	for i := range d {
		row := make([]exact.Range, d)
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
func (r ranges) forward(x []int, s int) []exact.Range {
	copied := make([][]exact.Range, len(x)) // c_i
	for i, row := range r.p {
		copied[i] = make([]exact.Range, s)
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
	scores := make([]exact.Range, len(x))
	for i := range x {
		scores[i] = read[x[i]]
		for a, c := range copied[i] {
			scores[i] = scores[i].Add(c.Mul(read[s+a]))
		}
	}
	f := make([]exact.Range, s)
	for i, v := range softmax(scores) {
		f[x[i]] = f[x[i]].Add(v)
	}
	return f
}

func softmax(scores []exact.Range) []exact.Range {
	v, sum := make([]exact.Range, len(scores)), exact.At(0)
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
	trained, circuit := enclosed(w), enclosed(Circuit(w, m.Circuit))
	var gap exact.Range
	eps := make([]exact.Range, w.T-1)
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
			share := exact.At(counts[s]).Quo(exact.At(float64(n)))
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
func distance(r exact.Range) (int64, error) {
	lo, hi := new(big.Rat).SetFloat64(max(r.Lo, 0)), new(big.Rat).SetFloat64(min(r.Hi, 1))
	return billionths(exact.Interval{Lo: lo, Hi: hi})
}

// Decide returns an error unless the weights w have the stored bounds.
func (m CertifiedModel) Decide(w *model.Positional) error {
	fresh, err := m.Enclose(w)
	if err != nil {
		return err
	}
	if fresh.Gap != m.Gap || !slices.Equal(fresh.Eps, m.Eps) {
		return fmt.Errorf("figures: run %s has the distances %d and %d from circuit and frequencies, %d and %d are stored",
			m.Run, fresh.Gap, fresh.Eps, m.Gap, m.Eps)
	}
	return nil
}

// certifiedModelFigure draws the bounds by n.
func certifiedModelFigure(context.Context, *Results) (*figure.Figure, error) {
	all, err := CertifiedModels()
	if err != nil {
		return nil, err
	}
	var panels []figure.Panel
	for k, m := range all {
		spec := certifiedSpecs()[k]
		size, n := float64(spec.S()), mapped(m.Eps[1:], func(int64) float64 { return 0 })
		eps, smooth := slices.Clone(n), slices.Clone(n)
		for i := range n {
			n[i] = float64(i + 1)
			eps[i] = float64(m.Eps[i+1]) / 1e9
			smooth[i] = (size - 1) * certifiedPseudo / (n[i] + size*certifiedPseudo)
		}
		panels = append(panels, &figure.Axes{
			Title: figure.Label{
				Text: fmt.Sprintf("S = %d, T = %d", spec.S(), spec.T()), TeX: fmt.Sprintf("$S=%d$, $T=%d$", spec.S(), spec.T()),
			},
			X: figure.Axis{Label: figure.Label{Text: "Occurrences n", TeX: "Occurrences $n$"}},
			Y: figure.Axis{Label: figure.Text("Largest distance"), Min: 1e-3, Max: 1, Log: true},
			Series: []figure.Series{
				{Label: figure.Text("frequencies"), X: n, Y: eps, Points: true},
				{Label: figure.Text("smoothed"), X: n, Y: smooth},
			},
			Levels: []figure.Level{{Label: figure.Text("circuit"), Y: float64(m.Gap) / 1e9}},
		})
	}
	spec := certifiedSpecs()[0]
	return figure.OneRow(figure.TwoColumns,
		"Two panels of distances by the number of occurrences, on a logarithmic axis. The distance of the model from "+
			"the frequencies falls and lies above a curve of smoothed frequencies. Its distance from the circuit is a "+
			"flat line below 0.01.",
		fmt.Sprintf(`Largest distance over all $S^T$ sequences, in interval arithmetic, of two trained models (%s, %d steps) `+
			`from a circuit of four numbers, and from the frequencies $n_s/n$ of the tokens after the $n$ occurrences of the `+
			`query's token. Dashed: the distance of $(n_s+\alpha)/(n+S\alpha)$ from these frequencies, with the $\alpha=%g$ of `+
			`the prior.`, priorOf(spec.Task), spec.Steps, certifiedPseudo), panels...), nil
}

// certifiedRows are rows of the summary: the largest distances from the circuits, rounded up.
func certifiedRows(context.Context, *Results) (rows []Row, err error) {
	all, err := CertifiedModels()
	for k, m := range all {
		spec, gap := certifiedSpecs()[k], math.Ceil(float64(m.Gap+2)/1e5)/1e4
		rows = append(rows, Row{
			ID: fmt.Sprintf("certified-gap-%d", spec.S()), Setting: "ours", Interval: "exact", Verdict: notStated,
			What: fmt.Sprintf("trained model and circuit on all %d^%d sequences: distance", spec.S(), spec.T()),
			Ours: words("at most %.4f", gap),
		})
	}
	return rows, err
}
