(* U2TURN on k x k meshes: its definition by paths, that it is a routing, and that no admissible traffic loads a channel with
   more than k/2 (even k) or (k - 1)(2k + 1)/(4k) (odd k). *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network Duality Mesh Flows.
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
  if eqb (horizontal d) x_first then one (line k c =? across k d i)%nat *
    run d (position k c) (along k d i) (along k d j) else 0.

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
  assert (E : forall a, (a < k)%nat ->
    one (x <? k - 1)%nat * one (a <=? x)%nat - one (0 <? x)%nat * one (a <=? x - 1)%nat ==
    one (x =? a)%nat - one (x =? k - 1)%nat).
  { intros a' Ha. destruct (Nat.ltb_spec x (k - 1)), (Nat.leb_spec a' x), (Nat.ltb_spec 0 x),
      (Nat.leb_spec a' (x - 1)), (Nat.eqb_spec x a'), (Nat.eqb_spec x (k - 1));
    cbn [one]; try lia; lra. }
  pose proof (E a) as Ea. pose proof (E b) as Eb. specialize (Ea ltac:(assumption)). specialize (Eb ltac:(assumption)).
  lra.
Qed.

Lemma divergence_eq k e e' x : (x < k)%nat -> (forall p, (p < k - 1)%nat -> e p == e' p) ->
  divergence k e x == divergence k e' x.
Proof.
  intros Hx H. unfold divergence. destruct (Nat.ltb_spec x (k - 1)), (Nat.ltb_spec 0 x); cbn [one];
    try rewrite (H x) by lia; try rewrite (H (x - 1)%nat) by lia; lra.
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

Lemma node_is k v i : (v < k * k)%nat -> (i < k * k)%nat ->
  one (v =? i)%nat == one (column k v =? column k i)%nat * one (row k v =? row k i)%nat.
Proof.
  intros Hv Hi. destruct (grid_row _ _ _ Hv), (grid_row _ _ _ Hi). unfold column, row.
  rewrite (grid_inv v k), (grid_inv i k) at 1 by lia. rewrite grid_eq, one_and by assumption. ring.
Qed.

Lemma three_segments_flow h k z i j : (z < k)%nat -> (i < k * k)%nat -> (j < k * k)%nat ->
  unit_flow (mesh k) i j (three_segments h k z i j).
Proof.
  intros Hz Hi Hj. split.
  - intros c _. unfold three_segments. destruct (eqb _ h).
    + pose proof (Qmult_nonneg _ _ (one_nonneg (line k c =? across k (direction k c) i)%nat) (run_nonneg (direction k
        c) (position k c) (along k (direction k c) i) z)).
      pose proof (Qmult_nonneg _ _ (one_nonneg (line k c =? across k (direction k c) j)%nat) (run_nonneg (direction k
        c) (position k c) z (along k (direction k c) j))). lra.
    + apply Qmult_nonneg; [apply one_nonneg|apply run_nonneg].
  - simpl nodes. intros v Hv. rewrite (node_is k v i), (node_is k v j) by assumption.
    destruct (grid_row _ _ _ Hv) as [Vy Vx]. destruct (grid_row _ _ _ Hi) as [Iy Ix].
    destruct (grid_row _ _ _ Hj) as [Jy Jx].
    fold (row k v) in *. fold (column k v) in *. fold (row k i) in *. fold (column k i) in *. fold (row k j) in *.
    fold (column k j) in *.
    rewrite (grid_inv v k) at 1 2 by lia. fold (row k v). fold (column k v).
    set (x := column k v) in *. set (y := row k v) in *. rewrite mesh_net by assumption.
    unfold three_segments. destruct h.
    + rewrite (divergence_eq k _ (fun p => one (y =? row k i)%nat * step (column k i) z p +
        one (y =? row k j)%nat * step z (column k j) p) x); [|assumption|].
      2:{ intros p Hp. parts k y p. directions. unfold along, across. directions.
          rewrite <- (step_run 0 p (column k i) z), <- (step_run 0 p z (column k j)) by reflexivity. ring. }
      rewrite (divergence_eq k _ (fun p => one (x =? z)%nat * step (row k i) (row k j) p) y); [|assumption|].
      2:{ intros p Hp. parts_y k x p. directions. unfold along, across. directions.
          rewrite <- (step_run 2 p (row k i) (row k j)) by reflexivity. ring. }
      rewrite divergence_plus, !divergence_scale, !divergence_step by assumption. ring.
    + rewrite (divergence_eq k _ (fun p => one (y =? z)%nat * step (column k i) (column k j) p) x); [|assumption|].
      2:{ intros p Hp. parts k y p. directions. unfold along, across. directions.
          rewrite <- (step_run 0 p (column k i) (column k j)) by reflexivity. ring. }
      rewrite (divergence_eq k _ (fun p => one (x =? column k i)%nat * step (row k i) z p +
        one (x =? column k j)%nat * step z (row k j) p) y); [|assumption|].
      2:{ intros p Hp. parts_y k x p. directions. unfold along, across. directions.
          rewrite <- (step_run 2 p (row k i) z), <- (step_run 2 p z (row k j)) by reflexivity. ring. }
      rewrite divergence_plus, !divergence_scale, !divergence_step by assumption. ring.
Qed.

Lemma one_segment_flow (h : bool) k i j : (i < k * k)%nat -> (j < k * k)%nat ->
  (if h then row k i =? row k j else column k i =? column k j)%nat = true ->
    unit_flow (mesh k) i j (one_segment h k i j).
Proof.
  intros Hi Hj Hs. split.
  - intros c _. unfold one_segment. destruct (eqb _ h); [apply Qmult_nonneg; [apply one_nonneg|apply run_nonneg]|lra].
  - simpl nodes. intros v Hv. rewrite (node_is k v i), (node_is k v j) by assumption.
    destruct (grid_row _ _ _ Hv) as [Vy Vx]. destruct (grid_row _ _ _ Hi) as [Iy Ix].
    destruct (grid_row _ _ _ Hj) as [Jy Jx].
    fold (row k v) in *. fold (column k v) in *. fold (row k i) in *. fold (column k i) in *. fold (row k j) in *.
    fold (column k j) in *.
    rewrite (grid_inv v k) at 1 2 by lia. fold (row k v). fold (column k v).
    set (x := column k v) in *. set (y := row k v) in *. rewrite mesh_net by assumption.
    unfold one_segment. destruct h; apply Nat.eqb_eq in Hs; rewrite <- Hs.
    + rewrite (divergence_eq k _ (fun p => one (y =? row k i)%nat * step (column k i) (column k j) p) x);
        [|assumption|].
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
  apply (flow_plus (mesh k) i j _ _ (fun c => (1 # 2) * two_turns s true k i j c) (fun c => (1 # 2) *
    two_turns s false k i j c));
    apply (flow_scale (mesh k) i j 1 (1 # 2)); try lra; apply two_turns_flow; assumption.
Qed.

(* ---- No channel gets more ---- *)

(* How many places of the line are behind the channel; the other k - s are ahead. *)
Definition places_behind (k d p : nat) : nat := if forward d then S p else (k - 1 - p)%nat.

Lemma count_behind k d p : (p < k - 1)%nat -> sum (fun a => one (behind d p a)) k == rational (places_behind k d p).
Proof.
  intros Hp. unfold behind, places_behind. destruct (forward d).
  - rewrite <- (count_below k (S p)) by lia. apply sum_eq. reflexivity.
  - rewrite (sum_eq _ (fun a => 1 - one (a <? S p)%nat)).
    2:{ intros a _. rewrite Nat.ltb_antisym, one_neg. reflexivity. }
    rewrite sum_minus, sum_const, count_below by lia. fold (rational k).
    assert (E : (k = S p + (k - 1 - p))%nat) by lia. rewrite E at 1. rewrite rational_plus. ring.
Qed.

Lemma count_ahead k d p : (p < k - 1)%nat ->
  sum (fun a => one (negb (behind d p a))) k == rational (k - places_behind k d p).
Proof.
  intros Hp. rewrite (sum_eq _ (fun a => 1 - one (behind d p a))) by (intros; apply one_neg).
  rewrite sum_minus, sum_const, count_behind by assumption. fold (rational k).
  assert (E : (k = places_behind k d p + (k - places_behind k d p))%nat) by (unfold places_behind;
    destruct (forward d); lia).
  rewrite E at 1. rewrite rational_plus. ring.
Qed.

Lemma run_product d p a b : run d p a b == one (behind d p a) * one (negb (behind d p b)).
Proof. apply one_and. Qed.

(* Sums over nodes by the two coordinates, in either order. *)
Lemma sum_coordinates k d (g : nat -> nat -> Q) :
  sum (fun v => g (across k d v) (along k d v)) (k * k) == sum (fun l => sum (fun a => g l a) k) k.
Proof.
  rewrite sum_nodes. unfold across, along. destruct (horizontal d).
  - apply sum_pairs_eq. intros y x Hy Hx. unfold row, column. rewrite grid_div, grid_mod by assumption. reflexivity.
  - rewrite sum_swap. apply sum_pairs_eq. intros x y Hx Hy. unfold row, column.
    rewrite grid_div, grid_mod by assumption. reflexivity.
Qed.

Section Channel.
Variables (s : bool) (k d l p : nat).
Hypothesis (Hd : (d < 4)%nat) (Hl : (l < k)%nat) (Hp : (p < k - 1)%nat).

Let B a := one (behind d p a).
Let A a := one (negb (behind d p a)).
Let m := rational (places_behind k d p).
Let n := rational (k - places_behind k d p).

Lemma sizes : m + n == rational k /\ 0 < rational k /\ 0 <= m /\ 0 <= n.
Proof.
  unfold m, n. repeat split; [|apply rational_pos; lia|apply rational_nonneg|apply rational_nonneg].
  rewrite <- rational_plus. replace (places_behind k d p + (k - places_behind k d p))%nat with k; [reflexivity|].
  unfold places_behind. destruct (forward d); lia.
Qed.

(* Routing whose first segment lies along the channel's line: the first segment depends on the source only, the third on
   the destination only. *)
Lemma along_bound i j h : eqb (horizontal d) h = true ->
  two_turns s h k i j (channel k d l p) <=
  / rational k * (one (l =? across k d i)%nat * B (along k d i) * n +
    one (l =? across k d j)%nat * A (along k d j) * m).
Proof.
  intros E. destruct sizes as [Ek [K _]]. unfold two_turns. destruct (s && _)%bool eqn:S.
  - apply andb_true_iff in S. destruct S as [_ S]. unfold one_segment.
    destruct (channel_parts k d l p Hl Hp) as [-> [-> ->]]. rewrite E.
    assert (X : across k d i = across k d j).
    { unfold across. apply eqb_prop in E. rewrite E. destruct h; apply Nat.eqb_eq, S. }
    rewrite <- X. rewrite run_product. fold (B (along k d i)). fold (A (along k d j)).
    set (w := one (l =? across k d i)%nat).
    apply Qle_trans with (/ rational k * (w * B (along k d i) * A (along k d j) * rational k)).
    + apply Qle_lteq. right. field. lra.
    + rewrite !(Qmult_comm (/ rational k)). apply times_le; [apply Qlt_le_weak, Qinv_lt_0_compat, K|].
      rewrite <- Ek. destruct sizes as [_ [_ [M N]]].
      assert (W : w == 0 \/ w == 1) by (unfold w; destruct (l =? across k d i)%nat; [right|left]; reflexivity).
      unfold B, A. destruct W as [W|W]; rewrite W; destruct (behind d p (along k d i)), (behind d p (along k d j));
        cbn [one negb]; lra.
  - apply Qle_lteq. right. apply Qmult_comp; [reflexivity|].
    rewrite (sum_eq _ (fun z => one (l =? across k d i)%nat * B (along k d i) * A z +
      one (l =? across k d j)%nat * A (along k d j) * B z)).
    2:{ intros z _. unfold three_segments. destruct (channel_parts k d l p Hl Hp) as [-> [-> ->]]. rewrite E.
        rewrite !run_product. fold (A z) (B z) (A (along k d j)) (B (along k d i)). ring. }
    rewrite sum_plus, !sum_scale. unfold A at 1, B at 2. rewrite count_ahead, count_behind by assumption. reflexivity.
Qed.

(* Routing whose second segment lies along the line: each line takes one k-th of it. *)
Lemma across_bound i j h : eqb (horizontal d) h = false ->
  two_turns s h k i j (channel k d l p) <= / rational k * (B (along k d i) * A (along k d j)).
Proof.
  intros E. destruct sizes as [_ [K _]]. assert (Z : 0 <= / rational k) by (apply Qlt_le_weak, Qinv_lt_0_compat, K).
  unfold two_turns. destruct (s && _)%bool.
  - unfold one_segment. destruct (channel_parts k d l p Hl Hp) as [-> [-> ->]]. rewrite E.
    apply Qmult_nonneg; [exact Z|]. apply Qmult_nonneg; apply one_nonneg.
  - apply Qle_lteq. right. apply Qmult_comp; [reflexivity|].
    rewrite (sum_eq _ (fun z => one (l =? z)%nat * (B (along k d i) * A (along k d j)))).
    2:{ intros z _. unfold three_segments. destruct (channel_parts k d l p Hl Hp) as [-> [-> ->]].
        rewrite E, run_product. reflexivity. }
    rewrite sum_pick by assumption. reflexivity.
Qed.

(* The same channel under both: prices. The second term is paid by the side of the channel with fewer nodes. *)
Let less := if Qlt_le_dec n m then false else true.
Let u i := (1 # 2) * / rational k * (one (l =? across k d i)%nat * B (along k d i) * n) +
  (1 # 2) * / rational k * one less * B (along k d i).
Let v j := (1 # 2) * / rational k * (one (l =? across k d j)%nat * A (along k d j) * m) +
  (1 # 2) * / rational k * one (negb less) * A (along k d j).

Lemma channel_bound X : admissible (mesh k) X ->
  load (mesh k) (u2turn_variant s k) X (channel k d l p) <= m * n / rational k + (1 # 2) * (if less then m else n).
Proof.
  intros HX. destruct sizes as [Ek [K [M N]]].
  assert (Z : 0 <= (1 # 2) * / rational k) by (apply Qmult_nonneg; [lra|apply Qlt_le_weak, Qinv_lt_0_compat, K]).
  assert (P : forall b c, 0 <= one b * one c) by (intros; apply Qmult_nonneg; apply one_nonneg).
  apply Qle_trans with (sum (fun i => injection (mesh k) i * u i) (terminals (mesh k)) +
    sum (fun j => ejection (mesh k) j * v j) (terminals (mesh k))).
  - apply (prices_bound (mesh k) (u2turn_variant s k) X (channel k d l p) u v HX).
    + intros i _. unfold u. pose proof (Qmult_nonneg _ _ Z (Qmult_nonneg _ _ (P (l =? across k d i)%nat (behind d p
        (along k d i))) N)).
      pose proof (Qmult_nonneg _ _ Z (P less (behind d p (along k d i)))). unfold B.
      rewrite <- (Qmult_assoc _ (one less)). lra.
    + intros j _. unfold v. pose proof (Qmult_nonneg _ _ Z (Qmult_nonneg _ _ (P (l =? across k d j)%nat (negb (behind d
        p (along k d j)))) M)).
      pose proof (Qmult_nonneg _ _ Z (P (negb less) (negb (behind d p (along k d j))))). unfold A.
      rewrite <- (Qmult_assoc _ (one (negb less))). lra.
    + intros i j _ _. unfold u2turn_variant, u, v.
      assert (Q : B (along k d i) * A (along k d j) <= one less * B (along k d i) + one (negb less) * A (along k d j)).
      { unfold A, B. destruct less, (behind d p (along k d i)), (behind d p (along k d j)); cbn [one negb]; lra. }
      pose proof (Qmult_le_compat_r _ _ _ Q Z) as Q'.
      set (a := one (l =? across k d i)%nat * B (along k d i) * n) in *.
      set (b := one (l =? across k d j)%nat * A (along k d j) * m) in *.
      set (z := / rational k) in *.
      assert (T : two_turns s true k i j (channel k d l p) + two_turns s false k i j (channel k d l p) <=
        z * (a + b) + z * (B (along k d i) * A (along k d j))).
      { destruct (horizontal d) eqn:H.
        - pose proof (along_bound i j true) as T1. pose proof (across_bound i j false) as T2. rewrite H in T1, T2.
          specialize (T1 eq_refl). specialize (T2 eq_refl). fold a b z in T1. fold z in T2. lra.
        - pose proof (along_bound i j false) as T1. pose proof (across_bound i j true) as T2. rewrite H in T1, T2.
          specialize (T1 eq_refl). specialize (T2 eq_refl). fold a b z in T1. fold z in T2. lra. }
      rewrite <- (Qmult_plus_distr_r (1 # 2)).
      apply Qle_trans with ((1 # 2) * (z * (a + b)) + B (along k d i) * A (along k d j) * ((1 # 2) * z)); [lra|].
      apply Qle_trans with ((1 # 2) * (z * (a + b)) + (one less * B (along k d i) +
        one (negb less) * A (along k d j)) * ((1 # 2) * z)); [lra|].
      apply Qle_lteq. right. ring.
  - apply Qle_lteq. right. simpl terminals. simpl injection. simpl ejection.
    rewrite (sum_eq (fun i => 1 * u i) (fun i => u i)) by (intros; ring).
    rewrite (sum_eq (fun j => 1 * v j) (fun j => v j)) by (intros; ring).
    unfold u, v.
    rewrite (sum_coordinates k d (fun y a => (1 # 2) * / rational k * (one (l =? y)%nat * B a * n) +
      (1 # 2) * / rational k * one less * B a)).
    rewrite (sum_coordinates k d (fun y a => (1 # 2) * / rational k * (one (l =? y)%nat * A a * m) +
      (1 # 2) * / rational k * one (negb less) * A a)).
    rewrite (sum_eq _ (fun y => one (l =? y)%nat * ((1 # 2) * / rational k * n * m) +
      (1 # 2) * / rational k * one less * m)).
    2:{ intros y _. rewrite sum_plus, !sum_scale. unfold B at 2.
        rewrite (sum_eq (fun a => one (l =? y)%nat * B a * n) (fun a => one (l =? y)%nat * n * B a)) by (intros; ring).
        rewrite sum_scale. unfold B. rewrite count_behind by assumption. fold m. ring. }
    rewrite (sum_eq (fun y => sum (fun a => _ + (1 # 2) * / rational k * one (negb less) * A a) k)
               (fun y => one (l =? y)%nat * ((1 # 2) * / rational k * n * m) +
                 (1 # 2) * / rational k * one (negb less) * n)).
    2:{ intros y _. rewrite sum_plus, !sum_scale. unfold A at 2.
        rewrite (sum_eq (fun a => one (l =? y)%nat * A a * m) (fun a => one (l =? y)%nat * m * A a)) by (intros; ring).
        rewrite sum_scale. unfold A. rewrite count_ahead by assumption. fold n. ring. }
    rewrite !sum_plus, !sum_pick, !sum_const by assumption. fold (rational k).
    destruct less; cbn [one negb]; field; lra.
Qed.
End Channel.

Lemma best_split s t k : (s + t = k)%nat -> (0 < k)%nat ->
  rational s * rational t / rational k + (1 # 2) * (if Qlt_le_dec (rational t) (rational s)
    then rational t else rational s) <= least_worst k.
Proof.
  intros E Hk. pose proof (rational_pos _ Hk) as K. unfold least_worst.
  assert (H : exists m, (if Nat.even k then k = 2 * m /\ s * t <= m * m else k = 2 * m + 1 /\
    s * t <= m * (m + 1))%nat /\
     (if Qlt_le_dec (rational t) (rational s) then rational t else rational s) <= rational m).
  { exists (k / 2)%nat. set (m := (k / 2)%nat).
    assert (M : (k = 2 * m + if Nat.even k then 0 else 1)%nat).
    { destruct (Nat.even k) eqn:Ev.
      - apply Nat.even_spec in Ev. destruct Ev as [q ->]. unfold m. rewrite Nat.mul_comm, Nat.div_mul by lia. lia.
      - assert (O : Nat.odd k = true) by (unfold Nat.odd; rewrite Ev; reflexivity). apply Nat.odd_spec in O.
        destruct O as [q ->]. unfold m.
        replace (2 * q + 1)%nat with (q * 2 + 1)%nat by lia. rewrite Nat.div_add_l by lia. simpl. lia. }
    clearbody m. split.
    - destruct (Nat.even k).
      + split; [lia|]. destruct (Nat.le_ge_cases s m) as [L|L].
        * replace m with (s + (m - s))%nat by lia. replace t with (s + 2 * (m - s))%nat by lia. nia.
        * replace m with (t + (m - t))%nat by lia. replace s with (t + 2 * (m - t))%nat by lia. nia.
      + split; [lia|]. destruct (Nat.le_gt_cases s m) as [L|L].
        * replace m with (s + (m - s))%nat by lia. replace t with (s + 2 * (m - s) + 1)%nat by lia. nia.
        * replace m with (t + (m - t))%nat by lia. replace s with (t + 2 * (m - t) + 1)%nat by lia. nia.
    - destruct (Qlt_le_dec (rational t) (rational s)) as [L|L]; apply rational_le; unfold rational in L.
      + rewrite <- Zlt_Qlt in L. destruct (Nat.even k); lia.
      + rewrite <- Zle_Qle in L. destruct (Nat.even k); lia. }
  destruct H as [m [H Hm]]. set (w := if Qlt_le_dec _ _ then _ else _) in *. clearbody w.
  assert (Z : 0 <= / rational k) by (apply Qlt_le_weak, Qinv_lt_0_compat, K).
  destruct (Nat.even k); destruct H as [Ek H]; apply rational_le in H; rewrite !rational_mult in H;
    pose proof (Qmult_le_compat_r _ _ _ H Z) as H1.
  - unfold Qdiv at 1. rewrite Ek in *. rewrite rational_mult in *. change (rational 2) with 2 in *.
    assert (H2 : rational m * rational m * / (2 * rational m) == (1 # 2) * rational m) by (field; lra).
    rewrite H2 in H1. unfold Qdiv.
    setoid_replace (2 * rational m * / 2) with (rational m) by field. lra.
  - unfold Qdiv at 1. rewrite Ek in *. rewrite !rational_plus, !rational_mult in *. change (rational 2) with 2 in *.
    change (rational 1) with 1 in *.
    set (x := rational m) in *. unfold Qdiv. 
    assert (H2 : (2 * x + 1 - 1) * (2 * (2 * x + 1) + 1) * / (4 * (2 * x + 1)) ==
      x * (x + 1) * / (2 * x + 1) + (1 # 2) * x) by (field; lra).
    rewrite H2. lra.
Qed.

Theorem u2turn_at_most s k : worst_at_most (mesh k) (u2turn_variant s k) (least_worst k).
Proof.
  intros X HX c Hc. destruct (channel_bounds k c Hc) as [Hd [Hl [Hp Ec]]]. rewrite Ec.
  set (d := direction k c) in *. set (l := line k c) in *. set (p := position k c) in *.
  apply Qle_trans with (least_worst k); [|simpl bandwidth; lra].
  eapply Qle_trans; [apply channel_bound; assumption|].
  eapply Qle_trans; [|apply (best_split (places_behind k d p) (k - places_behind k d p))].
  - destruct (Qlt_le_dec _ _); lra.
  - unfold places_behind. destruct (forward d); lia.
  - lia.
Qed.
