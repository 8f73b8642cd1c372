(* Appendix E: chains of any number S of states, reversible or not.           *)
(*                                                                            *)
(* Lemma 14 (lem-mu-lower): if pi >= gamma/S then mu >= gamma/S.              *)
(* Lemma 15 (lem-tv-step-max): if pi >= gamma/S then any two rows are within  *)
(*   1 - gamma in total variation.                                            *)
(* Lemma 15 (lem-tv): so are the closest two.                                 *)
(* Appendix E (eq-b-powers): (pi - 1 mu^T)^k = pi^k - 1 mu^T for k >= 1, and  *)
(*   sum mu(s)/mu(t) (pi(t|s) - mu(t))^2 = sum mu(s) pi(t|s)^2/mu(t) - 1.     *)
(* Lemma 13 (lem-spectral-gap-step-decomposition-corrected):                  *)
(*   pi = gamma/S 1 mu^T + (1 - gamma/S) Q with Q stochastic and mu Q = mu.   *)
(* Lemma 13 (lem-spectral-gap): |pi - 1 mu^T| <= 1 - gamma/S as an operator   *)
(*   on L^2(mu), which is |B_pi|_2 <= 1 - gamma/S.                            *)
(* Lemma 16 (lem-bound-g1-corrected):                                         *)
(*   |B_pi|_F^2 >= 2 min mu sum_s |pi(.|s) - mu|^2 >= 2 gamma^3/S^2.          *)
(*                                                                            *)
(*   apply P h s       == sum_t P(s,t) h(t)                                   *)
(*   square h          == sum_s mu(s) h(s)^2, the squared norm of L^2(mu)     *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Facts.
Variables (R : realFieldType) (S : nat) (pi : nat -> nat -> R) (mu : nat -> R).

Lemma pi_ge0 s t : stochastic S pi -> (s < S)%N -> (t < S)%N -> 0 <= pi s t.
Proof. by case/andP=> /all_index h _ hs ht; move/all_index: (h s hs); apply. Qed.

Lemma row_sum s : stochastic S pi -> (s < S)%N -> \Sum_(t < S) pi s t = 1.
Proof. by case/andP=> _ /all_index h hs; apply/eqP; apply: h. Qed.

Lemma mu_ge0 s : stationary S pi mu -> (s < S)%N -> 0 <= mu s.
Proof. by case/andP=> /andP[/all_index h _] _; apply: h. Qed.

Lemma mu_sum : stationary S pi mu -> \Sum_(s < S) mu s = 1.
Proof. by case/andP=> /andP[_ /eqP]. Qed.

Lemma mu_stat t : stationary S pi mu -> (t < S)%N -> \Sum_(s < S) mu s * pi s t = mu t.
Proof. by case/andP=> _ /all_index h ht; apply/eqP; apply: h. Qed.

Lemma entry_ge x s t : at_least S pi x -> (s < S)%N -> (t < S)%N -> x <= pi s t.
Proof. by move/all_index=> h hs ht; move/all_index: (h s hs); apply. Qed.

Lemma index_eq (F G : nat -> R) : (forall s, (s < S)%N -> F s = G s) -> \Sum_(s < S) F s = \Sum_(s < S) G s.
Proof. by move=> h; apply: total_eq => s; rewrite index_lt; apply: h. Qed.

Lemma index_le (F G : nat -> R) : (forall s, (s < S)%N -> F s <= G s) -> \Sum_(s < S) F s <= \Sum_(s < S) G s.
Proof. by move=> h; apply: total_le => s; rewrite index_lt; apply: h. Qed.

Lemma index_ge0 (F : nat -> R) : (forall s, (s < S)%N -> 0 <= F s) -> 0 <= \Sum_(s < S) F s.
Proof. by move=> h; apply: total_ge0 => s; rewrite index_lt; apply: h. Qed.

Lemma term_le (F : nat -> R) s : (s < S)%N -> (forall t, (t < S)%N -> 0 <= F t) -> F s <= \Sum_(t < S) F t.
Proof.
move=> hs h; rewrite (total_term F (iota_uniq 0 S) (a := s)) ?index_lt // ler_addl.
by apply: index_ge0 => t ht; rewrite mulr_ge0 ?ler0n ?h.
Qed.

Lemma pi_le1 s t : stochastic S pi -> (s < S)%N -> (t < S)%N -> pi s t <= 1.
Proof. by move=> st hs ht; rewrite -(row_sum st hs); apply: (term_le (F := pi s)) => // r; apply: pi_ge0. Qed.

Lemma mu_le1 t : stationary S pi mu -> (t < S)%N -> mu t <= 1.
Proof. by move=> st ht; rewrite -(mu_sum st); apply: (term_le (F := mu)) => // s; apply: mu_ge0. Qed.

Lemma power_last k s t : (t < S)%N -> (s < S)%N ->
  \Sum_(r < S) (power S pi k s r * pi r t) = power S pi k.+1 s t.
Proof.
move=> ht; elim: k s => [|k IH] s hs.
  rewrite /= total_delta //; rewrite -[LHS](total_delta (fun r => pi s r) ht).
  by apply: index_eq => r _; rewrite mulrC eq_sym.
transitivity (\Sum_(r < S) \Sum_(q < S) (pi s q * power S pi k q r * pi r t)).
  by apply: index_eq => r _; rewrite /= totalZr.
rewrite -[RHS]/(\Sum_(q < S) (pi s q * power S pi k.+1 q t)) total_exchange.
apply: index_eq => q hq; rewrite -IH // -totalZ; apply: index_eq => r _.
by rewrite mulrA.
Qed.

End Facts.

Section Squares.
Variables (R : realFieldType) (S : nat).
Implicit Types p h : nat -> R.

(* (sum p h)^2 <= sum p h^2 for a distribution p *)
Lemma jensen p h : distribution S p -> (\Sum_(t < S) p t * h t) ^+ 2 <= \Sum_(t < S) p t * h t ^+ 2.
Proof.
case/andP=> /all_index p0 /eqP p1; set M := \Sum_(t < S) p t * h t.
have : 0 <= \Sum_(t < S) p t * (h t - M) ^+ 2.
  by apply: index_ge0 => t ht; rewrite mulr_ge0 ?p0 ?sqr_ge0.
have -> : \Sum_(t < S) p t * (h t - M) ^+ 2 = \Sum_(t < S) p t * h t ^+ 2 - M ^+ 2; last by rewrite subr_ge0.
transitivity (\Sum_(t < S) (p t * h t ^+ 2 + (M ^+ 2 * p t - 2%:R * M * (p t * h t)))).
  by apply: index_eq => t _; ring.
by rewrite totalD totalB !totalZ p1 -/M; ring.
Qed.

(* For d of sum 0 and a distribution q > 0: 2 |d|_2^2 <= |d|_1^2 <= sum d^2/q *)
Lemma l1_square p d : (forall s, (s < S)%N -> 0 < p s) -> \Sum_(s < S) p s = 1 ->
  (\Sum_(s < S) `|d s|) ^+ 2 <= \Sum_(s < S) (d s ^+ 2 / p s) :> R.
Proof.
move=> p0 p1; have dist : distribution S p.
  by rewrite /distribution p1 eqxx andbT; apply/all_index => s /p0/ltW.
have := jensen (fun s => `|d s| / p s) dist; congr (_ <= _).
  by congr (_ ^+ 2); apply: index_eq => s /p0/lt0r_neq0 nz; field.
apply: index_eq => s /p0/lt0r_neq0 nz; rewrite expr_div_n real_normK ?num_real //.
by field.
Qed.

Lemma half_l1 (d : nat -> R) t : (t < S)%N -> \Sum_(s < S) d s = 0 -> 2%:R * `|d t| <= \Sum_(s < S) `|d s|.
Proof.
move=> ht; have hi : t \in iota 0 S by rewrite index_lt.
rewrite (total_term d (iota_uniq 0 S) hi) (total_term (fun s => `|d s|) (iota_uniq 0 S) hi) => /eqP.
rewrite addr_eq0 => /eqP e.
rewrite mulr_natl mulr2n ler_add2l {1}e normrN; apply: le_trans (total_norm _ _) _.
by apply: total_le => s _; rewrite normrM ger0_norm ?ler0n.
Qed.

Lemma l2_l1 (d : nat -> R) : \Sum_(s < S) d s = 0 ->
  2%:R * (\Sum_(s < S) d s ^+ 2) <= (\Sum_(s < S) `|d s|) ^+ 2.
Proof.
move=> d0; rewrite expr2 -totalZ -totalZ; apply: index_le => t ht.
rewrite -(real_normK (num_real (d t))) expr2 mulrA [leRHS]mulrC.
rewrite [X in _ <= X]mulrC ler_wpmul2r ?normr_ge0 //; exact: half_l1.
Qed.

Lemma chi2_l2 p (d : nat -> R) : (forall s, (s < S)%N -> 0 < p s) -> \Sum_(s < S) p s = 1 ->
  \Sum_(s < S) d s = 0 -> 2%:R * (\Sum_(s < S) d s ^+ 2) <= \Sum_(s < S) (d s ^+ 2 / p s).
Proof. by move=> p0 p1 d0; apply: le_trans (l2_l1 d0) (l1_square d p0 p1). Qed.
End Squares.

Section Chain.
Variables (R : realFieldType) (S : nat) (pi : nat -> nat -> R) (mu : nat -> R) (gamma : R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu).
Hypothesis low : at_least S pi (gamma / S%:R).

Theorem mu_lower t : (t < S)%N -> gamma / S%:R <= mu t.
Proof.
move=> ht; rewrite -(mu_stat stat ht) -[leLHS]mul1r -{1}(mu_sum stat) -totalZr.
by apply: index_le => s hs; rewrite ler_wpmul2l ?(mu_ge0 stat) ?(entry_ge low).
Qed.

Theorem tv_max j k : (j < S)%N -> (k < S)%N -> distance S pi j k <= 1 - gamma.
Proof.
move=> hj hk; have S0 : (0 : R) < S%:R by rewrite ltr0n (leq_trans _ hj).
rewrite /distance ler_pdivr_mulr ?ltr0n //.
apply: (@le_trans _ _ (\Sum_(s < S) (pi j s + pi k s - 2%:R * (gamma / S%:R)))).
  apply: index_le => s hs; have a := entry_ge low hj hs; have b := entry_ge low hk hs.
  rewrite ler_norml; apply/andP; split; rewrite -subr_ge0.
    have -> : pi j s - pi k s - - (pi j s + pi k s - 2%:R * (gamma / S%:R)) =
      2%:R * (pi j s - gamma / S%:R) by ring.
    by rewrite mulr_ge0 ?ler0n ?subr_ge0.
  have -> : pi j s + pi k s - 2%:R * (gamma / S%:R) - (pi j s - pi k s) = 2%:R * (pi k s - gamma / S%:R) by ring.
  by rewrite mulr_ge0 ?ler0n ?subr_ge0.
rewrite totalB totalD !(row_sum stoch) // total_const size_iota -[_ *+ S]mulr_natr.
by apply: eqW; field; rewrite lt0r_neq0.
Qed.

Theorem tv_min : (1 < S)%N ->
  exists j k, [/\ (j < S)%N, (k < S)%N, j != k & distance S pi j k <= 1 - gamma].
Proof.
by move=> S1; exists 0%N, 1%N; have S0 := ltnW S1; split=> //; apply: tv_max.
Qed.

Hypotheses (gamma0 : 0 < gamma) (gamma1 : gamma < 1) (S0 : (0 < S)%N).
Let s0 : (0 : R) < S%:R. Proof. by rewrite ltr0n. Qed.
Let gS0 : 0 < gamma / S%:R. Proof. by rewrite divr_gt0. Qed.

Lemma gamma_S_lt1 : gamma / S%:R < 1.
Proof. by rewrite ltr_pdivr_mulr // mul1r (lt_le_trans gamma1) // ler1n. Qed.

Lemma mu_gt0 t : (t < S)%N -> 0 < mu t.
Proof. by move=> ht; apply: lt_le_trans gS0 (mu_lower ht). Qed.

Lemma centered_row s : (s < S)%N -> \Sum_(t < S) centered pi mu s t = 0.
Proof. by move=> hs; rewrite totalB (row_sum stoch hs) (mu_sum stat) subrr. Qed.

Lemma centered_column t : (t < S)%N -> \Sum_(s < S) mu s * centered pi mu s t = 0.
Proof.
move=> ht; rewrite (index_eq (G := fun s => mu s * pi s t - mu s * mu t)) => [|s _]; last by rewrite mulrBr.
by rewrite totalB totalZr (mu_stat stat ht) (mu_sum stat) mul1r subrr.
Qed.

(* Appendix E (eq-b-powers) *)
Lemma power_row k s : (s < S)%N -> \Sum_(t < S) power S pi k s t = 1.
Proof.
elim: k s => [|k IH] s hs /=.
  by rewrite -[RHS](total_delta (fun=> 1) hs); apply: index_eq => t _; rewrite mulr1.
rewrite total_exchange -[RHS](row_sum stoch hs); apply: index_eq => r hr.
by rewrite totalZ IH // mulr1.
Qed.

Lemma power_stat k t : (t < S)%N -> \Sum_(s < S) mu s * power S pi k s t = mu t.
Proof.
elim: k t => [|k IH] t ht /=.
  rewrite -[RHS](total_delta mu ht); apply: index_eq => s _.
  by rewrite mulrC eq_sym.
transitivity (\Sum_(s < S) \Sum_(r < S) mu s * pi s r * power S pi k r t).
  by apply: index_eq => s _; rewrite -totalZ; apply: index_eq => r _; rewrite mulrA.
rewrite total_exchange -[RHS]IH //; apply: index_eq => r hr.
by rewrite totalZr (mu_stat stat hr).
Qed.

Theorem b_powers k s t : (s < S)%N -> (t < S)%N ->
  power S (centered pi mu) k.+1 s t = power S pi k.+1 s t - mu t.
Proof.
elim: k s t => [|k IH] s t hs ht.
  have one (P : nat -> nat -> R) : power S P 1 s t = P s t.
    rewrite /= -[RHS](total_delta (fun r => P s r) ht); apply: index_eq => r _.
    by rewrite mulrC eq_sym.
  by rewrite !one.
rewrite -[LHS]/(\Sum_(r < S) centered pi mu s r * power S (centered pi mu) k.+1 r t).
rewrite (index_eq (G := fun r => pi s r * power S pi k.+1 r t - mu r * power S pi k.+1 r t
  - centered pi mu s r * mu t)) => [|r hr]; last by rewrite IH // /centered mulrBr mulrBl; congr (_ - _).
by rewrite totalB totalZr centered_row // mul0r subr0 totalB power_stat.
Qed.

Theorem b_norm : \Sum_(s < S) \Sum_(t < S) (mu s / mu t * (pi s t - mu t) ^+ 2) = normB S pi mu.
Proof.
transitivity (\Sum_(s < S) \Sum_(t < S) (mu s * pi s t ^+ 2 / mu t - (2%:R * (mu s * pi s t) - mu s * mu t))).
  by apply: index_eq => s _; apply: index_eq => t /mu_gt0/lt0r_neq0 nz; field.
transitivity (\Sum_(s < S) ((\Sum_(t < S) (mu s * pi s t ^+ 2 / mu t)) - mu s)).
  apply: index_eq => s hs; rewrite totalB; congr (_ - _).
  by rewrite totalB !totalZ (row_sum stoch hs) (mu_sum stat); ring.
by rewrite totalB (mu_sum stat).
Qed.

(* Lemma 16 (lem-bound-g1-corrected) *)
Theorem bound_g1_min low' : (forall s, (s < S)%N -> low' <= mu s) -> 2%:R * low' * spread S pi mu <= normB S pi mu.
Proof.
move=> hl; rewrite -b_norm /spread -totalZ; apply: index_le => s hs.
apply: (@le_trans _ _ (mu s * (2%:R * (\Sum_(t < S) (pi s t - mu t) ^+ 2)))).
  rewrite -mulrA mulrCA ler_wpmul2r ?hl // mulr_ge0 ?ler0n //.
  by apply: index_ge0 => t _; apply: sqr_ge0.
apply: (@le_trans _ _ (mu s * \Sum_(t < S) ((pi s t - mu t) ^+ 2 / mu t))).
  rewrite ler_wpmul2l ?(mu_ge0 stat) //; apply: chi2_l2 (centered_row hs).
    exact: mu_gt0.
  exact: mu_sum stat.
by rewrite -totalZ; apply: index_le => t _; apply: eqW; rewrite mulrA mulrAC.
Qed.

Theorem bound_g1_corrected : gamma ^+ 2 / S%:R <= spread S pi mu ->
  2%:R * gamma ^+ 3 / S%:R ^+ 2 <= normB S pi mu.
Proof.
move=> h; apply: le_trans (bound_g1_min mu_lower).
have -> : 2%:R * gamma ^+ 3 / S%:R ^+ 2 = 2%:R * (gamma / S%:R) * (gamma ^+ 2 / S%:R).
  by field; rewrite lt0r_neq0.
by rewrite ler_wpmul2l // mulr_ge0 ?ler0n // ltW.
Qed.

(* Lemma 13 *)
Definition rest s t : R := (pi s t - gamma / S%:R * mu t) / (1 - gamma / S%:R).

Theorem decomposition_corrected :
  [/\ stochastic S rest,
      forall t, (t < S)%N -> \Sum_(s < S) mu s * rest s t = mu t,
      forall s t, pi s t = gamma / S%:R * mu t + (1 - gamma / S%:R) * rest s t &
      forall s t, centered pi mu s t = (1 - gamma / S%:R) * centered rest mu s t].
Proof.
have p : 0 < 1 - gamma / S%:R by rewrite subr_gt0 gamma_S_lt1.
have nz := lt0r_neq0 p; split.
- apply/andP; split; apply/all_index => s hs.
    apply/all_index => t ht; rewrite divr_ge0 ?(ltW p) // subr_ge0.
    by apply: le_trans (entry_ge low hs ht); rewrite ler_pimulr ?(mu_le1 stat) // ltW.
  by rewrite totalZr totalB totalZ (row_sum stoch hs) (mu_sum stat) mulr1 divff.
- move=> t ht; rewrite (index_eq (G := fun s => (mu s * pi s t - gamma / S%:R * mu t * mu s) / (1 - gamma / S%:R))).
    rewrite totalZr totalB totalZ (mu_stat stat ht) (mu_sum stat) mulr1.
    by rewrite -{1}[mu t]mul1r -mulrBl mulrAC divff // mul1r.
  by move=> s _; rewrite /rest mulrA; congr (_ / _); ring.
- by move=> s t; rewrite /rest [_ * (_ / _)]mulrC divfK // addrC subrK.
- move=> s t; rewrite /centered mulrBr /rest [_ * (_ / _)]mulrC divfK //; ring.
Qed.

Definition applied (P : nat -> nat -> R) (h : nat -> R) s : R := \Sum_(t < S) P s t * h t.
Definition square (h : nat -> R) : R := \Sum_(s < S) mu s * h s ^+ 2.

Lemma square_ge0 h : 0 <= square h.
Proof. by apply: index_ge0 => s hs; rewrite mulr_ge0 ?(mu_ge0 stat) ?sqr_ge0. Qed.

(* A stochastic matrix with stationary measure mu, less its mean, contracts. *)
Lemma stochastic_contracts Q h : stochastic S Q -> (forall t, (t < S)%N -> \Sum_(s < S) mu s * Q s t = mu t) ->
  square (applied (centered Q mu) h) <= square h.
Proof.
move=> sQ mQ; set M := \Sum_(t < S) mu t * h t.
have e s : applied (centered Q mu) h s = applied Q h s - M.
  by rewrite /applied /M -totalB; apply: index_eq => t _; rewrite mulrBl.
apply: (@le_trans _ _ (square (applied Q h))).
  have mean : \Sum_(s < S) mu s * applied Q h s = M.
    transitivity (\Sum_(s < S) \Sum_(t < S) mu s * Q s t * h t).
      by apply: index_eq => s _; rewrite -totalZ; apply: index_eq => t _; rewrite mulrA.
    by rewrite total_exchange; apply: index_eq => t ht; rewrite totalZr mQ.
  rewrite -subr_ge0; have -> : square (applied Q h) - square (applied (centered Q mu) h) = M ^+ 2.
    rewrite /square -totalB.
    transitivity (\Sum_(s < S) (2%:R * M * (mu s * applied Q h s) - M ^+ 2 * mu s)).
      by apply: index_eq => s _; rewrite e; ring.
    by rewrite totalB !totalZ mean (mu_sum stat); ring.
  exact: sqr_ge0.
apply: (@le_trans _ _ (\Sum_(s < S) mu s * (\Sum_(t < S) Q s t * h t ^+ 2))).
  apply: index_le => s hs; rewrite ler_wpmul2l ?(mu_ge0 stat) //; apply: jensen.
  apply/andP; split; last by rewrite (row_sum sQ hs).
  by apply/all_index => t ht; apply: pi_ge0 sQ hs ht.
have -> : \Sum_(s < S) mu s * (\Sum_(t < S) Q s t * h t ^+ 2) = square h; last by [].
transitivity (\Sum_(s < S) \Sum_(t < S) mu s * Q s t * h t ^+ 2).
  by apply: index_eq => s _; rewrite -totalZ; apply: index_eq => t _; rewrite mulrA.
by rewrite total_exchange; apply: index_eq => t ht; rewrite totalZr mQ.
Qed.

Theorem spectral_gap h :
  square (applied (centered pi mu) h) <= (1 - gamma / S%:R) ^+ 2 * square h.
Proof.
have [sQ mQ _ e] := decomposition_corrected.
have -> : square (applied (centered pi mu) h) =
    (1 - gamma / S%:R) ^+ 2 * square (applied (centered rest mu) h).
  rewrite /square -totalZ; apply: index_eq => s _.
  have -> : applied (centered pi mu) h s = (1 - gamma / S%:R) * applied (centered rest mu) h s; last by ring.
  by rewrite /applied -totalZ; apply: index_eq => t _; rewrite e mulrA.
by rewrite ler_wpmul2l ?sqr_ge0 // stochastic_contracts.
Qed.
End Chain.

(* Under a prior: the entries of a chain and of its measure are bounded.      *)
Section Bounded.
Variables (R : realFieldType) (S : nat) (P : prior R).
Hypothesis valid : forall c, c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c).

Lemma bounded_entry s t : (s < S)%N -> (t < S)%N -> bounded P (fun c => matrix c s t).
Proof.
move=> hs ht; exists 1 => c /valid[st _].
by rewrite ger0_norm ?(pi_ge0 st) // (pi_le1 st).
Qed.

Lemma bounded_measure t : (t < S)%N -> bounded P (fun c => measure c t).
Proof.
move=> ht; exists 1 => c /valid[_ sta].
by rewrite ger0_norm ?(mu_ge0 sta) // (mu_le1 sta).
Qed.

Lemma bounded_inverse x t : 0 < x -> (forall c, c \in P -> x <= measure c t) -> bounded P (fun c => (measure c t)^-1).
Proof.
move=> x0 h; exists x^-1 => c /h le; have m0 := lt_le_trans x0 le.
by rewrite gtr0_norm ?invr_gt0 // lef_pinv.
Qed.

Lemma bounded_power k s t : (s < S)%N -> (t < S)%N -> bounded P (fun c => power S (matrix c) k s t).
Proof.
elim: k s => [|k IH] s hs ht; first exact: bounded_const.
apply: bounded_total => r; rewrite index_lt => hr; apply: boundedM; first exact: bounded_entry.
exact: IH.
Qed.
End Bounded.
