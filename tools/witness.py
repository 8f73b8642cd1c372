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
    require(w["L"] == w["d"] == 1 and w["S"] == w["T"] == 2 and w["E"] == [0, 1] and w["P"] == [0, 0] and w["W_O"] == [1, 0],
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


# Stage 1 on long in-context graphs, 1 -> 2, 3 -> 4, ..., with the query in sequence


def exp_of_minus(x):
    """Not below e^-x."""
    term, total = F(1), F(1)
    for k in range(1, 80):
        term = term * x / k
        total += term
    return 1 / total


def log_from_above(q):
    """Not below log q, for q > 1: q = 2^k m with m in [1, 2)."""
    k = 0
    while q >= 2:
        q, k = q / 2, k + 1
    return logarithm(q) + k * logarithm(F(2)) + F(1, 10**20)


def outside(x, k=40):
    """The fractions with k decimals around x."""
    n = 10**k
    return F(x * n // 1, n), F(-(-x * n // 1), n)


class InContext:
    """The gradient of stage 1 at the given T, eps and beta0, enclosed; pairs are those of the graph."""

    OTHER, CHILD, ROOT, OWN, QUERY = range(5)  # roles: a pair of another row, its own pair, the query

    def __init__(self, w):
        self.t, self.eps = F(w["T"]), w["eps"]
        require(self.t.denominator == 1 and self.t % 2 == 1, "T is not odd")
        w.is_("pairs", (self.t - 1) / 2)
        self.root = F(isqrt(int(self.t)))
        require(self.root**2 == self.t, "T is no square")

    def spread(self, pi, mu, s):
        """What E[y/(muhat(s)+eps)]/E[y] - 1/(mu(s)+eps) lies between, for y >= 0 of two pairs and the query.

        With D = muhat - mu, 1/(mu+D+eps) = 1/(mu+eps) - D/(mu+eps)^2 + D^2/((mu+D+eps)(mu+eps)^2). T D is at
        most 5 from tokens on which y depends, beside a sum over independent pairs; Hoeffding for D <= -mu/2.
        """
        m, t, eps = mu[s], self.t, self.eps
        far = t * m / 2 - 5
        require(far > 0, "T is too short")
        pair = 2 * m + 2 * m * pi[s][s] - 4 * m**2
        square = (25 + pair * t / 2) / t**2
        tail = exp_of_minus(min(far**2 / t, F(1000)))
        high = 5 / t + 2 / m * square + m**2 / eps * tail
        return -5 / t / (m + eps) ** 2, high / (m + eps) ** 2

    def laws(self, pi, mu, i, j, s, a):
        """P[s_i = a, s_j = s] and P[s_j = s] given that the query is s."""
        if i == self.QUERY:
            single = F(1) if j == i else mu[s]
            return single * (a == s), single
        if i == j:
            return mu[s] * (a == s), mu[s]
        if (i, j) == (self.OWN, self.ROOT):
            return mu[s] * pi[s][a], mu[s]
        return mu[a] * mu[s], mu[s]

    def entry(self, pis, i, j):
        """g*_ij for every A1: ghat_ij up to 6 S^2 beta0/eps^2."""
        low = high = F(0)
        n = len(pis[0])
        for pi in pis:
            mu = stationary(pi)
            spreads = [self.spread(pi, mu, a) for a in range(n)]
            for s, a in product(range(n), repeat=2):
                joint, single = self.laws(pi, mu, i, j, s, a)
                center = 1 / (mu[a] + self.eps)
                weight = pi[s][a] * (joint + self.eps * single)
                low += weight * (center + spreads[a][0]) - pi[s][a] * single
                high += weight * (center + spreads[a][1]) - pi[s][a] * single
        shift = 6 * n**2 * self.beta0 / self.eps**2
        return outside(low / len(pis) - shift)[0], outside(high / len(pis) + shift)[1]

    def prior(self, w):
        pis, _ = w.orbits()
        self.beta0 = w["beta0"]
        require(self.eps * self.root == 1 and self.beta0 * self.t**2 == 1, "not eps = T^(-1/2) and beta0 = T^(-2)")
        require(F(w["i"]) == self.t, "i is not the query")
        return pis

    def lead(self, pis):
        """Not above the least g*_TT - g*_Tj."""
        others = [self.entry(pis, self.QUERY, j)[1] for j in (self.OTHER, self.CHILD)]
        return self.entry(pis, self.QUERY, self.QUERY)[0] - max(others)


def within(low, high):
    """The sides are stored with twelve decimals, the first rounded down, the second up."""
    return F(low * 10**12 // 1, 10**12), F(-(-high * 10**12 // 1), 10**12), LESS


@row("thm-stage1-roots")
def root_gradient(w):
    g = InContext(w)
    pis = g.prior(w)
    last, first = g.entry(pis, g.QUERY, g.QUERY), g.entry(pis, g.QUERY, g.OTHER)
    apart = max(last[0] - first[1], first[0] - last[1])
    return within(apart / 2 / len(pis[0]), w["C"] / g.root)


@row("lem-gradient-informal")
def informal(w):
    g = InContext(w)
    pis = g.prior(w)
    ideal = sum(sum(pi[s][s] / m for s, m in enumerate(stationary(pi))) / len(pi) - 1 for pi in pis) / len(pis)
    last, first = g.entry(pis, g.QUERY, g.QUERY), g.entry(pis, g.QUERY, g.OTHER)
    apart = max(last[0] - ideal - first[1], first[0] - (last[1] - ideal))
    return within(apart / 2, w["C"] / g.root)


@row("lem-concentration-a1")
def concentrated(w):
    g, (pi, mu) = InContext(w), w.chain()
    require((w["i"], w["j"]) == (4, 3) and g.eps >= w["C"] / g.root, "not a child and its parent, or eps is small")
    s, a = w.index("s", len(pi)), w.index("s'", len(pi))
    joint, single = g.laws(pi, mu, g.OWN, g.ROOT, s, a)
    ends = [(joint + g.eps * single) * (1 / (mu[a] + g.eps) + d) - joint / mu[a] for d in g.spread(pi, mu, a)]
    return within(max(ends[0], -ends[1]), w["C"] / g.root)


def run_away(w, g):
    """Row T has attention 1/2 to itself after tau steps of eta1 beta0/T = 1, see the erratum."""
    pis = g.prior(w)
    assumption(pis, w["gamma"])
    delta = g.lead(pis) / len(pis[0])
    require(delta > 0 and w["eta1"] * g.beta0 == g.t, "T does not lead, or eta1 beta0 is not T")
    bound = (2 + g.t + 2 * log_from_above(2 * g.t)) / delta / exp_of_minus(delta / 4)
    require(w["tau"] >= bound and w["tau"].denominator == 1, "tau is too short")
    return F(1, 2) - 1 / g.t


@row("lem-no-parents")
def drift(w):
    g = InContext(w)
    return within(run_away(w, g), w["C"] * w["tau"] / (g.root * g.t**2))


@row("cor-stage1-roots")
def end_of_roots(w):
    g = InContext(w)
    low = run_away(w, g)
    rows_done = 16 * F(len(w["orbits"][0])) ** 3 / w["gamma"] ** 3 * g.t * log_from_above(g.t)
    require(w["tau"] == -(-rows_done // 1), "tau is not 16 S^3 gamma^-3 T^2 log T/(eta1 beta0)")
    return within(low, w["C"] * min(F(1), log_from_above(g.t) * g.root / g.t**2))


@row("lem-a1-dynamics-step-integer")
def one_step(w):
    t, alpha = F(w["T"]), w["alpha"]
    require(0 < alpha < 1 - 1 / t and w["eta1 beta0"] == t**4, "no step is enough, or eta1 beta0 is not T^4")
    return within(F(1), w["C"] * (t**2 + t / alpha) * log_from_above(t / alpha) / w["eta1 beta0"])


@row("eq-f-pointwise")
def pointwise(w):
    g, (pi, _), s = w.forest(), w.chain(), w.index("s", 2)
    require(w["s'"] == s + 1 and set(w.tokens(len(pi), len(g))) == {s}, "the sequence is not constant")
    require(w["c"] > 0 and w["beta"] > 0, "no bound that falls")
    return within(1 - pi[s][s], exp_of_minus(F(w["c"] * w["beta"])))


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
