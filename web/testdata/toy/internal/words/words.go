// Package words has the words.
package words

const Hello = "Hello"
