// Bench measures a training step of batch 1024, fresh sequences included, against JAX: the single-parent
// experiment (T = 20) at S = 10 and S = 3, the multi-parent experiment (S = 5, T = 32) with k = 2 and k = 3
// parents and heads, and the standard transformer with MLPs (S = 10, T = 20, width d = 30, on the chain).
//
// Every program runs in its own process. The programs take alternating turns of about a second on the same
// cores, because the speed of a shared machine drifts: only ratios of neighbouring turns are comparable. The
// programs are
//
//   - this engine, pkg/train;
//   - the JAX peer (peer.py): the dense definition in float32, as one jitted call;
//   - the same peer with the last query of layer 2 alone;
//   - with -authors, the paper's released code in a checkout of the user's, in
//     the single-parent settings;
//   - with -against alone, and without Python, the bench of another version of this
//     project, which make bench AGAINST=commit builds.
//
// Arguments name the settings to measure: S=10, S=3, k=2, k=3 and d=30, by default all. cmd/bench/run.sh runs
// bench, from the root of the repository.
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

	"learncausal/pkg/train"
)

var (
	python  = flag.String("python", "python3", "Python with the packages of requirements.txt")
	authors = flag.String("authors", "", "checkout of the authors' repository, to measure too")
	rounds  = flag.Int("rounds", 9, "turns of each program")
	turn    = flag.Duration("turn", time.Second, "length of a turn")
	against = flag.String("against", "", "bench of another version, to compare our engine with, and nothing else")
	engine  = flag.String("engine", "", "run as the process of the engine, in this setting")
)

func main() {
	flag.Parse()
	run := bench
	if *engine != "" {
		run = func() error { return serveEngine(*engine) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

var settings = []string{"S=10", "S=3", "k=2", "k=3", "d=30"}

func bench() error {
	if *rounds < 1 {
		return fmt.Errorf("-rounds is %d, want at least 1", *rounds)
	}
	programs := peers
	if *against != "" {
		programs = versions
	}
	chosen := settings
	if flag.NArg() > 0 {
		chosen = flag.Args()
	}
	for _, s := range chosen {
		if !slices.Contains(settings, s) {
			return fmt.Errorf("the argument %q is no setting, want some of %v", s, settings)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
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
		"medians of %d alternating turns (range)\n\n", runtime.NumCPU(), train.SIMD(), *rounds)
	return printTable(results)
}

type program struct {
	name string
	args []string
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

// versions returns our engine and the engine of another version.
func versions(self, setting string) []program {
	return []program{
		{name: "this engine", args: []string{self, "-engine", setting}},
		{name: *against, args: []string{*against, "-engine", setting}},
	}
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
	cmd.Stderr = os.Stderr
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
