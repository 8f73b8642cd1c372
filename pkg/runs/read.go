package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"learncausal/pkg/train"
)

// form is that of an address.
var form = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Addresses returns the addresses of the finished runs in order; none where there
// is no folder.
func (s *Store) Addresses() ([]string, error) { return folders(s.Dir) }

func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() && form.MatchString(e.Name()) {
			all = append(all, e.Name())
		}
	}
	return all, nil
}

// Load returns the run that is stored under an address or its beginning, if that
// is the beginning of no other. A light run is returned as it is, without weights.
func (s *Store) Load(address string) (*Run, error) {
	all, err := s.Addresses()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, a := range all {
		if strings.HasPrefix(a, address) {
			found = append(found, a)
		}
	}
	switch {
	case len(found) == 0 || address == "":
		return nil, fmt.Errorf("runs: no run %q among the %d in %s", address, len(all), s.Dir)
	case len(found) > 1:
		return nil, fmt.Errorf("runs: %d runs in %s begin with %q, want more of the address: %s",
			len(found), s.Dir, address, strings.Join(found, ", "))
	}
	dir := filepath.Join(s.Dir, found[0])
	path := filepath.Join(dir, manifestName)
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(m.Spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p.Address != found[0] {
		return nil, fmt.Errorf("runs: %s describes the run %s, want that of its folder", path, p.Address)
	}
	return load(dir, p)
}

func readManifest(path string) (m manifest, err error) {
	b, err := ReadFile(path, maxManifest)
	if err != nil {
		return m, fmt.Errorf("runs: %s: %w", path, err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("runs: %s is not the description of a run: %w", path, err)
	}
	return m, nil
}

// HasWeights tells whether the run with an address is stored with its weights, by the list
// of its files alone: they are checked when it is loaded.
func (s *Store) HasWeights(address string) (bool, error) {
	m, err := readManifest(filepath.Join(s.Dir, address, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	_, has := m.Files[weightsName(m.Spec.Steps)]
	return has, err
}

// An Unfinished is training that was interrupted, or that a process is at.
type Unfinished struct {
	Address string
	Spec    train.Spec
	Steps   int           // taken at the last checkpoint, of which a process may be ahead
	Curve   []train.Point // up to there
}

// Unfinished returns what training has kept of the runs that are not at their end. What
// cannot be read of them is an error, which comes with the others.
func (s *Store) Unfinished() ([]Unfinished, error) {
	work := filepath.Join(s.Dir, ".unfinished")
	all, err := folders(work)
	if err != nil {
		return nil, err
	}
	var out []Unfinished
	var faults []error
	for _, a := range all {
		c, p, err := readCheckpoint(filepath.Join(work, a, checkpointName), a)
		faults = append(faults, err)
		if c != nil {
			out = append(out, Unfinished{Address: a, Spec: p.Spec, Steps: c.now.Step, Curve: c.now.Curve})
		}
	}
	return out, errors.Join(faults...)
}
