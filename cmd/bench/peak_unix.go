//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the most memory that a process has had, in MB.
func peak(p *os.ProcessState) float64 {
	most := float64(p.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" { // where the unit is a byte
		most *= 1024
	}
	return most / 1e6
}
