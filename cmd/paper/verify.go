package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"learncausal/paper/claims"
	"learncausal/paper/report"
	"learncausal/pkg/ledger"
	"learncausal/pkg/runs"
)

// verify runs the checks of the ledger and prints their rows. All of them, in
// full, are written to the stored ledger; a selection is only printed.
//
// It is an error if a corrected statement fails, or if a verdict differs from
// the one that was stored before.
func verify(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("verify", flag.ExitOnError)
	quick := flags.Bool("quick", false, "only the quick checks, with less work in each; nothing is written")
	jobs := flags.Int("j", 2, "checks to run at a time")
	// Flags may stand behind the ids too.
	var ids []string
	for {
		if err := flags.Parse(args); err != nil {
			return err
		}
		if flags.NArg() == 0 {
			break
		}
		ids, args = append(ids, flags.Arg(0)), flags.Args()[1:]
	}
	if *jobs < 1 {
		return fmt.Errorf("-j is %d, want at least 1", *jobs)
	}
	cs, err := selected(ids, *quick)
	if err != nil {
		return err
	}
	l, took, err := report.Check(ctx, cs, *quick, *jobs, runs.Terminal(os.Stderr))
	if err != nil {
		return err
	}
	if err := printRows(l, took, len(ids) > 0); err != nil {
		return err
	}
	errs := judge(l)
	if len(ids) == 0 && !*quick {
		if err := errors.Join(report.WriteLedger(l, report.Dir("figures")), report.WriteLedgerPage(l)); err != nil {
			return errors.Join(append(errs, err)...)
		}
		fmt.Fprintln(os.Stderr, "figures/claims.json and CLAIMS.md are written; drawing figures, tables and numbers")
		rep, err := report.Build(ctx, report.Stored(runs.Terminal(os.Stderr)))
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		errs = append(errs, rep.Export(report.Dir("figures")))
	}
	return errors.Join(errs...)
}

// selected returns the claims to check.
func selected(ids []string, quick bool) ([]ledger.Claim, error) {
	all := claims.All()
	switch {
	case len(ids) == 0 && quick:
		return claims.Quick(), nil
	case len(ids) == 0:
		return all, nil
	}
	return ledger.Select(all, ids...)
}

// printRows prints the table of rows to standard output, and in detail what a
// reader asked for by its id.
func printRows(l *ledger.Ledger, took map[string]time.Duration, detail bool) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\ttier\tverdict\tlhs\trhs\tmargin\tN\tseconds\tnote")
	for _, r := range l.Rows {
		note := []rune(r.Note)
		if detail {
			note = nil // in full below
		} else if len(note) > 60 {
			note = append(note[:59], '…')
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.4g\t%.4g\t%.3g\t%d\t%.2f\t%s\n", r.ID, r.Tier, r.Verdict, r.LHS, r.RHS, r.Margin, r.Instances, took[r.ID].Seconds(), string(note))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !detail {
		return nil
	}
	fmt.Println()
	for _, r := range l.Rows {
		fmt.Printf("%s: %s\n  statement   %s\n  hypotheses  %s\n  planted     %s\n  note        %s\n", r.ID, r.Title, r.Statement, r.Hypotheses, r.Faults[0].What, r.Note)
		what, in := "worst instance", r.Instance.Layout()
		if r.Witness != nil {
			what, in = "witness", r.Witness.Layout()
		}
		fmt.Printf("  %s\n    %s\n\n", what, strings.ReplaceAll(strings.TrimRight(in, "\n"), "\n", "\n    "))
	}
	return nil
}

// judge returns the reasons not to be content with the rows.
func judge(l *ledger.Ledger) []error {
	var errs []error
	stored, err := report.ReadLedger(report.Dir("figures"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return []error{err}
	}
	for _, r := range l.Rows {
		if r.Failed() && r.Kind == ledger.Correction {
			errs = append(errs, fmt.Errorf("%s, a corrected statement, is found to be %s: %s", r.ID, r.Verdict, r.Note))
		}
		if stored == nil {
			continue
		}
		if old := stored.Find(r.ID); old != nil && old.Verdict != r.Verdict {
			errs = append(errs, fmt.Errorf("%s: %s, but %s in figures/claims.json as it was stored", r.ID, r.Verdict, old.Verdict))
		}
	}
	return errs
}
