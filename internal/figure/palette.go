package figure

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// A Palette is a colour map.
type Palette []color.RGBA

// puOr is PuOr in 11 classes (ColorBrewer.org, Cynthia Brewer, Apache-2.0), safe for the common
// colour blindnesses, with a pure white centre, so that zeros vanish on paper.
var puOr = hex("7f3b08 b35806 e08214 fdb863 fee0b6 ffffff d8daeb b2abd2 8073ac 542788 2d004b")

// Palettes: Signed runs from orange over white, at 0, to purple; Shares from white to blue, for probabilities and
// other values from 0.
var (
	Signed = Palette(puOr)
	Shares = Palette(hex("ffffff deebf7 c6dbef 9ecae1 6baed6 4292c6 2171b5 08519c 08306b")) // Blues (ColorBrewer.org)
)

// Colors is the palette of curves, of Okabe and Ito (2008, "Color Universal Design"), without yellow, which is too
// faint for lines on white.
var Colors = hex("0072b2 d55e00 009e73 cc79a7 e69f00 56b4e9 000000")

// Colours of drawings: text, background lines, grids, highlights.
var (
	Black = color.RGBA{A: 255}
	White = color.RGBA{255, 255, 255, 255}
	Grey  = color.RGBA{0x77, 0x77, 0x77, 255}
	Faint = color.RGBA{0xdd, 0xdd, 0xdd, 255}
	Red   = color.RGBA{0xe3, 0x1a, 0x1c, 255}
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
	x := min(max(t, 0), 1) * float64(len(p)-1)
	k := min(int(x), len(p)-2)
	return mix(p[k], p[k+1], x-float64(k))
}

// mix returns (1-t) a + t b.
func mix(a, b color.RGBA, t float64) color.RGBA {
	f := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + float64(t*(float64(b)-float64(a))))) }
	return color.RGBA{f(a.R, b.R), f(a.G, b.G), f(a.B, b.B), 255}
}
