package runs

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sbinet/npyio/npy"
	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

const (
	manifestName = "run.json"
	curveName    = "curve.csv"
)

func weightsName(step int) string { return fmt.Sprintf("weights-%d.npz", step) }

// manifest is the content of run.json.
type manifest struct {
	Address string `json:"address"`
	identity
	Files map[string]string `json:"files"` // SHA-256 of every other file of the run
}

// encode returns m as indented JSON. There is one encoding of a manifest, so
// that an altered run.json is seen by writing it again.
func (m manifest) encode() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	return append(b, '\n'), err
}

// encodeRun returns the files of a finished run by name. Their bytes depend on
// the arguments alone.
func encodeRun(spec train.Spec, milestones []train.Snapshot) (map[string][]byte, error) {
	files := map[string][]byte{curveName: encodeCurve(milestones[len(milestones)-1].Curve)}
	for i, m := range milestones {
		// Only the last replay starts from stored moments.
		if i != len(milestones)-2 {
			m.Moments = nil
		}
		b, err := encodeWeights(arrays(m))
		if err != nil {
			return nil, err
		}
		files[weightsName(m.Step)] = b
	}
	m := manifest{Address: Address(spec), identity: identify(spec), Files: map[string]string{}}
	for name, b := range files {
		m.Files[name] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	b, err := m.encode()
	files[manifestName] = b
	return files, err
}

// decodeRun returns the milestones of the run of spec stored in the folder dir.
// Files that the manifest does not list are not looked at.
func decodeRun(dir string, spec train.Spec) ([]train.Snapshot, error) {
	refuse := func(name, format string, args ...any) error {
		return fmt.Errorf("runs: %s refused: %s; restore it, or delete the folder %s to have the run trained anew",
			filepath.Join(dir, name), fmt.Sprintf(format, args...), dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, refuse(manifestName, "%v", err)
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, refuse(manifestName, "not the description of a run: %v", err)
	}
	address, err := m.address()
	switch again, _ := m.encode(); {
	case err != nil:
		return nil, refuse(manifestName, "%v", err)
	case m.Version != train.Version:
		return nil, refuse(manifestName, "version %q of the numerics, want %q", m.Version, train.Version)
	case address != Address(spec) || m.Address != address:
		return nil, refuse(manifestName, "it says address %q and describes the run %s, want %s", m.Address, address, Address(spec))
	case !bytes.Equal(b, again):
		return nil, refuse(manifestName, "altered after it was written")
	}
	read := func(name string) ([]byte, error) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, refuse(name, "%v", err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(b)); sum != m.Files[name] {
			return nil, refuse(name, "%d bytes with SHA-256 %s, %s says %q: truncated or altered", len(b), sum, manifestName, m.Files[name])
		}
		return b, nil
	}
	b, err = read(curveName)
	if err != nil {
		return nil, err
	}
	curve, err := decodeCurve(b)
	if err != nil {
		return nil, refuse(curveName, "%v", err)
	}
	var run []train.Snapshot
	steps := milestones(spec)
	for i, step := range steps {
		b, err := read(weightsName(step))
		if err != nil {
			return nil, err
		}
		s := train.Snapshot{Step: step, Weights: spec.NewWeights()}
		if spec.Optimiser == "adamw" && i == len(steps)-2 {
			s.Moments = []*model.Weights{spec.NewWeights(), spec.NewWeights()}
		}
		if err := decodeWeights(b, arrays(s)); err != nil {
			return nil, refuse(weightsName(step), "%v", err)
		}
		n := 0
		for n < len(curve) && curve[n].Step <= step {
			n++
		}
		s.Curve = curve[:n:n]
		run = append(run, s)
	}
	return run, nil
}

func encodeCurve(curve []train.Point) []byte {
	var b bytes.Buffer
	b.WriteString("step,loss,attention\n")
	for _, p := range curve {
		fmt.Fprintf(&b, "%d,%s,%s\n", p.Step, strconv.FormatFloat(p.Loss, 'g', -1, 64), strconv.FormatFloat(p.Attention, 'g', -1, 64))
	}
	return b.Bytes()
}

func decodeCurve(b []byte) ([]train.Point, error) {
	var curve []train.Point
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for _, line := range lines[1:] {
		var p train.Point
		if _, err := fmt.Sscanf(line, "%d,%g,%g", &p.Step, &p.Loss, &p.Attention); err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		curve = append(curve, p)
	}
	return curve, nil
}

// array is a matrix of the model under its name in an NPZ file.
type array struct {
	name string
	rows int
	data []float64 // row-major
}

// arrays returns the matrices of s, which share its memory: A1 and A2 (the row
// belongs to the query), or A1-1, A1-2, ... where the layer has several heads,
// and W; for the standard transformer then E, P, and V, In, BIn, Out and BOut of
// each layer; then those of the moments, as m-A1 and v-A1.
func arrays(s train.Snapshot) []array {
	all := weightArrays("", s.Weights)
	for k, m := range s.Moments {
		all = append(all, weightArrays([]string{"m-", "v-"}[k], m)...)
	}
	return all
}

func weightArrays(prefix string, w *model.Weights) []array {
	var all []array
	d := w.S + w.T
	if w.MLP != nil {
		d = w.MLP.Width
	}
	for l, layer := range w.A {
		for h, a := range layer {
			name := fmt.Sprintf("%sA%d", prefix, l+1)
			if len(layer) > 1 {
				name = fmt.Sprintf("%s-%d", name, h+1)
			}
			all = append(all, array{name, d, a})
		}
		if w.MLP == nil {
			d *= 1 + len(layer)
		}
	}
	all = append(all, array{prefix + "W", d, w.W})
	if w.MLP == nil {
		return all
	}
	all = append(all, array{prefix + "E", w.S, w.MLP.E}, array{prefix + "P", w.T, w.MLP.P})
	for i, l := range w.MLP.Layers {
		name := func(s string) string { return fmt.Sprintf("%s%s%d", prefix, s, i+1) }
		all = append(all, array{name("V"), d, l.V}, array{name("In"), d, l.In}, array{name("BIn"), 1, l.BIn}, array{name("Out"), d, l.Out}, array{name("BOut"), 1, l.BOut})
	}
	return all
}

// encodeWeights returns the matrices as an NPZ archive. The entries are stored,
// not deflated, and carry no time: the bytes depend on the numbers alone, and
// not on the compressor of one release of Go.
func encodeWeights(all []array) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range all {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.name + ".npy", Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if err := npy.Write(f, mat.NewDense(a.rows, len(a.data)/a.rows, a.data)); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// decodeWeights reads what encodeWeights has written into the same matrices.
func decodeWeights(b []byte, all []array) error {
	r, err := npz.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	for _, a := range all {
		var m mat.Dense
		if err := r.Read(a.name+".npy", &m); err != nil {
			return err
		}
		if rows, cols := m.Dims(); rows != a.rows || rows*cols != len(a.data) {
			return fmt.Errorf("%s is %dx%d, want %dx%d", a.name, rows, cols, a.rows, len(a.data)/a.rows)
		}
		copy(a.data, m.RawMatrix().Data)
	}
	return nil
}

// confirm returns nil if the folder stored holds the given files. Otherwise it
// leaves them, and nothing else, in the folder work and says so.
func confirm(files map[string][]byte, stored, work string) error {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if b, err := os.ReadFile(filepath.Join(stored, name)); err != nil || !bytes.Equal(b, files[name]) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	if err := writeFolder(work, files); err != nil {
		return err
	}
	return fmt.Errorf("runs: training anew gave other bytes than those stored in %s: %q differ, see %s", stored, names, work)
}

// writeFolder makes the folder dir anew with the given files.
func writeFolder(dir string, files map[string][]byte) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, b := range files {
		if err := writeFile(filepath.Join(dir, name), b); err != nil {
			return err
		}
	}
	return nil
}

// writeFile replaces the file path in one step: after a crash at any moment it
// holds the old bytes or the new ones.
func writeFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temp := path + ".tmp"
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("runs: writing %s: %w", path, err)
	}
	return rename(temp, path)
}

// rename renames a file or folder and brings its new name to the disk.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer dir.Close()
	dir.Sync() // not every file system can; the rename is done in any case
	return nil
}
