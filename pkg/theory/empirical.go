package theory

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/task"
)

// EmpiricalGHat returns the gradient of stage 1 at A2 = 0 on n sequences drawn from the task, in
// place of the population's [GHat]: T x T, zero above the diagonal, the mean over sequences of
//
//	S sum_{s'} pi(s'|x_{T-1}) (x_{i,s'} - muhat(s')) 1[x_j = x_{T-1}] / (muhat(s') + eps)
//
// (Lemma 33, thm-finite-stage1). Its expectation is [GHat] in the reading
// QueryInSequence. It panics unless eps is in 1e-100..1e100 and n positive.
func EmpiricalGHat(t task.Task, eps float64, n int, src *rand.PCG) *mat.Dense {
	orPanic(checkEps(eps))
	if n < 1 {
		panic(fmt.Sprintf("theory: gradient of %d sequences, want a positive number", n))
	}
	b, length := t.NewBatch(n), t.Graph.T()
	t.NewSampler().Fill(b, src)
	ghat := make([]float64, length*length)
	gain, frequency := make([]float64, b.S), make([]float64, b.S)
	scale := float64(b.S) / float64(n)
	var asked []int // positions with the token of the query
	for k := range n {
		x, y := b.Seq(k)
		clear(frequency)
		for _, a := range x {
			frequency[a] += 1 / float64(length)
		}
		mean := 0.0
		for a, p := range y {
			gain[a] = p / (frequency[a] + eps)
			mean += float64(gain[a] * frequency[a])
		}
		asked = asked[:0]
		for i, a := range x {
			if a == x[length-1] {
				asked = append(asked, i)
			}
			row, v := ghat[i*length:][:i+1], float64(scale*(gain[a]-mean))
			for _, j := range asked {
				row[j] += v
			}
		}
	}
	return mat.NewDense(length, length, ghat)
}
