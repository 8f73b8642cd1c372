package proofs_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"learncausal/paper/ledger"
	"learncausal/paper/proofs"
)

var definition = regexp.MustCompile(`(?ms)^(?:Definition|Fixpoint|Record|Notation)\b.*?\.$`)

// checksum returns a checksum of the definitions in a source file.
func checksum(source string) string {
	text := strings.Join(definition.FindAllString(source, -1), "\n")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(words(text))))[:16]
}

// read returns the text of a file.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each theorem in the list quotes the statement of a row of the ledger, and its file cites
// the row. A proved row does not fail, a refuted row fails, and the list is complete.
func TestTheoremsAreOfTheLedger(t *testing.T) {
	stored, err := ledger.Parse([]byte(read(t, "../../figures/claims.json")))
	if err != nil {
		t.Fatal(err)
	}
	all, listed, instances := proofs.Listed(), map[string]bool{}, read(t, "instances.v")
	for _, th := range all.Theorems {
		listed[th.Theorem] = true
		r := stored.Find(th.ID)
		if r == nil {
			t.Errorf("theorems.json: %s: the ledger has no such id", th.ID)
			continue
		}
		for _, fault := range disagreements(th, *r, read(t, th.File)) {
			t.Errorf("theorems.json: %s: %s", th.ID, fault)
		}
		if hypotheses(th) && !strings.Contains(instances, "Lemma "+th.Theorem+"_applies ") {
			t.Errorf("%s may be vacuous: instances.v lacks numbers that satisfy its hypotheses, "+
				"Lemma %[1]s_applies : applies (@%[1]s)", th.Theorem)
		}
	}
	for _, file := range sources(t) {
		if got := checksum(read(t, file)); got != all.Definitions[file] {
			t.Errorf("theorems.json: %s: its definitions have changed; "+
				"if they still agree with the paper, set their checksum to %q", file, got)
		}
		for _, m := range regexp.MustCompile(`(?m)^Theorem (\w+)`).FindAllStringSubmatch(read(t, file), -1) {
			if !listed[m[1]] {
				t.Errorf("%s: theorem %s is not in theorems.json", file, m[1])
			}
		}
	}
}

// compared returns a checksum of a row, its theorem and the gap between the two.
func compared(th proofs.Theorem, r ledger.Row) string {
	text := strings.Join([]string{r.Statement, r.Hypotheses, th.Coq, th.Printed, th.Gap}, "\n")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16]
}

// A gap that is emptied, a theorem that changes and a hypothesis that the row gains are found.
func TestChangesAreFound(t *testing.T) {
	th := proofs.Theorem{
		Kind: "proved", Theorem: "a_true", File: "a.v", Statement: "a", Coq: "a.a_true : a",
		Gap: "a half",
	}
	row := ledger.Row{Claim: ledger.Claim{ID: "lem-a", Number: "Lemma 1", Statement: "a", Hypotheses: "b"}}
	th.Compared = compared(th, row)
	const source = "Lemma 1 (lem-a) Theorem a_true "
	if bad := disagreements(th, row, source); bad != nil {
		t.Errorf("a compared theorem: %q", bad)
	}
	whole, stronger, more := th, th, row
	whole.Gap, stronger.Coq, more.Hypotheses = "", "a.a_true : False -> a", "b; c"
	for name, bad := range map[string][]string{
		"an empty gap":       disagreements(whole, row, source),
		"another theorem":    disagreements(stronger, row, source),
		"another hypothesis": disagreements(th, more, source),
	} {
		if len(bad) != 1 {
			t.Errorf("%s: %q", name, bad)
		}
	}
}

// disagreements returns the differences between a theorem and its row.
func disagreements(th proofs.Theorem, r ledger.Row, source string) []string {
	var faults []string
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	failed := r.Failed()
	expect(th.Kind == "proved" && !failed || th.Kind == "refuted" && failed,
		"%s, where the ledger has %q", th.Kind, r.Verdict)
	expect(th.Compared == compared(th, r), "compare statement and hypotheses with what Coq prints; "+
		"write the difference, if any, as its gap, and set compared to %q", compared(th, r))
	expect(th.Statement == r.Statement, "the row says\n%s\nand the theorem is listed for\n%s", r.Statement, th.Statement)
	expect(strings.Contains(source, "("+r.ID+")"), "%s does not name (%s)", th.File, r.ID)
	expect(strings.Contains(strings.ToLower(source), strings.ToLower(r.Number)), "%s does not name %s", th.File, r.Number)
	expect(strings.Contains(source, "Theorem "+th.Theorem+" "), "%s has no theorem %s", th.File, th.Theorem)
	return faults
}

// sources returns the files of proofs/ in the order in which they are compiled.
func sources(t *testing.T) []string {
	t.Helper()
	var files []string
	for line := range strings.Lines(read(t, "_CoqProject")) {
		if name := strings.TrimSpace(line); strings.HasSuffix(name, ".v") {
			files = append(files, name)
		}
	}
	onDisk, err := filepath.Glob("*.v")
	if err != nil {
		t.Fatal(err)
	}
	if len(onDisk) != len(files) {
		t.Fatalf("_CoqProject lists %d files, the folder has %d", len(files), len(onDisk))
	}
	return files
}

// opening begins each file. It is imported once for all files, because that takes Coq half a
// second.
const opening = "From mathcomp Require Import all_ssreflect all_algebra.\n"

var required = regexp.MustCompile(`(?m)^From LearnCausal Require (Import .*)\.$`)

// module returns the source of a file as a module that imports earlier modules in place of
// files, so that Coq loads mathcomp once.
func module(name, source string) string {
	source = required.ReplaceAllString(source, "$1.")
	if comment, rest, found := strings.Cut(source, "*)\n"+opening); found {
		source = comment + "*)\n\n" + rest
	}
	return fmt.Sprintf("Module %s.\n%s\nEnd %[1]s.\n", name, source)
}

// A file requires each file whose names it uses. Coq does not check this for modules.
func TestProofsRequireTheirImports(t *testing.T) {
	files := sources(t)
	for _, file := range sources(t) {
		source := read(t, file)
		requires := strings.Fields(strings.Join(required.FindStringSubmatch(source), " "))
		for _, m := range regexp.MustCompile(`\b(\w+)\.\w\w`).FindAllStringSubmatch(source, -1) {
			if slices.Contains(files, m[1]+".v") && !slices.Contains(requires, m[1]) {
				t.Errorf("%s uses a name of %s.v without requiring the file", file, m[1])
			}
		}
	}
}

// coq runs a program of Coq in a folder, and returns its output and its error messages.
func coq(folder, input, program string, args ...string) (out, complaints string, err error) {
	cmd := exec.Command(program, append([]string{"-q", "-w", "-all", "-R", ".", "LearnCausal"}, args...)...)
	cmd.Dir, cmd.Stdin = folder, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "OCAMLRUNPARAM=s=32M,o=400") // more memory, less collecting
	var printed, complained strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &complained
	err = cmd.Run()
	return printed.String(), complained.String(), err
}

// answers loads texts into Coq one after another, on top of everything.v in the folder, and
// returns the output of each. A refused text is named in complaints and has no effect on
// later texts.
func answers(t *testing.T, folder string, texts []string) (printed []string, complaints string) {
	t.Helper()
	session := "From LearnCausal Require Import everything.\n" + opening + "Set Silent.\n"
	for i, text := range texts {
		name := fmt.Sprintf("text%d", i)
		write(t, folder, name+".v", fmt.Sprintf("Module %s.\n%s\nEnd %[1]s.\n", name, text))
		session += "Goal True. idtac \"@@text\". Abort.\nLoad " + name + ".\n"
	}
	out, complaints, err := coq(folder, session, "coqtop")
	if err != nil {
		t.Fatalf("coqtop: %v\n%s", err, complaints)
	}
	printed = strings.Split(out, "@@text\n")[1:]
	if len(printed) != len(texts) {
		t.Fatalf("coqtop read %d of %d texts:\n%s", len(printed), len(texts), complaints)
	}
	return printed, regexp.MustCompile(`(\s*Coq < )+`).ReplaceAllString(complaints, "\n")
}

// write writes a file of a folder.
func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// questions returns commands that print the types of theorems, check their instances and print their axioms.
func questions(all []proofs.Theorem) string {
	var b strings.Builder
	b.WriteString("Import rationals.\n" + opening + "Import definitions.\nOpen Scope ring_scope.\n")
	for _, th := range all {
		module := strings.TrimSuffix(th.File, ".v")
		fmt.Fprintf(&b, "Goal True. idtac \"@@says\". Abort.\nCheck %s.%s.\n", module, th.Theorem)
		b.WriteString("Goal True. idtac \"@@printed\". Abort.\n")
		if name := printedName(th); name != "" {
			fmt.Fprintf(&b, "Print %s.%s.\n", module, name)
		}
		b.WriteString("Goal True. idtac \"@@instance\". Abort.\n")
		if hypotheses(th) {
			fmt.Fprintf(&b, "Goal True. tryif assert (instances.applies (@%s.%s)) by exact instances.%[2]s_applies "+
				"then idtac \"satisfied\" else idtac. Abort.\n", module, th.Theorem)
		}
	}
	theorems, instances := "", ""
	for _, th := range all {
		theorems += fmt.Sprintf("let _ := @%s.%s in\n", strings.TrimSuffix(th.File, ".v"), th.Theorem)
		if hypotheses(th) {
			instances += fmt.Sprintf("let _ := instances.%s_applies in\n", th.Theorem)
		}
	}
	fmt.Fprintf(&b, "Definition all :=\n%stt.\nDefinition every :=\n%stt.\n", theorems, instances)
	b.WriteString("Goal True. idtac \"@@axioms\". Abort.\nPrint Assumptions all.\n" +
		"Goal True. idtac \"@@assumed\". Abort.\nPrint Assumptions every.\n")
	return b.String()
}

// printedName returns the name of the definition that a theorem refutes.
func printedName(th proofs.Theorem) string {
	return regexp.MustCompile(`\w+_printed\b`).FindString(th.Coq)
}

// hypotheses reports whether a theorem has variables or premises. A theorem without them is a
// refutation, ~ A, whose proof gives the numbers that satisfy the hypotheses of A.
func hypotheses(th proofs.Theorem) bool { return !strings.Contains(th.Coq, " : ~ ") }

// ofReals are the axioms of Coq's real numbers, and of choice, on which instances rest.
var ofReals = []string{
	"sig_not_dec", "sig_forall_dec", "functional_extensionality_dep", "classic", "epsilon_statement",
}

// faultsOf compares the output of Coq for the questions about theorems with the list, and
// reports axioms.
func faultsOf(out string, all []proofs.Theorem) (faults []string) {
	out, axioms, _ := strings.Cut(out, "@@axioms\n")
	axioms, assumed, _ := strings.Cut(axioms, "@@assumed\n")
	answers := strings.Split(out, "@@says\n")[1:]
	if len(answers) != len(all) {
		return []string{fmt.Sprintf("%d answers to %d questions:\n%s", len(answers), len(all), out)}
	}
	for i, th := range all {
		says, rest, _ := strings.Cut(answers[i], "@@printed\n")
		printed, instance, _ := strings.Cut(rest, "@@instance\n")
		if hypotheses(th) && words(instance) != "satisfied" {
			faults = append(faults, th.Theorem+" may be vacuous: instances.v has no proof that it applies")
		}
		if got := words(says); got != th.Coq {
			faults = append(faults, fmt.Sprintf("%s says\n%s\nand the list has\n%s", th.Theorem, got, th.Coq))
		}
		if got := words(printed); got != th.Printed {
			faults = append(faults, fmt.Sprintf("%s refutes\n%s\nand the list has\n%s", th.Theorem, got, th.Printed))
		}
	}
	if got := words(axioms); got != "Closed under the global context" {
		faults = append(faults, "the theorems rest on\n"+got)
	}
	if words(assumed) == "" {
		faults = append(faults, "Coq refuses the list of instances")
	}
	for _, m := range regexp.MustCompile(`(?m)^[\w.]*?(\w+)\s+:`).FindAllStringSubmatch(assumed, -1) {
		if !slices.Contains(ofReals, m[1]) {
			faults = append(faults, "the instances rest on "+m[1])
		}
	}
	return faults
}

// words returns a text without its line breaks.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// placed replaces a line number in a message of Coq by a file and the line in the file.
func placed(out, text string) string {
	m := regexp.MustCompile(`line (\d+)`).FindStringSubmatch(out)
	if m == nil {
		return out
	}
	at, _ := strconv.Atoi(m[1])
	file, first := "", 0
	for i, line := range strings.Split(text, "\n")[:min(at, strings.Count(text, "\n"))] {
		if name, found := strings.CutPrefix(line, "Module "); found {
			file, first = strings.TrimSuffix(name, ".")+".v", i+1
		}
	}
	return fmt.Sprintf("%s:%d\n%s", file, at-first, out)
}

// altered returns a text with a passage replaced.
func altered(t *testing.T, text, passage, by string) string {
	t.Helper()
	if strings.Count(text, passage) != 1 {
		t.Fatalf("%q occurs %d times, want once", passage, strings.Count(text, passage))
	}
	return strings.Replace(text, passage, by, 1)
}

// Coq checks every proof; each theorem agrees with the list and uses no axiom. Then Coq must
// refuse planted faults: a missing proof, a weaker theorem, a stronger definition than the
// paper's and a false witness.
func TestTheoremsAreProved(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: a minute")
	}
	if _, err := exec.LookPath("coqc"); err != nil {
		t.Skip("!!! NOT CHECKED: the proofs in paper/proofs, because coqc is missing: apt-get install " +
			"--no-install-recommends " +
			"coq libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics")
	}
	folder, all := t.TempDir(), proofs.Listed().Theorems
	source := func(file string) string { return read(t, file+".v") }
	text := opening
	for _, file := range sources(t) {
		name := strings.TrimSuffix(file, ".v")
		text += module(name, source(name))
	}
	write(t, folder, "everything.v", text)
	if _, complaints, err := coq(folder, "", "coqc", "-noglob", "everything.v"); err != nil {
		t.Fatalf("the files as modules: %v\n%s", err, placed(complaints, text))
	}
	plants := []struct{ theorem, file, passage, by string }{
		{"union_corrected", "probability", "by rewrite /mean_law; field; rewrite lt0r_neq0 ?mu0.\nQed.", "Admitted."},
		{"union_corrected", "probability", "(forall s, (s < S)%N -> 0 < mu s) ->", "(forall s, 0 < mu s) ->"},
		{"muhat_last_refuted", "refuted_markov", "(size g).-1%:R ^+ 2 / effective", "(size g).-1%:R / effective"},
		{"muhat_last_refuted", "refuted_markov", "h [:: 0; 0]%N (1//6)", "h [:: 0]%N (1//6)"},
	}
	named := func(names ...string) []proofs.Theorem {
		return slices.DeleteFunc(slices.Clone(all), func(th proofs.Theorem) bool {
			return !slices.Contains(names,
				th.Theorem)
		})
	}
	asked := [][]proofs.Theorem{all, named("union_corrected", "muhat_last_refuted")}
	texts := []string{questions(all), module("probability", source("probability")) +
		module("refuted_markov", source("refuted_markov")) + questions(asked[1])}
	for _, plant := range plants {
		asked = append(asked, named(plant.theorem))
		texts = append(texts, module(plant.file, altered(t, source(plant.file), plant.passage, plant.by))+
			questions(asked[len(asked)-1]))
	}
	printed, complaints := answers(t, folder, texts)
	for i, out := range printed {
		faults := faultsOf(out, asked[i])
		switch {
		case i < 2 && faults != nil:
			t.Errorf("%s\n%s", strings.Join(faults, "\n"), complaints)
		case i >= 2 && faults == nil:
			plant := plants[i-2]
			t.Errorf("%s.v with %q for %q passes", plant.file, plant.by, plant.passage)
		}
	}
}
