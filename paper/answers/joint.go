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
	"learncausal/paper/sweep"
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

	first train.Spec // of the first seed
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
	plan, results, err := load("joint-training.toml")
	if err != nil {
		return nil, err
	}
	all, err := newJoint(plan, results)
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

func newJoint(plan []sweep.Run, results []*sweep.Result) ([]*Joint, error) {
	var all []*Joint
	for i, r := range plan {
		of, ok := r.Spec.Task.(train.Task1)
		if !ok || results[i].Diverged != "" || results[i].Bayes == nil {
			return nil, fmt.Errorf("answers: run %s on %s is not of Task 1, has diverged or is not compared with Bayes",
				r.Address, r.Graph)
		}
		same := func(j *Joint) bool {
			return j.Family == r.Graph && j.Graph.T() == r.Spec.T() && j.S == of.States && j.Prior == of.Prior
		}
		k := slices.IndexFunc(all, same)
		if k < 0 {
			k = len(all)
			all = append(all, &Joint{
				Family: r.Graph, Graph: graph.MustNew(of.Parents...), S: of.States, Prior: of.Prior, first: r.Spec,
			})
		}
		run, err := newJointRun(r.Spec, results[i])
		if err != nil {
			return nil, err
		}
		all[k].Seeds = append(all[k].Seeds, run)
	}
	return all, nil
}

func newJointRun(spec train.Spec, r *sweep.Result) (JointRun, error) {
	b, err := spec.TestSet()
	if err != nil {
		return JointRun{}, err
	}
	end := r.Curve[len(r.Curve)-1]
	run := JointRun{
		Above:     float64(end.Loss) - least(b),
		Excess:    num.Estimate{Mean: float64(r.Bayes.Excess), StdErr: float64(r.Bayes.ExcessError)},
		Attention: float64(end.Attention),
	}
	for _, e := range r.Edges {
		if e.Given && e.Learned {
			run.Learned++
		}
	}
	return run, nil
}

// least returns the mean loss of who knows the transition matrix.
func least(b *task.Batch) float64 {
	sum := 0.0
	for k := range b.Len() {
		_, y := b.Seq(k)
		sum += task.LogLoss(y, y)
	}
	return sum / float64(b.Len())
}

// matrices is how many of a prior without finite support stand for it in stage 1, each
// in all relabelings.
const matrices = 16

// algorithmOne trains by Algorithm 1, as the sweep of [experiment.RunSweep] does, and
// measures the prediction on the test set of the first seed.
func (j *Joint) algorithmOne() (*AlgorithmOne, error) {
	b, err := j.first.TestSet()
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
	one := &AlgorithmOne{Above: loss - least(b)}
	one.Excess = one.Above - j.Seeds[0].Above + j.Seeds[0].Excess.Mean
	var on []float64
	for _, e := range j.Graph.Edges() {
		on = append(on, d.Attention[e[1]*j.Graph.T()+e[0]])
	}
	one.Attention = stat.Mean(on, nil)
	return one, nil
}
