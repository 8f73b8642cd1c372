package main

import "strings"

// readable replaces the commands of LaTeX that have a character, for a terminal, and
// removes dollar signs and the commands of fonts. It keeps all other commands.
func readable(tex string) string { return symbols.Replace(tex) }

// symbols has each command before the commands that begin it: the first match is replaced.
var symbols = strings.NewReplacer(
	`$`, "", `~`, " ", `\,`, " ", `\ `, " ", `\|`, "‖", `\#`, "#", `\left`, "", `\right`, "",
	`\bigcup`, "⋃", `\big`, "", `\Big`, "",
	`\mathcal `, "", `\mathcal`, "", `\mathrm`, "", `\mathbb`, "", `\mathbf`, "", `\text`, "",
	`\alpha`, "α", `\beta`, "β", `\gamma`, "γ", `\delta`, "δ", `\epsilon`, "ε", `\theta`, "θ",
	`\eta`, "η", `\lambda`, "λ", `\mu`, "μ", `\pi`, "π", `\tau`, "τ", `\chi`, "χ", `\ell`, "ℓ",
	`\Delta`, "Δ", `\Theta`, "Θ", `\sigma`, "σ", `\kappa`, "κ", `\rho`, "ρ", `\phi`, "φ", `\nabla`, "∇",
	`\lesssim`, "≲", `\le`, "≤", `\gtrsim`, "≳", `\ge`, "≥", `\neq`, "≠", `\ne`, "≠",
	`\approx`, "≈", `\sim`, "∼", `\infty`, "∞", `\in`, "∈", `\subset`, "⊂", `\emptyset`, "∅",
	`\setminus`, "∖", `\top`, "T", `\to`, "→", `\Rightarrow`, "⇒", `\sum`, "Σ", `\prod`, "Π",
	`\times`, "×", `\cdot`, "·", `\circ`, "∘", `\odot`, "⊙", `\mid`, "|", `\dots`, "…",
	`\lfloor`, "⌊", `\rfloor`, "⌋", `\lceil`, "⌈", `\rceil`, "⌉", `\quad`, "  ", `\sqrt`, "√",
	`\min`, "min", `\max`, "max", `\sup`, "sup", `\arg`, "arg", `\log`, "log", `\exp`, "exp",
)
