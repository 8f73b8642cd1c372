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
	Files map[string]string `json:"files"` // SHA-256 of every other file of the run
}

// identify returns the manifest of the run of spec, without files.
func identify(spec train.Spec) (m manifest, err error) {
	m.identity = identity{spec.Experiment(), train.Version, spec}
	m.Address, err = m.address()
	return m, err
}

// sum256 returns the SHA-256 of b in hexadecimal digits.
func sum256(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// encode returns m as indented JSON. There is one encoding of a manifest, so
// that an altered run.json is seen by writing it again.
func (m manifest) encode() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	return append(b, '\n'), err
}

// check returns an error that says why b, the content of a run.json, is not that
// of the run m, or the files that it lists.
func (m manifest) check(b []byte) (files map[string]string, err error) {
	var got manifest
	if err := json.Unmarshal(b, &got); err != nil {
		return nil, fmt.Errorf("not the description of a run: %v", err)
	}
	if got.Version != m.Version {
		return nil, fmt.Errorf("version %q of the numerics, want %q", got.Version, m.Version)
	}
	m.Files = got.Files
	want, err := m.encode()
	if err != nil || bytes.Equal(b, want) {
		return m.Files, err
	}
	described, err := identify(got.Spec)
	if err != nil {
		return nil, err
	}
	if got.Address != m.Address || described.Address != m.Address {
		return nil, fmt.Errorf("it says address %q and describes the run %s, want %s",
			got.Address, described.Address, m.Address)
	}
	return nil, fmt.Errorf("altered after it was written")
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
