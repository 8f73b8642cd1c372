package train

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// maxWorkers is the number of workers that have something to do in a step: a
// gradient and a batch to draw for each shard.
const maxWorkers = 2 * shards

// memoryLimit is how much memory New takes at most if GOMEMLIMIT does not say.
const memoryLimit = 4 << 30

// Memory returns about how many bytes a [Trainer] of the spec holds with so many workers,
// one for each processor if workers is not positive. Most of it are ten copies of the tables of an engine, see
// [engine.Footprint], those of the disentangled transformer with one head in each
// layer are 3 (S+T)^2 numbers and smaller ones, and what a worker keeps of a block of
// 8 or 16 sequences, T^2 numbers for each head and 4 S^2 to draw it. It panics if
// [Spec.Validate] has an error, and allocates nothing of that size.
func (s Spec) Memory(workers int) float64 {
	s.mustBeValid()
	return s.Canonical().memory(useful(workers))
}

// CheckMemory returns the error of [New] where training on so many workers takes more memory
// than there may be. It panics if [Spec.Validate] has an error, and allocates nothing of that
// size.
func (s Spec) CheckMemory(workers int) error {
	s.mustBeValid()
	s = s.Canonical()
	what := fmt.Sprintf("training %s, batch %d and test set %d", s.describe(), s.Batch, s.Test)
	return CheckMemory(s.memory(useful(workers)), what)
}

// useful returns the number of workers that there are: a processor each if none are asked for.
func useful(workers int) int {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return min(workers, maxWorkers)
}

// memory is Memory for that many workers.
func (s Spec) memory(workers int) float64 {
	f := s.Model.footprint(s.S(), s.T())
	tables := f.Engine + (shards+1)*f.Gradient
	sequences := 2*float64(s.Batch) + float64(s.Test)
	return 8 * (copies(s.Optimiser)*f.Weights + tables + float64(workers)*(f.Pass+s.Task.drawing()) +
		sequences*(float64(s.S())+float64(s.T())) + s.points())
}

// copies returns how many arrays of the size of the weights a trainer holds.
func copies(o Optimiser) float64 {
	if _, ok := o.(AdamW); ok {
		return 4 // with two moments and a gradient
	}
	return 1
}

// points returns how many numbers the curve holds.
func (s Spec) points() float64 { return 3 * (float64(s.Steps)/float64(s.Canonical().Every) + 2) }

// checkSize returns an error that names a field by which a spec takes more memory
// than any machine has. Below that nothing overflows.
func (s Spec) checkSize() error {
	const most = 1 << 44
	c := s.Canonical()
	sequence := float64(s.S()) + float64(s.T())
	model := strings.ReplaceAll(c.Model.size(), " ", " is ")
	for _, field := range []struct {
		is      string
		numbers float64
	}{
		{fmt.Sprintf("batch is %d", c.Batch), 2 * float64(c.Batch) * sequence},
		{fmt.Sprintf("test is %d", c.Test), float64(c.Test) * sequence},
		{fmt.Sprintf("steps is %d, with an evaluation every %d", c.Steps, c.Every), c.points()},
		{fmt.Sprintf("%s at S=%d, T=%d", model, c.S(), c.T()), c.Model.footprint(c.S(), c.T()).Weights},
	} {
		if bytes := 8 * field.numbers; !(bytes <= most) {
			return fmt.Errorf("spec: %s, which takes about %s of memory, want at most %s",
				field.is, gigabytes(bytes), gigabytes(most))
		}
	}
	return nil
}

// CheckMemory returns an error if something, as "training ...", takes more bytes than there
// may be: GOMEMLIMIT if it is set, else 4 GiB or what the machine has.
func CheckMemory(bytes float64, what string) error {
	if bytes <= limit() {
		return nil
	}
	want := ""
	if more := math.Ceil(1.1 * bytes / (1 << 30)); more*(1<<30) <= installed() {
		want = fmt.Sprintf(", or the environment variable GOMEMLIMIT=%.0fGiB", more)
	}
	return fmt.Errorf("train: about %s of memory for %s, more than %s; want less of these%s",
		gigabytes(bytes), what, gigabytes(limit()), want)
}

// installed returns how many bytes of memory the machine has, or infinity where
// Linux does not say.
func installed() float64 {
	text, err := os.ReadFile("/proc/meminfo")
	var kilobytes float64
	if err == nil {
		_, err = fmt.Sscanf(string(text), "MemTotal: %g kB", &kilobytes)
	}
	if err != nil {
		return math.Inf(1)
	}
	return 1024 * kilobytes
}

// limit returns how many bytes there may be.
func limit() float64 {
	if set := debug.SetMemoryLimit(-1); set < math.MaxInt64 {
		return float64(set)
	}
	return min(memoryLimit, installed())
}

func gigabytes(bytes float64) string { return fmt.Sprintf("%.2g GiB", bytes/(1<<30)) }

// snapshotMemory returns the bytes of weights, moments and curve.
func (s Spec) snapshotMemory() float64 {
	return 8 * (copies(s.Optimiser)*s.Model.footprint(s.S(), s.T()).Weights + s.points())
}
