package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"learncausal/pkg/graph"
	"learncausal/pkg/ledger"
	"learncausal/pkg/markov"
	"learncausal/pkg/train"
)

// settings are the flags that determine a run on a graph of one's own.
type settings struct {
	states       int
	prior        string
	uniformRoots bool

	model string
	heads []int
	init  float64
	width int
	fixed bool

	optimiser, schedule string
	rate, decay         float64

	batch, steps, test, every int
	seed                      uint64
}

// define defines the flags. Where the default depends on the task or the model,
// spec fills it in.
func (s *settings) define(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.IntVar(&s.states, "states", 3, "number of tokens S")
	flags.StringVar(&s.prior, "prior", "dirichlet(0.1)",
		"`law` of the transition matrices: dirichlet(alpha), or orbit(...) or finite(...)\n"+
			"with the rows of a matrix, split by ;, as in orbit(0.7 0.3; 0.4 0.6)")
	flags.BoolVar(&s.uniformRoots, "uniform-roots", false, "Task 2: roots are uniform, not of a law that is drawn")
	flags.StringVar(&s.model, "model", "disentangled", "`kind`: disentangled, or mlp for the standard one with MLPs")
	flags.IntSliceVar(&s.heads, "heads", nil, "heads in layers 1 and 2 (default 1,1; Task 2: a parent of y each, 1)")
	flags.Float64Var(&s.init, "init", 0, "standard deviation of the initial attention (default 0; Task 2: 1e-4)")
	flags.IntVar(&s.width, "width", 30, "mlp: dimension of the embeddings and of the MLPs")
	flags.BoolVar(&s.fixed, "fixed-embeddings", false, "mlp: embeddings stay as they are drawn")
	flags.StringVar(&s.optimiser, "optimiser", "", "sgd or adamw (default sgd; Task 2 and mlp: adamw)")
	flags.Float64Var(&s.rate, "rate", 0, "learning rate (default 1 for sgd, 0.01 for adamw)")
	flags.StringVar(&s.schedule, "schedule", "constant", "of the rate: constant, or cosine to zero over all steps")
	flags.Float64Var(&s.decay, "decay", 0, "adamw: weight decay")
	flags.IntVar(&s.steps, "steps", 4096, "steps of the optimiser")
	flags.IntVar(&s.batch, "batch", 256, "fresh sequences in each step")
	flags.Uint64Var(&s.seed, "seed", 0, "of every random draw")
	flags.IntVar(&s.test, "test", 4096, "sequences in the test set")
	flags.IntVar(&s.every, "every", 0, "steps between two evaluations on it (default a 64th of all)")
}

// namesOf returns the names of the flags but for some.
func namesOf(flags *pflag.FlagSet, but map[string]bool) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !but[f.Name] {
			names = append(names, f.Name)
		}
	})
	return names
}

// spec returns the specification of a run on a graph.
func (s *settings) spec(flags *pflag.FlagSet, g *ownGraph) (train.Spec, error) {
	given := flags.Changed
	spec := train.Spec{Batch: s.batch, Steps: s.steps, Seed: s.seed, Test: s.test, Every: s.every}
	prior, err := markov.ParsePrior(s.prior, s.states)
	if err != nil {
		if form := `; want rows split by ";", as in orbit(0.7 0.3; 0.4 0.6)`; !strings.HasPrefix(s.prior, "dirichl") {
			return spec, fmt.Errorf("--prior and --states: %w%s", err, form)
		}
		return spec, fmt.Errorf("--prior and --states: %w", err)
	}
	several := g.dag != nil
	if several {
		spec.Task = train.Task2{
			Parents: g.dag.Parents(), States: s.states, Prior: prior.String(), UniformRoots: s.uniformRoots,
		}
	} else {
		if s.uniformRoots {
			return spec, errors.New("--uniform-roots belongs to Task 2, a graph with the label y")
		}
		spec.Task = train.Task1{Parents: g.forest.Parents(), States: s.states, Prior: prior.String()}
	}
	if spec.Model, err = s.modelOf(given, g); err != nil {
		return spec, err
	}
	if spec.Optimiser, err = s.optimiserOf(given, several); err != nil {
		return spec, err
	}
	if !given("every") {
		spec.Every = max(1, s.steps/64)
	}
	if given("every") && s.every < 1 {
		return spec, fmt.Errorf("--every is %d, want at least 1", s.every)
	}
	if s.test < 2 {
		return spec, fmt.Errorf("--test is %d, want at least 2 sequences: a standard error needs them", s.test)
	}
	if err := spec.Validate(); err != nil {
		if text, field := strings.CutPrefix(err.Error(), "spec: "); field {
			return spec, errors.New("--" + text) // fields go by the names of the flags
		}
		return spec, err
	}
	return spec, nil
}

func (s *settings) modelOf(given func(string) bool, g *ownGraph) (train.Model, error) {
	switch s.model {
	case "disentangled":
		for _, name := range []string{"width", "fixed-embeddings"} {
			if given(name) {
				return nil, fmt.Errorf("--%s belongs to --model mlp", name)
			}
		}
		m := train.Disentangled{Heads: [2]int{1, 1}, Init: s.init}
		if g.dag != nil {
			parents := g.dag.Parents()
			m.Heads[0] = len(parents[g.dag.T()])
			if !given("init") {
				m.Init = 1e-4 // heads that start equal stay equal
			}
		}
		if given("heads") {
			if len(s.heads) != 2 {
				return nil, fmt.Errorf("--heads is %v, want one number for each of the two layers, as in 2,1", s.heads)
			}
			m.Heads = [2]int(s.heads)
		}
		return m, nil
	case "mlp":
		for _, name := range []string{"heads", "init"} {
			if given(name) {
				return nil, fmt.Errorf("--%s belongs to --model disentangled", name)
			}
		}
		return train.MLP{Width: s.width, FixedEmbeddings: s.fixed}, nil
	}
	return nil, fmt.Errorf("--model is %q, want disentangled or mlp", s.model)
}

func (s *settings) optimiserOf(given func(string) bool, several bool) (train.Optimiser, error) {
	name, rate := s.optimiser, s.rate
	if !given("optimiser") {
		name = "sgd"
		if several || s.model == "mlp" {
			name = "adamw"
		}
	}
	schedule := train.Schedule(s.schedule)
	switch name {
	case "sgd":
		if given("decay") {
			return nil, errors.New("--decay belongs to --optimiser adamw")
		}
		if !given("rate") {
			rate = 1
		}
		return train.SGD{Rate: rate, Schedule: schedule}, nil
	case "adamw":
		if !given("rate") {
			rate = 0.01
		}
		return train.AdamW{Rate: rate, Schedule: schedule, Decay: s.decay}, nil
	}
	return nil, fmt.Errorf("--optimiser is %q, want sgd or adamw", name)
}

// An ownGraph is a forest, for Task 1, or a graph with several parents.
type ownGraph struct {
	name   string
	forest *graph.Forest
	dag    *graph.DAG
}

var (
	familyForm = regexp.MustCompile(`^([a-z0-9-]+)\((-?\d+)\)$`)
	labelForm  = regexp.MustCompile(`\by\b`)
	notInNames = regexp.MustCompile(`[^a-z0-9]+`)
)

// readGraph reads what the command line says of a graph: a family, a file, or
// standard input.
func readGraph(in io.Reader, arg string) (*ownGraph, error) {
	if arg == "figure-1" {
		return &ownGraph{name: arg, forest: graph.Figure1()}, nil
	}
	if m := familyForm.FindStringSubmatch(arg); m != nil {
		return family(m[1], m[2])
	}
	name, where := "my-graph", "standard input"
	if arg != "-" {
		f, err := os.Open(arg)
		if err != nil {
			return nil, noGraph(arg, err)
		}
		defer f.Close()
		base := filepath.Base(arg)
		in, where = f, arg
		name = notInNames.ReplaceAllString(strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base))), "-")
		if name = strings.Trim(name, "-"); name == "" {
			name = "my-graph"
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	forest, err := graph.ReadDOT(strings.NewReader(string(text)))
	if err == nil {
		return &ownGraph{name: name, forest: forest}, nil
	}
	if errors.Is(err, graph.ErrSyntax) {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if labelForm.Match(text) {
		dag, err := graph.ReadDAG(strings.NewReader(string(text)))
		if err != nil {
			return nil, fmt.Errorf("%s, read as Task 2 for its node y: %w", where, err)
		}
		return &ownGraph{name: name, dag: dag}, nil
	}
	const as = "read as Task 1 as it has no node y (Task 2, of several parents, has one)"
	return nil, fmt.Errorf("%s, %s: %w", where, as, err)
}

// noGraph returns the error for an argument that is no file and has not the form of
// a family, with the family that may be meant.
func noGraph(arg string, err error) error {
	name, _, bracket := strings.Cut(strings.ToLower(arg), "(")
	names := []string{"halves", "trigram", "figure-1"}
	for _, f := range graph.Families() {
		names = append(names, strings.ReplaceAll(f.Name, " ", "-"))
	}
	name = strings.ReplaceAll(strings.TrimSpace(name), " ", "-")
	near := ledger.Nearest(name, names)[0]
	switch {
	case !errors.Is(err, fs.ErrNotExist) || !bracket && near != name:
		return fmt.Errorf("the graph: %w; want a DOT file, - for standard input, or a family as in chain(12)", err)
	case near != "figure-1":
		near += "(12)"
	}
	return fmt.Errorf("the graph %s: no such file, and no family as it is written: want it as in %s", arg, near)
}

// family returns the graph of a family on t positions.
func family(name, t string) (*ownGraph, error) {
	forests, dags, names := map[string]func(int) *graph.Forest{}, map[string]func(int) *graph.DAG{
		"halves":  graph.Halves,
		"trigram": func(t int) *graph.DAG { return graph.NGram(t, 2) },
	}, []string{"halves", "trigram", "figure-1"}
	for _, f := range graph.Families() {
		key := strings.ReplaceAll(f.Name, " ", "-")
		forests[key] = f.New
		names = append(names, key)
	}
	if forests[name] == nil && dags[name] == nil {
		return nil, fmt.Errorf("the graph %s(%s): no such family; near it: %s (paper train --help shows all)",
			name, t, strings.Join(ledger.Nearest(name, names), ", "))
	}
	n, err := strconv.Atoi(t)
	if err != nil || n < 2 || n > graph.MaxT {
		return nil, fmt.Errorf("the graph %s(%s): want 2 to %d positions", name, t, graph.MaxT)
	}
	g := &ownGraph{name: fmt.Sprintf("%s-%d", name, n)}
	if forests[name] != nil {
		g.forest = forests[name](n)
	} else {
		g.dag = dags[name](n)
	}
	return g, nil
}
