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
	"fmt"
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
	send(textID, protocol.MIMETextPlain, text, nil)
}

// Markdown formats as fmt.Printf does and shows the result as Markdown, with
// formulas between dollar signs rendered.
func Markdown(format string, args ...any) {
	display(protocol.MIMETextMarkdown, fmt.Sprintf(format, args...))
}

// HTML shows a piece of HTML as it stands.
func HTML(html string) {
	display(protocol.MIMETextHTML, html)
}

// PNG shows an encoded PNG image at half its size in pixels, so that it is
// crisp on screens with two device pixels per pixel. It panics if b is no PNG
// image. Outside a notebook it prints the size of the image.
func PNG(b []byte) {
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		panic(fmt.Sprintf("nb: PNG of %d bytes: %v", len(b), err))
	}
	if !gonbui.IsNotebook {
		fmt.Fprintf(stdout, "[image, %d x %d pixels]\n", c.Width, c.Height)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	textID = ""
	send("", protocol.MIMEImagePNG, b, map[string]any{
		string(protocol.MIMEImagePNG): map[string]int{"width": (c.Width + 1) / 2},
	})
}

// display shows content as one output of its own.
func display(mime protocol.MIMEType, content string) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(stdout, content)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	textID = ""
	send("", mime, content, nil)
}

// send passes one output to the kernel and waits until the kernel has taken
// it. An id that was sent before replaces the earlier output. The caller holds
// mu.
func send(id string, mime protocol.MIMEType, content any, metadata map[string]any) {
	gonbui.SendData(&protocol.DisplayData{
		Data:      map[protocol.MIMEType]any{mime: content},
		Metadata:  metadata,
		DisplayID: id,
	})
	gonbui.Sync()
}
