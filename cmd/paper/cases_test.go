package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"learncausal/paper/attribution"
)

// An entry is a case of cases.json.
type entry struct{ Name, File, Model string }

// scoresOf writes an archive with an array for each case but skip, made of its attention, and returns its path.
func scoresOf(t *testing.T, dir string, list []entry, skip string, array func(attention *mat.Dense) any) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, c := range list {
		if c.Name == skip {
			continue
		}
		data, err := zip.OpenReader(filepath.Join(dir, c.File))
		if err != nil {
			t.Fatal(err)
		}
		f, err1 := data.Open("attention.npy")
		m := new(mat.Dense)
		err2 := npy.Read(f, m)
		w, err3 := z.Create(c.Name + ".npy")
		if err1 != nil || err2 != nil || err3 != nil || npy.Write(w, array(m)) != nil {
			t.Fatal(err1, err2, err3)
		}
		data.Close()
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, "scores.npz", b.String())
}

// Scores that are the attention of the written cases have the stored rows of attention.
func TestAMethodOutsideOfGoIsScored(t *testing.T) {
	dir := t.TempDir()
	says(t, output(t, "cases", "-o", dir), "70 cases and cases.json are in "+dir)
	var list []entry
	index, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err == nil {
		err = json.Unmarshal(index, &list)
	}
	if err != nil || len(list) != 70 {
		t.Fatalf("%d cases, %v", len(list), err)
	}
	archive := func(skip string, array func(attention *mat.Dense) any) string {
		return scoresOf(t, dir, list, skip, array)
	}
	same := func(m *mat.Dense) any { return m }
	scores := archive("", same)
	text := output(t, "score", scores, "--name", "mine", "--csv")
	rows, err := attribution.Stored()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Method == "attention" {
			if r.Method = "mine"; !strings.Contains(text, r.CSV()+"\n") {
				t.Errorf("no line %s", r.CSV())
			}
		}
	}
	if n := strings.Count(text, "\n"); n != 70 {
		t.Errorf("%d lines, want 70", n)
	}
	first := list[0].Name
	single := func(*mat.Dense) any { return []float64{1} }
	short := func(m *mat.Dense) any { return m.Slice(0, 19, 0, 20) }
	for want, path := range map[string]string{
		"no array " + first + ": want one for each of the 70 names": archive(first, same),
		first + ": shape [1], want":                                 archive("", single),
		first + ": shape [19 ":                                      archive("", short),
		"want an archive of numpy.savez":                            write(t, "scores.npz", "no zip"),
	} {
		refused(t, []string{path, want}, "score", path, "--name", "mine")
	}
	for _, name := range []string{"attention", "a,b", "", " a", "a\nb"} {
		refused(t, []string{"--name is ", "want "}, "score", scores, "--name", name)
	}
	refused(t, []string{"name of a folder"}, "cases", "-o", "")
}
