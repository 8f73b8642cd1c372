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
	"learncausal/paper/ledger"
	"learncausal/paper/report"
	"learncausal/pkg/runs"
)

// sides says how the columns lhs and rhs are to be read.
const sides = `An inequality is read as lhs ≤ rhs,
also where ≥ is printed.`

func newVerify() *cobra.Command {
	var quick, accept bool
	var jobs int
	c := &cobra.Command{
		Use:   "verify [id...]",
		Short: "Check the paper's statements",
		Long: `verify checks the statements of the paper, steps of their proofs and corrections,
and prints a row for each: the kind of evidence, the verdict, the two sides on the
worst instance, and the margin between them. ` + sides + `
A row goes by its id or by the number that the PDF prints; those that are named are
also shown in full, with their witness, and nothing is written. It is an error if one
comes out otherwise than it is stored, in its verdict alone where checks are quick.

Without names it checks all, writes figures/claims.json and CLAIMS.md, and draws
what shows them; some minutes. It is an error if a corrected statement fails. Where
a row that is stored already comes out otherwise, in verdict, sides, margin or
witness, that is an error too, and nothing is written, however often it is asked:
until --accept says that the new rows are right.`,
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
			if accept && (quick || len(ids) > 0) {
				return errors.New("--accept is for all checks in full, without --quick and without ids")
			}
			dir, err := experiment.Dir("figures")
			if err != nil {
				return err
			}
			if quick || len(ids) > 0 {
				return verifySome(c.Context(), c.OutOrStdout(), ids, dir, quick, jobs)
			}
			return verifyAll(c.Context(), c.OutOrStdout(), claims.All(), dir, accept, jobs)
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "only the quick checks, with less work in each; nothing is written")
	c.Flags().BoolVar(&accept, "accept", false, "write the rows also where they are not those that are stored")
	c.Flags().IntVarP(&jobs, "jobs", "j", 2, "checks to run at a time")
	return c
}

// verifySome runs the checks of the ids, of all where there are none, and prints
// their rows. It is an error if one is unsound, as where a corrected statement fails,
// or otherwise than it is stored in a folder.
func verifySome(ctx context.Context, w io.Writer, ids []string, dir string, quick bool, jobs int) error {
	cs := claims.Quick()
	if len(ids) > 0 {
		var err error
		if cs, err = ledger.Select(claims.All(), ids...); err != nil {
			return err
		}
	}
	l, took, unsound := report.Check(ctx, cs, quick, jobs, runs.Terminal(os.Stderr))
	if l == nil {
		return unsound
	}
	if err := printRows(w, l, took, len(ids) > 0); err != nil {
		return err
	}
	stored, err := report.ReadLedger(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if stored == nil {
		return unsound
	}
	if d := otherwise(stored, l, quick); len(d) > 0 {
		return errors.Join(unsound, fmt.Errorf("%s\nfigures/claims.json is as it was", strings.Join(d, "\n")))
	}
	return unsound
}

// otherwise says in what the rows of a run are not as they are stored: only in their
// verdicts where it was of quick checks. Rows that are not stored are left out.
func otherwise(stored, run *ledger.Ledger, quick bool) []string {
	var before, now ledger.Ledger
	for _, r := range run.Rows {
		old := stored.Find(r.ID)
		if old == nil {
			continue
		}
		if quick {
			verdict := r.Verdict
			r.Finding = old.Finding
			r.Verdict = verdict
		}
		before.Rows, now.Rows = append(before.Rows, *old), append(now.Rows, r)
	}
	return before.Differences(&now)
}

// verifyAll runs the checks of the claims in full, prints the rows and writes them into a
// folder, with their page and all figures, tables and numbers, unless one is unsound or
// keep refuses them.
func verifyAll(ctx context.Context, w io.Writer, cs []ledger.Claim, dir string, accept bool, jobs int) error {
	if err := writable(dir); err != nil {
		return err
	}
	l, took, unsound := report.Check(ctx, cs, false, jobs, runs.Terminal(os.Stderr))
	if l == nil {
		return unsound
	}
	if err := errors.Join(printRows(w, l, took, false), unsound); err != nil {
		return err
	}
	if err := keep(dir, l, accept); err != nil {
		return err
	}
	if err := report.WriteLedgerPage(l); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "figures/claims.json and CLAIMS.md are written; drawing figures, tables and numbers")
	_, err := newResults().Export(ctx, dir)
	return err
}

// keep writes the ledger into a folder. One that finds something else than the ledger
// there, see [ledger.Ledger.Differences], is an error and not written, unless it is
// accepted.
func keep(dir string, l *ledger.Ledger, accept bool) error {
	stored, err := report.ReadLedger(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if stored != nil && !accept {
		if d := stored.Differences(l); len(d) > 0 {
			return fmt.Errorf("%s\nnothing is written: paper verify --accept writes these rows, once they are right",
				strings.Join(d, "\n"))
		}
	}
	_, err = report.WriteLedger(l, dir)
	return err
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
	what, in := r.Evidence()
	fmt.Fprintf(w, "  %s\n    %s\n", what, strings.ReplaceAll(strings.TrimRight(in, "\n"), "\n", "\n    "))
}
