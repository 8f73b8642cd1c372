// Package greet greets.
package greet

import "example.com/toy/internal/words"

// Greet returns a greeting.
func Greet(name string) string { return words.Hello + ", " + name + "!" }
