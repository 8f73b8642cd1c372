package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"learncausal/pkg/exact"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// Every positive rational vector p of sum one is the softmax of v = log p, so
// that statements about softmax(v) are decided in rational numbers.

// tightest keeps the instance with the least margin of lhs <= rhs.
type tightest struct {
	Finding
	any bool
}

func (w *tightest) add(lhs, rhs float64, instance func() Instance) {
	w.Instances++
	if m := Slack(lhs, rhs); !w.any || m < w.Margin {
		w.LHS, w.RHS, w.Margin, w.Instance, w.any = lhs, rhs, m, instance(), true
	}
}

// decide is add for rational sides; the first failure becomes the witness. An
// equality 0 = 0 is counted, and says nothing about the margin.
func (w *tightest) decide(lhs, rhs *big.Rat, instance func() Instance) {
	if lhs.Sign() == 0 && rhs.Sign() == 0 {
		w.Instances++
		return
	}
	if lhs.Cmp(rhs) > 0 && w.Witness == nil {
		w.Witness = instance()
		w.Witness["lhs"], w.Witness["rhs"] = lhs.RatString(), rhs.RatString()
	}
	w.add(exact.Float(lhs), exact.Float(rhs), instance)
}

// finding returns the verdict: Fails where a rational instance did.
func (w *tightest) finding(tier Tier, note string) Finding {
	w.Tier, w.Verdict, w.Note, w.Seed = tier, Holds, note, Seed
	if w.Witness != nil {
		w.Verdict, w.LHS, w.RHS = Fails, exact.Float(exact.Rat(w.Witness["lhs"].(string))), exact.Float(exact.Rat(w.Witness["rhs"].(string)))
		w.Margin, w.Instance = Slack(w.LHS, w.RHS), w.Witness
	}
	return w.Finding
}

// rationalPoint returns a point of a search as rational p (softmax) and u >= 0.
func rationalPoint(x []float64, d int) (p exact.Vector, us []exact.Vector) {
	row := kernel(append(append([]float64(nil), x[:d]...), make([]float64, d*d-d)...), d, 1e-6)[:d]
	p = make(exact.Vector, d)
	sum := new(big.Rat)
	for i, v := range row {
		p[i] = big.NewRat(int64(math.Round(v*1e9))+1, 1)
		sum.Add(sum, p[i])
	}
	for i := range p {
		p[i] = exact.Quo(p[i], sum)
	}
	for k := d; k+d <= len(x); k += d {
		u := make(exact.Vector, d)
		for i := range u {
			u[i] = big.NewRat(int64(math.Round(num.Exp(max(min(x[k+i], 8), -8))*1e6)), 1000000)
		}
		us = append(us, u)
	}
	return p, us
}

func softmaxClaims() []Claim {
	jacobian := func(e *Env, constant *big.Rat) Finding {
		var w tightest
		decide := func(p, u exact.Vector) float64 {
			lhs, rhs := exact.Norm1(exact.Jacobian(p, u)), exact.Mul(constant, exact.Dot(p, u))
			w.decide(lhs, rhs, func() Instance { return Instance{"softmax(v)": p.Strings(), "u": u.Strings()} })
			return Slack(exact.Float(lhs), exact.Float(rhs))
		}
		for d := 2; d <= 3; d++ {
			for p := range exact.Simplex(d, 6) {
				for u := range exact.Grid(d, 2) {
					decide(p, u)
				}
			}
		}
		for _, d := range []int{2, 4} {
			e.Attack(func(x []float64) float64 {
				p, us := rationalPoint(x, d)
				if exact.Dot(p, us[0]).Sign() == 0 {
					return math.Inf(1)
				}
				return decide(p, us[0])
			}, e.Starts(e.Budget(6, 2), 2*d), e.Budget(2000, 200))
		}
		return w.finding(Exact, "Proof: |p_i (u_i - p.u)| <= p_i u_i + p_i (p.u), summed. Sharp: for u = e_k the two sides are 2 p_k (1-p_k) and 2 p_k, so 2 is the best constant, and it is approached as p_k -> 0; 2 (1 - min p) would do.")
	}

	tensor := func(e *Env, cross *big.Rat) Finding {
		var w tightest
		r := rand.New(e.Stream("points"))
		consider := func(p exact.Vector, u, v exact.Vector) float64 {
			byFormula, byDerivative := gradientOfForm(p, u, v, cross), derivativeOfForm(p, u, v)
			for i := range p {
				if byFormula[i].Cmp(byDerivative[i]) != 0 && w.Witness == nil {
					w.Witness = Instance{
						"softmax(v)": p.Strings(), "u": u.Strings(), "w": v.Strings(), "entry": i + 1,
						"lhs": byDerivative[i].RatString(), "rhs": byFormula[i].RatString(),
					}
				}
			}
			lhs := exact.Norm1(byDerivative)
			rhs := exact.Add(exact.Mul(big.NewRat(2, 1), exact.Dot(p, u, v)), exact.Mul(big.NewRat(4, 1), exact.Mul(exact.Dot(p, u), exact.Dot(p, v))))
			w.decide(lhs, rhs, func() Instance {
				return Instance{"softmax(v)": p.Strings(), "u": u.Strings(), "w": v.Strings()}
			})
			return Slack(exact.Float(lhs), exact.Float(rhs))
		}
		for range e.Budget(300, 50) {
			d := 2 + r.IntN(4)
			p, u, v := make(exact.Vector, d), make(exact.Vector, d), make(exact.Vector, d)
			sum := new(big.Rat)
			for i := range p {
				p[i], u[i], v[i] = big.NewRat(int64(1+r.IntN(9)), 1), big.NewRat(int64(r.IntN(5)), 2), big.NewRat(int64(r.IntN(5)), 3)
				sum.Add(sum, p[i])
			}
			for i := range p {
				p[i] = exact.Quo(p[i], sum)
			}
			consider(p, u, v)
		}
		for _, d := range []int{2, 3} {
			e.Attack(func(x []float64) float64 {
				p, us := rationalPoint(x, d)
				if exact.Mul(exact.Dot(p, us[0]), exact.Dot(p, us[1])).Sign() == 0 {
					return math.Inf(1)
				}
				return consider(p, us[0], us[1])
			}, e.Starts(e.Budget(5, 1), 3*d), e.Budget(1500, 100))
		}
		return w.finding(Exact, fmt.Sprintf("The formula for the gradient is an identity of rational functions of exp(v), compared with a derivative by dual numbers; the bound is lem-j-l1 three times. The largest quotient of the two sides that was seen is %.4f. The proof writes J(v) for J(softmax(v)) on the way, a misprint.", w.LHS/w.RHS))
	}

	differences := func(e *Env, factorOnBoth bool) Finding {
		var w tightest
		vals := []int64{-5, -3, -2, -1, 1, 2, 3, 5}
		vals = vals[:e.Budget(len(vals), 6)]
		for _, a1 := range vals {
			for _, a2 := range vals {
				for _, b1 := range vals {
					for _, b2 := range vals {
						A1, A2, B1, B2 := big.NewRat(a1, 1), big.NewRat(a2, 1), big.NewRat(b1, 1), big.NewRat(b2, 1)
						lhs := exact.Abs(exact.Sub(exact.Quo(A1, B1), exact.Quo(A2, B2)))
						quotient := exact.Abs(exact.Quo(A1, B1))
						top := exact.Abs(exact.Sub(A1, A2))
						if factorOnBoth {
							top = exact.Mul(quotient, top)
						}
						rhs := exact.Quo(exact.Add(exact.Mul(quotient, exact.Abs(exact.Sub(B1, B2))), top), exact.Abs(B2))
						w.decide(lhs, rhs, func() Instance {
							return Instance{"A1": A1.RatString(), "A2": A2.RatString(), "B1": B1.RatString(), "B2": B2.RatString()}
						})
					}
				}
			}
		}
		return w.finding(Exact, "Proof: A1/B1 - A2/B2 = ((A1/B1)(B2 - B1) + (A1 - A2))/B2, and the triangle inequality; the constant 1 is attained. A1 and A2 may be zero.")
	}

	return []Claim{
		{
			ID: "lem-compare-shift", Title: "The stage-2 integrand is Lipschitz in the attention scores", Section: "Lemmas for Stage 2",
			Statement:  `$\sup_{z\in[0,1]^T}\|\nabla q_{s'}(z)\|_1\le 10(1+\beta),\quad q_{s'}(z)=\frac{\delta_{s'}(X)^\top J(\mathcal S(\beta z))z}{\delta_{s'}(X)^\top\mathcal S(\beta z)+\epsilon}$`,
			Hypotheses: `$\beta\ge0,\ \epsilon>0,\ z\in[0,1]^T,\ X$  any sequence`,
			Uses:       []string{"lem-j-l1", "lem-grad-j"}, Quick: true,
			Check:  func(e *Env) Finding { return compareShift(e, 10, 10) },
			Fault:  "the constant 10 is taken to be 3/2, below the best one",
			Faulty: func(e *Env) Finding { return compareShift(e, 1.5, 1.5) },
		},
		{
			ID: "lem-compare-shift-sharp", Title: "The same with a better constant", Section: "Lemmas for Stage 2",
			Statement:  `$\sup_{z\in[0,1]^T}\|\nabla q_{s'}(z)\|_1\le 2+\tfrac32\beta$`,
			Hypotheses: `$\beta\ge0,\ \epsilon>0,\ z\in[0,1]^T,\ X$  any sequence`,
			Quick:      true,
			Check:      func(e *Env) Finding { return compareShift(e, 2, 1.5) },
			Fault:      "the slope 3/2 in beta is taken to be 1/2",
			Faulty:     func(e *Env) Finding { return compareShift(e, 2, 0.5) },
		},
		{
			ID: "lem-j-l1", Title: "The softmax Jacobian in the l1 norm", Section: "Lemmas for Stage 2",
			Statement:  `$\|J(\mathcal S(v))u\|_1\le 2\,\mathcal S(v)^\top u$`,
			Hypotheses: `$u\ge0$`, Quick: true,
			Check:  func(e *Env) Finding { return jacobian(e, big.NewRat(2, 1)) },
			Fault:  "the constant 2 is taken to be 3/2",
			Faulty: func(e *Env) Finding { return jacobian(e, big.NewRat(3, 2)) },
		},
		{
			ID: "lem-grad-j", Title: "The derivative of the softmax Jacobian", Section: "Lemmas for Stage 2",
			Statement:  `$\nabla J(\mathcal S(v))(u,w)=J(u\odot w)-(\mathcal S(v)^\top w)Ju-(\mathcal S(v)^\top u)Jw,\ J=J(\mathcal S(v));\quad \|\cdot\|_1\le2\,\mathcal S(v)^\top(u\odot w)+4\,\mathcal S(v)^\top u\,\mathcal S(v)^\top w$`,
			Hypotheses: `$u,w\ge0$`,
			Uses:       []string{"lem-j-l1"}, Quick: true,
			Check:  func(e *Env) Finding { return tensor(e, big.NewRat(1, 1)) },
			Fault:  "the term (S^T u) J w is left out of the formula",
			Faulty: func(e *Env) Finding { return tensor(e, new(big.Rat)) },
		},
		{
			ID: "lem-grad-j-step-jacobian", Title: "The Jacobian of the softmax as printed in the proof", Section: "Lemmas for Stage 2",
			Statement:  `$\nabla_v\mathcal S(v)=J(v)$`,
			Hypotheses: `$v\in\mathbb R^d$`, Quick: true,
			Corrected: "lem-grad-j-step-jacobian-corrected",
			Check:     func(e *Env) Finding { return softmaxJacobian(false, false) },
			Fault:     "the sign exchanged",
			Faulty:    func(e *Env) Finding { return softmaxJacobian(false, true) },
		},
		checked(Claim{
			ID: "lem-grad-j-step-jacobian-corrected", Title: "The Jacobian of the softmax", Section: "Lemmas for Stage 2",
			Statement:  `$\nabla_v\mathcal S(v)=J(\mathcal S(v))$`,
			Hypotheses: `$v\in\mathbb R^d$`, Quick: true,
			Fault: "the sign exchanged",
		}, func(_ *Env, faulty bool) Finding { return softmaxJacobian(true, faulty) }),
		{
			ID: "lem-compute-diffs", Title: "The difference of two quotients", Section: "Lemmas for Stage 2",
			Statement:  `$\left|\frac{A_1}{B_1}-\frac{A_2}{B_2}\right|\le\frac1{|B_2|}\left(\left|\frac{A_1}{B_1}\right||B_1-B_2|+|A_1-A_2|\right)$`,
			Hypotheses: `$A_1,A_2,B_1,B_2\ne0$`, Quick: true,
			Check:  func(e *Env) Finding { return differences(e, false) },
			Fault:  "the factor |A1/B1| multiplies |A1-A2| as well, as the proof of lem-concentrate-e3 has it",
			Faulty: func(e *Env) Finding { return differences(e, true) },
		},
	}
}

// gradientOfForm returns the paper's formula for the gradient in v of
// u^T J(softmax(v)) w; its last term is multiplied by cross.
func gradientOfForm(p, u, w exact.Vector, cross *big.Rat) exact.Vector {
	product := make(exact.Vector, len(p))
	for i := range p {
		product[i] = exact.Mul(u[i], w[i])
	}
	a, b, c := exact.Jacobian(p, product), exact.Jacobian(p, u), exact.Jacobian(p, w)
	pu, pw := exact.Dot(p, u), exact.Dot(p, w)
	out := make(exact.Vector, len(p))
	for i := range p {
		out[i] = exact.Sub(exact.Sub(a[i], exact.Mul(pw, b[i])), exact.Mul(cross, exact.Mul(pu, c[i])))
	}
	return out
}

// derivativeOfForm returns the same gradient by dual numbers: with a_i = p_i as
// exp(v_i), up to a factor that cancels, d/dv_k = a_k d/da_k of
//
//	sum a_i u_i w_i / A - (sum a_i u_i)(sum a_i w_i) / A^2,  A = sum a_i
func derivativeOfForm(a, u, w exact.Vector) exact.Vector {
	ones := exact.Ones(len(a))
	A := dual{exact.Dot(a, ones), nil}
	out := make(exact.Vector, len(a))
	for k := range a {
		A.d = a[k]
		uw := dual{exact.Dot(a, u, w), exact.Mul(a[k], exact.Mul(u[k], w[k]))}
		us, ws := dual{exact.Dot(a, u), exact.Mul(a[k], u[k])}, dual{exact.Dot(a, w), exact.Mul(a[k], w[k])}
		first, second := uw.quo(A), us.mul(ws).quo(A.mul(A))
		out[k] = exact.Sub(first.d, second.d)
	}
	return out
}

// A dual number x + d t with t^2 = 0.
type dual struct{ x, d *big.Rat }

func (a dual) mul(b dual) dual {
	return dual{exact.Mul(a.x, b.x), exact.Add(exact.Mul(a.x, b.d), exact.Mul(a.d, b.x))}
}

func (a dual) quo(b dual) dual {
	x := exact.Quo(a.x, b.x)
	return dual{x, exact.Quo(exact.Sub(a.d, exact.Mul(x, b.d)), b.x)}
}

// softmaxJacobian compares the softmax's derivative at v = log w, for integer
// weights w, with J(softmax(v)) or, as printed, with J(v) at v = 0.
func softmaxJacobian(corrected, minus bool) Finding {
	f := Finding{
		Tier: Exact, Verdict: Holds,
		Note: "A misprint: J(softmax(v)) is meant, as the line after it shows, and as the notation of the appendix says. The same J(beta z) for J(softmax(beta z)) stands in the proof of lem-compare-shift. Nothing depends on it.",
	}
	if corrected {
		f.Note = "The quotient rule; entry by entry in rationals."
	}
	for x := range task.Sequences(3, 3) {
		weights, sum := make([]*big.Rat, len(x)), new(big.Rat)
		for i, k := range x {
			weights[i] = big.NewRat(int64(k+1), 1)
			sum.Add(sum, weights[i])
		}
		p := make(exact.Vector, len(x))
		for i := range p {
			p[i] = exact.Quo(weights[i], sum)
		}
		for i := range x {
			for j := range x {
				// d/dv_j of w_i/sum w, where dw_j/dv_j = w_j
				d := new(big.Rat)
				if i == j {
					d.Set(weights[i])
				}
				lhs, rhs := dual{weights[i], d}.quo(dual{sum, weights[j]}).d, new(big.Rat) // J(0) = diag(0) - 0 0^T
				if corrected {
					at := exact.Zero(1, len(x))[0]
					at[j].SetInt64(1)
					rhs = exact.Jacobian(p, at)[i]
				}
				if minus {
					rhs = new(big.Rat).Neg(rhs)
				}
				f.Instances++
				f.LHS, f.RHS = exact.Float(lhs), exact.Float(rhs)
				f.Instance = Instance{"exp(v)": exact.Vector(weights).Strings(), "entry": []int{i + 1, j + 1}}
				if lhs.Cmp(rhs) != 0 {
					f.Verdict, f.Margin, f.Witness = Fails, Deviation(f.LHS, f.RHS), f.Instance
					f.Witness["derivative"], f.Witness["J"] = lhs.RatString(), rhs.RatString()
					return f
				}
			}
		}
		if !corrected { // J(v) is rational at v = 0 only
			break
		}
	}
	return f
}

// shiftNorm returns |grad q(z)|_1 for tokens in groups: a group has weight p_g
// under softmax(beta z), score z_g, and carries s' if hit. Tokens of equal score
// and kind have gradients of one sign, so groups are as good as tokens. With m
// the weight of the hits and kappa = m/(m+eps),
//
//	q       = kappa (E_hit z - E z)
//	grad q  = kappa (p_hit (1 + beta (z - E_hit z)) - p (1 + beta (z - E z)))
//	          + beta kappa (1-kappa) (E_hit z - E z) (p_hit - p)
//
// where p_hit is p conditioned on the hits.
func shiftNorm(p, z []float64, hit []bool, beta, eps float64) float64 {
	m, eh, ez := 0.0, 0.0, 0.0
	for g := range p {
		ez += float64(p[g] * z[g])
		if hit[g] {
			m += p[g]
			eh += float64(p[g] * z[g])
		}
	}
	eh /= m
	kappa := m / (m + eps)
	norm := 0.0
	for g := range p {
		ph := 0.0
		if hit[g] {
			ph = p[g] / m
		}
		d := float64(kappa*(float64(ph*(1+float64(beta*(z[g]-eh))))-float64(p[g]*(1+float64(beta*(z[g]-ez)))))) +
			float64(float64(beta*float64(kappa*(1-kappa)))*float64((eh-ez)*(ph-p[g])))
		norm += math.Abs(d)
	}
	return norm
}

// compareShift attacks |grad q|_1 <= c + d beta.
func compareShift(e *Env, c, d float64) Finding {
	hit := []bool{true, true, false, false}
	const groups = 4
	norm := func(x []float64) (float64, float64, Instance) {
		beta, eps := num.Exp(max(min(x[0], 8), -20)), num.Exp(max(min(x[1], 3), -30))
		p, z := make([]float64, groups), make([]float64, groups)
		total := 0.0
		for g := range p {
			z[g], p[g] = sigmoid(x[2+g]), num.Exp(max(min(x[2+groups+g], 20), -20))
			total += p[g]
		}
		for g := range p {
			p[g] /= total
		}
		return shiftNorm(p, z, hit, beta, eps), beta, Instance{"beta": beta, "epsilon": eps, "softmax weights": p, "z": z, "carries s'": hit}
	}
	var w tightest
	leastConstant := 0.0
	starts := e.Starts(e.Budget(10, 4), 2+2*groups)
	for _, beta := range []float64{-15, 0, 3, 6} {
		starts = append(starts, []float64{beta, -30, 6, -6, -6, -6, -8, -8, 0, 0}, []float64{beta, -9, 6, 6, -6, -6, -8, -8, 0, 0})
	}
	best, _, evals := e.Attack(func(x []float64) float64 {
		v, beta, _ := norm(x)
		leastConstant = max(leastConstant, v/(1+beta))
		return Slack(v, c+float64(d*beta))
	}, starts, e.Budget(40000, 4000))
	v, beta, instance := norm(best)
	w.add(v, c+float64(d*beta), func() Instance { return instance })
	w.Instances = evals
	f := w.finding(Exact, fmt.Sprintf("Proof of more: with kappa = m/(m+eps) for the weight m of the tokens s', q = kappa (E_hit z - E z); mean absolute deviations on [0,1] are at most 1/2, so |grad q|_1 <= 2 + beta + 2 beta kappa(1-kappa) <= 2 + (3/2) beta. The largest |grad q|_1/(1+beta) that was seen is %.4f, and 2 is approached as beta, eps/m and m -> 0 in turn: 2 is the best constant in front of 1+beta; the printed proof gives 2+10 beta.", leastConstant))
	if w.Margin < -1e-9 {
		f.Verdict = Fails
		f.Witness = shiftWitness(c, d)
		if f.Witness == nil {
			f.Verdict = Open
		}
	}
	return f
}

// shiftWitness decides |grad q|_1 <= c + d beta at beta = 0, where
// |grad q|_1 = 2 kappa (1 - m), and, if that holds, on two tokens in intervals.
func shiftWitness(c, d float64) Instance {
	m, eps := big.NewRat(1, 40), big.NewRat(1, 1560)
	at0 := exact.Mul(exact.Mul(big.NewRat(2, 1), exact.Quo(m, exact.Add(m, eps))), exact.Sub(big.NewRat(1, 1), m))
	if at0.Cmp(new(big.Rat).SetFloat64(c)) > 0 {
		return Instance{"beta": "0", "T": 40, "tokens s'": 1, "epsilon": eps.RatString(), "lhs": at0.RatString(), "rhs": fmt.Sprint(c)}
	}
	// A light pair of tokens s' and a heavy pair of others: the slope is near 1.
	const beta = 8.0
	p, z, hit := []float64{0.025, 0.025, 0.475, 0.475}, []float64{1, 0, 1, 0}, []bool{true, true, false, false}
	if v := shiftNorm(p, z, hit, beta, 1e-3); v > c+float64(d*beta)+1e-6 {
		return Instance{
			"beta": "8", "softmax weights": "1/40 1/40 19/40 19/40", "z": "1 0 1 0", "carries s'": hit, "epsilon": "1/1000",
			"lhs": fmt.Sprintf("%.6f", v), "rhs": fmt.Sprint(c + d*beta),
		}
	}
	return nil
}
