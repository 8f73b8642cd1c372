package main

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// What cannot change a verdict is not mutated:
//
//   - what describes an instance, a note or any other text;
//   - which instances are tried: how they are drawn, how many there are, where
//     a search starts, the sizes in a list;
//   - planted faults and repairs, which are controls of the check;
//   - guards that panic, for a caller's mistake, and comparisons with nil;
//   - how much room a list is made with.
//
// excluded says so of a node, instanceOnly of a function.

// controls are the fields of literals that a verdict does not depend on.
var controls = []string{
	"Faults", "Repairs", "Spare", "Instance", "Equation", "Note", "Quick", "Sizes", "Floor", "PerSize", "Instances",
}

func (r *rewriter) excluded(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Else == nil && panics(n.Body)
	case *ast.CompositeLit:
		t := r.info.Types[n].Type
		return isNamed(t, "pkg/ledger", "Instance") || r.folder == "paper/claims" && isSizes(t)
	case *ast.FuncLit:
		return r.describes(r.info.Types[n].Type.(*types.Signature))
	case *ast.KeyValueExpr:
		id, ok := n.Key.(*ast.Ident)
		return ok && slices.Contains(controls, id.Name)
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, isControl)
	case *ast.IncDecStmt:
		return isControl(n.X)
	case *ast.CallExpr:
		return r.excludedCall(n)
	case ast.Expr:
		return r.draws(n)
	}
	return false
}

// instanceOnly reports whether a function serves instances, texts or guards
// only.
func (r *rewriter) instanceOnly(d *ast.FuncDecl) bool {
	o := r.info.Defs[d.Name]
	if o == nil {
		return false
	}
	sig := o.(*types.Func).Signature()
	if r.describes(sig) {
		return true
	}
	verdict, random := false, false
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			text := v.Type().String()
			verdict = verdict || strings.Contains(text, "ledger.Worst") || strings.Contains(text, "ledger.Check") || strings.Contains(text, "ledger.Finding")
			random = random || strings.HasSuffix(text, "rand.Rand") || strings.HasPrefix(text, "iter.Seq")
		}
	}
	return r.folder == "paper/claims" && random && !verdict
}

// describes reports whether all that a function returns are descriptions.
func (r *rewriter) describes(sig *types.Signature) bool {
	for v := range sig.Results().Variables() {
		text := v.Type().String()
		if text != "string" && text != "[]string" && !strings.HasSuffix(text, "ledger.Instance") {
			return false
		}
	}
	return sig.Results().Len() > 0
}

func isNamed(t types.Type, folder, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && strings.HasSuffix(n.Obj().Pkg().Path(), folder)
}

// isSizes reports whether t is a list of integers, or of such.
func isSizes(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return isSizes(u.Elem())
	case *types.Array:
		return isSizes(u.Elem())
	case *types.Basic:
		return u.Info()&types.IsInteger != 0
	}
	return false
}

func panics(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	s, ok := b.List[len(b.List)-1].(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := s.X.(*ast.CallExpr)
	return ok && calledName(c) == "panic"
}

// isControl reports whether what is assigned to is a note or a count of
// instances.
func isControl(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && slices.Contains(controls, s.Sel.Name)
}

func (r *rewriter) excludedCall(n *ast.CallExpr) bool {
	if r.draws(n) {
		return true
	}
	o := r.callee(n)
	if b, ok := o.(*types.Builtin); ok {
		return b.Name() == "panic" || b.Name() == "make"
	}
	f, ok := o.(*types.Func)
	if !ok || f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case "fmt", "errors", "strings", "strconv":
		return true
	}
	recv := f.Signature().Recv()
	return recv != nil && strings.HasSuffix(recv.Type().String(), "ledger.Env") && f.Name() != "Attack" || f.Name() == "Noted"
}

// draws reports whether an expression draws from a random stream, which can
// only be which instance is tried.
func (r *rewriter) draws(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if c, ok := n.(*ast.CallExpr); ok {
			if f, ok := r.callee(c).(*types.Func); ok && f.Signature().Recv() != nil {
				found = found || strings.HasSuffix(f.Signature().Recv().Type().String(), "rand.Rand")
			}
		}
		return !found
	})
	return found
}

// aboutErrors reports whether a condition compares with nil.
func (r *rewriter) aboutErrors(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	for _, side := range []ast.Expr{b.X, b.Y} {
		if id, ok := side.(*ast.Ident); ok && id.Name == "nil" {
			return true
		}
	}
	return false
}
