package claims

import (
	"testing"
	"time"
)

// Each claim of these sections is decided, and its planted fault is seen.
func TestStageTwoClaimsSeeTheirFaults(t *testing.T) {
	for _, section := range []func() []Claim{stageTwoClaims, auxiliaryTwoClaims, mainClaims} {
		for _, c := range section() {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				start := time.Now()
				f := c.Check(NewEnv(t.Context(), c, testing.Short()))
				t.Logf("%v: %s %s margin %.4g (%.6g, %.6g), %d instances\n%s\n%v\n%v", time.Since(start).Round(time.Millisecond), f.Tier, f.Verdict, f.Margin, f.LHS, f.RHS, f.Instances, f.Note, f.Instance, f.Witness)
				if f.Verdict == "" || f.Verdict == Fails && f.Witness == nil {
					t.Errorf("%+v", f)
				}
				start = time.Now()
				if g := c.Faulty(NewEnv(t.Context(), c, true)); g.Verdict != Fails && g.Verdict != Inconsistent {
					t.Errorf("the fault %q goes unseen: %+v", c.Fault, g)
				}
				t.Logf("fault %v", time.Since(start).Round(time.Millisecond))
			})
		}
	}
}
