(* The pair frequencies of a forest, for chains of any number of states.      *)
(*                                                                            *)
(* Lemma 21 (lem-chat-var-corrected), with a larger constant than the row's   *)
(*   mu(s) pi(s'|s): for the share chat of the i in I with                    *)
(*   s_p(i) = s and s_i = s', E chat = mu(s) pi(s'|s), and the variance is at *)
(*   most c T^2/(T_eff(lambda) |I|^2) with                                    *)
(*   c = pi(s'|s) max(mu(s), mu(s'))/lambda^2; lambda^-2 <= 4 for             *)
(*   lambda = 1 - gamma/S, gamma <= 1 and S >= 2.                             *)
(* Two pairs, j before i: if j is not above i, then given their parents they  *)
(* are independent (pairs_apart); if it is, they are linked by the path from  *)
(* j to p(i) (pairs_linked).                                                  *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums markov leaves effective_length law covariance variance.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition chat (R : realFieldType) g (I : seq nat) (x : seq nat) s s' : R :=
  (\Sum_(i in I) ((token x (parent g i) == s) && (token x i == s'))%:R) / (size I)%:R.

Section Pairs.
Variables (R : realFieldType) (S : nat) (g : seq nat) (pi : nat -> nat -> R) (mu : nat -> R) (lambda : R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu) (ok : forest g).
Notation T := (size g).
Notation expect := (expect S g pi mu).
Notation joint := (joint S g pi mu).
Variables (s s' : nat).
Hypotheses (hs : (s < S)%N) (hs' : (s' < S)%N).

Definition shows i t x : R := (token x i == t)%:R.
Definition pair i x : R := shows (parent g i) s x * shows i s' x.

Lemma shows_local i t n : (0 < i <= n)%N -> local n (shows i t).
Proof. by move=> hi x y z; rewrite /shows token_cat // z. Qed.

Lemma pair_given j G : (0 < j < T)%N -> parent g j != 0%N -> local j.-1 G ->
  expect (fun x => pair j x * G x) = pi s s' * expect (fun x => shows (parent g j) s x * G x).
Proof.
move=> hj pj loc; have /andP[j0 jT] := hj; have /andP[pj0 pjT] := parent_range ok hj pj.
have loc' : local j.-1 (fun x => shows (parent g j) s x * G x).
  by move=> x y z; rewrite loc // /shows token_cat // z pj0 -ltnS prednK // parent_lt.
transitivity (expect (fun x => shows j s' x * (shows (parent g j) s x * G x))).
  by apply: expect_eq => x _; rewrite /pair; ring.
rewrite (given_step stoch stat ok hj hs' loc') (negPf pj).
rewrite (total_eq (G := fun r => (s == r)%:R * (pi r s' * expect (fun x => shows (parent g j) s x * G x)))).
  by rewrite total_delta.
move=> r _; rewrite [RHS]mulrCA; congr (_ * _); rewrite -expectZ; apply: expect_eq => x _.
rewrite /shows [s == r]eq_sym.
case: (token _ (parent g j) =P r) => [->|/eqP nr]; first by case: (r == s); rewrite ?mul1r ?mul0r.
by rewrite mul0r; case: (r =P s) => [<-|_]; rewrite ?(negPf nr) ?mul1r ?mul0r.
Qed.

(* a function of s_k, one step up *)
Definition above (phi : nat -> R) r : R := \Sum_(t < S) pi r t * phi t.

Lemma one_up phi k G : (0 < k < T)%N -> local k.-1 G ->
  expect (fun x => phi (token x k) * G x) =
    if parent g k == 0%N then (\Sum_(t < S) mu t * phi t) * expect G
    else expect (fun x => above phi (token x (parent g k)) * G x).
Proof.
move=> hk loc; have /andP[k0 kT] := hk; rewrite expect_by_value ?k0 ?(ltnW kT) //.
rewrite (index_eq (G := fun t => phi t * if parent g k == 0%N then mu t * expect G
    else \Sum_(r < S) pi r t * expect (fun x => shows (parent g k) r x * G x))); last first.
  by move=> t ht; rewrite (given_step stoch stat ok hk ht loc).
case: ifP => p; first by rewrite -totalZr; apply: total_eq => t _; ring.
have /andP[p0 pT] := parent_range ok hk (negbT p).
rewrite (expect_by_value _ _ _ (above phi)) ?p0 ?(ltnW pT) //.
rewrite (total_eq (G := fun t => \Sum_(r < S) (pi r t * phi t * expect (fun x => shows (parent g k) r x * G x)))).
  by rewrite total_exchange; apply: total_eq => r _; rewrite totalZr.
by move=> t _; rewrite -totalZ; apply: total_eq => r _; ring.
Qed.

(* the pair of j, if k is no descendant of j *)
Lemma pairs_apart phi j k : (0 < j < T)%N -> parent g j != 0%N -> (0 < k < T)%N -> j \notin ancestors g k ->
  expect (fun x => phi (token x k) * pair j x) =
    pi s s' * expect (fun x => phi (token x k) * shows (parent g j) s x).
Proof.
move=> hj pj; have /andP[j0 jT] := hj; have /andP[pj0 pjT] := parent_range ok hj pj.
have lt := parent_lt ok j0; elim/ltn_ind: k phi => k IH phi hk nj; have /andP[k0 kT] := hk.
have swap F : expect (fun x => phi (token x k) * F x) = expect (fun x => F x * phi (token x k)).
  by apply: expect_eq => x _; rewrite mulrC.
case: (ltngtP k j) => kj.
- rewrite !swap pair_given // => x y z; rewrite token_cat // z k0 -ltnS prednK //.
- have loc : local k.-1 (pair j).
    by move=> x y z; rewrite /pair /shows !token_cat // z ?pj0 ?j0 -ltnS prednK // (ltn_trans lt).
  have loc' : local k.-1 (shows (parent g j) s).
    by apply: shows_local; rewrite pj0 -ltnS prednK // (ltn_trans lt).
  rewrite (one_up phi hk loc) (one_up phi hk loc'); case: ifPn => p.
    rewrite mulrCA; congr (_ * _); have := pair_given hj pj (G := fun=> 1).
    rewrite (expect_eq _ _ (G := pair j)) => [|x _]; last by rewrite mulr1.
    by rewrite [in RHS](expect_eq _ _ (G := shows (parent g j) s)) => [|x _]; [apply | rewrite mulr1].
  rewrite IH ?parent_range ?parent_lt //.
  by move: nj; rewrite (upE ok k0) (negPf p) inE negb_or => /andP[].
- by move: nj; rewrite kj (up_self ok).
Qed.

(* and if k is m steps below j *)
Fixpoint steps_up m (phi : nat -> R) : nat -> R := if m is m'.+1 then steps_up m' (above phi) else phi.

Lemma steps_upE m phi r : (r < S)%N -> steps_up m phi r = \Sum_(t < S) power S pi m r t * phi t.
Proof.
move=> hr; elim: m phi => [|m IH] phi; first by rewrite /= total_delta.
rewrite [LHS]IH; transitivity (\Sum_(t < S) \Sum_(u < S) (power S pi m r t * pi t u * phi u)).
  by apply: total_eq => t _; rewrite /above -totalZ; apply: total_eq => u _; rewrite mulrA.
by rewrite total_exchange; apply: index_eq => u hu; rewrite totalZr power_last.
Qed.

Lemma pair_mean j : (0 < j < T)%N -> parent g j != 0%N -> expect (pair j) = mu s * pi s s'.
Proof.
move=> hj pj; have hp := parent_range ok hj pj.
transitivity (expect (fun x => pair j x * 1)); first by apply: expect_eq => x _; rewrite mulr1.
rewrite pair_given // -(token_law stoch stat ok hp hs) mulrC; congr (_ * _).
by apply: expect_eq => x _; rewrite mulr1.
Qed.

Lemma pairs_linked phi j k m : (0 < j < T)%N -> parent g j != 0%N -> (0 < k < T)%N -> meet g k j m 0 ->
  expect (fun x => phi (token x k) * pair j x) = steps_up m phi s' * (mu s * pi s s').
Proof.
move=> hj pj; have /andP[j0 jT] := hj; elim: m k phi => [|m IH] k phi hk mk; have /andP[k0 kT] := hk.
  have e : k = j.
    case: mk => q [r [c [e1 e2 /size0nil eq /size0nil er _]]]; move: e1 e2; rewrite eq er /= => <-.
    by rewrite (upE ok k0) (upE ok j0) => -[].
  rewrite e /= -(pair_mean hj pj) -expectZ; apply: expect_eq => x _; rewrite /pair /shows.
  by case: (token x j =P s') => [->|_]; rewrite ?mulr0.
have jk : (0 < j < k)%N.
  rewrite j0 ltnNge; apply/negP => kj; case: mk => q [r [c [e1 e2 z /size0nil er _]]].
  have jq : j \in ancestors g k by rewrite e1 mem_cat -[c]/([::] ++ c) -er -e2 (up_self ok j0) orbT.
  have /andP[_ jk] := up_range ok k0 jq; have e : k = j by apply/eqP; rewrite eqn_leq kj jk.
  by move: (congr1 size e1); rewrite e e2 er /= size_cat z => /eqP; rewrite -{1}[size c]add0n eqn_add2r.
have [m' [[<-] p mp]] := meet_up ok jk mk; have /andP[pj0 pjT] := parent_range ok hj pj.
have loc : local k.-1 (pair j).
  have /andP[_ lt] := jk; move=> x y z.
  by rewrite /pair /shows !token_cat // z ?pj0 ?j0 -ltnS prednK // (ltn_trans (parent_lt ok j0)).
by rewrite (one_up phi hk loc) (negPf p) IH ?parent_range.
Qed.

Hypothesis contracts : forall h, square S mu (applied S (centered pi mu) h) <= lambda ^+ 2 * square S mu h.
Hypotheses (lambda01 : 0 < lambda <= 1) (mu0 : forall t, (t < S)%N -> 0 < mu t).
Notation most := (Num.max (mu s) (mu s')).
Notation bound := (pi s s' * most / lambda ^+ 2).
Notation q := (pi s s').

Let l0 : 0 < lambda. Proof. by case/andP: lambda01. Qed.
Let l1 : lambda <= 1. Proof. by case/andP: lambda01. Qed.
Let q0 : 0 <= q. Proof. exact: pi_ge0 stoch hs hs'. Qed.
Let q1 : q <= 1. Proof. exact: pi_le1 stoch hs hs'. Qed.
Let m0 : 0 < most. Proof. by rewrite lt_maxr mu0. Qed.
Let sM : mu s <= most. Proof. by rewrite le_maxr lexx. Qed.
Let sM' : mu s' <= most. Proof. by rewrite le_maxr lexx orbT. Qed.
Let big x : 0 <= x -> x <= x / lambda ^+ 2.
Proof. by move=> x0; rewrite ler_pdivl_mulr ?exprn_gt0 // ler_pimulr // exprn_ile1 // ltW. Qed.

Lemma linked_le d : mu s * q ^+ 2 * (power S pi d s' s - mu s) <= bound * lambda ^+ d.+1.
Proof.
have top : q * most * lambda ^+ d <= bound * lambda ^+ d.+1.
  have -> : bound * lambda ^+ d.+1 = q * most * lambda ^+ d / lambda.
    by rewrite (exprS lambda d); field; rewrite lt0r_neq0.
  rewrite ler_pdivl_mulr //; apply: ler_pimulr => //.
  by rewrite mulr_ge0 ?exprn_ge0 ?(ltW l0) // mulr_ge0 // ltW.
apply: le_trans top; have M0 := ltW m0; have s0 := mu0 hs; case: d => [|d].
  rewrite expr0 mulr1 /=; have m1 := mu_le1 stat hs.
  apply: (@le_trans _ _ (mu s * q * (q * 1))).
    have -> : mu s * q ^+ 2 * ((s' == s)%:R - mu s) = mu s * q * (q * ((s' == s)%:R - mu s)) by ring.
    rewrite ler_wpmul2l ?mulr_ge0 ?(ltW s0) // ler_wpmul2l // ler_subl_addr.
    by apply: (@le_trans _ _ 1); rewrite ?lern1 ?leq_b1 // ler_addl ltW.
  rewrite mulr1 [leRHS]mulrC; apply: (@le_trans _ _ (mu s * q)).
    by rewrite ler_pimulr ?mulr_ge0 // ltW.
  by rewrite ler_wpmul2r.
apply: le_trans (ler_norm _) _; rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?exprn_ge0 ?(ltW l0) //.
rewrite real_normK ?num_real //.
apply: le_trans (dependent_first stoch stat contracts d hs hs' (mu0 hs')) _.
apply: le_trans (dependent_second lambda stoch stat d hs hs' (mu0 hs) (mu0 hs')) _.
rewrite !exprMn -exprM [(d.+1 * 2)%N]mulnC ler_wpmul2r ?exprn_ge0 ?(ltW l0) //.
by rewrite [leLHS]mulrC ler_wpmul2l ?sqr_ge0 // [most ^+ 2]expr2 ler_pmul // ltW ?mu0.
Qed.

Lemma pair_decay i j : (0 < i < T)%N -> (0 < j < T)%N -> parent g i != 0%N -> parent g j != 0%N -> (j <= i)%N ->
  expect (fun x => pair i x * pair j x) - mu s * q * (mu s * q) <= bound * weight g lambda i j.
Proof.
move=> hi hj pi_ pj; have /andP[i0 iT] := hi; have /andP[j0 jT] := hj; have s0 := mu0 hs.
have hpi := parent_range ok hi pi_; have hpj := parent_range ok hj pj; have /andP[pi0 piT] := hpi.
have /andP[pj0 pjT] := hpj.
rewrite leq_eqVlt => /orP[/eqP e | ji].
  rewrite e /weight (itself ok i0) expr0 mulr1.
  have -> : expect (fun x => pair i x * pair i x) = mu s * q.
    rewrite -(pair_mean hi pi_); apply: expect_eq => x _; rewrite /pair /shows.
    by case: (_ == s); case: (_ == s'); rewrite ?mul0r ?mulr0 ?mul1r.
  apply: (@le_trans _ _ (mu s * q)); first by rewrite ger_addl oppr_le0 sqr_ge0.
  apply: (@le_trans _ _ (q * most)); first by rewrite mulrC ler_wpmul2l.
  by apply: big; rewrite mulr_ge0 // ltW.
have loc : local i.-1 (pair j).
  by move=> x y z; rewrite /pair /shows !token_cat // z ?pj0 ?j0 -ltnS prednK // (ltn_trans (parent_lt ok j0)).
rewrite (pair_given hi pi_ loc); case: (boolP (j \in ancestors g (parent g i))) => [hup | nup].
  have [r e a] := up_split ok pi0 hup.
  have nr : ~~ has (mem (ancestors g j)) r.
    apply/hasPn => y /(allP a) lt /=; apply/negP => /(up_range ok j0)/andP[_].
    by rewrite leqNgt lt.
  have m : meet g (parent g i) j (size r) 0.
    exists r, [::], (ancestors g j); split; rewrite // nr !andbT.
    by rewrite (upE ok).
  have mi : meet g i j (size r).+1 0.
    exists (i :: r), [::], (ancestors g j); split; rewrite //= ?(upE ok i0) ?(negPf pi_) ?e //.
    by rewrite negb_or nr !andbT (up_notin ok) ?j0 // (upE ok j0).
  rewrite (pairs_linked (fun t => (t == s)%:R) hj pj hpi m) steps_upE //.
  have -> : \Sum_(t < S) power S pi (size r) s' t * (t == s)%:R = power S pi (size r) s' s.
    rewrite -[RHS](total_delta (power S pi (size r) s') hs); apply: total_eq => t _.
    by rewrite mulrC eq_sym.
  rewrite /weight (meet_between mi) addn0; apply: le_trans (linked_le _).
  by apply: eqW; ring.
rewrite (pairs_apart (fun t => (t == s)%:R) hj pj hpi nup) -jointE.
have -> : q * (q * joint (parent g i) (parent g j) s s) - mu s * q * (mu s * q) =
  q ^+ 2 * (joint (parent g i) (parent g j) s s - mu s * mu s) by ring.
have w0 := weight_ge0 g (ltW l0).
apply: (@le_trans _ _ (q ^+ 2 * (mu s * ((lambda ^+ 2)^-1 * weight g lambda i j)))).
  rewrite ler_wpmul2l ?sqr_ge0 //.
  apply: le_trans (same_covariance stoch stat ok contracts (ltW l0) hpi hpj hs) _.
  by rewrite ler_wpmul2l ?(ltW s0) // weight_parents // ltW.
rewrite [q ^+ 2]expr2 -!mulrA ler_wpmul2l // [leLHS]mulrA.
rewrite ler_wpmul2r ?mulr_ge0 ?invr_ge0 ?sqr_ge0 //.
by apply: le_trans sM; rewrite ler_pimull // ltW.
Qed.

(* Lemma 21 (lem-chat-var-corrected) *)
Theorem pair_variance (I : seq nat) : uniq I -> (0 < size I)%N -> {in I, forall i, 0 < i < T}%N ->
  {in I, forall i, parent g i != 0%N} ->
  expect (fun x => chat R g I x s s') = mu s * pi s s' /\
  expect (fun x => (chat R g I x s s' - mu s * pi s s') ^+ 2) <=
    bound * T%:R ^+ 2 / (effective_length g lambda * (size I)%:R ^+ 2).
Proof.
move=> uI sI hI hp.
have chatE x : chat R g I x s s' = (\Sum_(i in I) pair i x) / (size I)%:R.
  by congr (_ / _); apply: total_eq => i _; rewrite /pair /shows -natrM mulnb.
have law : {in I, forall i, expect (pair i) = mu s * q} by move=> i hi; rewrite pair_mean ?hI ?hp.
have dec : {in I &, forall i j,
    expect (fun x => pair i x * pair j x) - mu s * q * (mu s * q) <= bound * weight g lambda i j}.
  move=> i j hi hj; case: (leqP j i) => [le | /ltnW le]; first by rewrite pair_decay ?hI ?hp.
  have /andP[i0 _] := hI i hi; have /andP[j0 _] := hI j hj; rewrite (weight_sym _ ok i0 j0).
  rewrite (expect_eq _ _ (G := fun x => pair j x * pair i x)) => [|x _]; last by rewrite mulrC.
  by rewrite pair_decay ?hI ?hp.
split.
  by rewrite (expect_eq _ _ (G := fun x => (\Sum_(i in I) pair i x) / (size I)%:R)) ?(average_mean _ law).
rewrite (expect_eq _ _ (G := fun x => ((\Sum_(i in I) pair i x) / (size I)%:R - mu s * q) ^+ 2)) => [|x _];
  last by rewrite chatE.
apply: average_variance => //; first exact: ltW.
by rewrite divr_ge0 ?sqr_ge0 ?mulr_ge0 // ltW.
Qed.
End Pairs.

Lemma factor_four (R : realFieldType) (S : nat) (gamma : R) : (1 < S)%N -> gamma <= 1 ->
  ((1 - gamma / S%:R) ^+ 2)^-1 <= 4%:R.
Proof.
move=> S1 g1; set lambda := 1 - _; have S0 : (0 : R) < S%:R by rewrite ltr0n ltnW.
have half : 2%:R^-1 <= lambda.
  rewrite ler_subr_addr addrC -ler_subr_addr.
  have -> : 1 - 2%:R^-1 = 2%:R^-1 :> R by field.
  rewrite ler_pdivr_mulr // ler_pdivl_mull ?ltr0n //; apply: (@le_trans _ _ 2%:R); last by rewrite ler_nat.
  by rewrite ler_pimulr ?ler0n.
have h0 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
rewrite (_ : 4%:R = (2%:R^-1 ^+ 2)^-1); last by field.
rewrite lef_pinv ?posrE ?exprn_gt0 ?(lt_le_trans h0) //.
by apply: ler_expn2r => //; rewrite nnegrE ltW // (lt_le_trans h0).
Qed.
