package pack

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

const (
	arMagic  = "!<arch>\n"
	arHeader = 60 // bytes before each member: name 16, time 12, owner 6, group 6, mode 8, size 10, end 2
	arSize   = 48 // where the size is
)

// divide splits the archive of a package into the part that the compiler reads when the
// package is imported, and the part that the linker reads.
func divide(archive []byte) (exports, objects []byte, err error) {
	if !bytes.HasPrefix(archive, []byte(arMagic)) {
		return nil, nil, fmt.Errorf("no archive: it begins with %q, want %q", archive[:min(len(archive), 8)], arMagic)
	}
	rest := archive[len(arMagic):]
	if len(rest) < arHeader || !bytes.HasPrefix(rest, []byte("__.PKGDEF ")) {
		return nil, nil, fmt.Errorf("an archive that does not begin with __.PKGDEF")
	}
	size, err := strconv.ParseUint(strings.TrimSpace(string(rest[arSize:arSize+10])), 10, 31)
	if err != nil || uint64(len(rest)-arHeader) < size {
		return nil, nil, fmt.Errorf("an archive whose first member is cut off")
	}
	end := min(arHeader+int(size+size%2), len(rest))
	header, body := rest[:arHeader], rest[arHeader:arHeader+int(size)]
	exports = append([]byte(arMagic), rest[:end]...)

	// The linker reads the first lines, which have the version of Go.
	lines, _, found := bytes.Cut(body, []byte("\n$$B\n"))
	if !found {
		return nil, nil, fmt.Errorf("an archive without export data")
	}
	lines = append(bytes.Clone(lines), "\n\n"...)
	objects = append([]byte(arMagic), header[:arSize]...)
	objects = fmt.Appendf(objects, "%-10d%s", len(lines), header[arSize+10:])
	objects = append(objects, lines...)
	if len(lines)%2 == 1 {
		objects = append(objects, 0)
	}
	return exports, append(objects, rest[end:]...), nil
}

// version returns the version of Go that wrote an archive. Its first member begins with
// a line such as "go object js wasm go1.26.8".
func version(archive []byte) string {
	_, rest, _ := bytes.Cut(archive, []byte("`\ngo object "))
	if words := strings.Fields(string(rest[:min(len(rest), 200)])); len(words) > 2 {
		return words[2]
	}
	return ""
}
