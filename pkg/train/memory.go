package train

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// maxWorkers is the number of workers that have something to do in a step: a
// gradient and a batch to draw for each shard.
const maxWorkers = 2 * shards

// memoryLimit is how much memory New takes if GOMEMLIMIT does not say.
const memoryLimit = 4 << 30

// Memory returns about how many bytes a [Trainer] of the spec holds with a worker
// for each processor. Most of it are ten copies of the tables of an engine, see
// [model.Footprint], those of the disentangled transformer with one head in each
// layer are 3 (S+T)^2 numbers and smaller ones, and what a worker keeps of eight
// sequences, T^2 numbers for each head. It panics if [Spec.Validate] has an error,
// and allocates nothing of that size.
func (s Spec) Memory() float64 {
	s.mustBeValid()
	return s.Canonical().memory(min(runtime.GOMAXPROCS(0), maxWorkers))
}

// memory is Memory for that many workers.
func (s Spec) memory(workers int) float64 {
	f := s.Model.footprint(s.S(), s.T())
	weights := 1.0
	if _, ok := s.Optimiser.(AdamW); ok {
		weights = 4 // with two moments and a gradient
	}
	tables := f.Engine + (shards+1)*f.Gradient
	sequences := 2*float64(s.Batch) + float64(s.Test)
	return 8 * (weights*f.Weights + tables + float64(workers)*f.Pass + sequences*float64(s.S()+s.T()))
}

// checkMemory returns an error if something takes more bytes than there may be.
func checkMemory(bytes float64, what string) error {
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
	return memoryLimit
}

func gigabytes(bytes float64) string { return fmt.Sprintf("%.2g GiB", bytes/(1<<30)) }
