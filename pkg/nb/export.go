package nb

import (
	"fmt"
	"path/filepath"
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
// Export replaces only files that it wrote and nobody has changed, by their sums in the file .written.sha256 of the
// folder. Any other file of these names stops the cell with an error that lists them, as does a plot that cannot be
// drawn; then nothing is written.
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
	all, err := f.Files()
	if err != nil {
		return "", err
	}
	if err := files.Folder(dir).Write(all...); err != nil {
		return "", fmt.Errorf("nb: %w", err)
	}
	const format = "%s.tex, .pdf, .svg and .png are written. In LaTeX, with the packages pgf, xcolor and graphicx:\n\n" +
		"\\begin{figure}\n" +
		"\\centering\n\\input{%[1]s}\n\\caption{%s}\n\\end{figure}\n"
	base := filepath.ToSlash(filepath.Join(dir, id))
	if n := len(all[3].Data); n > 1<<20 { // of LaTeX
		lines = fmt.Sprintf("%s.tex has %d MB, which pdflatex may have no memory for: use lualatex, or "+
			"\\includegraphics{%[1]s.pdf}. ", base, n>>20)
	}
	return lines + fmt.Sprintf(format, base, f.Caption), nil
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
