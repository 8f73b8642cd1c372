(* The gradient of stage 1 at a small beta0, at beta0 = 0, and its limit for   *)
(* long sequences. The query is the last token of the sequence.               *)
(*                                                                            *)
(* Lemma 34 (thm-finite-stage2-step-exponent-corrected): the prediction at    *)
(*   beta0 differs from the one at 0 by at most (e^beta0 - 1)/4.              *)
(* Lemma 23 (lem-nonzero-beta): g* at beta0 differs from g* at 0 by at most   *)
(*   3 S^2 (e^beta0 - 1)/eps^2.                                               *)
(* Lemma 24 (lem-concentration-a1-corrected): for each i, j, s, s' the        *)
(*   smoothed share of g* differs from its limit by at most 32 S^2 eps/gamma^2 *)
(* Lemma 3 (lem-gradient-informal-corrected): |g*_ij - g_ij| <=               *)
(*   35 S^3 eps/gamma^2, but for i = j = T.                                   *)
(* Lemma 6 (thm-stage1-roots-corrected): the gradient of the rows of roots.   *)
(*                                                                            *)
(* In Lemma 24 a weight w on the token of the query, of mean 1, stands for    *)
(* the law of the query: w = 1 if it is uniform, w = S 1{s} if it is s.       *)
(*   pull_zero eps pi i j x == the pull of one sequence at beta0 = 0, times T *)
(*   ghat_query P eps i j == its mean, g*_ij at beta0 = 0                     *)
(*   smoothed w i j t s == E[(1{s_i = t} - f_t) 1{s_j = s}/(f_t + eps)]       *)
(*   pair_share w i j t s == P[s_i = t, s_j = s]                              *)
(*   single_share w j s == P[s_j = s]                                         *)
(*   second_moment w t == E(f_t - mu_t)^2, f_t the share of t                 *)
(*   asks s            == the weight of the query s                           *)
(*   limit_pull i j    == the sum of the limits of Lemma 24 over s and s'     *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors markov leaves effective_length law variance gap forest_gap stage_one.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Prediction.
Variables (R : realFieldType) (exp : R -> R) (beta0 : R).
Hypotheses (is_exp : exponential exp) (b0 : 0 <= beta0).

(* two means of 0 and 1, with weights n and m, and with weights a and b up to y times as large *)
Lemma mean_shift (n m a b y : R) : 0 <= n -> 0 <= m -> 0 < n + m -> n <= a <= y * n -> m <= b <= y * m ->
  a / (a + b) - n / (n + m) <= 4%:R^-1 * (y - 1).
Proof.
move=> n0 m0 p0 /andP[na an] /andP[mb bm]; have y1 : 0 <= y - 1.
  rewrite -(pmulr_rge0 _ p0) mulrC mulrBl mul1r subr_ge0 mulrDr.
  by apply: ler_add; [apply: le_trans an | apply: le_trans bm].
have q0 : 0 < a + b by apply: lt_le_trans p0 _; apply: ler_add.
have -> : a / (a + b) - n / (n + m) = (a * m - n * b) / ((a + b) * (n + m)) by field; rewrite !lt0r_neq0.
rewrite ler_pdivr_mulr ?mulr_gt0 //; apply: (@le_trans _ _ (n * m * (y - 1))).
  have -> : n * m * (y - 1) = y * n * m - n * m by ring.
  by apply: ler_sub; [apply: ler_wpmul2r | apply: ler_wpmul2l].
apply: (@le_trans _ _ (4%:R^-1 * (y - 1) * ((n + m) * (n + m)))); last first.
  by rewrite ler_wpmul2l ?mulr_ge0 ?invr_ge0 ?ler0n // ler_pmul2r // ler_add.
rewrite -subr_ge0; have -> : 4%:R^-1 * (y - 1) * ((n + m) * (n + m)) - n * m * (y - 1) =
  4%:R^-1 * ((n - m) ^+ 2 * (y - 1)).
  by field.
by rewrite mulr_ge0 ?invr_ge0 ?ler0n // mulr_ge0 // sqr_ge0.
Qed.

(* Lemma 34: the first inequality, at A2 = 0 the share of t *)
Lemma prediction_shift A x s t : (0 < size x)%N ->
  `|predicted exp beta0 A x s t - frequency R x t| <= 4%:R^-1 * (exp beta0 - 1).
Proof.
move=> x0; pose h k := (token x k.+1 == t)%:R : R.
pose u k := exp (beta0 * copied exp A x s k.+1).
have u1 k : 1 <= u k <= exp beta0.
  have /andP[c0 c1] := copied_unit is_exp A x s (ltn0Sn k).
  rewrite -[leLHS](exp0 is_exp) !(exp_le is_exp) //; last by rewrite mulr_ge0.
  by rewrite ler_pimulr.
pose n := \Sum_(k < size x) h k; pose m := \Sum_(k < size x) (1 - h k).
pose a := \Sum_(k < size x) u k * h k; pose b := \Sum_(k < size x) u k * (1 - h k).
have h01 k : 0 <= h k <= 1 by rewrite /h; case: (_ == _); rewrite ?lexx ?ler01.
have between (f : nat -> R) : (forall k, 0 <= f k) ->
    \Sum_(k < size x) f k <= \Sum_(k < size x) u k * f k <= exp beta0 * \Sum_(k < size x) f k.
  move=> f0; rewrite -totalZ; apply/andP; split; apply: index_le => k _; have /andP[lo hi] := u1 k.
    by rewrite ler_pemull.
  by rewrite ler_wpmul2r.
have ha := between h (fun k => proj1 (andP (h01 k))).
have h1 k : 0 <= 1 - h k by rewrite subr_ge0; have /andP[] := h01 k.
have hb := between _ h1.
rewrite -/n -/a in ha; rewrite -/m -/b in hb.
have nm : n + m = (size x)%:R.
  by rewrite /n /m -totalD -(total_n R (size x)); apply: index_eq => k _; rewrite addrC subrK.
have n0 : 0 <= n by apply: index_ge0 => k _; have /andP[] := h01 k.
have m0 : 0 <= m by apply: index_ge0 => k _; rewrite subr_ge0; have /andP[] := h01 k.
have p0 : 0 < n + m by rewrite nm ltr0n.
have q0 : 0 < a + b.
  by have /andP[na _] := ha; have /andP[mb _] := hb; apply: lt_le_trans p0 _; apply: ler_add.
have -> : predicted exp beta0 A x s t = a / (a + b).
  have -> : a + b = \Sum_(k < size x) u k by rewrite -totalD; apply: index_eq => k _; ring.
  by rewrite /predicted /a -totalZr; apply: index_eq => k _; rewrite /weights /soft -/(u k) -/(h k) mulrAC.
have -> : frequency R x t = n / (n + m) by rewrite nm /frequency -frequency_sum.
have up := mean_shift n0 m0 p0 ha hb.
have p0' : 0 < m + n by rewrite addrC.
have := mean_shift m0 n0 p0' hb ha; rewrite [b + a]addrC [m + n]addrC => down.
rewrite ler_norml up andbT ler_oppl; apply: le_trans down; apply: eqW.
by field; rewrite !lt0r_neq0.
Qed.

(* Lemma 23 (lem-nonzero-beta): the pull of one sequence *)
Lemma weights_shift A x s k : (k < size x)%N ->
  `|(size x)%:R * weights exp beta0 A x s k - 1| <= exp beta0 - 1.
Proof.
move=> hk; have E1 : 1 <= exp beta0 by rewrite -[leLHS](exp0 is_exp) (exp_le is_exp).
have E0 := exp_gt0 is_exp beta0.
have e : 1 + (exp beta0 - 1) = exp beta0 by rewrite addrC subrK.
have := weights_near is_exp A s b0 (eqW (esym e)) hk; rewrite e => /andP[lo hi].
rewrite ler_norml ler_add2r hi andbT ler_subr_addl; apply: le_trans lo.
rewrite -subr_ge0; have -> : (exp beta0)^-1 - (1 - (exp beta0 - 1)) = (exp beta0 - 1) ^+ 2 / exp beta0.
  by field; rewrite lt0r_neq0.
by rewrite divr_ge0 ?sqr_ge0 // ltW.
Qed.

Lemma frequency_ge0 x t : 0 <= frequency R x t.
Proof. by rewrite divr_ge0 ?ler0n. Qed.

Lemma predicted_shift A x s t : (0 < size x)%N ->
  `|predicted exp beta0 A x s t - frequency R x t| <= (exp beta0 - 1) * frequency R x t.
Proof.
move=> x0; have xr : (0 : R) < (size x)%:R by rewrite ltr0n.
have -> : frequency R x t = \Sum_(k < size x) ((size x)%:R^-1 * (token x k.+1 == t)%:R).
  by rewrite totalZ frequency_sum mulrC.
rewrite -totalB; apply: le_trans (total_norm _ _) _; rewrite -totalZ; apply: index_le => k hk.
rewrite -mulrBl normrM normr_nat mulrA ler_wpmul2r ?ler0n // ler_pdivl_mulr //.
rewrite -[X in _ * X](gtr0_norm xr) -normrM mulrBl mulVf ?lt0r_neq0 // mulrC.
exact: weights_shift.
Qed.

Lemma predicted_le1 A x s t : (0 < size x)%N -> predicted exp beta0 A x s t <= 1.
Proof.
move=> x0; rewrite -(soft_sum is_exp (fun k => beta0 * copied exp A x s k.+1) x0); apply: index_le => k hk.
by rewrite ler_pimulr ?lern1 ?leq_b1 // ltW // (soft_gt0 is_exp).
Qed.

Lemma term_shift A x s i t (eps : R) : (0 < i <= size x)%N -> 0 < eps <= 1 ->
  forall f fr a, f = predicted exp beta0 A x s t -> fr = frequency R x t -> a = (token x i == t)%:R ->
  `|(size x)%:R * weights exp beta0 A x s i.-1 * ((a - f) / (f + eps)) - (a - fr) / (fr + eps)| <=
    3%:R / eps * (exp beta0 - 1).
Proof.
move=> /andP[i0 ix] /andP[e0 e1] f fr a fE frE aE; have x0 : (0 < size x)%N by apply: leq_trans ix.
have E1 : 0 <= exp beta0 - 1 by rewrite subr_ge0 -[leLHS](exp0 is_exp) (exp_le is_exp).
have f0 : 0 <= f by rewrite fE predicted_ge0.
have f1 : f <= 1 by rewrite fE predicted_le1.
have fr0 : 0 <= fr by rewrite frE frequency_ge0.
have a01 : 0 <= a <= 1 by rewrite aE; case: (_ == _); rewrite ?lexx ?ler01.
have fe : 0 < f + eps by rewrite ltr_spaddr.
have fre : 0 < fr + eps by rewrite ltr_spaddr.
have ik : (i.-1 < size x)%N by rewrite prednK.
have hw := weights_shift A s ik.
have hf := predicted_shift A s t x0; rewrite -fE -frE in hf.
set y := (size x)%:R * _ in hw *.
have -> : y * ((a - f) / (f + eps)) - (a - fr) / (fr + eps) =
    (y - 1) * ((a - f) / (f + eps)) + (a + eps) / (f + eps) * ((fr - f) / (fr + eps)).
  by field; rewrite !lt0r_neq0.
have inv : (f + eps)^-1 <= eps^-1 by rewrite lef_pinv // ler_addr.
apply: le_trans (ler_norm_add _ _) _.
have -> : 3%:R / eps * (exp beta0 - 1) = (exp beta0 - 1) * (1 * eps^-1) + (2%:R / eps) * (exp beta0 - 1) by ring.
have /andP[a0 a1] := a01; rewrite !normrM; apply: ler_add; apply: ler_pmul => //.
- by rewrite mulr_ge0.
- rewrite normfV (gtr0_norm fe); apply: ler_pmul; rewrite ?invr_ge0 ?(ltW fe) //.
  rewrite ler_norml ler_subr_addr ler_subl_addr; apply/andP; split; last by rewrite (le_trans a1) // ler_addl.
  by rewrite (le_trans _ a0) // addrC subr_le0.
- by rewrite mulr_ge0.
- by rewrite mulr_ge0.
- rewrite normfV (gtr0_norm fe) ger0_norm ?addr_ge0 ?(ltW e0) //.
  apply: ler_pmul; rewrite ?invr_ge0 ?addr_ge0 ?(ltW fe) ?(ltW e0) //.
  by rewrite [leRHS](_ : 2%:R = 1 + 1) //; apply: ler_add.
rewrite normfV (gtr0_norm fre) ler_pdivr_mulr // distrC (le_trans hf) //.
by rewrite ler_wpmul2l // ler_addl ltW.
Qed.
End Prediction.

Lemma expect_near (R : realFieldType) S g (pi : nat -> nat -> R) mu F G b :
  stochastic S pi -> stationary S pi mu -> forest g -> (forall x, x \in sequences S (size g) -> `|F x - G x| <= b) ->
  `|expect S g pi mu F - expect S g pi mu G| <= b.
Proof.
move=> st sta ok h; have const c : expect S g pi mu (fun=> c) = c.
  rewrite (expect_eq _ _ (G := fun=> c * 1)) => [|x _]; last by rewrite mulr1.
  by rewrite expectZ (expect1 st sta ok) mulr1.
rewrite -expectB ler_norml; apply/andP; split; [rewrite -[leLHS]const | rewrite -[leRHS]const];
  by apply: (expect_le st sta ok) => x /h; rewrite ler_norml => /andP[].
Qed.

Section Pull.
Variables (R : realFieldType) (exp : R -> R) (S : nat) (g : seq nat) (P : prior R) (eps beta0 : R).
Hypotheses (is_exp : exponential exp) (b0 : 0 <= beta0) (ok : forest g) (is_p : is_prior P).
Hypothesis valid : forall c, c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c).
Hypothesis eps01 : 0 < eps <= 1.
Notation T := (size g).

Definition pull_zero (pi : nat -> nat -> R) i j x : R :=
  (\Sum_(t < S) pi (query x) t * (((token x i == t)%:R - frequency R x t) / (frequency R x t + eps))) *
    (token x j == query x)%:R.

Let E1 : 0 <= exp beta0 - 1.
Proof. by rewrite subr_ge0 -[leLHS](exp0 is_exp) (exp_le is_exp). Qed.
Let e0 : 0 < eps. Proof. by case/andP: eps01. Qed.

Lemma pull_shift pi A i k x : stochastic S pi -> x \in sequences S T -> (0 < i <= T)%N ->
  `|T%:R * pull_at exp S eps beta0 pi A i k x - pull_zero pi i k.+1 x| <= 3%:R / eps * (exp beta0 - 1).
Proof.
move=> st hx hi; have [z _] := sequencesP hx; have T0 : (0 < T)%N by case/andP: hi => i0; apply: leq_trans.
have hq : (query x < S)%N by rewrite /query z; apply: (token_lt hx); rewrite T0 leqnn.
pose D t : R := T%:R * weights exp beta0 A x (query x) i.-1 * (((token x i == t)%:R -
  predicted exp beta0 A x (query x) t) /
  (predicted exp beta0 A x (query x) t + eps)) - ((token x i == t)%:R - frequency R x t) / (frequency R x t + eps).
have -> : T%:R * pull_at exp S eps beta0 pi A i k x - pull_zero pi i k.+1 x =
    (\Sum_(t < S) pi (query x) t * D t) * (token x k.+1 == query x)%:R.
  rewrite /pull_at /pull_zero mulrA -mulrBl -totalZ -totalB; congr (_ * _); apply: total_eq => t _.
  by rewrite /D; ring.
rewrite normrM normr_nat; apply: (@le_trans _ _ `|\Sum_(t < S) pi (query x) t * D t|).
  by rewrite ler_pimulr ?normr_ge0 // lern1 leq_b1.
apply: le_trans (total_norm _ _) _; set B := (X in _ <= X); rewrite -[B]mul1r -(row_sum st hq) -totalZr.
apply: index_le => t ht.
rewrite normrM (ger0_norm (pi_ge0 st hq ht)) ler_wpmul2l ?(pi_ge0 st) // /D -z.
have hi' : (0 < i <= size x)%N by rewrite z.
exact: (term_shift is_exp b0 hi' eps01 erefl erefl erefl).
Qed.

(* sums over the row of the query *)
Lemma bounded_row (h : seq nat -> nat -> R) (y : seq nat -> R) x : (0 < T)%N -> x \in sequences S T ->
  bounded P (fun c => (\Sum_(t < S) matrix c (query x) t * h x t) * y x).
Proof.
move=> T0 hx; have [z _] := sequencesP hx; apply: boundedM; last exact: bounded_const.
apply: bounded_total => t; rewrite index_lt => ht; apply: boundedM; last exact: bounded_const.
by apply: (bounded_entry valid) => //; rewrite /query z (token_lt hx) // T0 leqnn.
Qed.

Lemma bounded_pull A i k x : (0 < T)%N -> x \in sequences S T ->
  bounded P (fun c => pull_at exp S eps beta0 (matrix c) A i k x).
Proof.
move=> T0 hx; apply: bounded_eq (bounded_row
  (fun x t => (predicted exp beta0 A x (query x) t + eps)^-1 *
    (weights exp beta0 A x (query x) i.-1 * ((token x i == t)%:R - predicted exp beta0 A x (query x) t)))
  (fun x => (token x k.+1 == query x)%:R) T0 hx) => c _.
by rewrite /pull_at; congr (_ * _); apply: total_eq => t _; apply: mulrA.
Qed.

Lemma gstarE A i k : (0 < T)%N -> gstar exp S g eps beta0 P A i k =
  mean_over P (fun c => S%:R * expect S g (matrix c) (measure c)
    (fun x => T%:R * pull_at exp S eps beta0 (matrix c) A i k x)).
Proof.
move=> T0; rewrite /gstar /pull -(overZ is_p) => [|].
  by apply: (over_eq is_p) => c _; rewrite /pull_of -mulrA -expectZ.
by apply: (bounded_expect ok valid) => x; apply: bounded_pull.
Qed.

Definition ghat_query i j : R :=
  mean_over P (fun c => S%:R * expect S g (matrix c) (measure c) (pull_zero (matrix c) i j)).

Lemma gstar_shift A i k : (0 < i <= T)%N ->
  `|gstar exp S g eps beta0 P A i k - ghat_query i k.+1| <= 3%:R * S%:R / eps * (exp beta0 - 1).
Proof.
move=> hi; have T0 : (0 < T)%N by case/andP: hi => i0; apply: leq_trans.
rewrite gstarE //; apply: (over_near is_p) => [|c hc].
  apply: boundedM; first exact: bounded_const.
  apply: (bounded_expect ok valid) => x hx.
  exact: (bounded_row (fun x t => ((token x i == t)%:R - frequency R x t) / (frequency R x t + eps))
    (fun x => (token x k.+1 == query x)%:R) T0 hx).
have [st sta] := valid hc.
have b : 3%:R * S%:R / eps * (exp beta0 - 1) = S%:R * (3%:R / eps * (exp beta0 - 1)) by ring.
rewrite -mulrBr normrM normr_nat b ler_wpmul2l ?ler0n //; apply: expect_near => // x hx.
exact: pull_shift.
Qed.
End Pull.

(* Lemma 23 (lem-nonzero-beta) *)
Theorem nonzero_beta (R : realFieldType) (exp : R -> R) S g (P : prior R) (eps beta0 : R) A i k :
  exponential exp -> forest g -> is_prior P ->
  (forall c, c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c)) ->
  0 < eps <= 1 -> 0 <= beta0 <= 1 -> (0 < i <= size g)%N ->
  `|gstar exp S g eps beta0 P A i k - gstar exp S g eps 0 P A i k| <=
    3%:R * S%:R ^+ 2 / eps ^+ 2 * (exp beta0 - 1).
Proof.
move=> is_exp ok is_p valid e01 /andP[b0 _] hi; have /andP[e0 e1] := e01.
have S1 : (1 : R) <= S%:R.
  by rewrite ler1n; apply: (from_chains is_p) => c /valid[_ sta]; apply: gap.S_gt0 sta.
have zero : gstar exp S g eps 0 P A i k = ghat_query S g P eps i k.+1.
  apply/eqP; rewrite -subr_eq0 -normr_le0.
  by apply: le_trans (gstar_shift is_exp (lexx 0) ok is_p valid e01 A k hi) _; rewrite (exp0 is_exp) subrr mulr0.
rewrite zero; apply: le_trans (gstar_shift is_exp b0 ok is_p valid e01 A k hi) _.
have E1 : 0 <= exp beta0 - 1 by rewrite subr_ge0 -[leLHS](exp0 is_exp) (exp_le is_exp).
rewrite ler_wpmul2r // !expr2 invfM; apply: ler_pmul; rewrite ?mulr_ge0 ?invr_ge0 ?ler0n ?(ltW e0) //.
  by rewrite ler_wpmul2l ?ler0n // ler_pemulr ?ler0n.
by rewrite ler_pemulr ?invr_ge0 ?(ltW e0) // invf_ge1.
Qed.

Section Concentration.
Variables (R : realFieldType) (S : nat) (g : seq nat) (pi : nat -> nat -> R) (mu : nat -> R) (gamma eps : R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu) (ok : forest g) (T0 : (0 < size g)%N).
Hypotheses (gamma0 : 0 < gamma) (low : at_least S pi (gamma / S%:R)) (eps0 : 0 < eps).
Variable w : nat -> R.
Hypotheses (w0 : forall s, (s < S)%N -> 0 <= w s) (w1 : \Sum_(s < S) w s = S%:R).
Variables (i j t s : nat).
Hypotheses (hi : (0 < i <= size g)%N) (hj : (0 < j <= size g)%N) (ht : (t < S)%N) (hs : (s < S)%N).
Notation T := (size g).
Notation weighted F := (expect S g pi mu (fun x => w (token x T) * F x)).
Notation m := (mu t).
Notation fr x := (frequency R x t).
Notation a x := ((token x i == t)%:R : R).
Notation b x := ((token x j == s)%:R : R).

Let Sr : (0 : R) < S%:R. Proof. by rewrite ltr0n (S_gt0 stat). Qed.
Let l0 : 0 < gamma / S%:R. Proof. by rewrite divr_gt0. Qed.
Let low_m : gamma / S%:R <= m. Proof. exact: mu_lower stat low _ ht. Qed.
Let m0 : 0 < m. Proof. exact: lt_le_trans l0 low_m. Qed.
Let me0 : 0 < m + eps. Proof. exact: addr_gt0. Qed.

Definition pair_share : R := weighted (fun x => a x * b x).
Definition single_share : R := weighted (fun x => b x).
Definition smoothed : R := weighted (fun x => (a x - fr x) * b x / (fr x + eps)).
Definition second_moment : R := weighted (fun x => (fr x - m) ^+ 2).

Lemma weighted_norm F G : (forall x, x \in sequences S T -> `|F x| <= G x) -> `|weighted F| <= weighted G.
Proof.
move=> h; rewrite ler_norml; apply/andP; split; last first.
  by apply: (weighted_le stoch stat ok w0 T0) => x /h; apply: le_trans (ler_norm _).
rewrite -mulN1r -weightedZ; apply: (weighted_le stoch stat ok w0 T0) => x /h.
by rewrite mulN1r ler_norml => /andP[].
Qed.

(* |1/(f + eps) - 1/(m + eps)|, for f near m and for f below m/2 *)
Lemma inverse_near f : 0 <= f ->
  `|(f + eps)^-1 - (m + eps)^-1| <= 2%:R * `|f - m| / ((m + eps) * (m + 2%:R * eps)) +
    4%:R * (f - m) ^+ 2 / (eps * m * (m + eps)).
Proof.
move=> f0; have fe : 0 < f + eps by rewrite ltr_spaddr.
have two : (0 : R) < 2%:R by rewrite ltr0n.
have m2 : 0 < m + 2%:R * eps by rewrite addr_gt0 ?mulr_gt0.
have -> : (f + eps)^-1 - (m + eps)^-1 = (m - f) / ((f + eps) * (m + eps)) by field; rewrite !lt0r_neq0.
rewrite normrM normfV distrC [`|_ * _|]gtr0_norm ?mulr_gt0 // -(real_normK (num_real (f - m))).
set d := `|f - m|; have d0 : 0 <= d by apply: normr_ge0.
have A0 : 0 <= 2%:R * d / ((m + eps) * (m + 2%:R * eps)) by rewrite divr_ge0 ?mulr_ge0 // ltW.
have B0 : 0 <= 4%:R * d ^+ 2 / (eps * m * (m + eps)) by
  rewrite divr_ge0 ?mulr_ge0 ?sqr_ge0 // ltW // mulr_gt0 // mulr_gt0.
case: (leP m (2%:R * f)) => h.
  apply: (@le_trans _ _ (2%:R * d / ((m + eps) * (m + 2%:R * eps)))); last by rewrite ler_addl.
  have -> : 2%:R * d / ((m + eps) * (m + 2%:R * eps)) = d / (((m + 2%:R * eps) / 2%:R) * (m + eps)).
    by field; rewrite !lt0r_neq0.
  rewrite ler_wpmul2l // lef_pinv ?posrE ?mulr_gt0 ?invr_gt0 // ler_pmul2r // ler_pdivr_mulr // [leRHS]mulrC mulrDr.
  by rewrite ler_add2r.
apply: (@le_trans _ _ (4%:R * d ^+ 2 / (eps * m * (m + eps)))); last by rewrite ler_addr.
have md : m <= 4%:R * d.
  have dE : m - f <= d by rewrite /d distrC ler_norm.
  apply: (@le_trans _ _ (2%:R * (m - f))); last first.
    by apply: (@le_trans _ _ (2%:R * d)); [rewrite ler_wpmul2l ?ler0n | rewrite ler_wpmul2r // ler_nat].
  by rewrite mulrBr ler_subr_addl [leRHS]mulr_natl mulr2n ler_add2r ltW.
have -> : 4%:R * d ^+ 2 / (eps * m * (m + eps)) = d * (4%:R * d / m) / (eps * (m + eps)).
  by field; rewrite !lt0r_neq0.
rewrite ler_pmul ?invr_ge0 ?mulr_ge0 ?(ltW fe) ?(ltW me0) //.
  by rewrite ler_pemulr // ler_pdivl_mulr // mul1r.
by rewrite lef_pinv ?posrE ?mulr_gt0 // ler_pmul2r // ler_addr.
Qed.

(* the mean of |muhat - mu| is at most the root of the mean of its square *)
Lemma first_moment sigma : 0 <= sigma -> second_moment <= sigma ^+ 2 -> weighted (fun x => `|fr x - m|) <= sigma.
Proof.
move=> s0 sE; set M := weighted _; rewrite leNgt; apply/negP => lt.
have z : weighted (fun=> 0 * 1) = 0 by rewrite weightedZ mul0r.
have : 0 <= weighted (fun x => (`|fr x - m| - M) ^+ 2).
  rewrite -[leLHS]z; apply: (weighted_le stoch stat ok w0 T0) => x _.
  by rewrite mul0r sqr_ge0.
have -> : weighted (fun x => (`|fr x - m| - M) ^+ 2) =
    weighted (fun x => (fr x - m) ^+ 2 - (2%:R * M) * `|fr x - m| - (- M ^+ 2) * 1).
  have square (u v : R) : (u - v) ^+ 2 = u ^+ 2 - 2%:R * v * u - - v ^+ 2 * 1 by ring.
  by apply: weighted_eq => x _; rewrite -(real_normK (num_real (fr x - m))) square.
rewrite !weightedB !weightedZ (weighted1 stoch stat ok w1 T0) -/M -/second_moment.
have -> : second_moment - 2%:R * M * M - - M ^+ 2 * 1 = second_moment - M ^+ 2 by ring.
rewrite subr_ge0 => h; have := le_trans h sE; rewrite leNgt => /negP; apply.
by rewrite ltr_expn2r // ?nnegrE // (le_trans s0) // ltW.
Qed.

Lemma a01 x : 0 <= a x <= 1.
Proof. by case: (_ == _); rewrite ?lexx ?ler01. Qed.

Lemma b01 x : 0 <= b x <= 1.
Proof. by case: (_ == _); rewrite ?lexx ?ler01. Qed.

Lemma concentration sigma : 0 <= sigma -> second_moment <= sigma ^+ 2 ->
  `|smoothed - (pair_share / m - single_share)| <= eps / (m + eps) * `|pair_share / m - single_share| +
    (1 + eps) * (2%:R * sigma / ((m + eps) * (m + 2%:R * eps)) + 4%:R * sigma ^+ 2 / (eps * m * (m + eps))).
Proof.
move=> s0 sE; pose A := (m + eps) * (m + 2%:R * eps); pose B := eps * m * (m + eps).
have A0 : 0 < A by rewrite mulr_gt0 // addr_gt0 // mulr_gt0 ?ltr0n.
have B0 : 0 < B by rewrite !mulr_gt0.
pose rest x : R := b x * (a x + eps) * ((fr x + eps)^-1 - (m + eps)^-1).
have -> : smoothed - (pair_share / m - single_share) =
    weighted rest - eps / (m + eps) * (pair_share / m - single_share).
  have -> : smoothed = weighted rest + (pair_share + eps * single_share) / (m + eps) - single_share.
    have -> : (pair_share + eps * single_share) / (m + eps) =
        weighted (fun x => (m + eps)^-1 * (a x * b x - (- eps) * b x)).
      by rewrite weightedZ weightedB weightedZ -/pair_share -/single_share; ring.
    have plus F G : weighted F + weighted G = weighted (fun x => F x - (- 1) * G x).
      by rewrite weightedB weightedZ; ring.
    rewrite plus -weightedB; apply: weighted_eq => x _.
    have fe : fr x + eps != 0 by rewrite lt0r_neq0 // ltr_spaddr // divr_ge0 ?ler0n.
    by rewrite /rest; field; rewrite fe lt0r_neq0.
  by field; rewrite !lt0r_neq0.
apply: le_trans (ler_norm_sub _ _) _; rewrite addrC; apply: ler_add.
  by rewrite normrM ger0_norm // divr_ge0 // ltW.
have pointwise x : x \in sequences S T -> `|rest x| <=
  (1 + eps) * (2%:R / A) * `|fr x - m| - (- ((1 + eps) * (4%:R / B))) * (fr x - m) ^+ 2.
  move=> _; have f0 : 0 <= fr x by rewrite divr_ge0 ?ler0n.
  rewrite /rest normrM; apply: (@le_trans _ _ ((1 + eps) * `|(fr x + eps)^-1 - (m + eps)^-1|)).
    rewrite ler_wpmul2r ?normr_ge0 //; have /andP[a0 a1] := a01 x; have /andP[b0 b1] := b01 x.
    rewrite ger0_norm ?mulr_ge0 ?addr_ge0 ?(ltW eps0) //.
    by rewrite -[leRHS]mul1r; apply: ler_pmul; rewrite ?addr_ge0 ?(ltW eps0) // ler_add2r.
  have p0 : 0 <= 1 + eps by rewrite addr_ge0 ?ler01 // ltW.
  have sum (p u v y z : R) : p * (2%:R * u / y + 4%:R * v / z) = p * (2%:R / y) * u - - (p * (4%:R / z)) * v by ring.
  by apply: le_trans (ler_wpmul2l p0 (inverse_near f0)) _; apply: eqW; rewrite sum.
apply: le_trans (weighted_norm pointwise) _; rewrite weightedB !weightedZ -/second_moment.
have p0 : 0 <= (1 + eps) * (2%:R / A) by rewrite mulr_ge0 ?addr_ge0 ?ler01 ?(ltW eps0) // divr_ge0 ?ler0n // ltW.
rewrite -/A -/B; apply: (@le_trans _ _ ((1 + eps) * (2%:R / A) * sigma + (1 + eps) * (4%:R / B) * sigma ^+ 2)).
  rewrite mulNr opprK; apply: ler_add; rewrite ler_wpmul2l // ?first_moment //.
  by rewrite mulr_ge0 ?addr_ge0 ?ler01 ?(ltW eps0) // divr_ge0 ?ler0n // ltW.
by apply: eqW; field; rewrite !lt0r_neq0.
Qed.

Hypotheses (gamma1 : gamma < 1) (eps1 : eps <= 1) (long : 1 <= eps ^+ 2 * effective_length_leaves R g).
Notation L := (effective_length_leaves R g).
Notation rho := (S%:R * m / gamma).

Let rho1 : 1 <= rho.
Proof. by rewrite ler_pdivl_mulr // mul1r mulrC -ler_pdivr_mulr. Qed.

Lemma length_range : 0 < L <= T%:R.
Proof.
have L0 : 0 < L by rewrite -(pmulr_rgt0 _ (exprn_gt0 2 eps0)) (lt_le_trans ltr01 long).
rewrite L0 /=; move: L0; rewrite /effective_length_leaves; case: (posnP (most_leaves g)) => [-> | l1 _].
  by rewrite invr0 mulr0 ltxx.
by rewrite ler_pdivr_mulr ?ltr0n // ler_pemulr ?ler0n // ler1n.
Qed.

Lemma length_inv : L^-1 <= eps ^+ 2.
Proof. by have /andP[L0 _] := length_range; rewrite -[leLHS]mul1r ler_pdivr_mulr. Qed.

Lemma second_moment_le1 : second_moment <= 1.
Proof.
rewrite -(weighted1 stoch stat ok w1 T0); apply: (weighted_le stoch stat ok w0 T0) => x hx.
have f0 : 0 <= fr x by rewrite divr_ge0 ?ler0n.
have f1 : fr x <= 1.
  have [z _] := sequencesP hx; rewrite /frequency ler_pdivr_mulr ?z ?ltr0n // mul1r ler_nat -z.
  exact: count_size.
have m1 := mu_le1 stat ht.
rewrite -(real_normK (num_real (fr x - m))) exprn_ile1 // ler_norml ler_subr_addr ler_subl_addr.
by rewrite (le_trans _ f0) ?(le_trans f1) ?ler_addl ?(ltW m0) // addrC subr_le0.
Qed.

Lemma moment_small : second_moment <= 5%:R / 2%:R * rho * eps ^+ 2.
Proof.
have /andP[L0 LT] := length_range; have Linv := length_inv; have r0 : 0 <= rho := le_trans ler01 rho1.
have e2 : 0 <= eps ^+ 2 by apply: sqr_ge0.
have half : 1 <= 5%:R / 2%:R :> R by rewrite ler_pdivl_mulr ?ltr0n // mul1r ler_nat.
case: (ltnP 1 T) => [T2 | T1]; last first.
  apply: le_trans second_moment_le1 _; rewrite -[leLHS]mulr1; apply: ler_pmul; rewrite ?ler01 //.
    by rewrite -[leLHS]mulr1; apply: ler_pmul; rewrite ?ler01.
  apply: le_trans Linv; rewrite invf_ge1 // (le_trans LT) // -[leRHS]/(1%:R) ler_nat //.
pose lambda : R := 1 - gamma / S%:R.
have S0 : (0 < S)%N := S_gt0 stat.
have lam1 : lambda < 1 by rewrite ltr_subl_addr ltr_addl.
have lam0 : 0 < lambda by rewrite subr_gt0 (gamma_S_lt1 gamma1 S0).
have contracts h := spectral_gap stoch stat low gamma0 gamma1 S0 h.
have big : gamma / S%:R / 2%:R * L <= effective_length g lambda.
  apply: le_trans (teff_leaves_ratio ok T0 lam0 lam1); rewrite ler_pmul2r //.
  have -> : 1 - lambda = gamma / S%:R by rewrite /lambda; ring.
  have p : 0 < 1 + lambda by rewrite addr_gt0 ?ltr01.
  rewrite ler_pmul2l // lef_pinv ?posrE ?ltr0n //.
  by apply: (@le_trans _ _ (1 + 1)); [rewrite ler_add2l ltW | rewrite -mulr2n].
have big0 : 0 < gamma / S%:R / 2%:R * L by rewrite mulr_gt0 // divr_gt0 ?ltr0n.
have tr : (0 : R) < T%:R by rewrite ltr0n.
apply: le_trans (weighted_variance stoch stat ok contracts (ltW lam0) w0 w1 T0 ht) _.
apply: (@le_trans _ _ (2%:R * rho * L^-1 + 2%:R^-1 * rho * L^-1)); last first.
  have -> : 2%:R * rho * L^-1 + 2%:R^-1 * rho * L^-1 = 5%:R / 2%:R * rho * L^-1 by field; rewrite !lt0r_neq0.
  by rewrite ler_wpmul2l // mulr_ge0 // (le_trans ler01).
apply: ler_add.
  have -> : 2%:R * rho * L^-1 = m / (gamma / S%:R / 2%:R * L) by field; rewrite !lt0r_neq0.
  by rewrite ler_pmul2l // lef_pinv ?posrE // (lt_le_trans big0).
rewrite expr2 invfM; apply: ler_pmul; rewrite ?invr_ge0 ?ler0n //; last by rewrite lef_pinv.
apply: (@le_trans _ _ (2%:R^-1 * 1)); last by rewrite ler_pmul2l ?invr_gt0 ?ltr0n.
by rewrite mulr1 lef_pinv ?posrE ?ltr0n // ler_nat.
Qed.

Lemma share_range F : (forall x, 0 <= F x <= 1) -> 0 <= weighted F <= 1.
Proof.
move=> h; have z : weighted (fun=> 0 * 1) = 0 by rewrite weightedZ mul0r.
apply/andP; split; [rewrite -[leLHS]z | rewrite -[leRHS](weighted1 stoch stat ok w1 T0)];
  by apply: (weighted_le stoch stat ok w0 T0) => x _; have /andP[] := h x; rewrite ?mul0r.
Qed.

Lemma concentration_order :
  `|smoothed - (pair_share / m - single_share)| <= 32%:R * S%:R ^+ 2 / gamma ^+ 2 * eps.
Proof.
pose sigma := 8%:R / 5%:R * rho * eps; have r0 : 0 <= rho := le_trans ler01 rho1.
have s0 : 0 <= sigma by rewrite !mulr_ge0 ?invr_ge0 ?ler0n // ltW.
have sE : second_moment <= sigma ^+ 2.
  apply: le_trans moment_small _; have -> : sigma ^+ 2 = 64%:R / 25%:R * rho * rho * eps ^+ 2 by rewrite /sigma;
    field; rewrite lt0r_neq0.
  have h0 : 0 <= 5%:R / 2%:R * rho by rewrite mulr_ge0 // divr_ge0 ?ler0n.
  rewrite ler_wpmul2r ?sqr_ge0 // -[leLHS]mulr1; apply: ler_pmul => //; rewrite ?ler01 //.
  by rewrite ler_wpmul2r // ler_pdivr_mulr ?ltr0n // mulrAC ler_pdivl_mulr ?ltr0n // -!natrM ler_nat.
have sigmaE : sigma = 8%:R / 5%:R * rho * eps by []; clearbody sigma.
apply: le_trans (concentration s0 sE) _.
have m1 := mu_le1 stat ht; have inv1 : 1 <= m^-1 by rewrite invf_ge1.
have k0 : 0 <= S%:R / gamma :> R by rewrite divr_ge0 ?ler0n // ltW.
have mk : m^-1 <= S%:R / gamma by rewrite -[leRHS]invrK invf_div lef_pinv.
have im0 : 0 <= m^-1 by rewrite invr_ge0 ltW.
have difference : `|pair_share / m - single_share| <= m^-1.
  have /andP[p0 p1] : 0 <= pair_share <= 1.
    apply: share_range => x; have /andP[a0 a1] := a01 x; have /andP[b0 b1] := b01 x.
    by rewrite mulr_ge0 // mulr_ile1.
  have /andP[q0 q1] := share_range b01.
  have pm : pair_share / m <= m^-1 by rewrite ler_pimull.
  have pm0 : 0 <= pair_share / m by rewrite mulr_ge0.
  rewrite ler_norml ler_subr_addr ler_subl_addr; apply/andP; split.
    by rewrite (le_trans _ pm0) // addrC subr_le0 (le_trans q1).
  by rewrite (le_trans pm) // ler_addl.
have first : eps / (m + eps) * `|pair_share / m - single_share| <= (S%:R / gamma) ^+ 2 * eps.
  have -> : (S%:R / gamma) ^+ 2 * eps = eps * (S%:R / gamma) * (S%:R / gamma) by ring.
  apply: ler_pmul; rewrite ?normr_ge0 ?divr_ge0 ?(ltW eps0) ?(ltW me0) //; last exact: le_trans difference mk.
  by rewrite ler_wpmul2l ?(ltW eps0) // (le_trans _ mk) // lef_pinv // ler_addl ltW.
have two : 1 + eps <= 2%:R by rewrite [leRHS](_ : 2%:R = 1 + 1) // ler_add2l.
have p0 : 0 <= 1 + eps by rewrite addr_ge0 ?ler01 // ltW.
have m2 : 0 < m + 2%:R * eps by rewrite addr_gt0 // mulr_gt0 ?ltr0n.
have inv_sum (e : R) : 0 <= e -> (m + e)^-1 <= m^-1.
  by move=> h; rewrite lef_pinv ?posrE // ?ler_addl // (lt_le_trans m0) // ler_addl.
have second : (1 + eps) * (2%:R * sigma / ((m + eps) * (m + 2%:R * eps))) <= 32%:R / 5%:R * (S%:R / gamma) ^+ 2 * eps.
  apply: (@le_trans _ _ (2%:R * (2%:R * sigma * (m^-1 * m^-1)))).
    apply: ler_pmul => //; first by rewrite divr_ge0 // mulr_ge0 ?ler0n // ltW.
    rewrite ler_wpmul2l ?mulr_ge0 ?ler0n //. rewrite invfM; apply: ler_pmul; rewrite ?invr_ge0 ?(ltW me0) ?(ltW m2) //.
      by rewrite inv_sum // ltW.
    by rewrite inv_sum // mulr_ge0 ?ler0n // ltW.
  have -> : 2%:R * (2%:R * sigma * (m^-1 * m^-1)) = 32%:R / 5%:R * (S%:R / gamma) * eps * m^-1.
    by rewrite sigmaE; field; rewrite !lt0r_neq0.
  have -> : 32%:R / 5%:R * (S%:R / gamma) ^+ 2 * eps = 32%:R / 5%:R * (S%:R / gamma) * eps * (S%:R / gamma) by ring.
  by rewrite ler_wpmul2l // !mulr_ge0 ?invr_ge0 ?ler0n // ltW.
have third : (1 + eps) * (4%:R * sigma ^+ 2 / (eps * m * (m + eps))) <= 512%:R / 25%:R * (S%:R / gamma) ^+ 2 * eps.
  apply: (@le_trans _ _ (2%:R * (4%:R * sigma ^+ 2 / (eps * m * m)))).
    apply: ler_pmul => //.
      by rewrite !mulr_ge0 ?ler0n // ?invr_ge0 ?mulr_ge0 ?(ltW eps0) ?(ltW m0) ?(ltW me0).
    rewrite ler_wpmul2l ?mulr_ge0 ?ler0n // lef_pinv ?posrE ?mulr_gt0 //.
    by rewrite ler_pmul2l ?mulr_gt0 // ler_addl ltW.
  by apply: eqW; rewrite sigmaE; field; rewrite !lt0r_neq0.
have -> : 32%:R * S%:R ^+ 2 / gamma ^+ 2 * eps = 32%:R * (S%:R / gamma) ^+ 2 * eps by field; rewrite lt0r_neq0.
rewrite mulrDr; apply: le_trans (ler_add first (ler_add second third)) _; set q := (S%:R / gamma) ^+ 2 * eps.
have q0 : 0 <= q by rewrite mulr_ge0 ?sqr_ge0 // ltW.
rewrite -subr_ge0; set rest := (X in 0 <= X); have -> : rest = 103%:R / 25%:R * q by rewrite /rest /q; field;
  rewrite lt0r_neq0.
by rewrite mulr_ge0 // divr_ge0 ?ler0n.
Qed.
End Concentration.

(* Lemma 24 (lem-concentration-a1-corrected), the query uniform *)
Theorem concentration_corrected (R : realFieldType) S g pi mu (gamma eps : R) i j t s :
  stochastic S pi -> stationary S pi mu -> forest g -> (0 < size g)%N ->
  0 < gamma < 1 -> at_least S pi (gamma / S%:R) -> 0 < eps -> (t < S)%N ->
  let difference := expect S g pi mu (fun x =>
      ((token x i == t)%:R - frequency R x t) * (token x j == s)%:R / (frequency R x t + eps)) -
    (joint S g pi mu i j t s / mu t - expect S g pi mu (fun x => (token x j == s)%:R)) in
  (forall sigma, 0 <= sigma -> sigma ^+ 2 = expect S g pi mu (fun x => (frequency R x t - mu t) ^+ 2) ->
    `|difference| <= eps / (mu t + eps) *
        `|joint S g pi mu i j t s / mu t - expect S g pi mu (fun x => (token x j == s)%:R)| +
      (1 + eps) * (2%:R * sigma / ((mu t + eps) * (mu t + 2%:R * eps)) +
        4%:R * sigma ^+ 2 / (eps * mu t * (mu t + eps)))) /\
  (1 <= eps ^+ 2 * effective_length_leaves R g -> eps <= 1 ->
    `|difference| <= 32%:R * S%:R ^+ 2 / gamma ^+ 2 * eps).
Proof.
move=> st sta ok T0 /andP[g0 g1] low e0 ht.
have w0 s' : (s' < S)%N -> 0 <= (fun=> 1 : R) s' by move=> _; apply: ler01.
have w1 : \Sum_(s < S) (fun=> 1) s = S%:R :> R by rewrite total_const size_iota.
have one F : expect S g pi mu (fun x => 1 * F x) = expect S g pi mu F by apply: expect_eq => x _; rewrite mul1r.
rewrite jointE -[expect S g pi mu (fun x => (token x j == s)%:R)]one
  -[expect S g pi mu (fun x => (token x i == t)%:R * _)]one.
rewrite -[expect S g pi mu (fun x => _ / _)]one.
split=> [sigma s0 sE | long e1]; last exact: (concentration_order st sta ok T0 g0 low e0 w0 w1 i j s ht g1 e1 long).
by apply: (concentration st sta ok T0 g0 low e0 w0 w1 i j s ht s0); rewrite /second_moment one sE.
Qed.

(* The sum of Lemma 24 over s and t for one chain, the query in sequence *)
Section Chain.
Variables (R : realFieldType) (S : nat) (g : seq nat) (pi : nat -> nat -> R) (mu : nat -> R) (gamma eps : R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu) (ok : forest g).
Hypotheses (gamma0 : 0 < gamma) (gamma1 : gamma < 1) (low : at_least S pi (gamma / S%:R)).
Hypotheses (eps0 : 0 < eps) (eps1 : eps <= 1) (long : 1 <= eps ^+ 2 * effective_length_leaves R g).
Variables i j : nat.
Hypotheses (hi : (0 < i <= size g)%N) (hj : (0 < j <= i)%N).
Notation T := (size g).
Notation expect := (expect S g pi mu).

Let T0 : (0 < T)%N. Proof. by have /andP[i0 iT] := hi; apply: leq_trans iT. Qed.
Let hjT : (0 < j <= T)%N. Proof. by have /andP[j0 ji] := hj; have /andP[_ iT] := hi; rewrite j0 (leq_trans ji). Qed.
Let mu0 s : (s < S)%N -> 0 < mu s.
Proof. by move=> hs; apply: (mu_gt0 stat low gamma0) => //; apply: S_gt0 stat. Qed.

(* the weight of the query s *)
Definition asks (s r : nat) : R := S%:R * (s == r)%:R.

Lemma asks0 s r : (r < S)%N -> 0 <= asks s r.
Proof. by rewrite mulr_ge0 ?ler0n. Qed.

Lemma asks1 s : (s < S)%N -> \Sum_(r < S) asks s r = S%:R.
Proof.
move=> hs; rewrite (index_eq (G := fun r => (s == r)%:R * S%:R)) => [|r _]; last by rewrite /asks mulrC.
by rewrite (total_delta (fun=> S%:R)).
Qed.

Notation pair t s := (pair_share S g pi mu (asks s) i j t s).
Notation single s := (single_share S g pi mu (asks s) j s).

Definition limit_pull : R := \Sum_(s < S) \Sum_(t < S) (pi s t * (pair t s / mu t - single s)).

Lemma query_pull_sum : S%:R * expect (pull_zero S eps pi i j) =
  \Sum_(s < S) \Sum_(t < S) (pi s t * smoothed S g pi mu eps (asks s) i j t s).
Proof.
rewrite -expectZ.
rewrite (expect_eq _ _ (G := fun x => \Sum_(s < S) \Sum_(t < S) (pi s t * (asks s (token x T) *
    (((token x i == t)%:R - frequency R x t) * (token x j == s)%:R / (frequency R x t + eps)))))) => [|x hx].
  rewrite expect_sum; apply: total_eq => s _; rewrite expect_sum; apply: total_eq => t _.
  by rewrite expectZ.
have [z _] := sequencesP hx; have hq : (token x T < S)%N by apply: (token_lt hx); rewrite T0 leqnn.
rewrite /pull_zero /query z.
pose F (s : nat) : R := S%:R * ((\Sum_(t < S) pi s t * (((token x i == t)%:R - frequency R x t) /
  (frequency R x t + eps))) *
  (token x j == s)%:R).
rewrite -[LHS]/(F (token x T)) -(total_delta F hq); apply: total_eq => s _.
by rewrite /F -totalZr -!totalZ; apply: total_eq => t _; rewrite /asks eq_sym; ring.
Qed.

Lemma query_pull_near : `|S%:R * expect (pull_zero S eps pi i j) - limit_pull| <= 32%:R * S%:R ^+ 3 / gamma ^+ 2 * eps.
Proof.
rewrite query_pull_sum /limit_pull -totalB; apply: le_trans (total_norm _ _) _.
pose B : R := 32%:R * S%:R ^+ 2 / gamma ^+ 2 * eps.
have -> : 32%:R * S%:R ^+ 3 / gamma ^+ 2 * eps = \Sum_(s < S) B.
  by rewrite total_const size_iota -[_ *+ S]mulr_natl /B; ring.
apply: index_le => s hs; rewrite -totalB -[B]mul1r -(row_sum stoch hs) -totalZr.
apply: le_trans (total_norm _ _) _; apply: index_le => t ht.
rewrite -mulrBr normrM (ger0_norm (pi_ge0 stoch hs ht)) ler_wpmul2l ?(pi_ge0 stoch) //.
by rewrite /B; apply: (concentration_order stoch stat ok T0 gamma0 low eps0 (@asks0 s) (asks1 hs) i j s ht
  gamma1 eps1 long).
Qed.

(* before the query *)
Lemma limit_before : (i < T)%N -> limit_pull = gradient S g pi mu i j.
Proof.
move=> iT; have /andP[i0 _] := hi; have /andP[j0 ji] := hj; have jT : (j < T)%N by apply: leq_ltn_trans iT.
have iT' : (i <= T.-1)%N by rewrite -ltnS prednK.
have jT' : (j <= T.-1)%N by rewrite -ltnS prednK.
rewrite gradientE // -[X in _ - X](mu_sum stat) -totalB; apply: index_eq => s hs.
rewrite -[mu s]mulr1 -(row_sum stoch hs) -totalZ -totalB; apply: index_eq => t ht.
have -> : pair t s = joint S g pi mu i j t s.
  rewrite jointE; apply: (weighted_local stoch stat ok (asks1 hs) T0) => x y z.
  by rewrite !token_cat ?i0 ?j0 ?z.
have -> : single s = mu s.
  rewrite /single_share (weighted_local stoch stat ok (asks1 hs) T0) => [|x y z]; last by rewrite token_cat ?j0 ?z.
  by rewrite (token_law stoch stat ok) // j0.
by ring.
Qed.

(* of the query *)
Lemma limit_query : i = T -> limit_pull = \Sum_(s < S) (pi s s / mu s * single s) - \Sum_(s < S) single s.
Proof.
move=> iT; rewrite -totalB; apply: index_eq => s hs.
transitivity (\Sum_(t < S) ((s == t)%:R * (pi s t / mu t * single s) - single s * pi s t)); last first.
  by rewrite totalB totalZ (row_sum stoch hs) mulr1 (total_delta (fun t => pi s t / mu t * single s)).
apply: index_eq => t ht; have -> : pair t s = (s == t)%:R * single s; last by ring.
rewrite /pair_share /single_share -expectZ; apply: expect_eq => x _; rewrite iT /asks.
case: (s =P token x T) => [<- | _]; first by rewrite mulrCA.
by rewrite mulr0 !mul0r mulr0.
Qed.

Lemma limit_query_before : i = T -> (j < T)%N -> limit_pull = \Sum_(s < S) pi s s - 1.
Proof.
move=> iT jT; have /andP[j0 _] := hj; have jT' : (j <= T.-1)%N by rewrite -ltnS prednK.
have e s : (s < S)%N -> single s = mu s.
  move=> hs; rewrite /single_share (weighted_local stoch stat ok (asks1 hs) T0) => [|x y z];
    last by rewrite token_cat ?j0 ?z.
  by rewrite (token_law stoch stat ok) // j0.
rewrite limit_query // -(mu_sum stat); congr (_ - _); apply: index_eq => s hs; last by rewrite e.
by rewrite e // divfK // lt0r_neq0 ?mu0.
Qed.

Lemma limit_query_itself : i = T -> j = T -> limit_pull = \Sum_(s < S) (pi s s / mu s) - S%:R.
Proof.
move=> iT jT; have e s : (s < S)%N -> single s = 1.
  move=> hs; rewrite -(weighted1 stoch stat ok (asks1 hs) T0); apply: expect_eq => x _; rewrite jT /asks.
  by case: (s =P token x T) => [<- | _]; rewrite ?eqxx ?mulr0 ?mul0r.
rewrite limit_query // -(total_n R S); congr (_ - _); apply: index_eq => s hs; first by rewrite e // mulr1.
by rewrite e.
Qed.
End Chain.

Section Length.
Variables (R : realFieldType) (g : seq nat) (eps : R).
Hypotheses (eps0 : 0 < eps) (length : eps ^+ 2 * effective_length_leaves R g = 1).
Notation T := (size g).

Lemma leaves_le_size : (most_leaves g <= T)%N.
Proof.
rewrite /most_leaves; elim: (iota 1 T) => //= i l IH; rewrite geq_max IH andbT /leaves.
by apply: leq_trans (count_size _ _) _; rewrite size_iota.
Qed.

Lemma eps_le1 : eps <= 1.
Proof.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?(ltW eps0) ?ler01 // expr1n -length ler_pmulr ?exprn_gt0 //.
have : effective_length_leaves R g != 0 by apply: contra_eqN length => /eqP->; rewrite mulr0 eq_sym oner_eq0.
rewrite /effective_length_leaves; case: (posnP (most_leaves g)) => [-> | l0 _]; first by rewrite invr0 mulr0 eqxx.
by rewrite ler_pdivl_mulr ?ltr0n // mul1r ler_nat leaves_le_size.
Qed.
End Length.

Section Prior.
Variables (R : realFieldType) (exp : R -> R) (S : nat) (gamma : R) (P : prior R) (g : seq nat) (eps beta0 : R).
Hypotheses (is_exp : exponential exp) (prior : assumption1 S gamma P) (ok : forest g).
Hypotheses (eps0 : 0 < eps) (length : eps ^+ 2 * effective_length_leaves R g = 1) (b0 : 0 <= beta0 <= eps ^+ 3).
Notation T := (size g).
Notation gstar := (gstar exp S g eps beta0 P).
Notation g_ := (mean_gradient S g P).

Let is_p : is_prior P. Proof. by have [] := prior_facts prior. Qed.
Let gamma0 : 0 < gamma. Proof. by have [] := prior_facts prior. Qed.
Let gamma1 : gamma < 1. Proof. by have [] := prior_facts prior. Qed.
Let S0 : (0 < S)%N. Proof. by have [] := prior_facts prior. Qed.
Let Sr : (0 : R) < S%:R. Proof. by rewrite ltr0n. Qed.
Let facts c : c \in P -> [/\ stochastic S (matrix c), stationary S (matrix c) (measure c) &
  at_least S (matrix c) (gamma / S%:R)].
Proof. by have [_ _ _ _ h] := prior_facts prior; move=> /h[]. Qed.
Let valid c : c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c).
Proof. by move=> /facts[]. Qed.
Let inverse t : (t < S)%N -> bounded P (fun c => (measure c t)^-1).
Proof.
move=> ht; apply: (@bounded_inverse _ _ (gamma / S%:R)) => [|c /facts[_ sta lo]]; first exact: divr_gt0.
exact: (mu_lower sta lo ht).
Qed.

(* A chain of one state does not move. *)
Lemma two_states : (1 < S)%N.
Proof.
apply: (from_chains is_p) => c hc; have [st sta _] := facts hc.
have : gamma ^+ 2 / S%:R <= spread S (matrix c) (measure c).
  by case: prior => _ adm _ _ _; have /and4P[] := adm c hc.
rewrite ltn_neqAle S0 andbT; apply: contraTneq => e; move: st sta; rewrite -e => st sta.
have := row_sum st (ltn0Sn 0); have := mu_sum sta; rewrite /spread /total /= !addr0 => -> ->.
by rewrite subrr expr0n /= -ltNge divr1 exprn_gt0.
Qed.

(* The gradient at beta0 and at 0: Lemma 23 with e^beta0 - 1 <= 2 beta0 *)
Lemma shift_small : 3%:R * S%:R / eps * (exp beta0 - 1) <= 3%:R * S%:R ^+ 3 / gamma ^+ 2 * eps.
Proof.
have e1 := eps_le1 eps0 length; have /andP[b1 b2] := b0.
have beta1 : 0 <= beta0 <= 1 by rewrite b1 (le_trans b2) // exprn_ile1 // ltW.
apply: (@le_trans _ _ (3%:R * S%:R / eps * (2%:R * eps ^+ 3))).
  rewrite ler_wpmul2l ?divr_ge0 ?mulr_ge0 ?ler0n ?(ltW eps0) // ler_subl_addl.
  by rewrite (le_trans (exp_unit is_exp beta1)) // ler_add2l ler_wpmul2l ?ler0n.
have -> : 3%:R * S%:R / eps * (2%:R * eps ^+ 3) = 3%:R * S%:R * eps * (2%:R * eps) by field; rewrite lt0r_neq0.
have -> : 3%:R * S%:R ^+ 3 / gamma ^+ 2 * eps = 3%:R * S%:R * eps * (S%:R / gamma) ^+ 2 by field; rewrite lt0r_neq0.
rewrite ler_wpmul2l ?mulr_ge0 ?ler0n ?(ltW eps0) //.
apply: (@le_trans _ _ (2%:R * 2%:R)); first by rewrite ler_wpmul2l ?ler0n // (le_trans e1) // ler1n.
have k : 2%:R <= S%:R / gamma by rewrite ler_pdivl_mulr // (@le_trans _ _ 2%:R) ?ler_nat ?two_states //
  ler_pimulr ?ler0n // ltW.
by rewrite expr2 ler_pmul ?ler0n.
Qed.

(* The mean of the limits is g_ij, but for i = j = T. *)
Lemma trace_mean : mean_over P (fun c => \Sum_(s < S) matrix c s s - 1) = 0.
Proof.
rewrite -(mean_itself prior); apply: (over_eq is_p) => c hc; have [st sta ab] := facts hc.
case: prior => _ adm _ _ _; have /and4P[_ _ strict _] := adm c hc.
by apply/esym; apply: gradient_itself strict gamma0.
Qed.

Notation limit i j c := (limit_pull S g (matrix c) (measure c) i j).

Lemma bounded_limit i j : bounded P (fun c => limit i j c).
Proof.
apply: bounded_total => s; rewrite index_lt => hs; apply: bounded_total => t; rewrite index_lt => ht.
apply: boundedM; first exact: (bounded_entry valid).
apply: boundedB; last by apply: (bounded_expect ok valid) => x _; apply: bounded_const.
apply: boundedM; last exact: inverse.
by apply: (bounded_expect ok valid) => x _; apply: bounded_const.
Qed.

Lemma limit_mean i j : (0 < i <= T)%N -> (0 < j <= i)%N ->
  mean_over P (fun c => limit i j c) = if (i == T) && (j == T) then S%:R * g_ T T else g_ i j.
Proof.
move=> hi hj; have /andP[i0 iT] := hi; have /andP[j0 ji] := hj; have T0 : (0 < T)%N by apply: leq_trans iT.
have root : parent g T = 0%N by case/andP: ok => _ /eqP.
have hT : (0 < T <= T)%N by rewrite T0 leqnn.
move: iT; rewrite leq_eqVlt => /orP[/eqP eT | lt]; last first.
  rewrite (ltn_eqF lt) /= /mean_gradient; apply: (over_eq is_p) => c hc; have [st sta _] := facts hc.
  exact: limit_before.
rewrite eT eqxx /=; move: ji; rewrite eT leq_eqVlt => /orP[/eqP jT | jT].
  rewrite jT eqxx (root_gradient_corrected prior ok hT root) ?hT // eqxx /= -(overZ is_p) => [|]; last first.
    apply: boundedB; last exact: bounded_const.
    apply: boundedM; last exact: bounded_const.
    apply: bounded_total => s; rewrite index_lt => hs; apply: boundedM; last exact: inverse.
    exact: (bounded_entry valid).
  apply: (over_eq is_p) => c hc; have [st sta ab] := facts hc.
  rewrite (limit_query_itself st sta ok) ?hT //.
  by rewrite mulrBr mulr1 mulrC divfK // lt0r_neq0.
rewrite (ltn_eqF jT) (root_gradient_corrected prior ok hT root) ?j0 ?(ltnW jT) // eqxx (ltn_eqF jT) /=.
rewrite -trace_mean; apply: (over_eq is_p) => c hc; have [st sta ab] := facts hc.
by apply: (limit_query_before st sta ok gamma0 ab); rewrite ?hT ?j0 // ltnW.
Qed.

Lemma gradient_near A i k : (0 < i <= T)%N -> (k < i)%N ->
  `|gstar A i k - (if (i == T) && (k.+1 == T) then S%:R * g_ T T else g_ i k.+1)| <=
    35%:R * S%:R ^+ 3 / gamma ^+ 2 * eps.
Proof.
move=> hi hk; have hj : (0 < k.+1 <= i)%N by [].
have /andP[beta_ge0 _] := b0; have e1 := eps_le1 eps0 length.
have long : 1 <= eps ^+ 2 * effective_length_leaves R g by rewrite length.
rewrite -(limit_mean hi hj); set y := mean_over P _; pose x := ghat_query S g P eps i k.+1.
have near0 : `|x - y| <= 32%:R * S%:R ^+ 3 / gamma ^+ 2 * eps.
  apply: (over_near is_p) => [|c hc]; first exact: bounded_limit.
  have [st sta ab] := facts hc; exact: query_pull_near.
have shift : `|gstar A i k - x| <= 3%:R * S%:R ^+ 3 / gamma ^+ 2 * eps.
  apply: le_trans shift_small; apply: (gstar_shift is_exp beta_ge0 ok is_p valid) => //.
  by rewrite eps0 e1.
have -> : gstar A i k - y = (gstar A i k - x) + (x - y) by rewrite addrA subrK.
have -> : 35%:R * S%:R ^+ 3 / gamma ^+ 2 * eps =
    3%:R * S%:R ^+ 3 / gamma ^+ 2 * eps + 32%:R * S%:R ^+ 3 / gamma ^+ 2 * eps by ring.
exact: le_trans (ler_norm_add _ _) (ler_add shift near0).
Qed.

(* Lemma 3 (lem-gradient-informal-corrected) *)
Theorem gradient_corrected A i k : (0 < i <= T)%N -> (k < i)%N ->
  [/\ gradient_one exp S g eps beta0 P A i k =
      - (beta0 / (S%:R * T%:R)) * jacobian i (soft exp i (A i)) (gstar A i) k,
    ~~ ((i == T) && (k.+1 == T)) -> `|gstar A i k - g_ i k.+1| <= 35%:R * S%:R ^+ 3 / gamma ^+ 2 * eps &
    i = T -> k.+1 = T -> `|gstar A i k - S%:R * g_ T T| <= 35%:R * S%:R ^+ 4 / gamma ^+ 2 * eps].
Proof.
move=> hi hk; have near := gradient_near A hi hk; have /andP[i0 iT] := hi.
split=> [|/negPf nq | eT kT]; first by apply: gradient_oneE => //; apply: leq_trans iT.
  by rewrite nq in near.
rewrite eT kT eqxx /= in near; rewrite eT; apply: le_trans near _.
rewrite ler_wpmul2r ?(ltW eps0) // ler_wpmul2r ?invr_ge0 ?exprn_ge0 ?(ltW gamma0) // ler_wpmul2l ?ler0n //.
by rewrite [leRHS]exprS ler_pemull ?exprn_ge0 ?ler0n // ler1n.
Qed.

(* Lemma 6 (thm-stage1-roots-corrected): the row of i is J(S(A_i)) v for this v. *)
Notation v A i k := (- (beta0 / (S%:R * T%:R)) * gstar A i k).

Lemma root_pull A i k : (0 < i < T)%N -> parent g i = 0%N -> (k < i)%N ->
  `|gstar A i k| <= 35%:R * S%:R ^+ 3 / gamma ^+ 2 * eps.
Proof.
move=> /andP[i0 iT] root hk; have hi : (0 < i <= T)%N by rewrite i0 ltnW.
have := gradient_near A hi hk; rewrite (ltn_eqF iT) /=.
by rewrite (root_gradient_corrected prior ok hi root) // (ltn_eqF iT) subr0.
Qed.

Theorem roots_corrected A i : (0 < i < T)%N -> parent g i = 0%N ->
  (forall k, gradient_one exp S g eps beta0 P A i k = jacobian i (soft exp i (A i)) (fun l => v A i l) k) /\
  forall k, (k < i)%N -> `|v A i k| <= 35%:R * S%:R ^+ 2 / gamma ^+ 2 * beta0 * eps / T%:R.
Proof.
move=> hi root; have /andP[i0 iT] := hi; have T0 : (0 < T)%N by apply: leq_trans (ltnW iT).
have Tr : (0 : R) < T%:R by rewrite ltr0n.
have /andP[beta_ge0 _] := b0; have c0 : 0 <= beta0 / (S%:R * T%:R) by rewrite divr_ge0 // mulr_ge0 ?ler0n.
split=> k; first by rewrite jacobian_scale gradient_oneE.
move=> hk; rewrite normrM normrN (ger0_norm c0).
apply: le_trans (ler_wpmul2l c0 (root_pull A hi root hk)) _.
by apply: eqW; field; rewrite !lt0r_neq0.
Qed.

(* The row of the query, v modulo constants: its norm is half of |g_TT|. *)
Theorem query_row_corrected A (b := 35%:R * S%:R ^+ 3 / gamma ^+ 2 * eps) : (1 < T)%N -> 0 < beta0 ->
  (exists c, forall k, (k < T)%N -> `|v A T k - c| * (T%:R / beta0) <= `|g_ T T| / 2%:R + b) /\
  forall c, exists2 k, (k < T)%N & `|g_ T T| / 2%:R - b <= `|v A T k - c| * (T%:R / beta0).
Proof.
move=> T1 beta_gt0; have T0 := ltnW T1; have hT : (0 < T <= T)%N by rewrite T0 leqnn.
have Tr : (0 : R) < T%:R by rewrite ltr0n.
have S1 : (1 : R) <= S%:R by rewrite ler1n.
pose q := S%:R * g_ T T; have last : (T.-1 < T)%N by rewrite prednK.
have nq : `|gstar A T T.-1 - q| <= b by have := gradient_near A hT last; rewrite prednK // eqxx.
have root : parent g T = 0%N by case/andP: ok => _ /eqP.
have n0 k : (k < T.-1)%N -> `|gstar A T k| <= b.
  move=> hk; have kT : (k.+1 < T)%N by rewrite -ltnS prednK in hk.
  have := gradient_near A hT (ltnW kT); rewrite (ltn_eqF kT) andbF.
  by rewrite (root_gradient_corrected prior ok hT root) ?(ltnW kT) // (ltn_eqF kT) andbF subr0.
have kappa0 : 0 < beta0 / (S%:R * T%:R) by rewrite divr_gt0 // mulr_gt0.
have scale x c : `|- (beta0 / (S%:R * T%:R)) * x - - (beta0 / (S%:R * T%:R)) * c| * (T%:R / beta0) = `|x - c| / S%:R.
  rewrite -mulrBr normrM normrN (gtr0_norm kappa0); move: `|x - c| => y.
  by field; rewrite !lt0r_neq0.
have b_ge0 : 0 <= b by apply: le_trans (normr_ge0 _) nq.
have bS : b / S%:R <= b by rewrite ler_pdivr_mulr // ler_pemulr.
have qS : `|q| / 2%:R / S%:R = `|g_ T T| / 2%:R.
  by rewrite normrM normr_nat; move: `|g_ T T| => y; field; rewrite lt0r_neq0.
split=> [|c].
  exists (- (beta0 / (S%:R * T%:R)) * (q / 2%:R)) => k hk; rewrite scale.
  apply: (@le_trans _ _ ((`|q| / 2%:R + b) / S%:R)); last by rewrite mulrDl qS ler_add2l.
  have q2 : `|q / 2%:R| = `|q| / 2%:R by rewrite normrM normfV normr_nat.
  rewrite ler_pdivr_mulr // divfK ?lt0r_neq0 //; case: (ltnP k T.-1) => [kT | Tk].
    by apply: le_trans (ler_norm_sub _ _) _; rewrite q2 addrC ler_add2l n0.
  have -> : k = T.-1 by apply/eqP; rewrite eqn_leq Tk -ltnS prednK // hk.
  have -> : gstar A T T.-1 - q / 2%:R = q / 2%:R + (gstar A T T.-1 - q) by field.
  by apply: le_trans (ler_norm_add _ _) _; rewrite q2 ler_add2l.
pose c' := - (c / (beta0 / (S%:R * T%:R))).
have cE : c = - (beta0 / (S%:R * T%:R)) * c' by rewrite /c'; field; rewrite !lt0r_neq0.
rewrite cE; case: (leP (`|q| / 2%:R - b) `|gstar A T T.-1 - c'|) => far.
  exists T.-1 => //; rewrite scale; apply: (@le_trans _ _ ((`|q| / 2%:R - b) / S%:R)).
    by rewrite mulrBl qS ler_add2l ler_opp2.
  by rewrite ler_wpmul2r // invr_ge0 ltW.
have T2 : (0 < T.-1)%N by rewrite -ltnS prednK.
exists 0%N => //; rewrite scale; apply: (@le_trans _ _ ((`|q| / 2%:R - b) / S%:R)).
  by rewrite mulrBl qS ler_add2l ler_opp2.
rewrite ler_wpmul2r ?invr_ge0 ?(ltW Sr) //; have hb := n0 0%N T2.
have := ler_norm_add (q - gstar A T T.-1) (gstar A T T.-1 - c' - (gstar A T 0%N - c') + gstar A T 0%N).
have -> : q - gstar A T T.-1 + (gstar A T T.-1 - c' - (gstar A T 0%N - c') + gstar A T 0%N) = q by ring.
have t1 := ler_norm_add (gstar A T T.-1 - c' - (gstar A T 0%N - c')) (gstar A T 0%N).
have t2 := ler_norm_sub (gstar A T T.-1 - c') (gstar A T 0%N - c').
rewrite distrC in nq; move: nq hb t1 t2 far.
set x1 := `|q - _|; set x2 := `|gstar A T 0%N|; set x3 := `|_ + _|; set x4 := `|_ - _|; set x5 := `|_ - c'|.
set x6 := `|_ - c'|; set y := `|q| => h1 h2 h3 h4 h5 h6.
have {h5}h5 := ltW h5.
rewrite -subr_ge0 in h1; rewrite -subr_ge0 in h2; rewrite -subr_ge0 in h3.
rewrite -subr_ge0 in h4; rewrite -subr_ge0 in h5; rewrite -subr_ge0 in h6; rewrite -subr_ge0.
have := addr_ge0 (addr_ge0 (addr_ge0 h1 h2) (addr_ge0 h3 h4)) (addr_ge0 h5 h6).
by congr (0 <= _); field.
Qed.
End Prior.

Section Prediction34.
Variables (R : realFieldType) (exp : R -> R) (g : seq nat) (eps beta0 : R).
Hypotheses (is_exp : exponential exp) (eps0 : 0 < eps) (length : eps ^+ 2 * effective_length_leaves R g = 1).
Hypothesis b0 : 0 <= beta0 <= eps ^+ 3.

(* Lemma 34 (thm-finite-stage2-step-exponent-corrected) *)
Theorem prediction_corrected A x s t : size x = size g ->
  `|predicted exp beta0 A x s t - predicted exp 0 A x s t| <= 4%:R^-1 * (exp beta0 - 1) /\
  4%:R^-1 * (exp beta0 - 1) <= 2%:R^-1 * eps ^+ 3.
Proof.
move=> z; have /andP[beta_ge0 b1] := b0; have e1 := eps_le1 eps0 length.
have x0 : (0 < size x)%N.
  rewrite z lt0n; apply: contra_eqN length => /eqP T0.
  by rewrite /effective_length_leaves T0 mul0r mulr0 eq_sym oner_eq0.
split.
  have -> : predicted exp 0 A x s t = frequency R x t.
    apply/eqP; rewrite -subr_eq0 -normr_le0.
    by apply: le_trans (prediction_shift is_exp (lexx 0) A s t x0) _; rewrite (exp0 is_exp) subrr mulr0.
  exact: prediction_shift.
have beta1 : 0 <= beta0 <= 1 by rewrite beta_ge0 (le_trans b1) // exprn_ile1 // ltW.
apply: (@le_trans _ _ (4%:R^-1 * (2%:R * beta0))).
  by rewrite ler_wpmul2l ?invr_ge0 ?ler0n // ler_subl_addl; apply: exp_unit.
have -> : 4%:R^-1 * (2%:R * beta0) = 2%:R^-1 * beta0 by field.
by rewrite ler_wpmul2l ?invr_ge0 ?ler0n.
Qed.
End Prediction34.
