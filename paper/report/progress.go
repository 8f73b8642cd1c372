package report

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"learncausal/paper/experiment"
	"learncausal/pkg/runs"
)

// seconds are rough times of the slow results and entries on two idle cores, from which
// the meter estimates the end of an export.
var seconds = map[string]float64{
	"mlp-losses": 1, "sweep": 6, "fig-sample-size": 5,
	"multi-parent-losses": 2, "multi-parent-printed-losses": 1, "agreements": 2, "out-of-distribution": 1,
}

// entrySeconds is the time of each of the other entries.
const entrySeconds = 0.2

// A progress is the progress of an export. It may be used from several goroutines.
type progress struct {
	mu               sync.Mutex
	meter            runs.Meter
	share            map[string]float64 // done, of each entry and each slow result
	slow             []string           // slow results under way
	entries, written int
}

// newProgress returns the progress of an export of entries. Slow results count from their
// start; an export of all entries counts each of them from the beginning.
func newProgress(meter runs.Meter, entries []Entry, all bool) *progress {
	p := &progress{meter: meter, share: map[string]float64{}, entries: len(entries)}
	for _, e := range entries {
		p.share[e.ID] = 0
	}
	if all {
		for name := range seconds {
			p.share[name] = 0
		}
	}
	return p
}

// set records the share that is done of a result or an entry, and shows it.
func (p *progress) set(name string, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, known := p.share[name]
	slow := seconds[name] > 0
	if !known && !slow || share < old {
		return
	}
	p.share[name] = share
	if slow {
		p.slow = slices.DeleteFunc(p.slow, func(s string) bool { return s == name })
		if share < 1 {
			p.slow = append(p.slow, name)
		}
	}
	p.show()
}

// wrote records that the files of an entry are written.
func (p *progress) wrote(id string) {
	p.mu.Lock()
	p.written++
	p.mu.Unlock()
	p.set(id, 1)
}

func (p *progress) end(err error) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		return fmt.Sprintf("stopped after %d of %d", p.written, p.entries)
	}
	return fmt.Sprintf("%d of %d written", p.written, p.entries)
}

func (p *progress) show() {
	if p.meter == nil {
		return
	}
	var done, total float64
	for name, share := range p.share {
		cost, slow := seconds[name]
		if !slow {
			cost = entrySeconds
		}
		done += share * cost
		total += cost
	}
	state := fmt.Sprintf("%d of %d written", p.written, p.entries)
	if len(p.slow) > 0 {
		state += ", measuring " + strings.Join(p.slow, ", ")
	}
	p.meter.Update(int(math.Floor(10*done)), int(math.Ceil(10*total)), state)
}

// reporting returns the context of the computation of a result, which reports its
// progress to the export under way.
func (r *Results) reporting(ctx context.Context, name string) context.Context {
	r.mu.Lock()
	export := r.export
	r.mu.Unlock()
	if export == nil {
		return ctx
	}
	export.set(name, 0)
	return experiment.WithProgress(ctx, func(share float64) { export.set(name, share) })
}
