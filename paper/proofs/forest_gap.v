(* The idealized gradient of a forest, for chains of any number of states.    *)
(*                                                                            *)
(* Lemma 5 (thm-dpi-gap-corrected): under Assumption 1, if i has a parent,    *)
(*   g_{i,p(i)} >= g_{i,j} + gamma^3/S^2 for all j <= i but p(i).             *)
(* Lemma 5 (thm-dpi-gap-step-query-corrected), eq. (27)                       *)
(*   (eq-g-root-zero-corrected): if i is a root, g_{i,j} = 0 for all j <= i   *)
(*   except i = j = T, where it is the mean of                                *)
(*   1/S sum_s pi(s|s)/mu(s) - 1.                                             *)
(* Eq. (24) (eq-g-parent-chi2): g_{i,p(i)} is the mean of                     *)
(*   sum_{s,s'} pi(s'|s)^2 mu(s)^2/(mu(s') mu(s)) - 1, and of the information *)
(*   sum_{s,s'} P[s_i = s', s_p(i) = s]^2/(mu(s') mu(s)) - 1.                 *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors markov leaves law gap.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OneChain.
Variables (R : realFieldType) (S : nat) (g : seq nat) (pi : nat -> nat -> R) (mu : nat -> R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu) (ok : forest g).
Hypothesis mu0 : forall t, (t < S)%N -> 0 < mu t.
Notation T := (size g).
Notation gradient := (gradient S g pi mu).
Notation joint := (joint S g pi mu).

(* g_ij by the law of s_i and s_j *)
Lemma gradientE i j : (0 < i <= T)%N -> (0 < j <= T)%N ->
  gradient i j = \Sum_(s < S) \Sum_(t < S) (pi s t / mu t * joint i j t s) - 1.
Proof.
move=> hi hj; congr (_ - 1).
transitivity (expect S g pi mu (fun x => \Sum_(s < S) \Sum_(t < S)
    (pi s t / mu t * ((token x i == t)%:R * (token x j == s)%:R)))).
  apply: (@expect_eq _ S g pi mu) => x hx.
  rewrite (by_value (fun s => pi s (token x i) / mu (token x i)) hx hj); apply: total_eq => s _.
  rewrite (by_value (fun t => pi s t / mu t) hx hi) -totalZr; apply: total_eq => t _; ring.
rewrite expect_sum; apply: total_eq => s _; rewrite expect_sum; apply: total_eq => t _.
by rewrite expectZ jointE.
Qed.

Lemma gradient_meet i j a b : (0 < i < T)%N -> (0 < j < T)%N -> meet g i j a b ->
  gradient i j = ancestor_gradient S pi mu a b.
Proof.
move=> hi hj m; have /andP[i0 iT] := hi; have /andP[j0 jT] := hj.
rewrite gradientE ?i0 ?j0 ?(ltnW iT) ?(ltnW jT) //; congr (_ - 1).
apply: index_eq => s hs; apply: index_eq => t ht.
by rewrite (pair_law stoch stat ok hi hj ht hs m).
Qed.

Lemma independent_gradient (p : nat -> R) : (\Sum_(t < S) p t / mu t * mu t) = 1 ->
  \Sum_(s < S) \Sum_(t < S) (pi s t / mu t * (p t * mu s)) - 1 = 0.
Proof.
move=> h; rewrite total_exchange -[X in _ - X]h -totalB -[RHS](total0 R (iota 0 S)).
apply: index_eq => t ht; have nz := lt0r_neq0 (mu0 ht).
rewrite (index_eq (G := fun s => p t / mu t * (mu s * pi s t))) => [|s _]; last by ring.
by rewrite totalZ (mu_stat stat ht) subrr.
Qed.

Lemma gradient_apart i j : (0 < i < T)%N -> (0 < j < T)%N -> ~~ same_tree g i j -> gradient i j = 0.
Proof.
move=> hi hj m; have /andP[i0 iT] := hi; have /andP[j0 jT] := hj.
rewrite gradientE ?i0 ?j0 ?(ltnW iT) ?(ltnW jT) // -[RHS](independent_gradient (p := mu)).
  congr (_ - 1); apply: index_eq => s hs; apply: index_eq => t ht.
  by rewrite (pair_apart stoch stat ok hi hj ht hs m).
rewrite -(mu_sum stat); apply: index_eq => t ht; rewrite divfK // lt0r_neq0 ?mu0 //.
Qed.

Lemma gradient_query j : (0 < j < T)%N -> gradient T j = 0.
Proof.
move=> hj; have /andP[j0 jT] := hj; have T0 : (0 < T)%N by apply: ltn_trans jT.
rewrite gradientE ?T0 ?j0 ?leqnn ?(ltnW jT) // -[RHS](independent_gradient (p := fun=> S%:R^-1)).
  congr (_ - 1); apply: index_eq => s hs; apply: index_eq => t ht; rewrite jointE.
  rewrite (query_law stoch stat ok T0 ht) => [|x y z]; last by rewrite token_cat // z j0 -ltnS prednK.
  by rewrite (token_law stoch stat ok hj hs).
rewrite (index_eq (G := fun=> S%:R^-1)) => [|t ht]; last by rewrite divfK // lt0r_neq0 ?mu0.
by rewrite total_const size_iota -[LHS]mulr_natr mulVf // pnatr_eq0 -lt0n (S_gt0 stat).
Qed.

Lemma gradient_query_itself : (0 < T)%N -> gradient T T = (\Sum_(s < S) pi s s / mu s) / S%:R - 1.
Proof.
move=> T0; congr (_ - 1); rewrite -totalZr.
transitivity (expect S g pi mu (fun x => pi (token x T) (token x T) / mu (token x T) * 1)).
  by apply: expect_eq => x _; rewrite mulr1.
rewrite (expect_by_value S pi mu (fun r => pi r r / mu r) (fun=> 1)) ?T0 ?leqnn //.
by apply: index_eq => s hs; rewrite (query_law stoch stat ok T0 hs) // (expect1 stoch stat ok) mulr1.
Qed.

Lemma meet_parent i : (0 < i < T)%N -> parent g i != 0%N -> meet g i (parent g i) 1 0.
Proof.
move=> hi p; have /andP[i0 _] := hi; exists [:: i], [::], (ancestors g (parent g i)).
have /andP[p0 _] := parent_range ok hi p.
split; rewrite // ?(upE ok i0) ?(negPf p) //= orbF andbT (upE ok p0) /= -(upE ok p0).
by apply: up_notin => //; rewrite p0 parent_lt.
Qed.

Lemma chain_chi2 i : (0 < i < T)%N -> parent g i != 0%N -> gradient i (parent g i) =
  \Sum_(s < S) \Sum_(t < S) (joint i (parent g i) t s ^+ 2 / (mu t * mu s)) - 1
  /\ gradient i (parent g i) = \Sum_(s < S) \Sum_(t < S) (pi s t ^+ 2 * mu s ^+ 2 / (mu t * mu s)) - 1.
Proof.
move=> hi p; have hp := parent_range ok hi p; have /andP[i0 iT] := hi; have /andP[p0 pT] := hp.
have law s t : (s < S)%N -> (t < S)%N -> joint i (parent g i) t s = mu s * pi s t.
  move=> hs ht; rewrite (pair_law stoch stat ok hi hp ht hs (meet_parent hi p)).
  transitivity (\Sum_(k < S) ((s == k)%:R * (mu k * \Sum_(r < S) pi k r * (r == t)%:R))).
    by apply: total_eq => k _ /=; rewrite [k == s]eq_sym; ring.
  rewrite total_delta //; congr (_ * _); rewrite -[RHS](total_delta (pi s) ht).
  by apply: total_eq => r _; rewrite mulrC eq_sym.
split.
all: rewrite gradientE ?i0 ?p0 ?(ltnW iT) ?(ltnW pT) //; congr (_ - 1).
all: apply: index_eq => s hs; apply: index_eq => t ht; rewrite !law //; field.
all: by rewrite !lt0r_neq0 ?mu0.
Qed.
End OneChain.

Theorem parent_chi2 (R : realFieldType) S g (P : prior R) i : is_prior P -> forest g ->
  (forall c, c \in P -> [/\ stochastic S (matrix c), stationary S (matrix c) (measure c) &
    forall t, (t < S)%N -> 0 < measure c t]) ->
  (0 < i < size g)%N -> parent g i != 0%N ->
  mean_gradient S g P i (parent g i) = mean_over P (fun c => \Sum_(s < S) \Sum_(t < S)
    (matrix c s t ^+ 2 * measure c s ^+ 2 / (measure c t * measure c s)) - 1) /\
  mean_gradient S g P i (parent g i) = mean_over P (fun c => \Sum_(s < S) \Sum_(t < S)
    (joint S g (matrix c) (measure c) i (parent g i) t s ^+ 2 / (measure c t * measure c s)) - 1).
Proof.
move=> is_p ok h hi p; rewrite /mean_gradient; split; apply: (over_eq is_p) => c /h[st sta mu0].
  by have [_ ->] := chain_chi2 st sta ok mu0 hi p.
by have [-> _] := chain_chi2 st sta ok mu0 hi p.
Qed.

Section Prior.
Variables (R : realFieldType) (S : nat) (gamma : R) (P : prior R) (g : seq nat).
Hypotheses (prior : assumption1 S gamma P) (ok : forest g).
Notation T := (size g).
Notation mean_gradient := (mean_gradient S g P).

Let facts c : c \in P -> [/\ stochastic S (matrix c), stationary S (matrix c) (measure c) &
  forall t, (t < S)%N -> 0 < measure c t].
Proof.
have [_ g0 _ S0 h] := prior_facts prior; move=> /h[st sta _ lo]; split=> // t ht.
exact: (mu_gt0 sta lo g0 S0 ht).
Qed.
Let is_p : is_prior P. Proof. by have [] := prior_facts prior. Qed.

Lemma mean_over0 (F : chain R -> R) : (forall c, c \in P -> F c = 0) -> mean_over P F = 0.
Proof. by move=> h; rewrite (over_eq is_p (G := fun=> 0)) // (over0 is_p). Qed.

Lemma mean_meet i j a b : (0 < i < T)%N -> (0 < j < T)%N -> meet g i j a b ->
  mean_gradient i j = mean_over P (fun c => ancestor_gradient S (matrix c) (measure c) a b).
Proof.
move=> hi hj m; rewrite /mean_gradient; by apply: (over_eq is_p) => c /facts[st sta mu0]; apply: gradient_meet.
Qed.

(* Lemma 5 (thm-dpi-gap-corrected) *)
Theorem forest_gap_corrected i j : (0 < i <= T)%N -> parent g i != 0%N -> (0 < j <= i)%N -> j != parent g i ->
  mean_gradient i j + gamma ^+ 3 / S%:R ^+ 2 <= mean_gradient i (parent g i).
Proof.
move=> /andP[i0 iT] p /andP[j0 ji] np.
have lt : (i < T)%N.
  rewrite ltn_neqAle iT andbT; apply: contra p => /eqP->.
  by case/andP: ok.
have hi : (0 < i < T)%N by rewrite i0.
have hj : (0 < j < T)%N by rewrite j0 (leq_ltn_trans ji).
rewrite (mean_meet hi (parent_range ok hi p) (meet_parent ok hi p)).
case: (boolP (same_tree g i j)) => [|apart]; last first.
  rewrite (_ : mean_gradient i j = 0); first exact: dpi_gap_corrected_other_tree.
  by apply: mean_over0 => c /facts[st sta mu0]; apply: gradient_apart.
rewrite /same_tree; case e: (between g i j) => [d|] // _.
have [a [b [m de]]] := between_meet ok i0 j0 e; rewrite (mean_meet hi hj m).
move: ji; rewrite leq_eqVlt => /orP[/eqP ij | ji].
  by move: m; rewrite ij => /(meet_itself i0)[-> ->]; apply: dpi_gap_corrected_itself.
have [a' [-> _ m']] := meet_up ok (introT andP (conj j0 ji)) m.
apply: dpi_gap_corrected => //; case: a' b {m de} m' => [|a'] [|b] // m'; case/eqP: np.
case: m' => q [r [c [e1 e2 /size0nil eq /size0nil er _]]]; move: e1 e2; rewrite eq er /= => <-.
have /andP[p0 _] := parent_range ok hi p.
by rewrite (upE ok j0) (upE ok p0) => -[].
Qed.

(* Lemma 5 (thm-dpi-gap-step-query-corrected), eq. (27) (eq-g-root-zero-corrected) *)
Theorem root_gradient_corrected i j : (0 < i <= T)%N -> parent g i = 0%N -> (0 < j <= i)%N ->
  mean_gradient i j = if (i == T) && (j == T)
    then mean_over P (fun c => (\Sum_(s < S) matrix c s s / measure c s) / S%:R - 1) else 0.
Proof.
move=> /andP[i0 iT] p /andP[j0 ji]; move: (iT); rewrite leq_eqVlt => /orP[/eqP eT | lt].
  rewrite eT eqxx /=; move: (leq_trans ji iT); rewrite leq_eqVlt => /orP[/eqP-> | lt].
    rewrite eqxx /mean_gradient; apply: (over_eq is_p) => c /facts[st sta mu0].
    by apply: gradient_query_itself => //; rewrite -eT.
  rewrite (ltn_eqF lt); apply: mean_over0 => c /facts[st sta mu0].
  by apply: gradient_query; rewrite ?j0.
rewrite (ltn_eqF lt) /=; have hi : (0 < i < T)%N by rewrite i0.
have hj : (0 < j < T)%N by rewrite j0 (leq_ltn_trans ji).
move: ji; rewrite leq_eqVlt => /orP[/eqP-> | ji]; last first.
  apply: mean_over0 => c /facts[st sta mu0]; apply: gradient_apart => //.
  apply/same_treeP => -[x]; rewrite (upE ok i0) p /= inE => /eqP->.
  by rewrite (negPf (up_notin ok _)) // j0.
have m : meet g i i 0 0 by exists [::], [::], (ancestors g i); split; rewrite // (upE ok i0).
by rewrite (mean_meet hi hi m); apply: mean_itself prior.
Qed.
End Prior.

