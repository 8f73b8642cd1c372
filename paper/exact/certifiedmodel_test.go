package exact

import (
	"encoding/json"
	"flag"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/trial"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

var regenCertified = flag.Bool("certified", false, "write certifiedmodels.json")

// certifiedWeights returns the stored bounds and the weights of their runs.
func certifiedWeights(t *testing.T) (all []CertifiedModel, weights []*model.Positional) {
	t.Helper()
	rs, err := trial.Each(t.Context(), trial.CertifiedSpecs(), trial.Stored(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rs {
		w, ok := r.Final.Weights.(*model.Positional)
		if !ok {
			continue
		}
		all, weights = append(all, CertifiedModel{Run: r.Address, Circuit: CircuitNumbers(w)}), append(weights, w)
	}
	return all, weights
}

func TestCertifiedModelsAreStored(t *testing.T) {
	all, weights := certifiedWeights(t)
	lines := make([]string, len(all))
	for k, m := range all {
		m, err := m.Enclose(weights[k])
		if err != nil {
			t.Fatal(err)
		}
		if m.Gap+2 > 20e6 {
			t.Errorf("run %s is %d billionths from its circuit, want at most 0.02", m.Run, m.Gap)
		}
		for n := range m.Eps[2:] {
			if m.Eps[n+2]+2 >= m.Eps[n+1] {
				t.Errorf("run %s: the distances %d from the frequencies do not fall", m.Run, m.Eps)
			}
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		lines[k] = string(b)
	}
	text := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	if *regenCertified {
		if err := os.WriteFile("certifiedmodels.json", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(certifiedModels) {
		t.Errorf("certifiedmodels.json has\n%swant\n%s(go test -certified writes it)", certifiedModels, text)
	}
}

// A weight that is changed by 0.01 is refused if the output depends on it. An entry above the diagonal is never read.
func TestChangedWeightsAreRefused(t *testing.T) {
	_, weights := certifiedWeights(t)
	all, err := CertifiedModels()
	if err != nil {
		t.Fatal(err)
	}
	m, w := all[0], weights[0]
	changed := func(name string, i, j int) error {
		c := model.Clone(w).(*model.Positional)
		block, err := model.Block(c, name)
		if err != nil {
			t.Fatal(err)
		}
		block.Set(i, j, block.At(i, j)+0.01)
		return m.Decide(c)
	}
	for i := range 4 {
		for j := range 4 {
			if changed("Q", i, j) == nil || changed("K", i, j) == nil {
				t.Errorf("entry %d, %d of Q or K: a change is accepted", i, j)
			}
		}
	}
	for i := 1; i < w.T; i++ {
		if changed("A1", i, i-1) == nil {
			t.Errorf("entry %d, %d of A1: a change is accepted", i, i-1)
		}
	}
	if err := changed("A1", 3, 4); err != nil {
		t.Errorf("an entry that is not read: %v", err)
	}
}

// The enclosure of the output holds the output of the definition, and the circuit is the formula.
func TestCertifiedForwardIsTheModel(t *testing.T) {
	all, weights := certifiedWeights(t)
	rnd := rand.New(num.Stream(0, "sequences"))
	for k, w := range weights {
		for range 200 {
			x := make([]int, w.T)
			for i := range x {
				x[i] = rnd.IntN(w.S)
			}
			for _, of := range []*model.Positional{w, Circuit(w, all[k].Circuit)} {
				f, _ := of.Forward(x, nil, nil)
				for s, r := range passOf(of).forward(x, w.S) {
					if r.Lo > f[s]+1e-13 || r.Hi < f[s]-1e-13 || r.Hi-r.Lo > 1e-11 {
						t.Fatalf("token %d after %v: %v, want %v", s, x, r, f[s])
					}
				}
			}
		}
	}
}

// The parts of a forward pass hold the rational numbers, and softmaxes their enclosures with 200 bits.
func TestCertifiedPartsHoldTheExactValues(t *testing.T) {
	_, weights := certifiedWeights(t)
	holds := func(what string, r Range, x Interval) {
		lo, hi := new(big.Rat).SetFloat64(r.Lo), new(big.Rat).SetFloat64(r.Hi)
		if lo.Cmp(x.Lo) > 0 || hi.Cmp(x.Hi) < 0 {
			t.Errorf("%s: %v does not hold %v", what, r, x)
		}
	}
	value := func(m *mat.Dense, i, j int) *big.Rat { return new(big.Rat).SetFloat64(m.At(i, j)) }
	for _, w := range weights {
		r := passOf(w)
		for i, row := range r.qk {
			for j, entry := range row {
				sum := new(big.Rat)
				for k := range row {
					sum.Add(sum, Mul(value(w.Q, i, k), value(w.K, k, j)))
				}
				holds("Q K", entry, Point(sum))
			}
		}
		for i, row := range r.p {
			sum, e := Point(new(big.Rat)), make([]Interval, len(row))
			for j := range row {
				e[j] = Point(value(w.A[0], i, j)).Exp()
				sum = sum.Add(e[j])
			}
			for j, p := range row {
				holds("P", p, e[j].Quo(sum))
			}
		}
	}
	if _, err := distance(Range{Lo: 0.1, Hi: 0.1 + 3e-9}); err == nil {
		t.Error("an enclosure of three billionths is accepted")
	}
}
