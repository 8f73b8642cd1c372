package errata

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// symbols are the mathematical symbols for the names in an instance.
var symbols = map[string]string{
	"S": "S", "T": "T", "pi": `\pi`, "mu": `\mu_\pi`, "gamma": `\gamma`, "lambda": `\lambda`, "eps": `\epsilon`,
	"alpha": `\alpha`, "beta": `\beta`, "beta0": `\beta_0`, "s": "s", "s'": `s'`, "i": "i", "j": "j", "k": "k",
	"l": `\ell`, "d": "d", "r": "r", "L": "L", "C": "C", "D": "D", "p": "p", "v": "v", "f": "f", "E": "E", "I": "I",
	"K": "K", "P": "P", "Q": "Q", "V": "V", "W_O": "W_O", "d_L": "d_L", "t": "t", "g_i": "g_i", "N": "N",
	"A2": `A^{(2)}`, "X": `s_{1:T}`, "exp(A1)": `e^{A^{(1)}}`, "exp(A2 e_s)": `e^{A^{(2)}e_s}`,
	"exp(A2_pop e_s)": `e^{A^{(2)}_{\mathrm{pop}}e_s}`, "T_eff": `T_{\mathrm{eff}}`,
	"softmax(A1)": `\mathcal S(A^{(1)})`, "softmax(A1_i)": `\mathcal S(A^{(1)}_i)`, "softmax(z)": `\mathcal S(z)`,
	"softmax(z')": `\mathcal S(z')`, "exp(beta)": `e^\beta`, "exp(beta mu)": `e^{\beta\mu_\pi(s)}`,
	"exp(v)": `e^v`, "mu(s)": `\mu_\pi(s)`, "eta1": `\eta_1`, "eta1 beta0": `\eta_1\beta_0`, "tau": `\tau`,
	"tau1": `\tau_1`, "tau2": `\tau_2`, "|B|_F^2": `\|B_\pi\|_F^2`, "delta": `\delta`,
	"J ghat_p - J ghat_j": `(J\hat g)_{p(i)}-(J\hat g)_j`,
	"spread":              `\sum_s\|\pi(\cdot\mid s)-\mu_\pi\|_2^2`, "log2 T": `\log_2T`,
}

// words are the other names that the document spells differently.
var words = map[string]string{
	"orbits": "prior, uniform over the relabelings of", "prior": "prior, uniform on", "attended": "attended positions",
	"output": "parents found", "hinge": "$f(z)=(z-h)^+$ with $h$",
	"limit": "$A_2/B_2$", "value": "the quotient itself", "F": "in $F$", "c": "$c$",
	"coefficients of the loss": `coefficients of $-\log(\frac kT+\epsilon)$, $k=0,\dots,T$, in the loss`,
	"coefficients of the sum":  "the same in the sum", "pairs": "number of pairs",
	"mean square of f - pi": `mean square of $f-\pi$`,
}

// first are the names at the beginning of a witness, on which the other names depend.
var first = []string{"S", "T", "graph", "prior", "orbits", "pi", "mu", "gamma", "X"}

// witnessTeX returns the instance of a witness as a list of equations.
func witnessTeX(w *ledger.Witness) (string, error) {
	names := slices.SortedFunc(maps.Keys(w.Instance), func(a, b string) int {
		place := func(s string) int {
			if i := slices.Index(first, s); i >= 0 {
				return i
			}
			return len(first)
		}
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	})
	var items []string
	row, column := w.Instance["row"], w.Instance["column"]
	if row != nil && column != nil {
		names = slices.DeleteFunc(names, func(s string) bool { return s == "row" || s == "column" })
		items = append(items, fmt.Sprintf("entry $(%v,%v)$", row, column))
	}
	for _, name := range names {
		item, err := entryTeX(name, w.Instance[name])
		if err != nil {
			return "", err
		}
		items = append(items, item)
	}
	if row != nil && column != nil {
		items = append(items[1:], items[0]) // last, since it refers to the others
	}
	return strings.Join(items, "; \\ ") + ".", nil
}

// entryTeX returns a named value as LaTeX.
func entryTeX(name string, v any) (string, error) {
	if parents, ok := integers(v); ok && name == "graph" {
		return `$\mathcal G$: ` + graphTeX(parents), nil
	}
	value, err := valueTeX(v)
	if err != nil {
		return "", err
	}
	if m, ok := symbols[name]; ok && strings.HasPrefix(value, "$") {
		return "$" + m + "=" + value[1:], nil
	} else if ok {
		return "$" + m + "$: " + value, nil
	}
	label, ok := words[name]
	if !ok {
		label, err = figure.EscapeTeX(name)
	}
	return label + ": " + value, err
}

// integers returns the list as integers; ok is false for any other list.
func integers(v any) (out []int, ok bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out = make([]int, len(list))
	for i, x := range list {
		f, ok := x.(float64)
		if !ok || f != float64(int(f)) {
			return nil, false
		}
		out[i] = int(f)
	}
	return out, true
}

// valueTeX returns a value, decoded from JSON, as LaTeX: numbers, matrices and lists of
// numbers as formulas, other lists as text.
func valueTeX(v any) (string, error) {
	switch v := v.(type) {
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v], nil
	case float64:
		return "$" + decimal(v) + "$", nil
	case string:
		if q, ok := new(big.Rat).SetString(v); ok {
			return "$" + fraction(q) + "$", nil
		}
	case map[string]any:
		t, err := witnessTeX(&ledger.Witness{Instance: v})
		return strings.TrimSuffix(t, "."), err
	case []any:
		return listTeX(v)
	}
	return "", fmt.Errorf("errata: a witness has the value %v, want numbers, yes or no, or lists of them", v)
}

func listTeX(list []any) (string, error) {
	if m, ok := matrixTeX(list); ok {
		return "$" + m + "$", nil
	}
	var items []string
	formula := true
	for _, x := range list {
		t, err := valueTeX(x)
		if err != nil {
			return "", err
		}
		formula = formula && strings.HasPrefix(t, "$") && strings.HasSuffix(t, "$") && strings.Count(t, "$") == 2
		items = append(items, t)
	}
	if !formula {
		return strings.Join(items, ", "), nil
	}
	for i, t := range items {
		items[i] = strings.Trim(t, "$")
	}
	if strings.Contains(items[0], `\begin{pmatrix}`) {
		return "$" + strings.Join(items, `,\allowbreak\;`) + "$", nil
	}
	return `$\bigl(` + strings.Join(items, `,\allowbreak\,`) + `\bigr)$`, nil
}

// matrixTeX returns a list of lists of numbers as a matrix, divided by the common denominator.
func matrixTeX(rows []any) (string, bool) {
	var all [][]*big.Rat
	common := big.NewInt(1)
	for _, row := range rows {
		cells, ok := row.([]any)
		if !ok || len(cells) == 0 {
			return "", false
		}
		var line []*big.Rat
		for _, c := range cells {
			q, ok := new(big.Rat).SetString(fmt.Sprint(c))
			if !ok {
				return "", false
			}
			line = append(line, q)
			common.Mul(common, new(big.Int).Quo(q.Denom(), new(big.Int).GCD(nil, nil, common, q.Denom())))
		}
		all = append(all, line)
	}
	front, factor := "", new(big.Rat).SetInt(common)
	if common.BitLen() > 1 {
		front = fmt.Sprintf(`\tfrac1{%v}`, common)
	}
	var lines []string
	for _, row := range all {
		var line []string
		for _, q := range row {
			line = append(line, fraction(new(big.Rat).Mul(q, factor)))
		}
		lines = append(lines, strings.Join(line, "&"))
	}
	return front + `\begin{pmatrix}` + strings.Join(lines, `\\`) + `\end{pmatrix}`, len(lines) > 0
}

// widest is the largest number of digits of a numerator or denominator in a \tfrac.
const widest = 14

// aLine is the largest number of digits of a fraction in print. A longer fraction is
// printed as a decimal number; the ledger has the fraction.
const aLine = 60

// fraction returns a rational number as LaTeX.
func fraction(q *big.Rat) string {
	sign := ""
	if q.Sign() < 0 {
		sign = "-"
	}
	num, den := new(big.Int).Abs(q.Num()).String(), q.Denom().String()
	switch {
	case q.IsInt():
		return sign + grouped(num)
	case len(num)+len(den) > aLine:
		f, _ := q.Float64()
		return `\approx` + sign + decimal(f)
	case max(len(num), len(den)) > widest:
		f, _ := q.Float64()
		return sign + grouped(num) + `\allowbreak/\allowbreak ` + grouped(den) + `\approx` + decimal(f)
	}
	return sign + `\tfrac{` + num + `}{` + den + `}`
}

// grouped returns a long integer in groups of three digits between which a line may break.
func grouped(digits string) string {
	if len(digits) <= widest {
		return digits
	}
	var parts []string
	for len(digits) > 0 {
		n := (len(digits)-1)%3 + 1
		parts, digits = append(parts, digits[:n]), digits[n:]
	}
	return strings.Join(parts, `\,\allowbreak `)
}

// decimal returns a float to six digits as LaTeX.
func decimal(f float64) string {
	s := strconv.FormatFloat(f, 'g', 6, 64)
	if m, e, ok := strings.Cut(s, "e"); ok {
		n, _ := strconv.Atoi(e)
		return fmt.Sprintf(`%s\cdot10^{%d}`, m, n)
	}
	return s
}

var atName = regexp.MustCompile(`\\at\{([^}]*)\}`)

// short returns a witness in one line: \at{name} is the value of its instance, \at{name.2} the second one in a list,
// and \LHS and \RHS are the sides.
func short(w *ledger.Witness, text string) (string, error) {
	var missing error
	text = atName.ReplaceAllStringFunc(text, func(m string) string {
		name, index, _ := strings.Cut(atName.FindStringSubmatch(m)[1], ".")
		v, ok := w.Instance[name]
		if list, many := v.([]any); many && (index != "" || isMatrices(list)) {
			k, _ := strconv.Atoi(cmp.Or(index, "1"))
			v = list[k-1]
		}
		if !ok {
			missing = fmt.Errorf("errata: a witness in one line has %s, which the ledger does not have", m)
		}
		return inline(v)
	})
	if w.LHS != nil && w.RHS != nil {
		text = strings.NewReplacer(`\LHS`, inline(w.LHS.RatString()), `\RHS`, inline(w.RHS.RatString())).Replace(text)
	}
	return text, missing
}

// isMatrices reports whether a list has matrices.
func isMatrices(list []any) bool {
	m, ok := list[0].([]any)
	if !ok {
		return false
	}
	_, ok = m[0].([]any)
	return ok
}

// inline returns a value in one line. Matrices have a semicolon behind each row.
func inline(v any) string {
	list, ok := v.([]any)
	if !ok {
		q, ok := new(big.Rat).SetString(fmt.Sprint(v))
		if !ok {
			return fmt.Sprint(v)
		}
		return inlineNumber(q)
	}
	separator, items := ",", []string{}
	for _, x := range list {
		item := inline(x)
		if _, ok := x.([]any); ok {
			separator, item = `;\;`, strings.ReplaceAll(strings.Trim(item, "()"), ",", `\ `)
		}
		items = append(items, item)
	}
	return "(" + strings.Join(items, separator) + ")"
}

// inlineNumber returns a rational number with a slash, a large integer as a power of 3 or a multiple of one of 10, and
// other long numbers as the first four digits of a decimal number.
func inlineNumber(q *big.Rat) string {
	digits := strings.TrimRight(q.Num().String(), "0")
	three, n := new(big.Int).Set(q.Num()), 0
	for rest := new(big.Int); q.IsInt() && q.Sign() > 0; n++ {
		if _, rest = new(big.Int).DivMod(three, big.NewInt(3), rest); rest.Sign() != 0 {
			break
		}
		three.Quo(three, big.NewInt(3))
	}
	switch zeros := len(q.Num().String()) - len(digits); {
	case q.IsInt() && n > 5 && three.Cmp(big.NewInt(1)) == 0:
		return fmt.Sprintf("3^{%d}", n)
	case q.IsInt() && zeros > 3:
		return strings.TrimPrefix(fmt.Sprintf(`%s\cdot10^{%d}`, digits, zeros), `1\cdot`)
	case len(q.RatString()) <= 16 && !strings.HasSuffix(q.Denom().String(), "00000"):
		return q.RatString()
	}
	scale := 4
	for x := new(big.Rat).Abs(q); x.Sign() > 0 && x.Cmp(big.NewRat(1, 10)) < 0; scale++ {
		x.Mul(x, big.NewRat(10, 1))
	}
	const more = 60 // digits, so that none of the printed ones is rounded
	text := q.FloatString(scale + more)
	return text[:len(text)-more] + `\ldots`
}

// graphTeX returns a drawing of the graph with the given parents, 0 for a root. The
// positions stand in a row; the last position, the query, is a square.
func graphTeX(parents []int) string {
	var b strings.Builder
	b.WriteString(`\begin{tikzpicture}[causal]`)
	for i, p := range parents {
		style := "position"
		if i == len(parents)-1 {
			style = "query"
		}
		fmt.Fprintf(&b, `\node[%s] (%d) at (%d,0) {%d};`, style, i+1, i+1, i+1)
		if p > 0 {
			bend := "to[bend left=32]"
			if p == i {
				bend = "--"
			}
			fmt.Fprintf(&b, `\draw[->] (%d) %s (%d);`, p, bend, i+1)
		}
	}
	b.WriteString(`\end{tikzpicture}`)
	return b.String()
}
