#!/usr/bin/env bash
# The end of `make test`: counts the parts that have passed, and names those that were
# skipped because a program or a processor is missing.
passed=5 # static checks, other systems, Go tests, tests of the tools, notebooks
skipped=0

skip() {
	echo "!!! NOT CHECKED: $1"
	skipped=$((skipped + 1))
}

# needs WHAT PROGRAM... counts WHAT as passed if the programs are installed.
needs() {
	local what=$1
	for program in "${@:2}"; do
		command -v "$program" >/dev/null && continue
		skip "$what, because $program is missing. README.md has the apt-get line."
		return
	done
	passed=$((passed + 1))
}

echo
echo 'make test passed: static checks, other systems, Go tests, tests of the tools, notebooks'
needs 'the LaTeX exports in figures/' latexmk pdflatex
needs 'some cells in a browser' chromium
needs 'the proofs in paper/proofs' coqc
needs 'the bytes in WebAssembly' node
needs 'the bytes on another processor' qemu-aarch64-static qemu-riscv64-static qemu-s390x-static
if grep -qsw avx512vl /proc/cpuinfo; then
	passed=$((passed + 1))
else
	skip 'the kernels with AVX-512, because this processor has none.'
fi
echo "checks: $passed passed, 0 failed, $skipped skipped"
