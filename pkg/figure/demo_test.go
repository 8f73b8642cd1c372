package figure

import (
	"math/rand/v2"
	"os"
	"testing"
)

// weights is a stand-in for trained weights in the layout of the paper's
// Figure 2: noise, and a strong pattern in the three blocks.
func figure2(S, T int, parents []int) *Figure {
	d := S + T
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func(r, c int, sd float64) [][]float64 {
		m := make([][]float64, r)
		for i := range m {
			m[i] = make([]float64, c)
			for j := range m[i] {
				m[i][j] = sd * rng.NormFloat64()
			}
		}
		return m
	}
	a1, a2, w := noise(d, d, 0.12), noise(2*d, 2*d, 0.3), noise(S, 4*d, 0.05)
	for i, p := range parents {
		if p >= 0 {
			a1[S+i][S+p] += 9 + rng.NormFloat64()
		}
	}
	for i := range S {
		for j := range S {
			x := -0.4
			if i == j {
				x = 6
			}
			a2[i][d+j] += x
			w[i][2*d+j] += x / 3
		}
	}
	token, position := Text("Token"), Text("Position")
	x := Label{"X̃", `$\widetilde X$`}
	ax := Label{"attn(X̃; Ã⁽¹⁾)", `$\mathrm{attn}(\widetilde X;\widetilde A^{(1)})$`}
	ah := Label{"attn(h⁽¹⁾; Ã⁽²⁾)", `$\mathrm{attn}(h^{(1)};\widetilde A^{(2)})$`}
	inner := func(n int) []Group {
		var g []Group
		for range n {
			g = append(g, Group{token, S}, Group{position, T})
		}
		return g
	}
	return &Figure{ID: "demo-weights", Width: TwoColumns, Caption: `Made-up weights.`, Rows: [][]Panel{
		{
			&Matrix{Title: Label{"Ã⁽¹⁾", `$\widetilde A^{(1)}$`}, Values: a1, Rows: [][]Group{inner(1)}, Columns: [][]Group{inner(1)},
				Blocks: []Block{{S, S, T, T}}, Scale: &Scale{Palette: Signed}},
			&Matrix{Title: Label{"Ã⁽²⁾", `$\widetilde A^{(2)}$`}, Values: a2, Rows: [][]Group{inner(2), {{x, d}, {ax, d}}}, Columns: [][]Group{inner(2), {{x, d}, {ax, d}}},
				Blocks: []Block{{0, d, S, S}}, Scale: &Scale{Palette: Signed}},
		},
		{&Matrix{Title: Label{"Wₒᵀ", `$W_O^\top$`}, Values: w, Rows: [][]Group{{{token, S}}}, Columns: [][]Group{inner(4), {{x, d}, {ax, d}, {ah, 2 * d}}},
			Blocks: []Block{{0, 2 * d, S, S}}, Scale: &Scale{Palette: Signed}}},
	}}
}

func TestDemo(t *testing.T) {
	dir := os.Getenv("DEMO")
	if dir == "" {
		t.Skip("set DEMO to a folder to look at the demonstration")
	}
	var icl []int
	for i := range 20 {
		if i%2 == 1 && i < 19 {
			icl = append(icl, i-1)
		} else {
			icl = append(icl, -1)
		}
	}
	for _, f := range []*Figure{figure2(10, 20, icl)} {
		if _, err := f.Export(dir); err != nil {
			t.Fatal(err)
		}
	}
}
