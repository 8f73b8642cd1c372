package cell

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// A unit is a declaration that is kept or replaced as a whole: a function, a type, an
// import, a line of variables, a group of constants.
type unit struct {
	label  string // of the cell
	line   int    // where text begins
	prefix string // a keyword, for a line of a group
	text   string
	names  []name // in the order of the text; a method is "T.m"
	path   string // of an import
	always bool   // an import that is kept even if unused: named _ or .
	acts   bool   // the declaration runs code
}

// A name is a name that a unit declares.
type name struct {
	text string
	at   int // index in the unit's text, -1 if the name cannot become blank
}

func (u unit) declares(s string) bool {
	return slices.ContainsFunc(u.names, func(n name) bool { return n.text == s })
}

// source returns the declaration, in which a function init_x is named init.
func (u unit) source() string {
	if len(u.names) == 1 && strings.HasPrefix(u.names[0].text, "init_") && strings.HasPrefix(u.text, "func") {
		return strings.Replace(u.text, u.names[0].text, "init", 1)
	}
	return u.prefix + u.text
}

// without returns the unit with a blank in place of a name, and false if the unit declares no other name.
func (u unit) without(s string) (unit, bool) {
	i := slices.IndexFunc(u.names, func(n name) bool { return n.text == s })
	if i < 0 {
		return u, true
	}
	n := u.names[i]
	rest := slices.Delete(slices.Clone(u.names), i, i+1)
	if len(rest) == 0 || n.at < 0 {
		return u, false
	}
	u.text = u.text[:n.at] + "_" + u.text[n.at+len(s):]
	for j := range rest {
		if rest[j].at > n.at {
			rest[j].at -= len(s) - len("_")
		}
	}
	u.names = rest
	return u, true
}

// twice returns an error if a cell declares a name twice, in the words of ../../tools/gonb.patch.
func (c *parts) twice(added []unit) error {
	seen := map[string]bool{"main": c.hasMain}
	for _, u := range added {
		for _, n := range u.names {
			short := n.text[strings.LastIndex(n.text, ".")+1:] // without a receiver
			if seen[n.text] && n.text != "init" {
				line := u.line + strings.Count(u.text[:max(n.at, 0)], "\n")
				return at(c.label, line, "%s is declared twice in this cell", short)
			}
			seen[n.text] = u.path == "" && short != "_" && !strings.HasPrefix(n.text, "_ ")
		}
	}
	return nil
}

// replace returns the old units without the names that the added units declare.
func replace(old, added []unit) []unit {
	kept := slices.Clone(old)
	for _, a := range added {
		for _, n := range a.names {
			kept = forget(kept, n.text)
		}
	}
	return kept
}

// forget returns the units without the declaration of a name.
func forget(units []unit, name string) []unit {
	var kept []unit
	for _, u := range units {
		if rest, some := u.without(name); some {
			kept = append(kept, rest)
		}
	}
	return kept
}

// declared returns the declarations of a file.
func (s *Session) declared(f *parsed, label string) ([]unit, error) {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:embed") {
				return nil, at(label, f.fset.Position(c.Pos()).Line,
					"//go:embed is not available in the page: read the file with os.ReadFile")
			}
		}
	}
	var all []unit
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			u := f.cut(label, "", d)
			u.names = []name{{function(d), -1}}
			u.acts = d.Recv == nil && (d.Name.Name == "main" || strings.HasPrefix(u.source(), "func init("))
			all = append(all, u)
		case *ast.GenDecl:
			if d.Tok == token.CONST {
				all = append(all, f.values(label, "", d, d.Specs))
				continue
			}
			for _, spec := range d.Specs {
				u, err := s.spec(f, label, spec)
				if err != nil {
					return nil, err
				}
				all = append(all, u)
			}
		}
	}
	return all, nil
}

// spec returns the unit of a line of imports, types or variables.
func (s *Session) spec(f *parsed, label string, spec ast.Spec) (unit, error) {
	switch spec := spec.(type) {
	case *ast.ImportSpec:
		return s.imported(f.cut(label, "import ", spec), spec)
	case *ast.TypeSpec:
		u := f.cut(label, "type ", spec)
		u.names = []name{{spec.Name.Name, -1}}
		return u, nil
	default:
		return f.values(label, "var ", spec, []ast.Spec{spec}), nil
	}
}

// imported completes the unit of an import.
func (s *Session) imported(u unit, spec *ast.ImportSpec) (unit, error) {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return u, at(u.label, u.line, "import of %s: %v", spec.Path.Value, err)
	}
	local, known := s.packages[path]
	if !known {
		return u, at(u.label, u.line, "there is no package %q in this page: "+
			"correct its path, write the cell without it, or open the notebook in JupyterLab with GoNB", path)
	}
	if spec.Name != nil {
		local = spec.Name.Name
	}
	if local == "_" || local == "." {
		u.always, local = true, local+" "+path
	}
	u.path, u.names = path, []name{{local, -1}}
	return u, nil
}

// values returns the unit of constants or variables. The name of a blank variable is its
// text, so that a second run of the cell replaces it.
func (f *parsed) values(label, prefix string, n ast.Node, specs []ast.Spec) unit {
	u := f.cut(label, prefix, n)
	begin := f.fset.Position(n.Pos()).Offset
	for _, spec := range specs {
		spec := spec.(*ast.ValueSpec)
		u.acts = u.acts || prefix == "var " && slices.ContainsFunc(spec.Values, acts)
		for _, id := range spec.Names {
			if id.Name != "_" {
				u.names = append(u.names, name{id.Name, f.fset.Position(id.Pos()).Offset - begin})
			}
		}
	}
	if len(u.names) == 0 {
		u.names = []name{{"_ " + u.text, -1}}
	}
	return u
}

// acts reports whether the evaluation of an expression may have an effect.
func acts(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr, *ast.TypeAssertExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// cut returns a unit without names.
func (f *parsed) cut(label, prefix string, n ast.Node) unit {
	begin, end := f.fset.Position(n.Pos()), f.fset.Position(n.End())
	return unit{label: label, line: begin.Line, prefix: prefix, text: f.text[begin.Offset:end.Offset]}
}

// function returns the name of a function, or T.m of a method.
func function(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	return receiver(d.Recv.List[0].Type) + "." + d.Name.Name
}

// receiver returns the first name in a type, T of *T[K].
func receiver(e ast.Expr) (name string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}
