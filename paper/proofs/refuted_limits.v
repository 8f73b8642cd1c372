(* Statements with unstated constants that fail in the limit of long          *)
(* sequences. Each Definition is a statement as printed, for given constants; *)
(* each Theorem refutes it for whatever whole numbers they are.               *)
(*                                                                            *)
(*   one_pair n        == a root with its child, and n + 1 roots              *)
(*   lazy2, half       == the chain 4/5, 1/5; 1/5, 4/5 and its measure        *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums markov leaves effective_length law variance.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Lemma 24 (lem-concentration-a1): for eps >= C T_eff^(-1/2), j <= i and all *)
(* t, s the distance of E[(x_{i,t} - muhat(t)) x_{j,s}/(muhat(t) + eps)] from *)
(* P[s_i = t, s_j = s]/mu(t) - P[s_j = s] is at most D T_eff^(-1/2).          *)
Definition concentration_printed (R : realFieldType) (C D : R) :=
  forall S g (pi : nat -> nat -> R) mu gamma eps i j t s, stochastic S pi -> stationary S pi mu ->
  0 < gamma -> at_least S pi (gamma / S%:R) -> forest g ->
  0 < eps -> C ^+ 2 <= eps ^+ 2 * effective_length_leaves R g ->
  (0 < j <= i)%N -> (i <= size g)%N -> (t < S)%N -> (s < S)%N ->
  (expect S g pi mu (fun x =>
     ((token x i == t)%:R - frequency R x t) * (token x j == s)%:R / (frequency R x t + eps)) -
   (joint S g pi mu i j t s / mu t - expect S g pi mu (fun x => (token x j == s)%:R))) ^+ 2 *
    effective_length_leaves R g <= D ^+ 2.

Section Pair.
Variables (R : realFieldType) (n : nat).
Definition one_pair : seq nat := 0%N :: 1%N :: nseq n.+1 0%N.
Definition lazy2 (s t : nat) : R := if s == t then 4%:R / 5%:R else 5%:R^-1.
Definition half (s : nat) : R := 2%:R^-1.
Notation g := one_pair.
Notation T := (size one_pair).
Notation L := (most_leaves one_pair).

Lemma size_pair : T = n.+3. Proof. by rewrite /= size_nseq. Qed.

Lemma nth_pair i : nth 0%N g i = (i == 1)%N.
Proof. by case: i => [|[|[|i]]] //=; rewrite nth_nseq if_same. Qed.

Lemma pair_forest : forest g.
Proof.
rewrite /forest /parent nth_pair size_pair andbT; apply/allP => i; rewrite mem_iota => /andP[_ hi].
by rewrite nth_pair; case: i hi => [|[|i]].
Qed.

Lemma up_pair i : (0 < i)%N -> ancestors g i = if i == 2%N then [:: 2; 1]%N else [:: i].
Proof.
move=> i0; rewrite (upE pair_forest i0) {1}/parent nth_pair.
by case: i i0 => [|[|[|i]]].
Qed.

Lemma pair_leaves : (0 < L <= 2)%N.
Proof.
have two i : (i \in iota 1 T) -> (leaves g i <= 2)%N.
  rewrite mem_iota => /andP[i0 _]; rewrite /leaves -size_filter.
  apply: (@leq_trans (size (if (i <= 2)%N then [:: 1; 2]%N else [:: i]))); last by case: ifP.
  apply: uniq_leq_size; first by rewrite filter_uniq ?iota_uniq.
  move=> j; rewrite mem_filter mem_iota => /andP[/andP[/same_treeP[x]]].
  case: i i0 => [|[|[|i]]] // _; case: j => [|[|[|j]]] //; rewrite !up_pair //= !inE.
  - by move=> /eqP->.
  - by move=> /orP[]/eqP->.
  - by move=> /eqP->.
  by move=> /eqP-> /eqP->.
rewrite /most_leaves; apply/andP; split; last first.
  elim: (iota 1 T) two => //= i l IH h; rewrite geq_max h ?mem_head // IH // => k hk.
  by apply: h; rewrite inE hk orbT.
have hT : T \in iota 1 T by rewrite mem_iota add1n ltnS leqnn size_pair.
apply: leq_trans (leaves_le hT); rewrite /leaves -has_count; apply/hasP; exists T => //.
rewrite /is_leaf /same_tree (itself pair_forest) ?size_pair //=; apply/hasPn => j _.
by rewrite /parent nth_pair; case: (j.-1 == 1%N).
Qed.

Lemma lazy2_stochastic : stochastic 2 lazy2.
Proof.
rewrite /stochastic /= /lazy2 /= /total /= !addr0 !divr_ge0 ?invr_ge0 ?ler0n //=.
by apply/and3P; split => //; apply/eqP; field.
Qed.

Lemma lazy2_stationary : stationary 2 lazy2 half.
Proof.
rewrite /stationary /distribution /= /lazy2 /half /= /total /= !addr0 !invr_ge0 ?ler0n //=.
by repeat (apply/andP; split) => //; apply/eqP; field.
Qed.

Lemma lazy2_low : at_least 2 lazy2 (2%:R / 5%:R / 2%:R).
Proof.
have e : 2%:R / 5%:R / 2%:R = 5%:R^-1 :> R by field.
have l : 5%:R^-1 <= 4%:R / 5%:R :> R by rewrite ler_pmull ?invr_gt0 ?ltr0n // ler1n.
by rewrite /at_least /= /lazy2 /= e lexx l.
Qed.
Notation expect := (expect 2 g lazy2 half).
Let T0 : (0 : R) < T%:R. Proof. by rewrite size_pair ltr0n. Qed.

Lemma pair_length : T%:R / 2%:R <= effective_length_leaves R g.
Proof.
have /andP[l0 l2] := pair_leaves; rewrite /effective_length_leaves ler_pmul2l //.
by rewrite lef_pinv ?posrE ?ltr0n // ler_nat.
Qed.

Lemma pair_variance : expect (fun x => (frequency R x 0%N - half 0) ^+ 2) <= 13%:R / T%:R.
Proof.
have l0 : 0 < 4%:R / 5%:R :> R by rewrite divr_gt0 ?ltr0n.
have l1 : 4%:R / 5%:R < 1 :> R by rewrite ltr_pdivr_mulr ?ltr0n // mul1r ltr_nat.
have contracts h : square 2 half (applied 2 (centered lazy2 half) h) <= (4%:R / 5%:R) ^+ 2 * square 2 half h.
  have -> : square 2 half (applied 2 (centered lazy2 half) h) = (3%:R / 10%:R) ^+ 2 * (h 0%N - h 1%N) ^+ 2.
    by rewrite /square /applied /centered /lazy2 /half /total /=; field.
  have -> : (4%:R / 5%:R) ^+ 2 * square 2 half h =
      (3%:R / 10%:R) ^+ 2 * (h 0%N - h 1%N) ^+ 2 + (3%:R / 10%:R * (h 0%N + h 1%N)) ^+ 2 +
      7%:R / 50%:R * (h 0%N ^+ 2 + h 1%N ^+ 2).
    by rewrite /square /half /total /=; field.
  by rewrite -addrA ler_addl addr_ge0 ?sqr_ge0 // mulr_ge0 ?divr_ge0 ?ler0n // addr_ge0 ?sqr_ge0.
have size0 : (0 < T)%N by rewrite size_pair.
have big : T%:R / 13%:R <= effective_length g (4%:R / 5%:R : R).
  apply: le_trans (teff_leaves_corrected pair_forest size0 l0 l1); have /andP[_ l2] := pair_leaves.
  have b0 : 0 < 1 + 4%:R / 5%:R * L%:R :> R by rewrite ltr_spaddl ?ltr01 // mulr_ge0 ?ler0n ?(ltW l0).
  rewrite ler_pdivl_mulr // mulrAC ler_pdivr_mulr ?ltr0n // -mulrA mulrC -subr_ge0.
  set l := (X in 0 <= X); have -> : l = 4%:R / 5%:R * (2%:R - L%:R) * T%:R by rewrite /l; field.
  by apply: mulr_ge0; [apply: mulr_ge0; [apply: ltW | rewrite subr_ge0 ler_nat] | apply: ltW].
have e0 : 0 < effective_length g (4%:R / 5%:R : R) by apply: lt_le_trans big; rewrite divr_gt0 ?ltr0n.
apply: le_trans (muhat_variance lazy2_stochastic lazy2_stationary pair_forest contracts (ltW l0) size0 (isT : (0 < 2)%N)) _.
rewrite ler_pdivr_mulr //; apply: (@le_trans _ _ 1).
  have one : half 0 + half 0 = 1 by rewrite /half; field.
  by rewrite -[leRHS]one ler_add2l /half lef_pinv ?posrE ?ltr0n ?size_pair ?ler_nat.
by rewrite mulrAC ler_pdivl_mulr // mul1r mulrC -ler_pdivr_mulr ?ltr0n.
Qed.

Lemma pair_joint : joint 2 g lazy2 half 2 1 0%N 0%N = 2%:R / 5%:R.
Proof.
have m : meet g 2 1 1 0 by exists [:: 2%N], [::], [:: 1%N]; rewrite !up_pair.
rewrite (pair_law lazy2_stochastic lazy2_stationary pair_forest _ _ _ _ m) ?size_pair //.
by rewrite /common /total /= /total /= /lazy2 /half /=; field.
Qed.

Lemma first_token : expect (fun x => (token x 1 == 0%N)%:R) = 2%:R^-1.
Proof. by rewrite (token_law lazy2_stochastic lazy2_stationary pair_forest) ?size_pair. Qed.

(* (a - m) b/(m + 1/2) is at most what it is at m = 1/2, and 3/80 + 18 (m - 1/2)^2. *)
Lemma pointwise (a b : bool) (m : R) : 0 <= m ->
  (a%:R - m) * b%:R / (m + 2%:R^-1) <=
    (a && b)%:R - 2%:R^-1 * b%:R + (3%:R / 80%:R + 18%:R * (m - 2%:R^-1) ^+ 2).
Proof.
move=> m0; set d := m - 2%:R^-1; have me : m + 2%:R^-1 = 1 + d by rewrite /d; field.
have u0 : 0 < 1 + d by rewrite -me ltr_spaddr ?invr_gt0 ?ltr0n.
have d2 : 0 <= 1 + 2%:R * d.
  have -> : 1 + 2%:R * d = 2%:R * m by rewrite /d; field.
  by rewrite mulr_ge0 ?ler0n.
have small : 0 <= 3%:R / 80%:R + 18%:R * d ^+ 2.
  by rewrite addr_ge0 ?divr_ge0 ?ler0n // mulr_ge0 ?ler0n ?sqr_ge0.
have main w : 0 <= w -> w / (1 + d) <= w - w * d + 2%:R * w * d ^+ 2.
  move=> w0; rewrite ler_pdivr_mulr //.
  have -> : (w - w * d + 2%:R * w * d ^+ 2) * (1 + d) = w + w * d ^+ 2 * (1 + 2%:R * d) by ring.
  by rewrite ler_addl mulr_ge0 // mulr_ge0 // sqr_ge0.
case: b; last by rewrite andbF !mulr0 mul0r subr0 add0r.
have mE : m = 1 + d - 2%:R^-1 by rewrite -me addrK.
clearbody d; rewrite !mulr1 me andbT mE; clear me mE m0; case: a; rewrite /= ?mulr1n ?mulr0n.
  have -> : (1 - (1 + d - 2%:R^-1)) / (1 + d) = (3%:R / 2%:R) / (1 + d) - 1.
    by field; rewrite lt0r_neq0.
  rewrite ler_subl_addr; apply: le_trans (main _ _) _; first by rewrite divr_ge0 ?ler0n.
  rewrite -subr_ge0; set l := (X in 0 <= X); have -> : l = 15%:R * (d + 20%:R^-1) ^+ 2 by rewrite /l; field.
  by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
have -> : (0 - (1 + d - 2%:R^-1)) / (1 + d) = 2%:R^-1 / (1 + d) - 1.
  by field; rewrite lt0r_neq0.
rewrite ler_subl_addr; apply: le_trans (main _ _) _; first by rewrite invr_ge0 ler0n.
rewrite -subr_ge0; set l := (X in 0 <= X).
have -> : l = 17%:R * (d + 68%:R^-1) ^+ 2 + 736%:R / 21760%:R by rewrite /l; field.
by rewrite addr_ge0 ?divr_ge0 ?ler0n // mulr_ge0 ?ler0n ?sqr_ge0.
Qed.

Lemma pair_mean : expect (fun x =>
    ((token x 2 == 0%N)%:R - frequency R x 0%N) * (token x 1 == 0%N)%:R / (frequency R x 0%N + 2%:R^-1)) <=
  3%:R / 20%:R + 3%:R / 80%:R + 18%:R * (13%:R / T%:R).
Proof.
pose F x := ((token x 2 == 0%N)%:R - frequency R x 0%N) * (token x 1 == 0%N)%:R / (frequency R x 0%N + 2%:R^-1).
pose P x : R := ((token x 2 == 0%N) && (token x 1 == 0%N))%:R; pose B x : R := (token x 1 == 0%N)%:R.
pose V x := (frequency R x 0%N - half 0) ^+ 2.
pose G x := P x - 2%:R^-1 * B x - (- (3%:R / 80%:R)) * 1 - (- 18%:R) * V x.
have le x : F x <= G x.
  have -> : G x = P x - 2%:R^-1 * B x + (3%:R / 80%:R + 18%:R * V x) by rewrite /G; ring.
  by apply: pointwise; rewrite /frequency divr_ge0 ?ler0n.
apply: (@le_trans _ _ (expect G)); first by apply: (expect_le lazy2_stochastic lazy2_stationary pair_forest) => x _; apply: le.
have -> : expect G = expect P - 2%:R^-1 * expect B - (- (3%:R / 80%:R)) * expect (fun=> 1) - (- 18%:R) * expect V.
  by rewrite /G !expectB !expectZ.
rewrite (expect1 lazy2_stochastic lazy2_stationary pair_forest).
have -> : expect P = 2%:R / 5%:R by exact: pair_joint.
have -> : expect B = 2%:R^-1 by exact: first_token.
move: pair_variance; rewrite -/(V _) => v; set e := expect V in v *.
have -> : 2%:R / 5%:R - 2%:R^-1 * 2%:R^-1 - - (3%:R / 80%:R) * 1 - - 18%:R * e =
  3%:R / 20%:R + 3%:R / 80%:R + 18%:R * e by field.
by rewrite ler_add2l ler_pmul2l ?ltr0n.
Qed.
End Pair.

Theorem concentration_refuted (R : realFieldType) (C D : nat) : ~ @concentration_printed R C%:R D%:R.
Proof.
have [n [n1 n2 n3]] : exists n, [/\ 18 * 13 * 80 <= 3 * n, 8 * C ^ 2 <= n & 400 * D ^ 2 <= n]%N.
  exists (6240 + (8 * C ^ 2 + 400 * D ^ 2))%N; split; last by rewrite addnA leq_addl.
    by rewrite mulnDr (leq_trans _ (leq_addr _ _)).
  by rewrite addnCA leq_addr.
move=> h; pose g := one_pair n; have ok : forest g := pair_forest n; have len := pair_length R n.
have TE : size g = n.+3 := size_pair n; have T0 : (0 : R) < (size g)%:R by rewrite TE ltr0n.
have g0 : (0 : R) < 2%:R / 5%:R by rewrite divr_gt0 ?ltr0n.
have e0 : (0 : R) < 2%:R^-1 by rewrite invr_gt0 ltr0n.
have nT : (n <= size g)%N by rewrite TE -addn3 leq_addr.
have long : C%:R ^+ 2 <= 2%:R^-1 ^+ 2 * effective_length_leaves R g.
  apply: (@le_trans _ _ (2%:R^-1 ^+ 2 * ((size g)%:R / 2%:R))); last by rewrite ler_pmul2l ?exprn_gt0.
  have -> : 2%:R^-1 ^+ 2 * ((size g)%:R / 2%:R) = (size g)%:R / 8%:R :> R by field.
  by rewrite ler_pdivl_mulr ?ltr0n // mulrC -natrX -natrM ler_nat (leq_trans n2).
have two : (2 <= size g)%N by rewrite TE.
have := h 2%N g _ _ _ _ 2%N 1%N 0%N 0%N (lazy2_stochastic R) (lazy2_stationary R) g0 (lazy2_low R) ok e0 long isT two isT isT.
have j : joint 2 g (lazy2 R) (half R) 2 1 0%N 0%N = 2%:R / 5%:R := pair_joint R n.
have f : expect 2 g (lazy2 R) (half R) (fun x => (token x 1 == 0%N)%:R) = 2%:R^-1 := first_token R n.
rewrite j f; have := pair_mean R n; rewrite -/g.
set E := expect _ _ _ _ _ => mean le; have h0 : half R 0 = 2%:R^-1 by [].
have limit : 2%:R / 5%:R / half R 0 - 2%:R^-1 = 3%:R / 10%:R :> R by rewrite h0; field.
have rest : 18%:R * (13%:R / (size g)%:R) <= 3%:R / 80%:R :> R.
  rewrite mulrA ler_pdivr_mulr // mulrAC ler_pdivl_mulr ?ltr0n // -!natrM ler_nat.
  by rewrite (leq_trans n1) // leq_mul2l nT orbT.
have top : E - 3%:R / 10%:R <= - (3%:R / 40%:R).
  rewrite ler_subl_addr; apply: le_trans mean _.
  apply: (@le_trans _ _ (3%:R / 20%:R + 3%:R / 80%:R + 3%:R / 80%:R)); first by rewrite ler_add2l.
  by apply: eqW; field.
move: le; rewrite limit => le.
have square : (3%:R / 40%:R) ^+ 2 <= (E - 3%:R / 10%:R) ^+ 2.
  rewrite -[leRHS]sqrrN ler_pexpn2r ?nnegrE //; first by rewrite ler_oppr.
    by rewrite divr_ge0 ?ler0n.
  by rewrite oppr_ge0 (le_trans top) // oppr_le0 divr_ge0 ?ler0n.
have : (3%:R / 40%:R) ^+ 2 * ((size g)%:R / 2%:R) <= D%:R ^+ 2 :> R.
  by apply: le_trans le; apply: ler_pmul => //; rewrite ?sqr_ge0 // divr_ge0 ?ler0n.
have -> : (3%:R / 40%:R) ^+ 2 * ((size g)%:R / 2%:R) = 9%:R * (size g)%:R / (80%:R * 40%:R) :> R by field.
rewrite leNgt => /negP; apply; rewrite ltr_pdivl_mulr ?mulr_gt0 ?ltr0n // -natrX -!natrM ltr_nat TE.
rewrite mulnC; apply: (@leq_ltn_trans (9 * (400 * D ^ 2))%N); first by rewrite mulnA leq_mul2r orbT.
by rewrite ltn_pmul2l // ltnS (leq_trans n3) // -addn2 leq_addr.
Qed.
