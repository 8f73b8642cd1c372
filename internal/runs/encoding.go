package runs

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"strings"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

// Every content has one encoding. A reader encodes the decoded content again and refuses
// the file with errForm unless the bytes are equal.
var errForm = errors.New("not in the form that a store writes: altered")

const (
	curveHeader     = "step,loss,attention"
	attentionHeader = "child,parent,attention"
)

func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// encodeCurve encodes the evaluations, with a column for each of the named norms.
func encodeCurve(curve []train.Point, norms []string) []byte {
	b := []byte(strings.Join(append([]string{curveHeader}, norms...), ",") + "\n")
	for _, p := range curve {
		b = fmt.Appendf(b, "%d,%s,%s", p.Step, text(p.Loss), text(p.Attention))
		for _, x := range p.Norms {
			b = fmt.Appendf(b, ",%s", text(x))
		}
		b = append(b, '\n')
	}
	return b
}

// decodeCurve decodes the evaluations after the given steps, with the named norms. No loss is NaN.
func decodeCurve(b []byte, steps []int, norms []string) ([]train.Point, error) {
	lines := strings.Split(string(b), "\n")
	if n := len(lines) - 2; n != len(steps) {
		return nil, fmt.Errorf("%d points, want %d", n, len(steps))
	}
	curve := make([]train.Point, len(steps))
	for i, step := range steps {
		p := &curve[i]
		all := []any{&p.Step, &p.Loss, &p.Attention}
		if len(norms) > 0 {
			p.Norms = make([]float64, len(norms))
		}
		for k := range p.Norms {
			all = append(all, &p.Norms[k])
		}
		_, err := fmt.Sscanf(lines[i+1], "%d"+strings.Repeat(",%g", len(all)-1), all...)
		if err != nil || p.Step != step || math.IsNaN(p.Loss) {
			return nil, fmt.Errorf("line %q, want step %d and %d numbers", lines[i+1], step, len(all)-1)
		}
	}
	if !bytes.Equal(b, encodeCurve(curve, norms)) {
		return nil, errForm
	}
	return curve, nil
}

func encodeEdges(edges []train.Edge) []byte {
	b := []byte(attentionHeader + "\n")
	for _, e := range edges {
		b = fmt.Appendf(b, "%d,%d,%s\n", e.Child, e.Parent, text(e.Attention))
	}
	return b
}

// decodeEdges decodes edges between t positions, in increasing order.
func decodeEdges(b []byte, t int) ([]train.Edge, error) {
	lines := strings.Split(string(b), "\n")
	var edges []train.Edge
	for i := 1; i < len(lines)-1; i++ {
		var e train.Edge
		_, err := fmt.Sscanf(lines[i], "%d,%d,%g", &e.Child, &e.Parent, &e.Attention)
		if err != nil || e.Parent < 0 || e.Parent > e.Child || e.Child >= t {
			return nil, fmt.Errorf("line %q, want %s with 0 <= parent <= child < %d", lines[i], attentionHeader, t)
		}
		edges = append(edges, e)
		if last := edges[max(i-2, 0)]; i > 1 && cmp.Or(last.Child-e.Child, last.Parent-e.Parent) >= 0 {
			return nil, fmt.Errorf("line %q, want increasing child and parent", lines[i])
		}
	}
	if !bytes.Equal(b, encodeEdges(edges)) {
		return nil, errForm
	}
	return edges, nil
}

// matrices returns the matrices of the weights of s, and then the matrices of the moments
// under names such as m-A1 and v-A1. They share the data of s.
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

// encodeWeights returns the matrices as an NPZ archive. The bytes depend on names and values
// only: the entries have no time and are not compressed.
func encodeWeights(all []model.Matrix) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range all {
		f := must(z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store}))
		must(0, npy.Write(f, mat.NewDense(a.Rows, a.Cols, a.Data)))
	}
	must(0, z.Close())
	return b.Bytes()
}

// NPZ returns the weights, and more matrices, as an NPZ archive that readers in MATLAB, Julia, R and C++ take as well
// as NumPy.
// Unlike the archives of a store it has version 1.0 of the NPY format, and each size stands before the data.
func NPZ(w model.Model, more ...model.Matrix) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range append(w.Matrices(), more...) {
		head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", a.Rows, a.Cols)
		head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n" // the numbers begin at a multiple of 64
		data := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
		data = must(binary.Append(append(data, head...), binary.LittleEndian, a.Data))
		size := uint64(len(data))
		f := must(z.CreateRaw(&zip.FileHeader{
			Name: a.Name + ".npy", CRC32: crc32.ChecksumIEEE(data), CompressedSize64: size, UncompressedSize64: size,
		}))
		must(f.Write(data))
	}
	must(0, z.Close())
	return b.Bytes()
}

// decodeWeights decodes an archive of encodeWeights into the matrices all. The shapes of all determine the
// offsets of the numbers; names, shapes and sizes in b are not trusted. The matrices read must encode to b.
func decodeWeights(b []byte, all []model.Matrix) error {
	form := encodeWeights(all)
	if len(b) != len(form) {
		return fmt.Errorf("%d bytes, want %d", len(b), len(form))
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
