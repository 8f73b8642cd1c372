package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// combine is y_i += sum_j x_j p_ji, four rows at a time, for y that is zero.
func combine(v isa) {
	TEXT("combine"+v.name, NOSPLIT, "func(y, x, p *float64, stride int)")
	Doc("combine" + v.name + " adds the combination x of the rows of p to y.")
	y, x, p, stride := param("y"), param("x"), param("p"), param("stride")
	SHLQ(U8(3), stride)
	at, j := GP64(), GP64()
	XORQ(j, j)
	Label("rows")
	factors := v.regs(4)
	for k, f := range factors {
		v.bcast(Mem{Base: x, Index: j, Scale: 1, Disp: 8 * k}, f)
	}
	MOVQ(j, at)
	ANDQ(I32(-64), at)
	row := GP64()
	LEAQ(Mem{Base: p, Index: at, Scale: 1}, row)
	rows := strided(4, row, stride)
	Label("columns")
	sum := v.reg()
	VMOVUPD(Mem{Base: y, Index: at, Scale: 1}, sum)
	for k, f := range factors {
		t := v.reg()
		VMULPD(rows[k], f, t)
		VADDPD(t, sum, sum)
	}
	VMOVUPD(sum, Mem{Base: y, Index: at, Scale: 1})
	ADDQ(U32(v.bytes()), at)
	ADDQ(U32(v.bytes()), row)
	CMPQ(at, stride)
	JLT(LabelRef("columns"))
	for range 4 {
		ADDQ(stride, p)
	}
	ADDQ(U32(32), j)
	CMPQ(j, stride)
	JLT(LabelRef("rows"))
	done()
}

// dots is y_j = sum_i p_ji x_i, a vector of rows at a time.
func dots(v isa) {
	TEXT("dots"+v.name, NOSPLIT, "func(y, p, x *float64, stride int)")
	Doc("dots" + v.name + " sets y to the products of the rows of p with x.")
	y, p, x, stride := param("y"), param("p"), param("x"), param("stride")
	SHLQ(U8(3), stride)
	at, j := GP64(), GP64()
	XORQ(j, j)
	Label("rows")
	// The columns of these rows begin at a multiple of eight.
	MOVQ(j, at)
	ANDQ(I32(-64), at)
	lanes := 8 / v.w
	sums := v.regs(v.w * lanes)
	for _, s := range sums {
		v.zero(s)
	}
	Label("columns")
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
	JLT(LabelRef("columns"))
	VMOVUPD(v.addLanes(sums), Mem{Base: y, Index: j, Scale: 1})
	for range v.w {
		ADDQ(stride, p)
	}
	v.next(j, stride, "rows")
	done()
}

// addLanes adds the eight lanes of w sums.
func (v isa) addLanes(s []VecVirtual) VecVirtual {
	if v.w == 8 {
		halves := func(a, b VecVirtual) VecVirtual {
			lo, hi := ZMM(), ZMM()
			VSHUFF64X2(U8(0x44), b, a, lo)
			VSHUFF64X2(U8(0xee), b, a, hi)
			VADDPD(lo, hi, lo)
			return lo
		}
		quarters := func(a, b VecVirtual) VecVirtual {
			lo, hi := ZMM(), ZMM()
			VSHUFF64X2(U8(0x88), b, a, lo)
			VSHUFF64X2(U8(0xdd), b, a, hi)
			VADDPD(lo, hi, lo)
			return lo
		}
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

// addPairs adds neighbours of even and of odd and puts them in turn.
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
