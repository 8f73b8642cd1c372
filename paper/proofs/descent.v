(* The descent of stage 1, with the steps of the proof of Theorem 1 that need *)
(* exponential or logarithm. With gradient.v this is stage 1 of the corrected *)
(* main theorem from Lemma 5 (thm-dpi-gap-corrected) to Corollary 1.          *)
(*                                                                            *)
(* Theorem 1 (thm-main-step-threshold): |log(f + eps) - log pi|               *)
(* Lemma 12 (lem-a2-dynamics-corrected): the first time with beta >= beta*    *)
(* Lemma 7 (lem-no-parents-corrected): a row of which the gradient is         *)
(*   J(S(A_i)) v with |v| <= V stays near 1/i.                                *)
(* Lemma 6 (thm-stage1-parents-corrected): the gradient of a row with a       *)
(*   parent, and that the parent leads at all times                           *)
(* Lemma 8 (lem-a1-dynamics, lem-a1-dynamics-step-integer): the               *)
(*   time until a row finds its parent                                        *)
(* Corollary 1 (cor-stage1-parents, cor-stage1-roots-corrected): the          *)
(*   attention at the end of stage 1                                          *)
(*                                                                            *)
(* p = (parent g i).-1 is the column of the parent of i.                      *)
(*   leads i p a       == no entry of a before i is larger than entry p       *)
(*   evenness i eta V n == a lower bound of the quotients of entries of e^A   *)
(*                        after n steps                                       *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors markov leaves law softmax gap forest_gap stage_one gradient.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Threshold.
Variables (R : realFieldType) (exp ln : R -> R).
Hypotheses (is_exp : exponential exp) (is_log : logarithm exp ln).

Lemma ln_lipschitz a b m : 0 < m -> m <= a -> m <= b -> `|ln a - ln b| <= `|a - b| / m.
Proof.
have side x y : 0 < m -> m <= x -> m <= y -> ln x - ln y <= `|x - y| / m.
  move=> m0 mx my; have x0 := lt_le_trans m0 mx; have y0 := lt_le_trans m0 my.
  have -> : ln x - ln y = ln (x / y).
    by apply/eqP; rewrite subr_eq -(lnM is_exp is_log) ?divr_gt0 // divfK // lt0r_neq0.
  apply: le_trans (ln_le is_exp is_log (divr_gt0 x0 y0)) _.
  have -> : x / y - 1 = (x - y) / y by rewrite mulrBl divff // lt0r_neq0.
  apply: (@le_trans _ _ (`|x - y| / y)); first by rewrite ler_wpmul2r ?ler_norm // invr_ge0 ltW.
  by rewrite ler_wpmul2l // lef_pinv.
move=> m0 ma mb; rewrite ler_norml ler_oppl opprB !side // distrC.
by rewrite side.
Qed.

(* Theorem 1 (thm-main-step-threshold) *)
Theorem threshold_corrected S (pi : nat -> nat -> R) gamma eps f s t :
  stochastic S pi -> 0 < gamma -> at_least S pi (gamma / S%:R) -> 0 < eps -> 0 <= f <= 1 ->
  (s < S)%N -> (t < S)%N ->
  `|ln (f + eps) - ln (pi s t)| <= 4%:R * S%:R ^+ 2 / gamma ^+ 3 * (`|f - pi s t| + eps) *
    (1 + eps^-1 * (f <= gamma ^+ 3 / (4%:R * S%:R ^+ 2))%R%:R).
Proof.
move=> st g0 low e0 /andP[f0 _] hs ht; set b := pi s t.
have S1 : (1 : R) <= S%:R by rewrite ler1n (leq_ltn_trans (leq0n s) hs).
have S0 : (0 : R) < S%:R by apply: lt_le_trans ltr01 S1.
have g1 : gamma <= 1.
  rewrite -(row_sum st hs) -[leLHS](divfK (lt0r_neq0 S0)) mulr_natr -[X in _ *+ X](size_iota 0) -total_const.
  by apply: index_le => r hr; apply: entry_ge low hs hr.
have low_b : gamma / S%:R <= b by apply: entry_ge low hs ht.
set u := gamma ^+ 3 / (4%:R * S%:R ^+ 2).
have u0 : 0 < u by rewrite divr_gt0 ?exprn_gt0 // mulr_gt0 ?exprn_gt0 // ltr0n.
have gS1 : gamma / S%:R <= 1 by rewrite ler_pdivr_mulr // mul1r (le_trans g1).
have ub : u <= gamma / S%:R.
  have -> : u = gamma / S%:R * (gamma ^+ 2 / (4%:R * S%:R)) by rewrite /u; field; rewrite lt0r_neq0.
  rewrite ler_pimulr ?divr_ge0 ?(ltW g0) ?(ltW S0) // ler_pdivr_mulr; last by rewrite mulr_gt0 // ltr0n.
  rewrite mul1r; apply: (@le_trans _ _ 1); first by rewrite exprn_ile1 // ltW.
  by rewrite -natrM ler1n muln_gt0 /= -(ltr0n R).
set F := (f <= u)%R%:R; set w := 1 + eps^-1 * F.
have F0 : 0 <= F by apply: ler0n.
have w1 : 1 <= w by rewrite ler_addl mulr_ge0 // invr_ge0 ltW.
have w0 : 0 < w by apply: lt_le_trans ltr01 w1.
have m0 : 0 < u / w by apply: divr_gt0.
have mu' : u / w <= u by rewrite ler_pdivr_mulr // ler_pmulr.
have ma : u / w <= f + eps.
  rewrite /w /F; case: (leP f u) => [fu | uf]; last first.
    by rewrite mulr0 addr0 divr1 (le_trans (ltW uf)) // ler_addl ltW.
  rewrite mulr1; apply: (@le_trans _ _ eps); last by rewrite ler_addr.
  rewrite ler_pdivr_mulr; last by rewrite ltr_spaddl ?ltr01 // invr_ge0 ltW.
  by rewrite mulrDr mulr1 divff ?lt0r_neq0 // (le_trans (le_trans ub gS1)) // ler_addr ltW.
apply: le_trans (ln_lipschitz m0 ma (le_trans mu' (le_trans ub low_b))) _.
have -> : 4%:R * S%:R ^+ 2 / gamma ^+ 3 * (`|f - b| + eps) * w = (`|f - b| + eps) / (u / w).
  by rewrite /u; field; rewrite !lt0r_neq0.
rewrite ler_wpmul2r ?invr_ge0 ?(ltW m0) // addrAC.
by apply: le_trans (ler_norm_add _ _) _; rewrite (gtr0_norm e0).
Qed.
End Threshold.

(* Lemma 12 (lem-a2-dynamics-corrected) *)
Section StageTwo.
Variables (R : archiFieldType) (exp : R -> R) (beta G : nat -> R) (c eta top : R).
Hypotheses (is_exp : exponential exp) (c0 : 0 < c) (eta0 : 0 < eta) (eta1 : eta <= 1) (top0 : 0 <= top).
Hypotheses (start : 0 <= beta 0 <= 1) (step : forall n, beta n.+1 = beta n + eta * G n).
Hypotheses (low : forall n, beta n <= top -> c * exp (- (2%:R * beta n)) <= G n) (high : forall n, G n <= 1).

(* e^(2 beta) grows by 2 c eta in each step *)
Lemma growth n : (forall m, (m < n)%N -> beta m < top) -> 1 + 2%:R * c * eta * n%:R <= exp (2%:R * beta n).
Proof.
case: is_exp => m l; elim: n => [|n IH] h.
  have /andP[b0 _] := start; rewrite mulr0 addr0 -[leLHS](exp0 is_exp); apply: (exp_le is_exp).
  by rewrite mulr_ge0 ?ler0n.
have {}IH := IH (fun k hk => h k (ltnW hk)); have lowG := low (ltW (h n (leqnn _))).
rewrite -(addn1 n) natrD mulrDr mulr1 addrA; apply: (@le_trans _ _ (exp (2%:R * beta n) + 2%:R * c * eta)).
  by rewrite ler_add2r.
rewrite addn1 step mulrDr m; apply: (@le_trans _ _ (exp (2%:R * beta n) * (1 + 2%:R * (eta * G n)))); last first.
  by rewrite ler_pmul2l ?(exp_gt0 is_exp).
rewrite mulrDr mulr1 ler_add2l; set E := exp (2%:R * beta n).
have -> : E * (2%:R * (eta * G n)) = 2%:R * eta * (E * G n) by ring.
have -> : 2%:R * c * eta = 2%:R * eta * (E * (c * exp (- (2%:R * beta n)))).
  have := expN is_exp (2%:R * beta n); rewrite -/E => e; rewrite [E * _]mulrCA e; ring.
by rewrite ler_wpmul2l ?mulr_ge0 ?ler0n ?(ltW eta0) // ler_wpmul2l // ltW ?(exp_gt0 is_exp).
Qed.

Theorem stage_two_time : let time := (exp (2%:R * top) - 1) / (2%:R * c * eta) in
  time <= exp (2%:R * top) * top / (c * eta) /\
  exists n, [/\ n%:R <= 1 + time, forall m, (m < n)%N -> beta m < top & top <= beta n <= 1 + top].
Proof.
have d0 : 0 < 2%:R * c * eta by rewrite !mulr_gt0 ?ltr0n.
have E1 : 1 <= exp (2%:R * top).
  by rewrite -[leLHS](exp0 is_exp); apply: (exp_le is_exp); rewrite mulr_ge0 ?ler0n.
move=> time; have t0 : 0 <= time by rewrite divr_ge0 ?(ltW d0) // subr_ge0.
split.
  have -> : exp (2%:R * top) * top / (c * eta) = exp (2%:R * top) * (2%:R * top) / (2%:R * c * eta).
    by field; rewrite !lt0r_neq0.
  rewrite ler_wpmul2r ?invr_ge0 ?(ltW d0) // -subr_ge0; case: is_exp => m l.
  have := l (- (2%:R * top)); rewrite -(ler_pmul2l (exp_gt0 is_exp (2%:R * top))) (expN is_exp) -subr_ge0.
  by congr (0 <= _); ring.
have le_time m : (forall k, (k < m.+1)%N -> beta k < top) -> m%:R <= time.
  move=> h; rewrite ler_pdivl_mulr // mulrC ler_subr_addl.
  apply: le_trans (growth (fun k hk => h k (ltnW hk))) _; apply: (exp_le is_exp).
  by rewrite ler_wpmul2l ?ler0n // ltW ?h.
pose reached n := top <= beta n.
have ex : exists n, reached n.
  pose N := Num.bound time; case: (boolP (has reached (iota 0 N.+1))) => [/hasP[n _ h] | /hasPn h]; first by exists n.
  have : N%:R <= time.
    by apply: le_time => k hk; rewrite ltNge; apply: h; rewrite index_lt.
  by rewrite leNgt archi_boundP.
have first := ex_minnP ex; move: first => [n rn least].
have before m : (m < n)%N -> beta m < top.
  by move=> mn; rewrite ltNge; apply/negP => /least; rewrite leqNgt mn.
exists n; split=> //; case: n rn {least} before => [|n] rn before.
- exact: addr_ge0 ler01 t0.
- by rewrite -(addn1 n) natrD addrC ler_add2l; apply: le_time.
- by rewrite [top <= _]rn (le_trans (proj2 (andP start))) // ler_addl.
rewrite [top <= _]rn step addrC ler_add //; last by rewrite ltW ?before.
apply: (@le_trans _ _ (eta * 1)); first by rewrite ler_wpmul2l ?high // ltW.
by rewrite mulr1.
Qed.
End StageTwo.

(* Lemma 7 (lem-no-parents-corrected) *)
Section Still.
Variables (R : realFieldType) (exp : R -> R) (i : nat) (A v : nat -> nat -> R) (eta V : R).
Hypotheses (is_exp : exponential exp) (i0 : (0 < i)%N) (eta0 : 0 <= eta).
Hypotheses (start : forall k, A 0 k = 0).
Hypotheses (step : forall n k, A n.+1 k = A n k - eta * jacobian i (soft exp i (A n)) (v n) k).
Hypotheses (small : forall n k, (k < i)%N -> `|v n k| <= V).

Let ir : (0 : R) < i%:R. Proof. by rewrite ltr0n. Qed.
Let V0 : 0 <= V. Proof. by apply: le_trans (small 0 i0); apply: normr_ge0. Qed.

(* the least quotient of two entries of e^A after n steps *)
Definition evenness n : R := 1 - 2%:R * eta * V / i%:R * n%:R.

Lemma share_near y (a : nat -> R) k : 0 < y -> (k < i)%N ->
  (forall j k, (j < i)%N -> (k < i)%N -> y * exp (a k) <= exp (a j)) ->
  y / i%:R <= soft exp i a k <= (y * i%:R)^-1.
Proof.
move=> y0 hk h; have z0 := sum_exp_gt0 is_exp a i0; rewrite /soft; apply/andP; split.
  rewrite ler_pdivl_mulr // mulrAC ler_pdivr_mulr // -totalZ mulrC -(total_n R i) -totalZr.
  by apply: index_le => j hj; rewrite mul1r h.
rewrite ler_pdivr_mulr // mulrC ler_pdivl_mulr ?mulr_gt0 // mulrC -mulrA [i%:R * _]mulrC mulrA.
by rewrite -(total_n R i) -totalZ; apply: index_le => j hj; rewrite mulr1 h.
Qed.

Lemma evenness_step n j k : (j < i)%N -> (k < i)%N -> evenness n * exp (A n k) <= exp (A n j).
Proof.
elim: n j k => [|n IH] j k hj hk; first by rewrite /evenness !start mulr0 subr0 mul1r.
have en : evenness n.+1 = evenness n - 2%:R * eta * V / i%:R.
  by rewrite /evenness -(addn1 n) natrD; ring.
have q0 : 0 <= 2%:R * eta * V / i%:R by rewrite divr_ge0 ?ler0n // !mulr_ge0 ?ler0n.
case: (leP (evenness n) 0) => [neg | y0].
  rewrite (le_trans _ (ltW (exp_gt0 is_exp _))) // mulr_le0_ge0 ?(ltW (exp_gt0 is_exp _)) //.
  by rewrite en subr_le0 (le_trans neg).
case: is_exp => m l; rewrite !step; set p := soft exp i (A n).
set x := jacobian i p (v n) j; set z := jacobian i p (v n) k.
have dist : distribution i p by apply: (soft_distribution is_exp).
have d : x - z <= (evenness n * i%:R)^-1 * (V - - V).
  apply: (jacobian_spread dist) hj hk => [r hr | r hr]; last by rewrite -ler_norml small.
  by have /andP[] := share_near y0 hr IH.
have -> : A n k - eta * z = A n k + - (eta * x) + eta * (x - z) by ring.
have key : evenness n.+1 * exp (eta * (x - z)) <= evenness n.
  rewrite -(ler_pmul2r (exp_gt0 is_exp (- (eta * (x - z))))) -mulrA (expN is_exp) mulr1.
  apply: (@le_trans _ _ (evenness n * (1 - eta * (x - z)))); last by rewrite ler_pmul2l.
  rewrite en mulrBr mulr1 ler_add2l ler_opp2.
  apply: (@le_trans _ _ (evenness n * (eta * ((evenness n * i%:R)^-1 * (V - - V))))).
    by rewrite ler_pmul2l // ler_wpmul2l.
  by apply: eqW; field; rewrite !lt0r_neq0.
rewrite !m; set B := exp (- (eta * x)); set C := exp (eta * (x - z)) in key *.
have -> : evenness n.+1 * (exp (A n k) * B * C) = evenness n.+1 * C * exp (A n k) * B by ring.
rewrite ler_pmul2r ?(exp_gt0 is_exp) // (le_trans _ (IH j k hj hk)) // ler_pmul2r //.
exact: exp_gt0.
Qed.

Theorem no_parents_corrected n k : 4%:R * n%:R * eta * V <= i%:R -> (k < i)%N ->
  `|soft exp i (A n) k - i%:R^-1| <= 4%:R * n%:R * eta * V / i%:R ^+ 2.
Proof.
move=> h hk; pose w : R := 4%:R * n%:R * eta * V / i%:R.
have w0 : 0 <= w by rewrite divr_ge0 ?ler0n // !mulr_ge0 ?ler0n.
have w1 : w <= 1 by rewrite ler_pdivr_mulr // mul1r.
have yE : evenness n = 1 - w / 2%:R by rewrite /evenness /w; field; rewrite lt0r_neq0.
have half : w / 2%:R <= 2%:R^-1 by rewrite ler_pdivr_mulr ?ltr0n // mulVf ?pnatr_eq0.
have y2 : 2%:R^-1 <= evenness n.
  rewrite yE; apply: (@le_trans _ _ (1 - 2%:R^-1)); last by rewrite ler_add2l ler_opp2.
  by apply: eqW; field.
have y0 : 0 < evenness n by apply: (@lt_le_trans _ _ 2%:R^-1) => //; rewrite invr_gt0 ltr0n.
have /andP[lo hi] := share_near y0 hk (@evenness_step n).
have -> : 4%:R * n%:R * eta * V / i%:R ^+ 2 = w / i%:R by rewrite /w; field; rewrite lt0r_neq0.
have yi : (evenness n)^-1 <= 1 + w.
  rewrite -(ler_pmul2l y0) divff ?lt0r_neq0 // yE -subr_ge0.
  have -> : (1 - w / 2%:R) * (1 + w) - 1 = w * (1 - w) / 2%:R by field.
  by rewrite divr_ge0 ?ler0n // mulr_ge0 // subr_ge0.
rewrite ler_norml ler_subr_addr ler_subl_addr; apply/andP; split.
  apply: le_trans lo; rewrite -mulNr -[X in _ + X]mul1r -mulrDl ler_wpmul2r ?invr_ge0 ?ler0n //
    yE addrC ler_add2l ler_opp2.
  by rewrite ler_pdivr_mulr ?ltr0n // ler_pemulr ?ler1n.
apply: le_trans hi _; rewrite invfM -[X in _ + X]mul1r -mulrDl ler_wpmul2r ?invr_ge0 ?ler0n // addrC.
exact: yi.
Qed.
End Still.

(* One row, of a position with a parent p(i) = p + 1 *)
Section Row.
Variables (R : realFieldType) (exp : R -> R) (S : nat) (g : seq nat) (P : prior R) (eps beta0 : R) (i p : nat).
Hypotheses (is_exp : exponential exp) (S0 : (0 < S)%N) (T0 : (0 < size g)%N) (b0 : 0 <= beta0) (hp : (p < i)%N).
Notation T := (size g).
Notation gstar A := (gstar exp S g eps beta0 P A i).
Notation gradient A := (gradient_one exp S g eps beta0 P A i).
Notation soft := (soft exp i).

Let Sr : (0 : R) < S%:R. Proof. by rewrite ltr0n. Qed.
Let Tr : (0 : R) < T%:R. Proof. by rewrite ltr0n. Qed.
Let i0 : (0 < i)%N. Proof. exact: leq_ltn_trans hp. Qed.

(* If p has the lead over k and g* the gap d, a step of descent increases the lead. *)
Lemma gradient_lead A d k : 0 <= d -> (forall j, (j < i)%N -> j != p -> d <= gstar A p - gstar A j) ->
  (k < i)%N -> k != p -> soft (A i) k <= soft (A i) p ->
  gradient A p <= gradient A k - soft (A i) p * (1 - soft (A i) p) * (d * beta0 / (S%:R * T%:R)).
Proof.
move=> d0 gap hk kp le; have dist := soft_distribution is_exp (A i) i0.
have h := step_lead dist d0 gap hp hk kp le; rewrite !gradient_oneE //.
rewrite -subr_ge0; set s := soft (A i) p; set x := jacobian _ _ _ p in h *; set y := jacobian _ _ _ k in h *.
have -> : - (beta0 / (S%:R * T%:R)) * y - s * (1 - s) * (d * beta0 / (S%:R * T%:R)) - - (beta0 / (S%:R * T%:R)) * x =
    beta0 / (S%:R * T%:R) * (x - y - d * (s * (1 - s))) by field; rewrite !lt0r_neq0.
by rewrite mulr_ge0 ?subr_ge0 // divr_ge0 // mulr_ge0 ?ler0n.
Qed.

Definition leads (a : nat -> R) := forall k, (k < i)%N -> a k <= a p.

Variables (eta delta : R).
Hypotheses (eta0 : 0 <= eta) (delta0 : 0 < delta).
Hypothesis gap : forall A k, leads (A i) -> (k < i)%N -> k != p -> S%:R * delta <= gstar A p - gstar A k.
Notation A n := (trained exp S g eps beta0 P eta n).
Notation lead n k := (A n i p - A n i k).

Let Sd0 : 0 <= S%:R * delta. Proof. by rewrite mulr_ge0 ?ler0n // ltW. Qed.

Lemma trained_step n k : A n.+1 i k = A n i k - eta * gradient (A n) k.
Proof. by []. Qed.

Lemma soft_lead_le a k : leads a -> (k < i)%N -> soft a k <= soft a p.
Proof.
by move=> h hk; rewrite ler_wpmul2r ?invr_ge0 ?(ltW (sum_exp_gt0 is_exp a i0)) // (exp_le is_exp) // h.
Qed.

Lemma soft_le1 a k : (k < i)%N -> soft a k <= 1.
Proof.
move=> hk; rewrite -(soft_sum is_exp a i0); apply: (term_le (F := soft a)) => // j hj.
exact/ltW/(soft_gt0 is_exp).
Qed.

(* Lemma 8 (lem-a1-dynamics): in each step each lead grows. *)
Lemma lead_step n k : leads (A n i) -> (k < i)%N -> k != p ->
  lead n k + eta * (soft (A n i) p * (1 - soft (A n i) p)) * (delta * beta0 / T%:R) <= lead n.+1 k.
Proof.
move=> h hk kp; have := gradient_lead Sd0 (fun j => gap h) hk kp (soft_lead_le h hk).
rewrite !trained_step; set s := soft _ p; set x := gradient _ p; set y := gradient _ k => le.
rewrite -subr_ge0.
have -> : A n i p - eta * x - (A n i k - eta * y) - (lead n k + eta * (s * (1 - s)) * (delta * beta0 / T%:R)) =
    eta * (y - s * (1 - s) * (S%:R * delta * beta0 / (S%:R * T%:R)) - x).
  by field; rewrite !lt0r_neq0.
by rewrite mulr_ge0 // subr_ge0.
Qed.

Lemma rate_ge0 n : 0 <= eta * (soft (A n i) p * (1 - soft (A n i) p)) * (delta * beta0 / T%:R).
Proof.
have q0 := ltW (soft_gt0 is_exp (A n i) p i0); have q1 := soft_le1 (A n i) hp.
move: (soft _ _) q0 q1 => q q0 q1.
by rewrite !mulr_ge0 ?subr_ge0 ?invr_ge0 ?ler0n // ltW.
Qed.

Lemma always_leads n : leads (A n i).
Proof.
elim: n => [|n IH] k hk //; case: (k =P p) => [-> // | /eqP kp].
rewrite -subr_ge0 (le_trans _ (lead_step IH hk kp)) // addr_ge0 ?rate_ge0 // subr_ge0.
exact: IH.
Qed.

Lemma share_grows n : soft (A n i) p <= soft (A n.+1 i) p.
Proof.
apply: (soft_mono is_exp hp) => j hj; case: (j =P p) => [-> | /eqP jp]; first by rewrite !subrr.
by apply: le_trans (lead_step (always_leads n) hj jp); rewrite ler_addl rate_ge0.
Qed.

Lemma share_mono m n : (m <= n)%N -> soft (A m i) p <= soft (A n i) p.
Proof.
move=> h; rewrite -(subnKC h); elim: (n - m)%N => [|k IH]; first by rewrite addn0.
by rewrite addnS (le_trans IH) // share_grows.
Qed.

Lemma share_start n : i%:R^-1 <= soft (A n i) p.
Proof. by apply: le_trans (share_mono (leq0n n)); rewrite (soft_zero is_exp). Qed.

(* q(1 - q) >= min(q, 1 - q)/2 *)
Lemma product_low (q m : R) : m <= q -> m <= 1 - q -> 0 <= m -> q <= 1 -> m / 2%:R <= q * (1 - q).
Proof.
move=> mq m1 m0 q1; have two : (0 : R) < 2%:R by rewrite ltr0n.
case: (leP q 2%:R^-1) => h.
  have h' : 2%:R^-1 <= 1 - q.
    by rewrite -subr_ge0; have -> : 1 - q - 2%:R^-1 = 2%:R^-1 - q; [field | rewrite subr_ge0].
  by apply: ler_pmul; rewrite ?invr_ge0 ?ler0n.
by rewrite mulrC; apply: ler_pmul; rewrite ?invr_ge0 ?ler0n // ltW.
Qed.

Variable alpha : R.
Hypotheses (alpha0 : 0 < alpha) (alpha1 : alpha < 1) (iT : (i <= T)%N).

(* while the share is below 1 - alpha *)
Lemma lead_grows n k : soft (A n i) p < 1 - alpha -> (k < i)%N -> k != p ->
  n%:R * (eta * (T%:R + alpha^-1)^-1 / 2%:R * (delta * beta0 / T%:R)) <= lead n k.
Proof.
move=> below hk kp; set m := (T%:R + alpha^-1)^-1.
have s0 : 0 < T%:R + alpha^-1 by rewrite addr_gt0 // invr_gt0.
have m0 : 0 <= m by rewrite invr_ge0 ltW.
have mi : m <= i%:R^-1.
  rewrite lef_pinv ?posrE ?ltr0n // -[leLHS]addr0 ler_add ?ler_nat // invr_ge0 ltW //.
have ma : m <= alpha by rewrite -[leRHS]invrK lef_pinv ?posrE ?invr_gt0 // ler_addr ler0n //.
elim: n below => [|n IH] below; first by rewrite mul0r subrr.
have low := le_lt_trans (share_grows n) below.
rewrite -(addn1 n) natrD mulrDl mul1r addn1; apply: le_trans (lead_step (always_leads n) hk kp).
rewrite ler_add ?IH // ler_wpmul2r ?divr_ge0 ?mulr_ge0 ?ler0n ?(ltW delta0) // -mulrA ler_wpmul2l //.
apply: product_low => //; first exact: le_trans mi (share_start n).
  by rewrite (le_trans ma) // ler_subr_addl -ler_subr_addr ltW.
exact: soft_le1.
Qed.

Variable ln : R -> R.
Hypotheses (is_log : logarithm exp ln) (eta_gt0 : 0 < eta) (beta_gt0 : 0 < beta0).

Lemma share_end n :
  2%:R / delta / eta / beta0 * (T%:R ^+ 2 + T%:R / alpha) * ln (T%:R / alpha) <= n%:R ->
  1 - alpha <= soft (A n i) p.
Proof.
move=> time; rewrite leNgt; apply/negP => below.
pose y := T%:R / alpha; have y0 : 0 < y by apply: divr_gt0.
have T1 : (1 : R) <= T%:R by rewrite ler1n.
have y1 : 1 <= y by rewrite ler_pdivl_mulr // mul1r (le_trans (ltW alpha1)).
have s0 : 0 < T%:R + alpha^-1 by rewrite addr_gt0 // invr_gt0.
have far k : (k < i)%N -> k != p -> y * exp (A n i k) <= exp (A n i p).
  move=> hk kp; case: (is_exp) => m l; rewrite -{1}(is_log y0) -m; apply: (exp_le is_exp).
  rewrite -ler_subr_addr; apply: le_trans (lead_grows below hk kp).
  set c := eta * _ / _ * _; have c0 : 0 < c by rewrite !mulr_gt0 ?invr_gt0 ?ltr0n.
  apply: (@le_trans _ _ (2%:R / delta / eta / beta0 * (T%:R ^+ 2 + T%:R / alpha) * ln (T%:R / alpha) * c)).
    have -> : T%:R ^+ 2 + T%:R / alpha = T%:R * (T%:R + alpha^-1) by ring.
    by apply: eqW; rewrite /c -/y; move: (_ + alpha^-1) s0 => s s0; field; rewrite !lt0r_neq0.
  by rewrite ler_wpmul2r // ltW.
have := soft_lead is_exp hp y1 far; apply/negP; rewrite -ltNge; apply: (lt_le_trans below).
have d0 : 0 < i%:R - 1 + y by rewrite ltr_spaddr // subr_ge0 ler1n.
rewrite ler_pdivl_mulr // -subr_ge0.
have -> : y - (1 - alpha) * (i%:R - 1 + y) = (T%:R - i%:R) + (1 + alpha * (i%:R - 1)).
  by rewrite /y; field; rewrite lt0r_neq0.
by rewrite addr_ge0 ?subr_ge0 ?ler_nat // addr_ge0 ?ler01 // mulr_ge0 ?subr_ge0 ?ler1n // ltW.
Qed.
End Row.

Section Rows.
Variables (R : realFieldType) (exp ln : R -> R) (S : nat) (g : seq nat) (P : prior R).
Variables (eps beta0 eta delta : R).
Hypotheses (is_exp : exponential exp) (is_log : logarithm exp ln) (S0 : (0 < S)%N) (ok : forest g).
Hypotheses (beta_gt0 : 0 < beta0) (eta_gt0 : 0 < eta) (delta0 : 0 < delta).
Variable i : nat.
Hypotheses (hi : (0 < i <= size g)%N) (child : parent g i != 0%N).
Notation T := (size g).
Notation p := (parent g i).-1.
Notation A n := (trained exp S g eps beta0 P eta n).
Hypothesis gap : forall A, (forall k, (k < i)%N -> A i k <= A i p) -> forall k, (k < i)%N -> k != p ->
  S%:R * delta <= gstar exp S g eps beta0 P A i p - gstar exp S g eps beta0 P A i k.

Let hp : (p < i)%N.
Proof. by have /andP[i0 _] := hi; apply: leq_ltn_trans (leq_pred _) (parent_lt ok i0). Qed.
Let T0 : (0 < T)%N. Proof. by have /andP[i0 iT] := hi; apply: leq_trans iT. Qed.

(* Lemma 8 (lem-a1-dynamics) *)
Theorem parent_time alpha n : 0 < alpha < 1 ->
  2%:R / delta / eta / beta0 * (T%:R ^+ 2 + T%:R / alpha) * ln (T%:R / alpha) <= n%:R ->
  1 - alpha <= soft exp i (A n i) p.
Proof.
move=> /andP[a0 a1]; have /andP[_ iT] := hi.
apply: (share_end is_exp S0 T0 (ltW beta_gt0) hp (ltW eta_gt0) delta0 (fun A k l hk kp => gap l hk kp) a0 a1
  iT is_log) => //.
Qed.

(* Lemma 8 (lem-a1-dynamics-step-integer): n = ceil(time) *)
Theorem parent_steps alpha n : 0 < alpha < 1 ->
  let time := 2%:R / delta / eta / beta0 * (T%:R ^+ 2 + T%:R / alpha) * ln (T%:R / alpha) in
  time <= n%:R < time + 1 ->
  (forall m, (n <= m)%N -> 1 - alpha <= soft exp i (A m i) p) /\
  (eta * beta0 <= T%:R -> delta <= 1 -> n%:R <= 2%:R * time).
Proof.
move=> ha time /andP[n1 n2]; split=> [m nm | small d1].
  by apply: parent_time => //; apply: le_trans n1 _; rewrite ler_nat.
have /andP[a0 a1] := ha; have T2 : (2 <= T)%N.
  have /andP[i0 iT] := hi; apply: leq_trans iT.
  by rewrite (leq_trans _ (parent_lt ok i0)) // ltnS lt0n.
have Tr : (0 : R) < T%:R by rewrite ltr0n.
have T2r : 2%:R <= T%:R :> R by rewrite ler_nat.
have y2 : 2%:R <= T%:R / alpha.
  by rewrite ler_pdivl_mulr // (le_trans _ T2r) // ler_pimulr ?ler0n // ltW.
have l2 : 2%:R^-1 <= ln (T%:R / alpha).
  have y0 : 0 < T%:R / alpha by apply: lt_le_trans y2; rewrite ltr0n.
  apply: le_trans (ln_ge is_exp is_log y0).
  rewrite ler_subr_addr -ler_subr_addl; have -> : 1 - 2%:R^-1 = 2%:R^-1 :> R by field.
  by rewrite lef_pinv ?posrE ?ltr0n.
have one : 1 <= time.
  have -> : time = 2%:R * (delta^-1 * (T%:R / (eta * beta0))) * (T%:R + alpha^-1) * ln (T%:R / alpha).
    by rewrite /time; field; rewrite !lt0r_neq0.
  have d : 1 <= delta^-1 * (T%:R / (eta * beta0)).
    have e0 := mulr_gt0 eta_gt0 beta_gt0.
    rewrite -[leLHS]mulr1; apply: ler_pmul; rewrite ?ler01 ?invf_ge1 // ler_pdivl_mulr // mul1r //.
  apply: (@le_trans _ _ (2%:R * 1 * 2%:R * 2%:R^-1)); first by rewrite mulfK ?pnatr_eq0 // mulr1 ler1n.
  apply: ler_pmul; rewrite ?invr_ge0 ?mulr_ge0 ?ler0n ?ler01 //.
  apply: ler_pmul; rewrite ?mulr_ge0 ?ler0n ?ler01 //; first by rewrite ler_wpmul2l ?ler0n.
  by rewrite -[leLHS]addr0 ler_add // invr_ge0 ltW.
by rewrite mulr_natl mulr2n (le_trans (ltW n2)) // ler_add2l.
Qed.

(* Corollary 1 (cor-stage1-parents) *)
Theorem parent_end n : 8%:R / delta / eta / beta0 * T%:R ^+ 2 * ln T%:R <= n%:R ->
  1 - soft exp i (A n i) p <= T%:R^-1.
Proof.
move=> h; have T2 : (2 <= T)%N.
  have /andP[i0 iT] := hi; apply: leq_trans iT.
  by rewrite (leq_trans _ (parent_lt ok i0)) // ltnS lt0n.
have Tr : (0 : R) < T%:R by rewrite ltr0n.
rewrite ler_subl_addr -ler_subl_addl; apply: parent_time.
  by rewrite invr_gt0 Tr invf_lt1 // ltr1n.
apply: le_trans h; apply: eqW; rewrite invrK (lnM is_exp is_log) //.
by move: (ln _) => L; field; rewrite !lt0r_neq0.
Qed.
End Rows.

Section StageOne.
Variables (R : realFieldType) (exp ln : R -> R) (S : nat) (gamma : R) (P : prior R) (g : seq nat) (eps beta0 : R).
Hypotheses (is_exp : exponential exp) (is_log : logarithm exp ln).
Hypotheses (prior : assumption1 S gamma P) (ok : forest g).
Hypotheses (eps0 : 0 < eps) (length : eps ^+ 2 * effective_length_leaves R g = 1) (b0 : 0 <= beta0 <= eps ^+ 3).
Notation T := (size g).
Notation gstar := (gstar exp S g eps beta0 P).
Notation gradient := (gradient_one exp S g eps beta0 P).
Notation trained := (trained exp S g eps beta0 P).
Notation g_ := (mean_gradient S g P).

Let near A i k (hi : (0 < i <= T)%N) (hk : (k < i)%N) (nq : ~~ ((i == T) && (k.+1 == T))) :
  `|gstar A i k - g_ i k.+1| <= 35%:R * S%:R ^+ 3 / gamma ^+ 2 * eps.
Proof. by have := gradient_near is_exp prior ok eps0 length b0 A hi hk; rewrite (negPf nq). Qed.

Let gamma0 : 0 < gamma. Proof. by have [] := prior_facts prior. Qed.
Let S0 : (0 < S)%N. Proof. by have [] := prior_facts prior. Qed.
Let Sr : (0 : R) < S%:R. Proof. by rewrite ltr0n. Qed.

Section Parent.
Variable i : nat.
Hypotheses (hi : (0 < i <= T)%N) (child : parent g i != 0%N).
Hypothesis long : 140%:R ^+ 2 * S%:R ^+ 10 / gamma ^+ 10 <= effective_length_leaves R g.
Notation p := (parent g i).-1.

Let hp : (p < i)%N.
Proof. by have /andP[i0 _] := hi; apply: leq_ltn_trans (leq_pred _) (parent_lt ok i0). Qed.
Let T0 : (0 < T)%N. Proof. by have /andP[i0 iT] := hi; apply: leq_trans iT. Qed.
Let iT : (i == T) = false.
Proof. by apply: contraNF child => /eqP->; case/andP: ok. Qed.

Lemma eps_small : eps <= gamma ^+ 5 / (140%:R * S%:R ^+ 5).
Proof.
have d0 : 0 < 140%:R * S%:R ^+ 5 :> R by rewrite mulr_gt0 ?exprn_gt0 ?ltr0n.
rewrite ler_pdivl_mulr // -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?exprn_ge0 ?(ltW eps0) ?(ltW gamma0) ?ler0n //.
have g10 : 0 < gamma ^+ 10 by rewrite exprn_gt0.
have := long; rewrite ler_pdivr_mulr // -(ler_pmul2l (exprn_gt0 2 eps0)) [leRHS]mulrA length mul1r.
by congr (_ <= _); ring.
Qed.

Lemma parent_gap A k : (k < i)%N -> k != p -> gamma ^+ 3 / (2%:R * S%:R ^+ 2) <= gstar A i p - gstar A i k.
Proof.
move=> hk kp; have /andP[i0 _] := hi.
have pE : p.+1 = parent g i by rewrite prednK // lt0n.
have hpar := forest_gap_corrected prior ok hi child (introT andP (conj (ltn0Sn k) hk)).
have {}hpar : g_ i k.+1 + gamma ^+ 3 / S%:R ^+ 2 <= g_ i (parent g i) by apply: hpar; apply: contra kp => /eqP <-.
have np := near A hi hp; have nk := near A hi hk; rewrite iT /= in np nk.
have {}np := np isT; have {}nk := nk isT; rewrite pE in np.
set b := 35%:R * _ / _ * eps in np nk.
have small : 2%:R * b <= gamma ^+ 3 / (2%:R * S%:R ^+ 2).
  apply: (@le_trans _ _ (2%:R * (35%:R * S%:R ^+ 3 / gamma ^+ 2 * (gamma ^+ 5 / (140%:R * S%:R ^+ 5))))).
    rewrite ler_pmul2l ?ltr0n // ler_wpmul2l ?eps_small //.
    by rewrite divr_ge0 ?exprn_ge0 ?(ltW gamma0) // mulr_ge0 ?exprn_ge0 ?ler0n.
  by apply: eqW; field; rewrite !lt0r_neq0.
move: np nk; rewrite !ler_norml => /andP[np _] /andP[_ nk].
have -> : gamma ^+ 3 / (2%:R * S%:R ^+ 2) = gamma ^+ 3 / S%:R ^+ 2 - gamma ^+ 3 / (2%:R * S%:R ^+ 2).
  by field; rewrite lt0r_neq0.
rewrite ler_subl_addl; apply: le_trans (_ : _ <= 2%:R * b + (gstar A i p - gstar A i k)) _; last by rewrite ler_add2r.
move: hpar np nk; set q := g_ i (parent g i); set r := g_ i k.+1; set x := gstar A i p; set y := gstar A i k.
set c := gamma ^+ 3 / S%:R ^+ 2 => h1 h2 h3; rewrite -subr_ge0 in h1; rewrite -subr_ge0 in h2;
  rewrite -subr_ge0 in h3; rewrite -subr_ge0.
have := addr_ge0 h1 (addr_ge0 h2 h3); congr (0 <= _); ring.
Qed.

(* Lemma 6 (thm-stage1-parents-corrected) *)
Theorem parents_corrected :
  [/\ forall A k, (k < i)%N -> k != p -> gamma ^+ 3 / (2%:R * S%:R ^+ 2) <= gstar A i p - gstar A i k,
    forall A k, (k < i)%N -> k != p -> soft exp i (A i) k <= soft exp i (A i) p ->
      gradient A i p <= gradient A i k - soft exp i (A i) p * (1 - soft exp i (A i) p) *
        (gamma ^+ 3 * beta0 / (2%:R * S%:R ^+ 3 * T%:R)) &
    forall eta n k, 0 <= eta -> (k < i)%N ->
      trained eta n i k <= trained eta n i p /\ soft exp i (trained eta n i) k <= soft exp i (trained eta n i) p].
Proof.
have /andP[beta_ge0 _] := b0; have Tr : (0 : R) < T%:R by rewrite ltr0n.
have d0 : 0 < gamma ^+ 3 / (2%:R * S%:R ^+ 2) by rewrite divr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
split=> [A k | A k hk kp le | eta n k eta0 hk]; first exact: parent_gap.
  have := gradient_lead is_exp S0 T0 beta_ge0 hp (ltW d0) (@parent_gap A) hk kp le.
  by congr (_ <= _ - _ * _); field; rewrite !lt0r_neq0.
have e0 : 0 < gamma ^+ 3 / (2%:R * S%:R ^+ 3) by rewrite divr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
have gap A j (_ : leads i p (A i)) : (j < i)%N -> j != p ->
  S%:R * (gamma ^+ 3 / (2%:R * S%:R ^+ 3)) <= gstar A i p - gstar A i j.
  have -> : S%:R * (gamma ^+ 3 / (2%:R * S%:R ^+ 3)) = gamma ^+ 3 / (2%:R * S%:R ^+ 2) by field; rewrite lt0r_neq0.
  exact: parent_gap.
have lead := always_leads is_exp S0 T0 beta_ge0 hp eta0 e0 gap n.
by split; [apply: lead | apply: (soft_lead_le is_exp hp)].
Qed.

(* Corollary 1 (cor-stage1-parents) *)
Theorem stage_one_parents eta n : 0 < beta0 -> 0 < eta ->
  16%:R * S%:R ^+ 3 / gamma ^+ 3 / eta / beta0 * T%:R ^+ 2 * ln T%:R <= n%:R ->
  1 - soft exp i (trained eta n i) p <= T%:R^-1.
Proof.
move=> beta_gt0 eta_gt0 h; have e0 : 0 < gamma ^+ 3 / (2%:R * S%:R ^+ 3) by
  rewrite divr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
apply: (parent_end is_exp is_log S0 ok beta_gt0 eta_gt0 e0 hi child) => [A _ k hk kp|].
  have -> : S%:R * (gamma ^+ 3 / (2%:R * S%:R ^+ 3)) = gamma ^+ 3 / (2%:R * S%:R ^+ 2) by field; rewrite lt0r_neq0.
  exact: parent_gap.
by apply: le_trans h; apply: eqW; move: (ln _) => L; field; rewrite !lt0r_neq0.
Qed.
End Parent.

Section Root.
Variables (i : nat) (eta : R).
Hypotheses (hi : (0 < i < T)%N) (root : parent g i = 0%N) (beta_gt0 : 0 < beta0) (eta_gt0 : 0 < eta).

Let i0 : (0 < i)%N. Proof. by case/andP: hi. Qed.
Let T0 : (0 < T)%N. Proof. by have /andP[_ iT] := hi; apply: leq_trans (ltnW iT). Qed.
Let Tr : (0 : R) < T%:R. Proof. by rewrite ltr0n. Qed.
Let ir : (0 : R) < i%:R. Proof. by rewrite ltr0n. Qed.
Notation share n := (soft exp i (trained eta n i)).
Notation small := (35%:R * S%:R ^+ 2 / gamma ^+ 2 * eps).

Lemma root_small A k : (k < i)%N -> `|gstar A i k| / S%:R <= small.
Proof.
move=> hk; rewrite ler_pdivr_mulr //.
apply: le_trans (root_pull is_exp prior ok eps0 length b0 A hi root hk) _.
by apply: eqW; ring.
Qed.

(* n steps with |g*_ij| <= S V *)
Lemma root_near V n k : (forall m j, (j < i)%N -> `|gstar (trained eta m) i j| / S%:R <= V) ->
  4%:R * n%:R * eta * (beta0 / T%:R * V) <= i%:R -> (k < i)%N ->
  `|share n k - i%:R^-1| <= 4%:R * n%:R * eta * (beta0 / T%:R * V) / i%:R ^+ 2.
Proof.
move=> hV; have bound m j : (j < i)%N -> `|- beta0 * pull exp S g eps beta0 P (trained eta m) i j| <= beta0 / T%:R * V.
  move=> hj; have -> : - beta0 * pull exp S g eps beta0 P (trained eta m) i j =
      - (beta0 / (S%:R * T%:R)) * gstar (trained eta m) i j by rewrite /stage_one.gstar; field; rewrite !lt0r_neq0.
  rewrite normrM normrN gtr0_norm ?divr_gt0 ?mulr_gt0 //.
  have -> : beta0 / (S%:R * T%:R) * `|gstar (trained eta m) i j| = beta0 / T%:R * (`|gstar (trained eta m) i j| / S%:R).
    by move: `|_| => y; field; rewrite !lt0r_neq0.
  by rewrite ler_wpmul2l ?hV // divr_ge0 // ltW.
exact: (no_parents_corrected (A := fun m => trained eta m i) is_exp i0 (ltW eta_gt0)
  (fun=> erefl) (fun _ _ => erefl) bound).
Qed.

(* Lemma 7 (lem-no-parents-corrected), the printed bound *)
Theorem roots_drift n k (drift := 140%:R * S%:R ^+ 2 / gamma ^+ 2 * n%:R * eta * beta0 * eps / T%:R) :
  drift <= i%:R -> (k < i)%N -> `|share n k - i%:R^-1| <= drift / i%:R ^+ 2.
Proof.
have -> : drift = 4%:R * n%:R * eta * (beta0 / T%:R * small) by rewrite /drift; field; rewrite !lt0r_neq0.
by apply: root_near => m j; apply: root_small.
Qed.

(* Corollary 1 (cor-stage1-roots-corrected) *)
Theorem stage_one_roots :
  [/\ forall m j, (j < i)%N -> `|gstar (trained eta m) i j| / S%:R <= small,
    forall C V n k, 0 <= C -> (forall m j, (j < i)%N -> `|gstar (trained eta m) i j| / S%:R <= V) ->
      n%:R <= C / eta / beta0 * T%:R ^+ 2 * ln T%:R -> 4%:R * C * T%:R * ln T%:R * V <= i%:R -> (k < i)%N ->
      `|share n k - i%:R^-1| <= 4%:R * C * T%:R * ln T%:R * V / i%:R ^+ 2 &
    forall n k, n%:R <= 16%:R * S%:R ^+ 3 / gamma ^+ 3 / eta / beta0 * T%:R ^+ 2 * ln T%:R ->
      2240%:R * S%:R ^+ 5 / gamma ^+ 5 * T%:R * ln T%:R * eps <= i%:R -> (k < i)%N ->
      `|share n k - i%:R^-1| <= 2240%:R * S%:R ^+ 5 / gamma ^+ 5 * T%:R * ln T%:R * eps / i%:R ^+ 2].
Proof.
have general C V n k : 0 <= C -> (forall m j, (j < i)%N -> `|gstar (trained eta m) i j| / S%:R <= V) ->
      n%:R <= C / eta / beta0 * T%:R ^+ 2 * ln T%:R -> 4%:R * C * T%:R * ln T%:R * V <= i%:R -> (k < i)%N ->
      `|share n k - i%:R^-1| <= 4%:R * C * T%:R * ln T%:R * V / i%:R ^+ 2.
  move=> C0 hV hn fits hk; have V0 : 0 <= V by apply: le_trans (hV 0%N 0%N i0); rewrite divr_ge0 ?ler0n.
  have le : 4%:R * n%:R * eta * (beta0 / T%:R * V) <= 4%:R * C * T%:R * ln T%:R * V.
    have -> : 4%:R * C * T%:R * ln T%:R * V =
        4%:R * (C / eta / beta0 * T%:R ^+ 2 * ln T%:R) * eta * (beta0 / T%:R * V).
      by move: (ln _) => L; field; rewrite !lt0r_neq0.
    have W0 : 0 <= beta0 / T%:R * V by rewrite mulr_ge0 // divr_ge0 // ltW.
    by rewrite ler_wpmul2r // ler_wpmul2r ?(ltW eta_gt0) // ler_wpmul2l ?ler0n.
  apply: le_trans (root_near hV (le_trans le fits) hk) _.
  by rewrite ler_wpmul2r // invr_ge0 exprn_ge0 // ltW.
split=> [m j|//|n k hn]; first exact: root_small.
have -> : 2240%:R * S%:R ^+ 5 / gamma ^+ 5 * T%:R * ln T%:R * eps =
    4%:R * (16%:R * S%:R ^+ 3 / gamma ^+ 3) * T%:R * ln T%:R * small.
  by move: (ln _) => L; field; rewrite lt0r_neq0.
apply: general hn => [|m j]; last exact: root_small.
by rewrite divr_ge0 ?exprn_ge0 ?(ltW gamma0) // mulr_ge0 ?exprn_ge0 ?ler0n.
Qed.
End Root.
End StageOne.
