package figure

import (
	"runtime/debug"
	"strings"
)

// Pinned is the platform on which a figure has the same bytes for one version of Go.
// On others the compiler may multiply and add with one rounding, and last digits, lines
// of a PDF and shades of a pixel may be other ones.
const Pinned = "amd64 v1"

// Platform returns the processor that the program is compiled for and its level, as in
// [Pinned], or as much of it as the program says.
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
