package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What cannot change a verdict is not mutated:
//
//   - what describes an instance, calls included, a note or any other text, and
//     functions and variables that are only used there;
//   - which instances are tried: how they are drawn, how many there are, where a
//     search starts, goes and does not go, which matrix a point of it stands for, the
//     constants in a list and its entries,
//     the numbers, graphs and priors that the package keeps in variables, and what
//     is chosen by a function or variable whose name says so (see prefixes);
//   - planted faults and repairs, which are controls of the check;
//   - guards that panic or return a new error, for a caller's mistake, and
//     comparisons with nil;
//   - whether a check stops early, once it has failed or was interrupted;
//   - how much room a list is made with, how many workers there are;
//   - the index in a loop that does the same to every entry of a list;
//   - how priors are drawn (two files of pkg/markov are not mutated).
//
// excluded says so of a node, instanceOnly of a function.
//
// Where tests judge a package, all of it is mutated but the texts of errors and how
// much room a list is made with; statements are left out, too.

// controls are the fields of literals that a verdict does not depend on.
var controls = []string{
	"Faults", "Repairs", "Spare", "Instance", "Equation", "Note", "Quick", "Sizes", "Floor", "PerSize", "Instances",
	"Share", "Loose", "Missed",
}

func (r *rewriter) excluded(n ast.Node) bool {
	if r.tested {
		c, ok := n.(*ast.CallExpr)
		return ok && (slices.Contains([]string{"panic", "make", "Errorf"}, calledName(c)) ||
			slices.Contains([]string{"errors.New", "math.Inf"}, r.at(c.Fun)))
	}
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Else == nil && (panics(n.Body) || notesOnly(n.Body) || r.refuses(n.Body) || r.leaves(n.Body))
	case *ast.CompositeLit:
		t := r.info.Types[n].Type
		return isNamed(t, "pkg/ledger", "Instance") ||
			r.folder == "paper/claims" && (isSizes(t) || r.holdsInstance(n) || r.isConstant(n))
	case *ast.FuncLit:
		return r.describes(r.info.Types[n].Type.(*types.Signature))
	case *ast.ReturnStmt:
		return r.leavesSearch(n)
	case *ast.KeyValueExpr:
		id, ok := n.Key.(*ast.Ident)
		return ok && slices.Contains(controls, id.Name)
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, isControl) || slices.ContainsFunc(n.Rhs, r.draws) ||
			n.Tok == token.DEFINE &&
				(slices.ContainsFunc(n.Rhs, r.readsPoint) || r.folder == "paper/claims" && isChoice(n.Lhs))
	case *ast.IndexExpr:
		return r.folder == "paper/claims" && r.isEntry(n)
	case *ast.IncDecStmt:
		return isControl(n.X)
	case *ast.CallExpr:
		return r.excludedCall(n)
	case *ast.Ident:
		return r.folder == "paper/claims" && r.info.Types[n].Value != nil && chooses(n.Name)
	case ast.Expr:
		return r.draws(n)
	}
	return false
}

// prefixes begin the names of functions and variables of paper/claims that choose
// instances: any of those that serve.
var prefixes = []string{"draw", "random", "some", "tried", "rounded", "start"}

func chooses(name string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(strings.ToLower(name), p) })
}

// instanceOnly reports whether a function serves instances or texts only: by
// what it returns, by what it draws from, or by its name.
func (r *rewriter) instanceOnly(d *ast.FuncDecl) bool {
	sig := r.info.Defs[d.Name].(*types.Func).Signature()
	if r.tested {
		return false
	}
	if r.describes(sig) || r.onlyDescribes(r.info.Defs[d.Name]) {
		return true
	}
	if r.folder != "paper/claims" {
		return strings.HasPrefix(d.Name.Name, "check") // a guard for a caller's mistake
	}
	random, all := false, sig.Results().Len() > 0
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			text := v.Type().String()
			random = random || text == "*math/rand/v2.Rand"
			all = all && (tuple == sig.Params() || isInstance(text))
		}
	}
	return all || (random || chooses(d.Name.Name)) && !aboutVerdict(sig)
}

// aboutVerdict reports whether a function takes part in a verdict.
func aboutVerdict(sig *types.Signature) bool {
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			text := v.Type().String()
			if strings.Contains(text, "ledger.Worst") || strings.Contains(text, "ledger.Check") ||
				strings.Contains(text, "ledger.Finding") {
				return true
			}
		}
	}
	return false
}

// isInstance reports whether a type can only be of instances: graphs, priors,
// models, and what yields them.
func isInstance(t string) bool {
	t = strings.TrimLeft(t, "[]*")
	return strings.HasPrefix(t, "iter.Seq") || strings.HasPrefix(t, "learncausal/pkg/graph.") ||
		strings.HasPrefix(t, "learncausal/pkg/markov.") || strings.HasPrefix(t, "learncausal/pkg/model.")
}

// holdsInstance reports whether a literal of paper/claims lists an instance: one
// of its parts is a graph, a prior or a model, or, in a row of a table, which has no
// named type, a matrix of constants, or a list of such.
func (r *rewriter) holdsInstance(n *ast.CompositeLit) bool {
	_, named := types.Unalias(r.info.Types[n].Type).(*types.Named)
	return slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		t := r.info.Types[e].Type
		if t == nil {
			return false
		}
		_, isName := e.(*ast.Ident)
		lit, isList := e.(*ast.CompositeLit)
		matrix := strings.TrimLeft(t.String(), "[]") == "learncausal/pkg/exact.Matrix"
		return isInstance(t.String()) ||
			!named && matrix && (isName || r.isConstantCall(e) || isList && r.isConstant(lit))
	})
}

// isInstances reports whether a literal of paper/claims lists numbers or constant
// fractions: a loop over it tries instances.
func (r *rewriter) isInstances(n *ast.CompositeLit) bool {
	return r.folder == "paper/claims" && (isNumbers(r.info.Types[n].Type) || r.isConstant(n))
}

// isConstant reports whether a literal lists constants, constant fractions, or what
// has a name.
func (r *rewriter) isConstant(n *ast.CompositeLit) bool {
	if _, isStruct := r.info.Types[n].Type.Underlying().(*types.Struct); isStruct {
		return false
	}
	return !slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
		if lit, ok := e.(*ast.CompositeLit); ok {
			return !r.isConstant(lit)
		}
		if _, isName := e.(*ast.Ident); isName || r.info.Types[e].Value != nil {
			return false
		}
		return !r.isConstantCall(e)
	})
}

// isConstantCall reports whether an expression makes a fraction or a matrix of
// constants, or zero.
func (r *rewriter) isConstantCall(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	return ok && slices.Contains([]string{"Frac", "Rat", "NewRat", "Rats", "new"}, calledName(c)) &&
		!slices.ContainsFunc(c.Args, func(a ast.Expr) bool {
			return !r.info.Types[a].IsType() && r.info.Types[a].Value == nil
		})
}

// isChoice reports whether all that is defined has a name of a choice.
func isChoice(names []ast.Expr) bool {
	return !slices.ContainsFunc(names, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || !chooses(id.Name)
	})
}

// isEntry reports whether an expression reads an entry, by a constant index, of an
// array that goes through a list, the coordinates of an instance, or of a list whose
// name says that it is of choices.
func (r *rewriter) isEntry(n *ast.IndexExpr) bool {
	t := r.info.Types[n.X].Type
	if t == nil || r.info.Types[n.Index].Value == nil {
		return false
	}
	_, isArray := t.Underlying().(*types.Array)
	id, isName := n.X.(*ast.Ident)
	return isName && (isArray && r.ranged[r.info.Uses[id]] || chooses(id.Name))
}

// keepsInstances reports whether a variable of the package holds numbers,
// matrices, or lists of such, and so instances.
func (r *rewriter) keepsInstances(v *ast.ValueSpec) bool {
	t := r.info.Defs[v.Names[0]].Type()
	text := strings.TrimLeft(t.String(), "[]*0123456789")
	return r.folder == "paper/claims" && (isNumbers(t) || isInstance(t.String()) || text == "math/big.Rat" ||
		strings.HasPrefix(text, "learncausal/pkg/exact."))
}

// countsInstances reports whether the condition of a loop of paper/claims compares
// with a literal or a budget, which is how many instances, sizes or denominators
// are tried; the bounds of sums have names.
func (r *rewriter) countsInstances(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok || r.folder != "paper/claims" {
		return false
	}
	if b.Op == token.LAND {
		return r.countsInstances(b.X) || r.countsInstances(b.Y)
	}
	c, call := b.Y.(*ast.CallExpr)
	return r.info.Types[b.Y].Value != nil || call && calledName(c) == "Budget"
}

// leaves reports whether a block only leaves a search.
func (r *rewriter) leaves(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	s, ok := b.List[0].(*ast.ReturnStmt)
	return ok && r.leavesSearch(s)
}

// leavesSearch reports whether a point of a search of paper/claims is passed over.
func (r *rewriter) leavesSearch(s *ast.ReturnStmt) bool {
	return r.folder == "paper/claims" && slices.ContainsFunc(s.Results, r.isInfinite)
}

// isInfinite reports whether an expression is math.Inf, which is what the sides
// of a point of a search are where the hypotheses fail.
func (r *rewriter) isInfinite(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	return ok && calledName(c) == "Inf"
}

// sameForEvery returns the entry that a loop over a list assigns to, if that is all
// that it does, with what depends neither on the entry nor on others: read as a
// circle, the list comes to the same whichever neighbour is taken.
func (r *rewriter) sameForEvery(n *ast.RangeStmt) *ast.IndexExpr {
	key, ok := n.Key.(*ast.Ident)
	if !ok || n.Value != nil || len(n.Body.List) != 1 {
		return nil
	}
	a, ok := n.Body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !r.pure(a.Rhs[0]) {
		return nil
	}
	entry, ok := a.Lhs[0].(*ast.IndexExpr)
	list, named := n.X.(*ast.Ident)
	if !ok || !named || r.at(entry.X) != list.Name || r.at(entry.Index) != key.Name {
		return nil
	}
	depends := false
	ast.Inspect(a.Rhs[0], func(m ast.Node) bool {
		id, ok := m.(*ast.Ident)
		depends = depends || ok && (id.Name == key.Name || id.Name == list.Name)
		return !depends
	})
	if depends {
		return nil
	}
	return entry
}

// describes reports whether all that a function returns are descriptions.
func (r *rewriter) describes(sig *types.Signature) bool {
	for v := range sig.Results().Variables() {
		text := v.Type().String()
		if strings.TrimLeft(text, "[]") != "string" && !strings.HasSuffix(text, "ledger.Instance") {
			return false
		}
	}
	return sig.Results().Len() > 0
}

// notesOnly reports whether a block only sets notes and the like.
func notesOnly(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		a, ok := s.(*ast.AssignStmt)
		if !ok || !slices.ContainsFunc(a.Lhs, isControl) {
			return false
		}
	}
	return len(b.List) > 0
}

// refuses reports whether a block of the library ends by returning a new error:
// its caller has made a mistake. [exact.CheckGamma] decides a hypothesis instead.
func (r *rewriter) refuses(b *ast.BlockStmt) bool {
	if len(b.List) == 0 || r.folder == "paper/claims" || r.function == "CheckGamma" {
		return false
	}
	s, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	if !ok || len(s.Results) == 0 {
		return false
	}
	c, ok := s.Results[len(s.Results)-1].(*ast.CallExpr)
	return ok && slices.Contains([]string{"Errorf", "New", "fault"}, calledName(c))
}

// readsPoint reports whether an expression reads coordinates of a point of a
// search: of the first parameter of a function of paper/claims, a []float64
// named x or v.
func (r *rewriter) readsPoint(e ast.Expr) bool {
	if _, isFunc := e.(*ast.FuncLit); isFunc || r.folder != "paper/claims" {
		return false
	}
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		var list ast.Expr
		switch n := n.(type) {
		case *ast.IndexExpr:
			list = n.X
		case *ast.SliceExpr:
			list = n.X
		}
		if id, ok := list.(*ast.Ident); ok && (id.Name == "x" || id.Name == "v") {
			v, ok := r.info.Uses[id].(*types.Var)
			found = found || ok && v.Kind() == types.ParamVar && v.Type().String() == "[]float64"
		}
		return !found
	})
	return found
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

// isNumbers reports whether t is a list of numbers, or of such.
func isNumbers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return isNumbers(u.Elem())
	case *types.Array:
		return isNumbers(u.Elem())
	}
	return isNumeric(t)
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
	if i, ok := e.(*ast.IndexExpr); ok { // an entry of an instance
		e = i.X
	}
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
	results := f.Signature().Results()
	if r.folder == "paper/claims" && results.Len() == 1 && isInstance(results.At(0).Type().String()) {
		return true // its arguments say which instance
	}
	if f.Pkg() == r.pkg && r.folder == "paper/claims" && chooses(f.Name()) && !aboutVerdict(f.Signature()) {
		return true
	}
	if results.Len() == 1 && isNamed(results.At(0).Type(), "pkg/ledger", "Instance") {
		return true // describes one
	}
	if r.folder == "paper/claims" && f.Name() == "Kernel" && strings.HasSuffix(f.Pkg().Path(), "pkg/ledger") {
		return true // the matrix that a point of a search stands for
	}
	if f.Pkg() == r.pkg && f.Name() == "atLeast" {
		return true // a guard that panics
	}
	recv := f.Signature().Recv()
	return recv != nil && strings.HasSuffix(recv.Type().String(), "ledger.Env") || f.Name() == "Noted"
}

// draws reports whether an expression draws from a random stream, which can
// only be which instance is tried.
func (r *rewriter) draws(e ast.Expr) bool {
	if r.folder != "paper/claims" {
		return false
	}
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if c, ok := n.(*ast.CallExpr); ok {
			if f, ok := r.callee(c).(*types.Func); ok && f.Signature().Recv() != nil {
				found = found || f.Signature().Recv().Type().String() == "*math/rand/v2.Rand"
			}
		}
		return !found
	})
	return found
}

// aboutErrors reports whether a condition compares with nil, or asks whether a
// check may stop since it has failed, was interrupted, or nobody wants more, or
// whether a search has left the hypotheses.
func (r *rewriter) aboutErrors(e ast.Expr) bool {
	if r.tested {
		return false
	}
	if not, ok := e.(*ast.UnaryExpr); ok {
		e = not.X
	}
	if c, ok := e.(*ast.CallExpr); ok {
		name := calledName(c)
		return r.folder == "paper/claims" && slices.Contains([]string{"Failed", "yield", "IsInf"}, name) ||
			name == "Err"
	}
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
