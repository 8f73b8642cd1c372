package claims

import (
	_ "embed"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"learncausal/pkg/ledger"
)

//go:embed statements.txt
var statements string

//go:embed legacy.txt
var legacyNumbers string

func legacyNumber(id string) string {
	for line := range strings.Lines(legacyNumbers) {
		if name, number, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && name == id {
			return number
		}
	}
	return ""
}

// legacy returns a section whose claims are still in the old form.
func legacy(title string) ledger.Section {
	s := ledger.Section{Title: title}
	for _, f := range files {
		for _, c := range f() {
			if c.Section == title {
				s.Claims = append(s.Claims, c.converted())
			}
		}
	}
	return s
}

func (c Claim) converted() ledger.Claim {
	kind := ledger.Kind("")
	if !strings.HasSuffix(c.ID, "-corrected") && !slices.Contains(strings.Fields(statements), c.ID) {
		kind = ledger.Step
	}
	return ledger.Claim{
		ID: c.ID, Number: legacyNumber(c.ID), Kind: kind, Title: c.Title, Statement: c.Statement, Hypotheses: c.Hypotheses,
		Uses: c.Uses, Corrected: c.Corrected, Quick: c.Quick,
		Check:  convertedCheck(c.Check),
		Faults: []ledger.Fault{{What: c.Fault, Check: convertedCheck(c.Faulty)}},
	}
}

// plainInstance returns an instance with values that have a stored form.
func plainInstance(in map[string]any) ledger.Instance {
	b, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	out := ledger.Instance{}
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

func convertedCheck(check func(*Env) Finding) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		f := check(&Env{e}).byWitness()
		out := ledger.Finding{
			Tier: ledger.Tier(f.Tier), Verdict: ledger.Verdict(f.Verdict), LHS: f.LHS, RHS: f.RHS, Margin: f.Margin,
			Instance: plainInstance(f.Instance), Instances: f.Instances, Note: f.Note,
		}
		if f.Witness == nil {
			return out
		}
		w := &ledger.Witness{Instance: ledger.Instance{}}
		for k, v := range plainInstance(f.Witness) {
			text, _ := v.(string)
			q, rational := new(big.Rat).SetString(text)
			switch {
			case rational && (k == "lhs" || k == "lhs^2"):
				w.LHS, w.Squared = q, k == "lhs^2"
			case rational && (k == "rhs" || k == "rhs^2"):
				w.RHS = q
			case k == "equation":
				w.Equation = text
			default:
				w.Instance[k] = v
			}
		}
		out.Witness = w
		if out.Tier == ledger.Exact {
			out.Instance = w.Instance
		}
		return out
	}
}
