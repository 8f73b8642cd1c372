package claims

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/ledger"
)

// gaps lists the errors in the controls of a claim: a part or a hypothesis without a
// fault, a fault that belongs to neither, faults of a claim that fails.
func gaps(c ledger.Claim) []string {
	var out []string
	if c.Defect != "" {
		if len(c.Faults) > 0 {
			out = append(out, "a claim with a defect fails, so its faults show nothing")
		}
		return out
	}
	parts := c.Parts
	if len(parts) == 0 {
		parts = []string{""}
	}
	hypotheses := strings.Split(c.Hypotheses, ";")
	for i, h := range hypotheses {
		hypotheses[i] = strings.TrimSpace(h)
	}
	hasFault := func(of func(ledger.Fault) bool) bool { return slices.ContainsFunc(c.Faults, of) }
	for _, p := range parts {
		bounded := slices.ContainsFunc(c.Bounds, func(b ledger.Bound) bool { return b.Part == p || b.Part == "" })
		if !bounded && !hasFault(func(f ledger.Fault) bool { return f.Part == p && f.Drops == "" }) {
			out = append(out, fmt.Sprintf("the part %q has no fault", p))
		}
	}
	for _, b := range c.Bounds {
		if b.Part != "" && !slices.Contains(parts, b.Part) {
			out = append(out, fmt.Sprintf("a bound belongs to %q, which is no part", b.Part))
		}
	}
	for _, f := range c.Faults {
		if f.Drops == "" && !slices.Contains(parts, f.Part) || f.Drops != "" && !slices.Contains(hypotheses, f.Drops) {
			out = append(out, fmt.Sprintf("the fault %q belongs to no part and no hypothesis", f.What))
		}
	}
	for _, s := range c.Spare {
		if !slices.Contains(hypotheses, s.Hypothesis) || s.Why == "" {
			out = append(out, fmt.Sprintf("%q is spared, but is no hypothesis or has no reason", s.Hypothesis))
		}
	}
	for _, h := range hypotheses {
		spared := slices.ContainsFunc(c.Spare, func(s ledger.Spare) bool { return s.Hypothesis == h })
		if h != "" && !spared && !hasFault(func(f ledger.Fault) bool { return f.Drops == h }) {
			out = append(out, fmt.Sprintf("no fault drops the hypothesis %q, and it is not spared", h))
		}
	}
	return out
}

func TestGapsInControlsAreFound(t *testing.T) {
	type claim = ledger.Claim
	type fault = ledger.Fault
	const stray, idle = " belongs to no part and no hypothesis", " is spared, but is no hypothesis or has no reason"
	whole := claim{
		Parts: []string{"lower", "upper"}, Hypotheses: `$S\ge2$; $\pi>0$`,
		Faults: []fault{{What: "a", Part: "lower"}, {What: "b", Part: "upper"}, {What: "c", Drops: `$\pi>0$`}},
		Spare:  []ledger.Spare{{Hypothesis: `$S\ge2$`, Why: "one state has no transitions"}},
	}
	if found := gaps(whole); found != nil {
		t.Errorf("a whole claim: %v", found)
	}
	if found := gaps(claim{}); !slices.Equal(found, []string{`the part "" has no fault`}) {
		t.Errorf("a claim without hypotheses: %q", found)
	}
	if found := gaps(claim{Defect: ledger.Constant}); found != nil {
		t.Errorf("a claim that fails: %v", found)
	}
	for _, c := range []struct {
		spoil func(*claim)
		want  []string
	}{
		{func(c *claim) { c.Parts = append(c.Parts, "equality") }, []string{`the part "equality" has no fault`}},
		{func(c *claim) { c.Parts, c.Faults = nil, c.Faults[2:] }, []string{`the part "" has no fault`}},
		{func(c *claim) { c.Hypotheses += "; $T$" }, []string{`no fault drops the hypothesis "$T$", and it is not spared`}},
		{func(c *claim) { c.Faults[0].Part = "middle" }, []string{`the part "lower" has no fault`, `the fault "a"` + stray}},
		{func(c *claim) { c.Faults = append(c.Faults, fault{What: "d", Drops: "pi"}) }, []string{`the fault "d"` + stray}},
		{func(c *claim) { c.Spare = append(c.Spare, ledger.Spare{Hypothesis: "$T$", Why: "no"}) }, []string{`"$T$"` + idle}},
		{func(c *claim) { c.Spare = []ledger.Spare{{Hypothesis: `$S\ge2$`}} }, []string{`"$S\\ge2$"` + idle}},
		{
			func(c *claim) { c.Faults, c.Defect = c.Faults[:1], ledger.Constant },
			[]string{"a claim with a defect fails, so its faults show nothing"},
		},
	} {
		spoilt := whole
		spoilt.Faults = slices.Clone(whole.Faults)
		if c.spoil(&spoilt); !slices.Equal(gaps(spoilt), c.want) {
			t.Errorf("%+v: the gaps are %q, want %q", spoilt, gaps(spoilt), c.want)
		}
	}
}
