// Package toy has functions whose mutants are tried in a test.
package toy

import "fmt"

// Sum returns the sum of a list.
func Sum(x []int) int {
	total := 0
	for _, v := range x {
		total += v
	}
	return total
}

// Clamp returns x, or 10 if that is less, which only the tests of user see.
func Clamp(x int) int {
	if x > 10 {
		x = 10
	}
	return x
}

// Countdown returns n, for ever if it does not count.
func Countdown(n int) (k int) {
	for n > 0 {
		n--
		k++
	}
	return k
}

// Check returns an error for a negative number, which no test sees.
func Check(x int) error {
	if x < 0 {
		return fmt.Errorf("toy: %d is negative", x)
	}
	return nil
}
