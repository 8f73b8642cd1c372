// Bench measures a training step of batch 1024, fresh sequences included, against
// JAX: the single-parent experiment (T = 20) at S = 10 and S = 3, the multi-parent
// experiment (S = 5, T = 32) with k = 2 and k = 3 parents and heads, and the
// standard transformer with MLPs (S = 10, T = 20, width d = 30, on the chain).
//
// Every program runs in its own process. The programs take alternating turns of about a
// second on the same cores, because the speed of a shared machine drifts: only ratios of
// neighbouring turns are comparable. The programs are
//
//   - this engine, pkg/train;
//   - the JAX peer (peer.py): the dense definition in float32, as one jitted call;
//   - the same peer with the last query of layer 2 alone;
//   - with -authors, the paper's released code in a checkout of the user's, in
//     the single-parent settings;
//   - with -vectors alone, without Python: this engine with fewer vectors than the
//     processor has, and with none;
//   - with -against alone, the bench of another version of this project, which
//     make bench AGAINST=commit builds;
//   - with -shapes alone, this engine at S = 10 with Dirichlet priors other than 0.1, and
//     at other lengths.
//
// With -roofline it measures the kernels of a step on one core, and draws them below
// the limits of the core.
//
// Arguments name the settings to measure: S=10, S=3, k=2, k=3 and d=30, by default all.
// cmd/bench/run.sh runs bench, from the root of the repository.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"learncausal/internal/lanes"
)

var (
	python  = flag.String("python", "python3", "Python with the packages of requirements.txt")
	authors = flag.String("authors", "", "checkout of the authors' repository, to measure too")
	rounds  = flag.Int("rounds", 9, "turns of each program")
	turn    = flag.Duration("turn", time.Second, "length of a turn")
	vectors = flag.Bool("vectors", false, "measure our engine with and without vectors, and nothing else")
	against = flag.String("against", "", "bench of another version, to compare our engine with, and nothing else")
	shapes  = flag.Bool("shapes", false, "measure our engine with other priors and lengths, and nothing else")
	profile = flag.String("profile", "", "file for a CPU profile of our engine at S=10")
	roof    = flag.String("roofline", "", "PNG file to draw kernels in, below the limits of a core, and nothing else")
	engine  = flag.String("engine", "", "run as the process of the engine, in this setting")
)

func main() {
	flag.Parse()
	var err error
	switch {
	case *engine != "":
		err = serveEngine(*engine, *profile)
	case *roof != "":
		err = drawRoofline(*roof)
	default:
		err = bench()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

var settings = []string{"S=10", "S=3", "k=2", "k=3", "d=30"}

func bench() error {
	if *rounds < 1 {
		return fmt.Errorf("-rounds is %d, want at least 1", *rounds)
	}
	all, programs := settings, peers
	switch {
	case *vectors:
		programs = levels
	case *against != "":
		programs = versions
	case *shapes:
		all, programs = []string{"alpha", "T"}, sizes
	}
	chosen := all
	if flag.NArg() > 0 {
		chosen = flag.Args()
	}
	for _, s := range chosen {
		if !slices.Contains(all, s) {
			return fmt.Errorf("the argument %q is no setting, want some of %v", s, all)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if *profile != "" {
		if err := writeProfile(self); err != nil {
			return err
		}
	}
	var results []result
	for _, s := range chosen {
		r, err := alternate(s, programs(self, s))
		if err != nil {
			return err
		}
		results = append(results, r...)
	}
	fmt.Printf("\nms per step of 1024 fresh sequences on %d cores, this engine with vectors: %s: "+
		"medians of %d alternating turns (range)\n\n", runtime.NumCPU(), lanes.Level(), *rounds)
	return printTable(results)
}

type program struct {
	name string
	args []string
	env  []string
}

// peers returns our engine and the programs to compare it with.
func peers(self, setting string) []program {
	programs := []program{
		{name: "this engine", args: []string{self, "-engine", setting}},
		{name: "JAX peer", args: []string{*python, "cmd/bench/peer.py", setting}},
		{name: "JAX peer, last query only", args: []string{*python, "cmd/bench/peer.py", setting, "last"}},
	}
	if states, ok := strings.CutPrefix(setting, "S="); ok && *authors != "" {
		theirs := []string{*python, "cmd/bench/authors.py", *authors, states}
		programs = append(programs, program{name: "the authors' code", args: theirs})
	}
	return programs
}

// levels returns our engine with the vectors of the machine, and with fewer.
func levels(self, setting string) []program {
	programs := []program{{name: "vectors: " + lanes.Level(), args: []string{self, "-engine", setting}}}
	for _, fewer := range []string{"avx2", "none"} {
		if lanes.Level() != "none" && lanes.Level() != fewer {
			programs = append(programs, program{
				name: "vectors: " + fewer, args: []string{self, "-engine", setting},
				env: []string{"LEARNCAUSAL_VECTORS=" + fewer},
			})
		}
	}
	return programs
}

// versions returns our engine and the engine of another version.
func versions(self, setting string) []program {
	return []program{
		{name: "this engine", args: []string{self, "-engine", setting}},
		{name: *against, args: []string{*against, "-engine", setting}},
	}
}

// sizes returns our engine at several values of a parameter, the usual one first.
func sizes(self, parameter string) (programs []program) {
	values := map[string][]string{
		"alpha": {"0.1", "0.01", "0.3", "1", "2", "10", "100"}, "T": {"32", "64", "128", "256", "512"},
	}
	for _, v := range values[parameter] {
		setting := parameter + "=" + v
		programs = append(programs, program{name: setting, args: []string{self, "-engine", setting}})
	}
	return programs
}

// A result has the ms per step of one program in each round, and its largest resident set,
// compilation included.
type result struct {
	setting string
	program string
	ms      []float64
	first   []float64 // ms of the first program in the same rounds, which is our engine
	peakMB  float64
}

// alternate measures the programs in turns; the first one is the reference.
func alternate(s string, programs []program) ([]result, error) {
	results := make([]result, len(programs))
	children := make([]*child, len(programs))
	steps := make([]int, len(programs))
	for i, p := range programs {
		results[i] = result{setting: s, program: p.name}
		c, err := start(p)
		if err != nil {
			return nil, err
		}
		children[i] = c
		if _, err := c.steps(2); err != nil { // compilation
			return nil, err
		}
		ms, err := c.steps(3)
		if err != nil {
			return nil, err
		}
		steps[i] = max(1, int(turn.Seconds()*1e3/ms))
		fmt.Printf("%s, %s: %d steps a turn\n", s, p.name, steps[i])
	}
	for round := range *rounds {
		fmt.Printf("%s, round %d:", s, round+1)
		for i, c := range children {
			ms, err := c.steps(steps[i])
			if err != nil {
				return nil, err
			}
			results[i].ms = append(results[i].ms, ms)
			fmt.Printf("  %.2f", ms)
		}
		fmt.Println(" ms")
	}
	for i, c := range children {
		mb, err := c.close()
		if err != nil {
			return nil, err
		}
		results[i].peakMB, results[i].first = mb, results[0].ms
	}
	return results, nil
}

// A child is a running program that reads a number of steps and replies with ms per step.
type child struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
}

func start(p program) (*child, error) {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Stderr, cmd.Env = os.Stderr, append(os.Environ(), p.env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return &child{p.name, cmd, in, bufio.NewScanner(out)}, nil
}

func (c *child) steps(n int) (float64, error) {
	if _, err := fmt.Fprintln(c.in, n); err != nil {
		return 0, fmt.Errorf("%s: %w", c.name, err)
	}
	if !c.out.Scan() {
		return 0, fmt.Errorf("%s ended instead of taking %d steps", c.name, n)
	}
	ms, err := strconv.ParseFloat(c.out.Text(), 64)
	if err != nil || !(ms > 0) {
		return 0, fmt.Errorf("%s answered %q, want ms per step", c.name, c.out.Text())
	}
	return ms, nil
}

// close ends the child and returns its peak memory in MB.
func (c *child) close() (float64, error) {
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		return 0, fmt.Errorf("%s: %w", c.name, err)
	}
	return peak(c.cmd.ProcessState), nil
}

func printTable(results []result) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "setting\tprogram\tms per step\ttimes the first\tpeak memory")
	for _, r := range results {
		ratios := make([]float64, len(r.ms))
		for i := range ratios {
			ratios[i] = r.ms[i] / r.first[i]
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f (%.2f to %.2f)\t%.1f (%.1f to %.1f)\t%.0f MB\n", r.setting, r.program,
			median(r.ms), slices.Min(r.ms), slices.Max(r.ms),
			median(r.ms)/median(r.first), slices.Min(ratios), slices.Max(ratios), r.peakMB)
	}
	return w.Flush()
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// writeProfile profiles three turns of our engine and prints the functions with most time.
func writeProfile(self string) error {
	c, err := start(program{name: "this engine", args: []string{self, "-engine", "S=10", "-profile", *profile}})
	if err != nil {
		return err
	}
	for begin := time.Now(); time.Since(begin) < 3**turn; {
		if _, err := c.steps(10); err != nil {
			return err
		}
	}
	if _, err := c.close(); err != nil {
		return err
	}
	top := exec.Command("go", "tool", "pprof", "-top", "-nodecount=15", *profile)
	top.Stdout, top.Stderr = os.Stdout, os.Stderr
	return top.Run()
}
