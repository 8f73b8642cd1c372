package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
)

// A place is a package below pkg with what it and its tests import.
type place struct {
	folder, path string
	imports      []string
}

// places returns the packages below pkg in the order of their names.
func places(root string) ([]place, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./pkg/...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("mutants: go list: %w", err)
	}
	var all []place
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir                    string
			Imports, TestImports, XTestImports []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		folder, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		all = append(all, place{folder, p.ImportPath, slices.Concat(p.Imports, p.TestImports, p.XTestImports)})
	}
}

// changed returns the folders of packages below pkg in which files differ from those
// of the branch main, new ones included.
func changed(root string) ([]string, error) {
	var folders []string
	for _, args := range [][]string{
		{"diff", "--name-only", "--merge-base", "main", "--", "pkg"},
		{"ls-files", "--others", "--exclude-standard", "--", "pkg"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stderr = root, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("mutants: git %s: %w", strings.Join(args, " "), err)
		}
		for name := range strings.FieldsSeq(string(out)) {
			if parts := strings.Split(name, "/"); filepath.Ext(name) == ".go" {
				folders = append(folders, strings.Join(parts[:2], "/"))
			}
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// named returns the folders that the flag -pkg means.
func (o options) named(root string, all []place) ([]string, error) {
	switch o.pkg {
	case "all":
		var folders []string
		for _, p := range all {
			folders = append(folders, p.folder)
		}
		return folders, nil
	case "changed":
		return changed(root)
	}
	return strings.Split(o.pkg, ","), nil
}

// score is what came of the mutants of a package.
type score struct {
	folder                     string
	drawn, equivalent, unknown int // equivalent are listed, unknown survive and are not
}

// share is that of the mutants that were killed, among those that can be.
func (s score) share() float64 {
	n := s.drawn - s.equivalent
	if n == 0 {
		return 1
	}
	return float64(n-s.unknown) / float64(n)
}

// tryPackages tries a sample of the mutants of each package that is named and fails
// if fewer than 90 % of one are killed.
func (o options) tryPackages(root, dir string) error {
	of, err := reasons(equivalent)
	if err != nil {
		return err
	}
	all, err := places(root)
	if err != nil {
		return err
	}
	folders, err := o.named(root, all)
	if err != nil {
		return err
	}
	copied := filepath.Join(dir, "copy")
	if err := copyModule(root, copied); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var scores []score
	for _, folder := range folders {
		i := slices.IndexFunc(all, func(p place) bool { return p.folder == folder })
		if i < 0 {
			return fmt.Errorf("mutants: %q is no package of pkg, want one as pkg/num, all or changed", folder)
		}
		var by []place
		for _, p := range all {
			if slices.Contains(p.imports, all[i].path) && p.folder != folder && !o.alone {
				by = append(by, p)
			}
		}
		drawn, err := o.tryPackage(ctx, root, copied, all[i], by, of)
		if ctx.Err() != nil { // the packages before it are told of
			fmt.Printf("interrupted in %s\n", folder)
			break
		} else if err != nil {
			return err
		}
		scores = append(scores, o.scored(folder, drawn, of))
	}
	return verdict(os.Stdout, scores)
}

// scored tells of the mutants of a package that survive and counts.
func (o options) scored(folder string, drawn []mutant, of map[string]string) score {
	s := score{folder: folder, drawn: len(drawn)}
	for _, m := range drawn {
		switch {
		case of[m.key()] != "" && m.killed != "":
			fmt.Printf("equivalent.txt lists what %s kills: %s\n", m.killed, strings.ReplaceAll(m.key(), "\t", ", "))
		case of[m.key()] != "":
			s.equivalent++
		case m.killed == "":
			s.unknown++
			tell(os.Stdout, m, "")
			if !m.reached {
				fmt.Println("\tit makes no difference in any test")
			}
			if o.fresh {
				fmt.Println("\t" + m.key())
			}
		}
	}
	return s
}

// verdict writes the scores and fails if one is too low.
func verdict(w io.Writer, scores []score) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "\npackage\tdrawn\tequivalent\tkilled\tsurviving\tshare\t\n")
	var low []string
	for _, s := range scores {
		killed := s.drawn - s.equivalent - s.unknown
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%.1f %%\t\n",
			s.folder, s.drawn, s.equivalent, killed, s.unknown, 100*s.share())
		if s.share() < least {
			low = append(low, s.folder)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(low) > 0 {
		return fmt.Errorf("mutants: tests kill fewer than %.0f %% of %s", 100*least, strings.Join(low, ", "))
	}
	return nil
}
