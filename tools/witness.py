"""A second opinion on the ledger: every exact witness decided again.

    python3 tools/witness.py [figures/claims.json]

For each row that fails exactly there is a function below, written from the
paper's definitions and from no other program: it takes the instance of the
witness, checks the hypotheses, works out both sides in fractions and returns
them. They must be the sides that are stored, and must break the statement.
What an instance may hold is said at ledger.Witness in pkg/ledger; a name that
the function does not ask for is an error, and so is a value that follows from
others and does not. A line is printed for each witness; the exit code is 1 if
one is wrong. Only the standard library is used.
"""

import json
import sys
from fractions import Fraction as F
from itertools import permutations, product
from math import factorial, isqrt, prod

ROWS = {}
LESS, EQUAL = "lhs <= rhs", "lhs = rhs"  # what the statement says, and the witness breaks


class Wrong(Exception):
    pass


def require(true, what):
    if not true:
        raise Wrong(what)


def row(name):
    def keep(decide):
        ROWS[name] = decide
        return decide
    return keep


# Instances


def number(v):
    """The value that JSON holds, with fractions for "a/b"."""
    if isinstance(v, list):
        return [number(x) for x in v]
    if isinstance(v, str):
        try:
            return F(v)
        except ValueError:
            raise Wrong(f"{v!r} is no rational number")
    require(isinstance(v, int), f"{v!r} is neither an integer nor a rational number")
    return v


class Instance:
    """The named values of a witness, each of which has to be asked for."""

    def __init__(self, stored):
        self.values = {k: number(v) for k, v in stored.items()}
        self.asked = set()

    def __getitem__(self, name):
        require(name in self.values, f"{name} is missing")
        self.asked.add(name)
        return self.values[name]

    def is_(self, name, value):
        """The value follows from others; a witness need not have it."""
        if name in self.values:
            require(self[name] == value, f"{name} is not {shown(value)}")

    def index(self, name, below):
        require(type(self[name]) is int and 1 <= self[name] <= below, f"{name} is not one of 1, ..., {below}")
        return self[name] - 1

    def forest(self):
        """The parents, counted from 0, with -1 for a root; the last position is alone."""
        g = self["graph"]
        require(all(type(p) is int and 0 <= p <= i for i, p in enumerate(g)), "a parent does not come before its child")
        require(g[-1] == 0 and len(g) not in g, "the query is not alone")
        self.is_("T", len(g))
        return [p - 1 for p in g]

    def tokens(self, states, length):
        x = self["X"]
        require(len(x) == length and all(type(s) is int and 1 <= s <= states for s in x), "X is no sequence")
        return [s - 1 for s in x]

    def chain(self):
        """pi with its stationary measure."""
        pi = self["pi"]
        self.is_("S", len(pi))
        return pi, self.measure(pi)

    def measure(self, pi):
        mu = stationary(pi)
        self.is_("mu", mu)
        return mu

    def orbits(self, gamma=None):
        """Matrices whose relabelings are the prior, which meets Assumption 1 with
        gamma, or with some gamma; and the measure of the first."""
        pis = self["orbits"]
        self.is_("S", len(pis[0]))
        mu = self.measure(pis[0])
        assumption(pis, gamma)
        return pis, mu


def shown(v):
    return "[" + ", ".join(map(shown, v)) + "]" if isinstance(v, list) else str(v)


# Chains and priors


def stationary(pi):
    """The one stationary measure, which must be positive."""
    n = len(pi)
    for r in pi:
        require(len(r) == n and sum(r) == 1 and min(r) >= 0, "a row of a matrix is no law")
    a = [[pi[s][t] - (s == t) for s in range(n)] + [F(0)] for t in range(n - 1)] + [[F(1)] * (n + 1)]
    for c in range(n):
        pivot = next((r for r in range(c, n) if a[r][c] != 0), None)
        require(pivot is not None, "more than one stationary measure")
        a[c], a[pivot] = a[pivot], a[c]
        a[c] = [x / a[c][c] for x in a[c]]
        for r in range(n):
            if r != c and a[r][c] != 0:
                a[r] = [x - a[r][c] * y for x, y in zip(a[r], a[c])]
    mu = [r[n] for r in a]
    require(min(mu) > 0, "the stationary measure is not positive")
    return mu


def power(pi, k):
    n = range(len(pi))
    out = [[F(s == t) for t in n] for s in n]
    for _ in range(k):
        out = [[sum(out[s][r] * pi[r][t] for r in n) for t in n] for s in n]
    return out


def spread(pi):
    mu = stationary(pi)
    return sum((p - m) ** 2 for r in pi for p, m in zip(r, mu))


def frobenius(pi):
    """|B_pi|_F^2"""
    mu = stationary(pi)
    return sum(m / mu[t] * (p - mu[t]) ** 2 for m, r in zip(mu, pi) for t, p in enumerate(r))


def relabelings(pis):
    for pi in pis:
        for s in permutations(range(len(pi))):
            yield [[pi[a][b] for b in s] for a in s]


def assumption(pis, gamma=None):
    """Assumption 1 for the relabelings of pis; with none, for some gamma."""
    n = len(pis[0])
    for pi in pis:
        least = min(min(r) for r in pi)
        require(least > 0 and spread(pi) > 0, "no gamma meets Assumption 1")
        if gamma is not None:
            meets = gamma > 0 and least >= gamma / n and spread(pi) >= gamma**2 / n
            require(meets, "Assumption 1 fails for this gamma")
    for a, b in ((0, 0), (0, 1)):  # alike for all other entries, by symmetry
        mean = sum(pi[a][b] for pi in relabelings(pis)) / (len(pis) * factorial(n))
        require(mean == F(1, n), "the mean of the prior is not 1/S")


# Forests


def distance(g, i, j):
    """None for positions of different trees."""
    up, steps = [i], 0
    while g[up[-1]] >= 0:
        up.append(g[up[-1]])
    while j not in up:
        if g[j] < 0:
            return None
        j, steps = g[j], steps + 1
    return up.index(j) + steps


def leaves(g, i):
    return sum(j not in g and distance(g, i, j) is not None for j in range(len(g)))


def most_leaves(g):
    return max(leaves(g, i) for i in range(len(g)))


def pair_sum(g, lam, last):
    ds = (distance(g, i, j) for i in range(last) for j in range(last))
    return sum(lam**d for d in ds if d is not None)


def effective_length(g, lam):
    return F(len(g) ** 2) / pair_sum(g, lam, len(g))


# Task 1: the law of a sequence, whose last token is uniform


def sequences(g, pi, mu=None):
    mu = mu or stationary(pi)
    n, query = len(pi), len(g) - 1
    for x in product(range(n), repeat=len(g)):
        yield x, prod((pi[x[p]][x[i]] if p >= 0 else mu[x[i]] for i, p in enumerate(g[:query])), start=F(1, n))


def expect(g, pi, f):
    return sum(p * f(x) for x, p in sequences(g, pi))


def ideal(g, pi, i, j):
    """g_ij(pi) = sum_{s,s'} pi(s'|s)/mu(s') P[s_i = s', s_j = s] - 1"""
    mu = stationary(pi)
    return expect(g, pi, lambda x: pi[x[j]][x[i]] / mu[x[i]]) - 1


def mean_ideal(g, pis, i, j):
    """The mean over the prior; each relabeling of a matrix has the same g_ij."""
    return sum(ideal(g, pi, i, j) for pi in pis) / len(pis)


def frequency(x, s):
    return F(sum(y == s for y in x), len(x))


def excess(pi, s, x, i, eps):
    """sum_{s'} pi(s'|s)/(muhat(s') + eps) (x_{i,s'} - muhat(s'))"""
    fs = [frequency(x, a) for a in range(len(pi))]
    return sum(pi[s][a] / (f + eps) * ((x[i] == a) - f) for a, f in enumerate(fs))


def ghat_query_in(g, pi, i, j, eps):
    """With the query as the last row of X: sum_s E[x_{j,s} excess | s_T = s]"""
    return expect(g, pi, lambda x: len(pi) * (x[j] == x[-1]) * excess(pi, x[-1], x, i, eps))


def ghat_apart(g, pi, i, j, eps):
    """sum_s E[x_{j,s} excess]"""
    return expect(g, pi, lambda x: excess(pi, x[j], x, i, eps))


def jacobian(p, v):
    mean = sum(a * b for a, b in zip(p, v))
    return [a * (b - mean) for a, b in zip(p, v)]


def law(p):
    require(sum(p) == 1 and min(p) >= 0, "no law")
    return p


# Section 2 and Constructions


def share(marked, among):
    return F(sum(map(bool, marked)), among)


@row("ex-induction-head")
def induction_head(w):
    g = w.forest()
    require(g == [*range(-1, len(g) - 2), -1], "the graph is no chain")
    x, s, _ = w.tokens(w["S"], len(g)), w.index("column", w["S"]), w.index("row", 1)

    def after(positions):
        of = [i for i in positions if x[i - 1] == x[-1]]
        return share((x[i] == s for i in of), len(of))

    return after(range(1, len(x))), after(range(1, len(x) - 1)), EQUAL


@row("ex-icl")
def functions(w):
    n, delta, good = w["S"], w["delta"], 0
    require(0 <= delta <= 1, "delta is no probability")
    for f in product(range(n), repeat=n):
        pi = [[(1 - delta) * (t == f[s]) + delta / n for t in range(n)] for s in range(n)]
        good += min(min(r) for r in power(pi, (n - 1) ** 2 + 1)) > 0
    return F(n**n), F(good), LESS


@row("construct-single-step-limit")
def construction_limit(w):
    g, n = w.forest(), w["S"]
    x, s, _ = w.tokens(n, len(g)), w.index("column", n), w.index("row", 1)
    z = [F(x[p] == x[-1]) if p >= 0 else share((y == x[-1] for y in x[: i + 1]), i + 1) for i, p in enumerate(g)]
    attended = [i for i in range(len(x)) if z[i] == max(z)]
    said = [i for i, p in enumerate(g) if p >= 0 and x[p] == x[-1]]
    require(said, "no parent has the token of the query")
    w.is_("attended", [i + 1 for i in attended])
    w.is_("said to be attended", [i + 1 for i in said])
    return *(share((x[i] == s for i in of), len(of)) for of in (attended, said)), EQUAL


@row("alg-training")
def training_loop(w):
    first, steps = w["tau1"], w["tau2"]
    require(first >= 1 and steps >= 1, "a stage without steps")
    return F(len(range(first, first + steps + 1))), F(steps), EQUAL


@row("assume-prior-remark")
def dirichlet(w):
    require(w["alpha"] == 1, "the law of the least entry is that of alpha = 1")
    return F(99, 100), (1 - w["gamma"]) ** (w["S"] * (w["S"] - 1)), LESS


# Sections 4 and 5


@row("thm-main-step-epsilon")
def chosen_epsilon(w):
    g, (pis, _), eps = w.forest(), w.orbits(), w["eps"]
    n, square, plain = len(pis[0]), F(0), F(0)
    for pi in pis:  # each relabeling has the same
        for x, p in sequences(g, pi):
            f, y = [frequency(x, a) for a in range(n)], pi[x[-1]]
            square += p * sum(abs((v + eps) / (1 + n * eps) - q) for v, q in zip(f, y)) ** 2 / 2 / len(pis)
            plain += p * sum((v - q) ** 2 for v, q in zip(f, y)) / n / len(pis)
    w.is_("mean square of f - pi", plain)
    w.is_("tau2", 0)
    require(eps >= 1, "L is not at most zero for every prediction")
    return square, F(0), LESS


@row("thm-main-step-threshold")
def thresholds(w):
    n, cube, p = w["S"], w["gamma"] ** 3 / 4, law(w["P"])
    require(0 < w["gamma"] <= 1 and all(0 <= f <= 1 for f in w["f"]), "no such f")
    below = share_of(p, (f < cube / n for f in w["f"]))
    return below, constant(w) * share_of(p, (f <= cube / n**2 for f in w["f"])), LESS


def share_of(p, marked):
    return sum(q for q, b in zip(p, marked, strict=True) if b)


@row("thm-main-step-horizon")
def horizon(w):
    w.is_("T_eff", (w["S"] / w["gamma"]) ** w["k"])
    return (F(69, 100) * w["log2 T"]) ** 2, F(w["C"]) ** 12 * w["T_eff"], LESS  # log 2 > 0.69


@row("thm-main-step-cauchy")
def cauchy(w, rhs):
    eps, p, d, event = w["eps"], law(w["P"]), w["D"], w["F"]
    require(all(type(b) is bool for b in event) and all(0 <= x <= 1 for x in d) and eps > 0, "no such D, F")
    lhs = sum(q * (x + eps) * (1 + (1 / eps if b else 0)) for q, x, b in zip(p, d, event, strict=True))
    root = rhs / w["C"] / (1 + sum(q for q, b in zip(p, event) if b) / eps) - eps
    square = sum(q * x**2 for q, x in zip(p, d))
    require(root > 0 and square <= root**2 <= square * (1 + F(1, 10**9)), "rhs does not enclose the root from above")
    return lhs, rhs, LESS


@row("alg-oracle")
def oracle(w):
    g, (pis, _) = w.forest(), w.orbits(w["gamma"])

    def information(i, j):
        total = F(0)
        for pi in pis:  # each relabeling has the same
            joint = {}
            for x, p in sequences(g, pi):
                joint[x[i], x[j]] = joint.get((x[i], x[j]), 0) + p
            marginal = [[sum(p for at, p in joint.items() if at[k] == s) for s in range(len(pi))] for k in (0, 1)]
            total += sum(marginal[0][a] * marginal[1][b] * max(p / (marginal[0][a] * marginal[1][b]) - w["hinge"], 0)
                         for (a, b), p in joint.items())
        return total / len(pis)

    output = []
    for i in range(len(g) - 1):
        of = [information(i, j) for j in range(i)]
        output.append(max((v, j) for j, v in enumerate(of))[1] if any(of) else -1)
    require(max(0, 1 - w["hinge"]) == 0, "f(1) is not 0")
    w.is_("output", [p + 1 for p in output] + [0] * (len(w["output"]) - len(output)))
    edges = [(p, q) for p, q in zip(output, g) if q >= 0]
    wrong = sum(p >= 0 > q for p, q in zip(output, g))
    return F(sum(p == q for p, q in edges) - wrong), F(len(edges)), EQUAL


def root_entry(w):
    g, (pis, _) = w.forest(), w.orbits()
    i = w.index("i", len(g))
    require(g[i] < 0, "i is no root")
    return mean_ideal(g, pis, i, w.index("j", i + 1)), F(0), EQUAL


ROWS["eq-g-root-zero"] = ROWS["thm-dpi-gap-step-query"] = root_entry


@row("eq-a2-form")
def second_matrix(w):
    g, prior, attention, eps = w.forest(), w["prior"], w["softmax(A1)"], w["eps"]
    n, t = w["S"], len(g)
    for i, r in enumerate(attention):
        require(len(r) == t and not any(law(r)[i + 1:]), "a position attends to what follows")
    mean = [[sum(pi[a][b] for pi in prior) / len(prior) for b in range(n)] for a in range(n)]
    require(sorted(relabelings(prior)) == sorted(factorial(n) * prior) and mean == [[F(1, n)] * n] * n,
            "the prior is not symmetric with mean 1/S")

    def step(a, b):  # minus the derivative of the loss in A2[a,b] at A2 = 0, where f(X;s) is muhat
        def of(x, pi):
            shares = [sum(q for q, y in zip(r, x) if y == a) for r in attention]
            return (x[-1] == b) * sum(pi[b][s] / (frequency(x, s) + eps) *
                                      sum(z * ((y == s) - frequency(x, s)) for z, y in zip(shares, x)) / t
                                      for s in range(n))
        return sum(expect(g, pi, lambda x: of(x, pi)) for pi in prior) / len(prior)

    a2 = [[step(a, b) for b in range(n)] for a in range(n)]
    beta = a2[0][0] - a2[0][1]
    w.is_("A2", a2)
    w.is_("beta", beta)
    a, b = w.index("row", n), w.index("column", n)
    return a2[a][b], beta * (a == b) + beta / n, EQUAL


@row("thm-equivalence-to")
def one_head(w):
    """The first logit at position 2 of one head on one dimension, where h + V S(Q K h h_j) h is E of the token."""
    require(w["L"] == w["d"] == 1 and w["S"] == w["T"] == 2 and [w["E"], w["P"], w["W_O"]] == [[0, 1], [0, 0], [1, 0]],
            "this is no head on one dimension")
    h, e = w.tokens(2, 2), sum(F(1, factorial(k)) for k in range(40))

    def logit(key):
        weights = [e ** (w["Q"] * key * h[1] * y) for y in h]
        return h[1] + w["V"] * sum(q * y for q, y in zip(weights, h)) / sum(weights)

    return *(F(round(10**9 * logit(w[key])), 10**9) for key in ("V", "K")), EQUAL


@row("thm-equivalence-from")
def value_rows(w):
    heads, width = w["heads"], [w["S"] + w["T"]]
    for m in heads:
        width.append((1 + m) * width[-1])
    w.is_("L", len(heads))
    w.is_("d", width)
    l = w.index("l", len(heads))
    i = w.index("i", heads[l]) + 1
    return F((i + 1) * width[l + 1]), F(width[-1]), LESS


def logarithm(q):
    """log q to thirty decimals, by the series of artanh."""
    y, total = (q - 1) / (q + 1), F(0)
    for k in range(1, 300, 2):
        total += 2 * y**k / k
    return total


@row("eq-loss-rewrite")
def loss_rewritten(w):
    g, (pis, _), eps = w.forest(), w.orbits(), w["eps"]
    n, t = len(pis[0]), len(g)
    loss, apart = [F(0)] * (t + 1), [F(0)] * (t + 1)  # coefficients of -log(k/T + eps)
    for pi in pis:  # each relabeling has the same
        for x, p in sequences(g, pi):
            for a in range(n):
                k = sum(y == a for y in x)
                loss[k] += p * pi[x[-1]][a] / len(pis)
                apart[k] += p * sum(pi[s][a] for s in range(n)) / n / len(pis)
    w.is_("coefficients of the loss", loss)
    w.is_("coefficients of the sum", apart)
    logs = [logarithm(F(k, t) + eps) for k in range(t + 1)]
    return *(F(round(-10**9 * sum(c * v for c, v in zip(cs, logs))), 10**9) for cs in (loss, apart)), EQUAL


@row("thm-dpi-gap")
def gap(w):
    g, gamma = w.forest(), w["gamma"]
    pis, _ = w.orbits(gamma)
    i = w.index("i", len(g))
    j = w.index("j", i + 1)
    require(g[i] >= 0 and j != g[i], "j is the parent of i, or i has none")
    return mean_ideal(g, pis, i, j) + gamma**3 / (2 * len(pis[0])), mean_ideal(g, pis, i, g[i]), LESS


@row("thm-stage1-parents")
def parent_gap(w):
    g, prior, eps, p = w.forest(), w["prior"], w["eps"], law(w["softmax(A1_i)"])
    i = w.index("i", len(g))
    j = w.index("j", i + 1)
    require(len(p) == i + 1 and g[i] >= 0 and j != g[i], "j is the parent of i, or i has none")
    require(eps**2 * len(g) == most_leaves(g), "eps is not T_eff^(-1/2)")
    assumption(prior)
    row_of = [mean_ideal(g, prior, i, k) for k in range(i + 1)]
    w.is_("g_i", row_of)
    ghat = [sum(ghat_query_in(g, pi, i, k, eps) for pi in prior) / len(prior) for k in range(i + 1)]
    finite, limit = jacobian(p, ghat), jacobian(p, row_of)
    w.is_("J ghat_p - J ghat_j", finite[g[i]] - finite[j])
    require(finite[g[i]] < finite[j], "the parent leads on T positions")
    return limit[j], limit[g[i]], LESS


@row("lem-no-parents-step-jacobian")
def jacobian_bound(w):
    p, v = law(w["p"]), w["v"]
    require(len(p) == len(v), "p and v are not of one length")
    return max(map(abs, jacobian(p, v))), max(p) * max(map(abs, v)), LESS


@row("lem-grad-j-step-jacobian")
def softmax_derivative(w):
    e, i = w["exp(v)"], w.index("row", len(w["exp(v)"]))
    j = w.index("column", len(e))
    require(all(x == 1 for x in e), "v is rational only at exp(v) = 1")
    derivative = (e[i] * (i == j) * sum(e) - e[i] * e[j]) / sum(e) ** 2
    return derivative, jacobian([F(0)] * len(e), [F(k == j) for k in range(len(e))])[i], EQUAL


# Appendices E, F, G


@row("lem-bound-ghat-step-last")
def last_line(w):
    gamma, (pis, _) = w["gamma"], w.orbits(w["gamma"])
    n = len(pis[0])
    return gamma**8 / n**6 / 2, gamma**5 / n**5 * sum(map(frobenius, pis)) / len(pis), LESS


@row("eq-b-powers-step-zero")
def power_zero(w):
    pi, mu = w.chain()
    s, t = w.index("row", len(pi)), w.index("column", len(pi))
    return F(s == t), F(s == t) - mu[t], EQUAL


@row("lem-spectral-gap-step-decomposition")
def splitting(w):
    (pi, mu), gamma = w.chain(), w["gamma"]
    n = len(pi)
    require(0 < gamma < 1 and min(min(r) for r in pi) >= gamma / n, "pi is not at least gamma/S")
    s, _ = w.index("column", n), w.index("row", 1)
    return sum((pi[s][t] - gamma / n * mu[t]) / (1 - gamma) for t in range(n)), F(1), EQUAL


@row("lem-bound-g1")
def norm_bound(w):
    gamma, (pis, _) = w["gamma"], w.orbits(w["gamma"])
    w.is_("spread", spread(pis[0]))
    return gamma**2 / len(pis[0]), frobenius(pis[0]), LESS


@row("eq-strong-dpi-step-last")
def strong_last(w):
    gamma, (pis, _) = w["gamma"], w.orbits(w["gamma"])
    pi, norm = pis[0], frobenius(pis[0])
    alpha = max(sum(abs(a - b) for a, b in zip(r, q)) / 2 for r in pi for q in pi)
    w.is_("alpha", alpha)
    w.is_("|B|_F^2", norm)
    return gamma**3 / (2 * len(pi)), (1 - alpha) / 2 * norm, LESS


@row("lem-teff-leaves")
def effective_lengths(w):
    g, lam = w.forest(), w["lambda"]
    require(0 < lam < 1, "lambda is not in (0, 1)")
    w.is_("L", most_leaves(g))
    return (1 - lam) * len(g) / most_leaves(g), effective_length(g, lam), LESS


@row("lem-teff-leaves-step-count")
def at_distance(w):
    g = w.forest()
    i = w.index("i", len(g))
    w.is_("L", leaves(g, i))
    return F(sum(distance(g, i, j) == w["k"] for j in range(len(g)))), F(leaves(g, i)), LESS


@row("lem-covariance-step-ancestor")
def ancestor_sum(w):
    g, (pi, mu) = w.forest(), w.chain()
    n = len(pi)
    i, j = w.index("i", len(g) - 1), w.index("j", len(g) - 1)
    s, t = w.index("row", n), w.index("column", n)
    require(distance(g, i, j) is not None, "no common ancestor")
    above = [k for k in range(len(g)) if up(g, i, k) is not None and up(g, j, k) is not None]
    k = max(above)
    to_t, to_s = power(pi, up(g, j, k)), power(pi, up(g, i, k))
    printed = sum(mu[a] * (to_t[a][t] - mu[t]) * (to_s[a][s] - mu[s]) for a in range(n))
    return expect(g, pi, lambda x: x[j] == s and x[i] == t) - mu[s] * mu[t], printed, EQUAL


def up(g, i, k):
    """The steps from i up to its ancestor k, or None."""
    steps = 0
    while i >= 0 and i != k:
        i, steps = g[i], steps + 1
    return steps if i == k else None


@row("lem-muhat-var-step-last")
def pairs_before_query(w):
    g, lam = w.forest(), w["lambda"]
    require(0 < lam < 1, "lambda is not in (0, 1)")
    t = len(g)
    return F(pair_sum(g, lam, t - 1)), (t - 1) ** 2 / effective_length(g, lam), EQUAL


@row("lem-chat-var")
def pair_mean(w):
    g, (pi, mu) = w.forest(), w.chain()
    s, t = w.index("row", len(pi)), w.index("column", len(pi))
    among = [i - 1 for i in w["I"]]
    require(among and all(0 <= i < len(g) - 1 and g[i] >= 0 for i in among), "a position of I has no parent")
    mean = expect(g, pi, lambda x: share((x[g[i]] == s and x[i] == s for i in among), len(among)))
    return mean, mu[s] * pi[s][t], EQUAL


@row("lem-chat-var-step-dependent")
def dependent(w):
    (pi, mu), lam, d = w.chain(), w["lambda"], w["d"]
    n = len(pi)
    s, t = w.index("s", n), w.index("s'", n)
    require(lam == 1 - min(min(r) for r in pi) and d >= 1, "lambda is not 1 - gamma/S")
    left = mu[s] * pi[s][t] ** 2 * (power(pi, d)[t][s] - mu[s])
    require(left > 0, "the left side is not positive")
    return left**2, mu[s] * mu[t] * pi[s][t] ** 4 * lam ** (2 * d), LESS


# Appendices H and I


def quotient(w):
    """What the quotients of stage 2 are made of at beta = 0, where each exponential is 1."""
    g, (pi, mu) = w.forest(), w.chain()
    require(w["beta"] == 0, "not rational")
    x, t = w.tokens(len(pi), len(g)), len(g)
    s, a = w.index("s", len(pi)), w.index("s'", len(pi))
    child = [p >= 0 for p in g]
    z = [F(x[p] == s) if p >= 0 else share((y == s for y in x[: i + 1]), i + 1) for i, p in enumerate(g)]
    hit = [y == a for y in x]
    r, m, m2, q = share((not c for c in child), t), mu[s], mu[a], pi[s][a]

    def mean(of, where=None):
        return sum(F(v) for v, c in zip(of, child) if where is None or c is where) / t

    both = [u * h for u, h in zip(z, hit)]
    e = [None, mean(z, True) - (1 - r) * m, mean(z, False) - r * m, F(0), mean(both, True) - (1 - r) * m * q,
         mean(hit, True) - (1 - r) * m2, mean(both, False) - r * m * m2, mean(hit, False) - r * m2]
    return mean(z), mean(hit), mean(both), r, m, m2, q, e


def displayed(w, value, limit, rhs):
    w.is_("value", value)
    w.is_("limit", limit)
    return abs(value - limit), rhs, LESS


@row("lem-concentrate-e3-step-quotient")
def quotient_e3(w):
    value, _, _, r, m, _, _, e = quotient(w)
    return displayed(w, value, (1 - r) * m + r * m, abs(value) * (abs(e[1]) + e[3] + abs(e[1]) + e[2]))


@row("lem-concentrate-e12-step-quotient")
def quotient_e12(w):
    _, f, both, r, m, m2, q, e = quotient(w)
    require(w["eps"] > 0, "eps is not positive")
    value, below = both / (f + w["eps"]), (1 - r) * m2 + r * m2
    inside = abs(e[4]) + abs(e[5]) + abs(e[7]) + w["eps"] + abs(e[4]) + abs(e[6])
    return displayed(w, value, ((1 - r) * m * q + r * m * m2) / below, abs(value) * inside / below)


@row("lem-f-to-pi-step-quotient")
def quotient_f(w):
    _, f, _, r, _, m2, _, e = quotient(w)
    return displayed(w, f, (1 - r) * m2 + r * m2,
                     abs(f) * (abs(e[4]) + abs(e[5]) + abs(e[7])) + abs(e[1]) + abs(e[3]))


@row("lem-concentrate-e3-step-denominator")
def denominator(w):
    gamma, r, eb, em = w["gamma"], w["r"], w["exp(beta)"], w["exp(beta mu)"]
    pis, mu = w.orbits(gamma)
    m = mu[w.index("s", len(mu))]
    w.is_("mu(s)", m)
    require(em**m.denominator == eb**m.numerator and eb >= 1 and 0 <= r <= 1 - gamma, "not these exponentials")
    return (1 - r) * eb * gamma, (1 - r) * (eb - 1) * m + (1 - r) + r * em, LESS


@row("lem-f-to-pi-step-markov")
def markov(w):
    g, gamma = w.forest(), w["gamma"]
    pis, mu = w.orbits(gamma)
    pi, n = pis[0], len(mu)
    s, a, level = w.index("s", n), w.index("s'", n), gamma**2 / (2 * n**2)
    w.is_("threshold", level)
    child = [i for i, p in enumerate(g) if p >= 0]
    off = {}  # the law of the deviation
    for x, p in sequences(g, pi, mu):
        d = share((x[g[i]] == s and x[i] == a for i in child), len(child)) - mu[s] * pi[s][a]
        off[d] = off.get(d, 0) + p
    return sum(p for d, p in off.items() if abs(d) >= level), sum(p * d**2 for d, p in off.items()) / level, LESS


@row("thm-ood-step-root")
def root_step(w):
    p, d, n = law(w["P"]), w["D"], w["S"]
    bound = 100 * n**2 * sum(q * x**2 for q, x in zip(p, d, strict=True))
    w.is_("bound", bound)
    return sum(q for q, x in zip(p, d) if x > bound), F(1, 100 * n**2), LESS


@row("thm-finite-stage1-step-mean")
def mean_of_samples(w):
    g, (pi, _), eps = w.forest(), w.chain(), w["eps"]
    i = w.index("i", len(g))
    j = w.index("j", i + 1)
    return ghat_query_in(g, pi, i, j, eps), ghat_apart(g, pi, i, j, eps), EQUAL


@row("thm-finite-stage1-step-union")
def rare(w):
    g, (pi, mu) = w.forest(), w.chain()
    length = F(len(g), most_leaves(g))
    w.is_("T_eff", length)
    return expect(g, pi, lambda x: any(frequency(x, s) <= m / 2 for s, m in enumerate(mu))), len(mu) / length, LESS


def rational_root(q, n):
    """The n-th root, which must be rational."""
    require(q > 0, "an exponential is not positive")
    whole = [next(k for k in range(1, v + 1) if k**n >= v) for v in (q.numerator, q.denominator)]
    require(F(*whole) ** n == q, "the softmax is not rational")
    return F(*whole)


@row("thm-finite-stage2-step-1")
def sum_of_softmax(w):
    n = w["S"]
    x, delta = w.tokens(n, w["T"]), w.index("delta", n)
    attention = [[q / sum(r) for q in r] for r in w["exp(A1)"]]
    require(all(min(r[: i + 1]) > 0 and not any(r[i + 1:]) for i, r in enumerate(w["exp(A1)"])), "no attention")

    def softmax(e):  # of z_i = sum_a (what i attends to of a) (A2 e_s)_a, from exp(A2 e_s)
        h = []
        for r in attention:
            shares = [sum(q for q, y in zip(r, x) if y == a) for a in range(n)]
            factors = (rational_root(e[a], q.denominator) ** q.numerator for a, q in enumerate(shares))
            h.append(prod(factors, start=F(1)))
        return [v / sum(h) for v in h]

    z, z2 = softmax(w["exp(A2 e_s)"]), softmax(w["exp(A2_pop e_s)"])
    w.is_("softmax(z)", z)
    w.is_("softmax(z')", z2)
    off = [a - b for a, b in zip(z, z2)]
    return abs(sum(d for d, y in zip(off, x) if y == delta)), max(map(abs, off)), LESS


# In-context graphs of any length: 1 -> 2, 3 -> 4, ... and the query


def rounded(lo, hi):
    """Twelve decimals, or more, l <= lo and r >= hi with l > r."""
    require(lo > hi, "the sides are not told apart")
    den = 10**12
    while F(lo * den // 1, den) <= -F(-hi * den // 1, den):
        den *= 10
    return F(lo * den // 1, den), -F(-hi * den // 1, den), LESS


def log_between(q):
    """An enclosure of log q, q >= 1."""
    halvings = 0
    while q > 2:
        q, halvings = q / 2, halvings + 1
    v, slack = halvings * logarithm(F(2)) + (logarithm(q) if q > 1 else 0), F(1, 10**20)
    return v - slack, v + slack


def exp_between(x):
    """An enclosure of e^x, -1 <= x <= 1."""
    v = sum(x**k / F(factorial(k)) for k in range(25))
    return v - F(1, 10**20), v + F(1, 10**20)


class LongInContext:
    """On five positions: a pair that is not the row's, the row's own, and the query
    stand for those of T = 2n + 1; muhat is over all T."""

    forest = [-1, 0, -1, 2, -1]

    def __init__(self, pi, t, eps, query_in):
        self.pi, self.t, self.eps, self.query_in, self.mu = pi, t, eps, query_in, stationary(pi)
        self.law = list(sequences(self.forest, pi))
        self.spread = [self.fluctuation(s) for s in range(len(pi))]

    def fluctuation(self, s):
        """What E[w/(muhat+eps)]/E[w] differs by from 1/(mu+eps), for w >= 0 of two
        pairs and the query: T (muhat-mu) = c + R with |c| <= 5, and R, independent of
        w, the sum over the other pairs. Below by convexity. Above 1/(m+eps) is at most
        1/mu' - (m-mu)/mu'^2 + (m-mu)^2/((m+eps) mu'^2), mu' = mu+eps, where m >= mu/2
        but with a probability of at most exp(-far^2/T) (Hoeffding)."""
        mu, t, n = self.mu[s], self.t, (self.t - 1) / 2
        second = sum(p * ((x[0] == s) + (x[1] == s)) ** 2 for x, p in self.law)
        square = (n * (second - 4 * mu**2) + 25) / t**2
        far = t * mu / 2 - 5
        require(far > 0, "T is too small")
        tail = F(1, 2 ** int(min(far**2 / t, 400)))
        return [v / (mu + self.eps) ** 2 for v in (-5 / t, 5 / t + 2 / mu * square + mu**2 / self.eps * tail)]

    def weighted(self, i, j, s, a):
        """E[x_{j,s} (x_{i,a} + eps)/(muhat(a) + eps)], given s_T = s with the query in X."""
        mass = sum(p * ((x[i] == a) + self.eps) for x, p in self.law if x[j] == s and (not self.query_in or x[4] == s))
        mass *= len(self.pi) if self.query_in else 1
        return [mass * (1 / (self.mu[a] + self.eps) + v) for v in self.spread[a]]

    def single(self, j, s):
        mass = sum(p for x, p in self.law if x[j] == s and (not self.query_in or x[4] == s))
        return mass * len(self.pi) if self.query_in else mass

    def ghat(self, i, j):
        n = range(len(self.pi))
        ends = [sum(self.pi[s][a] * self.weighted(i, j, s, a)[k] for s in n for a in n) for k in (0, 1)]
        return [v - sum(self.single(j, s) for s in n) for v in ends]


def length(w):
    """T, of which eps = beta0^(1/4) is the inverse root, and the edges."""
    t = w["T"]
    require(t > 5 and t % 2 == 1, "no in-context graph has T positions")
    w.is_("pairs", (t - 1) / 2)
    return t


def query_row(w):
    """The prior, and enclosures of g*_Tj for a root, a child and T itself."""
    (pis, _), t, eps = w.orbits(), length(w), w["eps"]
    w.is_("i", t)
    require(eps > 0 and eps**2 * t == 1 and w["beta0"] * t**2 == 1, "not these eps and beta0")
    chains = [LongInContext(pi, t, eps, True) for pi in pis]
    n, row = len(pis[0]), []
    shift = 6 * n**2 * w["beta0"] / eps**2  # Lemma 23: g* against ghat
    for j in (0, 1, 4):
        ends = [sum(e) / len(pis) for e in zip(*(c.ghat(4, j) for c in chains))]
        row.append((ends[0] - shift, ends[1] + shift))
    return pis, t, n, row


def spread_from_below(row):
    return max(lo for lo, _ in row) - min(hi for _, hi in row)


@row("thm-stage1-roots")
def root_row(w):
    _, _, n, r = query_row(w)
    return rounded(spread_from_below(r) / (2 * n), constant(w) * w["eps"])


def constant(w):
    require(w["C"] > 0, "C is not positive")
    return w["C"]


@row("lem-gradient-informal")
def informal(w):
    pis, _, _, r = query_row(w)
    g = [mean_ideal(LongInContext.forest, pis, 4, j) for j in (0, 1, 4)]
    return rounded(spread_from_below([(lo - v, hi - v) for (lo, hi), v in zip(r, g)]) / 2, constant(w) * w["eps"])


@row("lem-concentration-a1")
def at_fixed_eps(w):
    (pi, mu), t, eps = w.chain(), length(w), w["eps"]
    require(w["i"] == 4 and w["j"] == 3 and eps**2 * t >= constant(w) ** 2, "not the row of a child, or eps is small")
    c, s, a = LongInContext(pi, t, eps, False), w.index("s", len(pi)), w.index("s'", len(pi))
    ideal_value = sum(p for x, p in c.law if x[3] == a and x[2] == s) / mu[a]
    off = [v - ideal_value for v in c.weighted(3, 2, s, a)]
    return rounded(max(off[0], -off[1]), w["C"] / isqrt(t.numerator))


def runaway(w):
    """Row T, drawn to T: the steps are enough for attention 1/2, by Lemma 8."""
    pis, t, n, r = query_row(w)
    assumption(pis, w["gamma"])
    step = (r[2][0] - max(hi for _, hi in r[:2])) / n * w["eta1"] * w["beta0"] / t
    require(step > 0, "the row is not drawn to T")
    enough = exp_between(step / 4)[1] * (2 + t + 2 * log_between(2 * t)[1]) / step
    require(w["tau"] >= enough and w["tau"].denominator == 1, "the steps are not enough")
    return t, F(1, 2) - 1 / t


@row("lem-no-parents")
def drift(w):
    t, off = runaway(w)
    return rounded(off, constant(w) * w["tau"] * w["eta1"] * w["beta0"] * w["eps"] / t**3)


@row("cor-stage1-roots")
def drift_at_end(w):
    t, off = runaway(w)
    stage = 16 * (len(w["orbits"][0]) / w["gamma"]) ** 3 * t**2 * log_between(t)[1] / (w["eta1"] * w["beta0"])
    require(w["tau"] == -(-stage // 1), "stage 1 is not over, or longer than it takes")
    return rounded(off, constant(w) * min(1, t * log_between(t)[1] * w["eps"] / t**2))


@row("lem-compare-z")
def mean_square(w):
    """x_T is uniform and independent of the others, which alone makes the square vary."""
    t, off = runaway(w)
    lo, hi = (t * v for v in log_between(t))
    require(w["tau"] == -(-lo // 1) == -(-hi // 1) and w["eta1"] * w["beta0"] == t, "not T log T steps of size 1")
    n = len(w["orbits"][0])
    return rounded(off**2 * (n - 1) / n**2, constant(w) * min(1, hi**2 * w["eps"] ** 2 / t**2))


@row("lem-a1-dynamics-step-integer")
def below_one_step(w):
    t, alpha = w["T"], w["alpha"]
    require(t > 0 and 0 < alpha < 1 - 1 / t and w["eta1 beta0"] == t**4, "not these numbers")
    return rounded(F(1), constant(w) * (t**2 + t / alpha) * log_between(t / alpha)[1] / w["eta1 beta0"])


@row("thm-finite-stage2-step-exponent")
def exponent(w):
    root = isqrt(w["T_eff"].numerator)
    require(root**2 == w["T_eff"] and w["beta0"] * root**3 == 1, "not these T_eff and beta0")
    return rounded(exp_between(w["beta0"] - 1)[0], constant(w) / root)


def root_above(q):
    """A number above the root of q, by less than 10^-20."""
    return F(isqrt(int(q * 10**40)) + 1, 10**20)


@row("claim-sample-size")
def samples(w):
    """Row T of ghat^emp: half of the spread of ghat, less Bernstein's bound of the error."""
    pis, t, n, r = query_row(w)
    require(w["N"] == t**2 and 0 < w["delta"] < 1, "not these samples")
    gamma = n * min(min(row) for pi in pis for row in pi)
    each = log_between(2 * t**2 / w["delta"])[1] / w["N"]
    error = 2 * n**2 / gamma**2 * (root_above(2 * n * each) + each)
    return rounded(spread_from_below(r) / 2 - error, constant(w) * w["eps"])


@row("thm-finite-stage1-step-display")
def display(w):
    g, (pi, mu), eps, n = w.forest(), w.chain(), w["eps"], len(w["pi"])
    gamma, teff, root = n * min(min(r) for r in pi), F(len(g), most_leaves(g)), isqrt(F(w["N"]).numerator)
    second = rational_root(n / teff, 2) / eps
    require(root**2 == w["N"] and eps > 0, "N is no square")
    logs = [v / root for v in log_between(len(g) / w["delta"])]
    rare_token = expect(g, pi, lambda x: any(frequency(x, s) <= m / 2 for s, m in enumerate(mu)))
    return rounded(n / gamma * logs[0] + rare_token / eps, constant(w) * (n / gamma + second) * logs[1])


@row("eq-f-pointwise")
def every_sequence(w):
    g, (pi, _), beta = w.forest(), w.chain(), w["beta"]
    x, s, a = w.tokens(len(pi), len(g)), w.index("s", len(pi)), w.index("s'", len(pi))
    require(beta > 0 and w["c"] * beta == 4 and len({*x}) == 1, "c beta is not 4, or X is not constant")
    return rounded(abs((x[0] == a) - pi[s][a]), exp_between(F(-1))[1] ** 4)  # f is the token, whatever theta


@row("construct-single-step-stream")
def last_block(w):
    g, n = w.forest(), w["S"]
    x, c, _ = w.tokens(n, len(g)), w.index("column", n + len(g)), w.index("row", 1)
    z = [F(x[p] == x[-1]) if p >= 0 else share((y == x[-1] for y in x[: i + 1]), i + 1) for i, p in enumerate(g)]
    attended = [i for i in range(len(x)) if z[i] == max(z)]
    require(all(g[i] >= 0 for i in attended) and max(z) == 1, "a root is attended")
    w.is_("attended", [i + 1 for i in attended])

    def entry(j):  # of x~_j, the token and the position of j
        return F(c == x[j] or c == n + j)

    return sum(entry(g[i]) for i in attended) / len(attended), entry(len(x) - 1), EQUAL


# The stored ledger


def decide(claim):
    """Raises Wrong if the witness of a row that fails is not one."""
    witness, decider = claim["witness"], ROWS.get(claim["id"])
    require(witness is not None, "fails without a witness")
    require(decider is not None, "tools/witness.py does not know what the row says")
    w = Instance(witness["instance"])
    require("lhs" in witness and "rhs" in witness, "the sides are not rational")
    stored = F(witness["lhs"]), F(witness["rhs"])
    lhs, rhs, says = decider(w, stored[1]) if decider is cauchy else decider(w)
    require((lhs, rhs) == stored, f"the sides are {lhs} and {rhs}")
    require(lhs > rhs if says is LESS else lhs != rhs, f"{says} is not broken")
    left = set(w.values) - w.asked
    require(not left, f"nobody asks for {sorted(left)}")
    require(witness.get("squared", True) is True, "squared is written where it is true")
    half = 0.5 if "squared" in witness else 1
    for name, v in (("lhs", lhs), ("rhs", rhs)):
        require(abs(float(v) ** half - claim[name]) <= 1e-5 * abs(claim[name]), f"the row's {name} is another")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "figures/claims.json"
    with open(path, encoding="utf-8") as file:
        claims = [c for c in json.load(file)["claims"] if c["verdict"] == "fails"]
    wrong = 0
    for claim in claims:
        try:
            decide(claim)
            print("right", claim["id"])
        except Exception as e:  # a value of the wrong shape ends up anywhere
            wrong += 1
            print("WRONG", f"{claim['id']}: {e or type(e).__name__}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
