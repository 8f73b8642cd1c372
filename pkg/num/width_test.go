package num

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// Exponents and sizes overflow on 32 bits, so the compiler refuses the package there.
func TestPackageNeeds64Bits(t *testing.T) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "num.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for arch, refused := range map[string]bool{"386": true, "arm": true, "amd64": false, "wasm": false} {
		found := false
		config := types.Config{Sizes: types.SizesFor("gc", arch), Error: func(err error) {
			found = found || strings.Contains(err.Error(), "overflows")
		}}
		_, _ = config.Check("num", set, []*ast.File{file}, nil) // without imports
		if found != refused {
			t.Errorf("%s: refused %v, want %v", arch, found, refused)
		}
	}
}
