(* The two effective lengths, for every forest.                               *)
(*                                                                            *)
(* Lemma 18 (lem-teff-leaves-corrected): with L the largest number of leaves  *)
(*   of a tree and 0 < lambda < 1,                                            *)
(*   T_eff(lambda) >= (1 - lambda) T/(1 + lambda L), and hence                *)
(*   T_eff(lambda) >= (1 - lambda)/(1 + lambda) T_eff.                        *)
(* Lemma 20 (lem-muhat-var-step-last-corrected):                              *)
(*   sum_{i,j=1}^{T-1} lambda^d(i,j) = T^2/T_eff(lambda) - 1.                 *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums leaves.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section EffectiveLength.
Variables (R : realFieldType) (g : seq nat) (lambda : R).
Hypotheses (ok : forest g) (some : (0 < size g)%N) (lambda0 : 0 < lambda) (lambda1 : lambda < 1).
Notation T := (size g).
Notation positions := (iota 1 T).
Notation L := (most_leaves g).

Let q0 : 0 < 1 - lambda. Proof. by rewrite subr_gt0. Qed.

Lemma position i : (i \in positions) = (0 < i <= T)%N.
Proof. by rewrite mem_iota add1n ltnS. Qed.

Lemma leaves_le i : i \in positions -> (leaves g i <= L)%N.
Proof.
rewrite /most_leaves; elim: (iota 1 T) => //= j l IH; rewrite inE => /orP[/eqP -> | /IH h].
  exact: leq_maxl.
exact: leq_trans h (leq_maxr _ _).
Qed.

Lemma at_itself i j : (0 < i)%N -> (0 < j)%N -> between g i j = Some 0%N -> j = i.
Proof.
move=> i0 j0; rewrite /between; case: ifP => // _ [/eqP].
rewrite addn_eq0 => /andP[/eqP -> ]; rewrite (upE ok i0) (upE ok j0) /=.
by case: (j =P i).
Qed.

Lemma itself i : (0 < i)%N -> between g i i = Some 0%N.
Proof. by move=> i0; rewrite /between (upE ok i0) /= inE eqxx /= eqxx. Qed.

(* The geometric sum *)
Lemma geometric K : (1 - lambda) * (\Sum_(k in iota 1 K) lambda ^+ k) <= lambda.
Proof.
have -> : (1 - lambda) * (\Sum_(k in iota 1 K) lambda ^+ k) = lambda - lambda ^+ K.+1.
  rewrite totalE; elim: K => [|K IH]; first by rewrite big_nil mulr0 expr1 subrr.
  have -> : iota 1 K.+1 = iota 1 K ++ [:: K.+1] by have := iotaD 1 K 1; rewrite addn1.
  by rewrite big_cat /= big_seq1 mulrDr IH !exprS; ring.
by rewrite ler_subl_addr ler_addl exprn_ge0 // ltW.
Qed.

Lemma between_bound i j k : between g i j = Some k -> (k < (size (ancestors g i) + size (ancestors g j)).+1)%N.
Proof.
rewrite /between; case: ifP => // h [<-]; rewrite ltnS leq_add ?index_size //.
exact: find_size.
Qed.

Lemma row_le i : i \in positions ->
  (1 - lambda) * (\Sum_(j in positions) weight g lambda i j) <= 1 + lambda * L%:R.
Proof.
move=> hi; have := hi; rewrite position => /andP[i0 iT].
have [K hK] : exists K, forall j k, j \in positions -> between g i j = Some k -> (k < K.+1)%N.
  exists (\sum_(j <- positions) (size (ancestors g i) + size (ancestors g j)))%N => j k hj /between_bound h.
  apply: leq_trans h _; rewrite ltnS (bigD1_seq j) ?iota_uniq //=; exact: leq_addr.
pose N k := count (fun j => between g i j == Some k) positions.
have split : \Sum_(j in positions) weight g lambda i j = \Sum_(k < K.+1) ((N k)%:R * lambda ^+ k).
  transitivity (\Sum_(j in positions) \Sum_(k < K.+1) ((between g i j == Some k)%:R * lambda ^+ k)).
    apply: total_eq => j hj; rewrite /weight; case e: (between g i j) => [d|]; last first.
      by rewrite -[LHS](total0 R (iota 0 K.+1)); apply: total_eq => k _; rewrite mul0r.
    rewrite -[LHS](total_delta (fun k => lambda ^+ k) (hK j d hj e)); apply: total_eq => k _.
    by congr (_%:R * _).
  rewrite total_exchange; apply: total_eq => k _; rewrite totalZr; congr (_ * _).
  rewrite /N; elim: (iota 1 T) => //= j l IH.
  by rewrite natrD -IH.
have N0 : (N 0%N <= 1)%N.
  apply: (@leq_trans (count_mem i positions)); last by rewrite count_uniq_mem ?iota_uniq // leq_b1.
  rewrite /N -!size_filter; apply: uniq_leq_size; first by rewrite filter_uniq ?iota_uniq.
  move=> j; rewrite !mem_filter position => /andP[/eqP h /andP[j0 jT]].
  by rewrite (at_itself i0 j0 h) /= eqxx i0 iT.
have Nk k : (N k <= L.+1)%N.
  apply: leq_trans (count_corrected ok k _) _; first by rewrite i0 iT.
  by rewrite ltnS leaves_le.
rewrite split; have -> : \Sum_(k < K.+1) ((N k)%:R * lambda ^+ k) =
    (N 0%N)%:R + \Sum_(k in iota 1 K) ((N k)%:R * lambda ^+ k).
  by rewrite /total /= mulr1.
apply: (@le_trans _ _ ((1 - lambda) * (1 + L.+1%:R * (\Sum_(k in iota 1 K) lambda ^+ k)))).
  rewrite ler_pmul2l // ler_add ?lern1 // -totalZ; apply: total_le => k _.
  by rewrite ler_wpmul2r ?exprn_ge0 ?ler_nat // ltW.
rewrite mulrDr mulr1 mulrCA; apply: (@le_trans _ _ (1 - lambda + L.+1%:R * lambda)).
  by rewrite ler_add2l ler_wpmul2l ?ler0n // geometric.
by rewrite -addn1 natrD; apply: eqW; ring.
Qed.

Lemma sum_gt0 : 0 < \Sum_(i in positions) \Sum_(j in positions) weight g lambda i j.
Proof.
have w0 i j : 0 <= weight g lambda i j.
  by rewrite /weight; case: (between _ _ _) => // d; rewrite exprn_ge0 // ltW.
have one : 1%N \in positions by rewrite position some.
rewrite (total_term _ (iota_uniq 1 T) one); apply: ltr_spaddl; last first.
  by apply: total_ge0 => i _; rewrite mulr_ge0 ?ler0n //; apply: total_ge0.
rewrite (total_term _ (iota_uniq 1 T) one); apply: ltr_spaddl; last first.
  by apply: total_ge0 => i _; rewrite mulr_ge0 ?ler0n.
by rewrite /weight itself // expr0 ltr01.
Qed.

Theorem teff_leaves_corrected : (1 - lambda) * T%:R / (1 + lambda * L%:R) <= effective_length g lambda.
Proof.
have T0 : (0 : R) < T%:R by rewrite ltr0n.
have B0 : 0 < 1 + lambda * L%:R by rewrite ltr_spaddl ?ltr01 // mulr_ge0 ?ler0n // ltW.
rewrite /effective_length ler_pdivl_mulr ?sum_gt0 // mulrAC ler_pdivr_mulr //.
have -> : (1 - lambda) * T%:R * (\Sum_(i in positions) \Sum_(j in positions) weight g lambda i j) =
  T%:R * (\Sum_(i in positions) ((1 - lambda) * (\Sum_(j in positions) weight g lambda i j))).
  by rewrite totalZ; ring.
rewrite expr2 -mulrA ler_pmul2l //.
have -> : T%:R * (1 + lambda * L%:R) = \Sum_(i in positions) (1 + lambda * L%:R).
  by rewrite total_const size_iota mulr_natl.
by apply: total_le => i hi; apply: row_le.
Qed.

Theorem teff_leaves_ratio : (1 - lambda) / (1 + lambda) * effective_length_leaves R g <= effective_length g lambda.
Proof.
have T0 : (0 : R) < T%:R by rewrite ltr0n.
have p0 : 0 < 1 + lambda by rewrite addr_gt0 ?ltr01.
have B0 : 0 < 1 + lambda * L%:R by rewrite ltr_spaddl ?ltr01 // mulr_ge0 ?ler0n // ltW.
apply: le_trans teff_leaves_corrected; rewrite /effective_length_leaves.
case: (posnP L) => [-> | L0].
  by rewrite invr0 !mulr0 addr0 divr1 mulr_ge0 ?ler0n // ltW.
have l0 : (0 : R) < L%:R by rewrite ltr0n.
have -> : (1 - lambda) / (1 + lambda) * (T%:R / L%:R) = (1 - lambda) * T%:R / ((1 + lambda) * L%:R).
  by field; rewrite !lt0r_neq0.
rewrite ler_wpmul2l ?mulr_ge0 ?ler0n ?(ltW q0) // lef_pinv ?posrE ?mulr_gt0 //.
by rewrite mulrDl mul1r ler_add2r ler1n.
Qed.

(* The query is alone in its tree. *)
Lemma query_alone j : j \in positions -> j != T -> weight g lambda T j = 0 /\ weight g lambda j T = 0.
Proof.
rewrite position => /andP[j0 jT] nj; have rT : parent g T = 0%N by case/andP: ok => _ /eqP.
have uT : ancestors g T = [:: T] by rewrite (upE ok some) rT.
have out : T \in ancestors g j = false.
  by apply/negP => /(up_range ok j0)/andP[_ h]; move: nj; rewrite eqn_leq jT h.
have none i k : ~~ same_tree g i k -> weight g lambda i k = 0.
  by rewrite /same_tree /weight negbK => /eqP->.
by split; apply: none; apply/same_treeP => -[x]; rewrite uT inE => h h'; move: out;
  [rewrite -(eqP h) h' | rewrite -(eqP h') h].
Qed.

Theorem muhat_last_corrected :
  \Sum_(i in iota 1 T.-1) \Sum_(j in iota 1 T.-1) weight g lambda i j = T%:R ^+ 2 / effective_length g lambda - 1.
Proof.
have T0 : (0 : R) < T%:R by rewrite ltr0n.
rewrite /effective_length invf_div mulrA [_ * \Sum_(_ in _) _]mulrC mulfK ?expf_neq0 ?lt0r_neq0 //.
have cut : positions = iota 1 T.-1 ++ [:: T] by have := iotaD 1 T.-1 1; rewrite addn1 add1n prednK.
have small j : j \in iota 1 T.-1 -> (j \in positions) /\ (j != T).
  rewrite position mem_iota add1n prednK // => /andP[-> h]; split; first by rewrite ltnW.
  by rewrite neq_ltn h.
have last2 (F : nat -> R) : \Sum_(j in positions) F j = \Sum_(j in iota 1 T.-1) F j + F T.
  by rewrite !totalE cut big_cat /= big_seq1.
rewrite last2 last2 (total_eq (F := fun j => weight g lambda T j) (G := fun=> 0)) => [|j /small[h1 h2]];
  last by case: (query_alone h1 h2).
have wT : weight g lambda T T = 1 by rewrite /weight itself // expr0.
rewrite total0 add0r wT addrK; apply: total_eq => i /small[h1 h2].
by rewrite last2; case: (query_alone h1 h2) => _ ->; rewrite addr0.
Qed.
End EffectiveLength.
