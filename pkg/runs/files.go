package runs

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2/maybe"
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

// encodeRun returns the files of the finished run m by name. Their bytes depend
// on the arguments alone.
func encodeRun(m manifest, milestones []train.Snapshot) (map[string][]byte, error) {
	files := map[string][]byte{curveName: encodeCurve(milestones[len(milestones)-1].Curve)}
	for i, s := range milestones {
		// Only the last replay starts from stored moments.
		if i != len(milestones)-2 {
			s.Moments = nil
		}
		b, err := encodeWeights(matrices(s))
		if err != nil {
			return nil, err
		}
		files[weightsName(s.Step)] = b
	}
	m.Files = map[string]string{}
	for name, b := range files {
		m.Files[name] = sum256(b)
	}
	b, err := m.encode()
	files[manifestName] = b
	return files, err
}

// decodeRun returns the milestones of the run m stored in the folder dir. Files
// that its run.json does not list are not looked at.
func decodeRun(dir string, m manifest) ([]train.Snapshot, error) {
	refuse := func(name string, why error) error {
		return fmt.Errorf("runs: %s refused: %v; restore it, or delete the folder %s to have the run trained anew",
			filepath.Join(dir, name), why, dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err == nil {
		m.Files, err = m.check(b)
	}
	if err != nil {
		return nil, refuse(manifestName, err)
	}
	b, err = m.read(dir, curveName)
	if err != nil {
		return nil, refuse(curveName, err)
	}
	curve, err := decodeCurve(b)
	if err != nil {
		return nil, refuse(curveName, err)
	}
	var run []train.Snapshot
	steps := milestones(m.Spec)
	for i, step := range steps {
		s := train.Snapshot{Step: step, Weights: m.Spec.NewWeights()}
		if i == len(steps)-2 {
			s.Moments = m.Spec.NewMoments()
		}
		b, err := m.read(dir, weightsName(step))
		if err == nil {
			err = decodeWeights(b, matrices(s))
		}
		if err != nil {
			return nil, refuse(weightsName(step), err)
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

// read returns the content of a file of the run in the folder dir, if it has the
// sum that the manifest gives it.
func (m manifest) read(dir, name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	if sum := sum256(b); sum != m.Files[name] {
		return nil, fmt.Errorf("%d bytes with SHA-256 %s, %s says %q: truncated or altered",
			len(b), sum, manifestName, m.Files[name])
	}
	return b, nil
}

func encodeCurve(curve []train.Point) []byte {
	var b bytes.Buffer
	b.WriteString("step,loss,attention\n")
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, p := range curve {
		fmt.Fprintf(&b, "%d,%s,%s\n", p.Step, text(p.Loss), text(p.Attention))
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

// matrices returns those of the weights of s, and then those of the moments under
// names such as m-A1 and v-A1. The data are those of s.
func matrices(s train.Snapshot) []model.Matrix {
	all := s.Weights.Matrices()
	for k, w := range s.Moments {
		for _, m := range w.Matrices() {
			m.Name = []string{"m-", "v-"}[k] + m.Name
			all = append(all, m)
		}
	}
	return all
}

// encodeWeights returns the matrices as an NPZ archive. The entries are stored,
// not deflated, and carry no time: the bytes depend on the numbers alone, and
// not on the compressor of one release of Go.
func encodeWeights(all []model.Matrix) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range all {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if err := npy.Write(f, mat.NewDense(a.Rows, len(a.Data)/a.Rows, a.Data)); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// decodeWeights reads what encodeWeights has written into the same matrices.
func decodeWeights(b []byte, all []model.Matrix) error {
	r, err := npz.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	for _, a := range all {
		var m mat.Dense
		if err := r.Read(a.Name+".npy", &m); err != nil {
			return err
		}
		if rows, cols := m.Dims(); rows != a.Rows || rows*cols != len(a.Data) {
			return fmt.Errorf("%s is %dx%d, want %dx%d", a.Name, rows, cols, a.Rows, len(a.Data)/a.Rows)
		}
		copy(a.Data, m.RawMatrix().Data)
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
	return fmt.Errorf("runs: training anew gave other bytes than those stored in %s: %q differ, see %s",
		stored, names, work)
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
