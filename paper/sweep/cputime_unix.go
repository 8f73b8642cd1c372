//go:build unix

package sweep

import (
	"syscall"
	"time"
)

// cpuTime returns how long processors have worked for this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("sweep: " + err.Error()) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
