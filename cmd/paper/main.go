// Command paper trains the runs of the paper and exports its figures, tables
// and numbers; and checks its statements.
//
//	paper train [-fresh] [-j n]   train what is not stored; -fresh: train all anew and compare
//	paper export [-o dir]         write figures/ and print the table of results
//	paper verify [-j n] [-quick] [id...]
//	                              check the statements; all of them, in full: write the ledger
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"learncausal/paper/report"
	"learncausal/pkg/runs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "paper:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want a command: train, export or verify")
	}
	switch args[0] {
	case "train":
		return trainAll(ctx, args[1:])
	case "export":
		return export(ctx, args[1:])
	case "verify":
		return verify(ctx, args[1:])
	}
	return fmt.Errorf("unknown command %q, want train, export or verify", args[0])
}

func export(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("export", flag.ExitOnError)
	dir := flags.String("o", report.Dir("figures"), "folder to write to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	rep, err := report.Build(ctx, report.Stored(runs.Terminal(os.Stderr)))
	if err != nil {
		return err
	}
	if err := rep.Export(*dir); err != nil {
		return err
	}
	if *dir == report.Dir("figures") {
		if err := report.WriteLedgerPage(rep.Ledger); err != nil {
			return err
		}
	}
	table, err := report.Summary(rep.Rows).Plain()
	if err != nil {
		return err
	}
	fmt.Println(table)
	fmt.Println("Files:")
	seen := map[string]bool{}
	for _, row := range rep.Rows {
		if !seen[row.ID] {
			fmt.Printf("  %-20s %s\n", row.ID, row.Files(filepath.Base(*dir)))
		}
		seen[row.ID] = true
	}
	return nil
}

// trainAll loads or trains every run of the paper, several at a time, each on
// one processor: that wastes less than one run on all of them.
func trainAll(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("train", flag.ExitOnError)
	fresh := flags.Bool("fresh", false, "train every run anew and compare it with the stored one")
	jobs := flags.Int("j", runtime.NumCPU(), "runs to train at a time")
	store := flags.String("store", report.Dir("runs"), "folder of the run store")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *jobs < 1 {
		return fmt.Errorf("-j is %d, want at least 1", *jobs)
	}
	specs := report.Specs()
	steps := 0
	for _, s := range specs {
		steps += s.Steps
	}
	meter := &sum{meter: runs.Terminal(os.Stderr), total: steps, done: make([]int, len(specs))}
	errs := make([]error, len(specs))
	stopped := report.Each(ctx, len(specs), *jobs, func(i int) {
		opt := runs.Options{Workers: 1, Fresh: *fresh, Meter: meter.part(i)}
		_, errs[i] = runs.Open(*store).Get(ctx, specs[i], opt)
		meter.part(i).Update(specs[i].Steps, specs[i].Steps, "")
	})
	err := errors.Join(append(errs, stopped)...)
	if err == nil {
		meter.meter.Done(fmt.Sprintf("%d runs are in %s", len(specs), *store))
	}
	return err
}

// A sum is one meter for several runs at a time.
type sum struct {
	mu    sync.Mutex
	meter runs.Meter
	total int
	done  []int // steps of each run
}

type part struct {
	sum *sum
	i   int
}

func (s *sum) part(i int) part { return part{s, i} }

func (p part) Update(done, _ int, _ string) {
	s := p.sum
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[p.i] = done
	steps := 0
	for _, d := range s.done {
		steps += d
	}
	s.meter.Update(steps, s.total, fmt.Sprintf("run %d of %d", p.i+1, len(s.done)))
}

func (p part) Done(string) {}
