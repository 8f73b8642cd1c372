package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

// identity is everything that determines the bytes of a run. Host, time and number of workers do not.
type identity struct {
	Experiment string     `json:"experiment"` // in words, see train.Spec.Description
	Version    string     `json:"version"`    // train.Version
	Spec       train.Spec `json:"spec"`
}

// Address returns the address of the run of spec, the first 16 hexadecimal digits of
//
//	SHA-256(JSON{experiment, version, spec})
//
// with the keys in this order and no white space, where version is train.Version. Runs of
// equal address have equal bytes. It panics if spec has no JSON: a part is missing, a type
// of the reader's own is not registered, or a number is NaN or infinite.
func Address(spec train.Spec) string {
	m, err := identify(spec)
	if err != nil {
		panic(err.Error())
	}
	return m.Address
}

// manifest is the content of run.json.
type manifest struct {
	Sum     string `json:"sha256"` // of the lines after the first one, see [files.AddSum]
	Layout  int    `json:"layout"` // of the file; 0 stands for 1, which is not written
	Address string `json:"address"`
	identity
	States []string          `json:"states"` // digests at the marks of the plan
	Files  map[string]string `json:"files"`  // SHA-256 of every other file of the run
}

// identify returns the manifest of the run of spec, without states and files.
func identify(spec train.Spec) (m manifest, err error) {
	m.identity = identity{spec.Description(), train.Version, spec}
	b, err := json.Marshal(m.identity)
	if err != nil {
		return m, fmt.Errorf("runs: this specification has no address: %w", err)
	}
	m.Address = files.Sum(b)[:16]
	return m, nil
}

// encode returns m as JSON with one line for each key. The first line is the checksum.
func (m manifest) encode() []byte {
	text := func(x any) []byte { return must(json.Marshal(x)) }
	return files.AddSum(fmt.Appendf(make([]byte, files.SumLine), `  "address": %s,
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
	if m.Layout != 0 {
		return m, nil, files.Intact(fmt.Sprintf("it has layout %d, and this program reads layout 1: "+
			"a newer program reads it (git pull, then make paper)", m.Layout))
	}
	if p, err = described(m.identity, m.Address, address); err != nil {
		return m, nil, err
	}
	form := p.manifest
	form.States, form.Files = m.States, m.Files
	whole := form.encode()
	if m.Sum != "" && m.Sum == files.Sum(whole[files.SumLine:]) && !bytes.Equal(files.WithLF(b), whole) {
		return m, nil, errLaidOut
	}
	if _, err := files.CheckSum(b, ","); err != nil {
		return m, nil, err
	}
	if !bytes.Equal(b, whole) {
		return m, nil, errForm
	}
	return m, p, checkStates(m.States, len(p.marks))
}

// errLaidOut is about a run.json with the right content, in a different layout.
var errLaidOut = errors.New("another program, such as jq or an editor, has altered its layout; its content is whole")

// described returns the plan of a run from its description in a file, which has an address.
// It returns an error unless both belong to the run with the address want.
func described(id identity, address, want string) (*plan, error) {
	if err := foreign(id.Version); err != nil {
		return nil, err
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

// foreign returns an error about an intact file of other numerics. Its run has a different address here.
func foreign(version string) error {
	written, err := strconv.Atoi(version)
	switch own, _ := strconv.Atoi(train.Version); {
	case version == train.Version:
		return nil
	case err != nil || written < 1:
		return fmt.Errorf("its numerics have the version %q, want %q: altered", version, train.Version)
	case written > own:
		return files.Intact(fmt.Sprintf("numerics %s wrote it, and this program has numerics %s: "+
			"a newer program reads it (git pull, then make paper)", version, train.Version))
	}
	return files.Intact(fmt.Sprintf("numerics %s wrote it, and this program has numerics %s, which would train the run "+
		"anew under a different address: keep it for a checkout with numerics %[1]s "+
		"(git log -S'Version = \"%[1]s\"' finds them), or delete it", version, train.Version))
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
