package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/exact"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

const sectionEquivalence = "Disentangled Transformer Equivalence"

func equivalenceClaims() []Claim {
	return []Claim{
		{
			ID: "thm-equivalence-to", Title: "A transformer as a disentangled one, weights of the proof", Section: sectionEquivalence, Quick: true,
			Statement:  `with $Z^{(0)}=[E,P]$, $Z^{(\ell)}=[Z^{(\ell-1)},V^{(\ell)}_1Z^{(\ell-1)},\dots]$, $A^{(\ell)}_i = {Z^{(\ell-1)}}^\top Q_i^{(\ell)}{V_i^{(\ell)}}^\top Z^{(\ell-1)}$, $\tilde W_O=W_OZ^{(L)}$: $\widetilde{\mathrm{TF}}_{\tilde\theta}=\mathrm{TF}_\theta$`,
			Hypotheses: `any depth, heads, $d$, $S$, $T$ and weights`,
			Corrected:  "thm-equivalence-to-corrected",
			Check:      func(e *Env) Finding { return toDisentangled(e, func(h model.Head) model.Head { h.K = h.V; return h }) },
			Fault:      "Q exchanged as well",
			Faulty: func(e *Env) Finding {
				return toDisentangled(e, func(h model.Head) model.Head { h.Q, h.K = h.V, h.V; return h })
			},
		},
		{
			ID: "thm-equivalence-to-corrected", Title: "A transformer as a disentangled one", Section: sectionEquivalence, Quick: true,
			Statement:  `the same with ${K_i^{(\ell)}}^\top$ for ${V_i^{(\ell)}}^\top$ in $A^{(\ell)}_i$, and $Z^{(\ell)}$ for all $\ell\ge1$: $\widetilde{\mathrm{TF}}_{\tilde\theta}=\mathrm{TF}_\theta$ at all positions`,
			Hypotheses: `any depth, heads, $d$, $S$, $T$ and weights`,
			Check:      func(e *Env) Finding { return toDisentangled(e, func(h model.Head) model.Head { return h }) },
			Fault:      "query and key exchanged",
			Faulty: func(e *Env) Finding {
				return toDisentangled(e, func(h model.Head) model.Head { h.Q, h.K = h.K, h.Q; return h })
			},
		},
		{
			ID: "thm-equivalence-from", Title: "A disentangled transformer as a standard one, weights of the proof", Section: sectionEquivalence, Quick: true,
			Statement:  `for layer $\ell$, $V_i^{(\ell)}$ has the rows $0_{i d_\ell}$, $I_{d_\ell}$, $0_{d_L-(i+1)d_\ell}$ in its first $d_\ell$ columns, a $d_L\times d_L$ matrix for which $\mathrm{TF}_\theta=\widetilde{\mathrm{TF}}_{\tilde\theta}$`,
			Hypotheses: `any depth $L\ge1$, heads $m_\ell\ge1$, $S$, $T$; $d_0=S+T$, $d_\ell=(1+m_\ell)d_{\ell-1}$`,
			Corrected:  "thm-equivalence-from-corrected",
			Check:      func(e *Env) Finding { return valueBlocks() },
			Fault:      "blocks that fit, but all at the first row",
			Faulty:     func(e *Env) Finding { return fromDisentangled(e, true) },
		},
		{
			ID: "thm-equivalence-from-corrected", Title: "A disentangled transformer as a standard one", Section: sectionEquivalence, Quick: true,
			Statement:  `the same with $d_{\ell-1}$ for $d_\ell$ in $K_i^{(\ell)}$ and $V_i^{(\ell)}$, and $d_L-d_0$ zero rows in $P$: $\mathrm{TF}_\theta=\widetilde{\mathrm{TF}}_{\tilde\theta}$ at all positions, with hidden dimension $d_L$`,
			Hypotheses: `any depth, heads, $S$, $T$ and weights`,
			Check:      func(e *Env) Finding { return fromDisentangled(e, false) },
			Fault:      "heads write to the first block",
			Faulty:     func(e *Env) Finding { return fromDisentangled(e, true) },
		},
	}
}

// toDisentangled maps random transformers, whose heads are first changed where
// the attention matrices are built, and compares the outputs. Exchanging K for V
// in Z^T Q K^T Z leaves the Z as they are, and so gives the printed map.
func toDisentangled(e *Env, change func(model.Head) model.Head) Finding {
	r := rand.New(e.Stream("weights"))
	c := comparison{tol: 1e-9}
	compare := func(m *model.Standard, x []int, instance func() Instance) {
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
		// W_O holds the true values, whatever stands for them in the scores.
		w.W = m.Disentangle().W
		c.equal(w.Linear(x).RawMatrix().Data, m.Forward(x).RawMatrix().Data, instance)
	}
	// One head on a stream of one dimension, with weights 0 and 1: small enough
	// to check by hand.
	one := func(v float64) *mat.Dense { return mat.NewDense(1, 1, []float64{v}) }
	for qkv := range task.Sequences(2, 3) {
		q, k, v := float64(qkv[0]), float64(qkv[1]), float64(qkv[2])
		m := &model.Standard{
			E: mat.NewDense(1, 2, []float64{0, 1}), P: mat.NewDense(1, 2, nil), W: mat.NewDense(2, 1, []float64{1, 0}),
			Layers: [][]model.Head{{{Q: one(q), K: one(k), V: one(v)}}},
		}
		for x := range task.Sequences(2, 2) {
			compare(m, x, func() Instance {
				return Instance{"L": 1, "d": 1, "S": 2, "T": 2, "E": []int{0, 1}, "P": []int{0, 0}, "W_O": []int{1, 0}, "Q": q, "K": k, "V": v, "s": ints(x)}
			})
			if c.worst > c.tol {
				break
			}
		}
		if c.worst > c.tol {
			break
		}
	}
	draw := func(entry func() float64, use func(m *model.Standard, x []int, instance func() Instance)) {
		s, t, d := 1+r.IntN(3), 1+r.IntN(5), 1+r.IntN(6)
		matrix := func(rows, cols int) *mat.Dense { return drawn(rows, cols, entry) }
		m := &model.Standard{E: matrix(d, s), P: matrix(d, t), W: matrix(s, d)}
		var counts []int
		for range r.IntN(4) {
			var heads []model.Head
			for range 1 + r.IntN(3) {
				heads = append(heads, model.Head{Q: matrix(d, d), K: matrix(d, d), V: matrix(d, d)})
			}
			m.Layers, counts = append(m.Layers, heads), append(counts, len(heads))
		}
		use(m, randomTokens(r, s, t), func() Instance { return Instance{"S": s, "T": t, "d": d, "heads": counts} })
	}
	for range e.Budget(200, 40) {
		if c.worst <= c.tol {
			draw(func() float64 { return r.NormFloat64() / 2 }, compare)
		}
	}
	f := c.finding(Exact, "By induction h = h~ Z^T, because softmax sees h A h^T only.")
	f.Seed = Seed
	if f.Verdict == Holds {
		for range e.Budget(40, 10) {
			draw(func() float64 { return float64(r.IntN(5) - 2) }, func(m *model.Standard, x []int, instance func() Instance) {
				f.equalForPatterns(m, m.Disentangle(), x, r, instance)
			})
		}
		f.Note += patternNote
	}
	if f.Verdict == Fails {
		f.Note = "A misprint, V^T for K^T: the derivation that follows it uses K^T, and with K^T the theorem stands. (It also defines Z for l > 1, where l >= 1 is meant, and its last line has Z^(l) for Z^(L).) In the witness the printed weights give 1 + e/(1+e) at position 2, the transformer 3/2."
	}
	return f
}

// drawn returns a matrix with entries drawn row by row.
func drawn(rows, cols int, entry func() float64) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, entry())
		}
	}
	return m
}

const patternNote = " Decided in rationals for integer weights: whatever the attention patterns of the layers before, here random rational ones, the two have the same scores in each head and the same outputs, so the patterns that softmax makes are the same too."

// equalForPatterns runs both transformers in rational arithmetic, with the same
// random attention patterns in place of the softmax, and fails unless they have
// the same scores h Q_i K_i^T h^T = h~ A_i h~^T on and below the diagonal in each
// head and the same outputs. The weights of both must be integers.
func (f *Finding) equalForPatterns(m *model.Standard, w *model.Weights, x []int, r *rand.Rand, instance func() Instance) {
	rat := func(a *mat.Dense) exact.Matrix {
		rows, _ := a.Dims()
		return exact.FromFloats(a.RawMatrix().Data, rows)
	}
	tokens := exact.Zero(len(x), w.S)
	for i, s := range x {
		tokens[i][s].SetInt64(1)
	}
	places := exact.Diag(exact.Ones(len(x)))
	h, wide := sumOf(tokens.Mul(rat(m.E).T()), rat(m.P).T()), beside(tokens, places)
	f.Instances++
	differ := func(what string, a, b *big.Rat) {
		if f.Verdict == Holds && a.Cmp(b) != 0 {
			f.Verdict, f.LHS, f.RHS = Fails, exact.Float(a), exact.Float(b)
			f.Margin, f.Instance = Deviation(f.LHS, f.RHS), instance()
			f.Instance["differs"] = what
			f.Witness = f.Instance
		}
	}
	for l, heads := range m.Layers {
		next, nextWide := h, wide
		for i, head := range heads {
			a := w.A[l][i]
			scores := h.Mul(rat(head.Q)).Mul(h.Mul(rat(head.K)).T())
			others := wide.Mul(exact.FromFloats(a, len(wide[0]))).Mul(wide.T())
			pattern := exact.Zero(len(x), len(x))
			for t := range x {
				sum := int64(0)
				for u := range t + 1 {
					differ(fmt.Sprintf("score in head %d of layer %d", i+1, l+1), scores[t][u], others[t][u])
					n := int64(1 + r.IntN(4))
					pattern[t][u].SetInt64(n)
					sum += n
				}
				for u := range t + 1 {
					pattern[t][u].Mul(pattern[t][u], exact.Frac(1, sum))
				}
			}
			next = sumOf(next, pattern.Mul(h).Mul(rat(head.V).T()))
			nextWide = beside(nextWide, pattern.Mul(wide))
		}
		h, wide = next, nextWide
	}
	out, outWide := h.Mul(rat(m.W).T()), wide.Mul(exact.FromFloats(w.W, len(wide[0])))
	for t := range out {
		for s := range out[t] {
			differ("output", out[t][s], outWide[t][s])
		}
	}
}

func sumOf(a, b exact.Matrix) exact.Matrix { return a.Sub(b.Scale(exact.Frac(-1, 1))) }

// beside returns [a, b].
func beside(a, b exact.Matrix) exact.Matrix {
	out := make(exact.Matrix, len(a))
	for i := range a {
		out[i] = append(append([]*big.Rat(nil), a[i]...), b[i]...)
	}
	return out
}

func randomTokens(r *rand.Rand, s, t int) []int {
	x := make([]int, t)
	for i := range x {
		x[i] = r.IntN(s)
	}
	return x
}

// valueBlocks counts the rows of the printed V_i of each layer.
func valueBlocks() Finding {
	f := Finding{Tier: Exact, Verdict: Holds}
	for extra := range task.Sequences(2, 3) { // 1 or 2 heads in up to 3 layers
		for depth := 1; depth <= 3; depth++ {
			d := []int{2} // S = T = 1
			for _, m := range extra[:depth] {
				d = append(d, (2+m)*d[len(d)-1])
			}
			last := d[depth]
			for l := 1; l <= depth; l++ {
				for i := 1; i <= 1+extra[l-1]; i++ {
					f.Instances++
					if rows := (i + 1) * d[l]; rows > last && f.Verdict == Holds {
						f.Verdict, f.LHS, f.RHS = Fails, float64(rows), float64(last)
						f.Margin = Slack(f.LHS, f.RHS)
						f.Instance = Instance{"S": 1, "T": 1, "L": depth, "heads": ints(extra[:depth]), "l": l, "i": i, "d": d, "rows above and in the identity block": rows, "d_L": last}
					}
				}
			}
		}
	}
	f.Witness = f.Instance
	f.Note = "In the last layer the blocks i d_L and I_{d_L} need more than d_L rows. An index off by one, d_l for the d_{l-1} of the stream that is read; the theorem stands."
	return f
}

// fromDisentangled maps random disentangled transformers and compares the
// outputs. first lets every head write where the first block is.
func fromDisentangled(e *Env, first bool) Finding {
	r := rand.New(e.Stream("weights"))
	c := comparison{tol: 1e-9}
	draw := func(entry func(width int) float64, use func(w *model.Weights, m *model.Standard, x []int, instance func() Instance)) {
		s, t := 1+r.IntN(3), 1+r.IntN(4)
		var heads []int
		for range r.IntN(4) {
			heads = append(heads, 1+r.IntN(2))
		}
		w := model.NewWeights(s, t, heads...)
		for _, a := range w.Arrays() {
			for i := range a {
				a[i] = entry(len(w.W) / s)
			}
		}
		m := w.Standard()
		if first {
			d := s + t
			for l, layer := range m.Layers {
				for _, h := range layer {
					h.V.Zero()
					for k := range d {
						h.V.Set(k, k, 1)
					}
				}
				d *= 1 + heads[l]
			}
		}
		use(w, m, randomTokens(r, s, t), func() Instance { return Instance{"S": s, "T": t, "heads": heads} })
	}
	for range e.Budget(60, 15) {
		draw(func(width int) float64 { return r.NormFloat64() / math.Sqrt(float64(width)) }, func(w *model.Weights, m *model.Standard, x []int, instance func() Instance) {
			c.equal(m.Forward(x).RawMatrix().Data, w.Linear(x).RawMatrix().Data, instance)
		})
	}
	f := c.finding(Exact, "The first d_l entries of the stream are the disentangled stream and the rest are zero, by induction.")
	f.Seed = Seed
	if f.Verdict == Holds {
		for range e.Budget(12, 4) {
			draw(func(int) float64 { return float64(r.IntN(5) - 2) }, func(w *model.Weights, m *model.Standard, x []int, instance func() Instance) {
				f.equalForPatterns(m, w, x, r, instance)
			})
		}
		f.Note += patternNote
	}
	return f
}
