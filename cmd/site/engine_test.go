package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
)

func stored(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../figures/claims.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCheckIsComparedWithTheStoredRow(t *testing.T) {
	text := stored(t)
	for _, id := range []string{"lem-tv", "ex-icl"} { // one proved, one refuted
		c, err := check(context.Background(), id, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Differs) > 0 || c.Here != c.Stored || c.Here.HasWitness != (c.Here.Verdict == ledger.Refuted) {
			t.Errorf("%s differs in %q: here %+v, stored %+v", id, c.Differs, c.Here, c.Stored)
		}
	}
	l, err := ledger.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l.Find("lem-tv").Verdict = ledger.Untested
	spoilt, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	c, err := check(context.Background(), "lem-tv", spoilt)
	if err != nil || !slices.Equal(c.Differs, []string{"verdict"}) {
		t.Errorf("with another stored verdict: %+v, %v, want the verdict to differ and nothing else", c, err)
	}
	for _, id := range []string{"", "lem-t", "Lemma 15"} {
		if _, err := check(context.Background(), id, []byte(text)); err == nil {
			t.Errorf("no error for the id %q", id)
		}
	}
	if _, err := check(context.Background(), "lem-tv", []byte("{")); err == nil {
		t.Error("no error for a stored ledger that is none")
	}
}

func TestLearnShowsTheWholeRun(t *testing.T) {
	var before outlook
	var looks []look
	var share float64
	s := settings{DOT: "digraph { s1 -> {s2 s3}; s4 }", States: 2, Prior: "dirichlet(0.5)", Steps: 100}
	e, err := learn(context.Background(), s, func(_ string, a any) {
		switch a := a.(type) {
		case outlook:
			before = a
		case look:
			looks = append(looks, a)
		case float64:
			share = a
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before.Parents, []int{-1, 0, 0, -1}) || len(before.References) != 3 {
		t.Errorf("before the first step: %+v", before)
	}
	if uniform := before.References[0].Loss; math.Abs(uniform-math.Ln2) > 1e-12 {
		t.Errorf("a uniform guess loses %v, want log 2", uniform)
	}
	last := looks[len(looks)-1]
	if last.Step != 100 || last.Curve[len(last.Curve)-1].Step != 100 || len(last.Attention) != 4 {
		t.Errorf("the last look is %+v", last)
	}
	for i, row := range last.Attention {
		sum := 0.0
		for _, a := range row {
			sum += a
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("row %d of the attention has the sum %v", i, sum)
		}
	}
	if e.Given != 2 || e.Model.Mean >= math.Ln2 || share != 1 {
		t.Errorf("%+v at the end, share %v", e, share)
	}
}

// JSON has no NaN, which is the mean attention on no parents.
func TestEveryAnswerHasAJSON(t *testing.T) {
	for _, dot := range []string{"digraph { s1; s2; s3 }", "digraph { wet; rain -> wet; q }"} {
		s := settings{DOT: dot, States: 2, Prior: "dirichlet(0.5)", Steps: 10}
		e, err := learn(context.Background(), s, func(name string, a any) {
			if _, err := json.Marshal(a); err != nil {
				t.Errorf("%s: %s: %v", dot, name, err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(e); err != nil {
			t.Errorf("%s: %v", dot, err)
		}
	}
}

func TestGraphsOfThePageAreForestsWithNames(t *testing.T) {
	g, err := readForest("digraph { wet; rain -> wet; q }")
	if err != nil || !slices.Equal(g.Parents, []int{-1, 0, -1}) || !slices.Equal(g.Names, []string{"rain", "wet", "q"}) {
		t.Errorf("%+v, error %v", g, err)
	}
	if g, err := readForest("digraph { s1 -> s2; s3 }"); err != nil || g.Names != nil {
		t.Errorf("%+v, error %v", g, err)
	}
	for dot, want := range map[string]string{
		"digraph { {rain sprinkler} -> wet }":                           "Task 2",
		"digraph { z a b c d e f g h i j k l m n o p q r s t u v w x }": "25 positions, want at most 24",
	} {
		if _, err := readForest(dot); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", dot, err, want)
		}
	}
}

func TestFaultySettingsAreRefused(t *testing.T) {
	good := settings{DOT: "digraph { s1 -> s2; s3 }", States: 2, Prior: "dirichlet(1)", Steps: 1}
	if _, err := good.spec(graph.MustNew(-1, 0, -1)); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*settings){
		"query": func(s *settings) { s.DOT = "digraph { s1 -> s2 }" },
		"graph": func(s *settings) { s.DOT = "no graph" },
		"prior": func(s *settings) { s.Prior = "dirichlt(1)" },
		"tate":  func(s *settings) { s.States = 0 },
		"steps": func(s *settings) { s.Steps = -1 },
	} {
		s := good
		spoil(&s)
		if _, err := learn(context.Background(), s, func(string, any) {}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error about %q", s, err, want)
		}
	}
}
