package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/account"
	"learncausal/paper/claims"
	"learncausal/paper/finitelength"
	"learncausal/paper/ledger"
)

type verifyFlags struct {
	quick, accept, asJSON bool
	jobs                  int
}

func newVerify() *cobra.Command {
	f := &verifyFlags{jobs: 2}
	c := &cobra.Command{
		Use:   "verify [id...]",
		Short: "Check the paper's statements",
		Long:  help("verify"),
		Example: `  paper verify "Lemma 16" lem-tv
  paper verify --quick             # the quick checks of all; nothing is written
  paper verify -j 4`,
		RunE: func(c *cobra.Command, ids []string) error {
			if f.accept && (f.quick || len(ids) > 0) {
				return errors.New("--accept is for all statements, without --quick and without ids")
			}
			dir, err := files.Checkout("figures")
			if err != nil {
				return err
			}
			ids = spelled(ids)
			if f.quick || len(ids) > 0 {
				return f.some(c.Context(), c.OutOrStdout(), ids, dir)
			}
			if err := f.lengths(c.Context(), c.OutOrStdout()); err != nil {
				return err
			}
			return f.all(c.Context(), c.OutOrStdout(), claims.All(), dir)
		},
	}
	var all []cobra.Completion
	for _, c := range slices.Concat(claims.All(), finitelength.Claims()) {
		all = append(all, cobra.CompletionWithDesc(c.ID, c.Title))
	}
	c.ValidArgsFunction = cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
	flags := c.Flags()
	flags.BoolVar(&f.quick, "quick", false, "only the quick checks, with less work in each; nothing is written")
	flags.BoolVar(&f.accept, "accept", false, "write the results even if they differ from the stored ones")
	defineJobs(flags, &f.jobs, "number of checks to run at a time")
	defineJSON(flags, &f.asJSON)
	return c
}

// numbered are the kinds of statements as the paper numbers them, by the first letters of their abbreviations.
var numbered = map[string]string{
	"thm": "Theorem", "theo": "Theorem", "lem": "Lemma", "cor": "Corollary", "prop": "Proposition", "ass": "Assumption",
	"def": "Definition", "sec": "Section", "app": "Appendix", "eq": "Equation", "fig": "Figure", "rem": "Remark",
}

// number matches a kind, or an abbreviation, and a number, as in Lem. 16, lemma16 and Section 4.1.
var number = regexp.MustCompile(`(?i)^\s*([a-z]+)\.?(?:[\s~]*\(?(\d[\d.]*)\)?|[\s~]+([A-Z](?:\.\d[\d.]*)?))\s*$`)

// spelled returns the ids, with the numbers of statements as the paper prints them, also where the shell has split
// them at their spaces.
func spelled(args []string) (ids []string) {
	for i := 0; i < len(args); i++ {
		name := args[i]
		if i+1 < len(args) && kindOf(name) != "" && number.MatchString(name+" "+args[i+1]) {
			i++
			name += " " + args[i]
		}
		if m := number.FindStringSubmatch(name); m != nil && kindOf(m[1]) != "" {
			name = kindOf(m[1]) + " " + strings.ToUpper(m[2]+m[3])
		}
		ids = append(ids, name)
	}
	return ids
}

// kindOf returns the kind that a word, or its abbreviation, stands for, or "".
func kindOf(word string) string {
	word = strings.ToLower(strings.TrimRight(word, ".~ "))
	for short, kind := range numbered {
		if strings.HasPrefix(word, short) && (strings.HasPrefix(strings.ToLower(kind)+"s", word) || word == short) {
			return kind
		}
	}
	return ""
}

// some checks the statements of the ids, or the quick statements if there are none, and prints their rows. It is an
// error if a corrected statement fails, or if a statement or result differs from the stored one, or has none in dir.
func (f *verifyFlags) some(ctx context.Context, w io.Writer, ids []string, dir string) error {
	cs := claims.Quick()
	if len(ids) > 0 {
		var err error
		if cs, err = ledger.Select(slices.Concat(claims.All(), finitelength.Claims()), ids...); err != nil {
			return err
		}
	}
	l, took, unsound := account.Check(ctx, cs, f.quick, f.jobs, runs.Terminal(os.Stderr))
	if l == nil {
		return unsound
	}
	if err := f.print(w, l, took, len(ids) > 0); err != nil {
		return err
	}
	stored, err := account.Read(dir)
	if err != nil {
		return errors.Join(unsound, err)
	}
	var faults []string
	for _, r := range l.Rows {
		if slices.ContainsFunc(finitelength.Claims(), func(c ledger.Claim) bool { return c.ID == r.ID }) && r.Holds() {
			continue // ours, and not stored
		}
		old := stored.Find(r.ID)
		if old == nil {
			faults = append(faults, "figures/claims.json has no result of "+r.ID+" to compare with")
			continue
		}
		row := *old
		if f.quick { // a quick check has the stored verdict, not its numbers
			row.Finding, row.Verdict = r.Finding, old.Verdict
		}
		for _, d := range row.Differences(r) {
			faults = append(faults, r.ID+": "+d.String())
		}
	}
	if len(faults) > 0 {
		return errors.Join(unsound, fmt.Errorf("%s\nfigures/claims.json is unchanged", strings.Join(faults, "\n")))
	}
	return unsound
}

// all runs the checks of the claims in full, prints the rows and writes them into dir, with CLAIMS.md and all
// figures, tables and numbers, unless a corrected statement fails or keep returns an error.
func (f *verifyFlags) all(ctx context.Context, w io.Writer, cs []ledger.Claim, dir string) error {
	if err := writable(dir); err != nil {
		return err
	}
	l, took, unsound := account.Check(ctx, cs, false, f.jobs, runs.Terminal(os.Stderr))
	if l == nil {
		return unsound
	}
	if err := errors.Join(f.print(w, l, took, false), unsound); err != nil {
		return err
	}
	if err := keep(dir, l, f.accept); err != nil {
		return err
	}
	if err := account.WritePage(l); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "figures/claims.json and CLAIMS.md are written; drawing figures, tables and numbers")
	_, err := newResults().Export(ctx, dir)
	return err
}

// lengths decides Theorem 1 at given lengths. These statements are ours and are not stored with the paper's.
func (f *verifyFlags) lengths(ctx context.Context, w io.Writer) error {
	l, took, err := account.Check(ctx, finitelength.Claims(), false, f.jobs, runs.Terminal(os.Stderr))
	if l == nil {
		return err
	}
	for _, r := range l.Rows {
		if !r.Holds() {
			err = errors.Join(err, fmt.Errorf("%s: %s, want a statement that holds", r.ID, r.Verdict))
		}
	}
	if !f.asJSON {
		printRows(w, l, took)
	}
	return err
}

// keep writes the ledger into dir. Unless accept is set, it is an error if the ledger
// differs from the ledger there, see [ledger.Ledger.Differences].
func keep(dir string, l *ledger.Ledger, accept bool) error {
	stored, err := account.Read(dir)
	if err != nil && !accept && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if stored != nil && !accept {
		if d := stored.Differences(l); len(d) > 0 {
			return fmt.Errorf("%s\nnothing is written: if these results are right, paper verify --accept writes them",
				strings.Join(d, "\n"))
		}
	}
	_, err = account.Write(l, dir)
	return err
}

// print prints the ledger, as claims.json has it or as a line for each row, in full if named.
func (f *verifyFlags) print(w io.Writer, l *ledger.Ledger, took map[string]time.Duration, named bool) error {
	if f.asJSON {
		data, err := l.JSON()
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	printRows(w, l, took)
	for _, r := range l.Rows {
		if named {
			printInFull(w, r)
		}
	}
	return nil
}

func printRows(w io.Writer, l *ledger.Ledger, took map[string]time.Duration) {
	lines := "id\tverdict\tlhs\trhs\tmargin\tseconds\tinstances\n"
	for _, r := range l.Rows {
		lines += fmt.Sprintf("%s\t%s\t%.4g\t%.4g\t%.3g\t%6.2f\t%s\n",
			r.ID, r.Verdict, r.LHS, r.RHS, r.Margin, took[r.ID].Seconds(), r.Instances)
	}
	printColumns(w, lines+"An inequality is read as lhs ≤ rhs, also where ≥ is printed.\n")
}

// printInFull prints a row with its statement and its worst instance or counterexample.
func printInFull(w io.Writer, r ledger.Row) {
	lines := fmt.Sprintf("\n%s, %s: %s\n  statement\t%s\n  hypotheses\t%s\n  note\t%s\n",
		r.Number, r.ID, r.Title, readable(r.Statement), readable(r.Hypotheses), r.Note)
	if r.Read != "" {
		lines += fmt.Sprintf("  read\t%s\n", readable(r.Read))
	}
	if r.Defect != "" {
		lines += fmt.Sprintf("  defect\t%s\n", r.Defect)
	}
	if r.OnPaper != nil {
		lines += fmt.Sprintf("  on paper\tfigures/supplement.pdf proves it: %s\n", strings.Join(r.OnPaper, ", "))
	}
	for _, p := range r.Proved {
		lines += fmt.Sprintf("  Coq\t%s\n", p)
	}
	for _, change := range r.Resolved() {
		lines += fmt.Sprintf("  resolves\t%s\n", readable(change))
	}
	for _, f := range r.Faults {
		lines += fmt.Sprintf("  control\tnegative, must fail: %s\n", f.What)
	}
	printColumns(w, lines)
	what, in := r.Evidence()
	fmt.Fprintf(w, "  %s\n    %s\n", what, strings.ReplaceAll(strings.TrimRight(in, "\n"), "\n", "\n    "))
}
