(* Theorem 1: false steps on the way to it, as printed, and their refutation. *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions sums priors law probability computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Theorem 1 (thm-main-step-epsilon): for an eps > 0 that the theorem may     *)
(* choose, a bound a >= 0 of L - L*, L perturbed by this eps, bounds half of  *)
(* the mean of |q - pi(.|s)|_1^2, q = (f + eps)/(1 + S eps). The prediction f *)
(* is that of A2 = beta_0 I with beta_0 -> 0, the share of each token.        *)
Definition perturbed_loss (R : realFieldType) (ln : R -> R) S g (P : seq (chain R)) eps : R :=
  - mean_over P (fun c => expect S g (matrix c) (measure c) (fun x =>
      \Sum_(t < S) matrix c (token x (size g)) t * ln (frequency R x t + eps))).
Definition least_loss (R : realFieldType) (ln : R -> R) S (P : seq (chain R)) : R :=
  - mean_over P (fun c => (\Sum_(s < S) \Sum_(t < S) matrix c s t * ln (matrix c s t)) / S%:R).
Definition prediction_error (R : realFieldType) S g (P : seq (chain R)) eps : R :=
  mean_over P (fun c => expect S g (matrix c) (measure c) (fun x =>
    (\Sum_(t < S) `|(frequency R x t + eps) / (1 + S%:R * eps) - matrix c (token x (size g)) t|) ^+ 2 / 2%:R)).

Definition epsilon_printed (R : realFieldType) (ln : R -> R) :=
  forall S (gamma : R) P g eps a, assumption1 S gamma P -> forest g -> 0 < eps -> 0 <= a ->
  perturbed_loss ln S g P eps - least_loss ln S P <= a -> prediction_error S g P eps <= a.

Theorem epsilon_refuted (ln : Q -> Q) : (forall x, 0 < x <= 1 -> ln x <= 0) -> (forall x, 1 <= x -> 0 <= ln x) ->
  ~ epsilon_printed ln.
Proof.
move=> below from; pose P := relabelings 2 lazy ++ relabelings 2 swapping; pose g := [:: 0; 1; 2; 0]%N.
have a : assumption1 2 (39//100) P by apply: orbits_assumption1; vm_compute.
have entry c s t : c \in P -> (s < 2)%N -> (t < 2)%N -> 0 < matrix c s t <= 1.
  have ok : all (fun c => [all s < 2, [all t < 2, 0 < matrix c s t <= 1]]) P by vm_compute.
  by move=> /(allP ok)/all_index h /h {h} /all_index h /h.
have likely c x : c \in P -> x \in sequences 2 4 -> 0 <= law 2 g (matrix c) (measure c) x.
  have ok : all (fun c => all (fun x => 0 <= law 2 g (matrix c) (measure c) x) (sequences 2 4)) P by vm_compute.
  by move=> /(allP ok)/allP h /h.
move=> h; have {}h := h 2%N _ P g 1 0 a isT ltr01 (lexx _).
have {}h : prediction_error 2 g P 1 <= 0.
  apply: h; rewrite subr_le0; apply: (@le_trans _ _ 0); last first.
    rewrite oppr_ge0 pmulr_lle0 ?invr_gt0 //; rewrite -oppr_ge0 -totalN; apply: total_ge0 => c cP.
    rewrite oppr_ge0 pmulr_lle0 ?invr_gt0 // -oppr_ge0 -totalN; apply: total_ge0 => s; rewrite index_lt => s2.
    rewrite -totalN; apply: total_ge0 => t; rewrite index_lt => t2.
    have /andP[p0 p1] := entry c s t cP s2 t2.
    by rewrite oppr_ge0 pmulr_rle0 // below // p0.
  rewrite oppr_le0 divr_ge0 ?ler0n //; apply: total_ge0 => c cP; apply: total_ge0 => x xs.
  apply: mulr_ge0; first exact: likely.
  apply: total_ge0 => t; rewrite index_lt => t2.
  have /andP[p0 _] := entry c (token x 4) t cP (token_lt (i := 4) xs isT) t2.
  by rewrite mulr_ge0 ?(ltW p0) // from // ler_addr divr_ge0 ?ler0n.
by rewrite /P /g in h; by_computation h.
Qed.

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

(* Theorem 1 (thm-main-step-horizon): T_eff >= (S/gamma)^k gives              *)
(* log^2 T <= C^12 T_eff, for constants C and k; here T = 2^n, the largest    *)
(* number of leaves is L, and of the logarithm only log 2 > 1/2 is used.      *)
Definition horizon_printed (R : realFieldType) (log2 C : R) k :=
  forall S (gamma : R) n L, (0 < S)%N -> 0 < gamma <= 1 -> (0 < L)%N ->
  (S%:R / gamma) ^+ k <= (2 ^ n)%:R / L%:R -> (n%:R * log2) ^+ 2 <= C ^+ 12 * ((2 ^ n)%:R / L%:R).

Theorem horizon_refuted (R : realFieldType) (log2 : R) (C k : nat) : 2%:R^-1 < log2 -> ~ horizon_printed log2 C%:R k.
Proof.
move=> half h; pose m := (C ^ 6 * 2 ^ k)%N.
have h0 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have e : (2 ^ (2 * m.+1 + 2 * k))%:R / (2 ^ (2 * m.+1))%:R = 4%:R ^+ k :> R.
  by rewrite expnD natrM mulrC mulKf ?pnatr_eq0 ?expn_eq0 // expnM natrX.
have := h 2%N 2%:R^-1 (2 * m.+1 + 2 * k)%N (2 ^ (2 * m.+1))%N isT.
rewrite h0 invf_le1 ?ltr0n // ler1n expn_gt0 e invrK -natrM lexx => /(_ isT isT isT).
rewrite leNgt => /negP; apply.
have -> : C%:R ^+ 12 * 4%:R ^+ k = m%:R ^+ 2 :> R.
  by rewrite /m natrM !natrX exprMn -!exprM (_ : 4%:R = 2%:R ^+ 2) -?exprM ?(mulnC k) // -natrX.
rewrite ltr_expn2r ?nnegrE ?ler0n ?mulr_ge0 ?ler0n ?(ltW (lt_trans h0 half)) //.
apply: (@lt_le_trans _ _ m.+1%:R); first by rewrite ltr_nat.
apply: (@le_trans _ _ ((2 * m.+1)%:R * 2%:R^-1)).
  by rewrite natrM mulrAC divff ?pnatr_eq0 // mul1r.
by rewrite ler_pmul ?ler0n ?(ltW h0) ?(ltW half) // ler_nat leq_addr.
Qed.
