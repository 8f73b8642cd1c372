(* Stage 1 of training, for any exponential function: the two layers, the     *)
(* gradient of the first and its descent; and how far a softmax is from       *)
(* uniform.                                                                   *)
(*                                                                            *)
(*   exponential exp   == exp(x + y) = exp(x) exp(y) and 1 + x <= exp(x),     *)
(*                        which over the real numbers only exp has            *)
(*   soft n a k        == entry k of the softmax of a(0), ..., a(n-1)         *)
(*   logarithm exp ln  == exp(ln x) = x for x > 0                             *)
(* A i k is the entry of A1 in row i and column k + 1, and A2 = beta0 I.      *)
(*   copied A x s i    == (S(A1) X e_s)_i, what i copies of token s           *)
(*   weights A x s k   == the attention that the query s pays to k + 1        *)
(*   predicted A x s t == f(X; s)_t                                           *)
(*   pull_at, pull_of, pull == g*_{i,k+1}/(S T) of Appendix D.2 for a         *)
(*                        sequence, for a chain, and for a prior; the query   *)
(*                        is the last token of X                              *)
(*   gstar A i k       == g*_{i,k+1}                                          *)
(*   gradient_one A i k == the entry of the gradient of the loss, by          *)
(*                        stage_one_gradient of loss.v, Lemma 4               *)
(*   trained eta n     == A1 after n steps of size eta, from 0                *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums markov law.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition exponential (R : realFieldType) (exp : R -> R) : Prop :=
  (forall x y, exp (x + y) = exp x * exp y) /\ (forall x, 1 + x <= exp x).

Definition logarithm (R : realFieldType) (exp ln : R -> R) : Prop := forall x, 0 < x -> exp (ln x) = x.

Definition query (x : seq nat) : nat := token x (size x).

Section Model.
Variables (R : realFieldType) (exp : R -> R) (S : nat) (g : seq nat) (eps beta0 : R).

Definition soft n (a : nat -> R) k : R := exp (a k) / \Sum_(j < n) exp (a j).

Definition copied (A : nat -> nat -> R) x s i : R := \Sum_(k < i) soft i (A i) k * (token x k.+1 == s)%:R.

Definition weights A x s : nat -> R := soft (size x) (fun k => beta0 * copied A x s k.+1).

Definition predicted A x s t : R := \Sum_(k < size x) weights A x s k * (token x k.+1 == t)%:R.

Definition pull_at (pi : nat -> nat -> R) A i k x : R :=
  (\Sum_(t < S) pi (query x) t / (predicted A x (query x) t + eps) *
    (weights A x (query x) i.-1 * ((token x i == t)%:R - predicted A x (query x) t))) *
  (token x k.+1 == query x)%:R.

Definition pull_of (pi : nat -> nat -> R) mu A i k : R := expect S g pi mu (pull_at pi A i k).

Definition pull (P : prior R) A i k : R := mean_over P (fun c => pull_of (matrix c) (measure c) A i k).

Definition gstar P A i k : R := S%:R * (size g)%:R * pull P A i k.

Definition gradient_one P A i k : R := jacobian i (soft i (A i)) (fun l => - beta0 * pull P A i l) k.

Definition trained P eta n : nat -> nat -> R :=
  iter n (fun A i k => A i k - eta * gradient_one P A i k) (fun _ _ => 0).
End Model.

Section Exponential.
Variables (R : realFieldType) (exp : R -> R).
Hypothesis ok : exponential exp.

Lemma exp0 : exp 0 = 1.
Proof.
case: ok => m l; have p : 0 < exp 0 by apply: lt_le_trans (l 0); rewrite addr0 ltr01.
by apply: (mulfI (lt0r_neq0 p)); rewrite -m addr0 mulr1.
Qed.

Lemma exp_gt0 x : 0 < exp x.
Proof.
case: ok => m _; rewrite lt0r; apply/andP; split; last first.
  have -> : x = x / 2%:R + x / 2%:R by field.
  by rewrite m -expr2 sqr_ge0.
apply/eqP => e; have := m x (- x); rewrite e mul0r subrr exp0 => /eqP.
by rewrite oner_eq0.
Qed.

Lemma exp_lt x y : x < y -> exp x < exp y.
Proof.
case: ok => m l xy; have -> : y = x + (y - x) by rewrite addrC subrK.
rewrite m ltr_pmulr ?exp_gt0 //; apply: lt_le_trans (l _).
by rewrite ltr_addl subr_gt0.
Qed.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. by rewrite le_eqVlt => /orP[/eqP-> // | /exp_lt/ltW]. Qed.

Lemma exp_le_inv x y : exp x <= exp y -> x <= y.
Proof. by move=> h; rewrite leNgt; apply/negP => /exp_lt; rewrite ltNge h. Qed.

Lemma exp_small x : 0 <= x -> x <= 2%:R^-1 -> exp x <= 1 + 2%:R * x.
Proof.
case: ok => m l x0 x1; have q : 0 < 1 - x.
  by rewrite subr_gt0 (le_lt_trans x1) // invf_lt1 ?ltr0n // ltr1n.
have e : exp x * exp (- x) = 1 by rewrite -m subrr exp0.
rewrite -(ler_pmul2r q); apply: (@le_trans _ _ 1).
  by rewrite -[leRHS]e ler_pmul2l ?exp_gt0 ?l.
rewrite -subr_ge0; have -> : (1 + 2%:R * x) * (1 - x) - 1 = x * (1 - 2%:R * x) by ring.
by rewrite mulr_ge0 // subr_ge0 mulrC -ler_pdivl_mulr ?ltr0n // mul1r.
Qed.

Lemma expN x : exp x * exp (- x) = 1.
Proof. by case: ok => m _; rewrite -m subrr exp0. Qed.

Lemma exp1_le3 : exp 1 <= 3%:R.
Proof.
case: ok => m l; have -> : exp 1 = exp 6%:R^-1 ^+ 6.
  by rewrite !exprS expr0 mulr1 -!m; congr exp; field.
have sixth : exp 6%:R^-1 <= 6%:R / 5%:R.
  rewrite -(ler_pmul2r (exp_gt0 (- 6%:R^-1))) expN; apply: (@le_trans _ _ (6%:R / 5%:R * (1 - 6%:R^-1))).
    by apply: eqW; field.
  by rewrite ler_wpmul2l ?l // divr_ge0 ?ler0n.
apply: (@le_trans _ _ ((6%:R / 5%:R) ^+ 6)); first by rewrite ler_expn2r ?nnegrE ?(ltW (exp_gt0 _)) ?divr_ge0 ?ler0n.
by rewrite expr_div_n ler_pdivr_mulr ?exprn_gt0 ?ltr0n // -!natrX -natrM ler_nat.
Qed.

(* from 1/2 on by e^x <= 3 e^(x-1) *)
Lemma exp_unit x : 0 <= x <= 1 -> exp x <= 1 + 2%:R * x.
Proof.
case/andP=> x0 x1; case: (leP x 2%:R^-1) => [h | h]; first exact: exp_small.
case: ok => m l; have q : 0 < 2%:R - x by rewrite subr_gt0 (le_lt_trans x1) // ltr1n.
have small : exp (x - 1) * (2%:R - x) <= 1.
  rewrite -[leRHS](expN (x - 1)) ler_pmul2l ?exp_gt0 //.
  by apply: le_trans (l _); apply: eqW; ring.
rewrite -(ler_pmul2r q); apply: (@le_trans _ _ 3%:R).
  have -> : exp x = exp 1 * exp (x - 1) by rewrite -m; congr exp; ring.
  rewrite -mulrA -[leRHS]mulr1; apply: ler_pmul => //; last exact: exp1_le3.
    exact/ltW/exp_gt0.
  by rewrite mulr_ge0 ?(ltW q) // ltW ?exp_gt0.
rewrite -subr_ge0; have -> : (1 + 2%:R * x) * (2%:R - x) - 3%:R = (2%:R * x - 1) * (1 - x) by ring.
by rewrite mulr_ge0 ?subr_ge0 // mulrC -ler_pdivr_mulr ?ltr0n // mul1r ltW.
Qed.

Notation soft := (soft exp).

Lemma sum_exp_gt0 n (a : nat -> R) : (0 < n)%N -> 0 < \Sum_(j < n) exp (a j).
Proof.
move=> n0; apply: lt_le_trans (exp_gt0 (a 0%N)) _; apply: (term_le (F := fun j => exp (a j)) n0) => j _.
by rewrite ltW ?exp_gt0.
Qed.

Lemma soft_gt0 n a k : (0 < n)%N -> 0 < soft n a k.
Proof. by move=> n0; rewrite divr_gt0 ?exp_gt0 ?sum_exp_gt0. Qed.

Lemma soft_sum n a : (0 < n)%N -> \Sum_(k < n) soft n a k = 1.
Proof. by move=> n0; rewrite totalZr divff // lt0r_neq0 // sum_exp_gt0. Qed.

Lemma soft_distribution n a : (0 < n)%N -> distribution n (soft n a).
Proof.
move=> n0; rewrite /distribution soft_sum // eqxx andbT; apply/all_index => k _.
by rewrite ltW ?soft_gt0.
Qed.

Lemma total_n n : \Sum_(j < n) (1 : R) = n%:R.
Proof. by rewrite total_const size_iota. Qed.

(* Entries between 0 and h give shares near 1/n. *)
Lemma soft_near n a h e k : (k < n)%N -> (forall j, (j < n)%N -> 0 <= a j <= h) -> exp h <= 1 + e ->
  (1 + e)^-1 <= n%:R * soft n a k <= 1 + e.
Proof.
move=> hk ha he; have n0 : (0 < n)%N by apply: leq_ltn_trans hk.
have one j : (j < n)%N -> 1 <= exp (a j) <= 1 + e.
  move=> /ha/andP[a0 ah]; rewrite (le_trans (exp_le ah) he) andbT.
  by rewrite -[leLHS]exp0 exp_le.
have /andP[k1 ke] := one k hk; have e0 : 0 < 1 + e by apply: lt_le_trans ltr01 (le_trans k1 ke).
have z0 := sum_exp_gt0 a n0; rewrite /soft; set Z := total _ _ in z0 *.
have lo : n%:R <= Z by rewrite -total_n; apply: index_le => j /one/andP[].
have hi : Z <= n%:R * (1 + e).
  rewrite -total_n -totalZr; apply: index_le => j /one/andP[_].
  by rewrite mul1r.
have nr : (0 : R) < n%:R by rewrite ltr0n.
rewrite mulrA; apply/andP; split.
  rewrite ler_pdivl_mulr //; apply: (@le_trans _ _ n%:R); last by rewrite ler_pemulr // ltW.
  by rewrite mulrC ler_pdivr_mulr.
by rewrite ler_pdivr_mulr // mulrC ler_pmul // ?ltW // (lt_le_trans ltr01).
Qed.

(* An entry of which exp is y times that of any other *)
Lemma soft_lead n a k y : (k < n)%N -> 1 <= y -> (forall j, (j < n)%N -> j != k -> y * exp (a j) <= exp (a k)) ->
  y / (n%:R - 1 + y) <= soft n a k.
Proof.
move=> hk y1 h; have n0 : (0 < n)%N by apply: leq_ltn_trans hk.
have y0 : 0 < y by apply: lt_le_trans y1.
have d0 : 0 < n%:R - 1 + y by rewrite ltr_spaddr // subr_ge0 ler1n.
rewrite ler_pdivl_mulr ?sum_exp_gt0 // mulrAC ler_pdivr_mulr // -totalZ.
apply: (@le_trans _ _ (\Sum_(j < n) (exp (a k) + (k == j)%:R * ((y - 1) * exp (a k))))).
  apply: index_le => j hj; case: (k =P j) => [<- | /eqP nk].
    by rewrite mul1r mulrBl mul1r addrC subrK.
  by rewrite mul0r addr0 h // eq_sym.
rewrite totalD total_const size_iota (total_delta (fun=> (y - 1) * exp (a k)) hk) -[_ *+ n]mulr_natl.
by apply: eqW; ring.
Qed.

(* A larger lead over each other entry gives a larger share. *)
Lemma soft_mono n a b k : (k < n)%N -> (forall j, (j < n)%N -> a k - a j <= b k - b j) -> soft n a k <= soft n b k.
Proof.
move=> hk h; have n0 : (0 < n)%N by apply: leq_ltn_trans hk.
rewrite ler_pdivr_mulr ?sum_exp_gt0 // mulrAC ler_pdivl_mulr ?sum_exp_gt0 // -!totalZ.
case: ok => m _; apply: index_le => j hj; rewrite -!m; apply: exp_le.
rewrite -subr_ge0; have -> : b k + a j - (a k + b j) = (b k - b j) - (a k - a j) by ring.
by rewrite subr_ge0 h.
Qed.

Lemma soft_zero n k : soft n (fun=> 0) k = n%:R^-1.
Proof. by rewrite /soft exp0 total_n mul1r. Qed.

Lemma copied_unit A x s i : (0 < i)%N -> 0 <= copied exp A x s i <= 1.
Proof.
move=> i0; apply/andP; split.
  by apply: index_ge0 => k _; rewrite mulr_ge0 ?ler0n ?(ltW (soft_gt0 _ _ i0)).
rewrite -(soft_sum (A i) i0); apply: index_le => k _.
by rewrite ler_pimulr ?(ltW (soft_gt0 _ _ i0)) // lern1 leq_b1.
Qed.

Lemma weights_near beta0 e A x s k : 0 <= beta0 -> exp beta0 <= 1 + e -> (k < size x)%N ->
  (1 + e)^-1 <= (size x)%:R * weights exp beta0 A x s k <= 1 + e.
Proof.
move=> b0 be hk; apply: (@soft_near _ _ beta0) => // j _.
have /andP[c0 c1] := copied_unit A x s (ltn0Sn j).
by rewrite mulr_ge0 //= ler_pimulr.
Qed.

Lemma frequency_sum (x : seq nat) t : \Sum_(k < size x) (token x k.+1 == t)%:R = (count_mem t x)%:R :> R.
Proof.
have -> : count_mem t x = count (fun k => token x k.+1 == t) (iota 0 (size x)).
  by rewrite -{1}(mkseq_nth 0%N x) /mkseq count_map.
by elim: (iota _ _) => //= k l IH; rewrite natrD -IH.
Qed.

Lemma predicted_ge0 beta0 A x s t : 0 <= predicted exp beta0 A x s t.
Proof.
apply: index_ge0 => k hk; rewrite mulr_ge0 ?ler0n // ltW // soft_gt0 //.
by apply: leq_ltn_trans hk.
Qed.

Lemma predicted_le beta0 e A x s t : 0 <= beta0 -> exp beta0 <= 1 + e -> (0 < size x)%N ->
  predicted exp beta0 A x s t <= (1 + e) * frequency R x t.
Proof.
move=> b0 be x0; have nr : (0 : R) < (size x)%:R by rewrite ltr0n.
rewrite /frequency -frequency_sum mulrA mulrAC -totalZ; apply: index_le => k hk.
rewrite ler_wpmul2r ?ler0n // ler_pdivl_mulr // mulrC.
by have /andP[_] := weights_near A s b0 be hk.
Qed.
End Exponential.

Section Logarithm.
Variables (R : realFieldType) (exp ln : R -> R).
Hypotheses (ok : exponential exp) (log : logarithm exp ln).

Lemma ln_exp x : ln (exp x) = x.
Proof.
have e := log (exp_gt0 ok x).
by apply/eqP; rewrite eq_le; apply/andP; split; apply: (exp_le_inv ok); rewrite e.
Qed.

Lemma lnM x y : 0 < x -> 0 < y -> ln (x * y) = ln x + ln y.
Proof. by case: (ok) => m _ x0 y0; rewrite -[RHS]ln_exp m !log. Qed.

Lemma ln_le x : 0 < x -> ln x <= x - 1.
Proof. by case: (ok) => _ l x0; rewrite ler_subr_addl -[leRHS]log. Qed.

Lemma ln_ge x : 0 < x -> 1 - x^-1 <= ln x.
Proof.
case: (ok) => m l x0; rewrite ler_subl_addr -ler_subl_addl.
have -> : x^-1 = exp (- ln x) by apply: (mulfI (lt0r_neq0 x0)); rewrite divff ?lt0r_neq0 // -{1}(log x0) (expN ok).
exact: l.
Qed.

Lemma ln_mono x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. by move=> x0 xy; apply: (exp_le_inv ok); rewrite !log // (lt_le_trans x0). Qed.

Lemma ln_ge0 x : 1 <= x -> 0 <= ln x.
Proof.
move=> x1; apply: le_trans (ln_ge (lt_le_trans ltr01 x1)).
by rewrite subr_ge0 invf_le1 // (lt_le_trans ltr01).
Qed.
End Logarithm.

(* J annihilates constants, and no more. *)
Lemma jacobian_kernel (R : realFieldType) n (p u v : nat -> R) k l : (forall j, (j < n)%N -> 0 < p j) ->
  (forall j, (j < n)%N -> jacobian n p u j = jacobian n p v j) -> (k < n)%N -> (l < n)%N ->
  u k - u l = v k - v l.
Proof.
move=> p0 h; set U := \Sum_(j < n) p j * u j; set V := \Sum_(j < n) p j * v j.
have e j : (j < n)%N -> u j - U = v j - V.
  by move=> hj; apply: (mulfI (lt0r_neq0 (p0 j hj))); apply: h.
move=> hk hl; have -> : u k - u l = (u k - U) - (u l - U) by ring.
by rewrite !e //; ring.
Qed.

Lemma jacobian_eq (R : realFieldType) n (p u v : nat -> R) k : u =1 v -> jacobian n p u k = jacobian n p v k.
Proof. by move=> h; rewrite /jacobian h; congr (_ * (_ - _)); apply: total_eq => l _; rewrite h. Qed.

Lemma jacobian_scale (R : realFieldType) n (p v : nat -> R) a k :
  jacobian n p (fun l => a * v l) k = a * jacobian n p v k.
Proof.
rewrite /jacobian (index_eq (G := fun l => a * (p l * v l))) => [|l _]; last by ring.
by rewrite totalZ; ring.
Qed.

Lemma gradient_oneE (R : realFieldType) (exp : R -> R) S g P (eps beta0 : R) A i k : (0 < S)%N -> (0 < size g)%N ->
  gradient_one exp S g eps beta0 P A i k =
    - (beta0 / (S%:R * (size g)%:R)) * jacobian i (soft exp i (A i)) (gstar exp S g eps beta0 P A i) k.
Proof.
move=> S0 T0; rewrite -jacobian_scale; apply: jacobian_eq => l; rewrite /gstar.
by field; rewrite !pnatr_eq0 -!lt0n T0.
Qed.

(* A step of the descent, where entry l is pulled by d more than any other *)
Lemma step_lead (R : realFieldType) n (p u : nat -> R) d l k : distribution n p -> 0 <= d ->
  (forall j, (j < n)%N -> j != l -> d <= u l - u j) -> (l < n)%N -> (k < n)%N -> k != l -> p k <= p l ->
  d * (p l * (1 - p l)) <= jacobian n p u l - jacobian n p u k.
Proof.
move=> /andP[/all_index p0 /eqP p1] d0 h hl hk nk pk; rewrite /jacobian; set U := \Sum_(j < n) p j * u j.
have lead : d * (1 - p l) <= u l - U.
  have -> : u l - U = \Sum_(j < n) p j * (u l - u j).
    by rewrite (index_eq (G := fun j => u l * p j - p j * u j)) => [|j _]; [rewrite totalB totalZ p1 mulr1 | ring].
  have -> : d * (1 - p l) = \Sum_(j < n) (d * p j - (l == j)%:R * (d * p j)).
    by rewrite totalB totalZ p1 (total_delta (fun j => d * p j) hl) mulrBr mulr1.
  apply: index_le => j hj; rewrite eq_sym; case: (j =P l) => [-> | /eqP nj].
    by rewrite mul1r !subrr mulr0.
  by rewrite mul0r subr0 mulrC ler_wpmul2l ?p0 ?h.
have -> : p l * (u l - U) - p k * (u k - U) = (p l - p k) * (u l - U) + p k * (u l - u k) by ring.
have -> : d * (p l * (1 - p l)) = (p l - p k) * (d * (1 - p l)) + p k * (d * (1 - p l)) by ring.
apply: ler_add; first by rewrite ler_wpmul2l // subr_ge0.
rewrite ler_wpmul2l ?p0 //; apply: (@le_trans _ _ d); last exact: h.
by rewrite ler_pimulr // ger_addl oppr_le0 p0.
Qed.
