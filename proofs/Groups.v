(* Groups of hosts: K groups of q hosts each, with q channels out of each group and q into it; every path between groups
   leaves by one of them and enters by the one with the same number. If no channel carries more than X disjoint pairs, then
   X >= sqrt(q) or X >= K/2. Sub-trees of fat trees are such groups, at every height. *)
Require Import QArith Lia Lqa Arith Bool List.
From Obliv Require Import Network Duality Mesh Flows Matching.
Open Scope Q_scope.

Section Counting.
Variables (K q : nat) (u : nat -> nat -> nat) (most : nat).
Hypothesis (HK : (2 <= K)%nat) (Hmost : (most * most < q)%nat) (HmostK : (2 * most < K)%nat).
Let n := (K * q)%nat.
Let group i := (i / q)%nat.
Hypothesis Hu : forall i j, (i < n)%nat -> (j < n)%nat -> (i / q)%nat <> (j / q)%nat -> (u i j < q)%nat.

Definition up_pairs (v : nat) : graph :=
  fun i j => negb (group i =? group j)%nat && (group i =? v / q)%nat && (u i j =? v mod q)%nat.
Definition down_pairs (v : nat) : graph :=
  fun i j => negb (group i =? group j)%nat && (group j =? v / q)%nat && (u i j =? v mod q)%nat.

(* Covers of the pairs on every link up and down, of at most [most] hosts each. *)
Variables (A B C D : nat -> nat -> bool).
Hypothesis HAB : forall v, (v < n)%nat ->
  covered n n (up_pairs v) (A v) (B v) /\ (count (A v) n + count (B v) n <= most)%nat.
Hypothesis HCD : forall v, (v < n)%nat ->
  covered n n (down_pairs v) (C v) (D v) /\ (count (C v) n + count (D v) n <= most)%nat.

Let X := rational most.

Section Root.
Variable w : nat.
Hypothesis Hw : (w < q)%nat.
Let x a := sum (fun p => one (A (a * q + w) (a * q + p))%nat) q.
Let y b := sum (fun r => one (D (b * q + w) (b * q + r))%nat) q.
Let sB a := sum (fun j => one (B (a * q + w)%nat j)) n.
Let sC b := sum (fun i => one (C (b * q + w)%nat i)) n.

Lemma block_part f a : (a < K)%nat -> sum (fun p => one (f (a * q + p)%nat)) q <= rational (count f n).
Proof.
  intros Ha. rewrite count_sum. unfold n. rewrite sum_grid.
  apply (sum_term (fun a => sum (fun p => one (f (a * q + p)%nat)) q) K a); [|exact Ha].
  intros. apply sum_nonneg. intros. apply one_nonneg.
Qed.

Lemma part_sizes a : (a < K)%nat ->
  0 <= x a /\ 0 <= y a /\ x a + sB a <= X /\ y a + sC a <= X /\ 0 <= sB a /\ 0 <= sC a.
Proof.
  intros Ha. assert (V : (a * q + w < n)%nat) by (apply grid_lt; assumption).
  destruct (HAB _ V) as [_ S1]. destruct (HCD _ V) as [_ S2]. apply rational_le in S1. apply rational_le in S2.
  rewrite rational_plus in S1, S2.
  pose proof (block_part (A (a * q + w)%nat) a Ha) as P1. pose proof (block_part (D (a * q + w)%nat) a Ha) as P2.
  fold (x a) in P1. fold (y a) in P2.
  pose proof (count_sum (B (a * q + w)%nat) n) as E1. pose proof (count_sum (C (a * q + w)%nat) n) as E2.
  fold (sB a) in E1. fold (sC a) in E2.
  fold X in S1, S2.
  assert (0 <= x a) by (apply sum_nonneg; intros; apply one_nonneg).
  assert (0 <= y a) by (apply sum_nonneg; intros; apply one_nonneg).
  assert (0 <= sB a) by (apply sum_nonneg; intros; apply one_nonneg).
  assert (0 <= sC a) by (apply sum_nonneg; intros; apply one_nonneg).
  repeat split; try assumption; lra.
Qed.

Let apart a b := one (negb (a =? b)%nat).
Let Zx := sum x K + sum y K.

Lemma count_others a : (a < K)%nat -> sum (fun b => apart a b) K == rational K - 1.
Proof.
  intros Ha. rewrite (sum_eq _ (fun b => 1 - one (b =? a)%nat * 1)).
  2:{ intros b _. unfold apart. rewrite one_neg, (Nat.eqb_sym a b). ring. }
  rewrite sum_minus, sum_const, sum_at, (proj2 (Nat.ltb_lt _ _) Ha). fold (rational K). cbn [one]. ring.
Qed.

Lemma pairs_at_root : sum (fun i => sum (fun j => one (negb (group i =? group j)%nat && (u i j =? w)%nat)) n) n <=
  rational q * (2 * rational K * X - Zx) + (1 # 2) * X * (rational K - 1) * Zx.
Proof.
  apply Qle_trans with (sum (fun a => sum (fun p => sum (fun b => sum (fun r =>
      one (B (a * q + w)%nat (b * q + r)%nat) + one (C (b * q + w)%nat (a * q + p)%nat) +
      apart a b * (one (A (a * q + w)%nat (a * q + p)%nat) * one (D (b * q + w)%nat (b * q + r)%nat))) q) K) q) K).
  - unfold n at 2. rewrite sum_grid.  apply sum_pairs_le. intros a p Ha Hp.
    unfold n. rewrite sum_grid.  apply sum_pairs_le. intros b r Hb Hr.
    unfold group. rewrite !grid_div by assumption. unfold apart.
    set (i := (a * q + p)%nat). set (j := (b * q + r)%nat).
    assert (Hi : (i < n)%nat) by (apply grid_lt; assumption). assert (Hj : (j < n)%nat) by (apply grid_lt; assumption).
    pose proof (one_nonneg (B (a * q + w)%nat j)). pose proof (one_nonneg (C (b * q + w)%nat i)).
    pose proof (Qmult_nonneg _ _ (one_nonneg (A (a * q + w)%nat i)) (one_nonneg (D (b * q + w)%nat j))).
    destruct (Nat.eqb_spec a b) as [E|E]; cbn [negb andb one]; [lra|].
    destruct (Nat.eqb_spec (u i j) w) as [F|F]; cbn [negb andb one]; [|lra].
    destruct (HAB (a * q + w)%nat) as [Hab _]; [apply grid_lt; assumption|].
    destruct (HCD (b * q + w)%nat) as [Hcd _]; [apply grid_lt; assumption|].
    assert (U : forall t, up_pairs (a * q + t)%nat i j = (t =? w)%nat \/ (q <= t)%nat).
    { intros t. destruct (Nat.le_gt_cases q t); [right; assumption|left]. unfold up_pairs, group, i, j.
      rewrite !grid_div, grid_mod by assumption.
      fold i j. rewrite F, (Nat.eqb_refl a), (proj2 (Nat.eqb_neq a b) E). cbn [negb andb]. apply Nat.eqb_sym. }
    assert (V : forall t, down_pairs (b * q + t)%nat i j = (t =? w)%nat \/ (q <= t)%nat).
    { intros t. destruct (Nat.le_gt_cases q t); [right; assumption|left]. unfold down_pairs, group, i, j.
      rewrite !grid_div, grid_mod by assumption.
      fold i j. rewrite F, (Nat.eqb_refl b), (proj2 (Nat.eqb_neq a b) E). cbn [negb andb]. apply Nat.eqb_sym. }
    destruct (U w) as [U'|]; [|lia]. destruct (V w) as [V'|]; [|lia]. rewrite Nat.eqb_refl in U', V'.
    specialize (Hab i j Hi Hj U'). specialize (Hcd i j Hi Hj V').
    destruct (B (a * q + w)%nat j), (C (b * q + w)%nat i), (A (a * q + w)%nat i), (D (b * q + w)%nat j); cbn [one];
      try lra; destruct Hab, Hcd; discriminate.
  - apply Qle_trans with (sum (fun a => rational q * sB a) K + sum (fun b => rational q * sC b) K +
      sum (fun a => sum (fun b => apart a b * (x a * y b)) K) K).
    + apply Qle_lteq. right.
      rewrite (sum_eq _ (fun a => rational q * sB a + (sum (fun p => sum (fun b => rational q * one (C (b * q +
        w)%nat (a * q + p)%nat)) K) q +
         sum (fun b => apart a b * (x a * y b)) K))).
      * rewrite !sum_plus, Qplus_assoc. apply Qplus_comp; [apply Qplus_comp; [reflexivity|]|reflexivity].
        transitivity (sum (fun a => sum (fun b => sum (fun p => rational q * one (C (b * q + w)%nat (a * q +
          p)%nat)) q) K) K).
        { apply sum_eq. intros a _. apply sum_swap. }
        rewrite sum_swap. apply sum_eq. intros b _. unfold sC, n. rewrite sum_grid, <- sum_scale. apply sum_eq.
        intros a _. apply sum_scale.
      * intros a Ha.
        rewrite (sum_eq _ (fun p => sB a + (sum (fun b => rational q * one (C (b * q + w)%nat (a * q + p)%nat)) K +
           one (A (a * q + w)%nat (a * q + p)%nat) * sum (fun b => apart a b * y b) K))).
        -- rewrite !sum_plus, sum_const, sum_scale_r. fold (rational q). fold (x a). apply Qplus_comp; [reflexivity|].
           apply Qplus_comp; [reflexivity|].
           rewrite <- sum_scale. apply sum_eq. intros. ring.
        -- intros p Hp.
           rewrite (sum_eq _ (fun b => sum (fun r => one (B (a * q + w)%nat (b * q + r)%nat)) q +
             (rational q * one (C (b * q + w)%nat (a * q + p)%nat) + one (A (a * q + w)%nat (a * q +
               p)%nat) * (apart a b * y b)))).
           ++ rewrite !sum_plus, !sum_scale. apply Qplus_comp; [|reflexivity]. unfold sB, n. rewrite sum_grid.
              reflexivity.
           ++ intros b Hb. rewrite !sum_plus, sum_const, sum_scale, sum_scale. fold (rational q). fold (y b). ring.
    + rewrite !sum_scale.
      assert (P1 : sum x K + sum sB K <= rational K * X).
      { rewrite <- sum_plus. unfold rational. rewrite <- sum_const. apply sum_le. intros a Ha.
        destruct (part_sizes a Ha). tauto. }
      assert (P2 : sum y K + sum sC K <= rational K * X).
      { rewrite <- sum_plus. unfold rational. rewrite <- sum_const. apply sum_le. intros a Ha.
        destruct (part_sizes a Ha). tauto. }
      assert (P3 : sum (fun a => sum (fun b => apart a b * (x a * y b)) K) K <= (1 # 2) * X * (rational K - 1) * Zx).
      { apply Qle_trans with (sum (fun a => sum (fun b => (1 # 2) * X * (apart a b * x a) +
          (1 # 2) * X * (apart a b * y b)) K) K).
        - apply sum_pairs_le. intros a b Ha Hb. destruct (part_sizes a Ha) as [Xa [_ [Xa' [_ [Ba _]]]]].
          destruct (part_sizes b Hb) as [_ [Yb [_ [Yb' [_ Cb]]]]].
          assert (Q1 : x a * y b <= X * y b) by (apply Qmult_le_compat_r; lra).
          assert (Q2 : y b * x a <= X * x a) by (apply Qmult_le_compat_r; lra).
          assert (Q3 : x a * y b <= (1 # 2) * X * x a + (1 # 2) * X * y b) by lra.
          unfold apart. destruct (a =? b)%nat; cbn [negb one]; lra.
        - apply Qle_lteq. right. rewrite (sum_eq _ (fun a => (1 # 2) * X * ((rational K - 1) * x a) +
            sum (fun b => (1 # 2) * X * (apart a b * y b)) K)).
          + rewrite sum_plus. rewrite (sum_swap (fun a b => (1 # 2) * X * (apart a b * y b))).
            rewrite (sum_eq (fun b => sum (fun a => (1 # 2) * X * (apart a b * y b)) K) (fun b => (1 # 2) * X *
              ((rational K - 1) * y b))).
            * rewrite !sum_scale. unfold Zx. ring.
            * intros b Hb. rewrite sum_scale, sum_scale_r.
              rewrite (sum_eq (fun a => apart a b) (fun a => apart b a)) by (intros; unfold apart; rewrite Nat.eqb_sym;
                reflexivity).
              rewrite count_others by exact Hb. reflexivity.
          + intros a Ha. rewrite sum_plus, sum_scale, sum_scale_r, count_others by exact Ha. reflexivity. }
      assert (P4 : (sum sB K + sum sC K) * rational q <= (2 * rational K * X - Zx) * rational q).
      { apply Qmult_le_compat_r; [unfold Zx; lra|apply rational_nonneg]. }
      lra.
Qed.

(* Where no source of the group and no destination of the group is in a cover, each group counts its B only. *)
Lemma pairs_without_members : Zx <= 0 ->
  sum (fun i => sum (fun j => one (negb (group i =? group j)%nat && (u i j =? w)%nat)) n) n <=
    rational q * (rational K * X).
Proof.
  intros Z.
  assert (None : forall a p, (a < K)%nat -> (p < q)%nat -> A (a * q + w)%nat (a * q + p)%nat = false).
  { intros a p Ha Hp.
    assert (Xa : x a <= 0).
    { assert (0 <= sum y K) by (apply sum_nonneg; intros b Hb; apply part_sizes, Hb).
      pose proof (sum_term x K a (fun b Hb => proj1 (part_sizes b Hb)) Ha). unfold Zx in Z. lra. }
    pose proof (sum_term (fun p => one (A (a * q + w)%nat (a * q + p)%nat)) q p (fun r _ => one_nonneg _) Hp) as T.
    cbv beta in T. fold (x a) in T.
    destruct (A (a * q + w)%nat (a * q + p)%nat); [cbn [one] in T; lra|reflexivity]. }
  apply Qle_trans with (sum (fun a => sum (fun p => sum (fun j => one (B (a * q + w)%nat j)) n) q) K).
  - unfold n at 2. rewrite sum_grid. apply sum_pairs_le. intros a p Ha Hp. apply sum_le. intros j Hj.
    unfold group at 1. rewrite grid_div by assumption. set (i := (a * q + p)%nat).
    assert (Hi : (i < n)%nat) by (apply grid_lt; assumption). pose proof (one_nonneg (B (a * q + w)%nat j)).
    destruct (Nat.eqb_spec a (group j)) as [E|E]; cbn [negb andb one]; [lra|].
    destruct (Nat.eqb_spec (u i j) w) as [F|F]; cbn [one]; [|lra].
    destruct (HAB (a * q + w)%nat) as [Hab _]; [apply grid_lt; assumption|].
    destruct (Hab i j Hi Hj) as [T|T]; [|unfold i in T; rewrite None in T by assumption; discriminate|rewrite T;
      cbn [one]; lra].
    assert (Ei : group i = a) by (apply grid_div; assumption).
    unfold up_pairs. rewrite Ei, grid_div, grid_mod, F, !Nat.eqb_refl by assumption.
    rewrite (proj2 (Nat.eqb_neq a (group j)) E). reflexivity.
  - fold sB. rewrite (sum_eq _ (fun a => rational q * sB a)) by (intros; apply sum_const).
    rewrite sum_scale, !(Qmult_comm (rational q)).
    apply Qmult_le_compat_r; [|apply rational_nonneg]. unfold rational. rewrite <- sum_const. apply sum_le. intros a Ha.
    destruct (part_sizes a Ha). tauto || lra.
Qed.

(* Less than an equal share of the K (K - 1) q^2 pairs of different groups. *)
Lemma root_has_too_few : sum (fun i => sum (fun j => one (negb (group i =? group j)%nat && (u i j =? w)%nat)) n) n <
  rational K * (rational K - 1) * rational q.
Proof.
  assert (Z0 : 0 <= Zx).
  { unfold Zx. assert (0 <= sum x K) by (apply sum_nonneg; intros a Ha; apply part_sizes, Ha).
    assert (0 <= sum y K) by (apply sum_nonneg; intros a Ha; apply part_sizes, Ha). lra. }
  assert (Z1 : Zx <= 2 * rational K * X).
  { assert (P1 : sum x K <= rational K * X) by (unfold rational; rewrite <- sum_const; apply sum_le; intros a Ha;
      destruct (part_sizes a Ha); lra).
    assert (P2 : sum y K <= rational K * X) by (unfold rational; rewrite <- sum_const; apply sum_le; intros a Ha;
      destruct (part_sizes a Ha); lra).
    unfold Zx. lra. }
  assert (X0 : 0 <= X) by apply rational_nonneg.
  assert (X1 : 2 * X + 1 <= rational K).
  { unfold X. change 2 with (rational 2). change 1 with (rational 1). rewrite <- rational_mult, <- rational_plus.
    apply rational_le. lia. }
  assert (X2 : X * X + 1 <= rational q) by (unfold X; rewrite <- rational_mult; change 1 with (rational 1);
    rewrite <- rational_plus; apply rational_le; lia).
  assert (K2 : 2 <= rational K) by (change 2 with (rational 2); apply rational_le; exact HK).
  pose proof pairs_at_root as Bound. pose proof pairs_without_members as Bound0.
  set (N := sum _ n) in *. set (z := Zx) in *. set (r := rational q) in *. set (c := rational K) in *.
  clearbody N z r c.
  assert (r0 : 0 < r) by (pose proof (Qmult_nonneg _ _ X0 X0); lra).
  assert (cr : 0 < c * r) by (rewrite <- (Qmult_0_l r); apply Qmult_lt_compat_r; lra).
  destruct (Qlt_le_dec ((1 # 2) * X * (c - 1) - r) 0) as [L|L].
  - destruct (Qlt_le_dec 0 z) as [P|P].
    + assert (T : 0 < z * - ((1 # 2) * X * (c - 1) - r)) by (rewrite <- (Qmult_0_l (- ((1 # 2) * X * (c - 1) - r)));
        apply Qmult_lt_compat_r; lra).
      assert (T2 : (2 * X + 1) * (c * r) <= c * (c * r)) by (apply Qmult_le_compat_r; lra). lra.
    + specialize (Bound0 P). assert (T2 : (2 * X + 1) * (c * r) <= c * (c * r)) by (apply Qmult_le_compat_r; lra).
      destruct (Qlt_le_dec 0 X) as [X'|X'].
      * assert (T3 : 0 < X * (c * r)) by (rewrite <- (Qmult_0_l (c * r)); apply Qmult_lt_compat_r; assumption). lra.
      * assert (E : X == 0) by lra. rewrite E in Bound0. assert (T3 : 2 * (c * r) <=
          c * (c * r)) by (apply Qmult_le_compat_r; lra). lra.
  - assert (T : z * ((1 # 2) * X * (c - 1) - r) <=
      2 * c * X * ((1 # 2) * X * (c - 1) - r)) by (apply Qmult_le_compat_r; lra).
    apply Qle_lt_trans with (X * X * (c * (c - 1))); [lra|].
    apply Qlt_le_trans with (r * (c * (c - 1))); [|lra].
    apply Qmult_lt_compat_r; [|lra]. rewrite <- (Qmult_0_l (c - 1)). apply Qmult_lt_compat_r; lra.
Qed.
End Root.

Lemma all_pairs : sum (fun w => sum (fun i => sum (fun j =>
  one (negb (group i =? group j)%nat && (u i j =? w)%nat)) n) n) q ==
  rational K * (rational K - 1) * rational q * rational q.
Proof.
  rewrite sum_swap. rewrite (sum_eq _ (fun i => (rational K - 1) * rational q)).
  - rewrite sum_const. unfold n.  fold (rational (K * q)). rewrite rational_mult. ring.
  - intros i Hi. rewrite sum_swap. rewrite (sum_eq _ (fun j => one (negb (group i =? group j)%nat))).
    + unfold n. rewrite sum_grid. 
      rewrite (sum_eq _ (fun b => one (negb (group i =? b)%nat) * rational q)).
      * rewrite sum_scale_r, count_others by (apply (grid_row i K q Hi)). reflexivity.
      * intros b Hb. rewrite (sum_eq _ (fun _ => one (negb (group i =? b)%nat))).
        -- rewrite sum_const. fold (rational q). ring.
        -- intros r Hr. unfold group at 2. rewrite grid_div by exact Hr. reflexivity.
    + intros j Hj. destruct (Nat.eqb_spec (group i) (group j)) as [E|E]; cbn [negb andb].
      * apply sum_0. reflexivity.
      * rewrite (sum_eq _ (fun w => one (u i j =? w)%nat * 1)) by (intros; ring).
        apply (sum_pick (fun _ => 1)), Hu; assumption.
Qed.

Lemma impossible : False.
Proof.
  pose proof all_pairs as E.
  assert (L : sum (fun w => sum (fun i => sum (fun j =>
    one (negb (group i =? group j)%nat && (u i j =? w)%nat)) n) n) q <
    sum (fun _ => rational K * (rational K - 1) * rational q) q).
  { assert (H : forall m, (0 < m)%nat -> (m <= q)%nat ->
      sum (fun w => sum (fun i => sum (fun j => one (negb (group i =? group j)%nat && (u i j =? w)%nat)) n) n) m <
      sum (fun _ => rational K * (rational K - 1) * rational q) m).
    { induction m as [|m IH]; intros M0 M1; [lia|]. cbn [sum]. pose proof (root_has_too_few m ltac:(lia)) as T.
      destruct (Nat.eq_dec m 0) as [->|N]; [cbn [sum] in *; lra|]. specialize (IH ltac:(lia) ltac:(lia)). lra. }
    apply H; lia. }
  rewrite sum_const in L. fold (rational q) in L. lra.
Qed.
End Counting.

(* ---- Matchings as traffic ---- *)

(* Some admissible traffic without pairs (i, i) loads a channel with x times its bandwidth. *)
Definition needs (G : network) (f : nat -> nat -> nat -> Q) (x : nat) : Prop :=
  exists X c, admissible G X /\ (forall i, (i < terminals G)%nat -> X i i == 0) /\ (c < channels G)%nat /\
    rational x * bandwidth G c <= load G f X c.

Lemma matching_loads G f e m c : unit_rates G -> matching (terminals G) (terminals G) m ->
  within (terminals G) (terminals G) m e ->
  (c < channels G)%nat -> bandwidth G c == 1 -> (forall i, (i < terminals G)%nat -> e i i = false) ->
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> e i j = true -> 1 <= f i j c) ->
  needs G f (edges (terminals G) (terminals G) m).
Proof.
  intros U M W Hc B D E. exists (fun i j => one (m i j)), c. split; [|split; [|split; [exact Hc|]]].
  - repeat split.
    + intros. apply one_nonneg.
    + intros i Hi. rewrite (proj1 (U i Hi)), <- count_sum. change 1 with (rational 1). apply rational_le, count_unique.
      intros j j' Hj Hj' P Q. apply (M i j i j'); auto.
    + intros j Hj. rewrite (proj1 (proj2 (U j Hj))), <- (count_sum (fun i => m i j)). change 1 with (rational 1).
      apply rational_le, count_unique.
      intros i i' Hi Hi' P Q. apply (M i j i' j); auto.
    + intros i j Hi Hj F. rewrite (proj2 (proj2 (U i Hi)) j Hj) in F. discriminate.
  - intros i Hi. pose proof (W i i Hi Hi) as Wii. destruct (m i i); [|reflexivity]. rewrite D in Wii by exact Hi.
    specialize (Wii eq_refl). discriminate.
  - rewrite B, Qmult_1_r, edges_sum. apply sum_pairs_le. intros i j Hi Hj. pose proof (W i j Hi Hj) as Wij.
    destruct (m i j); cbn [one]; [|lra]. specialize (E i j Hi Hj (Wij eq_refl)). lra.
Qed.

Lemma choose {T} (x0 : T) (P : Prop) (Q : nat -> T -> Prop) n : (forall v, (v < n)%nat -> P \/ exists x, Q v x) ->
  P \/ exists g, forall v, (v < n)%nat -> Q v (g v).
Proof.
  induction n as [|n IH]; intros H; [right; exists (fun _ => x0); intros; lia|].
  destruct IH as [Pv|[g G]]; [intros; apply H; lia|left; exact Pv|].
  destruct (H n (Nat.lt_succ_diag_r n)) as [Pn|[x Qx]]; [left; exact Pn|].
  right. exists (fun v => if (v =? n)%nat then x else g v). intros v L.
  destruct (Nat.eqb_spec v n) as [->|]; [exact Qx|apply G; lia].
Qed.

(* upc v and downc v are the channels number v mod q out of and into group v / q. *)
Theorem groups_need G f K q u (upc downc : nat -> nat) : (2 <= K)%nat -> (0 < q)%nat -> terminals G = (K * q)%nat ->
  unit_rates G ->
  (forall i j, (i < K * q)%nat -> (j < K * q)%nat -> (i / q)%nat <> (j / q)%nat -> (u i j < q)%nat) ->
  (forall v, (v < K * q)%nat -> ((upc v < channels G)%nat /\ bandwidth G (upc v) == 1) /\ (downc v < channels G)%nat /\
    bandwidth G (downc v) == 1) ->
  (forall v i j, (v < K * q)%nat -> (i < K * q)%nat -> (j < K * q)%nat -> up_pairs q u v i j = true ->
    1 <= f i j (upc v)) ->
  (forall v i j, (v < K * q)%nat -> (i < K * q)%nat -> (j < K * q)%nat -> down_pairs q u v i j = true ->
    1 <= f i j (downc v)) ->
  exists x, (q <= x * x \/ K <= 2 * x)%nat /\ needs G f x.
Proof.
  intros HK Hq Ht U Hu Hc Hup Hdown. set (n := (K * q)%nat) in *.
  set (most := Nat.min (Nat.sqrt (q - 1)) ((K - 1) / 2)).
  assert (Most : forall x, (x * x < q)%nat -> (2 * x < K)%nat -> (x <= most)%nat).
  { intros x A B. apply Nat.min_glb; [apply Nat.sqrt_le_square; lia|apply Nat.div_le_lower_bound; lia]. }
  assert (M1 : (most * most < q)%nat).
  { pose proof (Nat.sqrt_specif (q - 1)). assert (L : (most <= Nat.sqrt (q - 1))%nat) by apply Nat.le_min_l.
    pose proof (Nat.mul_le_mono _ _ _ _ L L). lia. }
  assert (M2 : (2 * most < K)%nat).
  { assert (L : (most <= (K - 1) / 2)%nat) by apply Nat.le_min_r. pose proof (Nat.mul_div_le (K - 1) 2). lia. }
  set (Goal_ := exists x, (q <= x * x \/ K <= 2 * x)%nat /\ needs G f x).
  assert (Link : forall (e : graph) c, (c < channels G)%nat -> bandwidth G c == 1 -> (forall i, (i < n)%nat ->
    e i i = false) ->
     (forall i j, (i < n)%nat -> (j < n)%nat -> e i j = true -> 1 <= f i j c) ->
     Goal_ \/ exists p : (nat -> bool) * (nat ->
       bool), covered n n e (fst p) (snd p) /\ (count (fst p) n + count (snd p) n <= most)%nat).
  { intros e c C1 C2 D E. destruct (koenig n n e) as [a [b [m [Cov [M [W S]]]]]].
    assert (N : needs G f (edges n n m)) by (rewrite <- Ht in *; apply (matching_loads G f e m c); assumption).
    destruct (Nat.le_gt_cases q (edges n n m * edges n n m)) as [L|L]; [left; exists (edges n n m); auto|].
    destruct (Nat.le_gt_cases K (2 * edges n n m)) as [L'|L']; [left; exists (edges n n m); auto|].
    right. exists (a, b). split; [exact Cov|]. specialize (Most _ L L'). cbn [fst snd]. lia. }
  destruct (choose (fun _ => false, fun _ => false) Goal_ (fun v p => covered n n (up_pairs q u v) (fst p) (snd p) /\
    (count (fst p) n + count (snd p) n <= most)%nat) n) as [Z|[ab AB]].
  { intros v Hv. destruct (Hc v Hv) as [[C1 C2] _]. apply (Link _ (upc v) C1 C2); [|auto].
    intros i _. unfold up_pairs. rewrite Nat.eqb_refl. reflexivity. }
  { exact Z. }
  destruct (choose (fun _ => false, fun _ => false) Goal_ (fun v p => covered n n (down_pairs q u v) (fst p) (snd p) /\
    (count (fst p) n + count (snd p) n <= most)%nat) n) as [Z|[cd CD]].
  { intros v Hv. destruct (Hc v Hv) as [_ [C1 C2]]. apply (Link _ (downc v) C1 C2); [|auto].
    intros i _. unfold down_pairs. rewrite Nat.eqb_refl. reflexivity. }
  { exact Z. }
  exfalso. apply (impossible K q u most HK M1 M2 Hu (fun v => fst (ab v)) (fun v => snd (ab v)) (fun v =>
    fst (cd v)) (fun v => snd (cd v)) AB CD).
Qed.
