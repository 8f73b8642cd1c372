package figure

import (
	"runtime/debug"
	"strings"
)

// Pinned is the platform on which figures have the same bytes for one version of Go.
// On other platforms the compiler may fuse a multiplication and an addition, which can
// change last digits, lines of a PDF and shades of a pixel.
const Pinned = "amd64 v1"

// Platform returns the processor that the program is compiled for and its level, as in
// [Pinned]. It leaves out a part that the build information does not record.
func Platform() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	return strings.TrimSpace(set["GOARCH"] + " " + set["GO"+strings.ToUpper(set["GOARCH"])])
}
