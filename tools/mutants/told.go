package main

import (
	"go/ast"
	"go/types"
	"slices"
)

// findTold finds the local variables of a function that are only told: each use
// is in what is excluded anyway, as a note is, or computes another of them.
func (r *rewriter) findTold(body *ast.BlockStmt) {
	r.told = map[types.Object]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := r.info.Defs[id].(*types.Var); ok && v.Kind() == types.LocalVar {
				if _, basic := v.Type().Underlying().(*types.Basic); basic {
					r.told[v] = true
				}
			}
		}
		return true
	})
	for again := true; again; {
		again = false
		var path []ast.Node
		ast.Inspect(body, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			if id, ok := n.(*ast.Ident); ok {
				if o := r.info.Uses[id]; o != nil && r.told[o] && !slices.ContainsFunc(path, r.onlyTells) {
					delete(r.told, o)
					again = true
				}
			}
			path = append(path, n)
			return true
		})
	}
}

// onlyTells reports whether a node has no effect but on what is told.
func (r *rewriter) onlyTells(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			if id, ok := e.(*ast.Ident); !ok || id.Name != "_" && !r.told[r.object(id)] {
				return r.excluded(n)
			}
		}
		return true
	case *ast.IncDecStmt:
		id, ok := n.X.(*ast.Ident)
		return ok && r.told[r.object(id)] || !r.tested && isControl(n.X)
	case *ast.IfStmt:
		return n.Else == nil && len(n.Body.List) > 0 &&
			!slices.ContainsFunc(n.Body.List, func(s ast.Stmt) bool { return !r.onlyTells(s) }) ||
			r.excluded(n)
	case ast.Expr:
		return r.excluded(n)
	}
	return false
}

func (r *rewriter) object(id *ast.Ident) types.Object {
	if o := r.info.Defs[id]; o != nil {
		return o
	}
	return r.info.Uses[id]
}

// onlyDescribes reports whether a function of paper/claims is used, and by what
// describes instances alone.
func (u *unit) onlyDescribes(function types.Object) bool {
	if u.folder != "paper/claims" {
		return false
	}
	if u.describing == nil {
		u.describing = map[types.Object]bool{}
		for _, f := range u.files {
			u.findDescribing(f)
		}
	}
	return u.describing[function]
}

// findDescribing goes through the functions that a file names.
func (u *unit) findDescribing(f *ast.File) {
	var path []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if id, ok := n.(*ast.Ident); ok {
			if g, ok := u.info.Uses[id].(*types.Func); ok && g.Pkg() == u.pkg {
				before, seen := u.describing[g]
				u.describing[g] = slices.ContainsFunc(path, u.makesInstance) && (before || !seen)
			}
		}
		return true
	})
}

// makesInstance reports whether a node is an instance, or a function that returns one.
func (u *unit) makesInstance(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CompositeLit, *ast.CallExpr:
		return isNamed(u.info.Types[n.(ast.Expr)].Type, "pkg/ledger", "Instance")
	case *ast.FuncLit:
		results := u.info.Types[n].Type.(*types.Signature).Results()
		return results.Len() == 1 && isNamed(results.At(0).Type(), "pkg/ledger", "Instance")
	case *ast.FuncDecl:
		results := u.info.Defs[n.Name].(*types.Func).Signature().Results()
		return results.Len() == 1 && isNamed(results.At(0).Type(), "pkg/ledger", "Instance")
	}
	return false
}
