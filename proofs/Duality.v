(* What proves a bound: prices bound the load of a channel from above, lengths and potentials bound from below what any
   flow uses. These are the easy halves of duality; the checker needs no others. *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network.
Open Scope Q_scope.

Lemma times_le a b x : 0 <= x -> a <= b -> a * x <= b * x.
Proof. intros. apply Qmult_le_compat_r; assumption. Qed.

Lemma Qmult_nonneg a b : 0 <= a -> 0 <= b -> 0 <= a * b.
Proof. intros. rewrite <- (Qmult_0_l b). apply times_le; assumption. Qed.

Lemma Qmult_le_r_inv a b x : 0 < x -> a * x <= b * x -> a <= b.
Proof. intros H. apply Qmult_le_r. exact H. Qed.

(* Prices u of sources and v of destinations with f_ij(c) <= u_i + v_j. *)
Theorem prices_bound G f X c u v :
  admissible G X ->
  (forall i, (i < terminals G)%nat -> 0 <= u i) -> (forall j, (j < terminals G)%nat -> 0 <= v j) ->
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> f i j c <= u i + v j) ->
  load G f X c <= sum (fun i => injection G i * u i) (terminals G) + sum (fun j => ejection G j * v j) (terminals G).
Proof.
  intros [Hpos [Hrow [Hcol _]]] Hu Hv Hw. unfold load. set (n := terminals G) in *.
  apply Qle_trans with (sum (fun i => sum (fun j => X i j * u i + X i j * v j) n) n).
  - apply sum_pairs_le; intros i j Hi Hj. specialize (Hpos i j Hi Hj). specialize (Hw i j Hi Hj).
    pose proof (times_le _ _ (X i j) Hpos Hw). lra.
  - rewrite (sum_eq _ (fun i => sum (fun j => X i j) n * u i + sum (fun j => X i j * v j) n)).
    2:{ intros i Hi. rewrite sum_plus, sum_scale_r. reflexivity. }
    rewrite sum_plus. rewrite (sum_swap (fun i j => X i j * v j)).
    rewrite (sum_eq (fun j => sum (fun i => X i j * v j) n) (fun j => sum (fun i => X i j) n * v j))
      by (intros; apply sum_scale_r).
    apply Qplus_le_compat; apply sum_le; intros k Hk; apply times_le; auto.
Qed.

(* Lengths l and a potential p that rises by at most the length over each channel: a flow of value x from s to t
   covers at least x times the potential difference, in sum over channels. *)
Theorem lengths_bound G s t x f l p :
  proper G -> (s < nodes G)%nat -> (t < nodes G)%nat -> flow G s t x f ->
  (forall c, (c < channels G)%nat -> f c == 0 \/ p (head G c) <= p (tail G c) + l c) ->
  x * (p t - p s) <= sum (fun c => l c * f c) (channels G).
Proof.
  intros HG Hs Ht Hf Hl. rewrite <- (flow_gain G s t x f p) by assumption. apply sum_le. intros c Hc.
  destruct (Hl c Hc) as [E|E].
  - rewrite E. lra.
  - apply times_le; [apply Hf, Hc|lra].
Qed.

(* A weighted average is reached where the weight is positive. *)
Lemma weighted_average n w x y z :
  (forall c, (c < n)%nat -> 0 <= w c) -> 0 < sum (fun c => w c * z c) n ->
  sum (fun c => w c * y c) n <= sum (fun c => w c * x c) n ->
  exists c, (c < n)%nat /\ 0 < w c /\ y c <= x c.
Proof.
  intros Hw Hz H.
  assert (A : (exists c, (c < n)%nat /\ 0 < w c /\ y c <= x c) \/
              (sum (fun c => w c * x c) n <= sum (fun c => w c * y c) n /\
               ((forall c, (c < n)%nat -> w c == 0) \/ sum (fun c => w c * x c) n < sum (fun c => w c * y c) n))).
  { clear Hz H. induction n as [|n IH].
    - right. split; [simpl; lra|left; intros; lia].
    - destruct IH as [[c [C D]]|[A B]]; [intros; apply Hw; lia|left; exists c; split; [lia|exact D]|].
      cbn [sum]. destruct (Qlt_le_dec 0 (w n)) as [W|W].
      + destruct (Qlt_le_dec (x n) (y n)) as [L|L]; [|left; exists n; repeat split; [lia|exact W|exact L]].
        assert (w n * x n < w n * y n) by (apply Qmult_lt_l; assumption). right. split; [lra|right; lra].
      + assert (E : w n == 0) by (specialize (Hw n ltac:(lia)); lra). right. rewrite E. split; [lra|].
        destruct B as [B|B]; [left|right; lra]. intros c Hc. destruct (Nat.eq_dec c n) as [->|N]; [exact E|apply B; lia]. }
  destruct A as [A|[_ [A|A]]]; [exact A| |lra]. rewrite sum_0 in Hz; [lra|]. intros c Hc. rewrite (A c Hc). ring.
Qed.

(* Every routing: weights of channels, for each an admissible traffic, and for each pair a potential for the lengths
   weight x traffic; b_ij is what the potential of a connected pair proves. *)
Theorem every_routing_bound G (class : nat -> nat -> nat -> bool) (weight : nat -> Q) (X : nat -> nat -> nat -> Q)
    (b : nat -> nat -> Q) (p : nat -> nat -> nat -> Q) (r : Q) :
  proper G ->
  (forall c, (c < channels G)%nat -> 0 <= weight c) ->
  (forall c, (c < channels G)%nat -> 0 < weight c -> admissible G (X c)) ->
  0 < sum (fun c => weight c * bandwidth G c) (channels G) ->
  (forall i j c, (i < terminals G)%nat -> (j < terminals G)%nat -> (c < channels G)%nat -> class i j c = true ->
     p i j (head G c) <= p i j (tail G c) + weight c * X c i j) ->
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat ->
     b i j <= 0 \/ (connected G i j = true /\ b i j <= p i j (node G j) - p i j (node G i))) ->
  r * sum (fun c => weight c * bandwidth G c) (channels G) <= sum (fun i => sum (fun j => b i j) (terminals G)) (terminals G) ->
  forall f, routing G f ->
  (forall i j c, (i < terminals G)%nat -> (j < terminals G)%nat -> (c < channels G)%nat -> class i j c = false -> f i j c == 0) ->
  worst_at_least G f r.
Proof.
  intros HG Hw HX Hpos Hp Hb Hr f Hf Hclass.
  set (n := terminals G) in *. set (m := channels G) in *.
  assert (Hnn : forall i j c, (i < n)%nat -> (j < n)%nat -> (c < m)%nat -> 0 <= f i j c).
  { intros i j c Hi Hj Hc. specialize (Hf i j Hi Hj). destruct (connected G i j).
    - apply Hf, Hc.
    - rewrite Hf by exact Hc. lra. }
  assert (Hxx : forall c i j, (c < m)%nat -> (i < n)%nat -> (j < n)%nat -> 0 <= weight c * X c i j).
  { intros c i j Hc Hi Hj. destruct (Qlt_le_dec 0 (weight c)) as [L|L].
    - apply Qmult_nonneg; [lra|]. apply (HX c Hc L); assumption.
    - assert (E : weight c == 0) by (specialize (Hw c Hc); lra). rewrite E. lra. }
  (* the weighted loads, pair by pair *)
  assert (Hsum : sum (fun c => weight c * load G f (X c) c) m ==
                 sum (fun i => sum (fun j => sum (fun c => weight c * X c i j * f i j c) m) n) n).
  { unfold load. fold n. rewrite (sum_eq _ (fun c => sum (fun i => sum (fun j => weight c * X c i j * f i j c) n) n)).
    2:{ intros c Hc. rewrite <- sum_scale. apply sum_eq; intros i Hi. rewrite <- sum_scale. apply sum_eq; intros. ring. }
    rewrite sum_swap. apply sum_eq; intros i Hi. apply sum_swap. }
  assert (Hpair : forall i j, (i < n)%nat -> (j < n)%nat -> b i j <= sum (fun c => weight c * X c i j * f i j c) m).
  { intros i j Hi Hj. destruct (Hb i j Hi Hj) as [L|[Hc L]].
    - apply Qle_trans with 0; [exact L|]. apply sum_nonneg. intros c Hc. apply Qmult_nonneg; auto.
    - specialize (Hf i j Hi Hj). rewrite Hc in Hf.
      apply Qle_trans with (1 * (p i j (node G j) - p i j (node G i))); [lra|].
      apply (lengths_bound G (node G i) (node G j) 1 (f i j) (fun c => weight c * X c i j) (p i j)); try assumption.
      + apply HG, Hi.
      + apply HG, Hj.
      + intros c Hcm. destruct (class i j c) eqn:E; [right; apply Hp; assumption|left; apply Hclass; assumption]. }
  assert (Hle : sum (fun c => r * (weight c * bandwidth G c)) m <= sum (fun c => weight c * load G f (X c) c) m).
  { rewrite sum_scale, Hsum. apply Qle_trans with (1 := Hr). apply sum_pairs_le. exact Hpair. }
  assert (Hex : exists c, (c < m)%nat /\ 0 < weight c /\ r * bandwidth G c <= load G f (X c) c).
  { apply (weighted_average m weight (fun c => load G f (X c) c) (fun c => r * bandwidth G c) (bandwidth G)); try assumption.
    apply Qle_trans with (2 := Hle). apply Qle_lteq. right. apply sum_eq. intros. ring. }
  destruct Hex as [c [Hc [L H]]]. exists (X c), c. repeat split; try assumption; apply (HX c Hc L).
Qed.

(* ---- Traffic that some routing carries, adaptive ones included ---- *)

Lemma outflow_sum G (f : nat -> nat -> Q) v n : outflow G (fun c => sum (fun j => f j c) n) v == sum (fun j => outflow G (f j) v) n.
Proof.
  unfold outflow. rewrite sum_swap. apply sum_eq. intros c Hc. rewrite <- sum_scale. reflexivity.
Qed.

Lemma inflow_sum G (f : nat -> nat -> Q) v n : inflow G (fun c => sum (fun j => f j c) n) v == sum (fun j => inflow G (f j) v) n.
Proof.
  unfold inflow. rewrite sum_swap. apply sum_eq. intros c Hc. rewrite <- sum_scale. reflexivity.
Qed.

(* Flows pair by pair, as any routing has them, are such flows when they are added up by sources. *)
Theorem pairs_carry G X (f : nat -> nat -> nat -> Q) :
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> flow G (node G i) (node G j) (X i j) (f i j)) ->
  carries G X (fun i c => sum (fun j => f i j c) (terminals G)).
Proof.
  intros H i Hi. split.
  - intros c Hc. apply sum_nonneg. intros j Hj. apply (H i j Hi Hj), Hc.
  - intros v Hv. rewrite (outflow_sum G (f i)), (inflow_sum G (f i)), <- sum_minus. apply sum_eq. intros j Hj.
    destruct (H i j Hi Hj) as [_ F]. rewrite (F v Hv). ring.
Qed.

(* Lengths >= 0 and potentials by source: what flows that carry X cover at least. *)
Theorem carried_bound G X g l p i : proper G -> (i < terminals G)%nat -> carries G X g ->
  (forall j, (j < terminals G)%nat -> 0 <= X i j) ->
  (forall c, (c < channels G)%nat -> 0 <= l c) ->
  (forall c, (c < channels G)%nat -> p (head G c) <= p (tail G c) + l c) ->
  forall b, (forall j, (j < terminals G)%nat -> b j <= 0 \/ b j <= p (node G j) - p (node G i)) ->
  sum (fun j => X i j * b j) (terminals G) <= sum (fun c => l c * g i c) (channels G).
Proof.
  intros HG Hi Hg HX Hl Hp b Hb. destruct (Hg i Hi) as [Gpos Gcons].
  (* potentials below that of the source count as that of the source *)
  set (s := node G i) in *. set (q := fun v => if Qlt_le_dec (p v) (p s) then p s else p v).
  assert (Qs : q s == p s) by (unfold q; destruct (Qlt_le_dec (p s) (p s)); lra).
  assert (Qge : forall v, p s <= q v /\ p v <= q v) by (intros v; unfold q; destruct (Qlt_le_dec (p v) (p s)); split; lra).
  apply Qle_trans with (sum (fun c => (q (head G c) - q (tail G c)) * g i c) (channels G)).
  - rewrite potential_gain by assumption.
    assert (E : sum (fun v => q v * (inflow G (g i) v - outflow G (g i) v)) (nodes G) ==
                sum (fun j => X i j * (q (node G j) - q s)) (terminals G)).
    { rewrite (sum_eq _ (fun v => sum (fun j => X i j * (one (node G j =? v)%nat * q v - one (s =? v)%nat * q v)) (terminals G))).
      2:{ intros v Hv. specialize (Gcons v Hv).
          setoid_replace (inflow G (g i) v - outflow G (g i) v) with (- (1) * (outflow G (g i) v - inflow G (g i) v)) by ring.
          rewrite Gcons. rewrite <- !sum_scale. apply sum_eq. intros j Hj.
          rewrite (Nat.eqb_sym (node G j) v), (Nat.eqb_sym s v). ring. }
      rewrite sum_swap. apply sum_eq. intros j Hj. rewrite sum_scale, sum_minus.
      rewrite !sum_pick; [reflexivity| |]; apply HG; assumption. }
    rewrite E. apply sum_le. intros j Hj. rewrite !(Qmult_comm (X i j)). apply times_le; [apply HX, Hj|].
    destruct (Qge (node G j)). destruct (Hb j Hj); lra.
  - apply sum_le. intros c Hc. apply times_le; [apply Gpos, Hc|].
    specialize (Hp c Hc). specialize (Hl c Hc). destruct (Qge (tail G c)).
    unfold q at 1. destruct (Qlt_le_dec (p (head G c)) (p s)); lra.
Qed.
