//go:build !unix

package sweep

import "time"

var begun = time.Now()

// cpuTime returns the time since the process began: where the system does not tell,
// it counts as worked all of the time.
func cpuTime() time.Duration { return time.Since(begun) }
