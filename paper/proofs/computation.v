(* How a statement is refuted: it is applied to a witness, the kernel         *)
(* computes its hypotheses, and then that its conclusion is false.            *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Notation Q := Qc_realFieldType (only parsing).

Lemma false_by (b : bool) : b -> b = false -> False.
Proof. by move=> ->. Qed.

Ltac by_computation h :=
  repeat match type of h with is_true _ -> _ => specialize (h ltac:(vm_cast_no_check (erefl true))) end;
  apply: (false_by h); vm_cast_no_check (erefl false).

(* Two chains that several witnesses share *)
Definition lazy : chain Q := ([:: [:: 4//5; 1//5]; [:: 1//5; 4//5]], [:: 1//2; 1//2]).
Definition swapping : chain Q := ([:: [:: 1//5; 4//5]; [:: 4//5; 1//5]], [:: 1//2; 1//2]).
