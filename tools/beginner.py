"""Errors of a first lecture, and what the kernel says about them, in JupyterLab and in the page.

A case is a cell, which follows FIRST, and a regular expression that the message matches. If the page has to say something
else, a third and a fourth entry are the expression for the page and the reason.
"""

FIRST = '%noautoget\nimport (\n\t"learncausal/pkg/graph"\n\t"learncausal/pkg/nb"\n)\n\nfunc f(x int) int { return x }'

BELOW = "; statements stand below a line that begins with %%"
LINE = "statements stand below the line %%"
ABOVE = "; run the cells above that declare or import it"
TRACE = r"\n\ngoroutine 1 \[running\]:\n(.*\n)*\tcell\[\d+\]:%d .*\n(.*\n)*exit status 2$"

# Reasons.
IMPORTED = "The page imports the package by its name, so the compiler looks for the name in the package."
OWN = "The page shows the trace of Go itself, whose lines are those of the cells."

DECLARATIONS = (
    ("x := 3", "found x" + BELOW),
    ("x = 3", "found x" + BELOW),
    ('nb.Printf("a")', "found nb" + BELOW),
    ("f(3)", "found f" + BELOW),
    ("3 + 4", "expected declaration, found 3"),
    ("for i := range 3 {\n}", "found 'for'" + BELOW),
    ("if true {\n}", "found 'if'" + BELOW),
    ("return 3", "found 'return'" + BELOW),
    ("go f(3)", "found 'go'" + BELOW),
    ("def h(x): return x", "found def" + BELOW),
    (" %%\nf(3)", "found '%'" + BELOW),
    ("\t%%\nf(3)", "found '%'" + BELOW),
    ("%%%\nf(3)", '"%%%" unknown'),
    ("%% f(3)", LINE),
    ("%% x := 3\nf(x)", LINE),
    ("%%\nf(3)\n%%\nf(4)", "main begins in line 1 already"),
    ("func main() {}\n%%\nf(3)", "main is declared twice in this cell"),
    ("func q(x int) {}\nfunc q(x int) {}", "q is declared twice in this cell"),
    ("type p struct{}\ntype p int", "p is declared twice in this cell"),
    ("var v = 1\nvar v = 2", "v is declared twice in this cell"),
    ("type m int\nfunc (m) h() {}\nfunc (*m) h() {}", "h is declared twice in this cell"),
    ('import "learncausal/pkg/grap"', 'there is no package "learncausal/pkg/grap"'),
    ('import "math/rnd"', 'there is no package "math/rnd"'),
    ('import "nb"', r'there is no package "nb"(; !\*go work use FOLDER adds a module of yours| in this page)'),
    ("import nb", "missing import path"),
    ("func h(x) int { return x }", "undefined: x"),
    ("func h(int x) int { return x }", "undefined: x"),
    ("func h() int { }", "missing return"),
    ("func h() { return 3 }", "too many return values"),
    ("func h()\n{\n}", "unexpected semicolon or newline before {"),
    ("func h() {", "expected '}', found 'EOF'"),
    ("var a int = 1.5", "truncated"),
    ('var a int = "x"', 'cannot use "x"'),
    ("var a []int = {1, 2}", "expected operand, found '{'"),
)

BODIES = (  # of main
    ('nb.Prinft("x")', "undefined: nb.Prinft$"),
    ('nb.printf("x")', "undefined: nb; .*a name in a package begins with a capital letter",
     r"undefined: nb\.printf \(but have Printf\)$", IMPORTED),
    ("nb.Printf('x')", "cannot use 'x'"),
    ("nb.Printf('xy')", "illegal rune literal"),
    ('nb.Printf("x"', "missing ',' before newline in argument list"),
    ('nb.Printf("x)', "string literal not terminated"),
    ('nb.Printf("%d", y)', "undefined: y" + ABOVE),
    ("fmt.Printl(3)", "undefined: fmt" + ABOVE, r"undefined: fmt\.Printl$", IMPORTED),
    ("grap.Chain(3)", "undefined: grap" + ABOVE),
    ("x := 3", "declared and not used: x"),
    ("x = 3", "undefined: x" + ABOVE),
    ("var x int\nx := 4\nf(x)", "no new variables on left side"),
    ("f(1.5)", "truncated"),
    ('f("a")', 'cannot use "a"'),
    ("f()", "not enough arguments in call to f"),
    ("f(1, 2)", "too many arguments in call to f"),
    ("f(1) + 1", "is not used"),
    ("func g() {}", "expected '\\(', found g"),
    ("return 3", "too many return values"),
    ("if f(1) > 0\n{\n}", "unexpected newline, expecting {"),
    ("if f(1) {\n}", "non-boolean condition in if statement"),
    ('print "x"', "expected ';', found \"x\""),
    ("x := [2]int{}\nf(x[2])", "index 2 out of bounds"),
    ("x := []int{}\nf(x[len(x)])\nnb.Printf(\"\")", "^panic: runtime error: index out of range .*\nat .* Line 3 .*\nexit status 2$",
     r"^panic: runtime error: index out of range .*" + TRACE % 3, OWN),
    ('var m map[string]int\nm["a"] = 1\nnb.Printf("")', "panic: assignment to entry in nil map\nat .* Line 3 ",
     "^panic: assignment to entry in nil map" + TRACE % 3, OWN),
    ("var p *int\nf(*p)\nnb.Printf(\"\")", "nil pointer dereference(.|\n)*at .* Line 3 ",
     r"nil pointer dereference\n\[signal .*\]" + TRACE % 3, OWN),
    ('nb.Printf("%v", graph.MustNew(-1, 2, -1))', "^panic: graph: edge 2 -> 1: (.|\n)*at .* Line 2 ",
     "^panic: graph: edge 2 -> 1: .*" + TRACE % 2, OWN),
)

CASES = (*DECLARATIONS, *(("%%\n" + body, *rest) for body, *rest in BODIES))
