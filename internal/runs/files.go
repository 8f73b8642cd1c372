package runs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

const (
	manifestName  = "run.json"
	curveName     = "curve.csv"
	attentionName = "attention.csv"
)

func weightsName(step int) string { return fmt.Sprintf("weights-%d.npz", step) }

// Bounds on the bytes that are read.
const (
	maxManifest = 16 << 20 // of a run.json
	maxLine     = 80       // of a line with three numbers
	maxNumber   = 32       // of one more number, with its comma
	maxHeader   = 1 << 10  // of the description of one matrix
)

// encode returns the files of the run by name.
func (r *Run) encode() map[string][]byte {
	out := map[string][]byte{curveName: encodeCurve(r.Curve, r.Spec.NormNames()), attentionName: encodeEdges(r.Edges)}
	for i, s := range r.Milestones {
		if i == len(r.Milestones)-1 {
			s.Moments = nil
		}
		out[weightsName(s.Step)] = encodeWeights(matrices(s))
	}
	m := must(identify(r.Spec))
	m.States, m.Files = r.states, map[string]string{}
	for name, b := range out {
		m.Files[name] = files.Sum(b)
	}
	out[manifestName] = m.encode()
	return out
}

// decodeRun returns the run from the folder dir, named after its address. It ignores files
// that run.json does not list.
func decodeRun(dir string) (r *Run, err error) {
	name := manifestName // the file being read
	defer func() {
		if err != nil {
			remedy := fmt.Sprintf("restore it, or delete the folder %s to retrain the run", dir)
			r, err = nil, files.Refused("runs: "+filepath.Join(dir, name), err, remedy)
		}
	}()
	b, err := files.Read(filepath.Join(dir, name), maxManifest)
	if err != nil {
		return nil, err
	}
	m, p, err := decodeManifest(b, filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	r = &Run{Spec: p.Spec, Address: p.Address, Origin: Loaded, states: m.States}
	name = curveName
	norms := p.Spec.NormNames()
	if b, err = m.read(dir, name, (maxLine+maxNumber*len(norms))*(len(p.evaluations)+1)); err == nil {
		r.Curve, err = decodeCurve(b, p.evaluations, norms)
	}
	if err != nil {
		return nil, err
	}
	name = attentionName
	if b, err = m.read(dir, name, maxLine*p.Spec.T()*(p.Spec.T()+1)); err == nil {
		r.Edges, err = decodeEdges(b, p.Spec.T())
	}
	if err != nil {
		return nil, err
	}
	r.Final = train.Snapshot{Step: p.Spec.Steps, Curve: r.Curve}
	switch n := len(m.Files) - 2; n {
	case 0:
		return r, nil
	case len(p.milestones):
	default:
		name = manifestName
		return nil, fmt.Errorf("it lists %d files of weights, want %d, or none", n, len(p.milestones))
	}
	for i, step := range p.milestones {
		s := p.form(i)
		all := matrices(s)
		name = weightsName(step)
		if b, err = m.read(dir, name, size(s)+maxHeader*(1+len(all))); err == nil {
			err = decodeWeights(b, all)
		}
		if err != nil {
			return nil, err
		}
		n := until(step, p.evaluations)
		s.Curve = r.Curve[:n:n]
		r.Milestones = append(r.Milestones, s)
	}
	r.Final = r.Milestones[len(r.Milestones)-1]
	return r, nil
}

// read returns the content of a file of the run in the folder dir, which has at most most
// bytes and the checksum of the manifest.
func (m manifest) read(dir, name string, most int) ([]byte, error) {
	b, err := files.Read(filepath.Join(dir, name), most)
	if err != nil {
		return nil, err
	}
	if sum := files.Sum(b); sum != m.Files[name] {
		if files.Sum(files.WithLF(b)) == m.Files[name] {
			return nil, files.ErrLineEnds
		}
		return nil, fmt.Errorf("%d bytes with SHA-256 %s, %s has %q: truncated or altered",
			len(b), sum, manifestName, m.Files[name])
	}
	return b, nil
}

// differing returns the names of the files that are missing in the folder dir or have other bytes there.
func differing(want map[string][]byte, dir string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		b, err := files.Read(filepath.Join(dir, name), len(want[name]))
		if err != nil || string(b) != string(want[name]) {
			names = append(names, name)
		}
	}
	return names
}

// writeFiles writes the files into the folder dir, run.json last. Readers ignore files that
// run.json does not list.
func writeFiles(via, dir string, files map[string][]byte) error {
	for name, b := range files {
		if name != manifestName {
			if err := writeFile(via, filepath.Join(dir, name), b); err != nil {
				return err
			}
		}
	}
	return writeFile(via, filepath.Join(dir, manifestName), files[manifestName])
}

// clean removes from the folder of training dir, which this package alone made, all entries except the given
// files and the checkpoint, as far as it can. Readers ignore the rest.
func clean(dir string, files map[string][]byte) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if _, kept := files[e.Name()]; !kept && e.Name() != checkpointName {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// writeFile is [files.WriteVia] with a folder that is on the disk at the end.
func writeFile(via, path string, b []byte) error {
	if err := files.WriteVia(via, path, b); err != nil {
		return fmt.Errorf("runs: writing %s: %w", path, err)
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder syncs the names in a folder to the disk, if the file system can.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
