package engine

import "learncausal/pkg/internal/simd"

// Each step of a pass reads the attention of all sequences of its block, six times in all.
// Where this attention exceeds the cache, each reading waits for memory. Two facts let one
// sequence finish all six before the next one starts, with one attention for each head:
//
//   - The matrices of layer 2 need only the last row of P.
//   - Their gradient reaches only the last row.
//
// begin therefore evaluates the queries of the block from the last rows; forward and
// backward evaluate one sequence, backward with a zero gradient by the last row; and end
// goes back through the matrices and the last rows of the block. Every sum has its terms in
// the same order as in a whole block, where the terms of the last row come last.

// inParts reports whether the sequences of a block go one by one, given m heads in the first layer
// and t entries in vectors over positions: if the attention of eight sequences exceeds 2 MB.
func inParts(m, t float64) bool { return m*t*t > 1<<15 }

// part returns the pass of sequence k of the block.
func (p *pass) part(k int) *pass {
	each := func(vs [][]float64) (row [][]float64) {
		for _, v := range vs {
			row = append(row, p.of(v, k))
		}
		return row
	}
	q := &pass{
		e: p.e, t: p.t, block: 1, n: 1, x: p.x[k*p.t:][:p.t], token: p.token[k:][:1],
		f: p.of(p.f, k), df: p.of(p.df, k), h2: p.of(p.h2, k), dh2: p.of(p.dh2, k), q: each(p.q), dq: each(p.dq),
		top: p.of(p.top, k), total: p.of(p.total, k), queries: p.of(p.queries, k), mean: p.of(p.mean, k),
		transient: p.of(p.transient, k), ends: p.of(p.ends, k),
	}
	for _, o := range p.link {
		q.link = append(q.link, link{o.p, p.of(o.keys, k), p.of(o.sums, k), p.of(o.last, k), p.of(o.posTok, k)})
	}
	return q
}

// attendLast sets the last row of P_h, and h1_{T-1} after its first part, h0_{T-1}.
func (p *pass) attendLast() {
	for h := range p.link {
		o := &p.link[h]
		for k := range p.n {
			p.e.head[h].attendLast(p.of(o.last, k), p.x[k*p.t:][:p.t])
		}
		p.spread(p.h2, p.at(1+h, 0), p.vectors(o.last, 0))
	}
}

// attend computes all rows of P_h for the one sequence of a block.
func (p *pass) attend() {
	for h, o := range p.link {
		p.e.head[h].attend(o.p[0], p.x)
	}
}

// attendGrad goes back through layer 1 with a zero gradient by the last row.
func (p *pass) attendGrad(g *gradient) {
	last := p.e.t - 1
	for r := range p.ends {
		p.ends[r], p.queries[r*p.t+last] = p.queries[r*p.t+last], 0
	}
	none := p.transient
	clear(none)
	for h, o := range p.link {
		simd.SumProducts(p.mean, p.queries, o.sums, p.t)
		to := g.head[h]
		to.PosTok = o.posTok
		o.p[0].Gather(to, simd.Rank{Queries: p.queries, Keys: o.keys, Mean: p.mean, Last: none}, p.x)
	}
	for r, v := range p.ends {
		p.queries[r*p.t+last] = v
	}
}

// lastsGrad goes back through the last row of each sequence, as firstGrad does.
func (p *pass) lastsGrad(g *gradient) {
	for h := range p.link {
		o := &p.link[h]
		dlast := p.vectors(p.transient, 0)
		p.gather(dlast, p.dh2, p.at(1+h, 0))
		for k := range p.n {
			x, posTok := p.x[k*p.t:][:p.t], p.of(o.posTok, k)
			p.parts[k].lastGrad(h, g.head[h], p.padded(dlast, k))
			o.p[0].Fold(g.head[h], posTok, x)
		}
	}
}

// lastGrad goes back through the last row of P_h of one sequence, given d, the gradient by
// this row through h1_{T-1}.
func (p *pass) lastGrad(h int, g simd.Factors, d []float64) {
	last, o := p.e.t-1, &p.link[h]
	row := o.last[:p.e.t]
	mean := 0.0
	for r, q := range p.ends {
		mean += float64(q * o.sums[r*p.t+last])
	}
	for j, v := range row {
		mean += float64(v * d[j])
	}
	posTok := o.posTok[p.x[last]*p.t:][:len(row)]
	for j, v := range row {
		z := 0.0
		for r, q := range p.ends {
			z += float64(q * o.keys[r*p.t+j])
		}
		z = float64(v * (z - mean + d[j]))
		g.PosPos[j*p.t+last] += z
		g.TokPos[p.x[j]*p.t+last] += z
		posTok[j] += z
	}
}
