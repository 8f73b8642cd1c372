package runs

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Meter shows the progress of training.
type Meter interface {
	Update(done, total int, status string) // done of total steps
	Done(status string)                    // training ended, completed or not
}

// Quiet returns m, or a meter that shows nothing if m is nil.
func Quiet(m Meter) Meter {
	if m == nil {
		return silent{}
	}
	return m
}

type silent struct{}

func (silent) Update(done, total int, status string) {}
func (silent) Done(status string)                    {}

// Terminal returns a Meter for one run at a time. On a terminal it rewrites one line. Elsewhere it writes a
// line after 10 % of the steps or a minute, whichever is sooner, but at most every 10 seconds.
func Terminal(w io.Writer) Meter {
	t := &terminal{w: w, now: time.Now}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		t.live = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return t
}

type terminal struct {
	w    io.Writer
	live bool // w is a terminal
	now  func() time.Time

	start, last         time.Time // of the first line, of the last one
	startDone, lastDone int       // steps done by then; startDone is not 0 in a resumed run
}

func (t *terminal) Update(done, total int, status string) {
	now := t.now()
	if t.start.IsZero() {
		t.start, t.startDone = now, done
	} else {
		since, steps := now.Sub(t.last), 10*(done-t.lastDone)
		if t.live && since < 100*time.Millisecond ||
			!t.live && (since < 10*time.Second || since < time.Minute && steps < total) {
			return
		}
	}
	t.last, t.lastDone = now, done
	line := fmt.Sprintf("%3d%%  %s", 100*done/max(total, 1), status)
	if n := done - t.startDone; n > 0 {
		left := time.Duration(float64(now.Sub(t.start)) * float64(total-done) / float64(n))
		line += fmt.Sprintf("  %v to go", left.Round(time.Second))
	}
	t.print(line, "")
}

func (t *terminal) Done(status string) {
	t.print(status, "\n")
	t.start = time.Time{}
}

func (t *terminal) print(line, end string) {
	if t.live {
		line = "\r\x1b[K" + line
	} else {
		end = "\n"
	}
	fmt.Fprint(t.w, line, end)
}
