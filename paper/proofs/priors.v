(* Means under a prior, and the priors of finitely many chains: a list of     *)
(* chains with weights of sum 1 is a prior. The prior that is uniform over    *)
(* all relabelings of a chain is symmetric, so that the third bullet of       *)
(* Assumption 1 need not be computed.                                         *)
(*   over_eq, overD, overB, overZ, over_const, over_total == linearity        *)
(*   over_le, over_near    == comparison of means                             *)
(*   from_chains           == a condition that holds if a chain exists        *)
(*   bounded_...           == which functions of a chain are bounded          *)
(*   weighted_prior, uniform_prior == lists of chains are priors              *)
(*   relabelings_symmetric == the relabelings of one chain                    *)
(*   symmetric_cat         == two symmetric priors, one after the other       *)
(*   orbit_assumption1, orbits_assumption1 == the other bullets suffice       *)
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions sums.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Bounded.
Variables (R : realFieldType) (P : prior R).
Implicit Types F G : chain R -> R.
Local Open Scope ring_scope.

Lemma bounded_by b F : (forall c, c \in P -> `|F c| <= b) -> bounded P F.
Proof. by exists b. Qed.

Lemma bounded_const x : bounded P (fun=> x).
Proof. by exists `|x|. Qed.

Lemma bounded_eq F G : (forall c, c \in P -> F c = G c) -> bounded P F -> bounded P G.
Proof. by move=> e [b h]; exists b => c hc; rewrite -e ?h. Qed.

Lemma boundedD F G : bounded P F -> bounded P G -> bounded P (fun c => F c + G c).
Proof.
move=> [a ha] [b hb]; exists (a + b) => c hc.
by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add ?ha ?hb.
Qed.

Lemma boundedM F G : bounded P F -> bounded P G -> bounded P (fun c => F c * G c).
Proof. by move=> [a ha] [b hb]; exists (a * b) => c hc; rewrite normrM ler_pmul ?ha ?hb. Qed.

Lemma boundedN F : bounded P F -> bounded P (fun c => - F c).
Proof. by move=> [b h]; exists b => c hc; rewrite normrN h. Qed.

Lemma boundedB F G : bounded P F -> bounded P G -> bounded P (fun c => F c - G c).
Proof. by move=> hF hG; apply: boundedD => //; apply: boundedN. Qed.

Lemma bounded_total (A : eqType) (l : seq A) (F : A -> chain R -> R) :
  (forall a, a \in l -> bounded P (F a)) -> bounded P (fun c => \Sum_(a in l) F a c).
Proof.
elim: l => [|a l IH] h; first exact: bounded_const.
apply: (@boundedD (F a) (fun c => \Sum_(a in l) F a c)); first by apply: h; rewrite mem_head.
by apply: IH => b hb; apply: h; rewrite inE hb orbT.
Qed.

(* functions near a bounded one *)
Lemma bounded_near b F G : bounded P G -> (forall c, c \in P -> `|F c - G c| <= b) -> bounded P F.
Proof.
move=> [a ha] h; exists (b + a) => c hc; rewrite -[F c](subrK (G c)).
by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add ?h ?ha.
Qed.
End Bounded.

Section Means.
Variables (R : realFieldType) (P : prior R).
Hypothesis ok : is_prior P.
Implicit Types F G : chain R -> R.
Local Open Scope ring_scope.
Notation mean := (mean_over P).

Lemma over_eq F G : (forall c, c \in P -> F c = G c) -> mean F = mean G.
Proof. by case: ok => _ e _ _; apply: e. Qed.

Lemma overD F G : bounded P F -> bounded P G -> mean (fun c => F c + G c) = mean F + mean G.
Proof.
move=> hF hG; rewrite -[mean F]mul1r; case: ok => _ _ l _; rewrite -l //.
by apply: over_eq => c _; rewrite mul1r.
Qed.

Lemma over0 : mean (fun=> 0) = 0.
Proof.
have b := bounded_const P (0 : R); have e := overD b b.
have z : mean (fun=> 0 + 0) = mean (fun=> 0) by apply: over_eq => c _; rewrite addr0.
by apply: (addrI (mean (fun=> 0))); rewrite -e z addr0.
Qed.

Lemma overZ a F : bounded P F -> mean (fun c => a * F c) = a * mean F.
Proof.
move=> hF; rewrite -[RHS]addr0 -over0; case: ok => _ _ l _; rewrite -l //; last exact: bounded_const.
by apply: over_eq => c _; rewrite addr0.
Qed.

Lemma over_const x : mean (fun=> x) = x.
Proof.
case: ok => one _ _ _; rewrite -[RHS]mulr1 -one -overZ; last exact: bounded_const.
by apply: over_eq => c _; rewrite mulr1.
Qed.

Lemma overB F G : bounded P F -> bounded P G -> mean (fun c => F c - G c) = mean F - mean G.
Proof.
move=> hF hG; rewrite -mulN1r -overZ // -overD //; first by apply: over_eq => c _; rewrite mulN1r.
by apply: boundedM => //; apply: bounded_const.
Qed.

Lemma over_total (A : eqType) (l : seq A) (F : A -> chain R -> R) : (forall a, a \in l -> bounded P (F a)) ->
  mean (fun c => \Sum_(a in l) F a c) = \Sum_(a in l) mean (F a).
Proof.
elim: l => [|a l IH] h; first exact: over0.
have ha : bounded P (F a) by apply: h; rewrite mem_head.
have hl b : b \in l -> bounded P (F b) by move=> hb; apply: h; rewrite inE hb orbT.
by rewrite [RHS]/total /= -/(total _ _) -IH // -overD //; apply: bounded_total.
Qed.

Lemma over_le x F G : bounded P F -> bounded P G -> (forall c, c \in P -> F c + x <= G c) -> mean F + x <= mean G.
Proof.
move=> hF hG h; have hx := bounded_const P x; rewrite -subr_ge0 -{1}[x]over_const -overD // -overB //.
  case: ok => _ _ _ pos; apply: pos => [|c hc]; last by rewrite subr_ge0 h.
  by apply: boundedB => //; apply: boundedD.
exact: boundedD.
Qed.

Lemma over_near b F G : bounded P G -> (forall c, c \in P -> `|F c - G c| <= b) -> `|mean F - mean G| <= b.
Proof.
move=> hG h; have hF := bounded_near hG h.
have up : mean F + - b <= mean G.
  by apply: over_le => // c /h; rewrite ler_norml !ler_subl_addr [G c + b]addrC => /andP[_].
have down : mean G + - b <= mean F.
  by apply: over_le => // c /h; rewrite ler_norml ler_subr_addr addrC => /andP[].
by rewrite ler_norml ler_subr_addl down /= ler_subl_addr -ler_subl_addl.
Qed.

(* A prior has a chain, so that what each of its chains implies holds. *)
Lemma from_chains (b : bool) : (forall c, c \in P -> b) -> b.
Proof.
case: b => // h; have e : mean (fun=> 1) = mean (fun=> 0) by apply: over_eq => c /h.
by move/eqP: e; rewrite over0; case: ok => -> _ _ _; rewrite oner_eq0.
Qed.
End Means.

Section Finite.
Variable R : realFieldType.
Local Open Scope ring_scope.

Lemma weighted_prior (l : seq (R * chain R)) : all (fun o => 0 <= o.1) l -> \Sum_(o in l) o.1 = 1 ->
  is_prior (weighted l).
Proof.
move=> /allP pos one; have inl o : o \in l -> o.2 \in weighted l by move=> h; apply: (map_f snd).
split=> [|F G h|a F G _ _|F _ h] /=.
- by rewrite -[RHS]one; apply: total_eq => o _; rewrite mulr1.
- by apply: total_eq => o ho; rewrite h ?inl.
- rewrite -totalZ -totalD; apply: total_eq => o _.
  by rewrite mulrDr mulrCA.
by apply: total_ge0 => o ho; rewrite mulr_ge0 ?h ?pos ?inl.
Qed.

Lemma in_uniform (l : seq (chain R)) c : (c \in uniform l) = (c \in l).
Proof. by rewrite [LHS]/(c \in [seq o.2 | o <- _]) -map_comp map_id. Qed.

Lemma mean_uniform (l : seq (chain R)) F : mean_over (uniform l) F = (\Sum_(c in l) F c) / (size l)%:R.
Proof. by rewrite /= mulrC -totalZ !totalE big_map. Qed.

Lemma uniform_prior (l : seq (chain R)) : (0 < size l)%N -> is_prior (uniform l).
Proof.
move=> l0; apply: weighted_prior; first by apply/allP => o /mapP[c _ ->]; rewrite invr_ge0 ler0n.
rewrite totalE big_map -totalE total_const -[_ *+ _]mulr_natr mulVf //.
by rewrite pnatr_eq0 -lt0n.
Qed.
End Finite.

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

(* a list that all relabelings permute *)
Definition permuted (l : seq (chain R)) : Prop :=
  forall sigma, perm_eq sigma (iota 0 S) -> perm_eq [seq relabel sigma c | c <- l] l.

Lemma permuted_symmetric l : permuted l -> symmetric S (uniform l).
Proof.
move=> h sigma /h e F _ _; rewrite !mean_uniform; congr (_ / _)%R.
by rewrite !totalE -(big_map (relabel sigma) xpredT F); apply: perm_big.
Qed.

Lemma relabelings_permuted c : permuted (relabelings S c).
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

Lemma orbit_assumption1 gamma c : (0 < gamma)%R -> all (admissible S gamma) (relabelings S c) ->
  constant_mean S (uniform (relabelings S c)) -> assumption1 S gamma (uniform (relabelings S c)).
Proof.
move=> g0 /allP a m; split=> // [d||]; first by rewrite in_uniform; apply: a.
  exact/permuted_symmetric/relabelings_permuted.
by apply: uniform_prior; rewrite size_map size_permutations ?iota_uniq ?fact_gt0.
Qed.

Lemma orbits_assumption1 gamma c d : (0 < gamma)%R ->
  all (admissible S gamma) (relabelings S c ++ relabelings S d) ->
  constant_mean S (uniform (relabelings S c ++ relabelings S d)) ->
  assumption1 S gamma (uniform (relabelings S c ++ relabelings S d)).
Proof.
move=> g0 /allP a m; split=> // [e||]; first by rewrite in_uniform; apply: a.
  apply: permuted_symmetric => sigma h; rewrite map_cat.
  by apply: perm_cat; apply: relabelings_permuted.
by apply: uniform_prior; rewrite size_cat size_map size_permutations ?iota_uniq // addn_gt0 fact_gt0.
Qed.
End Symmetry.
