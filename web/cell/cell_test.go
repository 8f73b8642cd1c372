package cell

import (
	"strings"
	"testing"
)

var packages = []Package{
	{"fmt", "fmt"},
	{"math/rand/v2", "rand"},
	{"math/rand", "rand"},
	{"example.com/go-graph", "graph"},
	{"strings", "strings"},
	{"gonum.org/v1/plot/vg/vgimg", "vgimg"},
}

// source returns the program of the last of these cells, after the others are
// kept.
func source(t *testing.T, cells ...string) string {
	t.Helper()
	s := NewSession(packages)
	var p *Program
	for i, c := range cells {
		var err error
		if p, err = s.Program(label(i), c); err != nil {
			t.Fatal(err)
		}
		s.Keep(p)
	}
	return p.Source
}

func label(i int) string { return "cell[" + string(rune('1'+i)) + "]" }

func TestProgramsOfCells(t *testing.T) {
	const main = "func main() {\n//line "
	for _, c := range []struct {
		law   string
		cells []string
		want  string
	}{
		{
			"a body becomes main, and a package that is named is imported",
			[]string{"%%\nfmt.Println(1)"},
			"import \"fmt\"\n" + main + "cell[1]:2\nfmt.Println(1)\n}\n",
		},
		{
			"a plot that is saved has its format",
			[]string{"%%\np.Save(1, 1, \"p.png\")"},
			"import _ \"gonum.org/v1/plot/vg/vgimg\"\n" + main + "cell[1]:2\np.Save(1, 1, \"p.png\")\n}\n",
		},
		{
			"a cell may be a whole file",
			[]string{"package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }"},
			"//line cell[1]:3\nimport \"fmt\"\n//line cell[1]:5\nfunc main() { fmt.Println(1) }\n",
		},
		{
			"declarations and imports are kept",
			[]string{"import \"strings\"\n\nfunc f() string {\n\treturn strings.ToUpper(\"a\")\n}", "%%\nprint(f())"},
			"//line cell[1]:1\nimport \"strings\"\n//line cell[1]:3\nfunc f() string {\n\treturn strings.ToUpper(\"a\")\n}\n" +
				main + "cell[2]:2\nprint(f())\n}\n",
		},
		{
			"a later declaration replaces an earlier one of another kind",
			[]string{"var a = 1\nfunc b() {}", "type a int", "var b a"},
			"//line cell[2]:1\ntype a int\n//line cell[3]:1\nvar b a\n" + main + "cell[3]:1\n\n}\n",
		},
		{
			"one name of a group is made blank, and the others keep their values",
			[]string{"const (\n\tA = iota\n\tBB\n\tC\n)\nvar x, yy = 1, 2", "var BB, x int", "func C() {}", "%%"},
			"//line cell[1]:1\nconst (\n\tA = iota\n\t_\n\t_\n)\n//line cell[1]:6\nvar _, yy = 1, 2\n" +
				"//line cell[2]:1\nvar BB, x int\n//line cell[3]:1\nfunc C() {}\n" + main + "cell[4]:2\n\n}\n",
		},
		{
			"a line of a group of variables keeps its place",
			[]string{"var (\n\ta = 1\n\n\tb = 2\n)\n%main\n_ = a + b"},
			"//line cell[1]:2\nvar a = 1\n//line cell[1]:4\nvar b = 2\n" + main + "cell[1]:7\n_ = a + b\n}\n",
		},
		{
			"a method is replaced with its receiver's name",
			[]string{"type T[E any] struct{}\nfunc (t *T[E]) m() {}\nfunc (t T[E]) n() {}", "func (T[E]) m() { print() }", "func (V[E]) n() {}\nfunc (U[A, B]) n() {}", "func (W[A, B]) n() {}", "%%"},
			"//line cell[1]:1\ntype T[E any] struct{}\n//line cell[1]:3\nfunc (t T[E]) n() {}\n" +
				"//line cell[2]:1\nfunc (T[E]) m() { print() }\n//line cell[3]:1\nfunc (V[E]) n() {}\n" +
				"//line cell[3]:2\nfunc (U[A, B]) n() {}\n//line cell[4]:1\nfunc (W[A, B]) n() {}\n" + main + "cell[5]:2\n\n}\n",
		},
		{
			"each init_x is an init, and a plain init replaces the one before",
			[]string{"func init_a() { print(1) }\nfunc init() { print(2) }", "func init() { print(3) }", "%%"},
			"//line cell[1]:1\nfunc init() { print(1) }\n//line cell[2]:1\nfunc init() { print(3) }\n" + main + "cell[3]:2\n\n}\n",
		},
		{
			"main is not kept",
			[]string{"func main() { print(1) }", "%%\nprint(2)"},
			main + "cell[2]:2\nprint(2)\n}\n",
		},
		{
			"what is blank, imported or an init may be declared twice",
			[]string{"import \"fmt\"\nimport \"fmt\"\nvar _ = fmt.A\nvar _ = fmt.A\nfunc init() {}\nfunc init() {}\n%%"},
			"//line cell[1]:1\nimport \"fmt\"\n//line cell[1]:3\nvar _ = fmt.A\n//line cell[1]:4\nvar _ = fmt.A\n" +
				"//line cell[1]:5\nfunc init() {}\n//line cell[1]:6\nfunc init() {}\n" + main + "cell[1]:8\n\n}\n",
		},
		{
			"a blank variable of a cell that is run again is not declared twice",
			[]string{"var _ any = 1", "var _ any = 1", "%%"},
			"//line cell[2]:1\nvar _ any = 1\n" + main + "cell[3]:2\n\n}\n",
		},
		{
			"an import is known by the package's own name, or by the one that it is given",
			[]string{"import \"example.com/go-graph\"\nimport str \"strings\"", "%%\ngraph.New()\nstr.ToUpper(\"\")"},
			"//line cell[1]:1\nimport \"example.com/go-graph\"\n//line cell[1]:2\nimport str \"strings\"\n" +
				main + "cell[2]:2\ngraph.New()\nstr.ToUpper(\"\")\n}\n",
		},
		{
			"an import that is not used is left out, also where a variable has its name",
			[]string{"import \"example.com/go-graph\"\nimport _ \"strings\"", "%%\ngraph := T{}\ngraph.New()"},
			"//line cell[1]:2\nimport _ \"strings\"\n" + main + "cell[2]:2\ngraph := T{}\ngraph.New()\n}\n",
		},
		{
			"a name of several packages means the first, unless one is imported",
			[]string{"%%\nrand.N(2)"},
			"import \"math/rand/v2\"\n" + main + "cell[1]:2\nrand.N(2)\n}\n",
		},
		{
			"a variable takes the name of an import",
			[]string{"import \"strings\"", "var strings = T{}", "%%\nstrings.X()"},
			"//line cell[2]:1\nvar strings = T{}\n" + main + "cell[3]:2\nstrings.X()\n}\n",
		},
		{
			"commands leave their lines empty, and an indented line is no command",
			[]string{"%noautoget\nvar a int\n//gonb:%%\n%autoget\nprint(a, `\n\t%x`)"},
			"//line cell[1]:2\nvar a int\n" + main + "cell[1]:4\n\nprint(a, `\n\t%x`)\n}\n",
		},
		{
			"names are forgotten on demand",
			[]string{"var a, b = 1, 2\nfunc f() {}", "%rm a f\n%%\nprint(b)"},
			"//line cell[1]:1\nvar _, b = 1, 2\n" + main + "cell[2]:3\nprint(b)\n}\n",
		},
		{
			"and all of them",
			[]string{"var a, b = 1, 2", "%reset\n%%"},
			main + "cell[2]:3\n\n}\n",
		},
	} {
		got := strings.TrimPrefix(source(t, c.cells...), "package main\n")
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.law, got, c.want)
		}
	}
}

func TestFaultsHaveTheirPlace(t *testing.T) {
	for _, c := range []struct{ cell, want string }{
		{"x := 1", "cell[7]:1: syntax error: expected declaration, found x; statements stand below a line that begins with %%"},
		{" %%\nf()", "cell[7]:1: syntax error: expected declaration, found '%'; statements stand below a line that begins with %%"},
		{"var a = 1\n\nfunc f( {", "cell[7]:3: syntax error: expected ')', found '{'"},
		{"var a = 1\n%%\nfor {", "cell[7]:3: syntax error: expected '}', found 'EOF'"},
		{"%%\n\nif x = 1 {\n}", "cell[7]:3: syntax error: expected boolean expression, found assignment"},
		{"import (\n\t\"fmt\"\n\t\"net/http\"\n)", `cell[7]:3: there is no package "net/http" in this page`},
		{"%%\n!ls", "cell[7]:2: !ls: there is no shell in the page, use Go"},
		{"%%bash\nls", `cell[7]:1: "%%bash" unknown or not implemented in the page, which has %%, %ls, %rm, %reset and %restore: write it`},
		{"%% -n 3", "cell[7]:1: %% -n 3: a program has no arguments in the page"},
		{"%% f(3)", "write the values into the cell; statements stand below the line %%"},
		{"func f() {}\nvar (\n\ta = 1\n\tf = 2\n)", "cell[7]:4: f is declared twice in this cell"},
		{"const (\n\ta = iota\n\tb\n\ta\n)", "cell[7]:4: a is declared twice in this cell"},
		{"type T int\nfunc (T) m() {}\nfunc (t *T) m() {}", "cell[7]:3: m is declared twice in this cell"},
		{"func main() {}\n%%", "cell[7]:1: main is declared twice in this cell"},
		{"%%\n%main", "cell[7]:2: main begins in line 1 already; split the cell, or delete this line"},
		{"\n%%\nf()\n\n%%", "cell[7]:5: main begins in line 2 already; split the cell, or delete this line"},
		{"\n%env A=1", `cell[7]:2: "%env" unknown or not implemented in the page`},
		{"//go:embed x\nvar x string", "cell[7]:1: //go:embed is not available in the page: read the file with os.ReadFile"},
	} {
		_, err := NewSession(packages).Program("cell[7]", c.cell)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.cell, err, c.want)
		}
	}
}

func TestOnlyKeptDeclarationsAreSeen(t *testing.T) {
	s := NewSession(packages)
	p, err := s.Program("cell[1]", "var a = 1")
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Program("cell[2]", "%%")
	if err != nil || strings.Contains(q.Source, "var a") {
		t.Errorf("%v, a cell that is not kept is seen:\n%s", err, q.Source)
	}
	s.Keep(p)
	if q, err = s.Program("cell[3]", "%ls\n%%"); err != nil || !strings.Contains(q.Source, "var a") {
		t.Errorf("%v, a cell that is kept is not seen:\n%s", err, q.Source)
	}
	if want := "cell[1]: var a\n"; q.Text != want {
		t.Errorf("%%ls shows %q, want %q", q.Text, want)
	}
}

func TestProgramsWithoutEffectAreNotRun(t *testing.T) {
	for _, c := range []struct {
		cell   string
		source bool
		run    bool
	}{
		{"", false, false},
		{"%noautoget\n// a remark", false, false},
		{"import \"fmt\"", true, false},
		{"const a = 1\nvar b int\ntype c int\nfunc d() {}\nfunc (c) init() {}\nfunc (c) main() {}", true, false},
		{"var a = f()\nfunc f() int { return 1 }", true, true},
		{"var a = []int{1, 2}\nvar b = func() int { return f() }\nvar c, d = -1, \"x\"", true, false},
		{"var a = []int{1, f()}", true, true},
		{"var a = <-c", true, true},
		{"func init() {}", true, true},
		{"func init_a() {}", true, true},
		{"func main() {}", true, true},
		{"%%", true, true},
	} {
		p, err := NewSession(packages).Program("cell[1]", c.cell)
		if err != nil || (p.Source != "") != c.source || p.Run != c.run {
			t.Errorf("%q: %v, %+v, want a source %v, a run %v", c.cell, err, p, c.source, c.run)
		}
	}
}

func TestAliasOfAnImportStandsForItsPath(t *testing.T) {
	s := NewSession(packages)
	p, err := s.Program("cell[1]", "%restore\nimport words \"strings\"")
	if err != nil || !p.Restore {
		t.Fatalf("%%restore: %+v, error %v", p, err)
	}
	s.Keep(p)
	for name, want := range map[string]string{"words": "strings", "rand": "math/rand/v2", "nothing": ""} {
		if got := s.Path(name); got != want {
			t.Errorf("%s stands for %q, want %q", name, got, want)
		}
	}
}
