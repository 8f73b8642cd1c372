(* The law of one and of two positions, from that of the whole sequence.      *)
(*                                                                            *)
(* Of positions before the query:                                             *)
(*   token_law         == s_i has the law mu                                  *)
(*   pair_law          == if i and j are a and b steps below their closest    *)
(*                        common ancestor, P[s_i = t, s_j = s] =              *)
(*                          sum_k mu(k) pi^a(t|k) pi^b(s|k)                   *)
(*   pair_apart        == if they have none, it is mu(t) mu(s)                *)
(* Under a prior:                                                            *)
(*   bounded_expect    == the mean over sequences of functions that are       *)
(*                        bounded on the prior's chains                       *)
(* Of the query, which is uniform and independent of what is before it:       *)
(*   query_law         == E[1{s_T = t} G] = E[G]/S                            *)
(*                                                                            *)
(*   meet g i j a b    == the ancestors of i and j, i and j included, are     *)
(*                        a and b positions that they do not share, and then  *)
(*                        the same, so that their distance is a + b           *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From LearnCausal Require Import definitions sums priors markov leaves.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition meet g i j a b : Prop :=
  exists q r c, [/\ ancestors g i = q ++ c, ancestors g j = r ++ c, size q = a, size r = b &
    (c != [::]) && ~~ has (mem (ancestors g j)) q && ~~ has (mem (ancestors g i)) r].

Section Law.
Variables (R : realFieldType) (S : nat) (g : seq nat) (pi : nat -> nat -> R) (mu : nat -> R).
Hypotheses (stoch : stochastic S pi) (stat : stationary S pi mu) (ok : forest g).
Notation T := (size g).
Notation sequences := (sequences S).
Notation expect := (expect S g pi mu).

(* the law of the next token after those of x *)
Definition next x s : R :=
  let i := (size x).+1 in
  if i == T then S%:R^-1 else if parent g i == 0%N then mu s else pi (token x (parent g i)) s.
Definition prefix_law n x : R := foldr (fun i y => step S g pi mu x i * y) 1 (iota 1 n).
Definition mean n (F : seq nat -> R) : R := \Sum_(x in sequences n) prefix_law n x * F x.

Lemma sequencesP n x : x \in sequences n -> size x = n /\ {subset x <= iota 0 S}.
Proof.
elim: n x => [|n IH] x /=; first by rewrite inE => /eqP->.
case/allpairsP => -[s y] /= [hs /IH[<- sub] ->]; split=> // t.
by rewrite inE => /orP[/eqP->|/sub].
Qed.

Lemma token_lt n x i : x \in sequences n -> (0 < i <= n)%N -> (token x i < S)%N.
Proof.
case/sequencesP => z sub /andP[i0 hi].
have : nth 0%N x i.-1 \in iota 0 S by apply: sub; rewrite mem_nth // z prednK.
by rewrite mem_iota.
Qed.

Lemma sum_rcons n (F : seq nat -> R) :
  \Sum_(x in sequences n.+1) F x = \Sum_(x in sequences n) \Sum_(s < S) F (rcons x s).
Proof.
have pairs (m : nat) (G : seq nat -> R) :
    \Sum_(x in sequences m.+1) G x = \Sum_(s < S) \Sum_(x in sequences m) G (s :: x).
  by rewrite totalE big_allpairs_dep totalE; apply: eq_bigr => s _; rewrite totalE.
elim: n F => [|n IH] F; first by rewrite pairs /total /= addr0; apply: total_eq => s _ /=; rewrite addr0.
rewrite pairs (total_eq (G := fun s => \Sum_(x in sequences n) \Sum_(t < S) F (s :: rcons x t))); last first.
  by move=> s _; rewrite IH.
by rewrite (pairs n (fun x => \Sum_(s < S) F (rcons x s))).
Qed.

Lemma token_rcons x s i : (0 < i <= size x)%N -> token (rcons x s) i = token x i.
Proof. by case: i => // i /= h; rewrite /token /= nth_rcons h. Qed.

Lemma token_last x s : token (rcons x s) (size x).+1 = s.
Proof. by rewrite /token /= nth_rcons ltnn eqxx. Qed.

Lemma step_rcons x s i : (0 < i <= size x)%N -> step S g pi mu (rcons x s) i = step S g pi mu x i.
Proof.
move=> hi; have /andP[i0 le] := hi; rewrite /step token_rcons //; case: ifP => // _; case: ifPn => // p.
by rewrite token_rcons // lt0n p (leq_trans (ltnW (parent_lt ok i0))).
Qed.

Lemma step_last x s : step S g pi mu (rcons x s) (size x).+1 = next x s.
Proof.
rewrite /step /next token_last; case: ifP => // _; case: ifPn => // p.
by rewrite token_rcons // lt0n p -ltnS parent_lt.
Qed.

Lemma prefix_rcons x s : prefix_law (size x).+1 (rcons x s) = prefix_law (size x) x * next x s.
Proof.
rewrite /prefix_law; have -> : iota 1 (size x).+1 = iota 1 (size x) ++ [:: (size x).+1].
  by rewrite -(addn1 (size x)) iotaD add1n addn1.
rewrite foldr_cat /= step_last mulr1.
have : {in iota 1 (size x), forall i, step S g pi mu (rcons x s) i = step S g pi mu x i}.
  by move=> i; rewrite mem_iota add1n ltnS => h; apply: step_rcons.
elim: (iota 1 _) => [|i l IH] h /=; first by rewrite mul1r.
by rewrite h ?mem_head // IH ?mulrA // => k hk; apply: h; rewrite inE hk orbT.
Qed.

Lemma mean_succ n F : mean n.+1 F = mean n (fun x => \Sum_(s < S) next x s * F (rcons x s)).
Proof.
rewrite /mean sum_rcons; apply: total_eq => x /sequencesP[z _].
by rewrite -totalZ; apply: total_eq => s _; rewrite -z prefix_rcons mulrA.
Qed.

Lemma S_gt0 : (0 < S)%N.
Proof.
case: (posnP S) => // e; move: (mu_sum stat); rewrite e /total /= => /eqP.
by rewrite eq_sym oner_eq0.
Qed.

Lemma next_sum n x : x \in sequences n -> \Sum_(s < S) next x s = 1.
Proof.
move=> hx; have [z _] := sequencesP hx; rewrite /next z; case: (n.+1 == T).
  by rewrite total_const size_iota -[LHS]mulr_natr mulVf // pnatr_eq0 -lt0n S_gt0.
case: (boolP (parent g n.+1 == 0%N)) => p; first exact: mu_sum stat.
by apply: row_sum stoch _; apply: token_lt hx _; rewrite lt0n p -ltnS parent_lt.
Qed.

Lemma mean_eq n F G : {in sequences n, F =1 G} -> mean n F = mean n G.
Proof. by move=> h; apply: total_eq => x hx; rewrite h. Qed.

(* What follows does not matter. *)
Definition local n (F : seq nat -> R) := forall x y, size x = n -> F (x ++ y) = F x.

Lemma local_expect n F : (n <= T)%N -> local n F -> expect F = mean n F.
Proof.
move=> nT loc; rewrite -[LHS]/(mean T F) -(subnKC nT); elim: (T - n)%N => [|k IH]; first by rewrite addn0.
rewrite addnS mean_succ -IH; apply: mean_eq => x hx; have [z _] := sequencesP hx.
have cut y : F (x ++ y) = F x.
  have zn : size (take n x) = n by rewrite size_takel // z leq_addr.
  by rewrite -{1}(cat_take_drop n x) -catA loc // -[in RHS](cat_take_drop n x) loc.
rewrite (total_eq (G := fun s => next x s * F x)) => [|s _]; last by rewrite -cats1 cut.
by rewrite totalZr (next_sum hx) mul1r.
Qed.

Lemma token_cat x y i : (0 < i <= size x)%N -> token (x ++ y) i = token x i.
Proof. by case: i => // i /= h; rewrite /token /= nth_cat h. Qed.

(* the law of s_i given what comes before *)
Definition given x i s : R :=
  if i == T then S%:R^-1 else if parent g i == 0%N then mu s else pi (token x (parent g i)) s.

Lemma expect_given i s G : (0 < i <= T)%N -> (s < S)%N -> local i.-1 G ->
  expect (fun x => (token x i == s)%:R * G x) = expect (fun x => given x i s * G x).
Proof.
case: i => // i /= iT hs loc.
have wide x y : size x = i.+1 -> G (x ++ y) = G x.
  case/lastP: x => // x t; rewrite size_rcons => -[z].
  by rewrite -cats1 -catA !loc.
rewrite (@local_expect i.+1) // => [|x y z]; last by rewrite wide // token_cat // z leqnn.
rewrite (@local_expect i) ?(ltnW iT) // => [|x y z]; last first.
  rewrite loc // /given; case: ifP => // _; case: ifPn => // p.
  by rewrite token_cat // z lt0n p -ltnS parent_lt.
rewrite mean_succ; apply: mean_eq => x hx; have [z _] := sequencesP hx.
rewrite (total_eq (G := fun t => (s == t)%:R * (next x t * G x))) => [|t _]; last first.
  by rewrite -z token_last -cats1 loc // eq_sym; ring.
by rewrite total_delta // /next z.
Qed.

Lemma expect_sum (l : seq nat) (F : nat -> seq nat -> R) :
  expect (fun x => \Sum_(r in l) F r x) = \Sum_(r in l) expect (F r).
Proof. by rewrite /expect -total_exchange; apply: total_eq => x _; rewrite totalZ. Qed.

Lemma expectZ c F : expect (fun x => c * F x) = c * expect F.
Proof. by rewrite /expect -totalZ; apply: total_eq => x _; ring. Qed.

Lemma expectB F G : expect (fun x => F x - G x) = expect F - expect G.
Proof. by rewrite /expect -totalB; apply: total_eq => x _; rewrite mulrBr. Qed.

Lemma expect_eq F G : {in sequences T, F =1 G} -> expect F = expect G.
Proof. exact: mean_eq. Qed.

Lemma expect_le F G : (forall x, x \in sequences T -> F x <= G x) -> expect F <= expect G.
Proof.
move=> h; apply: total_le => x hx; rewrite ler_wpmul2l ?h //.
have : {in iota 1 T, forall i, 0 <= step S g pi mu x i}.
  move=> i; rewrite mem_iota add1n ltnS => hi; have ti := token_lt hx hi; have /andP[i0 iT] := hi.
  rewrite /step; case: ifP => _; first by rewrite invr_ge0 ler0n.
  case: ifPn => p; first exact: mu_ge0 stat ti.
  apply: pi_ge0 stoch _ ti; apply: token_lt hx _.
  by rewrite lt0n p (leq_trans (ltnW (parent_lt ok i0))).
rewrite /law; elim: (iota 1 T) => [|i l IH] hi /=; first exact: ler01.
by rewrite mulr_ge0 ?hi ?mem_head // IH // => k hk; apply: hi; rewrite inE hk orbT.
Qed.

Lemma expect1 : expect (fun=> 1) = 1.
Proof. by rewrite (@local_expect 0) // /mean /total /= mul1r addr0. Qed.

(* a function of one token, by its values *)
Lemma by_value (f : nat -> R) x i : x \in sequences T -> (0 < i <= T)%N ->
  f (token x i) = \Sum_(r < S) f r * (token x i == r)%:R.
Proof.
move=> hx hi; rewrite -(total_delta f (token_lt hx hi)); apply: total_eq => r _.
by rewrite mulrC.
Qed.

(* the same with what it is multiplied by *)
Lemma expect_by_value f i G : (0 < i <= T)%N ->
  expect (fun x => f (token x i) * G x) = \Sum_(r < S) f r * expect (fun x => (token x i == r)%:R * G x).
Proof.
move=> hi; rewrite (expect_eq (G := fun x => \Sum_(r < S) (f r * ((token x i == r)%:R * G x)))).
  by rewrite expect_sum; apply: total_eq => r _; rewrite expectZ.
by move=> x hx; rewrite (by_value f hx hi) -totalZr; apply: total_eq => r _; rewrite mulrA.
Qed.

Lemma parent_range i : (0 < i < T)%N -> parent g i != 0%N -> (0 < parent g i < T)%N.
Proof. by case/andP => i0 iT p; rewrite lt0n p (ltn_trans (parent_lt ok i0)). Qed.

Lemma given_step i s G : (0 < i < T)%N -> (s < S)%N -> local i.-1 G ->
  expect (fun x => (token x i == s)%:R * G x) =
    if parent g i == 0%N then mu s * expect G
    else \Sum_(r < S) pi r s * expect (fun x => (token x (parent g i) == r)%:R * G x).
Proof.
move=> hi hs loc; have /andP[i0 iT] := hi; rewrite expect_given ?i0 ?(ltnW iT) // /given (ltn_eqF iT).
case: ifPn => p; first by rewrite expectZ.
rewrite (expect_by_value (fun r => pi r s)) //.
by have /andP[-> /ltnW->] := parent_range hi p.
Qed.

Lemma query_law s G : (0 < T)%N -> (s < S)%N -> local T.-1 G ->
  expect (fun x => (token x T == s)%:R * G x) = S%:R^-1 * expect G.
Proof. by move=> T0 hs loc; rewrite expect_given ?T0 ?leqnn // /given eqxx expectZ. Qed.

Lemma token_law i s : (0 < i < T)%N -> (s < S)%N -> expect (fun x => (token x i == s)%:R) = mu s.
Proof.
elim/ltn_ind: i s => i IH s hi hs.
have unit k t : expect (fun x => (token x k == t)%:R) = expect (fun x => (token x k == t)%:R * 1).
  by apply: expect_eq => x _; rewrite mulr1.
rewrite unit given_step //; case: ifPn => p; first by rewrite expect1 mulr1.
rewrite -(mu_stat stat hs); apply: index_eq => r hr; rewrite -unit IH ?parent_range //.
  by rewrite mulrC.
by have /andP[i0 _] := hi; apply: parent_lt.
Qed.

Notation joint := (joint S g pi mu).

Lemma jointE i j t s : joint i j t s = expect (fun x => (token x i == t)%:R * (token x j == s)%:R).
Proof. by apply: expect_eq => x _; rewrite -natrM mulnb. Qed.

Lemma joint_sym i j t s : joint i j t s = joint j i s t.
Proof. by rewrite !jointE; apply: expect_eq => x _; rewrite mulrC. Qed.

Lemma joint_step i j t s : (0 < j < i)%N -> (i < T)%N -> (t < S)%N -> (s < S)%N ->
  joint i j t s = if parent g i == 0%N then mu t * mu s
                  else \Sum_(r < S) pi r t * joint (parent g i) j r s.
Proof.
move=> /andP[j0 ji] iT ht hs; have i0 : (0 < i)%N by apply: ltn_trans ji.
rewrite jointE given_step ?i0 // => [|x y z]; last first.
  by rewrite token_cat // z j0 -ltnS prednK.
case: ifP => p; first by rewrite token_law // j0 (ltn_trans ji).
by apply: total_eq => r _; rewrite jointE.
Qed.

Lemma meet_sym i j a b : meet g i j a b -> meet g j i b a.
Proof.
by case=> q [r [c [e1 e2 z1 z2 /andP[/andP[h1 h2] h3]]]]; exists r, q, c; rewrite h1 h3 h2.
Qed.

Lemma up_notin i j : (0 < j < i)%N -> i \notin ancestors g j.
Proof. by case/andP=> j0 ji; apply/negP => /(up_range ok j0)/andP[_]; rewrite leqNgt ji. Qed.

Lemma meet_between i j a b : meet g i j a b -> between g i j = Some (a + b)%N.
Proof.
case=> q [r [c [e1 e2 <- <- /andP[/andP[c0 h1] h2]]]].
case: c c0 e1 e2 => // x c _ e1 e2; have xj : x \in ancestors g j by rewrite e2 mem_cat mem_head orbT.
have xr : x \notin r.
  apply: contra h2 => h; apply/hasP; exists x => //=.
  by rewrite e1 mem_cat mem_head orbT.
have f : find (mem (ancestors g j)) (ancestors g i) = size q.
  by rewrite e1 find_cat (negPf h1) /= xj addn0.
rewrite /between f {1}e1 size_cat /= addnS ltnS leq_addr; congr (Some (_ + _)%N).
by rewrite e1 nth_cat ltnn subnn /= e2 index_cat (negPf xr) /= eqxx addn0.
Qed.

Lemma between_meet i j d : (0 < i)%N -> (0 < j)%N -> between g i j = Some d ->
  exists a b, meet g i j a b /\ d = (a + b)%N.
Proof.
move=> i0 j0 e; have := e; rewrite /between; set k := find _ _; case: ifP => // hk _.
set x := nth 0%N (ancestors g i) k.
have hx : x \in ancestors g i by rewrite mem_nth.
have hxj : x \in ancestors g j.
  by have := nth_find 0%N (_ : has (mem (ancestors g j)) (ancestors g i)); rewrite has_find; apply.
have [q e1 a1] := up_split ok i0 hx; have [r e2 a2] := up_split ok j0 hxj.
have small y l : all (fun z => (x < z)%N) l -> y \in l -> y \notin ancestors g x.
  move/allP => al /al lt; apply/negP => /(up_range ok _)/andP[|_]; last by rewrite leqNgt lt.
  by case/andP: (up_range ok i0 hx).
have q1 : ~~ has (mem (ancestors g j)) q.
  apply/hasPn => y hy /=; have lt : (index y q < k)%N.
    apply: leq_trans (_ : size q <= k)%N; first by rewrite index_mem.
    rewrite leqNgt; apply/negP => kq; have xq : x \in q by rewrite /x e1 nth_cat kq mem_nth.
    by move/allP: a1 => /(_ _ xq); rewrite ltnn.
  have := before_find 0%N lt; rewrite e1 nth_cat index_mem hy nth_index //= => ->.
  by [].
have r1 : ~~ has (mem (ancestors g i)) r.
  apply/hasPn => y hy /=; rewrite e1 mem_cat negb_or (small y r) // andbT.
  apply/negP => yq; move/hasPn: q1 => /(_ y yq) /=; rewrite e2 mem_cat hy.
  by [].
have m : meet g i j (size q) (size r).
  exists q, r, (ancestors g x); split=> //; rewrite q1 r1 !andbT (upE ok) //.
  by case/andP: (up_range ok i0 hx).
by exists (size q), (size r); split=> //; have := meet_between m; rewrite e => -[].
Qed.

(* One step up from the later of two positions *)
Lemma meet_up i j a b : (0 < j < i)%N -> meet g i j a b ->
  exists a', [/\ a = a'.+1, parent g i != 0%N & meet g (parent g i) j a' b].
Proof.
move=> ji; have /andP[j0 lt] := ji; have i0 : (0 < i)%N by apply: ltn_trans lt.
case=> [[|x q]] [r [c [e1 e2 z1 z2 /andP[/andP[c0 h1] h2]]]].
  by move: (up_notin ji); rewrite e2 mem_cat -[c]/([::] ++ c) -e1 (up_self ok i0) orbT.
move: e1; rewrite (upE ok i0) => -[ex]; case: eqP => [_ /esym/eqP|/eqP p e1].
  by rewrite -size_eq0 size_cat addn_eq0 !size_eq0 (negPf c0) andbF.
exists (size q); split; rewrite // -?z1 //; exists q, r, c; split=> //.
rewrite c0 (contra _ h1) /= => [|h]; last by rewrite h orbT.
apply: contra h2 => /hasP[y yr yp]; apply/hasP; exists y => //; rewrite -[mem _ y]/(y \in ancestors g i).
by rewrite (upE ok i0) (negPf p) inE (yp : y \in ancestors _ _) orbT.
Qed.

Lemma meet_itself i a b : (0 < i)%N -> meet g i i a b -> a = 0%N /\ b = 0%N.
Proof.
move=> i0 [q [r [c [e1 e2 <- <- /andP[/andP[_ h1] h2]]]]].
have inside l d : ancestors g i = l ++ d -> ~~ has (mem (ancestors g i)) l -> size l = 0%N.
  case: l => // x l e; have h : x \in ancestors g i by rewrite e mem_head.
  by case/norP; rewrite /= h.
by split; [apply: inside e1 h1 | apply: inside e2 h2].
Qed.

Definition common a b t s : R := \Sum_(k < S) (mu k * power S pi a k t * power S pi b k s).

Lemma common_step a b t s : (t < S)%N -> \Sum_(r < S) pi r t * common a b r s = common a.+1 b t s.
Proof.
move=> ht; transitivity (\Sum_(r < S) \Sum_(k < S) (mu k * (power S pi a k r * pi r t) * power S pi b k s)).
  by apply: total_eq => r _; rewrite -totalZ; apply: total_eq => k _; ring.
rewrite total_exchange; apply: index_eq => k hk.
by rewrite totalZr totalZ power_last.
Qed.

Lemma common_sym a b t s : common a b t s = common b a s t.
Proof. by apply: total_eq => k _; ring. Qed.

Lemma pair_law i j a b t s : (0 < i < T)%N -> (0 < j < T)%N -> (t < S)%N -> (s < S)%N ->
  meet g i j a b -> joint i j t s = common a b t s.
Proof.
elim: {i j}(i + j)%N {-2}i {-2}j (leqnn (i + j)) a b t s => [|n IH] i j le a b t s hi hj ht hs m.
  by case/andP: hi; move: le; rewrite leqn0 addn_eq0 => /andP[/eqP->].
have half i' j' a' b' t' s' : (i' + j' <= n.+1)%N -> (0 < i' < T)%N -> (0 < j' < T)%N -> (t' < S)%N ->
    (s' < S)%N -> (j' < i')%N -> meet g i' j' a' b' -> joint i' j' t' s' = common a' b' t' s'.
  move=> le' hi' hj' ht' hs' lt m'; have /andP[j'0 _] := hj'; have /andP[i'0 i'T] := hi'.
  have ji : (0 < j' < i')%N by rewrite j'0.
  have [a'' [-> p m'']] := meet_up ji m'; rewrite joint_step // (negPf p) -common_step //.
  apply: index_eq => r hr; rewrite (IH _ _ _ a'' b') ?parent_range //.
  by rewrite -ltnS; apply: leq_trans le'; rewrite ltn_add2r parent_lt.
case: (ltngtP j i) => lt; first exact: half.
  by rewrite joint_sym common_sym; apply: half => //; [rewrite addnC | apply: meet_sym].
subst j; have /andP[i0 _] := hi; have [-> ->] := meet_itself i0 m.
transitivity (\Sum_(k < S) ((t == k)%:R * (mu t * (t == s)%:R))).
  rewrite total_delta // -(token_law hi ht) jointE [RHS]mulrC -expectZ; apply: expect_eq => x _.
  by case: (token x i =P t) => [->|_]; rewrite ?mul0r ?mulr0 ?mul1r ?mulr1.
apply: total_eq => k _ /=; rewrite [k == t]eq_sym.
by case: (t =P k) => [<-|_]; rewrite ?mul0r ?mulr0 ?mul1r ?mulr1 ?mul0r.
Qed.

Lemma pair_apart i j t s : (0 < i < T)%N -> (0 < j < T)%N -> (t < S)%N -> (s < S)%N ->
  ~~ same_tree g i j -> joint i j t s = mu t * mu s.
Proof.
elim: {i j}(i + j)%N {-2}i {-2}j (leqnn (i + j)) t s => [|n IH] i j le t s hi hj ht hs m.
  by case/andP: hi; move: le; rewrite leqn0 addn_eq0 => /andP[/eqP->].
have half i' j' t' s' : (i' + j' <= n.+1)%N -> (0 < i' < T)%N -> (0 < j' < T)%N -> (t' < S)%N ->
    (s' < S)%N -> (j' < i')%N -> ~~ same_tree g i' j' -> joint i' j' t' s' = mu t' * mu s'.
  move=> le' hi' hj' ht' hs' lt m'; have /andP[j'0 _] := hj'; have /andP[i'0 i'T] := hi'.
  rewrite joint_step ?j'0 //; case: ifPn => // p; rewrite -(mu_stat stat ht') -totalZr.
  apply: index_eq => r hr; rewrite IH ?parent_range //; first by ring.
    by rewrite -ltnS; apply: leq_trans le'; rewrite ltn_add2r parent_lt.
  apply: contra m' => /same_treeP[x h1 h2]; apply/same_treeP; exists x => //.
  by rewrite (upE ok) // (negPf p) inE h1 orbT.
case: (ltngtP j i) => lt; first exact: half.
  rewrite joint_sym mulrC; apply: half => //; first by rewrite addnC.
  by apply: contra m => /same_treeP[x h1 h2]; apply/same_treeP; exists x.
by case/negP: m; rewrite lt; apply/same_treeP; have /andP[i0 _] := hi; exists i; apply: up_self.
Qed.
End Law.

Section Bounded.
Variables (R : realFieldType) (S : nat) (g : seq nat) (P : prior R).
Hypothesis ok : forest g.
Hypothesis valid : forall c, c \in P -> stochastic S (matrix c) /\ stationary S (matrix c) (measure c).
Notation T := (size g).

Lemma bounded_law x : x \in sequences S T -> bounded P (fun c => definitions.law S g (matrix c) (measure c) x).
Proof.
move=> hx; rewrite /definitions.law; have : {subset iota 1 T <= iota 1 T} by [].
elim: {1 3}(iota 1 T) => [|i l IH] sub; first exact: bounded_const.
apply: boundedM; last by apply: IH => j hj; apply: sub; rewrite inE hj orbT.
have := sub i (mem_head _ _); rewrite mem_iota add1n ltnS => hi; have ti := token_lt hx hi.
have /andP[i0 iT] := hi; rewrite /step; case: (i == T); first exact: bounded_const.
case: (boolP (parent g i == 0%N)) => p; first exact: (bounded_measure valid).
apply: (bounded_entry valid) => //; apply: (token_lt hx).
by rewrite lt0n p (leq_trans (ltnW (parent_lt ok i0))).
Qed.

Lemma bounded_expect (F : chain R -> seq nat -> R) :
  (forall x, x \in sequences S T -> bounded P (fun c => F c x)) ->
  bounded P (fun c => expect S g (matrix c) (measure c) (F c)).
Proof. by move=> h; apply: bounded_total => x hx; apply: boundedM; [apply: bounded_law | apply: h]. Qed.
End Bounded.
