package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"runtime/pprof"
	"strconv"
	"time"

	"learncausal/pkg/train"
)

// serveEngine trains our engine in the protocol of turns.py: a line with a
// number of steps on standard input is answered by the mean ms per step. With a
// profile, the CPU profile of all turns is written there.
func serveEngine(states int, profile string) error {
	spec := train.Spec{
		Parents:  []int{-1, 0, -1, 2, -1, 4, -1, 6, -1, 8, -1, 10, -1, 12, -1, 14, -1, 16, -1, -1},
		States:   states,
		Prior:    "dirichlet(0.1)",
		Batch:    1024,
		Steps:    math.MaxInt32,
		Rate:     1,
		Schedule: "cosine",
		Test:     1024,
		Every:    math.MaxInt32, // no evaluation falls into a turn
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
