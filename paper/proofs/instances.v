(* No theorem is vacuous: for each theorem there are numbers that satisfy its *)
(* hypotheses.                                                                *)
(*   applies thm       == it is false that the hypotheses of thm, each        *)
(*                        premise before its conclusion, imply False          *)
(*   thm_applies       == a proof: numbers that satisfy them                  *)
(* The test requires thm_applies of each theorem in theorems.json that has    *)
(* variables or premises. A premise within a conclusion, as in one of its     *)
(* conjuncts, is not covered. Chains, priors and forests are rational; where  *)
(* a theorem has an exponential, the field is that of the real numbers.       *)
From LearnCausal Require Import rationals reals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import refuted_limits stage_two probability definitions sums priors computation markov.
From LearnCausal Require Import softmax covariance leaves effective_length law forest_gap variance chat.
From LearnCausal Require Import refuted_setup refuted_stage_one refuted_stage_two refuted_main.
From LearnCausal Require Import stage_one loss gradient descent refuted_query refuted_samples.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* a type with False for its conclusion *)
Ltac vacuous T :=
  let U := eval cbv zeta in T in
  lazymatch U with
  | forall arg : ?A, @?B arg =>
      constr:(forall arg : A, ltac:(let b := eval cbv beta in (B arg) in let c := vacuous b in exact c))
  | _ => constr:(False)
  end.
Notation applies thm := (~ ltac:(let T := type of thm in let F := vacuous T in exact F)) (only parsing).

Ltac computes := intros; first [by vm_compute | by apply/eqP; vm_compute | by apply/allP; vm_compute].

(* The chain of 4/5, 1/5; 1/5, 4/5 with gamma = 2/5, and the forest 1 -> 2, 3 *)
Notation pi := (matrix lazy) (only parsing).
Notation mu := (measure lazy) (only parsing).
Notation gamma := (2//5) (only parsing).
Notation lambda := (4//5) (only parsing).
Notation g := [:: 0; 1; 0]%N (only parsing).

Lemma contracts (h : nat -> Q) : square 2 mu (applied 2 (centered pi mu) h) <= lambda ^+ 2 * square 2 mu h.
Proof.
have -> : lambda = 1 - gamma / 2%:R by apply/eqP; vm_compute.
by apply: spectral_gap; vm_compute.
Qed.

Lemma mu_lower_applies : applies (@mu_lower).
Proof. by move=> none; apply: (none Q 2%N pi mu gamma _ _ 0%N); vm_compute. Qed.
Lemma tv_max_applies : applies (@tv_max).
Proof. by move=> none; apply: (none Q 2%N pi gamma _ _ 0%N 1%N); vm_compute. Qed.
Lemma tv_min_applies : applies (@tv_min).
Proof. by move=> none; apply: (none Q 2%N pi gamma); vm_compute. Qed.
Lemma b_powers_applies : applies (@b_powers).
Proof. by move=> none; apply: (none Q 2%N pi mu _ _ 1 0 1)%N; vm_compute. Qed.
Lemma b_norm_applies : applies (@b_norm).
Proof. by move=> none; apply: (none Q 2%N pi mu gamma); vm_compute. Qed.
Lemma decomposition_corrected_applies : applies (@decomposition_corrected).
Proof. by move=> none; apply: (none Q 2%N pi mu gamma); vm_compute. Qed.
Lemma spectral_gap_applies : applies (@spectral_gap).
Proof. by move=> none; apply: (none Q 2%N pi mu gamma _ _ _ _ _ _ mu); vm_compute. Qed.
Lemma bound_g1_min_applies : applies (@bound_g1_min).
Proof. by move=> none; apply: (none Q 2%N pi mu gamma _ _ _ _ _ (1//2)) => [|||||[|[]]]; vm_compute. Qed.
Lemma bound_g1_corrected_applies : applies (@bound_g1_corrected).
Proof. by move=> none; apply: (none Q 2%N pi mu gamma); vm_compute. Qed.

(* A quotient of stage 2, with e^beta = 2 *)
Definition quotient : data Q := Data g [:: 0; 0; 1]%N 0 0 (1//2) (1//2) (4//5) (fun=> 1//2) (fun=> 3//2) (2//1) (3//2).

Lemma compute_diffs_applies : applies (@compute_diffs).
Proof. by move=> none; apply: (none Q (1//1) (1//2) (1//3) (1//4)); vm_compute. Qed.
Lemma e3_corrected_applies : applies (@e3_corrected).
Proof. by move=> none; apply: (none Q quotient) ; computes. Qed.
Lemma e12_corrected_applies : applies (@e12_corrected).
Proof. by move=> none; apply: (none Q quotient _ _ _ _ _ _ _ _ (1//2)) ; computes. Qed.
Lemma f_corrected_applies : applies (@f_corrected).
Proof. by move=> none; apply: (none Q quotient) ; computes. Qed.
Lemma denominator_corrected_applies : applies (@denominator_corrected).
Proof. by move=> none; apply: (none Q quotient _ _ _ (2//5) (2//1)); vm_compute. Qed.

(* A coin *)
Notation coin := [:: (1//2, true); (1//2, false)] (only parsing).

Lemma main_cauchy_corrected_applies : applies (@main_cauchy_corrected).
Proof.
by move=> none; apply: (none Q _ coin _ (fun=> 1//2) xpredT (1//2) (1//2) (1//1)) ; computes.
Qed.
Lemma ood_root_corrected_applies : applies (@ood_root_corrected).
Proof.
by move=> none; apply: (none Q _ coin _ 2%N (fun=> 1//2) (1//2)) ; computes.
Qed.
Lemma markov_corrected_applies : applies (@markov_corrected).
Proof. by move=> none; apply: (none Q _ coin _ (fun=> 1//2) gamma 2%N); vm_compute. Qed.
Lemma union_corrected_applies : applies (@union_corrected).
Proof. by move=> none; apply: (none Q _ coin _ 2%N (fun _ _ => 1//2) mu _) => [|[|[]]]; vm_compute. Qed.

(* Attention to two tokens *)
Notation half := (fun=> 1//2) (only parsing).

Lemma jacobian_bound_applies : applies (@jacobian_bound).
Proof. by move=> none; apply: (none Q 2%N half _ (1//2) (1//1) half 0%N) ; computes. Qed.
Lemma jacobian_spread_applies : applies (@jacobian_spread).
Proof. by move=> none; apply: (none Q 2%N half _ (1//2) (0//1) (1//1) half 0%N 1%N) ; computes. Qed.
Lemma jacobian_l1_applies : applies (@jacobian_l1).
Proof. by move=> none; apply: (none Q 2%N half _ half) ; computes. Qed.
Lemma mean_entry_applies : applies (@mean_entry).
Proof. by move=> none; apply: (none Q 2%N half _ half id (1//2)) ; computes. Qed.
Lemma curvature_applies : applies (@curvature).
Proof. by move=> none; apply: (none Q (1//1) (1//2) (1//3) (1//4) (1//1) (1//2)); vm_compute. Qed.
Lemma curvature_bound_applies : applies (@curvature_bound).
Proof. by move=> none; apply: (none Q (2//1) (3//2) (1//2) (1//4) (1//1) (2//1) (1//2)); vm_compute. Qed.

Lemma count_corrected_applies : applies (@count_corrected).
Proof. by move=> none; apply: (none g _ 2%N 1%N). Qed.
Lemma teff_leaves_corrected_applies : applies (@teff_leaves_corrected).
Proof. by move=> none; apply: (none Q g lambda); vm_compute. Qed.
Lemma teff_leaves_ratio_applies : applies (@teff_leaves_ratio).
Proof. by move=> none; apply: (none Q g lambda); vm_compute. Qed.
Lemma muhat_last_corrected_applies : applies (@muhat_last_corrected).
Proof. by move=> none; apply: (none Q g lambda). Qed.
Lemma dependent_first_applies : applies (@dependent_first).
Proof. by move=> none; apply: (none Q 2%N pi mu lambda _ _ contracts 0 0 1)%N; vm_compute. Qed.
Lemma dependent_second_applies : applies (@dependent_second).
Proof. by move=> none; apply: (none Q 2%N pi mu lambda _ _ 0 0 1)%N; vm_compute. Qed.

(* The prior of refuted_query.v, with gamma = 1/10 *)
Lemma forest_gap_corrected_applies : applies (@forest_gap_corrected).
Proof. by move=> none; apply: (none Q 2%N _ _ g (toward_assumption1 _) _ 2 2)%N. Qed.
Lemma root_gradient_corrected_applies : applies (@root_gradient_corrected).
Proof. by move=> none; apply: (none Q 2%N _ _ g (toward_assumption1 _) _ 3 3)%N. Qed.
Lemma parent_chi2_applies : applies (@parent_chi2).
Proof.
move=> none; apply: (none Q 2%N g (weighted [:: (1//3, lazy); (2//3, swapping)]) 2%N) => //.
  by apply: weighted_prior => //; apply/eqP; vm_compute.
by move=> c; rewrite !inE => /orP[] /eqP->; split=> [||[|[]]]; vm_compute.
Qed.

Lemma forest_covariance_applies : applies (@forest_covariance).
Proof. by move=> none; apply: (none Q 2%N g pi mu lambda _ _ _ contracts 1 2 0 1)%N; vm_compute. Qed.
Lemma ancestor_corrected_applies : applies (@ancestor_corrected).
Proof.
move=> none; apply: (none Q 2 g pi mu _ _ _ 1 2 0 1 0 1)%N; try by vm_compute.
by exists [::], [:: 2%N], [:: 1%N].
Qed.
Lemma measure_variance_applies : applies (@measure_variance).
Proof.
by move=> none; apply: (none Q 2%N g pi mu lambda _ _ _ contracts _ [:: 1; 2] 0)%N; computes.
Qed.
Lemma parent_variance_applies : applies (@parent_variance).
Proof.
by move=> none; apply: (none Q 2%N g pi mu lambda _ _ _ contracts _ [:: 2] 0)%N; computes.
Qed.
Lemma parent_distance_applies : applies (@parent_distance).
Proof. by move=> none; apply: (none g _ 2 2 0)%N. Qed.
Lemma muhat_variance_applies : applies (@muhat_variance).
Proof. by move=> none; apply: (none Q 2%N g pi mu lambda _ _ _ contracts _ 0%N); vm_compute. Qed.
Lemma pair_variance_applies : applies (@pair_variance).
Proof.
move=> none; apply: (none Q 2 g pi mu lambda _ _ _ 0 1 _ _ contracts _ _ [:: 2])%N; try computes.
by case=> [|[]]; vm_compute.
Qed.
Lemma concentration_corrected_applies : applies (@concentration_corrected).
Proof. by move=> none; apply: (none Q 2%N g pi mu gamma (1//2) 2 1 0 1)%N; vm_compute. Qed.

(* The refuted statements: only constants and abstract functions have laws. *)
Notation E := R_realFieldType (only parsing).
Notation one := (fun _ _ => 1) (only parsing).

Lemma icl_refuted_applies : applies (@icl_refuted).
Proof. by move=> none; apply: (none E 2%N id). Qed.
Lemma equivalence_to_refuted_applies : applies (@equivalence_to_refuted).
Proof.
move=> none; apply: (none E exp_R); first exact: (exp0 exp_exponential).
by apply: lt_le_trans (proj2 exp_exponential 1); rewrite ltr_addl ltr01.
Qed.
Lemma loss_refuted_applies : applies (@loss_refuted).
Proof.
move=> none; apply: (none E ln_R) => x y x0 xy; rewrite ltNge; apply/negP => /(exp_le exp_exponential).
by rewrite !ln_logarithm // ?(lt_trans x0) // leNgt xy.
Qed.
Lemma display_refuted_applies : applies (@display_refuted).
Proof. by move=> none; apply: (none id 1%N) => x x1; rewrite lexx (le_trans ler01 x1). Qed.
Lemma pointwise_refuted_applies : applies (@pointwise_refuted).
Proof. by move=> none; apply: (none (fun=> 0)) => delta d0; exists 0%N. Qed.
Lemma cauchy_refuted_applies : applies (@cauchy_refuted).
Proof. by move=> none; apply: (none E 1%N). Qed.
Lemma exponent_refuted_applies : applies (@exponent_refuted).
Proof. by move=> none; apply: (none Q (1//1) 1%N). Qed.
Lemma derivative_refuted_applies : applies (@derivative_refuted).
Proof. by move=> none; apply: (none (fun x => 1 + x)); rewrite addr0. Qed.
Lemma horizon_refuted_applies : applies (@horizon_refuted).
Proof. by move=> none; apply: (none Q (2//3) 1%N 1%N); vm_compute. Qed.
Lemma concentration_refuted_applies : applies (@concentration_refuted).
Proof. by move=> none; apply: (none Q 1 1)%N. Qed.
Lemma gradient_refuted_applies : applies (@gradient_refuted).
Proof. by move=> none; apply: (none R_archiFieldType exp_R one one exp_exponential) => *; apply: ltr01. Qed.
Lemma roots_refuted_applies : applies (@roots_refuted).
Proof. by move=> none; apply: (none R_archiFieldType exp_R one one exp_exponential) => *; apply: ltr01. Qed.
Lemma drift_refuted_applies : applies (@drift_refuted).
Proof. by move=> none; apply: (none R_archiFieldType exp_R one one exp_exponential) => *; apply: ltr01. Qed.
Lemma end_refuted_applies : applies (@end_refuted).
Proof.
move=> none; apply: (none R_archiFieldType exp_R ln_R one one one exp_exponential _ _ ln_logarithm) => *;
  exact: ltr01.
Qed.
Lemma average_refuted_applies : applies (@average_refuted).
Proof.
move=> none; apply: (none R_archiFieldType exp_R ln_R one one one exp_exponential _ _ ln_logarithm) => *;
  exact: ltr01.
Qed.
Lemma samples_refuted_applies : applies (@samples_refuted).
Proof. by move=> none; apply: (none R_archiFieldType exp_R ln_R one one one exp_exponential) => *; apply: ltr01. Qed.

(* The theorems about training, for the real numbers: the forest is           *)
(* in_context m^2, 1 -> 2, 3 -> 4, ..., and eps = 1/m, beta0 = eps^3.         *)
Notation P := (toward E) (only parsing).
Notation tenth := (10%:R^-1 : E) (only parsing).
Notation path := (in_context (2 ^ 2)) (only parsing).
Notation zero := (fun _ _ => 0) (only parsing).

Lemma cube_small (eps : E) : 0 < eps -> 0 <= eps ^+ 3 <= eps ^+ 3.
Proof. by move=> e; rewrite lexx andbT exprn_ge0 // ltW. Qed.

Lemma short : setting 2 tenth P path (2%:R^-1).
Proof. exact: witness_setting. Qed.

Lemma nonzero_beta_applies : applies (@nonzero_beta).
Proof.
move=> none; have [[_ _ _ _ is_p] fo _ _] := short.
apply: (none E exp_R 2%N path P 1 1 zero 2%N 0%N) => // [|c /witness_facts[] //||]; first exact: exp_exponential.
  by rewrite ltr01 lexx.
by rewrite ler01 lexx.
Qed.
Lemma loss_rewrite_corrected_applies : applies (@loss_rewrite_corrected).
Proof.
move=> none; have [[_ _ _ _ is_p] fo _ _] := short.
apply: (none E exp_R ln_R 2%N path P 1 is_p fo _ _ zero zero) => [c /witness_facts[] //|].
by rewrite size_in_context.
Qed.
Lemma pop_grads_applies : applies (@pop_grads).
Proof.
move=> none; have [[_ _ _ _ is_p] fo _ _] := short.
apply: (none E exp_R ln_R 2%N path P 1 exp_exponential ln_logarithm ltr01 zero zero is_p fo) =>
  [c /witness_facts[] //|].
by rewrite size_in_context.
Qed.
Lemma stage_one_gradient_applies : applies (@stage_one_gradient).
Proof.
move=> none; have [[_ _ _ _ is_p] fo _ _] := short.
apply: (none E exp_R ln_R 2%N path P 1 1 zero exp_exponential ln_logarithm ltr01 is_p fo) =>
  [|c /witness_facts[] //].
by rewrite size_in_context.
Qed.
Lemma gradient_corrected_applies : applies (@gradient_corrected).
Proof.
move=> none; have [a fo e0 e2] := short.
by apply: (none E exp_R 2 _ P path _ _ exp_exponential a fo e0 e2 (cube_small e0) zero 2 0)%N.
Qed.
Lemma roots_corrected_applies : applies (@roots_corrected).
Proof.
move=> none; have [a fo e0 e2] := short.
by apply: (none E exp_R 2 _ P path _ _ exp_exponential a fo e0 e2 (cube_small e0) zero 3)%N.
Qed.
Lemma query_row_corrected_applies : applies (@query_row_corrected).
Proof.
move=> none; have [a fo e0 e2] := short.
by apply: (none E exp_R 2%N _ P path _ _ exp_exponential a fo e0 e2 (cube_small e0) zero) => //; apply: exprn_gt0.
Qed.
Lemma prediction_corrected_applies : applies (@prediction_corrected).
Proof.
move=> none; have [_ _ e0 e2] := short.
by apply: (none E exp_R path _ _ exp_exponential e0 e2 (cube_small e0) zero (nseq 4 0) 0 1)%N.
Qed.
Lemma threshold_corrected_applies : applies (@threshold_corrected).
Proof.
move=> none; have d : two tenth 2%:R^-1 \in P by rewrite in_uniform relabelings_two inE eqxx.
have [st _ low] := witness_facts d; have [g0 _ _ _ _] := toward_assumption1 E.
by apply: (none E exp_R ln_R exp_exponential ln_logarithm 2%N _ _ 1 1 0%N 1%N st g0 low); rewrite ?ltr01 ?ler01 ?lexx.
Qed.
Lemma stage_two_time_applies : applies (@stage_two_time).
Proof.
move=> none; apply: (none R_archiFieldType exp_R (fun n => n%:R) (fun=> 1) 1 1 1 exp_exponential);
  rewrite ?ltr01 ?ler01 ?lexx // => n; rewrite mul1r; first by rewrite mulrSr.
move=> _; apply: (@le_trans _ _ (exp_R 0)); last by rewrite (exp0 exp_exponential).
by apply: (exp_le exp_exponential); rewrite oppr_le0 mulr_ge0 ?ler0n.
Qed.
Lemma no_parents_corrected_applies : applies (@no_parents_corrected).
Proof.
pose v (n k : nat) : E := (k == 0%N)%:R.
pose A n := iter n (fun a k => a k - 4%:R^-1 * jacobian 2 (soft exp_R 2 a) (v 0%N) k) (fun=> 0).
move=> none; apply: (none E exp_R 2%N A v 4%:R^-1 1 exp_exponential _ _ _ _ _ 1%N 0%N) => // [|n k _|].
- by rewrite invr_ge0 ler0n.
- by rewrite /v; case: eqP; rewrite ?normr1 ?normr0 ?ler01 ?lexx.
by rewrite !mulr1 mulfV ?pnatr_eq0 // ler1n.
Qed.
Lemma roots_drift_applies : applies (@roots_drift).
Proof.
move=> none; have [a fo e0 e2] := short; have t0 : (0 : E) < tenth ^+ 3 by rewrite exprn_gt0 // invr_gt0 ltr0n.
apply: (none E exp_R 2%N _ P path _ _ exp_exponential a fo e0 e2 (cube_small e0) 1%N _ _ _ _ t0 1%N 0%N) => //.
  exact: exprn_gt0.
rewrite size_in_context; set x := (X in X <= _).
have -> : x = 7%:R / 8%:R by rewrite /x; field.
by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
Qed.
Lemma stage_one_roots_applies : applies (@stage_one_roots).
Proof.
move=> none; have [a fo e0 e2] := short.
apply: (none E exp_R ln_R 2%N _ P path _ _ exp_exponential a fo e0 e2 (cube_small e0) 1%N 1) => //.
  exact: exprn_gt0.
exact: ltr01.
Qed.

(* Long sequences, as Lemma 6 needs them *)
Lemma long : exists2 m, (1 < m)%N &
  140%:R ^+ 2 * 2%:R ^+ 10 / tenth ^+ 10 <= effective_length_leaves E (in_context (m ^ 2)).
Proof.
set X := _ / _; have X0 : 0 <= X by rewrite divr_ge0 ?mulr_ge0 ?exprn_ge0 ?invr_ge0 ?ler0n.
pose n := Num.bound (X : R_archiFieldType); exists n.+2 => //.
have [_ _ _ e] := witness_setting E (isT : (1 < n.+2)%N).
have -> : effective_length_leaves E (in_context (n.+2 ^ 2)) = n.+2%:R ^+ 2.
  apply: (mulfI (x := n.+2%:R^-1 ^+ 2)); first by rewrite expf_neq0 // invr_eq0 pnatr_eq0.
  by rewrite e exprVn mulVf // expf_neq0 // pnatr_eq0.
apply: le_trans (ltW (@archi_boundP R_archiFieldType X X0)) _.
by rewrite -natrX ler_nat -/n -mulnn mulSn (leq_trans _ (leq_addr _ _)) // ltnW.
Qed.

Lemma second m : (1 < m)%N -> (0 < 2 <= size (in_context (m ^ 2)))%N /\ parent (in_context (m ^ 2)) 2 = 1%N.
Proof.
move=> m1; have m4 : (2 ^ 2 <= m ^ 2)%N by rewrite leq_exp2r.
have m3 : (2 < m ^ 2)%N by apply: leq_trans m4.
by rewrite size_in_context parent_in_context /= m3 ltnW.
Qed.

Lemma above_time (x : E) : 0 <= x -> exists n, x <= n%:R < x + 1.
Proof.
move=> x0; have ex : exists n, x <= n%:R.
  by exists (Num.bound (x : R_archiFieldType)); exact: ltW (@archi_boundP R_archiFieldType x x0).
case: (ex_minnP ex) => -[|n] h least; [exists 0%N | exists n.+1]; rewrite h.
  by rewrite ltr_spaddr // ltr01.
by rewrite mulrSr ltr_add2r ltNge; apply/negP => /least; rewrite ltnn.
Qed.

Lemma parents_corrected_applies : applies (@parents_corrected).
Proof.
move=> none; have [m m1 lg] := long; have [i2 p] := second m1; have [a fo e0 e2] := witness_setting E m1.
by apply: (none E exp_R 2%N _ P _ _ _ exp_exponential a fo e0 e2 (cube_small e0) 2%N i2 _ lg); rewrite ?p.
Qed.
Lemma stage_one_parents_applies : applies (@stage_one_parents).
Proof.
move=> none; have [m m1 lg] := long; have [i2 p] := second m1; have [a fo e0 e2] := witness_setting E m1.
set T := size (in_context (m ^ 2)) in i2.
set time : E := 16%:R * 2%:R ^+ 3 / tenth ^+ 3 / 1 / m%:R^-1 ^+ 3 * T%:R ^+ 2 * ln_R T%:R.
have b0 : 0 < m%:R^-1 ^+ 3 :> E by rewrite exprn_gt0.
have T1 : 1 <= T%:R :> E by rewrite ler1n ltnW; case/andP: i2.
have [|n /andP[n1 _]] := @above_time time.
  by rewrite !mulr_ge0 ?(ln_ge0 exp_exponential ln_logarithm) ?invr_ge0 ?exprn_ge0 ?invr_ge0 ?ler0n ?ler01.
by apply: (none E exp_R ln_R 2%N _ P _ _ _ exp_exponential ln_logarithm a fo e0 e2 (cube_small e0) 2%N i2 _ lg 1 n
  b0 ltr01 n1); rewrite ?p.
Qed.

(* the gap of Lemma 6 *)
Definition gap : E := tenth ^+ 3 / (2%:R * 2%:R ^+ 2) / 2%:R.
Lemma gap_gt0 : 0 < gap.
Proof. by rewrite !divr_gt0 ?mulr_gt0 ?exprn_gt0 ?invr_gt0 ?ltr0n. Qed.

Lemma leads : exists2 m, (1 < m)%N & forall A, (forall k, (k < 2)%N -> A 2%N k <= A 2%N 0%N) ->
  forall k, (k < 2)%N -> k != 0%N ->
  2%:R * gap <= gstar exp_R 2 (in_context (m ^ 2)) m%:R^-1 (m%:R^-1 ^+ 3) P A 2 0 -
                gstar exp_R 2 (in_context (m ^ 2)) m%:R^-1 (m%:R^-1 ^+ 3) P A 2 k.
Proof.
have [m m1 lg] := long; exists m => // A _ k k2 k0; have [i2 p] := second m1.
have [a fo e0 e2] := witness_setting E m1.
have p0 : parent (in_context (m ^ 2)) 2 != 0%N by rewrite p.
have [h _ _] := parents_corrected exp_exponential a fo e0 e2 (cube_small e0) i2 p0 lg.
have := h A k k2; rewrite p => /(_ k0); apply: le_trans; apply: eqW.
by rewrite /gap [LHS]mulrC divfK // pnatr_eq0.
Qed.

Lemma time_ge0 (T c alpha : E) : 1 <= T -> 0 <= c -> 0 < alpha <= 1 -> 0 <= c * (T ^+ 2 + T / alpha) * ln_R (T / alpha).
Proof.
move=> T1 c0 /andP[a0 a1]; have T0 : 0 <= T by apply: le_trans T1.
rewrite !mulr_ge0 ?addr_ge0 ?exprn_ge0 ?divr_ge0 ?(ltW a0) //.
apply: (ln_ge0 exp_exponential ln_logarithm); rewrite ler_pdivl_mulr // mul1r.
exact: le_trans T1.
Qed.

Lemma half_unit : 0 < (2%:R^-1 : E) < 1.
Proof. by apply/andP; split; [rewrite invr_gt0 ltr0n | rewrite invf_lt1 ?ltr0n // ltr1n]. Qed.

(* the time of Lemma 8 at alpha = 1/2 *)
Lemma above_half_time m : (1 < m)%N -> let T := (size (in_context (m ^ 2)))%:R : E in
  let time := 2%:R / gap / 1 / m%:R^-1 ^+ 3 * (T ^+ 2 + T / 2%:R^-1) * ln_R (T / 2%:R^-1) in
  exists n, time <= n%:R < time + 1.
Proof.
move=> m1 T time; have [i2 _] := second m1; apply: above_time; apply: time_ge0.
- by rewrite ler1n ltnW; case/andP: i2.
- by rewrite !mulr_ge0 ?invr_ge0 ?exprn_ge0 ?invr_ge0 ?(ltW gap_gt0) ?ler01 ?ler0n.
by case/andP: half_unit => -> /ltW.
Qed.

Lemma parent_time_applies : applies (@parent_time).
Proof.
move=> none; have [m m1 lead] := leads; have [i2 p] := second m1; have [_ fo e0 _] := witness_setting E m1.
have b0 : 0 < m%:R^-1 ^+ 3 :> E by rewrite exprn_gt0.
have h := half_unit.
have [n /andP[n1 _]] := above_half_time m1.
by apply: (none E exp_R ln_R 2%N _ P _ _ 1 gap exp_exponential ln_logarithm _ fo b0 ltr01 gap_gt0
  2%N i2 _ _ n h n1) => //;
  rewrite p //; exact: lead.
Qed.
Lemma parent_steps_applies : applies (@parent_steps).
Proof.
move=> none; have [m m1 lead] := leads; have [i2 p] := second m1; have [_ fo e0 _] := witness_setting E m1.
have b0 : 0 < m%:R^-1 ^+ 3 :> E by rewrite exprn_gt0.
have h := half_unit.
have [n n1] := above_half_time m1.
by apply: (none E exp_R ln_R 2%N _ P _ _ 1 gap exp_exponential ln_logarithm _ fo b0 ltr01 gap_gt0
  2%N i2 _ _ _ n h n1) => //;
  rewrite p //; exact: lead.
Qed.
Lemma parent_end_applies : applies (@parent_end).
Proof.
move=> none; have [m m1 lead] := leads; have [i2 p] := second m1; have [_ fo e0 _] := witness_setting E m1.
have b0 : 0 < m%:R^-1 ^+ 3 :> E by rewrite exprn_gt0.
have [|n /andP[n1 _]] := @above_time (8%:R / gap / 1 / m%:R^-1 ^+ 3 *
  (size (in_context (m ^ 2)))%:R ^+ 2 * ln_R (size (in_context (m ^ 2)))%:R).
  rewrite !mulr_ge0 ?(ln_ge0 exp_exponential ln_logarithm) ?invr_ge0 ?exprn_ge0 ?(ltW gap_gt0) ?invr_ge0 ?ler0n
    ?ler01 //.
  by rewrite ler1n ltnW; case/andP: i2.
by apply: (none E exp_R ln_R 2%N _ P _ _ 1 gap exp_exponential ln_logarithm _ fo b0 ltr01 gap_gt0
  2%N i2 _ _ n n1) => //;
  rewrite p //; exact: lead.
Qed.
