package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// confirmed lists the runs of a store that this program has trained anew and found equal,
// an address a line: train --fresh that is stopped, or killed, goes on after them. The
// file lies beside the checkpoints and is named by the program's hash, so that another
// program begins again.
type confirmed struct{ path string }

func newConfirmed(store string) (*confirmed, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(self)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	dir := filepath.Join(store, ".unfinished")
	name := fmt.Sprintf("confirmed-%x.txt", h.Sum(nil)[:8])
	return &confirmed{filepath.Join(dir, name)}, os.MkdirAll(dir, 0o777)
}

// rest returns the specs that are not listed.
func (c *confirmed) rest(specs []train.Spec) ([]train.Spec, error) {
	text, err := os.ReadFile(c.path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listed := strings.Fields(string(text))
	return slices.DeleteFunc(slices.Clone(specs), func(s train.Spec) bool {
		return slices.Contains(listed, runs.Address(s))
	}), nil
}

// add lists a run; several may be added at a time.
func (c *confirmed) add(address string) error {
	f, err := os.OpenFile(c.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(address + "\n")
	return errors.Join(err, f.Close())
}

// forget removes the list.
func (c *confirmed) forget() error { return os.RemoveAll(c.path) }
