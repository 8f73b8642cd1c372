(* How dependence decays, for chains of any number of states.                 *)
(*                                                                            *)
(* For Lemma 19 (variance.v): if j and i are a and b steps below their        *)
(*   closest common ancestor, the square of what P[s_j = s, s_i = s'] differs *)
(*   from mu(s) mu(s') by is at most mu(s) mu(s') lambda^(2(a+b)).            *)
(* lambda is any number by which pi - 1 mu^T contracts L^2(mu), of which      *)
(* lambda(pi) is the least, and 1 - gamma/S is one by Lemma 13                *)
(* (lem-spectral-gap).                                                        *)
(* Lemma 21 (lem-chat-var-step-dependent-corrected), both sides squared, for  *)
(*   d >= 1:                                                                  *)
(*   mu(s) pi(s'|s)^2 (pi^d(s|s') - mu(s))                                    *)
(*     <= mu(s)^(3/2) mu(s')^(-1/2) pi(s'|s)^2 lambda^d                       *)
(*     <= (mu(s) mu(s'))^(1/2) pi(s'|s) lambda^d.                             *)
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
apply: discriminant => [x y|]; last exact: square_ge0 stat v.
have -> : x ^+ 2 * A + y ^+ 2 * B - 2%:R * x * y * C = square (fun k => x * u k - y * v k).
  rewrite /A /B /C /markov.square -!totalZ -totalD -totalB; apply: index_eq => k _; ring.
exact: square_ge0 stat _.
Qed.

Lemma column_decay a t : (t < S)%N -> square (fun k => power S P a k t) <= lambda ^+ (2 * a) * mu t.
Proof.
move=> ht; elim: a => [|a IH].
  rewrite mul1r; apply: eqW.
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

Lemma covariance_decay a b s s' : (0 < a + b)%N -> (s < S)%N -> (s' < S)%N ->
  covariance S pi mu a b s s' ^+ 2 <= mu s * mu s' * lambda ^+ (2 * (a + b)).
Proof.
move=> ab hs hs'; rewrite covarianceE //.
apply: le_trans (cauchy_schwarz (fun k => power S P a k s) (fun k => power S P b k s')) _.
have -> : mu s * mu s' * lambda ^+ (2 * (a + b)) = lambda ^+ (2 * a) * mu s * (lambda ^+ (2 * b) * mu s').
  by rewrite mulnDr exprD; ring.
by apply: ler_pmul; rewrite ?(square_ge0 stat) ?column_decay.
Qed.

Section Dependent.
Variables (d s s' : nat).
Hypotheses (hs : (s < S)%N) (hs' : (s' < S)%N) (p : 0 < mu s) (p' : 0 < mu s').
Notation bound := (mu s ^+ 3 / mu s' * pi s s' ^+ 4 * lambda ^+ (2 * d.+1)).

Theorem dependent_first : (mu s * pi s s' ^+ 2 * (power S pi d.+1 s' s - mu s)) ^+ 2 <= bound.
Proof.
have := covariance_decay (ltn0Sn d : (0 < 0 + d.+1)%N) hs' hs; rewrite covarianceE // add0n.
have -> : \Sum_(k < S) (mu k * power S P 0 k s' * power S P d.+1 k s) = mu s' * (power S pi d.+1 s' s - mu s).
  rewrite -(b_powers stoch stat) // -[RHS](total_delta (fun k => mu k * power S P d.+1 k s) hs').
  by apply: index_eq => k _; rewrite [s' == k]eq_sym /=; ring.
move=> h; rewrite -(ler_pmul2l (exprn_gt0 2 p')).
have -> : mu s' ^+ 2 * (mu s * pi s s' ^+ 2 * (power S pi d.+1 s' s - mu s)) ^+ 2 =
  mu s ^+ 2 * pi s s' ^+ 4 * (mu s' * (power S pi d.+1 s' s - mu s)) ^+ 2 by ring.
have -> : mu s' ^+ 2 * bound = mu s ^+ 2 * pi s s' ^+ 4 * (mu s' * mu s * lambda ^+ (2 * d.+1)).
  by field; rewrite lt0r_neq0.
by rewrite ler_wpmul2l // mulr_ge0 ?sqr_ge0 // (_ : 4 = 2 * 2)%N // exprM sqr_ge0.
Qed.

Theorem dependent_second : bound <= mu s * mu s' * pi s s' ^+ 2 * lambda ^+ (2 * d.+1).
Proof.
have l0 : 0 <= lambda ^+ (2 * d.+1) by rewrite exprM exprn_ge0 // sqr_ge0.
rewrite ler_wpmul2r //.
have flow : mu s * pi s s' <= mu s'.
  rewrite -[leRHS](mu_stat stat hs') (total_term (fun r => mu r * pi r s') (iota_uniq 0 S) (a := s)) ?index_lt //.
  by rewrite ler_addl; apply: index_ge0 => r hr; rewrite mulr_ge0 ?ler0n // mulr_ge0 ?(mu_ge0 stat) ?(pi_ge0 stoch).
have pi0 : 0 <= pi s s' by apply: pi_ge0 stoch hs hs'.
have -> : mu s ^+ 3 / mu s' * pi s s' ^+ 4 = mu s * pi s s' ^+ 2 / mu s' * (mu s * pi s s') ^+ 2.
  by field; rewrite lt0r_neq0.
have -> : mu s * mu s' * pi s s' ^+ 2 = mu s * pi s s' ^+ 2 / mu s' * mu s' ^+ 2.
  by field; rewrite lt0r_neq0.
rewrite ler_wpmul2l ?divr_ge0 ?mulr_ge0 ?sqr_ge0 ?(ltW p) ?(ltW p') //.
by apply: ler_expn2r; rewrite ?nnegrE ?mulr_ge0 ?(ltW p) ?(ltW p').
Qed.
End Dependent.
End Covariance.
