package main

import (
	"strings"
	"testing"

	"learncausal/paper/claims"
)

func TestReadableShowsFormulasInPlainCharacters(t *testing.T) {
	for _, test := range []struct{ tex, want string }{
		{`$g_{i,j} \ge \frac12$`, "g_(i,j) ≥ (1/2)"},
		{`$\hat\theta$ and $\tilde{\pi}(s'\mid s_T)$`, "θ̂ and π̃(s' | s_T)"},
		{`$\frac{\log T}{T_{\mathrm{eff}}}$`, "((log T)/(T_eff))"},
		{`$\|\mathcal S(A^{(1)})\|_\infty\le\sqrt{2}$`, "‖S(A^(1))‖_∞≤√2"},
		{`$\{\lfloor (i-1)/2\rfloor, i-1\}$`, "{⌊ (i-1)/2⌋, i-1}"},
		{`$\unknown{x} \le 1$`, `$\unknown{x} \le 1$`},
	} {
		if got := readable(test.tex); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.tex, got, test.want)
		}
	}
}

func TestMostStatementsAreReadable(t *testing.T) {
	all, left := 0, 0
	for _, c := range claims.All() {
		for _, tex := range []string{c.Statement, c.Hypotheses} {
			all++
			if s := readable(tex); strings.ContainsAny(s, `\$`) {
				left++
			}
		}
	}
	if left*10 > all {
		t.Errorf("%d of %d are LaTeX still", left, all)
	}
}
