package attribution

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// A Method scores edges: the larger entry (i, j) is, the rather position i copies position j, j < i. Score returns
// a T x T matrix; other entries are not read.
type Method struct {
	Name  string
	Score func(c Case) (*mat.Dense, error)
}

// Names of activations in which the methods read and replace edges of layer 1.
const (
	pattern = "layer1.head1.pattern"
	copied  = "layer1.head1.out"
)

// integrationSteps is the number of points of integrated gradients, the midpoints of equal intervals.
const integrationSteps = 8

// Methods returns five methods that look into the model, and three baselines that do not. With P the attention of
// layer 1 and L the loss, each is a mean over the sequences of a case:
//
//	attention             P_ij
//	ablation              L with P_ij = 0, less L
//	patching              L where i reads from j the token of another sequence, less L
//	gradient x input      -P_ij dL/dP_ij
//	integrated gradients  -P_ij dL/dP_ij, averaged over the attentions a P of layer 1, 0 < a < 1
//	random                uniform draws
//	position              -(i - j): the nearest
//	correlation           mutual information of the tokens at i and j
func Methods() []Method {
	return []Method{
		{"attention", attention},
		{"ablation", func(c Case) (*mat.Dense, error) { return c.edgeByEdge(ablate) }},
		{"patching", func(c Case) (*mat.Dense, error) { return c.edgeByEdge(patch) }},
		{"gradient x input", func(c Case) (*mat.Dense, error) { return c.gradients(1) }},
		{"integrated gradients", func(c Case) (*mat.Dense, error) { return c.gradients(integrationSteps) }},
		{"random", func(c Case) (*mat.Dense, error) {
			src := num.Stream(1, "attribution/random/"+c.Run)
			return c.entries(func(int, int) float64 { return num.Uniform(src) }), nil
		}},
		{"position", func(c Case) (*mat.Dense, error) {
			return c.entries(func(i, j int) float64 { return float64(j - i) }), nil
		}},
		{"correlation", correlation},
	}
}

// entries returns the matrix of f(i, j) for the edges of a case.
func (c Case) entries(f func(i, j int) float64) *mat.Dense {
	m := mat.NewDense(c.Test.T, c.Test.T, nil)
	for _, e := range c.edges() {
		m.Set(e[0], e[1], f(e[0], e[1]))
	}
	return m
}

func attention(c Case) (*mat.Dense, error) {
	sum := mat.NewDense(c.Test.T, c.Test.T, nil)
	err := c.each(nil, func(_ int, p *model.Pass, _ []float64) error {
		sum.Add(sum, p.Activations[pattern])
		return nil
	})
	return sum, err
}

// gradients returns -sum P_ij dL/dP_ij at the attentions a P, a = (k+1/2)/points, and at P for one point.
func (c Case) gradients(points int) (*mat.Dense, error) {
	sum := mat.NewDense(c.Test.T, c.Test.T, nil)
	err := c.each(nil, func(n int, p *model.Pass, y []float64) error {
		x, _ := c.Test.Seq(n)
		own := p.Activations[pattern]
		for k := range points {
			if points > 1 {
				var part mat.Dense
				part.Scale((float64(k)+0.5)/float64(points), own)
				var err error
				if p, err = model.Run(c.Model, x, model.Edit{pattern: &part}); err != nil {
					return err
				}
			}
			var effect mat.Dense
			effect.MulElem(p.Gradient(y)[pattern], own)
			sum.Sub(sum, &effect)
		}
		return nil
	})
	return sum, err
}

// edgeByEdge returns the rise of the loss under the edit of each edge, given the pass and a pass on another sequence.
func (c Case) edgeByEdge(edit func(p, other *model.Pass, i, j int) model.Edit) (*mat.Dense, error) {
	sum := mat.NewDense(c.Test.T, c.Test.T, nil)
	err := c.each(nil, func(n int, p *model.Pass, y []float64) error {
		x, _ := c.Test.Seq(n)
		z, _ := c.Test.Seq((n + 1) % c.Test.Len())
		other, err := model.Run(c.Model, z, nil)
		if err != nil {
			return err
		}
		for _, e := range c.edges() {
			changed, err := model.Run(c.Model, x, edit(p, other, e[0], e[1]))
			if err != nil {
				return err
			}
			sum.Set(e[0], e[1], sum.At(e[0], e[1])+changed.Loss(y)-p.Loss(y))
		}
		return nil
	})
	return sum, err
}

func ablate(p, _ *model.Pass, i, j int) model.Edit {
	row := mat.DenseCopyOf(p.Activations[pattern].Slice(i, i+1, 0, len(p.Activations[pattern].RawRowView(i))))
	row.Set(0, j, 0)
	return model.Edit{at(pattern, i): row}
}

func patch(p, other *model.Pass, i, j int) model.Edit {
	weight, own, read := p.Activations[pattern].At(i, j), p.Activations["stream0"], other.Activations["stream0"]
	row := append([]float64(nil), p.Activations[copied].RawRowView(i)...)
	for k := range row {
		row[k] += float64(weight * (read.At(j, k) - own.At(j, k)))
	}
	return model.Edit{at(copied, i): mat.NewDense(1, len(row), row)}
}

// correlation returns the mutual information of pairs of tokens over a larger batch, in nats.
func correlation(c Case) (*mat.Dense, error) {
	s, n := c.Data.S, float64(c.Data.Len())
	return c.entries(func(i, j int) float64 {
		joint, one, two := mat.NewDense(s, s, nil), make([]float64, s), make([]float64, s)
		for k := range c.Data.Len() {
			x, _ := c.Data.Seq(k)
			joint.Set(x[i], x[j], joint.At(x[i], x[j])+1/n)
			one[x[i]] += 1 / n
			two[x[j]] += 1 / n
		}
		sum := 0.0
		for a := range s {
			for b := range s {
				if p := joint.At(a, b); p > 0 {
					sum += p * math.Log(p/(one[a]*two[b]))
				}
			}
		}
		return sum
	}), nil
}
