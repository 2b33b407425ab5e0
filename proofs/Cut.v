(* Cuts: the channels that leave a set of nodes carry all traffic from the set to the others, whatever the routing. On a
   mesh, the cut in or beside the middle. *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network Duality Mesh.
Open Scope Q_scope.

(* c leaves the set s; the pair (i, j) goes from s to the other nodes. *)
Definition leaves (G : network) (s : nat -> bool) (c : nat) : bool := s (tail G c) && negb (s (head G c)).
Definition crosses (G : network) (s : nat -> bool) (i j : nat) : bool := s (node G i) && negb (s (node G j)).

Theorem cut_bound G s X r : proper G -> admissible G X ->
  0 < sum (fun c => one (leaves G s c) * bandwidth G c) (channels G) ->
  r * sum (fun c => one (leaves G s c) * bandwidth G c) (channels G) <=
    sum (fun i => sum (fun j => one (crosses G s i j) * X i j) (terminals G)) (terminals G) ->
  every_worst_at_least G any r.
Proof.
  intros HG HX Hpos Hr f Hf _.
  apply (every_routing_bound G (fun _ _ _ => true) (fun c => one (leaves G s c)) (fun _ => X)
           (fun i j => one (crosses G s i j) * X i j) (fun i j v => X i j * one (negb (s v))) r); try assumption.
  - intros. apply one_nonneg.
  - intros. assumption.
  - intros i j c Hi Hj Hc _. pose proof (proj1 HX i j Hi Hj). unfold leaves.
    destruct (s (tail G c)), (s (head G c)); cbn [one negb andb]; lra.
  - intros i j Hi Hj. pose proof (proj1 HX i j Hi Hj). unfold crosses. destruct (connected G i j) eqn:C.
    + destruct (s (node G i)), (s (node G j)); cbn [one negb andb]; [left|right; split; [reflexivity|]|left|left]; lra.
    + left. destruct HX as [_ [_ [_ HX]]]. rewrite (HX i j Hi Hj C). ring_simplify. lra.
  - intros. discriminate.
Qed.

(* ---- The mesh ---- *)

(* Every node of the first h columns sends to the node h columns further. *)
Definition shift (k h i j : nat) : Q := one (column k i <? h)%nat * one (j =? i + h)%nat.

Lemma shift_admissible k h : (2 * h <= k)%nat -> admissible (mesh k) (shift k h).
Proof.
  intros H. unfold admissible, shift. simpl. repeat split.
  - intros. destruct (column k i <? h)%nat, (j =? i + h)%nat; simpl; lra.
  - intros i Hi. rewrite (sum_eq _ (fun j => one (j =? i + h)%nat * one (column k i <? h)%nat)) by (intros; ring).
    rewrite sum_at. destruct (column k i <? h)%nat, (i + h <? k * k)%nat; simpl; lra.
  - intros j Hj. apply Qle_trans with (sum (fun i => one (i =? j - h)%nat * 1) (k * k)).
    + apply sum_le. intros i Hi. destruct (Nat.eqb_spec j (i + h)) as [->|E].
      * replace (i + h - h)%nat with i by lia. rewrite Nat.eqb_refl. destruct (column k i <? h)%nat; simpl; lra.
      * destruct (column k i <? h)%nat, (i =? j - h)%nat; simpl; lra.
    + rewrite sum_at. destruct (j - h <? k * k)%nat; simpl; lra.
  - intros. discriminate.
Qed.

Theorem mesh_cut k h : (0 < h)%nat -> (2 * h <= k)%nat -> every_worst_at_least (mesh k) any (rational h).
Proof.
  intros Hh Hk.
  set (s := fun v => (column k v <? h)%nat).
  assert (B : sum (fun c => one (leaves (mesh k) s c) * bandwidth (mesh k) c) (channels (mesh k)) == rational k).
  { rewrite sum_channels. rewrite (sum_eq _ (fun _ => 1)); [rewrite sum_const; unfold rational; ring|]. intros l Hl.
    rewrite (sum_eq _ (fun p => one (p =? h - 1)%nat * 1)).
    { rewrite sum_at. replace (h - 1 <? k - 1)%nat with true by (symmetry; apply Nat.ltb_lt; lia). reflexivity. }
    intros p Hp. unfold leaves. simpl tail. simpl head. simpl bandwidth.
    destruct (channel_parts k 0 l p) as [-> [-> ->]]; try assumption.
    destruct (channel_parts k 1 l p) as [-> [-> ->]]; try assumption.
    destruct (channel_parts k 2 l p) as [-> [-> ->]]; try assumption.
    destruct (channel_parts k 3 l p) as [-> [-> ->]]; try assumption.
    unfold place, s, column. change (horizontal 0) with true. change (horizontal 1) with true.
    change (horizontal 2) with false.
    change (horizontal 3) with false. cbn [forward Nat.even].
    rewrite !grid_mod by lia.
    destruct (Nat.ltb_spec p h), (Nat.ltb_spec (S p) h), (Nat.ltb_spec l h), (Nat.eqb_spec p (h - 1));
      cbn [one negb andb]; try lia; lra. }
  apply (cut_bound (mesh k) s (shift k h)); [apply mesh_proper|apply shift_admissible, Hk| |].
  - rewrite B. apply rational_pos. lia.
  - rewrite B. simpl terminals. rewrite (sum_eq _ (fun i => one (column k i <? h)%nat)).
    + rewrite sum_nodes. rewrite (sum_eq _ (fun _ => rational h)); [rewrite sum_const; unfold rational; lra|].
      intros y Hy. rewrite (sum_eq _ (fun x => one (x <? h)%nat)); [apply count_below; lia|].
      intros x Hx. unfold column. rewrite grid_mod by assumption. reflexivity.
    + intros i Hi. unfold shift, crosses, s. simpl node.
      rewrite (sum_eq _ (fun j => one (j =? i +
        h)%nat * (one (column k i <? h)%nat * one (negb (column k j <? h)%nat)))).
      2:{ intros j Hj. destruct (column k i <? h)%nat, (j =? i + h)%nat, (column k j <? h)%nat; reflexivity. }
      rewrite sum_at. destruct (Nat.ltb_spec (column k i) h) as [L|L]; [|simpl; ring].
      destruct (grid_row _ _ _ Hi) as [Hy Hx]. unfold column in *.
      assert (E : (i + h = i / k * k + (i mod k + h))%nat) by (rewrite (grid_inv i k) at 1 by lia; lia).
      rewrite E. rewrite grid_mod by lia.
      replace (i / k * k + (i mod k + h) <? k * k)%nat with true by (symmetry; apply Nat.ltb_lt, grid_lt; lia).
      replace (i mod k + h <? h)%nat with false by (symmetry; apply Nat.ltb_ge; lia). reflexivity.
Qed.

Corollary even_mesh_bound m : (0 < m)%nat -> every_worst_at_least (mesh (2 * m)) any (least_worst (2 * m)).
Proof.
  intros Hm f Hf Hc. destruct (mesh_cut (2 * m) m Hm (le_n _) f Hf Hc) as [X [c [A [B C]]]]. exists X, c.
  repeat split; try assumption; try apply A.
  unfold least_worst. replace (Nat.even (2 * m)) with true by (rewrite Nat.even_mul; reflexivity).
  rewrite rational_mult. change (rational 2) with 2. setoid_replace (2 * rational m / 2) with (rational m) by field.
  exact C.
Qed.
