package answers

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"learncausal/paper/experiment"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// A Joint is what training both layers at once comes to on a graph with a prior, and
// Algorithm 1 there. Losses are in nats; Above is that over the least one that Theorem 1
// speaks of, of who knows the transition matrix, on the test set of a run.
type Joint struct {
	Family string
	Graph  *graph.Forest
	S      int
	Prior  string
	Seeds  []JointRun
	One    *AlgorithmOne // nil where S is not 3
	Spec   train.Spec    // of the first seed
}

// A JointRun is one run of both layers.
type JointRun struct {
	Above     float64
	Excess    num.Estimate // over the Bayes predictor
	Attention float64      // mean over the edges, on the parents
	Learned   int          // edges
}

// AlgorithmOne is what Algorithm 1 comes to, in the form of [experiment.Dynamics], whose
// prediction is (f + eps)/(1 + S eps), on the test set of the first run.
type AlgorithmOne struct {
	Above     float64
	Excess    float64 // over the Bayes predictor
	Attention float64 // mean over the edges, on the parents
}

// mean returns the mean over the seeds of what f makes of each run.
func (j *Joint) mean(f func(JointRun) float64) float64 {
	sum := 0.0
	for _, r := range j.Seeds {
		sum += f(r)
	}
	return sum / float64(len(j.Seeds))
}

// Above returns the mean loss of joint training above the least one.
func (j *Joint) Above() float64 { return j.mean(func(r JointRun) float64 { return r.Above }) }

// Excess returns its mean over that of the Bayes predictor.
func (j *Joint) Excess() float64 { return j.mean(func(r JointRun) float64 { return r.Excess.Mean }) }

// Bayes returns the mean loss of the Bayes predictor above the least one.
func (j *Joint) Bayes() float64 { return j.Above() - j.Excess() }

// Attention returns its mean attention on the parents.
func (j *Joint) Attention() float64 { return j.mean(func(r JointRun) float64 { return r.Attention }) }

// Learned returns the share of the edges that it learns.
func (j *Joint) Learned() float64 {
	return j.mean(func(r JointRun) float64 { return float64(r.Learned) }) / float64(len(j.Graph.Edges()))
}

// Uniform returns the mean over the edges of what uniform attention puts on the parent.
func (j *Joint) Uniform() float64 {
	var on []float64
	for _, e := range j.Graph.Edges() {
		on = append(on, 1/float64(e[1]+1))
	}
	return stat.Mean(on, nil)
}

// LoadJoint reads the results of sweeps/joint-training.toml, in the order of the plan,
// and runs Algorithm 1 on each of the graphs with three states.
func LoadJoint(ctx context.Context) ([]*Joint, error) {
	outcomes, err := experiment.Outcomes(jointTraining)
	if err != nil {
		return nil, err
	}
	all, err := newJoint(outcomes)
	if err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, j := range all {
		if j.S == 3 {
			group.Go(func() (err error) {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				j.One, err = j.algorithmOne()
				return err
			})
		}
	}
	return all, group.Wait()
}

func newJoint(outcomes []*experiment.Outcome) ([]*Joint, error) {
	var all []*Joint
	for _, o := range outcomes {
		of, ok := o.Spec.Task.(train.Task1)
		if !ok || o.Diverged != "" || o.Bayes == nil {
			return nil, fmt.Errorf("answers: run %s of %s is not of Task 1, has diverged or is not compared with Bayes",
				o.Address, jointTraining)
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
		run, err := newJointRun(o)
		if err != nil {
			return nil, err
		}
		all[k].Seeds = append(all[k].Seeds, run)
	}
	return all, nil
}

// familyOf returns the name of the family that a graph is of.
func familyOf(g *graph.Forest) (string, error) {
	for _, f := range graph.Families() {
		if slices.Equal(f.New(g.T()).Parents(), g.Parents()) {
			return f.Name, nil
		}
	}
	return "", fmt.Errorf("answers: no family has the graph with the parents %v", g.Parents())
}

func newJointRun(o *experiment.Outcome) (JointRun, error) {
	b, err := o.Spec.TestSet()
	if err != nil {
		return JointRun{}, err
	}
	end := o.End()
	run := JointRun{
		Above:     float64(end.Loss) - num.Average(experiment.Entropies(b)).Mean,
		Excess:    num.Estimate{Mean: float64(o.Bayes.Excess), StdErr: float64(o.Bayes.ExcessError)},
		Attention: float64(end.Attention),
	}
	_, run.Learned, _ = experiment.CountEdges(o.Edges)
	return run, nil
}

// matrices is how many of a prior without finite support stand for it in stage 1, each
// in all relabelings.
const matrices = 16

// algorithmOne trains by Algorithm 1, as the sweep of [experiment.RunSweep] does, and
// measures the prediction on the test set of the first seed.
func (j *Joint) algorithmOne() (*AlgorithmOne, error) {
	b, err := j.Spec.TestSet()
	if err != nil {
		return nil, err
	}
	prior, err := markov.ParsePrior(j.Prior, j.S)
	if err != nil {
		return nil, err
	}
	finite, ok := prior.(*markov.Finite)
	if !ok {
		if finite, err = experiment.SampledPrior(prior, matrices, 1); err != nil {
			return nil, err
		}
	}
	d, err := experiment.RunDynamics(j.Graph, finite, float64(j.Graph.T())/8, 256)
	if err != nil {
		return nil, err
	}
	predict := d.Predictor(d.Trained().Final)
	loss := num.Average(task.Losses(b, func(f []float64, x []int) {
		predict(f, x)
		floats.AddConst(d.Eps, f)
		floats.Scale(1/(1+float64(j.S)*d.Eps), f)
	})).Mean
	one := &AlgorithmOne{Above: loss - num.Average(experiment.Entropies(b)).Mean}
	one.Excess = one.Above - j.Seeds[0].Above + j.Seeds[0].Excess.Mean
	var on []float64
	for _, e := range j.Graph.Edges() {
		on = append(on, d.Attention[e[1]*j.Graph.T()+e[0]])
	}
	one.Attention = stat.Mean(on, nil)
	return one, nil
}
