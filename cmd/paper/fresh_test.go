//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"learncausal/internal/files"
	"learncausal/internal/property"
	"learncausal/internal/runs"
	"learncausal/pkg/train"
)

// Runs that were equal before the stop are not trained again after it, and once all are equal
// the next call starts from the first run.
func TestConfirmingGoesOn(t *testing.T) {
	dir, plan := t.TempDir(), write(t, "plan.toml", smallPlan)
	output(t, "sweep", plan)
	specs := make([]train.Spec, 3)
	for i := range specs {
		specs[i] = train.Spec{
			Task:  train.Task1{Parents: []int{-1, 0, 0, 2, -1}, States: 3, Prior: "dirichlet(0.1)"},
			Model: train.Disentangled{Heads: [2]int{1, 1}}, Optimiser: train.SGD{Rate: 1, Schedule: train.Cosine},
			Batch: 32, Steps: 1500 - 100*i, Seed: uint64(i), Test: 20, Every: 100,
		}
		if _, err := runs.Open(dir).Get(t.Context(), specs[i], runs.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string {
		b, _ := os.ReadFile(only(t, filepath.Join(dir, ".unfinished", "confirmed-*")))
		return string(b)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for list() == "" {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	if err := confirmEach(ctx, dir, specs, []string{plan}, 1); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped after the first run: %v", err)
	}
	first := runs.Address(specs[0])
	if got := list(); got != first+"\n" {
		t.Fatalf("the list of equal runs has %q, want that of 1500 steps, %s", got, first)
	}
	if err := os.RemoveAll(filepath.Join(dir, first)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} { // the first run was equal, and then all were
		err := confirmEach(t.Context(), dir, specs, []string{plan}, 1)
		if _, missing := os.Stat(filepath.Join(dir, first)); err != nil || (missing == nil) != want {
			t.Errorf("the first run is trained: %v, want %v, %v", missing == nil, want, err)
		}
	}
	if left := only(t, filepath.Join(filepath.Dir(plan), "plan", ".fresh-*")); left != "" {
		t.Errorf("%s is left", left)
	}
	results, err := filepath.Glob(filepath.Join(filepath.Dir(plan), "plan", "results", "*.json"))
	if err != nil || len(results) != 4 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	text, _ := os.ReadFile(results[3])
	forged := regexp.MustCompile(`("step":200,"loss":\d\.\d{3}).`).ReplaceAll(text, []byte("${1}0"))
	if err := os.WriteFile(results[3], files.AddSum(forged, "}"), 0o666); err != nil {
		t.Fatal(err)
	}
	err = confirmEach(t.Context(), dir, specs, []string{plan}, 1)
	property.Mentions(t, err, strings.TrimSuffix(filepath.Base(results[3]), ".json"))
	if got := strings.Fields(list()); len(got) != len(specs) {
		t.Errorf("after that error the list of equal runs is %q", got)
	}
}

// only returns the one file of the pattern, or nothing.
func only(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) > 1 {
		t.Errorf("%s: %q, %v", pattern, names, err)
	}
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
