//go:build unix

package nb

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// place is a program that passes standard error on up to the stack of a crash, of which it keeps the first line
// of a cell. A stack follows the line of a panic, a fatal error or a signal; other lines about goroutines are the
// reader's. The kernel replaces the line of the generated program by a number of a cell and its line.
// Without memory Go's runtime ends in one of several fatal errors, or reads address 0, which prints "SIGSEGV: " first;
// a panic of a cell begins otherwise.
const place = `while IFS= read -r line || [ -n "$line" ]; do
	case $crash$line in
	"crash: goroutine "[0-9]*" ["*"]:"|"crash: runtime stack:") break;;
	esac
	case $line in
	"panic: "*|"fatal error: "*|"SIG"*": "*|"unexpected fault address "*) crash="crash: ";;
	esac
	case $line in
	"fatal error: "*"out of memory"*|"SIGSEGV: "*)
		limit=$(ulimit -d)
		[ "$limit" = unlimited ] || line="$line; the limit of a program is $((limit >> 10)) MB";;
	esac
	printf '%s\n' "$line"
done
while read -r line _; do
	case $line in */gonb_*/main.go:*) echo "at $line"; break;; esac
done
cat >/dev/null`

// init lets a panic in a notebook print its message and its place, in place of its stack.
// The setting of GOTRACEBACK is the kernel's: a reader who changes it sees the stack.
func init() {
	if !inNotebook() || os.Getenv("GOTRACEBACK") != "single" {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	cmd := exec.Command("sh", "-c", place)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, os.Stderr, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt must not end it
	if cmd.Start() == nil {
		_ = unix.Dup2(int(w.Fd()), int(os.Stderr.Fd()))
	}
	r.Close()
	w.Close()
}
