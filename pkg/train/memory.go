package train

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// maxWorkers is the number of parallel jobs in a step: a gradient and a batch to draw for each shard.
const maxWorkers = 2 * shards

// memoryLimit is the default of GOMEMLIMIT here.
const memoryLimit = 4 << 30

// Memory estimates the memory of a [Trainer] in bytes, with the given number of workers, one for each processor
// if not positive. Most of it is ten copies of the tables of an engine, for the disentangled transformer with
// one head in each layer about 3 (S+T)^2 numbers. A worker has T^2 numbers for each head and 4 S^2 for drawing,
// for each of 8 or 16 sequences. It panics if [Spec.Validate] returns an error.
func (s Spec) Memory(workers int) float64 {
	s = s.mustValid()
	f := modelKind(s.Model).footprint(s.S(), s.T())
	tables := f.Engine + (shards+1)*f.Gradient
	sequences := 2*float64(s.Batch) + float64(s.Test)
	passes := float64(workerCount(workers)) * (f.Pass + taskKind(s.Task).drawing())
	return 8 * (copies(s.Optimiser)*f.Weights + tables + passes + sequences*(float64(s.S())+float64(s.T())) + s.points())
}

// workerCount returns the number of workers that train, one for each processor if workers is not positive.
func workerCount(workers int) int {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return min(workers, maxWorkers)
}

// copies returns the number of arrays of the size of the weights in a trainer.
func copies(o Optimiser) float64 {
	if o, ok := o.(SGD); ok {
		return choose(o.FirstLayerRate == 0, 1.0, 2)
	}
	return 4 // two moments and a gradient of AdamW; as many for one of the reader's own
}

// points returns the number of numbers in the curve of a canonical spec.
func (s Spec) points() float64 {
	return float64(3+len(s.NormNames())) * (float64(s.Steps)/float64(s.Every) + 2)
}

// checkSize returns an error that names a field for which a run takes more than 16 TiB. Below
// that no size overflows.
func (s Spec) checkSize() error {
	const most = 1 << 44
	c := s.Canonical()
	sequence := float64(s.S()) + float64(s.T())
	size := strings.ReplaceAll(modelKind(c.Model).size(), " ", " is ")
	for _, field := range []struct {
		value   string
		numbers float64
	}{
		{fmt.Sprintf("batch is %d", c.Batch), 2 * float64(c.Batch) * sequence},
		{fmt.Sprintf("test is %d", c.Test), float64(c.Test) * sequence},
		{fmt.Sprintf("steps is %d, with an evaluation every %d", c.Steps, c.Every), c.points()},
		{fmt.Sprintf("%s at S=%d, T=%d", size, c.S(), c.T()), modelKind(c.Model).footprint(c.S(), c.T()).Weights},
	} {
		if bytes := 8 * field.numbers; !(bytes <= most) {
			return fmt.Errorf("spec: %s, which takes about %s of memory, want at most %s",
				field.value, gigabytes(bytes), gigabytes(most))
		}
	}
	return nil
}

// CheckMemory returns an error that names the purpose, as in "training ...", if bytes exceed
// the limit: GOMEMLIMIT if it is set, otherwise 4 GiB or the installed memory.
func CheckMemory(bytes float64, purpose string) error {
	if bytes <= limit() {
		return nil
	}
	want := ""
	if more := math.Ceil(1.1 * bytes / (1 << 30)); more*(1<<30) <= installed() {
		want = fmt.Sprintf(", or the environment variable GOMEMLIMIT=%.0fGiB", more)
	}
	return fmt.Errorf("train: about %s of memory for %s, more than %s; want less of these%s",
		gigabytes(bytes), purpose, gigabytes(limit()), want)
}

// installed returns the memory of the machine in bytes, or infinity on systems other than Linux.
func installed() float64 {
	text, _ := os.ReadFile("/proc/meminfo")
	var kilobytes float64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %g kB", &kilobytes); err != nil {
		return math.Inf(1)
	}
	return 1024 * kilobytes
}

// limit returns the limit of CheckMemory in bytes.
func limit() float64 {
	if set := debug.SetMemoryLimit(-1); set < math.MaxInt64 {
		return float64(set)
	}
	return min(memoryLimit, installed())
}

func gigabytes(bytes float64) string { return fmt.Sprintf("%.2g GiB", bytes/(1<<30)) }
