package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"learncausal/paper/claims"
	"learncausal/paper/experiment"
	"learncausal/paper/report"
	"learncausal/pkg/ledger"
	"learncausal/pkg/runs"
)

// sides says how the columns lhs and rhs are to be read.
const sides = `An inequality is read as lhs ≤ rhs,
also where ≥ is printed.`

func newVerify() *cobra.Command {
	var quick bool
	var jobs int
	c := &cobra.Command{
		Use:   "verify [id...]",
		Short: "Check the paper's statements",
		Long: `verify checks the statements of the paper, steps of their proofs and corrections,
and prints a row for each: the kind of evidence, the verdict, the two sides on the
worst instance, and the margin between them. ` + sides + `
A row goes by its id or by the number that the PDF prints; those that are named are
also shown in full, with their witness, and nothing is written.

Without names it checks all, writes figures/claims.json and CLAIMS.md, and draws
what shows them; some minutes. It is an error if a corrected statement fails, or
if a verdict is not the one that was stored before.`,
		Example: `  paper verify "Lemma 16" lem-tv
  paper verify --quick             # the quick checks of all; nothing is written
  paper verify -j 4`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var ids []cobra.Completion
			for _, c := range claims.All() {
				ids = append(ids, cobra.CompletionWithDesc(c.ID, c.Title))
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, ids []string) error {
			if err := atLeastOne("-j", jobs); err != nil {
				return err
			}
			return verify(c.Context(), c.OutOrStdout(), ids, quick, jobs)
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "only the quick checks, with less work in each; nothing is written")
	c.Flags().IntVarP(&jobs, "jobs", "j", 2, "checks to run at a time")
	return c
}

// verify runs the checks of the ledger and prints their rows. All of them, in
// full, are written to the stored ledger; a selection is only printed.
//
// It is an error if a corrected statement fails, or if a verdict differs from
// the one that was stored before.
func verify(ctx context.Context, w io.Writer, ids []string, quick bool, jobs int) error {
	cs, err := selected(ids, quick)
	if err != nil {
		return err
	}
	if len(ids) == 0 && !quick {
		dir, err := experiment.Dir("figures")
		if err != nil {
			return err
		}
		if err := writable(dir); err != nil {
			return err
		}
	}
	l, took, err := report.Check(ctx, cs, quick, jobs, runs.Terminal(os.Stderr))
	if err != nil {
		return err
	}
	if err := printRows(w, l, took, len(ids) > 0); err != nil {
		return err
	}
	errs := judge(l)
	if len(ids) == 0 && !quick {
		errs = append(errs, store(ctx, l))
	}
	return errors.Join(errs...)
}

// store writes the ledger, its page, and all figures, tables and numbers.
func store(ctx context.Context, l *ledger.Ledger) error {
	dir, err := experiment.Dir("figures")
	if err != nil {
		return err
	}
	if _, err := report.WriteLedger(l, dir); err != nil {
		return err
	}
	if err := report.WriteLedgerPage(l); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "figures/claims.json and CLAIMS.md are written; drawing figures, tables and numbers")
	_, err = newResults().Export(ctx, dir)
	return err
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

// printRows prints the table of rows, and in full what a reader asked for by name.
func printRows(w io.Writer, l *ledger.Ledger, took map[string]time.Duration, full bool) error {
	var table bytes.Buffer
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\ttier\tverdict\tlhs\trhs\tmargin\tN\tseconds")
	for _, r := range l.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%.4g\t%.3g\t%d\t%6.2f\n",
			r.ID, r.Tier, r.Verdict, r.LHS, r.RHS, r.Margin, r.Instances, took[r.ID].Seconds())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	room := pageWidth(w)
	for _, line := range lines {
		room = min(room, pageWidth(w)-utf8.RuneCountInString(line)-2)
	}
	for i, line := range lines {
		if i > 0 && !full {
			line += beginning(l.Rows[i-1].Note, room)
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, strings.ReplaceAll(sides, "\n", " "))
	if full {
		for _, r := range l.Rows {
			printInFull(w, r)
		}
	}
	return nil
}

// beginning returns two spaces and as much of a note as there is room for; nothing
// where that says nothing.
func beginning(note string, room int) string {
	const least = 24
	text := []rune(note)
	if room < least {
		return ""
	}
	if len(text) > room {
		text = append(text[:room-1], '…')
	}
	return "  " + string(text)
}

// printInFull prints a row with its statement and its witness.
func printInFull(w io.Writer, r ledger.Row) {
	fmt.Fprintf(w, "\n%s, %s: %s\n", r.Number, r.ID, r.Title)
	fmt.Fprintf(w, "  statement   %s\n  hypotheses  %s\n", readable(r.Statement), readable(r.Hypotheses))
	fmt.Fprintf(w, "  note        %s\n", r.Note)
	for _, p := range r.Proved {
		fmt.Fprintf(w, "  Coq         %s\n", p)
	}
	for _, f := range r.Faults {
		fmt.Fprintf(w, "  control     spoilt on purpose (%s), it must be refused\n", f.What)
	}
	for _, repair := range r.Repairs {
		fmt.Fprintf(w, "  control     repaired (%s), it must be accepted\n", repair.What)
	}
	what, in := "worst instance", r.Instance.Layout()
	if r.Witness != nil {
		what, in = "witness", r.Witness.Layout()
	}
	fmt.Fprintf(w, "  %s\n    %s\n", what, strings.ReplaceAll(strings.TrimRight(in, "\n"), "\n", "\n    "))
}

// judge returns the reasons not to be content with the rows.
func judge(l *ledger.Ledger) []error {
	var errs []error
	dir, err := experiment.Dir("figures")
	if err != nil {
		return []error{err}
	}
	stored, err := report.ReadLedger(dir)
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
			errs = append(errs, fmt.Errorf("%s: %s, but %s in figures/claims.json as it was stored",
				r.ID, r.Verdict, old.Verdict))
		}
	}
	return errs
}
