package errata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"learncausal/internal/files"
)

// ErrNoLaTeX is the error of Write without LaTeX.
var ErrNoLaTeX = errors.New("NOT TYPESET: pdflatex is missing; README.md has the apt-get line")

// typeset returns a document as PDF and the log of LaTeX. Equal sources give equal bytes.
func typeset(ctx context.Context, name, source string) (pdf, log []byte, err error) {
	program, err := exec.LookPath("pdflatex")
	if err != nil {
		return nil, nil, ErrNoLaTeX
	}
	dir, err := os.MkdirTemp("", "errata")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, name+".tex"), []byte(source), 0o644); err != nil {
		return nil, nil, err
	}
	const draft = "-draftmode"
	// The first two runs write no PDF. They compute the pages in the contents and in the tables.
	for _, mode := range []string{draft, draft, "-output-format=pdf"} {
		c := exec.CommandContext(ctx, program, mode, "-interaction=nonstopmode", "-halt-on-error", name+".tex")
		c.Dir = dir
		c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=0", "FORCE_SOURCE_DATE=1", "max_print_line=10000")
		if out, err := c.CombinedOutput(); err != nil {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if i := bytes.Index(out, []byte("\n!")); i >= 0 {
				out = out[i:]
			}
			return nil, nil, fmt.Errorf("errata: pdflatex: %w\n%s", err, out[:min(len(out), 2000)])
		}
	}
	if pdf, err = os.ReadFile(filepath.Join(dir, name+".pdf")); err != nil {
		return nil, nil, err
	}
	log, err = os.ReadFile(filepath.Join(dir, name+".log"))
	return pdf, log, err
}

// Write writes a document as TeX and PDF into a folder, and returns their paths and the log of
// LaTeX. Without LaTeX it writes the TeX alone and returns ErrNoLaTeX.
func Write(ctx context.Context, name, source, dir string) (paths []string, log []byte, err error) {
	tex, out := filepath.Join(dir, name+".tex"), filepath.Join(dir, name+".pdf")
	if err := files.Write(tex, []byte(source)); err != nil {
		return nil, nil, err
	}
	pdf, log, err := typeset(ctx, name, source)
	if err != nil {
		return []string{tex}, nil, err
	}
	return []string{tex, out}, log, files.Write(out, pdf)
}
