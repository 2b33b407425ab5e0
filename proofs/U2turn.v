(* U2TURN on k x k meshes: its definition by paths, that it is a routing, and that no admissible traffic loads a channel with
   more than k/2 (even k) or (k - 1)(2k + 1)/(4k) (odd k). *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network Duality Mesh.
Open Scope Q_scope.

(* ---- Definition ---- *)

(* Of a channel of direction d at position p: place a of its line is behind it, so that a packet at a that goes on in this
   direction comes to it. A packet that goes from a to b on the line uses it if a is behind it and b is not. *)
Definition behind (d p a : nat) : bool := if forward d then (a <=? p)%nat else (p <? a)%nat.
Definition run (d p a b : nat) : Q := one (behind d p a && negb (behind d p b)).

(* The coordinate of node v in the direction d, and the other one. *)
Definition along (k d v : nat) : nat := if horizontal d then column k v else row k v.
Definition across (k d v : nat) : nat := if horizontal d then row k v else column k v.

(* The three segments of a packet from i to j by the place z: X, Y, X by column z if x_first, else Y, X, Y by row z. *)
Definition three_segments (x_first : bool) (k z i j c : nat) : Q :=
  let d := direction k c in let l := line k c in let p := position k c in
  if eqb (horizontal d) x_first
  then one (l =? across k d i)%nat * run d p (along k d i) z + one (l =? across k d j)%nat * run d p z (along k d j)
  else one (l =? z)%nat * run d p (along k d i) (along k d j).

(* One segment, for nodes i and j of one row if x_first, else of one column. *)
Definition one_segment (x_first : bool) (k i j c : nat) : Q :=
  let d := direction k c in
  if eqb (horizontal d) x_first then one (line k c =? across k d i)%nat * run d (position k c) (along k d i) (along k d j) else 0.

(* XYX-Routing if x_first, else YXY-Routing. With the degenerate case, nodes of one row (column) need one segment only. *)
Definition two_turns (degenerate x_first : bool) (k i j c : nat) : Q :=
  if degenerate && (if x_first then row k i =? row k j else column k i =? column k j)%nat
  then one_segment x_first k i j c
  else / rational k * sum (fun z => three_segments x_first k z i j c) k.

Definition u2turn_variant (degenerate : bool) (k i j c : nat) : Q :=
  (1 # 2) * two_turns degenerate true k i j c + (1 # 2) * two_turns degenerate false k i j c.

(* As the paper has it. *)
Definition u2turn : nat -> nat -> nat -> nat -> Q := u2turn_variant true.

(* ---- It is a routing ---- *)

Lemma flow_plus G s t x y f g : flow G s t x f -> flow G s t y g -> flow G s t (x + y) (fun c => f c + g c).
Proof.
  intros [F Fv] [H Hv]. split.
  - intros c Hc. specialize (F c Hc). specialize (H c Hc). lra.
  - intros v V. specialize (Fv v V). specialize (Hv v V). unfold outflow, inflow in *.
    rewrite (sum_eq _ (fun c => one (tail G c =? v)%nat * f c + one (tail G c =? v)%nat * g c)) by (intros; ring).
    rewrite (sum_eq (fun c => one (head G c =? v)%nat * _) (fun c => one (head G c =? v)%nat * f c + one (head G c =? v)%nat * g c)) by (intros; ring).
    rewrite !sum_plus.
    match goal with |- ?a + ?b - (?a' + ?b') == _ => setoid_replace (a + b - (a' + b')) with ((a - a') + (b - b')) by ring end.
    rewrite Fv, Hv. ring.
Qed.

Lemma flow_scale G s t x y f : 0 <= y -> flow G s t x f -> flow G s t (y * x) (fun c => y * f c).
Proof.
  intros Y [F Fv]. split.
  - intros c Hc. apply Qmult_nonneg; [exact Y|apply F, Hc].
  - intros v V. specialize (Fv v V). unfold outflow, inflow in *.
    rewrite (sum_eq _ (fun c => y * (one (tail G c =? v)%nat * f c))) by (intros; ring).
    rewrite (sum_eq (fun c => one (head G c =? v)%nat * _) (fun c => y * (one (head G c =? v)%nat * f c))) by (intros; ring).
    rewrite !sum_scale.
    match goal with |- y * ?a - y * ?a' == _ => setoid_replace (y * a - y * a') with (y * (a - a')) by ring end.
    rewrite Fv. ring.
Qed.

Lemma flow_sum G s t (f : nat -> nat -> Q) n : (forall z, (z < n)%nat -> unit_flow G s t (f z)) ->
  flow G s t (rational n) (fun c => sum (fun z => f z c) n).
Proof.
  induction n as [|n IH]; intros H.
  - split; [intros; simpl; lra|]. intros v V. unfold outflow, inflow. cbn [sum].
    rewrite !sum_0 by (intros; ring). change (rational 0) with 0. ring.
  - cbn [sum]. assert (E : flow G s t (rational n + 1) (fun c => sum (fun z => f z c) n + f n c)).
    { apply flow_plus; [apply IH; intros; apply H; lia|apply H; lia]. }
    destruct E as [E Ev]. split; [exact E|]. intros v V. rewrite (Ev v V), rational_S. reflexivity.
Qed.

Lemma flow_value G s t x y f : x == y -> flow G s t x f -> flow G s t y f.
Proof. intros E [F Fv]. split; [exact F|]. intros v V. rewrite <- E. apply Fv, V. Qed.

(* The net flow of a packet that goes from a to b on a line. *)
Definition step (a b p : nat) : Q := one (a <=? p)%nat - one (b <=? p)%nat.

Lemma step_run d p a b : forward d = true -> run d p a b - run (S d) p a b == step a b p.
Proof.
  unfold run, step, behind, forward. intros H. rewrite Nat.even_succ, <- Nat.negb_even, H. cbn [negb].
  rewrite !Nat.ltb_antisym. destruct (a <=? p)%nat, (b <=? p)%nat; reflexivity.
Qed.

Lemma divergence_step k a b x : (a < k)%nat -> (b < k)%nat -> (x < k)%nat ->
  divergence k (step a b) x == one (x =? a)%nat - one (x =? b)%nat.
Proof.
  intros. unfold divergence, step.
  assert (E : forall a, (a < k)%nat -> one (x <? k - 1)%nat * one (a <=? x)%nat - one (0 <? x)%nat * one (a <=? x - 1)%nat == one (x =? a)%nat - one (x =? k - 1)%nat).
  { intros a' Ha. destruct (Nat.ltb_spec x (k - 1)), (Nat.leb_spec a' x), (Nat.ltb_spec 0 x), (Nat.leb_spec a' (x - 1)), (Nat.eqb_spec x a'), (Nat.eqb_spec x (k - 1));
    cbn [one]; try lia; lra. }
  pose proof (E a) as Ea. pose proof (E b) as Eb. specialize (Ea ltac:(assumption)). specialize (Eb ltac:(assumption)). lra.
Qed.

Lemma divergence_eq k e e' x : (x < k)%nat -> (forall p, (p < k - 1)%nat -> e p == e' p) -> divergence k e x == divergence k e' x.
Proof.
  intros Hx H. unfold divergence. destruct (Nat.ltb_spec x (k - 1)), (Nat.ltb_spec 0 x); cbn [one]; try rewrite (H x) by lia; try rewrite (H (x - 1)%nat) by lia; lra.
Qed.

Lemma divergence_plus k e e' x : divergence k (fun p => e p + e' p) x == divergence k e x + divergence k e' x.
Proof. unfold divergence. ring. Qed.

Lemma divergence_scale k y e x : divergence k (fun p => y * e p) x == y * divergence k e x.
Proof. unfold divergence. ring. Qed.

Lemma run_nonneg d p a b : 0 <= run d p a b.
Proof. apply one_nonneg. Qed.

Ltac parts k l p := destruct (channel_parts k 0 l p) as [-> [-> ->]]; [assumption|assumption|];
  destruct (channel_parts k 1 l p) as [-> [-> ->]]; [assumption|assumption|].
Ltac parts_y k l p := destruct (channel_parts k 2 l p) as [-> [-> ->]]; [assumption|assumption|];
  destruct (channel_parts k 3 l p) as [-> [-> ->]]; [assumption|assumption|].
Ltac directions := change (horizontal 0) with true; change (horizontal 1) with true; change (horizontal 2) with false;
  change (horizontal 3) with false; cbn [eqb].

Lemma node_is k v i : (v < k * k)%nat -> (i < k * k)%nat -> one (v =? i)%nat == one (column k v =? column k i)%nat * one (row k v =? row k i)%nat.
Proof.
  intros Hv Hi. destruct (grid_row _ _ _ Hv), (grid_row _ _ _ Hi). unfold column, row.
  rewrite (grid_inv v k), (grid_inv i k) at 1 by lia. rewrite grid_eq, one_and by assumption. ring.
Qed.

Lemma three_segments_flow h k z i j : (z < k)%nat -> (i < k * k)%nat -> (j < k * k)%nat ->
  unit_flow (mesh k) i j (three_segments h k z i j).
Proof.
  intros Hz Hi Hj. split.
  - intros c _. unfold three_segments. destruct (eqb _ h).
    + pose proof (Qmult_nonneg _ _ (one_nonneg (line k c =? across k (direction k c) i)%nat) (run_nonneg (direction k c) (position k c) (along k (direction k c) i) z)).
      pose proof (Qmult_nonneg _ _ (one_nonneg (line k c =? across k (direction k c) j)%nat) (run_nonneg (direction k c) (position k c) z (along k (direction k c) j))). lra.
    + apply Qmult_nonneg; [apply one_nonneg|apply run_nonneg].
  - simpl nodes. intros v Hv. rewrite (node_is k v i), (node_is k v j) by assumption.
    destruct (grid_row _ _ _ Hv) as [Vy Vx]. destruct (grid_row _ _ _ Hi) as [Iy Ix]. destruct (grid_row _ _ _ Hj) as [Jy Jx].
    fold (row k v) in *. fold (column k v) in *. fold (row k i) in *. fold (column k i) in *. fold (row k j) in *. fold (column k j) in *.
    rewrite (grid_inv v k) at 1 2 by lia. fold (row k v). fold (column k v).
    set (x := column k v) in *. set (y := row k v) in *. rewrite mesh_net by assumption.
    unfold three_segments. destruct h.
    + rewrite (divergence_eq k _ (fun p => one (y =? row k i)%nat * step (column k i) z p + one (y =? row k j)%nat * step z (column k j) p) x); [|assumption|].
      2:{ intros p Hp. parts k y p. directions. unfold along, across. directions.
          rewrite <- (step_run 0 p (column k i) z), <- (step_run 0 p z (column k j)) by reflexivity. ring. }
      rewrite (divergence_eq k _ (fun p => one (x =? z)%nat * step (row k i) (row k j) p) y); [|assumption|].
      2:{ intros p Hp. parts_y k x p. directions. unfold along, across. directions.
          rewrite <- (step_run 2 p (row k i) (row k j)) by reflexivity. ring. }
      rewrite divergence_plus, !divergence_scale, !divergence_step by assumption. ring.
    + rewrite (divergence_eq k _ (fun p => one (y =? z)%nat * step (column k i) (column k j) p) x); [|assumption|].
      2:{ intros p Hp. parts k y p. directions. unfold along, across. directions.
          rewrite <- (step_run 0 p (column k i) (column k j)) by reflexivity. ring. }
      rewrite (divergence_eq k _ (fun p => one (x =? column k i)%nat * step (row k i) z p + one (x =? column k j)%nat * step z (row k j) p) y); [|assumption|].
      2:{ intros p Hp. parts_y k x p. directions. unfold along, across. directions.
          rewrite <- (step_run 2 p (row k i) z), <- (step_run 2 p z (row k j)) by reflexivity. ring. }
      rewrite divergence_plus, !divergence_scale, !divergence_step by assumption. ring.
Qed.

Lemma one_segment_flow (h : bool) k i j : (i < k * k)%nat -> (j < k * k)%nat ->
  (if h then row k i =? row k j else column k i =? column k j)%nat = true -> unit_flow (mesh k) i j (one_segment h k i j).
Proof.
  intros Hi Hj Hs. split.
  - intros c _. unfold one_segment. destruct (eqb _ h); [apply Qmult_nonneg; [apply one_nonneg|apply run_nonneg]|lra].
  - simpl nodes. intros v Hv. rewrite (node_is k v i), (node_is k v j) by assumption.
    destruct (grid_row _ _ _ Hv) as [Vy Vx]. destruct (grid_row _ _ _ Hi) as [Iy Ix]. destruct (grid_row _ _ _ Hj) as [Jy Jx].
    fold (row k v) in *. fold (column k v) in *. fold (row k i) in *. fold (column k i) in *. fold (row k j) in *. fold (column k j) in *.
    rewrite (grid_inv v k) at 1 2 by lia. fold (row k v). fold (column k v).
    set (x := column k v) in *. set (y := row k v) in *. rewrite mesh_net by assumption.
    unfold one_segment. destruct h; apply Nat.eqb_eq in Hs; rewrite <- Hs.
    + rewrite (divergence_eq k _ (fun p => one (y =? row k i)%nat * step (column k i) (column k j) p) x); [|assumption|].
      2:{ intros p Hp. parts k y p. directions. unfold along, across. directions.
          rewrite <- (step_run 0 p (column k i) (column k j)) by reflexivity. ring. }
      rewrite (divergence_eq k _ (fun p => 0 * step y y p) y); [|assumption|].
      2:{ intros p Hp. parts_y k x p. directions. ring. }
      rewrite !divergence_scale, !divergence_step by assumption. ring.
    + rewrite (divergence_eq k _ (fun p => 0 * step x x p) x); [|assumption|].
      2:{ intros p Hp. parts k y p. directions. ring. }
      rewrite (divergence_eq k _ (fun p => one (x =? column k i)%nat * step (row k i) (row k j) p) y); [|assumption|].
      2:{ intros p Hp. parts_y k x p. directions. unfold along, across. directions.
          rewrite <- (step_run 2 p (row k i) (row k j)) by reflexivity. ring. }
      rewrite !divergence_scale, !divergence_step by assumption. ring.
Qed.

Lemma two_turns_flow s h k i j : (i < k * k)%nat -> (j < k * k)%nat -> unit_flow (mesh k) i j (two_turns s h k i j).
Proof.
  intros Hi Hj. assert (Hk : (0 < k)%nat) by (destruct k; simpl in *; lia). pose proof (rational_pos _ Hk) as K.
  unfold two_turns. destruct (s && _)%bool eqn:E.
  - apply andb_true_iff in E. apply one_segment_flow; try assumption; apply E.
  - apply (flow_value _ _ _ (/ rational k * rational k)); [field; lra|].
    apply (flow_scale (mesh k) i j (rational k) (/ rational k) (fun c => sum (fun z => three_segments h k z i j c) k)).
    + apply Qlt_le_weak, Qinv_lt_0_compat, K.
    + apply flow_sum. intros z Hz. apply three_segments_flow; assumption.
Qed.

Theorem u2turn_variant_routing s k : routing (mesh k) (u2turn_variant s k).
Proof.
  intros i j Hi Hj. simpl in *. apply (flow_value _ _ _ ((1 # 2) * 1 + (1 # 2) * 1)); [reflexivity|].
  apply (flow_plus (mesh k) i j _ _ (fun c => (1 # 2) * two_turns s true k i j c) (fun c => (1 # 2) * two_turns s false k i j c));
    apply (flow_scale (mesh k) i j 1 (1 # 2)); try lra; apply two_turns_flow; assumption.
Qed.
