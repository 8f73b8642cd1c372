package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"learncausal/pkg/train"
)

// identity is everything that determines the bytes of a run. Host, time and number of
// workers do not.
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

// encode returns m as JSON with one line for each key. Altered bytes differ from the
// encoding of their content.
func (m manifest) encode() []byte {
	text := func(x any) []byte { return must(json.Marshal(x)) }
	return fmt.Appendf(nil, `{
  "address": %s,
  "experiment": %s,
  "version": %s,
  "spec": %s,
  "states": %s,
  "files": %s
}
`, text(m.Address), text(m.Experiment), text(m.Version), text(m.Spec), text(m.States), text(m.Files))
}

// check decodes b, the content of a run.json. It returns an error unless b describes the
// run m, with one digest for each mark.
func (m manifest) check(b []byte, marks int) (got manifest, err error) {
	if err := json.Unmarshal(b, &got); err != nil {
		return got, fmt.Errorf("not the description of a run: %v", err)
	}
	if got.Version != m.Version {
		return got, fmt.Errorf("version %q of the numerics, want %q", got.Version, m.Version)
	}
	described, err := identify(got.Spec)
	if err != nil {
		return got, err
	}
	if got.Address != m.Address || described.Address != m.Address {
		return got, fmt.Errorf("it has address %q and describes the run %s, want %s",
			got.Address, described.Address, m.Address)
	}
	m.States, m.Files = got.States, got.Files
	if !bytes.Equal(b, m.encode()) {
		return got, errForm
	}
	return got, checkStates(got.States, marks)
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

// sum256 returns the SHA-256 of b in hexadecimal digits.
func sum256(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// must returns x of a call that cannot fail: it writes to memory, or encodes a spec that
// has an address.
func must[T any](x T, err error) T {
	if err != nil {
		panic("runs: " + err.Error())
	}
	return x
}
