package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Entry k of problem l, of eight side by side, is at 8k+l.
const stride = 64 // bytes between two entries of one problem

// at returns the address base + k.
func at(base, k Register) Mem { return Mem{Base: base, Index: k, Scale: 1} }

// eight writes a kernel for eight problems, whose arguments may stand on the stack.
func eight(name, signature string, body func(v isa)) {
	kernel(name, signature, body)
	Pragma("noescape")
}

// inHalves solves eight problems at once, or four and then the other four.
func inHalves(body func(v isa)) func(v isa) {
	return func(v isa) {
		for v.half = 0; v.half < stride; v.half += v.bytes() {
			section(fmt.Sprint(v.half), func() { body(v) })
		}
	}
}

// lanes returns an argument with an entry for each problem.
func (v isa) lanes(name string) Register {
	p := param(name)
	if v.half > 0 {
		ADDQ(U8(v.half), p)
	}
	return p
}

// until moves k to the next entry, and jumps to the label unless it is the end.
func until(k, end Register, name string) {
	ADDQ(U8(stride), k)
	CMPQ(k, end)
	JNE(ref(name))
}

// fillWords is xoshiro256++: dst[8k+l] is the next word of generator l, whose state is state[i][l], i < 4.
func fillWords(v isa) {
	dst, state, n := v.lanes("dst"), v.lanes("state"), param("n")
	s := v.regs(4)
	for i := range s {
		VMOVUPD(Mem{Base: state}.Offset(stride*i), s[i])
	}
	label("loop")
	sum, temp := v.reg(), v.reg()
	VPADDQ(s[3], s[0], sum)
	v.rotate(23, sum, temp)
	VPADDQ(s[0], sum, sum)
	VMOVUPD(sum, Mem{Base: dst})
	shifted := v.reg()
	VPSLLQ(U8(17), s[1], shifted)
	v.xor(s[0], s[2])
	v.xor(s[1], s[3])
	v.xor(s[2], s[1])
	v.xor(s[3], s[0])
	v.xor(shifted, s[2])
	v.rotate(45, s[3], temp)
	again(n, "loop", dst)
	for i := range s {
		VMOVUPD(s[i], Mem{Base: state}.Offset(stride*i))
	}
}

// rotate rotates the words of r to the left.
func (v isa) rotate(by int, r, temp VecVirtual) {
	if v.w == 8 {
		VPROLQ(U8(by), r, r)
		return
	}
	VPSRLQ(U8(64-by), r, temp)
	VPSLLQ(U8(by), r, r)
	VPOR(temp, r, r)
}

// fraction replaces the words r by numbers in [1, 2) with their upper 52 bits.
func (v isa) fraction(r, one VecVirtual) {
	VPSRLQ(U8(12), r, r)
	v.words(VPORQ, VPOR, one, r, r)
}

// copies returns w copies of a word.
func (v isa) copies(bits uint64) VecVirtual {
	r := v.reg()
	VBROADCASTSD(word(bits), r)
	return r
}

// gather sets r to the numbers at base + 8 index + disp.
func (v isa) gather(base Register, index VecVirtual, disp int, r VecVirtual) {
	m := Mem{Base: base, Index: index, Scale: 8, Disp: disp}
	if v.w == 8 {
		k := K()
		KXNORB(k, k, k)
		VGATHERQPD(m, k, r)
		return
	}
	all := YMM()
	VPCMPEQQ(all, all, all)
	VGATHERQPD(all, m, r)
}

// points sets y = left + u width, where the lower 8 bits of each word choose the layer and
// its upper 52 bits give u, and sets a bit of inside where lo < y < hi.
func points(v isa) {
	y, inside, words, layers, n := param("y"), param("inside"), param("words"), param("layers"), param("n")
	low, one, less := v.copies(255), v.copies(0x3ff<<52), v.copies(0x3fefffffffffffff) // 1 - 2^-53
	label("loop")
	bits := GP32()
	for half := range 8 / v.w {
		at := half * v.bytes()
		u, index := v.reg(), v.reg()
		VMOVUPD(Mem{Base: words}.Offset(at), u)
		v.words(VPANDQ, VPAND, low, u, index)
		VPSLLQ(U8(2), index, index)
		v.fraction(u, one)
		VSUBPD(less, u, u)
		left, width, lo, hi := v.reg(), v.reg(), v.reg(), v.reg()
		for i, r := range []VecVirtual{left, width, lo, hi} {
			v.zero(r)
			v.gather(layers, index, 8*i, r)
		}
		VMULPD(width, u, u)
		VADDPD(left, u, u)
		VMOVUPD(u, Mem{Base: y}.Offset(at))
		part := GP32()
		if v.w == 8 {
			above, below := K(), K()
			VCMPPD(U8(17), u, lo, above) // lo < u, ordered and quiet
			VCMPPD(U8(17), hi, u, below)
			KANDB(above, below, below)
			KMOVB(below, part)
		} else {
			VCMPPD(U8(17), u, lo, lo)
			VCMPPD(U8(17), hi, u, hi)
			VANDPD(lo, hi, hi)
			VMOVMSKPD(hi, part)
		}
		if half == 0 {
			MOVL(part, bits)
		} else {
			SHLL(U8(4), part)
			ORL(part, bits)
		}
	}
	MOVB(bits.As8(), Mem{Base: inside})
	ADDQ(U8(stride), words)
	ADDQ(U8(stride), y)
	INCQ(inside)
	again(n, "loop")
}

// powers sets x = y^m, the product of the y^(2^i) over the bits i of m, from the lowest.
func powers(v isa) {
	x, y, n := param("x"), param("y"), param("n")
	one := v.copies(0x3ff << 52)
	k := 8 / v.w
	label("loop")
	m := param("m")
	p, s := v.regs(k), v.regs(k)
	for i := range k {
		VMOVUPD(Mem{Base: y}.Offset(i*v.bytes()), s[i])
		VMOVAPD(one, p[i])
	}
	label("bits")
	SHRQ(U8(1), m)
	JCC(ref("even"))
	for i := range k {
		VMULPD(s[i], p[i], p[i])
	}
	label("even")
	for i := range k {
		VMULPD(s[i], s[i], s[i])
	}
	TESTQ(m, m)
	JNZ(ref("bits"))
	for i := range k {
		VMOVUPD(p[i], Mem{Base: x}.Offset(i*v.bytes()))
	}
	again(n, "loop", x, y)
}

// runningSums sets sums[k] = x[0] + ... + x[k], from the left.
func runningSums(v isa) {
	sums, x, n := v.lanes("sums"), v.lanes("x"), param("n")
	total := v.reg()
	v.zero(total)
	label("loop")
	VADDPD(Mem{Base: x}, total, total)
	VMOVUPD(total, Mem{Base: sums})
	again(n, "loop", x, sums)
}

// eliminate removes the states n-1, ..., 1 from jump processes with the rates a, see
// Eliminate. least is the least divisor. a: n x n x 8; least: 8.
func eliminate(v isa) {
	a, n, row, state, k, end := v.lanes("a"), param("n"), GP64(), GP64(), GP64(), GP64()
	below, one := v.reg(), v.copies(0x3ff<<52)
	VMOVUPD(Mem{Base: v.lanes("least")}, below)
	down := GP64()
	MOVQ(n, down)
	SHLQ(U8(6), down) // from a row to the next
	DECQ(n)
	MOVQ(n, row)
	IMULQ(down, row)
	ADDQ(a, row)
	MOVQ(n, end)
	SHLQ(U8(6), end) // the entries of a row before the state
	label("states")
	out := v.reg()
	v.zero(out)
	begin(k, "leave")
	VADDPD(at(row, k), out, out)
	until(k, end, "leave")
	VMINPD(below, out, below) // the least, and no NaN
	VDIVPD(out, one, out)
	MOVQ(a, state)
	label("rows")
	rate, temp := v.reg(), v.reg()
	VMULPD(at(state, end), out, rate)
	VMOVUPD(rate, at(state, end))
	begin(k, "bypass")
	VMULPD(at(row, k), rate, temp)
	VADDPD(at(state, k), temp, temp)
	VMOVUPD(temp, at(state, k))
	until(k, end, "bypass")
	ADDQ(down, state)
	CMPQ(state, row)
	JNE(ref("rows"))
	SUBQ(down, row)
	SUBQ(U8(stride), end)
	JNZ(ref("states"))
	VMOVUPD(below, Mem{Base: v.lanes("least")})
}

// measure computes the stationary measures after eliminate, see Eliminate. mu: n x 8;
// total: 8; a, sums: n x n x 8.
func measure(v isa) {
	mu, a, weight, n := v.lanes("mu"), v.lanes("a"), v.lanes("sums"), param("n")
	down, end, k, column, entry := GP64(), GP64(), GP64(), GP64(), GP64()
	SHLQ(U8(6), n)
	MOVQ(n, down) // from a row to the next
	one := v.copies(0x3ff << 52)
	VMOVUPD(one, Mem{Base: mu})
	MOVQ(U32(stride), end)
	label("states")
	CMPQ(end, n)
	JGE(ref("weigh"))
	sum, temp := v.reg(), v.reg()
	v.zero(sum)
	XORQ(k, k)
	LEAQ(at(a, end), column)
	label("entries")
	VMOVUPD(at(mu, k), temp)
	VMULPD(Mem{Base: column}, temp, temp)
	VADDPD(temp, sum, sum)
	ADDQ(down, column)
	until(k, end, "entries")
	VMOVUPD(sum, at(mu, end))
	ADDQ(U8(stride), end)
	JMP(ref("states"))
	label("weigh")
	total := v.reg()
	v.zero(total)
	XORQ(k, k)
	LEAQ(at(weight, n), entry)
	SUBQ(U8(stride), entry) // the last sum of row 0
	label("weights")
	m := v.reg()
	VMOVUPD(at(mu, k), m)
	VMULPD(Mem{Base: entry}, m, m)
	VMOVUPD(m, at(mu, k))
	VADDPD(m, total, total)
	ADDQ(down, entry)
	until(k, n, "weights")
	VMOVUPD(total, Mem{Base: v.lanes("total")})
	begin(k, "divide")
	VMOVUPD(at(mu, k), m)
	VDIVPD(total, m, m)
	VMOVUPD(m, at(mu, k))
	until(k, n, "divide")
}

// numbering returns the address of the words 0, 1, ..., 7.
func numbering() Mem { return table("numbering", 0, 1, 2, 3, 4, 5, 6, 7) }

// walk sets states[i][l] to the number of sums in row rows[parents[i]][l] of problem l, the
// last one left out, that are at most u times the last one, where u is the fraction of
// words[i][l]. words: count x 8; sums: rows x n x 8.
func walk(v isa) {
	lane := numbering()
	states, rows, parents, words := v.lanes("states"), v.lanes("rows"), param("parents"), v.lanes("words")
	sums, n, count := v.lanes("sums"), param("n"), param("count")
	one, size, numbers := v.copies(0x3ff<<52), v.reg(), v.reg()
	VMOVUPD(lane, numbers)
	if v.w == 8 {
		VPBROADCASTQ(n, size)
	} else {
		low := XMM()
		VMOVQ(n, low)
		VPBROADCASTQ(low, size)
	}
	SHLQ(U8(6), n)
	last, entry, row := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: sums, Index: n, Scale: 1, Disp: -stride}, last)
	var step VecVirtual
	if v.w == 8 {
		step = v.copies(1)
	}
	label("positions")
	index, u, x, found := v.reg(), v.reg(), v.reg(), v.reg()
	MOVQ(Mem{Base: parents}, row)
	SHLQ(U8(6), row)
	VMOVUPD(at(rows, row), index)
	VPMULUDQ(size, index, index)
	VPSLLQ(U8(3), index, index)
	VPADDQ(numbers, index, index)
	VMOVUPD(Mem{Base: words}, u)
	v.fraction(u, one)
	VSUBPD(one, u, u)
	v.zero(x)
	v.gather(last, index, 0, x)
	VMULPD(x, u, u)
	v.zero(found)
	MOVQ(sums, entry)
	label("sums")
	CMPQ(entry, last)
	JGE(ref("found"))
	v.zero(x)
	v.gather(entry, index, 0, x)
	v.countUpTo(u, x, found, step)
	ADDQ(U8(stride), entry)
	JMP(ref("sums"))
	label("found")
	VMOVUPD(found, Mem{Base: states})
	ADDQ(U8(8), parents)
	again(count, "positions", words, states)
}

// countUpTo adds one, from step, to found where x is at most u. It overwrites x.
func (v isa) countUpTo(u, x, found, step VecVirtual) {
	if v.w == 8 {
		k := K()
		VCMPPD(U8(18), u, x, k) // x <= u, ordered and quiet
		VPADDQ(step, found, k, found)
	} else {
		VCMPPD(U8(18), u, x, x)
		VPSUBQ(x, found, found)
	}
}
