// Package learncausal is the paper How Transformers Learn Causal Structure with
// Gradient Descent as Go packages and notebooks. This package is empty; what
// there is lies in folders:
//
//	pkg/        a library of the task, the models, training and the proofs' quantities
//	paper/      what is this paper's alone: its statements, experiments and figures
//	cmd/        the commands behind the Makefile
//	notebooks/  the paper's argument with the code that checks it
//
// CONTRIBUTING.md draws how the packages stand on each other, and says how to add
// to them. README.md shows a program that imports them from elsewhere.
package learncausal
