(* U2TURN's worst case on every mesh, and that no routing has less. *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network Mesh Cut Blocks U2turn.
Open Scope Q_scope.

Theorem mesh_bound k : (2 <= k)%nat -> every_worst_at_least (mesh k) any (least_worst k).
Proof.
  intros Hk. destruct (Nat.even k) eqn:E.
  - apply Nat.even_spec in E. destruct E as [m ->]. apply even_mesh_bound. lia.
  - assert (O : Nat.odd k = true) by (unfold Nat.odd; rewrite E; reflexivity).
    apply Nat.odd_spec in O. destruct O as [m ->]. apply odd_mesh_bound. lia.
Qed.

Theorem u2turn_worst s k : (2 <= k)%nat -> worst_is (mesh k) (u2turn_variant s k) (least_worst k).
Proof. intros Hk. split; [apply u2turn_at_most|]. apply (mesh_bound k Hk); [apply u2turn_variant_routing|exact I]. Qed.

(* Routings with no more on any channel, for any pair: those that drop the circulations of a node with itself. *)
Theorem u2turn_worst_below s k f : (2 <= k)%nat -> routing (mesh k) f ->
  (forall i j c, (i < k * k)%nat -> (j < k * k)%nat -> (c < channels (mesh k))%nat -> f i j c <= u2turn_variant s k i j c) ->
  worst_is (mesh k) f (least_worst k).
Proof.
  intros Hk Hf L. split; [|apply (mesh_bound k Hk f Hf I)].
  intros X HX c Hc. eapply Qle_trans; [|apply (u2turn_at_most s k X HX c Hc)].
  apply sum_pairs_le. intros i j Hi Hj. rewrite !(Qmult_comm (X i j)).
  apply Qmult_le_compat_r; [apply L; assumption|apply HX; assumption].
Qed.

(* As a fraction of capacity. *)
Definition capacity_load (k : nat) : Q :=
  if Nat.even k then rational k / 4 else (rational k * rational k - 1) / (4 * rational k).

Lemma normalized k : (2 <= k)%nat ->
  capacity_load k / least_worst k == if Nat.even k then 1 / 2 else (rational k + 1) / (2 * rational k + 1).
Proof.
  intros Hk. apply rational_le in Hk. change (rational 2) with 2 in Hk. unfold capacity_load, least_worst.
  destruct (Nat.even k); field; repeat split; lra.
Qed.
