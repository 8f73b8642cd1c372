package trial

import (
	"fmt"
	"sync"

	"learncausal/internal/runs"
)

// A Sum shows on one meter how much of several tasks is done, in any order. Several goroutines may use it.
type Sum struct {
	Meter runs.Meter // or nil
	Work  []float64  // of each task, in any unit
	What  string     // is said of a finished task: "written"

	mu       sync.Mutex
	share    map[int]float64 // of each task that is done
	finished int
}

// Set records the share of task i that is done, unless a larger one is recorded.
func (s *Sum) Set(i int, share float64) { s.set(i, share, 0) }

// Finish records that task i is done.
func (s *Sum) Finish(i int) { s.set(i, 1, 1) }

func (s *Sum) set(i int, share float64, finished int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.share == nil {
		s.share = map[int]float64{}
	}
	s.share[i] = max(share, s.share[i])
	s.finished += finished
	const units = 1_000_000
	all, done := 0.0, 0.0
	for k, w := range s.Work {
		all += w
		done += w * s.share[k]
	}
	runs.Quiet(s.Meter).Update(int(units*done/max(all, 1)), units, s.Finished())
}

// Finished returns the number of finished tasks as in "2 of 3 written".
func (s *Sum) Finished() string { return fmt.Sprintf("%d of %d %s", s.finished, len(s.Work), s.What) }
