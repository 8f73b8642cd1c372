(* What draws the row of the query in stage 1: it is a root with the uniform  *)
(* law in place of mu, and its token is the one that is asked for. On every   *)
(* forest of T = m^2 positions in trees with one leaf each, at eps = 1/m and  *)
(* for every A1, its own column is pulled more than any other one by          *)
(*   sum_s (pi(s|s)/mu(s) - 1)(1 - mu(s)) - S K/m                             *)
(* over S T, with K of gamma and S.                                           *)
(*   gain S pi mu      == that sum                                            *)
(*   rest_bound S gamma == K                                                  *)
(*   missing ...       == what the frequencies of a sequence take away        *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums markov leaves effective_length law variance stage_one.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Numbers.
Variable R : realFieldType.

Lemma drive_step S q (p f : nat -> R) eps w : (q < S)%N -> (forall t, (t < S)%N -> 0 <= p t) ->
  \Sum_(t < S) p t = 1 -> (forall t, 0 <= f t) -> 0 < eps -> 0 <= w ->
  w * (p q / (f q + eps) - 1) <= \Sum_(t < S) p t / (f t + eps) * (w * ((q == t)%:R - f t)).
Proof.
move=> hq p0 p1 f0 e0 w0; have fe t : 0 < f t + eps by rewrite ltr_spaddr.
rewrite (index_eq (G := fun t => w * (p t * ((q == t)%:R + eps) / (f t + eps) - p t))) => [|t ht]; last first.
  by field; rewrite lt0r_neq0.
rewrite totalZ ler_wpmul2l // totalB p1 ler_add2r -[leLHS](total_delta (fun t => p t / (f t + eps)) hq).
apply: index_le => t ht; rewrite mulrA [_ * p t]mulrC ler_pmul2r ?invr_gt0 //.
by rewrite ler_wpmul2l ?p0 // ler_addl ltW.
Qed.

Lemma tangent (y u : R) : 0 < y -> 0 < u -> u^-1 - (y - u) / u ^+ 2 <= y^-1.
Proof.
move=> y0 u0; rewrite -subr_ge0.
have -> : y^-1 - (u^-1 - (y - u) / u ^+ 2) = (y - u) ^+ 2 / (y * u ^+ 2) by field; rewrite !lt0r_neq0.
by rewrite divr_ge0 ?sqr_ge0 // mulr_ge0 ?sqr_ge0 // ltW.
Qed.

(* a/(f + eps) from below by a/u, f near u *)
Lemma near_share (a u f eps t low : R) : 0 <= a <= 1 -> 0 < low -> low <= u -> 0 <= f -> 0 < eps -> 0 < t ->
  a / u - (t * (f - u) ^+ 2 + (4%:R * t)^-1 + eps) / low ^+ 2 <= a / (f + eps).
Proof.
move=> /andP[a0 a1] l0 lu f0 e0 t0; set Z := t * _ + _ + eps.
have u0 : 0 < u by apply: lt_le_trans lu.
have Zd : f + eps - u <= Z.
  rewrite -subr_ge0; have -> : Z - (f + eps - u) = t * (f - u - (2%:R * t)^-1) ^+ 2.
    by rewrite /Z; field; rewrite lt0r_neq0.
  by rewrite mulr_ge0 ?sqr_ge0 // ltW.
have Z0 : 0 <= Z.
  have i0 : 0 <= (4%:R * t)^-1 by rewrite invr_ge0 mulr_ge0 ?ler0n // ltW.
  by rewrite /Z addr_ge0 ?(ltW e0) // addr_ge0 // mulr_ge0 ?sqr_ge0 // ltW.
apply: (@le_trans _ _ (a * (u^-1 - (f + eps - u) / u ^+ 2))); last first.
  by rewrite ler_wpmul2l // tangent // ltr_spaddr.
rewrite mulrBr ler_add2l ler_opp2 mulrA; apply: (@le_trans _ _ (Z / u ^+ 2)).
  rewrite ler_wpmul2r ?invr_ge0 ?sqr_ge0 //; apply: (@le_trans _ _ (a * Z)); first by rewrite ler_wpmul2l.
  by rewrite ler_pimull.
rewrite ler_wpmul2l // lef_pinv ?posrE ?exprn_gt0 // ler_expn2r ?nnegrE //; exact: ltW.
Qed.

(* what weights near 1/T change *)
Lemma near_weights (a v f fr eps e : R) : 0 <= a <= 1 -> 0 <= e -> 0 < eps <= 1 -> 0 <= f -> f <= (1 + e) * fr ->
  0 <= fr -> (1 + e)^-1 <= v <= 1 + e -> a / (fr + eps) - 1 - 3%:R * e / eps <= v * (a / (f + eps) - 1).
Proof.
move=> /andP[a0 a1] e0 /andP[ep ep1] f0 ff fr0 /andP[v0 v1].
have b0 : 0 < 1 + e by rewrite ltr_spaddl ?ltr01.
have fe : 0 < f + eps by rewrite ltr_spaddr.
have fre : 0 < fr + eps by rewrite ltr_spaddr.
set Y := a / (fr + eps); have Y0 : 0 <= Y by rewrite divr_ge0 // ltW.
have Y1 : Y <= eps^-1.
  apply: (@le_trans _ _ (1 / (fr + eps))); first by rewrite ler_wpmul2r ?invr_ge0 // ltW.
  by rewrite mul1r lef_pinv ?posrE // ler_addr.
have y1 : Y / (1 + e) <= a / (f + eps).
  rewrite /Y -mulrA -invfM ler_wpmul2l // lef_pinv ?posrE ?mulr_gt0 // mulrDl [fr * _]mulrC ler_add //.
  by rewrite ler_pmulr // ler_addl.
apply: (@le_trans _ _ (Y / (1 + e) / (1 + e) - (1 + e))); last first.
  rewrite mulrBr mulr1 ler_sub // mulrC ler_pmul ?invr_ge0 ?(ltW b0) //.
  by rewrite divr_ge0 // ltW.
have small : Y - 2%:R * e / eps <= Y / (1 + e) / (1 + e).
  have -> : Y / (1 + e) / (1 + e) = Y / (1 + e) ^+ 2 by field; rewrite lt0r_neq0.
  rewrite ler_pdivl_mulr ?exprn_gt0 //.
  have h : Y - 2%:R * e / eps <= Y * (1 - 2%:R * e).
    rewrite mulrBr mulr1 ler_add2l ler_opp2 mulrC ler_wpmul2l // mulr_ge0 ?ler0n //.
  apply: (@le_trans _ _ (Y * (1 - 2%:R * e) * (1 + e) ^+ 2)); first by rewrite ler_wpmul2r ?sqr_ge0.
  rewrite -mulrA ler_pimulr // -subr_ge0.
  have -> : 1 - (1 - 2%:R * e) * (1 + e) ^+ 2 = e ^+ 2 * (3%:R + 2%:R * e) by ring.
  by rewrite mulr_ge0 ?sqr_ge0 // addr_ge0 ?mulr_ge0 ?ler0n.
have ee : e <= e / eps by rewrite ler_pdivl_mulr // ler_pimulr.
apply: (@le_trans _ _ (Y - 2%:R * e / eps - (1 + e))); last by rewrite ler_add2r.
rewrite -subr_ge0; have -> : Y - 2%:R * e / eps - (1 + e) - (Y - 1 - 3%:R * e / eps) = e / eps - e.
  by field; rewrite lt0r_neq0.
by rewrite subr_ge0.
Qed.
End Numbers.

Definition gain (R : realFieldType) S (pi : nat -> nat -> R) mu : R := \Sum_(s < S) (pi s s / mu s - 1) * (1 - mu s).

Definition rest_bound (R : realFieldType) S (gamma : R) : R :=
  (2%:R * S%:R * (1 + S%:R) / gamma + 5%:R / 4%:R) * (S%:R / gamma) ^+ 2 + 3%:R.

Section Query.
Variables (R : realFieldType) (exp : R -> R) (S m : nat) (g : seq nat) (pi : nat -> nat -> R) (mu : nat -> R).
Variables (gamma beta0 : R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu) (low : at_least S pi (gamma / S%:R)).
Hypotheses (gamma0 : 0 < gamma) (gamma1 : gamma < 1).
Hypotheses (ok : forest g) (one : most_leaves g = 1%N) (perfect : size g = (m ^ 2)%N) (m0 : (0 < m)%N).
Notation T := (size g).
Notation expect := (expect S g pi mu).
Notation eps := (m%:R^-1 : R).
Notation sequences := (sequences S T).

Let mr : (0 : R) < m%:R. Proof. by rewrite ltr0n. Qed.
Let T0 : (0 < T)%N. Proof. by rewrite perfect expn_gt0 m0. Qed.
Let Tr : T%:R = m%:R ^+ 2 :> R. Proof. by rewrite perfect natrX. Qed.
Let S0 : (0 < S)%N. Proof. exact: S_gt0 stat. Qed.
Let Sr : (0 : R) < S%:R. Proof. by rewrite ltr0n. Qed.
Let l0 : 0 < gamma / S%:R. Proof. by rewrite divr_gt0. Qed.
Let mu_low s : (s < S)%N -> gamma / S%:R <= mu s. Proof. by move=> hs; apply: (mu_lower stat low). Qed.
Let mu0 s : (s < S)%N -> 0 < mu s. Proof. by move=> hs; apply: lt_le_trans l0 (mu_low hs). Qed.

Definition missing x : R :=
  (m%:R * (\Sum_(s < S) (frequency R x s - mu s) ^+ 2) + 5%:R / (4%:R * m%:R)) * (S%:R / gamma) ^+ 2 + 3%:R / m%:R.

Lemma missing_ge0 x : 0 <= missing x.
Proof.
rewrite addr_ge0 ?divr_ge0 ?ler0n // mulr_ge0 ?sqr_ge0 // addr_ge0 //; last by rewrite divr_ge0 ?mulr_ge0 ?ler0n.
by rewrite mulr_ge0 ?ler0n //; apply: index_ge0 => s _; apply: sqr_ge0.
Qed.

Lemma query_lt x : x \in sequences -> size x = T /\ (query x < S)%N.
Proof.
move=> hx; have [z _] := sequencesP hx; split=> //.
by rewrite /query z; apply: (token_lt hx); rewrite T0 leqnn.
Qed.

(* For weights near 1/T, whatever they are *)
Lemma drive_low x (w : nat -> R) f : x \in sequences ->
  (1 + m%:R^-1 ^+ 2)^-1 <= T%:R * w T.-1 <= 1 + m%:R^-1 ^+ 2 -> 0 <= w T.-1 ->
  (forall t, 0 <= f t) -> (forall t, f t <= (1 + m%:R^-1 ^+ 2) * frequency R x t) ->
  pi (query x) (query x) / mu (query x) - 1 - missing x <=
    T%:R * \Sum_(t < S) pi (query x) t / (f t + eps) * (w T.-1 * ((token x T == t)%:R - f t)).
Proof.
move=> hx wn w0 f0 ff; have [z hq] := query_lt hx; set q := query x in hq *.
have e0 : 0 < eps by rewrite invr_gt0.
have e1 : eps <= 1 by rewrite invf_le1 // ler1n.
have q1 : 0 <= pi q q <= 1 by rewrite (pi_ge0 stoch) // (pi_le1 stoch).
have fr0 : 0 <= frequency R x q by rewrite divr_ge0 ?ler0n.
have -> : token x T = q by rewrite /q /query z.
apply: (@le_trans _ _ (T%:R * (w T.-1 * (pi q q / (f q + eps) - 1)))); last first.
  rewrite ler_wpmul2l ?ler0n //; apply: drive_step => // [t ht|].
    exact: (pi_ge0 stoch).
  exact: row_sum stoch hq.
have ee : 0 <= eps ^+ 2 by apply: sqr_ge0.
rewrite mulrA; apply: le_trans (near_weights q1 ee _ (f0 q) (ff q) fr0 wn); last by rewrite e0 e1.
have e3 : 3%:R * eps ^+ 2 / eps = 3%:R / m%:R by field; rewrite lt0r_neq0.
have e4 : (m%:R * (frequency R x q - mu q) ^+ 2 + (4%:R * m%:R)^-1 + eps) / (gamma / S%:R) ^+ 2 =
    (m%:R * (frequency R x q - mu q) ^+ 2 + 5%:R / (4%:R * m%:R)) * (S%:R / gamma) ^+ 2.
  by field; rewrite !lt0r_neq0.
have := near_share q1 l0 (mu_low hq) fr0 e0 mr; rewrite e3 e4; set Z := (X in _ - X <= _) => h.
apply: (@le_trans _ _ (pi q q / mu q - Z - 1 - 3%:R / m%:R)); last by rewrite !ler_add2r.
rewrite -subr_ge0.
set V := (m%:R * (\Sum_(s < S) (frequency R x s - mu s) ^+ 2) + 5%:R / (4%:R * m%:R)) * (S%:R / gamma) ^+ 2.
have -> : pi q q / mu q - Z - 1 - 3%:R / m%:R - (pi q q / mu q - 1 - missing x) = V - Z by rewrite /missing -/V; ring.
rewrite subr_ge0 ler_wpmul2r ?sqr_ge0 // ler_add2r ler_wpmul2l ?ler0n //.
by apply: (term_le (F := fun s => (frequency R x s - mu s) ^+ 2)) => // s _; apply: sqr_ge0.
Qed.

Lemma missing_mean : expect missing <= rest_bound S gamma / m%:R.
Proof.
pose lambda : R := 1 - gamma / S%:R.
have lam1 : lambda < 1 by rewrite ltr_subl_addr ltr_addl.
have lam0 : 0 < lambda by rewrite subr_gt0 (gamma_S_lt1 gamma1 S0).
have contracts h := spectral_gap stoch stat low gamma0 gamma1 S0 h.
have big : gamma / S%:R * T%:R / 2%:R <= effective_length g lambda.
  apply: le_trans (teff_leaves_corrected ok T0 lam0 lam1); rewrite one mulr1.
  have -> : 1 - lambda = gamma / S%:R by rewrite /lambda; ring.
  have p : 0 < 1 + lambda by rewrite addr_gt0 ?ltr01.
  apply: ler_wpmul2l; first by rewrite mulr_ge0 ?ler0n // ltW.
  rewrite lef_pinv ?posrE ?ltr0n //; apply: (@le_trans _ _ (1 + 1)); first by rewrite ler_add2l ltW.
  by rewrite -mulr2n.
have tr0 : (0 : R) < T%:R by rewrite ltr0n.
have big0 : 0 < gamma / S%:R * T%:R / 2%:R by rewrite divr_gt0 ?ltr0n // mulr_gt0.
have eff0 := lt_le_trans big0 big.
pose V x := \Sum_(s < S) (frequency R x s - mu s) ^+ 2.
pose c2 : R := 5%:R / (4%:R * m%:R) * (S%:R / gamma) ^+ 2 + 3%:R / m%:R.
rewrite (expect_eq _ _ (G := fun x => m%:R * (S%:R / gamma) ^+ 2 * V x - (- c2) * 1)) => [|x _]; last first.
  by rewrite /missing /V /c2; ring.
rewrite expectB !expectZ (expect1 stoch stat ok) mulr1 opprK.
have v : expect V <= (1 + S%:R) / (gamma / S%:R * T%:R / 2%:R).
  rewrite /V expect_sum; apply: (@le_trans _ _ (\Sum_(s < S) (mu s + T%:R^-1) / effective_length g lambda)).
    by apply: index_le => s hs; apply: (muhat_variance stoch stat ok contracts (ltW lam0) T0 hs).
  rewrite totalZr totalD (mu_sum stat) total_const size_iota -[_ *+ S]mulr_natr.
  apply: ler_pmul; rewrite ?invr_ge0 ?(ltW eff0) //.
  - by rewrite addr_ge0 ?ler01 // mulr_ge0 ?ler0n // invr_ge0 ler0n.
  - by rewrite ler_add2l ler_pimull ?ler0n // invf_le1 // ler1n.
  by rewrite lef_pinv ?posrE.
have -> : rest_bound S gamma / m%:R = m%:R * (S%:R / gamma) ^+ 2 * ((1 + S%:R) / (gamma / S%:R * T%:R / 2%:R)) + c2.
  by rewrite /rest_bound /c2 Tr; field; rewrite !lt0r_neq0.
by rewrite ler_add2r ler_wpmul2l // mulr_ge0 ?ler0n ?sqr_ge0.
Qed.

Notation f s := (pi s s / mu s - 1).

Lemma query_value : S%:R * expect (fun x => f (query x)) = \Sum_(s < S) f s.
Proof.
have T1 : (0 < T <= T)%N by rewrite T0 leqnn.
rewrite (expect_eq _ _ (G := fun x => f (token x T) * 1)) => [|x /query_lt[z _]]; last by rewrite /query z mulr1.
rewrite (expect_by_value S pi mu (fun s => f s) (fun=> 1)) // -totalZ; apply: index_eq => s hs.
rewrite (query_law stoch stat ok T0 hs) // (expect1 stoch stat ok) mulr1.
by field; rewrite !lt0r_neq0 ?mu0.
Qed.

Lemma query_match k : (k < T.-1)%N ->
  S%:R * expect (fun x => f (query x) * (token x k.+1 == query x)%:R) = \Sum_(s < S) f s * mu s.
Proof.
move=> hk; have T1 : (0 < T <= T)%N by rewrite T0 leqnn.
have hkT : (0 < k.+1 < T)%N by rewrite -ltnS prednK in hk *.
pose F s x := (token x T == s)%:R * (token x k.+1 == s)%:R : R.
rewrite (expect_eq _ _ (G := fun x => \Sum_(s < S) f s * F s x)) => [|x hx]; last first.
  have [z _] := query_lt hx; rewrite /query z (by_value (fun s => f s * (token x k.+1 == s)%:R) hx T1).
  by apply: total_eq => s _; rewrite /F; ring.
rewrite expect_sum -totalZ; apply: index_eq => s hs; rewrite expectZ /F (query_law stoch stat ok T0 hs).
  by rewrite (token_law stoch stat ok hkT hs); field; rewrite !lt0r_neq0 ?mu0.
by move=> x y z; rewrite token_cat // z.
Qed.

Hypothesis is_exp : exponential exp.

Lemma query_low A x : 0 <= beta0 -> exp beta0 <= 1 + m%:R^-1 ^+ 2 -> x \in sequences ->
  f (query x) - missing x <= T%:R * pull_at exp S eps beta0 pi A T T.-1 x.
Proof.
move=> b0 be hx; have [z hq] := query_lt hx; have zx : (T.-1 < size x)%N by rewrite z prednK.
have e : token x T == query x by rewrite /query z.
have wn := weights_near is_exp A (query x) b0 be zx; rewrite z in wn.
have w0 : 0 <= weights exp beta0 A x (query x) T.-1 by rewrite ltW // (soft_gt0 is_exp) // z.
have le := drive_low hx wn w0 (predicted_ge0 is_exp beta0 A x (query x))
  (fun t => predicted_le is_exp A (query x) t b0 be (leq_ltn_trans (leq0n _) zx)).
by rewrite /pull_at prednK // e mulr1.
Qed.

Lemma query_pull A k : 0 <= beta0 -> exp beta0 <= 1 + m%:R^-1 ^+ 2 -> (k < T.-1)%N ->
  gain S pi mu - S%:R * (rest_bound S gamma / m%:R) <=
    S%:R * T%:R * (pull_of exp S g eps beta0 pi mu A T T.-1 - pull_of exp S g eps beta0 pi mu A T k).
Proof.
move=> b0 be hk; pose ind x : R := (token x k.+1 == query x)%:R.
rewrite /pull_of -expectB -mulrA -expectZ.
have -> : gain S pi mu = S%:R * expect (fun x => f (query x)) - S%:R * expect (fun x => f (query x) * ind x).
  by rewrite query_value query_match // -totalB; apply: total_eq => s _; ring.
rewrite -!mulrBr ler_pmul2l // -expectB.
apply: (@le_trans _ _ (expect (fun x => f (query x) - f (query x) * ind x) - expect missing)).
  by rewrite ler_add2l ler_opp2 missing_mean.
rewrite -expectB; apply: (expect_le stoch stat ok) => x hx; have := query_low A b0 be hx.
have [z _] := query_lt hx; have e : token x T == query x by rewrite /query z.
rewrite /pull_at prednK // e mulr1 /ind; case: (_ == query x); rewrite ?mulr1 ?mulr0 ?subr0 //.
by rewrite !subrr mulr0 sub0r oppr_le0 missing_ge0.
Qed.

(* The mean of what bounds the gradient of one sample *)
Lemma query_mean : \Sum_(s < S) f s - S%:R * (rest_bound S gamma / m%:R) <=
  expect (fun x => S%:R * (f (query x) - missing x)).
Proof.
rewrite expectZ expectB mulrBr query_value ler_add2l ler_opp2 ler_pmul2l //.
exact: missing_mean.
Qed.
End Query.
