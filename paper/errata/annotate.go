package errata

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// A spot is a place in a LaTeX source, before an environment, a heading, a paragraph or a graphic, or behind
// the end of an environment. A row of equations with a number has the place of its environment.
type spot struct {
	kind   string // such as lemma, subsection, equation, end:proof
	at     int
	number string // its own, or else of the section: "Lemma 16", "eq. (27)", "Section 4.1"
}

// A label has the indices of the spots of its statement, figure or section, and of what follows the label.
type label struct{ home, next int }

// An environment has begun and not ended.
type environment struct {
	name   string
	spot   int
	home   int  // spot of the statement or figure that it is or is in, -1 outside of them
	silent bool // the row of equations has no number
}

var (
	hidden = regexp.MustCompile(`(?s)%[^\n]*|\\begin\{((?:comment|filecontents|lstlisting|minted|[vV]erbatim)\*?)\}|` +
		`\\verb\*?([^a-zA-Z\s*])|\\end\{document\}|\\[a-zA-Z]+|\\.`)
	theorems = regexp.MustCompile(`\\newtheorem\{(\w+)\}(?:\[(\w+)\])?\{(\w+)\}`)
	tokens   = regexp.MustCompile(`\\(?:((?:sub){0,2}section|paragraph)\{|(begin|end)\{(\w+\*?)\}|label\{([^}]*)\}|` +
		`(appendix|nonumber|notag|includegraphics)\b|(\\))`)
	rowed = []string{"equation", "align", "gather"}
)

// blank returns the source with blanks for what LaTeX does not typeset, so that offsets stay: comments, verbatim
// text, the text between \iffalse and its \fi or \else, and the text behind the document.
func blank(source string) string {
	b := []byte(source)
	clear := func(from, to int) { copy(b[from:to], strings.Repeat(" ", to-from)) }
	depth, from := 0, 0 // of conditionals in \iffalse, and its begin
	for at := 0; at < len(source); {
		m := hidden.FindStringSubmatchIndex(source[at:])
		if m == nil {
			break
		}
		begin, end := at+m[0], at+m[1]
		word := source[begin:end]
		switch {
		case depth > 0 && conditional(word):
			depth++
		case depth > 0 && word == `\fi`, depth == 1 && word == `\else`:
			if depth--; depth == 0 {
				clear(from, end)
			}
		case depth > 0:
		case word == `\iffalse`:
			depth, from = 1, begin
		case word[0] == '%':
			clear(begin, end)
		case word == `\end{document}`:
			clear(end, len(source))
			end = len(source)
		case m[2] >= 0: // an environment
			till := until(source, end, `\end{`+source[at+m[2]:at+m[3]]+`}`)
			clear(end, till)
			end = till
		case m[4] >= 0: // \verb
			end = until(source, end, source[at+m[4]:at+m[5]])
			clear(begin, end)
		}
		at = end
	}
	if depth > 0 {
		clear(from, len(source))
	}
	return string(b)
}

// conditional reports whether a command has a \fi.
func conditional(word string) bool {
	return strings.HasPrefix(word, `\if`) && !slices.Contains([]string{`\iff`, `\ifthenelse`, `\ifbool`, `\iftoggle`}, word)
}

// until returns the place of a text behind another place, or the end of the source.
func until(source string, at int, text string) int {
	if i := strings.Index(source[at:], text); i >= 0 {
		return at + i
	}
	return len(source)
}

// A reading has the spots of a source, with the numbers that an article with amsmath prints.
type reading struct {
	spots   []spot
	labels  map[string]label
	words   map[string][2]string // of an environment: its counter, and the word that is printed
	counts  map[string]int
	levels  [3]int // of section, subsection and subsubsection
	section string // with its word
	heading int    // its spot
	word    string // Section, or after \appendix Appendix
	open    []environment
}

// read reads the document in a source.
func read(source string) *reading {
	r := &reading{
		word: "Section", heading: -1, counts: map[string]int{}, words: map[string][2]string{},
		labels: map[string]label{"document": {-1, 0}}, // its begin is a place, too
	}
	for _, name := range strings.Fields("theorem lemma corollary definition assumption construction algorithm") {
		r.words[name] = [2]string{name, capital(name)}
	}
	text := blank(source)
	for _, m := range theorems.FindAllStringSubmatch(text, -1) {
		r.words[m[1]] = [2]string{cmp.Or(m[2], m[1]), m[3]}
	}
	begin := max(0, strings.Index(text, `\begin{document}`))
	for _, m := range tokens.FindAllStringSubmatchIndex(text[begin:], -1) {
		var w [7]string
		for i := range w {
			if m[2*i] >= 0 {
				w[i] = text[begin+m[2*i] : begin+m[2*i+1]]
			}
		}
		r.token(begin+m[0], begin+m[1], w[1]+w[2], w[3]+w[4], w[5]+w[6])
	}
	return r
}

// token takes a heading, the begin or end of an environment, a label or a command.
func (r *reading) token(at, end int, what, name, command string) {
	add := func(kind string, at int, number string) { r.spots = append(r.spots, spot{kind, at, number}) }
	last := len(r.open) - 1
	inRows := last >= 0 && slices.Contains(rowed, r.open[last].name)
	if inRows && (what == "end" || command == `\`) {
		if e := &r.open[last]; e.silent {
			e.silent = false // the row counts to the next row
		} else {
			r.counts["equation"]++
			add("equation", r.spots[e.spot].at, fmt.Sprintf("eq. (%d)", r.counts["equation"]))
		}
	}
	switch word := r.words[name]; {
	case what == "begin":
		e := environment{name: name, spot: len(r.spots), home: -1}
		if last >= 0 {
			e.home = r.open[last].home
		}
		number := r.section
		if word[0] != "" {
			r.counts[word[0]]++
			number = fmt.Sprintf("%s %d", word[1], r.counts[word[0]])
		}
		if word[0] != "" || strings.HasPrefix(name, "figure") {
			e.home = e.spot
		}
		r.open = append(r.open, e)
		add(name, at, number)
	case what == "end":
		r.open = r.open[:max(last, 0)]
		add("end:"+name, end, r.section)
	case name != "":
		home := r.heading
		if last >= 0 && r.open[last].home >= 0 {
			home = r.open[last].home
		}
		r.labels[name] = label{home, len(r.spots)}
	case what != "":
		if what != "paragraph" {
			r.head(strings.Count(what, "sub"))
		}
		add(what, at, r.section)
	case command == "appendix":
		r.levels, r.word = [3]int{}, "Appendix"
	case command == "includegraphics":
		add(command, at, r.section)
	case inRows && command != `\`:
		r.open[last].silent = true
	}
}

// head begins a section, or a subsection on a lower level.
func (r *reading) head(level int) {
	r.levels[level]++
	clear(r.levels[level+1:])
	number := fmt.Sprint(r.levels[0])
	if r.word == "Appendix" {
		number = string(rune('A' - 1 + r.levels[0]))
	}
	for _, l := range r.levels[1 : level+1] {
		number += fmt.Sprintf(".%d", l)
	}
	r.section, r.heading = r.word+" "+number, len(r.spots)
}

// find returns the spot of a place: a label, or a label, a kind and a count.
func (r *reading) find(place []string) (found spot, ok bool) {
	l, ok := r.labels[place[0]]
	if !ok || len(place) == 1 && l.home < 0 {
		return found, false
	}
	if len(place) == 1 {
		return r.spots[l.home], true
	}
	left, _ := strconv.Atoi(place[2])
	for _, s := range r.spots[l.next:] {
		if s.kind == place[1] {
			left--
		}
		if left == 0 {
			return s, true
		}
	}
	return found, false
}

// statement returns the text at a spot without labels, with single blanks: an environment without its begin and end,
// or else the text up to a heading, a numbered environment or, behind an environment, a blank line.
func (r *reading) statement(text string, s spot) string {
	i := slices.IndexFunc(r.spots, func(o spot) bool { return o.at == s.at && (o.kind == s.kind || s.kind == "equation") })
	kind, end := r.spots[i].kind, len(text)
	heading := kind == "paragraph" || strings.HasSuffix(kind, "section")
	behind := heading || strings.HasPrefix(kind, "end:")
	for depth, o := 1, r.spots[i+1:]; len(o) > 0; o = o[1:] {
		depth += map[string]int{kind: 1, "end:" + kind: -1}[o[0].kind]
		numbered := r.words[o[0].kind][0] != "" || o[0].kind == "paragraph" || strings.HasSuffix(o[0].kind, "section")
		if behind && numbered || !behind && depth == 0 {
			end = o[0].at
			break
		}
	}
	found := text[s.at:end]
	if behind && !heading {
		found, _, _ = strings.Cut(strings.TrimSpace(found), "\n\n")
	}
	if !behind {
		found = strings.TrimSuffix(strings.TrimPrefix(found, `\begin{`+kind+`}`), `\end{`+kind+`}`)
	}
	return spaced(labels.ReplaceAllString(found, ""))
}

var labels = regexp.MustCompile(`\\label\{[^}]*\}`)

// checksum returns a checksum of a statement, as in text/places.txt.
func checksum(statement string) string {
	return fmt.Sprintf("=%x", sha256.Sum256([]byte(statement)))[:9]
}

// A marked statement has the text at its place, and the row whose verdict it has.
type marked struct {
	row   *ledger.Row
	spot  spot
	label string // of the place, or before it
	text  string
	want  string // the checksum of the text that the ledger checks
	same  bool   // the text is that text, but for corrections of the letter
}

// identify says whether the text is the one that the ledger checks, but for corrections of the letter. Where they
// correct the row, the mark has the row of its correction.
func (r *reading) identify(m *marked, source string, l *ledger.Ledger) {
	var near []Correction
	for _, c := range corrections() {
		if c.place[0] == m.label {
			near = append(near, c)
		}
	}
	tries := 10_000
	printed, undone, ok := undo(m.text, m.want, near, &tries)
	i := slices.IndexFunc(near, func(c Correction) bool { return c.ID == m.row.ID })
	if m.same = ok; !ok || i < 0 {
		return
	}
	changes := 0 // of the row's correction in its statement
	for at, c := 0, near[i].Changes; len(c) > 0; c = c[1:] {
		if next := strings.Index(printed[at:], spaced(c[0].For)); next >= 0 {
			changes, at = changes+1, at+next+1
		}
	}
	corrected := changes > 0 && undone[m.row.ID] > 0
	m.same = !corrected || changes == undone[m.row.ID]
	if changes == 0 { // the correction is beside the statement
		_, err := r.edits(source, near[i].undoing())
		corrected = err == nil
	}
	if row := l.Find(m.row.Corrected); row != nil && m.same && corrected {
		m.row = row
	}
}

// undoing returns the correction that replaces what the letter reads by what is printed.
func (c Correction) undoing() Correction {
	c.Changes = slices.Clone(c.Changes)
	for i, change := range c.Changes {
		c.Changes[i].For, c.Changes[i].Read = change.Read, change.For
	}
	return c
}

// undo replaces what corrections read by what is printed, until the text has a checksum. It returns this text, and the
// number of changes of each correction, or false if no choice of changes gives it within the number of tries.
func undo(text, want string, all []Correction, tries *int) (printed string, undone map[string]int, ok bool) {
	if *tries--; *tries < 0 || checksum(text) == want {
		return text, map[string]int{}, *tries >= 0
	}
	for k, c := range all {
		for j, change := range c.Changes {
			read := spaced(change.Read)
			rest := slices.Concat([]Correction{{ID: c.ID, Changes: c.Changes[j+1:]}}, all[k+1:])
			for at := 0; strings.Contains(text[at:], read); at++ {
				at += strings.Index(text[at:], read)
				fewer := text[:at] + spaced(change.For) + text[at+len(read):]
				if printed, undone, ok = undo(fewer, want, rest, tries); ok {
					undone[c.ID]++
					return printed, undone, true
				}
			}
		}
	}
	return "", nil, false
}

// spaced returns a text with single blanks.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// strangers reports the statements with another text than the text that the ledger checks, and returns their ids.
func strangers(all []marked) (ids, report []string) {
	for _, m := range all {
		if m.same {
			continue
		}
		ids = append(ids, m.row.ID)
		of := "another text than the text that was checked"
		if i := slices.IndexFunc(all, func(o marked) bool { return o.want == checksum(m.text) }); i >= 0 {
			of = "the text of " + all[i].row.ID
		}
		report = append(report, fmt.Sprintf("%s (%s) has %s; its mark is grey", m.row.ID, m.row.Number, of))
	}
	return ids, report
}

// places returns the lines of text/places.txt, as words.
var places = sync.OnceValue(func() (lines [][]string) {
	for line := range strings.Lines(text("places.txt")) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Fields(line))
		}
	}
	return lines
})

// Annotate returns a copy of the paper's source in which ledger.sty marks each statement. before stands in
// front of \usepackage{ledger}. Annotate also reports what it does not find, finds under another number, or
// finds with another text, whose mark is grey. A text that the letter corrects has the mark of its correction.
func Annotate(source string, l *ledger.Ledger, before string) (annotated string, report []string, err error) {
	return annotate(source, l, before, places())
}

func annotate(source string, l *ledger.Ledger, before string, places [][]string) (string, []string, error) {
	text := blank(source)
	begin := strings.Index(text, `\begin{document}`)
	if begin < 0 {
		return "", nil, errNoDocument
	}
	r, put := read(source), map[int]string{}
	all, report := r.marked(text, l, places)
	for _, m := range all {
		command := `\ledgernext{`
		if m.spot.kind == "equation" {
			command = `\ledger{`
		}
		put[m.spot.at] = strings.Replace(cmp.Or(put[m.spot.at], command+"}"), "}", ","+m.row.ID+"}", 1)
	}
	for _, p := range places {
		if l.Find(p[0]) == nil {
			report = append(report, r.beside(source, p, put)...)
		}
	}
	ids, strange := strangers(all)
	put[begin] = before + `\usepackage{ledger}`
	if len(ids) > 0 {
		put[begin] += `\ledgerchanged{` + strings.Join(ids, ",") + `}`
	}
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(put))) {
		source = source[:at] + strings.ReplaceAll(put[at], "{,", "{") + source[at:]
	}
	return source, append(report, strange...), nil
}

// marked returns the statements that are found by their labels, or by their numbers if these do not differ from
// the numbers in the ledger.
func (r *reading) marked(text string, l *ledger.Ledger, places [][]string) (all []marked, report []string) {
	moved := map[string]bool{} // the words whose numbers differ from the ledger's, such as Lemma
	word := func(r *ledger.Row) string { return strings.Fields(r.Number)[0] }
	for _, p := range places {
		if row := l.Find(p[0]); row != nil {
			s, ok := r.find(p[1 : len(p)-1])
			moved[word(row)] = moved[word(row)] || ok && s.number != row.Number
		}
	}
	for _, p := range places {
		row := l.Find(p[0])
		if row == nil {
			continue
		}
		s, ok := r.find(p[1 : len(p)-1])
		i := slices.IndexFunc(r.spots, func(s spot) bool { return s.number == row.Number })
		switch {
		case ok && s.number != row.Number:
			report = append(report, fmt.Sprintf("%s is %s here, in the ledger %s", row.ID, s.number, row.Number))
		case !ok && i >= 0 && !moved[word(row)]:
			s = r.spots[i]
			report = append(report, fmt.Sprintf("%s is found by its number, %s, alone", row.ID, row.Number))
		case !ok:
			report = append(report, fmt.Sprintf("%s (%s) is not found: it has no \\label{%s}", row.ID, row.Number, p[1]))
			continue
		}
		m := marked{row: row, spot: s, label: p[1], text: r.statement(text, s), want: p[len(p)-1]}
		r.identify(&m, text, l)
		all = append(all, m)
	}
	return all, report
}

// beside puts our drawing before each graphic of a figure, or our value behind a number that the paper quotes.
func (r *reading) beside(source string, p []string, put map[int]string) (report []string) {
	l, figure := r.labels[p[0]]
	var at []int
	for i := max(0, l.home); figure && i < len(r.spots) && !strings.HasPrefix(r.spots[i].kind, "end:figure"); i++ {
		if r.spots[i].kind == "includegraphics" {
			at = append(at, r.spots[i].at)
		}
	}
	if !figure {
		quoted := regexp.MustCompile(`[^\d.=]` + regexp.QuoteMeta(p[0]) + `(?:[}$\s,;:)]|\.\s)`)
		for _, m := range quoted.FindAllStringIndex(blank(source), -1) {
			at = append(at, m[0]+1+len(p[0]))
		}
	}
	if len(at) != len(p)-1 {
		return []string{fmt.Sprintf("%s is found %d times, want %d: %s", p[0], len(at), len(p)-1, strings.Join(p[1:], ", "))}
	}
	for i, at := range at {
		put[at] = `\ledgernumber{` + p[i+1] + `}`
		if part := strings.Split(p[i+1]+",0,1", ","); figure {
			put[at] = fmt.Sprintf(`\ledgerfigure{%s}{%s}{%s}{%.2f}`, part[0], part[1], part[2], 0.8/float64(len(p)-1))
		}
	}
	return nil
}

// specials are the characters that TeX does not read as themselves, with the constants that expand to them.
var specials = strings.NewReplacer(`%`, constant("percent"), `#`, constant("hash"), `~`, constant("tilde"),
	`&`, constant("ampersand"), `$`, constant("dollar"), `^`, constant("circumflex"),
	`\`, constant("backslash"), `{`, constant("left_brace"), `}`, constant("right_brace"))

func constant(name string) string { return `\csname c_` + name + `_str\endcsname ` }

// Literal returns TeX that expands to a text: the name of a file or an address.
func Literal(text string) string { return specials.Replace(text) }

// Style returns the package ledger.sty: the commands, and a line for each row of the ledger and each number
// that the paper quotes.
func Style(l *ledger.Ledger, quoted figure.Numbers) (string, error) {
	e, err := newErratum(l)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(text("ledger.sty"))
	for _, r := range l.Rows {
		proof, coq, instead := r.ID, "", ""
		if c := l.Find(r.Corrected); c != nil && r.Failed() {
			proof = c.ID
			instead = e.paged(e.statement(*c))
		}
		if len(r.OnPaper) > 0 {
			proof = r.OnPaper[0]
		}
		if len(r.Proved) > 0 {
			coq = ", Coq"
		}
		proved := coq
		if n := e.number[proof]; n > 0 {
			proved = fmt.Sprintf(", E%d%s", n, coq)
		}
		kind := string(r.Defect)
		if r.Read != "" {
			kind = ", see its reading" // in the ledger, behind the link
		}
		fmt.Fprintf(&b, "\\ledger@row{%s}{%s}{%s}{%.3g}{%s}{%s}\n", r.ID, r.Verdict, kind, r.Margin, proved, instead)
	}
	for _, q := range quoted {
		if q.Paper != "" {
			fmt.Fprintf(&b, "\\ledger@number{%s}{%s}{%s}\n", q.ID, q.Paper, "$"+strings.Trim(q.Shown(), "$")+"$")
		}
	}
	return b.String() + "\\endinput\n", nil
}
