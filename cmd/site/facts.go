//go:build !js

// Command site writes, as JSON for the pages of web/site, the rows of the stored ledger
// with their places, and the registry of figures and tables.
//
// Compiled for js/wasm it is the program of these pages that checks a statement, or trains
// on a graph, in the browser.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"learncausal/internal/figure"
	"learncausal/paper/account"
	"learncausal/paper/claims"
	"learncausal/paper/figures"
	"learncausal/paper/ledger"
)

// A row is a row of the ledger with the texts of a page.
type row struct {
	ledger.Row
	ledger.Place
	Quick   bool     `json:"quick"`
	Layout  string   `json:"layout"`  // the witness, or the worst instance
	Tested  string   `json:"tested"`  // the number of instances in words
	Coq     []string `json:"coq"`     // a description of each theorem
	Support string   `json:"support"` // the statements that depend on it, in Markdown
}

// An output is a figure or a table.
type output struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Caption string   `json:"caption"` // name of the macro in figures/captions.tex
	Formats []string `json:"formats"`
}

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func write() error {
	rows, err := rows()
	if err != nil {
		return err
	}
	var outputs []output
	for _, e := range figures.Entries() {
		outputs = append(outputs, output{e.ID, e.Title, figure.CaptionMacro(e.ID), e.Formats})
	}
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{"rows": rows, "outputs": outputs})
}

func rows() ([]row, error) {
	l, err := account.Stored()
	if err != nil {
		return nil, err
	}
	where, err := account.Places(l)
	if err != nil {
		return nil, err
	}
	d, err := l.Dependencies()
	if err != nil {
		return nil, err
	}
	quick := map[string]bool{}
	for _, c := range claims.Quick() {
		quick[c.ID] = true
	}
	var rows []row
	for _, r := range l.Rows {
		var coq []string
		for _, p := range r.Proved {
			coq = append(coq, p.String())
		}
		shown := resultOf(r)
		rows = append(rows, row{r, where(r.ID), quick[r.ID], shown.Layout, shown.Instances, coq, d.Consequences(r.ID)})
	}
	return rows, nil
}
