package runs

import (
	"bytes"
	"encoding/json"
	"fmt"

	"learncausal/pkg/train"
)

// identity is everything that determines the bytes of a run. Host, time and number of workers do not.
type identity struct {
	Experiment string     `json:"experiment"` // in words, see train.Spec.Experiment
	Version    string     `json:"version"`    // train.Version
	Spec       train.Spec `json:"spec"`
}

// Address returns the address of the run of spec, the first 16 hexadecimal digits of
//
//	SHA-256(JSON{experiment, version, spec})
//
// with the keys in this order and no white space, where version is train.Version. Runs of
// equal address have equal bytes. It panics if spec has no JSON: a part is missing, the task
// is a train.OwnTask, or a number is NaN or infinite.
func Address(spec train.Spec) string {
	m, err := identify(spec)
	if err != nil {
		panic(err.Error())
	}
	return m.Address
}

// manifest is the content of run.json.
type manifest struct {
	Address string `json:"address"`
	identity
	States []string          `json:"states"` // digests at the marks of the plan
	Files  map[string]string `json:"files"`  // SHA-256 of every other file of the run
}

// identify returns the manifest of the run of spec, without states and files.
func identify(spec train.Spec) (m manifest, err error) {
	m.identity = identity{spec.Experiment(), train.Version, spec}
	b, err := json.Marshal(m.identity)
	if err != nil {
		return m, fmt.Errorf("runs: this specification has no address: %w", err)
	}
	m.Address = sum256(b)[:16]
	return m, nil
}

// encode returns m as JSON with one line for each key. The first line is the checksum.
func (m manifest) encode() []byte {
	text := func(x any) []byte { return must(json.Marshal(x)) }
	return AddSum(fmt.Appendf(make([]byte, SumLine), `  "address": %s,
  "experiment": %s,
  "version": %s,
  "spec": %s,
  "states": %s,
  "files": %s
}
`, text(m.Address), text(m.Experiment), text(m.Version), text(m.Spec), text(m.States), text(m.Files)), ",")
}

// decodeManifest decodes b, the run.json of the run with an address, and returns the plan of the run.
func decodeManifest(b []byte, address string) (m manifest, p *plan, err error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return m, nil, fmt.Errorf("not the description of a run: %v", err)
	}
	if p, err = described(m.identity, m.Address, address); err != nil {
		return m, nil, err
	}
	if _, err := CheckSum(b, ","); err != nil {
		return m, nil, err
	}
	form := p.manifest
	form.States, form.Files = m.States, m.Files
	if !bytes.Equal(b, form.encode()) {
		return m, nil, errForm
	}
	return m, p, checkStates(m.States, len(p.marks))
}

// described returns the plan of a run from its description in a file, which has an address.
// It returns an error unless both belong to the run with the address want.
func described(id identity, address, want string) (*plan, error) {
	if id.Version != train.Version {
		return nil, fmt.Errorf("written by version %q of the numerics, want %q", id.Version, train.Version)
	}
	p, err := newPlan(id.Spec)
	if err != nil {
		return nil, err
	}
	if address != want || p.Address != want {
		return nil, fmt.Errorf("it has address %q and describes the run %s, want %s", address, p.Address, want)
	}
	return p, nil
}

// checkStates returns an error unless there is one digest for each mark.
func checkStates(states []string, marks int) error {
	if len(states) != marks {
		return fmt.Errorf("%d digests of states, want %d", len(states), marks)
	}
	for i, s := range states {
		if len(s) != digits {
			return fmt.Errorf("digest %d of a state is %q, want %d hexadecimal digits", i, s, digits)
		}
	}
	return nil
}

// must returns x of a call that cannot fail: it writes to memory, or encodes a spec that has an address.
func must[T any](x T, err error) T {
	if err != nil {
		panic("runs: " + err.Error())
	}
	return x
}
