package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"
)

// A stdout is the standard output. It keeps the first error of a write, such as a full disk.
type stdout struct {
	io.Writer
	err error
}

func (o *stdout) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// widest is the width of a page that is no terminal.
const widest = 160

// pageWidth returns the width of w in characters: $COLUMNS, or the width of the terminal.
func pageWidth(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if o, ok := w.(*stdout); ok {
		w = o.Writer
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return widest
}

// printColumns prints lines of cells, which end in tabs but for the last, in columns. The
// last column is broken at spaces where the page ends.
func printColumns(w io.Writer, lines string) {
	const pad = "\x00" // fills columns, so that their ends are found
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, pad[0], 0)
	fmt.Fprint(t, lines)
	t.Flush()
	for line := range strings.Lines(text.String()) {
		start := strings.LastIndex(line, pad) + 1
		left, last := strings.ReplaceAll(line[:start], pad, " "), strings.TrimSuffix(line[start:], "\n")
		indent := utf8.RuneCountInString(left)
		broken := fold(last, max(pageWidth(w)-indent, 20))
		fmt.Fprintln(w, left+strings.Join(broken, "\n"+strings.Repeat(" ", indent)))
	}
}

// fold breaks s at spaces into lines of at most w characters. A longer word is a line.
func fold(s string, w int) []string {
	var lines []string
	for i, word := range strings.Split(s, " ") {
		if last := len(lines) - 1; i > 0 && utf8.RuneCountInString(lines[last]+" "+word) <= w {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// printJSON prints a value for programs.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
