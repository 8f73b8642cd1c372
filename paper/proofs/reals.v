(* The real numbers of Coq's standard library as an ordered field of mathcomp, *)
(* with their exponential and logarithm: the theorems about an abstract       *)
(* exponential apply to them. They rest on the axioms of Coq's real numbers   *)
(* and on epsilon_statement, the axiom of choice, which mathcomp's fields     *)
(* need. No theorem in theorems.json uses this file.                          *)
(*   R_archiFieldType  == the real numbers R as an archiFieldType             *)
(*   exp_R, ln_R       == their exponential and logarithm                     *)
From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import Reals Epsilon FunctionalExtensionality Lra.
From LearnCausal Require Import definitions stage_one.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Definition R_eqb (x y : R) : bool := if Req_EM_T x y then true else false.
Lemma R_eqP : Equality.axiom R_eqb.
Proof. by move=> x y; rewrite /R_eqb; case: Req_EM_T => h; constructor. Qed.
Canonical R_eqType := EqType R (EqMixin R_eqP).

Definition pick (P : pred R) (n : nat) : option R :=
  let x := epsilon (inhabits R0) P in if P x then Some x else None.
Lemma pick_some P n x : pick P n = Some x -> P x.
Proof. by rewrite /pick; case h: (P _) => // -[<-]. Qed.
Lemma pick_ex (P : pred R) : (exists x, P x) -> exists n, pick P n.
Proof. by move=> h; exists 0%N; rewrite /pick (epsilon_spec (inhabits R0) P h). Qed.
Lemma pick_ext (P Q : pred R) : P =1 Q -> pick P =1 pick Q.
Proof. by move=> h n; rewrite (functional_extensionality P Q h). Qed.
Canonical R_choiceType := ChoiceType R (Choice.Mixin pick_some pick_ex pick_ext).

Definition R_zmodMixin := ZmodMixin (fun x y z => esym (Rplus_assoc x y z)) Rplus_comm Rplus_0_l Rplus_opp_l.
Canonical R_zmodType := ZmodType R R_zmodMixin.
Lemma R_one_neq0 : R1 != R0 :> R.
Proof. exact/eqP/R1_neq_R0. Qed.
Definition R_ringMixin := ComRingMixin (fun x y z => esym (Rmult_assoc x y z)) Rmult_comm Rmult_1_l
  Rmult_plus_distr_r R_one_neq0.
Canonical R_ringType := RingType R R_ringMixin.
Canonical R_comRingType := ComRingType R Rmult_comm.
Lemma R_mulV (x : R) : x != R0 -> (/ x * x)%R = R1.
Proof. by move/eqP/Rinv_l. Qed.
Definition R_unitRingMixin := FieldUnitMixin R_mulV Rinv_0.
Canonical R_unitRingType := UnitRingType R R_unitRingMixin.
Canonical R_comUnitRingType := [comUnitRingType of R].
Lemma R_field : GRing.Field.mixin_of R_unitRingType.
Proof. by []. Qed.
Canonical R_idomainType := IdomainType R (FieldIdomainMixin R_field).
Canonical R_fieldType := FieldType R R_field.

Definition R_le (x y : R) : bool := if Rle_dec x y then true else false.
Definition R_lt (x y : R) : bool := if Rlt_dec x y then true else false.
Lemma R_leP x y : reflect (x <= y)%R (R_le x y).
Proof. by rewrite /R_le; case: Rle_dec => h; constructor. Qed.
Lemma R_ltP x y : reflect (x < y)%R (R_lt x y).
Proof. by rewrite /R_lt; case: Rlt_dec => h; constructor. Qed.
Lemma R_le0D x y : R_le 0 x -> R_le 0 y -> R_le 0 (x + y).
Proof. by move=> /R_leP hx /R_leP hy; apply/R_leP; lra. Qed.
Lemma R_le0M x y : R_le 0 x -> R_le 0 y -> R_le 0 (x * y).
Proof. by move=> /R_leP hx /R_leP hy; apply/R_leP/Rmult_le_pos. Qed.
Lemma R_le0_anti x : R_le 0 x -> R_le x 0 -> x = R0.
Proof. by move=> /R_leP hx /R_leP hy; apply: Rle_antisym. Qed.
Lemma R_sub_ge0 (x y : R) : R_le 0 (y - x) = R_le x y.
Proof. by apply/R_leP/R_leP; rewrite /Rminus; lra. Qed.
Lemma R_le_total x : R_le 0 x || R_le x 0.
Proof. by case: (Rle_dec 0 x) => h; apply/orP; [left | right]; apply/R_leP; lra. Qed.
Lemma R_absN (x : R) : Rabs (- x) = Rabs x.
Proof. exact: Rabs_Ropp. Qed.
Lemma R_ge0_abs x : R_le 0 x -> Rabs x = x.
Proof. by move/R_leP => h; apply: Rabs_pos_eq. Qed.
Lemma R_lt_def x y : R_lt x y = (y != x) && R_le x y.
Proof.
apply/R_ltP/andP => [h | [/eqP n /R_leP h]]; last lra.
by split; [apply/eqP | apply/R_leP]; lra.
Qed.
Definition R_leMixin : realLeMixin R_idomainType :=
  RealLeMixin R_le0D R_le0M R_le0_anti R_sub_ge0 R_le_total R_absN R_ge0_abs R_lt_def.
Canonical R_porderType := POrderType ring_display R R_leMixin.
Canonical R_latticeType := LatticeType R R_leMixin.
Canonical R_distrLatticeType := DistrLatticeType R R_leMixin.
Lemma R_total (x y : R) : (x <= y)%O || (y <= x)%O.
Proof. by case: (Rle_dec x y) => h; apply/orP; [left | right]; apply/R_leP; lra. Qed.
Canonical R_orderType := OrderType R R_total.
Canonical R_numDomainType := NumDomainType R R_leMixin.
Canonical R_normedZmodType := NormedZmodType R R R_leMixin.
Canonical R_numFieldType := [numFieldType of R].
Canonical R_realDomainType := [realDomainType of R].
Canonical R_realFieldType := [realFieldType of R].

Lemma R_natr n : GRing.natmul (GRing.one R_ringType) n = INR n.
Proof. by elim: n => // n IH; rewrite S_INR -IH GRing.mulrSr. Qed.
Lemma R_archimedean : Num.archimedean_axiom R_numDomainType.
Proof.
move=> x; exists (Z.to_nat (up (Rabs x))); rewrite R_natr INR_IZR_INZ; apply/R_ltP.
have [h _] := archimed (Rabs x); rewrite Z2Nat.id; first exact: h.
by apply: le_IZR; have := Rabs_pos x; lra.
Qed.
Canonical R_archiFieldType := ArchiFieldType R R_archimedean.

Definition exp_R : R_realFieldType -> R_realFieldType := exp.
Definition ln_R : R_realFieldType -> R_realFieldType := ln.

Lemma exp_exponential : exponential exp_R.
Proof.
rewrite /exp_R; split=> [x y | x]; first exact: exp_plus.
apply/R_leP; case: (Req_dec x 0) => [-> | n]; first by rewrite /exp_R exp_0; right; apply: Rplus_0_r.
by apply/Rlt_le/exp_ineq1.
Qed.
Lemma ln_logarithm : logarithm exp_R ln_R.
Proof. by move=> x /R_ltP; apply: exp_ln. Qed.
