package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"learncausal/internal/figure"
	"learncausal/internal/files"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// replaced returns the address of the run whose files in a folder train would overwrite, or "". It is an error if
// the folder has files of these names that train did not write, or that have been changed since.
func replaced(dir string) (address string, err error) {
	address, err = summarised(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return address, errors.Join(err, files.Folder(dir).Check(ownNames()...))
}

// summarised returns the address of the run in the summary of a folder, or "" if the
// summary names no run. It is an error if the summary cannot be read.
func summarised(dir string) (address string, err error) {
	path := filepath.Join(dir, summaryJSON)
	data, err := files.Read(path, 1<<30)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	var s struct{ Run string }
	if err := json.Unmarshal(data, &s); err != nil {
		return "", nil
	}
	return s.Run, nil
}

// nodeNames returns the names in the DOT file that train has written above the store of a
// run. It returns nil if there is no such file, or if it has a different graph or no names.
func nodeNames(run string, spec train.Spec) []string {
	g, err := trial.OpenGraph(filepath.Join(filepath.Dir(filepath.Dir(run)), givenDOT), "")
	if err != nil {
		return nil
	}
	switch of := spec.Task.(type) {
	case train.Task1:
		if g.Forest == nil || !slices.Equal(g.Forest.Parents(), of.Parents) {
			return nil
		}
	case train.Task2:
		if g.DAG == nil || !slices.EqualFunc(g.DAG.Parents(), of.Parents, slices.Equal) {
			return nil
		}
	}
	return g.Nodes
}

// ownNames returns the names of the files that train writes into its folder: data and figures.
func ownNames() []string {
	names := []string{weightsNPZ, curveCSV, givenDOT, learnedDOT, summaryText, summaryJSON}
	for _, id := range figures.RunFigureIDs {
		for _, ext := range figure.Extensions {
			names = append(names, id+ext)
		}
	}
	return names
}

// writable makes the folders and returns an error unless files can be written there. It removes the file that
// it has made for that, under a name that was free.
func writable(dirs ...string) error {
	for _, dir := range dirs {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			var f *os.File
			if f, err = os.CreateTemp(dir, ".writable-"); err == nil {
				err = errors.Join(f.Close(), os.Remove(f.Name()))
			}
		}
		if err != nil {
			return fmt.Errorf("no files can be written in the folder %s: %w", dir, err)
		}
	}
	return nil
}
