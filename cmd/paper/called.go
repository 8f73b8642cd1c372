package main

import (
	"path/filepath"
	"regexp"
	"strings"
)

// plainArgument is an argument that a shell takes as it is.
var plainArgument = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// quoted returns an argument as it is typed in a shell.
func quoted(arg string) string {
	if plainArgument.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// called returns the words with which a process whose program has this path has been
// started, as far as that can be told: go run keeps its programs in a folder
// go-build.
func called(program string) string {
	if strings.Contains(filepath.ToSlash(program), "/go-build") {
		return "go run ./cmd/paper"
	}
	return quoted(program)
}
