package nb

import (
	"fmt"
	"html"
	"sync"
	"time"

	"learncausal/internal/runs"
)

// A Meter shows the progress of a long computation. In a notebook it is a progress bar with the remaining time.
// At the end one line of text without times replaces the bar, so that the stored output is the same in every
// run. Elsewhere it writes to standard error as [runs.Terminal] does. Its methods are safe for concurrent use.
type Meter struct {
	title string

	mu    sync.Mutex
	plain runs.Meter // outside a notebook
	id    string     // display id in a notebook, fresh for each Meter
	start time.Time  // of the first Update
	first int        // done at the first Update: a resumed run does not start at 0
	drawn time.Time  // of the last drawing of the bar
}

// NewMeter returns a Meter that shows nothing until it is updated.
func NewMeter(title string) *Meter {
	m := &Meter{title: title}
	if !inNotebook() {
		m.plain = runs.Terminal(stderr)
	}
	return m
}

// Update reports that done of total steps are finished. It draws at most five times
// a second, so it can be called at every step.
func (m *Meter) Update(done, total int, status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.plain != nil {
		m.plain.Update(done, total, m.title+": "+status)
		return
	}
	now := time.Now()
	if m.start.IsZero() {
		m.start, m.first = now, done
	}
	if now.Sub(m.drawn) < 200*time.Millisecond {
		return
	}
	m.drawn = now
	m.show(textHTML, fmt.Sprintf(
		`<div>%s <progress value="%d" max="%d"></progress> %s%s</div>`,
		html.EscapeString(m.title), done, total, html.EscapeString(status), m.left(now, done, total)))
}

// Done replaces the bar by title and status. The status should be the same in every run.
func (m *Meter) Done(status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := m.title + ": " + status
	if m.plain != nil {
		m.plain.Done(line)
		return
	}
	m.show(textPlain, line)
}

// show replaces the display of the meter in the notebook.
func (m *Meter) show(mime, content string) {
	mu.Lock()
	defer mu.Unlock()
	closeText()
	if m.id == "" {
		m.id = uniqueID()
	}
	send(m.id, map[string]any{mime: content}, nil)
}

// left estimates the remaining time from the pace since the first Update. It returns
// "" before the first finished step.
func (m *Meter) left(now time.Time, done, total int) string {
	if done <= m.first || done >= total {
		return ""
	}
	perStep := now.Sub(m.start) / time.Duration(done-m.first)
	return ", " + (time.Duration(total-done) * perStep).Round(time.Second).String() + " to go"
}
