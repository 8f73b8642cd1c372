package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"learncausal/pkg/runs"
)

// named returns an error if a flag that names a folder is given without a name.
func named(flags *pflag.FlagSet, flag string) error {
	if f := flags.Lookup(flag); f != nil && f.Changed && f.Value.String() == "" {
		return fmt.Errorf("--%s is empty, want the name of a folder", flag)
	}
	return nil
}

// replaced returns the address of the run whose files in a folder are to be written
// over, if there is one. Files of these names that are not of a run are an error.
func replaced(dir string) (address string, err error) {
	store := filepath.Join(dir, ownStore)
	all, err := runs.Open(store).Addresses()
	if err != nil {
		return "", fmt.Errorf("no files can be written in the folder %s: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(store, ".unfinished")); err != nil && len(all) == 0 {
		return "", strange(dir)
	}
	if address, err = summarised(dir); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return address, err // none if the summary is damaged, which is then written anew
}

// summarised returns the address of the run in the summary of a folder, none if that
// names no run. There is an error if it cannot be read.
func summarised(dir string) (address string, err error) {
	data, err := os.ReadFile(filepath.Join(dir, summaryJSON))
	if err != nil {
		return "", err
	}
	var s struct{ Run string }
	if err := json.Unmarshal(data, &s); err != nil {
		return "", nil
	}
	return s.Run, nil
}

// strange returns an error if a folder has a file of those that train writes.
func strange(dir string) error {
	names := []string{"weights.npz", "curve.csv", "given.dot", "learned.dot", summaryText, summaryJSON}
	for _, figure := range []string{"graph", "curve", "weights"} {
		for _, ext := range []string{".png", ".svg", ".pdf", ".tex"} {
			names = append(names, figure+ext)
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is there already and is not of a run: "+
				"want an empty folder, or one that paper train has written", path)
		}
	}
	return nil
}
