package main

import (
	"regexp"
	"strings"
)

// symbols are commands of LaTeX and what a terminal shows in their place.
var symbols = map[string]string{
	`\alpha`: "α", `\beta`: "β", `\gamma`: "γ", `\delta`: "δ", `\epsilon`: "ε", `\eta`: "η", `\theta`: "θ",
	`\lambda`: "λ", `\mu`: "μ", `\pi`: "π", `\tau`: "τ", `\chi`: "χ", `\ell`: "ℓ", `\Delta`: "Δ", `\Theta`: "Θ",
	`\sigma`: "σ", `\kappa`: "κ", `\rho`: "ρ", `\phi`: "φ", `\nabla`: "∇",
	`\le`: "≤", `\ge`: "≥", `\ne`: "≠", `\neq`: "≠", `\lesssim`: "≲", `\gtrsim`: "≳", `\approx`: "≈", `\sim`: "∼",
	`\in`: "∈", `\subset`: "⊂", `\emptyset`: "∅", `\setminus`: "∖", `\bigcup`: "⋃", `\to`: "→", `\Rightarrow`: " ⇒ ",
	`\infty`: "∞", `\sum`: "Σ", `\prod`: "Π", `\times`: "×", `\cdot`: "·", `\circ`: "∘", `\odot`: "⊙",
	`\mid`: " | ", `\top`: "T", `\dots`: "…", `\lfloor`: "⌊", `\rfloor`: "⌋", `\quad`: "  ",
	`\min`: "min ", `\max`: "max ", `\sup`: "sup ", `\arg`: "arg ", `\log`: "log ", `\exp`: "exp ",
	`\,`: " ", `\|`: "‖", `\#`: "#", `\{`: "❴", `\}`: "❵", // braces that are shown, till the end
}

// unseen are commands that change how something looks.
var unseen = map[string]bool{
	`\big`: true, `\left`: true, `\right`: true,
	`\mathcal`: true, `\mathrm`: true, `\mathbb`: true, `\mathbf`: true,
}

var (
	command  = regexp.MustCompile(`\\(?:[a-zA-Z]+ ?|.)`)
	spaces   = regexp.MustCompile(`  +`)
	font     = regexp.MustCompile(`\\(?:mathcal|mathrm|mathbb|mathbf|text)\s*\{([^{}]*)\}`)
	accented = regexp.MustCompile(
		`\\(hat|tilde|bar|widetilde|overline)\s*(?:\{\s*(\\?[a-zA-Z]+)\s*\}|(\\[a-zA-Z]+|[a-zA-Z]))`)
	script   = regexp.MustCompile(`([_^])\{([^{}]*)\}`)
	fraction = regexp.MustCompile(`\\t?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))`)
	root     = regexp.MustCompile(`\\sqrt\s*(?:\{([^{}]*)\}|(\w))`)
	group    = regexp.MustCompile(`\{([^{}]*)\}`)
	accent   = map[string]string{
		"hat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304", "overline": "\u0304",
	}
	plainWord = regexp.MustCompile(`^[\pL\pN\pM]*$`)
)

// readable returns LaTeX in plain characters, such as g_(i,j) ≥ 1/2, for a
// terminal. What has more in it than is replaced here stays LaTeX as a whole.
func readable(tex string) string {
	s := accented.ReplaceAllStringFunc(tex, func(m string) string {
		part := accented.FindStringSubmatch(m)
		return part[2] + part[3] + accent[part[1]]
	})
	for before := ""; s != before; {
		before = s
		s = font.ReplaceAllString(s, "$1")
		s = fraction.ReplaceAllStringFunc(s, func(m string) string {
			part := fraction.FindStringSubmatch(m)
			return "(" + bracket(part[1]+part[2]) + "/" + bracket(part[3]+part[4]) + ")"
		})
		s = root.ReplaceAllStringFunc(s, func(m string) string {
			part := root.FindStringSubmatch(m)
			return "√" + bracket(part[1]+part[2])
		})
		s = script.ReplaceAllStringFunc(s, func(m string) string {
			part := script.FindStringSubmatch(m)
			return part[1] + bracket(part[2])
		})
	}
	s = command.ReplaceAllStringFunc(s, func(c string) string {
		name := strings.TrimSuffix(c, " ")
		switch shown, ok := symbols[name]; {
		case unseen[name]:
			return ""
		case ok:
			return shown + c[len(name):]
		case c == `\ `:
			return " "
		}
		return c
	})
	if strings.Contains(s, `\`) {
		return tex
	}
	for group.MatchString(s) {
		s = group.ReplaceAllString(s, "$1")
	}
	s = strings.NewReplacer("$", "", "~", " ", "❴", "{", "❵", "}").Replace(s)
	return strings.ReplaceAll(spaces.ReplaceAllString(s, " "), " _", "_")
}

// bracket returns s, in brackets unless it is a word, a number or in brackets.
func bracket(s string) string {
	if s = strings.TrimSpace(s); plainWord.MatchString(s) ||
		strings.HasPrefix(s, "(") && strings.IndexByte(s, ')') == len(s)-1 {
		return s
	}
	if _, ok := symbols[s]; ok {
		return s
	}
	return "(" + s + ")"
}
