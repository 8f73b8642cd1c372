(* The loss of the simplified transformer and its derivative, for any prior,  *)
(* exponential function and logarithm.                                        *)
(*                                                                            *)
(* Appendix D.2 (eq-loss-rewrite-corrected): the loss is -1/S times the mean  *)
(*   over the prior of sums over s of means over X given that s_T = s.        *)
(* Lemma 4 (lem-pop-grads): the gradients of the loss in A1 and A2, with the  *)
(*   query in sequence and with the query apart; in stage 1, where A2 is      *)
(*   beta0 I, the first is gradient_one of stage_one.v.                       *)
(*                                                                            *)
(* The model                                                                  *)
(*   score A1 A2 x s i == (S(A1) X A2 e_s)_i                                  *)
(*   attends ... x s   == v(X; s), the softmax of the scores                  *)
(*   output ... x s t  == f(X; s)_t = (X^T v(X; s))_t                         *)
(*   loss A1 A2        == eq. (14), whose query is the last token of X        *)
(*   loss_apart A1 A2  == -1/S E sum_{s,t} pi(t|s) log(f(X; s)_t + eps), for  *)
(*                        whole sequences X                                   *)
(* Gradients, for weights W s c X of X in the term of s, for a chain c:       *)
(*   law_given, law_apart == the law of X given that s_T = s, and that of X   *)
(*   under W F         == sum_s E_pi sum_X W s pi X F(s, pi, X)               *)
(*   loss_of W A1 A2   == -1/S times it, for F = sum_t pi(t|s) log(f_t + eps) *)
(*   first_gradient W i k == entry k of -1/S J(S(A1_i)) G_i                   *)
(*   second_gradient W a b == entry (a, b) of -1/S sum_{s,s'} G_{s,s'}        *)
(*   along G1 G2 (U1, U2) == the sum of the products of the entries           *)
(*   size_of (U1, U2)  == the sum of the absolute values of the entries       *)
(* Derivatives                                                                *)
(*   derivative N F a l == F v = a + l v + o(N v), with |l v| <= C N v; for   *)
(*                        a norm N and a linear l, F is differentiable at     *)
(*                        v = 0, where its value is a                         *)
(*   slope f a c       == the same for a function f of one variable           *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors markov leaves law stage_one.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition slope (R : realFieldType) (f : R -> R) (a c : R) : Prop :=
  forall e, 0 < e -> exists2 d, 0 < d & forall h, `|h| <= d -> `|f (a + h) - f a - c * h| <= e * `|h|.

Definition derivative (R : realFieldType) (V : Type) (N : V -> R) (F : V -> R) (a : R) (l : V -> R) : Prop :=
  (exists C, forall v, `|l v| <= C * N v) /\
  forall e, 0 < e -> exists2 d, 0 < d & forall v, N v <= d -> `|F v - a - l v| <= e * N v.

Section Calculus.
Variables (R : realFieldType) (V : Type) (N : V -> R).
Hypothesis N0 : forall v, 0 <= N v.
Notation derivative := (derivative N).
Implicit Types (F G l m : V -> R).

Lemma derivative_eq F G a b l m : F =1 G -> a = b -> l =1 m -> derivative F a l -> derivative G b m.
Proof.
move=> e -> e' [[C hC] h]; split; first by exists C => v; rewrite -e'.
by move=> x /h[d d0 hd]; exists d => // v; rewrite -e -e'; apply: hd.
Qed.

Lemma derivative_const a : derivative (fun=> a) a (fun=> 0).
Proof.
split; first by exists 0 => v; rewrite normr0 mul0r.
by move=> e e0; exists 1 => // v _; rewrite !subrr normr0 mulr_ge0 // ltW.
Qed.

Lemma derivative_base a l : (forall v, `|l v| <= N v) -> derivative (fun v => a + l v) a l.
Proof.
move=> h; split; first by exists 1 => v; rewrite mul1r.
move=> e e0; exists 1 => // v _; have -> : a + l v - a - l v = 0 by ring.
by rewrite normr0 mulr_ge0 // ltW.
Qed.

Lemma derivativeD F G a b l m : derivative F a l -> derivative G b m ->
  derivative (fun v => F v + G v) (a + b) (fun v => l v + m v).
Proof.
move=> [[C hC] hF] [[D hD] hG]; split.
  by exists (C + D) => v; rewrite mulrDl; apply: le_trans (ler_norm_add _ _) _; rewrite ler_add.
move=> e e0; have e2 : 0 < e / 2%:R by rewrite divr_gt0 ?ltr0n.
have [d d0 hd] := hF _ e2; have [d' d0' hd'] := hG _ e2; exists (Num.min d d') => [|v].
  by rewrite lt_minr d0.
rewrite le_minr => /andP[/hd h1 /hd' h2].
have -> : F v + G v - (a + b) - (l v + m v) = (F v - a - l v) + (G v - b - m v) by ring.
apply: le_trans (ler_norm_add _ _) _; have -> : e * N v = e / 2%:R * N v + e / 2%:R * N v by field.
exact: ler_add.
Qed.

Lemma derivative_total (A : eqType) (s : seq A) (F : A -> V -> R) (a : A -> R) (l : A -> V -> R) :
  (forall i, i \in s -> derivative (F i) (a i) (l i)) ->
  derivative (fun v => \Sum_(i in s) F i v) (\Sum_(i in s) a i) (fun v => \Sum_(i in s) l i v).
Proof.
elim: s => [|i s IH] h; first exact: derivative_const.
apply: (derivativeD (F := F i) (G := fun v => \Sum_(i in s) F i v)); first by apply: h; rewrite mem_head.
by apply: IH => j hj; apply: h; rewrite inE hj orbT.
Qed.

Lemma derivative_comp f F a c l : slope f a c -> derivative F a l ->
  derivative (fun v => f (F v)) (f a) (fun v => c * l v).
Proof.
move=> hf [[C0 hC0] hF]; pose C := `|C0| + 1; have C1 : 0 < C by rewrite ltr_spaddr.
have hC v : `|l v| <= C * N v.
  by apply: le_trans (hC0 v) _; rewrite ler_wpmul2r // (le_trans (ler_norm _)) // ler_addl.
split; first by exists (`|c| * C) => v; rewrite normrM -mulrA ler_wpmul2l.
move=> e e0; pose D := C + 1; have D0 : 0 < D by rewrite addr_gt0.
pose k := `|c| + 1; have k0 : 0 < k by rewrite ltr_spaddr.
have [d1 d10 h1] := hf (e / (2%:R * D)) (divr_gt0 e0 (mulr_gt0 (ltr0Sn _ 1) D0)).
have m0 : 0 < Num.min 1 (e / (2%:R * k)) by rewrite lt_minr ltr01 divr_gt0 // mulr_gt0 ?ltr0n.
have [d2 d20 h2] := hF _ m0.
exists (Num.min d2 (d1 / D)) => [|v]; first by rewrite lt_minr d20 divr_gt0.
rewrite le_minr => /andP[/h2 near]; rewrite ler_pdivl_mulr // mulrC => far.
set r := F v - a - l v in near.
have r1 : `|r| <= N v by apply: le_trans near _; rewrite -[leRHS]mul1r ler_wpmul2r // le_minl lexx.
have r2 : `|r| <= e / (2%:R * k) * N v.
  by apply: le_trans near _; rewrite ler_wpmul2r // le_minl lexx orbT.
pose h := F v - a; have hD : `|h| <= D * N v.
  have -> : h = l v + r by rewrite /r /h; ring.
  by apply: le_trans (ler_norm_add _ _) _; rewrite mulrDl mul1r ler_add.
have := h1 h (le_trans hD far); have -> : a + h = F v by rewrite /h; ring.
move=> h3; have -> : f (F v) - f a - c * l v = (f (F v) - f a - c * h) + c * r by rewrite /r /h; ring.
apply: le_trans (ler_norm_add _ _) _; have -> : e * N v = e / (2%:R * D) * (D * N v) + k * (e / (2%:R * k) * N v).
  by field; rewrite !lt0r_neq0.
apply: ler_add.
  by apply: le_trans h3 _; rewrite ler_wpmul2l // divr_ge0 ?(ltW e0) // mulr_ge0 ?ler0n // ltW.
by rewrite normrM ler_pmul // ler_addl.
Qed.

Lemma slope_scale (k a : R) : slope (fun x => k * x) a k.
Proof.
move=> e e0; exists 1 => // h _; have -> : k * (a + h) - k * a - k * h = 0 by ring.
by rewrite normr0 mulr_ge0 // ltW.
Qed.

Lemma slope_square (a : R) : slope (fun x => x ^+ 2) a (2%:R * a).
Proof.
move=> e e0; exists e => // h he; have -> : (a + h) ^+ 2 - a ^+ 2 - 2%:R * a * h = h * h by ring.
by rewrite normrM ler_wpmul2r.
Qed.

Lemma above_half (a h : R) : `|h| <= a / 2%:R -> a / 2%:R <= a + h.
Proof.
rewrite ler_norml => /andP[lo _].
have -> : a / 2%:R = a + - (a / 2%:R) by field.
by rewrite ler_add2l.
Qed.

Lemma slope_inv (a : R) : 0 < a -> slope (fun x => x^-1) a (- (a ^+ 2)^-1).
Proof.
move=> a0 e e0; have a2 : 0 < a / 2%:R by rewrite divr_gt0 ?ltr0n.
exists (Num.min (a / 2%:R) (e * a ^+ 3 / 2%:R)) => [|h].
  by rewrite lt_minr a2 divr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
rewrite le_minr => /andP[h1 h2].
have low := above_half h1.
have p := lt_le_trans a2 low.
have -> : (a + h)^-1 - a^-1 - - (a ^+ 2)^-1 * h = h * h / (a ^+ 2 * (a + h)) by field; rewrite !lt0r_neq0.
have q0 : 0 < a ^+ 2 * (a + h) by rewrite mulr_gt0 ?exprn_gt0.
rewrite normrM normfV (gtr0_norm q0) ler_pdivr_mulr // normrM.
have -> : e * `|h| * (a ^+ 2 * (a + h)) = (e * a ^+ 2 * (a + h)) * `|h| by ring.
rewrite ler_wpmul2r //; apply: le_trans h2 _.
have -> : e * a ^+ 3 / 2%:R = e * a ^+ 2 * (a / 2%:R) by field.
by rewrite ler_wpmul2l // mulr_ge0 ?exprn_ge0 // ltW.
Qed.

Lemma derivativeM F G a b l m : derivative F a l -> derivative G b m ->
  derivative (fun v => F v * G v) (a * b) (fun v => a * m v + b * l v).
Proof.
move=> hF hG; have minus := derivative_comp (slope_scale (-1) b) hG.
have plus2 := derivative_comp (slope_square (a + b)) (derivativeD hF hG).
have minus2 := derivative_comp (slope_square (a + -1 * b)) (derivativeD hF minus).
have h := derivativeD (derivative_comp (slope_scale 4%:R^-1 _) plus2)
  (derivative_comp (slope_scale (- 4%:R^-1) _) minus2).
by apply: derivative_eq h => [v||v]; field.
Qed.

Variable exp : R -> R.
Hypothesis is_exp : exponential exp.

Lemma slope_exp (a : R) : slope exp a (exp a).
Proof.
case: (is_exp) => mul lin e e0; have p := exp_gt0 is_exp a.
exists (Num.min 2%:R^-1 (e / (2%:R * exp a))) => [|h].
  by rewrite lt_minr invr_gt0 ltr0n divr_gt0 // mulr_gt0 ?ltr0n.
rewrite le_minr => /andP[h1 h2].
have /andP[lo hi] : - 2%:R^-1 <= h <= 2%:R^-1 by rewrite -ler_norml.
have q : 2%:R^-1 <= 1 - h by rewrite ler_subr_addr -ler_subr_addl (le_trans hi) //; apply: eqW; field.
have q0 : 0 < 1 - h by apply: lt_le_trans q; rewrite invr_gt0 ltr0n.
have -> : exp (a + h) - exp a - exp a * h = exp a * (exp h - 1 - h) by rewrite mul; ring.
have low : 0 <= exp h - 1 - h by rewrite -addrA -opprD subr_ge0 lin.
have up : exp h - 1 - h <= 2%:R * (`|h| * `|h|).
  have inv : exp h * (1 - h) <= 1.
    by rewrite -[leRHS](expN is_exp h) ler_pmul2l ?(exp_gt0 is_exp) // lin.
  have hh : `|h| * `|h| = h * h by rewrite -normrM ger0_norm // -expr2 sqr_ge0.
  rewrite hh -(ler_pmul2r q0); apply: (@le_trans _ _ (h * h)).
    have -> : (exp h - 1 - h) * (1 - h) = exp h * (1 - h) - 1 + h * h by ring.
    by rewrite ger_addr subr_le0.
  have -> : 2%:R * (h * h) * (1 - h) = (h * h) * (2%:R * (1 - h)) by ring.
  by rewrite ler_pemulr -?expr2 ?sqr_ge0 // mulrC -ler_pdivr_mulr ?ltr0n // mul1r.
rewrite normrM (gtr0_norm p) (ger0_norm low); apply: (@le_trans _ _ (exp a * (2%:R * (`|h| * `|h|)))).
  by rewrite ler_pmul2l.
have -> : exp a * (2%:R * (`|h| * `|h|)) = (`|h| * (2%:R * exp a)) * `|h| by ring.
by rewrite ler_wpmul2r // -ler_pdivl_mulr // mulr_gt0 ?ltr0n.
Qed.

Variable ln : R -> R.
Hypothesis is_log : logarithm exp ln.

Lemma slope_ln (a : R) : 0 < a -> slope ln a a^-1.
Proof.
move=> a0 e e0; have a2 : 0 < a / 2%:R by rewrite divr_gt0 ?ltr0n.
exists (Num.min (a / 2%:R) (e * a ^+ 2 / 2%:R)) => [|h].
  by rewrite lt_minr a2 divr_gt0 ?mulr_gt0 ?exprn_gt0 ?ltr0n.
rewrite le_minr => /andP[h1 h2].
have low := above_half h1.
have p := lt_le_trans a2 low; have y0 : 0 < (a + h) / a by rewrite divr_gt0.
have -> : a + h = a * ((a + h) / a) by field; rewrite lt0r_neq0.
rewrite (lnM is_exp is_log) //; set L := ln ((a + h) / a).
have up : L <= a^-1 * h.
  by apply: le_trans (ln_le is_exp is_log y0) _; apply: eqW; field; rewrite lt0r_neq0.
have lo : a^-1 * h - 2%:R * (`|h| * `|h|) / a ^+ 2 <= L.
  apply: le_trans (ln_ge is_exp is_log y0).
  have -> : 1 - ((a + h) / a)^-1 = a^-1 * h - h * h / (a * (a + h)) by field; rewrite !lt0r_neq0.
  have hh : `|h| * `|h| = h * h by rewrite -normrM ger0_norm // -expr2 sqr_ge0.
  rewrite ler_add2l ler_opp2 hh ler_pdivr_mulr ?mulr_gt0 //.
  have -> : 2%:R * (h * h) / a ^+ 2 * (a * (a + h)) = (h * h) * ((a + h) / (a / 2%:R)) by field; rewrite lt0r_neq0.
  by rewrite ler_pemulr -?expr2 ?sqr_ge0 // ler_pdivl_mulr // mul1r.
have -> : ln a + L - ln a - a^-1 * h = - (a^-1 * h - L) by ring.
rewrite normrN ger0_norm ?subr_ge0 //; apply: (@le_trans _ _ (2%:R * (`|h| * `|h|) / a ^+ 2)).
  by rewrite ler_subl_addr -ler_subl_addl.
have -> : 2%:R * (`|h| * `|h|) / a ^+ 2 = `|h| / (a ^+ 2 / 2%:R) * `|h| by field; rewrite lt0r_neq0.
by rewrite ler_wpmul2r // ler_pdivr_mulr ?divr_gt0 ?exprn_gt0 ?ltr0n // mulrA.
Qed.

(* the derivative of a softmax is J of its value, times the derivative of its arguments *)
Lemma derivative_soft n (F : nat -> V -> R) (a : nat -> R) (l : nat -> V -> R) k : (k < n)%N ->
  (forall j, (j < n)%N -> derivative (F j) (a j) (l j)) ->
  derivative (fun v => soft exp n (F^~ v) k) (soft exp n a k) (fun v => jacobian n (soft exp n a) (l^~ v) k).
Proof.
move=> hk h; have n0 : (0 < n)%N by apply: leq_ltn_trans hk.
have z0 := sum_exp_gt0 is_exp a n0.
have hexp j : (j < n)%N -> derivative (fun v => exp (F j v)) (exp (a j)) (fun v => exp (a j) * l j v).
  by move=> /h; apply: derivative_comp; apply: slope_exp.
have hz : derivative (fun v => \Sum_(j < n) exp (F j v)) (\Sum_(j < n) exp (a j))
    (fun v => \Sum_(j < n) exp (a j) * l j v).
  by apply: derivative_total => j; rewrite index_lt; apply: hexp.
apply: derivative_eq (derivativeM (hexp k hk) (derivative_comp (slope_inv z0) hz)) => // v.
rewrite /jacobian /soft; set Z := total _ (fun j => exp (a j)) in z0 *.
have -> : \Sum_(j < n) exp (a j) / Z * l j v = Z^-1 * \Sum_(j < n) exp (a j) * l j v.
  by rewrite -totalZ; apply: index_eq => j _; ring.
set U := total _ _; by field; rewrite lt0r_neq0.
Qed.
End Calculus.

Lemma jacobian_symmetric (R : realFieldType) n (p u w : nat -> R) :
  \Sum_(k < n) jacobian n p u k * w k = \Sum_(k < n) jacobian n p w k * u k.
Proof.
have e x y : \Sum_(k < n) jacobian n p x k * y k =
    \Sum_(k < n) p k * (x k * y k) - (\Sum_(k < n) p k * x k) * (\Sum_(k < n) p k * y k).
  by rewrite -totalZ -totalB; apply: index_eq => k _; rewrite /jacobian; ring.
rewrite !e; congr (_ - _); last by rewrite mulrC.
by apply: index_eq => k _; ring.
Qed.

Section Loss.
Variables (R : realFieldType) (exp ln : R -> R) (S : nat) (g : seq nat) (P : prior R) (eps : R).
Notation T := (size g).
Implicit Types (A B : nat -> nat -> R) (v : (nat -> nat -> R) * (nat -> nat -> R)).

(* A1 is A: A i k is the entry in row i and column k + 1, for k < i. A2 is B. *)
Definition score A B x s i : R := \Sum_(k < i) soft exp i (A i) k * B (token x k.+1) s.
Definition attends A B x s : nat -> R := soft exp (size x) (fun k => score A B x s k.+1).
Definition output A B x s t : R := \Sum_(k < size x) attends A B x s k * (token x k.+1 == t)%:R.

(* eq. (14), the query in sequence, and the loss with the query apart *)
Definition loss A B : R := - mean_over P (fun c => expect S g (matrix c) (measure c) (fun x =>
  \Sum_(t < S) matrix c (query x) t * ln (output A B x (query x) t + eps))).
Definition loss_apart A B : R := - (S%:R^-1 * mean_over P (fun c => expect S g (matrix c) (measure c) (fun x =>
  \Sum_(s < S) \Sum_(t < S) matrix c s t * ln (output A B x s t + eps)))).

(* J(v) delta_t, of which entry i is also delta_t^T J(v) e_i *)
Definition pulls A B x s t : nat -> R :=
  jacobian (size x) (attends A B x s) (fun k => (token x k.+1 == t)%:R).
Definition inverse_share (c : chain R) A B x s t : R := matrix c s t / (output A B x s t + eps).

(* entry k of w delta_t^T J(v) e_i X_{<=i} A2 e_s, summed over t, and entry a *)
(* of the column s of w X^T S(A1)^T J(v) delta_t e_s^T                        *)
Definition first_term (c : chain R) A B x s i k : R :=
  \Sum_(t < S) inverse_share c A B x s t * pulls A B x s t i.-1 * B (token x k.+1) s.
Definition second_term (c : chain R) A B x s a : R :=
  \Sum_(t < S) inverse_share c A B x s t * \Sum_(i < size x) copied exp A x a i.+1 * pulls A B x s t i.

Definition size_of v : R :=
  \Sum_(i < T) \Sum_(k < T) `|v.1 i.+1 k| + \Sum_(a < S) \Sum_(s < S) `|v.2 a s|.
Definition moved (A B : nat -> nat -> R) : nat -> nat -> R := fun i k => A i k + B i k.
Definition along (G1 G2 : nat -> nat -> R) v : R :=
  \Sum_(i < T) \Sum_(k < i.+1) G1 i.+1 k * v.1 i.+1 k + \Sum_(a < S) \Sum_(s < S) G2 a s * v.2 a s.

Hypotheses (is_exp : exponential exp) (is_log : logarithm exp ln) (eps0 : 0 < eps).

Lemma size_of_ge0 v : 0 <= size_of v.
Proof. by rewrite addr_ge0 //; apply: index_ge0 => i _; apply: index_ge0 => k _. Qed.

Lemma first_le v i k : (i < T)%N -> (k < T)%N -> `|v.1 i.+1 k| <= size_of v.
Proof.
move=> hi hk; apply: (@le_trans _ _ (\Sum_(i < T) \Sum_(k < T) `|v.1 i.+1 k|)); last first.
  by rewrite ler_addl; apply: index_ge0 => a _; apply: index_ge0 => s _.
apply: le_trans (term_le (F := fun i => \Sum_(k < T) `|v.1 i.+1 k|) hi _) => [|j _].
  exact: (term_le (F := fun k => `|v.1 i.+1 k|) hk).
by apply: index_ge0.
Qed.

Lemma second_le v a s : (a < S)%N -> (s < S)%N -> `|v.2 a s| <= size_of v.
Proof.
move=> ha hs; apply: (@le_trans _ _ (\Sum_(a < S) \Sum_(s < S) `|v.2 a s|)); last first.
  by rewrite ler_addr; apply: index_ge0 => i _; apply: index_ge0 => k _.
apply: le_trans (term_le (F := fun a => \Sum_(s < S) `|v.2 a s|) ha _) => [|b _].
  exact: (term_le (F := fun s => `|v.2 a s|) hs).
by apply: index_ge0.
Qed.

Variables A B : nat -> nat -> R.
Notation at_ v F := (F (moved A v.1) (moved B v.2)).
Notation derives := (derivative size_of).

Section Sequence.
Variables (x : seq nat) (s : nat).
Hypotheses (hx : x \in sequences S T) (hs : (s < S)%N).

Let z : size x = T. Proof. by have [] := sequencesP hx. Qed.
Let tok k : (k < T)%N -> (token x k.+1 < S)%N. Proof. by move=> hk; apply: (token_lt hx). Qed.

Definition score_moved i v : R :=
  \Sum_(k < i) (soft exp i (A i) k * v.2 (token x k.+1) s +
    B (token x k.+1) s * jacobian i (soft exp i (A i)) (v.1 i) k).

Lemma derives_score i : (i < T)%N ->
  derives (fun v => at_ v score x s i.+1) (score A B x s i.+1) (score_moved i.+1).
Proof.
move=> hi; apply: (derivative_total size_of_ge0) => k; rewrite index_lt => hk.
have kT : (k < T)%N by apply: leq_trans hk hi.
apply: (derivativeM size_of_ge0).
  apply: (derivative_soft size_of_ge0 is_exp (F := fun j v => moved A v.1 i.+1 j)) => // j hj.
  have jT : (j < T)%N by apply: leq_trans hj hi.
  by apply: (derivative_base size_of_ge0) => v; exact: (first_le v hi jT).
by apply: (derivative_base size_of_ge0) => v; exact: (second_le v (tok kT) hs).
Qed.

Lemma output_ge0 A' B' t : 0 <= output A' B' x s t.
Proof.
apply: index_ge0 => k hk; rewrite mulr_ge0 ?ler0n // ltW // (soft_gt0 is_exp) //.
by apply: leq_ltn_trans hk.
Qed.

(* the derivative of log(f_t + eps) *)
Lemma derives_log t :
  derives (fun v => ln (at_ v output x s t + eps)) (ln (output A B x s t + eps))
    (fun v => (output A B x s t + eps)^-1 * \Sum_(i < T) pulls A B x s t i * score_moved i.+1 v).
Proof.
have below : 0 < output A B x s t + eps by rewrite ltr_spaddr ?output_ge0.
apply: (derivative_comp size_of_ge0 (slope_ln is_exp is_log below)).
have attended k : (k < size x)%N -> derives (fun v => at_ v attends x s k) (attends A B x s k)
    (fun v => jacobian (size x) (attends A B x s) (fun i => score_moved i.+1 v) k).
  move=> hk; apply: (derivative_soft size_of_ge0 is_exp (F := fun j v => at_ v score x s j.+1)) => // j.
  by rewrite z; apply: derives_score.
have shares : derives (fun v => at_ v output x s t) (output A B x s t) (fun v => \Sum_(k < size x)
    (token x k.+1 == t)%:R * jacobian (size x) (attends A B x s) (fun i => score_moved i.+1 v) k).
  apply: (derivative_total size_of_ge0) => k; rewrite index_lt => hk.
  apply: derivative_eq (derivative_comp size_of_ge0 (slope_scale (token x k.+1 == t)%:R _) (attended k hk)) => // [v|].
    by rewrite mulrC.
  by rewrite mulrC.
have sum := derivativeD shares (derivative_const size_of_ge0 eps).
apply: derivative_eq sum => // v.
rewrite addr0 -z [RHS](index_eq (G := fun i => jacobian (size x) (attends A B x s)
  (fun k => (token x k.+1 == t)%:R) i * score_moved i.+1 v)) // -jacobian_symmetric.
by apply: index_eq => k _; rewrite mulrC.
Qed.

(* the same with the gradients of the lemma, for the weights of one chain *)
Lemma along_terms c v :
  \Sum_(t < S) matrix c s t * ((output A B x s t + eps)^-1 *
    \Sum_(i < T) pulls A B x s t i * score_moved i.+1 v) =
  along (fun i => jacobian i (soft exp i (A i)) (first_term c A B x s i))
    (fun a b => (b == s)%:R * second_term c A B x s a) v.
Proof.
pose W t := inverse_share c A B x s t; pose u t i := pulls A B x s t i.
have -> : \Sum_(t < S) matrix c s t * ((output A B x s t + eps)^-1 *
    \Sum_(i < T) pulls A B x s t i * score_moved i.+1 v) =
  \Sum_(i < T) (\Sum_(t < S) W t * u t i) * score_moved i.+1 v.
  rewrite (index_eq (G := fun t => \Sum_(i < T) W t * u t i * score_moved i.+1 v)) => [|t _].
    by rewrite total_exchange; apply: index_eq => i _; rewrite totalZr.
  by rewrite mulrA -/(W t) -totalZ; apply: index_eq => i _; rewrite mulrA.
pose U i := \Sum_(t < S) W t * u t i.
rewrite /along -[LHS]/(\Sum_(i < T) U i * score_moved i.+1 v).
have split i : score_moved i.+1 v = \Sum_(k < i.+1) soft exp i.+1 (A i.+1) k * v.2 (token x k.+1) s +
    \Sum_(k < i.+1) jacobian i.+1 (soft exp i.+1 (A i.+1)) (fun k => B (token x k.+1) s) k * v.1 i.+1 k.
  rewrite /score_moved totalD; congr (_ + _); rewrite -jacobian_symmetric.
  by apply: index_eq => k _; rewrite mulrC.
rewrite (index_eq (G := fun i =>
  U i * (\Sum_(k < i.+1) jacobian i.+1 (soft exp i.+1 (A i.+1)) (fun k => B (token x k.+1) s) k * v.1 i.+1 k) +
  U i * (\Sum_(k < i.+1) soft exp i.+1 (A i.+1) k * v.2 (token x k.+1) s))) => [|i _]; last first.
  by rewrite split mulrDr addrC.
rewrite totalD; congr (_ + _).
  apply: index_eq => i hi; rewrite -totalZ; apply: index_eq => k hk.
  rewrite mulrA; congr (_ * _); rewrite -jacobian_scale; apply: jacobian_eq => l.
  by rewrite /first_term /U -totalZr.
transitivity (\Sum_(a < S) second_term c A B x s a * v.2 a s); last first.
  apply: index_eq => a _; rewrite (index_eq (G := fun b => (s == b)%:R * (second_term c A B x s a * v.2 a b))).
    by rewrite (total_delta (fun b => second_term c A B x s a * v.2 a b)).
  by move=> b _; rewrite eq_sym mulrA.
have -> : \Sum_(a < S) second_term c A B x s a * v.2 a s =
    \Sum_(a < S) \Sum_(i < T) U i * (copied exp A x a i.+1 * v.2 a s).
  apply: index_eq => a _; rewrite /second_term -totalZr z.
  rewrite (index_eq (G := fun t => \Sum_(i < T) W t * u t i * (copied exp A x a i.+1 * v.2 a s))) => [|t _].
    by rewrite total_exchange; apply: index_eq => i _; rewrite totalZr.
  by rewrite -mulrA -totalZr -totalZ; apply: index_eq => i _; rewrite /u /W; ring.
rewrite total_exchange; apply: index_eq => i hi; rewrite totalZ; congr (_ * _).
transitivity (\Sum_(a < S) \Sum_(k < i.+1) soft exp i.+1 (A i.+1) k * ((token x k.+1 == a)%:R * v.2 a s)).
  rewrite total_exchange; apply: index_eq => k hk; rewrite totalZ (total_delta (fun a => v.2 a s)) //.
  by apply: tok; apply: leq_trans hk hi.
by apply: index_eq => a _; rewrite /copied -totalZr; apply: index_eq => k _; apply: mulrA.
Qed.
End Sequence.

(* sums over s and X with the weights W s c X, under the prior *)
Definition under (W : nat -> chain R -> seq nat -> R) (F : nat -> chain R -> seq nat -> R) : R :=
  \Sum_(s < S) mean_over P (fun c => \Sum_(x in sequences S T) W s c x * F s c x).
Definition first_gradient W i k : R :=
  - (S%:R^-1 * jacobian i (soft exp i (A i)) (fun l => under W (fun s c x => first_term c A B x s i l)) k).
Definition second_gradient W a b : R :=
  - (S%:R^-1 * under W (fun s c x => (b == s)%:R * second_term c A B x s a)).
Definition loss_of W A B : R :=
  - (S%:R^-1 * under W (fun s c x => \Sum_(t < S) matrix c s t * ln (output A B x s t + eps))).

Hypotheses (is_p : is_prior P) (ok : forest g).
Hypothesis valid : forall c, c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c).

Section Weights.
Variable W : nat -> chain R -> seq nat -> R.
Definition fine (F : nat -> chain R -> seq nat -> R) : Prop :=
  forall s x, (s < S)%N -> x \in sequences S T -> bounded P (fun c => F s c x).
Hypothesis fine_W : fine W.

Lemma fine_sum F s : fine F -> (s < S)%N -> bounded P (fun c => \Sum_(x in sequences S T) W s c x * F s c x).
Proof. by move=> h hs; apply: bounded_total => x hx; apply: boundedM; [apply: fine_W | apply: h]. Qed.

Lemma under_eq F F' : (forall s c x, (s < S)%N -> c \in P -> x \in sequences S T -> F s c x = F' s c x) ->
  under W F = under W F'.
Proof.
move=> h; apply: index_eq => s hs; apply: (over_eq is_p) => c hc; apply: total_eq => x hx.
by rewrite h.
Qed.

Lemma under_total (l : seq nat) (F : nat -> nat -> chain R -> seq nat -> R) : (forall i, i \in l -> fine (F i)) ->
  under W (fun s c x => \Sum_(i in l) F i s c x) = \Sum_(i in l) under W (F i).
Proof.
move=> h; rewrite /under total_exchange; apply: index_eq => s hs.
rewrite -(over_total is_p) => [|i hi]; last by apply: fine_sum => //; apply: h.
apply: (over_eq is_p) => c _; rewrite total_exchange; apply: total_eq => x _.
by rewrite totalZ.
Qed.

Lemma underZ F k : fine F -> under W (fun s c x => F s c x * k) = under W F * k.
Proof.
move=> h; rewrite /under -totalZr; apply: index_eq => s hs.
rewrite mulrC -(overZ is_p); last exact: fine_sum.
by apply: (over_eq is_p) => c _; rewrite -totalZ; apply: total_eq => x _; ring.
Qed.

Lemma underD F F' : fine F -> fine F' ->
  under W (fun s c x => F s c x + F' s c x) = under W F + under W F'.
Proof.
move=> h h'; rewrite /under -totalD; apply: index_eq => s hs.
rewrite -(overD is_p); try exact: fine_sum.
by apply: (over_eq is_p) => c _; rewrite -totalD; apply: total_eq => x _; rewrite mulrDr.
Qed.

Lemma fine_first i k : fine (fun s c x => first_term c A B x s i k).
Proof.
move=> s x hs hx; apply: bounded_total => t; rewrite index_lt => ht.
do 3 (apply: boundedM; last exact: bounded_const).
exact: (bounded_entry valid).
Qed.

Lemma fine_second a b : fine (fun s c x => (b == s)%:R * second_term c A B x s a).
Proof.
move=> s x hs hx; apply: boundedM; first exact: bounded_const.
apply: bounded_total => t; rewrite index_lt => ht.
do 2 (apply: boundedM; last exact: bounded_const).
exact: (bounded_entry valid).
Qed.

(* the derivative of the sum for one s and one X *)
Notation change s c x v := (along (fun i => jacobian i (soft exp i (A i)) (first_term c A B x s i))
  (fun a b => (b == s)%:R * second_term c A B x s a) v).
Notation dual v i := (jacobian i (soft exp i (A i)) (v.1 i)).

Lemma changeE s c x v : change s c x v =
  \Sum_(i < T) \Sum_(k < i.+1) first_term c A B x s i.+1 k * dual v i.+1 k +
  \Sum_(a < S) \Sum_(b < S) (b == s)%:R * second_term c A B x s a * v.2 a b.
Proof.
congr (_ + _); apply: index_eq => i _; rewrite jacobian_symmetric.
by apply: index_eq => k _; rewrite mulrC.
Qed.

Lemma fineM F k : fine F -> fine (fun s c x => F s c x * k).
Proof. by move=> h s x hs hx; apply: boundedM; [apply: h | apply: bounded_const]. Qed.

Lemma fine_total (l : seq nat) (F : nat -> nat -> chain R -> seq nat -> R) : (forall i, fine (F i)) ->
  fine (fun s c x => \Sum_(i in l) F i s c x).
Proof. by move=> h s x hs hx; apply: bounded_total => i _; apply: h. Qed.

Lemma under_change v : under W (fun s c x => change s c x v) =
  \Sum_(i < T) \Sum_(k < i.+1) under W (fun s c x => first_term c A B x s i.+1 k) * dual v i.+1 k +
  \Sum_(a < S) \Sum_(b < S) under W (fun s c x => (b == s)%:R * second_term c A B x s a) * v.2 a b.
Proof.
rewrite (under_eq (F' := fun s c x =>
  \Sum_(i < T) \Sum_(k < i.+1) first_term c A B x s i.+1 k * dual v i.+1 k +
  \Sum_(a < S) \Sum_(b < S) (b == s)%:R * second_term c A B x s a * v.2 a b)); last first.
  by move=> s c x _ _ _; apply: changeE.
have f1 i k := fineM (dual v i.+1 k) (fine_first i.+1 k); have f2 a b := fineM (v.2 a b) (fine_second a b).
rewrite underD; [|by do 2 (apply: fine_total => ?); apply: f1|by do 2 (apply: fine_total => ?); apply: f2].
congr (_ + _).
  rewrite (under_total (F := fun i s c x => \Sum_(k < i.+1) first_term c A B x s i.+1 k * dual v i.+1 k)) => [|i _].
    apply: index_eq => i _; rewrite (under_total (F := fun k s c x => first_term c A B x s i.+1 k * dual v i.+1 k)) //.
    by apply: index_eq => k _; rewrite (underZ _ (fine_first i.+1 k)).
  by apply: fine_total.
rewrite (under_total (F := fun a s c x => \Sum_(b < S) (b == s)%:R * second_term c A B x s a * v.2 a b)) => [|a _].
  apply: index_eq => a _.
  rewrite (under_total (F := fun b s c x => (b == s)%:R * second_term c A B x s a * v.2 a b)) //.
  by apply: index_eq => b _; rewrite (underZ _ (fine_second a b)).
by apply: fine_total.
Qed.

(* what multiplies log(f_t + eps) in the sum *)
Definition coefficient s x t : R := mean_over P (fun c => W s c x * matrix c s t).

Lemma fine_coefficient s x t : (s < S)%N -> (t < S)%N -> x \in sequences S T ->
  bounded P (fun c => W s c x * matrix c s t).
Proof. by move=> hs ht hx; apply: boundedM; [apply: fine_W | apply: (bounded_entry valid)]. Qed.

Lemma coefficients (Y : nat -> seq nat -> nat -> R) : under W (fun s c x => \Sum_(t < S) matrix c s t * Y s x t) =
  \Sum_(s < S) \Sum_(x in sequences S T) \Sum_(t < S) Y s x t * coefficient s x t.
Proof.
apply: index_eq => s hs; transitivity (mean_over P (fun c =>
    \Sum_(x in sequences S T) \Sum_(t < S) Y s x t * (W s c x * matrix c s t))).
  by apply: (over_eq is_p) => c _; apply: total_eq => x _; rewrite -totalZ; apply: total_eq => t _; ring.
have b x t : x \in sequences S T -> t \in iota 0 S -> bounded P (fun c => Y s x t * (W s c x * matrix c s t)).
  rewrite index_lt => hx ht; apply: boundedM; first exact: bounded_const.
  exact: fine_coefficient.
rewrite (over_total is_p) => [|x hx]; last by apply: bounded_total => t; apply: b.
apply: total_eq => x hx; rewrite (over_total is_p) => [|t]; last exact: b.
by apply: index_eq => t ht; rewrite (overZ is_p) //; apply: fine_coefficient.
Qed.

Lemma derives_loss :
  derives (fun v => at_ v (loss_of W)) (loss_of W A B) (along (first_gradient W) (second_gradient W)).
Proof.
pose Y s x t (v : (nat -> nat -> R) * (nat -> nat -> R)) : R :=
  (output A B x s t + eps)^-1 * \Sum_(i < T) pulls A B x s t i * score_moved x s i.+1 v.
have sum : derives
    (fun v => \Sum_(s < S) \Sum_(x in sequences S T) \Sum_(t < S) coefficient s x t * ln (at_ v output x s t + eps))
    (\Sum_(s < S) \Sum_(x in sequences S T) \Sum_(t < S) coefficient s x t * ln (output A B x s t + eps))
    (fun v => \Sum_(s < S) \Sum_(x in sequences S T) \Sum_(t < S) coefficient s x t * Y s x t v).
  apply: (derivative_total size_of_ge0) => s; rewrite index_lt => hs.
  apply: (derivative_total size_of_ge0) => x hx; apply: (derivative_total size_of_ge0) => t _.
  exact: (derivative_comp size_of_ge0 (slope_scale (coefficient s x t) _) (derives_log hx hs t)).
have lossE A' B' : loss_of W A' B' = - S%:R^-1 *
    \Sum_(s < S) \Sum_(x in sequences S T) \Sum_(t < S) coefficient s x t * ln (output A' B' x s t + eps).
  rewrite /loss_of (coefficients (fun s x t => ln (output A' B' x s t + eps))) mulNr; congr (- (_ * _)).
  by do 3 (apply: total_eq => ? _); rewrite mulrC.
apply: derivative_eq (derivative_comp size_of_ge0 (slope_scale (- S%:R^-1) _) sum) => [v||v].
- by rewrite lossE.
- by rewrite lossE.
have -> : \Sum_(s < S) \Sum_(x in sequences S T) \Sum_(t < S) coefficient s x t * Y s x t v =
    under W (fun s c x => change s c x v).
  rewrite (under_eq (F' := fun s c x => \Sum_(t < S) matrix c s t * Y s x t v)); last first.
    by move=> s c x hs _ hx; rewrite -along_terms.
  rewrite (coefficients (fun s x t => Y s x t v)).
  by do 3 (apply: total_eq => ? _); rewrite mulrC.
rewrite under_change mulrDr /along; congr (_ + _); rewrite -totalZ; apply: index_eq => i _; last first.
  by rewrite -totalZ; apply: index_eq => b _; rewrite /second_gradient; ring.
set h := fun l => under W (fun s c x => first_term c A B x s i.+1 l).
have -> : \Sum_(k < i.+1) h k * dual v i.+1 k =
    \Sum_(k < i.+1) jacobian i.+1 (soft exp i.+1 (A i.+1)) h k * v.1 i.+1 k.
  by rewrite jacobian_symmetric; apply: index_eq => k _; rewrite mulrC.
by rewrite -totalZ; apply: index_eq => k _; rewrite /first_gradient -/h; ring.
Qed.
End Weights.

(* the law of X given that s_T = s, and the law of X *)
Definition law_given s (c : chain R) x : R :=
  definitions.law S g (matrix c) (measure c) x * (query x == s)%:R /
    expect S g (matrix c) (measure c) (fun x => (query x == s)%:R).
Definition law_apart (s : nat) (c : chain R) x : R := definitions.law S g (matrix c) (measure c) x.

Hypothesis T0 : (0 < T)%N.

Lemma query_lt x : x \in sequences S T -> (query x < S)%N.
Proof. by move=> hx; have [z _] := sequencesP hx; rewrite /query z (token_lt hx) // T0 leqnn. Qed.

Lemma share_query c s : c \in P -> (s < S)%N ->
  expect S g (matrix c) (measure c) (fun x => (query x == s)%:R) = S%:R^-1.
Proof.
move=> /valid[st sta] hs; have loc : local T.-1 (fun=> 1 : R) by [].
have := query_law st sta ok T0 hs loc; rewrite (expect1 st sta ok) mulr1 => <-.
by apply: expect_eq => x hx; have [z _] := sequencesP hx; rewrite /query z mulr1.
Qed.

Lemma fine_given : fine law_given.
Proof.
move=> s x hs hx; apply: (bounded_eq (F := fun c =>
  definitions.law S g (matrix c) (measure c) x * ((query x == s)%:R / S%:R^-1))) => [c hc|].
  by rewrite /law_given share_query // mulrA.
by apply: boundedM; [apply: (bounded_law ok valid) | apply: bounded_const].
Qed.

Lemma fine_apart : fine law_apart.
Proof. by move=> s x _ hx; apply: (bounded_law ok valid). Qed.

Lemma S_pos : (0 < S)%N.
Proof. by apply: (from_chains is_p) => c /valid[_ sta]; apply: S_gt0 sta. Qed.

Lemma under_given F : fine F -> under law_given F =
  S%:R * mean_over P (fun c => expect S g (matrix c) (measure c) (fun x => F (query x) c x)).
Proof.
move=> h; rewrite /under -(over_total is_p) => [|s]; last by rewrite index_lt => hs; apply: (fine_sum fine_given).
rewrite -(overZ is_p); last by apply: (bounded_expect ok valid) => x hx; apply: h => //; apply: query_lt.
apply: (over_eq is_p) => c hc; rewrite total_exchange /expect -totalZ; apply: total_eq => x hx.
rewrite -(total_delta (fun s => F s c x) (query_lt hx)) -!totalZ; apply: index_eq => s hs.
by rewrite /law_given share_query // invrK; ring.
Qed.

Lemma fine_log C D : fine (fun s c x => \Sum_(t < S) matrix c s t * ln (output C D x s t + eps)).
Proof.
move=> s x hs hx; apply: bounded_total => t; rewrite index_lt => ht.
by apply: boundedM; [apply: (bounded_entry valid) | apply: bounded_const].
Qed.

(* Appendix D.2 (eq-loss-rewrite-corrected) *)
Theorem loss_rewrite_corrected C D : loss C D = loss_of law_given C D.
Proof.
rewrite /loss /loss_of (under_given (fine_log C D)) mulrA mulVf ?mul1r //.
by rewrite pnatr_eq0 -lt0n S_pos.
Qed.

Lemma loss_apartE C D : loss_apart C D = loss_of law_apart C D.
Proof.
rewrite /loss_apart /loss_of; congr (- (_ * _)); rewrite /under -(over_total is_p) => [|s]; last first.
  by rewrite index_lt => hs; exact: (fine_sum fine_apart (fine_log C D) hs).
apply: (over_eq is_p) => c _; rewrite total_exchange; apply: total_eq => x _.
by rewrite totalZ.
Qed.

(* Lemma 4 (lem-pop-grads) *)
Theorem pop_grads :
  derives (fun v => at_ v loss) (loss A B) (along (first_gradient law_given) (second_gradient law_given)) /\
  derives (fun v => at_ v loss_apart) (loss_apart A B)
    (along (first_gradient law_apart) (second_gradient law_apart)).
Proof.
split.
  by apply: derivative_eq (derives_loss fine_given) => // [v|]; rewrite loss_rewrite_corrected.
by apply: derivative_eq (derives_loss fine_apart) => // [v|]; rewrite loss_apartE.
Qed.
End Loss.

(* Stage 1: at A2 = beta0 I the first gradient is gradient_one of stage_one.v. *)
Section StageOne.
Variables (R : realFieldType) (exp ln : R -> R) (S : nat) (g : seq nat) (P : prior R) (eps beta0 : R).
Variable A : nat -> nat -> R.
Hypotheses (is_exp : exponential exp) (is_log : logarithm exp ln) (eps0 : 0 < eps) (is_p : is_prior P).
Hypotheses (ok : forest g) (T0 : (0 < size g)%N).
Hypothesis valid : forall c, c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c).
Definition scaled (b : R) (a s : nat) : R := b * (a == s)%:R.

Lemma soft_eq n (a b : nat -> R) k : a =1 b -> soft exp n a k = soft exp n b k.
Proof. by move=> e; rewrite /soft e; congr (_ / _); apply: total_eq => j _; rewrite e. Qed.

Lemma attendsE x s k : attends exp A (scaled beta0) x s k = weights exp beta0 A x s k.
Proof.
apply: soft_eq => j; rewrite /score /copied -totalZ; apply: total_eq => i _.
by rewrite /scaled mulrCA.
Qed.

Lemma outputE x s t : output exp A (scaled beta0) x s t = predicted exp beta0 A x s t.
Proof. by apply: total_eq => k _; rewrite attendsE. Qed.

Lemma first_termE c x i k : first_term exp S eps c A (scaled beta0) x (query x) i k =
  beta0 * pull_at exp S eps beta0 (matrix c) A i k x.
Proof.
rewrite /first_term /pull_at -totalZr -totalZ; apply: total_eq => t _.
rewrite /inverse_share /pulls /jacobian -[total _ _]/(output exp A (scaled beta0) x (query x) t) attendsE !outputE.
by rewrite /scaled -[token x i.-1.+1]/(token x i); ring.
Qed.

Lemma first_gradientE i k : first_gradient exp S g P eps A (scaled beta0) (law_given S g) i k =
  gradient_one exp S g eps beta0 P A i k.
Proof.
have S0 : S%:R != 0 :> R by rewrite pnatr_eq0 -lt0n (S_pos is_p valid).
rewrite /first_gradient /gradient_one -mulNr -jacobian_scale; apply: jacobian_eq => l.
rewrite (under_given is_p ok valid T0); last by apply: fine_first.
rewrite /stage_one.pull mulNr mulrA mulVf // mul1r mulNr; congr (- _); rewrite -(overZ is_p).
  by apply: (over_eq is_p) => c _; rewrite /pull_of -expectZ; apply: expect_eq => x _; apply: first_termE.
apply: (bounded_expect ok valid) => x hx; rewrite /pull_at; apply: boundedM; last exact: bounded_const.
apply: bounded_total => t; rewrite index_lt => ht; do 2 (apply: boundedM; last exact: bounded_const).
by apply: (bounded_entry valid) => //; apply: (query_lt T0).
Qed.

(* Lemma 4 (lem-pop-grads) in stage 1 *)
Theorem stage_one_gradient :
  derivative (size_of S g) (fun v => loss exp ln S g P eps (moved A v.1) (moved (scaled beta0) v.2))
    (loss exp ln S g P eps A (scaled beta0))
    (along S g (gradient_one exp S g eps beta0 P A)
      (second_gradient exp S g P eps A (scaled beta0) (law_given S g))).
Proof.
have [h _] := pop_grads is_exp is_log eps0 A (scaled beta0) is_p ok valid T0.
apply: derivative_eq h => // v; congr (_ + _); apply: index_eq => i _; apply: index_eq => k _.
by rewrite first_gradientE.
Qed.
End StageOne.
