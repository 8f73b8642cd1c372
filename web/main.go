// Command gokernel writes the pack of a Go project: the files with which a page compiles and runs Go programs
// that import the project's packages. README.md describes how to build a site with it.
//
//	gokernel -project DIR [-modfile FILE] -packages FILE -cache DIR OUT
//
// The file has an import path on each line; a # begins a comment.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gokernel/pack"
)

func main() {
	var c pack.Config
	var list string
	flag.StringVar(&c.Project, "project", ".", "folder of the Go module whose packages cells use")
	flag.StringVar(&c.Modfile, "modfile", "", "a go.mod in place of the project's")
	flag.StringVar(&list, "packages", "", "file with an import path on each line")
	flag.StringVar(&c.Kernel, "kernel", ".", "folder of gokernel")
	flag.StringVar(&c.Cache, "cache", "", "folder for the compiler, which takes minutes to build")
	flag.Parse()
	if err := run(c, list, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gokernel:", err)
		os.Exit(1)
	}
}

func run(c pack.Config, list string, args []string) error {
	if list == "" || c.Cache == "" || len(args) != 1 {
		return fmt.Errorf("want -packages FILE, -cache DIR and one folder to write into")
	}
	for _, folder := range []*string{&c.Project, &c.Kernel, &c.Cache} { // go runs in other folders
		abs, err := filepath.Abs(*folder)
		if err != nil {
			return err
		}
		*folder = abs
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 0 {
			c.Packages = append(c.Packages, fields...)
		}
	}
	return pack.Write(args[0], c)
}
