(* Sections 2 to 5 and Appendices C and D: false statements about the set-up, *)
(* the constructions and the algorithms. Each Definition is a statement as    *)
(* printed; each Theorem refutes it.                                          *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* The empirical transition: of the positions with a parent whose parent has  *)
(* token s, the share that has token s'.                                      *)
Definition children g : seq nat := [seq i <- iota 1 (size g) | parent g i != 0%N].
Definition transition (R : realFieldType) g x s s' : R :=
  (count (fun i => (token x (parent g i) == s) && (token x i == s')) (children g))%:R /
  (count (fun i => token x (parent g i) == s) (children g))%:R.

(* Section 2.3 (ex-induction-head): on the chain p(i) = i-1, the share of s'  *)
(* after the token s_T, over i = 2, ..., T, is the empirical transition, which *)
(* is defined where some parent has the token s_T.                            *)
Definition induction_head_printed (R : realFieldType) :=
  forall T x s', (2 < T)%N -> size x == T -> has (fun i => token x i.-1 == token x T) (iota 2 (T - 2)) ->
  let s := token x T in
  (count (fun i => (token x i.-1 == s) && (token x i == s')) (iota 2 T.-1))%:R /
  (count (fun i => token x i.-1 == s) (iota 2 T.-1))%:R == transition R (rcons (iota 0 T.-1) 0%N) x s s'.

Theorem induction_head_refuted : ~ induction_head_printed Q.
Proof. by move=> h; have {}h := h 4%N [:: 0; 1; 0; 0]%N 0%N; by_computation h. Qed.

(* Section 2.3 (ex-icl): pi(s'|s) = 1(s' = f(s)) is a chain that the prior    *)
(* admits: irreducible and aperiodic, which is to say that a power of it is   *)
(* positive. For no f on two states or more is it one.                        *)
Definition icl_printed (R : realFieldType) S (f : nat -> nat) :=
  exists k, forall s t, (s < S)%N -> (t < S)%N -> (0 : R) < power S (fun s t => (f s == t)%:R) k s t.

Theorem icl_refuted (R : realFieldType) S f : (1 < S)%N -> (forall s, (s < S)%N -> (f s < S)%N) ->
  ~ icl_printed R S f.
Proof.
move=> S1 fS [k h]; have S0 : (0 < S)%N by apply: ltnW.
have e s t : (s < S)%N -> (t < S)%N ->
    power S (fun s t => (f s == t)%:R) k s t = (iter k f s == t)%:R :> R.
  move=> hs ht; elim: k s hs {h} => [|k IH] s hs //=.
  by rewrite total_delta ?fS // IH ?fS // -iterSr.
have h0 := h 0%N 0%N S0 S0; have h1 := h 0%N 1%N S0 S1.
rewrite !e // in h0 h1; move: h0 h1; case: (iter k f 0%N) => [|n]; first by rewrite ltxx.
by rewrite ltxx.
Qed.

(* Construction 1 in the limit: position i attends to its parent, a root to   *)
(* all positions up to itself, and the query to the positions whose attended  *)
(* tokens have the largest share of s_T.                                      *)
Definition row (R : realFieldType) g i j : R :=
  if parent g i == 0%N then ((0 < j <= i)%N)%:R / i%:R else (j == parent g i)%:R.
Definition score (R : realFieldType) g x i : R :=
  \Sum_(j in iota 1 (size g)) row R g i j * (token x j == token x (size g))%:R.
Definition chosen (R : realFieldType) g x : seq nat :=
  [seq i <- iota 1 (size g) | all (fun j => score R g x j <= score R g x i) (iota 1 (size g))].
Definition over_chosen (R : realFieldType) g x (F : nat -> R) : R :=
  (\Sum_(i in chosen R g x) F i) / (size (chosen R g x))%:R.

(* Construction 1 (construct-single-step-limit): the output of the limit is   *)
(* the empirical transition.                                                  *)
Definition construction_printed (R : realFieldType) :=
  forall S g x s', forest g -> size x == size g -> all (fun s => s < S)%N x ->
  has (fun i => token x (parent g i) == token x (size g)) (children g) ->
  over_chosen g x (fun i => (token x i == s')%:R) == transition R g x (token x (size g)) s'.

Theorem construction_refuted : ~ construction_printed Q.
Proof. by move=> h; have {}h := h 2%N [:: 0; 1; 0]%N [:: 0; 1; 0]%N 0%N; by_computation h. Qed.

(* Construction 1 (construct-single-step-stream): the last block of h_T^(2)   *)
(* is x~_T, the token and the position of T.                                  *)
Definition embedding (R : realFieldType) S (x : seq nat) j c : R :=
  if (c < S)%N then (token x j == c)%:R else (j == (c - S).+1)%:R.
Definition stream_printed (R : realFieldType) :=
  forall S g x c, forest g -> size x == size g -> all (fun s => s < S)%N x -> (c < S + size g)%N ->
  over_chosen g x (fun i => \Sum_(j in iota 1 (size g)) row R g i j * embedding R S x j c)
    == embedding R S x (size g) c.

Theorem stream_refuted : ~ stream_printed Q.
Proof. by move=> h; have {}h := h 2%N [:: 0; 0; 2; 0]%N [:: 0; 1; 0; 1]%N 5%N; by_computation h. Qed.

(* Algorithm 1 (alg-training): the loop of stage 2 over t = tau1, ..., tau1 + *)
(* tau2, in which step t reads the iterates at t-1, reads those at tau1, ..., *)
(* tau1 + tau2 - 1.                                                           *)
Definition loop_printed := forall tau1 tau2, (0 < tau1)%N -> (0 < tau2)%N ->
  [seq t.-1 | t <- iota tau1 tau2.+1] = iota tau1 tau2.

Theorem loop_refuted : ~ loop_printed.
Proof. by move=> h; have := congr1 size (h 2%N 1%N isT isT); rewrite size_map !size_iota. Qed.

(* Algorithm 2 (alg-oracle): for convex f with f(1) = 0, it returns the       *)
(* forest. A position has no parent if its information with all before it is  *)
(* zero, and else one of largest information.                                 *)
Definition marginal (R : realFieldType) S g (c : chain R) i s : R :=
  expect S g (matrix c) (measure c) (fun x => (token x i == s)%:R).
Definition information (R : realFieldType) S g (P : prior R) (f : R -> R) i j : R :=
  mean_over P (fun c => \Sum_(s < S) \Sum_(s' < S)
    let q := marginal S g c j s * marginal S g c i s' in
    q * f (joint S g (matrix c) (measure c) i j s' s / q)).
Definition returns (R : realFieldType) S g (P : prior R) f i p : bool :=
  let I := information S g P f i in
  if p == 0%N then all (fun j => I j == 0) (iota 1 i.-1)
  else [&& (p < i)%N, I p != 0 & all (fun j => I j <= I p) (iota 1 i.-1)].
Definition oracle_printed (R : realFieldType) :=
  forall S (gamma : R) P g f i p, assumption1 S gamma P -> forest g ->
  (forall a b t, 0 <= t <= 1 -> f (t * a + (1 - t) * b) <= t * f a + (1 - t) * f b) -> f 1 = 0 ->
  (0 < i <= size g)%N -> returns S g P f i p -> p == parent g i.

Definition hinge (z : Q) : Q := Num.max (z - 3//2) 0.
Definition oracle_chain : chain Q := ([:: [:: 2//3; 1//3]; [:: 1//3; 2//3]], [:: 1//2; 1//2]).
Definition oracle_partner : chain Q := ([:: [:: 1//3; 2//3]; [:: 2//3; 1//3]], [:: 1//2; 1//2]).

Lemma hinge_convex a b t : 0 <= t <= 1 -> hinge (t * a + (1 - t) * b) <= t * hinge a + (1 - t) * hinge b.
Proof.
case/andP=> t0 t1; have u0 : 0 <= 1 - t by rewrite subr_ge0.
have up z : z - 3//2 <= hinge z by rewrite le_maxr lexx.
have pos z : 0 <= hinge z by rewrite le_maxr lexx orbT.
rewrite {1}/hinge le_maxl addr_ge0 ?mulr_ge0 // andbT.
have -> : t * a + (1 - t) * b - 3//2 = t * (a - 3//2) + (1 - t) * (b - 3//2) by ring.
by rewrite ler_add // ler_wpmul2l.
Qed.

Theorem oracle_refuted : ~ oracle_printed Q.
Proof.
have a : assumption1 2 (1//10) (uniform (relabelings 2 oracle_chain ++ relabelings 2 oracle_partner)).
  by apply: orbits_assumption1; vm_compute.
move=> h; have {}h := h 2%N _ _ [:: 0; 1; 0]%N hinge 2%N 0%N a isT hinge_convex.
have one : hinge 1 = 0 by apply/eqP; vm_compute.
move/(_ one): h => h; by_computation h.
Qed.

(* Theorem 3 (thm-equivalence-to), for one layer, one head, dimension one and *)
(* S = T = 2, where both transformers are h_T + V (the attended mean of h):   *)
(* with scores h_T Q K h_j, and in the disentangled one, with the weights as  *)
(* printed, h_T Q V h_j. Of exp is used that exp(0) = 1 and exp(1) > 1.       *)
Definition attended_mean (R : realFieldType) (exp : R -> R) (h0 h1 c : R) : R :=
  (exp (h1 * c * h0) * h0 + exp (h1 * c * h1) * h1) / (exp (h1 * c * h0) + exp (h1 * c * h1)).
Definition equivalence_to_printed (R : realFieldType) (exp : R -> R) :=
  forall h0 h1 q k v, h1 + v * attended_mean exp h0 h1 (q * k) = h1 + v * attended_mean exp h0 h1 (q * v).

Theorem equivalence_to_refuted (R : realFieldType) (exp : R -> R) : exp 0 = 1 -> 1 < exp 1 ->
  ~ equivalence_to_printed exp.
Proof.
move=> e0 e1 /(_ 0 1 1 0 1) /addrI; rewrite /attended_mean !(mul1r, mulr0, mulr1, mul0r, e0, add0r).
move=> e; have p0 : 0 < 1 + exp 1 by rewrite addr_gt0 ?ltr01 // (lt_trans ltr01).
have two : (1 + 1 : R) != 0 by rewrite lt0r_neq0 // addr_gt0 ?ltr01.
have : (1 + 1)^-1 * (1 + 1) * (1 + exp 1) = exp 1 / (1 + exp 1) * (1 + 1) * (1 + exp 1) by rewrite e.
rewrite mulVf // mul1r mulrAC divfK ?lt0r_neq0 // mulrDr mulr1 => /addIr e2.
by move: e1; rewrite -e2 ltxx.
Qed.

(* Theorem 3 (thm-equivalence-from): in V_i^(l), a matrix with d_L rows, the  *)
(* i d_l rows of zeros and the d_l of the identity have room; d_l =           *)
(* (1 + m_l) d_{l-1}, and i runs over the heads 1, ..., m_l.                  *)
Fixpoint width (d0 : nat) (heads : seq nat) l : nat :=
  if l is l'.+1 then ((1 + nth 0 heads l') * width d0 heads l')%N else d0.
Definition equivalence_from_printed :=
  forall d0 heads l i, (0 < l <= size heads)%N -> (0 < i <= nth 0 heads l.-1)%N ->
  (i * width d0 heads l + width d0 heads l <= width d0 heads (size heads))%N.

Theorem equivalence_from_refuted : ~ equivalence_from_printed.
Proof. by move=> h; have {}h := h 2%N [:: 1%N] 1%N 1%N; by_computation h. Qed.

(* Appendix D.2 (eq-loss-rewrite): the loss, in which s_T is the query, is    *)
(* -1/S E[sum_{s,s'} pi(s'|s) log(f(X;s)_{s'} + eps)] for whole sequences X;  *)
(* at A1 = A2 = 0, where f(X;s) is the share of each token in X, and for      *)
(* every increasing function in place of the logarithm.                       *)
Definition loss (R : realFieldType) (ln : R -> R) S g pi mu eps : R :=
  - expect S g pi mu (fun x => \Sum_(s' < S) pi (token x (size g)) s' * ln (frequency R x s' + eps)).
Definition rewritten (R : realFieldType) (ln : R -> R) S g pi mu eps : R :=
  - (S%:R^-1 * expect S g pi mu (fun x => \Sum_(s < S) \Sum_(s' < S) pi s s' * ln (frequency R x s' + eps))).
Definition loss_printed (R : realFieldType) (ln : R -> R) :=
  forall S g pi mu eps, stochastic S pi -> stationary S pi mu -> forest g -> 0 < eps ->
  loss ln S g pi mu eps = rewritten ln S g pi mu eps.

Definition sticks (R : realFieldType) (s t : nat) : R := (if s == t then 2%:R else 1) / 3%:R.
Definition even (R : realFieldType) (_ : nat) : R := 2%:R^-1.

Lemma sticks_ge0 (R : realFieldType) s t : 0 <= sticks R s t.
Proof. by rewrite /sticks divr_ge0 ?ler0n //; case: eqP => _; rewrite ?ler0n ?ler01. Qed.

Lemma sticks_stochastic (R : realFieldType) : stochastic 2 (sticks R).
Proof.
rewrite /stochastic /= !sticks_ge0 /= /total /sticks /= !addr0.
by apply/and3P; split=> //; apply/eqP; field.
Qed.

Lemma even_stationary (R : realFieldType) : stationary 2 (sticks R) (even R).
Proof.
have e0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
rewrite /stationary /distribution /= /even /total /sticks /= !e0 /= !addr0.
by apply/and4P; split=> //; apply/eqP; field.
Qed.

Theorem loss_refuted (R : realFieldType) (ln : R -> R) : (forall x y, 0 < x -> x < y -> ln x < ln y) ->
  ~ loss_printed ln.
Proof.
move=> up h; have := h 2%N [:: 0; 0]%N _ _ 1 (sticks_stochastic R) (even_stationary R) isT ltr01.
have lt : ln (0%:R / 2%:R + 1) < ln (2%:R / 2%:R + 1).
  by apply: up; rewrite ?mul0r ?add0r ?ltr01 // divff ?pnatr_eq0 // ltr_addr ltr01.
rewrite /loss /rewritten /expect /total /= /law /step /= /total /frequency /= /sticks /even /=.
rewrite /GRing.natmul /= in lt *.
move: (ln (0 / _ + 1)) (ln ((1 + 1) / _ + 1)) (ln (1 / _ + 1)) lt => none both one lt.
move/eqP; rewrite -subr_eq0.
match goal with |- is_true (?u == 0) -> _ => have -> : u = (none - both) / 12%:R by field end.
by rewrite mulf_eq0 subr_eq0 (lt_eqF lt) invr_eq0 pnatr_eq0.
Qed.
