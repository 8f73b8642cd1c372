// Package user imports toy.
package user

import "learncausal/pkg/toy"

// Top returns 10.
func Top() int { return toy.Clamp(12) }
