package repo

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/runs"
	"learncausal/pkg/model"
)

// A row is one of figures/claims.json, as tools/witness.py reads it.
type row struct {
	ID        string         `json:"id"`
	Number    string         `json:"number"`
	Statement string         `json:"statement"`
	Verdict   string         `json:"verdict"`
	LHS       float64        `json:"lhs"`
	RHS       float64        `json:"rhs"`
	Witness   map[string]any `json:"witness"`
}

// ledgerRows returns the stored rows.
func ledgerRows(t *testing.T) []row {
	t.Helper()
	var ledger struct {
		Claims []row `json:"claims"`
	}
	if err := json.Unmarshal([]byte(document(t, "figures/claims.json")), &ledger); err != nil {
		t.Fatal(err)
	}
	return ledger.Claims
}

// failing returns the rows that fail.
func failing(t *testing.T) []row {
	t.Helper()
	return slices.DeleteFunc(ledgerRows(t), func(r row) bool { return r.Verdict != "refuted" })
}

// decided runs tools/witness.py on the witnesses and returns a line for each: "right id",
// or "WRONG id: why".
func decided(t *testing.T, rows []row) []string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"claims": rows})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "claims.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("python3", "tools/witness.py", file).Output() // an error if a witness is wrong
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(rows) {
		t.Fatalf("%d witnesses, but %d lines of tools/witness.py (%v)", len(rows), len(lines), err)
	}
	return lines
}

// tools/witness.py, which shares no code with the ledger, recomputes every exact witness.
func TestWitnessesAreRecomputed(t *testing.T) {
	t.Chdir(root)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("!!! NOT CHECKED: the recomputation of witnesses, because python3 is missing")
	}
	for _, line := range decided(t, failing(t)) {
		if !strings.HasPrefix(line, "right ") {
			t.Error(line)
		}
	}
}

// tools/witness.py decides Theorem 1 at given lengths again, and rejects each changed number.
func TestLengthsAreDecided(t *testing.T) {
	t.Chdir(root)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("!!! NOT CHECKED: Theorem 1 at given lengths, because python3 is missing")
	}
	var theorems []map[string]any
	if err := json.Unmarshal([]byte(document(t, "paper/finitelength/theorems.json")), &theorems); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		theorems = slices.DeleteFunc(theorems, func(th map[string]any) bool { return th["T"].(float64) > 64 })
	}
	want := ""
	for k := range theorems {
		want += fmt.Sprintf("right theorem %d\n", k+1)
	}
	for _, change := range []struct {
		key, to string
		finding string
	}{
		{"Beta0", `"17/50"`, "beta_0 is too large for the lead"},
		{"Time1", `"39000000"`, "stage 1 is too short"},
		{"Time2", `"140"`, "stage 2 is too short"},
		{"Excess", `"1/20"`, "the loss is larger"},
		{"Reach", `"5"`, "beta does not grow beyond 3.734375"},
		{"Orbits", `[[["4/5","1/5"],["2/5","3/5"]]]`, "beta_0 is too large for the lead"},
	} {
		th := maps.Clone(theorems[0])
		th[change.key] = json.RawMessage(change.to)
		theorems = append(theorems, th)
		want += fmt.Sprintf("WRONG theorem %d: %s\n", len(theorems), change.finding)
	}
	b, err := json.Marshal(theorems)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "theorems.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command("python3", "tools/witness.py", file).Output() // an error, as some are wrong
	if string(out) != want {
		t.Errorf("tools/witness.py prints\n%s\nwant\n%s", out, want)
	}
}

// tools/witness.py decides the certified models again. It rejects weights of which one is changed by 0.01: by the
// distances if the model reads it, and otherwise by the checksum.
func TestCertifiedModelsAreDecided(t *testing.T) {
	t.Chdir(root)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("!!! NOT CHECKED: the certified models, because python3 is missing")
	}
	const file = "paper/exact/certifiedmodels.json"
	var rows []json.RawMessage
	var first struct{ Run string }
	err1 := json.Unmarshal([]byte(document(t, file)), &rows)
	err2 := json.Unmarshal(rows[0], &first)
	r, err3 := runs.Open("runs").Load(first.Run)
	program, err4 := filepath.Abs("tools/witness.py")
	stored, err5 := filepath.Abs(file)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	decide := func(want string) {
		t.Helper()
		out, _ := exec.Command("python3", program, stored).Output() // an error if a model is refused
		if !strings.HasPrefix(string(out), want) {
			t.Errorf("tools/witness.py prints\n%s\nwant\n%s", out, want)
		}
	}
	decide("right model 1\nright model 2\n")

	folder := filepath.Join("runs", r.Address)
	facts := document(t, filepath.Join(folder, "run.json"))
	t.Chdir(t.TempDir())
	stored = "one.json"
	err1 = os.WriteFile(stored, []byte("["+string(rows[0])+"]"), 0o644)
	err2 = os.MkdirAll(folder, 0o755)
	err3 = os.WriteFile(filepath.Join(folder, "run.json"), []byte(facts), 0o644)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	w := r.Final.Weights.(*model.Positional)
	name := fmt.Sprintf("weights-%d.npz", r.Spec.Steps)
	for _, change := range []struct {
		a    *mat.Dense
		i, j int
		want string
	}{{w.Q, 2, 1, "the distance from the"}, {w.A[0], 3, 4, name + " was changed"}} {
		before := change.a.At(change.i, change.j)
		change.a.Set(change.i, change.j, before+0.01)
		if err := os.WriteFile(filepath.Join(folder, name), runs.NPZ(w), 0o644); err != nil {
			t.Fatal(err)
		}
		decide("WRONG model 1: " + change.want)
		change.a.Set(change.i, change.j, before)
	}
}
