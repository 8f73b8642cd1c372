package files

import (
	"strings"
	"testing"
)

// utf16 returns a text of ASCII in UTF-16, the high byte of each letter at place high.
func utf16(text string, high int) string {
	b := make([]byte, 2*len(text))
	for i := range len(text) {
		b[2*i+1-high] = text[i]
	}
	return string(b)
}

func TestDecodeReadsTheFormsOfOtherPrograms(t *testing.T) {
	const want = "a é\nb\n"
	for name, text := range map[string]string{
		"plain":                 want,
		"byte order mark":       "\ufeff" + want,
		"two marks":             "\ufeff\ufeffa é\n\ufeffb\n",
		"Windows":               "a é\r\nb\r\n",
		"old Macintosh":         "a é\rb\r",
		"no-break spaces":       "a\u00a0é\nb\n",
		"NUL and Ctrl-Z":        want + "\x00\x1a\x00",
		"UTF-16, little-endian": "\xff\xfea\x00 \x00\xe9\x00\r\x00\n\x00b\x00\n\x00",
		"UTF-16, big-endian":    "\xfe\xff\x00a\x00 \x00\xe9\x00\n\x00b\x00\n",
		"without a mark":        "a\x00 \x00\xe9\x00\n\x00b\x00\n\x00",
	} {
		if got, err := Decode([]byte(text)); string(got) != want || err != nil {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
	}
	for _, high := range []int{0, 1} {
		if got, err := Decode([]byte(utf16("0 1\n", high))); string(got) != "0 1\n" || err != nil {
			t.Errorf("UTF-16 without a mark: %q, error %v", got, err)
		}
	}
}

func TestDecodeNamesTheLineAndTheEncoding(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\ncaf\xe9\n":  `line 2: the byte 0xe9, 'é' in Latin-1: want the file saved as UTF-8`,
		"a\rb\r\xff":      "line 3: the byte 0xff",
		"a\nb\x00c":       "line 2: a NUL byte",
		"\ufeff\xc3(":     "line 1: the byte 0xc3",
		"a b\n\x00\x00\n": "line 2: a NUL byte",
	} {
		if got, err := Decode([]byte(text)); got != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %q, error %v, want %s", text, got, err, want)
		}
	}
}
