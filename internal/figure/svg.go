package figure

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas is gonum's canvas, with a description, and with texts that keep their widths in every font: those of Arial.
type svgCanvas struct {
	*vgsvg.Canvas
	widths      []vg.Length
	title, desc string
}

func (c *svgCanvas) FillString(f font.Face, p vg.Point, s string) {
	c.widths = append(c.widths, f.Width(s))
	c.Canvas.FillString(f, p, s)
}

func (c *svgCanvas) DrawImage(r vg.Rectangle, m image.Image) { pixels(c, r, m) }

func (c *svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := c.Canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	head, rest, _ := strings.Cut(b.String(), `xlink">`)
	all := strings.Split(rest, "<text ")
	for k, width := range c.widths {
		all[k] += fmt.Sprintf(`<text textLength="%s" lengthAdjust="spacingAndGlyphs" xml:space="preserve" `, num(width))
	}
	body := strings.ReplaceAll(strings.Join(all, ""), "font-family:Liberation Sans;font-variant:normal",
		"font-family:'Liberation Sans',Arial,Helvetica,sans-serif")
	n, err := fmt.Fprintf(w, "%sxlink\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>%s", head,
		html.EscapeString(c.title), html.EscapeString(c.desc), body)
	return int64(n), err
}
