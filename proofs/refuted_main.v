(* Theorem 1: a false step on the way to it, as printed, and its refutation.  *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions probability computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Theorem 1 (thm-main-step-threshold): what Lemma 32 says of                 *)
(* f <= gamma^3/(4 S^2), the proof uses of f < gamma^3/(4 S), for a constant C. *)
Definition threshold_printed (R : realFieldType) (C : R) :=
  forall S (gamma : R) (A : eqType) (l : seq (R * A)) (f : A -> R), (0 < S)%N -> 0 < gamma <= 1 -> is_law l ->
  (forall a, 0 <= f a <= 1) ->
  mean_law l (fun a => (f a < gamma ^+ 3 / (4%:R * S%:R))%R%:R) <=
    C * mean_law l (fun a => (f a <= gamma ^+ 3 / (4%:R * S%:R ^+ 2))%R%:R).

Theorem threshold_refuted (C : Q) : ~ threshold_printed C.
Proof.
move=> h; have {}h := h 2%N 1 bool_eqType [:: (1, true)] (fun _ => 3//32) isT isT isT (fun _ => isT).
have e : mean_law [:: (1, true)] (fun _ : bool => ((3//32 : Q) <= 1 ^+ 3 / (4%:R * 2%:R ^+ 2))%R%:R) = 0 :> Q.
  by apply/eqP; vm_compute.
by move: h; rewrite e mulr0; vm_compute.
Qed.
