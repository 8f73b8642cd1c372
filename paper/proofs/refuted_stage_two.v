(* Section 5, Appendices D, H and I: false statements about stage 2 and its   *)
(* consequences. Each Definition is a statement as printed; each Theorem      *)
(* refutes it by a witness that the kernel computes.                          *)
(*   mean_law l F      == the mean of F under the finite law l, a list of     *)
(*                        probabilities with their outcomes                   *)
(*   is_law l          == its weights are not negative and of sum 1           *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors computation stage_two probability.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Lemma 30 (lem-concentrate-e3-step-denominator): with b = e^beta and        *)
(* m = e^(beta mu(s)) the denominator of E3 is at least (1-r) e^beta gamma;   *)
(* for mu(s) = p/q that m is e^(beta mu(s)) says m^q = b^p.                   *)
Definition denominator_printed (R : realFieldType) :=
  forall S (gamma r b m : R) P c s p q, assumption1 S gamma P -> c \in P -> (s < S)%N ->
  0 <= r -> r <= 1 - gamma -> 1 <= b -> 0 < m -> measure c s == p%:R / q%:R -> (0 < q)%N ->
  m ^+ q == b ^+ p ->
  (1 - r) * b * gamma <= (1 - r) * (b - 1) * measure c s + (1 - r) + r * m.

Definition denominator_chain : chain Q := ([:: [:: 9//10; 1//10]; [:: 3//5; 2//5]], [:: 6//7; 1//7]).
Definition denominator_partner : chain Q := ([:: [:: 1//10; 9//10]; [:: 2//5; 3//5]], [:: 4//13; 9//13]).

Theorem denominator_refuted : ~ denominator_printed Q.
Proof.
have a : assumption1 2 (19//100) (uniform (relabelings 2 denominator_chain ++ relabelings 2 denominator_partner)).
  by apply: orbits_assumption1; vm_compute.
move=> h; have {}h := h 2%N _ (1//4) (128//1) (2//1) _ denominator_chain 1%N 1%N 7%N a; by_computation h.
Qed.

(* Lemma 30 (lem-concentrate-e3-step-quotient), the displayed use of Lemma 28 *)
(* (lem-compute-diffs) for E3, at b = e^beta and m = e^(beta mu(s)).          *)
Definition e3_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R) x s, stochastic S pi -> stationary S pi mu -> forest g ->
  let d := data_at_zero S g pi mu x s 0%N in
  `|e3 d - e3_limit d| <= `|e3 d| * ((`|b d * err1 d| + err3 d) + (`|b d * err1 d| + err2 d)) / e3_below d.

Definition seven_tenths : chain Q := ([:: [:: 7//10; 3//10]; [:: 3//10; 7//10]], [:: 1//2; 1//2]).

Theorem e3_refuted : ~ e3_printed Q.
Proof.
move=> h; have {}h := h 2%N [:: 0; 1; 0]%N (matrix seven_tenths) (measure seven_tenths) [:: 0; 0; 0]%N 1%N.
by_computation h.
Qed.

(* Lemma 31 (lem-concentrate-e12-step-quotient), the same for E1/(E2 + eps).  *)
Definition e12_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R) x s s' eps, stochastic S pi -> stationary S pi mu -> forest g -> 0 < eps ->
  let d := data_at_zero S g pi mu x s s' in
  `|e12 d eps - e12_limit d| <= `|e12 d eps| / e12_below d *
    ((b d * `|err4 d| + `|err5 d| + `|err7 d| + b d * eps) + b d * `|err4 d| + `|err6 d|).

Theorem e12_refuted : ~ e12_printed Q.
Proof.
move=> h; have {}h := h 2%N [:: 0; 1; 0]%N (matrix seven_tenths) (measure seven_tenths) [:: 0; 0; 0]%N
  0%N 1%N (1//100).
by_computation h.
Qed.

(* Lemma 32 (lem-f-to-pi-step-quotient), the same for f.                      *)
Definition f_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R) x s s', stochastic S pi -> stationary S pi mu -> forest g ->
  let d := data_at_zero S g pi mu x s s' in
  `|f d - f_limit d| <=
    (`|f d| * (b d * `|err4 d| + `|err5 d| + `|err7 d|) + b d * `|err1 d| + `|err3 d|) / e3_below d.

Theorem f_refuted : ~ f_printed Q.
Proof.
move=> h; have {}h := h 2%N [:: 0; 1; 0]%N (matrix seven_tenths) (measure seven_tenths) [:: 0; 0; 0]%N 0%N 1%N.
by_computation h.
Qed.

(* Section 5.2 (eq-a2-form): A2 = beta I + (beta - beta_0)/S 1 1^T throughout *)
(* stage 2. One step of size 1 from A2 = 0, where the softmax is uniform, by  *)
(* the gradient of Lemma 4 (lem-pop-grads).                                   *)
(*   attended rows x i a == the share of token a in what position i attends to *)
Definition attended (R : realFieldType) (rows : seq (seq R)) (x : seq nat) i a : R :=
  \Sum_(j in iota 1 (size x)) nth 0 (nth [::] rows i.-1) j.-1 * (token x j == a)%:R.

Definition second_gradient (R : realFieldType) S g (P : prior R) rows eps a s : R :=
  - S%:R^-1 * mean_over P (fun c => expect S g (matrix c) (measure c) (fun x => \Sum_(s' < S)
    matrix c s s' / (frequency R x s' + eps) *
    ((\Sum_(i in iota 1 (size x)) attended rows x i a * ((token x i == s')%:R - frequency R x s'))
      / (size x)%:R))).

Definition a2_form_printed (R : realFieldType) :=
  forall S (gamma eps : R) P g rows, assumption1 S gamma P -> forest g -> 0 < eps ->
  exists beta, [all a < S, [all s < S, - second_gradient S g P rows eps a s ==
    beta * (a == s)%:R + beta / S%:R]].

Definition a2_chain : chain Q := ([:: [:: 2//3; 1//3]; [:: 1//3; 2//3]], [:: 1//2; 1//2]).
Definition a2_partner : chain Q := ([:: [:: 1//3; 2//3]; [:: 2//3; 1//3]], [:: 1//2; 1//2]).
Definition a2_rows : seq (seq Q) := [:: [:: 1; 0; 0]; [:: 1; 0; 0]; [:: 0; 0; 1]].

Lemma three_times (R : realFieldType) (x : R) : x * 1 + x / 2%:R = 3%:R * (x * 0 + x / 2%:R).
Proof. by field. Qed.

Theorem a2_form_refuted : ~ a2_form_printed Q.
Proof.
have a : assumption1 2 (1//4) (uniform (relabelings 2 a2_chain ++ relabelings 2 a2_partner)).
  by apply: orbits_assumption1; vm_compute.
move=> h; have {}h := h 2%N _ (1//10) _ [:: 0; 1; 0]%N a2_rows a.
do 2 (specialize (h ltac:(vm_compute; reflexivity))); case: h => beta.
move=> /all_index/(_ 0%N isT)/all_index h; have := h 1%N isT; have := h 0%N isT => {h}.
move=> /eqP e0 /eqP e1; move/eqP: (etrans e0 (etrans (three_times (beta : Q)) (congr1 ( *%R 3%:R) (esym e1)))).
by vm_compute.
Qed.

(* Eq. (29) (eq-f-pointwise): |f(X;s)_{s'} - pi(s'|s)| <= exp(-Theta(beta))   *)
(* for every X, s and s'. On a constant sequence no attention v of the        *)
(* positions, whatever beta, has an error that tends to zero.                 *)
Definition pointwise_printed (R : realFieldType) (bound : nat -> R) :=
  forall beta S g pi (mu : nat -> R) x s s', stochastic S pi -> stationary S pi mu -> forest g ->
  size x == size g -> (s < S)%N -> (s' < S)%N ->
  exists2 v, distribution (size g) v &
    `|\Sum_(i < size g) v i * (nth 0%N x i == s')%:R - pi s s'| <= bound beta.

Theorem pointwise_refuted (bound : nat -> Q) :
  (forall delta, 0 < delta -> exists beta, bound beta < delta) -> ~ pointwise_printed bound.
Proof.
move=> small h; have [beta lt] := small (1//3) isT.
have {}h := h beta 2%N [:: 0; 1; 0]%N (matrix a2_chain) (measure a2_chain) [:: 0; 0; 0]%N 0%N 0%N.
do 6 (specialize (h ltac:(vm_compute; reflexivity))); case: h => v /andP[_ /eqP sum].
have -> : \Sum_(i < 3) v i * (nth 0%N [:: 0; 0; 0]%N i == 0%N)%:R = 1.
  by rewrite -[RHS]sum; apply: total_eq => i; rewrite index_lt; case: i => [|[|[|]]] // _; apply: mulr1.
by move=> le; have := le_lt_trans le lt; vm_compute.
Qed.

(* Theorem 1 (thm-main-step-cauchy), for no constant C: with D = |f - pi| in  *)
(* [0,1] and an event F,                                                      *)
(* E[(D + eps)(1 + 1_F/eps)] <= C ((E D^2)^(1/2) + eps)(1 + P(F)/eps).        *)
Definition cauchy_printed (R : realFieldType) (C : R) :=
  forall (A : eqType) (l : seq (R * A)) (D : A -> R) (F : A -> bool) eps root, is_law l ->
  (forall a, 0 <= D a <= 1) -> 0 < eps -> 0 <= root -> root ^+ 2 = mean_law l (fun a => D a ^+ 2) ->
  mean_law l (fun a => (D a + eps) * (1 + eps^-1 * (F a)%:R)) <=
    C * (root + eps) * (1 + eps^-1 * mean_law l (fun a => (F a)%:R)).

Theorem cauchy_refuted (R : realFieldType) (C : nat) : ~ cauchy_printed (C%:R : R).
Proof.
set n : R := (4 * C).+1%:R; have n1 : 1 <= n by rewrite ler1n.
have n0 : 0 < n by apply: lt_le_trans n1.
have nz := lt0r_neq0 n0; set eps := n^-1 ^+ 2.
have e0 : 0 < eps by rewrite exprn_gt0 ?invr_gt0.
have e1 : eps <= 1 by rewrite exprn_ile1 ?invr_ge0 ?invf_le1 // ltW.
have eps_n : eps <= n^-1 by rewrite /eps expr2 ler_pimull ?invr_ge0 ?invf_le1 // ltW.
have L : is_law [:: (eps, true); (1 - eps, false)].
  rewrite /is_law /total /= ltW //= subr_ge0 e1 /= addr0; apply/eqP; ring.
have rootE : n^-1 ^+ 2 = mean_law [:: (eps, true); (1 - eps, false)] (fun a : bool => a%:R ^+ 2).
  rewrite /mean_law /total /= -/eps; ring.
have D01 (a : bool) : 0 <= (a%:R : R) <= 1 by rewrite ler0n lern1 leq_b1.
have i0 : 0 <= n^-1 by rewrite invr_ge0 ltW.
move=> h; have {h} := h _ _ (fun a : bool => a%:R) id eps n^-1 L D01 e0 i0 rootE.
rewrite /mean_law /total /= leNgt => /negP; apply.
have nC : (4 * C)%:R < n by rewrite ltr_nat.
have ez := lt0r_neq0 e0; clear rootE L; clearbody eps n.
have -> : C%:R * (n^-1 + eps) * (1 + eps^-1 * (eps * 1 + ((1 - eps) * 0 + 0))) = 2%:R * C%:R * (n^-1 + eps).
  by field; rewrite ez nz.
apply: (@le_lt_trans _ _ ((4 * C)%:R * n^-1)).
  have -> : (4 * C)%:R * n^-1 = 2%:R * C%:R * (n^-1 + n^-1) by rewrite natrM; ring.
  by rewrite ler_wpmul2l ?mulr_ge0 ?ler0n // ler_add2l.
apply: (@lt_le_trans _ _ 1); first by rewrite ltr_pdivr_mulr // mul1r.
have -> : eps * ((1 + eps) * (1 + eps^-1 * 1)) + ((1 - eps) * ((0 + eps) * (1 + eps^-1 * 0)) + 0)
  = 1 + 3%:R * eps by field.
by rewrite ler_addl mulr_ge0 ?ler0n // ltW.
Qed.

(* Theorem 2 (thm-ood-step-root): from P[D^2 >= 100 S^2 E D^2] <= 1/(100 S^2), *)
(* D <= 100 S^2 E[D^2] with probability 1 - 1/(100 S^2).                      *)
Definition ood_root_printed (R : realFieldType) :=
  forall S (A : eqType) (l : seq (R * A)) (D : A -> R), (forall a, 0 <= D a <= 1) -> (0 < S)%N -> is_law l ->
  let bound := 100%:R * S%:R ^+ 2 * mean_law l (fun a => D a ^+ 2) in
  mean_law l (fun a => (bound < D a)%R%:R) <= (100%:R * S%:R ^+ 2)^-1.

Theorem ood_root_refuted : ~ ood_root_printed Q.
Proof.
have small : 0 <= (1//1000 : Q) <= 1 by vm_compute.
move=> h; have {}h := h 2%N bool_eqType [:: (1, true)] (fun _ => 1//1000) (fun=> small); by_computation h.
Qed.

(* Lemma 34 (thm-finite-stage2-step-exponent): for no constant C is           *)
(* e^(beta_0 - 1) <= C T_eff^(-1/2), here at T_eff = n^2; of e only 0 < e < 3 *)
(* is used, and of e^beta_0 that it is at least 1.                            *)
Definition exponent_printed (R : realFieldType) (e C : R) :=
  forall n (power : R), (0 < n)%N -> 1 <= power -> power / e <= C / n%:R.

Theorem exponent_refuted (R : realFieldType) (e : R) (C : nat) : 0 < e < 3%:R -> ~ exponent_printed e C%:R.
Proof.
move=> /andP[e0 e3] h; have := h (3 * C).+1 1 isT (lexx _).
rewrite leNgt => /negP; apply; apply: (@lt_trans _ _ 3%:R^-1).
  by rewrite ltr_pdivr_mulr ?ltr0n // ltr_pdivl_mull ?ltr0n // -natrM ltr_nat.
by rewrite div1r ltf_pinv ?posrE ?ltr0n.
Qed.

(* Appendix I.2 (thm-finite-stage2-step-1): |delta^T (S(z) - S(z'))| <=       *)
(* |S(z) - S(z')|_inf for the indicator delta of a token, with h = exp(z) and *)
(* h' = exp(z').                                                              *)
Definition softmax (R : realFieldType) n (h : nat -> R) i : R := h i / \Sum_(k < n) h k.

Definition chain_first_printed (R : realFieldType) :=
  forall n (h h' : nat -> R) (delta : nat -> bool) M,
  [all i < n, 0 < h i] -> [all i < n, 0 < h' i] ->
  [all i < n, `|softmax n h i - softmax n h' i| <= M] ->
  `|\Sum_(i < n) (delta i)%:R * (softmax n h i - softmax n h' i)| <= M.

Theorem chain_first_refuted : ~ chain_first_printed Q.
Proof.
move=> h; have {}h := h 4%N (fun i => if (i < 2)%N then 4//1 else 2//1) (fun _ => 1) (fun i => (i < 2)%N) (1//12).
by_computation h.
Qed.

(* Lemma 27 (lem-grad-j-step-jacobian): the derivative of the softmax at v in *)
(* the direction u is J(v) u. The derivative is that of h_i/sum_k h_k for     *)
(* h = exp(v), whose own derivative is h u.                                   *)
Definition softmax_derivative (R : realFieldType) n (h u : nat -> R) i : R :=
  let H := \Sum_(k < n) h k in (h i * u i * H - h i * \Sum_(k < n) h k * u k) / H ^+ 2.

Definition derivative_printed (R : realFieldType) (exp : R -> R) :=
  forall n (v u : nat -> R) i, (i < n)%N -> softmax_derivative n (exp \o v) u i = jacobian n v u i.

Theorem derivative_refuted (exp : Q -> Q) : exp 0 = 1 -> ~ derivative_printed exp.
Proof.
move=> e0 h; have {}h := h 3%N (fun _ => 0) (fun k => (k == 0%N)%:R) 0%N isT.
by move: h; rewrite /softmax_derivative /= /total /= e0 => /eqP; vm_compute.
Qed.

(* Lemma 11 (lem-bound-ghat-step-last): gamma^5/S^5 e^(-2 beta) E|B_pi|_F^2   *)
(* >= 1/2 gamma^8/S^6 e^(-2 beta), with x = e^(-2 beta).                      *)
Definition ghat_last_printed (R : realFieldType) :=
  forall S (gamma x : R) P, assumption1 S gamma P -> 0 < x ->
  gamma ^+ 8 / S%:R ^+ 6 * x / 2%:R <=
    gamma ^+ 5 / S%:R ^+ 5 * x * mean_over P (fun c => normB S (matrix c) (measure c)).

Definition ghat_chain : chain Q :=
  let row := [:: 11//25; 11//25; 1//25; 1//25; 1//25] in
  ([:: row; row; row; row; [:: 101//200; 3//8; 1//25; 1//25; 1//25]],
   [:: 2213//5000; 2187//5000; 1//25; 1//25; 1//25]).

Theorem ghat_last_refuted : ~ ghat_last_printed Q.
Proof.
have a : assumption1 5 (197//1000) (uniform (relabelings 5 ghat_chain)) by apply: orbit_assumption1; vm_compute.
move=> h; have {}h := h 5%N _ 1 _ a; by_computation h.
Qed.
