package runs

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

// There is one encoding of everything here: what is read is written again, and
// refused unless it gives the same bytes.
var errForm = errors.New("written in another form than runs are: altered")

const (
	curveHeader     = "step,loss,attention"
	attentionHeader = "child,parent,attention"
)

func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func encodeCurve(curve []train.Point) []byte {
	var b bytes.Buffer
	b.WriteString(curveHeader + "\n")
	for _, p := range curve {
		fmt.Fprintf(&b, "%d,%s,%s\n", p.Step, text(p.Loss), text(p.Attention))
	}
	return b.Bytes()
}

// decodeCurve reads the evaluations after the given steps, whose losses are numbers.
func decodeCurve(b []byte, steps []int) ([]train.Point, error) {
	lines := strings.Split(string(b), "\n")
	if n := len(lines) - 2; n != len(steps) {
		return nil, fmt.Errorf("%d points, want %d", n, len(steps))
	}
	curve := make([]train.Point, len(steps))
	for i, step := range steps {
		cells := strings.Split(lines[i+1], ",")
		if len(cells) != 3 || cells[0] != strconv.Itoa(step) {
			return nil, fmt.Errorf("line %q, want that of step %d", lines[i+1], step)
		}
		loss, err1 := strconv.ParseFloat(cells[1], 64)
		attention, err2 := strconv.ParseFloat(cells[2], 64)
		if err := errors.Join(err1, err2); err != nil || math.IsNaN(loss) {
			return nil, fmt.Errorf("line %q, want numbers", lines[i+1])
		}
		curve[i] = train.Point{Step: step, Loss: loss, Attention: attention}
	}
	if !bytes.Equal(b, encodeCurve(curve)) {
		return nil, errForm
	}
	return curve, nil
}

func encodeEdges(edges []train.Edge) []byte {
	var b bytes.Buffer
	b.WriteString(attentionHeader + "\n")
	for _, e := range edges {
		fmt.Fprintf(&b, "%d,%d,%s\n", e.Child, e.Parent, text(e.Attention))
	}
	return b.Bytes()
}

// decodeEdges reads edges between t positions, which increase.
func decodeEdges(b []byte, t int) ([]train.Edge, error) {
	lines := strings.Split(string(b), "\n")
	var edges []train.Edge
	for i := 1; i < len(lines)-1; i++ {
		cells := strings.Split(lines[i], ",")
		if len(cells) != 3 {
			return nil, fmt.Errorf("line %q, want %s", lines[i], attentionHeader)
		}
		child, err1 := strconv.Atoi(cells[0])
		parent, err2 := strconv.Atoi(cells[1])
		attention, err3 := strconv.ParseFloat(cells[2], 64)
		if err := errors.Join(err1, err2, err3); err != nil || parent < 0 || parent > child || child >= t {
			return nil, fmt.Errorf("line %q, want numbers, and a parent up to a child in 0..%d", lines[i], t-1)
		}
		edges = append(edges, train.Edge{Child: child, Parent: parent, Attention: attention})
		if i > 1 && !before(edges[i-2], edges[i-1]) {
			return nil, fmt.Errorf("line %q, want it before the one above", lines[i])
		}
	}
	if !bytes.Equal(b, encodeEdges(edges)) {
		return nil, errForm
	}
	return edges, nil
}

func before(a, b train.Edge) bool {
	return a.Child < b.Child || a.Child == b.Child && a.Parent < b.Parent
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

// encodeWeights returns the matrices as an NPZ archive.
func encodeWeights(all []model.Matrix) []byte {
	arrays := make([]Array, len(all))
	for i, a := range all {
		arrays[i] = Array{a.Name, mat.NewDense(a.Rows, len(a.Data)/a.Rows, a.Data)}
	}
	return must(EncodeNPZ(arrays))
}

// An Array is an entry of an NPZ archive: values are a matrix of gonum, or a slice of
// numbers, of truth values or of strings.
type Array struct {
	Name   string
	Values any
}

// EncodeNPZ returns the arrays as an NPZ archive. The entries are stored, not deflated,
// and carry no time: the bytes depend on names and values alone, and not on the compressor
// of one release of Go.
func EncodeNPZ(arrays []Array) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range arrays {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if err := npy.Write(f, a.Values); err != nil {
			return nil, fmt.Errorf("runs: array %s: %w", a.Name, err)
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// decodeWeights reads what encodeWeights has written into the same matrices. The
// numbers stand where they do in the archive of these matrices, whatever b says of
// names, shapes and sizes; the archive of what was read has to be b.
func decodeWeights(b []byte, all []model.Matrix) error {
	numbers := 0
	for _, a := range all {
		numbers += len(a.Data)
	}
	form := encodeWeights(all)
	if len(b) != len(form) {
		return fmt.Errorf("%d bytes, want %d for %d numbers", len(b), len(form), numbers)
	}
	z := must(zip.NewReader(bytes.NewReader(form), int64(len(form))))
	for i, a := range all {
		end := must(z.File[i].DataOffset()) + int64(z.File[i].UncompressedSize64)
		must(binary.Decode(b[end-int64(8*len(a.Data)):end], binary.LittleEndian, a.Data))
	}
	if !bytes.Equal(b, encodeWeights(all)) {
		return errForm
	}
	return nil
}
