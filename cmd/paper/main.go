// Command paper trains the runs of the paper and exports its figures, tables
// and numbers; and checks its statements.
//
//	paper list                     show what can be exported, and the experiments
//	paper export [-o dir] [id...]  write the figures and tables of the ids; without ids
//	                               all of figures/, and print the table of results
//	paper train [-fresh] [-j n]    train what is not stored; -fresh: train all anew and compare
//	paper verify [-j n] [-quick] [id...]
//	                               check the statements; all of them, in full: write the ledger
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Stdout, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "paper:", err)
		os.Exit(1)
	}
}

// run carries out a command and prints its results to w.
func run(ctx context.Context, w io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New("want a command: list, export, train or verify")
	}
	switch args[0] {
	case "list":
		return list(w, args[1:])
	case "export":
		return export(ctx, w, args[1:])
	case "train":
		return trainAll(ctx, args[1:])
	case "verify":
		return verify(ctx, w, args[1:])
	}
	return fmt.Errorf("unknown command %q, want list, export, train or verify", args[0])
}

// parse reads the flags and the other arguments, which may stand in any order.
func parse(flags *flag.FlagSet, args []string) (others []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return others, nil
		}
		others, args = append(others, flags.Arg(0)), flags.Args()[1:]
	}
}
