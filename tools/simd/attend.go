package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// attend sets p_ji = (posPos_ji tokPos_{x_j,i}) w_j(x_i), w_j(a) = tokTok_{x_j,a} posTok_ja, and divides each
// column by its sum, or by least if that is larger. AVX-512 holds w_j in registers for 8 and for 16 tokens. p,
// posPos: stride x stride; tokPos: tokens x stride; tokTok: tokens x tokens; posTok: stride x tokens; sum, x: stride.
func attend(v isa) {
	for held := 1; held <= 2 && v.w == 8; held++ {
		other := fmt.Sprintf("not%d", held)
		CMPQ(argument("tokens"), I8(8*held))
		JNE(ref(other))
		section(other, func() { v.attend(held) })
		done()
		label(other)
	}
	v.attend(0)
}

// attend holds w_j in the given number of registers, or, for 0, in memory.
func (v isa) attend(held int) {
	stride, width, keys := param("stride"), param("tokens"), param("x")
	SHLQ(U8(3), stride)
	SHLQ(U8(3), width)
	one, least := v.constant(1), v.reg()
	VBROADCASTSD(argument("least"), least)
	v.panels(stride, func(t triangle) {
		row, pos, x := t.pointer("p"), t.pointer("posPos"), t.pointer("x")
		posTok, sums := param("posTok"), v.zeros(t.width)
		t.rows("rows", func(loop string, first int, long bool) {
			token, tokTok, tokPos := GP64(), GP64(), GP64()
			MOVQ(Mem{Base: keys, Index: t.j, Scale: 1}, token)
			MOVQ(token, tokTok)
			IMULQ(width, tokTok)
			ADDQ(argument("tokTok"), tokTok)
			lookup := v.weights(loop, held, tokTok, posTok, width)
			ADDQ(width, posTok)
			MOVQ(token, tokPos)
			IMULQ(stride, tokPos)
			ADDQ(argument("tokPos"), tokPos)
			ADDQ(t.column, tokPos)
			if long { // the rows are far apart, in an order that no prefetcher detects
				for _, later := range []Register{pos, row} {
					for k := 0; k < t.width; k += 8 / v.w {
						PREFETCHT0(Mem{Base: later, Index: stride, Scale: 8, Disp: k * v.bytes()})
					}
				}
			}
			for k := first; k < t.width; k++ {
				disp, index, z := k*v.bytes(), v.reg(), v.reg()
				VMOVUPD(Mem{Base: pos, Disp: disp}, z)
				VMULPD(Mem{Base: tokPos, Disp: disp}, z, z)
				VMOVUPD(Mem{Base: x, Disp: disp}, index)
				VMULPD(lookup(index), z, z)
				VADDPD(z, sums[k], sums[k])
				VMOVUPD(z, Mem{Base: row, Disp: disp})
			}
			ADDQ(stride, row)
			ADDQ(stride, pos)
		}, func(k int) {
			sum := t.pointer("sum")
			VMOVUPD(sums[k], Mem{Base: sum, Disp: k * v.bytes()})
			VMAXPD(least, sums[k], sums[k])
			VDIVPD(sums[k], one, sums[k])
		})
		row = t.pointer("p")
		t.rows("scale", func(_ string, first int, _ bool) {
			for k := first; k < t.width; k++ {
				m, z := Mem{Base: row, Disp: k * v.bytes()}, v.reg()
				VMULPD(m, sums[k], z)
				VMOVUPD(z, m)
			}
			ADDQ(stride, row)
		}, nil)
	})
}

// argument returns the address of an argument.
func argument(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// weights multiplies the rows at a and b, of the given width in bytes, and returns a function
// that looks up entries of the product: in registers, or, for held = 0, in the array w.
func (v isa) weights(loop string, held int, a, b, width Register) func(index VecVirtual) VecVirtual {
	if held == 0 {
		w, at, t := param("w"), GP64(), v.reg()
		XORQ(at, at)
		loop += "weights"
		label(loop)
		VMOVUPD(Mem{Base: a, Index: at, Scale: 1}, t)
		VMULPD(Mem{Base: b, Index: at, Scale: 1}, t, t)
		VMOVUPD(t, Mem{Base: w, Index: at, Scale: 1})
		ADDQ(U32(v.bytes()), at)
		CMPQ(at, width)
		JLT(ref(loop))
		return func(index VecVirtual) VecVirtual {
			t := v.reg()
			if v.w == 8 {
				all, k := GP64(), K()
				MOVQ(U32(0xff), all)
				KMOVW(all.As32(), k)
				VPXORQ(t, t, t)
				VGATHERQPD(Mem{Base: w, Index: index, Scale: 8}, k, t)
				return t
			}
			all := YMM()
			VBROADCASTSD(word(math.MaxUint64), all)
			VPXOR(t, t, t)
			VGATHERQPD(all, Mem{Base: w, Index: index, Scale: 8}, t)
			return t
		}
	}
	w := v.regs(held)
	for i, r := range w {
		VMOVUPD(Mem{Base: a, Disp: i * v.bytes()}, r)
		VMULPD(Mem{Base: b, Disp: i * v.bytes()}, r, r)
	}
	return func(index VecVirtual) VecVirtual {
		t := v.reg()
		if held == 1 {
			VPERMPD(w[0], index, t)
			return t
		}
		VMOVAPD(index, t)
		VPERMI2PD(w[1], w[0], t)
		return t
	}
}

// attendGrad adds z_ji = p_ji (sum_r queries_ri keys_rj - mean_i), plus p_ji last_j in
// column n-1, to posPos_ji, tokPos_{x_j,i} and posTok_{x_i,j}, w by w entries at a time.
// queries, keys: terms x stride; mean, last, unit: stride.
func attendGrad(v isa) {
	stride := param("stride")
	SHLQ(U8(3), stride)
	i, j := GP64(), GP64()
	begin(j, "rows")
	MOVQ(j, i)
	label("columns")
	z := v.byAttention(i, j, stride)
	at := GP64()
	MOVQ(j, at)
	SHRQ(U8(3), at)
	IMULQ(stride, at)
	ADDQ(i, at)
	p, posPos := param("p"), param("posPos")
	ADDQ(at, p)
	ADDQ(at, posPos)
	for k := range z {
		VMULPD(Mem{Base: p}, z[k], z[k])
		t := v.reg()
		VADDPD(Mem{Base: posPos}, z[k], t)
		VMOVUPD(t, Mem{Base: posPos})
		if k+1 < v.w {
			ADDQ(stride, p)
			ADDQ(stride, posPos)
		}
	}
	addRows := func(table string, token, column Register, rows []VecVirtual) {
		x, base := param("x"), param(table)
		ADDQ(token, x)
		ADDQ(column, base)
		v.addRowsTo(base, x, stride, rows)
	}
	addRows("tokPos", j, i, z)
	addRows("posTok", i, j, v.transpose(z))
	v.next(i, stride, "columns")
	v.next(j, stride, "rows")
}

// addRowsTo adds row k to the row of token x_k in a table, whose rows are stride bytes apart.
func (v isa) addRowsTo(table, x, stride Register, rows []VecVirtual) {
	for k, r := range rows {
		row, t := GP64(), v.reg()
		MOVQ(Mem{Base: x, Disp: 8 * k}, row)
		IMULQ(stride, row)
		VADDPD(Mem{Base: table, Index: row, Scale: 1}, r, t)
		VMOVUPD(t, Mem{Base: table, Index: row, Scale: 1})
	}
}

// byAttention returns the gradient by the attention of w queries, from i on, to w keys, from
// j on: a vector for each key.
func (v isa) byAttention(i, j, stride Register) []VecVirtual {
	z := v.regs(v.w)
	for _, zk := range z {
		v.zero(zk)
	}
	add := func(column, row string, offset Register) {
		factors, f := param(column), v.reg()
		ADDQ(offset, factors)
		VMOVUPD(Mem{Base: factors, Index: i, Scale: 1}, f)
		numbers := param(row)
		ADDQ(offset, numbers)
		for k := range z {
			t := v.reg()
			v.addProduct(Mem{Base: numbers, Index: j, Scale: 1, Disp: 8 * k}, f, z[k], t)
		}
	}
	term, terms := GP64(), param("terms")
	begin(term, "terms")
	add("queries", "keys", term)
	ADDQ(stride, term)
	again(terms, "terms")
	mean, address := v.reg(), param("mean")
	VMOVUPD(Mem{Base: address, Index: i, Scale: 1}, mean)
	for _, zk := range z {
		VSUBPD(mean, zk, zk)
	}
	end := GP64()
	LEAQ(Mem{Base: i, Disp: v.bytes()}, end)
	SHRQ(U8(3), end)
	CMPQ(end, argument("n"))
	JLT(ref("times"))
	XORQ(term, term)
	add("unit", "last", term)
	label("times")
	return z
}

// fold adds v to sum, and entry (b, j) of v to entry (x_j, b) of pairs, and clears v.
// sum, v: tokens x stride; pairs: tokens x tokens.
func fold(v isa) {
	stride, width := param("stride"), param("tokens")
	SHLQ(U8(3), stride)
	SHLQ(U8(3), width)
	zero := v.reg()
	v.zero(zero)
	j, b := GP64(), GP64()
	XORQ(b, b)
	sumAt, at := param("sum"), param("v")
	label("tokens")
	begin(j, "columns")
	rows := v.regs(v.w)
	address, total := GP64(), GP64()
	LEAQ(Mem{Base: at, Index: j, Scale: 1}, address)
	LEAQ(Mem{Base: sumAt, Index: j, Scale: 1}, total)
	for k, r := range rows {
		t := v.reg()
		VMOVUPD(Mem{Base: address}, r)
		VMOVUPD(zero, Mem{Base: address})
		VADDPD(Mem{Base: total}, r, t)
		VMOVUPD(t, Mem{Base: total})
		if k+1 < v.w {
			ADDQ(stride, address)
			ADDQ(stride, total)
		}
	}
	x, pairs := param("x"), param("pairs")
	ADDQ(j, x)
	ADDQ(b, pairs)
	v.addRowsTo(pairs, x, width, v.transpose(rows))
	v.next(j, stride, "columns")
	for range v.w {
		ADDQ(stride, at)
		ADDQ(stride, sumAt)
	}
	v.next(b, width, "tokens")
}
