(* Theorem 1: false steps on the way to it. Each Definition is a statement as *)
(* printed; each Theorem refutes it.                                          *)
(* Of the logarithm is used that it is not negative from 1 on and not         *)
(* positive before.                                                           *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions sums markov leaves law probability computation refuted_setup.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Theorem 1 (thm-main-step-threshold): what Lemma 32 says of                 *)
(* f <= gamma^3/(4 S^2), the proof uses of f < gamma^3/(4 S), for a constant C. *)
Definition threshold_printed (R : realFieldType) (C : R) :=
  forall S (gamma : R) (A : eqType) (l : seq (R * A)) (f : A -> R), (0 < S)%N -> 0 < gamma <= 1 -> is_law l ->
  (forall a, 0 <= f a <= 1) ->
  mean_law l (fun a => (f a < gamma ^+ 3 / (4%:R * S%:R))%R%:R) <=
    C * mean_law l (fun a => (f a <= gamma ^+ 3 / (4%:R * S%:R ^+ 2))%R%:R).

Theorem threshold_refuted (C : Q) : ~ threshold_printed C.
Proof.
move=> h; have {}h := h 2%N 1 bool_eqType [:: (1, true)] (fun _ => 3//32) isT isT isT (fun _ => isT).
have e : mean_law [:: (1, true)] (fun _ : bool => ((3//32 : Q) <= 1 ^+ 3 / (4%:R * 2%:R ^+ 2))%R%:R) = 0 :> Q.
  by apply/eqP; vm_compute.
by move: h; rewrite e mulr0; vm_compute.
Qed.

(* Theorem 1 (thm-main-step-epsilon): a bound a on L - L*, with the loss L    *)
(* perturbed by the eps of the theorem's choice, bounds half of the mean of   *)
(* |q - pi(.|s_T)|_1^2 for q = (f + eps)/(1 + S eps); here at A2 = 0, where f *)
(* is the share of each token.                                                *)
Definition best (R : realFieldType) (ln : R -> R) S (pi : nat -> nat -> R) : R :=
  - (S%:R^-1 * \Sum_(s < S) \Sum_(s' < S) pi s s' * ln (pi s s')).
Definition off (R : realFieldType) S g pi mu (eps : R) : R :=
  expect S g pi mu (fun x => (\Sum_(s' < S)
    `|(frequency R x s' + eps) / (1 + S%:R * eps) - pi (token x (size g)) s'|) ^+ 2 / 2%:R).
Definition epsilon_printed (R : realFieldType) (ln : R -> R) :=
  forall S g pi mu eps a, stochastic S pi -> stationary S pi mu -> forest g -> 0 < eps -> 0 <= a ->
  loss ln S g pi mu eps - best ln S pi <= a -> off S g pi mu eps <= a.

Lemma loss_le0 (R : realFieldType) (ln : R -> R) S g pi mu eps : stochastic S pi -> stationary S pi mu ->
  forest g -> (0 < size g)%N -> 1 <= eps -> (forall x, 1 <= x -> 0 <= ln x) -> loss ln S g pi mu eps <= 0.
Proof.
move=> st sta ok T0 e1 up; rewrite oppr_le0.
have zero : expect S g pi mu (fun=> 0) = 0.
  by rewrite /expect (total_eq (G := fun=> 0)) ?total0 // => x _; apply: mulr0.
rewrite -[leLHS]zero; apply: (expect_le st sta ok) => x hx; apply: total_ge0 => s; rewrite index_lt => hs.
apply: mulr_ge0; first by apply: pi_ge0 st (token_lt hx _) hs; rewrite T0 leqnn.
by apply: up; apply: le_trans e1 _; rewrite ler_addr divr_ge0 ?ler0n.
Qed.

Theorem epsilon_refuted (ln : Q -> Q) : (forall x, 1 <= x -> 0 <= ln x) -> (forall x, 0 <= x <= 1 -> ln x <= 0) ->
  ~ epsilon_printed ln.
Proof.
move=> up down h; have st := sticks_stochastic Q; have sta := even_stationary Q.
have {}h := h 2%N [:: 0; 0]%N _ _ 1 0 st sta isT ltr01 (lexx _).
have loss0 : loss ln 2 [:: 0; 0]%N (sticks Q) (even Q) 1 <= 0.
  exact: (loss_le0 st sta isT isT (lexx 1) up).
have best0 : 0 <= best ln 2 (sticks Q).
  rewrite oppr_ge0 mulr_ge0_le0 ?invr_ge0 ?ler0n // -[leRHS](total0 Q (iota 0 2)).
  apply: total_le => s _; rewrite -[leRHS](total0 Q (iota 0 2)); apply: total_le => t _.
  rewrite mulr_ge0_le0 ?sticks_ge0 // down // sticks_ge0 /sticks /=.
  by case: (s == t); vm_compute.
have : loss ln 2 [:: 0; 0]%N (sticks Q) (even Q) 1 - best ln 2 (sticks Q) <= 0.
  by rewrite subr_le0 (le_trans loss0).
by move/h; vm_compute.
Qed.
