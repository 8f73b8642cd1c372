package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// A reach says what uses what: the declarations of the packages that are mutated,
// by name, and the rows whose claims use them, however indirectly.
type reach struct {
	uses  map[string][]string // of a declaration, or of a row
	names map[string][]named  // the variables of packages, by file
	rows  map[string]map[string]bool
}

// A named is a variable of a package and its lines.
type named struct {
	name     string
	from, to int
}

// reaching returns the reach of the units. A row uses its claim, and what a map of
// the package has for its id, as its second routes are; who uses a type, uses its
// methods.
func reaching(units []*unit) *reach {
	r := &reach{uses: map[string][]string{}, names: map[string][]named{}, rows: map[string]map[string]bool{}}
	var ids []string
	for _, u := range units {
		for file, f := range u.files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					o := u.info.Defs[d.Name].(*types.Func)
					r.add(u, nameOf(o), d)
					if d.Recv != nil {
						r.add(u, nameOf(typeOf(o.Signature().Recv().Type())), d.Name)
					}
				case *ast.GenDecl:
					ids = append(ids, r.variables(u, file, d)...)
				}
			}
		}
	}
	for _, id := range ids {
		r.follow(id, rowName+id, map[string]bool{})
	}
	return r
}

// rowName begins the name of a row among the declarations.
const rowName = "row "

// add adds to what a declaration uses all that a node names.
func (r *reach) add(u *unit, name string, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			o := u.info.Uses[id]
			if o == nil {
				o = u.info.Defs[id]
			}
			if used := nameOf(o); used != "" && used != name {
				r.uses[name] = append(r.uses[name], used)
			}
		}
		return true
	})
}

// variables adds those of a declaration, and returns the ids of the claims among them.
func (r *reach) variables(u *unit, file string, d *ast.GenDecl) (ids []string) {
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, name := range v.Names {
			of := nameOf(u.info.Defs[name])
			r.add(u, of, v)
			from, to := u.fset.Position(v.Pos()).Line, u.fset.Position(v.End()).Line
			r.names[file] = append(r.names[file], named{of, from, to})
		}
		ast.Inspect(v, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if id := idOf(n); id != "" {
					ids = append(ids, id)
					r.add(u, rowName+id, v)
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.BasicLit); ok && key.Kind == token.STRING {
					id, _ := strconv.Unquote(key.Value)
					r.add(u, rowName+id, n.Value)
				}
			}
			return true
		})
	}
	return ids
}

// follow marks all that a name leads to as used by the row.
func (r *reach) follow(id, name string, seen map[string]bool) {
	for _, used := range r.uses[name] {
		if seen[used] {
			continue
		}
		seen[used] = true
		if r.rows[used] == nil {
			r.rows[used] = map[string]bool{}
		}
		r.rows[used][id] = true
		r.follow(id, used, seen)
	}
}

// of returns the rows that use the variable which stands at a line of a file, nil
// if none is known to.
func (r *reach) of(place string, line int) map[string]bool {
	for file, all := range r.names {
		if !strings.HasSuffix(place, file) {
			continue
		}
		for _, v := range all {
			if v.from <= line && line <= v.to {
				return r.rows[v.name]
			}
		}
	}
	return nil
}

// nameOf returns the name of what a package of the module declares, and its path; ""
// for anything else.
func nameOf(o types.Object) string {
	if o == nil || o.Pkg() == nil || !strings.HasPrefix(o.Pkg().Path(), "learncausal") {
		return ""
	}
	if f, ok := o.(*types.Func); ok {
		return f.Origin().FullName()
	}
	if o.Parent() != o.Pkg().Scope() {
		return ""
	}
	return o.Pkg().Path() + "." + o.Name()
}

// typeOf returns the name of a receiver's type.
func typeOf(t types.Type) types.Object {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t).(*types.Named).Obj()
}
