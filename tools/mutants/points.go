package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// A point is a place in the code with the variants that stand there in mutants.
type point struct {
	id       int
	file     string
	line     int
	function string // or variable, in which it stands
	source   string // the line
	before   string
	variants []variant
}

// A variant is what a mutant has in place of a point's code.
type variant struct{ operator, after string }

// An edit inserts text, or replaces what stands between two offsets.
type edit struct {
	from, to int
	text     string
	closing  bool // ends what an edit further up has opened
	order    int
}

// A rewriter finds the points of one file and the edits that make its code ask
// which mutant is on.
type rewriter struct {
	*unit
	name     string
	file     *ast.File
	text     []byte
	next     int // id of the next point
	order    int
	function string
	points   []point
	edits    []edit
	every    map[*ast.IndexExpr]bool  // entries of a loop that does the same to each
	best     map[*ast.BinaryExpr]bool // comparisons by which the largest or least is kept
	told     map[types.Object]bool    // variables that reach a note at most
	ranged   map[types.Object]bool    // variables that go through a list
	imports  map[string]string        // of packages named in edits, by alias
}

// rewrite returns the points of a file and its text as the instrumented build
// has it, line by line where it was.
func (u *unit) rewrite(name string, next int) ([]point, []byte) {
	r := &rewriter{
		unit: u, name: name, file: u.files[name], text: u.source[name], next: next, imports: map[string]string{},
		best: map[*ast.BinaryExpr]bool{}, every: map[*ast.IndexExpr]bool{}, ranged: map[types.Object]bool{},
	}
	for _, d := range r.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			r.function = d.Name.Name
			if d.Recv != nil {
				r.function = strings.TrimPrefix(r.at(d.Recv.List[0].Type), "*") + "." + d.Name.Name
			}
			if d.Body == nil || r.instanceOnly(d) {
				continue
			}
			r.findTold(d.Body)
			r.walk(d.Body)
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				for _, s := range d.Specs {
					v := s.(*ast.ValueSpec)
					if r.function = v.Names[0].Name; !r.keepsInstances(v) {
						r.walkAll(exprs(v.Values)...)
					}
				}
			}
		}
	}
	return r.points, r.rendered()
}

func exprs(list []ast.Expr) []ast.Node {
	var all []ast.Node
	for _, e := range list {
		all = append(all, e)
	}
	return all
}

func (r *rewriter) offset(p token.Pos) int { return r.fset.Position(p).Offset }

// at returns the source of a node.
func (r *rewriter) at(n ast.Node) string { return string(r.text[r.offset(n.Pos()):r.offset(n.End())]) }

// add makes a point of a node and returns its id as text.
func (r *rewriter) add(n ast.Node, before string, variants ...variant) string {
	start := r.fset.Position(n.Pos())
	line := r.text[start.Offset-start.Column+1:]
	source, _, _ := strings.Cut(string(line), "\n")
	r.points = append(r.points, point{
		id: r.next, file: r.name, line: start.Line, function: r.function,
		source: strings.TrimSpace(source), before: oneLine(before), variants: variants,
	})
	r.next++
	return fmt.Sprint(r.next - 1)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// wrap puts text before and after a node, inside of what was put there before.
func (r *rewriter) wrap(n ast.Node, before, after string) {
	from, to := r.offset(n.Pos()), r.offset(n.End())
	r.order++
	r.edits = append(r.edits, edit{from: from, to: from, text: before, order: r.order},
		edit{from: to, to: to, text: after, closing: true, order: r.order})
}

func (r *rewriter) replace(from, to int, text string) {
	r.edits = append(r.edits, edit{from: from, to: to, text: text, order: r.order})
}

// rendered returns the text with the edits and the imports that they need. At
// one offset, what closes comes before what opens, inner closings and outer
// openings first.
func (r *rewriter) rendered() []byte {
	slices.SortStableFunc(r.edits, func(a, b edit) int {
		switch {
		case a.from != b.from:
			return a.from - b.from
		case a.closing != b.closing && a.closing:
			return -1
		case a.closing != b.closing:
			return 1
		case a.closing:
			return b.order - a.order
		}
		return a.order - b.order
	})
	var out strings.Builder
	from := 0
	for _, e := range r.edits {
		out.Write(r.text[from:e.from])
		out.WriteString(e.text)
		from = e.to
	}
	out.Write(r.text[from:])
	if len(r.points) == 0 {
		return r.text
	}
	imports, text := `; import mutant "learncausal/pkg/mutant"`, out.String()
	for _, alias := range slices.Sorted(maps.Keys(r.imports)) {
		if strings.Contains(text, alias+".") {
			imports += fmt.Sprintf("; import %s %q", alias, r.imports[alias])
		}
	}
	end := r.offset(r.file.Name.End())
	return []byte(text[:end] + imports + text[end:])
}

// typeName returns a type as an edit may name it; ok is false where it cannot.
func (r *rewriter) typeName(t types.Type) (name string, ok bool) {
	ok = true
	var see func(t types.Type)
	see = func(t types.Type) {
		switch t := t.(type) {
		case *types.Named:
			o := t.Obj()
			if o.Pkg() != nil && o.Pkg() != r.pkg && !o.Exported() || o.Pkg() != nil && o.Parent() != o.Pkg().Scope() {
				ok = false
			}
			for i := range t.TypeArgs().Len() {
				see(t.TypeArgs().At(i))
			}
		case *types.Pointer:
			see(t.Elem())
		case *types.Slice:
			see(t.Elem())
		case *types.Array:
			see(t.Elem())
		case *types.Alias:
			see(types.Unalias(t))
		case *types.Basic:
		default:
			ok = false
		}
	}
	see(t)
	return types.TypeString(t, func(p *types.Package) string {
		if p == r.pkg {
			return ""
		}
		alias := "mutant_" + strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(p.Path())
		r.imports[alias] = p.Path()
		return alias
	}), ok
}

// isNumber reports whether e is a number that is known only at run time.
func (r *rewriter) isNumber(e ast.Expr) bool {
	tv, ok := r.info.Types[e]
	return ok && tv.Value == nil && isNumeric(tv.Type)
}

func isNumeric(t types.Type) bool {
	if _, generic := types.Unalias(t).(*types.TypeParam); t == nil || generic {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}

func (r *rewriter) isInt(e ast.Expr) bool {
	tv := r.info.Types[e]
	if !isNumeric(tv.Type) {
		return false
	}
	return tv.Type.Underlying().(*types.Basic).Info()&types.IsInteger != 0
}

// pure reports whether e can be evaluated twice.
func (r *rewriter) pure(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return r.pure(e.X)
	case *ast.ParenExpr:
		return r.pure(e.X)
	case *ast.IndexExpr:
		_, isMap := r.info.Types[e.X].Type.Underlying().(*types.Map)
		return !isMap && r.pure(e.X) && r.pure(e.Index)
	case *ast.BinaryExpr:
		return r.pure(e.X) && r.pure(e.Y)
	}
	return false
}

func (r *rewriter) walkAll(list ...ast.Node) {
	for _, n := range list {
		r.walk(n)
	}
}

// walk visits a node that is not excluded, makes points of it, and goes on with
// its parts.
func (r *rewriter) walk(n ast.Node) {
	if n == nil || r.excluded(n) || r.onlyTells(n) {
		return
	}
	if e, ok := n.(ast.Expr); ok {
		if tv := r.info.Types[e]; tv.IsType() || tv.Value != nil {
			r.constant(e, tv)
			return
		}
	}
	switch n := n.(type) {
	case *ast.BlockStmt:
		r.statements(n.List)
	case *ast.CaseClause:
		r.statements(n.Body)
	case *ast.CommClause:
		r.statements(n.Body)
	case *ast.BinaryExpr:
		r.binary(n)
	case *ast.UnaryExpr:
		r.unary(n)
	case *ast.CallExpr:
		if r.call(n); r.isInfinite(n) {
			return
		}
	case *ast.IndexExpr:
		r.index(n)
	case *ast.IfStmt:
		r.condition(n.Cond, true)
		if b, ok := n.Cond.(*ast.BinaryExpr); ok && r.keepsBest(n) {
			r.best[b] = true
		}
	case *ast.RangeStmt:
		if c, ok := n.X.(*ast.CallExpr); r.isNumber(n.X) && r.isInt(n.X) && !(ok && calledName(c) == "Budget") {
			r.near(n.X, "bound")
		}
	case *ast.AssignStmt:
		r.assign(n)
	case *ast.IncDecStmt:
		r.step(n)
	}
	r.parts(n)
}

// parts visits what a node consists of.
func (r *rewriter) parts(n ast.Node) {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		r.walk(n.Value)
		return
	case *ast.CompositeLit:
		r.walkAll(exprs(n.Elts)...)
		return
	case *ast.SelectorExpr:
		r.walk(n.X)
		return
	case *ast.RangeStmt:
		if id, ok := n.Value.(*ast.Ident); ok {
			r.ranged[r.info.Defs[id]] = true
		}
		r.every[r.sameForEvery(n)] = true
		lit, ok := n.X.(*ast.CompositeLit)
		counts := r.folder == "paper/claims" && r.info.Types[n.X].Value != nil
		if !counts && !(ok && r.isInstances(lit)) {
			r.walk(n.X)
		}
		r.walk(n.Body)
		return
	case *ast.ForStmt: // what counts the rounds stays, or they do not end
		counts := n.Cond != nil && r.countsInstances(n.Cond)
		for _, part := range []ast.Node{n.Init, n.Cond, n.Body} {
			if !isNil(part) && (part == n.Body || !counts) {
				r.walk(part)
			}
		}
		return
	case *ast.DeclStmt:
		if d := n.Decl.(*ast.GenDecl); d.Tok != token.VAR {
			return
		}
	}
	first := true
	ast.Inspect(n, func(m ast.Node) bool {
		if first {
			first = false
			return true
		}
		if m != nil {
			r.walk(m)
		}
		return false
	})
}

func isNil(n ast.Node) bool {
	switch n := n.(type) {
	case nil:
		return true
	case ast.Stmt:
		return n == nil
	case ast.Expr:
		return n == nil
	}
	return false
}

// constant replaces a number by its neighbours, or, if it is a fraction, by its
// half and its double, or, where it is so small that it can only be a tolerance,
// by 1: a smaller one makes a check stricter.
func (r *rewriter) constant(e ast.Expr, tv types.TypeAndValue) {
	if tv.Value == nil {
		return
	}
	t := types.Default(tv.Type)
	name, ok := r.typeName(t)
	if id, isName := e.(*ast.Ident); isName && (id.Name == "true" || id.Name == "false") {
		p := r.add(e, id.Name, variant{"condition", "!" + id.Name})
		r.wrap(e, "mutant.Of("+p+", ", ", !"+id.Name+")")
		return
	}
	lit, isLit := e.(*ast.BasicLit)
	if !ok || !isNumeric(t) || isLit && lit.Kind == token.CHAR {
		return
	}
	text := r.at(e)
	if !fits(tv.Value, t) {
		return
	}
	y, z := text+" + 1", text+" - 1"
	abs, _ := constant.Float64Val(tv.Value)
	switch abs = max(abs, -abs); {
	case abs == 0:
		y, z = "1", ""
	case constant.ToInt(tv.Value).Kind() == constant.Int:
	case abs < 1e-5:
		y, z = "1", ""
	default:
		y, z = "2 * ("+text+")", "("+text+") / 2"
	}
	variants := []variant{{"constant", y}, {"constant", z}}
	if z == "" {
		variants, z = variants[:1], text
	}
	if b := t.Underlying().(*types.Basic); b.Info()&types.IsUnsigned != 0 && abs == 0 {
		return
	}
	p := r.add(e, text, variants...)
	r.wrap(e, fmt.Sprintf("mutant.Num[%s](%s, ", name, p), fmt.Sprintf(", %s, %s)", y, z))
}

// fits reports whether both neighbours of a constant are of its type, if that is one
// of integers.
func fits(v constant.Value, t types.Type) bool {
	b := t.Underlying().(*types.Basic)
	if v = constant.ToInt(v); b.Info()&types.IsInteger == 0 || v.Kind() != constant.Int {
		return true
	}
	bits := int(8 * types.SizesFor("gc", "amd64").Sizeof(b))
	if b.Info()&types.IsUnsigned == 0 {
		bits--
	}
	one := constant.MakeInt64(1)
	return constant.BitLen(constant.BinaryOp(v, token.ADD, one)) <= bits &&
		constant.BitLen(constant.BinaryOp(v, token.SUB, one)) <= bits
}

var arithmetic = map[token.Token][2]string{
	token.ADD: {"Add", "-"}, token.SUB: {"Sub", "+"}, token.MUL: {"Mul", "/"}, token.QUO: {"Quo", "*"},
}

var comparisons = map[token.Token][3]string{
	token.LSS: {"LT", "<=", ">"}, token.LEQ: {"LE", "<", ">"}, token.GTR: {"GT", ">=", "<"},
	token.GEQ: {"GE", ">", "<"}, token.EQL: {"EQ", "!="}, token.NEQ: {"NE", "=="},
}

func (r *rewriter) binary(n *ast.BinaryExpr) {
	if n.Op == token.LAND || n.Op == token.LOR {
		r.operand(n.X, n.Op)
		r.operand(n.Y, n.Op)
		return
	}
	from, to := r.offset(n.OpPos), r.offset(n.OpPos)+len(n.Op.String())
	shown := func(op string) string { return r.at(n.X) + " " + op + " " + r.at(n.Y) }
	if a, ok := arithmetic[n.Op]; ok && r.isNumber(n) {
		operator := "sign"
		if n.Op == token.MUL || n.Op == token.QUO {
			operator = "factor"
		}
		p := r.add(n, r.at(n), variant{operator, oneLine(shown(a[1]))})
		r.wrap(n, "mutant."+a[0]+"("+p+", ", ")")
		r.replace(from, to, ",")
		return
	}
	c, ok := comparisons[n.Op]
	if !ok || !r.comparable(n.X) || !r.comparable(n.Y) {
		return
	}
	var variants []variant
	for k, op := range c[1:] {
		switch {
		case op == "":
		case k == 0 && r.best[n]:
			variants = append(variants, variant{}) // the same number is kept either way
		default:
			variants = append(variants, variant{"comparison", oneLine(shown(op))})
		}
	}
	p := r.add(n, r.at(n), variants...)
	r.wrap(n, "mutant."+c[0]+"("+p+", ", ")")
	r.replace(from, to, ",")
}

func (r *rewriter) comparable(e ast.Expr) bool {
	t := r.info.Types[e].Type
	b, ok := t.Underlying().(*types.Basic)
	return isNumeric(t) || ok && b.Info()&types.IsString != 0
}

// operand drops one side of a conjunction or disjunction.
func (r *rewriter) operand(e ast.Expr, op token.Token) {
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) || r.aboutErrors(e) {
		return
	}
	name, value := "True", "true"
	if op == token.LOR {
		name, value = "False", "false"
	}
	p := r.add(e, r.at(e), variant{"hypothesis", value})
	r.wrap(e, "mutant."+name+"("+p+", ", ")")
}

// condition makes a condition always false, or always true.
func (r *rewriter) condition(e ast.Expr, both bool) {
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) || r.aboutErrors(e) {
		return
	}
	variants := []variant{{"hypothesis", "false"}, {"hypothesis", "true"}}
	if !both {
		variants = variants[:1]
	}
	p := r.add(e, r.at(e), variants...)
	r.wrap(e, "mutant.Cond("+p+", ", ")")
}

func (r *rewriter) unary(n *ast.UnaryExpr) {
	if n.Op == token.SUB && r.isNumber(n) {
		p := r.add(n, r.at(n), variant{"sign", r.at(n.X)})
		from := r.offset(n.OpPos)
		r.wrap(n, "mutant.Neg("+p+", ", ")")
		r.replace(from, from+1, "")
	}
}

// near replaces an integer by its neighbours.
func (r *rewriter) near(e ast.Expr, operator string) {
	p := r.add(e, r.at(e), variant{operator, r.at(e) + " + 1"}, variant{operator, r.at(e) + " - 1"})
	r.wrap(e, "mutant.Near("+p+", ", ")")
}

// index replaces the index of a list by its neighbours, the list read as a
// circle, and two indices in a row by each other.
func (r *rewriter) index(n *ast.IndexExpr) {
	if tv, ok := r.info.Types[n.X]; !ok || !tv.IsValue() || !r.pure(n.X) || !r.isInt(n.Index) || r.every[n] {
		return
	}
	t := r.info.Types[n.X].Type.Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	switch t.(type) {
	case *types.Slice, *types.Array:
	default:
		return
	}
	list, i := r.at(n.X), r.at(n.Index)
	p := r.add(n, r.at(n), variant{"index", list + "[" + i + " + 1]"}, variant{"index", list + "[" + i + " - 1]"})
	r.wrap(n.Index, "mutant.Index("+p+", ", ", len("+list+"))")
	outer, ok := n.X.(*ast.IndexExpr)
	if !ok || !r.isNumber(n.Index) || !r.isNumber(outer.Index) || !r.pure(n.Index) || !r.isInt(outer.Index) {
		return
	}
	if j := r.at(outer.Index); j != i && types.Identical(r.info.Types[n.Index].Type, r.info.Types[outer.Index].Type) {
		p := r.add(n, r.at(n), variant{"index", r.at(outer.X) + "[" + i + "][" + j + "]"})
		r.wrap(n.Index, "mutant.Of("+p+", ", ", "+j+")")
		r.wrap(outer.Index, "mutant.Of("+p+", ", ", "+i+")")
	}
}

func (r *rewriter) assign(n *ast.AssignStmt) {
	if len(n.Rhs) != 1 || !isNumeric(r.info.Types[n.Rhs[0]].Type) {
		return
	}
	name, after, operator := "", "", ""
	switch n.Tok {
	case token.ADD_ASSIGN:
		name, after, operator = "Sign", " -= ", "sign"
	case token.SUB_ASSIGN:
		name, after, operator = "Sign", " += ", "sign"
	case token.MUL_ASSIGN:
		name, after, operator = "Inv", " /= ", "factor"
	case token.QUO_ASSIGN:
		name, after, operator = "Inv", " *= ", "factor"
	default:
		return
	}
	tn, ok := r.typeName(r.info.Types[n.Lhs[0]].Type)
	if !ok || name == "Inv" && r.isInt(n.Lhs[0]) {
		return
	}
	p := r.add(n, r.at(n), variant{operator, oneLine(r.at(n.Lhs[0]) + after + r.at(n.Rhs[0]))})
	r.wrap(n.Rhs[0], "mutant."+name+"["+tn+"]("+p+", ", ")")
}

// statements leaves out a call whose results nobody takes, or an assignment, where
// tests judge.
func (r *rewriter) statements(list []ast.Stmt) {
	for _, s := range list {
		if r.tested && !r.onlyTells(s) && r.leavable(s) {
			first, _, _ := strings.Cut(r.at(s), "\n")
			p := r.add(s, first, variant{"statement", "nothing"})
			r.wrap(s, "if mutant.Do("+p+") { ", " }")
		}
	}
}

func (r *rewriter) leavable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Tok == token.ASSIGN
	case *ast.DeferStmt:
		return true
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		return ok && !r.excluded(c) && calledName(c) != "Helper" // which says where a test fails
	}
	return false
}

// step makes n++ count twice, or not.
func (r *rewriter) step(n *ast.IncDecStmt) {
	tn, ok := r.typeName(r.info.Types[n.X].Type)
	if !ok {
		return
	}
	op := n.Tok.String()[:1]
	x := r.at(n.X)
	p := r.add(n, r.at(n), variant{"constant", x + " " + op + "= 2"}, variant{"constant", x + " " + op + "= 0"})
	r.replace(r.offset(n.TokPos), r.offset(n.TokPos)+2, fmt.Sprintf("%s= mutant.Num[%s](%s, 1, 2, 0)", op, tn, p))
}

// keepsBest reports whether an if keeps the larger or smaller of two numbers:
// what it assigns stands in its condition.
func (r *rewriter) keepsBest(n *ast.IfStmt) bool {
	if len(n.Body.List) != 1 {
		return false
	}
	a, ok := n.Body.List[0].(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN {
		return false
	}
	cond := r.at(n.Cond)
	for k, e := range a.Rhs {
		if !strings.Contains(cond, r.at(e)) || len(a.Rhs) != len(a.Lhs) || !strings.Contains(cond, r.at(a.Lhs[k])) {
			return false
		}
	}
	return true
}
