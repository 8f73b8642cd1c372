(* The row of the query from samples: the statement on how many sequences     *)
(* stage 1 needs, as printed, and its refutation, for whatever constants.     *)
(*   sampled S g P N F == the mean of F over N samples, each a chain of the   *)
(*                        prior with a sequence                               *)
(*   sample_gradient ... l i k == g^emp_{i,k+1} for a list l of samples       *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors markov law forest_gap stage_one query_row refuted_query.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Arguments mean_over : simpl never.

Fixpoint sampled (R : realFieldType) S (g : seq nat) (P : prior R) N (F : seq (chain R * seq nat) -> R) : R :=
  if N is n.+1
  then mean_over P (fun d => expect S g (matrix d) (measure d) (fun x => sampled S g P n (fun l => F ((d, x) :: l))))
  else F [::].

Definition sample_gradient (R : realFieldType) (exp : R -> R) S (g : seq nat) (eps beta0 : R) (A : nat -> nat -> R)
    (l : seq (chain R * seq nat)) i k : R :=
  S%:R * (size g)%:R / (size l)%:R * (\Sum_(d in l) pull_at exp S eps beta0 (matrix d.1) A i k d.2).

(* Appendix I.1 (claim-sample-size): with N >= D T_eff log T samples, with    *)
(* probability 99/100 or more, for all i, g of the samples:                   *)
(* g_ij + gamma^3/(4 S) <= g_ip(i) for j <= i other than p(i), and            *)
(* |g_ij| <= C eps for j <= i if i is a root.                                 *)
Definition samples_printed (R : realFieldType) (exp ln : R -> R) (c D C : nat -> R -> R) :=
  forall S (gamma : R) P g eps beta0 A N, setting S gamma P g eps -> 0 < beta0 <= c S gamma * eps ^+ 3 -> (0 < N)%N ->
  D S gamma * effective_length_leaves R g * ln (size g)%:R <= N%:R ->
  99%:R / 100%:R <= sampled S g P N (fun l =>
    (all (fun i => all (fun k => if parent g i == 0%N
        then `|sample_gradient exp S g eps beta0 A l i k| <= C S gamma * eps
        else (k.+1 == parent g i) || (sample_gradient exp S g eps beta0 A l i k + gamma ^+ 3 / (4%:R * S%:R) <=
          sample_gradient exp S g eps beta0 A l i (parent g i).-1))
      (iota 0 i)) (iota 1 (size g)))%:R).

Section Samples.
Variables (R : realFieldType) (exp : R -> R) (m : nat) (c : R).
Hypotheses (is_exp : exponential exp) (m1 : (1 < m)%N) (c0 : 0 < c).
Notation gamma := (10%:R^-1 : R).
Notation P := (toward R).
Notation g := (in_context (m ^ 2)).
Notation T := (size g).
Notation eps := (m%:R^-1 : R).
Notation b := (start m c).
Hypothesis long : 40%:R * rest_bound 2 gamma <= m%:R.
Notation sampled := (sampled 2 g P).
Notation mean1 F := (mean_over P (fun d => expect 2 g (matrix d) (measure d) (fun x => F (d, x)))).

Let m0 : (0 < m)%N. Proof. exact: ltnW. Qed.
Let T0 : (0 < m ^ 2)%N. Proof. by rewrite expn_gt0 m0. Qed.
Let sizeT : T = (m ^ 2)%N. Proof. exact: size_in_context. Qed.
Let T00 : (0 < T)%N. Proof. by rewrite sizeT. Qed.
Let ok : forest g. Proof. exact: in_context_forest. Qed.
Let gamma0 : 0 < gamma. Proof. by rewrite invr_gt0 ltr0n. Qed.
Let is_p : is_prior P. Proof. by case: (toward_assumption1 R). Qed.
Let gamma1 : gamma < 1. Proof. by rewrite invf_lt1 ?ltr0n // ltr1n. Qed.

Lemma mean_affine (x y : R) E : mean_over P (fun d => x + y * E d) = x + y * mean_over P E.
Proof. by rewrite !mean_toward; field. Qed.

Lemma mean1_affine (x y : R) F : mean1 (fun d => x + y * F d) = x + y * mean1 F.
Proof.
rewrite -mean_affine; apply: (over_eq is_p) => d hd; have [st sta _] := witness_facts hd.
rewrite (expect_eq _ _ (G := fun z => y * F (d, z) - (- x) * 1)) => [|z _]; last by rewrite mulr1 opprK addrC.
by rewrite expectB !expectZ (expect1 st sta ok) mulr1 opprK addrC.
Qed.

Definition drawn (l : seq (chain R * seq nat)) : Prop :=
  forall d, d \in l -> d.1 \in P /\ d.2 \in sequences 2 T.

Lemma sampled_le N F G : (forall l, size l = N -> drawn l -> F l <= G l) -> sampled N F <= sampled N G.
Proof.
elim: N F G => [|N IH] F G h /=; first by apply: h.
apply: mean_over_le => d hd; have [st sta _] := witness_facts hd.
apply: (expect_le st sta ok) => x hx; apply: IH => l zl dl; apply: h; first by rewrite /= zl.
by move=> e; rewrite inE => /orP[/eqP-> | /dl].
Qed.

Lemma sampled_eq N F G : F =1 G -> sampled N F = sampled N G.
Proof.
elim: N F G => [|N IH] F G h /=; first exact: h.
by apply: (over_eq is_p) => d _; apply: expect_eq => x _; apply: IH => l; apply: h.
Qed.

Lemma sampled_affine (x y : R) N F : sampled N (fun l => x + y * F l) = x + y * sampled N F.
Proof.
elim: N F => [|N IH] F //=.
rewrite -(mean1_affine x y (fun d => sampled N (fun l => F (d :: l)))).
by apply: (over_eq is_p) => d _; apply: expect_eq => z _; apply: IH.
Qed.

Lemma sampled_sum (H : chain R * seq nat -> R) N a :
  sampled N (fun l => a + \Sum_(d in l) H d) = a + N%:R * mean1 H.
Proof.
elim: N a => [|N IH] a /=; first by rewrite /total /= mul0r.
have -> : a + N.+1%:R * mean1 H = a + N%:R * mean1 H + 1 * mean1 H by rewrite -addn1 natrD; ring.
rewrite -mean1_affine; apply: (over_eq is_p) => d _; apply: expect_eq => x _.
rewrite (sampled_eq N (G := fun l => a + H (d, x) + \Sum_(d in l) H d)) => [|l]; last by rewrite /total /= addrA.
by rewrite IH mul1r addrAC.
Qed.

(* What bounds the gradient of one sample *)
Definition bound d : R := 2%:R * (matrix d.1 (query d.2) (query d.2) / measure d.1 (query d.2) - 1 -
  missing 2 m (measure d.1) gamma d.2).

Lemma bound_mean : 2%:R^-1 <= mean1 bound.
Proof.
pose rho : R := 2%:R * (rest_bound 2 gamma / m%:R).
apply: (@le_trans _ _ (mean_over P (fun d => (\Sum_(s < 2) (matrix d s s / measure d s - 1)) - rho))); last first.
  apply: mean_over_le => d /witness_facts[st sta lo].
  exact: (query_mean st sta lo gamma0 gamma1 ok (in_context_leaves T0) sizeT m0).
have -> : mean_over P (fun d => (\Sum_(s < 2) (matrix d s s / measure d s - 1)) - rho) = 128%:R / 225%:R - rho.
  by rewrite mean_toward /total /= /matrix /measure /=; field.
exact: (toward_rest m0 long).
Qed.

Lemma bound_le d : d.1 \in P -> d.2 \in sequences 2 T -> bound d <= 38%:R.
Proof.
move=> /witness_facts[st sta lo] hx; rewrite /bound; set q := query d.2.
have hq : (q < 2)%N by have [z _] := sequencesP hx; rewrite /q /query z (token_lt hx) // T00 leqnn.
have pi1 := pi_le1 st hq hq.
have mu_low := mu_lower sta lo hq.
have h0 : 0 < gamma / 2%:R by rewrite divr_gt0 ?ltr0n.
have share : matrix d.1 q q / measure d.1 q <= 20%:R.
  rewrite ler_pdivr_mulr ?(lt_le_trans h0) //; apply: le_trans pi1 _.
  apply: (@le_trans _ _ (20%:R * (gamma / 2%:R))); last by rewrite ler_wpmul2l ?ler0n.
  by apply: eqW; field.
have mis := missing_ge0 2 m (measure d.1) gamma d.2.
have -> : 38%:R = 2%:R * (20%:R - 1 - 0) :> R by ring.
by rewrite ler_wpmul2l ?ler0n // ler_sub // ler_sub.
Qed.

Lemma bound_low A l : drawn l -> (0 < size l)%N ->
  \Sum_(d in l) bound d <= (size l)%:R * sample_gradient exp 2 g eps b A l T T.-1.
Proof.
move=> dl l0; have [/andP[s0 _] es] := start_small is_exp m1 c0.
have -> : (size l)%:R * sample_gradient exp 2 g eps b A l T T.-1 =
    \Sum_(d in l) 2%:R * (T%:R * pull_at exp 2 eps b (matrix d.1) A T T.-1 d.2).
  by rewrite /sample_gradient !totalZ; field; rewrite pnatr_eq0 -lt0n.
apply: total_le => d hd; have [hc hx] := dl d hd; have [st sta lo] := witness_facts hc.
rewrite ler_wpmul2l ?ler0n //.
exact: (query_low st sta lo gamma0 sizeT m0 is_exp A (ltW s0) es hx).
Qed.

Lemma samples_at A N (K : R) (I : seq (chain R * seq nat) -> bool) : (0 < N)%N -> 0 <= K ->
  (forall l, I l -> `|sample_gradient exp 2 g eps b A l T T.-1| <= K * eps) ->
  99%:R / 100%:R <= sampled N (fun l => (I l)%:R) -> m%:R <= 9%:R * K.
Proof.
move=> N0 K0 hI p; have nr : (0 : R) < N%:R by rewrite ltr0n.
have e0 : 0 <= K * eps by rewrite mulr_ge0 // invr_ge0 ler0n.
have : sampled N (fun l => 0 + \Sum_(d in l) bound d) <=
    sampled N (fun l => N%:R * (K * eps + 38%:R) + (- (N%:R * 38%:R)) * (I l)%:R).
  apply: sampled_le => l zl dl; have l0 : (0 < size l)%N by rewrite zl.
  rewrite add0r; case: (boolP (I l)) => [h | _].
    apply: le_trans (bound_low A dl l0) _; rewrite zl mulr1 mulrDr addrK ler_pmul2l //.
    exact: le_trans (ler_norm _) (hI l h).
  rewrite mulr0 addr0; apply: (@le_trans _ _ (\Sum_(d in l) 38%:R)).
    by apply: total_le => d hd; have [hc hx] := dl d hd; apply: bound_le.
  by rewrite total_const zl -[_ *+ N]mulr_natl ler_pmul2l // ler_addr.
rewrite sampled_sum sampled_affine add0r; set q := sampled N _ in p * => le.
have le2 : mean1 bound <= K * eps + 38%:R - 38%:R * q.
  rewrite -(ler_pmul2l nr); apply: le_trans le _.
  by apply: eqW; ring.
have := le_trans bound_mean le2 => le3.
have le4 : 9%:R^-1 <= K * eps.
  apply: (@le_trans _ _ (2%:R^-1 - 38%:R + 38%:R * (99%:R / 100%:R))).
    by rewrite -subr_ge0 ltW //; apply: (@fraction_gt0 R 1 224); field.
  apply: (@le_trans _ _ (2%:R^-1 - 38%:R + 38%:R * q)); first by rewrite ler_add2l ler_wpmul2l ?ler0n.
  rewrite -subr_ge0; have -> : K * eps - (2%:R^-1 - 38%:R + 38%:R * q) = K * eps + 38%:R - 38%:R * q - 2%:R^-1 by ring.
  by rewrite subr_ge0.
move: le4; rewrite ler_pdivl_mulr ?ltr0n // mulrC ler_pdivr_mulr ?ltr0n // mulrC.
by [].
Qed.
End Samples.

Theorem samples_refuted (R : archiFieldType) (exp ln : R -> R) (c D C : nat -> R -> R) : exponential exp ->
  (forall S gamma, 0 < c S gamma) -> ~ samples_printed exp ln c D C.
Proof.
move=> is_exp c0 h; pose K : R := `|C 2%N 10%:R^-1|; have K0 : 0 <= K by apply: normr_ge0.
have [m [m1 long]] := large (9%:R * K); apply; pose T := size (in_context (m ^ 2)).
have s := witness_start is_exp m1 (c0 2%N 10%:R^-1).
have [n hn] := bounded (D 2%N 10%:R^-1 * effective_length_leaves R (in_context (m ^ 2)) * ln T%:R).
have big : D 2%N 10%:R^-1 * effective_length_leaves R (in_context (m ^ 2)) * ln T%:R <= n.+1%:R.
  by apply: le_trans hn _; rewrite ler_nat.
have p := h _ _ _ _ _ _ (fun _ _ => 0) n.+1 (witness_setting R m1) s isT big.
have /andP[T0 _] := witness_query m1.
apply: (samples_at is_exp m1 (c0 2%N 10%:R^-1) long (ltn0Sn n) K0 _ p) => l /allP/(_ T).
rewrite mem_iota add1n ltnS leqnn T0 => /(_ isT)/allP/(_ T.-1); rewrite mem_iota add0n prednK // leqnn => /(_ isT).
rewrite (witness_root m1) => /le_trans; apply; rewrite ler_wpmul2r ?ler_norm // invr_ge0 ler0n //.
Qed.
