module learncausal

go 1.26.0

require (
	codeberg.org/go-pdf/fpdf v0.11.1 // PDF with embedded fonts and stable bytes
	github.com/agnivade/levenshtein v1.2.2 // suggests ids
	github.com/gofrs/flock v0.13.1 // one process at a time trains a run
	github.com/janpfeifer/gonb v0.11.4 // displays of notebook cells
	github.com/pelletier/go-toml/v2 v2.4.3 // plans of sweeps, with the lines of their keys
	github.com/sbinet/npyio v0.6.0 // weights as NPZ, for NumPy and others
	github.com/spf13/cobra v1.10.2 // the command line: help, completion, suggestions
	github.com/spf13/pflag v1.0.9 // flags of the command line
	golang.org/x/image v0.30.0 // outlines of glyphs
	golang.org/x/mod v0.27.0 // the module path of a checkout
	golang.org/x/sync v0.24.0 // workers that stop at the first error
	golang.org/x/sys v0.47.0 // detects the vectors of the processor, redirects a file descriptor
	golang.org/x/term v0.45.0 // width of the terminal
	golang.org/x/text v0.28.0 // decodes UTF-16
	gonum.org/v1/gonum v0.17.0 // matrices, statistics
	gonum.org/v1/plot v0.17.0 // drawing
	pgregory.net/rapid v1.3.0 // property tests
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.2.0 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/go-logr/logr v1.4.2 // indirect
	github.com/gofrs/uuid v4.4.0+incompatible // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/exp v0.0.0-20250106191152-7588d65b2ba8 // indirect
	golang.org/x/tools v0.36.0 // indirect
	k8s.io/klog/v2 v2.130.1 // indirect
)
