package errata

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Correction is what the letter proposes for a row of the ledger: symbols of the paper's source with their
// replacements, of which the letter prints those that are not a consequence of others.
type Correction struct {
	ID      string
	Where   string // in words
	Why     string // a sentence, if the row holds or no change is printed
	Changes []Change
	place   []string // in the source, see [reading.find]
	sum     string   // of the changes and of what the row says instead
}

// A Change replaces the symbols For behind the change before it, or behind the place of its correction.
type Change struct {
	For, Read string
	Follows   bool // from the correction, so that the letter omits it
	bounds    []part
}

// A part of a replacement, marked as \bound[1/2]{...}, is a bound of the corrected row times the factor.
type part struct{ factor, latex string }

var bounded = regexp.MustCompile(`\\bound(?:\[([0-9/]+)\])?\{`)

// unmarked returns a replacement without its marks, and the marked parts.
func unmarked(text string) (plain string, parts []part) {
	for {
		at := bounded.FindStringSubmatchIndex(text)
		if at == nil {
			return plain + text, parts
		}
		depth, end := 1, at[1]
		for ; end < len(text) && depth > 0; end++ {
			depth += strings.Count(text[end:end+1], "{") - strings.Count(text[end:end+1], "}")
		}
		factor := "1"
		if at[2] >= 0 {
			factor = text[at[2]:at[3]]
		}
		inner := text[at[1] : end-1]
		plain, text, parts = plain+text[:at[0]]+inner, text[end:], append(parts, part{factor, inner})
	}
}

// corrections returns the contents of text/corrections.txt.
var corrections = sync.OnceValue(func() []Correction {
	all, err := parseCorrections(text("corrections.txt"))
	if err != nil {
		panic(err) // it is embedded
	}
	return all
})

func parseCorrections(text string) (all []Correction, err error) {
	var old string
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		sign, rest, _ := strings.Cut(line, " ")
		fields, last := strings.Split(line, " | "), len(all)-1
		switch {
		case sign == "#":
		case (sign == "<" || sign == "<<") && last >= 0 && old == "":
			old = line
		case (sign == ">" || sign == ">>") && old != "" && strings.Count(old[:2], "<") == len(sign):
			_, before, _ := strings.Cut(old, " ")
			read, parts := unmarked(rest)
			all[last].Changes = append(all[last].Changes, Change{before, read, sign == ">>", parts})
			old = ""
		case sign == "=" && last >= 0 && old == "":
			all[last].Why = rest
		case len(fields) == 3 && old == "":
			place, sum, _ := strings.Cut(fields[2], " =")
			all = append(all, Correction{ID: fields[0], Where: fields[1], place: strings.Fields(place), sum: "=" + sum})
		default:
			return nil, fmt.Errorf("errata: corrections.txt:%d: %q: want a row, a change in two lines or a reason", n+1, line)
		}
	}
	return all, nil
}

// An edit replaces the bytes from from to to of a source.
type edit struct {
	from, to int
	text     string
}

// reach is the number of bytes behind a change in which the next one is found.
const reach = 8000

// edits returns the edits of a correction. Line breaks and blanks of the source may be others.
func (r *reading) edits(text string, c Correction) ([]edit, error) {
	s, ok := r.find(c.place)
	if !ok {
		return nil, fmt.Errorf("%s is not corrected: its place, %s, is not found", c.ID, strings.Join(c.place, " "))
	}
	var out []edit
	at := s.at
	for _, change := range c.Changes {
		words := strings.Fields(change.For)
		for i, w := range words {
			words[i] = regexp.QuoteMeta(w)
		}
		m := regexp.MustCompile(strings.Join(words, `\s+`)).FindStringIndex(text[at:min(at+reach, len(text))])
		if m == nil {
			return nil, fmt.Errorf("%s is not corrected: no %s behind %s", c.ID, change.For, strings.Join(c.place, " "))
		}
		out = append(out, edit{at + m[0], at + m[1], change.Read})
		at += m[1]
	}
	return out, nil
}

// Patch returns the corrections of the letter as a unified diff of a source with the given name, and
// reports the corrections that it does not find.
func Patch(source, name string) (patch string, report []string, err error) {
	text := blank(source)
	if !strings.Contains(text, `\begin{document}`) {
		return "", nil, errNoDocument
	}
	r := read(source)
	var all []edit
	for _, c := range corrections() {
		edits, err := r.edits(text, c)
		if err != nil {
			report = append(report, err.Error())
		}
		all = append(all, edits...)
	}
	slices.SortFunc(all, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(all); i++ {
		if all[i].from < all[i-1].to {
			return "", report, fmt.Errorf("errata: two corrections change %q", source[all[i].from:all[i-1].to])
		}
	}
	return diff(source, name, all), report, nil
}

var errNoDocument = errors.New(`no \begin{document}: want a paper in one file; latexpand joins the files of a paper`)

// A hunk is a run of lines, from line first on, in old and new form.
type hunk struct {
	first    int
	old, new []string
}

// diff returns edits, in order, as a unified diff with three lines of context.
func diff(source, name string, edits []edit) string {
	lines := slices.Collect(strings.Lines(source))
	starts := make([]int, len(lines)+1) // of the lines
	for i, l := range lines {
		starts[i+1] = starts[i] + len(l)
	}
	line := func(at int) int { // that has the byte
		return max(0, slices.IndexFunc(starts, func(s int) bool { return s > at })-1)
	}
	var hunks []hunk
	for len(edits) > 0 { // the edits of lines that touch are one hunk
		first, last, n := line(edits[0].from), line(edits[0].to), 1
		for n < len(edits) && line(edits[n].from) <= last {
			last = max(last, line(edits[n].to))
			n++
		}
		fresh, at := "", starts[first]
		for _, e := range edits[:n] {
			fresh, at = fresh+source[at:e.from]+e.text, e.to
		}
		fresh += source[at:starts[last+1]]
		hunks = append(hunks, hunk{first, lines[first : last+1], slices.Collect(strings.Lines(fresh))})
		edits = edits[n:]
	}
	return unified(lines, name, hunks)
}

// unified joins hunks whose contexts touch.
func unified(lines []string, name string, hunks []hunk) string {
	const context = 3
	var b strings.Builder
	put := func(sign string, lines []string) {
		for _, l := range lines {
			b.WriteString(sign + l)
			if !strings.HasSuffix(l, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	shift := 0
	for len(hunks) > 0 {
		n, end := 1, hunks[0].first+len(hunks[0].old)
		for n < len(hunks) && hunks[n].first <= end+2*context {
			end = hunks[n].first + len(hunks[n].old)
			n++
		}
		from, to, grown := max(0, hunks[0].first-context), min(len(lines), end+context), 0
		for _, h := range hunks[:n] {
			grown += len(h.new) - len(h.old)
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- %s\n+++ %[1]s\n", name)
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", from+1, to-from, from+1+shift, to-from+grown)
		for _, h := range hunks[:n] {
			put(" ", lines[from:h.first])
			put("-", h.old)
			put("+", h.new)
			from = h.first + len(h.old)
		}
		put(" ", lines[from:to])
		hunks, shift = hunks[n:], shift+grown
	}
	return b.String()
}
