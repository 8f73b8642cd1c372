package main

import (
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An isa is an instruction set with vectors of w numbers.
type isa struct {
	w    int
	half int // bytes before the first of four problems, see inHalves
}

// words emits an instruction on three operands, which has another name in AVX-512.
func (v isa) words(eight func(...Op), four func(a, b, c Op), a, b, c Op) {
	if v.w == 8 {
		eight(a, b, c)
	} else {
		four(a, b, c)
	}
}

// xor sets r to r ^ x.
func (v isa) xor(x, r VecVirtual) { v.words(VPXORQ, VPXOR, x, r, r) }

func (v isa) zero(r VecVirtual) { v.xor(r, r) }

func (v isa) reg() VecVirtual {
	if v.w == 8 {
		return ZMM()
	}
	return YMM()
}

func (v isa) regs(n int) []VecVirtual {
	all := make([]VecVirtual, n)
	for i := range all {
		all[i] = v.reg()
	}
	return all
}

func (v isa) bytes() int { return 8 * v.w }

// addProduct adds the product of the number at m and x, rounded, to sum.
func (v isa) addProduct(m Mem, x, sum, temp VecVirtual) {
	if v.w == 8 {
		VMULPD_BCST(m, x, temp)
	} else {
		VBROADCASTSD(m, temp)
		VMULPD(temp, x, temp)
	}
	VADDPD(temp, sum, sum)
}

// A mask selects the lanes of a vector to load and store.
type mask struct {
	k Register // a mask register of AVX-512, or a vector of AVX2 whose signs count; nil for all lanes
}

// masks returns the masks of the first n > 0 lanes of two vectors.
func (v isa) masks(n Register) [2]mask {
	limit, bits := GP64(), GP64()
	MOVQ(U32(2*v.w), limit)
	CMPQ(n, limit)
	CMOVQLT(n, limit)
	if v.w == 8 {
		MOVQ(U32(0xffff), bits)
		BZHIQ(limit, bits, bits)
		lo, hi := K(), K()
		KMOVW(bits.As32(), lo)
		SHRQ(U8(8), bits)
		KMOVW(bits.As32(), hi)
		return [2]mask{{lo}, {hi}}
	}
	lo, hi := YMM(), YMM()
	window := slices.Concat(slices.Repeat([]uint64{math.MaxUint64}, 8), make([]uint64, 8))
	LEAQ(table("window", window...), bits)
	NEGQ(limit)
	VMOVDQU(Mem{Base: bits, Index: limit, Scale: 8, Disp: 64}, lo)
	VMOVDQU(Mem{Base: bits, Index: limit, Scale: 8, Disp: 96}, hi)
	return [2]mask{{lo}, {hi}}
}

var tables = map[string]Mem{}

// table returns the address of words, which the first call with their name writes.
func table(name string, words ...uint64) Mem {
	m, ok := tables[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for i, w := range words {
			DATA(8*i, U64(w))
		}
		tables[name] = m
	}
	return m
}

func (v isa) load(m Mem, r VecVirtual, k mask) {
	switch {
	case k.k == nil:
		VMOVUPD(m, r)
	case v.w == 8:
		VMOVUPD_Z(m, k.k, r)
	default:
		VMASKMOVPD(m, k.k, r)
	}
}

func (v isa) store(r VecVirtual, m Mem, k mask) {
	switch {
	case k.k == nil:
		VMOVUPD(r, m)
	case v.w == 8:
		VMOVUPD(r, k.k, m)
	default:
		VMASKMOVPD(r, k.k, m)
	}
}

// begin puts the label of a loop whose offset begins at zero.
func begin(at Register, name string) {
	XORQ(at, at)
	label(name)
}

// next moves an offset in bytes to the next vector, and jumps to the label while it is below the limit.
func (v isa) next(at, limit Register, name string) {
	ADDQ(U32(v.bytes()), at)
	CMPQ(at, limit)
	JLT(ref(name))
}

// again moves pointers to the next entry of eight problems side by side, and jumps to the
// label until the count is zero.
func again(count Register, name string, pointers ...Register) {
	for _, p := range pointers {
		ADDQ(U8(stride), p)
	}
	DECQ(count)
	JNZ(ref(name))
}
