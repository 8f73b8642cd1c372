(* The objects of the paper, over any ordered field R, written so that the    *)
(* kernel can also compute them. States are 0, ..., S-1; positions are        *)
(* 1, ..., T; everything is a total function, and only what lies in range     *)
(* matters.                                                                   *)
(*                                                                            *)
(* Sums and conditions                                                        *)
(*   \Sum_(a in l) F   == the sum of F over the list l                        *)
(*   \Sum_(s < n) F    == the sum of F over s = 0, ..., n-1                   *)
(*   [all s < n, P]    == P (a boolean) for s = 0, ..., n-1                   *)
(*                                                                            *)
(* Chains: pi s t is the probability of t after s (the paper's pi(t | s))     *)
(*   stochastic S pi   == nonnegative entries, rows of sum 1                  *)
(*   stationary S pi mu == mu is a probability vector with mu pi = mu         *)
(*   power S pi k      == pi^k                                                *)
(*   spread S pi mu    == sum_s |pi(.|s) - mu|^2                              *)
(*   centered pi mu    == pi - 1 mu^T, which is D^-1 B D for D = diag(mu)^1/2 *)
(*   normB S pi mu     == |B_pi|_F^2 by eq. (B_pi_norm) of Appendix E         *)
(*   distance S pi j k == the total variation of rows j and k                 *)
(*   alpha S pi        == the largest of them                                 *)
(* No chain is assumed to be reversible.                                      *)
(*                                                                            *)
(* Priors: laws of chains, each with its measure. Of a law the proofs use a   *)
(* set of chains that has all of its mass, and the means of functions that    *)
(* are bounded on this set.                                                   *)
(*   c \in P           == c is in the set of the prior P                      *)
(*   mean_over P F     == the mean of F under P                               *)
(*   bounded P F       == F is bounded on the set of P                        *)
(*   is_prior P        == the mean of 1 is 1; means depend on values in the   *)
(*                        set alone, are linear and keep signs                *)
(*   weighted l        == the prior of a list of chains with their weights    *)
(*   uniform l         == the prior of a list of chains with equal weights    *)
(*   assumption1 S gamma P == P is a prior with the bullets of Assumption 1   *)
(*                                                                            *)
(* Forests: nth i of a graph is the parent of position i+1, or 0 for a root   *)
(*   forest g          == parents come before their children, the last        *)
(*                        position is a root that nobody has for a parent     *)
(*   ancestors g i     == i, its parent, and so on up to its root             *)
(*   between g i j     == the distance of i and j, None in different trees    *)
(*   leaves g i        == the number of leaves of the tree of i               *)
(*                                                                            *)
(* Task 1                                                                     *)
(*   sequences S T     == all sequences of T tokens                           *)
(*   law S g pi mu x   == the probability of x: roots follow mu, children pi, *)
(*                        the last token is uniform                           *)
(*   expect S g pi mu F == the expectation of F                               *)
(*   joint S g pi mu i j s' s == P[s_i = s', s_j = s]                         *)
(*   gradient S g pi mu i j == g_ij(pi), the idealized gradient, its sum over *)
(*                        s and s' as an expectation; gradientE of            *)
(*                        forest_gap.v shows that they are equal              *)
(*   mean_gradient S g P i j == g_ij, the mean of g_ij(pi) over the prior     *)
(*   frequency x s     == the share of token s in x                           *)
(*   ghat S g P eps i j == ghat_ij, the gradient at A2 = 0: the mean of       *)
(*                        sum_{s'} pi(s'|s_j)/(muhat(s') + eps)               *)
(*                                 (x_{i,s'} - muhat(s'))                     *)
(*   jacobian n p v j  == (J(p) v)_j with J(p) = diag(p) - p p^T              *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition total (R : realFieldType) (A : Type) (l : seq A) (F : A -> R) : R :=
  foldr (fun a x => F a + x) 0 l.
Notation "\Sum_ ( a 'in' l ) F" := (total l (fun a => F))
  (at level 41, F at level 41, a name, l at level 50, format "\Sum_ ( a  'in'  l )  F") : ring_scope.
Notation "\Sum_ ( s < n ) F" := (total (iota 0 n) (fun s => F))
  (at level 41, F at level 41, s name, n at level 50, format "\Sum_ ( s  <  n )  F") : ring_scope.
Notation "[ 'all' s < n , P ]" := (all (fun s => P) (iota 0 n))
  (at level 0, s name, n at level 50, P at level 99, format "[ 'all'  s  <  n ,  P ]") : bool_scope.

Section Chains.
Variables (R : realFieldType) (S : nat).
Implicit Types (pi : nat -> nat -> R) (mu : nat -> R).

Definition stochastic pi : bool :=
  [all s < S, [all t < S, 0 <= pi s t]] && [all s < S, \Sum_(t < S) pi s t == 1].

Definition distribution mu : bool := [all s < S, 0 <= mu s] && (\Sum_(s < S) mu s == 1).

Definition stationary pi mu : bool :=
  distribution mu && [all t < S, \Sum_(s < S) mu s * pi s t == mu t].

Fixpoint power pi k : nat -> nat -> R :=
  if k is k'.+1 then fun s t => \Sum_(r < S) pi s r * power pi k' r t else fun s t => (s == t)%:R.

Definition at_least pi x : bool := [all s < S, [all t < S, x <= pi s t]].
Definition above pi x : bool := [all s < S, [all t < S, x < pi s t]].

Definition spread pi mu : R := \Sum_(s < S) \Sum_(t < S) (pi s t - mu t) ^+ 2.

Definition centered pi mu : nat -> nat -> R := fun s t => pi s t - mu t.

Definition normB pi mu : R := \Sum_(s < S) \Sum_(t < S) (mu s * pi s t ^+ 2 / mu t) - 1.

Definition distance pi j k : R := (\Sum_(s < S) `|pi j s - pi k s|) / 2%:R.

Definition alpha pi : R :=
  foldr Num.max 0 [seq distance pi j k | j <- iota 0 S, k <- iota 0 S].
End Chains.

Section Priors.
Variables (R : realFieldType) (S : nat).

Definition chain := (seq (seq R) * seq R)%type.
Definition matrix (c : chain) s t : R := nth 0 (nth [::] c.1 s) t.
Definition measure (c : chain) s : R := nth 0 c.2 s.

Record prior := Prior { among : pred chain; mean_over : (chain -> R) -> R }.
Canonical prior_predType := PredType among.

Definition bounded (P : prior) (F : chain -> R) : Prop := exists b, forall c, c \in P -> `|F c| <= b.

Definition is_prior (P : prior) : Prop :=
  [/\ mean_over P (fun=> 1) = 1,
    forall F G, (forall c, c \in P -> F c = G c) -> mean_over P F = mean_over P G,
    forall a F G, bounded P F -> bounded P G ->
      mean_over P (fun c => a * F c + G c) = a * mean_over P F + mean_over P G &
    forall F, bounded P F -> (forall c, c \in P -> 0 <= F c) -> 0 <= mean_over P F].

Definition weighted (l : seq (R * chain)) : prior :=
  Prior (fun c => c \in [seq o.2 | o <- l]) (fun F => \Sum_(o in l) o.1 * F o.2).
Definition uniform (l : seq chain) : prior := weighted [seq ((size l)%:R^-1, c) | c <- l].

Definition relabel (sigma : seq nat) (c : chain) : chain :=
  ([seq [seq matrix c s t | t <- sigma] | s <- sigma], [seq measure c s | s <- sigma]).

Definition relabelings (c : chain) : seq chain := [seq relabel sigma c | sigma <- permutations (iota 0 S)].

Definition admissible gamma (c : chain) : bool :=
  [&& stochastic S (matrix c), stationary S (matrix c) (measure c), above S (matrix c) (gamma / S%:R)
    & gamma ^+ 2 / S%:R <= spread S (matrix c) (measure c)].

Definition symmetric (P : prior) : Prop :=
  forall sigma, perm_eq sigma (iota 0 S) -> forall F, bounded P F -> bounded P (fun c => F (relabel sigma c)) ->
  mean_over P (fun c => F (relabel sigma c)) = mean_over P F.

Definition constant_mean (P : prior) : bool :=
  [all s < S, [all t < S, mean_over P (fun c => matrix c s t) == S%:R^-1]].

Definition assumption1 gamma (P : prior) : Prop :=
  [/\ 0 < gamma, forall c, c \in P -> admissible gamma c, symmetric P, constant_mean P & is_prior P].
End Priors.

Section Forests.
Variable g : seq nat.

Definition parent i : nat := nth 0%N g i.-1.

Definition forest : bool :=
  [all i < size g, (nth 0 g i <= i)%N && (nth 0 g i < size g)%N] && (parent (size g) == 0%N).

Fixpoint climb fuel i : seq nat :=
  if fuel is n.+1 then i :: (if parent i == 0%N then [::] else climb n (parent i)) else [::].
Definition ancestors i : seq nat := climb i i.

Definition between i j : option nat :=
  let up := ancestors i in
  let k := find (mem (ancestors j)) up in
  if (k < size up)%N then Some (k + index (nth 0%N up k) (ancestors j))%N else None.

Definition is_leaf i : bool := ~~ has (fun j => parent j == i) (iota 1 (size g)).
Definition same_tree i j : bool := between i j != None.
Definition leaves i : nat := count (fun j => same_tree i j && is_leaf j) (iota 1 (size g)).
Definition most_leaves : nat := foldr maxn 0%N [seq leaves i | i <- iota 1 (size g)].
End Forests.

Section Task.
Variables (R : realFieldType) (S : nat) (g : seq nat) (pi : nat -> nat -> R) (mu : nat -> R).

Fixpoint sequences T : seq (seq nat) :=
  if T is n.+1 then [seq s :: x | s <- iota 0 S, x <- sequences n] else [:: [::]].

Definition token (x : seq nat) i : nat := nth 0%N x i.-1.

Definition step x i : R :=
  if i == size g then S%:R^-1
  else if parent g i == 0%N then mu (token x i) else pi (token x (parent g i)) (token x i).

Definition law x : R := foldr (fun i y => step x i * y) 1 (iota 1 (size g)).

Definition expect (F : seq nat -> R) : R := \Sum_(x in sequences (size g)) law x * F x.

Definition joint i j s' s : R := expect (fun x => ((token x i == s') && (token x j == s))%:R).

(* sum_{s,s'} pi(s'|s)/mu(s') P[s_i = s', s_j = s] - 1, the sum as an expectation *)
Definition gradient i j : R := expect (fun x => pi (token x j) (token x i) / mu (token x i)) - 1.
End Task.

Section EffectiveLength.
Variables (R : realFieldType) (g : seq nat).

Definition weight (lambda : R) i j : R := if between g i j is Some d then lambda ^+ d else 0.

(* T_eff(lambda) and T_eff *)
Definition effective_length (lambda : R) : R :=
  (size g)%:R ^+ 2 / \Sum_(i in iota 1 (size g)) \Sum_(j in iota 1 (size g)) weight lambda i j.
Definition effective_length_leaves : R := (size g)%:R / (most_leaves g)%:R.
End EffectiveLength.

Section Gradients.
Definition mean_gradient (R : realFieldType) S g (P : prior R) i j : R :=
  mean_over P (fun c => gradient S g (matrix c) (measure c) i j).

Definition frequency (R : realFieldType) (x : seq nat) s : R := (count_mem s x)%:R / (size x)%:R.

Definition ghat_of (R : realFieldType) S g (pi : nat -> nat -> R) mu eps i j : R :=
  expect S g pi mu (fun x => \Sum_(s < S)
    pi (token x j) s / (frequency R x s + eps) * ((token x i == s)%:R - frequency R x s)).

Definition ghat (R : realFieldType) S g (P : prior R) eps i j : R :=
  mean_over P (fun c => ghat_of S g (matrix c) (measure c) eps i j).

Definition ghat_row (R : realFieldType) S g (P : prior R) eps i k : R := ghat S g P eps i k.+1.

Definition jacobian (R : realFieldType) n (p v : nat -> R) j : R := p j * (v j - \Sum_(k < n) p k * v k).
End Gradients.
