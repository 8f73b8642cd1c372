package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// serveEngine trains our engine in the protocol of turns.py: a line with a
// number of steps on standard input is answered by the mean ms per step. With a
// profile, the CPU profile of all turns is written there.
func serveEngine(setting, profile string) error {
	spec := train.Spec{
		Prior: "dirichlet(0.1)",
		Batch: 1024,
		Steps: math.MaxInt32,
		Rate:  1, Schedule: "cosine",
		Test:  1024,
		Every: math.MaxInt32, // no evaluation falls into a turn
	}
	name, value, _ := strings.Cut(setting, "=")
	n, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("setting %q, want one of %v", setting, settings)
	}
	switch name {
	case "S":
		spec.Parents, spec.States = graph.InContext(20).Parents(), n
	case "k":
		spec.Nodes, spec.States, spec.Roots, spec.Heads = graph.NGram(32, n).Parents(), 5, "dirichlet", n
		spec.Optimiser, spec.Rate, spec.Decay, spec.Init = "adamw", 0.01, 1e-4, 1e-4
	case "d":
		spec.Parents, spec.States, spec.Width, spec.Embeddings = graph.Chain(20).Parents(), 10, n, "trained"
		spec.Optimiser, spec.Rate, spec.Decay = "adamw", 0.01, 2e-4
	default:
		return fmt.Errorf("setting %q, want one of %v", setting, settings)
	}
	t, err := train.New(spec, 0)
	if err != nil {
		return err
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil || n < 1 {
			return fmt.Errorf("standard input: %q is not a number of steps", lines.Text())
		}
		start := time.Now()
		t.Advance(n)
		fmt.Println(time.Since(start).Seconds() * 1e3 / float64(n))
	}
	return lines.Err()
}
