package nb

import (
	"strings"
	"testing"
)

func TestTableAlignsNumbersRightAndWordsLeft(t *testing.T) {
	s := NewTable("graph", "$T$", "found", "error", "rate")
	s.Line("chain", 16, true, 0.25, Rounded(1.5e-5))
	s.Line("star | tree", 32, false, Fixed(2, 1), Rounded(0))
	const want = "| graph | $T$ | found | error | rate |\n|---|--:|---|--:|--:|\n" +
		"| chain | 16 | yes | 0.250 | 1.50·10⁻⁵ |\n| star \\| tree | 32 | no | 2.0 | 0 |\n"
	if got := s.markdown(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTableRefusesOtherTypes(t *testing.T) {
	for want, values := range map[string][]any{
		"nb: line of 1 values below 2 heads": {"chain"},
		"figure: a cell of type []float64":   {"chain", []float64{1}},
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, want) {
					t.Errorf("recovered %q, want %q", r, want)
				}
			}()
			NewTable("graph", "$T$").Line(values...)
		}()
	}
}
