(* The Jacobian J(p) = diag(p) - p p^T of the softmax, for distributions p on *)
(* any number of positions: what of Appendices D, G and H is algebra.         *)
(*                                                                            *)
(* Lemma 7 (lem-no-parents-step-jacobian-corrected): for p <= M and |v| <= V, *)
(*   |J(p) v|_inf <= 2 M V, and the entries of J(p) v differ by at most       *)
(*   M (max v - min v).                                                       *)
(* Lemma 26 (lem-j-l1): |J(p) u|_1 <= 2 p.u for u >= 0.                       *)
(* Appendix I.2 (thm-finite-stage2-step-3): a mean of rows of X A is at most  *)
(*   the largest entry of A.                                                  *)
(* Lemma 11 (lem-bound-ghat-step-second): h = (A z^2 + B z)/(C z + D) has     *)
(*   h'' = 2 D (A D - B C)/(C z + D)^3, as the second coefficient of Taylor.  *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums markov.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Jacobian.
Variables (R : realFieldType) (n : nat) (p : nat -> R).
Hypothesis dist : distribution n p.
Implicit Types u v : nat -> R.

Lemma p_ge0 j : (j < n)%N -> 0 <= p j.
Proof. by case/andP: dist => /all_index h _; apply: h. Qed.

Lemma p_sum : \Sum_(k < n) p k = 1.
Proof. by case/andP: dist => _ /eqP. Qed.

Notation mean v := (\Sum_(k < n) (p k * v k)).

Lemma mean_ge x v : (forall k, (k < n)%N -> x <= v k) -> x <= mean v.
Proof.
move=> h; rewrite -[leLHS]mul1r -{1}p_sum -totalZr; apply: index_le => k hk.
by rewrite ler_wpmul2l ?p_ge0 ?h.
Qed.

Lemma mean_le x v : (forall k, (k < n)%N -> v k <= x) -> mean v <= x.
Proof.
move=> h; rewrite -[leRHS]mul1r -{1}p_sum -totalZr; apply: index_le => k hk.
by rewrite ler_wpmul2l ?p_ge0 ?h.
Qed.

Theorem jacobian_bound M V v j : (forall k, (k < n)%N -> p k <= M) ->
  (forall k, (k < n)%N -> `|v k| <= V) -> (j < n)%N -> `|jacobian n p v j| <= 2%:R * M * V.
Proof.
move=> hM hV hj; rewrite /jacobian normrM ger0_norm ?p_ge0 //.
have -> : 2%:R * M * V = M * (V + V) by ring.
apply: ler_pmul; rewrite ?p_ge0 ?normr_ge0 ?hM //.
apply: le_trans (ler_norm_sub _ _) _; rewrite ler_add ?hV // ler_norml.
by apply/andP; split; [apply: mean_ge | apply: mean_le] => k /hV; rewrite ler_norml => /andP[].
Qed.

Theorem jacobian_spread M lo hi v i j : (forall k, (k < n)%N -> p k <= M) ->
  (forall k, (k < n)%N -> lo <= v k <= hi) -> (i < n)%N -> (j < n)%N ->
  jacobian n p v i - jacobian n p v j <= M * (hi - lo).
Proof.
move=> hM hv hi' hj; rewrite /jacobian; set m := mean v.
have lm : lo <= m by apply: mean_ge => k /hv/andP[].
have mh : m <= hi by apply: mean_le => k /hv/andP[].
have M0 : 0 <= M by apply: le_trans (p_ge0 hi') (hM i hi').
have up : p i * (v i - m) <= M * (hi - m).
  apply: (@le_trans _ _ (p i * (hi - m))).
    by rewrite ler_wpmul2l ?p_ge0 // ler_add2r; case/andP: (hv i hi').
  by rewrite ler_wpmul2r ?subr_ge0 ?hM.
have down : - (p j * (v j - m)) <= M * (m - lo).
  rewrite -mulrN opprB; apply: (@le_trans _ _ (p j * (m - lo))).
    by rewrite ler_wpmul2l ?p_ge0 // ler_add2l ler_opp2; case/andP: (hv j hj).
  by rewrite ler_wpmul2r ?subr_ge0 ?hM.
have -> : M * (hi - lo) = M * (hi - m) + M * (m - lo) by ring.
exact: ler_add.
Qed.

Theorem jacobian_l1 u : (forall k, (k < n)%N -> 0 <= u k) ->
  \Sum_(j < n) `|jacobian n p u j| <= 2%:R * mean u.
Proof.
move=> u0; set m := mean u; have m0 : 0 <= m by apply: mean_ge.
apply: (@le_trans _ _ (\Sum_(j < n) (p j * u j + p j * m))).
  apply: index_le => j hj; rewrite /jacobian mulrBr; apply: le_trans (ler_norm_sub _ _) _.
  by rewrite !ger0_norm // mulr_ge0 ?p_ge0 ?u0.
by rewrite totalD totalZr p_sum mul1r mulr_natl mulr2n.
Qed.

Theorem mean_entry (A : nat -> R) (x : nat -> nat) M : (forall a, `|A a| <= M) ->
  `|mean (fun j => A (x j))| <= M.
Proof.
move=> h; rewrite ler_norml; apply/andP; split.
  by apply: mean_ge => k _; have := h (x k); rewrite ler_norml => /andP[].
by apply: mean_le => k _; have := h (x k); rewrite ler_norml => /andP[].
Qed.
End Jacobian.

Section Curvature.
Variable R : realFieldType.

(* h(z + t) = h(z) + t h'(z) + t^2 h''(z)/2 + t^3 (...), all as fractions *)
Theorem curvature (A B C D z t : R) : C * z + D != 0 -> C * (z + t) + D != 0 ->
  let N := C * z + D in
  (A * (z + t) ^+ 2 + B * (z + t)) / (C * (z + t) + D) =
    (A * z ^+ 2 + B * z) / N
    + t * ((2%:R * A * z + B) * N - C * (A * z ^+ 2 + B * z)) / N ^+ 2
    + t ^+ 2 / 2%:R * (2%:R * D * (A * D - B * C) / N ^+ 3)
    - t ^+ 3 * (C * D * (A * D - B * C)) / (N ^+ 3 * (C * (z + t) + D)).
Proof. by move=> n1 n2 N; rewrite /N; field; rewrite n1 n2. Qed.

(* the three bounds, with b = e^beta and m = e^(beta mu) *)
Theorem curvature_bound (b m mu r z S gamma : R) : 1 <= b -> 1 <= m -> m <= b -> 0 < mu -> mu <= 1 ->
  0 < gamma -> gamma <= 1 - r -> 0 <= r -> gamma <= S -> 0 <= z -> z <= S / gamma ->
  let A := (1 - r) * b in let B := r * m in
  let C := (1 - r) * (b - 1) * mu in let D := 1 - r + r * m in
  let h2 := 2%:R * D * (A * D - B * C) / (C * z + D) ^+ 3 in
  let bound1 := 2%:R * (1 - r) ^+ 2 * b / (C * (S / gamma) + D) ^+ 3 in
  let bound2 := 2%:R * (1 - r) ^+ 2 * b / (S / gamma * b) ^+ 3 in
  [/\ bound1 <= h2, bound2 <= bound1 & 2%:R * gamma ^+ 5 / S ^+ 3 / b ^+ 2 <= bound2].
Proof.
move=> b1 m1 mb mu0 mu1 g0 gr r0 gS z0 zS A B C D h2 bound1 bound2.
have b0 : 0 < b by apply: lt_le_trans b1.
have q0 : 0 < 1 - r by apply: lt_le_trans gr.
have S0 : 0 < S by apply: lt_le_trans gS.
have C0 : 0 <= C by rewrite !mulr_ge0 ?(ltW q0) ?(ltW mu0) // subr_ge0.
have D1 : 1 <= D.
  rewrite -subr_ge0; have -> : D - 1 = r * (m - 1) by rewrite /D; ring.
  by rewrite mulr_ge0 // subr_ge0.
have D0 : 0 < D by apply: lt_le_trans D1.
have Sg : 1 <= S / gamma by rewrite ler_pdivl_mulr // mul1r.
have N0 x : 0 <= x -> 0 < C * x + D by move=> x0; apply: ltr_paddl => //; apply: mulr_ge0.
have Sg0 : 0 <= S / gamma by apply: le_trans ler01 Sg.
have big : (1 - r) ^+ 2 * b <= A * D - B * C.
  rewrite -subr_ge0.
  have -> : A * D - B * C - (1 - r) ^+ 2 * b = (1 - r) * r * m * (b - mu * (b - 1)).
    by rewrite /A /B /C /D; ring.
  apply: mulr_ge0; first by rewrite !mulr_ge0 ?(ltW q0) // (le_trans ler01).
  rewrite subr_ge0; apply: (@le_trans _ _ (1 * (b - 1))); first by rewrite ler_wpmul2r // subr_ge0.
  by rewrite mul1r ler_subl_addr ler_addl ler01.
have num0 : 0 <= 2%:R * (1 - r) ^+ 2 * b by rewrite !mulr_ge0 ?ler0n ?sqr_ge0 // ltW.
have top : 2%:R * (1 - r) ^+ 2 * b <= 2%:R * D * (A * D - B * C).
  rewrite -mulrA -[leRHS]mulrA ler_pmul2l ?ltr0n //; apply: (le_trans big).
  by rewrite ler_pemull //; apply: le_trans big; rewrite mulr_ge0 ?sqr_ge0 // ltW.
have cube (x y : R) : 0 < x -> x <= y -> x ^+ 3 <= y ^+ 3.
  move=> x0 xy; have y0 : 0 <= y by apply: le_trans xy; apply: ltW.
  by apply: ler_expn2r => //; rewrite nnegrE // ltW.
split.
- apply: ler_pmul => //; first by rewrite invr_ge0 exprn_ge0 // ltW // N0.
  rewrite lef_pinv ?posrE ?exprn_gt0 ?N0 //; apply: cube; first exact: N0.
  by rewrite ler_add2r ler_wpmul2l.
- rewrite ler_wpmul2l // lef_pinv ?posrE ?exprn_gt0 ?N0 //; last by rewrite mulr_gt0 ?divr_gt0.
  apply: cube; first exact: N0.
  apply: (@le_trans _ _ ((1 - r) * (b - 1) * (S / gamma) + (1 - r + r * b) * (S / gamma))).
    apply: ler_add.
      by rewrite ler_wpmul2r // /C ler_pimulr // mulr_ge0 ?(ltW q0) // subr_ge0.
    apply: (@le_trans _ _ (1 - r + r * b)); first by rewrite /D ler_add2l ler_wpmul2l.
    by rewrite ler_pemulr // addr_ge0 ?(ltW q0) // mulr_ge0 // ltW.
  by apply: eqW; ring.
have -> : bound2 = 2%:R * b * (gamma / (S * b)) ^+ 3 * (1 - r) ^+ 2.
  by rewrite /bound2; field; rewrite !lt0r_neq0.
have -> : 2%:R * gamma ^+ 5 / S ^+ 3 / b ^+ 2 = 2%:R * b * (gamma / (S * b)) ^+ 3 * gamma ^+ 2.
  by field; rewrite !lt0r_neq0.
rewrite ler_pmul2l; first by apply: ler_expn2r => //; rewrite nnegrE ltW.
apply: mulr_gt0; first by apply: mulr_gt0; rewrite ?ltr0n.
by apply: exprn_gt0; rewrite divr_gt0 // mulr_gt0.
Qed.
End Curvature.
