// Package account shows the ledger: its stored results, the page CLAIMS.md, its figures, table and numbers,
// and the files of the letter.
package account

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/ledger"
)

// Check runs the checks of the claims and returns their rows and the time of each check, also
// with an error that names unsound rows, see [ledger.Run]. meter may be nil; its last message
// contains no time, so that outputs of notebooks are reproducible.
//
// When ctx is cancelled, Check returns at once. Running checks stop the next time that they
// test their context, some after seconds.
func Check(
	ctx context.Context, cs []ledger.Claim, quick bool, workers int, meter runs.Meter,
) (*ledger.Ledger, map[string]time.Duration, error) {
	var mu sync.Mutex // of took, and of meter
	took := make(map[string]time.Duration)
	meter = runs.Quiet(meter)
	meter.Update(0, len(cs), "checking")
	row := func(r ledger.Row, t time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		took[r.ID] = t
		state := fmt.Sprintf("%d of %d checked, last %s (%v)", len(took), len(cs), r.ID, t.Round(time.Millisecond))
		meter.Update(len(took), len(cs), state)
	}
	var rows []ledger.Row
	var err error
	done := make(chan struct{})
	go func() {
		rows, err = ledger.Run(ctx, cs, quick, workers, row)
		close(done)
	}()
	select {
	case <-ctx.Done():
		mu.Lock()
		defer mu.Unlock()
		meter.Done(fmt.Sprintf("stopped after %d of %d", len(took), len(cs)))
		return nil, nil, ctx.Err()
	case <-done:
		if rows == nil {
			return nil, nil, err
		}
	}
	what := "rows"
	if len(cs) == 1 {
		what = "row"
	}
	meter.Done(fmt.Sprintf("%d %s checked", len(cs), what))
	l, unstorable := ledger.New(rows)
	return l, took, errors.Join(err, unstorable)
}

// maxLedger bounds the size of claims.json in bytes.
const maxLedger = 1 << 26

// Read loads a ledger from claims.json in a folder.
func Read(dir string) (*ledger.Ledger, error) {
	path := filepath.Join(dir, "claims.json")
	b, err := files.Read(path, maxLedger)
	if err != nil {
		return nil, fmt.Errorf("no stored ledger in %s: run make verify: %w", path, err)
	}
	l, err := ledger.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; git checkout restores it, and paper verify --accept writes it anew", path, err)
	}
	return l, nil
}

// Stored loads figures/claims.json of the checkout.
func Stored() (*ledger.Ledger, error) {
	dir, err := files.Checkout("figures")
	if err != nil {
		return nil, err
	}
	return Read(dir)
}

// Write writes claims.json, and claims.dot with the dependencies, into a folder, and returns their paths.
func Write(l *ledger.Ledger, dir string) ([]string, error) {
	data, err := l.JSON()
	if err != nil {
		return nil, err
	}
	d, err := l.Dependencies()
	if err != nil {
		return nil, err
	}
	dot, err := d.DOT()
	if err != nil {
		return nil, err
	}
	paths := []string{filepath.Join(dir, "claims.json"), filepath.Join(dir, "claims.dot")}
	return paths, errors.Join(files.Write(paths[0], data), files.Write(paths[1], dot))
}

// WritePage writes CLAIMS.md, the ledger as a page, at the top of the repository.
func WritePage(l *ledger.Ledger) error {
	where, err := Places(l)
	if err != nil {
		return err
	}
	path, err := files.Checkout("CLAIMS.md")
	if err != nil {
		return err
	}
	return files.Write(path, []byte(l.Page(where)))
}
