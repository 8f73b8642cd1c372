package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// serveEngine trains our engine in the protocol of turns.py: it reads lines with a number
// of steps on standard input, and prints the mean ms per step for each.
func serveEngine(setting string) error {
	spec := train.Spec{
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Cosine},
		Batch:     1024,
		Steps:     math.MaxInt32,
		Test:      1024,
		Every:     math.MaxInt32, // no turn has an evaluation
	}
	name, value, _ := strings.Cut(setting, "=")
	n, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("setting %q, want one of %v", setting, settings)
	}
	switch name {
	case "S":
		spec.Task = train.Task1{Parents: graph.InContext(20).Parents(), States: n, Prior: "dirichlet(0.1)"}
	case "k":
		spec.Task = train.Task2{Parents: graph.NGram(32, n).Parents(), States: 5, Prior: "dirichlet(0.1)"}
		spec.Model = train.Disentangled{Heads: [2]int{n, 1}, Init: 1e-4}
		spec.Optimiser = train.AdamW{Rate: 0.01, Schedule: train.Cosine, Decay: 1e-4}
	case "d":
		spec.Task = train.Task1{Parents: graph.Chain(20).Parents(), States: 10, Prior: "dirichlet(0.1)"}
		spec.Model = train.MLP{Width: n}
		spec.Optimiser = train.AdamW{Rate: 0.01, Schedule: train.Cosine, Decay: 2e-4}
	default:
		return fmt.Errorf("setting %q, want one of %v", setting, settings)
	}
	t, err := train.New(spec, 0)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil || n < 1 {
			return fmt.Errorf("standard input: %q is not a number of steps", lines.Text())
		}
		start := time.Now()
		if err := t.Advance(n); err != nil {
			return err
		}
		fmt.Println(time.Since(start).Seconds() * 1e3 / float64(n))
	}
	return lines.Err()
}
