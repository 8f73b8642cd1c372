package nb

import (
	"fmt"
	"html"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// A Meter shows how far a long computation has come. In a notebook it is a
// progress bar with the time to go, replaced at the end by one line of text
// that holds no time, so that the stored output does not change from run to
// run. On a terminal it is a line that redraws itself; where standard error is
// a file, a line now and then. Its methods may be called from any goroutine.
type Meter struct {
	title string

	mu    sync.Mutex
	id    string    // display id in a notebook, fresh for each Meter
	start time.Time // of the first Update
	first int       // done at the first Update: a resumed run does not start at 0
	shown time.Time // when the meter was drawn last
}

// NewMeter returns a Meter that shows nothing until it is updated.
func NewMeter(title string) *Meter {
	return &Meter{title: title}
}

// Update tells that done of total steps are taken. It is cheap enough to be
// called at every step: most calls draw nothing.
func (m *Meter) Update(done, total int, status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.start.IsZero() {
		m.start, m.first = now, done
	}
	if now.Sub(m.shown) < interval() {
		return
	}
	m.shown = now
	if left := m.left(now, done, total); left != "" {
		status += ", " + left + " to go"
	}
	switch {
	case gonbui.IsNotebook:
		m.show(protocol.MIMETextHTML, fmt.Sprintf(
			`<div>%s <progress value="%d" max="%d"></progress> %d/%d %s</div>`,
			html.EscapeString(m.title), done, total, done, total, html.EscapeString(status)))
	case terminal:
		const width = 24
		n := width * min(done, total) / max(total, 1)
		fmt.Fprintf(stderr, "\r%s [%s%s] %d/%d %s\x1b[K",
			m.title, strings.Repeat("=", n), strings.Repeat(" ", width-n), done, total, status)
	default:
		fmt.Fprintf(stderr, "%s: %d/%d %s\n", m.title, done, total, status)
	}
}

// Done replaces the bar by title and status. For the output of a notebook to
// be the same in every run, status must be.
func (m *Meter) Done(status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := m.title + ": " + status
	switch {
	case gonbui.IsNotebook:
		m.show(protocol.MIMETextPlain, line)
	case terminal:
		fmt.Fprintf(stderr, "\r%s\x1b[K\n", line)
	default:
		fmt.Fprintln(stderr, line)
	}
}

// show replaces what this meter displays in the notebook.
func (m *Meter) show(mime protocol.MIMEType, content string) {
	mu.Lock()
	defer mu.Unlock()
	textID = ""
	if m.id == "" {
		m.id = gonbui.UniqueId()
	}
	send(m.id, mime, content, nil)
}

// left estimates the time to go from the pace since the first Update; it is ""
// while there is no pace to speak of.
func (m *Meter) left(now time.Time, done, total int) string {
	if done <= m.first || done >= total {
		return ""
	}
	perStep := now.Sub(m.start) / time.Duration(done-m.first)
	return (time.Duration(total-done) * perStep).Round(time.Second).String()
}

// terminal tells whether standard error is a terminal.
var terminal = func() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}()

// interval is the least time between two drawings.
func interval() time.Duration {
	if gonbui.IsNotebook || terminal {
		return 200 * time.Millisecond
	}
	return 15 * time.Second
}
