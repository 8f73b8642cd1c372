package figure

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// A Palette is the colour map of a matrix.
type Palette int

const (
	magnitude Palette = iota // from dark to bright, for values of one sign
	// Signed runs from orange over white to purple, symmetric about 0.
	Signed
	// Positive is the half of Signed from white to purple, for values from 0.
	Positive
)

// puOr is PuOr in 11 classes (ColorBrewer.org, Cynthia Brewer, Apache-2.0), safe for the common
// colour blindnesses, with a pure white centre, so that zeros vanish on paper.
var puOr = hex("7f3b08 b35806 e08214 fdb863 fee0b6 ffffff d8daeb b2abd2 8073ac 542788 2d004b")

// stops holds equidistant control points in sRGB, between which colours are linear.
var stops = [][]color.RGBA{
	// Every 15th of the 256 entries of viridis (Nathaniel J. Smith, Stefan van der Walt and
	// Eric Firing, CC0). Interpolation is within 5/255 of the other entries.
	magnitude: hex(`440154 481769 472a7a 433d84 3d4e8a 355e8d 2e6d8e 297b8e 23898e
		1f978b 21a585 2eb37c 46c06f 65cb5e 89d548 b0dd2f d8e219 fde725`),
	Signed:   puOr,
	Positive: puOr[5:],
}

// lineColors is the palette of Okabe and Ito (2008, "Color Universal Design"),
// without yellow, which is too faint for lines on white.
var lineColors = hex("0072b2 d55e00 009e73 cc79a7 e69f00 56b4e9 000000")

var (
	black     = color.RGBA{A: 255}
	white     = color.RGBA{255, 255, 255, 255}
	grey      = color.RGBA{0x77, 0x77, 0x77, 255}
	lightGrey = color.RGBA{0xdd, 0xdd, 0xdd, 255}
	highlight = color.RGBA{0xe3, 0x1a, 0x1c, 255}
	queryFill = color.RGBA{0xfd, 0xe3, 0xc4, 255}
)

func hex(s string) (out []color.RGBA) {
	for _, f := range strings.Fields(s) {
		c := color.RGBA{A: 255}
		if _, err := fmt.Sscanf(f, "%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
			panic("figure: bad colour list: " + s)
		}
		out = append(out, c)
	}
	return out
}

// at returns the colour at t in [0, 1].
func (p Palette) at(t float64) color.RGBA {
	s := stops[p]
	x := t * float64(len(s)-1)
	k := min(int(x), len(s)-2)
	return mix(s[k], s[k+1], x-float64(k))
}

// mix returns (1-t) a + t b.
func mix(a, b color.RGBA, t float64) color.RGBA {
	f := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + float64(t*(float64(b)-float64(a))))) }
	return color.RGBA{f(a.R, b.R), f(a.G, b.G), f(a.B, b.B), 255}
}

// Colors returns the colours of curves.
func Colors() (all []color.Color) {
	for _, c := range lineColors {
		all = append(all, c)
	}
	return all
}
