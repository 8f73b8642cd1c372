package train

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever is read as a spec is written in one way, and is refused with words or can
// be held.
func FuzzSpecJSON(f *testing.F) {
	for _, s := range []Spec{
		testSpec(), multiSpec(), twoHeadsSpec(), decaySpec(),
		mlpSpec(MLP{Width: 8}), mlpSpec(MLP{Width: 8, FixedEmbeddings: true}), simplifiedSpec(), minimalSpec(),
	} {
		b, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		text := string(b)
		f.Add([]byte(strings.Replace(text, `"batch":`, `"batch":9007199254740993`, 1)))
		f.Add([]byte(strings.Replace(text, `"states":3`, `"states":1e999`, 1)))
		f.Add([]byte(strings.Replace(text, `"every":15`, `"every":1,"heads":1099511627776`, 1)))
		f.Add([]byte(strings.Replace(text, `{`, `{"unknown":1,`, 1)))
	}
	f.Add([]byte(`{"parents":[-1,0,-1],"states":-1,"prior":"dirichlet(0.1)","width":-1,"embeddings":"fixed"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Spec
		if err := json.Unmarshal(data, &s); err != nil {
			return
		}
		if s.Validate() != nil {
			return
		}
		first, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%s is valid and has no JSON: %v", data, err)
		}
		var again Spec
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%s is not read again: %v", first, err)
		}
		if second, err := json.Marshal(again); err != nil || string(second) != string(first) {
			t.Fatalf("%s becomes %s, %v", first, second, err)
		}
		if s.Memory(1) > 1<<24 {
			return
		}
		if _, err := s.NewSnapshot(s.Steps); err != nil {
			t.Fatal(err)
		}
	})
}
