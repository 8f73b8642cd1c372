package figures

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"learncausal/internal/figure"
	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// loaded has the addresses of the runs that stored has loaded.
var loaded sync.Map

// stored is a Getter that loads and never trains.
func stored(_ context.Context, spec train.Spec) (*runs.Run, error) {
	loaded.Store(runs.Address(spec), true)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return trial.Stored(nil)(ctx, spec)
}

// figuresDir returns the folder of the committed figures.
func figuresDir(t *testing.T) string {
	t.Helper()
	dir, err := files.Checkout("figures")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// typeset are the files that need LaTeX. Another release of LaTeX gives other bytes.
var typeset = []string{"errata.pdf", "supplement.pdf"}

// sameAsCommitted compares the files in dir with those of figures/ and returns
// their names.
func sameAsCommitted(t *testing.T, dir string) []string {
	t.Helper()
	if p := figure.Platform(); p != figure.Pinned {
		t.Skipf("!!! NOT CHECKED: figures/ is of %s, this is %s", figure.Pinned, p)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range made {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(figuresDir(t), f.Name()))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("figures/%s is not what the runs give: run make reproduce and commit it (%v)", f.Name(), err)
		}
		names = append(names, f.Name())
	}
	return names
}

// The committed figures, tables and numbers are those of the stored runs. Together they
// need every run and every slow result.
func TestExportGivesTheCommittedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it draws and measures everything anew")
	}
	dir := t.TempDir()
	t.Setenv("PATH", "") // without LaTeX: TestErratumIsTypeset typesets the erratum
	paths, err := shared.Export(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	made := sameAsCommitted(t, dir)
	if len(paths) != len(made) {
		t.Errorf("%d files are said to be written, %d are there", len(paths), len(made))
	}
	kept, err := os.ReadDir(figuresDir(t))
	if err != nil {
		t.Fatal(err)
	}
	kept = slices.DeleteFunc(kept, func(f os.DirEntry) bool { return slices.Contains(typeset, f.Name()) })
	for _, f := range kept {
		if !slices.Contains(made, f.Name()) && !strings.HasPrefix(f.Name(), ".") {
			t.Errorf("figures/%s is not exported: remove it", f.Name())
		}
	}
	notebooks := readNotebooks(t)
	for _, e := range All() {
		for _, spec := range e.Specs {
			address := runs.Address(spec)
			if _, ok := loaded.Load(address); !ok && !strings.Contains(notebooks, address) {
				t.Errorf("no figure and no notebook shows the run %s of %s", address, e.Name)
			}
		}
	}
}

// readNotebooks returns the text of all notebooks.
func readNotebooks(t *testing.T) string {
	t.Helper()
	paths, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// Some entries alone give the committed files, and no others, having loaded no
// more than they need.
func TestExportOfOneEntryLoadsOnlyItsRuns(t *testing.T) {
	for _, c := range []struct {
		id    string
		loads int // runs
	}{
		{"fig-graph-example", 0},
		{"fig-induction-head", 3},
		{"fig-multi-parent-printed", 2},
		{"tab-mlp", 27},
		{"fig-many-graphs", 0},
		{"tab-many-graphs-losses", 20},
		{"claims", 0},
		{"tab-single-parent-blocks", 3},
	} {
		loads := 0
		count := func(ctx context.Context, spec train.Spec) (*runs.Run, error) {
			loads++
			return stored(ctx, spec)
		}
		dir := t.TempDir()
		entries := selected(t, c.id)
		if _, err := New(count).Export(t.Context(), dir, entries...); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, ext := range entries[0].Formats {
			want = append(want, c.id+"."+ext)
		}
		if svg := filepath.Join(dir, c.id+".svg"); slices.Contains(entries[0].Formats, "png") {
			if err := os.Remove(svg); err != nil { // which is not committed
				t.Error(err)
			}
		}
		slices.Sort(want)
		if err := os.RemoveAll(filepath.Join(dir, "captions.tex")); err != nil { // it has fewer than the committed one
			t.Fatal(err)
		}
		if got := sameAsCommitted(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s: wrote %v, want %v", c.id, got, want)
		}
		if loads != c.loads {
			t.Errorf("%s: loaded %d runs, want %d", c.id, loads, c.loads)
		}
	}
}

func TestAFailedEntryIsNotCounted(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "fig-graph-example.png", "below"), 0o777); err != nil {
		t.Fatal(err)
	}
	r, seen := New(stored), &recorder{}
	r.Meter = seen
	if _, err := r.Export(t.Context(), dir, selected(t, "fig-graph-example")...); err == nil {
		t.Error("no error")
	}
	if seen.last != "stopped after 0 of 1 written" {
		t.Errorf("it says %q", seen.last)
	}
}

// A run is loaded once, even if several entries need it at the same time.
func TestEntriesShareRuns(t *testing.T) {
	loads := make(chan struct{}, 1000)
	r := New(func(ctx context.Context, spec train.Spec) (*runs.Run, error) {
		loads <- struct{}{}
		return stored(ctx, spec)
	})
	ids := []string{"fig-single-parent", "tab-single-parent-blocks", "fig-induction-head"}
	if _, err := r.Export(t.Context(), t.TempDir(), selected(t, ids...)...); err != nil {
		t.Fatal(err)
	}
	if len(loads) != 3 {
		t.Errorf("%d runs were loaded, want 3", len(loads))
	}
}

func TestEntriesHaveDistinctIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Entries() {
		if seen[e.ID] || e.Title == "" {
			t.Errorf("entry %q comes twice, or has no title", e.ID)
		}
		seen[e.ID] = true
	}
}

func TestErrorForAnUnknownIDListsSimilarIDs(t *testing.T) {
	_, err := Select("fig-graph-example", "fig-mpl")
	if err == nil || !strings.Contains(err.Error(), `"fig-mpl"`) || !strings.Contains(err.Error(), "fig-mlp,") {
		t.Errorf("error %v, want one that names fig-mlp", err)
	}
	if _, err := New(stored).Table(t.Context(), "fig-graph-example"); err == nil {
		t.Error("no error for a figure asked for as a table")
	}
}

// An export that is cancelled says so, and so does one whose runs are missing.
func TestExportReportsTheFirstError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(stored).Export(ctx, t.TempDir(), selected(t, "fig-graph-example")...); err == nil {
		t.Error("no error after cancelling")
	}
	missing := func(context.Context, train.Spec) (*runs.Run, error) { return nil, os.ErrNotExist }
	if _, err := New(missing).Figure(t.Context(), "fig-mlp"); err == nil || !strings.Contains(err.Error(), "fig-mlp") {
		t.Errorf("error %v, want one that names the figure", err)
	}
}

var _ = []Output{(*figure.Figure)(nil), (*figure.Table)(nil), figure.Numbers(nil), (*Summary)(nil)}

func selected(t *testing.T, ids ...string) []Entry {
	t.Helper()
	entries, err := Select(ids...)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// A recorder is a meter that keeps its updates.
type recorder struct {
	mu   sync.Mutex
	done []int
	last string
}

func (r *recorder) Update(done, total int, status string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.last = append(r.done, done), status
	if done > total {
		panic("more done than there is")
	}
}

func (r *recorder) Done(status string) { r.last = status }

// Each kind of entry has a separate list, so that a program that shows a figure does not
// contain the code of tables and lists.
func TestEntriesStandWithTheirKind(t *testing.T) {
	for prefix, entries := range map[string][]Entry{"fig-": figures(), "tab-": tables()} {
		for _, e := range entries {
			if !strings.HasPrefix(e.ID, prefix) {
				t.Errorf("%s is among those that begin with %s", e.ID, prefix)
			}
		}
	}
	r := New(nil)
	if f, err := r.Figure(t.Context(), "fig-graph-example"); err != nil || f.ID != "fig-graph-example" {
		t.Errorf("figure %v, error %v", f, err)
	}
	for _, id := range []string{"tab-mlp", "claims", "fig-none"} {
		if _, err := r.Figure(t.Context(), id); err == nil || !strings.Contains(err.Error(), "no figure has the id") {
			t.Errorf("%s as a figure: %v, want an error that says that it is none", id, err)
		}
	}
}

// shared are the results that tests share, which change none of them.
var shared = New(stored)

// registered returns a figure of the registry.
func registered(t *testing.T, id string) *figure.Figure {
	t.Helper()
	f, err := shared.Figure(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
