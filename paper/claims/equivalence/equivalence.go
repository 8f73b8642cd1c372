// Package equivalence is the appendix that maps transformers to disentangled ones and back.
package equivalence

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// Section lists the claims in the order of the paper.
var Section = ledger.Section{Title: "Disentangled Transformer Equivalence", Claims: []ledger.Claim{
	thmEquivalence, thmEquivalenceTo, thmEquivalenceFrom,
}}

var thmEquivalence = ledger.Claim{
	ID: "thm-equivalence", Number: "Theorem 3", Title: "Transformers and disentangled ones compute the same",
	Statement:  `for every transformer there is a disentangled one of the same depth and heads with the same outputs, and conversely, with hidden dimension $d_L$`,
	Parts:      []string{"a disentangled one", "conversely"},
	Hypotheses: anyTransformer, Tried: triedTransformers,
	RestsOn: []string{"thm-equivalence-to-corrected", "thm-equivalence-from-corrected"},
	OnPaper: []string{"thm-equivalence-to-corrected", "thm-equivalence-from-corrected"},
	Check: equivalent(instruments.Identity,
		0).Noted("The theorem is true as printed: the weights of the two corrections below are " +
		"the ones that exist. The printed proof has two misprints in them. "),
	Faults: []ledger.Fault{
		ledger.PlantIn("a disentangled one", "query and key exchanged",
			equivalent(func(h model.Head) model.Head { h.Q, h.K = h.K, h.Q; return h }, 0)),
		ledger.PlantIn("conversely", "hidden dimension d_L - 1", equivalent(instruments.Identity, 1)),
	},
	Spare: spareTransformer,
}

// equivalent decides both directions, with changed heads in the first and the hidden
// dimension d_L - less in the second.
func equivalent(change func(model.Head) model.Head, less int64) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		return fromDisentangled(func(*model.Standard) {}, less)(e, w) + toDisentangled(change)(e, w)
	}
}

var thmEquivalenceTo = ledger.Claim{
	ID: "thm-equivalence-to", Number: "Theorem 3", Kind: ledger.Step,
	Title:      "A transformer as a disentangled one, weights of the proof",
	Statement:  `with $Z^{(0)}=[E,P]$, $Z^{(\ell)}=[Z^{(\ell-1)},V^{(\ell)}_1Z^{(\ell-1)},\dots]$, $A^{(\ell)}_i = {Z^{(\ell-1)}}^\top Q_i^{(\ell)}{V_i^{(\ell)}}^\top Z^{(\ell-1)}$, $\tilde W_O=W_OZ^{(L)}$: $\widetilde{\mathrm{TF}}_{\tilde\theta}=\mathrm{TF}_\theta$`,
	Hypotheses: anyTransformer, Tried: triedTransformers,
	Defect: ledger.Misprint,
	Check: toDisentangled(func(h model.Head) model.Head { h.K = h.V; return h }).Noted("A misprint, V^T for K^T: the " +
		"derivation that follows it uses K^T, and with K^T the theorem stands. (It also defines Z for l > 1, where l " +
		">= 1 is meant, and its last line has Z^(l) for Z^(L).) In the witness the printed weights give 1 + e/(1+e) " +
		"at position 2, the transformer 3/2."),
	Correction: &ledger.Claim{
		ID: "thm-equivalence-to-corrected", Title: "A transformer as a disentangled one",
		Statement:  `with $Z^{(0)}=[E,P]$, $Z^{(\ell)}=[Z^{(\ell-1)},V^{(\ell)}_1Z^{(\ell-1)},\dots]$ for all $\ell\ge1$, $A^{(\ell)}_i = {Z^{(\ell-1)}}^\top Q_i^{(\ell)}{K_i^{(\ell)}}^\top Z^{(\ell-1)}$, $\tilde W_O=W_OZ^{(L)}$: $\widetilde{\mathrm{TF}}_{\tilde\theta}=\mathrm{TF}_\theta$ at all positions`,
		Hypotheses: anyTransformer, Tried: triedTransformers,
		Check: toDisentangled(instruments.Identity).Noted("By induction h = h~ Z^T, because softmax sees h A h^T only." +
			patternNote),
		Faults: []ledger.Fault{
			ledger.Plant("query and key exchanged",
				toDisentangled(func(h model.Head) model.Head { h.Q, h.K = h.K, h.Q; return h })),
		},
		Spare: spareTransformer,
	},
}

const (
	anyDisentangled   = `$\tilde\theta$ has any depth, heads, $S$, $T$ and weights`
	anyTransformer    = `$\theta$ has any depth, heads, $d$, $S$, $T$ and weights`
	triedTransformers = `one head with weights 0 and 1 over two states and two positions, by enclosures of $e$; random shapes with integer weights in rationals, for whatever attention`
)

var spareTransformer = []ledger.Spare{ledger.Spared(anyTransformer, "it excludes nothing")}

// toDisentangled maps transformers to disentangled ones and compares the outputs. The attention matrices are
// built from changed heads: K = V gives the printed map. The transformers are all with one head and weights 0
// and 1 over two states and positions, and random ones with integer weights.
func toDisentangled(change func(model.Head) model.Head) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		r := rand.New(e.Stream("weights"))
		for qkv := range task.Sequences(2, 3) {
			for x := range task.Sequences(2, 2) {
				compareOneHead(w, qkv, x, change)
			}
		}
		for range e.Budget(60, 15) {
			if w.Failed() {
				break
			}
			m, x, at := drawTransformer(r)
			equalForPatterns(w, m, disentangled(m, change), x, r, at)
		}
		return ""
	}
}

// compareOneHead decides whether both outputs at position 2 are equal for oneHead.
// Equal scores have equal outputs; else the outputs are enclosed.
func compareOneHead(w *ledger.Worst, qkv, x []int, change func(model.Head) model.Head) {
	if w.Failed() {
		return
	}
	m, at := oneHead(qkv, x)
	h := change(m.Layers[0][0])
	own, mapped := int64(qkv[0]*qkv[1]), int64(h.Q.At(0, 0)*h.K.At(0, 0))
	left, right := oneHeadOutput(mapped, qkv, x), oneHeadOutput(own, qkv, x)
	if own == mapped {
		w.EqualRat("Q K^T", exact.Int(mapped), exact.Int(own), at)
		return
	}
	w.Enclosures++
	if left.AtMost(right) == exact.CertainlyNot || right.AtMost(left) == exact.CertainlyNot {
		w.Fail(ledger.Witness{
			Equation: "the first output at position 2, with the weights of the proof and of the transformer, to nine decimals",
			LHS:      instruments.NineDecimals(left), RHS: instruments.NineDecimals(right), Instance: at(),
		})
	}
}

// oneHeadOutput encloses h_2 + V sum_j S(scores)_j h_j for the stream h = x of
// oneHead, V = qkv[2] and the scores qk h_2 h_j.
func oneHeadOutput(qk int64, qkv, x []int) exact.Interval {
	sum, mean := exact.Point(new(big.Rat)), exact.Point(new(big.Rat))
	for _, h := range x {
		weight := exact.Point(exact.Int(qk * int64(x[1]*h))).Exp()
		sum, mean = sum.Add(weight), mean.Add(weight.Mul(exact.Point(exact.Int(h))))
	}
	value := mean.Quo(sum).Mul(exact.Point(exact.Int(qkv[2])))
	return exact.Point(exact.Int(x[1])).Add(value)
}

// disentangled returns the image of m with changed heads in the scores and the unchanged ones in W_O.
func disentangled(m *model.Standard, change func(model.Head) model.Head) *model.Weights {
	changed := *m
	changed.Layers = nil
	for _, layer := range m.Layers {
		var heads []model.Head
		for _, h := range layer {
			heads = append(heads, change(h))
		}
		changed.Layers = append(changed.Layers, heads)
	}
	w := changed.Disentangle()
	w.W = m.Disentangle().W
	return w
}

// oneHead returns the transformer with one head on a stream of one dimension, with the weights Q, K and V.
func oneHead(qkv, x []int) (*model.Standard, func() ledger.Instance) {
	one := func(v int) *mat.Dense { return mat.NewDense(1, 1, []float64{float64(v)}) }
	m := &model.Standard{
		E: mat.NewDense(1, 2, []float64{0, 1}), P: mat.NewDense(1, 2, nil), W: mat.NewDense(2, 1, []float64{1, 0}),
		Layers: [][]model.Head{{{Q: one(qkv[0]), K: one(qkv[1]), V: one(qkv[2])}}},
	}
	return m, func() ledger.Instance {
		return ledger.Instance{
			"L": 1, "d": 1, "S": 2, "T": 2, "E": []int{0, 1}, "P": []int{0, 0}, "W_O": []int{1, 0},
			"Q": qkv[0], "K": qkv[1], "V": qkv[2], "X": ledger.OneBased(x),
		}
	}
}

// drawTransformer draws a transformer of random shape with integer weights from -2 to 2, and a sequence for it.
func drawTransformer(r *rand.Rand) (*model.Standard, []int, func() ledger.Instance) {
	s, t, d := 1+r.IntN(3), 1+r.IntN(5), 1+r.IntN(6)
	matrix := func(rows, columns int) *mat.Dense {
		m := mat.NewDense(rows, columns, nil)
		m.Apply(func(int, int, float64) float64 { return float64(r.IntN(5) - 2) }, m)
		return m
	}
	m := &model.Standard{E: matrix(d, s), P: matrix(d, t), W: matrix(s, d)}
	var counts []int
	for range r.IntN(4) {
		var heads []model.Head
		for range 1 + r.IntN(3) {
			heads = append(heads, model.Head{Q: matrix(d, d), K: matrix(d, d), V: matrix(d, d)})
		}
		m.Layers, counts = append(m.Layers, heads), append(counts, len(heads))
	}
	return m, instruments.RandomTokens(r, s, t), func() ledger.Instance {
		return ledger.Instance{"S": s, "T": t, "d": d, "heads": counts}
	}
}

const patternNote = " Decided in rationals for integer weights: whatever the attention patterns of the layers " +
	"before, here random rational ones, the two have the same scores in each head and the same outputs, so the " +
	"patterns that softmax makes are the same too."

// equalForPatterns runs both transformers in rational arithmetic, with the same random attention patterns in
// place of the softmax. It fails unless they have the same scores h Q_i K_i^T h^T = h~ A_i h~^T on and below
// the diagonal in each head, and the same outputs. The weights of both must be integers.
func equalForPatterns(
	worst *ledger.Worst, m *model.Standard, w *model.Weights, x []int, r *rand.Rand, at func() ledger.Instance,
) {
	h := sumOf(instruments.TokenRows(x, w.S).Mul(instruments.Rational(m.E).T()), instruments.Rational(m.P).T())
	wide := instruments.FirstStream(x, w.S)
	tried := worst.Instances
	for l, heads := range m.Layers {
		next, nextWide := h, wide
		for i, head := range heads {
			scores := h.Mul(instruments.Rational(head.Q)).Mul(h.Mul(instruments.Rational(head.K)).T())
			others := wide.Mul(instruments.Rational(w.A[l][i])).Mul(wide.T())
			for t := range x {
				what := fmt.Sprintf("scores of head %d in layer %d", i+1, l+1)
				worst.EqualMatrix(what, exact.Matrix{scores[t][:t+1]}, exact.Matrix{others[t][:t+1]}, at)
			}
			pattern := instruments.RandomPattern(r, len(x))
			next = sumOf(next, pattern.Mul(h).Mul(instruments.Rational(head.V).T()))
			nextWide = instruments.Beside(nextWide, pattern.Mul(wide))
		}
		h, wide = next, nextWide
	}
	worst.EqualMatrix("output", h.Mul(instruments.Rational(m.W).T()), wide.Mul(instruments.Rational(w.W)), at)
	worst.Instances = tried
	worst.Rationals++
}

func sumOf(a, b exact.Matrix) exact.Matrix { return a.Sub(b.Scale(exact.Int(-1))) }

var thmEquivalenceFrom = ledger.Claim{
	ID: "thm-equivalence-from", Number: "Theorem 3", Kind: ledger.Step,
	Title:      "A disentangled transformer as a standard one, weights of the proof",
	Statement:  `for layer $\ell$, $V_i^{(\ell)}$ has the rows $0_{i d_\ell}$, $I_{d_\ell}$, $0_{d_L-(i+1)d_\ell}$ in its first $d_\ell$ columns, a $d_L\times d_L$ matrix for which $\mathrm{TF}_\theta=\widetilde{\mathrm{TF}}_{\tilde\theta}$`,
	Hypotheses: `any depth $L\ge1$, heads $m_\ell\ge1$, $S$, $T$; $d_0=S+T$, $d_\ell=(1+m_\ell)d_{\ell-1}$`,
	Tried:      `$S=T=1$, one or two heads in each of up to three layers`,
	Defect:     ledger.Misprint,
	Check: ledger.Check(valueRows).Noted(
		"In the last layer the blocks i d_L and I_{d_L} need more than d_L rows. An index off " +
			"by one, d_l for the d_{l-1} of the stream that is read; the theorem stands."),
	Correction: &ledger.Claim{
		ID: "thm-equivalence-from-corrected", Title: "A disentangled transformer as a standard one",
		Statement:  `for layer $\ell$, $V_i^{(\ell)}$ has the rows $0_{i d_{\ell-1}}$, $I_{d_{\ell-1}}$, $0_{d_L-(i+1)d_{\ell-1}}$ in its first $d_{\ell-1}$ columns, $K_i^{(\ell)}$ has $d_{\ell-1}$ for $d_\ell$ too, and $P$ has $d_L-d_0$ rows of zeros: $\mathrm{TF}_\theta=\widetilde{\mathrm{TF}}_{\tilde\theta}$ at all positions, with hidden dimension $d_L$`,
		Parts:      []string{"equal at all positions", "hidden dimension"},
		Hypotheses: anyDisentangled,
		Tried:      `random shapes with integer weights, in rationals and for whatever attention`,
		Check:      fromDisentangled(func(*model.Standard) {}, 0),
		Faults: []ledger.Fault{
			ledger.PlantIn("equal at all positions", "heads write to the first block", fromDisentangled(writeFirst, 0)),
			ledger.PlantIn("hidden dimension", "hidden dimension d_L - 1", fromDisentangled(func(*model.Standard) {}, 1)),
		},
		Spare: []ledger.Spare{ledger.Spared(anyDisentangled, "it excludes nothing")},
	},
}

// valueRows decides for S = T = 1 that V_i of layer l has at most d_L rows above the identity block and in it.
func valueRows(_ *ledger.Env, w *ledger.Worst) string {
	for extra := range task.Sequences(2, 3) { // 1 or 2 heads in up to 3 layers
		for depth := 1; depth <= 3; depth++ {
			d := []int{2}
			for _, m := range extra[:depth] {
				d = append(d, (2+m)*d[len(d)-1])
			}
			for l := 1; l <= depth; l++ {
				for i := 1; i <= 1+extra[l-1]; i++ {
					rows := (i + 1) * d[l]
					w.AtMostRat(exact.Int(rows), exact.Int(d[depth]), func() ledger.Instance {
						return ledger.Instance{
							"S": 1, "T": 1, "L": depth, "heads": ledger.OneBased(extra[:depth]),
							"l": l, "i": i, "d": d,
						}
					})
				}
			}
		}
	}
	return ""
}

// writeFirst lets every head write to the first block.
func writeFirst(m *model.Standard) {
	d, _ := m.E.Dims()
	for l := len(m.Layers) - 1; l >= 0; l-- {
		d /= 1 + len(m.Layers[l]) // width of the stream that layer l reads
		for _, h := range m.Layers[l] {
			h.V.Zero()
			for k := range d {
				h.V.Set(k, k, 1)
			}
		}
	}
}

// fromDisentangled maps random disentangled transformers with integer weights and spoils the images. It decides
// whether the outputs are the same and the hidden dimension is d_L - less.
func fromDisentangled(spoil func(*model.Standard), less int64) ledger.Check {
	return func(e *ledger.Env, worst *ledger.Worst) string {
		r := rand.New(e.Stream("weights"))
		for range e.Budget(24, 8) {
			if worst.Failed() {
				break
			}
			w, x, at := drawDisentangled(r)
			m := w.Standard()
			spoil(m)
			d, _ := m.E.Dims()
			width, _ := w.W.Dims()
			worst.EqualRat("hidden dimension", exact.Int(d), exact.Int(int64(width)-less), at)
			equalForPatterns(worst, m, w, x, r, at)
		}
		return "The first d_l entries of the stream are the disentangled stream and the rest are zero, " +
			"by induction." + patternNote
	}
}

// drawDisentangled draws a disentangled transformer of random shape with integer
// weights from -2 to 2, and a sequence for it.
func drawDisentangled(r *rand.Rand) (*model.Weights, []int, func() ledger.Instance) {
	s, t := 1+r.IntN(3), 1+r.IntN(4)
	var heads []int
	for range r.IntN(4) {
		heads = append(heads, 1+r.IntN(2))
	}
	w := model.NewWeights(s, t, heads...)
	for _, a := range model.Trained(w) {
		for i := range a {
			a[i] = float64(r.IntN(5) - 2)
		}
	}
	return w, instruments.RandomTokens(r, s, t),
		func() ledger.Instance { return ledger.Instance{"S": s, "T": t, "heads": heads} }
}
