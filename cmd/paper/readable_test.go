package main

import "testing"

func TestReadableReplacesCommandsByCharacters(t *testing.T) {
	for _, test := range []struct{ tex, want string }{
		{`$g_{i,j} \ge \frac12$`, `g_{i,j} ≥ \frac12`},
		{`$\hat\theta$ and $\pi(s'\mid s_T)$`, `\hatθ and π(s'| s_T)`},
		{`$\|\mathcal S(A^{(1)})\|_\infty\le\sqrt{2}$`, "‖S(A^{(1)})‖_∞≤√{2}"},
		{`$x^\top y \in \bigcup_i \left[0, \infty\right)$`, "x^T y ∈ ⋃_i [0, ∞)"},
	} {
		if got := readable(test.tex); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.tex, got, test.want)
		}
	}
}
