(* How flows are made of others: sums, multiples, one channel, one after another. *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network Duality Mesh.
Open Scope Q_scope.

Lemma flow_plus G s t x y f g : flow G s t x f -> flow G s t y g -> flow G s t (x + y) (fun c => f c + g c).
Proof.
  intros [F Fv] [H Hv]. split.
  - intros c Hc. specialize (F c Hc). specialize (H c Hc). lra.
  - intros v V. specialize (Fv v V). specialize (Hv v V). unfold outflow, inflow in *.
    rewrite (sum_eq _ (fun c => one (tail G c =? v)%nat * f c + one (tail G c =? v)%nat * g c)) by (intros; ring).
    rewrite (sum_eq (fun c => one (head G c =? v)%nat * _) (fun c => one (head G c =? v)%nat * f c +
      one (head G c =? v)%nat * g c)) by (intros; ring).
    rewrite !sum_plus.
    match goal with |- ?a + ?b - (?a' + ?b') ==
      _ => setoid_replace (a + b - (a' + b')) with ((a - a') + (b - b')) by ring end.
    rewrite Fv, Hv. ring.
Qed.

Lemma flow_scale G s t x y f : 0 <= y -> flow G s t x f -> flow G s t (y * x) (fun c => y * f c).
Proof.
  intros Y [F Fv]. split.
  - intros c Hc. apply Qmult_nonneg; [exact Y|apply F, Hc].
  - intros v V. specialize (Fv v V). unfold outflow, inflow in *.
    rewrite (sum_eq _ (fun c => y * (one (tail G c =? v)%nat * f c))) by (intros; ring).
    rewrite (sum_eq (fun c => one (head G c =? v)%nat * _) (fun c => y * (one (head G c =? v)%nat * f c))) by (intros;
      ring).
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

Lemma flow_join G s t v x f g : flow G s t x f -> flow G t v x g -> flow G s v x (fun c => f c + g c).
Proof.
  intros [F Fv] [H Hv]. split.
  - intros c Hc. specialize (F c Hc). specialize (H c Hc). lra.
  - intros w W. specialize (Fv w W). specialize (Hv w W). unfold outflow, inflow in *.
    rewrite (sum_eq _ (fun c => one (tail G c =? w)%nat * f c + one (tail G c =? w)%nat * g c)) by (intros; ring).
    rewrite (sum_eq (fun c => one (head G c =? w)%nat * _) (fun c => one (head G c =? w)%nat * f c +
      one (head G c =? w)%nat * g c)) by (intros; ring).
    rewrite !sum_plus.
    match goal with |- ?a + ?b - (?a' + ?b') ==
      _ => setoid_replace (a + b - (a' + b')) with ((a - a') + (b - b')) by ring end.
    rewrite Fv, Hv. ring.
Qed.

Lemma flow_channel G c : (c < channels G)%nat -> unit_flow G (tail G c) (head G c) (fun e => one (e =? c)%nat).
Proof.
  intros Hc. split; [intros; apply one_nonneg|]. intros v _. unfold outflow, inflow.
  rewrite (sum_eq _ (fun e => one (e =? c)%nat * one (tail G e =? v)%nat)) by (intros; ring).
  rewrite (sum_eq (fun e => one (head G e =? v)%nat * _) (fun e => one (e =? c)%nat * one (head G e =? v)%nat))
    by (intros; ring).
  rewrite !sum_at, (proj2 (Nat.ltb_lt _ _) Hc), (Nat.eqb_sym v), (Nat.eqb_sym v). cbn [one]. ring.
Qed.

Lemma flow_nothing G s x : flow G s s x (fun _ => 0).
Proof.
  split; [intros; lra|]. intros v _. unfold outflow, inflow. rewrite !sum_0 by (intros; ring). ring.
Qed.

Lemma flow_eq G s t x f g : (forall c, (c < channels G)%nat -> f c == g c) -> flow G s t x f -> flow G s t x g.
Proof.
  intros E [F Fv]. split.
  - intros c Hc. rewrite <- E by exact Hc. apply F, Hc.
  - intros v V. rewrite <- (Fv v V). unfold outflow, inflow.
    rewrite (sum_eq (fun c => one (tail G c =? v)%nat * g c) (fun c => one (tail G c =? v)%nat * f c)) by (intros;
      rewrite E by assumption; reflexivity).
    rewrite (sum_eq (fun c => one (head G c =? v)%nat * g c) (fun c => one (head G c =? v)%nat * f c)) by (intros;
      rewrite E by assumption; reflexivity).
    reflexivity.
Qed.

(* A routing with worst case 1 carries all admissible traffic within the bandwidths. *)
Lemma admissible_carried G f X : (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat ->
  connected G i j = true) ->
  routing G f -> worst_at_most G f 1 -> admissible G X -> carried_within G X 1.
Proof.
  intros C Hf W HX. exists (fun i c => sum (fun j => X i j * f i j c) (terminals G)). split; [|exact (W X HX)].
  apply (pairs_carry G X (fun i j c => X i j * f i j c)). intros i j Hi Hj. specialize (Hf i j Hi Hj).
  rewrite C in Hf by assumption.
  apply (flow_value _ _ _ (X i j * 1)); [ring|]. apply flow_scale; [apply HX; assumption|exact Hf].
Qed.

(* Networks in which all terminals send and take at rate 1, and all pairs are connected. *)
Definition unit_rates (G : network) : Prop :=
  forall i, (i < terminals G)%nat -> injection G i == 1 /\ ejection G i == 1 /\ forall j, (j < terminals G)%nat ->
    connected G i j = true.
