package figure

import "testing"

// A label is an error, or is drawn in each format.
func FuzzLabel(f *testing.F) {
	for _, text := range []string{
		"Position i", "π(s'|s)", "X̃ and ĝ(β)", "Ã⁽¹⁾, W₁ and ⌊x⌋", "100 % & #1_$^{~}\\", "\x00", "\xff", "日本", "̃", "a\nb", "⁽", "₍₍", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 200 {
			return
		}
		label := Text(text)
		points := Series{Label: label, X: []float64{1, 2}, Y: []float64{1, 2}}
		fig := &Figure{ID: "label", Rows: [][]Panel{{&Axes{X: Axis{Label: label}, Series: []Series{points}}}}}
		wrong := label.check()
		for format, write := range map[string]func() ([]byte, error){"PNG": fig.PNG, "SVG": fig.SVG, "PDF": fig.PDF, "TeX": fig.TeX} {
			b, err := write()
			if wrong == nil && (err != nil || len(b) == 0) || wrong != nil && err == nil {
				t.Errorf("%s of %q: %d bytes, %v; the check says %v", format, text, len(b), err, wrong)
			}
		}
	})
}
