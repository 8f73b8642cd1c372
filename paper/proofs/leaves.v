(* Forests of any size.                                                       *)
(*                                                                            *)
(* Lemma 18 (lem-teff-leaves-step-count-corrected): in a tree with L leaves,  *)
(*   at most L + 1 positions are at distance k from position i. One at most   *)
(*   lies above i; each of the others has a leaf below it that it shares with *)
(*   none of them.                                                            *)
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Leaves.
Variable g : seq nat.
Hypothesis ok : forest g.
Notation T := (size g).
Notation up := (ancestors g).
Notation positions := (iota 1 T).

Lemma parent_lt i : 0 < i -> parent g i < i.
Proof.
case: i => // i _; rewrite /parent /=; case: (ltnP i T) => h; last by rewrite nth_default.
by case/andP: ok => /allP/(_ i); rewrite mem_iota h => /(_ isT)/andP[h1 _] _; apply: h1.
Qed.

Lemma climb_fuel f i : 0 < i -> i <= f -> climb g f i = up i.
Proof.
rewrite /ancestors; elim/ltn_ind: i f => i IH [|f] i0 hf; first by rewrite leqNgt i0 in hf.
case: i IH i0 hf => // i IH _ hf /=; case: eqP => // /eqP; rewrite -lt0n => p0.
have lt : parent g i.+1 < i.+1 by apply: parent_lt.
have le : parent g i.+1 <= i by rewrite -ltnS.
by rewrite (IH _ lt f p0 (leq_trans le hf)) (IH _ lt i p0 le).
Qed.

Lemma upE i : 0 < i -> up i = i :: (if parent g i == 0 then [::] else up (parent g i)).
Proof.
case: i => // i _; rewrite {1}/ancestors /=; case: eqP => // /eqP; rewrite -lt0n => p0.
by rewrite climb_fuel // -ltnS parent_lt.
Qed.

Lemma up_range i x : 0 < i -> x \in up i -> 0 < x <= i.
Proof.
elim/ltn_ind: i => i IH i0; rewrite upE // inE => /orP[/eqP ->|]; first by rewrite i0 leqnn.
case: eqP => // /eqP; rewrite -lt0n => p0 /(IH _ (parent_lt i0) p0)/andP[-> h].
by rewrite (leq_trans h) // ltnW // parent_lt.
Qed.

Lemma up_self i : 0 < i -> i \in up i.
Proof. by move=> i0; rewrite upE // mem_head. Qed.

(* The ancestors of an ancestor j of i are the last ones of i. *)
Lemma up_split i j : 0 < i -> j \in up i -> exists2 q, up i = q ++ up j & all (fun x => j < x) q.
Proof.
elim/ltn_ind: i => i IH i0; rewrite upE // inE => /orP[/eqP ->|]; first by exists [::]; rewrite -?upE.
case: eqP => // /eqP; rewrite -lt0n => p0 h; have [q e a] := IH _ (parent_lt i0) p0 h.
exists (i :: q); first by rewrite e.
by rewrite /= a (leq_ltn_trans _ (parent_lt i0)) //; case/andP: (up_range p0 h).
Qed.

Lemma up_trans i j x : 0 < i -> j \in up i -> x \in up j -> x \in up i.
Proof. by move=> i0 h hx; have [q -> _] := up_split i0 h; rewrite mem_cat hx orbT. Qed.

(* Of two ancestors the smaller is one of the larger. *)
Lemma up_comparable l j j' : 0 < l -> j \in up l -> j' \in up l -> j <= j' -> j \in up j'.
Proof.
move=> l0 hj hj' le; have [q e a] := up_split l0 hj'; move: hj; rewrite e mem_cat => /orP[h|//].
by move/allP: a => /(_ j h); rewrite ltnNge le.
Qed.

Lemma above_at i j k : 0 < i -> j \in up i -> between g i j = Some k -> j = nth 0 (up i) k.
Proof.
move=> i0 hj; have j0 : 0 < j by case/andP: (up_range i0 hj).
have [q e a] := up_split i0 hj; rewrite /between.
have -> : find (mem (up j)) (up i) = size q.
  rewrite e find_cat; have -> : has (mem (up j)) q = false.
    apply/hasP => -[x xq]; rewrite inE => /(up_range j0)/andP[_]; rewrite leqNgt.
    by move/allP: a => /(_ x xq) ->.
  by rewrite upE //= inE eqxx addn0.
have -> : nth 0 (up i) (size q) = j by rewrite e nth_cat ltnn subnn upE.
by rewrite (upE j0) /= eqxx addn0; case: ifP => // _ [<-]; rewrite e nth_cat ltnn subnn upE.
Qed.

Lemma same_treeP i j : reflect (exists2 x, x \in up i & x \in up j) (same_tree g i j).
Proof.
rewrite /same_tree /between -has_find; apply: (iffP idP) => [|[x hi hj]].
  by case: hasP => // -[x hi hj] _; exists x.
by have -> : has (mem (up j)) (up i) by apply/hasP; exists x.
Qed.

Lemma distance_below i j j' k : 0 < i -> 0 < j' -> j \in up j' -> j \notin up i ->
  between g i j = Some k -> between g i j' = Some k -> j = j'.
Proof.
move=> i0 j'0 hj nj; have j0 : 0 < j by case/andP: (up_range j'0 hj).
have [q e a] := up_split j'0 hj; rewrite /between.
have same : {in up i, mem (up j') =1 mem (up j)}.
  move=> x hx /=; rewrite e mem_cat orbC; case: (boolP (x \in up j)) => //= _.
  apply/negP => xq; case/negP: nj; apply: (up_trans i0 hx).
  apply: (up_comparable j'0 hj); first by rewrite e mem_cat xq.
  by apply: ltnW; move/allP: a; apply.
rewrite (eq_in_find same); case: ifP => // hf [h1] [h2].
set y := nth 0 (up i) _ in h1 h2; have hy : y \in up j.
  by have := nth_find 0 (_ : has (mem (up j)) (up i)); rewrite has_find => /(_ hf).
have nq : y \notin q.
  apply/negP => /(allP a); rewrite ltnNge.
  by have /andP[_ ->] := up_range j0 hy.
move: h2; rewrite e index_cat (negPf nq) -h1 => /eqP.
rewrite addnCA -{2}[_ + index y _]add0n eqn_add2r size_eq0 => /eqP q0.
have : up j' = up j by rewrite e q0.
by rewrite (upE j'0) (upE j0) => -[].
Qed.

Lemma leaf_below j : 0 < j <= T -> exists2 l, l \in positions & is_leaf g l && (j \in up l).
Proof.
move: {2}(T - j) (leqnn (T - j)) => n; elim: n j => [|n IH] j le /andP[j0 jT].
  exists j; first by rewrite mem_iota j0 add1n ltnS.
  rewrite up_self // andbT; apply/hasPn => c; rewrite mem_iota add1n ltnS => /andP[c0 cT].
  apply/eqP => e; have := parent_lt c0; rewrite e => lt.
  by move: le; rewrite leqn0 subn_eq0 leqNgt (leq_trans lt cT).
case: (boolP (is_leaf g j)) => [h | /negPn/hasP[c]].
  by exists j; [rewrite mem_iota j0 add1n ltnS | rewrite h up_self].
rewrite mem_iota add1n ltnS => /andP[c0 cT] /eqP e; have lt := parent_lt c0; rewrite e in lt.
have [||l hl /andP[leaf hc]] := IH c; rewrite ?c0 //.
  by rewrite -ltnS (leq_trans _ le) // ltn_sub2l // (leq_trans lt).
exists l => //; rewrite leaf /=; apply: (up_trans _ hc); first by move: hl; rewrite mem_iota => /andP[].
by rewrite upE // e (gtn_eqF j0) inE up_self // orbT.
Qed.

Definition leaf_of j := nth 0 positions (find (fun l => is_leaf g l && (j \in up l)) positions).

Lemma leaf_ofP j : 0 < j <= T -> [/\ leaf_of j \in positions, is_leaf g (leaf_of j) & j \in up (leaf_of j)].
Proof.
move=> /leaf_below[l hl h]; have some : has (fun l => is_leaf g l && (j \in up l)) positions.
  by apply/hasP; exists l.
have /andP[h1 h2] := nth_find 0 some; split=> //; apply: mem_nth; rewrite -has_find; exact: some.
Qed.

Theorem count_corrected i k : 0 < i <= T ->
  count (fun j => between g i j == Some k) positions <= (leaves g i).+1.
Proof.
case/andP=> i0 iT; pose at_k j := between g i j == Some k; pose above j := j \in up i.
have -> : count at_k positions =
    count (predI at_k above) positions + count (predI at_k (predC above)) positions.
  by rewrite -!size_filter -(count_predC above) -!size_filter -!filter_predI; congr (_ + _);
    apply: congr1; apply: eq_filter => j /=; rewrite andbC.
rewrite -[X in _ <= X]add1n leq_add //.
  apply: (@leq_trans (count_mem (nth 0 (up i) k) positions)); last first.
    by rewrite count_uniq_mem ?iota_uniq // leq_b1.
  apply: sub_count => j /andP[/eqP h hj] /=; apply/eqP; exact: above_at i0 hj h.
rewrite -size_filter; set l := filter _ _.
have inl j : j \in l -> [/\ between g i j = Some k, j \notin up i & 0 < j <= T].
  by rewrite mem_filter mem_iota add1n ltnS => /andP[/andP[/eqP h1 h2] h3].
rewrite -(size_map leaf_of) /leaves -size_filter; apply: uniq_leq_size.
  rewrite map_inj_in_uniq ?filter_uniq ?iota_uniq // => j j' /inl[b n r] /inl[b' n' r'] e.
  have [hl _ hj] := leaf_ofP r; have [_ _ hj'] := leaf_ofP r'; rewrite -e in hj'.
  have l0 : 0 < leaf_of j by move: hl; rewrite mem_iota => /andP[].
  have /andP[j0 _] := r; have /andP[j'0 _] := r'.
  case/orP: (leq_total j j') => le.
    exact: (distance_below i0 j'0 (up_comparable l0 hj hj' le) n b b').
  exact/esym/(distance_below i0 j0 (up_comparable l0 hj' hj le) n' b' b).
move=> x /mapP[j /inl[b n r] ->]; have [hl leaf hj] := leaf_ofP r.
rewrite mem_filter hl leaf !andbT; apply/same_treeP.
have : same_tree g i j by rewrite /same_tree b.
case/same_treeP => y hi hy; exists y => //; apply: up_trans hy => //.
by move: hl; rewrite mem_iota => /andP[].
Qed.
End Leaves.
