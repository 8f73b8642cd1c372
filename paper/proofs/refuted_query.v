(* The row of the query in stage 1: statements about all roots, of which the  *)
(* query is one, that fail for it. Each Definition is a statement as printed, *)
(* for given constants c, C, D of S and gamma; each Theorem refutes it for    *)
(* whatever positive c and D and whatever C, over the real numbers or another *)
(* archimedean field. eps is T_eff^(-1/2); exp is as in stage_one.v.          *)
(*                                                                            *)
(*   in_context T      == the graph 1 -> 2, 3 -> 4, ... on T positions        *)
(*   two a b           == the chain 1-a, a; b, 1-b with its measure           *)
(*   toward            == a prior for which g_TT > 0                          *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors markov leaves effective_length law forest_gap stage_one.
From LearnCausal Require Import query_row.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition setting (R : realFieldType) S (gamma : R) P g eps : Prop :=
  [/\ assumption1 S gamma P, forest g, 0 < eps & eps ^+ 2 * effective_length_leaves R g = 1].

(* Lemma 3 (lem-gradient-informal): row i of the gradient is                  *)
(* -beta0/(S T) J(S(A1_i)) (g_i + e) with |e| <= C eps, for all i.            *)
Definition gradient_printed (R : realFieldType) (exp : R -> R) (c C : nat -> R -> R) :=
  forall S gamma P g eps beta0 A i, setting S gamma P g eps -> 0 < beta0 <= c S gamma * eps ^+ 3 ->
  (0 < i <= size g)%N -> exists2 e : nat -> R, forall k, (k < i)%N -> `|e k| <= C S gamma * eps &
  forall k, (k < i)%N -> gradient_one exp S g eps beta0 P A i k =
    - (beta0 / (S%:R * (size g)%:R)) * jacobian i (soft exp i (A i)) (fun l => mean_gradient S g P i l.+1 + e l) k.

(* Lemma 6 (thm-stage1-roots): for roots i and every A1, row i of the         *)
(* gradient is J(S(A1_i)) v with |v| <= C beta0 eps/T.                        *)
Definition roots_printed (R : realFieldType) (exp : R -> R) (c C : nat -> R -> R) :=
  forall S gamma P g eps beta0 A i, setting S gamma P g eps -> 0 < beta0 <= c S gamma * eps ^+ 3 ->
  (0 < i <= size g)%N -> parent g i == 0%N ->
  exists2 v : nat -> R, forall k, (k < i)%N -> `|v k| <= C S gamma * (beta0 / (size g)%:R * eps) &
  forall k, (k < i)%N -> gradient_one exp S g eps beta0 P A i k = jacobian i (soft exp i (A i)) v k.

(* Lemma 7 (lem-no-parents): for roots i, after tau steps of size eta,        *)
(* |S(A1_i)_j - 1/i| <= C tau eta beta0 eps/(T i^2) for all j <= i.           *)
Definition drift_printed (R : realFieldType) (exp : R -> R) (c C : nat -> R -> R) :=
  forall S gamma P g eps beta0 eta tau i k, setting S gamma P g eps -> 0 < beta0 <= c S gamma * eps ^+ 3 ->
  0 < eta -> (0 < i <= size g)%N -> parent g i == 0%N -> (k < i)%N ->
  `|soft exp i (trained exp S g eps beta0 P eta tau i) k - i%:R^-1| <=
    C S gamma * (tau%:R * eta * beta0 / (size g)%:R * eps / i%:R ^+ 2).

(* Corollary 1 (cor-stage1-roots): for roots i, after the tau steps of size   *)
(* eta with tau eta beta0 = D T^2 log T that the other rows need,             *)
(* |S(A1_i)_j - 1/i| <= C min(1, T log T eps/i^2).                            *)
Definition end_printed (R : realFieldType) (exp ln : R -> R) (c D C : nat -> R -> R) :=
  forall S gamma P g eps beta0 eta tau i k, setting S gamma P g eps -> 0 < beta0 <= c S gamma * eps ^+ 3 ->
  0 < eta -> tau%:R * eta * beta0 = D S gamma * (size g)%:R ^+ 2 * ln (size g)%:R ->
  (0 < i <= size g)%N -> parent g i == 0%N -> (k < i)%N ->
  `|soft exp i (trained exp S g eps beta0 P eta tau i) k - i%:R^-1| <=
    C S gamma * Num.min 1 ((size g)%:R * ln (size g)%:R * eps / i%:R ^+ 2).

(* Lemma 29 (lem-compare-z): after these steps, for roots i and all s,        *)
(* E|z_i - muhat|^2 <= C min(1, (T log T eps/i)^2), z = S(A1) X e_s and       *)
(* muhat the share of s among the first i tokens.                             *)
Definition average_printed (R : realFieldType) (exp ln : R -> R) (c D C : nat -> R -> R) :=
  forall S gamma P g eps beta0 eta tau i s d, setting S gamma P g eps -> 0 < beta0 <= c S gamma * eps ^+ 3 ->
  0 < eta -> tau%:R * eta * beta0 = D S gamma * (size g)%:R ^+ 2 * ln (size g)%:R ->
  (0 < i <= size g)%N -> parent g i == 0%N -> (s < S)%N -> d \in P ->
  expect S g (matrix d) (measure d) (fun x =>
    (copied exp (trained exp S g eps beta0 P eta tau) x s i - frequency R (take i x) s) ^+ 2) <=
    C S gamma * Num.min 1 (((size g)%:R * ln (size g)%:R * eps / i%:R) ^+ 2).

Section Graph.
Variable T : nat.
Hypothesis T0 : (0 < T)%N.
Definition in_context : seq nat := mkseq (fun k => if odd k && (k.+1 < T)%N then k else 0%N) T.
Notation g := in_context.

Lemma size_in_context : size g = T. Proof. exact: size_mkseq. Qed.

Lemma parent_in_context i : parent g i = if odd i.-1 && (i.-1.+1 < T)%N then i.-1 else 0%N.
Proof.
rewrite /parent; case: (ltnP i.-1 T) => h; first by rewrite nth_mkseq.
by rewrite nth_default ?size_mkseq // [(_ < T)%N]ltnNge (leqW h) andbF.
Qed.

Lemma in_context_forest : forest g.
Proof.
rewrite /forest parent_in_context size_in_context prednK // ltnn andbF eqxx andbT.
apply/all_index => i hi; rewrite nth_mkseq //.
by case: ifP => _; rewrite ?leqnn ?hi ?T0 ?leq0n.
Qed.

Lemma query_root : parent g T = 0%N.
Proof. by rewrite parent_in_context prednK // ltnn andbF. Qed.

Lemma has_parent i : parent g i != 0%N -> [/\ parent g i = i.-1, odd i.-1 & (i.-1.+1 < T)%N].
Proof. by rewrite parent_in_context; case: ifP => // /andP[]. Qed.

Lemma up_in_context i x : (0 < i)%N -> x \in ancestors g i -> x = i \/ x = parent g i /\ parent g i != 0%N.
Proof.
move=> i0; rewrite (upE in_context_forest i0) inE => /orP[/eqP-> | ]; first by left.
case: eqP => // /eqP p; have [e o lt] := has_parent p; have p0 : (0 < parent g i)%N by rewrite lt0n.
rewrite (upE in_context_forest p0) inE => /orP[/eqP-> | ]; first by right.
have ev : odd i.-2 = false by case: (i.-1) o => //= k /negbTE.
by rewrite {1}parent_in_context e ev.
Qed.

Lemma one_leaf i : (0 < i)%N -> (leaves g i <= 1)%N.
Proof.
move=> i0; rewrite /leaves -size_filter.
rewrite -[X in (_ <= X)%N]/(size [:: if odd i && (i.+1 < T)%N then i.+1 else i]).
apply: uniq_leq_size; first by rewrite filter_uniq ?iota_uniq.
move=> j; rewrite mem_filter mem_iota inE => /andP[/andP[/same_treeP[x hi hj] leaf] /andP[j0 _]].
have nl : odd j && (j.+1 < T)%N = false.
  apply/negbTE; apply: contra leaf => /andP[oj jT]; apply/hasP; exists j.+1.
    by rewrite mem_iota size_in_context /= ltnW // add1n ltnS.
  by rewrite parent_in_context /= oj jT.
case: (up_in_context i0 hi) => [xi | [xi pi]]; case: (up_in_context j0 hj) => [xj | [xj pj]].
- by rewrite -xi xj nl.
- have [e o lt] := has_parent pj; have ei : i = j.-1 by rewrite -xi xj.
  by rewrite ei o lt prednK.
- have [e o lt] := has_parent pi; have ej : j = i.-1 by rewrite -xj xi.
  by move: nl; rewrite ej o lt.
have [e o lt] := has_parent pi; have [e' _ _] := has_parent pj.
have ij : i.-1 = j.-1 by rewrite -e -e' -xi -xj.
have {}ij : i = j by rewrite -(prednK i0) ij prednK.
have even : odd i = false by rewrite -(prednK i0) /= o.
by rewrite even -ij.
Qed.

Lemma in_context_leaves : most_leaves g = 1%N.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  rewrite /most_leaves; have : {in iota 1 (size g), forall i, (leaves g i <= 1)%N}.
    by move=> i; rewrite mem_iota => /andP[i0 _]; apply: one_leaf.
  elim: (iota _ _) => //= i l IH h; rewrite geq_max h ?mem_head // IH // => k hk.
  by apply: h; rewrite inE hk orbT.
have hT : T \in iota 1 (size g) by rewrite size_in_context mem_iota add1n ltnS leqnn T0.
apply: leq_trans (leaves_le hT); rewrite /leaves -has_count; apply/hasP; exists T => //.
rewrite /same_tree (itself in_context_forest) //=; apply/hasPn => j _.
rewrite parent_in_context; case: ifP => [/andP[_ lt] | _]; apply/eqP => e.
  by move: lt; rewrite e ltnNge leqnSn.
by move: T0; rewrite -e.
Qed.
End Graph.

Section Prior.
Variable R : realFieldType.
Implicit Types a b : R.

Definition two a b : chain R := ([:: [:: 1 - a; a]; [:: b; 1 - b]], [:: b / (a + b); a / (a + b)]).

Lemma relabelings_two a b : relabelings 2 (two a b) = [:: two a b; two b a].
Proof. by rewrite /relabelings /= /relabel /= /two /matrix /measure /= [b + a]addrC. Qed.

Lemma two_admissible gamma a b : 0 < gamma -> gamma / 2%:R < a < 1 - gamma / 2%:R ->
  gamma / 2%:R < b < 1 - gamma / 2%:R ->
  gamma ^+ 2 / 2%:R <= 2%:R * (a ^+ 2 + b ^+ 2) * (1 - a - b) ^+ 2 / (a + b) ^+ 2 -> admissible 2 gamma (two a b).
Proof.
move=> g0 /andP[a0 a1] /andP[b0 b1] sp; have h0 : 0 < gamma / 2%:R by rewrite divr_gt0 ?ltr0n.
have ap := lt_trans h0 a0; have bp := lt_trans h0 b0; have s0 : 0 < a + b by rewrite addr_gt0.
have a2 : gamma / 2%:R < 1 - a by rewrite ltr_subr_addl -ltr_subr_addr.
have b2 : gamma / 2%:R < 1 - b by rewrite ltr_subr_addl -ltr_subr_addr.
have nz := lt0r_neq0 s0.
apply/and4P; split.
- rewrite /stochastic /total /= /matrix /= !addr0 (ltW ap) (ltW bp) (ltW (lt_trans h0 a2)) (ltW (lt_trans h0 b2)) /=.
  by rewrite subrK [b + _]addrC subrK !eqxx.
- rewrite /stationary /distribution /total /= /matrix /measure /= !addr0 !divr_ge0 ?(ltW ap) ?(ltW bp) ?(ltW s0) //=.
  by repeat (apply/andP; split) => //; apply/eqP; field.
- by rewrite /above /= /matrix /= a0 b0 a2 b2.
rewrite /spread /total /= /matrix /measure /= !addr0; apply: le_trans sp _.
by apply: eqW; field.
Qed.

Notation gamma := (10%:R^-1 : R).
Definition toward : prior R :=
  uniform (relabelings 2 (two 10%:R^-1 2%:R^-1) ++ relabelings 2 (two (9%:R / 10%:R) 2%:R^-1)).

Lemma mean_toward F : mean_over toward F =
  (F (two 10%:R^-1 2%:R^-1) + F (two 2%:R^-1 10%:R^-1) +
    F (two (9%:R / 10%:R) 2%:R^-1) + F (two 2%:R^-1 (9%:R / 10%:R))) / 4%:R.
Proof. by rewrite /toward mean_uniform !relabelings_two /= /total /= addr0 !addrA. Qed.

Lemma fraction_gt0 n d (x : R) : x = n.+1%:R / d.+1%:R -> 0 < x.
Proof. by move=> ->; rewrite divr_gt0 ?ltr0n. Qed.

Lemma toward_assumption1 : assumption1 2 gamma toward.
Proof.
have g0 : 0 < gamma by rewrite invr_gt0 ltr0n.
have half : gamma / 2%:R < 2%:R^-1 < 1 - gamma / 2%:R.
  by rewrite -!(subr_gt0 _ 2%:R^-1) -(subr_gt0 2%:R^-1); apply/andP; split;
    [apply: (@fraction_gt0 8 19) | apply: (@fraction_gt0 8 19)]; field.
have tenth : gamma / 2%:R < gamma < 1 - gamma / 2%:R.
  by apply/andP; split; rewrite -subr_gt0; [apply: (@fraction_gt0 0 19) | apply: (@fraction_gt0 16 19)]; field.
have nine : gamma / 2%:R < 9%:R / 10%:R < 1 - gamma / 2%:R.
  by apply/andP; split; rewrite -subr_gt0; [apply: (@fraction_gt0 16 19) | apply: (@fraction_gt0 0 19)]; field.
apply: orbits_assumption1 => //.
  have far (a b : R) : 0 < 2%:R * (a ^+ 2 + b ^+ 2) * (1 - a - b) ^+ 2 / (a + b) ^+ 2 - gamma ^+ 2 / 2%:R ->
      gamma ^+ 2 / 2%:R <= 2%:R * (b ^+ 2 + a ^+ 2) * (1 - b - a) ^+ 2 / (b + a) ^+ 2 /\
      gamma ^+ 2 / 2%:R <= 2%:R * (a ^+ 2 + b ^+ 2) * (1 - a - b) ^+ 2 / (a + b) ^+ 2.
    by rewrite subr_gt0 => /ltW h; rewrite [b + a]addrC [b ^+ 2 + _]addrC [1 - b - a]addrAC.
  have [|f1 f2] := far (10%:R^-1) (2%:R^-1).
    rewrite (_ : _ - _ = 11%:R * 37%:R / (18%:R * 100%:R)); last by field.
    by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
  have [|f3 f4] := far (9%:R / 10%:R) (2%:R^-1).
    rewrite (_ : _ - _ = 27%:R * 61%:R / (98%:R * 100%:R)); last by field.
    by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
  by rewrite !relabelings_two /= !two_admissible.
apply/all_index => s hs; apply/all_index => t ht; apply/eqP; rewrite -/toward mean_toward /matrix /=.
by case: s hs => [|[|s]] // _; case: t ht => [|[|t]] // _ /=; field.
Qed.

Lemma toward_gain : mean_over toward (fun c => gain 2 (matrix c) (measure c)) = 128%:R / 225%:R.
Proof. by rewrite mean_toward /gain /total /= /matrix /measure /=; field. Qed.

Lemma toward_rest m : (0 < m)%N -> 40%:R * rest_bound 2 gamma <= m%:R ->
  2%:R^-1 <= 128%:R / 225%:R - 2%:R * (rest_bound 2 gamma / m%:R).
Proof.
move=> m0 long; have mr : (0 : R) < m%:R by rewrite ltr0n.
have r1 : 2%:R * (rest_bound 2 gamma / m%:R) <= 20%:R^-1.
  have -> : 2%:R * (rest_bound 2 gamma / m%:R) = 20%:R^-1 * (40%:R * rest_bound 2 gamma / m%:R).
    by set r := rest_bound _ _; field; rewrite lt0r_neq0.
  by rewrite ler_pimulr ?invr_ge0 ?ler0n // ler_pdivr_mulr // mul1r.
apply: (@le_trans _ _ (128%:R / 225%:R - 20%:R^-1)); last by rewrite ler_add2l ler_opp2.
by rewrite -subr_ge0 ltW //; apply: (@fraction_gt0 16 899); field.
Qed.

Lemma toward_own :
  mean_over toward (fun c => (\Sum_(s < 2) matrix c s s / measure c s) / 2%:R - 1) = 64%:R / 225%:R.
Proof. by rewrite mean_toward /total /= /matrix /measure /=; field. Qed.
End Prior.

Lemma mean_over_le (R : realFieldType) F G :
  (forall c, c \in toward R -> F c <= G c) -> mean_over (toward R) F <= mean_over (toward R) G.
Proof.
move=> h; rewrite /toward !mean_uniform ler_wpmul2r ?invr_ge0 ?ler0n //.
by apply: total_le => c hc; apply: h; rewrite in_uniform.
Qed.

Section Witness.
Variables (R : realFieldType) (exp : R -> R) (m : nat) (c : R).
Hypotheses (is_exp : exponential exp) (m1 : (1 < m)%N) (c0 : 0 < c).
Notation gamma := (10%:R^-1 : R).
Notation P := (toward R).
Notation g := (in_context (m ^ 2)).
Notation T := (size g).
Notation eps := (m%:R^-1 : R).
Hypothesis long : 40%:R * rest_bound 2 gamma <= m%:R.

Let m0 : (0 < m)%N. Proof. exact: ltnW. Qed.
Let mr : (0 : R) < m%:R. Proof. by rewrite ltr0n. Qed.
Let T0 : (0 < m ^ 2)%N. Proof. by rewrite expn_gt0 m0. Qed.
Let sizeT : T = (m ^ 2)%N. Proof. exact: size_in_context. Qed.
Let T00 : (0 < T)%N. Proof. by rewrite sizeT. Qed.
Let ok : forest g. Proof. exact: in_context_forest. Qed.
Let gamma0 : 0 < gamma. Proof. by rewrite invr_gt0 ltr0n. Qed.

Lemma T_square : T%:R = m%:R ^+ 2 :> R. Proof. by rewrite sizeT natrX. Qed.

Lemma T_four : (4 <= T)%N. Proof. by rewrite sizeT -[4%N]/(2 ^ 2)%N leq_exp2r. Qed.

Lemma witness_setting : setting 2 gamma P g eps.
Proof.
split=> //; rewrite ?invr_gt0 //; first exact: toward_assumption1.
rewrite /effective_length_leaves in_context_leaves // divr1 T_square.
by rewrite exprVn mulVf // expf_neq0 // lt0r_neq0.
Qed.

Lemma witness_root : parent g T == 0%N.
Proof. by rewrite sizeT query_root. Qed.

Lemma witness_facts d : d \in P ->
  [/\ stochastic 2 (matrix d), stationary 2 (matrix d) (measure d) & at_least 2 (matrix d) (gamma / 2%:R)].
Proof.
case: (toward_assumption1 R) => _ adm _ _ _ /adm /and4P[st sta ab _]; split=> //.
apply/all_index => s hs; apply/all_index => t ht; apply: ltW.
by move/all_index: ab => /(_ s hs)/all_index; apply.
Qed.

(* its start *)
Definition start : R := Num.min c 2%:R^-1 * eps ^+ 3.

Lemma start_small : 0 < start <= c * eps ^+ 3 /\ exp start <= 1 + eps ^+ 2.
Proof.
have e3 : 0 < eps ^+ 3 by rewrite exprn_gt0 // invr_gt0.
have h2 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have e1 : eps <= 1 by rewrite invf_le1 // ler1n.
have s0 : 0 < start by rewrite mulr_gt0 // lt_minr c0.
have half : start <= 2%:R^-1 * eps ^+ 3 by rewrite ler_pmul2r // le_minl lexx orbT.
split; first by rewrite s0 ler_pmul2r // le_minl lexx.
apply: (le_trans (exp_small is_exp (ltW s0) _)).
  apply: le_trans half _; rewrite ler_pimulr ?(ltW h2) // exprn_ile1 ?invr_ge0 ?ler0n //.
rewrite ler_add2l; apply: (@le_trans _ _ (eps ^+ 3)).
  by rewrite mulrC -ler_pdivl_mulr ?ltr0n // mulrC.
by rewrite ler_wiexpn2l ?invr_ge0 ?ler0n.
Qed.

Notation pull A k := (pull exp 2 g eps start P A T k).

Lemma witness_lead A k : (k < T.-1)%N -> 2%:R^-1 <= 2%:R * T%:R * (pull A T.-1 - pull A k).
Proof.
move=> hk; have [/andP[s0 _] es] := start_small; pose rho : R := 2%:R * (rest_bound 2 gamma / m%:R).
have g1 : gamma < 1 by rewrite invf_lt1 ?ltr0n // ltr1n.
pose D d := 2%:R * T%:R * (pull_of exp 2 g eps start (matrix d) (measure d) A T T.-1 -
                           pull_of exp 2 g eps start (matrix d) (measure d) A T k).
have -> : 2%:R * T%:R * (pull A T.-1 - pull A k) = mean_over P D.
  by rewrite /stage_one.pull /D !mean_toward; field.
apply: (@le_trans _ _ (mean_over P (fun d => gain 2 (matrix d) (measure d) - rho))); last first.
  apply: mean_over_le => d /witness_facts[st sta lo].
  exact: (query_pull st sta lo gamma0 g1 ok (in_context_leaves T0) sizeT m0 is_exp A (ltW s0) es hk).
have -> : mean_over P (fun d => gain 2 (matrix d) (measure d) - rho) = 128%:R / 225%:R - rho.
  by rewrite -toward_gain !mean_toward; field.
exact: (toward_rest m0 long).
Qed.

Lemma lead4 A k : (k < T)%N -> k != T.-1 -> (4%:R * T%:R)^-1 <= pull A T.-1 - pull A k.
Proof.
move=> hk nk; have lt : (k < T.-1)%N by rewrite ltn_neqAle nk -ltnS prednK.
have := witness_lead A lt; have t0 : (0 : R) < 2%:R * T%:R by rewrite mulr_gt0 ?ltr0n.
rewrite mulrC -ler_pdivr_mulr //; congr (_ <= _); by field; rewrite pnatr_eq0 -lt0n.
Qed.

(* A step of the row of the query *)
Lemma query_step A eta k : 0 <= eta -> (k < T)%N -> k != T.-1 -> A T k <= A T T.-1 ->
  A T T.-1 - A T k +
    eta * start * ((4%:R * T%:R)^-1 * (soft exp T (A T) T.-1 * (1 - soft exp T (A T) T.-1))) <=
  A T T.-1 - eta * gradient_one exp 2 g eps start P A T T.-1 - (A T k - eta * gradient_one exp 2 g eps start P A T k).
Proof.
move=> eta0 hk nk Ak; have [/andP[s0 _] _] := start_small; have lT : (T.-1 < T)%N by rewrite prednK.
pose J l := jacobian T (soft exp T (A T)) (fun l => pull A l) l.
have gJ l : gradient_one exp 2 g eps start P A T l = - start * J l by apply: jacobian_scale.
rewrite !gJ; set p := soft exp T (A T) T.-1.
have -> : A T T.-1 - eta * (- start * J T.-1) - (A T k - eta * (- start * J k)) =
  A T T.-1 - A T k + eta * start * (J T.-1 - J k) by ring.
rewrite ler_add2l; apply: ler_wpmul2l; first exact: (mulr_ge0 eta0 (ltW s0)).
apply: step_lead => //; first exact: soft_distribution.
- by rewrite invr_ge0 mulr_ge0 ?ler0n.
- by move=> j hj nj; apply: lead4.
by rewrite ler_wpmul2r ?invr_ge0 ?(ltW (sum_exp_gt0 _ _ _)) // exp_le.
Qed.

Lemma share_from_lead (a : nat -> R) h : 0 <= h -> (forall k, (k < T)%N -> k != T.-1 -> h <= a T.-1 - a k) ->
  (1 + h) / (T%:R + h) <= soft exp T a T.-1.
Proof.
move=> h0 lead; have lT : (T.-1 < T)%N by rewrite prednK.
have -> : T%:R + h = T%:R - 1 + (1 + h) by ring.
apply: (soft_lead is_exp lT); first by rewrite ler_addl.
move=> j hj nj; have [mul lin] := is_exp; apply: (@le_trans _ _ (exp h * exp (a j))).
  by rewrite ler_wpmul2r ?lin // ltW // exp_gt0.
by rewrite -mul exp_le // -ler_subr_addr lead.
Qed.

Lemma first_step eta k : 0 <= eta -> (k < T)%N -> k != T.-1 ->
  eta * start / (8%:R * T%:R ^+ 2) <=
    trained exp 2 g eps start P eta 1 T T.-1 - trained exp 2 g eps start P eta 1 T k.
Proof.
move=> eta0 hk nk; have [/andP[s0 _] _] := start_small.
have := query_step (A := fun _ _ => 0) eta0 hk nk (lexx _); rewrite /= soft_zero // subrr add0r.
apply: le_trans; have t0 : (0 : R) < T%:R by rewrite ltr0n.
have tz := lt0r_neq0 t0; have t2 : (2%:R : R) <= T%:R by rewrite ler_nat (leq_trans _ T_four).
apply: ler_wpmul2l; first by rewrite mulr_ge0 // ltW.
rewrite -subr_ge0; have -> : (4%:R * T%:R)^-1 * (T%:R^-1 * (1 - T%:R^-1)) - (8%:R * T%:R ^+ 2)^-1 =
    (T%:R - 2%:R) / (8%:R * T%:R ^+ 3) :> R by field.
by rewrite divr_ge0 ?subr_ge0 // mulr_ge0 ?ler0n // exprn_ge0 // ltW.
Qed.

(* What the statements say of the row of the query, here *)
Lemma witness_start : 0 < start <= c * eps ^+ 3.
Proof. by case: start_small. Qed.

Lemma witness_query : (0 < T <= T)%N.
Proof. by rewrite T00 leqnn. Qed.

Let s0 : 0 < start. Proof. by case/andP: witness_start. Qed.
Let lT : (T.-1 < T)%N. Proof. by rewrite prednK. Qed.
Let k1 : (0 < T.-1)%N. Proof. by rewrite -ltnS prednK // (leq_trans _ T_four). Qed.
Let tr : (0 : R) < T%:R. Proof. by rewrite ltr0n. Qed.
Let tz : T%:R != 0 :> R. Proof. exact: lt0r_neq0. Qed.
Let mz : m%:R != 0 :> R. Proof. exact: lt0r_neq0. Qed.
Let sz : start != 0. Proof. exact: lt0r_neq0. Qed.

Lemma difference_le (v w b : R) : `|v| <= b -> `|w| <= b -> v - w <= 2%:R * b.
Proof.
move=> hv hw; apply: le_trans (ler_norm _) (le_trans (ler_norm_sub _ _) _).
by rewrite mulr_natl mulr2n ler_add.
Qed.

Lemma roots_at A K v : (forall k, (k < T)%N -> `|v k| <= K * (start / T%:R * eps)) ->
  (forall k, (k < T)%N -> gradient_one exp 2 g eps start P A T k = jacobian T (soft exp T (A T)) v k) ->
  m%:R <= 8%:R * K.
Proof.
move=> hv hg; have lead := witness_lead A k1.
have ker := jacobian_kernel (fun j _ => soft_gt0 is_exp (A T) j T00) hg T00 lT.
move: lead ker; set X := pull A T.-1; set Y := pull A 0%N => lead ker.
have XY : start * (X - Y) <= 2%:R * (K * (start / T%:R * eps)).
  have -> : start * (X - Y) = v 0%N - v T.-1 by rewrite -ker; ring.
  by apply: difference_le; apply: hv.
rewrite -(ler_pmul2r (_ : 0 < (2%:R * m%:R)^-1)) ?invr_gt0 ?mulr_gt0 ?ltr0n //.
have -> : m%:R * (2%:R * m%:R)^-1 = 2%:R^-1 :> R by field.
apply: le_trans lead _.
have -> : 2%:R * T%:R * (X - Y) = 2%:R * T%:R / start * (start * (X - Y)) by field; rewrite sz.
have -> : 8%:R * K * (2%:R * m%:R)^-1 = 2%:R * T%:R / start * (2%:R * (K * (start / T%:R * eps))).
  by field; rewrite sz tz mz.
by rewrite ler_wpmul2l // divr_ge0 ?(ltW s0) // mulr_ge0 ?ler0n.
Qed.

Lemma gradient_at A K e : (forall k, (k < T)%N -> `|e k| <= K * eps) ->
  (forall k, (k < T)%N -> gradient_one exp 2 g eps start P A T k =
    - (start / (2%:R * T%:R)) * jacobian T (soft exp T (A T)) (fun l => mean_gradient 2 g P T l.+1 + e l) k) ->
  m%:R <= 10%:R * K.
Proof.
move=> he hg; have lead := witness_lead A k1; pose w l := mean_gradient 2 g P T l.+1 + e l.
have hg' k : (k < T)%N -> gradient_one exp 2 g eps start P A T k =
    jacobian T (soft exp T (A T)) (fun l => - (start / (2%:R * T%:R)) * w l) k.
  by move=> /hg->; rewrite jacobian_scale.
have ker := jacobian_kernel (fun j _ => soft_gt0 is_exp (A T) j T00) hg' T00 lT.
move: lead ker; set X := pull A T.-1; set Y := pull A 0%N => lead ker.
have XY : 2%:R * T%:R * (X - Y) = w T.-1 - w 0%N.
  have -> : w T.-1 - w 0%N = 2%:R * T%:R / start *
      (- (start / (2%:R * T%:R)) * w 0%N - - (start / (2%:R * T%:R)) * w T.-1) by field; rewrite sz tz.
  by rewrite -ker; field; rewrite sz.
have root : parent g T = 0%N by apply/eqP; apply: witness_root.
have gT := root_gradient_corrected (toward_assumption1 R) ok witness_query root.
have small : (1 == T)%N = false by apply: ltn_eqF; apply: leq_trans T_four.
move: lead; rewrite XY /w prednK // !gT ?T00 ?leqnn // !eqxx small toward_own /=.
have := difference_le (he _ lT) (he _ T00); set E := e T.-1 - e 0%N => hE lead.
rewrite -(ler_pmul2r (_ : 0 < (5%:R * m%:R)^-1)) ?invr_gt0 ?mulr_gt0 ?ltr0n //.
have -> : m%:R * (5%:R * m%:R)^-1 = 5%:R^-1 :> R by field.
have -> : 10%:R * K * (5%:R * m%:R)^-1 = 2%:R * (K * eps) by field.
apply: le_trans hE; apply: (@le_trans _ _ (2%:R^-1 - 64%:R / 225%:R)).
  by rewrite -subr_ge0 ltW //; apply: (@fraction_gt0 R 6 449); field.
by rewrite ler_subl_addl (le_trans lead) // add0r /E addrA.
Qed.

Lemma drift_at eta K : 0 <= eta -> eta * start = 8%:R * T%:R ^+ 3 ->
  `|soft exp T (trained exp 2 g eps start P eta 1 T) T.-1 - T%:R^-1| <=
    K * (1%:R * eta * start / T%:R * eps / T%:R ^+ 2) ->
  m%:R <= 32%:R * K.
Proof.
move=> eta0 es h.
have big : 4%:R^-1 <= soft exp T (trained exp 2 g eps start P eta 1 T) T.-1 - T%:R^-1.
  have lead k : (k < T)%N -> k != T.-1 ->
      T%:R <= trained exp 2 g eps start P eta 1 T T.-1 - trained exp 2 g eps start P eta 1 T k.
    by move=> hk nk; apply: le_trans (first_step eta0 hk nk); rewrite es; apply: eqW; field.
  have t4 : T%:R^-1 <= 4%:R^-1 :> R by rewrite lef_pinv ?posrE ?ltr0n // ler_nat T_four.
  rewrite ler_subr_addr; apply: le_trans (share_from_lead (ltW tr) lead).
  have -> : (1 + T%:R) / (T%:R + T%:R) = 2%:R^-1 + T%:R^-1 / 2%:R :> R.
    by rewrite -[T%:R + T%:R]mulr2n -mulr_natl; field.
  apply: (@le_trans _ _ (4%:R^-1 + 4%:R^-1)); first by rewrite ler_add2l.
  have -> : 4%:R^-1 + 4%:R^-1 = 2%:R^-1 :> R by field.
  by rewrite ler_addl divr_ge0 ?invr_ge0 ?ler0n.
have := le_trans big (le_trans (ler_norm _) h); rewrite mul1r es.
have -> : K * (8%:R * T%:R ^+ 3 / T%:R * eps / T%:R ^+ 2) = 8%:R * K / m%:R by field; rewrite tz mz.
rewrite ler_pdivl_mulr // mulrC ler_pdivr_mulr ?ltr0n // => le.
by apply: le_trans le _; apply: eqW; ring.
Qed.

Lemma end_at eta D K l : 0 <= eta -> 0 < D -> 0 < l <= T%:R -> eta * start = D * T%:R ^+ 2 * l ->
  `|soft exp T (trained exp 2 g eps start P eta 1 T) T.-1 - T%:R^-1| <= K * (T%:R * l * eps / T%:R ^+ 2) ->
  m%:R <= 2%:R * (8%:R + D) / D * K.
Proof.
move=> eta0 D0 /andP[l0 lt] es h.
pose f := D * l / 8%:R; have f0 : 0 < f by rewrite divr_gt0 ?ltr0n // mulr_gt0.
have fT : 0 < T%:R + f by rewrite addr_gt0.
have b0 : 0 < 8%:R + D by rewrite addr_gt0 ?ltr0n.
have big : D * l / (2%:R * T%:R * (8%:R + D)) <= soft exp T (trained exp 2 g eps start P eta 1 T) T.-1 - T%:R^-1.
  have lead k : (k < T)%N -> k != T.-1 ->
      f <= trained exp 2 g eps start P eta 1 T T.-1 - trained exp 2 g eps start P eta 1 T k.
    by move=> hk nk; apply: le_trans (first_step eta0 hk nk); rewrite es /f; apply: eqW; field.
  rewrite ler_subr_addr; apply: le_trans (share_from_lead (ltW f0) lead).
  rewrite -ler_subr_addr.
  have -> : (1 + f) / (T%:R + f) - T%:R^-1 = f * (T%:R - 1) / (T%:R * (T%:R + f)).
    by field; rewrite tz lt0r_neq0.
  apply: (@le_trans _ _ (f * (T%:R / 2%:R) / (T%:R * (T%:R * (8%:R + D) / 8%:R)))).
    by rewrite /f; apply: eqW; field; rewrite tz lt0r_neq0.
  have t2 : T%:R / 2%:R <= T%:R - 1 :> R.
    rewrite -subr_ge0; have -> : T%:R - 1 - T%:R / 2%:R = (T%:R - 2%:R) / 2%:R :> R by field.
    by rewrite divr_ge0 ?ler0n // subr_ge0 ler_nat (leq_trans _ T_four).
  have Tf : T%:R + f <= T%:R * (8%:R + D) / 8%:R.
    rewrite -subr_ge0 /f; have -> : T%:R * (8%:R + D) / 8%:R - (T%:R + D * l / 8%:R) = D * (T%:R - l) / 8%:R by field.
    by rewrite divr_ge0 ?ler0n // mulr_ge0 ?(ltW D0) // subr_ge0.
  have B0 : 0 < T%:R * (8%:R + D) / 8%:R by apply: lt_le_trans Tf.
  apply: ler_pmul.
  - exact: (mulr_ge0 (ltW f0) (divr_ge0 (ltW tr) (ler0n _ _))).
  - by rewrite invr_ge0; apply: (mulr_ge0 (ltW tr) (ltW B0)).
  - by rewrite ler_pmul2l.
  by rewrite lef_pinv ?posrE ?(mulr_gt0 tr B0) ?(mulr_gt0 tr fT) // ler_pmul2l.
have := le_trans big (le_trans (ler_norm _) h).
have -> : K * (T%:R * l * eps / T%:R ^+ 2) = 2%:R * (8%:R + D) / D * K / m%:R * (D * l / (2%:R * T%:R * (8%:R + D))).
  by field; rewrite tz mz !lt0r_neq0.
rewrite ler_pmull; last by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
by rewrite ler_pdivl_mulr // mul1r.
Qed.

(* After two steps half of the attention, or more, is its own. *)
Lemma second_step eta D l : 0 <= eta -> 0 < D -> 0 < l <= T%:R -> exp l = T%:R ->
  16%:R * (16%:R + D) / D ^+ 2 <= l -> 2%:R * eta * start = D * T%:R ^+ 2 * l ->
  2%:R^-1 <= soft exp T (trained exp 2 g eps start P eta 2 T) T.-1.
Proof.
move=> eta0 D0 /andP[l0 lt] el long' es.
pose A := trained exp 2 g eps start P eta 1; pose B := trained exp 2 g eps start P eta 2.
pose f := D * l / 16%:R; have f0 : 0 < f by rewrite divr_gt0 ?ltr0n // mulr_gt0.
have b0 : 0 < 16%:R + D by rewrite addr_gt0 ?ltr0n.
have fT : 0 < T%:R + f by rewrite addr_gt0.
have lead k : (k < T)%N -> k != T.-1 -> f <= A T T.-1 - A T k.
  move=> hk nk; apply: le_trans (first_step eta0 hk nk); rewrite /f; apply: eqW.
  have -> : eta * start = D * T%:R ^+ 2 * l / 2%:R by rewrite -es; field.
  by field.
pose p := soft exp T (A T) T.-1; have p1 : f / (T%:R + f) <= p.
  apply: le_trans (share_from_lead (ltW f0) lead); rewrite ler_wpmul2r ?invr_ge0 ?(ltW fT) //.
  by rewrite ler_addr.
have p0 : 0 < p by apply: soft_gt0.
have step k : (k < T)%N -> k != T.-1 ->
    A T T.-1 - A T k + eta * start * ((4%:R * T%:R)^-1 * (p * (1 - p))) <= B T T.-1 - B T k.
  move=> hk nk; apply: query_step => //; rewrite -subr_ge0.
  by apply: le_trans (ltW f0) (lead k hk nk).
have ple : p <= 1.
  rewrite -(soft_sum is_exp (A T) T00); apply: (term_le (F := soft exp T (A T)) lT) => k _.
  by rewrite ltW // soft_gt0.
have c4 : 0 <= (4%:R * T%:R)^-1 :> R by rewrite invr_ge0 mulr_ge0 ?ler0n.
case: (lerP p 2%:R^-1) => half; last first.
  apply: le_trans (ltW half) _; apply: (soft_mono is_exp lT) => k hk.
  have [-> | nk] := eqVneq k T.-1; first by rewrite [X in X <= _]subrr [X in _ <= X]subrr.
  apply: le_trans (step k hk nk); rewrite ler_addl.
  apply: mulr_ge0; first exact: (mulr_ge0 eta0 (ltW s0)).
  by rewrite mulr_ge0 // mulr_ge0 ?(ltW p0) // subr_ge0.
have pull1 : l <= eta * start * ((4%:R * T%:R)^-1 * (p * (1 - p))).
  apply: (@le_trans _ _ (D * T%:R ^+ 2 * l / 2%:R * ((4%:R * T%:R)^-1 * (f / (T%:R * (16%:R + D) / 16%:R) / 2%:R)))).
    have -> : D * T%:R ^+ 2 * l / 2%:R * ((4%:R * T%:R)^-1 * (f / (T%:R * (16%:R + D) / 16%:R) / 2%:R)) =
        l * (l / (16%:R * (16%:R + D) / D ^+ 2)).
      by rewrite /f; field; rewrite tz !lt0r_neq0.
    by rewrite ler_pmulr // ler_pdivl_mulr ?mul1r // divr_gt0 ?exprn_gt0 // mulr_gt0 ?ltr0n.
  have -> : eta * start = D * T%:R ^+ 2 * l / 2%:R by rewrite -es; field.
  apply: ler_wpmul2l.
    by rewrite divr_ge0 ?ler0n // mulr_ge0 ?(ltW l0) // mulr_ge0 ?(ltW D0) // exprn_ge0 // ltW.
  apply: ler_wpmul2l => //; apply: ler_pmul.
  - by rewrite divr_ge0 ?(ltW f0) // divr_ge0 ?ler0n // mulr_ge0 ?(ltW b0) // ltW.
  - by rewrite invr_ge0 ler0n.
  - apply: le_trans p1; apply: ler_wpmul2l; first exact: ltW.
    have Tf : T%:R + f <= T%:R * (16%:R + D) / 16%:R.
      rewrite -subr_ge0 /f.
      have -> : T%:R * (16%:R + D) / 16%:R - (T%:R + D * l / 16%:R) = D * (T%:R - l) / 16%:R by field.
      by rewrite divr_ge0 ?ler0n // mulr_ge0 ?(ltW D0) // subr_ge0.
    by rewrite lef_pinv ?posrE // (lt_le_trans fT).
  rewrite -subr_ge0; have -> : 1 - p - 2%:R^-1 = 2%:R^-1 - p by field.
  by rewrite subr_ge0.
have y1 : 1 <= T%:R :> R by rewrite ler1n.
apply: (@le_trans _ _ (T%:R / (T%:R - 1 + T%:R))); last first.
  apply: (soft_lead is_exp lT y1) => k hk nk; have [mul _] := is_exp; rewrite -el -mul; apply: (exp_le is_exp).
  rewrite -ler_subr_addr; apply: le_trans pull1 (le_trans _ (step k hk nk)).
  by rewrite ler_addr (le_trans (ltW f0) (lead k hk nk)).
have d0 : 0 < T%:R - 1 + T%:R :> R by rewrite ltr_paddl // subr_ge0.
rewrite ler_pdivl_mulr // mulrC ler_pdivr_mulr ?ltr0n //.
rewrite -subr_ge0; have -> : T%:R * 2%:R - (T%:R - 1 + T%:R) = 1 :> R by ring.
exact: ler01.
Qed.

(* The token of the query is independent of the rest: what is copied varies with it. *)
Lemma spread_low A d s : d \in P -> (s < 2)%N ->
  (soft exp T (A T) T.-1 - T%:R^-1) ^+ 2 / 4%:R <= expect 2 g (matrix d) (measure d) (fun x =>
    (copied exp A x s T - frequency R (take T x) s) ^+ 2).
Proof.
move=> /witness_facts[st sta _] hs; set D := soft exp T (A T) T.-1 - T%:R^-1.
pose Y x := \Sum_(k < T.-1) (soft exp T (A T) k - T%:R^-1) * (token x k.+1 == s)%:R.
have split x : x \in sequences 2 T -> copied exp A x s T - frequency R (take T x) s = Y x + D * (token x T == s)%:R.
  move=> hx; have [z _] := sequencesP hx; rewrite take_oversize ?z //.
  have -> : frequency R x s = \Sum_(k < T) T%:R^-1 * (token x k.+1 == s)%:R.
    by rewrite totalZ -{2}z frequency_sum /frequency z mulrC.
  rewrite /copied -totalB (index_eq (G := fun k => (soft exp T (A T) k - T%:R^-1) * (token x k.+1 == s)%:R));
    last first.
    by move=> k _; rewrite mulrBl.
  have cut : iota 0 T = iota 0 T.-1 ++ [:: T.-1] by have := iotaD 0 T.-1 1; rewrite addn1 prednK.
  by rewrite totalE cut big_cat /= big_seq1 -totalE prednK.
pose G x := 2%:R * (D * Y x) + D ^+ 2.
rewrite (expect_eq _ _ (G := fun x => Y x ^+ 2 - (- 1) * ((token x T == s)%:R * G x))) => [|x /split->]; last first.
  by rewrite /G; case: (_ == _); rewrite ?mulr1 ?mulr0 ?mul1r ?mul0r; ring.
rewrite expectB expectZ (query_law st sta ok T00 hs) => [|x y z]; last first.
  rewrite /G; congr (_ * (_ * _) + _); apply: index_eq => k hk.
  by rewrite token_cat // z.
apply: (@le_trans _ _ (expect 2 g (matrix d) (measure d) (fun x => Y x ^+ 2 - (- 2%:R^-1) * G x))); last first.
  by rewrite expectB expectZ; apply: eqW; ring.
apply: (@le_trans _ _ (expect 2 g (matrix d) (measure d) (fun x => D ^+ 2 / 4%:R * 1))).
  by rewrite expectZ (expect1 st sta ok) mulr1.
apply: (expect_le st sta ok) => x _; rewrite -subr_ge0.
have -> : Y x ^+ 2 - - 2%:R^-1 * G x - D ^+ 2 / 4%:R * 1 = (Y x + D / 2%:R) ^+ 2 by rewrite /G; field.
exact: sqr_ge0.
Qed.

Lemma average_at A d s (K l : R) : d \in P -> (s < 2)%N -> 0 <= K ->
  2%:R^-1 <= soft exp T (A T) T.-1 -> l ^+ 2 <= 16%:R * m%:R ->
  expect 2 g (matrix d) (measure d) (fun x => (copied exp A x s T - frequency R (take T x) s) ^+ 2) <=
    K * ((T%:R * l * eps / T%:R) ^+ 2) -> m%:R <= 1024%:R * K.
Proof.
move=> hd hs K0 half ll h; have := le_trans (spread_low A hd hs) h.
have -> : T%:R * l * eps / T%:R = l / m%:R by field; rewrite tz mz.
have t4 : T%:R^-1 <= 4%:R^-1 :> R by rewrite lef_pinv ?posrE ?ltr0n // ler_nat T_four.
have far : 4%:R^-1 <= soft exp T (A T) T.-1 - T%:R^-1.
  rewrite ler_subr_addr; apply: le_trans half; apply: (@le_trans _ _ (4%:R^-1 + 4%:R^-1)); first by rewrite ler_add2l.
  by apply: eqW; field.
have low : 64%:R^-1 <= (soft exp T (A T) T.-1 - T%:R^-1) ^+ 2 / 4%:R.
  rewrite ler_pdivl_mulr ?ltr0n //; apply: (@le_trans _ _ (4%:R^-1 ^+ 2)).
    by apply: eqW; field.
  by rewrite ler_expn2r ?nnegrE ?invr_ge0 ?ler0n // (le_trans _ far) ?invr_ge0 ?ler0n.
move=> /(le_trans low); have up : K * (l / m%:R) ^+ 2 <= K * (16%:R / m%:R).
  apply: ler_wpmul2l => //.
  rewrite expr_div_n ler_pdivr_mulr ?exprn_gt0 //.
  have -> : 16%:R / m%:R * m%:R ^+ 2 = 16%:R * m%:R :> R by field.
  exact: ll.
move=> /le_trans/(_ up); rewrite mulrA ler_pdivl_mulr // mulrC ler_pdivr_mulr ?ltr0n // => le.
by apply: le_trans le _; apply: eqW; ring.
Qed.
End Witness.

Section Refutations.
Variables (R : archiFieldType) (exp ln : R -> R) (c D C : nat -> R -> R).
Hypotheses (is_exp : exponential exp) (c0 : forall S gamma, 0 < c S gamma).
Notation gamma := (10%:R^-1 : R).
Notation c2 := (c 2 gamma).
Notation C2 := (C 2 gamma).

Lemma bounded (y : R) : exists n, y <= n%:R.
Proof.
exists (Num.bound `|y|); apply: le_trans (ler_norm y) (ltW (archi_boundP _)).
exact: normr_ge0.
Qed.

Lemma large (x : R) : exists m, [/\ (1 < m)%N, 40%:R * rest_bound 2 gamma <= m%:R & ~ m%:R <= x].
Proof.
have [n hn] := bounded (40%:R * rest_bound 2 gamma); have [k hk] := bounded x; exists (n + k).+2; split=> //.
  by apply: le_trans hn _; rewrite ler_nat -addn2 -addnA leq_addr.
apply/negP; rewrite -ltNge; apply: le_lt_trans hk _.
by rewrite ltr_nat ltnS leqW // leq_addl.
Qed.

Theorem gradient_refuted : ~ gradient_printed exp c C.
Proof.
move=> h; have [m [m1 long]] := large (10%:R * C2); apply.
have [e he hg] := h _ _ _ _ _ _ (fun _ _ => 0) _ (witness_setting R m1) (witness_start is_exp m1 (c0 2 gamma))
  (witness_query m1).
exact: (gradient_at is_exp m1 (c0 2 gamma) long he hg).
Qed.

Theorem roots_refuted : ~ roots_printed exp c C.
Proof.
move=> h; have [m [m1 long]] := large (8%:R * C2); apply.
have [v hv hg] := h _ _ _ _ _ _ (fun _ _ => 0) _ (witness_setting R m1) (witness_start is_exp m1 (c0 2 gamma))
  (witness_query m1) (witness_root m1).
exact: (roots_at is_exp m1 (c0 2 gamma) long hv hg).
Qed.

Theorem drift_refuted : ~ drift_printed exp c C.
Proof.
move=> h; have [m [m1 long]] := large (32%:R * C2); apply.
have s := witness_start is_exp m1 (c0 2 gamma); have /andP[s0 _] := s.
have /andP[T0 _] := witness_query m1; have tr : (0 : R) < (size (in_context (m ^ 2)))%:R by rewrite ltr0n.
pose eta := 8%:R * (size (in_context (m ^ 2)))%:R ^+ 3 / start m c2.
have eta0 : 0 < eta by rewrite divr_gt0 // mulr_gt0 ?ltr0n // exprn_gt0.
have lT : ((size (in_context (m ^ 2))).-1 < size (in_context (m ^ 2)))%N by rewrite prednK.
have := h _ _ _ _ _ _ eta 1%N _ _ (witness_setting R m1) s eta0 (witness_query m1) (witness_root m1) lT.
by apply: (drift_at is_exp m1 (c0 2 gamma) long (ltW eta0)); rewrite /eta divfK // lt0r_neq0.
Qed.

Hypotheses (D0 : forall S gamma, 0 < D S gamma) (is_ln : forall x, 0 < x -> exp (ln x) = x).
Notation D2 := (D 2 gamma).

Lemma ln_range n : (1 < n)%N -> 0 < ln n%:R <= n%:R.
Proof.
move=> n1; have n0 : (0 : R) < n%:R by rewrite ltr0n ltnW.
apply/andP; split.
  rewrite ltNge; apply/negP => /(exp_le is_exp); rewrite is_ln // (exp0 is_exp).
  by rewrite lern1 leqNgt n1.
have [_ lin] := is_exp; have := lin (ln n%:R); rewrite is_ln //; apply: le_trans.
by rewrite ler_addr ler01.
Qed.

Theorem end_refuted : ~ end_printed exp ln c D C.
Proof.
move=> h; have [m [m1 long]] := large (2%:R * (8%:R + D2) / D2 * `|C2|); apply.
have s := witness_start is_exp m1 (c0 2 gamma); have /andP[s0 _] := s.
pose T := size (in_context (m ^ 2)); have T4 : (4 <= T)%N := T_four m1.
have T0 : (0 < T)%N by apply: leq_trans T4.
have tr : (0 : R) < T%:R by rewrite ltr0n.
have l := ln_range (leq_trans (isT : (2 <= 4)%N) T4); have /andP[l0 _] := l.
pose eta := D2 * T%:R ^+ 2 * ln T%:R / start m c2.
have es : eta * start m c2 = D2 * T%:R ^+ 2 * ln T%:R by rewrite /eta divfK // lt0r_neq0.
have eta0 : 0 < eta by rewrite divr_gt0 // mulr_gt0 // mulr_gt0 // exprn_gt0.
have lT : (T.-1 < T)%N by rewrite prednK.
have es1 : 1%:R * eta * start m c2 = D2 * T%:R ^+ 2 * ln T%:R by rewrite mul1r.
have le := h _ _ _ _ _ _ eta 1%N _ _ (witness_setting R m1) s eta0 es1 (witness_query m1) (witness_root m1) lT.
apply: (end_at is_exp m1 (c0 2 gamma) long (ltW eta0) (D0 2 gamma) l es (le_trans le _)).
apply: (@le_trans _ _ (`|C2| * Num.min 1 (T%:R * ln T%:R / m%:R / T%:R ^+ 2))).
  rewrite ler_wpmul2r ?ler_norm // le_minr ler01 /= divr_ge0 ?sqr_ge0 // divr_ge0 ?ler0n // mulr_ge0 // ltW //.
by rewrite ler_wpmul2l ?normr_ge0 // le_minl lexx orbT.
Qed.

Lemma exp_nat n : exp n%:R = exp 1 ^+ n.
Proof.
have [mul _] := is_exp; elim: n => [|n IH]; first by rewrite expr0 (exp0 is_exp).
by rewrite exprS -IH -mul -(natrD _ 1).
Qed.

Lemma ln_power n : n%:R <= ln ((4 ^ n) ^ 2)%:R <= 4%:R * n%:R.
Proof.
have p0 : 0 < ((4 ^ n) ^ 2)%:R :> R by rewrite ltr0n !expn_gt0.
have e1 : 2%:R <= exp 1 by have [_ lin] := is_exp; apply: le_trans (lin 1); rewrite -mulr2n.
have e4 : exp 1 <= 4%:R.
  have h : exp 2%:R^-1 <= 2%:R.
    apply: le_trans (exp_small is_exp _ (lexx _)) _; first by rewrite invr_ge0 ler0n.
    by rewrite mulfV ?pnatr_eq0 // -mulr2n.
  have [mul _] := is_exp; have twice : exp 1 = exp 2%:R^-1 * exp 2%:R^-1 by rewrite -mul; congr exp; field.
  rewrite twice (_ : 4%:R = 2%:R * 2%:R); last by rewrite -natrM.
  by apply: ler_pmul; rewrite ?(ltW (exp_gt0 is_exp _)).
have e0 : 0 <= exp 1 by apply: le_trans e1; rewrite ler0n.
apply/andP; split; apply: (exp_le_inv is_exp); rewrite is_ln //.
  rewrite exp_nat; apply: (@le_trans _ _ (4%:R ^+ n)); first by apply: ler_expn2r; rewrite ?nnegrE ?ler0n.
  by rewrite -natrX ler_nat -expnM leq_exp2l // muln2 -addnn leq_addr.
have -> : ((4 ^ n) ^ 2 = 2 ^ (4 * n))%N 
  by rewrite -[4%N in LHS]/(2 ^ 2)%N -!expnM [(n * 2)%N]mulnC mulnA.
rewrite -(natrM _ 4 n) exp_nat.
by rewrite natrX; apply: ler_expn2r; rewrite ?nnegrE ?ler0n.
Qed.

Theorem average_refuted : ~ average_printed exp ln c D C.
Proof.
move=> h; have [a ha] := bounded (40%:R * rest_bound 2 gamma).
pose K : R := `|C2|; have K0 : 0 <= K by apply: normr_ge0.
have [b hb] := bounded (16%:R * (16%:R + D2) / D2 ^+ 2); have [k hk] := bounded (1024%:R * K).
pose n := (a + b + k).+1; pose m := (4 ^ n)%N; have nm : (n < m)%N by apply: ltn_expl.
have m1 : (1 < m)%N by apply: leq_ltn_trans nm.
have long : 40%:R * rest_bound 2 gamma <= m%:R.
  apply: le_trans ha _; rewrite ler_nat; apply: leq_trans (ltnW nm).
  by rewrite /n -addnA leqW // leq_addr.
pose T := size (in_context (m ^ 2)); have T4 : (4 <= T)%N := T_four m1.
have T0 : (0 < T)%N by apply: leq_trans T4.
have tr : (0 : R) < T%:R by rewrite ltr0n.
have l := ln_range (leq_trans (isT : (2 <= 4)%N) T4); have /andP[l0 _] := l.
have TE : T = ((4 ^ n) ^ 2)%N by rewrite /T size_in_context.
have /andP[ln1 ln4] := ln_power n; rewrite -TE in ln1 ln4.
have l2 : ln T%:R ^+ 2 <= 16%:R * m%:R.
  apply: (@le_trans _ _ ((4%:R * n%:R) ^+ 2)); first by apply: ler_expn2r; rewrite ?nnegrE ?(ltW l0) ?mulr_ge0 ?ler0n.
  have -> : (4%:R * n%:R) ^+ 2 = 16%:R * (n ^ 2)%:R :> R by rewrite natrX; ring.
  rewrite ler_pmul2l ?ltr0n // ler_nat /m -[4%N]/(2 ^ 2)%N -expnM mulnC expnM leq_exp2r // ltnW // ltn_expl //.
have s := witness_start is_exp m1 (c0 2 gamma); have /andP[s0 _] := s.
pose eta := D2 * T%:R ^+ 2 * ln T%:R / (2%:R * start m c2).
have es : 2%:R * eta * start m c2 = D2 * T%:R ^+ 2 * ln T%:R by rewrite /eta; field; rewrite lt0r_neq0.
have eta0 : 0 < eta.
  exact: (divr_gt0 (mulr_gt0 (mulr_gt0 (D0 2 gamma) (exprn_gt0 2 tr)) l0) (mulr_gt0 (ltr0Sn _ 1) s0)).
have far : 16%:R * (16%:R + D2) / D2 ^+ 2 <= ln T%:R.
  by apply: le_trans hb (le_trans _ ln1); rewrite ler_nat /n addnAC leqW // leq_addl.
have half := second_step is_exp m1 (c0 2 gamma) long (ltW eta0) (D0 2 gamma) l (is_ln tr) far es.
have dP : two 10%:R^-1 2%:R^-1 \in toward R by rewrite in_uniform !relabelings_two mem_head.
have le := h _ _ _ _ _ _ eta 2%N _ 0%N _ (witness_setting R m1) s eta0 es (witness_query m1) (witness_root m1) isT dP.
have bad := average_at (A := trained exp 2 (in_context (m ^ 2)) m%:R^-1 (start m c2) (toward R) eta 2)
  (l := ln T%:R) m1 dP (isT : 0 < 2)%N K0 half l2.
have short : K * Num.min 1 ((T%:R * ln T%:R / m%:R / T%:R) ^+ 2) <= K * (T%:R * ln T%:R / m%:R / T%:R) ^+ 2.
  by rewrite ler_wpmul2l // le_minl lexx orbT.
have {}le := le_trans le (le_trans (ler_wpmul2r _ (ler_norm C2)) short).
have {}bad := le_trans (bad (le _)) hk; move: bad; rewrite le_minr ler01 sqr_ge0 => /(_ isT).
rewrite ler_nat leqNgt => /negP; apply; apply: leq_ltn_trans nm.
by rewrite /n leqW // leq_addl.
Qed.
End Refutations.
