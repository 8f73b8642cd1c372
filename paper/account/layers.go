package account

import (
	"cmp"
	"math"
	"slices"
)

// A layered is a drawing of a directed acyclic graph, from left to right, by the method
// of Sugiyama, Tagawa and Toda (1981). Points, with indices from n on, split an edge over
// several layers, so that it does not cross the nodes in between.
type layered struct {
	layer []int   // of each node and point
	order [][]int // of each layer, from the top
	paths [][]int // of each edge: its first node, the points, its last node
	y     []float64
}

// layOut lays out an acyclic graph on the nodes 0, ..., n-1. height(i) is the space of
// node i, or of a point if i >= n, in its layer.
func layOut(n int, edges [][2]int, height func(i int) float64) *layered {
	d := &layered{layer: make([]int, n)}
	for range n { // the longest path has at most n nodes
		for _, e := range edges {
			d.layer[e[1]] = max(d.layer[e[1]], d.layer[e[0]]+1)
		}
	}
	last := slices.Max(d.layer)
	// A node without predecessors is placed one layer before its first successor.
	for v := range n {
		if d.layer[v] > 0 {
			continue
		}
		first := last + 1
		for _, e := range edges {
			if e[0] == v {
				first = min(first, d.layer[e[1]])
			}
		}
		d.layer[v] = first - 1
	}
	for _, e := range edges {
		path := []int{e[0]}
		for k := d.layer[e[0]] + 1; k < d.layer[e[1]]; k++ {
			path = append(path, len(d.layer))
			d.layer = append(d.layer, k)
		}
		d.paths = append(d.paths, append(path, e[1]))
	}
	d.order = make([][]int, last+1)
	for i, k := range d.layer {
		d.order[k] = append(d.order[k], i)
	}
	d.sort()
	d.place(height)
	return d
}

// neighbours returns the neighbours of each node and point in the layer before and in the layer behind.
func (d *layered) neighbours() (before, behind [][]int) {
	before, behind = make([][]int, len(d.layer)), make([][]int, len(d.layer))
	for _, p := range d.paths {
		for k := 1; k < len(p); k++ {
			before[p[k]] = append(before[p[k]], p[k-1])
			behind[p[k-1]] = append(behind[p[k-1]], p[k])
		}
	}
	return before, behind
}

// sort orders each layer by the mean rank of the neighbours, in alternating directions,
// and keeps the order with the fewest crossings.
func (d *layered) sort() {
	before, behind := d.neighbours()
	rank := make([]float64, len(d.layer))
	number := func(l []int) {
		for i, v := range l {
			rank[v] = (float64(i) + 0.5) / float64(len(l))
		}
	}
	for _, l := range d.order {
		number(l)
	}
	best, fewest := [][]int(nil), math.MaxInt
	for sweep := range 60 {
		near, from, step := before, 0, 1
		if sweep%2 == 1 {
			near, from, step = behind, len(d.order)-1, -1
		}
		for k := from; k >= 0 && k < len(d.order); k += step {
			l := d.order[k]
			key := make(map[int]float64, len(l))
			for _, v := range l {
				key[v] = mean(rank, near[v], v)
			}
			slices.SortStableFunc(l, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
			number(l)
		}
		if c := d.crossings(behind, rank); c < fewest {
			fewest, best = c, nil
			for _, l := range d.order {
				best = append(best, slices.Clone(l))
			}
		}
	}
	d.order = best
}

// mean returns the mean of the values of some nodes, or the value of a node itself if there are none.
func mean(values []float64, of []int, itself int) float64 {
	if len(of) == 0 {
		return values[itself]
	}
	sum := 0.0
	for _, u := range of {
		sum += values[u] / float64(len(of))
	}
	return sum
}

// crossings counts the pairs of lines that cross between two layers.
func (d *layered) crossings(behind [][]int, rank []float64) int {
	n := 0
	for _, l := range d.order {
		for i, a := range l {
			for _, b := range l[i+1:] {
				n += inversions(behind[a], behind[b], rank)
			}
		}
	}
	return n
}

// inversions counts the pairs of a node of a and a node of b of lower rank.
func inversions(a, b []int, rank []float64) int {
	n := 0
	for _, u := range a {
		for _, v := range b {
			if rank[u] > rank[v] {
				n++
			}
		}
	}
	return n
}

// place sets the height y of each node and point, downwards from 0, near the mean of its
// neighbours and at the required distances. The last layers are in the middle of the longest.
func (d *layered) place(height func(int) float64) {
	d.y = make([]float64, len(d.layer))
	gap := func(a, b int) float64 { return (height(a) + height(b)) / 2 }
	for _, l := range d.order {
		for i := 1; i < len(l); i++ {
			d.y[l[i]] = d.y[l[i-1]] + gap(l[i-1], l[i])
		}
	}
	length := func(l []int) float64 { return d.y[l[len(l)-1]] - d.y[l[0]] }
	longest := slices.MaxFunc(d.order, func(a, b []int) int { return cmp.Compare(length(a), length(b)) })
	before, behind := d.neighbours()
	for range 80 {
		for k, l := range d.order {
			want := make([]float64, len(l))
			pull := math.Pow(float64(k+1)/float64(len(d.order)), 2)
			for i, v := range l {
				near := mean(d.y, slices.Concat(before[v], behind[v]), v)
				want[i] = near + pull*(d.y[longest[0]]+length(longest)/2-near)
			}
			spread(d.y, l, want, gap)
		}
	}
	least := math.Inf(1)
	for i, y := range d.y {
		least = min(least, y-height(i)/2)
	}
	for i := range d.y {
		d.y[i] -= least
	}
}

// spread sets y of the nodes of a layer to the least-squares fit of want subject to the
// gaps between neighbours, by the pool-adjacent-violators algorithm.
func spread(y []float64, l []int, want []float64, gap func(a, b int) float64) {
	type block struct {
		sum  float64
		n    int
		from int
	}
	offset := make([]float64, len(l)) // of a node from the first of the layer, all packed
	var blocks []block
	for i := range l {
		if i > 0 {
			offset[i] = offset[i-1] + gap(l[i-1], l[i])
		}
		b := block{want[i] - offset[i], 1, i}
		for len(blocks) > 0 {
			p := blocks[len(blocks)-1]
			if p.sum/float64(p.n) <= b.sum/float64(b.n) {
				break
			}
			b = block{p.sum + b.sum, p.n + b.n, p.from}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	for k, b := range blocks {
		to := len(l)
		if k+1 < len(blocks) {
			to = blocks[k+1].from
		}
		for i := b.from; i < to; i++ {
			y[l[i]] = b.sum/float64(b.n) + offset[i]
		}
	}
}
