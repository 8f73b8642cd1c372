(* Section 5, Appendices D, H and I: false statements about stage 2 and its   *)
(* consequences. Each Definition is a statement as printed; each Theorem      *)
(* refutes it by a witness that the kernel computes.                          *)
(*   mean_law l F      == the mean of F under the finite law l, a list of     *)
(*                        probabilities with their outcomes                   *)
(*   is_law l          == its weights are not negative and of sum 1           *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions priors computation stage_two.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Lemma 30 (lem-concentrate-e3-step-denominator): with b = e^beta and        *)
(* m = e^(beta mu(s)) the denominator of E3 is at least (1-r) e^beta gamma.   *)
(* Whatever b, m >= 1 are, so here for all such.                              *)
Definition denominator_printed (R : realFieldType) :=
  forall S (gamma r b m : R) P c s, assumption1 S gamma P -> c \in P -> (s < S)%N ->
  0 <= r -> r <= 1 - gamma -> 1 <= m -> m <= b -> b ^+ 1 == m ^+ 7 ->
  measure c s == 1 / 7%:R ->
  (1 - r) * b * gamma <= (1 - r) * (b - 1) * measure c s + (1 - r) + r * m.

Definition denominator_chain : chain Q := ([:: [:: 9//10; 1//10]; [:: 3//5; 2//5]], [:: 6//7; 1//7]).
Definition denominator_partner : chain Q := ([:: [:: 1//10; 9//10]; [:: 2//5; 3//5]], [:: 4//13; 9//13]).

Theorem denominator_refuted : ~ denominator_printed Q.
Proof.
have a : assumption1 2 (19//100) (relabelings 2 denominator_chain ++ relabelings 2 denominator_partner).
  by apply: orbits_assumption1; vm_compute.
move=> h; have {}h := h 2%N _ (1//4) (128//1) (2//1) _ denominator_chain 1%N a; by_computation h.
Qed.

(* Lemma 30 (lem-concentrate-e3-step-quotient), the displayed use of Lemma 28 *)
(* (lem-compute-diffs) for E3, at b = e^beta and m = e^(beta mu(s)).          *)
Definition e3_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R) x s, stochastic S pi -> stationary S pi mu -> forest g ->
  let d := data_at_zero S g pi mu x s 0%N in
  `|e3 d - e3_limit d| <= `|e3 d| * ((`|b d * err1 d| + err3 d) + (`|b d * err1 d| + err2 d)) / e3_below d.

Definition seven_tenths : chain Q := ([:: [:: 7//10; 3//10]; [:: 3//10; 7//10]], [:: 1//2; 1//2]).

Theorem e3_refuted : ~ e3_printed Q.
Proof.
move=> h; have {}h := h 2%N [:: 0; 1; 0]%N (matrix seven_tenths) (measure seven_tenths) [:: 0; 0; 0]%N 1%N.
by_computation h.
Qed.

(* Lemma 31 (lem-concentrate-e12-step-quotient), the same for E1/(E2 + eps).  *)
Definition e12_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R) x s s' eps, stochastic S pi -> stationary S pi mu -> forest g -> 0 < eps ->
  let d := data_at_zero S g pi mu x s s' in
  `|e12 d eps - e12_limit d| <= `|e12 d eps| / e12_below d *
    ((b d * `|err4 d| + `|err5 d| + `|err7 d| + b d * eps) + b d * `|err4 d| + `|err6 d|).

Theorem e12_refuted : ~ e12_printed Q.
Proof.
move=> h; have {}h := h 2%N [:: 0; 1; 0]%N (matrix seven_tenths) (measure seven_tenths) [:: 0; 0; 0]%N
  0%N 1%N (1//100).
by_computation h.
Qed.

(* Lemma 32 (lem-f-to-pi-step-quotient), the same for f.                      *)
Definition f_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R) x s s', stochastic S pi -> stationary S pi mu -> forest g ->
  let d := data_at_zero S g pi mu x s s' in
  `|f d - f_limit d| <=
    (`|f d| * (b d * `|err4 d| + `|err5 d| + `|err7 d|) + b d * `|err1 d| + `|err3 d|) / f_below d.

Theorem f_refuted : ~ f_printed Q.
Proof.
move=> h; have {}h := h 2%N [:: 0; 1; 0]%N (matrix seven_tenths) (measure seven_tenths) [:: 0; 0; 0]%N 0%N 1%N.
by_computation h.
Qed.
