package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// opposite names the function that a mutant calls in place of another of the
// same type, in the same package or on the same receiver.
var opposite = map[string]string{
	"Add": "Sub", "Sub": "Add", "Mul": "Quo", "Quo": "Mul", "Min": "Max", "Max": "Min",
	"MinFunc": "MaxFunc", "MaxFunc": "MinFunc", "Exp": "Log", "Log": "Exp",
}

// dropped names the functions of one argument that a mutant leaves out.
var dropped = map[string]bool{"Abs": true, "Sqrt": true, "T": true, "Neg": true}

// call makes points of a call: another function for the one that is called,
// neighbours of an exponent, two indices exchanged.
func (r *rewriter) call(n *ast.CallExpr) {
	if id, ok := n.Fun.(*ast.Ident); ok {
		if b, ok := r.info.Uses[id].(*types.Builtin); ok {
			r.minOrMax(n, id, b.Name())
			return
		}
	}
	name := calledName(n)
	if r.at(n) == "math.Inf(1)" || r.at(n) == "math.Inf(-1)" { // of the argument the sign alone counts
		other := map[string]string{"math.Inf(1)": "math.Inf(-1)", "math.Inf(-1)": "math.Inf(1)"}[r.at(n)]
		p := r.add(n, r.at(n), variant{"sign", other})
		r.wrap(n, "mutant.Of("+p+", ", ", "+other+")")
		return
	}
	if name == "Pow" || name == "Power" {
		if e := n.Args[len(n.Args)-1]; r.isNumber(e) {
			if r.isInt(e) {
				r.near(e, "exponent")
			}
		}
	}
	r.otherFunction(n, name)
	r.exchange(n)
}

func calledName(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func (r *rewriter) minOrMax(n *ast.CallExpr, id *ast.Ident, name string) {
	if name != "min" && name != "max" || !r.isNumber(n) {
		return
	}
	other, f := "max", "Min"
	if name == "max" {
		other, f = "min", "Max"
	}
	p := r.add(n, r.at(n), variant{"function", oneLine(other + strings.TrimPrefix(r.at(n), name))})
	tn, ok := r.typeName(r.info.Types[n].Type)
	if !ok {
		r.points, r.next = r.points[:len(r.points)-1], r.next-1
		return
	}
	from := r.offset(id.Pos())
	r.replace(from, r.offset(n.Lparen)+1, "mutant."+f+"["+tn+"]("+p+", ")
}

// otherFunction replaces the function that is called.
func (r *rewriter) otherFunction(n *ast.CallExpr, name string) {
	other := opposite[name]
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		r.otherInPackage(n, name, other)
		return
	}
	method := r.info.Selections[sel]
	if method == nil {
		if f, ok := r.info.Uses[sel.Sel].(*types.Func); ok {
			r.otherOf(n, f, r.at(sel.X)+".", other)
		}
		return
	}
	f, ok := method.Obj().(*types.Func)
	if !ok || method.Kind() != types.MethodVal || len(method.Index()) != 1 {
		return
	}
	recv := f.Signature().Recv().Type()
	if !types.Identical(recv, r.info.Types[sel.X].Type) || types.IsInterface(recv) {
		return
	}
	r.otherMethod(n, sel, f, recv, other)
}

func (r *rewriter) otherInPackage(n *ast.CallExpr, name, other string) {
	if id, ok := n.Fun.(*ast.Ident); ok {
		if f, ok := r.info.Uses[id].(*types.Func); ok && f.Pkg() == r.pkg && f.Name() == name {
			r.otherOf(n, f, "", other)
		}
	}
}

// otherOf makes the point of a call to a function of a package.
func (r *rewriter) otherOf(n *ast.CallExpr, f *types.Func, prefix, other string) {
	sig := f.Signature()
	if dropped[f.Name()] && sig.Params().Len() == 1 && sig.Results().Len() == 1 && sig.TypeParams() == nil &&
		types.Identical(sig.Params().At(0).Type(), sig.Results().At(0).Type()) {
		p := r.add(n, r.at(n), variant{"function", oneLine(r.at(n.Args[0]))})
		r.wrap(n.Fun, "mutant.Same("+p+", ", ")")
		return
	}
	g, ok := f.Pkg().Scope().Lookup(other).(*types.Func)
	if !ok || sig.Recv() != nil || other == "" {
		return
	}
	arguments := ""
	if sig.TypeParams() != nil {
		if arguments, ok = r.typeArguments(n.Fun, sig, g.Signature()); !ok {
			return
		}
	} else if !types.Identical(sig, g.Signature()) {
		return
	}
	p := r.add(n, r.at(n), variant{"function", oneLine(prefix + other + strings.TrimPrefix(r.at(n), r.at(n.Fun)))})
	from, to := r.offset(n.Fun.Pos()), r.offset(n.Fun.End())
	r.replace(from, to, "mutant.Fn("+p+", "+r.at(n.Fun)+arguments+", "+prefix+other+arguments+")")
}

// typeArguments returns the list in brackets of a generic function's call.
func (r *rewriter) typeArguments(fun ast.Expr, f, g *types.Signature) (list string, ok bool) {
	sel, isSel := fun.(*ast.SelectorExpr)
	if !isSel || f.TypeParams().Len() != g.TypeParams().Len() {
		return "", false
	}
	args := r.info.Instances[sel.Sel].TypeArgs
	var names []string
	for i := range args.Len() {
		name, ok := r.typeName(args.At(i))
		if !ok {
			return "", false
		}
		names = append(names, name)
	}
	return "[" + strings.Join(names, ", ") + "]", true
}

// otherMethod makes the point of a call to a method.
func (r *rewriter) otherMethod(n *ast.CallExpr, sel *ast.SelectorExpr, f *types.Func, recv types.Type, other string) {
	name, ok := r.typeName(recv)
	from, to := r.offset(sel.X.End()), r.offset(n.Lparen)+1
	if !ok || strings.Contains(string(r.text[from:to]), "\n") || n.Ellipsis.IsValid() {
		return
	}
	sig := f.Signature()
	if dropped[f.Name()] && sig.Params().Len() == 0 && sig.Results().Len() == 1 &&
		types.Identical(sig.Results().At(0).Type(), recv) {
		p := r.add(n, r.at(n), variant{"function", oneLine(r.at(sel.X))})
		r.wrap(sel.X, "mutant.Same("+p+", ("+name+")."+f.Name()+")(", "")
		r.replace(from, to, "")
		return
	}
	o, _, _ := types.LookupFieldOrMethod(recv, true, f.Pkg(), other)
	g, ok := o.(*types.Func)
	if other == "" || !ok || sig.Params().Len() == 0 || !types.Identical(sig.Params(), g.Signature().Params()) ||
		!types.Identical(sig.Results(), g.Signature().Results()) {
		return
	}
	after := r.at(sel.X) + "." + other + string(r.text[to-1:r.offset(n.End())])
	p := r.add(n, r.at(n), variant{"function", oneLine(after)})
	r.wrap(sel.X, "mutant.Fn("+p+", ("+name+")."+f.Name()+", ("+name+")."+other+")(", "")
	r.replace(from, to, ", ")
}

// exchange swaps two neighbouring arguments that are indices.
func (r *rewriter) exchange(n *ast.CallExpr) {
	if f, ok := r.callee(n).(*types.Func); !ok || f.Pkg() == nil || !strings.HasPrefix(f.Pkg().Path(), "learncausal") ||
		f.Name() == "Distance" { // which is symmetric
		return
	}
	for k := 1; k < len(n.Args); k++ {
		x, y := n.Args[k-1], n.Args[k]
		_, okX := x.(*ast.Ident)
		_, okY := y.(*ast.Ident)
		tx, ty := r.info.Types[x].Type, r.info.Types[y].Type
		if !okX || !okY || !r.isNumber(x) || !r.isNumber(y) || !r.isInt(x) ||
			!types.Identical(tx, ty) || r.at(x) == r.at(y) {
			continue
		}
		from := r.offset(n.Pos())
		before := r.at(n)
		after := before[:r.offset(x.Pos())-from] + r.at(y) + before[r.offset(x.End())-from:r.offset(y.Pos())-from] +
			r.at(x) + before[r.offset(y.End())-from:]
		p := r.add(n, before, variant{"index", oneLine(after)})
		r.wrap(x, "mutant.Of("+p+", ", ", "+r.at(y)+")")
		r.wrap(y, "mutant.Of("+p+", ", ", "+r.at(x)+")")
	}
}

// callee returns what a call calls by name.
func (r *rewriter) callee(n *ast.CallExpr) types.Object {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return r.info.Uses[f]
	case *ast.SelectorExpr:
		return r.info.Uses[f.Sel]
	}
	return nil
}
