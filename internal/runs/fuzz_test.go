package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

// fuzzSpec is the spec of a run of few bytes.
func fuzzSpec() train.Spec {
	s := testSpec
	s.Task = train.Task1{Parents: []int{-1, 0, -1}, States: 2, Prior: "dirichlet(0.1)"}
	s.Optimiser = train.AdamW{Rate: 0.01, Schedule: train.Constant}
	s.Batch, s.Steps, s.Test, s.Every = 4, 16, 8, 8
	return s
}

// fuzzRun returns a run of few bytes, its plan, and its files.
func fuzzRun(f *testing.F) (*Run, *plan, map[string][]byte) {
	f.Helper()
	p, err := newPlan(fuzzSpec())
	if err != nil {
		f.Fatal(err)
	}
	r, err := testStore(f.TempDir()).Get(f.Context(), fuzzSpec(), Options{Workers: 1})
	if err != nil {
		f.Fatal(err)
	}
	return r, p, r.encode()
}

// addDamaged adds seeds: bytes as they are, and damaged.
func addDamaged(f *testing.F, b []byte, edits ...string) {
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add(append(bytes.Clone(b), b...))
	text := string(b)
	for i := 0; i < len(edits); i += 2 {
		f.Add([]byte(strings.Replace(text, edits[i], edits[i+1], 1)))
	}
}

// Of all texts only the one that was written is taken for the run.json of a run.
func FuzzManifest(f *testing.F) {
	_, p, files := fuzzRun(f)
	b := files[manifestName]
	addDamaged(f, b, `"seed":7`, `"seed":8`, `"batch":4`, `"batch":4e0`, `"states": [`, `"states": [[`,
		`"states": [`, `"states": ["",`, `"files": {`, `"files": {"x":"y",`, `{`, `{{`, `"steps":16`, `"steps":1e999`,
		`"every":8`, `"every":1,"heads":1152921504606846976`)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _, err := decodeManifest(data, p.Address)
		if err != nil {
			return
		}
		if !bytes.Equal(data, m.encode()) || m.Address != p.Address || !reflect.DeepEqual(m.Spec, p.Spec) {
			t.Fatalf("%s is taken for %s", data, m.encode())
		}
	})
}

func FuzzCurve(f *testing.F) {
	_, p, files := fuzzRun(f)
	addDamaged(f, files[curveName], "\n0,", "\n-0,", "\n8,", "\n9,", ",0.", ",0x0.p", ",0.", ",NaN,0.", "\n", "\r\n",
		"16,", "16,+")
	f.Fuzz(func(t *testing.T, data []byte) {
		curve, err := decodeCurve(data, p.evaluations, p.Spec.NormNames())
		if err == nil && !bytes.Equal(encodeCurve(curve, p.Spec.NormNames()), data) {
			t.Fatalf("%q is taken for %q", data, encodeCurve(curve, p.Spec.NormNames()))
		}
		for i, point := range curve {
			if point.Step != p.evaluations[i] || math.IsNaN(point.Loss) {
				t.Fatalf("point %d is %+v", i, point)
			}
		}
	})
}

func FuzzAttention(f *testing.F) {
	r, p, files := fuzzRun(f)
	addDamaged(f, files[attentionName], "\n0,0", "\n0,1", "\n1,", "\n-1,", "\n2,", "\n3,", ",0.", ",.", "\n1,0,",
		"\n1,0,0.5\n1,0,")
	f.Fuzz(func(t *testing.T, data []byte) {
		edges, err := decodeEdges(data, p.Spec.T())
		if err == nil && !bytes.Equal(encodeEdges(edges), data) {
			t.Fatalf("%q is taken for %q", data, encodeEdges(edges))
		}
		for i, e := range edges {
			last := edges[max(i-1, 0)]
			if e.Parent < 0 || e.Parent > e.Child || e.Child >= r.Spec.T() ||
				i > 0 && cmp.Or(last.Child-e.Child, last.Parent-e.Parent) >= 0 {
				t.Fatalf("edge %+v", e)
			}
		}
	})
}

// Of the bytes of an archive only the numbers are free.
func FuzzWeights(f *testing.F) {
	_, p, files := fuzzRun(f)
	addDamaged(f, files[weightsName(p.milestones[0])], "(5, 5)", "(-1,5)", "<f8", ">f8", "False", "True ", "NUMPY\x02",
		"NUMPY\x01",
		"H\x00\x00\x00", "\xff\xff\xff\xff", "A1.npy", "A2.npy", "PK\x05\x06", "PK\x01\x02", "<f8", "|O8", "(5, 5)",
		"(00, 00)", "(5, 5)", "(5L, 5)", "A1.npy", "../npy")
	f.Fuzz(func(t *testing.T, data []byte) {
		s := p.form(0)
		before := bytes.Clone(data)
		if err := decodeWeights(data, matrices(s)); err != nil {
			return
		}
		if again := encodeWeights(matrices(s)); !bytes.Equal(data, again) || !bytes.Equal(data, before) {
			t.Fatalf("%q is taken for %q", data, again)
		}
	})
}

// A checkpoint with the right sum is refused, or is the one of these bytes and can be
// trained on from.
func FuzzCheckpoint(f *testing.F) {
	r, p, _ := fuzzRun(f)
	for _, step := range []int{0, 1, 7, 15, 16} {
		c, err := newCheckpoint(p, step)
		if err != nil {
			f.Fatal(err)
		}
		c.states = r.states[:until(step, p.marks)]
		first, body, _ := bytes.Cut(encodeCheckpoint(p, c)[files.SumLine:], []byte("\n"))
		f.Add(append(first, '\n'), body)
		f.Add(first, append(body, body...))
		f.Add(bytes.Replace(first, []byte(`"step":`), []byte(`"step":1`), 1), body)
	}
	f.Add([]byte("{}"), []byte{})
	f.Fuzz(func(t *testing.T, first, body []byte) {
		var h checkpointHeader
		if json.Unmarshal(first, &h) == nil && h.Spec.Task != nil {
			if _, err := json.Marshal(h.Spec); err != nil {
				return // no specification of a run
			}
			first = h.line()
		}
		file := files.AddSum(slices.Concat(make([]byte, files.SumLine), first, body), "}")
		c, q, err := decodeCheckpoint(bytes.NewReader(file), int64(len(file)), p.Address)
		if err != nil {
			return
		}
		if again := encodeCheckpoint(q, c); !bytes.Equal(file, again) {
			t.Fatalf("%q is taken for %q", file, again)
		}
		tr, err := train.New(q.Spec, 1)
		if err == nil {
			err = tr.Restore(c.now)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever a store holds under the name of a run is refused, or is the run.
func FuzzStore(f *testing.F) {
	r, p, files := fuzzRun(f)
	for name, b := range files {
		f.Add(name, b)
		f.Add(name, b[:len(b)-1])
	}
	f.Add(weightsName(7), files[manifestName])
	f.Add("../x", []byte{})
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if _, ok := files[name]; !ok {
			return
		}
		s := testStore(t.TempDir())
		dir := filepath.Join(s.Dir, p.Address)
		if err := writeFiles(t.TempDir()+"/~", dir, files); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := s.Load(p.Address)
		if same := bytes.Equal(data, files[name]); (err == nil) != same {
			t.Fatalf("%s of %q: %v", name, data, err)
		}
		if err == nil && !reflect.DeepEqual(got.Milestones[0], r.Milestones[0]) {
			t.Fatal("another run")
		}
	})
}
