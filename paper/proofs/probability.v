(* Inequalities for finite laws.                                              *)
(*                                                                            *)
(* Theorem 1 (thm-main-step-cauchy-corrected): for D in [0,1] and an event F, *)
(*   E[(D + eps)(1 + 1_F/eps)] <= ((E D^2)^(1/2) + eps)(1 + P(F)^(1/2)/eps)   *)
(* Theorem 2 (thm-ood-step-root-corrected):                                   *)
(*   P[D >= 10 S (E D^2)^(1/2)] <= 1/(100 S^2)                                *)
(* Lemma 32 (lem-f-to-pi-step-markov):                                        *)
(*   P(|D| >= t) <= E D^2/t^2, at t = gamma^2/(2 S^2)                         *)
(* Lemma 33 (thm-finite-stage1-step-union), its first inequality:             *)
(*   P(some muhat(s) <= mu(s)/2) <= 4 sum_s E(muhat(s) - mu(s))^2/mu(s)^2     *)
(*                                                                            *)
(*   law               == a list of probabilities with their outcomes         *)
(*   is_law l          == they are not negative and of sum 1                  *)
(*   mean_law l F      == the mean of F                                       *)
(* A root x^(1/2) is any nonnegative number of square x.                      *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Laws.
Variables (R : realFieldType) (A : eqType) (l : seq (R * A)).

Definition is_law : bool := all (fun o => 0 <= o.1) l && (\Sum_(o in l) o.1 == 1).
Definition mean_law (F : A -> R) : R := \Sum_(o in l) o.1 * F o.2.

Hypothesis law : is_law.

Lemma weight_ge0 o : o \in l -> 0 <= o.1.
Proof. by have /andP[/allP h _] := law; apply: h. Qed.

Lemma mean_law_le F G : (forall a, F a <= G a) -> mean_law F <= mean_law G.
Proof. by move=> h; apply: total_le => o /weight_ge0 w; rewrite ler_wpmul2l. Qed.

Lemma mean_law_ge0 F : (forall a, 0 <= F a) -> 0 <= mean_law F.
Proof. by move=> h; apply: total_ge0 => o /weight_ge0 w; rewrite mulr_ge0. Qed.

Lemma mean_lawD F G : mean_law (fun a => F a + G a) = mean_law F + mean_law G.
Proof. by rewrite /mean_law -totalD; apply: total_eq => o _; rewrite mulrDr. Qed.

Lemma mean_lawZ c F : mean_law (fun a => c * F a) = c * mean_law F.
Proof. by rewrite /mean_law -totalZ; apply: total_eq => o _; rewrite mulrCA. Qed.

Lemma mean_law_const c : mean_law (fun=> c) = c.
Proof. by have /andP[_ /eqP h] := law; rewrite /mean_law totalZr h mul1r. Qed.

Lemma mean_law_eq F G : F =1 G -> mean_law F = mean_law G.
Proof. by move=> h; apply: total_eq => o _; rewrite h. Qed.

(* Cauchy and Schwarz: E[F G] <= x y where x^2 = E F^2, y^2 = E G^2 *)
Lemma cauchy_schwarz F G x y : 0 <= x -> 0 <= y ->
  mean_law (fun a => F a ^+ 2) <= x ^+ 2 -> mean_law (fun a => G a ^+ 2) <= y ^+ 2 ->
  mean_law (fun a => F a * G a) <= x * y.
Proof.
move=> x0 y0 hF hG; rewrite leNgt; apply/negP => lt.
set M := mean_law (fun a => F a * G a) in lt; set U := mean_law (fun a => F a ^+ 2) in hF.
set V := mean_law (fun a => G a ^+ 2) in hG.
have M0 : 0 < M by apply: le_lt_trans lt; apply: mulr_ge0.
have h : M ^+ 2 <= U * V.
  apply: discriminant => [u v|]; last by apply: mean_law_ge0 => a; apply: sqr_ge0.
  rewrite -!mean_lawZ -mulN1r -mean_lawZ -!mean_lawD; apply: mean_law_ge0 => a.
  have -> : u ^+ 2 * F a ^+ 2 + v ^+ 2 * G a ^+ 2 + -1 * (2%:R * u * v * (F a * G a))
    = (u * F a - v * G a) ^+ 2 by ring.
  exact: sqr_ge0.
have : M ^+ 2 <= (x * y) ^+ 2.
  by apply: le_trans h _; rewrite exprMn ler_pmul // mean_law_ge0 // => a; apply: sqr_ge0.
by rewrite leNgt ltr_expn2r // ?nnegrE ?mulr_ge0 // ltW.
Qed.

(* Jensen, Markov and Chebyshev *)
Lemma mean_le_root F x : 0 <= x -> mean_law (fun a => F a ^+ 2) <= x ^+ 2 -> mean_law F <= x.
Proof.
move=> x0 h; rewrite -[leRHS]mulr1 (@mean_law_eq F (fun a => F a * 1)) => [|a]; last by rewrite mulr1.
by apply: cauchy_schwarz => //; rewrite ?ler01 // mean_law_const expr1n.
Qed.

Lemma markov (F : A -> R) t : (forall a, 0 <= F a) -> 0 < t -> mean_law (fun a => (t <= F a)%R%:R) <= mean_law F / t.
Proof.
move=> F0 t0; rewrite ler_pdivl_mulr // mulrC -mean_lawZ; apply: mean_law_le => a.
by case: (leP t (F a)) => h; rewrite ?mulr1 ?mulr0 ?F0.
Qed.

Lemma chebyshev (F : A -> R) t : 0 < t ->
  mean_law (fun a => (t <= `|F a|)%R%:R) <= mean_law (fun a => F a ^+ 2) / t ^+ 2.
Proof.
move=> t0; apply: le_trans (markov (fun a => sqr_ge0 (F a)) (exprn_gt0 2 t0)).
by apply: mean_law_le => a; rewrite -(real_normK (num_real (F a))) (@ler_pexpn2r _ 2) ?nnegrE ?(ltW t0).
Qed.

Theorem main_cauchy_corrected (D : A -> R) (F : A -> bool) eps root p : (forall a, 0 <= D a <= 1) ->
  0 < eps -> 0 <= root -> root ^+ 2 = mean_law (fun a => D a ^+ 2) ->
  0 <= p -> p ^+ 2 = mean_law (fun a => (F a)%:R) ->
  mean_law (fun a => (D a + eps) * (1 + eps^-1 * (F a)%:R)) <= (root + eps) * (1 + eps^-1 * p).
Proof.
move=> D01 e0 root0 rootE p0 pE.
have one (a : A) : (F a)%:R ^+ 2 = (F a)%:R :> R by case: (F a); rewrite ?expr1n ?expr0n.
have p1 : p <= 1.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?ler01 // expr1n pE -[leRHS](mean_law_const 1).
  by apply: mean_law_le => a; rewrite lern1 leq_b1.
have h1 : mean_law D <= root by apply: mean_le_root; rewrite ?rootE.
have h2 : mean_law (fun a => D a * (F a)%:R) <= root * p.
  by apply: cauchy_schwarz; rewrite ?rootE ?pE //; apply: mean_law_le => a; rewrite one.
have -> : mean_law (fun a => (D a + eps) * (1 + eps^-1 * (F a)%:R)) =
    mean_law D + eps^-1 * mean_law (fun a => D a * (F a)%:R) + (eps + mean_law (fun a => (F a)%:R)).
  rewrite -[eps in RHS](mean_law_const eps) -mean_lawZ -!mean_lawD; apply: mean_law_eq => a.
  by rewrite mean_law_const; field; rewrite lt0r_neq0.
have -> : (root + eps) * (1 + eps^-1 * p) = root + eps^-1 * (root * p) + (eps + p).
  by field; rewrite lt0r_neq0.
apply: ler_add; first by rewrite ler_add // ler_pmul2l ?invr_gt0.
by rewrite ler_add2l -pE expr2 ler_pimull.
Qed.

Theorem ood_root_corrected S (D : A -> R) root : (0 < S)%N -> 0 < root ->
  root ^+ 2 = mean_law (fun a => D a ^+ 2) ->
  mean_law (fun a => (10%:R * S%:R * root <= `|D a|)%R%:R) <= (100%:R * S%:R ^+ 2)^-1.
Proof.
move=> S0 r0 rE; have s0 : (0 : R) < S%:R by rewrite ltr0n.
have t0 : 0 < 10%:R * S%:R * root by rewrite !mulr_gt0 ?ltr0n.
apply: le_trans (chebyshev D t0) _; rewrite -rE; apply: eqW.
by field; rewrite !lt0r_neq0 // ltr0n.
Qed.

Theorem markov_corrected (D : A -> R) gamma (S : nat) : 0 < gamma -> (0 < S)%N ->
  let t := gamma ^+ 2 / (2%:R * S%:R ^+ 2) in
  mean_law (fun a => (t <= `|D a|)%R%:R) <=
    (2%:R * S%:R ^+ 2 / gamma ^+ 2) ^+ 2 * mean_law (fun a => D a ^+ 2).
Proof.
move=> g0 S0; cbv zeta; set t := gamma ^+ 2 / _; have s0 : (0 : R) < S%:R by rewrite ltr0n.
have t0 : 0 < t by rewrite divr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
apply: le_trans (chebyshev D t0) _; rewrite mulrC; apply: eqW.
by rewrite /t; field; rewrite !lt0r_neq0 // ltr0n.
Qed.

Theorem union_corrected S (frequency : A -> nat -> R) (mu : nat -> R) : (forall s, (s < S)%N -> 0 < mu s) ->
  mean_law (fun a => (has (fun s => frequency a s <= mu s / 2%:R) (iota 0 S))%:R) <=
    4%:R * \Sum_(s < S) mean_law (fun a => (frequency a s - mu s) ^+ 2) / mu s ^+ 2.
Proof.
move=> mu0; have two : (0 : R) < 2%:R by rewrite ltr0n.
apply: (@le_trans _ _ (mean_law (fun a => \Sum_(s < S) (mu s / 2%:R <= `|frequency a s - mu s|)%R%:R))).
  apply: mean_law_le => a; case: hasP => [[s hs le]|_]; last by apply: total_ge0 => s _; rewrite ler0n.
  rewrite (total_term _ (iota_uniq 0 S) hs).
  have -> : mu s / 2%:R <= `|frequency a s - mu s|.
    rewrite distrC; apply: le_trans (ler_norm _); rewrite ler_subr_addr addrC -ler_subr_addr.
    by have -> : mu s - mu s / 2%:R = mu s / 2%:R by field.
  by rewrite ler_addl; apply: total_ge0 => t _; rewrite mulr_ge0 ?ler0n.
rewrite -totalZ /mean_law (total_eq (G := fun o => \Sum_(s < S) o.1 * (mu s / 2%:R <= `|frequency o.2 s - mu s|)%R%:R));
  last by move=> o _; rewrite totalZ.
rewrite total_exchange; apply: total_le => s; rewrite index_lt => hs.
have t0 : 0 < mu s / 2%:R by rewrite divr_gt0 ?mu0.
apply: le_trans (chebyshev (fun a => frequency a s - mu s) t0) _; apply: eqW.
by rewrite /mean_law; field; rewrite lt0r_neq0 ?mu0.
Qed.
End Laws.
