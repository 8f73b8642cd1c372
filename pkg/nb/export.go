package nb

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"learncausal/internal/figure"
	"learncausal/internal/files"
)

// Export writes plots as a figure of a paper, in the look of [Plot], and with letters on several plots: NAME.png,
// NAME.svg, NAME.pdf, and NAME.tex, in which LaTeX sets the text. The name consists of lower-case letters, digits and
// hyphens, and may have a folder before it, as in "../paper/figures/losses". Without one the files are in the folder
// figures of the working directory. The caption is plain text, with formulas between dollar signs. Export prints the
// lines that show the figure in a paper.
//
// Export replaces only files that it wrote and nobody has changed. Any other file of these names stops the cell with
// an error, as does a plot that cannot be drawn; then nothing is written.
func Export(name, caption string, plots ...*plot.Plot) {
	Printf("%s", Must(export(name, caption, plots...)))
}

func export(name, caption string, plots ...*plot.Plot) (lines string, err error) {
	dir, id := filepath.Split(name)
	if dir == "" {
		dir = "figures"
	}
	f, err := figureOf(plots...)
	if err != nil {
		return "", err
	}
	f.ID, f.Plain = id, false
	if f.Caption, err = escaped(caption); err != nil {
		return "", err
	}
	base := filepath.Join(dir, id)
	written, sums := [4][]byte{}, ""
	for k, get := range []func() ([]byte, error){f.PNG, f.SVG, f.PDF, f.TeX} {
		if written[k], err = get(); err != nil {
			return "", err
		}
		sums += " " + sum(written[k])
	}
	written[3] = append(written[3], signature+sums+"\n"...)
	if err := unchanged(base); err != nil {
		return "", err
	}
	for k, b := range written {
		err = errors.Join(err, files.Write(base+extensions[k], b))
	}
	const format = "%s.tex, .pdf, .svg and .png are written. In LaTeX, with pgfplots:\n\n\\begin{figure}\n" +
		"\\centering\n\\input{%[1]s}\n\\caption{%s}\n\\end{figure}\n"
	return fmt.Sprintf(format, filepath.ToSlash(base), f.Caption), err
}

var extensions = [...]string{".png", ".svg", ".pdf", ".tex"}

// signature begins the last line of LaTeX, which has the sums of all files without this line.
const signature = "% written by nb.Export:"

func sum(b []byte) string { return fmt.Sprintf("%.8x", sha256.Sum256(b)) }

// unchanged returns an error if there is a file of a figure that Export did not write, or that has been changed.
func unchanged(base string) error {
	var sums []string
	for k := range slices.Backward(extensions[:]) {
		path := base + extensions[k]
		b, err := files.Read(path, 1<<28)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if k == 3 {
			body, last, _ := strings.Cut(string(b), signature)
			b, sums = []byte(body), strings.Fields(last)
		}
		if err != nil || len(sums) != len(extensions) || sums[k] != sum(b) {
			return fmt.Errorf("nb: %s is not a file that Export wrote, or has been changed since: "+
				"remove it, or take another name", path)
		}
	}
	return nil
}

// escaped returns a caption in LaTeX. A dollar sign without a second one is a character.
func escaped(caption string) (string, error) {
	parts := strings.Split(caption, "$")
	if len(parts)%2 == 0 {
		parts = []string{caption}
	}
	for i := 0; i < len(parts); i += 2 { // the others are formulas
		tex, err := figure.EscapeTeX(parts[i])
		if err != nil {
			return "", fmt.Errorf("nb: caption: %w", err)
		}
		parts[i] = tex
	}
	return strings.Join(parts, "$"), nil
}
