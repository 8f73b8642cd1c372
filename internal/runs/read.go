package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

// form matches an address.
var form = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Addresses returns the addresses of the finished runs in increasing order, none if the store has no folder.
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

// Load returns the stored run with the given address, or with the only address that begins
// so. A light run is without weights.
func (s *Store) Load(address string) (*Run, error) {
	all, err := s.Addresses()
	if err != nil {
		return nil, err
	}
	other := func(a string) bool { return address == "" || !strings.HasPrefix(a, address) }
	found := slices.DeleteFunc(slices.Clone(all), other)
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("runs: no run %q among the %d in %s", address, len(all), s.Dir)
	case len(found) > 1:
		return nil, fmt.Errorf("runs: %d runs in %s begin with %q, want more digits of the address: %s",
			len(found), s.Dir, address, strings.Join(found, ", "))
	}
	return decodeRun(filepath.Join(s.Dir, found[0]))
}

// HasWeights reports whether run.json lists weights of the stored run with the given
// address. It does not check the files.
func (s *Store) HasWeights(address string) (bool, error) {
	path := filepath.Join(s.Dir, address, manifestName)
	b, err := files.Read(path, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var m manifest
	if err == nil {
		_, err = files.CheckSum(b, ",")
	}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return false, fmt.Errorf("runs: %s: %w", path, err)
	}
	_, has := m.Files[weightsName(m.Spec.Steps)]
	return has, nil
}

// An Unfinished is a run whose training was interrupted or is under way.
type Unfinished struct {
	Address string
	Spec    train.Spec
	Steps   int           // number of steps taken at the last checkpoint
	Curve   []train.Point // evaluations up to the last checkpoint
}

// Unfinished returns the runs that have a checkpoint. It returns all that it can read,
// together with the errors of the others.
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
