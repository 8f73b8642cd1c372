(* Empirical measures on a forest, for chains of any number of states.        *)
(*                                                                            *)
(* Lemma 19 (lem-covariance): for i, j before the query, the square of        *)
(*   P[s_j = s, s_i = s'] - mu(s) mu(s') is at most                           *)
(*   mu(s) mu(s') lambda^(2 d(i,j)), which is 0 for different trees.          *)
(* Lemma 19 (lem-covariance-step-ancestor-corrected): it is                   *)
(*   sum_k mu(k) (pi^a(s'|k) - mu(s')) (pi^b(s|k) - mu(s)) if i and j are a   *)
(*   and b steps below their closest common ancestor.                         *)
(* Lemma 20 (lem-muhat-var): for the share of s at a set I of positions       *)
(*   before the query, E = mu(s) and                                          *)
(*   E(muhat_I(s) - mu(s))^2 <= mu(s) T^2/(T_eff(lambda) |I|^2).              *)
(* Lemma 22 (lem-muhat-parent-var): for the share of s among the parents of   *)
(*   I, at most mu(s) T^2/(T_eff(lambda) lambda^2 |I|^2), as                  *)
(*   d(p(i), p(j)) >= d(i,j) - 2.                                             *)
(* Corollary 2 (cor-muhat): for all of X, the query among them,               *)
(*   E(muhat(s) - mu(s))^2 <= (mu(s) + 1/T)/T_eff(lambda).                    *)
(* lambda is any number in [0,1] by which pi - 1 mu^T contracts L^2(mu), as   *)
(* 1 - gamma/S does by Lemma 13 (lem-spectral-gap).                           *)
(*   share_of I f x s  == the share of the i in I whose f(i) has token s      *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums markov leaves effective_length law covariance.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition share_of (R : realFieldType) (I : seq nat) (f : nat -> nat) (x : seq nat) s : R :=
  (\Sum_(i in I) (token x (f i) == s)%:R) / (size I)%:R.

Section Pairs.
Variables (R : realFieldType) (S : nat) (g : seq nat) (pi : nat -> nat -> R) (mu : nat -> R) (lambda : R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu) (ok : forest g).
Notation T := (size g).
Notation expect := (expect S g pi mu).
Notation joint := (joint S g pi mu).

Theorem ancestor_corrected i j a b t s : (0 < i < T)%N -> (0 < j < T)%N -> (t < S)%N -> (s < S)%N ->
  meet g i j a b -> joint i j t s - mu t * mu s =
    \Sum_(k < S) mu k * (power S pi a k t - mu t) * (power S pi b k s - mu s).
Proof.
move=> hi hj ht hs m; rewrite (pair_law stoch stat ok hi hj ht hs m).
rewrite (total_eq (G := fun k => mu k * power S pi a k t * power S pi b k s +
    (mu t * mu s * mu k - (mu s * (mu k * power S pi a k t) + mu t * (mu k * power S pi b k s))))); last first.
  by move=> k _; ring.
rewrite totalD totalB totalD !totalZ !(power_stat stat) // (mu_sum stat) -/(common S pi mu a b t s); ring.
Qed.

Hypothesis contracts : forall h, square S mu (applied S (centered pi mu) h) <= lambda ^+ 2 * square S mu h.

(* Lemma 19 (lem-covariance) *)
Theorem forest_covariance i j t s : (0 < i < T)%N -> (0 < j < T)%N -> (t < S)%N -> (s < S)%N ->
  (joint i j t s - mu t * mu s) ^+ 2 <= mu t * mu s * weight g lambda i j ^+ 2.
Proof.
move=> hi hj ht hs; have /andP[i0 _] := hi; have /andP[j0 _] := hj; rewrite /weight.
have t0 := mu_ge0 stat ht; have s0 := mu_ge0 stat hs; have t1 := mu_le1 stat ht; have s1 := mu_le1 stat hs.
case e: (between g i j) => [d|]; last first.
  rewrite (pair_apart stoch stat ok hi hj ht hs) ?subrr ?expr0n ?mulr0 //.
  by rewrite /same_tree e.
have [a [b [m ->]]] := between_meet ok i0 j0 e.
rewrite (pair_law stoch stat ok hi hj ht hs m) -exprM mulnC.
case: (posnP (a + b)) => [/eqP|ab]; last first.
  exact (covariance_decay stoch stat contracts ab ht hs).
rewrite addn_eq0 => /andP[/eqP a0 /eqP b0]; rewrite a0 b0 mulr1.
have -> : common S pi mu 0 0 t s = (t == s)%:R * mu t.
  transitivity (\Sum_(k < S) ((t == k)%:R * (mu k * (k == s)%:R))).
    by apply: total_eq => k _ /=; rewrite [k == t]eq_sym; ring.
  by rewrite total_delta // mulrC.
case: (t =P s) => [<- | _].
  rewrite mul1r -[X in (X - _)]mulr1 -mulrBr exprMn -expr2 ler_pimulr ?sqr_ge0 //.
  by rewrite exprn_ile1 ?subr_ge0 // ler_subl_addr ler_addl.
by rewrite mul0r sub0r sqrrN expr2 ler_pimulr ?mulr_ge0 // mulr_ile1.
Qed.

Hypothesis lambda0 : 0 <= lambda.

Lemma weight_ge0 i j : 0 <= weight g lambda i j.
Proof. by rewrite /weight; case: (between _ _ _) => // d; rewrite exprn_ge0. Qed.

Lemma weight_sym i j : (0 < i)%N -> (0 < j)%N -> weight g lambda i j = weight g lambda j i.
Proof.
move=> i0 j0; rewrite /weight; case e: (between g i j) => [d|].
  have [a [b [m ->]]] := between_meet ok i0 j0 e.
  by rewrite (meet_between (meet_sym m)) addnC.
case e': (between g j i) => [d|] //; have [a [b [m _]]] := between_meet ok j0 i0 e'.
by move: (meet_between (meet_sym m)); rewrite e.
Qed.

Lemma same_covariance i j s : (0 < i < T)%N -> (0 < j < T)%N -> (s < S)%N ->
  joint i j s s - mu s * mu s <= mu s * weight g lambda i j.
Proof.
move=> hi hj hs; have s0 := mu_ge0 stat hs; apply: le_trans (ler_norm _) _.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?weight_ge0 // real_normK ?num_real //.
by rewrite exprMn; apply: forest_covariance.
Qed.

(* The average of functions F i, i in I, of mean e, whose covariances decay *)
Section Averages.
Variables (I : seq nat) (F : nat -> seq nat -> R) (e b : R).
Hypotheses (uniqI : uniq I) (someI : (0 < size I)%N) (inI : {in I, forall i, 0 < i < T}%N) (b0 : 0 <= b).
Hypothesis mean_e : {in I, forall i, expect (F i) = e}.
Hypothesis decay : {in I &, forall i j, expect (fun x => F i x * F j x) - e * e <= b * weight g lambda i j}.
Notation average x := ((\Sum_(i in I) F i x) / (size I)%:R).

Let n0 : (0 : R) < (size I)%:R. Proof. by rewrite ltr0n. Qed.

Lemma average_mean : expect (fun x => average x) = e.
Proof.
rewrite (expect_eq _ _ (G := fun x => (size I)%:R^-1 * \Sum_(i in I) F i x)) => [|x _]; last by rewrite mulrC.
rewrite expectZ expect_sum (total_eq (G := fun=> e)) => [|i hi]; last exact: mean_e.
by rewrite total_const -[e *+ _]mulr_natl mulKf // lt0r_neq0.
Qed.

Lemma average_square : expect (fun x => (average x - e) ^+ 2) =
  (\Sum_(i in I) \Sum_(j in I) (expect (fun x => F i x * F j x) - e * e)) / (size I)%:R ^+ 2.
Proof.
have nz := lt0r_neq0 n0; pose d i x : R := F i x - e.
transitivity (expect (fun x => (size I)%:R^-1 ^+ 2 * \Sum_(i in I) \Sum_(j in I) (d i x * d j x))).
  apply: expect_eq => x _; have -> : average x - e = (size I)%:R^-1 * \Sum_(i in I) d i x.
    by rewrite /d totalB total_const -[e *+ _]mulr_natl mulrBr mulKf // mulrC.
  by rewrite exprMn [(\Sum_(i in I) d i x) ^+ 2]expr2 -totalZr; congr (_ * _); apply: total_eq => i _; rewrite -totalZ.
rewrite expectZ expect_sum mulrC exprVn; congr (_ / _); apply: total_eq => i hi.
rewrite expect_sum; apply: total_eq => j hj.
transitivity (expect (fun x => F i x * F j x - e * F i x - (e * F j x - e ^+ 2 * 1))).
  by apply: expect_eq => x _; rewrite /d; ring.
rewrite !expectB !expectZ (expect1 stoch stat ok) !mean_e //; ring.
Qed.

Lemma sum_in (H : nat -> R) : (forall i, 0 <= H i) -> \Sum_(i in I) H i <= \Sum_(i in iota 1 T) H i.
Proof.
move=> H0; rewrite !totalE [leRHS](bigID (mem I)) /=.
rewrite -[leLHS]addr0; apply: ler_add; last by apply: sumr_ge0.
rewrite -[leRHS]big_filter (perm_big (filter (mem I) (iota 1 T))) //.
apply: uniq_perm; rewrite ?filter_uniq ?iota_uniq // => i; rewrite mem_filter andb_idr // => /inI/andP[i0 iT].
by rewrite mem_iota add1n ltnS i0 ltnW.
Qed.

Lemma average_variance :
  expect (fun x => (average x - e) ^+ 2) <= b * T%:R ^+ 2 / (effective_length g lambda * (size I)%:R ^+ 2).
Proof.
have T0 : (0 : R) < T%:R.
  case: (I) someI inI => // i l _ h; have /andP[_ iT] := h i (mem_head _ _).
  by rewrite ltr0n (leq_ltn_trans _ iT).
have split_inv (x y z : R) : x / (y * z) = x / y / z by rewrite invfM mulrA.
rewrite average_square split_inv ler_pmul2r ?invr_gt0 ?exprn_gt0 //.
have -> : b * T%:R ^+ 2 / effective_length g lambda =
    b * \Sum_(i in iota 1 T) \Sum_(j in iota 1 T) weight g lambda i j.
  by rewrite /effective_length invf_div; field; rewrite lt0r_neq0.
apply: (@le_trans _ _ (\Sum_(i in I) \Sum_(j in I) (b * weight g lambda i j))).
  by apply: total_le => i hi; apply: total_le => j hj; apply: decay.
rewrite -totalZ; apply: (@le_trans _ _ (\Sum_(i in I) \Sum_(j in iota 1 T) (b * weight g lambda i j))).
  by apply: total_le => i hi; apply: sum_in => j; rewrite mulr_ge0 // weight_ge0.
rewrite (total_eq (G := fun i => b * \Sum_(j in iota 1 T) weight g lambda i j)) => [|i _]; last by rewrite totalZ.
by apply: sum_in => i; rewrite mulr_ge0 //; apply: total_ge0 => j _; apply: weight_ge0.
Qed.
End Averages.

(* Lemma 20 (lem-muhat-var) *)
Theorem measure_variance (I : seq nat) s : uniq I -> (0 < size I)%N -> {in I, forall i, 0 < i < T}%N -> (s < S)%N ->
  expect (fun x => share_of R I id x s) = mu s /\
  expect (fun x => (share_of R I id x s - mu s) ^+ 2) <=
    mu s * T%:R ^+ 2 / (effective_length g lambda * (size I)%:R ^+ 2).
Proof.
move=> uI sI hI hs; have law : {in I, forall i, expect (fun x => (token x i == s)%:R) = mu s}.
  by move=> i hi; rewrite (token_law stoch stat ok) ?hI.
split; first exact: average_mean.
apply: average_variance => // [|i j hi hj]; first exact: mu_ge0 stat hs.
by rewrite -jointE same_covariance ?hI.
Qed.

(* Lemma 22 (lem-muhat-parent-var) *)
Lemma up_cons i : (0 < i)%N -> parent g i != 0%N -> ancestors g i = i :: ancestors g (parent g i).
Proof. by move=> i0 p; rewrite (upE ok i0) (negPf p). Qed.

Lemma disjoint_up i l : (0 < i)%N -> parent g i != 0%N -> ~~ has (mem (ancestors g i)) l ->
  ~~ has (mem (ancestors g (parent g i))) l.
Proof.
move=> i0 p; apply: contra => /hasP[x xl h]; apply/hasP; exists x => //=.
by rewrite (up_cons i0 p) inE (h : x \in ancestors _ _) orbT.
Qed.

Lemma meet_above i j b : (0 < i)%N -> (0 < j)%N -> parent g i != 0%N -> parent g j != 0%N ->
  meet g i j 0 b -> meet g (parent g i) (parent g j) 0 b.
Proof.
move=> i0 j0 pi0 pj0 [q [r [c [e1 e2 /size0nil eq z2 /andP[_ h2]]]]]; rewrite eq /= in e1.
case: r e2 z2 h2 => [|y r] e2 <- /= h2.
  have : ancestors g i = ancestors g j by rewrite e1 e2.
  rewrite (up_cons i0 pi0) (up_cons j0 pj0) => -[_ e]; exists [::], [::], (ancestors g (parent g i)).
  split=> //; rewrite andbT (upE ok) //; by rewrite lt0n.
have pi1 : (0 < parent g i)%N by rewrite lt0n.
exists [::], (r ++ [:: i]), (ancestors g (parent g i)); split=> //.
- move: e2; rewrite (up_cons j0 pj0) -e1 (up_cons i0 pi0) => -[_ ->].
  by rewrite -catA.
- by rewrite size_cat addn1.
rewrite (upE ok pi1) /= -(upE ok pi1) has_cat negb_or /= orbF; apply/andP; split.
  by apply: disjoint_up => //; apply: contra h2 => ->; rewrite orbT.
by apply: (up_notin ok); rewrite pi1 parent_lt.
Qed.

Lemma meet_parents i j a b : (0 < i)%N -> (0 < j)%N -> parent g i != 0%N -> parent g j != 0%N ->
  meet g i j a b -> exists a' b', meet g (parent g i) (parent g j) a' b' /\ (a + b <= a' + b' + 2)%N.
Proof.
move=> i0 j0 pi0 pj0; case: a => [m|a].
  by exists 0%N, b; split; [apply: meet_above | rewrite leq_addr].
case: b => [m|b m].
  exists a.+1, 0%N; split; last by rewrite leq_addr.
  by apply: meet_sym; apply: meet_above => //; apply: meet_sym.
exists a, b; split; last by rewrite addSn addnS addn2.
case: m => [[|x q]] [[|y r]] [c [e1 e2 // [<-] [<-] /andP[/andP[c0 h1] h2]]].
exists q, r, c; move: e1 e2; rewrite (up_cons i0 pi0) (up_cons j0 pj0) => -[_ e1] [_ e2]; split=> //.
have sub (P : pred nat) z l : ~~ has P (z :: l) -> ~~ has P l by apply: contra => /= ->; rewrite orbT.
by rewrite c0 (disjoint_up j0 pj0 (sub _ _ _ h1)) (disjoint_up i0 pi0 (sub _ _ _ h2)).
Qed.

Theorem parent_distance i j d : (0 < i)%N -> (0 < j)%N -> parent g i != 0%N -> parent g j != 0%N ->
  between g (parent g i) (parent g j) = Some d -> exists2 d', between g i j = Some d' & (d' <= d + 2)%N.
Proof.
move=> i0 j0 pi0 pj0 e.
have : same_tree g i j.
  have : same_tree g (parent g i) (parent g j) by rewrite /same_tree e.
  case/same_treeP => x hx hy; apply/same_treeP; exists x.
    by rewrite (up_cons i0 pi0) inE hx orbT.
  by rewrite (up_cons j0 pj0) inE hy orbT.
rewrite /same_tree; case e': (between g i j) => [d'|] // _; exists d' => //.
have [a [b [m ->]]] := between_meet ok i0 j0 e'; have [a' [b' [m' le]]] := meet_parents i0 j0 pi0 pj0 m.
by move: (meet_between m'); rewrite e => -[->].
Qed.

Lemma weight_parents i j : 0 < lambda <= 1 -> (0 < i < T)%N -> (0 < j < T)%N ->
  parent g i != 0%N -> parent g j != 0%N ->
  weight g lambda (parent g i) (parent g j) <= (lambda ^+ 2)^-1 * weight g lambda i j.
Proof.
move=> /andP[l0 l1] /andP[i0 _] /andP[j0 _] hi hj; rewrite mulrC ler_pdivl_mulr ?exprn_gt0 // /weight.
case e: (between g (parent g i) _) => [d|]; last by rewrite mul0r; apply: weight_ge0.
have [d' -> le] := parent_distance i0 j0 hi hj e.
by rewrite -exprD; apply: ler_wiexpn2l.
Qed.

Theorem parent_variance (I : seq nat) s : uniq I -> (0 < size I)%N -> {in I, forall i, 0 < i < T}%N ->
  {in I, forall i, parent g i != 0%N} -> (s < S)%N -> 0 < lambda <= 1 ->
  expect (fun x => (share_of R I (parent g) x s - mu s) ^+ 2) <=
    mu s * T%:R ^+ 2 / (effective_length g lambda * lambda ^+ 2 * (size I)%:R ^+ 2).
Proof.
move=> uI sI hI hp hs l01; have /andP[l0 l1] := l01; have lz := lt0r_neq0 l0.
have inP i : i \in I -> (0 < parent g i < T)%N by move=> hi; rewrite parent_range ?hI ?hp.
have h : expect (fun x => (share_of R I (parent g) x s - mu s) ^+ 2) <=
    mu s * (lambda ^+ 2)^-1 * T%:R ^+ 2 / (effective_length g lambda * (size I)%:R ^+ 2).
  apply: average_variance => // [|i hi|i j hi hj].
  - by rewrite mulr_ge0 ?(mu_ge0 stat) // invr_ge0 sqr_ge0.
  - by rewrite (token_law stoch stat ok) ?inP.
  rewrite -jointE -mulrA; apply: le_trans (same_covariance (inP i hi) (inP j hj) hs) _.
  by rewrite ler_wpmul2l ?(mu_ge0 stat) // weight_parents ?hI ?hp.
apply: le_trans h _; apply: eqW.
by rewrite !invfM; ring.
Qed.

(* Corollary 2 (cor-muhat) *)
Lemma frequencyE x s : size x = T -> (0 < T)%N ->
  frequency R x s = (\Sum_(i in iota 1 T.-1) (token x i == s)%:R + (token x T == s)%:R) / T%:R.
Proof.
move=> z T0; rewrite /frequency z; congr (_ / _).
have -> : count_mem s x = count (fun i => token x i == s) (iota 1 T).
  by rewrite -{1}(mkseq_nth 0%N x) /mkseq z count_map -[iota 1 T]/(iota (1 + 0) T) iotaDl count_map.
have -> : iota 1 T = iota 1 T.-1 ++ [:: T] by have := iotaD 1 T.-1 1; rewrite addn1 add1n prednK.
rewrite count_cat /= addn0 natrD; congr (_ + _); elim: (iota _ _) => //= i l IH.
by rewrite natrD IH.
Qed.

Lemma length_le : (0 < T)%N -> 0 < effective_length g lambda <= T%:R.
Proof.
move=> T0; have t0 : (0 : R) < T%:R by rewrite ltr0n.
have big : T%:R <= \Sum_(i in iota 1 T) \Sum_(j in iota 1 T) weight g lambda i j.
  have -> : T%:R = \Sum_(i in iota 1 T) (1 : R) by rewrite total_const size_iota.
  apply: total_le => i hi; rewrite (total_term _ (iota_uniq 1 T) hi).
  have i0 : (0 < i)%N by move: hi; rewrite mem_iota => /andP[].
  rewrite {1}/weight (itself ok i0) expr0 ler_addl.
  by apply: total_ge0 => j _; rewrite mulr_ge0 ?ler0n ?weight_ge0.
have sum0 := lt_le_trans t0 big; rewrite /effective_length divr_gt0 ?exprn_gt0 //.
by rewrite ler_pdivr_mulr // expr2 ler_pmul2l.
Qed.

(* with a weight on the token of the query, such as 1 or that it is s *)
Section Weighted.
Variable w : nat -> R.
Hypotheses (w0 : forall s, (s < S)%N -> 0 <= w s) (w1 : \Sum_(s < S) w s = S%:R) (T0 : (0 < T)%N).
Notation weighted F := (expect (fun x => w (token x T) * F x)).

Lemma weighted_local F : local T.-1 F -> weighted F = expect F.
Proof.
move=> loc; have S0 : (S%:R : R) != 0 by rewrite pnatr_eq0 -lt0n (S_gt0 stat).
rewrite expect_by_value ?T0 ?leqnn // (index_eq (G := fun r => w r * (S%:R^-1 * expect F))) => [|r hr].
  by rewrite totalZr w1 mulVKf.
by rewrite (query_law stoch stat ok T0 hr loc).
Qed.

Lemma weighted1 : weighted (fun=> 1) = 1.
Proof. by rewrite weighted_local // (expect1 stoch stat ok). Qed.

Lemma weighted_le F G : (forall x, x \in sequences S T -> F x <= G x) -> weighted F <= weighted G.
Proof.
move=> h; apply: (expect_le stoch stat ok) => x hx; rewrite ler_wpmul2l ?h // w0 //.
by apply: token_lt hx _; rewrite T0 leqnn.
Qed.

Lemma weightedZ c F : weighted (fun x => c * F x) = c * weighted F.
Proof. by rewrite -expectZ; apply: expect_eq => x _; rewrite mulrCA. Qed.

Lemma weightedB F G : weighted (fun x => F x - G x) = weighted F - weighted G.
Proof. by rewrite -expectB; apply: expect_eq => x _; rewrite mulrBr. Qed.

Lemma weighted_eq F G : {in sequences S T, F =1 G} -> weighted F = weighted G.
Proof. by move=> h; apply: expect_eq => x hx; rewrite h. Qed.

Lemma weighted_variance s : (s < S)%N ->
  weighted (fun x => (frequency R x s - mu s) ^+ 2) <= mu s / effective_length g lambda + (T%:R ^+ 2)^-1.
Proof.
move=> hs; have t0 : (0 : R) < T%:R by rewrite ltr0n.
have s0 := mu_ge0 stat hs; have tz := lt0r_neq0 t0; set I := iota 1 T.-1.
have inI : {in I, forall i, 0 < i < T}%N.
  by move=> i; rewrite mem_iota add1n prednK.
have /andP[eff0 effT] := length_le T0.
pose d i x : R := (token x i == s)%:R - mu s; pose sum x := \Sum_(i in I) d i x.
have local_d i : i \in I -> local T.-1 (d i).
  by move=> /inI/andP[i0 iT] x y z; rewrite /d token_cat // z i0 -ltnS prednK.
have local_sum : local T.-1 sum by move=> x y z; apply: total_eq => i hi; apply: local_d.
have mean0 i : i \in I -> expect (d i) = 0.
  move=> hi; transitivity (expect (fun x => (token x i == s)%:R - mu s * 1)); first by apply: expect_eq => x _;
    rewrite mulr1.
  by rewrite expectB expectZ (expect1 stoch stat ok) (token_law stoch stat ok) ?inI // mulr1 subrr.
have cross : weighted (fun x => sum x * d T x) = 0.
  pose v t : R := w t * ((t == s)%:R - mu s).
  rewrite (expect_eq _ _ (G := fun x => v (token x T) * sum x)) => [|x _]; last by rewrite /v /d; ring.
  rewrite expect_by_value ?T0 ?leqnn //.
  rewrite (index_eq (G := fun=> 0)) ?total0 // => r hr.
  rewrite (query_law stoch stat ok T0 hr local_sum) expect_sum.
  by rewrite (total_eq (G := fun=> 0)) ?total0 ?mulr0.
have small : weighted (fun x => d T x ^+ 2) <= 1.
  rewrite -weighted1; apply: weighted_le => x _.
  rewrite -real_normK ?num_real // exprn_ile1 // ler_norml /d; have m1 := mu_le1 stat hs.
  case: (_ == _); apply/andP; split.
  - by apply: le_trans (lerN10 R) _; rewrite subr_ge0.
  - by rewrite ger_addl oppr_le0.
  - by rewrite sub0r ler_opp2.
  - by rewrite sub0r (le_trans _ ler01) // oppr_le0.
have first : weighted (fun x => sum x ^+ 2) <= mu s * T%:R ^+ 2 / effective_length g lambda.
  rewrite weighted_local => [|x y z]; last by rewrite local_sum.
  case: (posnP (size I)) => [/size0nil e|n0].
    rewrite (expect_eq _ _ (G := fun=> 0 * 1)) => [|x _]; last by rewrite /sum e /total /= expr0n mul0r.
    by rewrite expectZ mul0r divr_ge0 ?(ltW eff0) // mulr_ge0 ?sqr_ge0.
  have nz : (size I)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
  have [_] := measure_variance (iota_uniq 1 T.-1) n0 inI hs.
  have -> : mu s * T%:R ^+ 2 / (effective_length g lambda * (size I)%:R ^+ 2) =
      (size I)%:R^-1 ^+ 2 * (mu s * T%:R ^+ 2 / effective_length g lambda).
    by field; rewrite nz lt0r_neq0.
  rewrite (expect_eq _ _ (G := fun x => (size I)%:R^-1 ^+ 2 * sum x ^+ 2)) => [|x _]; last first.
    rewrite -exprMn; congr (_ ^+ 2); rewrite /sum /d totalB total_const -[mu s *+ _]mulr_natl.
    by rewrite mulrBr mulKf // mulrC.
  by rewrite expectZ ler_pmul2l // exprn_gt0 // invr_gt0 ltr0n.
have -> : weighted (fun x => (frequency R x s - mu s) ^+ 2) =
    (weighted (fun x => sum x ^+ 2) + weighted (fun x => d T x ^+ 2)) / T%:R ^+ 2.
  transitivity (weighted (fun x => (T%:R ^+ 2)^-1 * (sum x ^+ 2 - (- 1) * d T x ^+ 2 - (- 2%:R) * (sum x * d T x)))).
    apply: weighted_eq => x hx; have [z _] := sequencesP hx; rewrite (frequencyE s z T0).
    have -> : \Sum_(i in iota 1 T.-1) (token x i == s)%:R = sum x + T%:R * mu s - mu s.
      have tE : T%:R = T.-1%:R + 1 :> R by rewrite -{1}(prednK T0) -addn1 natrD.
      rewrite /sum /d /I totalB total_const size_iota -[mu s *+ _]mulr_natl tE.
      set u := \Sum_(i in _) _; ring.
    by rewrite /d; field.
  by rewrite weightedZ !weightedB !weightedZ cross; ring.
rewrite ler_pdivr_mulr ?exprn_gt0 //; apply: le_trans (ler_add first small) _.
by apply: eqW; field; rewrite tz lt0r_neq0.
Qed.
End Weighted.

Theorem muhat_variance s : (0 < T)%N -> (s < S)%N ->
  expect (fun x => (frequency R x s - mu s) ^+ 2) <= (mu s + T%:R^-1) / effective_length g lambda.
Proof.
move=> T0 hs; have t0 : (0 : R) < T%:R by rewrite ltr0n.
have /andP[eff0 effT] := length_le T0.
have all1 : \Sum_(s < S) (1 : R) = S%:R by rewrite total_const size_iota.
have := weighted_variance (w := fun=> 1) (fun _ _ => @ler01 R) all1 T0 hs.
rewrite (expect_eq _ _ (G := fun x => (frequency R x s - mu s) ^+ 2)) => [h | x _]; last by rewrite mul1r.
apply: le_trans h _; rewrite mulrDl ler_add2l expr2 invfM ler_wpmul2l ?invr_ge0 ?ler0n //.
by rewrite lef_pinv.
Qed.
End Pairs.
