(* The k x k mesh as a network, for every k: node (x, y), channels of bandwidth 1 in both directions between neighbours, one
   terminal of rate 1 at each node. Channels are counted by direction, line and position, so that sums over channels are
   sums over these three. *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network.
Open Scope Q_scope.

Definition rational (n : nat) : Q := inject_Z (Z.of_nat n).

(* ---- Grids of numbers: the number i * n + j for i < m, j < n ---- *)

Lemma sum_grid f m n : sum f (m * n) == sum (fun i => sum (fun j => f (i * n + j)%nat) n) m.
Proof.
  induction m as [|m IH]; simpl; [reflexivity|].
  replace (n + m * n)%nat with (m * n + n)%nat by lia. rewrite sum_split, IH. reflexivity.
Qed.

Lemma grid_div i j n : (j < n)%nat -> ((i * n + j) / n = i)%nat.
Proof. intros. rewrite Nat.div_add_l by lia. rewrite Nat.div_small by lia. lia. Qed.

Lemma grid_mod i j n : (j < n)%nat -> ((i * n + j) mod n = j)%nat.
Proof. intros. rewrite Nat.add_comm, Nat.mod_add by lia. apply Nat.mod_small. lia. Qed.

Lemma grid_inv v n : (0 < n)%nat -> (v = v / n * n + v mod n)%nat.
Proof. intros. rewrite (Nat.div_mod v n) at 1 by lia. lia. Qed.

Lemma grid_lt i j m n : (i < m)%nat -> (j < n)%nat -> (i * n + j < m * n)%nat.
Proof. intros. apply Nat.lt_le_trans with (i * n + n)%nat; [lia|]. replace (i * n + n)%nat with (S i * n)%nat by lia.
apply Nat.mul_le_mono_r. lia. Qed.

Lemma grid_row v m n : (v < m * n)%nat -> (v / n < m)%nat /\ (v mod n < n)%nat.
Proof.
  intros H. assert (n <> 0)%nat by (intros ->; lia). split; [|apply Nat.mod_upper_bound; assumption].
  apply Nat.div_lt_upper_bound; [assumption|lia].
Qed.

Lemma grid_eq i j i' j' n : (j < n)%nat -> (j' < n)%nat ->
  ((i * n + j =? i' * n + j')%nat = (i =? i')%nat && (j =? j')%nat)%bool.
Proof.
  intros Hj Hj'. destruct (Nat.eqb_spec (i * n + j) (i' * n + j')) as [E|E].
  - assert (i = i') by (rewrite <- (grid_div i j n), <- (grid_div i' j' n), E by assumption; reflexivity). subst.
    assert (j = j') by lia. subst. rewrite !Nat.eqb_refl. reflexivity.
  - symmetry. apply andb_false_iff. destruct (Nat.eq_dec i i') as [->|N].
    + right. apply Nat.eqb_neq. intros ->. auto.
    + left. apply Nat.eqb_neq, N.
Qed.

(* ---- Indicators ---- *)

Lemma one_and a b : one (a && b) == one a * one b.
Proof. destruct a, b; reflexivity. Qed.

Lemma one_neg b : one (negb b) == 1 - one b.
Proof. destruct b; reflexivity. Qed.

Lemma one_range b : 0 <= one b /\ one b <= 1.
Proof. destruct b; simpl; lra. Qed.

Lemma one_nonneg b : 0 <= one b.
Proof. apply one_range. Qed.

Lemma sum_at f n k : sum (fun i => one (i =? k)%nat * f i) n == one (k <? n)%nat * f k.
Proof.
  destruct (Nat.ltb_spec k n) as [H|H].
  - rewrite (sum_eq _ (fun i => one (k =? i)%nat * f i)) by (intros; rewrite Nat.eqb_sym; reflexivity).
    rewrite sum_pick by assumption. simpl. ring.
  - simpl. rewrite sum_0; [ring|]. intros i Hi. replace (i =? k)%nat with false by (symmetry; apply Nat.eqb_neq; lia).
    simpl. ring.
Qed.

Lemma rational_S n : rational (S n) == rational n + 1.
Proof. unfold rational. rewrite Nat2Z.inj_succ, <- Z.add_1_r, inject_Z_plus. reflexivity. Qed.

Lemma rational_plus m n : rational (m + n) == rational m + rational n.
Proof. unfold rational. rewrite Nat2Z.inj_add, inject_Z_plus. reflexivity. Qed.

Lemma rational_mult m n : rational (m * n) == rational m * rational n.
Proof. unfold rational. rewrite Nat2Z.inj_mul, inject_Z_mult. reflexivity. Qed.

Lemma rational_le m n : (m <= n)%nat -> rational m <= rational n.
Proof. intros. unfold rational. rewrite <- Zle_Qle. lia. Qed.

Lemma rational_lt m n : (m < n)%nat -> rational m < rational n.
Proof. intros. unfold rational. rewrite <- Zlt_Qlt. lia. Qed.

Lemma rational_nonneg n : 0 <= rational n.
Proof. change 0 with (rational 0). apply rational_le. lia. Qed.

Lemma rational_pos n : (0 < n)%nat -> 0 < rational n.
Proof. intros. change 0 with (rational 0). apply rational_lt. assumption. Qed.

(* How many numbers below n are at most p, and how many are above. *)
Lemma count_below n p : (p <= n)%nat -> sum (fun a => one (a <? p)%nat) n == rational p.
Proof.
  induction n as [|n IH]; intros H; cbn [sum]; [replace p with 0%nat by lia; reflexivity|].
  destruct (Nat.eq_dec p (S n)) as [->|E].
  - rewrite (sum_eq _ (fun _ => 1)). 2:{ intros i Hi. replace (i <? S n)%nat with true by (symmetry; apply Nat.ltb_lt;
      lia). reflexivity. }
    rewrite sum_const. replace (n <? S n)%nat with true by (symmetry; apply Nat.ltb_lt; lia).
    rewrite rational_S. unfold rational. simpl one. ring.
  - rewrite IH by lia. replace (n <? p)%nat with false by (symmetry; apply Nat.ltb_ge; lia). simpl. ring.
Qed.

(* ---- The mesh ---- *)

(* Directions 0: right, 1: left (along rows), 2: up, 3: down (along columns). A channel of direction d on line l (row or
   column) at position p joins the places p and p + 1 of the line. *)
Definition horizontal (d : nat) : bool := (d <? 2)%nat.
Definition forward (d : nat) : bool := Nat.even d.

Definition direction (k c : nat) : nat := c / (k - 1) / k.
Definition line (k c : nat) : nat := (c / (k - 1)) mod k.
Definition position (k c : nat) : nat := c mod (k - 1).
Definition channel (k d l p : nat) : nat := (d * k + l) * (k - 1) + p.

(* Node (x, y) has the number y * k + x. *)
Definition column (k v : nat) : nat := v mod k.
Definition row (k v : nat) : nat := v / k.
Definition place (k d l p : nat) : nat := if horizontal d then l * k + p else p * k + l.

Definition mesh (k : nat) : network := {|
  nodes := k * k;
  channels := 4 * k * (k - 1);
  tail := fun c => place k (direction k c) (line k c) (if forward (direction k c)
    then position k c else S (position k c));
  head := fun c => place k (direction k c) (line k c) (if forward (direction k c)
    then S (position k c) else position k c);
  bandwidth := fun _ => 1;
  terminals := k * k;
  node := fun i => i;
  injection := fun _ => 1;
  ejection := fun _ => 1;
  connected := fun _ _ => true
|}.

(* The least worst case of k x k meshes, as Cut.v and Blocks.v prove and U2TURN attains: k/2 for even k, (k - 1)(2k + 1)/(4k) for odd k. *)
Definition least_worst (k : nat) : Q :=
  if Nat.even k then rational k / 2 else (rational k - 1) * (2 * rational k + 1) / (4 * rational k).

Lemma channel_parts k d l p : (l < k)%nat -> (p < k - 1)%nat ->
  direction k (channel k d l p) = d /\ line k (channel k d l p) = l /\ position k (channel k d l p) = p.
Proof.
  intros Hl Hp. unfold direction, line, position, channel. rewrite grid_div, grid_mod by assumption.
  rewrite grid_div, grid_mod by assumption. auto.
Qed.

Lemma channel_bounds k c : (c < channels (mesh k))%nat ->
  (direction k c < 4)%nat /\ (line k c < k)%nat /\ (position k c < k - 1)%nat /\
    c = channel k (direction k c) (line k c) (position k c).
Proof.
  change (channels (mesh k)) with (4 * k * (k - 1))%nat. intros H. apply grid_row in H. destruct H as [H Hp].
  pose proof (grid_row _ _ _ H) as [Hd Hl].
  repeat split; try assumption. unfold channel, direction, line, position. rewrite <- grid_inv by lia. apply grid_inv.
  lia.
Qed.

Lemma channel_lt k d l p : (d < 4)%nat -> (l < k)%nat -> (p < k - 1)%nat -> (channel k d l p < channels (mesh k))%nat.
Proof. intros. unfold channel. change (channels (mesh k)) with (4 * k * (k - 1))%nat. apply grid_lt; [|assumption].
apply grid_lt; assumption. Qed.

Lemma place_lt k d l p : (l < k)%nat -> (p < k)%nat -> (place k d l p < k * k)%nat.
Proof. intros. unfold place. destruct (horizontal d); apply grid_lt; assumption. Qed.

Lemma mesh_proper k : proper (mesh k).
Proof.
  split.
  - intros c Hc. destruct (channel_bounds k c Hc) as [_ [Hl [Hp _]]]. simpl. repeat split.
    + apply place_lt; [assumption|]. destruct (forward _); lia.
    + apply place_lt; [assumption|]. destruct (forward _); lia.
  - intros i Hi. simpl in *. repeat split; try assumption; lra.
Qed.

(* Sums over channels: direction by direction, line by line. *)
Lemma sum_channels k f : sum f (channels (mesh k)) ==
  sum (fun l => sum (fun p => f (channel k 0 l p) + f (channel k 1 l p) + f (channel k 2 l p) +
    f (channel k 3 l p)) (k - 1)) k.
Proof.
  change (channels (mesh k)) with (4 * k * (k - 1))%nat. rewrite sum_grid.
  rewrite sum_grid. cbn [sum].
  assert (E : forall a b : nat -> nat ->
    Q, sum (fun l => sum (fun p => a l p) (k - 1)) k + sum (fun l => sum (fun p => b l p) (k - 1)) k ==
    sum (fun l => sum (fun p => a l p + b l p) (k - 1)) k).
  { intros a b. rewrite <- sum_plus. apply sum_eq. intros l _. rewrite <- sum_plus. reflexivity. }
  rewrite Qplus_0_l. rewrite !E. reflexivity.
Qed.

(* Sums over nodes: row by row. *)
Lemma sum_nodes k f : sum f (k * k) == sum (fun y => sum (fun x => f (y * k + x)%nat) k) k.
Proof. apply sum_grid. Qed.

(* ---- What flows out of a node ---- *)

(* Of a line with e p channels' net flow from place p to place p + 1, what leaves the line's place x. *)
Definition divergence (k : nat) (e : nat ->
  Q) (x : nat) : Q := one (x <? k - 1)%nat * e x - one (0 <? x)%nat * e (x - 1)%nat.

Lemma place_is k d l p x y : (l < k)%nat -> (p < k)%nat -> (x < k)%nat -> (y < k)%nat ->
  one (place k d l p =? y * k + x)%nat ==
    one (l =? if horizontal d then y else x)%nat * one (p =? if horizontal d then x else y)%nat.
Proof.
  intros. unfold place. destruct (horizontal d); rewrite grid_eq, one_and by assumption; ring.
Qed.

Lemma sum_line (f : nat -> nat -> Q) k x y (s : nat -> nat) : (x < k)%nat ->
  sum (fun l => sum (fun p => one (l =? x)%nat * one (s p =? y)%nat * f l p) (k - 1)) k ==
  sum (fun p => one (s p =? y)%nat * f x p) (k - 1).
Proof.
  intros Hx. rewrite (sum_eq _ (fun l => one (l =? x)%nat * sum (fun p => one (s p =? y)%nat * f l p) (k - 1))).
  2:{ intros l _. rewrite <- sum_scale. apply sum_eq. intros. ring. }
  rewrite sum_at. replace (x <? k)%nat with true by (symmetry; apply Nat.ltb_lt; assumption). simpl. ring.
Qed.

Lemma sum_shifted f k x : (x < k)%nat ->
  sum (fun p => one (S p =? x)%nat * f p) (k - 1) == one (0 <? x)%nat * f (x - 1)%nat.
Proof.
  intros Hx. destruct x as [|x].
  - simpl. rewrite sum_0; [ring|]. intros. simpl. ring.
  - rewrite (sum_eq _ (fun p => one (p =? x)%nat * f p)) by (intros; reflexivity). rewrite sum_at.
    replace (x <? k - 1)%nat with true by (symmetry; apply Nat.ltb_lt; lia). simpl. rewrite Nat.sub_0_r. ring.
Qed.

Lemma mesh_net k f x y : (x < k)%nat -> (y < k)%nat ->
  outflow (mesh k) f (y * k + x) - inflow (mesh k) f (y * k + x) ==
  divergence k (fun p => f (channel k 0 y p) - f (channel k 1 y p)) x +
  divergence k (fun p => f (channel k 2 x p) - f (channel k 3 x p)) y.
Proof.
  intros Hx Hy. unfold outflow, inflow. rewrite <- sum_minus. rewrite sum_channels.
  rewrite (sum_eq _ (fun l =>
    (sum (fun p => one (l =? y)%nat * one (p =? x)%nat * (f (channel k 0 l p) - f (channel k 1 l p))) (k - 1) -
     sum (fun p => one (l =? y)%nat * one (S p =? x)%nat * (f (channel k 0 l p) - f (channel k 1 l p))) (k - 1)) +
    (sum (fun p => one (l =? x)%nat * one (p =? y)%nat * (f (channel k 2 l p) - f (channel k 3 l p))) (k - 1) -
     sum (fun p => one (l =? x)%nat * one (S p =? y)%nat * (f (channel k 2 l p) - f (channel k 3 l p))) (k - 1)))).
  2:{ intros l Hl. rewrite <- !sum_minus, <- sum_plus. apply sum_eq. intros p Hp. simpl tail. simpl head.
      destruct (channel_parts k 0 l p) as [-> [-> ->]]; try assumption.
      destruct (channel_parts k 1 l p) as [-> [-> ->]]; try assumption.
      destruct (channel_parts k 2 l p) as [-> [-> ->]]; try assumption.
      destruct (channel_parts k 3 l p) as [-> [-> ->]]; try assumption.
      cbn [forward Nat.even]. rewrite !place_is by lia. cbn [horizontal Nat.ltb Nat.leb]. ring. }
  rewrite sum_plus, !sum_minus.
  rewrite (sum_line (fun l p => f (channel k 0 l p) - f (channel k 1 l p)) k y x (fun p => p)) by assumption.
  rewrite (sum_line (fun l p => f (channel k 0 l p) - f (channel k 1 l p)) k y x S) by assumption.
  rewrite (sum_line (fun l p => f (channel k 2 l p) - f (channel k 3 l p)) k x y (fun p => p)) by assumption.
  rewrite (sum_line (fun l p => f (channel k 2 l p) - f (channel k 3 l p)) k x y S) by assumption.
  rewrite (sum_shifted (fun p => f (channel k 0 y p) - f (channel k 1 y p))) by assumption.
  rewrite (sum_shifted (fun p => f (channel k 2 x p) - f (channel k 3 x p))) by assumption.
  rewrite !sum_at. unfold divergence. ring.
Qed.
