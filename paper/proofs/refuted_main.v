(* Theorem 1: false steps on the way to it, as printed, and their refutation. *)
From LearnCausal Require Import rationals.
From mathcomp Require Import all_ssreflect all_algebra.
From LearnCausal Require Import definitions sums priors law probability computation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

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
