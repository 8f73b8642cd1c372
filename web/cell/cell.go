// Package cell turns the cells of a notebook into Go programs.
//
// The language is a part of GoNB's: a cell has the declarations of a Go file, and "%%" begins the body of main.
// Later cells see the imports and declarations, and may declare a name again; they do not see values, because
// each cell is a separate program. A function init_x is one of the functions init that Go allows. Missing
// imports are added by the name of the package, unused imports are left out.
//
// Line directives give the errors of the compiler and the panics of a program the line of the cell.
package cell

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// A Package is a package that cells may import.
type Package struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

// A Session has the declarations of the cells so far.
type Session struct {
	packages map[string]string // name by import path
	paths    map[string]string // import path by name, for missing imports
	units    []unit
}

// A Program is the Go program of a cell.
type Program struct {
	Source  string // package main, "" if there is nothing to compile
	Run     bool   // false if the program has no effect
	Text    string // the output of %ls
	Restore bool   // the files of the notebook are to be restored first

	keep []unit // the declarations of the session after the cell
}

// NewSession returns a Session without declarations, whose cells may import the
// packages. If several have the same name, a missing import is the first of them.
func NewSession(packages []Package) *Session {
	s := &Session{packages: map[string]string{}, paths: map[string]string{}}
	for _, p := range packages {
		s.packages[p.Path] = p.Name
		s.paths[p.Name] = cmp.Or(s.paths[p.Name], p.Path)
	}
	return s
}

// Program returns the program of a cell. The label names the cell in messages, as in "cell[7]:2: undefined: x".
// The declarations of the cell are added to the session by Keep. An error has the line in the cell.
func (s *Session) Program(label, source string) (*Program, error) {
	c, err := split(label, source)
	if err != nil {
		return nil, err
	}
	p := &Program{}
	old, err := s.obey(c, p)
	if err != nil {
		return nil, err
	}
	file, err := c.parse("package main;" + c.declarations)
	if err != nil {
		return nil, err
	}
	added, err := s.declared(file, label)
	if err = cmp.Or(err, c.twice(added)); err != nil {
		return nil, err
	}
	p.keep = append(replace(old, added), added...)
	if len(added) > 0 || c.hasMain {
		if err := s.compose(p, c); err != nil {
			return nil, err
		}
	}
	p.Run = c.hasMain || slices.ContainsFunc(added, func(u unit) bool { return u.acts })
	p.keep = slices.DeleteFunc(p.keep, func(u unit) bool { return u.declares("main") })
	return p, nil
}

// Keep adds the declarations of a program to the session.
func (s *Session) Keep(p *Program) { s.units = p.keep }

// Path returns the import path that a name stands for in the next cell, "" if it is the name of no package.
func (s *Session) Path(name string) string {
	for _, u := range s.units {
		if u.path != "" && u.declares(name) {
			return u.path
		}
	}
	return s.paths[name]
}

// compose sets the source of a program from its declarations and the body of its cell.
func (s *Session) compose(p *Program, c *parts) error {
	var code strings.Builder
	for _, u := range p.keep {
		if u.path == "" {
			fmt.Fprintf(&code, "//line %s:%d\n%s\n", u.label, u.line, u.source())
		}
	}
	if c.hasMain || !slices.ContainsFunc(p.keep, func(u unit) bool { return u.declares("main") }) {
		fmt.Fprintf(&code, "func main() {\n//line %s:%d\n%s\n}\n", c.label, c.bodyLine, c.body)
	}
	file, err := c.parse("package main\n" + code.String())
	if err != nil {
		return err
	}
	free := map[string]bool{} // names used, but not declared
	for _, id := range file.Unresolved {
		free[id.Name] = true
	}
	p.Source = "package main\n" + s.imports(p.keep, free) + s.formats(code.String()) + code.String()
	return nil
}

// formats returns imports of the formats that plots of gonum.org/v1/plot are saved in. Its
// build with the tag minimal, which makes other programs small, imports none.
func (s *Session) formats(code string) (head string) {
	for _, path := range []string{"gonum.org/v1/plot/vg/vgimg", "gonum.org/v1/plot/vg/vgsvg"} {
		if s.packages[path] != "" && (strings.Contains(code, ".Save(") || strings.Contains(code, ".WriterTo(")) {
			head += fmt.Sprintf("import _ %q\n", path)
		}
	}
	return head
}

// imports returns the imports of a program: the imports among units that it uses, and then the missing imports.
func (s *Session) imports(units []unit, free map[string]bool) string {
	var head strings.Builder
	for _, u := range units {
		if u.path == "" {
			continue
		}
		if name := u.names[0].text; free[name] || u.always {
			fmt.Fprintf(&head, "//line %s:%d\n%s\n", u.label, u.line, u.source())
			delete(free, name)
		}
	}
	var missing []string
	for name := range free {
		if path := s.paths[name]; path != "" {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	for _, path := range missing {
		fmt.Fprintf(&head, "import %q\n", path)
	}
	return head.String()
}

// statement matches the parser's message about a statement, or an indented %%, outside of a function.
var statement = regexp.MustCompile(`expected declaration, found ('%'|'?\w+'?)`)

// parse parses a text made from the cell. Its error has the format of the compiler's.
func (c *parts) parse(text string) (*parsed, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, c.label, text, parser.ParseComments)
	var faults scanner.ErrorList
	if errors.As(err, &faults) {
		var all []error
		for _, f := range faults {
			line := min(f.Pos.Line, c.lines) // an error at the end of the text is below the cell
			hinted := statement.ReplaceAllString(f.Msg, "$0; statements stand below a line that begins with %%")
			all = append(all, at(f.Pos.Filename, line, "syntax error: %s", hinted))
		}
		return nil, errors.Join(all...)
	}
	return &parsed{File: file, fset: fset, text: text}, err
}

type parsed struct {
	*ast.File
	fset *token.FileSet
	text string
}

// at returns an error at a line of a cell.
func at(label string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", label, line, fmt.Sprintf(format, args...))
}
