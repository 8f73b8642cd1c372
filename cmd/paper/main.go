// Command paper trains the runs of the paper and exports its figures, tables
// and numbers.
//
//	paper train [-fresh] [-j n]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"

	"learncausal/pkg/paper"
	"learncausal/pkg/runs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "paper:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want a command: train")
	}
	switch args[0] {
	case "train":
		return trainAll(ctx, args[1:])
	}
	return fmt.Errorf("unknown command %q, want train", args[0])
}

// trainAll loads or trains every run of the paper, several at a time, each on
// one processor: that wastes less than one run on all of them.
func trainAll(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("train", flag.ExitOnError)
	fresh := flags.Bool("fresh", false, "train every run anew and compare it with the stored one")
	jobs := flags.Int("j", runtime.NumCPU(), "runs to train at a time")
	store := flags.String("store", "runs", "folder of the run store")
	if err := flags.Parse(args); err != nil {
		return err
	}
	specs := paper.Specs()
	var mu sync.Mutex
	var errs []error
	next, done := 0, 0
	var wg sync.WaitGroup
	for range *jobs {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(specs) || ctx.Err() != nil {
					return
				}
				r, err := runs.Open(*store).Get(ctx, specs[i], runs.Options{Workers: 1, Fresh: *fresh})
				mu.Lock()
				done++
				if err != nil {
					errs = append(errs, err)
				} else {
					fmt.Fprintf(os.Stderr, "%d/%d  %s  %s, test loss %.4f\n", done, len(specs), r.Address, r.Origin, r.Curve[len(r.Curve)-1].Loss)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
