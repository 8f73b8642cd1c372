(* What a chain says of the gap of stage 1 (forest_gap.v), for any number of  *)
(* states: by the steps a and b from i and j up to their closest common       *)
(* ancestor, |g_{i,j}(pi)| <= |B|_F^2 - gamma^3/S^2 but for the parent, where *)
(* g_{i,p(i)}(pi) = |B_pi|_F^2.                                               *)
(* Lemma 17 (lem-contraction) is not used: |g_{i,j}| <= lambda |B|_F^2, where *)
(* lambda is 1/2 if |B|_F^2 <= 1/4 and else 1 - gamma/S.                      *)
(*                                                                            *)
(*   ancestor_gradient a b == g_{i,j}(pi) if i and j are a and b steps below  *)
(*                        their closest common ancestor, so that              *)
(*                        P[s_i = t, s_j = s] =                               *)
(*                          sum_k mu(k) pi^a(t|k) pi^b(s|k)                   *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors markov.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition ancestor_gradient (R : realFieldType) S (pi : nat -> nat -> R) mu a b : R :=
  (\Sum_(s < S) \Sum_(t < S) (pi s t / mu t * (\Sum_(k < S) (mu k * power S pi a k t * power S pi b k s)))) - 1.

Section Gap.
Variables (R : realFieldType) (S : nat) (pi : nat -> nat -> R) (mu : nat -> R) (gamma : R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu).
Hypotheses (strict : above S pi (gamma / S%:R)) (gamma0 : 0 < gamma).
Hypothesis moves : gamma ^+ 2 / S%:R <= spread S pi mu.

Lemma S_gt0 : (0 < S)%N.
Proof.
case: (posnP S) => // e; move: (mu_sum stat); rewrite e /total /= => /eqP.
by rewrite eq_sym oner_eq0.
Qed.

Let s0 : (0 : R) < S%:R. Proof. by rewrite ltr0n S_gt0. Qed.

Lemma low : at_least S pi (gamma / S%:R).
Proof.
apply/all_index => s hs; apply/all_index => t ht; apply: ltW.
by move/all_index: (strict) => h; move/all_index: (h s hs); apply.
Qed.

Lemma gamma_lt1 : gamma < 1.
Proof.
rewrite -(row_sum stoch S_gt0).
have hi : 0%N \in iota 0 S by rewrite index_lt S_gt0.
have -> : gamma = \Sum_(t < S) (gamma / S%:R).
  by rewrite total_const size_iota -[_ *+ S]mulr_natr divfK // lt0r_neq0.
rewrite -subr_gt0 -totalB (total_term _ (iota_uniq 0 S) hi).
apply: ltr_spaddl.
  by rewrite subr_gt0; move/all_index: (strict) => h; move/all_index: (h 0%N S_gt0); apply; apply: S_gt0.
by apply: index_ge0 => t ht; rewrite mulr_ge0 ?ler0n // subr_ge0 (entry_ge low) ?S_gt0.
Qed.

Notation P := (centered pi mu).
Notation square := (square S mu).
Let mu0 t : (t < S)%N -> 0 < mu t. Proof. exact: mu_gt0 stat low gamma0 S_gt0 t. Qed.

Definition column a t k : R := power S P a k t.
Definition inner (u v : nat -> R) : R := \Sum_(k < S) (mu k * u k * v k).

Lemma column1 t k : (t < S)%N -> column 1 t k = P k t.
Proof.
move=> ht; rewrite /column /= -[RHS](total_delta (fun r => P k r) ht).
by apply: index_eq => r _; rewrite mulrC eq_sym.
Qed.

Lemma gradient_columns a b : (0 < a)%N ->
  ancestor_gradient S pi mu a b = \Sum_(t < S) ((mu t)^-1 * inner (column a t) (column b.+1 t)).
Proof.
case: a => // a _; rewrite /ancestor_gradient total_exchange -(mu_sum stat) -totalB.
apply: index_eq => t ht; have nz := lt0r_neq0 (mu0 ht).
transitivity ((mu t)^-1 * (\Sum_(k < S) (mu k * power S pi a.+1 k t * power S pi b.+1 k t)) - mu t).
  congr (_ - _); rewrite -totalZ.
  transitivity (\Sum_(s < S) \Sum_(k < S) ((mu t)^-1 * (mu k * power S pi a.+1 k t) * (power S pi b k s * pi s t))).
    apply: index_eq => s _; rewrite -totalZ; apply: index_eq => k _; ring.
  rewrite total_exchange; apply: index_eq => k hk.
  by rewrite totalZ power_last // !mulrA.
have cols : \Sum_(k < S) (mu k * power S pi a.+1 k t * power S pi b.+1 k t) =
    inner (column a.+1 t) (column b.+1 t) + mu t ^+ 2.
  transitivity (\Sum_(k < S) (mu k * column a.+1 t k * column b.+1 t k +
      (mu t * (mu k * power S pi a.+1 k t) + mu t * (mu k * power S pi b.+1 k t) - mu t ^+ 2 * mu k))).
    by apply: index_eq => k hk; rewrite /column !(b_powers stoch stat) //; ring.
  rewrite totalD; congr (_ + _); rewrite totalB totalD !totalZ !(power_stat stat) // (mu_sum stat).
  ring.
by rewrite cols; field.
Qed.

Lemma norm_columns : normB S pi mu = \Sum_(t < S) ((mu t)^-1 * square (column 1 t)).
Proof.
rewrite -(b_norm stoch stat low gamma0 S_gt0) total_exchange; apply: index_eq => t ht.
rewrite -totalZ; apply: index_eq => s _; rewrite column1 // /centered; ring.
Qed.

(* Eq. (24) (eq-g-parent-chi2) *)
Lemma parent_gradient : ancestor_gradient S pi mu 1 0 = normB S pi mu.
Proof.
rewrite gradient_columns // norm_columns; apply: index_eq => t _; congr (_ * _).
by apply: index_eq => k _; ring.
Qed.

Section Contraction.
Variable lambda : R.
Hypotheses (lambda0 : 0 < lambda) (lambda1 : lambda <= 1).
Hypothesis contracts : forall h, square (applied S P h) <= lambda ^+ 2 * square h.

Let sq0 h : 0 <= square h. Proof. exact: square_ge0 stat h. Qed.

Lemma column_contracts a t : square (column a.+2 t) <= lambda ^+ 2 * square (column a.+1 t).
Proof. exact: contracts (column a.+1 t). Qed.

Lemma lambda2 : lambda ^+ 2 <= 1. Proof. by rewrite exprn_ile1 // ltW. Qed.

Lemma column_small a t : square (column a.+1 t) <= square (column 1 t).
Proof.
elim: a => // a IH; apply: le_trans (column_contracts a t) _; apply: le_trans IH.
by rewrite ler_pimull ?lambda2.
Qed.

Lemma column_smaller a t : square (column a.+2 t) <= lambda ^+ 2 * square (column 1 t).
Proof.
by apply: le_trans (column_contracts a t) _; rewrite ler_wpmul2l ?sqr_ge0 ?column_small.
Qed.

Lemma inner_le u v q : square u <= q -> square v <= lambda ^+ 2 * q -> inner u v <= lambda * q.
Proof.
move=> hu hv; have two : (0 : R) < 2%:R by rewrite ltr0n.
rewrite -(ler_pmul2l two).
apply: (@le_trans _ _ (lambda * square u + lambda^-1 * square v)).
  rewrite /inner /markov.square -!totalZ -totalD; apply: index_le => k hk; rewrite -subr_ge0.
  have -> : lambda * (mu k * u k ^+ 2) + lambda^-1 * (mu k * v k ^+ 2) - 2%:R * (mu k * u k * v k)
    = mu k * lambda^-1 * (lambda * u k - v k) ^+ 2 by field; rewrite lt0r_neq0.
  by rewrite mulr_ge0 ?sqr_ge0 // mulr_ge0 ?(mu_ge0 stat) // invr_ge0 ltW.
have -> : 2%:R * (lambda * q) = lambda * q + lambda^-1 * (lambda ^+ 2 * q) by field; rewrite lt0r_neq0.
by rewrite ler_add // ler_pmul2l // invr_gt0.
Qed.

Lemma innerC u v : inner u v = inner v u.
Proof. by apply: index_eq => k _; ring. Qed.

Lemma gradient_le a b : (0 < a)%N -> (1 < a + b)%N ->
  ancestor_gradient S pi mu a b <= lambda * normB S pi mu.
Proof.
move=> a0 ab; rewrite gradient_columns // norm_columns -totalZ; apply: index_le => t ht.
rewrite mulrCA ler_pmul2l ?invr_gt0 ?mu0 //.
case: a a0 ab => // -[|a] _ ab.
  by case: b ab => // b _; apply: inner_le; [apply: column_small | apply: column_smaller].
by rewrite innerC; apply: inner_le; [apply: column_small | apply: column_smaller].
Qed.
End Contraction.

(* The operator norm is at most the Frobenius norm. *)
Lemma frobenius_contracts h : square (applied S P h) <= normB S pi mu * square h.
Proof.
rewrite -(b_norm stoch stat low gamma0 S_gt0) -totalZr; apply: index_le => s hs.
set A := \Sum_(t < S) ((pi s t - mu t) ^+ 2 / mu t).
have -> : \Sum_(t < S) (mu s / mu t * (pi s t - mu t) ^+ 2) = mu s * A.
  by rewrite -totalZ; apply: index_eq => t _; ring.
rewrite -mulrA ler_wpmul2l ?(mu_ge0 stat) //; set C := applied S P h s; set B := square h.
apply: discriminant => [u v|]; last exact: square_ge0 stat h.
have -> : u ^+ 2 * A + v ^+ 2 * B - 2%:R * u * v * C =
    \Sum_(t < S) (mu t * (u * (P s t / mu t) - v * h t) ^+ 2).
  rewrite /A /B /C /applied /markov.square -!totalZ -totalD -totalB; apply: index_eq => t ht.
  by rewrite /centered; field; rewrite lt0r_neq0 ?mu0.
by apply: index_ge0 => t ht; rewrite mulr_ge0 ?sqr_ge0 ?(mu_ge0 stat).
Qed.

Lemma gap_by_lambda lambda a b : 0 < lambda -> lambda <= 1 ->
  (forall h, square (applied S P h) <= lambda ^+ 2 * square h) -> (0 < a)%N -> (1 < a + b)%N ->
  ancestor_gradient S pi mu a b + (1 - lambda) * normB S pi mu <= ancestor_gradient S pi mu 1 0.
Proof.
move=> l0 l1 c a0 ab; rewrite parent_gradient -ler_subr_addr.
have -> : normB S pi mu - (1 - lambda) * normB S pi mu = lambda * normB S pi mu by ring.
exact: gradient_le.
Qed.

(* 4 gamma^2 <= S, by the second bullet of Assumption 1 where S < 4 *)
Lemma row_near s : (s < S)%N ->
  \Sum_(t < S) (pi s t - mu t) ^+ 2 <= 2%:R * ((1 - gamma / S%:R) * (1 - gamma)) ^+ 2.
Proof.
move=> hs; have two : (0 : R) < 2%:R by rewrite ltr0n.
have g1 := gamma_S_lt1 gamma_lt1 S_gt0; have hi : s \in iota 0 S by rewrite index_lt.
have l1 : \Sum_(t < S) `|pi s t - mu t| <= 2%:R * ((1 - gamma / S%:R) * (1 - gamma)).
  apply: (@le_trans _ _ (\Sum_(r < S) (mu r * ((r != s)%:R * (2%:R * (1 - gamma)))))).
    apply: (@le_trans _ _ (\Sum_(r < S) (mu r * (\Sum_(t < S) `|pi s t - pi r t|)))).
      have -> : \Sum_(r < S) (mu r * (\Sum_(t < S) `|pi s t - pi r t|)) =
          \Sum_(t < S) \Sum_(r < S) (mu r * `|pi s t - pi r t|).
        by rewrite total_exchange; apply: index_eq => r _; rewrite totalZ.
      apply: index_le => t ht.
      have -> : pi s t - mu t = \Sum_(r < S) (mu r * (pi s t - pi r t)).
        rewrite -{1}(mu_stat stat ht) -[X in X - _]mul1r -{1}(mu_sum stat) -totalZr -totalB.
        by apply: index_eq => r _; rewrite mulrBr.
      apply: le_trans (total_norm _ _) _; apply: index_le => r hr.
      by rewrite normrM ger0_norm ?(mu_ge0 stat).
    apply: index_le => r hr; rewrite ler_wpmul2l ?(mu_ge0 stat) //.
    case: eqP => [-> | _] /=; last first.
      have := tv_max stoch low hs hr; rewrite /distance ler_pdivr_mulr // => h.
      by rewrite mul1r mulrC.
    rewrite mul0r; have -> : \Sum_(t < S) `|pi s t - pi s t| = 0; last by [].
    by rewrite -[RHS](total0 R (iota 0 S)); apply: index_eq => t _; rewrite subrr normr0.
  have -> : \Sum_(r < S) (mu r * ((r != s)%:R * (2%:R * (1 - gamma)))) = 2%:R * ((1 - mu s) * (1 - gamma)).
    have -> : 1 - mu s = \Sum_(r < S) ((r != s)%:R * mu r).
      by rewrite -[X in X - _](mu_sum stat) (total_term mu (iota_uniq 0 S) hi) addrAC subrr add0r.
    by rewrite -totalZr -totalZ; apply: index_eq => r _; ring.
  rewrite ler_pmul2l // ler_wpmul2r ?subr_ge0 ?(ltW gamma_lt1) //.
  by rewrite ler_add2l ler_opp2 (mu_lower stat low).
rewrite -(ler_pmul2l two); apply: le_trans (l2_l1 (centered_row stoch stat hs)) _.
have -> : 2%:R * (2%:R * ((1 - gamma / S%:R) * (1 - gamma)) ^+ 2) =
  (2%:R * ((1 - gamma / S%:R) * (1 - gamma))) ^+ 2 by ring.
rewrite ler_expn2r // nnegrE; first by apply: total_ge0 => t _; apply: normr_ge0.
by rewrite !mulr_ge0 ?ler0n // subr_ge0 ltW // gamma_lt1.
Qed.

Lemma gamma_spread : gamma ^+ 2 <= 2%:R * ((S%:R - gamma) * (1 - gamma)) ^+ 2.
Proof.
have : gamma ^+ 2 / S%:R <= \Sum_(s < S) (2%:R * ((1 - gamma / S%:R) * (1 - gamma)) ^+ 2).
  by apply: le_trans moves _; apply: index_le => s hs; apply: row_near.
rewrite total_const size_iota -[X in _ <= X]mulr_natr ler_pdivr_mulr // => h; apply: le_trans h _.
by apply: eqW; field; rewrite lt0r_neq0.
Qed.

Lemma small_gamma : 4%:R * gamma ^+ 2 <= S%:R.
Proof.
have g1 := gamma_lt1; have h := gamma_spread; have S0 := S_gt0.
have n0 (k : nat) : (0 : R) <= k%:R by apply: ler0n.
have from (c : R) : 0 <= c -> 2%:R * ((S%:R - c) * (1 - c)) ^+ 2 < c ^+ 2 -> 1 <= S%:R :> R -> gamma < c.
  move=> c0 hc S1; rewrite ltNge; apply/negP => cg; move: hc; rewrite ltNge => /negP; apply.
  apply: (@le_trans _ _ (gamma ^+ 2)); first by rewrite ler_expn2r // nnegrE // ltW.
  apply: le_trans h _; rewrite ler_wpmul2l // ler_expn2r // ?nnegrE.
  - by rewrite mulr_ge0 ?subr_ge0 ?(le_trans (ltW g1)).
  - by rewrite mulr_ge0 ?subr_ge0 ?(le_trans cg) ?(le_trans (ltW g1)).
  - rewrite ler_pmul ?subr_ge0 ?(ltW g1) ?(le_trans (ltW g1)) // ler_add2l ler_opp2 //.
have bound (c : R) : gamma < c -> 4%:R * c ^+ 2 <= S%:R -> 4%:R * gamma ^+ 2 <= S%:R.
  move=> gc; apply: le_trans; rewrite ler_wpmul2l // ler_expn2r // ?nnegrE ltW //.
  by apply: lt_trans gc.
have S1 : (1 : R) <= S%:R by rewrite ler1n.
have frac (a b k : nat) (c := a%:R / b%:R : R) : (0 < b)%N -> (S == k)%N -> (a <= b)%N -> (b <= k * b)%N ->
    (2 * ((k * b - a) * (b - a)) ^ 2 < a ^ 2 * b ^ 2)%N -> (4 * a ^ 2 <= k * b ^ 2)%N -> 4%:R * gamma ^+ 2 <= S%:R.
  move=> b0 /eqP eS ab kb h1 h2; have bp : (0 : R) < b%:R by rewrite ltr0n.
  have bz := lt0r_neq0 bp.
  apply: (bound c); last first.
    rewrite eS /c expr_div_n mulrA ler_pdivr_mulr ?exprn_gt0 //.
    by rewrite -!natrX -!natrM ler_nat.
  apply: from => //; first by rewrite divr_ge0.
  rewrite eS; have -> : 2%:R * ((k%:R - c) * (1 - c)) ^+ 2 =
      (2 * ((k * b - a) * (b - a)) ^ 2)%:R / (b%:R ^+ 2 * b%:R ^+ 2).
    rewrite natrM natrX natrM !natrB ?(leq_trans ab) // natrM /c; field.
    exact: bz.
  rewrite ltr_pdivr_mulr ?mulr_gt0 ?exprn_gt0 //.
  have -> : c ^+ 2 * (b%:R ^+ 2 * b%:R ^+ 2) = (a ^ 2 * b ^ 2)%:R.
    by rewrite natrM !natrX /c; field.
  by rewrite ltr_nat.
case: (ltnP 3 S) => [big | small].
  apply: (bound 1) => //; rewrite expr1n mulr1 ler_nat; exact: big.
case: (S =P 1%N) => [/eqP e | n1]; first by apply: (frac 1%N 2%N 1%N).
case: (S =P 2%N) => [/eqP e | n2]; first by apply: (frac 7%N 10%N 2%N).
have e : (S == 3)%N by move: small S0 n1 n2; case: S => [|[|[|[|]]]].
by apply: (frac 4%N 5%N 3%N).
Qed.

Lemma gap_corrected a b : (0 < a)%N -> (1 < a + b)%N ->
  ancestor_gradient S pi mu a b + gamma ^+ 3 / S%:R ^+ 2 <= ancestor_gradient S pi mu 1 0.
Proof.
move=> a0 ab; have B2 := bound_g1_corrected stoch stat low gamma0 S_gt0 moves.
have two : (0 : R) < 2%:R by rewrite ltr0n.
have four : (0 : R) < 4%:R by rewrite ltr0n.
case: (leP (normB S pi mu) 4%:R^-1) => hB.
  have half : 0 < 2%:R^-1 :> R by rewrite invr_gt0.
  have half1 : 2%:R^-1 <= 1 :> R by rewrite invf_le1 // ler1n.
  have c h : square (applied S P h) <= 2%:R^-1 ^+ 2 * square h.
    apply: le_trans (frobenius_contracts h) _; rewrite ler_wpmul2r ?(square_ge0 stat) //.
    by apply: le_trans hB _; apply: eqW; field.
  apply: le_trans (gap_by_lambda half half1 c a0 ab); rewrite ler_add2l -(ler_pmul2l two).
  have -> : 2%:R * ((1 - 2%:R^-1) * normB S pi mu) = normB S pi mu by field.
  by rewrite mulrA.
have g1 := gamma_S_lt1 gamma_lt1 S_gt0.
have l0 : 0 < 1 - gamma / S%:R by rewrite subr_gt0.
have l1 : 1 - gamma / S%:R <= 1 by rewrite ler_subl_addr ler_addl divr_ge0 // ltW.
have c := spectral_gap stoch stat low gamma0 gamma_lt1 S_gt0.
apply: le_trans (gap_by_lambda l0 l1 c a0 ab); rewrite ler_add2l.
have -> : 1 - (1 - gamma / S%:R) = gamma / S%:R by ring.
apply: (@le_trans _ _ (gamma / S%:R * 4%:R^-1)); last first.
  by rewrite ler_pmul2l ?divr_gt0 // ltW.
have -> : gamma ^+ 3 / S%:R ^+ 2 = gamma / S%:R * (4%:R * gamma ^+ 2 / S%:R * 4%:R^-1).
  by field; rewrite lt0r_neq0.
rewrite ler_pmul2l ?divr_gt0 // ler_pimull ?invr_ge0 ?(ltW four) //.
by rewrite ler_pdivr_mulr // mul1r small_gamma.
Qed.

(* Positions in different trees are independent. *)
Lemma gap_other_tree : 0 + gamma ^+ 3 / S%:R ^+ 2 <= ancestor_gradient S pi mu 1 0.
Proof.
rewrite add0r parent_gradient; apply: le_trans (bound_g1_corrected stoch stat low gamma0 S_gt0 moves).
by rewrite -mulrA ler_pemull ?ler1n // divr_ge0 // exprn_ge0 // ltW.
Qed.

(* j = i *)
Lemma gradient_itself : ancestor_gradient S pi mu 0 0 = \Sum_(s < S) pi s s - 1.
Proof.
congr (_ - _); apply: index_eq => s hs.
transitivity (\Sum_(t < S) ((s == t)%:R * (pi s t / mu t * mu s))).
  apply: index_eq => t ht.
  have -> : \Sum_(k < S) (mu k * power S pi 0 k t * power S pi 0 k s) = mu s * (s == t)%:R; last by ring.
  rewrite -[RHS](total_delta (fun k => mu k * (k == t)%:R) hs); apply: index_eq => k _.
  by rewrite /= [s == k]eq_sym mulrC.
by rewrite total_delta // divfK // lt0r_neq0 ?mu0.
Qed.
End Gap.

(* Lemma 5 (thm-dpi-gap-corrected) *)
Section Prior.
Variables (R : realFieldType) (S : nat) (gamma : R) (P : prior R).
Hypothesis prior : assumption1 S gamma P.
Notation mean_g a b := (mean_over P (fun c => ancestor_gradient S (matrix c) (measure c) a b)).

Lemma prior_facts : [/\ is_prior P, 0 < gamma, gamma < 1, (0 < S)%N & forall c, c \in P ->
  [/\ stochastic S (matrix c), stationary S (matrix c) (measure c), above S (matrix c) (gamma / S%:R) &
    at_least S (matrix c) (gamma / S%:R)]].
Proof.
case: prior => g0 adm _ _ ok; split=> // [||c /adm /and4P[st sta ab _]]; last by split=> //; apply: low ab.
  by apply: (from_chains ok) => c /adm /and4P[st sta ab _]; apply: gamma_lt1 st sta ab.
by apply: (from_chains ok) => c /adm /and4P[_ sta _ _]; apply: S_gt0 sta.
Qed.

Lemma bounded_ancestor a b : bounded P (fun c => ancestor_gradient S (matrix c) (measure c) a b).
Proof.
have [_ g0 _ S0 facts] := prior_facts; have Sr : (0 : R) < S%:R by rewrite ltr0n.
have valid c : c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c) by move=> /facts[].
apply: boundedB; last exact: bounded_const.
apply: bounded_total => s; rewrite index_lt => hs; apply: bounded_total => t; rewrite index_lt => ht.
apply: boundedM.
  apply: boundedM; first exact: (bounded_entry valid hs ht).
  apply: (@bounded_inverse _ _ (gamma / S%:R)) => [|c /facts[_ sta _ lo]]; first exact: divr_gt0.
  exact: (mu_lower sta lo ht).
apply: bounded_total => k; rewrite index_lt => hk.
do 2 (apply: boundedM; last by apply: (bounded_power valid)).
exact: (bounded_measure valid hk).
Qed.

Lemma dpi_gap_corrected a b : (0 < a)%N -> (1 < a + b)%N -> mean_g a b + gamma ^+ 3 / S%:R ^+ 2 <= mean_g 1 0.
Proof.
case: prior => g0 adm _ _ ok a0 ab; apply: (over_le ok); try exact: bounded_ancestor.
by move=> c /adm /and4P[st sta ab' sp]; apply: gap_corrected.
Qed.

Lemma dpi_gap_corrected_other_tree : 0 + gamma ^+ 3 / S%:R ^+ 2 <= mean_g 1 0.
Proof.
case: prior => g0 adm _ _ ok; rewrite -{1}(over0 ok).
apply: (over_le ok); [exact: bounded_const | exact: bounded_ancestor | ].
by move=> c /adm /and4P[st sta ab' sp]; apply: gap_other_tree.
Qed.

Lemma mean_itself : mean_g 0 0 = 0.
Proof.
have [ok g0 _ S0 facts] := prior_facts; case: prior => _ _ _ mean _.
have valid c : c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c) by move=> /facts[].
have b s : s \in iota 0 S -> bounded P (fun c => matrix c s s).
  by rewrite index_lt => hs; exact: (bounded_entry valid hs hs).
transitivity (mean_over P (fun c => \Sum_(s < S) matrix c s s - 1)).
  by apply: (over_eq ok) => c /facts[st sta ab lo]; exact: gradient_itself ab g0.
rewrite (overB ok); [|exact: bounded_total|exact: bounded_const].
rewrite (over_total ok) // (over_const ok) (index_eq (G := fun=> S%:R^-1)) => [|s hs]; last first.
  by apply/eqP; move/all_index: mean => h; move/all_index: (h s hs); apply.
by rewrite total_const size_iota -[_ *+ S]mulr_natr mulVf ?subrr // pnatr_eq0 -lt0n.
Qed.

Lemma dpi_gap_corrected_itself : mean_g 0 0 + gamma ^+ 3 / S%:R ^+ 2 <= mean_g 1 0.
Proof. by rewrite mean_itself dpi_gap_corrected_other_tree. Qed.
End Prior.
