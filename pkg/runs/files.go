package runs

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2/maybe"

	"learncausal/pkg/train"
)

const (
	manifestName  = "run.json"
	curveName     = "curve.csv"
	attentionName = "attention.csv"
	weightsPrefix = "weights-"
)

func weightsName(step int) string { return fmt.Sprintf("%s%d.npz", weightsPrefix, step) }

// Sizes of files beyond which they are not read: in all, of a line with three numbers,
// and of what goes with a matrix beside its numbers.
const (
	maxManifest = 16 << 20
	maxLine     = 80
	maxHeader   = 1 << 10
)

// encode returns the files of the run by name. Their bytes depend on the run alone.
func (r *Run) encode() map[string][]byte {
	files := map[string][]byte{curveName: encodeCurve(r.Curve), attentionName: encodeEdges(r.Edges)}
	for i, s := range r.Milestones {
		if i == len(r.Milestones)-1 {
			s.Moments = nil
		}
		files[weightsName(s.Step)] = encodeWeights(matrices(s))
	}
	m := must(identify(r.Spec))
	m.States, m.Files = r.states, map[string]string{}
	for name, b := range files {
		m.Files[name] = sum256(b)
	}
	files[manifestName] = m.encode()
	return files
}

// decodeRun returns the run of the plan that is stored in the folder dir. Files
// that its run.json does not list are not looked at.
func decodeRun(dir string, p *plan) (*Run, error) {
	refuse := func(name string, why error) error {
		return fmt.Errorf("runs: %s refused: %v; restore it, or delete the folder %s to have the run trained anew",
			filepath.Join(dir, name), why, dir)
	}
	b, err := ReadFile(filepath.Join(dir, manifestName), maxManifest)
	if err != nil {
		return nil, refuse(manifestName, err)
	}
	m, err := p.check(b, len(p.marks))
	if err != nil {
		return nil, refuse(manifestName, err)
	}
	r := &Run{Spec: p.Spec, Address: p.Address, Origin: Loaded, states: m.States}
	b, err = m.read(dir, curveName, maxLine*(len(p.evaluations)+1))
	if err == nil {
		r.Curve, err = decodeCurve(b, p.evaluations)
	}
	if err != nil {
		return nil, refuse(curveName, err)
	}
	b, err = m.read(dir, attentionName, maxLine*p.Spec.T()*(p.Spec.T()+1))
	if err == nil {
		r.Edges, err = decodeEdges(b, p.Spec.T())
	}
	if err != nil {
		return nil, refuse(attentionName, err)
	}
	r.Final = train.Snapshot{Step: p.Spec.Steps, Curve: r.Curve}
	switch n := len(m.Files) - 2; n {
	case 0:
		return r, nil
	case len(p.milestones):
	default:
		return nil, refuse(manifestName, fmt.Errorf("it lists %d files of weights, want %d, or none",
			n, len(p.milestones)))
	}
	for i, step := range p.milestones {
		s := p.form(i)
		if err := m.readWeights(dir, s); err != nil {
			return nil, refuse(weightsName(step), err)
		}
		n := until(step, p.evaluations)
		s.Curve = r.Curve[:n:n]
		r.Milestones = append(r.Milestones, s)
	}
	r.Final = r.Milestones[len(r.Milestones)-1]
	return r, nil
}

// readWeights reads the weights and moments of a milestone into the given form of it.
func (m manifest) readWeights(dir string, s train.Snapshot) error {
	all := matrices(s)
	b, err := m.read(dir, weightsName(s.Step), size(s)+maxHeader*(1+len(all)))
	if err != nil {
		return err
	}
	return decodeWeights(b, all)
}

// read returns the content of a file of the run in the folder dir, if it has the
// sum that the manifest gives it, and at most so many bytes.
func (m manifest) read(dir, name string, most int) ([]byte, error) {
	b, err := ReadFile(filepath.Join(dir, name), most)
	if err != nil {
		return nil, err
	}
	if sum := sum256(b); sum != m.Files[name] {
		return nil, fmt.Errorf("%d bytes with SHA-256 %s, %s says %q: truncated or altered",
			len(b), sum, manifestName, m.Files[name])
	}
	return b, nil
}

// ReadFile returns the content of a regular file of at most so many bytes. Nothing of
// any other, as a pipe that never ends, is opened or read.
func ReadFile(path string, most int) ([]byte, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > int64(most) {
		return nil, fmt.Errorf("%d bytes, want at most %d: altered", size, most)
	}
	return io.ReadAll(io.LimitReader(f, int64(most)))
}

// openFile opens a regular file and returns its size. A pipe, on which opening waits, is
// not opened.
func openFile(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("it is no regular file, its mode is %v", info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err = f.Stat() // another file may have been renamed to it meanwhile
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// differing returns the names of those of the files that the folder dir does not hold
// with these bytes.
func differing(files map[string][]byte, dir string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b, err := ReadFile(filepath.Join(dir, name), len(files[name]))
		if err != nil || string(b) != string(files[name]) {
			names = append(names, name)
		}
	}
	return names
}

// writeFiles writes the files into the folder dir, run.json last: as long as it is not
// there, or is the one that was, the others are not looked at.
func writeFiles(dir string, files map[string][]byte) error {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return name == manifestName })
	for _, name := range append(names, manifestName) {
		if err := writeFile(filepath.Join(dir, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

// clean removes from the folder dir what it can of all but the given files and a
// checkpoint. What is left of it nobody looks at.
func clean(dir string, files map[string][]byte) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if _, kept := files[e.Name()]; !kept && e.Name() != checkpointName {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// writeFile replaces the file path in one step: after a crash at any moment it
// holds the old bytes or the new ones. (On Windows, where the library does not
// promise this, a file that was cut short is refused for its sum.)
func writeFile(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := maybe.WriteFile(path, b, 0o666); err != nil {
		return fmt.Errorf("runs: writing %s: %w", path, err)
	}
	syncFolder(dir)
	return nil
}

// rename renames a folder and brings its new name to the disk.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	syncFolder(filepath.Dir(to))
	return nil
}

// syncFolder brings the names in a folder to the disk. Not every file system can,
// and what the names stand for is written in any case.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
