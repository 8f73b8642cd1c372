package files

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// SumLine is the length of the first line of a file with a checksum:
//
//	{"sha256":"<64 digits>"}
//
// The digits are the SHA-256 of the bytes after the line. In a file of JSON the first line ends in a
// comma instead of "}", so that the file is one JSON object.
const SumLine = 14 + 2*sha256.Size

// AddSum writes the first line, which ends in end, over the first SumLine bytes of b.
func AddSum(b []byte, end string) []byte {
	copy(b, sumLine(b[SumLine:], end))
	return b
}

func sumLine(rest []byte, end string) string {
	return fmt.Sprintf("{\"sha256\":\"%s\"%s\n", Sum(rest), end)
}

// CheckSum returns the bytes after the first line of b, which must be the line of AddSum.
func CheckSum(b []byte, end string) (rest []byte, err error) {
	right := func(b []byte) bool {
		return len(b) >= SumLine && string(b[:SumLine]) == sumLine(b[SumLine:], end)
	}
	switch {
	case right(b):
		return b[SumLine:], nil
	case right(WithLF(b)):
		return nil, ErrLineEnds
	}
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	return nil, fmt.Errorf("its first line is %.90q, want %q: truncated or altered", line,
		strings.TrimSpace(sumLine(rest, end)))
}

// Sum returns the SHA-256 of b in hexadecimal digits.
func Sum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// WithLF returns b with lines that end in \n instead of \r\n.
func WithLF(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// ErrLineEnds is about a file whose content is intact.
var ErrLineEnds error = Intact("its lines end in CRLF, want LF: a program has converted them, " +
	`and sed -i 's/\r$//' on the file converts them back`)

// Intact is an error about a file whose content is not damaged. It says how to use the file.
type Intact string

func (e Intact) Error() string { return string(e) }

// Refused returns the error err about the file path, with a remedy unless err is [Intact].
func Refused(path string, err error, remedy string) error {
	if _, ok := errors.AsType[Intact](err); ok {
		return fmt.Errorf("%s refused: %w", path, err)
	}
	return fmt.Errorf("%s refused: %w; %s", path, err, remedy)
}
