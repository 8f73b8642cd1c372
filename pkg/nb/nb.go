// Package nb shows results from a notebook cell: text, Markdown, HTML, images
// and a progress bar.
//
// A GoNB cell has two ways out, standard output and the display pipe of
// package gonbui, and the order in which the two arrive is not defined.
// Everything here takes the display pipe and waits until the kernel has passed
// it on, so that outputs appear in the order of the calls and none is lost when
// the cell ends. Cells should therefore use Printf of this package, not of fmt.
//
// In a page, compiled to WebAssembly, the page takes the place of the kernel.
// Outside a notebook the same calls print plain text to standard output.
package nb

import (
	"bytes"
	"fmt"
	"html"
	"image/png"
	"io"
	"os"
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

	mu     sync.Mutex // guards text, textID and the order of displays
	text   string     // what the open block of text holds
	textID string     // display id of the open block of text, "" if there is none
)

// Printf formats as fmt.Printf does and shows the result as plain text.
// Consecutive calls write into one block.
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
	text += s
	send(textID, map[string]any{textPlain: text}, nil)
}

// Markdown formats as fmt.Printf does and shows the result as Markdown, with
// formulas between dollar signs rendered.
func Markdown(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	display(s, textMarkdown, s)
}

// HTML shows a piece of HTML as it stands. Viewers that show no HTML, and
// programs outside of a notebook, get the plain text.
func HTML(page, plain string) {
	display(plain, textHTML, page)
}

// Details shows a line that a click opens, with a text below it as it stands.
func Details(summary, text string) {
	HTML("<details><summary>"+html.EscapeString(summary)+"</summary><pre>"+html.EscapeString(text)+"</pre></details>",
		summary+"\n"+text)
}

// PNG shows an encoded PNG image with a description for those who do not see
// it, at three quarters of its size in pixels: large enough to read, and finer
// than the screen where that has two device pixels per pixel. It panics if b is
// no PNG image. Outside a notebook it prints the size of the image and the
// description.
func PNG(b []byte, alt string) { NewPicture().PNG(b, alt) }

// A Picture is an image in the output of a cell that can be replaced while the
// cell runs.
type Picture struct{ id string }

// NewPicture returns a Picture that shows nothing yet.
func NewPicture() *Picture { return &Picture{uniqueID()} }

// PNG shows an image as the function PNG does, in place of the one before.
func (p *Picture) PNG(b []byte, alt string) {
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
	textID = ""
	send(p.id, map[string]any{imagePNG: b, textPlain: alt}, map[string]any{
		imagePNG: map[string]any{"width": (3*c.Width + 3) / 4, "alt": alt},
	})
}

// display shows content as one output of its own, and its plain text where the
// content cannot be shown.
func display(plain, mime, content string) {
	if !inNotebook() {
		fmt.Fprintln(stdout, plain)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	textID = ""
	send("", map[string]any{mime: content, textPlain: plain}, nil)
}
