package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// addMul is c += a b, in tiles of four rows and two vectors. Only the last vectors need masks. c: m
// x n, rows ldc apart; a: m x k, rows ra and columns ca apart; b: k x n, rows ldb apart.
func addMul(v isa) {
	t := tiles{v: v}
	t.ldc, t.ra, t.ca, t.ldb = param("ldc"), param("ra"), param("ca"), param("ldb")
	for _, r := range []Register{t.ldc, t.ra, t.ca, t.ldb} {
		SHLQ(U8(3), r)
	}
	t.c, t.b = param("c"), param("b")
	n := param("n")
	label("columns")
	CMPQ(n, U32(2*v.w))
	JLT(ref("last"))
	t.rows("whole", 2, [2]mask{})
	JMP(ref("next"))
	label("last")
	some := v.masks(n)
	CMPQ(n, U32(v.w))
	JLE(ref("narrow"))
	t.rows("wide", 2, [2]mask{{}, some[1]})
	JMP(ref("next"))
	label("narrow")
	t.rows("narrow", 1, some)
	label("next")
	ADDQ(U32(2*v.bytes()), t.c)
	ADDQ(U32(2*v.bytes()), t.b)
	SUBQ(U32(2*v.w), n)
	JG(ref("columns"))
}

func param(name string) Register { return Load(Param(name), GP64()) }

// tiles cover one or two vectors of columns.
type tiles struct {
	v                isa
	c, b             Register // first row of these columns
	ldc, ra, ca, ldb Register // distances in bytes
}

// rows computes all rows, four at a time, then two and one.
func (t tiles) rows(kind string, vectors int, some [2]mask) {
	a, c, m := param("a"), GP64(), param("m")
	MOVQ(t.c, c)
	for _, rows := range []int{4, 2, 1} {
		loop, end := fmt.Sprintf("%s%d", kind, rows), fmt.Sprintf("%sEnd%d", kind, rows)
		label(loop)
		CMPQ(m, U32(rows))
		JLT(ref(end))
		t.tile(rows, vectors, a, c, fmt.Sprintf("%sSum%d", kind, rows), some)
		for range rows {
			ADDQ(t.ra, a)
			ADDQ(t.ldc, c)
		}
		SUBQ(U32(rows), m)
		JMP(ref(loop))
		label(end)
	}
}

// tile adds the products to a tile at c.
func (t tiles) tile(rows, vectors int, a, c Register, loop string, some [2]mask) {
	v := t.v
	sums := v.regs(rows * vectors)
	for row, m := range strided(rows, c, t.ldc) {
		for i := range vectors {
			v.load(m.Offset(i*v.bytes()), sums[row*vectors+i], some[i])
		}
	}
	b, x, k := GP64(), GP64(), param("k")
	MOVQ(t.b, b)
	MOVQ(a, x)
	ms := strided(rows, x, t.ra)
	label(loop)
	columns, temp := v.regs(vectors), v.regs(vectors)
	for i := range vectors {
		v.load(Mem{Base: b}.Offset(i*v.bytes()), columns[i], some[i])
	}
	for row, m := range ms {
		if v.w == 8 {
			for i := range vectors {
				VMULPD_BCST(m, columns[i], temp[i])
			}
		} else {
			factor := v.reg()
			VBROADCASTSD(m, factor)
			for i := range vectors {
				VMULPD(factor, columns[i], temp[i])
			}
		}
		for i := range vectors {
			VADDPD(temp[i], sums[row*vectors+i], sums[row*vectors+i])
		}
	}
	ADDQ(t.ca, x)
	ADDQ(t.ldb, b)
	again(k, loop)
	for row, m := range strided(rows, c, t.ldc) {
		for i := range vectors {
			v.store(sums[row*vectors+i], m.Offset(i*v.bytes()), some[i])
		}
	}
}

// strided returns the addresses of one, two or four rows at a distance.
func strided(rows int, base, distance Register) []Mem {
	all := []Mem{{Base: base}, {Base: base, Index: distance, Scale: 1}, {Base: base, Index: distance, Scale: 2}}
	if rows == 4 {
		thrice := GP64()
		LEAQ(Mem{Base: distance, Index: distance, Scale: 2}, thrice)
		all = append(all, Mem{Base: base, Index: thrice, Scale: 1})
	}
	return all[:rows]
}
