package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// loaded returns the folder of the module and what of it is mutated.
func loaded(t *testing.T) (root string, units []*unit) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if units, err = load(root); err != nil {
		t.Fatal(err)
	}
	return root, units
}

// One row in the instrumented build: unmutated it is as it was, a mutant of its
// check and one of a quantity are noticed.
func TestMutantsOfOneRow(t *testing.T) {
	root, units := loaded(t)
	points, program, err := build(root, t.TempDir(), units)
	if err != nil {
		t.Fatal(err)
	}
	const row = "lem-tv"
	s, err := measure(program, t.TempDir(), points, units, 1, row)
	if err != nil {
		t.Fatal(err)
	}
	all := s.mutants()
	rows, err := json.Marshal(s.rows(all[0]))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.worker(fmt.Sprintf("%d:0", all[0].point.id), rows, "try"); err != nil || out != "survived\n" {
		t.Errorf("the row as it is came to something else: %s, %v", out, err)
	}
	for _, want := range [][3]string{{"paper/claims/markov.go", "alphaOfRows", ""}, {"pkg/exact/chain.go", "TV", "Frac(2, 1)"}} {
		tried, killed := 0, 0
		for _, m := range all {
			if m.file == want[0] && strings.Contains(m.source, want[2]) && (m.function == want[1] || want[2] == "") && tried < 4 {
				s.try(&m)
				tried++
				if m.killed != "" {
					killed++
				}
			}
		}
		if killed == 0 {
			t.Errorf("%s did not notice any of %d mutants of %v", row, tried, want)
		}
	}
}

func TestSampleIsTheSameEachTime(t *testing.T) {
	var all []mutant
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		all = append(all, mutant{point: point{file: name}, variant: variant{after: "x"}})
	}
	names := func(ms []mutant) (out []string) {
		for _, m := range ms {
			out = append(out, m.file)
		}
		return out
	}
	some := names(sample(all, 3, 1))
	if len(some) != 3 || !slices.Equal(some, names(sample(all, 3, 1))) {
		t.Errorf("three of six: %v, then %v", some, names(sample(all, 3, 1)))
	}
	if whole := sample(all, 9, 1); len(whole) != 6 {
		t.Errorf("nine of six are %d", len(whole))
	}
}

func TestReasonsAreRead(t *testing.T) {
	if _, err := reasons(known); err != nil {
		t.Error(err)
	}
	of, err := reasons([]byte("# a remark\nIt is equal.\n\ta.go\tf\t1 -> 2\tx := 1\n"))
	if err != nil || of["a.go\tf\t1 -> 2\tx := 1"] != "It is equal." {
		t.Errorf("%v, %v", of, err)
	}
	if _, err := reasons([]byte("\ta.go\tf\t1 -> 2\tx := 1\n")); err == nil {
		t.Error("a survivor without a reason was accepted")
	}
}

// What stands in a variable of a package belongs to the rows that use it, through
// functions and second routes, and to no others.
func TestVariablesBelongToTheRowsThatUseThem(t *testing.T) {
	_, units := loaded(t)
	use := reaching(units)
	for name, want := range map[string]string{
		"spreadBySpread": "lem-no-parents-step-jacobian-corrected", "printedDivergences": "lem-contraction", "ofBoth": "lem-bound-g1",
	} {
		rows := use.rows["learncausal/paper/claims."+name]
		if !rows[want] || rows["lem-rewrite-tf"] {
			t.Errorf("%s is used by %v, want %s among them and not lem-rewrite-tf", name, slices.Sorted(maps.Keys(rows)), want)
		}
	}
}

// The code of paper/claims that is mutated, and how, by what stands in a function.
func TestWhatIsMutated(t *testing.T) {
	const code = `package claims
import ("math"; "learncausal/pkg/exact")
const someBeta = 1.5
func alike(m []float64, x float64) { for s := range m { m[s] = x } }
func shifted(m, n []float64) { for s := range m { m[s] = n[s] } }
func infinity() float64 { return max(math.Inf(1), 2) }
func chosen() float64 { return someBeta }
func table() (sum int) {
	for _, in := range []struct{ pi exact.Matrix; t int }{{exact.Rats("1"), 7}} { sum += in.t }
	return sum
}
func entries(n []int) int {
	someList := []int{n[0]}
	return someList[0]
}
func tables() (sum int) {
	for _, in := range []struct{ pis []exact.Matrix; t int }{{[]exact.Matrix{exact.Rats("1")}, 7}} { sum += in.t }
	return sum
}
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", code, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	rationals := types.NewPackage("learncausal/pkg/exact", "exact")
	name := types.NewTypeName(0, rationals, "Matrix", nil)
	matrix := types.NewNamed(name, types.NewSlice(types.NewSlice(types.Typ[types.Int])), nil)
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewVar(0, rationals, "", types.Typ[types.String])),
		types.NewTuple(types.NewVar(0, rationals, "", matrix)), false)
	rationals.Scope().Insert(name)
	rationals.Scope().Insert(types.NewFunc(0, rationals, "Rats", sig))
	rationals.MarkComplete()
	u := &unit{
		folder: "paper/claims", fset: fset, files: map[string]*ast.File{"x.go": f}, source: map[string][]byte{"x.go": []byte(code)},
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
		},
	}
	conf := types.Config{Importer: imports{"learncausal/pkg/exact": rationals}}
	if u.pkg, err = conf.Check("learncausal/paper/claims", fset, []*ast.File{f}, u.info); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	points, _ := u.rewrite("x.go", 0)
	for _, p := range points {
		for _, v := range p.variants {
			got[p.function] = append(got[p.function], p.before+" -> "+v.after)
		}
	}
	for function, want := range map[string][]string{
		"alike": nil, "chosen": nil,
		"shifted":  {"m[s] -> m[s + 1]", "m[s] -> m[s - 1]", "n[s] -> n[s + 1]", "n[s] -> n[s - 1]"},
		"infinity": {"max(math.Inf(1), 2) -> min(math.Inf(1), 2)", "math.Inf(1) -> math.Inf(-1)", "2 -> 2 + 1", "2 -> 2 - 1"},
		"table":    {"sum += in.t -> sum -= in.t"},
		"entries":  nil,
		"tables":   {"sum += in.t -> sum -= in.t"},
	} {
		if !slices.Equal(got[function], want) {
			t.Errorf("%s: %q, want %q", function, got[function], want)
		}
	}
}

// imports are packages by path, beside those of the library.
type imports map[string]*types.Package

func (i imports) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		file, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", path).Output()
		if err != nil {
			return nil, err
		}
		return os.Open(strings.TrimSpace(string(file)))
	}).Import(path)
}
