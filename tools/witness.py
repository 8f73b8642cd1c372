"""Recomputes every exact witness of the ledger, independently of the Go code.

    python3 tools/witness.py [figures/claims.json | paper/finitelength/theorems.json | paper/exact/certifiedmodels.json]

Each row that is refuted has a function below, named after it and written only from
the paper's definitions. It takes the instance of the witness, checks the hypotheses and
returns both sides in fractions. They must equal the stored sides and violate the
statement. ledger.Witness in paper/ledger documents the values of an instance. A value
that the function does not read is an error, and so is a derived value that is wrong. The
program prints a line for each witness, exits with 1 if one is wrong, and needs only the
standard library. The second file has theorems about Algorithm 1 at given lengths, whose numbers are decided again by
sums of another form. The third has models,
whose weights in runs/ are read, and whose distances are computed again on every sequence.
"""

import decimal
import hashlib
import json
import math
import sys
import zipfile
from ast import literal_eval
from decimal import Decimal
from fractions import Fraction as F
from itertools import permutations, product
from math import factorial, isqrt, prod
from pathlib import Path
from struct import unpack

LESS, EQUAL = "lhs <= rhs", "lhs = rhs"  # the statement, which the witness violates
TINY = F(1, 10**20)


class Wrong(Exception):
    pass


def require(true, message):
    if not true:
        raise Wrong(message)


# Instances


def number(v):
    """The value that JSON holds, with fractions for "a/b"."""
    if isinstance(v, list):
        return [number(x) for x in v]
    require(isinstance(v, (int, str)), f"{v!r} is neither an integer nor a rational number")
    return F(v) if isinstance(v, str) else v


class Instance:
    """The named values of a witness, each of which must be read."""

    def __init__(self, stored, rhs):
        self.values, self.rhs, self.asked = {k: number(v) for k, v in stored.items()}, rhs, set()
        for name, v in self.values.items():
            require(name not in ("C", "eps", "gamma", "lambda") or v > 0, f"{name} is not positive")
            require(name not in ("gamma", "lambda") or v < 1, f"{name} is not below 1")

    def __getitem__(self, name):
        require(name in self.values, f"{name} is missing")
        self.asked.add(name)
        return self.values[name]

    def is_(self, name, value):
        """A derived value, which a witness may omit."""
        require(name not in self.values or self[name] == value, f"{name} does not follow from the others")
        return value

    def law(self, name):
        require(sum(self[name]) == 1 and min(self[name]) >= 0, f"{name} is no law")
        return self[name]

    def index(self, below, *names):
        """States or positions, counted from 0."""
        require(all(type(self[k]) is int and 1 <= self[k] <= below for k in names), f"{names} are not up to {below}")
        return [self[k] - 1 for k in names] if len(names) > 1 else self[names[0]] - 1

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
        self.is_("S", len(self["pi"]))
        return self["pi"], self.is_("mu", stationary(self["pi"]))

    def orbits(self):
        """Matrices whose relabelings are the prior, which meets Assumption 1 with
        gamma, or with some gamma; and the measure of the first."""
        pis = self["orbits"]
        self.is_("S", len(pis[0]))
        assumption(pis, self["gamma"] if "gamma" in self.values else None)
        return pis, self.is_("mu", stationary(pis[0]))


# Chains and priors


def mean(values):
    values = list(values)
    return F(sum(values)) / len(values)


def weight(p, marked):
    """The probability of the marked entries."""
    return sum(q for q, b in zip(p, marked, strict=True) if b)


def determinant(a):
    minors = ([r[:k] + r[k + 1 :] for r in a[1:]] for k in range(len(a)))
    return sum((-1) ** k * a[0][k] * determinant(m) for k, m in enumerate(minors)) if a else F(1)


def stationary(pi):
    """The unique stationary measure, by the minors of 1 - pi; it must be positive."""
    n = range(len(pi))
    require(all(len(r) == len(pi) and sum(r) == 1 and min(r) >= 0 for r in pi), "a row of a matrix is no law")
    minors = [determinant([[(a == b) - pi[a][b] for b in n if b != s] for a in n if a != s]) for s in n]
    require(min(minors) > 0, "the stationary measure is not positive, or not the only one")
    return [m / sum(minors) for m in minors]


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
    return ([[pi[a][b] for b in s] for a in s] for pi in pis for s in permutations(range(len(pi))))


def assumption(pis, gamma=None):
    """Assumption 1 for the relabelings of pis, for some gamma if none is given."""
    n = len(pis[0])
    for pi in pis:
        least = min(map(min, pi))
        require(least > 0 and spread(pi) > 0, "no gamma meets Assumption 1")
        meets = gamma is None or least >= gamma / n and spread(pi) >= gamma**2 / n
        require(meets, "Assumption 1 fails for this gamma")
    for a, b in ((0, 0), (0, 1)):  # equal for all other entries, by symmetry
        require(mean(pi[a][b] for pi in relabelings(pis)) == F(1, n), "the mean of the prior is not 1/S")


# Forests


def above(g, i):
    """i and its ancestors, upwards."""
    return [i] + (above(g, g[i]) if g[i] >= 0 else [])


def distance(g, i, j):
    """None for positions of different trees."""
    a, b = above(g, i), above(g, j)
    return next((k + b.index(of) for k, of in enumerate(a) if of in b), None)


def leaves(g):
    """For each position the number of leaves of its tree."""
    root = [above(g, i)[-1] for i in range(len(g))]
    return [sum(j not in g and root[j] == r for j in range(len(g))) for r in root]


def pair_sum(g, lam, last):
    ds = (distance(g, i, j) for i in range(last) for j in range(last))
    return sum(lam**d for d in ds if d is not None)


def effective_length(g, lam):
    return F(len(g) ** 2) / pair_sum(g, lam, len(g))


def scores(g, x, s):
    """z~(X;s) with attention to the parent, or uniform."""
    return [F(x[p] == s) if p >= 0 else frequency(x[: i + 1], s) for i, p in enumerate(g)]


# Task 1: the law of a sequence, whose last token is uniform


def sequences(g, pi):
    n, mu = len(pi), stationary(pi)
    for x in product(range(n), repeat=len(g)):
        yield x, prod((pi[x[p]][s] if p >= 0 else mu[s] for p, s in zip(g[:-1], x)), start=F(1, n))


def expect(g, pi, f):
    return sum(p * f(x) for x, p in sequences(g, pi))


def mean_ideal(g, pis, i, j):
    """g_ij = E_pi sum_{s,s'} pi(s'|s)/mu(s') P[s_i = s', s_j = s] - 1, equal for each relabeling."""
    chains = [(pi, stationary(pi)) for pi in pis]
    return mean(expect(g, pi, lambda x: pi[x[j]][x[i]] / mu[x[i]]) for pi, mu in chains) - 1


def frequency(x, s):
    return mean(y == s for y in x)


def rare(g, pi):
    """The probability that a token has at most half of its frequency."""
    mu = stationary(pi)
    return expect(g, pi, lambda x: any(frequency(x, s) <= m / 2 for s, m in enumerate(mu)))


def ghat(g, pi, i, j, eps, query_in):
    """sum_s E[x_{j,s} sum_{s'} pi(s'|s)/(muhat(s') + eps) (x_{i,s'} - muhat(s'))], given
    s_T = s where the query is the last row of X."""
    def of(x):
        if query_in and x[j] != x[-1]:
            return 0
        fs = [frequency(x, a) for a in range(len(pi))]
        excess = sum(q / (f + eps) * ((x[i] == a) - f) for a, (f, q) in enumerate(zip(fs, pi[x[j]])))
        return excess * (len(pi) if query_in else 1)
    return expect(g, pi, of)


def jacobian(p, v):
    middle = sum(a * b for a, b in zip(p, v, strict=True))
    return [a * (b - middle) for a, b in zip(p, v)]


# Enclosures


def rounded(lo, hi):
    """Twelve decimals, or more, l <= lo and r >= hi with l > r."""
    require(lo > hi, "the sides are not told apart")
    den = 10**12
    while F(lo * den // 1, den) <= -F(-hi * den // 1, den):
        den *= 10
    return F(lo * den // 1, den), -F(-hi * den // 1, den), LESS


def log_between(q):
    """An enclosure of log q, by the series of artanh."""
    doublings = 0
    require(q > 0, "a logarithm of a number that is not positive")
    while not F(2, 3) <= q <= F(4, 3):
        q, doublings = (q / 2, doublings + 1) if q > 1 else (q * 2, doublings - 1)
    series = [sum(2 * y**k / k for k in range(1, 80, 2)) for y in (F(1, 3), F(q - 1) / (q + 1))]
    v = doublings * series[0] + series[1]
    return v - TINY, v + TINY


def exp_between(x):
    """An enclosure of e^x, -1 <= x <= 1."""
    require(-1 <= x <= 1, "the exponent is not in [-1, 1]")
    v = sum(F(x) ** k / factorial(k) for k in range(25))
    return v - TINY, v + TINY


def rational_root(q, n):
    """The n-th root, which must be rational."""
    require(q > 0, "a root of a number that is not positive")
    whole = [next(k for k in range(1, v + 1) if k**n >= v) for v in (q.numerator, q.denominator)]
    require(F(*whole) ** n == q, "a root is not rational")
    return F(*whole)


# The rows


def ex_induction_head(w):
    """Section 2.3"""
    g = w.forest()
    require(g == [*range(-1, len(g) - 2), -1] and w["row"] == 1, "the graph is no chain")
    x, s = w.tokens(w["S"], len(g)), w.index(w["S"], "column")
    after = [x[i] == s for i in range(1, len(x)) if x[i - 1] == x[-1]]
    return mean(after), mean(after[: -1 if x[-2] == x[-1] else None]), EQUAL


def ex_icl(w):
    """Section 2.3"""
    n, delta, good = w["S"], w["delta"], 0
    require(0 <= delta <= 1, "delta is no probability")
    for f in product(range(n), repeat=n):
        pi = [[(1 - delta) * (t == f[s]) + delta / n for t in range(n)] for s in range(n)]
        good += min(map(min, power(pi, (n - 1) ** 2 + 1))) > 0
    return F(n**n), F(good), LESS


def construction(w):
    """The forest, X and the positions of the largest scores."""
    g = w.forest()
    x = w.tokens(w["S"], len(g))
    z = scores(g, x, x[-1])
    require(w["row"] == 1, "an output has one row")
    attended = w.is_("attended", [i for i, v in enumerate(z, 1) if v == max(z)])
    return g, x, [i - 1 for i in attended]


def construct_single_step_limit(w):
    """Construction 1"""
    g, x, attended = construction(w)
    said, s = [i for i, p in enumerate(g) if p >= 0 and x[p] == x[-1]], w.index(w["S"], "column")
    w.is_("said to be attended", [i + 1 for i in said])
    return *(mean(x[i] == s for i in of) for of in (attended, said)), EQUAL


def construct_single_step_stream(w):
    """Construction 1"""
    g, x, attended = construction(w)
    c = w.index(w["S"] + len(g), "column")
    require(all(g[i] >= 0 for i in attended), "a root is attended")
    def entry(j):  # of x~_j, the token and the position of j
        return F(c == x[j] or c == w["S"] + j)
    return mean(entry(g[i]) for i in attended), entry(len(x) - 1), EQUAL


def alg_training(w):
    """Algorithm 1"""
    first, steps = w["tau1"], w["tau2"]
    require(first >= 1 and steps >= 1, "a stage without steps")
    return F(len(range(first, first + steps + 1))), F(steps), EQUAL


def thm_main_step_horizon(w):
    """Theorem 1, with log 2 > 0.69"""
    length = w.is_("T_eff", (w["S"] / w["gamma"]) ** w["k"])
    return (F(69, 100) * w["log2 T"]) ** 2, F(w["C"]) ** 12 * length, LESS


def thm_main_step_cauchy(w):
    """Theorem 1, with a right side that encloses the root from above"""
    eps, p, d, event = w["eps"], w.law("P"), w["D"], w["F"]
    require(all(type(b) is bool for b in event) and all(0 <= x <= 1 for x in d), "no such D, F")
    lhs = sum(q * (x + eps) * (1 + (1 / eps if b else 0)) for q, x, b in zip(p, d, event, strict=True))
    root = w.rhs / w["C"] / (1 + weight(p, event) / eps) - eps
    square = sum(q * x**2 for q, x in zip(p, d))
    require(root > 0 and square <= root**2 <= square * (1 + F(1, 10**9)), "rhs does not enclose the root from above")
    return lhs, w.rhs, LESS


def root_between(q, n):
    """An enclosure of the n-th root of q >= 0."""
    k, scale = 1, 10**30
    target = q.numerator * scale**n // q.denominator
    while k**n <= target:
        k *= 2
    low = k // 2
    while k - low > 1:
        middle = (low + k) // 2
        low, k = (middle, k) if middle**n <= target else (low, middle)
    return F(low, scale), F(low + 1, scale)


def divergence(p, q):
    """An enclosure of KL(p | q)."""
    logs = [log_between(a / b) for a, b in zip(p, q, strict=True)]
    return [sum(a * v[k] for a, v in zip(p, logs)) for k in (0, 1)]


def thm_main_step_variance(w):
    """Theorem 1, a remark of ours: a chain whose query attends to itself, by the law of its pair counts"""
    (pi, mu), t, grown, row = w.chain(), w["T"], w["exp(beta)"], w.law("softmax(A1_i)")
    require(len(pi) == 2 and t > 3 and grown > 1, "not these S, T and beta")
    require(w.index(t, "i") == t - 1 and row == [0] * (t - 1) + [1], "the query does not attend to itself")
    eps, n = rational_root(F(1, t), 2), (0, 1)
    law = {((a,), a, (0, 0, 0, 0)): mu[a] for a in n}  # of the first state, the last one and the counts
    for _ in range(t - 2):
        after = {}
        for (first, last, counts), p in law.items():
            for b in n:
                at = (first, b, tuple(c + (k == 2 * last + b) for k, c in enumerate(counts)))
                after[at] = after.get(at, 0) + p * pi[last][b]
        law = after
    predicted = {}  # the chance of each prediction
    for ((first,), _, counts), p in law.items():
        for s in n:
            of = [grown * counts[2 * s + b] + counts[2 * (1 - s) + b] for b in n]
            of[first] += grown if first == s else 1  # the root attends to itself
            of[s] += grown
            predicted[s, of[0] / sum(of)] = predicted.get((s, of[0] / sum(of)), 0) + p
    def smooth(f):
        return [(v + eps) / (1 + 2 * eps) for v in (f, 1 - f)]
    lo = sum(p * divergence(pi[s], smooth(f))[0] for (s, f), p in predicted.items()) / 2
    limits = [((grown - 1) * mu[s] * pi[s][0] + mu[0]) / (1 + (grown - 1) * mu[s]) for s in n]
    lo -= sum(divergence(pi[s], smooth(f))[1] for s, f in enumerate(limits)) / 2
    cost = sum(1 / m for m in mu) / 4 / (t - 2)
    return F(lo * 10**9 // 1, 10**9), cost, LESS


def algorithm_end(w, leave):
    """1/64 = T^(-1/2), the prediction of the query's state where all other tokens differ, at most, the weight of mu, and
    the least probability of such sequences, for the chain that leaves each of two states with a probability"""
    t, c = w["T"], w["constant of exp(beta*)"]
    require(t == 4096 and c >= 1, "T^(1/12) is not 2")
    sixths = [root_between(v, 6) for v in log_between(F(t))]
    low, high = 2 * c / sixths[1][1], 2 * c / sixths[0][0]  # of exp(beta*)
    most = high * exp_between(1)[1]
    r = F(2, t)
    def weight(grown, root):
        rest = 1 - r + r * root
        return rest / (rest + (1 - r) * (grown - 1) / 2)
    weights = weight(high, root_between(high, 2)[0]), weight(low, root_between(low, 2)[1])
    return F(1, 64), most / (most + t - 1), weights, (1 - (t - 2) * leave) / 2


def thm_main_step_runs(w):
    """Theorem 1, a remark of ours"""
    pis, _ = w.orbits()
    p = pis[0][0][1]
    require(pis == [[[1 - p, p], [p, 1 - p]], [[p, 1 - p], [1 - p, p]]], "not a chain that stays and one that leaves")
    eps, own, (_, weight), chance = algorithm_end(w, p)
    require((own + eps) / (1 + 2 * eps) < 1 - p, "the query's own state is likely enough")
    far = log_between((1 - p) * (1 + 2 * eps) / (own + eps))[0] * (1 - p) + p * log_between(p)[0]
    f = 1 - p - weight * (F(1, 2) - p)
    return rounded(chance / 2 * far,
                   divergence([1 - p, p], [(v + eps) / (1 + 2 * eps) for v in (f, 1 - f)])[1] + F(1, w["T"] - 2))


def thm_ood_step_runs(w):
    """Theorem 2, a remark of ours"""
    (pi, _), p = w.chain(), w["pi"][0][1]
    require(pi == [[1 - p, p], [p, 1 - p]], "not a chain that stays")
    _, own, (_, weight), chance = algorithm_end(w, p)
    bound = weight * (F(1, 2) - p) + F(258, 100) * root_between(p * (1 - p) / (F(1, 2) * (w["T"] - 2)), 2)[1]
    require(1 - p - own > bound, "the bound is not missed")
    return chance, F(1, 100), LESS


def alg_oracle(w):
    """Algorithm 2, with f(x) = max(x - hinge, 0)"""
    g, (pis, _), hinge = w.forest(), w.orbits(), w["hinge"]
    require(hinge >= 1, "f(1) is not 0")
    def information(pi, i, j):
        n, joint = range(len(pi)), {}
        for x, p in sequences(g, pi):
            joint[x[i], x[j]] = joint.get((x[i], x[j]), 0) + p
        of_i, of_j = ([sum(p for at, p in joint.items() if at[k] == s) for s in n] for k in (0, 1))
        return sum(max(p - hinge * of_i[a] * of_j[b], 0) for (a, b), p in joint.items())
    parents = []
    for i in range(len(g) - 1):
        best, j = max(((mean(information(pi, i, j) for pi in pis), j) for j in range(i)), default=(0, 0))
        parents.append(j if best > 0 else -1)
    w.is_("output", [p + 1 for p in parents] + [0])
    edges = sum(q >= 0 for q in g)
    return F(sum((p == q) if q >= 0 else -(p >= 0) for p, q in zip(parents, g))), F(edges), EQUAL


def eq_g_root_zero(w):
    """eq. (27)"""
    g, (pis, _) = w.forest(), w.orbits()
    i, j = w.index(len(g), "i", "j")
    require(g[i] < 0 and j <= i, "i is no root, or before j")
    return mean_ideal(g, pis, i, j), F(0), EQUAL


def eq_g_parent_chi2_step_pairs(w):
    """eq. (24), for other pairs"""
    g, (pis, _) = w.forest(), w.orbits()
    i, j = w.index(len(g), "i", "j")
    require(g[i] >= 0 and j < i, "i is a root, or j is not before i")
    def information(pi):
        mu, law = stationary(pi), {}
        for x, p in sequences(g, pi):
            law[x[j], x[i]] = law.get((x[j], x[i]), 0) + p
        return sum(p**2 / (mu[a] * mu[b]) for (a, b), p in law.items()) - 1
    return mean_ideal(g, pis, i, j), mean(map(information, pis)), EQUAL


def thm_dpi_gap_step_query(w):
    """Lemma 5"""
    return eq_g_root_zero(w)


def eq_a2_form(w):
    """Section 5.2, after a step from A2 = 0, where f(X;s) is muhat"""
    g, prior, attention, eps, n = w.forest(), w["prior"], w["softmax(A1)"], w["eps"], w["S"]
    for i, r in enumerate(attention):
        require(len(r) == len(g) and sum(r) == 1 and min(r) >= 0 and not any(r[i + 1 :]), "no attention to the past")
    require(len(attention) == len(g) and len(prior[0]) == n, "not these S and T")
    require(sorted(relabelings(prior)) == sorted(factorial(n) * prior), "the prior is not symmetric")
    assumption(prior)
    def step(a, b):  # minus the derivative of the loss in A2[a,b]
        def of(x, pi):
            if x[-1] != b:
                return 0
            z, fs = [weight(r, [y == a for y in x]) for r in attention], [frequency(x, s) for s in range(n)]
            return sum(pi[b][s] / (f + eps) * mean(v * ((y == s) - f) for v, y in zip(z, x)) for s, f in enumerate(fs))
        return mean(expect(g, pi, lambda x: of(x, pi)) for pi in prior)
    a2 = w.is_("A2", [[step(a, b) for b in range(n)] for a in range(n)])
    beta, (a, b) = w.is_("beta", a2[0][0] - a2[0][1]), w.index(n, "row", "column")
    return a2[a][b], beta * (a == b) + beta / n, EQUAL


def eq_a2_form_step_information(w):
    """Section 5.2, for a chain and its reversal"""
    ((pi,), mu), r, eb = w.orbits(), w["r"], w["exp(beta)"]
    require(0 < r < 1 and eb > 1, "no such r and beta")
    def force(pi):
        total = 0
        for s, m in enumerate(mu):
            em = rational_root(eb, m.denominator) ** m.numerator
            n = 1 - r + r * em
            def term(p, to):
                return ((1 - r) * eb * p + r * em * to) * p / ((1 - r) * (eb - 1) * m * p + n * to)
            total += m * (sum(map(term, pi[s], mu)) - term(1, 1))
        return total / len(mu) / (len(mu) - 1)
    return force(pi), force([[mu[t] * pi[t][s] / mu[s] for t in range(len(mu))] for s in range(len(mu))]), EQUAL


def eq_f_pointwise(w):
    """eq. (29), where f is the token, whatever theta"""
    g, (pi, _), beta = w.forest(), w.chain(), w["beta"]
    x, (s, a) = w.tokens(len(pi), len(g)), w.index(len(pi), "s", "s'")
    require(beta > 0 and w["c"] * beta == 4 and len({*x}) == 1, "c beta is not 4, or X is not constant")
    return rounded(abs((x[0] == a) - pi[s][a]), exp_between(-1)[1] ** 4)


def thm_equivalence_to(w):
    """Theorem 3: the first logit at position 2 of one head on one dimension,
    h + V S(Q K h h_j) h where h is E of the token."""
    require(w["L"] == w["d"] == 1 and w["S"] == w["T"] == 2 and [w["E"], w["P"], w["W_O"]] == [[0, 1], [0, 0], [1, 0]],
            "this is no head on one dimension")
    h = w.tokens(2, 2)
    def logit(key):
        weights = [exp_between(w["Q"] * key * h[1] * y)[0] for y in h]
        return h[1] + w["V"] * sum(q * y for q, y in zip(weights, h)) / sum(weights)
    return round(logit(w["V"]), 9), round(logit(w["K"]), 9), EQUAL


def thm_equivalence_from(w):
    """Theorem 3"""
    heads, width = w["heads"], [w["S"] + w["T"]]
    for m in heads:
        width.append((1 + m) * width[-1])
    w.is_("L", len(heads))
    w.is_("d", width)
    l = w.index(len(heads), "l")
    return F((w.index(heads[l], "i") + 2) * width[l + 1]), F(width[-1]), LESS


def eq_loss_rewrite(w):
    """Appendix D.2"""
    g, (pis, _), eps = w.forest(), w.orbits(), w["eps"]
    n, t, sides = len(pis[0]), len(g), []
    logs = [log_between(F(k, t) + eps)[0] for k in range(t + 1)]
    for name, given in (("the loss", lambda pi, x: pi[x[-1]]), ("the sum", lambda pi, x: map(mean, zip(*pi)))):
        of = [F(0)] * (t + 1)  # coefficients of -log(k/T + eps)
        for pi in pis:  # equal for each relabeling
            for x, p in sequences(g, pi):
                for a, q in enumerate(given(pi, x)):
                    of[x.count(a)] += p * q / len(pis)
        sides.append(round(-sum(c * v for c, v in zip(w.is_("coefficients of " + name, of), logs)), 9))
    return *sides, EQUAL


def thm_dpi_gap(w):
    """Lemma 5"""
    g, gamma = w.forest(), w["gamma"]
    (pis, _), (i, j) = w.orbits(), w.index(len(g), "i", "j")
    require(g[i] >= 0 and g[i] != j <= i, "j is the parent of i or after i, or i has none")
    return mean_ideal(g, pis, i, j) + gamma**3 / (2 * len(pis[0])), mean_ideal(g, pis, i, g[i]), LESS


def thm_stage1_parents(w):
    """Lemma 6"""
    g, prior, eps, p = w.forest(), w["prior"], w["eps"], w.law("softmax(A1_i)")
    i, j = w.index(len(g), "i", "j")
    require(g[i] >= 0 and g[i] != j <= i, "j is the parent of i or after i, or i has none")
    require(eps**2 * len(g) == max(leaves(g)), "eps is not T_eff^(-1/2)")
    assumption(prior)
    ideal = w.is_("g_i", [mean_ideal(g, prior, i, k) for k in range(i + 1)])
    finite = jacobian(p, [mean(ghat(g, pi, i, k, eps, True) for pi in prior) for k in range(i + 1)])
    require(w.is_("J ghat_p - J ghat_j", finite[g[i]] - finite[j]) < 0, "the parent leads on T positions")
    return jacobian(p, ideal)[j], jacobian(p, ideal)[g[i]], LESS


def lem_no_parents_step_jacobian(w):
    """Lemma 7"""
    p, v = w.law("p"), w["v"]
    return max(map(abs, jacobian(p, v))), max(p) * max(map(abs, v)), LESS


def lem_grad_j_step_jacobian(w):
    """Lemma 27, at v = 0"""
    e = w["exp(v)"]
    i, j = w.index(len(e), "row", "column")
    require(all(x == 1 for x in e), "v is rational only at exp(v) = 1")
    derivative = (e[i] * (i == j) * sum(e) - e[i] * e[j]) / sum(e) ** 2
    return derivative, jacobian([F(0)] * len(e), [F(k == j) for k in range(len(e))])[i], EQUAL


def lem_bound_ghat_step_last(w):
    """Lemma 11"""
    gamma, (pis, _) = w["gamma"], w.orbits()
    n = len(pis[0])
    return gamma**8 / n**6 / 2, gamma**5 / n**5 * mean(map(frobenius, pis)), LESS


def eq_b_powers_step_zero(w):
    """Appendix E"""
    pi, mu = w.chain()
    s, t = w.index(len(pi), "row", "column")
    return F(s == t), F(s == t) - mu[t], EQUAL


def lem_spectral_gap_step_decomposition(w):
    """Lemma 13"""
    (pi, mu), gamma, n = w.chain(), w["gamma"], len(w["pi"])
    require(min(map(min, pi)) >= gamma / n and w["row"] == 1, "pi is not at least gamma/S")
    s = w.index(n, "column")
    return sum((pi[s][t] - gamma / n * mu[t]) / (1 - gamma) for t in range(n)), F(1), EQUAL


def lem_bound_g1(w):
    """Lemma 16"""
    gamma, (pis, _) = w["gamma"], w.orbits()
    w.is_("spread", spread(pis[0]))
    return gamma**2 / len(pis[0]), frobenius(pis[0]), LESS


def eq_strong_dpi_step_last(w):
    """Appendix G.1"""
    gamma, ((pi, *_), _) = w["gamma"], w.orbits()
    alpha = w.is_("alpha", max(sum(abs(a - b) for a, b in zip(r, q)) / 2 for r in pi for q in pi))
    return gamma**3 / (2 * len(pi)), (1 - alpha) / 2 * w.is_("|B|_F^2", frobenius(pi)), LESS


def lem_teff_leaves(w):
    """Lemma 18"""
    g, lam = w.forest(), w["lambda"]
    return (1 - lam) * len(g) / w.is_("L", max(leaves(g))), effective_length(g, lam), LESS


def lem_teff_leaves_step_count(w):
    """Lemma 18"""
    g = w.forest()
    i = w.index(len(g), "i")
    at = sum(distance(g, i, j) == w["k"] for j in range(len(g)))
    return F(at), F(w.is_("L", leaves(g)[i])), LESS


def lem_covariance_step_ancestor(w):
    """Lemma 19"""
    g, (pi, mu) = w.forest(), w.chain()
    i, j = w.index(len(g) - 1, "i", "j")
    (s, t), of_i, of_j = w.index(len(pi), "row", "column"), above(g, i), above(g, j)
    k = max({*of_i} & {*of_j}, default=None)
    require(k is not None, "no common ancestor")
    to_t, to_s = power(pi, of_j.index(k)), power(pi, of_i.index(k))
    printed = sum(m * (p[t] - mu[t]) * (q[s] - mu[s]) for m, p, q in zip(mu, to_t, to_s))
    return expect(g, pi, lambda x: x[j] == s and x[i] == t) - mu[s] * mu[t], printed, EQUAL


def lem_muhat_var_step_last(w):
    """Lemma 20"""
    g, lam = w.forest(), w["lambda"]
    return F(pair_sum(g, lam, len(g) - 1)), (len(g) - 1) ** 2 / effective_length(g, lam), EQUAL


def lem_chat_var(w):
    """Lemma 21"""
    g, (pi, mu) = w.forest(), w.chain()
    (s, t), among = w.index(len(pi), "row", "column"), [i - 1 for i in w["I"]]
    require(all(0 <= i < len(g) - 1 and g[i] >= 0 for i in among), "a position of I has no parent")
    return expect(g, pi, lambda x: mean(x[g[i]] == s and x[i] == s for i in among)), mu[s] * pi[s][t], EQUAL


def lem_chat_var_step_dependent(w):
    """Lemma 21, both sides squared"""
    (pi, mu), lam, d = w.chain(), w["lambda"], w["d"]
    s, t = w.index(len(pi), "s", "s'")
    require(lam == 1 - min(map(min, pi)) and d >= 1, "lambda is not 1 - gamma/S")
    left = mu[s] * pi[s][t] ** 2 * (power(pi, d)[t][s] - mu[s])
    require(left > 0, "the left side is not positive")
    return left**2, mu[s] * mu[t] * pi[s][t] ** 4 * lam ** (2 * d), LESS


def quotient(w):
    """The parts of the quotients of stage 2 at beta = 0, where each exponential is 1:
    three means, r, mu(s), mu(s'), pi(s'|s) and |E_1|, E_2, |E_3|, ..., |E_7|, as printed."""
    g, (pi, mu) = w.forest(), w.chain()
    x, (s, a) = w.tokens(len(pi), len(g)), w.index(len(pi), "s", "s'")
    require(w["beta"] == 0, "not rational")
    z, hit, root = scores(g, x, s), [F(y == a) for y in x], [p < 0 for p in g]
    both = [u * h for u, h in zip(z, hit)]
    r, m, m2, q = mean(root), mu[s], mu[a], pi[s][a]
    def off(of, where, limit):  # mean over all positions, of the values at roots or elsewhere
        return mean(v * (b == where) for v, b in zip(of, root)) - limit
    e = [None, off(z, False, (1 - r) * m), off(z, True, r * m), 0, off(both, False, (1 - r) * m * q),
         off(hit, False, (1 - r) * m2), off(both, True, r * m * m2), off(hit, True, r * m2)]
    return mean(z), mean(hit), mean(both), r, m, m2, q, [v if k in (0, 2) else abs(v) for k, v in enumerate(e)]


def displayed(w, value, limit, rhs):
    """The sides of the comparison of a value with its limit."""
    return abs(w.is_("value", value) - w.is_("limit", limit)), rhs, LESS


def lem_concentrate_e3_step_quotient(w):
    """Lemma 30, where B_2 is 1"""
    value, _, _, r, m, _, _, e = quotient(w)
    return displayed(w, value, (1 - r) * m + r * m, abs(value) * (e[1] + e[3] + e[1] + e[2]))


def lem_concentrate_e12_step_quotient(w):
    """Lemma 31"""
    _, f, both, r, m, m2, q, e = quotient(w)
    value, below = both / (f + w["eps"]), (1 - r) * m2 + r * m2
    inside = e[4] + e[5] + e[7] + w["eps"] + e[4] + e[6]
    return displayed(w, value, ((1 - r) * m * q + r * m * m2) / below, abs(value) * inside / below)


def lem_f_to_pi_step_quotient(w):
    """Lemma 32, where B_2 is 1"""
    _, f, _, r, _, m2, _, e = quotient(w)
    return displayed(w, f, (1 - r) * m2 + r * m2, abs(f) * (e[4] + e[5] + e[7]) + e[1] + e[3])


def lem_concentrate_e3_step_denominator(w):
    """Lemma 30"""
    gamma, r, eb, em = w["gamma"], w["r"], w["exp(beta)"], w["exp(beta mu)"]
    _, mu = w.orbits()
    m = w.is_("mu(s)", mu[w.index(len(mu), "s")])
    require(em**m.denominator == eb**m.numerator and eb >= 1 and 0 <= r <= 1 - gamma, "not these exponentials")
    return (1 - r) * eb * gamma, (1 - r) * (eb - 1) * m + (1 - r) + r * em, LESS


def thm_ood_step_root(w):
    """Theorem 2"""
    p, d, n = w.law("P"), w["D"], w["S"]
    bound = w.is_("bound", 100 * n**2 * sum(q * x**2 for q, x in zip(p, d)))
    return weight(p, [x > bound for x in d]), F(1, 100 * n**2), LESS


def thm_finite_stage1_step_mean(w):
    """Lemma 33"""
    g, (pi, _) = w.forest(), w.chain()
    i, j = w.index(len(g), "i", "j")
    require(j <= i, "j is after i")
    return *(ghat(g, pi, i, j, w["eps"], query_in) for query_in in (True, False)), EQUAL


def thm_finite_stage1_step_display(w):
    """Lemma 33, without the share of rare samples"""
    g, (pi, _), eps, n = w.forest(), w.chain(), w["eps"], len(w["pi"])
    require(0 < w["delta"] < 1, "delta is no probability")
    by_gamma, by_eps = 1 / min(map(min, pi)), rational_root(F(n * max(leaves(g)), len(g)), 2) / eps
    root = isqrt(w["N"].numerator)
    require(root**2 == w["N"], "N is no square")
    lo, hi = (v / root for v in log_between(len(g) / w["delta"]))
    return rounded(by_gamma * lo + rare(g, pi) / eps, w["C"] * (by_gamma + by_eps) * hi)


def thm_finite_stage2(w):
    """Lemma 34: an entry of the gradients of A2 at A2 = 0, without their sign; the sample is
    X, N times, and at the end of stage 1 roots attend to all positions up to their own"""
    g, (pis, _), eps = w.forest(), w.orbits(), w["eps"]
    n, root = len(pis[0]), isqrt(w["N"].numerator)
    (row, column), x = w.index(n, "row", "column"), w.tokens(n, len(g))
    require(root**2 == w["N"] and eps**2 * F(len(g), max(leaves(g))) == 1, "not these N and eps")
    def entry(pi, x):  # for one sequence
        z = [F(x[p] == row) if p >= 0 else frequency(x[: i + 1], row) for i, p in enumerate(g)]
        fs = [frequency(x, b) for b in range(n)]
        pulls = [mean(v * ((y == b) - fs[b]) for v, y in zip(z, x)) for b in range(n)]
        return sum(q / (f + eps) * v for q, f, v in zip(pi[column], fs, pulls)) * (x[-1] == column)
    off = mean(expect(g, pi, lambda y: entry(pi, y)) for pi in relabelings(pis)) - entry(pis[0], x)
    return rounded(abs(off), w["C"] / root)


def thm_finite_stage2_step_exponent(w):
    """Lemma 34"""
    root = isqrt(w["T_eff"].numerator)
    require(root**2 == w["T_eff"] and w["beta0"] * root**3 == 1, "not these T_eff and beta0")
    return rounded(exp_between(w["beta0"] - 1)[0], w["C"] / root)


def thm_finite_stage2_step_1(w):
    """Appendix I.2"""
    n, rows = w["S"], w["exp(A1)"]
    x, delta = w.tokens(n, w["T"]), w.index(n, "delta")
    require(len(rows) == len(x) and all(min(r[: i + 1]) > 0 and not any(r[i + 1 :]) for i, r in enumerate(rows)),
            "no attention to the past")
    def softmax(e):  # of z_i = sum_a (attention of i to token a) (A2 e_s)_a, from exp(A2 e_s)
        h = []
        for r in rows:
            of = [weight(r, [y == a for y in x]) / sum(r) for a in range(n)]
            h.append(prod(rational_root(v, q.denominator) ** q.numerator for v, q in zip(e, of, strict=True)))
        return [v / sum(h) for v in h]
    z, z2 = w.is_("softmax(z)", softmax(w["exp(A2 e_s)"])), w.is_("softmax(z')", softmax(w["exp(A2_pop e_s)"]))
    off = [a - b for a, b in zip(z, z2)]
    return abs(weight(off, [y == delta for y in x])), max(map(abs, off)), LESS


def thm_finite_stage2_step_bias(w):
    """Appendix I.2, on 3^q legs of q^2 positions below one root: exp(beta*) is at most its constant, and f within
    4 exp(beta*)/q^2 of the mixture of pi and mu, in root mean square"""
    (pi, *_), mu = w.orbits()
    k, most, (s, a) = w["log3 q"], w["constant of exp(beta*)"], w.index(2, "s", "s'")
    require(type(k) is int and k >= 5 and most > 1 and w["c"] > 0, "q or a constant is too small")
    require(mu[s] == F(1, 2) and abs(pi[0][0] + pi[1][1] - 1) <= F(1, 2), "mu is not uniform, or pi mixes too slowly")
    fall = 2 * k * w["c"] * w["gamma"]
    require(fall.denominator == 1, "T_eff^(-c gamma) is not rational")
    bias = abs(mu[a] - pi[s][a]) * 2 / (most + 1)
    return rounded((bias - 4 * most / F(9) ** k) ** 2, w["C"] / F(3) ** fall)


# In-context graphs of any length: 1 -> 2, 3 -> 4, ... and the query


class LongInContext:
    """Five positions, a pair other than the row's, the row's pair and the query, represent
    T = 2n + 1 positions; muhat is over all T."""

    forest = [-1, 0, -1, 2, -1]

    def __init__(self, pi, t, eps, query_in):
        self.pi, self.t, self.eps, self.query_in, self.mu = pi, t, eps, query_in, stationary(pi)
        self.law = list(sequences(self.forest, pi))
        self.spread = [self.fluctuation(s, mu) for s, mu in enumerate(self.mu)]

    def fluctuation(self, s, mu):
        """The difference of E[w/(muhat+eps)]/E[w] and 1/(mu+eps), for w >= 0 of two
        pairs and the query: T (muhat-mu) = c + R with |c| <= 5, and R, independent of
        w, the sum over the other pairs. Below by convexity. Above 1/(m+eps) is at most
        1/mu' - (m-mu)/mu'^2 + (m-mu)^2/((m+eps) mu'^2), mu' = mu+eps, where m >= mu/2
        but with a probability of at most exp(-far^2/T) (Hoeffding)."""
        t = self.t
        second = sum(p * ((x[0] == s) + (x[1] == s)) ** 2 for x, p in self.law)
        square = ((t - 1) / 2 * (second - 4 * mu**2) + 25) / t**2
        far = t * mu / 2 - 5
        require(far > 0, "T is too small")
        tail = F(1, 2 ** int(min(far**2 / t, 400)))
        return [v / (mu + self.eps) ** 2 for v in (-5 / t, 5 / t + 2 / mu * square + mu**2 / self.eps * tail)]

    def mass(self, j, s, f):
        """E[x_{j,s} f], given s_T = s with the query in X."""
        given = (p * f(x) for x, p in self.law if x[j] == s and (not self.query_in or x[4] == s))
        return sum(given) * (len(self.pi) if self.query_in else 1)

    def weighted(self, i, j, s, a):
        """E[x_{j,s} (x_{i,a} + eps)/(muhat(a) + eps)], enclosed, with the same condition."""
        mass = self.mass(j, s, lambda x: (x[i] == a) + self.eps)
        return [mass * (1 / (self.mu[a] + self.eps) + v) for v in self.spread[a]]

    def ghat(self, i, j):
        n = range(len(self.pi))
        ends = (sum(self.pi[s][a] * self.weighted(i, j, s, a)[k] for s in n for a in n) for k in (0, 1))
        return [v - sum(self.mass(j, s, lambda x: 1) for s in n) for v in ends]


def horizon(w):
    """T, with the edges."""
    t = w["T"]
    require(t > 5 and t % 2 == 1, "no in-context graph has T positions")
    w.is_("pairs", (t - 1) / 2)
    return t


def query_row(w):
    """The prior, T and enclosures of g*_Tj for a root, a child and T itself; eps = T^(-1/2)."""
    (pis, _), t, eps = w.orbits(), horizon(w), w["eps"]
    w.is_("i", t)
    require(eps**2 * t == 1 and w["beta0"] * t**2 == 1, "not these eps and beta0")
    chains = [LongInContext(pi, t, eps, True) for pi in pis]
    shift = 6 * len(pis[0]) ** 2 * w["beta0"] / eps**2  # Lemma 23: g* against ghat
    row = []
    for j in (0, 1, 4):
        lo, hi = map(mean, zip(*(c.ghat(4, j) for c in chains)))
        row.append((lo - shift, hi + shift))
    return pis, t, row


def half_spread(row):
    return (max(lo for lo, _ in row) - min(hi for _, hi in row)) / 2


def thm_stage1_roots(w):
    """Lemma 6"""
    pis, _, row = query_row(w)
    return rounded(half_spread(row) / len(pis[0]), w["C"] * w["eps"])


def lem_gradient_informal(w):
    """Lemma 3"""
    pis, _, row = query_row(w)
    g = [mean_ideal(LongInContext.forest, pis, 4, j) for j in (0, 1, 4)]
    return rounded(half_spread([(lo - v, hi - v) for (lo, hi), v in zip(row, g)]), w["C"] * w["eps"])


def claim_sample_size(w):
    """Appendix I.1: half of the spread of ghat, less Bernstein's bound of the error"""
    pis, t, row = query_row(w)
    require(w["N"] == t**2 and 0 < w["delta"] < 1, "not these samples")
    each = log_between(2 * t**2 / w["delta"])[1] / w["N"]
    root = F(isqrt(int(2 * len(pis[0]) * each * 10**40)) + 1, 10**20)
    error = 2 / min(min(r) for pi in pis for r in pi) ** 2 * (root + each)
    return rounded(half_spread(row) - error, w["C"] * w["eps"])


def lem_concentration_a1(w):
    """Lemma 24, at an eps that does not fall with T"""
    (pi, mu), t, eps = w.chain(), horizon(w), w["eps"]
    require(w["i"] == 4 and w["j"] == 3 and eps**2 * t >= w["C"] ** 2, "not the row of a child, or eps is small")
    c, (s, a) = LongInContext(pi, t, eps, False), w.index(len(pi), "s", "s'")
    lo, hi = (v - c.mass(2, s, lambda x: x[3] == a) / mu[a] for v in c.weighted(3, 2, s, a))
    return rounded(max(lo, -hi), w["C"] / isqrt(t.numerator))


def runaway(w):
    """T, and the excess over 1/T of the entry of row T at T: the steps are enough for
    attention 1/2, by Lemma 8."""
    pis, t, row = query_row(w)
    step = (row[2][0] - max(hi for _, hi in row[:2])) / len(pis[0]) * w["eta1"] * w["beta0"] / t
    require(step > 0, "the row is not drawn to T")
    enough = exp_between(step / 4)[1] * (2 + t + 2 * log_between(2 * t)[1]) / step
    require(w["tau"] >= enough and w["tau"].denominator == 1, "the steps are not enough")
    return t, F(1, 2) - 1 / t


def lem_no_parents(w):
    """Lemma 7"""
    t, off = runaway(w)
    return rounded(off, w["C"] * w["tau"] * w["eta1"] * w["beta0"] * w["eps"] / t**3)


def cor_stage1_roots(w):
    """Corollary 1"""
    t, off = runaway(w)
    log, size = log_between(t)[1], w["eta1"] * w["beta0"]
    stage = 16 * (len(w["orbits"][0]) / w["gamma"]) ** 3 * t**2 * log / size
    require(w["tau"] == -(-stage // 1), "stage 1 is not over, or longer than it takes")
    return rounded(off, w["C"] * min(1, log * w["eps"] / t))


def lem_compare_z(w):
    """Lemma 29: x_T is uniform and independent of the others, so the square is at least the
    variance of z~_T - muhat from x_T"""
    t, off = runaway(w)
    n, (lo, hi) = len(w["orbits"][0]), log_between(t)
    steps = {-(-t * lo // 1), -(-t * hi // 1), w["tau"]}
    require(len(steps) == 1 and w["eta1"] * w["beta0"] == t, "not T log T steps of size 1")
    return rounded(off**2 * (n - 1) / n**2, w["C"] * min(1, (hi * w["eps"]) ** 2))


def lem_a2_dynamics(w):
    """Lemma 12: stage 2 takes a step where beta0 < beta*, e^(12 beta*) = C^12 T/log^2 T on a chain"""
    t, eta, c = w["T"], w["eta2"], w["gamma"] ** 54 / F(w["S"]) ** 42 / 10**12
    require(0 < eta <= 1 and w["beta0"] * t**2 == 1, "not these eta2 and beta0")
    low, high = log_between(t)
    digits = 10**24  # of the logarithm, outward
    lo = log_between(c * t / F(-(-high * digits // 1), digits) ** 2)[0] / 12
    hi = log_between(c * t / F(low * digits // 1, digits) ** 2)[1] / 12
    require(w["beta0"] < lo, "no step is needed")
    return rounded(F(1), w["C"] * exp_between(F(-(-2 * hi * digits // 1), digits))[1] * hi / eta)


def lem_a1_dynamics_step_lead(w):
    """Lemma 8: the lead of the parent after the first step, at which S_p passes 1/2"""
    g, prior, eps, n = w.forest(), w["prior"], w["eps"], len(w["prior"][0])
    require(sorted(relabelings(prior)) == sorted(factorial(n) * prior), "the prior is not symmetric")
    assumption(prior)
    i = w.index(len(g), "i")
    require(g[i] >= 0 and i >= 1, "i has no parent")
    require(eps**2 * len(g) == max(leaves(g)) and w["beta0"] ** 2 * len(g) ** 3 <= max(leaves(g)) ** 3, "not these eps and beta0")
    row = [mean(ghat(g, pi, i, j, eps, True) for pi in prior) for j in range(i + 1)]
    shift = 12 * n**2 * w["beta0"] / eps**2  # Lemma 23, twice
    gap = row[g[i]] - max(v for j, v in enumerate(row) if j != g[i]) - shift
    lead = w["eta1"] * w["beta0"] / (n * len(g) * (i + 1)) * gap
    require(lead > log_between(F(i))[1], "attention at the parent is not above 1/2")
    return rounded(lead, log_between(F(2 * len(g)))[1])


def lem_a1_dynamics_step_time(w):
    """Lemma 8, both sides times eta1 beta0/T^2"""
    t, alpha, rate = w["T"], w["alpha"], w["eta1"]
    require(t > 1 and 0 < alpha <= F(1, 2) and rate > 0, "not these numbers")
    (lo, _), (low, high), late = log_between(F(2 * t)), log_between(t / alpha), 1 / (t * alpha)
    return rounded(lo + rate * late * low, w["C"] * (1 + late) * high)


# Certified models, in decimals of 40 digits. Each output is the result of fewer than 1000 sums, products and
# exponentials of numbers below 1000, each rounded correctly, so that its error is far below TINY.


def matrix(file):
    """The rows of a matrix in NumPy's format."""
    raw = file.read()
    start = 8 + (2 if raw[6] == 1 else 4)
    end = start + int.from_bytes(raw[8:start], "little")
    head = literal_eval(raw[start:end].decode())
    (rows, cols), body = head["shape"], raw[end:]
    require(head["descr"] == "<f8" and not head["fortran_order"], "not a matrix of floats by rows")
    v = [Decimal(x) for x in unpack(f"<{rows * cols}d", body)]
    return [v[i * cols : (i + 1) * cols] for i in range(rows)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def shares(scores):
    v = [z.exp() for z in scores]
    mass = sum(v)
    return [x / mass for x in v]


def sights(attention, n, x=(), seen=()):
    """Every sequence x over n tokens, with the shares c_i of the tokens that each position sees."""
    if len(x) == len(attention):
        yield x, seen
        return
    for a in range(n):
        y = x + (a,)
        row = [sum(p for p, b in zip(attention[len(x)], y) if b == s) for s in range(n)]
        yield from sights(attention, n, y, seen + (row,))


def distances(spec, weights, b):
    """Of the model from the circuit, and by n from the frequencies after the query's token."""
    n, parents = spec["states"], spec["parents"]
    attention = [shares(row[: i + 1]) for i, row in enumerate(weights["A1"])]
    qk = [[dot(row, col) for col in zip(*weights["K"])] for row in weights["Q"]]
    gap, eps = Decimal(0), [Decimal(0)] * (len(parents) - 1)
    for x, seen in sights(attention, n):
        q, last = x[-1], seen[-1]
        read = [u + dot(last, col) for u, col in zip(qk[q], zip(*qk[n:]))]
        f = shares([read[a] + dot(c, read[n:]) for a, c in zip(x, seen)])
        g = shares([b[0] * (a == q) + b[1] * c[q] + b[2] * last[a] + b[3] * dot(last, c) for a, c in zip(x, seen)])
        after = [a for a, p in zip(x, parents) if p >= 0 and x[p] == q]
        for s in range(n):
            out, circuit = (sum(v for v, a in zip(of, x) if a == s) for of in (f, g))
            gap = max(gap, abs(out - circuit))
            if after:
                share = Decimal(after.count(s)) / len(after)
                eps[len(after)] = max(eps[len(after)], abs(out - share))
    return gap, eps


def decide_model(stored):
    folder = Path("runs") / stored["Run"]
    run = json.loads((folder / "run.json").read_text())
    spec, name = run["spec"], f"weights-{run['spec']['steps']}.npz"
    with zipfile.ZipFile(folder / name) as z:
        weights = {file.removesuffix(".npy"): matrix(z.open(file)) for file in z.namelist()}
    with decimal.localcontext(prec=40):
        gap, eps = distances(spec, weights, [Decimal(x) for x in stored["Circuit"]])
        require(len(eps) == len(stored["Eps"]), f"not {len(eps)} distances from the frequencies")
        for what, n, v in [("circuit", stored["Gap"], gap)] + [("frequencies", *p) for p in zip(stored["Eps"], eps)]:
            inside = n / Decimal(10**9) <= v <= (n + 2) / Decimal(10**9)
            require(inside, f"the distance from the {what} is {v:.9f}")
    require(gap <= Decimal("0.02") and eps[1:] == sorted(eps[1:], reverse=True), "a bound is broken")
    require(hashlib.sha256((folder / name).read_bytes()).hexdigest() == run["files"][name], f"{name} was changed")


# Theorem 1 at given lengths, on the chain over two states with the query in the sequence, in floats. All terms of the
# sums are positive, or two sums of positive terms are subtracted, so that rounding changes no decided number by 1e-9.

SMALL = 1e-9


def integral(most, c):
    """Nodes u and weights with sum w u^n = 1/(n + c), up to SMALL of it, for n <= most: a trapezoidal rule in t for the
    integral of e^(-(n + c) y) with y = e^(t - e^-t)/c."""
    nodes = []
    for t in (k / 5 for k in range(-16, 17)):
        y = math.exp(t - math.exp(-t)) / c
        nodes.append((math.exp(-y), y * (1 + math.exp(-t)) / 5 * math.exp(-c * y)))
    off = max(abs(sum(w * u**n for u, w in nodes) * (n + c) - 1) for n in range(most + 1))
    require(off < SMALL / 2, f"the integral errs by {off}")
    return nodes


def payoffs(pi, mu, t, eps):
    """ghat + 1 for rows 2..T, ghat_TT + 2: at [i][j], counted from 0."""
    n, sums = t - 1, [[0.0] * (i + 1) for i in range(t)]
    for b in (0, 1):  # the token whose frequency is in the denominator
        for u, w in integral(t, t * eps):
            w *= t  # 1/(N/T + eps) = T/(N + T eps)
            seen = [u if x == b else 1.0 for x in (0, 1)]
            hit = [1 + eps if x == b else eps for x in (0, 1)]
            query = [pi[s][b] * seen[s] for s in (0, 1)]
            (p, q), (r, v) = [[pi[x][y] * seen[y] for y in (0, 1)] for x in (0, 1)]
            before, after = [(mu[0] * seen[0], mu[1] * seen[1])], [(1.0, 1.0)]
            for _ in range(n - 1):
                x, y = before[-1]
                before.append((x * p + y * r, x * q + y * v))
                x, y = after[-1]
                after.append((p * x + q * y, r * x + v * y))
            after.reverse()
            ends = [(x * hit[0], y * hit[1]) for x, y in after]
            for j, (x, y) in enumerate(before):
                sums[n][j] += w * (x * query[0] * ends[j][0] + y * query[1] * ends[j][1])
                x, y = w * x * query[0], w * y * query[1]
                for i in range(j, n):
                    e, f = ends[i]
                    sums[i][j] += x * e + y * f
                    x, y = x * p + y * r, x * q + y * v
            mass = sum(x * y for x, y in zip(before[0], after[0]))
            sums[n][n] += w * mass * sum(query[s] * hit[s] for s in (0, 1))
    return sums


def lead_of(orbits, t, eps):
    """A lower bound of the least lead of a target, and an upper bound of the largest ghat of one."""
    all_of = [payoffs([[float(x) for x in r] for r in pi], [float(x) for x in stationary(pi)], t, eps) for pi in orbits]
    lead, most = math.inf, -math.inf
    for i in range(1, t):
        row = [mean_of(x) for x in zip(*(sums[i] for sums in all_of))]
        row = [x - 1 for x in row[:-1]] + [row[-1] - (2 if i == t - 1 else 1)]
        target = row.pop(i if i == t - 1 else i - 1)
        lead, most = min(lead, target - max(row)), max(most, target)
    return lead - 10 * SMALL, most + 10 * SMALL


def mean_of(x):
    return sum(x) / len(x)


def log_choose(m, k):
    return math.lgamma(m + 1) - math.lgamma(k + 1) - math.lgamma(m - k + 1)


def pair_law(pi, mu, n):
    """The laws of the pair counts and of the first token of n tokens, and a bound of what is left out."""
    logs, law, left = [[math.log(x) for x in r] for r in pi], [], 0.0
    for first in (0, 1):
        for turns in range(n):  # tokens that differ from the one before
            runs = [(turns + 2) // 2, (turns + 1) // 2]  # of the first token, of the other
            for stay in range(n - turns) if runs[1] else [n - 1]:
                other = n - 1 - turns - stay
                p = math.log(mu[first]) + log_choose(stay + runs[0] - 1, stay) + stay * logs[first][first]
                p += (turns + 1) // 2 * logs[first][1 - first] + turns // 2 * logs[1 - first][first]
                if runs[1]:
                    p += log_choose(other + runs[1] - 1, other) + other * logs[1 - first][1 - first]
                p = math.exp(p)
                if p < 1e-14:
                    left += p
                    continue
                counts = [[0, 0], [0, 0]]
                counts[first][first], counts[1 - first][1 - first] = stay, other
                counts[first][1 - first], counts[1 - first][first] = (turns + 1) // 2, turns // 2
                law.append((p, counts, first))
    require(abs(sum(p for p, _, _ in law) + left - 1) < SMALL, "the law of the pairs has another mass")
    return law, left + SMALL


def votes(law, pi):
    """With probabilities, for the query s: the numbers of positions with token s or another whose target has the token
    s, and has not."""
    for p, counts, first in law:
        for s, o in ((0, 1), (1, 0)):
            # the query attends to itself, and so does position 1
            ms, mo = counts[s][s] + 1 + (first == s), counts[s][o]
            yield p / 2, ms, mo, counts[o][s], counts[o][o] + (first != s), pi[s][s], pi[s][o]


def forces(all_votes, beta, eps):
    """e^beta times the two parts of -Delta_beta."""
    gain, loss, z = 0.0, 0.0, math.exp(-beta)
    for p, ms, mo, ks, ko, ps, po in all_votes:
        ns, no = ms + z * ks, mo + z * ko
        w = ns + no
        at_s, at_o = p * ps / (w * (ns + eps * w)), p * po / (w * (no + eps * w))
        gain += at_s * ms * ko + at_o * mo * ks
        loss += at_s * ks * mo + at_o * ko * ms
    return gain, loss


def excess_of(all_votes, beta, eps):
    z, loss = math.exp(-beta), 0.0
    for p, ms, mo, ks, ko, *law in all_votes:
        n = ms + z * ks, mo + z * ko
        loss += p * sum(q * math.log(q * (1 + 2 * eps) / (f / sum(n) + eps)) for q, f in zip(law, n))
    return loss


def decide_length(th):
    """The inequalities from which the theorem follows."""
    orbits = [[[F(x) for x in r] for r in pi] for pi in th["Orbits"]]
    eps, alpha, beta0, time1, time2, reach, most_loss = (
        float(F(th[k])) for k in ("Eps", "Alpha", "Beta0", "Time1", "Time2", "Reach", "Excess")
    )
    t = th["T"]
    lead, most = lead_of(orbits, t, eps)
    require((math.exp(2 * beta0) - 1) * (4 * most + 9) <= lead, "beta_0 is too large for the lead")
    require(8 / lead * (t * t + t / alpha) * math.log(t / alpha) <= time1, "stage 1 is too short")
    seen, left = [], 0.0
    for pi in orbits:
        matrix = [[float(x) for x in r] for r in pi]
        law, rest = pair_law(matrix, [float(x) for x in stationary(pi)], t - 1)
        seen += [(p / len(orbits), *v) for p, *v in votes(law, matrix)]
        left += rest / len(orbits)
    need, beta = 0.0, 0.0
    while beta < reach:
        gain, loss = forces(seen, beta, eps)
        width = min(max(math.floor(128 * math.log(gain / loss) / 3) / 128, 1 / 128), 0.25, reach - beta)
        end, worst = beta + width, 2 * left * (t + math.exp(beta + 1))  # of sequences that are left out
        growth = math.exp(-end) * (gain - math.exp(2 * width) * loss - worst) - (2 + end) * alpha
        require(growth > 0, f"beta does not grow beyond {beta}")
        need += width / growth + 4
        beta = end
    require(need <= time2, "stage 2 is too short")
    loss = excess_of(seen, reach, eps) + left * math.log(2 + 1 / eps)
    require(loss + 2 * reach * alpha <= most_loss, "the loss is larger")


# The stored ledger


def decide(claim):
    """Raises Wrong if the witness of a failing row is wrong."""
    witness, decider = claim["witness"], globals().get(claim["id"].replace("-", "_"))
    require(witness is not None, "refuted without a witness")
    require(decider is not None, "tools/witness.py has no function for this row")
    require("lhs" in witness and "rhs" in witness, "the sides are not rational")
    stored = F(witness["lhs"]), F(witness["rhs"])
    w = Instance(witness["instance"], stored[1])
    lhs, rhs, says = decider(w)
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
        stored = json.load(file)
    if isinstance(stored, dict):
        rows = [(c["id"], decide, c) for c in stored["claims"] if c["verdict"] == "refuted"]
    else:
        kind, decider = ("model", decide_model) if "Gap" in stored[0] else ("theorem", decide_length)
        rows = [(f"{kind} {k + 1}", decider, row) for k, row in enumerate(stored)]
    wrong = 0
    for name, decider, row in rows:
        try:
            decider(row)
            print("right", name)
        except Exception as e:  # a value of the wrong shape may raise any error
            wrong += 1
            print("WRONG", f"{name}: {e or type(e).__name__}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
