(* How a statement is refuted: it is applied to a witness, the kernel         *)
(* computes its hypotheses, and then that its conclusion is false.            *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Notation Q := Qc_realFieldType.

Ltac by_computation h :=
  repeat match type of h with is_true _ -> _ => specialize (h ltac:(vm_compute; reflexivity)) end;
  move: h; by [vm_compute | move/eqP; vm_compute].

(* Two chains that several witnesses share *)
Definition lazy : chain Q := ([:: [:: 4//5; 1//5]; [:: 1//5; 4//5]], [:: 1//2; 1//2]).
Definition swapping : chain Q := ([:: [:: 1//5; 4//5]; [:: 4//5; 1//5]], [:: 1//2; 1//2]).
