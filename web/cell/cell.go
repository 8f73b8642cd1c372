// Package cell turns the cells of a notebook into Go programs.
//
// The language is that of GoNB, as far as it makes sense in a page: a cell
// declares what Go declares at the top level of a file, and "%%" begins the
// body of main. Imports and declarations are kept for later cells, and a later
// declaration of a name replaces an earlier one; values are not kept, since
// each cell is a program of its own. A function init_x stands for one of the
// functions init that Go allows. An import that is missing is added where the
// name says which package is meant, one that is not used is left out.
//
// Line directives lead what a compiler says, and what a program says when it
// panics, back to the line of the cell.
package cell

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// A Package is one that cells may import.
type Package struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

// A Session is what the cells so far have declared.
type Session struct {
	packages map[string]string // name by import path
	paths    map[string]string // import path by name, where no import says it
	units    []unit
}

// A Program is what a cell becomes.
type Program struct {
	Source string // package main, "" where there is nothing to compile
	Run    bool   // false where it has nothing to do but to compile
	Text   string // to be shown before

	keep []unit // what later cells see of it
}

// NewSession returns a Session without declarations whose cells may import
// these packages. Where several have one name, a cell that imports none of them
// means the first.
func NewSession(packages []Package) *Session {
	s := &Session{packages: map[string]string{}, paths: map[string]string{}}
	for _, p := range packages {
		s.packages[p.Path] = p.Name
		s.paths[p.Name] = cmp.Or(s.paths[p.Name], p.Path)
	}
	return s
}

// Program returns the program of a cell. The label names the cell in messages,
// as in "cell[7]:2: undefined: x". What the cell declares is not kept before
// Keep, nor is it if the cell has a fault, which is returned with its place.
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
	if err != nil {
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

// Keep makes what a program declares known to later cells.
func (s *Session) Keep(p *Program) { s.units = p.keep }

// compose writes the source of a program from what it keeps and the body of its
// cell.
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
	free := map[string]bool{} // names that the code uses and does not declare
	for _, id := range file.Unresolved {
		free[id.Name] = true
	}
	p.Source = "package main\n" + s.imports(p.keep, free) + code.String()
	return nil
}

// imports returns the imports of a program: those among units that it uses, and
// then those that no cell has imported.
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

// parse parses a text made from the cell. An error has a line for each fault, as
// the compiler writes it.
func (c *parts) parse(text string) (*parsed, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, c.label, text, parser.ParseComments)
	var faults scanner.ErrorList
	if errors.As(err, &faults) {
		var all []error
		for _, f := range faults {
			line := min(f.Pos.Line, c.lines) // what is missing at the end is missing below it
			all = append(all, at(f.Pos.Filename, line, "syntax error: %s", f.Msg))
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

// at returns an error with its place.
func at(label string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", label, line, fmt.Sprintf(format, args...))
}
