(* The rational numbers of Coq's standard library, which the kernel computes  *)
(* with in binary, as an ordered field of mathcomp. Statements are written    *)
(* over any ordered field; a counterexample is an instance over this one.     *)
(*   Qc_realFieldType == the rational numbers Qc as a realFieldType           *)
(*             a // b == the rational number a/b, b > 0                       *)
From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import QArith Qcanon Lia.
From Coq Require Export BinInt.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Definition Qc_eqb (x y : Qc) : bool := Qc_eq_bool x y.

Lemma Qc_eqP : Equality.axiom Qc_eqb.
Proof.
move=> x y; apply: (iffP idP) => [|<-]; first exact: Qc_eq_bool_correct.
by rewrite /Qc_eqb /Qc_eq_bool; case: (Qc_eq_dec x x).
Qed.

Canonical Qc_eqType := EqType Qc (EqMixin Qc_eqP).

Definition code (x : Qc) : bool * nat * nat :=
  (Z.ltb (Qnum x) 0, Z.abs_nat (Qnum x), Pos.to_nat (Qden x)).
Definition decode (c : bool * nat * nat) : Qc :=
  let: (negative, n, d) := c in
  Q2Qc ((if negative then - Z.of_nat n else Z.of_nat n)%Z # Pos.of_nat d).

Lemma codeK : cancel code decode.
Proof.
case=> [[n d] h]; rewrite /code /decode /=; apply: Qc_is_canon => /=.
rewrite Pos2Nat.id Zabs2Nat.id_abs.
have -> : (if (n <? 0)%Z then - Z.abs n else Z.abs n)%Z = n.
  by case: (Z.ltb_spec n 0) => h0; lia.
exact: Qred_correct.
Qed.

Canonical Qc_choiceType := ChoiceType Qc (CanChoiceMixin codeK).

Definition Qc_zmodMixin := ZmodMixin Qcplus_assoc Qcplus_comm Qcplus_0_l
  (fun x => etrans (Qcplus_comm (- x) x) (Qcplus_opp_r x)).
Canonical Qc_zmodType := ZmodType Qc Qc_zmodMixin.

Lemma Qc_one_neq0 : (Q2Qc 1 : Qc) != Q2Qc 0.
Proof. by []. Qed.

Definition Qc_ringMixin := ComRingMixin Qcmult_assoc Qcmult_comm Qcmult_1_l
  Qcmult_plus_distr_l Qc_one_neq0.
Canonical Qc_ringType := RingType Qc Qc_ringMixin.
Canonical Qc_comRingType := ComRingType Qc Qcmult_comm.

Lemma Qc_mulV (x : Qc) : x != Q2Qc 0 -> (/ x * x)%Qc = Q2Qc 1.
Proof. by move/eqP=> nz; rewrite Qcmult_comm Qcmult_inv_r. Qed.

Lemma Qc_inv0 : (/ Q2Qc 0)%Qc = Q2Qc 0.
Proof. by apply: Qc_is_canon. Qed.

Definition Qc_unitRingMixin := FieldUnitMixin Qc_mulV Qc_inv0.
Canonical Qc_unitRingType := UnitRingType Qc Qc_unitRingMixin.
Canonical Qc_comUnitRingType := [comUnitRingType of Qc].
Lemma Qc_field : GRing.Field.mixin_of Qc_unitRingType.
Proof. by []. Qed.
Canonical Qc_idomainType := IdomainType Qc (FieldIdomainMixin Qc_field).
Canonical Qc_fieldType := FieldType Qc Qc_field.

Definition Qc_le (x y : Qc) : bool := Qle_bool x y.
Definition Qc_lt (x y : Qc) : bool := ~~ Qle_bool y x.
Definition Qc_abs (x : Qc) : Qc := if Qc_le (Q2Qc 0) x then x else (- x)%Qc.

Lemma Qc_leP (x y : Qc) : reflect (x <= y)%Qc (Qc_le x y).
Proof. by apply: (iffP idP) => h; apply/Qle_bool_iff. Qed.

Lemma Qc_le0D (x y : Qc) : Qc_le (Q2Qc 0) x -> Qc_le (Q2Qc 0) y -> Qc_le (Q2Qc 0) (x + y)%R.
Proof.
move=> /Qc_leP hx /Qc_leP hy; apply/Qc_leP.
have := Qcplus_le_compat _ _ _ _ hx hy; by rewrite Qcplus_0_l.
Qed.

Lemma Qc_le0M (x y : Qc) : Qc_le (Q2Qc 0) x -> Qc_le (Q2Qc 0) y -> Qc_le (Q2Qc 0) (x * y)%R.
Proof.
move=> /Qc_leP hx /Qc_leP hy; apply/Qc_leP.
have := Qcmult_le_compat_r _ _ y hx hy; by rewrite Qcmult_0_l.
Qed.

Lemma Qc_le0_anti (x : Qc) : Qc_le (Q2Qc 0) x -> Qc_le x (Q2Qc 0) -> x = Q2Qc 0.
Proof. by move=> /Qc_leP h /Qc_leP h'; apply: Qcle_antisym. Qed.

Lemma Qc_sub_ge0 (x y : Qc) : Qc_le (Q2Qc 0) (y - x)%R = Qc_le x y.
Proof.
apply/Qc_leP/Qc_leP => h; last by have := Qcplus_le_compat _ _ _ _ h (Qcle_refl (- x)); rewrite Qcplus_opp_r.
have := Qcplus_le_compat _ _ _ _ h (Qcle_refl x).
by rewrite Qcplus_0_l -Qcplus_assoc (Qcplus_comm (- x)) Qcplus_opp_r Qcplus_comm Qcplus_0_l.
Qed.

Lemma Qc_le_total (x : Qc) : Qc_le (Q2Qc 0) x || Qc_le x (Q2Qc 0).
Proof.
case: (Qclt_le_dec x (Q2Qc 0)) => h; apply/orP; last by left; apply/Qc_leP.
by right; apply/Qc_leP; apply: Qclt_le_weak.
Qed.

Lemma Qc_absN (x : Qc) : Qc_abs (- x)%R = Qc_abs x.
Proof.
have oppK : (- - x)%Qc = x by exact: (@GRing.opprK Qc_zmodType x).
rewrite /Qc_abs; case: (Qc_leP (Q2Qc 0) x) => hx; case: (Qc_leP (Q2Qc 0) (- x)%Qc) => hn.
- have -> : x = Q2Qc 0; last by [].
  apply: Qcle_antisym => //; have := Qcplus_le_compat _ _ _ _ hn (Qcle_refl x).
  by rewrite Qcplus_0_l Qcplus_comm Qcplus_opp_r.
- exact: oppK.
- by [].
have h : (x <= Q2Qc 0)%Qc by case: (Qclt_le_dec x (Q2Qc 0)) => // /Qclt_le_weak.
case: hn; have := Qcplus_le_compat _ _ _ _ h (Qcle_refl (- x)%Qc).
by rewrite Qcplus_opp_r Qcplus_0_l.
Qed.

Lemma Qc_ge0_abs (x : Qc) : Qc_le (Q2Qc 0) x -> Qc_abs x = x.
Proof. by rewrite /Qc_abs => ->. Qed.

Lemma Qc_lt_def (x y : Qc) : Qc_lt x y = (y != x) && Qc_le x y.
Proof.
rewrite /Qc_lt -/(Qc_le y x); apply/idP/andP => [|[/eqP nxy /Qc_leP hxy]].
  move/Qc_leP => hyx; case: (Qclt_le_dec x y) => hxy; last by case: hyx.
  split; last by apply/Qc_leP; apply: Qclt_le_weak.
  by apply/eqP => e; apply: hyx; rewrite e; apply: Qcle_refl.
by apply/negP => /Qc_leP hyx; apply: nxy; apply: Qcle_antisym.
Qed.

Definition Qc_leMixin : realLeMixin Qc_idomainType :=
  RealLeMixin Qc_le0D Qc_le0M Qc_le0_anti Qc_sub_ge0 Qc_le_total Qc_absN Qc_ge0_abs Qc_lt_def.
Canonical Qc_porderType := POrderType ring_display Qc Qc_leMixin.
Canonical Qc_latticeType := LatticeType Qc Qc_leMixin.
Canonical Qc_distrLatticeType := DistrLatticeType Qc Qc_leMixin.

Lemma Qc_total (x y : Qc) : (x <= y)%O || (y <= x)%O.
Proof.
case: (Qclt_le_dec x y) => h; apply/orP; last by right; apply/Qc_leP.
by left; apply/Qc_leP; apply: Qclt_le_weak.
Qed.

Canonical Qc_orderType := OrderType Qc Qc_total.
Canonical Qc_numDomainType := NumDomainType Qc Qc_leMixin.
Canonical Qc_normedZmodType := NormedZmodType Qc Qc Qc_leMixin.
Canonical Qc_numFieldType := [numFieldType of Qc].
Canonical Qc_realDomainType := [realDomainType of Qc].
Canonical Qc_realFieldType := [realFieldType of Qc].

Definition fraction (a : Z) (b : positive) : Qc_realFieldType := Q2Qc (Qmake a b).
Notation "a // b" := (fraction a b) (at level 40, no associativity).

