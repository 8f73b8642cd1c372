package nb

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// drain waits until the kernel has read standard output, at most a second.
func drain() {
	for range 1000 {
		if n, err := unix.IoctlGetInt(int(os.Stdout.Fd()), unix.TIOCINQ); err != nil || n == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
