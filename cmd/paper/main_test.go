package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/experiment"
	"learncausal/paper/report"
)

func TestUsageNamesTheCommands(t *testing.T) {
	for _, args := range [][]string{nil, {"draw"}} {
		err := run(t.Context(), nil, args)
		if err == nil {
			t.Fatalf("no error for %q", args)
		}
		for _, command := range []string{"list", "export", "train", "verify"} {
			if !strings.Contains(err.Error(), command) {
				t.Errorf("%q: %v, want %s to be named", args, err, command)
			}
		}
	}
	for _, args := range [][]string{{"list", "fig-mlp"}, {"train", "mlp"}, {"train", "-j", "0"}, {"verify", "-j", "0"}} {
		if err := run(t.Context(), nil, args); err == nil {
			t.Errorf("no error for %q", args)
		}
	}
}

func TestListShowsEveryEntryAndExperiment(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"list"}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(out.String()) {
		if f := strings.Fields(line); len(f) > 0 {
			ids = append(ids, f[0])
		}
	}
	for _, e := range report.Entries() {
		if !slices.Contains(ids, e.ID) {
			t.Errorf("%s is not listed", e.ID)
		}
	}
	for _, e := range experiment.All() {
		if !slices.Contains(ids, e.Name) {
			t.Errorf("%s is not listed", e.Name)
		}
	}
}

func TestExportWritesTheFilesThatItNames(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	args := []string{"export", "fig-graph-example", "-o", dir, "tab-unlearned-edges"}
	if err := run(t.Context(), &out, args); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Fields(out.String())
	if len(files) != 6 || len(named) != 6 {
		t.Errorf("%d files, %d named, want 4 of a figure and 2 of a table", len(files), len(named))
	}
	for _, f := range files {
		if !slices.Contains(named, filepath.Join(dir, f.Name())) {
			t.Errorf("%s is not named", f.Name())
		}
	}
}

func TestExportOfAnUnknownIDWritesNothing(t *testing.T) {
	dir := t.TempDir()
	err := run(t.Context(), nil, []string{"export", "-o", dir, "fig-graph-exmaple"})
	if err == nil || !strings.Contains(err.Error(), "fig-graph-example") || !strings.Contains(err.Error(), "paper list") {
		t.Errorf("error %v, want one with the id that is near and where to look", err)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("%d files were written", len(files))
	}
}
