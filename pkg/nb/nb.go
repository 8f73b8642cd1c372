// Package nb shows results from a notebook cell: text, Markdown, HTML, images
// and a progress bar.
//
// A GoNB cell has two ways out, standard output and the display pipe of
// package gonbui, and the order in which the two arrive is not defined.
// Everything here takes the display pipe and waits until the kernel has passed
// it on, so that outputs appear in the order of the calls and none is lost when
// the cell ends. Cells should therefore use Printf of this package, not of fmt.
//
// Outside a notebook the same calls print plain text to standard output.
package nb

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"html"
	"image/png"
	"io"
	"os"
	"sync"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
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
	if !gonbui.IsNotebook {
		fmt.Fprint(stdout, s)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	if textID == "" {
		text, textID = "", gonbui.UniqueId()
	}
	text += s
	send(textID, map[protocol.MIMEType]any{protocol.MIMETextPlain: text}, nil)
}

// Markdown formats as fmt.Printf does and shows the result as Markdown, with
// formulas between dollar signs rendered.
func Markdown(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	display(s, protocol.MIMETextMarkdown, s)
}

// HTML shows a piece of HTML as it stands. Viewers that show no HTML, and
// programs outside of a notebook, get the plain text.
func HTML(page, plain string) {
	display(plain, protocol.MIMETextHTML, page)
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
func NewPicture() *Picture { return &Picture{gonbui.UniqueId()} }

// PNG shows an image as the function PNG does, in place of the one before.
func (p *Picture) PNG(b []byte, alt string) {
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		panic(fmt.Sprintf("nb: PNG of %d bytes: %v", len(b), err))
	}
	if !gonbui.IsNotebook {
		fmt.Fprintf(stdout, "[image, %d x %d pixels: %s]\n", c.Width, c.Height, alt)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	textID = ""
	send(p.id, map[protocol.MIMEType]any{protocol.MIMEImagePNG: b, protocol.MIMETextPlain: alt}, map[string]any{
		string(protocol.MIMEImagePNG): map[string]any{"width": (3*c.Width + 3) / 4, "alt": alt},
	})
}

// display shows content as one output of its own, and its plain text where the
// content cannot be shown.
func display(plain string, mime protocol.MIMEType, content string) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(stdout, plain)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	textID = ""
	send("", map[protocol.MIMEType]any{mime: content, protocol.MIMETextPlain: plain}, nil)
}

// The kernel knows this type of metadata, and gob asks both ends to name it.
func init() { gob.Register(map[string]any{}) }

// send passes one output, in one or several forms, to the kernel and waits
// until the kernel has taken it. An id that was sent before replaces the
// earlier output. The caller holds mu.
func send(id string, forms map[protocol.MIMEType]any, metadata map[string]any) {
	gonbui.SendData(&protocol.DisplayData{Data: forms, Metadata: metadata, DisplayID: id})
	gonbui.Sync()
}
