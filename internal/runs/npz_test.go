package runs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"learncausal/pkg/model"
)

// plainNPZ reads an archive as small readers of other languages do: entry after entry, by the
// sizes before each, with two bytes for the length of a header of NPY.
func plainNPZ(b []byte) (all []model.Matrix, err error) {
	le := binary.LittleEndian
	for len(b) > 30 && string(b[:4]) == "PK\x03\x04" {
		if flags, method := le.Uint16(b[6:]), le.Uint16(b[8:]); flags != 0 || method != 0 {
			return nil, fmt.Errorf("flags %x, method %d", flags, method)
		}
		size, name, extra := int(le.Uint32(b[18:])), int(le.Uint16(b[26:])), int(le.Uint16(b[28:]))
		a := model.Matrix{Name: string(b[30 : 30+name])}
		entry := b[30+name+extra:][:size]
		b = b[30+name+extra+size:]
		begin := 10 + int(le.Uint16(entry[8:]))
		if string(entry[:8]) != "\x93NUMPY\x01\x00" || begin%64 != 0 {
			return nil, fmt.Errorf("an entry begins with %q, and its numbers at %d", entry[:8], begin)
		}
		form := "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }"
		if _, err := fmt.Sscanf(string(entry[10:begin]), form, &a.Rows, &a.Cols); err != nil {
			return nil, err
		}
		a.Data = make([]float64, (size-begin)/8)
		if _, err := binary.Decode(entry[begin:], le, a.Data); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func TestWeightsForOtherReaders(t *testing.T) {
	w := model.NewWeights(3, 20, 2, 1)
	want := w.Matrices()
	for k, a := range want {
		for i := range a.Data {
			a.Data[i] = math.Sin(float64(100*k + i))
		}
	}
	got, err := plainNPZ(NPZ(w))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d matrices, %v", len(got), err)
	}
	for k, a := range want {
		g := got[k]
		if g.Name != a.Name+".npy" || g.Rows != a.Rows || g.Cols != a.Cols || fmt.Sprint(g.Data) != fmt.Sprint(a.Data) {
			t.Errorf("%s is read as %s, %d x %d", a.Name, g.Name, g.Rows, g.Cols)
		}
	}
	if b := NPZ(w); !bytes.Equal(b, NPZ(w)) {
		t.Error("two encodings of the same weights")
	}
	if _, err := plainNPZ(encodeWeights(want)); err == nil {
		t.Error("the archive of a store is read by a small reader: NPZ is not needed")
	}
}
