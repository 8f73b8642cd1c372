(* The prior that is uniform over all relabelings of a chain is symmetric, so *)
(* that the third bullet of Assumption 1 need not be computed.                *)
(*   relabelings_symmetric == the relabelings of one chain                    *)
(*   symmetric_cat         == two symmetric priors, one after the other       *)
(*   orbit_assumption1, orbits_assumption1 == the other bullets suffice       *)
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Symmetry.
Variables (R : realFieldType) (S : nat).
Implicit Type c : chain R.

Definition after (tau sigma : seq nat) : seq nat := [seq nth 0 sigma t | t <- tau].

Lemma relabel_relabel tau sigma c :
  {subset tau <= iota 0 (size sigma)} -> relabel tau (relabel sigma c) = relabel (after tau sigma) c.
Proof.
move=> sub; have inside t : t \in tau -> t < size sigma by move/sub; rewrite mem_iota.
rewrite /relabel /after /= -!map_comp; congr (_, _).
  apply/eq_in_map => s hs /=; rewrite -map_comp; apply/eq_in_map => t ht /=.
  by rewrite /matrix /= (nth_map 0) ?inside // (nth_map 0) ?inside.
by apply/eq_in_map => s hs /=; rewrite /measure /= (nth_map 0) ?inside.
Qed.

Lemma after_perm tau sigma :
  perm_eq tau (iota 0 S) -> perm_eq sigma (iota 0 S) -> perm_eq (after tau sigma) (iota 0 S).
Proof.
move=> htau hsigma; have z : size sigma = S by rewrite (perm_size hsigma) size_iota.
apply: perm_trans (perm_map (nth 0 sigma) htau) _.
by rewrite -{1}z -/(mkseq _ _) mkseq_nth.
Qed.

Lemma after_inj tau : perm_eq tau (iota 0 S) ->
  {in permutations (iota 0 S) &, injective (after tau)}.
Proof.
move=> htau s1 s2; rewrite !mem_permutations => h1 h2 e.
have z1 : size s1 = S by rewrite (perm_size h1) size_iota.
have z2 : size s2 = S by rewrite (perm_size h2) size_iota.
apply: (@eq_from_nth _ 0) => [|i hi]; first by rewrite z1 z2.
have : i \in tau by rewrite (perm_mem htau) mem_iota -z1.
by move/eq_in_map: e; apply.
Qed.

Lemma relabelings_symmetric c : symmetric S (relabelings S c).
Proof.
move=> tau htau; set P := permutations (iota 0 S).
have -> : [seq relabel tau d | d <- relabelings S c] = [seq relabel s c | s <- map (after tau) P].
  rewrite /relabelings -!map_comp; apply/eq_in_map => s; rewrite mem_permutations => hs /=.
  apply: relabel_relabel => t; rewrite (perm_mem htau).
  by rewrite (perm_size hs) size_iota.
apply: perm_map; apply: uniq_perm; [|exact: permutations_uniq|].
  by rewrite map_inj_in_uniq ?permutations_uniq //; apply: after_inj.
have u : uniq (map (after tau) P).
  by rewrite map_inj_in_uniq ?permutations_uniq //; apply: after_inj.
have sub : {subset map (after tau) P <= P}.
  by move=> s /mapP[s']; rewrite !mem_permutations => h ->; apply: after_perm.
by have [|_ e] := uniq_min_size u sub; [rewrite size_map | apply: e].
Qed.

Lemma symmetric_cat (P Q : seq (chain R)) : symmetric S P -> symmetric S Q -> symmetric S (P ++ Q).
Proof. by move=> hP hQ sigma h; rewrite map_cat; apply: perm_cat; [apply: hP | apply: hQ]. Qed.

Lemma orbit_assumption1 gamma c : (0 < gamma)%R -> all (admissible S gamma) (relabelings S c) ->
  constant_mean S (relabelings S c) -> assumption1 S gamma (relabelings S c).
Proof. by move=> g0 a m; split=> //; apply: relabelings_symmetric. Qed.

Lemma orbits_assumption1 gamma c d : (0 < gamma)%R ->
  all (admissible S gamma) (relabelings S c ++ relabelings S d) ->
  constant_mean S (relabelings S c ++ relabelings S d) ->
  assumption1 S gamma (relabelings S c ++ relabelings S d).
Proof. by move=> g0 a m; split=> //; apply: symmetric_cat; apply: relabelings_symmetric. Qed.
End Symmetry.
