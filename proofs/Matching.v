(* Koenig's theorem: a bipartite graph has a matching and a cover of the same size. The proof removes either of two edges
   that meet: covers of the two smaller graphs cross to two covers of the graph, one of them small enough. *)
Require Import QArith Lia Lqa Arith Bool List.
From Obliv Require Import Network Mesh.
Open Scope nat_scope.

Fixpoint count (f : nat -> bool) (n : nat) : nat := match n with O => 0 | S m => count f m + if f m then 1 else 0 end.

Lemma count_le f g n : (forall i, i < n -> f i = true -> g i = true) -> count f n <= count g n.
Proof.
  induction n as [|n IH]; intros H; cbn [count];
    [lia|]. pose proof (IH (fun i L => H i (Nat.lt_lt_succ_r _ _ L))) as Hn.
  pose proof (H n (Nat.lt_succ_diag_r n)). destruct (f n), (g n); lia.
Qed.

Lemma count_lt f g n k : (forall i, i < n -> f i = true -> g i = true) -> k < n -> f k = false -> g k = true ->
  count f n < count g n.
Proof.
  induction n as [|n IH]; intros H L Fk Gk; [lia|]. cbn [count].
  destruct (Nat.eq_dec k n) as [->|E].
  - rewrite Fk, Gk. pose proof (count_le f g n (fun i L => H i (Nat.lt_lt_succ_r _ _ L))). lia.
  - pose proof (IH (fun i L => H i (Nat.lt_lt_succ_r _ _ L)) ltac:(lia) Fk Gk).
    pose proof (H n (Nat.lt_succ_diag_r n)). destruct (f n), (g n); lia.
Qed.

Lemma count_more f a d : count f a <= count f (a + d).
Proof. induction d as [|d IH]; [rewrite Nat.add_0_r; lia|]. rewrite Nat.add_succ_r. cbn [count]. lia. Qed.

Lemma count_cross f g n : count (fun i => f i || g i) n + count (fun i => f i && g i) n = count f n + count g n.
Proof. induction n as [|n IH]; cbn [count]; [lia|]. destruct (f n), (g n); cbn [orb andb]; lia. Qed.

Lemma count_add f x n : count (fun i => f i || (i =? x)) n <= S (count f n).
Proof.
  assert (H : count (fun i => f i || (i =? x)) n <= count f n + if x <? n then 1 else 0).
  { induction n as [|n IH]; cbn [count]; [lia|].
    destruct (Nat.ltb_spec x n), (Nat.ltb_spec x (S n)), (Nat.eqb_spec n x), (f n); cbn [orb] in *; lia. }
  destruct (x <? n); lia.
Qed.

Lemma count_sum f n : (rational (count f n) == sum (fun i => one (f i)) n)%Q.
Proof.
  induction n as [|n IH]; [reflexivity|]. cbn [count sum]. rewrite rational_plus, IH. destruct (f n); reflexivity.
Qed.

Section Bipartite.
Variables n m : nat.

Definition graph := nat -> nat -> bool.
Definition edges (e : graph) : nat := count (fun v => e (v / m) (v mod m)) (n * m).

Definition within (e : graph) (g : graph) : Prop := forall i j, i < n -> j < m -> e i j = true -> g i j = true.

(* No two edges meet. *)
Definition matching (e : graph) : Prop :=
  forall i j i' j', i < n -> j < m -> i' < n -> j' < m -> e i j = true -> e i' j' = true -> (i = i' <-> j = j').

Definition covered (e : graph) (a b : nat -> bool) : Prop := forall i j, i < n -> j < m -> e i j = true ->
  a i = true \/ b j = true.

Definition some_edge (e : graph) (i : nat) : bool := existsb (e i) (seq 0 m).

Definition without (x y : nat) (e : graph) : graph := fun i j => e i j && negb ((i =? x) && (j =? y)).

Lemma without_true x y e i j : without x y e i j = true <-> e i j = true /\ ~ (i = x /\ j = y).
Proof. unfold without. rewrite andb_true_iff, negb_true_iff, andb_false_iff, !Nat.eqb_neq.
split; intros [A B]; (split; [exact A|]); lia. Qed.

Lemma without_fewer x y e : x < n -> y < m -> e x y = true -> edges (without x y e) < edges e.
Proof.
  intros Hx Hy E. unfold edges. apply count_lt with (x * m + y).
  - intros v _ H. apply without_true in H. apply H.
  - apply grid_lt; assumption.
  - rewrite grid_div, grid_mod by assumption. unfold without. rewrite !Nat.eqb_refl, E. reflexivity.
  - rewrite grid_div, grid_mod by assumption. exact E.
Qed.

(* Two edges that meet, if there are any. *)
Lemma matching_or_meet e : matching e \/ exists i j i' j', i < n /\ j < m /\ i' < n /\ j' < m /\
  e i j = true /\ e i' j' = true /\ (i = i' /\ j <> j' \/ i <> i' /\ j = j').
Proof.
  set (meet v w := let i := v / m in let j := v mod m in let i' := w / m in let j' := w mod m in
    e i j && e i' j' && xorb (i =? i') (j =? j')).
  destruct (existsb (fun v => existsb (meet v) (seq 0 (n * m))) (seq 0 (n * m))) eqn:E.
  - right. apply existsb_exists in E. destruct E as [v [Iv E]]. apply existsb_exists in E. destruct E as [w [Iw E]].
    apply in_seq in Iv. apply in_seq in Iw. destruct (grid_row v n m ltac:(lia)). destruct (grid_row w n m ltac:(lia)).
    unfold meet in E. rewrite !andb_true_iff in E. destruct E as [[E1 E2] E3].
    exists (v / m), (v mod m), (w / m), (w mod m). repeat split; try assumption.
    destruct (Nat.eqb_spec (v / m) (w / m)), (Nat.eqb_spec (v mod m) (w mod m)); try discriminate; auto.
  - left. intros i j i' j' Hi Hj Hi' Hj' E1 E2.
    assert (N : xorb (i =? i') (j =? j') = false).
    { destruct (xorb (i =? i') (j =? j')) eqn:X; [|reflexivity].
      assert (T : existsb (fun v => existsb (meet v) (seq 0 (n * m))) (seq 0 (n * m)) = true); [|congruence].
      apply existsb_exists. exists (i * m + j). split; [apply in_seq; pose proof (grid_lt i j n m Hi Hj); lia|].
      apply existsb_exists. exists (i' * m + j'). split; [apply in_seq; pose proof (grid_lt i' j' n m Hi' Hj'); lia|].
      unfold meet. rewrite !grid_div, !grid_mod by assumption. rewrite E1, E2, X. reflexivity. }
    destruct (Nat.eqb_spec i i'), (Nat.eqb_spec j j'); try discriminate; split; intros; auto; contradiction.
Qed.

Lemma matching_size e : matching e -> count (some_edge e) n <= edges e.
Proof.
  intros M. unfold edges.
  assert (H : forall k, k <= n -> count (some_edge e) k <= count (fun v => e (v / m) (v mod m)) (k * m)).
  { induction k as [|k IH]; intros L; cbn [count]; [lia|]. specialize (IH ltac:(lia)).
    assert (More := count_more (fun v => e (v / m) (v mod m)) (k * m)).
    replace (S k * m) with (k * m + m) by lia. destruct (some_edge e k) eqn:E; [|specialize (More m); lia].
    apply existsb_exists in E. destruct E as [j [I E]]. apply in_seq in I.
    pose proof (count_more (fun v => e (v / m) (v mod m)) (S (k * m + j)) (m - S j)) as More'. specialize (More j).
    replace (S (k * m + j) + (m - S j)) with (k * m + m) in More' by lia. cbn [count] in More'.
    rewrite grid_div, grid_mod in More' by lia. rewrite E in More'. lia. }
  apply H. lia.
Qed.

Theorem koenig : forall e, exists a b f, covered e a b /\ matching f /\ within f e /\ count a n + count b m <= edges f.
Proof.
  intros e. remember (edges e) as s eqn:Es. revert e Es. induction s as [s IH] using lt_wf_ind. intros e ->.
  destruct (matching_or_meet e) as [M|[x [y [x' [y' [Hx [Hy [Hx' [Hy' [E [E' N]]]]]]]]]]].
  - exists (some_edge e), (fun _ => false), e. split; [|split; [exact M|split; [intros i j _ _ H; exact H|]]].
    + intros i j Hi Hj E. left. apply existsb_exists. exists j. split; [apply in_seq; lia|exact E].
    + pose proof (matching_size e M). assert (Z : forall k, count (fun _ => false) k = 0) by (induction k; cbn [count];
        lia). rewrite Z. lia.
  - destruct (IH (edges (without x y e)) (without_fewer x y e Hx Hy E) _ eq_refl) as [a1 [b1 [f1 [C1 [M1 [W1 S1]]]]]].
    destruct (IH (edges (without x' y' e)) (without_fewer x' y' e Hx' Hy' E') _ eq_refl) as [a2 [b2 [f2 [C2 [M2 [W2
      S2]]]]]].
    assert (V1 : within f1 e) by (intros i j Hi Hj F; apply (without_true x y e), W1; assumption).
    assert (V2 : within f2 e) by (intros i j Hi Hj F; apply (without_true x' y' e), W2; assumption).
    assert (D1 : (a1 x = true \/ b1 y = true) \/ a1 x = false /\ b1 y = false) by (destruct (a1 x), (b1 y); auto).
    assert (D2 : (a2 x' = true \/ b2 y' = true) \/ a2 x' = false /\ b2 y' = false) by (destruct (a2 x'), (b2 y'); auto).
    assert (K1 : forall i j, i < n -> j < m -> e i j = true -> (i = x /\ j = y) \/ a1 i = true \/ b1 j = true).
    { intros i j Hi Hj Eij. destruct (Nat.eq_dec i x), (Nat.eq_dec j y); auto; right; apply C1; auto;
        apply without_true; split; auto; lia. }
    assert (K2 : forall i j, i < n -> j < m -> e i j = true -> (i = x' /\ j = y') \/ a2 i = true \/ b2 j = true).
    { intros i j Hi Hj Eij. destruct (Nat.eq_dec i x'), (Nat.eq_dec j y'); auto; right; apply C2; auto;
        apply without_true; split; auto; lia. }
    destruct D1 as [D1|[A1 B1]].
    { exists a1, b1, f1. split; [|auto]. intros i j Hi Hj Eij. destruct (K1 i j Hi Hj Eij) as [[-> ->]|]; auto. }
    destruct D2 as [D2|[A2 B2]].
    { exists a2, b2, f2. split; [|auto]. intros i j Hi Hj Eij. destruct (K2 i j Hi Hj Eij) as [[-> ->]|]; auto. }
    assert (Best : exists f, matching f /\ within f e /\
      count a1 n + count b1 m + (count a2 n + count b2 m) <= edges f + edges f).
    { destruct (Nat.le_ge_cases (edges f1) (edges f2)); [exists f2|exists f1]; split; auto; split; auto; lia. }
    assert (Best' : exists f, matching f /\ within f e /\
      forall p q, p + q <= S (count a1 n + count b1 m + (count a2 n + count b2 m)) -> p <= edges f \/ q <= edges f).
    { destruct Best as [f [Mf [Wf Sf]]]. exists f. split; [exact Mf|]. split; [exact Wf|]. intros p q L. lia. }
    destruct Best' as [f [Mf [Wf Sf]]].
    pose proof (K1 x' y' Hx' Hy' E') as L1. pose proof (K2 x y Hx Hy E) as L2.
    destruct N as [[<- N]|[N <-]].
    + (* the edges meet in x *)
      assert (F1 : b1 y' = true) by (destruct L1 as [[_ L]|[L|L]]; [congruence|congruence|exact L]).
      assert (F2 : b2 y = true) by (destruct L2 as [[_ L]|[L|L]]; [congruence|congruence|exact L]).
      pose proof (count_add (fun i => a1 i || a2 i) x n) as T1. pose proof (count_cross a1 a2 n) as T2.
      pose proof (count_cross b1 b2 m) as T3.
      destruct (Sf (count (fun i => a1 i || a2 i || (i =? x)) n + count (fun j => b1 j && b2 j) m)
                   (count (fun i => a1 i && a2 i) n + count (fun j => b1 j || b2 j) m)) as [L|L]; [lia| |].
      * exists (fun i => a1 i || a2 i || (i =? x)), (fun j => b1 j && b2 j), f. split; [|auto].
        intros i j Hi Hj Eij. destruct (K1 i j Hi Hj Eij) as [[-> ->]|P]; [left; rewrite Nat.eqb_refl, orb_true_r;
          reflexivity|].
        destruct (K2 i j Hi Hj Eij) as [[-> ->]|Q]; [left; rewrite Nat.eqb_refl, orb_true_r; reflexivity|].
        destruct P as [P|P]; [left; rewrite P; reflexivity|].
        destruct Q as [Q|Q]; [left; rewrite Q, orb_true_r; reflexivity|].
        right. rewrite P, Q. reflexivity.
      * exists (fun i => a1 i && a2 i), (fun j => b1 j || b2 j), f. split; [|auto].
        intros i j Hi Hj Eij. destruct (K1 i j Hi Hj Eij) as [[-> ->]|P]; [right; rewrite F2, orb_true_r; reflexivity|].
        destruct (K2 i j Hi Hj Eij) as [[-> ->]|Q]; [right; rewrite F1; reflexivity|].
        destruct P as [P|P]; [|right; rewrite P; reflexivity].
        destruct Q as [Q|Q]; [|right; rewrite Q, orb_true_r; reflexivity].
        left. rewrite P, Q. reflexivity.
    + (* the edges meet in y *)
      assert (F1 : a1 x' = true) by (destruct L1 as [[L _]|[L|L]]; [congruence|exact L|congruence]).
      assert (F2 : a2 x = true) by (destruct L2 as [[L _]|[L|L]]; [congruence|exact L|congruence]).
      pose proof (count_add (fun j => b1 j || b2 j) y m) as T1. pose proof (count_cross a1 a2 n) as T2.
      pose proof (count_cross b1 b2 m) as T3.
      destruct (Sf (count (fun i => a1 i && a2 i) n + count (fun j => b1 j || b2 j || (j =? y)) m)
                   (count (fun i => a1 i || a2 i) n + count (fun j => b1 j && b2 j) m)) as [L|L]; [lia| |].
      * exists (fun i => a1 i && a2 i), (fun j => b1 j || b2 j || (j =? y)), f. split; [|auto].
        intros i j Hi Hj Eij. destruct (K1 i j Hi Hj Eij) as [[-> ->]|P]; [right; rewrite Nat.eqb_refl, orb_true_r;
          reflexivity|].
        destruct (K2 i j Hi Hj Eij) as [[-> ->]|Q]; [right; rewrite Nat.eqb_refl, orb_true_r; reflexivity|].
        destruct P as [P|P]; [|right; rewrite P; reflexivity].
        destruct Q as [Q|Q]; [|right; rewrite Q, orb_true_r; reflexivity].
        left. rewrite P, Q. reflexivity.
      * exists (fun i => a1 i || a2 i), (fun j => b1 j && b2 j), f. split; [|auto].
        intros i j Hi Hj Eij. destruct (K1 i j Hi Hj Eij) as [[-> ->]|P]; [left; rewrite F2, orb_true_r; reflexivity|].
        destruct (K2 i j Hi Hj Eij) as [[-> ->]|Q]; [left; rewrite F1; reflexivity|].
        destruct P as [P|P]; [left; rewrite P; reflexivity|].
        destruct Q as [Q|Q]; [left; rewrite Q, orb_true_r; reflexivity|].
        right. rewrite P, Q. reflexivity.
Qed.
End Bipartite.

Open Scope Q_scope.

Lemma edges_sum n m (e : graph) : rational (edges n m e) == sum (fun i => sum (fun j => one (e i j)) m) n.
Proof.
  unfold edges. rewrite count_sum, sum_grid. apply sum_pairs_eq. intros i j Hi Hj.
  rewrite grid_div, grid_mod by assumption. reflexivity.
Qed.

Lemma count_unique f n : (forall i j, (i < n)%nat -> (j < n)%nat -> f i = true -> f j = true -> i = j) ->
  (count f n <= 1)%nat.
Proof.
  induction n as [|n IH]; intros H; cbn [count]; [lia|]. destruct (f n) eqn:F.
  - assert (Z : count f n = 0%nat); [|lia].
    assert (L : forall m, (m <= n)%nat -> count f m = 0%nat).
    { induction m as [|m IHm]; intros L; cbn [count]; [reflexivity|]. rewrite IHm by lia.
      destruct (f m) eqn:G; [|reflexivity]. pose proof (H m n). exfalso. assert (m = n) by (apply H; auto; lia). lia. }
    apply L. lia.
  - specialize (IH (fun i j Hi Hj => H i j (Nat.lt_lt_succ_r _ _ Hi) (Nat.lt_lt_succ_r _ _ Hj))). lia.
Qed.
