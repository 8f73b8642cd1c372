package runs

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"learncausal/internal/files"
	"learncausal/internal/property"
)

func TestLoadReturnsTheRunOfAnAddress(t *testing.T) {
	s := testStore(t.TempDir())
	for _, empty := range []*Store{s, testStore(filepath.Join(s.Dir, "none"))} {
		all, err := empty.Addresses()
		unfinished, err2 := empty.Unfinished()
		if len(all)+len(unfinished) > 0 || err != nil || err2 != nil {
			t.Fatalf("empty store: %q, %v, %v, %v", all, unfinished, err, err2)
		}
	}
	var want []*Run
	for _, seed := range []uint64{1, 2} {
		spec := testSpec
		spec.Seed = seed
		want = append(want, getSpec(t, s, spec, Options{}))
	}
	sweep := filepath.Join(s.Dir, "sweeps", "figure-9", "runs", "0123456789abcdef")
	if err := os.MkdirAll(sweep, 0o777); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Addresses(); len(all) != 2 || err != nil {
		t.Errorf("addresses %q, %v: want the two runs, and no folder that is not named by an address", all, err)
	}
	for _, w := range want {
		for _, address := range []string{w.Address, w.Address[:12]} {
			got, err := s.Load(address)
			if err != nil {
				t.Fatal(err)
			}
			if got.Address != w.Address || !reflect.DeepEqual(got.Spec, w.Spec) || !reflect.DeepEqual(got.Final, w.Final) {
				t.Errorf("%s: another run", address)
			}
		}
	}
	for _, address := range []string{"", "x", "0123456789abcdef"} {
		if _, err := s.Load(address); err == nil || !strings.Contains(err.Error(), s.Dir) {
			t.Errorf("address %q: error %v", address, err)
		}
	}
}

// An address in the store begins with the address to load, and no second one does.
func TestLoadNeedsABeginningOfOneAddress(t *testing.T) {
	s := testStore(t.TempDir())
	r := get(t, s, Options{})
	other := r.Address[:15] + "x"
	if r.Address[15] != '0' {
		other = r.Address[:15] + "0"
	}
	if err := files.Write(filepath.Join(s.Dir, "0000000000000000"), nil); err != nil { // no folder, no run
		t.Fatal(err)
	}
	_, err := s.Load("")
	property.Mentions(t, err, `no run "" among the 1 in `)
	if err := os.Rename(filepath.Join(s.Dir, r.Address), filepath.Join(s.Dir, other)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Load(other)
	property.Mentions(t, err, r.Address)
	get(t, s, Options{})
	_, err = s.Load(r.Address[:4])
	property.Mentions(t, err, "more digits", r.Address, other)
}

func TestUnfinishedTrainingIsListed(t *testing.T) {
	s := testStore(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	m := meterFunc(func(done int) {
		if done > 0 {
			cancel()
		}
	})
	long := testSpec
	long.Steps = 1 << 20
	if _, err := s.Get(ctx, long, Options{Meter: m}); err == nil {
		t.Fatal("training was not stopped")
	}
	all, err := s.Unfinished()
	if err != nil || len(all) != 1 || all[0].Address != Address(long) || all[0].Steps < 1 || len(all[0].Curve) < 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if len(all) == 1 && Address(all[0].Spec) != Address(long) {
		t.Errorf("specification %+v, want %+v", all[0].Spec, long)
	}
	getSpec(t, s, testSpec, Options{})
	if err := os.Mkdir(filepath.Join(s.Dir, ".unfinished", strings.Repeat("0", 16)), 0o777); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Unfinished(); len(all) != 1 || err != nil {
		t.Errorf("%d unfinished, %v, want neither the finished one among them nor one that has not begun", len(all), err)
	}
}

type meterFunc func(done int)

func (f meterFunc) Update(done, _ int, _ string) { f(done) }
func (f meterFunc) Done(string)                  {}
