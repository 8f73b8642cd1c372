// Go accepts kernels.go, functions without bodies, beside any file of assembly.
