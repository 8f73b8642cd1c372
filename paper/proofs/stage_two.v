(* The quotients E3, E1/(E2 + eps) and f of stage 2 and their errors, for any *)
(* forest, sequence and beta. With beta enter only the numbers                *)
(*   b = e^beta, m = e^(beta mu(s)), w_i = e^(beta z_i),                      *)
(* where z_i is what root i attends to: the theorems hold for all b >= 1,     *)
(* m > 0 and 0 < w_i <= b.                                                    *)
(*                                                                            *)
(* Lemma 28 (lem-compute-diffs): |A1/B1 - A2/B2| <=                           *)
(*   (|A1/B1| |B1 - B2| + |A1 - A2|)/|B2|                                     *)
(* Lemma 30 (lem-concentrate-e3-step-quotient-corrected):                     *)
(*   |E3 - A2/B2| <= (|E3| (b|e1| + |e3|) + b|e1| + |e2|)/B2                  *)
(* Lemma 31 (lem-concentrate-e12-step-quotient-corrected): for q = E1/(E2+eps) *)
(*   |q - A2/B2| <= (|q| (b|e4| + |e5| + |e7| + b eps) + b|e4| + |e6|)/B2     *)
(* Lemma 32 (lem-f-to-pi-step-quotient-corrected):                            *)
(*   |f - A2/B2| <= (|f| (b|e1| + |e3|) + b|e4| + |e5| + |e7|)/B2             *)
(* Lemma 30 (lem-concentrate-e3-step-denominator-corrected):                  *)
(*   (1-r)(b-1) mu(s) + (1-r) + r m >= (1-r) b gamma/S                        *)
(*                                                                            *)
(*   data              == forest, sequence, s, s', mu(s), mu(s'), pi(s'|s),   *)
(*                        z, w, b, m                                          *)
(*   mean d F          == the mean of F over the positions 1, ..., T          *)
(*   child d i         == 1 if i has a parent, else 0; root d i the opposite  *)
(*   comes d i         == 1 if the token of i's parent is s                   *)
(*   hit d i           == 1 if the token of i is s'                           *)
(*   err1, ..., err7   == the seven errors of the proofs                      *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Record data (R : realFieldType) := Data {
  forest_of : seq nat; sequence : seq nat; s_of : nat; s'_of : nat;
  mu : R; mu' : R; pi : R; z : nat -> R; w : nat -> R; b : R; m : R }.

Section Quotients.
Variables (R : realFieldType) (d : data R).

Definition mean (F : nat -> R) : R := (\Sum_(i in iota 1 (size (forest_of d))) F i) / (size (forest_of d))%:R.
Definition child i : R := (parent (forest_of d) i != 0%N)%:R.
Definition root i : R := (parent (forest_of d) i == 0%N)%:R.
Definition comes i : R := (token (sequence d) (parent (forest_of d) i) == s_of d)%:R.
Definition hit i : R := (token (sequence d) i == s'_of d)%:R.

(* z~_i and e^(beta z~_i) *)
Definition score i : R := child i * comes i + root i * z d i.
Definition heat i : R := child i * (1 + (b d - 1) * comes i) + root i * w d i.
Definition r : R := mean root.

Definition e3 : R := mean (fun i => heat i * score i) / mean heat.
Definition f : R := mean (fun i => heat i * hit i) / mean heat.
Definition e12 eps : R := (mean (fun i => heat i * score i * hit i) / mean heat) / (f + eps).

Definition err1 : R := mean (fun i => child i * comes i) - (1 - r) * mu d.
Definition err2 : R := mean (fun i => root i * (w d i * z d i)) - r * m d * mu d.
Definition err3 : R := mean (fun i => root i * w d i) - r * m d.
Definition err4 : R := mean (fun i => child i * (comes i * hit i)) - (1 - r) * mu d * pi d.
Definition err5 : R := mean (fun i => child i * hit i) - (1 - r) * mu' d.
Definition err6 : R := mean (fun i => root i * (w d i * z d i * hit i - m d * mu d * mu' d)).
Definition err7 : R := mean (fun i => root i * (w d i * hit i - m d * mu' d)).

Definition e3_below : R := (1 - r) * (b d - 1) * mu d + (1 - r) + r * m d.
Definition e3_limit : R := ((1 - r) * b d * mu d + r * m d * mu d) / e3_below.
Definition e12_below : R := (1 - r) * (b d - 1) * mu d * pi d + (1 - r) * mu' d + r * m d * mu' d.
Definition e12_limit : R := ((1 - r) * b d * mu d * pi d + r * m d * mu d * mu' d) / e12_below.
Definition f_limit : R :=
  ((1 - r) * (b d - 1) * mu d * pi d + (1 - r) * mu' d + r * mu' d * m d) / e3_below.
End Quotients.

(* beta = 0, where roots attend uniformly and all is rational *)
Definition data_at_zero (R : realFieldType) (S : nat) g (pi : nat -> nat -> R) mu x s s' : data R :=
  Data g x s s' (mu s) (mu s') (pi s s') (fun i => (count_mem s (take i x))%:R / i%:R) (fun _ => 1) 1 1.

Section Bounds.
Variable R : realFieldType.
Implicit Types (A B x y : R) (d : data R).

Theorem compute_diffs A1 A2 B1 B2 : B1 != 0 -> B2 != 0 ->
  `|A1 / B1 - A2 / B2| <= (`|A1 / B1| * `|B1 - B2| + `|A1 - A2|) / `|B2|.
Proof.
move=> n1 n2; have -> : A1 / B1 - A2 / B2 = (A1 / B1 * (B2 - B1) + (A1 - A2)) / B2.
  by field; rewrite n1 n2.
rewrite normrM normfV ler_pmul2r ?invr_gt0 ?normr_gt0 // (le_trans (ler_norm_add _ _)) //.
by rewrite normrM distrC.
Qed.

Lemma quotient_le A1 A2 B1 B2 x y : B1 != 0 -> 0 < B2 -> `|B1 - B2| <= x -> `|A1 - A2| <= y ->
  `|A1 / B1 - A2 / B2| <= (`|A1 / B1| * x + y) / B2.
Proof.
move=> n1 p2 hx hy; apply: le_trans (compute_diffs _ _ n1 (lt0r_neq0 p2)) _.
rewrite (gtr0_norm p2) ler_pmul2r ?invr_gt0 // ler_add //.
by rewrite ler_wpmul2l.
Qed.

Lemma mean_le d F G : (forall i, F i <= G i) -> mean d F <= mean d G.
Proof. by move=> h; rewrite ler_wpmul2r ?invr_ge0 ?ler0n //; apply: total_le. Qed.

Lemma meanD d F G : mean d (fun i => F i + G i) = mean d F + mean d G.
Proof. by rewrite /mean totalD mulrDl. Qed.

Lemma meanZ d c F : mean d (fun i => c * F i) = c * mean d F.
Proof. by rewrite /mean totalZ mulrA. Qed.

Lemma mean_eq d F G : F =1 G -> mean d F = mean d G.
Proof. by move=> h; rewrite /mean; congr (_ / _); apply: total_eq => i _; rewrite h. Qed.

Lemma mean_const d c : (0 < size (forest_of d))%N -> mean d (fun=> c) = c.
Proof.
move=> T0; rewrite /mean total_const size_iota -[c *+ _]mulr_natr mulfK //.
by rewrite pnatr_eq0 -lt0n.
Qed.

Lemma child_root d i : child d i = 1 - root d i.
Proof. by rewrite /child /root; case: eqP; rewrite ?subr0 ?subrr. Qed.

Lemma root01 d i : 0 <= root d i <= 1.
Proof. by rewrite /root; case: (_ == _); rewrite ?lexx ?ler01. Qed.

Lemma norm_less d x : 1 <= b d -> `|(b d - 1) * x| <= b d * `|x|.
Proof.
move=> b1; rewrite normrM ler_wpmul2r // ger0_norm ?subr_ge0 //.
by rewrite ler_subl_addr ler_addl ler01.
Qed.

Section OneInstance.
Variable d : data R.
Hypotheses (positions : (0 < size (forest_of d))%N) (b1 : 1 <= b d) (m0 : 0 < m d).
Hypotheses (w0 : forall i, 0 < w d i) (wb : forall i, w d i <= b d).
Hypotheses (mu0 : 0 <= mu d) (mu'0 : 0 < mu' d) (pi0 : 0 <= pi d).
Notation mean := (mean d). Notation child := (child d). Notation root := (root d).
Notation comes := (comes d). Notation hit := (hit d). Notation r := (r d).
Notation b := (b d). Notation m := (m d).

Let b0 : 0 < b. Proof. exact: lt_le_trans ltr01 b1. Qed.

Lemma r01 : 0 <= r <= 1.
Proof.
rewrite -{1}(mean_const 0 positions) -(mean_const 1 positions).
by rewrite !mean_le // => i; have /andP[] := root01 d i.
Qed.

Lemma mean_child : mean child = 1 - r.
Proof.
rewrite -(mean_const 1 positions) -[X in _ - X]mul1r -mulNr -meanZ -meanD.
by apply: mean_eq => i; rewrite child_root mulN1r.
Qed.

Lemma heat_gt0 i : 0 < heat d i.
Proof.
rewrite /heat /child /root; case: eqP => _; rewrite ?mul0r ?mul1r ?add0r ?addr0 //.
by rewrite ltr_spaddl ?ltr01 // mulr_ge0 ?subr_ge0 ?ler0n.
Qed.

Lemma heat_le i : heat d i <= b.
Proof.
rewrite /heat /child /root; case: eqP => _; rewrite ?mul0r ?mul1r ?add0r ?addr0 //.
by rewrite /comes; case: (_ == _); rewrite ?mulr1 ?mulr0 ?addr0 // addrC subrK.
Qed.

Lemma mean_heat_gt0 : 0 < mean (heat d).
Proof.
have n0 : (0 : R) < (size (forest_of d))%:R by rewrite ltr0n.
rewrite divr_gt0 //; case: (size _) positions => [//|n] _.
rewrite /total /=; apply: ltr_spaddl; first exact: heat_gt0.
by apply: (@total_ge0 _ _ (iota 2 n)) => i _; apply: ltW; apply: heat_gt0.
Qed.

Lemma mean_heat_le : mean (heat d) <= b.
Proof. by rewrite -[leRHS](mean_const _ positions); apply: mean_le => i; apply: heat_le. Qed.

Lemma mean_heatE : mean (heat d) = (b - 1) * mean (fun i => child i * comes i) + (1 - r) +
  mean (fun i => root i * w d i).
Proof.
rewrite -meanZ -mean_child -!meanD; apply: mean_eq => i; rewrite /heat; ring.
Qed.

Lemma mean_scoreE : mean (fun i => heat d i * score d i) =
  b * mean (fun i => child i * comes i) + mean (fun i => root i * (w d i * z d i)).
Proof.
rewrite -meanZ -!meanD; apply: mean_eq => i; rewrite /heat /score /child /root /comes.
by case: eqP => _; case: (_ == _) => /=; ring.
Qed.

Lemma mean_hitE : mean (fun i => heat d i * hit i) =
  (b - 1) * mean (fun i => child i * (comes i * hit i)) + mean (fun i => child i * hit i) +
  mean (fun i => root i * (w d i * hit i)).
Proof. by rewrite -meanZ -!meanD; apply: mean_eq => i; rewrite /heat; ring. Qed.

Lemma mean_bothE : mean (fun i => heat d i * score d i * hit i) =
  b * mean (fun i => child i * (comes i * hit i)) + mean (fun i => root i * (w d i * z d i * hit i)).
Proof.
rewrite -meanZ -!meanD; apply: mean_eq => i; rewrite /heat /score /child /root /comes.
by case: eqP => _; case: (token _ (parent _ _) == _) => /=; ring.
Qed.

Lemma err6E : err6 d = mean (fun i => root i * (w d i * z d i * hit i)) - r * m * mu d * mu' d.
Proof.
have -> : r * m * mu d * mu' d = (m * mu d * mu' d) * r by ring.
rewrite -meanZ -[X in _ - X]mul1r -mulNr -meanZ -meanD; apply: mean_eq => i; ring.
Qed.

Lemma err7E : err7 d = mean (fun i => root i * (w d i * hit i)) - r * m * mu' d.
Proof.
have -> : r * m * mu' d = (m * mu' d) * r by ring.
rewrite -meanZ -[X in _ - X]mul1r -mulNr -meanZ -meanD; apply: mean_eq => i; ring.
Qed.

Lemma e3_below_gt0 : 0 < e3_below d.
Proof.
have /andP[r0 r1] := r01; have r1' : 0 <= 1 - r by rewrite subr_ge0.
have : 0 <= (1 - r) * (b - 1) * mu d by rewrite !mulr_ge0 ?subr_ge0.
rewrite /e3_below -addrA => h; apply: ltr_paddl => //.
case: (ltrgtP r 0) r0 => // [rp _ | -> _]; last by rewrite subr0 mul0r addr0 ltr01.
by apply: ltr_paddl => //; apply: mulr_gt0.
Qed.

Lemma e12_below_gt0 : 0 < e12_below d.
Proof.
have /andP[r0 r1] := r01; have r1' : 0 <= 1 - r by rewrite subr_ge0.
have : 0 <= (1 - r) * (b - 1) * mu d * pi d by rewrite !mulr_ge0 ?subr_ge0.
rewrite /e12_below -addrA => h; apply: ltr_paddl => //.
case: (ltrgtP r 0) r0 => // [rp _ | -> _]; last by rewrite subr0 !mul0r addr0 mul1r.
by apply: ltr_paddl; [apply: mulr_ge0 => //; apply: ltW | apply: mulr_gt0 => //; apply: mulr_gt0].
Qed.

Theorem e3_corrected : `|e3 d - e3_limit d| <=
  (`|e3 d| * (b * `|err1 d| + `|err3 d|) + (b * `|err1 d| + `|err2 d|)) / e3_below d.
Proof.
apply: quotient_le; [exact: lt0r_neq0 mean_heat_gt0 | exact: e3_below_gt0 | |].
  have -> : mean (heat d) - e3_below d = (b - 1) * err1 d + err3 d.
    by rewrite mean_heatE /e3_below /err1 /err3; ring.
  by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2r norm_less.
have -> : mean (fun i => heat d i * score d i) - ((1 - r) * b * mu d + r * m * mu d) = b * err1 d + err2 d.
  by rewrite mean_scoreE /err1 /err2; ring.
by apply: le_trans (ler_norm_add _ _) _; rewrite normrM (gtr0_norm b0).
Qed.

Theorem f_corrected : `|f d - f_limit d| <=
  (`|f d| * (b * `|err1 d| + `|err3 d|) + (b * `|err4 d| + `|err5 d| + `|err7 d|)) / e3_below d.
Proof.
apply: quotient_le; [exact: lt0r_neq0 mean_heat_gt0 | exact: e3_below_gt0 | |].
  have -> : mean (heat d) - e3_below d = (b - 1) * err1 d + err3 d.
    by rewrite mean_heatE /e3_below /err1 /err3; ring.
  by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2r norm_less.
set rhs := (X in _ - X).
have -> : mean (fun i => heat d i * hit i) - rhs = (b - 1) * err4 d + err5 d + err7 d.
  by rewrite mean_hitE err7E /rhs /err4 /err5; ring.
apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2r.
by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2r norm_less.
Qed.

Theorem e12_corrected eps : 0 < eps -> `|e12 d eps - e12_limit d| <=
  (`|e12 d eps| * (b * `|err4 d| + `|err5 d| + `|err7 d| + b * eps) + (b * `|err4 d| + `|err6 d|))
    / e12_below d.
Proof.
move=> eps0; have h0 := mean_heat_gt0; set H := mean (heat d) in h0.
have hit0 : 0 <= mean (fun i => heat d i * hit i).
  rewrite -(mean_const 0 positions); apply: mean_le => i.
  by rewrite mulr_ge0 ?ler0n // ltW // heat_gt0.
set N := mean (fun i => heat d i * hit i) in hit0 *.
have p0 : 0 < N + eps * H by apply: ltr_paddl => //; apply: mulr_gt0.
have -> : e12 d eps = mean (fun i => heat d i * score d i * hit i) / (N + eps * H).
  rewrite /e12 /f -/H -/N; field; rewrite (lt0r_neq0 h0) /=.
  by rewrite (lt0r_neq0 p0).
apply: quotient_le; [exact: (lt0r_neq0 p0) | exact: e12_below_gt0 | |].
  have -> : N + eps * H - e12_below d = (b - 1) * err4 d + err5 d + err7 d + H * eps.
    by rewrite /N mean_hitE err7E /e12_below /err4 /err5; ring.
  apply: le_trans (ler_norm_add _ _) _; apply: ler_add; last first.
    by rewrite (gtr0_norm (mulr_gt0 h0 eps0)) ler_wpmul2r ?(ltW eps0) // mean_heat_le.
  apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2r.
  by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2r norm_less.
set rhs := (X in _ - X).
have -> : mean (fun i => heat d i * score d i * hit i) - rhs = b * err4 d + err6 d.
  by rewrite mean_bothE err6E /rhs /err4; ring.
by apply: le_trans (ler_norm_add _ _) _; rewrite normrM (gtr0_norm b0).
Qed.

Theorem denominator_corrected g S : mu d <= 1 -> g / S <= mu d -> (1 - r) * b * (g / S) <= e3_below d.
Proof.
move=> mu1 gmu; have /andP[r0 r1] := r01; have r1' : 0 <= 1 - r by rewrite subr_ge0.
apply: (@le_trans _ _ ((1 - r) * (b * mu d))).
  by rewrite -mulrA ler_wpmul2l // ler_wpmul2l // ltW.
rewrite /e3_below; apply: (@le_trans _ _ ((1 - r) * (b - 1) * mu d + (1 - r))); last first.
  by rewrite ler_addl mulr_ge0 // ltW.
have -> : (1 - r) * (b - 1) * mu d + (1 - r) = (1 - r) * ((b - 1) * mu d + 1) by ring.
rewrite ler_wpmul2l // -subr_ge0.
have -> : (b - 1) * mu d + 1 - b * mu d = 1 - mu d by ring.
by rewrite subr_ge0.
Qed.
End OneInstance.
End Bounds.
