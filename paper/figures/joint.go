package figures

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

// A Joint has the results of joint training of both layers, and of Algorithm 1, on a graph with
// a prior. Losses are in nats. Above is the loss less the loss of a predictor that knows the
// transition matrix, on the test set of a run.
type Joint struct {
	Family string
	Graph  *graph.Forest
	S      int
	Prior  string
	Seeds  []JointRun
	One    *AlgorithmOne // nil if it was not run
	Spec   train.Spec    // of the first seed
}

// A JointRun is one run of both layers.
type JointRun struct {
	Above     float64
	Excess    num.Estimate // over the Bayes predictor
	Attention float64      // mean over the edges, on the parents
	Learned   int          // edges
}

// AlgorithmOne has the results of Algorithm 1, see [trial.AlgorithmOne], on the test
// set of the first seed.
type AlgorithmOne struct {
	Above     float64
	Excess    float64 // over the Bayes predictor
	Attention float64 // mean over the edges, on the parents
}

// mean returns the mean of f over the seeds.
func (j *Joint) mean(f func(JointRun) float64) float64 {
	sum := 0.0
	for _, r := range j.Seeds {
		sum += f(r)
	}
	return sum / float64(len(j.Seeds))
}

// Above returns the mean loss of joint training above the least one.
func (j *Joint) Above() float64 { return j.mean(func(r JointRun) float64 { return r.Above }) }

// Excess returns the mean loss of joint training less the loss of the Bayes predictor.
func (j *Joint) Excess() float64 { return j.mean(func(r JointRun) float64 { return r.Excess.Mean }) }

// Bayes returns the mean loss of the Bayes predictor above the least one.
func (j *Joint) Bayes() float64 { return j.Above() - j.Excess() }

// Attention returns the mean attention of joint training on the parents.
func (j *Joint) Attention() float64 { return j.mean(func(r JointRun) float64 { return r.Attention }) }

// Learned returns the share of the edges that joint training learns.
func (j *Joint) Learned() float64 {
	return j.mean(func(r JointRun) float64 { return float64(r.Learned) }) / float64(len(j.Graph.Edges()))
}

// Uniform returns the mean over the edges of uniform attention on the parent.
func (j *Joint) Uniform() float64 {
	var on []float64
	for _, e := range j.Graph.Edges() {
		on = append(on, 1/float64(e[1]+1))
	}
	return stat.Mean(on, nil)
}

// LoadJoint reads the results of runs/sweeps/joint-training.toml, in the order of the plan.
func LoadJoint() ([]*Joint, error) {
	outcomes, err := trial.Outcomes(jointTraining)
	if err != nil {
		return nil, err
	}
	return newJoint(outcomes)
}

func newJoint(outcomes []*trial.Outcome) ([]*Joint, error) {
	var all []*Joint
	for _, o := range outcomes {
		of, ok := o.Spec.Task.(train.Task1)
		if !ok || o.Diverged != "" || o.Bayes == nil || o.One == nil {
			return nil, fmt.Errorf("figures: run %s of %s is not of Task 1, has diverged, "+
				"or is not compared with Bayes and Algorithm 1", o.Address, jointTraining)
		}
		k := slices.IndexFunc(all, func(j *Joint) bool {
			return slices.Equal(j.Graph.Parents(), of.Parents) && j.S == of.States && j.Prior == of.Prior
		})
		if k < 0 {
			k = len(all)
			j := &Joint{Graph: graph.MustNew(of.Parents...), S: of.States, Prior: of.Prior, Spec: o.Spec}
			var err error
			if j.Family, err = familyOf(j.Graph); err != nil {
				return nil, err
			}
			all = append(all, j)
		}
		run, least, err := newJointRun(o)
		if err != nil {
			return nil, err
		}
		if loss := float64(o.One.Loss); len(all[k].Seeds) == 0 && !math.IsNaN(loss) {
			above := loss - least
			all[k].One = &AlgorithmOne{above, above - run.Above + run.Excess.Mean, float64(o.One.Attention)}
		}
		all[k].Seeds = append(all[k].Seeds, run)
	}
	return all, nil
}

// familyOf returns the name of the family of a graph.
func familyOf(g *graph.Forest) (string, error) {
	for _, f := range graph.Families() {
		if slices.Equal(f.New(g.T()).Parents(), g.Parents()) {
			return f.Name, nil
		}
	}
	return "", fmt.Errorf("figures: no family has the graph with the parents %v", g.Parents())
}

// newJointRun returns the results of a run, and the least loss on its test set.
func newJointRun(o *trial.Outcome) (run JointRun, least float64, err error) {
	b, err := o.Spec.TestSet()
	if err != nil {
		return run, 0, err
	}
	end := o.End()
	least = num.Average(trial.Entropies(b)).Mean
	run = JointRun{
		Above:     float64(end.Loss) - least,
		Excess:    num.Estimate{Mean: float64(o.Bayes.Excess), StdErr: float64(o.Bayes.ExcessError)},
		Attention: float64(end.Attention),
	}
	_, run.Learned, _ = trial.CountEdges(o.Edges)
	return run, least, nil
}
