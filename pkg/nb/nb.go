// Package nb shows results from a notebook cell: text, Markdown, HTML, tables, plots and a progress bar.
//
// A GoNB cell can write to standard output and to the display pipe of package gonbui, whose outputs arrive in
// no defined order. This package writes to the display pipe, and waits until the kernel has passed each output
// on. So outputs appear in the order of the calls, and none is lost when the cell ends. Cells should therefore
// use Printf of this package, not of fmt.
//
// In a web page, compiled to WebAssembly, the page replaces the kernel. Outside a notebook the same calls print
// plain text to standard output.
package nb

import (
	"bytes"
	"fmt"
	"html"
	"image/png"
	"io"
	"os"
	"strings"
	"sync"
)

// The forms of an output.
const (
	textPlain    = "text/plain"
	textMarkdown = "text/markdown"
	textHTML     = "text/html"
	imagePNG     = "image/png"
)

var (
	stdout io.Writer = os.Stdout
	stderr io.Writer = os.Stderr

	mu     sync.Mutex // guards the variables below and the order of displays
	text   string     // content of the open block of text
	textID string     // display id of the open block of text, "" if there is none
	long   bool       // whether the open block continues on standard output
	held   bool       // whether a newline follows there, to be written before the next text
)

// maxBlock is the length of a block of text, in bytes, after which Printf continues on
// standard output. Each call before sends its whole block.
const maxBlock = 1 << 12

// Printf formats as fmt.Printf does and shows the result as plain text.
// Consecutive calls write into one block. Text after the first 4 KiB of a block goes to
// standard output, so that a long text costs the kernel no more than its length.
func Printf(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !inNotebook() {
		fmt.Fprint(stdout, s)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	if textID == "" {
		text, textID = "", uniqueID()
	}
	if len(text) > maxBlock {
		rest, newline := strings.CutSuffix(s, "\n")
		if held {
			rest = "\n" + rest
		}
		fmt.Fprint(stdout, rest)
		long, held = true, newline
		return
	}
	text += s
	send(textID, map[string]any{textPlain: text}, nil)
}

// closeText ends the open block of text. If the kernel has read the held newline, it has
// passed on all text before it, because it reads standard output after each output.
func closeText() {
	if long {
		drain()
		fmt.Fprintln(stdout)
		drain()
	}
	textID, long, held = "", false, false
}

// Markdown formats as fmt.Printf does and shows the result as Markdown, with
// formulas between dollar signs rendered.
func Markdown(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	display(s, textMarkdown, s)
}

// markup shows a piece of HTML. Viewers without HTML, and programs outside of a
// notebook, show the plain text instead.
func markup(page, plain string) {
	display(plain, textHTML, page)
}

// Details shows a line that a click expands to a text.
func Details(summary, text string) {
	markup("<details><summary>"+html.EscapeString(summary)+"</summary><pre>"+html.EscapeString(text)+"</pre></details>",
		summary+"\n"+text)
}

// PNG shows an encoded PNG image with a description for readers who cannot see it. The image is displayed at
// three quarters of its size in pixels, which keeps it sharp on screens with two device pixels per pixel. PNG
// panics if b is not a PNG image. Outside a notebook it prints the size of the image and the description.
func PNG(b []byte, alt string) { newPicture().PNG(b, alt) }

// A picture is an image in the output of a cell that can be replaced while the cell runs.
type picture struct{ id string }

// newPicture returns a picture that shows nothing yet.
func newPicture() *picture { return &picture{uniqueID()} }

// PNG shows an image as the function PNG does, and replaces the image of p.
func (p *picture) PNG(b []byte, alt string) {
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		panic(fmt.Sprintf("nb: PNG of %d bytes: %v", len(b), err))
	}
	if !inNotebook() {
		fmt.Fprintf(stdout, "[image, %d x %d pixels: %s]\n", c.Width, c.Height, alt)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	closeText()
	send(p.id, map[string]any{imagePNG: b, textPlain: alt}, map[string]any{
		imagePNG: map[string]any{"width": (3*c.Width + 3) / 4, "alt": alt},
	})
}

// display shows content as a separate output, or its plain text if the viewer cannot show the content.
func display(plain, mime, content string) {
	if !inNotebook() {
		fmt.Fprintln(stdout, plain)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	closeText()
	send("", map[string]any{mime: content, textPlain: plain}, nil)
}
