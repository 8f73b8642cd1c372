//go:build purego || !amd64

package lanes

func available() int { return none }

func addMul(c, a, b Matrix) { addMulGo(c, a, b) }
