// Mutants plants faults into the checks of the ledger and into the quantities
// that they use, generated and not chosen, and asks whether the rows notice.
//
// Each operator, constant, index, condition, ... of the code (points.go,
// calls.go) becomes a question to one instrumented build, "is my mutant on?",
// so that nothing is compiled again. A first pass records to which rows a mutant
// makes a difference, that is, at its point something else is computed than
// without it; then each mutant runs these rows, in a process of its own
// with limits to time and memory, in the quick budget, the cheapest first, until
// one notices. Noticed, or killed, is a mutant if a verdict changes, if a
// row becomes unsound, if a planted fault is no longer found or a repair no
// longer accepted, or if a row panics or does not end. A mutant that makes no
// difference to any check is not counted; exclude.go says what is not mutated and why.
//
//	go run . [flags]        in tools/mutants
//
// It fails if fewer than 90 % are killed, or if one survives that is not listed
// with a reason in survivors.txt.
//
// With -pkg it mutates packages of pkg instead, all of each, and their tests judge,
// those that -short leaves (tests.go). The mutants that are drawn are recorded in a
// run of each test alone; then each runs the tests in which it makes a difference,
// the cheap ones first, until one fails, panics or does not end. A mutant
// that survives the tests of its package goes on to those of each package below pkg
// that imports it. One that makes no difference in any test has survived. It fails if fewer
// than 90 % of those of a package are killed, without those that equivalent.txt
// lists, which do what the code does. The assembly of pkg/lanes is not mutated: its
// tests hold it against the plain Go, which is, and so the mutant, and the packages
// that import it compute with the plain Go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// least is the share of mutants that the rows must kill.
const least = 0.9

func main() {
	var o options
	flag.IntVar(&o.n, "n", 0, "how many mutants, drawn at random (400; with -pkg 30 of each package)")
	flag.BoolVar(&o.all, "all", false, "all mutants (hours)")
	flag.Uint64Var(&o.seed, "seed", 1, "of the draw")
	flag.StringVar(&o.pkg, "pkg", "", "mutants of packages as pkg/num,pkg/graph, of all, or of those changed")
	flag.BoolVar(&o.alone, "alone", false, "with -pkg, no tests of the packages that import the one that is mutated")
	flag.StringVar(&o.only, "only", "", "mutants of which path, function, change or line contains this")
	flag.IntVar(&o.workers, "workers", 2, "how many run at once")
	flag.StringVar(&o.root, "root", "../..", "folder of the module")
	flag.BoolVar(&o.fresh, "new", false, "print the survivors that are not listed in the form of survivors.txt")
	flag.Parse()
	if o.n == 0 {
		o.n = 400
		if o.pkg != "" {
			o.n = 30
		}
	}
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	n, workers int
	all, fresh bool
	seed       uint64
	only, root string
	pkg        string
	alone      bool
}

func (o options) run() error {
	of, err := reasons(known)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.pkg != "" {
		return o.tryPackages(root, dir)
	}
	drawn, err := o.tried(root, dir, of)
	if err != nil {
		return err
	}
	return o.judge(drawn, of)
}

// tried builds, measures, and tries a sample of the mutants. It tells of each that
// survives. An interrupt ends it early.
func (o options) tried(root, dir string, of map[string]string) ([]mutant, error) {
	units, err := load(root)
	if err != nil {
		return nil, err
	}
	points, program, err := build(root, dir, units)
	if err != nil {
		return nil, err
	}
	name, err := hash(program)
	if err != nil {
		return nil, err
	}
	s, err := measure(program, filepath.Join(root, ".cache/mutants", name), points, units, o.workers)
	if err != nil {
		return nil, err
	}
	all := s.mutants()
	stale(os.Stdout, all, of)
	fmt.Printf("%d mutants, of which %d make a difference to the check of some row\n", len(planted(points)), len(all))
	var some []mutant
	for _, m := range all {
		if strings.Contains(m.key(), o.only) {
			some = append(some, m)
		}
	}
	if !o.all {
		some = sample(some, o.n, o.seed)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s.tryAll(ctx, some, o.workers, func(m mutant) { tell(os.Stdout, m, of[m.key()]) })
	return slices.DeleteFunc(some, func(m mutant) bool { return !m.tried }), nil
}

// judge prints the results and returns an error if they are not good enough.
func (o options) judge(drawn []mutant, of map[string]string) error {
	fmt.Println()
	table(os.Stdout, "operator", drawn, func(m mutant) string { return m.operator })
	table(os.Stdout, "file", drawn, func(m mutant) string { return m.file })
	killed, unlisted := 0, 0
	for _, m := range drawn {
		switch {
		case m.killed != "":
			killed++
		case of[m.key()] == "":
			unlisted++
			if o.fresh {
				fmt.Println("\t" + m.key())
			}
		}
	}
	rate := float64(killed) / float64(max(len(drawn), 1))
	fmt.Printf("%d of %d mutants killed, %.1f %%; %d survivors listed with a reason, %d not\n",
		killed, len(drawn), 100*rate, len(drawn)-killed-unlisted, unlisted)
	switch {
	case rate < least:
		return fmt.Errorf("mutants: the rows kill %.1f %%, want %.0f %%", 100*rate, 100*least)
	case unlisted > 0:
		return errors.New("mutants: survivors that survivors.txt does not list")
	}
	return nil
}
