(* Appendices E and F: false statements about chains and about forests. Each  *)
(* Definition is a statement as printed; each Theorem refutes it by a witness *)
(* that the kernel computes.                                                  *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions priors computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Lemma 16 (lem-bound-g1): under Assumption 1, |B_pi|_F^2 >= gamma^2/S.      *)
Definition bound_g1_printed (R : realFieldType) :=
  forall S (gamma : R) P c, assumption1 S gamma P -> c \in P ->
  gamma ^+ 2 / S%:R <= normB S (matrix c) (measure c).

Definition bound_g1_pi : chain Q := ([:: [:: 1//4; 3//4]; [:: 1//2; 1//2]], [:: 2//5; 3//5]).
Definition bound_g1_partner : chain Q := ([:: [:: 1//2; 1//2]; [:: 1//4; 3//4]], [:: 1//3; 2//3]).
Definition bound_g1_prior := relabelings 2%N bound_g1_pi ++ relabelings 2%N bound_g1_partner.

Theorem bound_g1_refuted : ~ bound_g1_printed Q.
Proof.
have a : assumption1 2 (5//14) (uniform bound_g1_prior).
  by apply: orbits_assumption1; vm_compute.
by move=> h; have {}h := h 2%N _ _ bound_g1_pi a; by_computation h.
Qed.

(* Lemma 18 (lem-teff-leaves): T_eff(lambda) >= (1 - lambda) T/max_l L_l.      *)
Definition teff_leaves_printed (R : realFieldType) :=
  forall g (lambda : R), forest g -> 0 < lambda < 1 ->
  (1 - lambda) * effective_length_leaves R g <= effective_length g lambda.

Theorem teff_leaves_refuted : ~ teff_leaves_printed Q.
Proof. by move=> h; have := h [:: 0; 1; 2; 3; 0]%N (1//10); move=> {}h; by_computation h. Qed.

(* Lemma 18 (lem-teff-leaves-step-count): in a tree with L leaves at most L   *)
(* positions are at distance k from position i.                               *)
Definition count_printed :=
  forall g i k, forest g -> (0 < i <= size g)%N ->
  (count (fun j => between g i j == Some k) (iota 1 (size g)) <= leaves g i)%N.

Theorem count_refuted : ~ count_printed.
Proof. by move=> h; have {}h := h [:: 0; 1; 2; 0]%N 2%N 1%N; by_computation h. Qed.

(* Appendix E (eq-b-powers-step-zero): the formula                            *)
(* (B^k)_{s,t} = sqrt(mu(s)/mu(t)) (pi^k(t|s) - mu(t)) at k = 0, where B^0 = I. *)
Definition power_zero_printed (R : realFieldType) :=
  forall S pi (mu : nat -> R) s t root, stochastic S pi -> stationary S pi mu -> [all u < S, 0 < mu u] ->
  (s < S)%N -> (t < S)%N -> 0 <= root -> root ^+ 2 == mu s / mu t -> (s == t)%:R == root * (power S pi 0 s t - mu t).

Theorem power_zero_refuted : ~ power_zero_printed Q.
Proof.
by move=> h; have {}h := h 2%N (fun _ _ => 1//2) (fun _ => 1//2) 0%N 0%N 1; by_computation h.
Qed.

(* Lemma 13 (lem-spectral-gap-step-decomposition):                            *)
(* pi = gamma/S 1 mu^T + (1 - gamma) Q with Q stochastic.                     *)
Definition decomposition_printed (R : realFieldType) :=
  forall S pi (mu : nat -> R) gamma, stochastic S pi -> stationary S pi mu -> 0 < gamma < 1 ->
  at_least S pi (gamma / S%:R) -> exists2 q, stochastic S q &
  [all s < S, [all t < S, pi s t == gamma / S%:R * mu t + (1 - gamma) * q s t]].

Definition thirds : chain Q := ([:: [:: 1//3; 2//3]; [:: 1//3; 2//3]], [:: 1//3; 2//3]).

Lemma solve_linear (R : realFieldType) (a b c q : R) : c != 0 -> a == b + c * q -> q = (a - b) / c.
Proof. by move=> nz /eqP ->; rewrite addrAC subrr add0r mulrC mulKf. Qed.

Theorem decomposition_refuted : ~ decomposition_printed Q.
Proof.
move=> h; have {}h := h 2%N (matrix thirds) (measure thirds) (2//3).
do 4 (specialize (h ltac:(vm_compute; reflexivity))).
case: h => q /andP[_ /andP[/eqP + _]] /andP[/andP[+ /andP[+ _]] _].
move=> sum /solve_linear-/(_ isT) e0 /solve_linear-/(_ isT) e1.
by move: sum; rewrite /total /= e0 e1 => /eqP; vm_compute.
Qed.

(* Lemma 19 (lem-covariance-step-ancestor): the covariance of s_j and s_i     *)
(* from their closest common ancestor k, with s and s' as printed.            *)
Definition ancestor_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R) i j k a b s s', stochastic S pi -> stationary S pi mu -> forest g ->
  (0 < i < size g)%N -> (0 < j < size g)%N -> k \in ancestors g i -> k \in ancestors g j ->
  between g k j == Some a -> between g k i == Some b -> between g i j == Some (a + b)%N ->
  (s < S)%N -> (s' < S)%N ->
  joint S g pi mu j i s s' - mu s * mu s' ==
    \Sum_(r < S) mu r * (power S pi a r s' - mu s') * (power S pi b r s - mu s).

Definition ancestor_chain : chain Q :=
  ([:: [:: 1//4; 1//2; 1//4]; [:: 1//4; 1//2; 1//4]; [:: 1//4; 1//4; 1//2]], [:: 1//4; 5//12; 1//3]).

Theorem ancestor_refuted : ~ ancestor_printed Q.
Proof.
move=> h; have {}h := h 3%N [:: 0; 1; 1; 2; 3; 0]%N (matrix ancestor_chain) (measure ancestor_chain)
  2%N 1%N 1%N 0%N 1%N 0%N 1%N.
by_computation h.
Qed.

(* Lemma 20 (lem-muhat-var-step-last):                                        *)
(* sum_{i,j=1}^{T-1} lambda^d(i,j) = (T-1)^2/T_eff(lambda).                   *)
Definition muhat_last_printed (R : realFieldType) :=
  forall g (lambda : R), forest g -> 0 < lambda < 1 ->
  \Sum_(i in iota 1 (size g).-1) \Sum_(j in iota 1 (size g).-1) weight g lambda i j ==
    (size g).-1%:R ^+ 2 / effective_length g lambda.

Theorem muhat_last_refuted : ~ muhat_last_printed Q.
Proof. by move=> h; have {}h := h [:: 0; 0]%N (1//6); by_computation h. Qed.

(* Lemma 21 (lem-chat-var), its first claim: with                             *)
(* chat(s,s') = 1/|I| sum_{i in I} x_{p(i),s} x_{i,s},                        *)
(* E chat(s,s') = mu(s) pi(s'|s).                                             *)
Definition chat_printed (R : realFieldType) :=
  forall S g pi (mu : nat -> R) I s s', stochastic S pi -> stationary S pi mu -> forest g ->
  all (fun i => (0 < i < size g)%N && (parent g i != 0%N)) I -> uniq I -> (0 < size I)%N ->
  (s < S)%N -> (s' < S)%N ->
  expect S g pi mu (fun x => (\Sum_(i in I) ((token x (parent g i) == s) && (token x i == s))%:R) / (size I)%:R)
    == mu s * pi s s'.

Theorem chat_refuted : ~ chat_printed Q.
Proof.
move=> h; have {}h := h 2%N [:: 0; 1; 0]%N (matrix thirds) (measure thirds) [:: 2%N] 0%N 1%N.
by_computation h.
Qed.

(* Lemma 21 (lem-chat-var-step-dependent): with lambda = 1 - gamma/S,         *)
(* mu(s) pi(s'|s)^2 (pi^d(s|s') - mu(s)) <= sqrt(mu(s) mu(s')) pi(s'|s)^2 lambda^d. *)
(* Here with any bound of the root in place of it.                            *)
Definition dependent_printed (R : realFieldType) :=
  forall S pi (mu : nat -> R) gamma d s s' root, stochastic S pi -> stationary S pi mu -> 0 < gamma ->
  at_least S pi (gamma / S%:R) -> (s < S)%N -> (s' < S)%N -> 0 <= root -> mu s * mu s' <= root ^+ 2 ->
  mu s * pi s s' ^+ 2 * (power S pi d s' s - mu s) <= root * pi s s' ^+ 2 * (1 - gamma / S%:R) ^+ d.

Definition dependent_chain : chain Q :=
  ([:: [:: 2//11; 8//11; 1//11]; [:: 2//11; 8//11; 1//11]; [:: 9//11; 1//11; 1//11]],
   [:: 29//121; 81//121; 1//11]).

Theorem dependent_refuted : ~ dependent_printed Q.
Proof.
move=> h; have {}h := h 3%N (matrix dependent_chain) (measure dependent_chain) (3//11) 1%N 0%N 2%N (37//250).
by_computation h.
Qed.
