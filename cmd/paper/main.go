// Command paper trains transformers on the paper's graphs or on one of your own,
// exports the paper's figures, tables and numbers, and checks its statements.
//
//	paper list                  what can be exported, the experiments, the runs of a store
//	paper export [id...]        write figures and tables; without ids all, and the table of results
//	paper train                 train the paper's runs that are not stored
//	paper train GRAPH           train on a graph of your own
//	paper sweep PLAN            train many runs from a plan, here or on a cluster
//	paper show RUN              what a stored run is
//	paper predict RUN [FILE]    the next token after each of the sequences
//	paper verify [id...]        check the paper's statements
//	paper errata                write what is false, with witnesses and proofs
//
// Each command tells more with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"learncausal/paper/ledger"
	"learncausal/pkg/train"
)

// interrupted is the exit code after Ctrl-C, as shells have it: 128 + SIGINT.
const interrupted = 130

func main() {
	os.Exit(execute(func(ctx context.Context) error { return run(ctx, os.Stdout, os.Args[1:]) }))
}

// execute does some work until a first Ctrl-C, says on standard error why it has
// failed, and returns the exit code. A second Ctrl-C ends the process.
func execute(work func(context.Context) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // which gives the signals their old meaning
	err := work(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		why := strings.TrimSuffix(err.Error(), context.Canceled.Error())
		fmt.Fprintln(os.Stderr, strings.TrimSuffix("paper: stopped: "+why, ": "))
		return interrupted
	}
	fmt.Fprintln(os.Stderr, "paper:", ofPackage.ReplaceAllString(err.Error(), ""))
	return 1
}

// ofPackage is the package at the beginning of an error.
var ofPackage = regexp.MustCompile(`^(?:experiment|errata|figure|graph|ledger|markov|report|runs|sweep|train): `)

// run carries out a command and prints its results to w.
func run(ctx context.Context, w io.Writer, args []string) error {
	root := newRoot()
	root.SetOut(w)
	args = twoDashes(root, args)
	if err := helpForNone(root, args); err != nil {
		return err
	}
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// helpForNone returns an error for a word that is no command and goes with --help,
// for which cobra shows the help of root.
func helpForNone(root *cobra.Command, args []string) error {
	if !slices.Contains(args, "--help") && !slices.Contains(args, "-h") || strings.HasPrefix(args[0], "__") {
		return nil
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	c, rest, err := root.Find(args)
	if err != nil || c != root {
		return err
	}
	return knownCommand(root, slices.DeleteFunc(slices.Clone(rest), func(a string) bool {
		return strings.HasPrefix(a, "-")
	}))
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "paper",
		Short: "Train, measure, draw and verify \"How Transformers Learn Causal Structure\"",
		Long: `paper trains transformers on the causal graphs of the paper or on one of your own,
exports the paper's figures, tables and numbers, and checks its statements.

Long flags take two dashes, as in --states 3; one dash, as Go's own tools have
it, does as well. What takes longer shows its progress on standard error. Ctrl-C
stops it and keeps what can go on later; a second Ctrl-C ends it at once.`,
		Example: `  paper list
  paper export -o my-figures fig-many-graphs
  paper train my.dot --states 3 --prior 'dirichlet(0.1)' --steps 4096
  paper verify "Lemma 16"`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Version:                    fmt.Sprintf("paper: numerics %s, %s", train.Version, runtime.Version()),

		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [command]",
		Short: "Show what a command does",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil && c == root {
				err = knownCommand(root, rest)
			}
			if err == nil && c != root && !c.HasSubCommands() {
				err = oneCommand(c, rest)
			}
			if err != nil {
				return err
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	})
	root.AddCommand(newList(), newExport(), newTrain(), newSweep(), newShow(), newPredict(), newVerify(), newErrata())
	return root
}

// knownCommand returns an error for arguments that are no command, with what is
// near.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := ""
	if names := root.SuggestionsFor(args[0]); len(names) > 0 {
		near = "; near it: " + strings.Join(names, ", ")
	}
	return fmt.Errorf("no command %q%s (paper help shows all)", args[0], near)
}

// oneCommand returns an error for words after a command that help is asked for.
func oneCommand(c *cobra.Command, rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("help is for one command, not %q after %s", rest, c.Name())
	}
	return nil
}

// ofParsing is what Go says of a value that is no number.
var ofParsing = regexp.MustCompile(`strconv\.(\w+): parsing "[^"]*": (.*)$`)

// plainValue returns the error for the value of a flag without Go's part of it.
func plainValue(err error) error {
	m := ofParsing.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	want := "want a whole number, as in 4096"
	if m[1] == "ParseFloat" {
		want = "want a number"
	}
	if m[1] == "ParseBool" {
		want = "want true or false"
	}
	if strings.Contains(m[2], "range") {
		want = "out of range"
	}
	return errors.New(ofParsing.ReplaceAllLiteralString(err.Error(), want))
}

// flagError adds to the error for an unknown flag those that are near it.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return plainValue(err)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if len(names) == 0 {
		return err
	}
	name := unknown.GetSpecifiedName()
	if word, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "="); len(word) > 1 {
		name, err = word, fmt.Errorf("unknown flag: -%s", word)
	}
	near := ledger.Nearest(name, names)
	return fmt.Errorf("%w; near it: --%s (%s --help shows all)", err, strings.Join(near, ", --"), c.CommandPath())
}

// twoDashes returns the arguments with two dashes before each long flag that has
// one.
func twoDashes(root *cobra.Command, args []string) []string {
	long := map[string]bool{"help": true, "version": true}
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) { long[f.Name] = true })
	}
	args = slices.Clone(args)
	for i, a := range args {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if strings.HasPrefix(a, "-") && len(name) > 1 && long[name] {
			args[i] = "-" + a
		}
	}
	return args
}

// grace is how long a command that is stopped waits for training to keep its checkpoints.
const grace = 800 * time.Millisecond

// promptly returns what f returns, or the error of ctx if that is cancelled and f, which
// may wait for input for ever, does not return within so long.
func promptly(ctx context.Context, within time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(within):
		return ctx.Err()
	}
}

// announce says that a command waits for what is typed, if it does.
func announce(in io.Reader, what string) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(os.Stderr, "reading %s from the keyboard; Ctrl-D ends\n", what)
	}
}

// noArguments is for a command that takes flags only.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, not %q", c.CommandPath(), args)
	}
	return nil
}

// atLeastOne is for a number of workers.
func atLeastOne(flag string, n int) error {
	if n < 1 {
		return fmt.Errorf("%s is %d, want at least 1", flag, n)
	}
	return nil
}
