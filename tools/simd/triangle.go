package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A triangle is the part of an attention matrix in a panel of columns: rows whose entries
// begin at a multiple of eight columns.
type triangle struct {
	v         isa
	width     int      // vectors in the panel
	column, j Register // first column and current row, in bytes
}

// panels calls panel for four vectors of columns at a time. If their number is no multiple of
// four, the first panel begins before the first column, where it has no rows.
func (v isa) panels(stride Register, panel func(t triangle)) {
	t := triangle{v, 4, GP64(), GP64()}
	MOVQ(stride, t.column)
	NEGQ(t.column)
	ANDQ(U32(4*v.bytes()-1), t.column)
	NEGQ(t.column)
	label("panels")
	panel(t)
	ADDQ(U32(4*v.bytes()), t.column)
	CMPQ(t.column, stride)
	JLT(ref("panels"))
}

// pointer returns the address of the panel's first column in the first row of an argument.
func (t triangle) pointer(name string) Register {
	p := param(name)
	ADDQ(t.column, p)
	return p
}

// rows calls row for each row of a panel, which has entries from vector first on, and is long
// if it has all of them. It calls end after the last row of each vector.
func (t triangle) rows(name string, row func(loop string, first int, long bool), end func(vector int)) {
	group := 8 / t.v.w // vectors that begin in the same row
	limit := GP64()
	MOVQ(t.column, limit)
	XORQ(t.j, t.j)
	for k := -group; k < t.width; k += group {
		loop := fmt.Sprintf("%s%d", name, k/group+1)
		CMPQ(t.j, limit)
		JGE(ref(loop + "end"))
		label(loop)
		row(loop, max(k, 0), k < 0)
		ADDQ(U32(8), t.j)
		CMPQ(t.j, limit)
		JLT(ref(loop))
		if end != nil && k >= 0 {
			for i := range group {
				end(k + i)
			}
		}
		label(loop + "end")
		ADDQ(U32(64), limit)
	}
}

// combine sets y_i = sum_j x_j p_ji, and adds y_i to total_i. p: stride x stride.
func combine(v isa) {
	x, stride := param("x"), param("stride")
	SHLQ(U8(3), stride)
	v.panels(stride, func(t triangle) {
		row, y, total, sums := t.pointer("p"), t.pointer("y"), t.pointer("total"), v.zeros(t.width)
		t.rows("rows", func(_ string, first int, _ bool) {
			factor := v.reg()
			VBROADCASTSD(Mem{Base: x, Index: t.j, Scale: 1}, factor)
			for k := first; k < t.width; k++ {
				z := v.reg()
				VMULPD(Mem{Base: row, Disp: k * v.bytes()}, factor, z)
				VADDPD(z, sums[k], sums[k])
			}
			ADDQ(stride, row)
		}, func(k int) {
			disp := k * v.bytes()
			VMOVUPD(sums[k], Mem{Base: y, Disp: disp})
			VADDPD(Mem{Base: total, Disp: disp}, sums[k], sums[k])
			VMOVUPD(sums[k], Mem{Base: total, Disp: disp})
		})
	})
}

// zeros returns n vectors of zeros.
func (v isa) zeros(n int) []VecVirtual {
	all := v.regs(n)
	for _, r := range all {
		v.zero(r)
	}
	return all
}

// dots sets y_j = sum_i p_ji x_i, a vector of rows at a time. p: stride x stride.
func dots(v isa) {
	y, p, x, stride := param("y"), param("p"), param("x"), param("stride")
	SHLQ(U8(3), stride)
	at, j := GP64(), GP64()
	begin(j, "rows")
	// The columns of these rows begin at a multiple of eight.
	MOVQ(j, at)
	ANDQ(I32(-64), at)
	lanes := 8 / v.w
	sums := v.zeros(v.w * lanes)
	label("columns")
	xs := v.regs(lanes)
	for i := range xs {
		VMOVUPD(Mem{Base: x, Index: at, Scale: 1, Disp: i * v.bytes()}, xs[i])
	}
	row := GP64()
	LEAQ(Mem{Base: p, Index: at, Scale: 1}, row)
	for k := range v.w {
		for i := range xs {
			t := v.reg()
			VMULPD(Mem{Base: row, Disp: i * v.bytes()}, xs[i], t)
			VADDPD(t, sums[k*lanes+i], sums[k*lanes+i])
		}
		if k+1 < v.w {
			ADDQ(stride, row)
		}
	}
	ADDQ(U32(64), at)
	CMPQ(at, stride)
	JLT(ref("columns"))
	VMOVUPD(v.addLanes(sums), Mem{Base: y, Index: j, Scale: 1})
	for range v.w {
		ADDQ(stride, p)
	}
	v.next(j, stride, "rows")
}

// addLanes adds the eight lanes of w sums.
func (v isa) addLanes(s []VecVirtual) VecVirtual {
	if v.w == 8 {
		parts := func(low, high uint8) func(a, b VecVirtual) VecVirtual {
			return func(a, b VecVirtual) VecVirtual {
				lo, hi := ZMM(), ZMM()
				VSHUFF64X2(U8(low), b, a, lo)
				VSHUFF64X2(U8(high), b, a, hi)
				VADDPD(lo, hi, lo)
				return lo
			}
		}
		halves, quarters := parts(0x44, 0xee), parts(0x88, 0xdd)
		even := quarters(halves(s[0], s[2]), halves(s[4], s[6]))
		odd := quarters(halves(s[1], s[3]), halves(s[5], s[7]))
		return v.addPairs(even, odd)
	}
	for i := range 4 {
		VADDPD(s[2*i], s[2*i+1], s[2*i])
	}
	halves := func(a, b VecVirtual) VecVirtual {
		lo, hi := YMM(), YMM()
		VPERM2F128(U8(0x20), b, a, lo)
		VPERM2F128(U8(0x31), b, a, hi)
		VADDPD(lo, hi, lo)
		return lo
	}
	return v.addPairs(halves(s[0], s[4]), halves(s[2], s[6]))
}

// addPairs adds neighbours in even and in odd, and interleaves the sums.
func (v isa) addPairs(even, odd VecVirtual) VecVirtual {
	lo, hi := v.reg(), v.reg()
	VUNPCKLPD(odd, even, lo)
	VUNPCKHPD(odd, even, hi)
	VADDPD(lo, hi, lo)
	return lo
}

// transpose returns the columns of w rows.
func (v isa) transpose(r []VecVirtual) []VecVirtual {
	t := v.regs(v.w)
	for i := 0; i < v.w; i += 2 {
		VUNPCKLPD(r[i+1], r[i], t[i])
		VUNPCKHPD(r[i+1], r[i], t[i+1])
	}
	out := v.regs(v.w)
	if v.w == 4 {
		for i := range 2 {
			VPERM2F128(U8(0x20), t[i+2], t[i], out[i])
			VPERM2F128(U8(0x31), t[i+2], t[i], out[i+2])
		}
		return out
	}
	for i := range 2 {
		a, b := v.regs(2), v.regs(2)
		for k, choice := range []uint8{0x88, 0xdd} {
			VSHUFF64X2(U8(choice), t[i+2], t[i], a[k])
			VSHUFF64X2(U8(choice), t[i+6], t[i+4], b[k])
		}
		for k := range 2 {
			VSHUFF64X2(U8(0x88), b[k], a[k], out[i+2*k])
			VSHUFF64X2(U8(0xdd), b[k], a[k], out[i+2*k+4])
		}
	}
	return out
}
