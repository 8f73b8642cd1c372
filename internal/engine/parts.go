package engine

import "learncausal/internal/lanes"

// In the order of a block each step of a pass walks through the attention of all its
// sequences. Once this is more than a cache holds, each of six walks waits for the memory
// behind it. Two facts let a sequence go through all of them before the next one begins,
// with one attention for each head:
//
//   - Before the matrices of layer 2 nothing is needed of P but its last row.
//   - What comes back from them goes to the last row alone.
//
// So begin takes the block as far as the queries, by the last rows; forward and backward take
// one sequence, backward with zeros for the gradient by the last row; and end takes the block
// back, and then through the last rows. Every sum has its terms in the order in which the
// block has them: those of the last row are the last ones.

// inParts tells whether the sequences of a block go one by one, where the first layer has m
// heads and vectors over positions t entries: if the attention of eight of them is more than
// 2 MB.
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

// lasts sets the last row of P_h, and h1_{T-1} but for its first part.
func (p *pass) lasts() {
	for h := range p.link {
		o := &p.link[h]
		for k := range p.n {
			p.e.head[h].attendLast(p.of(o.last, k), p.x[k*p.t:][:p.t])
		}
		p.spread(p.h2, p.at(1+h, 0), p.vectors(o.last, 0))
	}
}

// others sets P_h of one sequence.
func (p *pass) others() {
	for h, o := range p.link {
		p.e.head[h].attend(o.p[0], p.x)
	}
}

// othersGrad goes back through layer 1, as if the gradient by the last row were zero.
func (p *pass) othersGrad(g *gradient) {
	last := p.e.t - 1
	for r := range p.ends {
		p.ends[r], p.queries[r*p.t+last] = p.queries[r*p.t+last], 0
	}
	none := p.transient
	clear(none)
	for h, o := range p.link {
		lanes.SumProducts(p.mean, p.queries, o.sums, p.t)
		to := g.head[h]
		to.PosTok = o.posTok
		o.p[0].Gather(to, lanes.Rank{Queries: p.queries, Keys: o.keys, Mean: p.mean, Last: none}, p.x)
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

// lastGrad goes back through the last row of P_h of one sequence, to which h1_{T-1} gives the
// gradient d.
func (p *pass) lastGrad(h int, g lanes.Factors, d []float64) {
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
