//go:build !js

// Command site writes, as JSON for the pages of web/site, the rows of the stored ledger
// with their places, the registry of figures and tables, and the film of the start page.
//
// Compiled for js/wasm it is the program of these pages that checks a statement, trains on a
// graph, or runs the models of the film, in the browser.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"

	"golang.org/x/image/draw"

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
	ID      string `json:"id"`
	Title   string `json:"title"`
	Caption string `json:"caption"` // name of the macro in figures/captions.tex
	Thumb   []byte `json:"thumb"`   // a small PNG of a figure
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
		thumb, err := thumbOf(e.ID)
		if err != nil {
			return err
		}
		outputs = append(outputs, output{e.ID, e.Title, figure.CaptionMacro(e.ID), thumb})
	}
	f, err := shoot(filmParents, filmX, filmSteps)
	if err != nil {
		return err
	}
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{"rows": rows, "outputs": outputs, "film": f})
}

// thumbOf returns a PNG of at most 288 x 180 pixels of a stored figure, nil of other outputs.
func thumbOf(id string) ([]byte, error) {
	if !strings.HasPrefix(id, "fig-") {
		return nil, nil
	}
	f, err := os.Open("figures/" + id + ".png")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	whole, err := png.Decode(f)
	if err != nil {
		return nil, err
	}
	size := whole.Bounds().Size()
	scale := min(288/float64(size.X), 180/float64(size.Y))
	small := image.NewRGBA(image.Rect(0, 0, int(scale*float64(size.X)), int(scale*float64(size.Y))))
	draw.CatmullRom.Scale(small, small.Bounds(), whole, whole.Bounds(), draw.Over, nil)
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small)
	return b.Bytes(), err
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
