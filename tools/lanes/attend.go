package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// attend fills p_ji = (posPos_ji tokPos_{x_j,i}) w_j(x_i), w_j(a) = tokTok_{x_j,a} posTok_ja,
// adds up its columns and divides them by their sums. How w_j is looked up depends on
// the number of tokens: held in one vector, in two, or gathered from memory.
func attend(v isa, suffix string, held int) {
	TEXT("attend"+suffix+v.name, NOSPLIT,
		"func(p, sum, posPos, tokPos, tokTok, posTok, w *float64, x *int, n, stride, tokens int, least float64)")
	Doc("attend" + suffix + v.name + " fills p with attention.")
	stride := param("stride")
	SHLQ(U8(3), stride)
	strips(v, stride, func(name string, vectors int, at, rows Register) {
		sums, index := v.regs(vectors), v.regs(vectors)
		x := param("x")
		for i := range sums {
			v.zero(sums[i])
			VMOVUPD(Mem{Base: x, Index: at, Scale: 1, Disp: i * v.bytes()}, index[i])
		}
		row, pos, j := param("p"), param("posPos"), GP64()
		ADDQ(at, row)
		ADDQ(at, pos)
		posTok := param("posTok")
		XORQ(j, j)
		Label("rows" + name)
		key, width, tokTok := param("x"), param("tokens"), GP64()
		MOVQ(Mem{Base: key, Index: j, Scale: 8}, key)
		SHLQ(U8(3), width)
		MOVQ(width, tokTok)
		IMULQ(key, tokTok)
		ADDQ(argument("tokTok"), tokTok)
		lookup := v.weights(name, held, tokTok, posTok, width)
		ADDQ(width, posTok)
		IMULQ(stride, key)
		ADDQ(at, key)
		ADDQ(argument("tokPos"), key)
		for i := range sums {
			t := v.reg()
			VMOVUPD(Mem{Base: pos, Disp: i * v.bytes()}, t)
			VMULPD(Mem{Base: key, Disp: i * v.bytes()}, t, t)
			VMULPD(lookup(index[i]), t, t)
			VADDPD(t, sums[i], sums[i])
			VMOVUPD(t, Mem{Base: row, Disp: i * v.bytes()})
		}
		ADDQ(stride, row)
		ADDQ(stride, pos)
		INCQ(j)
		CMPQ(j, rows)
		JLT(LabelRef("rows" + name))

		least, one, sum := v.reg(), v.reg(), param("sum")
		VBROADCASTSD(argument("least"), least)
		v.ones(one)
		for i, s := range sums {
			VMOVUPD(s, Mem{Base: sum, Index: at, Scale: 1, Disp: i * v.bytes()})
			VMAXPD(least, s, s)
			VDIVPD(s, one, s)
		}
		row, left := param("p"), GP64()
		ADDQ(at, row)
		MOVQ(rows, left)
		Label("scale" + name)
		for i, s := range sums {
			t := v.reg()
			VMULPD(Mem{Base: row, Disp: i * v.bytes()}, s, t)
			VMOVUPD(t, Mem{Base: row, Disp: i * v.bytes()})
		}
		ADDQ(stride, row)
		DECQ(left)
		JNZ(LabelRef("scale" + name))
	})
	VZEROUPPER()
	RET()
}

// argument is where an argument is in memory.
func argument(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// weights multiplies the rows at a and b of the given width in bytes and returns
// what looks the product up.
func (v isa) weights(name string, held int, a, b, width Register) func(index VecVirtual) VecVirtual {
	if held == 0 {
		w, at, t := param("w"), GP64(), v.reg()
		XORQ(at, at)
		Label("weights" + name)
		VMOVUPD(Mem{Base: a, Index: at, Scale: 1}, t)
		VMULPD(Mem{Base: b, Index: at, Scale: 1}, t, t)
		VMOVUPD(t, Mem{Base: w, Index: at, Scale: 1})
		ADDQ(U32(v.bytes()), at)
		CMPQ(at, width)
		JLT(LabelRef("weights" + name))
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
			v.bcast(word(math.MaxUint64), all)
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

// attendGrad adds z_ji = p_ji (sum_l r_li dc_lj + s_li b_lj - mean_i), and p_ji
// dlast_j more in column n-1, to posPos_ji, tokPos_{x_j,i} and posTok_{x_i,j}, w by w
// entries at a time.
func attendGrad(v isa) {
	TEXT("attendGrad"+v.name, NOSPLIT,
		"func(posPos, tokPos, posTok, p, r, s, dc, b, minus, dlast, unit *float64, x *int, n, stride, links int)")
	Doc("attendGrad" + v.name + " is the backward pass of attend.")
	stride := param("stride")
	SHLQ(U8(3), stride)
	i := GP64()
	XORQ(i, i)
	Label("columns")
	j := GP64()
	XORQ(j, j)
	Label("rows")
	z := v.regs(v.w)
	minus := v.reg()
	address := param("minus")
	VMOVUPD(Mem{Base: address, Index: i, Scale: 1}, minus)
	for _, zk := range z {
		VMOVAPD(minus, zk)
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
	link, links := GP64(), param("links")
	XORQ(link, link)
	Label("links")
	add("r", "dc", link)
	add("s", "b", link)
	ADDQ(stride, link)
	DECQ(links)
	JNZ(LabelRef("links"))
	end := GP64()
	LEAQ(Mem{Base: i, Disp: v.bytes()}, end)
	SHRQ(U8(3), end)
	CMPQ(end, argument("n"))
	JLT(LabelRef("times"))
	XORQ(link, link)
	add("unit", "dlast", link)
	Label("times")

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
		for k, r := range rows {
			row, t := GP64(), v.reg()
			MOVQ(Mem{Base: x, Disp: 8 * k}, row)
			IMULQ(stride, row)
			VADDPD(Mem{Base: base, Index: row, Scale: 1}, r, t)
			VMOVUPD(t, Mem{Base: base, Index: row, Scale: 1})
		}
	}
	addRows("tokPos", j, i, z)
	addRows("posTok", i, j, v.transpose(z))
	ADDQ(U32(v.bytes()), j)
	CMPQ(j, i)
	JLE(LabelRef("rows"))
	ADDQ(U32(v.bytes()), i)
	CMPQ(i, stride)
	JLT(LabelRef("columns"))
	VZEROUPPER()
	RET()
}
