//go:build !js

package main

import "testing"

func TestRowsHaveTheirPlaces(t *testing.T) {
	rows, err := rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Source == "" || r.Layout == "" || len(r.Coq) != len(r.Proved) {
			t.Errorf("%s: place %+v, layout %q, Coq %q", r.ID, r.Place, r.Layout, r.Coq)
		}
	}
}
