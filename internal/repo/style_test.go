package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// eachFile calls visit for each file of production code, or of tests, with its lines.
func eachFile(t *testing.T, tests bool, visit func(name string, file *ast.File, files *token.FileSet, lines []string)) {
	t.Helper()
	t.Chdir(root)
	for _, top := range []string{"cmd", "internal", "paper", "pkg"} {
		err := filepath.WalkDir(top, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") != tests {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, name, text, parser.ParseComments)
			if err == nil && !ast.IsGenerated(file) {
				visit(name, file, files, strings.Split(string(text), "\n"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A line of code has at most 120 characters. Lines of LaTeX and Markdown, which are raw
// strings, may be longer.
func TestLinesAreShort(t *testing.T) {
	t.Run("production", func(t *testing.T) { linesAreShort(t, false) })
	t.Run("tests", func(t *testing.T) { linesAreShort(t, true) })
}

func linesAreShort(t *testing.T, tests bool) {
	eachFile(t, tests, func(name string, file *ast.File, files *token.FileSet, lines []string) {
		raw := map[int]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(s.Value, "`") {
				for k := files.Position(s.Pos()).Line; k <= files.Position(s.End()).Line; k++ {
					raw[k] = true
				}
			}
			return true
		})
		for k, line := range lines {
			if n := utf8.RuneCountInString(line); n > 120 && !raw[k+1] {
				t.Errorf("%s:%d has %d characters, want at most 120", name, k+1, n)
			}
		}
	})
}
