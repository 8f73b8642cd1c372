package runs

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
// The digits are the SHA-256 of the bytes after the line. In run.json the first line ends in a
// comma instead of "}", so that the file is one JSON object.
const SumLine = 14 + 2*sha256.Size

// AddSum writes the first line, which ends in end, over the first SumLine bytes of b.
func AddSum(b []byte, end string) []byte {
	copy(b, sumLine(b[SumLine:], end))
	return b
}

func sumLine(rest []byte, end string) string {
	return fmt.Sprintf("{\"sha256\":\"%s\"%s\n", sum256(rest), end)
}

// CheckSum returns the bytes after the first line of b, which must be the line of AddSum.
func CheckSum(b []byte, end string) (rest []byte, err error) {
	right := func(b []byte) bool {
		return len(b) >= SumLine && string(b[:SumLine]) == sumLine(b[SumLine:], end)
	}
	switch {
	case right(b):
		return b[SumLine:], nil
	case right(withLF(b)):
		return nil, errLineEnds
	}
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	return nil, fmt.Errorf("its first line is %.90q, want %q: truncated or altered", line,
		strings.TrimSpace(sumLine(rest, end)))
}

// sum256 returns the SHA-256 of b in hexadecimal digits.
func sum256(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func withLF(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// errLineEnds is about a file whose content is intact.
var errLineEnds = intact("its lines end in CRLF, want LF: a program has converted them, " +
	`and sed -i 's/\r$//' on the file converts them back`)

type intact string

func (e intact) Error() string { return string(e) }

// Refused returns the error err about the file path, with a remedy unless the content of the
// file is intact and err names the command that repairs it.
func Refused(path string, err error, remedy string) error {
	if _, ok := errors.AsType[intact](err); ok {
		return fmt.Errorf("%s refused: %w", path, err)
	}
	return fmt.Errorf("%s refused: %w; %s", path, err, remedy)
}
