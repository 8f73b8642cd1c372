// Systems type-checks the packages of a folder, their tests with them, for other
// systems, from the sources alone: nothing is compiled for them.
//
//	systems windows/amd64 darwin/arm64
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	faults := 0
	for _, system := range os.Args[1:] {
		goos, goarch, _ := strings.Cut(system, "/")
		all, err := packages.Load(&packages.Config{
			Mode:  packages.LoadAllSyntax,
			Tests: true,
			Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		}, "./...")
		if err != nil || len(all) == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d packages, %v\n", system, len(all), err)
			os.Exit(1)
		}
		if n := packages.PrintErrors(all); n > 0 {
			fmt.Fprintf(os.Stderr, "%s: %d faults\n", system, n)
			faults += n
		}
	}
	if faults > 0 {
		os.Exit(1)
	}
}
