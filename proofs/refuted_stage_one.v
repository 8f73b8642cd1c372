(* Section 5 and Appendices D, G and I: false statements about the gradient   *)
(* of stage 1. Each Definition is a statement as printed; each Theorem        *)
(* refutes it by a witness that the kernel computes.                          *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions priors computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Lemma 5 (thm-dpi-gap): if i has a parent, then                             *)
(* g_{i,p(i)} >= g_{i,j} + gamma^3/(2S) for all other j <= i.                 *)
Definition dpi_gap_printed (R : realFieldType) :=
  forall S (gamma : R) P g i j, assumption1 S gamma P -> forest g -> (0 < i <= size g)%N ->
  parent g i != 0%N -> (0 < j <= i)%N -> j != parent g i ->
  mean_gradient S g P i j + gamma ^+ 3 / (2%:R * S%:R) <= mean_gradient S g P i (parent g i).

Definition dpi_chain : chain Q :=
  let row := [:: 3//61; 26//61; 26//61; 3//61; 3//61] in
  ([:: [:: 3//61; 31//61; 21//61; 3//61; 3//61]; row; row; row; row],
   [:: 3//61; 1601//3721; 1571//3721; 3//61; 3//61]).

Theorem dpi_gap_refuted : ~ dpi_gap_printed Q.
Proof.
have a : assumption1 5 (13//53) (relabelings 5 dpi_chain) by apply: orbit_assumption1; vm_compute.
move=> h; have {}h := h 5%N _ _ [:: 0; 1; 0]%N 2%N 2%N a; by_computation h.
Qed.

(* Lemma 5 (thm-dpi-gap-step-query): if i has no parent, then g_{i,j} = 0 for *)
(* all j <= i.                                                                *)
Definition query_printed (R : realFieldType) :=
  forall S (gamma : R) P g i j, assumption1 S gamma P -> forest g -> (0 < i <= size g)%N ->
  parent g i == 0%N -> (0 < j <= i)%N -> mean_gradient S g P i j == 0.

Definition query_chain : chain Q := ([:: [:: 1//3; 2//3]; [:: 2//3; 1//3]], [:: 1//2; 1//2]).
Definition query_partner : chain Q := ([:: [:: 5//9; 4//9]; [:: 2//9; 7//9]], [:: 1//3; 2//3]).

Theorem query_refuted : ~ query_printed Q.
Proof.
have a : assumption1 2 (1//4) (relabelings 2 query_chain ++ relabelings 2 query_partner).
  by apply: orbits_assumption1; vm_compute.
move=> h; have {}h := h 2%N _ _ [:: 0; 0; 0; 1; 0]%N 5%N 5%N a; by_computation h.
Qed.

(* Eq. (27) (eq-g-root-zero): g_{i,j} = 0 for all roots i, T included, and    *)
(* all j <= i. The same claim as before; its witness has three states.        *)
Definition root_chain : chain Q :=
  ([:: [:: 1//4; 1//4; 1//2]; [:: 1//4; 1//2; 1//4]; [:: 1//4; 1//2; 1//4]], [:: 1//4; 7//16; 5//16]).

Theorem root_zero_refuted : ~ query_printed Q.
Proof.
have a : assumption1 3 (1//10) (relabelings 3 root_chain) by apply: orbit_assumption1; vm_compute.
move=> h; have {}h := h 3%N _ _ [:: 0; 1; 0]%N 3%N 3%N a; by_computation h.
Qed.

(* Appendix G.1 (eq-strong-dpi-step-last):                                    *)
(* (1 - alpha(pi))/2 |B_pi|_F^2 >= gamma^3/(2S).                              *)
Definition strong_dpi_last_printed (R : realFieldType) :=
  forall S (gamma : R) P c, assumption1 S gamma P -> c \in P ->
  gamma ^+ 3 / (2%:R * S%:R) <= (1 - alpha S (matrix c)) / 2%:R * normB S (matrix c) (measure c).

Definition strong_dpi_chain : chain Q :=
  ([:: [:: 1//8; 5//8; 1//4]; [:: 1//8; 7//16; 7//16]; [:: 1//8; 7//16; 7//16]],
   [:: 1//8; 59//128; 53//128]).

Theorem strong_dpi_last_refuted : ~ strong_dpi_last_printed Q.
Proof.
have a : assumption1 3 (4//11) (relabelings 3 strong_dpi_chain) by apply: orbit_assumption1; vm_compute.
move=> h; have {}h := h 3%N _ _ strong_dpi_chain a; by_computation h.
Qed.

(* Lemma 6 (thm-stage1-parents), in the limit of small beta_0, where the      *)
(* gradient of row i is -beta_0/(S T) J(p) ghat_i for the attention p of row  *)
(* i: for a constant C > 0 of gamma and S, every other j <= i and every p,    *)
(* (J(p) ghat_i)_j + C p_p(i) (1 - p_p(i)) <= (J(p) ghat_i)_p(i).             *)
Definition stage_one_printed (R : realFieldType) :=
  forall S (gamma eps : R) P g i j p, assumption1 S gamma P -> forest g -> 0 < eps ->
  (0 < i <= size g)%N -> parent g i != 0%N -> (0 < j <= i)%N -> j != parent g i ->
  distribution i p ->
  exists2 C, 0 < C & jacobian i p (ghat_row S g P eps i) j.-1 +
    C * (p (parent g i).-1 * (1 - p (parent g i).-1)) <= jacobian i p (ghat_row S g P eps i) (parent g i).-1.

Definition attention s : Q := nth 0 [:: 49//100; 1//100; 1//100; 49//100] s.

Theorem stage_one_refuted : ~ stage_one_printed Q.
Proof.
have a : assumption1 2 (39//100) (relabelings 2 lazy ++ relabelings 2 swapping).
  by apply: orbits_assumption1; vm_compute.
move=> h; have {}h := h 2%N _ (1//3) _ [:: 0; 1; 2; 3; 4; 5; 6; 7; 0]%N 4%N 1%N attention a.
do 7 (specialize (h ltac:(vm_compute; reflexivity))).
case: h => C c0; rewrite leNgt => /negP; apply.
apply: (@lt_trans _ _ (jacobian 4 attention (ghat_row 2 [:: 0; 1; 2; 3; 4; 5; 6; 7; 0]%N
  (relabelings 2 lazy ++ relabelings 2 swapping) (1//3) 4) 0)); first by vm_cast_no_check (erefl true).
by rewrite ltr_addl mulr_gt0 // mulr_gt0.
Qed.

(* Lemma 7 (lem-no-parents-step-jacobian): |J(p) v|_inf <= max_j p_j |v|_inf. *)
Definition jacobian_bound_printed (R : realFieldType) :=
  forall n (p v : nat -> R) M V j, distribution n p -> [all k < n, p k <= M] -> [all k < n, `|v k| <= V] ->
  (j < n)%N -> `|jacobian n p v j| <= M * V.

Theorem jacobian_bound_refuted : ~ jacobian_bound_printed Q.
Proof.
move=> h; have {}h := h 3%N (fun _ => 1//3) (fun k => if k == 0%N then 1 else -1) (1//3) 1 0%N.
by_computation h.
Qed.

(* Lemma 33 (thm-finite-stage1-step-mean): the mean of the empirical gradient *)
(* is ghat. The samples carry their query as the last token.                  *)
Definition empirical (R : realFieldType) S g (P : seq (chain R)) eps i j : R :=
  mean_over P (fun c => expect S g (matrix c) (measure c) (fun x => S%:R * \Sum_(s < S)
    matrix c (token x (size x)) s / (frequency R x s + eps) *
    ((token x i == s)%:R - frequency R x s) * (token x j == token x (size x))%:R)).

Definition empirical_mean_printed (R : realFieldType) :=
  forall S (gamma eps : R) P g i j, assumption1 S gamma P -> forest g -> 0 < eps ->
  (0 < i <= size g)%N -> (0 < j <= i)%N -> empirical S g P eps i j == ghat S g P eps i j.

Theorem empirical_mean_refuted : ~ empirical_mean_printed Q.
Proof.
have a : assumption1 3 (1//10) (relabelings 3 root_chain) by apply: orbit_assumption1; vm_compute.
move=> h; have {}h := h 3%N _ (1//2) _ [:: 0; 1; 0]%N 3%N 1%N a; by_computation h.
Qed.

(* Lemma 33 (thm-finite-stage1-step-union): the probability that some token   *)
(* has at most half of its stationary frequency is at most S/T_eff.           *)
Definition union_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R), stochastic S pi -> stationary S pi mu -> forest g ->
  expect S g pi mu (fun x => (has (fun s => frequency R x s <= mu s / 2%:R) (iota 0 S))%:R)
    <= S%:R / effective_length_leaves R g.

Definition sticky : chain Q := ([:: [:: 99//100; 1//100]; [:: 1//100; 99//100]], [:: 1//2; 1//2]).

Theorem union_refuted : ~ union_printed Q.
Proof.
by move=> h; have {}h := h 2%N [:: 0; 1; 0; 0]%N (matrix sticky) (measure sticky); by_computation h.
Qed.
