package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"learncausal/pkg/train"
)

// experiment names what is trained, where train.Spec does not say it.
func experiment(spec train.Spec) string {
	name := "task 1"
	if spec.Nodes != nil {
		name = "task 2"
	}
	if spec.Width > 0 {
		name += ", two-layer standard transformer with MLPs"
	} else {
		name += ", two-layer disentangled transformer"
	}
	if spec.Optimiser == "" {
		name += ", SGD"
	}
	return name
}

// identity is everything that determines the bytes of a run, and nothing else:
// no host, no number of workers, no time.
type identity struct {
	Experiment string     `json:"experiment"`
	Version    string     `json:"version"` // train.Version
	Spec       train.Spec `json:"spec"`
}

func identify(spec train.Spec) identity {
	return identity{experiment(spec), train.Version, spec}
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
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8]), nil
}

// Address returns the name under which the run of spec is stored: 16
// hexadecimal digits of a SHA-256 over the kind of experiment, the version of
// the numerics (train.Version) and spec. Equal addresses mean equal bytes.
//
// Address panics if a number in spec is NaN or infinite.
func Address(spec train.Spec) string {
	a, err := identify(spec).address()
	if err != nil {
		panic(err)
	}
	return a
}
