package names

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Node returns the name of a node of a graph as it is shown and compared: without spaces at its ends, and composed,
// so that é is one letter. It is an error if the name has no letter and no digit, an escape of DOT, a markup, or a
// character that is not printed.
func Node(name string) (string, error) {
	shown := norm.NFC.String(strings.TrimSpace(name))
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	switch odd := strings.IndexFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }); {
	case odd >= 0 || strings.HasPrefix(shown, "<"):
		return "", fmt.Errorf("%q: want a name of letters, digits, punctuation and spaces", name)
	case strings.Contains(shown, `\`):
		return "", fmt.Errorf("\"%s\": want a name without \\, which begins an escape; pydot writes such a node "+
			"for an empty line", name)
	case !strings.ContainsFunc(shown, letter):
		return "", fmt.Errorf("%q: want a name with a letter or a digit", name)
	}
	return shown, nil
}

// alike are letters of Greek and Cyrillic with the forms of Latin letters.
var alike = strings.NewReplacer(strings.Split("Α A Β B Ε E Ζ Z Η H Ι I Κ K Μ M Ν N Ο O Ρ P Τ T Υ Y Χ X ο o "+
	"А A В B Е E К K М M Н H О O Р P С C Т T У Y Х X І I а a е e о o р p с c у y х x і i", " ")...)

// Look returns a text that two names share which a reader cannot tell apart: of other widths, with more spaces, or
// with letters of another alphabet.
func Look(name string) string {
	return alike.Replace(strings.Join(strings.Fields(norm.NFKC.String(name)), " "))
}
