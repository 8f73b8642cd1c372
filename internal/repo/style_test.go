package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// A comment names things. A pronoun or a fused relative in place of a noun, "that of" or
// "what is", may stand in less than 1 % of the lines, and in 2 % in tests.
func TestCommentsNameThings(t *testing.T) {
	t.Run("production", func(t *testing.T) { commentsNameThings(t, false, 0.01) })
	t.Run("tests", func(t *testing.T) { commentsNameThings(t, true, 0.02) })
}

func commentsNameThings(t *testing.T, tests bool, most float64) {
	habits := []struct {
		pattern *regexp.Regexp
		most    float64 // matches for each line
	}{
		{regexp.MustCompile(`(?i)\b(that|those)\s+of\b`), most},
		{regexp.MustCompile(`(?i)\bwhat\b`), most},
		{regexp.MustCompile(`(?i)\btold\b`), 0},
	}
	lines, found := 0, make([][]string, len(habits)) // files of the matches
	eachFile(t, tests, func(name string, file *ast.File, _ *token.FileSet, _ []string) {
		for _, group := range file.Comments {
			text := group.Text()
			lines += strings.Count(text, "\n")
			for i, h := range habits {
				for range h.pattern.FindAllString(text, -1) {
					found[i] = append(found[i], name)
				}
			}
		}
	})
	for i, h := range habits {
		if share := float64(len(found[i])) / float64(lines); share > h.most {
			t.Errorf("%v stands in %.1f %% of %d lines, at most %g %% are allowed: %q",
				h.pattern, 100*share, lines, 100*h.most, found[i])
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

// The name of a test states a law, with a noun in each place.
func TestNamesOfTestsNameThings(t *testing.T) {
	habit := regexp.MustCompile(`^(Test|Fuzz)\w*(Told|ThatOf|ThatIt|ThatThey|Those|What|Says|OnesOwn)`)
	eachFile(t, true, func(name string, file *ast.File, _ *token.FileSet, _ []string) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && habit.MatchString(f.Name.Name) {
				t.Errorf("%s: %s has a pronoun in the place of a noun", name, f.Name.Name)
			}
		}
	})
}
