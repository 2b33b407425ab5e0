(* FT(m, 2), the m-port 2-tree, k = m/2: no routing by single paths has a worst case below the square root of k (Yuan,
   Nienaber, Duan and Melhem, Theorem 3), the one that spreads over all paths has 1 (their Theorem 1), and OSRM2 attains the
   bound for square k (Theorem 6). *)
Require Import QArith Lia Lqa Arith Bool List.
From Obliv Require Import Network Duality Mesh Flows Matching.
Open Scope Q_scope.

(* ---- The network ---- *)

(* 2k leaf switches with k hosts each, k root switches. Host i is at leaf i / k. Channels, 2k * k of each kind: from host i
   to its leaf, from the leaf to host i, from leaf a to root w (number a * k + w), from root w to leaf a (likewise). *)
Definition hosts (k : nat) : nat := 2 * k * k.
Definition leaf (k i : nat) : nat := i / k.
Definition leaf_switch (k a : nat) : nat := hosts k + a.
Definition root_switch (k w : nat) : nat := hosts k + 2 * k + w.

Definition fat_tree (k : nat) : network := {|
  nodes := hosts k + 2 * k + k;
  channels := 4 * hosts k;
  tail := fun c => let e := (c mod hosts k)%nat in
    match (c / hosts k)%nat with 0 => e | 1 => leaf_switch k (e / k) | 2 => leaf_switch k (e / k) | _ => root_switch k (e mod k) end%nat;
  head := fun c => let e := (c mod hosts k)%nat in
    match (c / hosts k)%nat with 0 => leaf_switch k (e / k) | 1 => e | 2 => root_switch k (e mod k) | _ => leaf_switch k (e / k) end%nat;
  bandwidth := fun _ => 1;
  terminals := hosts k;
  node := fun i => i;
  injection := fun _ => 1;
  ejection := fun _ => 1;
  connected := fun _ _ => true
|}.

Definition link (k kind e : nat) : nat := kind * hosts k + e.
Definition from_host (k i : nat) : nat := link k 0 i.
Definition to_host (k i : nat) : nat := link k 1 i.
Definition up (k a w : nat) : nat := link k 2 (a * k + w).
Definition down (k a w : nat) : nat := link k 3 (a * k + w).

(* ---- Routings ---- *)

(* The shortest path from host i to host j, by root w if their leaves differ. *)
Definition path (k w i j c : nat) : Q :=
  if (i =? j)%nat then 0
  else if (leaf k i =? leaf k j)%nat then one (c =? from_host k i)%nat + one (c =? to_host k j)%nat
  else one (c =? from_host k i)%nat + one (c =? up k (leaf k i) w)%nat + one (c =? down k (leaf k j) w)%nat + one (c =? to_host k j)%nat.

(* Single-path routing: the pair (i, j) goes by root u i j. *)
Definition single_path (k : nat) (u : nat -> nat -> nat) (i j c : nat) : Q := path k (u i j) i j c.

(* OMRMN: each root carries an equal share. *)
Definition all_paths (k i j c : nat) : Q := / rational k * sum (fun w => path k w i j c) k.

(* OSRM2 for k = z * z: a root for each group of z sources of a leaf and each group of z destinations. *)
Definition osrm2 (z i j : nat) : nat := (i mod (z * z)) / z * z + (j mod (z * z)) / z.

Lemma link_lt k kind e : (kind < 4)%nat -> (e < hosts k)%nat -> (link k kind e < channels (fat_tree k))%nat.
Proof. intros. apply (grid_lt kind e 4); assumption. Qed.

Lemma leaf_lt k i : (i < hosts k)%nat -> (leaf k i < 2 * k)%nat /\ (i mod k < k)%nat.
Proof. apply grid_row. Qed.

Lemma fat_tree_proper k : proper (fat_tree k).
Proof.
  split.
  - intros c Hc. change (channels (fat_tree k)) with (4 * hosts k)%nat in Hc. apply grid_row in Hc. destruct Hc as [H4 He].
    destruct (leaf_lt k _ He). unfold leaf in *. simpl nodes. simpl tail. simpl head. simpl bandwidth. unfold leaf_switch, root_switch.
    destruct (c / hosts k)%nat as [|[|[|[|]]]]; lia || (repeat split; lia || lra).
  - intros i Hi. simpl terminals in Hi. simpl node. simpl nodes. simpl injection. simpl ejection. split; [lia|lra].
Qed.

Lemma link_ends k kind e : (e < hosts k)%nat ->
  tail (fat_tree k) (link k kind e) = match kind with 0 => e | 1 => leaf_switch k (e / k) | 2 => leaf_switch k (e / k) | _ => root_switch k (e mod k) end%nat /\
  head (fat_tree k) (link k kind e) = match kind with 0 => leaf_switch k (e / k) | 1 => e | 2 => root_switch k (e mod k) | _ => leaf_switch k (e / k) end%nat.
Proof.
  intros He. simpl tail. simpl head. unfold link. rewrite grid_div, grid_mod by exact He. split; reflexivity.
Qed.

Lemma channel_ends k a w i : (a < 2 * k)%nat -> (w < k)%nat -> (i < 2 * k * k)%nat ->
  tail (fat_tree k) (from_host k i) = i /\ head (fat_tree k) (from_host k i) = leaf_switch k (i / k) /\
  tail (fat_tree k) (to_host k i) = leaf_switch k (i / k) /\ head (fat_tree k) (to_host k i) = i /\
  tail (fat_tree k) (up k a w) = leaf_switch k a /\ head (fat_tree k) (up k a w) = root_switch k w /\
  tail (fat_tree k) (down k a w) = root_switch k w /\ head (fat_tree k) (down k a w) = leaf_switch k a.
Proof.
  intros Ha Hw Hi. assert (U : (a * k + w < hosts k)%nat) by (apply grid_lt; assumption).
  unfold from_host, to_host, up, down.
  destruct (link_ends k 0 i Hi) as [-> ->]. destruct (link_ends k 1 i Hi) as [-> ->].
  destruct (link_ends k 2 _ U) as [-> ->]. destruct (link_ends k 3 _ U) as [-> ->].
  rewrite grid_div, grid_mod by exact Hw. repeat split.
Qed.

Lemma path_flow k w i j : (w < k)%nat -> (i < hosts k)%nat -> (j < hosts k)%nat -> unit_flow (fat_tree k) i j (path k w i j).
Proof.
  intros Hw Hi Hj. destruct (leaf_lt k i Hi) as [Li _]. destruct (leaf_lt k j Hj) as [Lj _].
  assert (Ui : (leaf k i * k + w < hosts k)%nat) by (apply grid_lt; assumption).
  assert (Uj : (leaf k j * k + w < hosts k)%nat) by (apply grid_lt; assumption).
  pose proof (flow_channel (fat_tree k) (from_host k i) (link_lt k 0 i ltac:(lia) Hi)) as F1.
  pose proof (flow_channel (fat_tree k) (up k (leaf k i) w) (link_lt k 2 _ ltac:(lia) Ui)) as F2.
  pose proof (flow_channel (fat_tree k) (down k (leaf k j) w) (link_lt k 3 _ ltac:(lia) Uj)) as F3.
  pose proof (flow_channel (fat_tree k) (to_host k j) (link_lt k 1 j ltac:(lia) Hj)) as F4.
  unfold from_host, up, down, to_host in *.
  destruct (link_ends k 0 i Hi) as [T1 H1]. destruct (link_ends k 2 _ Ui) as [T2 H2].
  destruct (link_ends k 3 _ Uj) as [T3 H3]. destruct (link_ends k 1 j Hj) as [T4 H4].
  rewrite T1, H1 in F1. rewrite T2, H2 in F2. rewrite T3, H3 in F3. rewrite T4, H4 in F4.
  rewrite !grid_div, !grid_mod in F2 by exact Hw. rewrite !grid_div, !grid_mod in F3 by exact Hw.
  fold (leaf k i) in F1. fold (leaf k j) in F4. unfold path.
  destruct (Nat.eqb_spec i j) as [->|N]; [apply flow_nothing|].
  destruct (Nat.eqb_spec (leaf k i) (leaf k j)) as [E|E].
  - rewrite <- E in F4. exact (flow_join _ _ _ _ _ _ _ F1 F4).
  - exact (flow_join _ _ _ _ _ _ _ (flow_join _ _ _ _ _ _ _ (flow_join _ _ _ _ _ _ _ F1 F2) F3) F4).
Qed.

Theorem single_path_routing k u : (forall i j, (u i j < k)%nat) -> routing (fat_tree k) (single_path k u).
Proof. intros Hu i j Hi Hj. apply path_flow; auto. Qed.

Theorem all_paths_routing k : (0 < k)%nat -> routing (fat_tree k) (all_paths k).
Proof.
  intros Hk i j Hi Hj. pose proof (rational_pos _ Hk) as K. simpl.
  apply (flow_value _ _ _ (/ rational k * rational k)); [field; lra|].
  apply (flow_scale (fat_tree k) i j (rational k) (/ rational k) (fun c => sum (fun w => path k w i j c) k)).
  - apply Qlt_le_weak, Qinv_lt_0_compat, K.
  - apply (flow_sum (fat_tree k) i j (fun w => path k w i j)). intros w Hw. apply path_flow; assumption.
Qed.

(* ---- What a path puts on each channel ---- *)

Lemma link_eq k kind e kind' e' : (e < hosts k)%nat -> (e' < hosts k)%nat ->
  (link k kind e =? link k kind' e' = (kind =? kind') && (e =? e'))%nat%bool.
Proof. intros. apply grid_eq; assumption. Qed.

Lemma path_link k w i j kind e : (w < k)%nat -> (i < hosts k)%nat -> (j < hosts k)%nat -> (e < hosts k)%nat ->
  path k w i j (link k kind e) == one (negb (i =? j)%nat) * (one ((kind =? 0)%nat && (e =? i)%nat) + one ((kind =? 1)%nat && (e =? j)%nat)) +
    one (negb (leaf k i =? leaf k j)%nat) * (one ((kind =? 2)%nat && (e =? leaf k i * k + w)%nat) + one ((kind =? 3)%nat && (e =? leaf k j * k + w)%nat)).
Proof.
  intros Hw Hi Hj He. destruct (leaf_lt k i Hi) as [Li _]. destruct (leaf_lt k j Hj) as [Lj _].
  assert (Ui : (leaf k i * k + w < hosts k)%nat) by (apply grid_lt; assumption).
  assert (Uj : (leaf k j * k + w < hosts k)%nat) by (apply grid_lt; assumption).
  unfold path, from_host, to_host, up, down. rewrite !link_eq by assumption.
  destruct (Nat.eqb_spec i j) as [->|N]; [rewrite Nat.eqb_refl; cbn [negb one]; ring|].
  destruct (leaf k i =? leaf k j)%nat; cbn [negb one]; ring.
Qed.

Lemma path_up k w i j a w' : (w < k)%nat -> (i < hosts k)%nat -> (j < hosts k)%nat -> (a < 2 * k)%nat -> (w' < k)%nat ->
  path k w i j (up k a w') == one (negb (leaf k i =? leaf k j)%nat && (leaf k i =? a)%nat && (w =? w')%nat).
Proof.
  intros. unfold up. rewrite path_link by (try assumption; apply grid_lt; assumption). cbn [Nat.eqb andb].
  rewrite grid_eq by assumption. rewrite (Nat.eqb_sym a), (Nat.eqb_sym w'). cbn [one].
  destruct (leaf k i =? leaf k j)%nat, (leaf k i =? a)%nat, (w =? w')%nat; cbn [negb andb one]; ring.
Qed.

Lemma path_down k w i j b w' : (w < k)%nat -> (i < hosts k)%nat -> (j < hosts k)%nat -> (b < 2 * k)%nat -> (w' < k)%nat ->
  path k w i j (down k b w') == one (negb (leaf k i =? leaf k j)%nat && (leaf k j =? b)%nat && (w =? w')%nat).
Proof.
  intros. unfold down. rewrite path_link by (try assumption; apply grid_lt; assumption). cbn [Nat.eqb andb].
  rewrite grid_eq by assumption. rewrite (Nat.eqb_sym b), (Nat.eqb_sym w'). cbn [one].
  destruct (leaf k i =? leaf k j)%nat, (leaf k j =? b)%nat, (w =? w')%nat; cbn [negb andb one]; ring.
Qed.

(* ---- Matchings as traffic ---- *)

Lemma edges_sum n m (e : graph) : rational (edges n m e) == sum (fun i => sum (fun j => one (e i j)) m) n.
Proof.
  unfold edges. rewrite count_sum, sum_grid. apply sum_pairs_eq. intros i j Hi Hj. rewrite grid_div, grid_mod by assumption. reflexivity.
Qed.

Lemma count_unique f n : (forall i j, (i < n)%nat -> (j < n)%nat -> f i = true -> f j = true -> i = j) -> (count f n <= 1)%nat.
Proof.
  induction n as [|n IH]; intros H; cbn [count]; [lia|]. destruct (f n) eqn:F.
  - assert (Z : count f n = 0%nat); [|lia].
    assert (L : forall m, (m <= n)%nat -> count f m = 0%nat).
    { induction m as [|m IHm]; intros L; cbn [count]; [reflexivity|]. rewrite IHm by lia.
      destruct (f m) eqn:G; [|reflexivity]. pose proof (H m n). exfalso. assert (m = n) by (apply H; auto; lia). lia. }
    apply L. lia.
  - specialize (IH (fun i j Hi Hj => H i j (Nat.lt_lt_succ_r _ _ Hi) (Nat.lt_lt_succ_r _ _ Hj))). lia.
Qed.

Lemma matching_admissible k f : matching (hosts k) (hosts k) f -> admissible (fat_tree k) (fun i j => one (f i j)).
Proof.
  intros M. unfold admissible. simpl terminals. simpl injection. simpl ejection. repeat split.
  - intros. apply one_nonneg.
  - intros i Hi. rewrite <- count_sum. change 1 with (rational 1). apply rational_le, count_unique.
    intros j j' Hj Hj' A B. apply (M i j i j'); auto.
  - intros j Hj. rewrite <- (count_sum (fun i => f i j)). change 1 with (rational 1). apply rational_le, count_unique.
    intros i i' Hi Hi' A B. apply (M i j i' j); auto.
  - intros. discriminate.
Qed.

(* Traffic that a routing with worst case 1 can carry loads one channel with the number of edges. *)
Definition needs (k : nat) (g : nat -> nat -> nat -> Q) (x : nat) : Prop :=
  exists X c, admissible (fat_tree k) X /\ (forall i j, (i < hosts k)%nat -> (j < hosts k)%nat -> i = j -> X i j == 0) /\
    (c < channels (fat_tree k))%nat /\ rational x * bandwidth (fat_tree k) c <= load (fat_tree k) g X c.

Lemma matching_loads k g e f c : matching (hosts k) (hosts k) f -> within (hosts k) (hosts k) f e -> (c < channels (fat_tree k))%nat ->
  (forall i, (i < hosts k)%nat -> e i i = false) ->
  (forall i j, (i < hosts k)%nat -> (j < hosts k)%nat -> g i j c == one (e i j)) ->
  needs k g (edges (hosts k) (hosts k) f).
Proof.
  intros M W Hc D E. exists (fun i j => one (f i j)), c. split; [apply matching_admissible, M|]. split; [|split; [exact Hc|]].
  - intros i j Hi Hj <-. pose proof (W i i Hi Hi) as Wii. destruct (f i i); [|reflexivity]. rewrite D in Wii by exact Hi.
    specialize (Wii eq_refl). discriminate.
  - apply Qle_lteq. right. rewrite edges_sum. simpl bandwidth. unfold load. simpl terminals. rewrite Qmult_1_r.
    apply sum_pairs_eq. intros i j Hi Hj. rewrite E by assumption. pose proof (W i j Hi Hj) as Wij.
    destruct (f i j); [rewrite Wij by reflexivity|]; cbn [one]; ring.
Qed.

(* ---- The lower bound ---- *)

Lemma choose {T} (x0 : T) (P : nat -> Prop) (Q : nat -> T -> Prop) n : (forall v, (v < n)%nat -> P v \/ exists x, Q v x) ->
  (exists v, (v < n)%nat /\ P v) \/ exists g, forall v, (v < n)%nat -> Q v (g v).
Proof.
  induction n as [|n IH]; intros H; [right; exists (fun _ => x0); intros; lia|].
  destruct IH as [[v [L Pv]]|[g G]]; [intros; apply H; lia|left; exists v; split; [lia|exact Pv]|].
  destruct (H n (Nat.lt_succ_diag_r n)) as [Pn|[x Qx]]; [left; exists n; split; [lia|exact Pn]|].
  right. exists (fun v => if (v =? n)%nat then x else g v). intros v L. destruct (Nat.eqb_spec v n) as [->|]; [exact Qx|apply G; lia].
Qed.

Section Counting.
Variables (k : nat) (u : nat -> nat -> nat) (most : nat).
Hypothesis (Hk : (0 < k)%nat) (Hu : forall i j, (u i j < k)%nat) (Hmost : (most * most < k)%nat).
Let n := hosts k.
Let K := (2 * k)%nat.

Definition up_pairs (v : nat) : graph := fun i j => negb (leaf k i =? leaf k j)%nat && (leaf k i =? v / k)%nat && (u i j =? v mod k)%nat.
Definition down_pairs (v : nat) : graph := fun i j => negb (leaf k i =? leaf k j)%nat && (leaf k j =? v / k)%nat && (u i j =? v mod k)%nat.

(* Covers of the pairs on every link up and down, of at most [most] hosts each. *)
Variables (A B C D : nat -> nat -> bool).
Hypothesis HAB : forall v, (v < n)%nat -> covered n n (up_pairs v) (A v) (B v) /\ (count (A v) n + count (B v) n <= most)%nat.
Hypothesis HCD : forall v, (v < n)%nat -> covered n n (down_pairs v) (C v) (D v) /\ (count (C v) n + count (D v) n <= most)%nat.

Let X := rational most.

Section Root.
Variable w : nat.
Hypothesis Hw : (w < k)%nat.
Let x a := sum (fun p => one (A (a * k + w) (a * k + p))%nat) k.
Let y b := sum (fun q => one (D (b * k + w) (b * k + q))%nat) k.
Let sB a := sum (fun j => one (B (a * k + w)%nat j)) n.
Let sC b := sum (fun i => one (C (b * k + w)%nat i)) n.

Lemma block_part f a : (a < K)%nat -> sum (fun p => one (f (a * k + p)%nat)) k <= rational (count f n).
Proof.
  intros Ha. rewrite count_sum. unfold n, hosts. rewrite sum_grid.
  apply (sum_term (fun a => sum (fun p => one (f (a * k + p)%nat)) k) (2 * k) a); [|exact Ha].
  intros. apply sum_nonneg. intros. apply one_nonneg.
Qed.

Lemma part_sizes a : (a < K)%nat -> 0 <= x a /\ 0 <= y a /\ x a + sB a <= X /\ y a + sC a <= X /\ 0 <= sB a /\ 0 <= sC a.
Proof.
  intros Ha. assert (V : (a * k + w < n)%nat) by (apply grid_lt; assumption).
  destruct (HAB _ V) as [_ S1]. destruct (HCD _ V) as [_ S2]. apply rational_le in S1. apply rational_le in S2.
  rewrite rational_plus in S1, S2.
  pose proof (block_part (A (a * k + w)%nat) a Ha) as P1. pose proof (block_part (D (a * k + w)%nat) a Ha) as P2. fold (x a) in P1. fold (y a) in P2.
  pose proof (count_sum (B (a * k + w)%nat) n) as E1. pose proof (count_sum (C (a * k + w)%nat) n) as E2. fold (sB a) in E1. fold (sC a) in E2.
  fold X in S1, S2.
  assert (0 <= x a) by (apply sum_nonneg; intros; apply one_nonneg). assert (0 <= y a) by (apply sum_nonneg; intros; apply one_nonneg).
  assert (0 <= sB a) by (apply sum_nonneg; intros; apply one_nonneg). assert (0 <= sC a) by (apply sum_nonneg; intros; apply one_nonneg).
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

Lemma pairs_at_root : sum (fun i => sum (fun j => one (negb (leaf k i =? leaf k j)%nat && (u i j =? w)%nat)) n) n <=
  rational k * (2 * rational K * X - Zx) + (1 # 2) * X * (rational K - 1) * Zx.
Proof.
  apply Qle_trans with (sum (fun a => sum (fun p => sum (fun b => sum (fun q =>
      one (B (a * k + w)%nat (b * k + q)%nat) + one (C (b * k + w)%nat (a * k + p)%nat) +
      apart a b * (one (A (a * k + w)%nat (a * k + p)%nat) * one (D (b * k + w)%nat (b * k + q)%nat))) k) K) k) K).
  - unfold n at 2, hosts. rewrite sum_grid. fold K. apply sum_pairs_le. intros a p Ha Hp.
    unfold n, hosts. rewrite sum_grid. fold K. apply sum_pairs_le. intros b q Hb Hq.
    unfold leaf. rewrite !grid_div by assumption. fold (leaf k). unfold apart.
    set (i := (a * k + p)%nat). set (j := (b * k + q)%nat).
    assert (Hi : (i < n)%nat) by (apply grid_lt; assumption). assert (Hj : (j < n)%nat) by (apply grid_lt; assumption).
    pose proof (one_nonneg (B (a * k + w)%nat j)). pose proof (one_nonneg (C (b * k + w)%nat i)).
    pose proof (Qmult_nonneg _ _ (one_nonneg (A (a * k + w)%nat i)) (one_nonneg (D (b * k + w)%nat j))).
    destruct (Nat.eqb_spec a b) as [E|E]; cbn [negb andb one]; [lra|].
    destruct (Nat.eqb_spec (u i j) w) as [F|F]; cbn [negb andb one]; [|lra].
    destruct (HAB (a * k + w)%nat) as [Hab _]; [apply grid_lt; assumption|].
    destruct (HCD (b * k + w)%nat) as [Hcd _]; [apply grid_lt; assumption|].
    assert (U : forall t, up_pairs (a * k + t)%nat i j = (t =? w)%nat \/ (k <= t)%nat).
    { intros t. destruct (Nat.le_gt_cases k t); [right; assumption|left]. unfold up_pairs, leaf, i, j. rewrite !grid_div, grid_mod by assumption.
      fold i j. rewrite F, (Nat.eqb_refl a), (proj2 (Nat.eqb_neq a b) E). cbn [negb andb]. apply Nat.eqb_sym. }
    assert (V : forall t, down_pairs (b * k + t)%nat i j = (t =? w)%nat \/ (k <= t)%nat).
    { intros t. destruct (Nat.le_gt_cases k t); [right; assumption|left]. unfold down_pairs, leaf, i, j. rewrite !grid_div, grid_mod by assumption.
      fold i j. rewrite F, (Nat.eqb_refl b), (proj2 (Nat.eqb_neq a b) E). cbn [negb andb]. apply Nat.eqb_sym. }
    destruct (U w) as [U'|]; [|lia]. destruct (V w) as [V'|]; [|lia]. rewrite Nat.eqb_refl in U', V'.
    specialize (Hab i j Hi Hj U'). specialize (Hcd i j Hi Hj V').
    destruct (B (a * k + w)%nat j), (C (b * k + w)%nat i), (A (a * k + w)%nat i), (D (b * k + w)%nat j); cbn [one];
      try lra; destruct Hab, Hcd; discriminate.
  - apply Qle_trans with (sum (fun a => rational k * sB a) K + sum (fun b => rational k * sC b) K +
      sum (fun a => sum (fun b => apart a b * (x a * y b)) K) K).
    + apply Qle_lteq. right.
      rewrite (sum_eq _ (fun a => rational k * sB a + (sum (fun p => sum (fun b => rational k * one (C (b * k + w)%nat (a * k + p)%nat)) K) k +
         sum (fun b => apart a b * (x a * y b)) K))).
      * rewrite !sum_plus, Qplus_assoc. apply Qplus_comp; [apply Qplus_comp; [reflexivity|]|reflexivity].
        transitivity (sum (fun a => sum (fun b => sum (fun p => rational k * one (C (b * k + w)%nat (a * k + p)%nat)) k) K) K).
        { apply sum_eq. intros a _. apply sum_swap. }
        rewrite sum_swap. apply sum_eq. intros b _. unfold sC, n, hosts. rewrite sum_grid, <- sum_scale. apply sum_eq. intros a _. apply sum_scale.
      * intros a Ha.
        rewrite (sum_eq _ (fun p => sB a + (sum (fun b => rational k * one (C (b * k + w)%nat (a * k + p)%nat)) K +
           one (A (a * k + w)%nat (a * k + p)%nat) * sum (fun b => apart a b * y b) K))).
        -- rewrite !sum_plus, sum_const, sum_scale_r. fold (rational k). fold (x a). apply Qplus_comp; [reflexivity|]. apply Qplus_comp; [reflexivity|].
           rewrite <- sum_scale. apply sum_eq. intros. ring.
        -- intros p Hp.
           rewrite (sum_eq _ (fun b => sum (fun q => one (B (a * k + w)%nat (b * k + q)%nat)) k +
             (rational k * one (C (b * k + w)%nat (a * k + p)%nat) + one (A (a * k + w)%nat (a * k + p)%nat) * (apart a b * y b)))).
           ++ rewrite !sum_plus, !sum_scale. apply Qplus_comp; [|reflexivity]. unfold sB, n, hosts. rewrite sum_grid. reflexivity.
           ++ intros b Hb. rewrite !sum_plus, sum_const, sum_scale, sum_scale. fold (rational k). fold (y b). ring.
    + rewrite !sum_scale.
      assert (P1 : sum x K + sum sB K <= rational K * X).
      { rewrite <- sum_plus. unfold rational. rewrite <- sum_const. apply sum_le. intros a Ha. destruct (part_sizes a Ha). tauto. }
      assert (P2 : sum y K + sum sC K <= rational K * X).
      { rewrite <- sum_plus. unfold rational. rewrite <- sum_const. apply sum_le. intros a Ha. destruct (part_sizes a Ha). tauto. }
      assert (P3 : sum (fun a => sum (fun b => apart a b * (x a * y b)) K) K <= (1 # 2) * X * (rational K - 1) * Zx).
      { apply Qle_trans with (sum (fun a => sum (fun b => (1 # 2) * X * (apart a b * x a) + (1 # 2) * X * (apart a b * y b)) K) K).
        - apply sum_pairs_le. intros a b Ha Hb. destruct (part_sizes a Ha) as [Xa [_ [Xa' [_ [Ba _]]]]]. destruct (part_sizes b Hb) as [_ [Yb [_ [Yb' [_ Cb]]]]].
          assert (Q1 : x a * y b <= X * y b) by (apply Qmult_le_compat_r; lra).
          assert (Q2 : y b * x a <= X * x a) by (apply Qmult_le_compat_r; lra).
          assert (Q3 : x a * y b <= (1 # 2) * X * x a + (1 # 2) * X * y b) by lra.
          unfold apart. destruct (a =? b)%nat; cbn [negb one]; lra.
        - apply Qle_lteq. right. rewrite (sum_eq _ (fun a => (1 # 2) * X * ((rational K - 1) * x a) + sum (fun b => (1 # 2) * X * (apart a b * y b)) K)).
          + rewrite sum_plus. rewrite (sum_swap (fun a b => (1 # 2) * X * (apart a b * y b))).
            rewrite (sum_eq (fun b => sum (fun a => (1 # 2) * X * (apart a b * y b)) K) (fun b => (1 # 2) * X * ((rational K - 1) * y b))).
            * rewrite !sum_scale. unfold Zx. ring.
            * intros b Hb. rewrite sum_scale, sum_scale_r.
              rewrite (sum_eq (fun a => apart a b) (fun a => apart b a)) by (intros; unfold apart; rewrite Nat.eqb_sym; reflexivity).
              rewrite count_others by exact Hb. reflexivity.
          + intros a Ha. rewrite sum_plus, sum_scale, sum_scale_r, count_others by exact Ha. reflexivity. }
      assert (P4 : (sum sB K + sum sC K) * rational k <= (2 * rational K * X - Zx) * rational k).
      { apply Qmult_le_compat_r; [unfold Zx; lra|apply rational_nonneg]. }
      lra.
Qed.

(* Less than an equal share of the K (K - 1) k^2 pairs of different leaves. *)
Lemma root_has_too_few : sum (fun i => sum (fun j => one (negb (leaf k i =? leaf k j)%nat && (u i j =? w)%nat)) n) n <
  rational K * (rational K - 1) * rational k.
Proof.
  eapply Qle_lt_trans; [apply pairs_at_root|].
  assert (Z0 : 0 <= Zx).
  { unfold Zx. assert (0 <= sum x K) by (apply sum_nonneg; intros a Ha; apply part_sizes, Ha).
    assert (0 <= sum y K) by (apply sum_nonneg; intros a Ha; apply part_sizes, Ha). lra. }
  assert (Z1 : Zx <= 2 * rational K * X).
  { assert (P1 : sum x K <= rational K * X) by (unfold rational; rewrite <- sum_const; apply sum_le; intros a Ha; destruct (part_sizes a Ha); lra).
    assert (P2 : sum y K <= rational K * X) by (unfold rational; rewrite <- sum_const; apply sum_le; intros a Ha; destruct (part_sizes a Ha); lra).
    unfold Zx. lra. }
  assert (EK : rational K == 2 * rational k) by (unfold K; rewrite rational_mult; reflexivity).
  pose proof (rational_pos k Hk) as k0.
  assert (X0 : 0 <= X) by apply rational_nonneg.
  assert (X1 : X + 1 <= rational k) by (unfold X; change 1 with (rational 1); rewrite <- rational_plus; apply rational_le; nia).
  assert (X2 : X * X + 1 <= rational k) by (unfold X; rewrite <- rational_mult; change 1 with (rational 1); rewrite <- rational_plus; apply rational_le; lia).
  rewrite EK in *. set (z := Zx) in *. set (r := rational k) in *. clearbody z r.
  assert (rr : 0 < r * r) by (rewrite <- (Qmult_0_l r); apply Qmult_lt_compat_r; assumption).
  destruct (Qlt_le_dec ((1 # 2) * X * (2 * r - 1) - r) 0) as [L|L].
  - (* z = 0 is the worst *)
    assert (T : 0 <= z * - ((1 # 2) * X * (2 * r - 1) - r)) by (apply Qmult_nonneg; lra).
    assert (T2 : (X + 1) * (r * r) <= r * (r * r)) by (apply Qmult_le_compat_r; lra).
    apply Qle_lt_trans with (r * (2 * (2 * r) * X)); [lra|]. lra.
  - (* z = 2 K X is the worst *)
    assert (T : z * ((1 # 2) * X * (2 * r - 1) - r) <= 2 * (2 * r) * X * ((1 # 2) * X * (2 * r - 1) - r)) by (apply Qmult_le_compat_r; lra).
    apply Qle_lt_trans with (X * X * (2 * r * (2 * r - 1))); [lra|].
    apply Qlt_le_trans with (r * (2 * r * (2 * r - 1))); [|lra].
    apply Qmult_lt_compat_r; [|lra]. setoid_replace (2 * r * (2 * r - 1)) with (r * (2 * (2 * r - 1))) by ring.
    rewrite <- (Qmult_0_l (2 * (2 * r - 1))). apply Qmult_lt_compat_r; lra.
Qed.
End Root.

Lemma all_pairs : sum (fun w => sum (fun i => sum (fun j => one (negb (leaf k i =? leaf k j)%nat && (u i j =? w)%nat)) n) n) k ==
  rational K * (rational K - 1) * rational k * rational k.
Proof.
  rewrite sum_swap. rewrite (sum_eq _ (fun i => (rational K - 1) * rational k)).
  - rewrite sum_const. unfold n, hosts. fold K. fold (rational (K * k)). rewrite rational_mult. ring.
  - intros i Hi. rewrite sum_swap. rewrite (sum_eq _ (fun j => one (negb (leaf k i =? leaf k j)%nat))).
    + unfold n, hosts. rewrite sum_grid. fold K.
      rewrite (sum_eq _ (fun b => one (negb (leaf k i =? b)%nat) * rational k)).
      * rewrite sum_scale_r, count_others by (apply leaf_lt, Hi). reflexivity.
      * intros b Hb. rewrite (sum_eq _ (fun _ => one (negb (leaf k i =? b)%nat))).
        -- rewrite sum_const. fold (rational k). ring.
        -- intros q Hq. unfold leaf at 2. rewrite grid_div by exact Hq. reflexivity.
    + intros j Hj. rewrite (sum_eq _ (fun w => one (u i j =? w)%nat * one (negb (leaf k i =? leaf k j)%nat))).
      * rewrite (sum_pick (fun _ => one (negb (leaf k i =? leaf k j)%nat))) by apply Hu. reflexivity.
      * intros w _. rewrite one_and. ring.
Qed.

Lemma impossible : False.
Proof.
  pose proof all_pairs as E.
  assert (L : sum (fun w => sum (fun i => sum (fun j => one (negb (leaf k i =? leaf k j)%nat && (u i j =? w)%nat)) n) n) k <
    sum (fun _ => rational K * (rational K - 1) * rational k) k).
  { assert (H : forall m, (0 < m)%nat -> (m <= k)%nat -> sum (fun w => sum (fun i => sum (fun j => one (negb (leaf k i =? leaf k j)%nat && (u i j =? w)%nat)) n) n) m <
      sum (fun _ => rational K * (rational K - 1) * rational k) m).
    { induction m as [|m IH]; intros M0 M1; [lia|]. cbn [sum]. pose proof (root_has_too_few m ltac:(lia)) as T.
      destruct (Nat.eq_dec m 0) as [->|N]; [cbn [sum] in *; lra|]. specialize (IH ltac:(lia) ltac:(lia)). lra. }
    apply H; lia. }
  rewrite sum_const in L. fold (rational k) in L. lra.
Qed.
End Counting.

Lemma single_path_needs k u : (0 < k)%nat -> (forall i j, (u i j < k)%nat) ->
  exists x, (k <= x * x)%nat /\ needs k (single_path k u) x.
Proof.
  intros Hk Hu. set (n := hosts k).
  set (most := Nat.sqrt (k - 1)). assert (Hm : (most * most < k)%nat) by (pose proof (Nat.sqrt_specif (k - 1)); unfold most; lia).
  set (Goal_ := exists x, (k <= x * x)%nat /\ needs k (single_path k u) x).
  assert (Link : forall (e : graph) c, (c < channels (fat_tree k))%nat ->
     (forall i, (i < n)%nat -> e i i = false) ->
     (forall i j, (i < n)%nat -> (j < n)%nat -> single_path k u i j c == one (e i j)) ->
     Goal_ \/ exists p : (nat -> bool) * (nat -> bool), covered n n e (fst p) (snd p) /\ (count (fst p) n + count (snd p) n <= most)%nat).
  { intros e c Hc Hd He. destruct (koenig n n e) as [a [b [f [Cov [M [W S]]]]]].
    destruct (Nat.le_gt_cases k (edges n n f * edges n n f)) as [L|L].
    - left. exists (edges n n f). split; [exact L|]. apply (matching_loads k _ e f c M W Hc Hd He).
    - right. exists (a, b). split; [exact Cov|]. cbn [fst snd].
      assert (edges n n f <= most)%nat; [|lia]. unfold most. apply Nat.sqrt_le_square. lia. }
  assert (Up : forall v, (v < n)%nat -> Goal_ \/ exists p : (nat -> bool) * (nat -> bool), covered n n (up_pairs k u v) (fst p) (snd p) /\ (count (fst p) n + count (snd p) n <= most)%nat).
  { intros v Hv. destruct (leaf_lt k v Hv) as [Ha Hw]. apply (Link _ (up k (v / k) (v mod k))).
    - apply (link_lt k 2); [lia|apply grid_lt; assumption].
    - intros i Hi. unfold up_pairs. rewrite Nat.eqb_refl. reflexivity.
    - intros i j Hi Hj. unfold single_path. rewrite path_up by auto. reflexivity. }
  assert (Down : forall v, (v < n)%nat -> Goal_ \/ exists p : (nat -> bool) * (nat -> bool), covered n n (down_pairs k u v) (fst p) (snd p) /\ (count (fst p) n + count (snd p) n <= most)%nat).
  { intros v Hv. destruct (leaf_lt k v Hv) as [Ha Hw]. apply (Link _ (down k (v / k) (v mod k))).
    - apply (link_lt k 3); [lia|apply grid_lt; assumption].
    - intros i Hi. unfold down_pairs. rewrite Nat.eqb_refl. reflexivity.
    - intros i j Hi Hj. unfold single_path. rewrite path_down by auto. reflexivity. }
  destruct (choose (fun _ => false, fun _ => false) (fun _ => Goal_) _ n Up) as [[v [_ G]]|[ab AB]]; [exact G|].
  destruct (choose (fun _ => false, fun _ => false) (fun _ => Goal_) _ n Down) as [[v [_ G]]|[cd CD]]; [exact G|].
  exfalso. apply (impossible k u most Hk Hu Hm (fun v => fst (ab v)) (fun v => snd (ab v)) (fun v => fst (cd v)) (fun v => snd (cd v)) AB CD).
Qed.

Theorem single_path_bound k u : (0 < k)%nat -> (forall i j, (u i j < k)%nat) ->
  exists x, (k <= x * x)%nat /\ worst_at_least (fat_tree k) (single_path k u) (rational x).
Proof.
  intros Hk Hu. destruct (single_path_needs k u Hk Hu) as [x [L [X [c [HX [_ [Hc B]]]]]]].
  exists x. split; [exact L|]. exists X, c. auto.
Qed.

(* ---- Upper bounds ---- *)

(* Where every channel carries pairs of sources, or of destinations, of a total weight of at most r: the paper's Lemma 9. *)
Lemma one_sided G f r : (forall i, (i < terminals G)%nat -> injection G i == 1 /\ ejection G i == 1) ->
  (forall c, (c < channels G)%nat -> exists p : nat -> Q, (forall i, (i < terminals G)%nat -> 0 <= p i) /\ sum p (terminals G) <= r * bandwidth G c /\
    ((forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> f i j c <= p i) \/
     (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> f i j c <= p j))) ->
  worst_at_most G f r.
Proof.
  intros U H X HX c Hc. destruct (H c Hc) as [p [P [S F]]]. eapply Qle_trans; [|exact S].
  destruct F as [F|F].
  - eapply Qle_trans; [apply (prices_bound G f X c p (fun _ => 0) HX P)|].
    + intros. lra.
    + intros i j Hi Hj. specialize (F i j Hi Hj). lra.
    + rewrite (sum_eq (fun i => injection G i * p i) p) by (intros i Hi; rewrite (proj1 (U i Hi)); ring).
      rewrite (sum_0 (fun j => ejection G j * 0)) by (intros; ring). lra.
  - eapply Qle_trans; [apply (prices_bound G f X c (fun _ => 0) p HX)|].
    + intros. lra.
    + exact P.
    + intros i j Hi Hj. specialize (F i j Hi Hj). lra.
    + rewrite (sum_eq (fun i => ejection G i * p i) p) by (intros i Hi; rewrite (proj2 (U i Hi)); ring).
      rewrite (sum_0 (fun j => injection G j * 0)) by (intros; ring). lra.
Qed.

Lemma link_inv k c : (c < channels (fat_tree k))%nat -> exists kind e, (kind < 4)%nat /\ (e < hosts k)%nat /\ c = link k kind e.
Proof.
  intros H. change (channels (fat_tree k)) with (4 * hosts k)%nat in H. pose proof (grid_row _ _ _ H) as [A B].
  exists (c / hosts k)%nat, (c mod hosts k)%nat. repeat split; try assumption. unfold link. apply grid_inv. lia.
Qed.

Lemma link_up_down k e : (0 < k)%nat -> link k 2 e = up k (leaf k e) (e mod k) /\ link k 3 e = down k (leaf k e) (e mod k).
Proof. intros Hk. unfold up, down, leaf. rewrite <- (grid_inv e k Hk). split; reflexivity. Qed.

(* Of a function of leaf and rank. *)
Lemma sum_leaf k a (g : nat -> Q) : (a < 2 * k)%nat -> sum (fun i => one (leaf k i =? a)%nat * g (i mod k)%nat) (hosts k) == sum g k.
Proof.
  intros Ha. unfold hosts. rewrite sum_grid. rewrite (sum_eq _ (fun b => one (b =? a)%nat * sum g k)).
  - rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Ha). cbn [one]. ring.
  - intros b Hb. rewrite <- sum_scale. apply sum_eq. intros p Hp. unfold leaf. rewrite grid_div, grid_mod by exact Hp. reflexivity.
Qed.

Lemma sum_host k e : (e < hosts k)%nat -> sum (fun i => one (e =? i)%nat) (hosts k) == 1.
Proof. intros He. rewrite (sum_eq _ (fun i => one (e =? i)%nat * 1)) by (intros; ring). apply (sum_pick (fun _ => 1)), He. Qed.

Lemma path_host k w i j e : (w < k)%nat -> (i < hosts k)%nat -> (j < hosts k)%nat -> (e < hosts k)%nat ->
  path k w i j (link k 0 e) <= one (e =? i)%nat /\ path k w i j (link k 1 e) <= one (e =? j)%nat.
Proof.
  intros. rewrite !path_link by assumption. cbn [Nat.eqb andb one].
  destruct (i =? j)%nat, (e =? i)%nat, (e =? j)%nat, (leaf k i =? leaf k j)%nat; cbn [negb one]; split; lra.
Qed.

Theorem all_paths_worst k : (0 < k)%nat -> worst_at_most (fat_tree k) (all_paths k) 1.
Proof.
  intros Hk. pose proof (rational_pos k Hk) as K. pose proof (Qlt_le_weak _ _ (Qinv_lt_0_compat _ K)) as I.
  assert (Mean : forall i j c a, (forall w, (w < k)%nat -> path k w i j c <= a) -> all_paths k i j c <= a).
  { intros i j c a H. unfold all_paths. setoid_replace a with (/ rational k * (rational k * a)) by (field; lra).
    rewrite !(Qmult_comm (/ rational k)). apply Qmult_le_compat_r; [|exact I]. unfold rational. rewrite <- sum_const. apply sum_le. exact H. }
  apply one_sided; [intros; split; reflexivity|]. intros c Hc. destruct (link_inv k c Hc) as [kind [e [H4 [He ->]]]].
  simpl terminals. simpl bandwidth. destruct (leaf_lt k e He) as [Le Re].
  destruct (link_up_down k e Hk) as [Eup Edown].
  destruct kind as [|[|[|[|]]]]; [| | | |lia].
  - exists (fun i => one (e =? i)%nat). split; [intros; apply one_nonneg|]. split; [rewrite sum_host by exact He; lra|].
    left. intros i j Hi Hj. apply Mean. intros w Hw. apply path_host; assumption.
  - exists (fun i => one (e =? i)%nat). split; [intros; apply one_nonneg|]. split; [rewrite sum_host by exact He; lra|].
    right. intros i j Hi Hj. apply Mean. intros w Hw. apply path_host; assumption.
  - exists (fun i => one (leaf k i =? leaf k e)%nat * / rational k). split; [intros; apply Qmult_nonneg; [apply one_nonneg|exact I]|]. split.
    + rewrite (sum_leaf k (leaf k e) (fun _ => / rational k) Le), sum_const. fold (rational k). apply Qle_lteq. right. field. lra.
    + left. intros i j Hi Hj. unfold all_paths. rewrite (Qmult_comm (one _)), !(Qmult_comm (/ rational k)). apply Qmult_le_compat_r; [|exact I].
      rewrite Eup.
      apply Qle_trans with (sum (fun w => one (e mod k =? w)%nat * one (leaf k i =? leaf k e)%nat) k).
      * apply sum_le. intros w Hw. rewrite path_up by assumption. rewrite (Nat.eqb_sym (e mod k)).
        destruct (leaf k i =? leaf k j)%nat, (leaf k i =? leaf k e)%nat, (w =? e mod k)%nat; cbn [negb andb one]; lra.
      * rewrite (sum_pick (fun _ => one (leaf k i =? leaf k e)%nat)) by exact Re. lra.
  - exists (fun j => one (leaf k j =? leaf k e)%nat * / rational k). split; [intros; apply Qmult_nonneg; [apply one_nonneg|exact I]|]. split.
    + rewrite (sum_leaf k (leaf k e) (fun _ => / rational k) Le), sum_const. fold (rational k). apply Qle_lteq. right. field. lra.
    + right. intros i j Hi Hj. unfold all_paths. rewrite (Qmult_comm (one _)), !(Qmult_comm (/ rational k)). apply Qmult_le_compat_r; [|exact I].
      rewrite Edown.
      apply Qle_trans with (sum (fun w => one (e mod k =? w)%nat * one (leaf k j =? leaf k e)%nat) k).
      * apply sum_le. intros w Hw. rewrite path_down by assumption. rewrite (Nat.eqb_sym (e mod k)).
        destruct (leaf k i =? leaf k j)%nat, (leaf k j =? leaf k e)%nat, (w =? e mod k)%nat; cbn [negb andb one]; lra.
      * rewrite (sum_pick (fun _ => one (leaf k j =? leaf k e)%nat)) by exact Re. lra.
Qed.

Lemma osrm2_lt z i j : (0 < z)%nat -> (osrm2 z i j < z * z)%nat.
Proof.
  intros Hz. unfold osrm2. assert (N : (z * z <> 0)%nat) by nia.
  assert (G : forall a, ((a mod (z * z)) / z < z)%nat) by (intros a; apply Nat.div_lt_upper_bound; [lia|apply Nat.mod_upper_bound, N]).
  apply grid_lt; apply G.
Qed.

Lemma group_size z g : (g < z)%nat -> sum (fun p => one (p / z =? g)%nat) (z * z) == rational z.
Proof.
  intros Hg. rewrite sum_grid. rewrite (sum_eq _ (fun b => one (b =? g)%nat * rational z)).
  - rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Hg). cbn [one]. ring.
  - intros b _. rewrite (sum_eq _ (fun _ => one (b =? g)%nat)).
    + rewrite sum_const. fold (rational z). ring.
    + intros q Hq. rewrite grid_div by exact Hq. reflexivity.
Qed.

Theorem osrm2_worst z : (0 < z)%nat -> worst_is (fat_tree (z * z)) (single_path (z * z) (osrm2 z)) (rational z).
Proof.
  intros Hz. set (k := (z * z)%nat). assert (Hk : (0 < k)%nat) by (unfold k; nia).
  assert (Z1 : 1 <= rational z) by (change 1 with (rational 1); apply rational_le; lia).
  assert (U : forall i j, (osrm2 z i j < k)%nat) by (intros; apply osrm2_lt, Hz).
  split.
  - apply one_sided; [intros; split; reflexivity|]. intros c Hc. destruct (link_inv k c Hc) as [kind [e [H4 [He ->]]]].
    simpl terminals. simpl bandwidth. destruct (leaf_lt k e He) as [Le Re]. pose proof (grid_row _ _ _ Re) as [G1 G2].
    destruct (link_up_down k e Hk) as [Eup Edown].
    destruct kind as [|[|[|[|]]]]; [| | | |lia].
    + exists (fun i => one (e =? i)%nat). split; [intros; apply one_nonneg|]. split; [rewrite sum_host by exact He; lra|].
      left. intros i j Hi Hj. apply path_host; auto.
    + exists (fun i => one (e =? i)%nat). split; [intros; apply one_nonneg|]. split; [rewrite sum_host by exact He; lra|].
      right. intros i j Hi Hj. apply path_host; auto.
    + exists (fun i => one (leaf k i =? leaf k e)%nat * one ((i mod k) / z =? (e mod k) / z)%nat).
      split; [intros; apply Qmult_nonneg; apply one_nonneg|]. split.
      * rewrite (sum_leaf k (leaf k e) (fun p => one (p / z =? (e mod k) / z)%nat) Le). unfold k at 2. rewrite group_size by exact G1. lra.
      * left. intros i j Hi Hj. rewrite Eup.
        unfold single_path. rewrite path_up by auto. rewrite <- one_and.
        destruct (Nat.eqb_spec (osrm2 z i j) (e mod k)) as [O|O].
        -- rewrite <- O. unfold osrm2. fold k. rewrite grid_div by (apply Nat.div_lt_upper_bound; [lia|apply Nat.mod_upper_bound; lia]).
           rewrite Nat.eqb_refl. destruct (leaf k i =? leaf k j)%nat, (leaf k i =? leaf k e)%nat; cbn [negb andb one]; lra.
        -- rewrite andb_false_r. apply one_nonneg.
    + exists (fun j => one (leaf k j =? leaf k e)%nat * one ((j mod k) / z =? (e mod k) mod z)%nat).
      split; [intros; apply Qmult_nonneg; apply one_nonneg|]. split.
      * rewrite (sum_leaf k (leaf k e) (fun p => one (p / z =? (e mod k) mod z)%nat) Le). unfold k at 2. rewrite group_size by exact G2. lra.
      * right. intros i j Hi Hj. rewrite Edown.
        unfold single_path. rewrite path_down by auto. rewrite <- one_and.
        destruct (Nat.eqb_spec (osrm2 z i j) (e mod k)) as [O|O].
        -- rewrite <- O. unfold osrm2. fold k. rewrite grid_mod by (apply Nat.div_lt_upper_bound; [lia|apply Nat.mod_upper_bound; lia]).
           rewrite Nat.eqb_refl. destruct (leaf k i =? leaf k j)%nat, (leaf k j =? leaf k e)%nat; cbn [negb andb one]; lra.
        -- rewrite andb_false_r. apply one_nonneg.
  - destruct (single_path_bound k (osrm2 z) Hk U) as [x [L [X [c [HX [Hc B]]]]]]. exists X, c. split; [exact HX|]. split; [exact Hc|].
    assert (Lx : (z <= x)%nat) by (unfold k in L; nia). apply rational_le in Lx. simpl bandwidth in *. lra.
Qed.

(* ---- The oblivious ratio ---- *)

(* Traffic that any routing carries is admissible: a host's channels are all it has. *)
Lemma host_out k g i : (i < hosts k)%nat -> outflow (fat_tree k) g i == g (from_host k i).
Proof.
  intros Hi. unfold outflow. change (channels (fat_tree k)) with (4 * hosts k)%nat. rewrite sum_grid. cbn [sum].
  rewrite (sum_eq (fun j => one (tail (fat_tree k) (0 * hosts k + j) =? i)%nat * _) (fun j => one (j =? i)%nat * g (from_host k j))).
  2:{ intros j Hj. change (0 * hosts k + j)%nat with (link k 0 j). rewrite (proj1 (link_ends k 0 j Hj)). reflexivity. }
  rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Hi).
  rewrite !(sum_0 (fun j => one (tail (fat_tree k) (_ * hosts k + j) =? i)%nat * _)); [cbn [one]; ring| | |].
  - intros j Hj. change (3 * hosts k + j)%nat with (link k 3 j). rewrite (proj1 (link_ends k 3 j Hj)).
    rewrite (proj2 (Nat.eqb_neq _ i)) by (unfold root_switch; lia). cbn [one]. ring.
  - intros j Hj. change (2 * hosts k + j)%nat with (link k 2 j). rewrite (proj1 (link_ends k 2 j Hj)).
    rewrite (proj2 (Nat.eqb_neq _ i)) by (unfold leaf_switch; lia). cbn [one]. ring.
  - intros j Hj. change (1 * hosts k + j)%nat with (link k 1 j). rewrite (proj1 (link_ends k 1 j Hj)).
    rewrite (proj2 (Nat.eqb_neq _ i)) by (unfold leaf_switch; lia). cbn [one]. ring.
Qed.

Lemma host_in k g i : (i < hosts k)%nat -> inflow (fat_tree k) g i == g (to_host k i).
Proof.
  intros Hi. unfold inflow. change (channels (fat_tree k)) with (4 * hosts k)%nat. rewrite sum_grid. cbn [sum].
  rewrite (sum_eq (fun j => one (head (fat_tree k) (1 * hosts k + j) =? i)%nat * _) (fun j => one (j =? i)%nat * g (to_host k j))).
  2:{ intros j Hj. change (1 * hosts k + j)%nat with (link k 1 j). rewrite (proj2 (link_ends k 1 j Hj)). reflexivity. }
  rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Hi).
  rewrite !(sum_0 (fun j => one (head (fat_tree k) (_ * hosts k + j) =? i)%nat * _)); [cbn [one]; ring| | |].
  - intros j Hj. change (3 * hosts k + j)%nat with (link k 3 j). rewrite (proj2 (link_ends k 3 j Hj)).
    rewrite (proj2 (Nat.eqb_neq _ i)) by (unfold leaf_switch; lia). cbn [one]. ring.
  - intros j Hj. change (2 * hosts k + j)%nat with (link k 2 j). rewrite (proj2 (link_ends k 2 j Hj)).
    rewrite (proj2 (Nat.eqb_neq _ i)) by (unfold root_switch; lia). cbn [one]. ring.
  - intros j Hj. change (0 * hosts k + j)%nat with (link k 0 j). rewrite (proj2 (link_ends k 0 j Hj)).
    rewrite (proj2 (Nat.eqb_neq _ i)) by (unfold leaf_switch; lia). cbn [one]. ring.
Qed.

Lemma carried_admissible k X : traffic (fat_tree k) X -> carried_within (fat_tree k) X 1 -> admissible (fat_tree k) X.
Proof.
  intros T [g [G Used]]. unfold traffic in T. unfold carries in G. unfold admissible. simpl terminals in *. simpl nodes in *. simpl node in *.
  simpl injection. simpl ejection. simpl bandwidth in Used.
  assert (N : forall i, (i < hosts k)%nat -> (i < hosts k + 2 * k + k)%nat) by (intros; lia).
  repeat split.
  - intros i j Hi Hj. apply (T i j Hi Hj).
  - intros i Hi. destruct (G i Hi) as [P C]. specialize (C i (N i Hi)). rewrite host_out, host_in in C by exact Hi.
    rewrite (sum_eq _ (fun j => X i j)) in C.
    2:{ intros j Hj. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec i j) as [E|E]; cbn [one]; [rewrite (proj2 (T i j Hi Hj) E)|]; ring. }
    pose proof (P (to_host k i) (link_lt k 1 i ltac:(lia) Hi)) as P1. specialize (Used (from_host k i) (link_lt k 0 i ltac:(lia) Hi)).
    pose proof (sum_term (fun a => g a (from_host k i)) (hosts k) i) as S. simpl in S.
    assert (S' : g i (from_host k i) <= used (fat_tree k) g (from_host k i)).
    { apply S; [|exact Hi]. intros a Ha. apply (G a Ha). apply (link_lt k 0); [lia|exact Hi]. }
    lra.
  - intros j Hj. specialize (Used (to_host k j) (link_lt k 1 j ltac:(lia) Hj)). rewrite Qmult_1_l in Used.
    eapply Qle_trans; [|exact Used]. unfold used. simpl terminals. apply sum_le. intros i Hi.
    destruct (G i Hi) as [P C]. specialize (C j (N j Hj)). rewrite host_out, host_in in C by exact Hj.
    rewrite (sum_eq _ (fun a => one (j =? i)%nat * X i a - one (a =? j)%nat * X i a)) in C.
    2:{ intros a _. rewrite (Nat.eqb_sym a j). ring. }
    rewrite sum_minus, sum_at, (proj2 (Nat.ltb_lt _ _) Hj) in C. cbn [one] in C.
    pose proof (P (from_host k j) (link_lt k 0 j ltac:(lia) Hj)) as P1. pose proof (P (to_host k j) (link_lt k 1 j ltac:(lia) Hj)) as P2.
    destruct (Nat.eqb_spec j i) as [E|E].
    + rewrite (proj2 (T i j Hi Hj) (eq_sym E)). exact P2.
    + rewrite (sum_0 (fun a => one false * X i a)) in C by (intros; cbn [one]; ring). lra.
  - intros. discriminate.
Qed.

Theorem ratio_of_worst k f r : worst_at_most (fat_tree k) f r -> ratio_at_most (fat_tree k) f r.
Proof. intros W X T C. apply W, carried_admissible; assumption. Qed.

Lemma admissible_carried k X : (0 < k)%nat -> admissible (fat_tree k) X -> carried_within (fat_tree k) X 1.
Proof.
  intros Hk HX. exists (fun i c => sum (fun j => X i j * all_paths k i j c) (terminals (fat_tree k))). split.
  - apply (pairs_carry (fat_tree k) X (fun i j c => X i j * all_paths k i j c)). intros i j Hi Hj.
    pose proof (all_paths_routing k Hk i j Hi Hj) as F. simpl in F.
    apply (flow_value _ _ _ (X i j * 1)); [ring|]. apply flow_scale; [apply HX; assumption|exact F].
  - apply (all_paths_worst k Hk X HX).
Qed.

Theorem single_path_ratio k u : (0 < k)%nat -> (forall i j, (u i j < k)%nat) ->
  exists x, (k <= x * x)%nat /\ ratio_at_least (fat_tree k) (single_path k u) (rational x).
Proof.
  intros Hk Hu. destruct (single_path_needs k u Hk Hu) as [x [L [X [c [HX [D [Hc B]]]]]]]. exists x. split; [exact L|].
  exists X, c. split; [|split; [apply (admissible_carried k X Hk HX)|split; [exact Hc|exact B]]].
  intros i j Hi Hj. split; [apply HX; assumption|apply D; assumption].
Qed.

Theorem all_paths_ratio k : (0 < k)%nat -> ratio_at_most (fat_tree k) (all_paths k) 1.
Proof. intros Hk. apply ratio_of_worst, all_paths_worst, Hk. Qed.

Theorem osrm2_ratio z : (0 < z)%nat ->
  ratio_at_most (fat_tree (z * z)) (single_path (z * z) (osrm2 z)) (rational z) /\
  ratio_at_least (fat_tree (z * z)) (single_path (z * z) (osrm2 z)) (rational z).
Proof.
  intros Hz. split; [apply ratio_of_worst, osrm2_worst, Hz|].
  destruct (single_path_ratio (z * z) (osrm2 z)) as [x [L [X [c [T [C [Hc B]]]]]]]; [nia|intros; apply osrm2_lt, Hz|].
  exists X, c. repeat (split; [assumption|]). assert (Lx : (z <= x)%nat) by nia. apply rational_le in Lx. simpl bandwidth in *. lra.
Qed.
