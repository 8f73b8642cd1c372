package files

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// plain replaces the line ends of Windows and of old spreadsheets, and no-break spaces. It
// removes byte order marks, which programs that join files leave in the middle.
var plain = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u00a0", " ", "\u202f", " ", "\ufeff", "")

// Decode returns a text in UTF-8 with lines that end in \n. It reads UTF-8 and UTF-16, with
// or without a byte order mark, and ignores NUL and Ctrl-Z at the end. It returns an error
// that names the line if b is in a different encoding.
func Decode(b []byte) ([]byte, error) {
	if len(b) > 2 && len(b)%2 == 0 && (b[0] == 0) != (b[1] == 0) { // UTF-16 without a mark
		mark := []byte{0xff, 0xfe}
		if b[0] == 0 {
			mark = []byte{0xfe, 0xff}
		}
		b = append(mark, b...)
	}
	out, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), b)
	if err != nil {
		return nil, err
	}
	out = bytes.TrimRight([]byte(plain.Replace(string(out))), "\x00\x1a")
	line := 1
	for at := 0; at < len(out); {
		r, n := utf8.DecodeRune(out[at:])
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && n == 1:
			return nil, fmt.Errorf("line %d: the byte 0x%02x, %q in Latin-1: want the file saved as UTF-8",
				line, out[at], rune(out[at]))
		case r == 0:
			return nil, fmt.Errorf("line %d: a NUL byte: want text, saved as UTF-8", line)
		}
		at += n
	}
	return out, nil
}
