(* Section 5 and Appendices D, G and I: false statements about the gradient   *)
(* of stage 1. Each Definition is a statement as printed; each Theorem        *)
(* refutes it by a witness that the kernel computes.                          *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions priors computation markov law gap forest_gap.
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
have a : assumption1 5 (13//53) (uniform (relabelings 5 dpi_chain)) by apply: orbit_assumption1; vm_compute.
set P := uniform (relabelings 5 dpi_chain) in a *; pose g := [:: 0; 1; 0]%N; have ok : forest g by [].
have [is_p g0 _ S0 facts] := prior_facts a.
have valid c : c \in P -> [/\ stochastic 5 (matrix c), stationary 5 (matrix c) (measure c) &
    forall t, (t < 5)%N -> 0 < measure c t].
  by move=> /facts[st sta _ lo]; split=> // t ht; apply: (mu_gt0 sta lo g0 S0 ht).
have itself : mean_gradient 5 g P 2 2 = 0.
  have m : meet g 2 2 0 0 by exists [::], [::], (ancestors g 2).
  by rewrite (mean_meet a ok (isT : (0 < 2 < 3)%N) (isT : (0 < 2 < 3)%N) m); apply: mean_itself a.
move=> h; have {}h := h 5%N _ P g 2%N 2%N a; do 5 (specialize (h isT)).
move: h; rewrite itself (proj1 (parent_chi2 is_p ok valid (isT : (0 < 2 < 3)%N) isT)) => h; by_computation h.
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
have a : assumption1 2 (1//4) (uniform (relabelings 2 query_chain ++ relabelings 2 query_partner)).
  by apply: orbits_assumption1; vm_compute.
move=> h; have {}h := h 2%N _ _ [:: 0; 0; 0; 1; 0]%N 5%N 5%N a; by_computation h.
Qed.

(* Eq. (27) (eq-g-root-zero): g_{i,j} = 0 for all roots i, T included, and    *)
(* all j <= i. The same claim as before; its witness has three states.        *)
Definition root_chain : chain Q :=
  ([:: [:: 1//4; 1//4; 1//2]; [:: 1//4; 1//2; 1//4]; [:: 1//4; 1//2; 1//4]], [:: 1//4; 7//16; 5//16]).

Theorem root_zero_refuted : ~ query_printed Q.
Proof.
have a : assumption1 3 (1//10) (uniform (relabelings 3 root_chain)) by apply: orbit_assumption1; vm_compute.
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
have a : assumption1 3 (4//11) (uniform (relabelings 3 strong_dpi_chain)) by apply: orbit_assumption1; vm_compute.
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
have a : assumption1 2 (39//100) (uniform (relabelings 2 lazy ++ relabelings 2 swapping)).
  by apply: orbits_assumption1; vm_compute.
move=> h; have {}h := h 2%N _ (1//3) _ [:: 0; 1; 2; 3; 0]%N 4%N 1%N attention a.
do 7 (specialize (h ltac:(vm_compute; reflexivity))).
case: h => C c0; rewrite leNgt => /negP; apply.
apply: (@lt_trans _ _ (jacobian 4 attention (ghat_row 2 [:: 0; 1; 2; 3; 0]%N
  (uniform (relabelings 2 lazy ++ relabelings 2 swapping)) (1//3) 4) 0)); first by vm_cast_no_check (erefl true).
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
Definition empirical (R : realFieldType) S g (P : prior R) eps i j : R :=
  mean_over P (fun c => expect S g (matrix c) (measure c) (fun x => S%:R * \Sum_(s < S)
    matrix c (token x (size x)) s / (frequency R x s + eps) *
    ((token x i == s)%:R - frequency R x s) * (token x j == token x (size x))%:R)).

Definition empirical_mean_printed (R : realFieldType) :=
  forall S (gamma eps : R) P g i j, assumption1 S gamma P -> forest g -> 0 < eps ->
  (0 < i <= size g)%N -> (0 < j <= i)%N -> empirical S g P eps i j == ghat S g P eps i j.

Theorem empirical_mean_refuted : ~ empirical_mean_printed Q.
Proof.
have a : assumption1 3 (1//10) (uniform (relabelings 3 root_chain)) by apply: orbit_assumption1; vm_compute.
move=> h; have {}h := h 3%N _ (1//2) _ [:: 0; 1; 0]%N 3%N 1%N a; by_computation h.
Qed.

(* Lemma 33 (thm-finite-stage1-step-display): with n^2 samples, of which a    *)
(* share has some token at most half as often as in mean (A), and P(A) is     *)
(* dropped with it:                                                           *)
(* S log(T/delta)/(gamma n) + share/eps + P(A)/eps                            *)
(*   <= C (S/gamma + root/eps) log(T/delta)/n, with root^2 = S/T_eff.         *)
Definition rare (R : realFieldType) S g pi (mu : nat -> R) : R :=
  expect S g pi mu (fun x => (has (fun s => frequency R x s <= mu s / 2%:R) (iota 0 S))%:R).

Definition display_printed (R : realFieldType) (ln : R -> R) (C : R) :=
  forall S g pi mu (gamma eps delta root share : R) n, stochastic S pi -> stationary S pi mu ->
  0 < gamma -> at_least S pi (gamma / S%:R) -> forest g ->
  0 < eps -> 1 <= eps ^+ 2 * effective_length_leaves R g <= 2%:R ->
  0 <= root -> root ^+ 2 == S%:R / effective_length_leaves R g ->
  0 < delta < 1 -> (0 < n)%N -> 0 <= share <= 1 ->
  S%:R * ln ((size g)%:R / delta) / (gamma * n%:R) + share / eps + rare S g pi mu / eps <=
    C * (S%:R / gamma + root / eps) * ln ((size g)%:R / delta) / n%:R.

Definition mild : chain Q := ([:: [:: 3//4; 1//4]; [:: 1//4; 3//4]], [:: 1//2; 1//2]).

Theorem display_refuted (ln : Q -> Q) (C : nat) : (forall x, 1 <= x -> 0 <= ln x <= x) -> ~ display_printed ln C%:R.
Proof.
move=> log h; have {}h := h 2%N [:: 0; 1; 0; 3; 0; 5; 0; 0]%N (matrix mild) (measure mild) (1//2) (1//2) (1//8).
have {}h := h (1//2) 0 (1000 * C).+1; do 12 (specialize (h ltac:(vm_compute; reflexivity))).
move: h; have -> : (size [:: 0; 1; 0; 3; 0; 5; 0; 0]%N)%:R / (1//8) = 64//1 :> Q by apply/eqP; vm_compute.
have /andP[l0 l64] : 0 <= ln (64//1) <= 64//1 by apply: log; vm_compute.
rewrite leNgt => /negP; apply; set n : Q := (1000 * C).+1%:R.
have n0 : 0 < n by rewrite ltr0n.
apply: (@lt_le_trans _ _ (8//25)).
  rewrite ltr_pdivr_mulr //; apply: (@le_lt_trans _ _ (320%:R * C%:R)).
    have -> : 320%:R * C%:R = C%:R * (2%:R / (1//2) + 1//2 / (1//2)) * (64//1) :> Q.
      have -> : 320%:R = (2%:R / (1//2) + 1//2 / (1//2)) * (64//1) :> Q by apply/eqP; vm_compute.
      by rewrite mulrC mulrA.
    rewrite ler_wpmul2l // mulr_ge0 ?ler0n //; by vm_compute.
  have -> : 320%:R = 8//25 * 1000%:R :> Q by apply/eqP; vm_compute.
  by rewrite -mulrA ltr_pmul2l ?[0 < _]isT // -natrM ltr_nat.
set g := [:: 0; 1; 0; 3; 0; 5; 0; 0]%N; rewrite mul0r addr0.
apply: (@le_trans _ _ (rare 2 g (matrix mild) (measure mild) / (1//2))); rewrite /g.
  by vm_cast_no_check (erefl true).
by rewrite ler_addr divr_ge0 ?mulr_ge0 ?ler0n.
Qed.
