//go:build unix

package nb

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// A kernel receives the outputs of a cell, as GoNB's kernel does.
type kernel struct {
	mu  sync.Mutex
	got []protocol.DisplayData

	busy sync.Mutex // who holds it keeps the kernel from answering
}

// opened is the kernel of the process: the library opens its pipes once.
var opened *kernel

// startKernel returns a kernel, at the other ends of two pipes.
func startKernel(t *testing.T) *kernel {
	gonbui.IsNotebook = true
	t.Cleanup(func() { gonbui.IsNotebook = false })
	if opened != nil {
		return opened
	}
	dir := t.TempDir()
	to, from := filepath.Join(dir, "to"), filepath.Join(dir, "from")
	for _, name := range []string{to, from} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(protocol.GONB_PIPE_ENV, to)
	t.Setenv(protocol.GONB_PIPE_BACK_ENV, from)
	k := &kernel{}
	opened = k
	go func() {
		in, err := os.Open(to)
		if err != nil {
			panic(err)
		}
		out, err := os.OpenFile(from, os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		k.serve(gob.NewDecoder(in), gob.NewEncoder(out))
	}()
	return k
}

// serve keeps each output, and answers each question whether it was taken.
func (k *kernel) serve(in *gob.Decoder, out *gob.Encoder) {
	for {
		var d protocol.DisplayData
		if err := in.Decode(&d); err != nil {
			return
		}
		if v, ok := d.Data[protocol.MIMECommValue].(protocol.CommValue); ok {
			k.busy.Lock()
			err := out.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: v.Value})
			k.busy.Unlock()
			if err != nil {
				return
			}
			continue
		}
		k.mu.Lock()
		k.got = append(k.got, d)
		k.mu.Unlock()
	}
}

// of returns the messages of f. It fails if f does not end.
func (k *kernel) of(t *testing.T, f func()) []protocol.DisplayData {
	t.Helper()
	k.mu.Lock()
	k.got = nil
	k.mu.Unlock()
	done := make(chan bool)
	go func() {
		f()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("a cell waits for ever")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.got
}

// forms are the formats that a viewer chooses from.
type forms = map[protocol.MIMEType]any

func TestInANotebookTheKernelGetsEachOutput(t *testing.T) {
	k := startKernel(t)
	out, _ := capture(t)
	b, picture := grey(t, 30), newPicture()
	Markdown("a new block")
	text := k.of(t, func() { Printf("loss %d", 1); Printf(" and %d\n", 2) })
	sent(t, "Printf", text, forms{"text/plain": "loss 1"}, forms{"text/plain": "loss 1 and 2\n"})
	if text[0].DisplayID == "" || text[0].DisplayID != text[1].DisplayID {
		t.Errorf("one text has the ids %q and %q", text[0].DisplayID, text[1].DisplayID)
	}
	for what, other := range map[string]struct {
		show func()
		want forms
	}{
		"Markdown": {func() { Markdown("$%d$", 3) }, forms{"text/markdown": "$3$", "text/plain": "$3$"}},
		"markup":   {func() { markup("<b>x</b>", "x") }, forms{"text/html": "<b>x</b>", "text/plain": "x"}},
		"Details": {
			func() { Details("a<b", "c>d") },
			forms{"text/html": "<details><summary>a&lt;b</summary><pre>c&gt;d</pre></details>", "text/plain": "a<b\nc>d"},
		},
		"PNG":   {func() { picture.PNG(b, "grey") }, forms{"image/png": b, "text/plain": "grey"}},
		"Meter": {func() { NewMeter("chain").Done("9 steps") }, forms{"text/plain": "chain: 9 steps"}},
	} {
		sent(t, what, k.of(t, other.show), other.want)
		// Later text stands below it, in a separate block.
		next := k.of(t, func() { Printf("next") })
		sent(t, "Printf after "+what, next, forms{"text/plain": "next"})
		if next[0].DisplayID == text[0].DisplayID {
			t.Errorf("text printed after %s continues the block above it", what)
		}
		text = next
	}
	if out.Len() > 0 {
		t.Errorf("standard output has %q as well", out)
	}
	t.Run("a long text", func(t *testing.T) { checkLongText(t, k) })
	t.Run("pictures", func(t *testing.T) { checkPictures(t, k) })
	t.Run("meter", func(t *testing.T) { checkMeter(t, k) })
	t.Run("goroutines", func(t *testing.T) { checkGoroutines(t, k) })
	t.Run("a meter that is held", func(t *testing.T) { checkHeldMeter(t, k) })
}

// Of a long text the kernel gets about its length, in order, and in one block until then.
func checkLongText(t *testing.T, k *kernel) {
	out, _ := capture(t)
	Markdown("a new block")
	var want strings.Builder
	got := k.of(t, func() {
		for i := range 4000 {
			line := fmt.Sprintf("step %4d: the loss is %.4f, as expected\n", i, 1/float64(i+1))
			want.WriteString(line)
			Printf("%s", line)
		}
	})
	sent := out.Len()
	for _, d := range got {
		sent += len(d.Data["text/plain"].(string))
	}
	last := got[len(got)-1].Data["text/plain"].(string)
	if sent > 3*want.Len() || len(got) > 200 || last+out.String()+"\n" != want.String() {
		t.Errorf("%d bytes in %d displays of a text of %d bytes, which ends in %q", sent, len(got), want.Len(), out)
	}
	Markdown("below it")
	if last+out.String() != want.String() {
		t.Errorf("before the next display the text ends in %q", out)
	}
	if next := k.of(t, func() { Printf("next") }); len(next) != 1 {
		t.Errorf("text below the display is shown %d times, want once", len(next))
	}
}

// A bar is drawn at once, not again within a fifth of a second, then with the time to
// go, and the line at the end takes its place.
func checkMeter(t *testing.T, k *kernel) {
	m := NewMeter("a<b")
	got := k.of(t, func() {
		m.Update(100, 1000, "loss<2")
		m.Update(101, 1000, "soon")
		m.drawn = m.drawn.Add(-time.Second)
		m.start = m.start.Add(-10 * time.Second)
		m.Update(200, 1000, "later")
		m.Done("1000 steps")
		m.Done("and more")
	})
	want := []forms{
		{"text/html": `<div>a&lt;b <progress value="100" max="1000"></progress> loss&lt;2</div>`},
		{"text/html": `<div>a&lt;b <progress value="200" max="1000"></progress> later, 1m20s to go</div>`},
		{"text/plain": "a<b: 1000 steps"},
		{"text/plain": "a<b: and more"},
	}
	if len(got) != len(want) {
		t.Fatalf("a meter was drawn %d times, want %d: %v", len(got), len(want), got)
	}
	for i, d := range got {
		if !reflect.DeepEqual(d.Data, want[i]) || d.DisplayID == "" || d.DisplayID != got[0].DisplayID {
			t.Errorf("a meter shows %v as %q, want %v as %q", d.Data, d.DisplayID, want[i], got[0].DisplayID)
		}
	}
}

// While the kernel has not answered to one update of a meter, it takes no other.
func checkHeldMeter(t *testing.T, k *kernel) {
	m := NewMeter("held")
	k.busy.Lock()
	first, second := make(chan bool), make(chan bool)
	for _, done := range []chan bool{first, second} {
		go func() {
			m.Update(1, 2, "")
			close(done)
		}()
		time.Sleep(20 * time.Millisecond)
	}
	select {
	case <-second:
		t.Error("an update runs during another update")
	default:
	}
	k.busy.Unlock()
	<-first
	<-second
}

// Whatever goroutines print, nothing is lost and no text is replaced by an older one;
// a meter that they share is one output.
func checkGoroutines(t *testing.T, k *kernel) {
	const goroutines, lines = 8, 25
	parallel := func(f func(i int)) {
		var group sync.WaitGroup
		for range goroutines {
			group.Go(func() {
				for i := range lines {
					f(i)
				}
			})
		}
		group.Wait()
	}
	Markdown("a new block")
	Markdown("a new block")
	got := k.of(t, func() { parallel(func(i int) { Printf("line %d\n", i) }) })
	before := ""
	for _, d := range got {
		now, _ := d.Data["text/plain"].(string)
		if !strings.HasPrefix(now, before) || now == before {
			t.Fatalf("%q is replaced by %q", before, now)
		}
		before = now
	}
	for i := range lines {
		if n := strings.Count(before, fmt.Sprintf("line %d\n", i)); n != goroutines {
			t.Errorf("line %d stands there %d times, want %d", i, n, goroutines)
		}
	}
	m := NewMeter("shared")
	bars := k.of(t, func() {
		parallel(func(i int) { m.Update(i, lines, "") })
		m.Done("")
	})
	for _, d := range bars {
		if d.DisplayID != bars[0].DisplayID {
			t.Fatal("a meter has two outputs")
		}
	}
	other := k.of(t, func() {
		parallel(func(i int) {
			switch i % 3 {
			case 0:
				Markdown("text %d", i)
			case 1:
				NewMeter("own").Done("")
			case 2:
				Printf("text")
			}
		})
	})
	if len(other) != goroutines*lines {
		t.Errorf("%d outputs of %d arrived", len(other), goroutines*lines)
	}
}

func TestAnInterruptCancelsTheContextAndASecondEndsTheProgram(t *testing.T) {
	if os.Getenv("INTERRUPT") != "" {
		if Context() != Context() || Context().Err() != nil {
			return
		}
		fmt.Println("running")
		<-Context().Done()
		fmt.Println(context.Cause(Context()))
		time.Sleep(20 * time.Second)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run="+t.Name())
	cmd.Env = append(os.Environ(), "INTERRUPT=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	_ = cmd.Process.Signal(os.Interrupt)
	lines.Scan()
	if !strings.Contains(lines.Text(), "interrupt") {
		t.Errorf("after an interrupt the context has the cause %q", lines.Text())
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if fmt.Sprint(err) != "signal: interrupt" {
				t.Errorf("after a second interrupt the program ends with %v", err)
			}
			return
		case <-time.After(10 * time.Millisecond):
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
}

// sent fails unless the kernel got outputs with the forms want.
func sent(t *testing.T, what string, got []protocol.DisplayData, want ...forms) {
	t.Helper()
	var data []forms
	for _, d := range got {
		data = append(data, d.Data)
	}
	if !reflect.DeepEqual(data, want) {
		t.Errorf("%s: the kernel got %v, want %v", what, data, want)
	}
}

// grey returns the PNG of a grey picture of height 20.
func grey(t *testing.T, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 20))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A picture is replaced by the next. It is as wide as three quarters of its pixels, rounded up.
func checkPictures(t *testing.T, k *kernel) {
	picture := newPicture()
	pictures := k.of(t, func() {
		picture.PNG(grey(t, 30), "grey")
		picture.PNG(grey(t, 30), "again")
		PNG(grey(t, 30), "one cell")
	})
	if pictures[0].DisplayID != pictures[1].DisplayID || pictures[1].DisplayID == pictures[2].DisplayID {
		t.Error("pictures do not have distinct ids")
	}
	if alt := pictures[2].Data["text/plain"]; alt != "one cell" {
		t.Errorf("a figure without pictures is %q", alt)
	}
	for width := 29; width < 37; width++ {
		got := k.of(t, func() { PNG(grey(t, width), "grey") })
		want := map[string]any{"width": int(math.Ceil(0.75 * float64(width))), "alt": "grey"}
		if !reflect.DeepEqual(got[0].Metadata, map[string]any{"image/png": want}) {
			t.Errorf("metadata of a picture %d wide: %v, want %v", width, got[0].Metadata, want)
		}
	}
}
