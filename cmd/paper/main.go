// Command paper trains transformers on the paper's graphs or on a graph of the reader, exports the paper's
// figures, tables and numbers, and checks its statements: paper --help lists its commands.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"learncausal/internal/names"
	"learncausal/pkg/train"
)

// interrupted is the exit code after Ctrl-C, 128 + SIGINT as in a shell.
const interrupted = 130

func main() {
	os.Exit(execute(func(ctx context.Context) error { return run(ctx, os.Stdout, os.Args[1:]) }))
}

// execute calls work, whose context ends at the first Ctrl-C, prints its error on
// standard error and returns the exit code. A second Ctrl-C kills the process.
func execute(work func(context.Context) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // restores the default action of the signals
	err := work(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		why := strings.TrimSuffix(err.Error(), context.Canceled.Error())
		fmt.Fprintln(os.Stderr, strings.TrimSuffix("paper: stopped: "+why, ": "))
		return interrupted
	}
	fmt.Fprintln(os.Stderr, "paper:", strings.TrimSpace(err.Error()))
	return 1
}

func run(ctx context.Context, w io.Writer, args []string) error {
	root, out := newRoot(), &stdout{Writer: w}
	root.SetOut(out)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages",
		fmt.Sprintf(".FlagUsagesWrapped %d", pageWidth(out))))
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if out.err != nil && !errors.Is(err, out.err) {
		err = errors.Join(err, fmt.Errorf("the output: %w", out.err))
	}
	return err
}

// version is the newest one of CHANGELOG.md.
const version = "v0.5.0"

// commit is set by make: the commit of the checkout, with -dirty if it was changed.
var commit = "no commit"

func newRoot() *cobra.Command {
	var dir string
	root := &cobra.Command{
		Use:   "paper",
		Short: "Train, measure, draw and verify \"How Transformers Learn Causal Structure\"",
		Long:  help("paper"),
		Example: `  paper list
  paper export -o my-figures fig-many-graphs
  paper train my.dot --states 3 --prior 'dirichlet(0.1)' --steps 4096
  paper verify "Lemma 16"`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       fmt.Sprintf("paper %s, %s, numerics %s, %s", version, commit, train.Version, runtime.Version()),
	}
	root.PersistentFlags().VarP((*folder)(&dir), "directory", "C", "change to this `folder` first, as git -C does")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if dir == "" {
			return nil
		}
		return os.Chdir(dir)
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(nearFlags)
	root.AddCommand(newList(), newExport(), newTrain(), newSweep(), newShow(), newPredict(), newVerify(),
		newAnnotate(), newCases(), newScore())
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		check := c.Args
		if c.Name() == "help" { // cobra takes an unknown topic for no error
			check = func(_ *cobra.Command, args []string) error { _, _, err := root.Find(args); return err }
		}
		if check != nil {
			c.Args = func(c *cobra.Command, args []string) error { return withUsage(c, check(c, args)) }
		}
	}
	return root
}

//go:embed help
var texts embed.FS

// help returns the description of a command, from help/.
func help(command string) string {
	b, err := texts.ReadFile("help/" + command + ".txt")
	if err != nil {
		panic("paper: " + err.Error())
	}
	return strings.TrimSpace(string(b))
}

// wanted are the values of flags by their types.
var wanted = map[string]string{
	"int": "a whole number", "uint64": "a whole number, at least 0", "float64": "a number", "bool": "true or false",
	"intSlice": "whole numbers with commas between them, as in 2,1",
}

// nearFlags adds the names of the nearest flags to an error about an unknown flag, says which values a flag has, and
// adds the usage.
func nearFlags(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && strings.Contains(err.Error(), "strconv.") {
		err = fmt.Errorf("--%s is %q, want %s", invalid.GetFlag().Name, invalid.GetValue(),
			wanted[invalid.GetFlag().Value.Type()])
	}
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var all []string
		c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
		near := names.Nearest(unknown.GetSpecifiedName(), all)
		err = fmt.Errorf("%w; near it: --%s", err, strings.Join(near, ", --"))
	}
	return withUsage(c, err)
}

// withUsage adds the usage of a command to an error in its flags or arguments.
func withUsage(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; usage: %s (--help shows more)", err, c.UseLine())
}

// grace is the time that a command waits, after Ctrl-C, for checkpoints to be written.
const grace = 800 * time.Millisecond

// promptly returns the error of f. If ctx is cancelled, it waits for f for the given
// time and then returns the error of ctx: f may wait for input that never comes.
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

// announce says on standard error that a command reads from a terminal, if it does.
func announce(in io.Reader, what string) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(os.Stderr, "reading %s from the keyboard; Ctrl-D ends\n", what)
	}
}
