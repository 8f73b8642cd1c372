//go:build !linux

package nb

import "time"

// drain gives the kernel time to read standard output. Only Linux reports what is unread.
func drain() { time.Sleep(20 * time.Millisecond) }
