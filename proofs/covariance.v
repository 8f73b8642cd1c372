(* How dependence decays, for chains of any number of states.                 *)
(*                                                                            *)
(* Lemma 19 (lem-covariance): if j and i are a and b steps below their        *)
(*   closest common ancestor, then the square of                              *)
(*   P[s_j = s, s_i = s'] - mu(s) mu(s') is at most                           *)
(*   mu(s) mu(s') lambda^(2(a+b)).                                            *)
(* lambda is any number by which pi - 1 mu^T contracts L^2(mu), of which      *)
(* lambda(pi) is the least, and 1 - gamma/S is one by Lemma 13                *)
(* (lem-spectral-gap).                                                        *)
(*   covariance a b s s' == sum_k mu(k) pi^a(s|k) pi^b(s'|k) - mu(s) mu(s')   *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums markov.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition covariance (R : realFieldType) S (pi : nat -> nat -> R) mu a b s s' : R :=
  \Sum_(k < S) (mu k * power S pi a k s * power S pi b k s') - mu s * mu s'.

Section Covariance.
Variables (R : realFieldType) (S : nat) (pi : nat -> nat -> R) (mu : nat -> R) (lambda : R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu).
Notation P := (centered pi mu).
Notation square := (square S mu).
Hypothesis contracts : forall h, square (applied S P h) <= lambda ^+ 2 * square h.

Lemma cauchy_schwarz u v : (\Sum_(k < S) (mu k * u k * v k)) ^+ 2 <= square u * square v.
Proof.
set C := \Sum_(k < S) _; set A := square u; set B := square v.
have q x y : 0 <= x ^+ 2 * A + y ^+ 2 * B - 2%:R * x * y * C.
  have -> : x ^+ 2 * A + y ^+ 2 * B - 2%:R * x * y * C = square (fun k => x * u k - y * v k).
    rewrite /A /B /C /markov.square -!totalZ -totalD -totalB; apply: index_eq => k _; ring.
  exact: square_ge0 stat _.
have B0 : 0 <= B by apply: square_ge0 stat v.
case: (ltrgtP B 0) B0 => // [Bp _ | Be _].
  have := q B C; have -> : B ^+ 2 * A + C ^+ 2 * B - 2%:R * B * C * C = B * (A * B - C ^+ 2) by ring.
  by rewrite pmulr_rge0 // subr_ge0.
case: (eqVneq C 0) => [-> | nz]; first by rewrite Be expr0n mulr0.
have := q 1 ((A + 1) / (2%:R * C)); rewrite Be.
have -> : 1 ^+ 2 * A + ((A + 1) / (2%:R * C)) ^+ 2 * 0 - 2%:R * 1 * ((A + 1) / (2%:R * C)) * C = -1.
  by field; rewrite nz.
by rewrite oppr_ge0 leNgt ltr01.
Qed.

Lemma column_decay a t : (t < S)%N -> square (fun k => power S P a k t) <= lambda ^+ (2 * a) * mu t.
Proof.
move=> ht; elim: a => [|a IH].
  rewrite mul1r le_eqVlt; apply/orP; left; apply/eqP.
  rewrite -[RHS](total_delta mu ht); apply: index_eq => k _ /=.
  by rewrite [t == k]eq_sym; case: (k == t); rewrite ?expr1n ?expr0n ?mulr1 ?mulr0 ?mul1r ?mul0r.
apply: le_trans (contracts (fun k => power S P a k t)) _.
by rewrite mulnS exprD -mulrA ler_wpmul2l ?sqr_ge0.
Qed.

Lemma covarianceE a b s s' : (0 < a + b)%N -> (s < S)%N -> (s' < S)%N ->
  covariance S pi mu a b s s' = \Sum_(k < S) (mu k * power S P a k s * power S P b k s').
Proof.
have zero c t : (t < S)%N -> \Sum_(k < S) (mu k * power S P c.+1 k t) = 0.
  move=> ht; transitivity (\Sum_(k < S) (mu k * power S pi c.+1 k t - mu k * mu t)).
    by apply: index_eq => k hk; rewrite (b_powers stoch stat) // mulrBr.
  by rewrite totalB totalZr (power_stat stat) // (mu_sum stat) mul1r subrr.
have pick (F : nat -> R) t : (t < S)%N -> \Sum_(k < S) (mu k * (k == t)%:R * F k) = mu t * F t.
  move=> ht; rewrite -[RHS](total_delta (fun k => mu k * F k) ht); apply: index_eq => k _.
  by rewrite [t == k]eq_sym; ring.
case: a => [|a]; case: b => [|b] // _ hs hs'; rewrite /covariance.
- by rewrite /= !pick // -/(power S pi b.+1 s s') -/(power S P b.+1 s s') (b_powers stoch stat) // mulrBr.
- have flip (Q : nat -> nat -> R) : \Sum_(k < S) (mu k * power S Q a.+1 k s * power S Q 0 k s') =
      \Sum_(k < S) (mu k * (k == s')%:R * power S Q a.+1 k s) by apply: index_eq => k _; rewrite mulrAC.
  by rewrite !flip !pick // (b_powers stoch stat) // mulrBr [mu s * mu s']mulrC.
transitivity (\Sum_(k < S) (mu k * power S P a.+1 k s * power S P b.+1 k s' +
    (mu s' * (mu k * power S P a.+1 k s) + mu s * (mu k * power S P b.+1 k s') + mu s * mu s' * mu k)) - mu s * mu s').
  by congr (_ - _); apply: index_eq => k hk; rewrite !(b_powers stoch stat) //; ring.
rewrite totalD 2!totalD !totalZ !zero // (mu_sum stat); ring.
Qed.

Theorem covariance_decay a b s s' : (0 < a + b)%N -> (s < S)%N -> (s' < S)%N ->
  covariance S pi mu a b s s' ^+ 2 <= mu s * mu s' * lambda ^+ (2 * (a + b)).
Proof.
move=> ab hs hs'; rewrite covarianceE //.
apply: le_trans (cauchy_schwarz (fun k => power S P a k s) (fun k => power S P b k s')) _.
have -> : mu s * mu s' * lambda ^+ (2 * (a + b)) = lambda ^+ (2 * a) * mu s * (lambda ^+ (2 * b) * mu s').
  by rewrite mulnDr exprD; ring.
by apply: ler_pmul; rewrite ?(square_ge0 stat) ?column_decay.
Qed.
End Covariance.
