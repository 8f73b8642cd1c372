//go:build unix

package nb

import (
	"os/exec"
	"strings"
	"testing"
)

// Only the stack of a crash is left out, and nothing that a program prints about goroutines.
func TestLinesAboutGoroutinesArePassedOn(t *testing.T) {
	crash := place
	const (
		stack = "\ngoroutine 1 [running]:\nmain.f()\n\t/tmp/gonb_1/main.go:7 +0x1d\nexit status 2\n"
		place = "\nat /tmp/gonb_1/main.go:7\n"
	)
	for in, want := range map[string]string{
		"goroutine 7 is ready\nafter\n":                             "goroutine 7 is ready\nafter\n",
		"goroutine 1 [running]:\nf()\n\t/a.go:3\nafter":             "goroutine 1 [running]:\nf()\n\t/a.go:3\nafter\n",
		"runtime stack:\nmine\n":                                    "runtime stack:\nmine\n",
		"before\npanic: no\n" + stack:                               "before\npanic: no\n" + place,
		"fatal error: all goroutines are asleep\n" + stack:          "fatal error: all goroutines are asleep\n" + place,
		"panic: a\n\tpanic: b\n[signal SIGSEGV: x]\n" + stack:       "panic: a\n\tpanic: b\n[signal SIGSEGV: x]\n" + place,
		"panic: no\ngoroutine 3 says hello\n" + stack:               "panic: no\ngoroutine 3 says hello\n" + place,
		"fatal error: x\n\nruntime stack:\nruntime.throw\n" + stack: "fatal error: x\n" + place,
	} {
		c := exec.Command("sh", "-c", crash)
		c.Stdin = strings.NewReader(in)
		if out, err := c.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%q: %v\n\tis   %q\n\twant %q", in, err, out, want)
		}
	}
}
