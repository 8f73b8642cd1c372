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

// seconds is roughly what results and entries take where it is more than one, on
// two idle cores: a meter needs it to tell when all is done.
var seconds = map[string]float64{
	"mlp-losses": 1, "sweep": 6, "fig-sample-size": 5,
	"multi-parent-losses": 2, "multi-parent-printed-losses": 1, "multi-parent-agreements": 2, "out-of-distribution": 1,
}

// entrySeconds is what one of the other entries takes.
const entrySeconds = 0.2

func cost(name string) float64 {
	if s, ok := seconds[name]; ok {
		return s
	}
	return entrySeconds
}

// A progress is how far an export has come. It may be told from several
// goroutines.
type progress struct {
	mu             sync.Mutex
	meter          runs.Meter
	share          map[string]float64 // of each slow result and of each entry
	slow           []string           // results under way
	entries, drawn int
}

func newProgress(meter runs.Meter, entries []Entry) *progress {
	p := &progress{meter: meter, share: map[string]float64{}, entries: len(entries)}
	for _, e := range entries {
		p.share[e.ID] = 0
		for _, name := range e.Needs {
			if seconds[name] > 0 {
				p.share[name] = 0
			}
		}
	}
	return p
}

// tell says what share is done of a result or of an entry.
func (p *progress) tell(name string, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, known := p.share[name]
	if !known || share < old {
		return
	}
	p.share[name] = share
	if seconds[name] > 0 {
		p.under(name, share < 1)
	}
	p.show()
}

// wrote says that the files of an entry are written.
func (p *progress) wrote(id string) {
	p.mu.Lock()
	p.drawn++
	p.mu.Unlock()
	p.tell(id, 1)
}

// under adds a name to those that are under way, or takes it away.
func (p *progress) under(name string, way bool) {
	p.slow = slices.DeleteFunc(p.slow, func(s string) bool { return s == name })
	if way {
		p.slow = append(p.slow, name)
	}
}

// end says what has come of the export.
func (p *progress) end(err error) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		return fmt.Sprintf("stopped after %d of %d", p.drawn, p.entries)
	}
	return fmt.Sprintf("%d of %d written", p.drawn, p.entries)
}

func (p *progress) show() {
	if p.meter == nil {
		return
	}
	var done, total float64
	for name, share := range p.share {
		done += share * cost(name)
		total += cost(name)
	}
	state := fmt.Sprintf("%d of %d written", p.drawn, p.entries)
	if len(p.slow) > 0 {
		state += ", measuring " + strings.Join(p.slow, ", ")
	}
	p.meter.Update(int(math.Floor(10*done)), int(math.Ceil(10*total)), state)
}

// watched returns the context in which a result is made: what it tells of its
// progress is told to the export under way.
func (r *Results) watched(ctx context.Context, name string) context.Context {
	r.mu.Lock()
	now := r.now
	r.mu.Unlock()
	if now == nil {
		return ctx
	}
	now.tell(name, 0)
	return experiment.WithProgress(ctx, func(share float64) { now.tell(name, share) })
}
