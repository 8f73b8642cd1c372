(* Sums over lists: what the proofs need of them.                             *)
(*   totalE            == the sum is the library's sum                        *)
(*   total_eq, total_le, total_ge0 == term by term                            *)
(*   totalD, totalB, totalN, totalZ, totalZr == linearity                     *)
(*   total_exchange    == the order of two sums                               *)
(*   total_delta       == a sum with one term                                 *)
(*   total_norm        == the triangle inequality                             *)
(*   all_index         == a condition for all s < n                           *)
(*   discriminant      == a quadratic form that is never negative             *)
(*   eqW               == what is equal is at most                            *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sums.
Variable R : realFieldType.

Lemma totalE (A : Type) (l : seq A) (F : A -> R) : \Sum_(a in l) F a = \sum_(a <- l) F a.
Proof. by elim: l => [|a l IH]; rewrite ?big_nil ?big_cons /total //= -IH. Qed.

Lemma total_eq (A : eqType) (l : seq A) (F G : A -> R) :
  (forall a, a \in l -> F a = G a) -> \Sum_(a in l) F a = \Sum_(a in l) G a.
Proof. by move=> h; rewrite !totalE; apply: eq_big_seq. Qed.

Lemma total_le (A : eqType) (l : seq A) (F G : A -> R) :
  (forall a, a \in l -> F a <= G a) -> \Sum_(a in l) F a <= \Sum_(a in l) G a.
Proof. by move=> h; rewrite !totalE big_seq [leRHS]big_seq; apply: ler_sum. Qed.

Lemma total_ge0 (A : eqType) (l : seq A) (F : A -> R) :
  (forall a, a \in l -> 0 <= F a) -> 0 <= \Sum_(a in l) F a.
Proof. by move=> h; rewrite totalE big_seq; apply: sumr_ge0. Qed.

Lemma totalD (A : Type) (l : seq A) (F G : A -> R) :
  \Sum_(a in l) (F a + G a) = \Sum_(a in l) F a + \Sum_(a in l) G a.
Proof. by rewrite !totalE big_split. Qed.

Lemma totalN (A : Type) (l : seq A) (F : A -> R) : \Sum_(a in l) (- F a) = - \Sum_(a in l) F a.
Proof. by rewrite !totalE sumrN. Qed.

Lemma totalB (A : Type) (l : seq A) (F G : A -> R) :
  \Sum_(a in l) (F a - G a) = \Sum_(a in l) F a - \Sum_(a in l) G a.
Proof. by rewrite !totalE sumrB. Qed.

Lemma totalZ (A : Type) (l : seq A) c (F : A -> R) : \Sum_(a in l) (c * F a) = c * \Sum_(a in l) F a.
Proof. by rewrite !totalE mulr_sumr. Qed.

Lemma totalZr (A : Type) (l : seq A) c (F : A -> R) : \Sum_(a in l) (F a * c) = (\Sum_(a in l) F a) * c.
Proof. by rewrite !totalE mulr_suml. Qed.

Lemma total_exchange (A B : Type) (l : seq A) (k : seq B) (F : A -> B -> R) :
  \Sum_(a in l) \Sum_(b in k) F a b = \Sum_(b in k) \Sum_(a in l) F a b.
Proof.
rewrite !totalE (eq_bigr (fun a => \sum_(b <- k) F a b)) => [|a _]; last by rewrite totalE.
by rewrite exchange_big; apply: eq_bigr => b _; rewrite totalE.
Qed.

Lemma total_const (A : Type) (l : seq A) (c : R) : \Sum_(a in l) c = c *+ size l.
Proof. by rewrite totalE big_const_seq count_predT iter_addr_0. Qed.

Lemma total0 (A : Type) (l : seq A) : \Sum_(a in l) 0 = 0 :> R.
Proof. by rewrite total_const mul0rn. Qed.

Lemma total_norm (A : Type) (l : seq A) (F : A -> R) :
  `|\Sum_(a in l) F a| <= \Sum_(a in l) `|F a|.
Proof. by rewrite !totalE ler_norm_sum. Qed.

Lemma total_delta n s (F : nat -> R) : (s < n)%N -> \Sum_(t < n) ((s == t)%:R * F t) = F s.
Proof.
move=> h; rewrite totalE (bigD1_seq s) ?iota_uniq ?mem_iota //= eqxx mul1r.
by rewrite big1 ?addr0 // => t; rewrite eq_sym => /negPf->; rewrite mul0r.
Qed.

Lemma total_term (A : eqType) (l : seq A) (F : A -> R) a : uniq l -> a \in l ->
  \Sum_(b in l) F b = F a + \Sum_(b in l) ((b != a)%:R * F b).
Proof.
move=> u h; rewrite !totalE (bigD1_seq a) //=; congr (_ + _).
rewrite [RHS](bigD1_seq a) //= eqxx mul0r add0r; apply: eq_bigr => b /negPf nb.
by rewrite nb mul1r.
Qed.

Lemma all_index n (P : nat -> bool) : reflect (forall s, (s < n)%N -> P s) [all s < n, P s].
Proof.
by apply: (iffP allP) => h s; have := h s; rewrite mem_iota add0n => h'; apply: h'.
Qed.

Lemma discriminant (A B C : R) : (forall u v, 0 <= u ^+ 2 * A + v ^+ 2 * B - 2%:R * u * v * C) ->
  0 <= B -> C ^+ 2 <= A * B.
Proof.
move=> q; rewrite le_eqVlt => /orP[/eqP Be | Bp].
  case: (eqVneq C 0) => [-> | nz]; first by rewrite -Be expr0n mulr0.
  have := q 1 ((A + 1) / (2%:R * C)); rewrite -Be.
  have -> : 1 ^+ 2 * A + ((A + 1) / (2%:R * C)) ^+ 2 * 0 - 2%:R * 1 * ((A + 1) / (2%:R * C)) * C = -1.
    by field; rewrite nz.
  by rewrite oppr_ge0 leNgt ltr01.
have := q B C; have -> : B ^+ 2 * A + C ^+ 2 * B - 2%:R * B * C * C = B * (A * B - C ^+ 2) by ring.
by rewrite pmulr_rge0 // subr_ge0.
Qed.

Lemma eqW (x y : R) : x = y -> x <= y.
Proof. by move=> ->. Qed.

Lemma index_lt s n : (s \in iota 0 n) = (s < n)%N.
Proof. by rewrite mem_iota add0n. Qed.
End Sums.
