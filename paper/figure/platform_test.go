package figure

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestPlatformIsThatOfTheCompiler(t *testing.T) {
	level, err := exec.Command("go", "env", "GO"+strings.ToUpper(runtime.GOARCH)).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(runtime.GOARCH + " " + strings.TrimSpace(string(level)))
	if got := Platform(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
