package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"learncausal/pkg/train"
)

// identity is everything that determines the bytes of a run, and nothing else:
// no host, no number of workers, no time.
type identity struct {
	Experiment string     `json:"experiment"` // in words, see train.Spec.Experiment
	Version    string     `json:"version"`    // train.Version
	Spec       train.Spec `json:"spec"`
}

// address returns the first 16 hexadecimal digits of
//
//	SHA-256(JSON{experiment, version, spec})
//
// with the keys in this order and no white space.
func (id identity) address() (string, error) {
	b, err := json.Marshal(id)
	if err != nil {
		return "", fmt.Errorf("runs: this specification has no address: %w", err)
	}
	return sum256(b)[:16], nil
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
	m.Address, err = m.address()
	return m, err
}

// sum256 returns the SHA-256 of b in hexadecimal digits.
func sum256(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// must returns x where what has made it cannot fail: numbers are written to memory, and
// what has an address has JSON.
func must[T any](x T, err error) T {
	if err != nil {
		panic("runs: " + err.Error())
	}
	return x
}

// encode returns m as JSON with a line for each key. There is one encoding of a
// manifest, so that an altered run.json is seen by writing it again.
func (m manifest) encode() []byte {
	var b bytes.Buffer
	for i, field := range []struct {
		key   string
		value any
	}{
		{"address", m.Address},
		{"experiment", m.Experiment},
		{"version", m.Version},
		{"spec", m.Spec},
		{"states", m.States},
		{"files", m.Files},
	} {
		fmt.Fprintf(&b, "%c\n  %q: %s", "{,"[min(i, 1)], field.key, must(json.Marshal(field.value)))
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// check returns the manifest that b, the content of a run.json, is, or an error that
// says why it is not that of the run m with a digest for each of so many marks.
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
		return got, fmt.Errorf("it says address %q and describes the run %s, want %s",
			got.Address, described.Address, m.Address)
	}
	m.States, m.Files = got.States, got.Files
	if !bytes.Equal(b, m.encode()) {
		return got, fmt.Errorf("altered after it was written")
	}
	return got, checkStates(got.States, marks)
}

// checkStates returns an error unless there are so many states, digests of the right
// length all of them.
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

// Address returns the name under which the run of spec is stored: 16
// hexadecimal digits of a SHA-256 over the kind of experiment, the version of
// the numerics (train.Version) and spec. Equal addresses mean equal bytes.
//
// Address panics if spec has no JSON: without a part, with an own task, or with a
// number that is NaN or infinite.
func Address(spec train.Spec) string {
	m, err := identify(spec)
	if err != nil {
		panic(err.Error())
	}
	return m.Address
}
