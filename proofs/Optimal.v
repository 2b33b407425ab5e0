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

(* As a fraction of capacity. *)
Definition capacity_load (k : nat) : Q :=
  if Nat.even k then rational k / 4 else (rational k * rational k - 1) / (4 * rational k).

Lemma normalized k : (2 <= k)%nat ->
  capacity_load k / least_worst k == if Nat.even k then 1 / 2 else (rational k + 1) / (2 * rational k + 1).
Proof.
  intros Hk. apply rational_le in Hk. change (rational 2) with 2 in Hk. unfold capacity_load, least_worst.
  destruct (Nat.even k); field; repeat split; lra.
Qed.
