(* FT(m, n), the m-port n-tree, k = m/2 (Yuan, Nienaber, Duan and Melhem): all paths equally have ratio 1 (their Theorem 1);
   single paths have at least k^(floor(2n/3)/2), which contains Theorems 3, 4 and 5; OSRM2 attains the bound on FT(m, 2) for
   square k (Theorem 6). *)
Require Import QArith Lia Lqa Arith Bool List.
From Obliv Require Import Network Duality Mesh Flows Matching Groups.
Open Scope Q_scope.

(* ---- The network ---- *)

(* 2 k^n hosts. The sub-tree of height h with number a has the hosts from a k^h to (a + 1) k^h - 1, and k^h channels out of
   it and into it: those of height h with the numbers from a k^h to (a + 1) k^h - 1. Hosts are the sub-trees of height 0. Of
   height h >= 1, switch e is the lower end of the k channels e k, ..., e k + k - 1; the switches that join k sub-trees
   of height h to one of height h + 1, or all of them if h + 1 = n, each join the channels with one number in their sub-trees. *)
Definition hosts (k n : nat) : nat := 2 * k ^ n.
Definition switch (k n h e : nat) : nat := hosts k n + (h - 1) * (2 * k ^ (n - 1)) + e.
Definition lower (k n h v : nat) : nat := match h with O => v | S _ => switch k n h (v / k) end.
Definition upper (k n h v : nat) : nat :=
  switch k n (S h) ((if S h =? n then 0 else v / k ^ S h * k ^ h) + v mod k ^ h)%nat.

(* The channel of height h with number v, up if d = 0, down if d = 1. *)
Definition link (k n h d v : nat) : nat := (h * 2 + d) * hosts k n + v.
Definition height (k n c : nat) : nat := c / hosts k n / 2.
Definition rises (k n c : nat) : bool := ((c / hosts k n) mod 2 =? 0)%nat.

Definition fat_tree (k n : nat) : network := {|
  nodes := hosts k n + (n - 1) * (2 * k ^ (n - 1)) + k ^ (n - 1);
  channels := n * 2 * hosts k n;
  tail := fun c => (if rises k n c then lower else upper) k n (height k n c) (c mod hosts k n)%nat;
  head := fun c => (if rises k n c then upper else lower) k n (height k n c) (c mod hosts k n)%nat;
  bandwidth := fun _ => 1;
  terminals := hosts k n;
  node := fun i => i;
  injection := fun _ => 1;
  ejection := fun _ => 1;
  connected := fun _ _ => true
|}.

(* ---- Routings ---- *)

(* The greatest height at which i and j are in different sub-trees, 0 if there is none: so high a shortest path climbs. *)
Fixpoint turn (k i j m : nat) : nat :=
  match m with O => O | S g => if (i / k ^ m =? j / k ^ m)%nat then turn k i j g else m end.
Definition climbs (k n i j : nat) : nat := turn k i j (n - 1).

(* Paths that climb to height x and come down, a shortest one if x = climbs, have numbers U from 0 to k^x - 1; path U leaves
   the sub-tree of height h by the channel that has, within the sub-tree, the number that the first h digits of U form. *)
Definition port (k h s U x : nat) : nat := s / k ^ h * k ^ h + U / k ^ (x - h).
Definition path (k n x U i j c : nat) : Q :=
  if (i =? j)%nat then 0
  else sum (fun h => one (c =? link k n h 0 (port k h i U x))%nat) (S x) +
       sum (fun h => one (c =? link k n h 1 (port k h j U x))%nat) (S x).

(* One path for each pair: its height and its number. *)
Definition single_path (k n : nat) (U : nat -> nat -> nat * nat) (i j c : nat) : Q :=
  path k n (fst (U i j)) (snd (U i j)) i j c.
Definition chooses (k n : nat) (U : nat -> nat -> nat * nat) : Prop := forall i j,
  (climbs k n i j <= fst (U i j))%nat /\ (fst (U i j) < n)%nat /\ (snd (U i j) < k ^ fst (U i j))%nat.

(* OMRMN: all shortest paths equally. *)
Definition all_paths (k n i j c : nat) : Q :=
  / rational (k ^ climbs k n i j) * sum (fun U => path k n (climbs k n i j) U i j c) (k ^ climbs k n i j).

(* OSRM2 on FT(2k, 2), k = z * z: a root for each group of z sources of a leaf and each group of z destinations. *)
Definition osrm2 (z i j : nat) : nat * nat :=
  let k := (z * z)%nat in if (i / k =? j / k)%nat then (0, 0)%nat else (1, (i mod k) / z * z + (j mod k) / z)%nat.

(* ---- Numbers ---- *)

Lemma power_split k a b : (b <= a)%nat -> (k ^ a = k ^ (a - b) * k ^ b)%nat.
Proof. intros. rewrite <- Nat.pow_add_r. f_equal. lia. Qed.

Lemma power_pos k a : (0 < k)%nat -> (0 < k ^ a)%nat.
Proof. intros. pose proof (Nat.pow_nonzero k a). lia. Qed.

Lemma div_power k s h : (s / k ^ S h = s / k ^ h / k)%nat.
Proof. rewrite Nat.pow_succ_r'. destruct (Nat.eq_dec k 0) as [->|K]; [destruct h; reflexivity|].
  rewrite Nat.div_div by (try apply Nat.pow_nonzero; assumption). f_equal. lia. Qed.

Lemma turn_le k i j m : (turn k i j m <= m)%nat.
Proof. induction m as [|m IH]; cbn [turn]; [lia|]. destruct (_ =? _)%nat; lia. Qed.

Lemma turn_ge k i j m h : (0 < h)%nat -> (h <= m)%nat -> (i / k ^ h)%nat <> (j / k ^ h)%nat -> (h <= turn k i j m)%nat.
Proof.
  intros H0. induction m as [|m IH]; intros L N; [lia|]. cbn [turn].
  destruct (Nat.eqb_spec (i / k ^ S m) (j / k ^ S m)) as [E|E]; [|lia].
  apply IH; [|exact N]. destruct (Nat.eq_dec h (S m)) as [->|]; [contradiction|lia].
Qed.

Lemma hosts_split k n h : (h <= n)%nat -> (hosts k n = 2 * k ^ (n - h) * k ^ h)%nat.
Proof. intros. unfold hosts. rewrite (power_split k n h) by assumption. lia. Qed.

Section Tree.
Variables k n : nat.
Hypothesis (Hk : (0 < k)%nat) (Hn : (0 < n)%nat).
Let N := hosts k n.

Lemma climbs_lt i j : (climbs k n i j < n)%nat.
Proof. unfold climbs. pose proof (turn_le k i j (n - 1)). lia. Qed.

Lemma climbs_ge i j h : (h < n)%nat -> (i / k ^ h)%nat <> (j / k ^ h)%nat -> (h <= climbs k n i j)%nat.
Proof. intros L E. destruct h as [|h]; [lia|]. apply turn_ge; [lia|lia|exact E]. Qed.

Lemma digits_lt x h U : (h <= x)%nat -> (U < k ^ x)%nat -> (U / k ^ (x - h) < k ^ h)%nat.
Proof.
  intros L H. apply Nat.div_lt_upper_bound; [apply Nat.pow_nonzero; lia|]. rewrite <- power_split by exact L. exact H.
Qed.

Lemma port_lt h s U x : (h <= x)%nat -> (x < n)%nat -> (U < k ^ x)%nat -> (s < N)%nat -> (port k h s U x < N)%nat.
Proof.
  intros L Lx HU Hs. unfold N in *. rewrite (hosts_split k n h) in * by lia.
  apply grid_lt; [|apply digits_lt; assumption].
  apply (grid_row s _ _ Hs).
Qed.

Lemma link_lt h d v : (h < n)%nat -> (d < 2)%nat -> (v < N)%nat -> (link k n h d v < channels (fat_tree k n))%nat.
Proof. intros. apply (grid_lt (h * 2 + d) v (n * 2)); [apply grid_lt|]; assumption. Qed.

Lemma link_parts h d v : (d < 2)%nat -> (v < N)%nat ->
  height k n (link k n h d v) = h /\ rises k n (link k n h d v) = (d =? 0)%nat /\ (link k n h d v mod N = v)%nat.
Proof.
  intros Hd Hv. unfold height, rises, link. fold N. rewrite !(grid_div _ v N), (grid_mod _ v N) by exact Hv.
  rewrite (grid_div h d 2), (grid_mod h d 2) by exact Hd. auto.
Qed.

Lemma link_inv c : (c < channels (fat_tree k n))%nat ->
  exists h d v, (h < n)%nat /\ (d < 2)%nat /\ (v < N)%nat /\ c = link k n h d v.
Proof.
  intros H. change (channels (fat_tree k n)) with (n * 2 * N)%nat in H. apply grid_row in H. destruct H as [H Hv].
  pose proof (grid_row _ _ _ H) as [Hh Hd]. exists (c / N / 2)%nat, ((c / N) mod 2)%nat, (c mod N)%nat.
  repeat split; try assumption. unfold link. fold N. rewrite <- grid_inv by lia. apply grid_inv. lia.
Qed.

Lemma link_ends h d v : (d < 2)%nat -> (v < N)%nat ->
  tail (fat_tree k n) (link k n h d v) = (if (d =? 0)%nat then lower else upper) k n h v /\
  head (fat_tree k n) (link k n h d v) = (if (d =? 0)%nat then upper else lower) k n h v.
Proof.
  intros Hd Hv. unfold fat_tree. cbn [tail head]. destruct (link_parts h d v Hd Hv) as [-> [-> E]]. fold N. rewrite E.
  split; reflexivity.
Qed.

Lemma link_eq h d v h' d' v' : (d < 2)%nat -> (d' < 2)%nat -> (v < N)%nat -> (v' < N)%nat ->
  (link k n h d v =? link k n h' d' v')%nat = ((h =? h') && (d =? d') && (v =? v'))%nat.
Proof. intros. unfold link. rewrite !grid_eq by assumption. reflexivity. Qed.

Lemma switch_lt h e : (h < n - 1)%nat -> (e < 2 * k ^ (n - 1))%nat -> (switch k n (S h) e < nodes (fat_tree k n))%nat.
Proof.
  intros Hh He. unfold switch. cbn [nodes fat_tree]. replace (S h - 1)%nat with h by lia.
  pose proof (grid_lt h e (n - 1) _ Hh He) as L. generalize dependent (2 * k ^ (n - 1))%nat.
  generalize (k ^ (n - 1))%nat, (hosts k n).
  intros a b c. generalize (h * c)%nat, ((n - 1) * c)%nat. intros. lia.
Qed.

Lemma lower_lt h v : (h < n)%nat -> (v < N)%nat -> (lower k n h v < nodes (fat_tree k n))%nat.
Proof.
  intros Hh Hv. destruct h as [|h]; cbn [lower].
  - cbn [nodes fat_tree]. fold N. rewrite <- Nat.add_assoc. apply Nat.lt_le_trans with N; [exact Hv|apply Nat.le_add_r].
  - unfold N in Hv. rewrite (hosts_split k n 1), Nat.pow_1_r in Hv by lia. apply grid_row in Hv.
    apply switch_lt; [lia|apply Hv].
Qed.

Lemma upper_lt h v : (h < n)%nat -> (v < N)%nat -> (upper k n h v < nodes (fat_tree k n))%nat.
Proof.
  intros Hh Hv. unfold upper.
  pose proof (Nat.mod_upper_bound v (k ^ h) ltac:(apply Nat.pow_nonzero; lia)) as R.
  destruct (Nat.eqb_spec (S h) n) as [E|E].
  - unfold switch. cbn [nodes fat_tree]. replace (n - 1)%nat with h by lia. replace (S h - 1)%nat with h by lia.
    rewrite Nat.add_0_l. apply Nat.add_lt_mono_l, R.
  - apply switch_lt; [lia|]. unfold N in Hv. rewrite (hosts_split k n (S h)) in Hv by lia. apply grid_row in Hv.
    destruct Hv as [Hv _].
    pose proof (grid_lt _ _ _ _ Hv R) as L. replace (2 * k ^ (n - 1))%nat with (2 * k ^ (n - S h) * k ^ h)%nat;
      [exact L|].
    rewrite (power_split k (n - 1) h) by lia. replace (n - 1 - h)%nat with (n - S h)%nat by lia. symmetry.
    apply Nat.mul_assoc.
Qed.

Lemma fat_tree_proper : proper (fat_tree k n).
Proof.
  split.
  - intros c Hc. destruct (link_inv c Hc) as [h [d [v [Hh [Hd [Hv ->]]]]]]. destruct (link_ends h d v Hd Hv) as [-> ->].
    pose proof (lower_lt h v Hh Hv). pose proof (upper_lt h v Hh Hv). cbn [bandwidth fat_tree].
    destruct (d =? 0)%nat; repeat split; try assumption; lra.
  - intros i Hi. split; [exact (lower_lt 0 i Hn Hi)|]. cbn [injection ejection fat_tree]. lra.
Qed.

Lemma tree_rates : unit_rates (fat_tree k n).
Proof. intros i _. cbn. repeat split. Qed.

(* ---- Paths are flows ---- *)

Definition top (s U x m : nat) : nat := match m with O => s | S g => upper k n g (port k g s U x) end.

Lemma path_meets s U x m : (x < n)%nat -> (U < k ^ x)%nat -> (m <= x)%nat -> lower k n m (port k m s U x) = top s U x m.
Proof.
  intros Lx HU L. destruct m as [|g]; cbn [lower top].
  - unfold port. rewrite Nat.sub_0_r, (Nat.div_small U) by exact HU. cbn [Nat.pow]. rewrite Nat.div_1_r. lia.
  - unfold upper. rewrite (proj2 (Nat.eqb_neq (S g) n)) by lia. f_equal.
    pose proof (digits_lt x g U ltac:(lia) HU) as D.
    unfold port at 2 3. rewrite div_power, grid_div, grid_mod by exact D. rewrite <- div_power.
    unfold port. rewrite Nat.pow_succ_r' at 2. replace (s / k ^ S g * (k * k ^ g))%nat with (s / k ^ S g * k ^ g *
      k)%nat by lia.
    rewrite Nat.div_add_l by lia. f_equal. rewrite Nat.div_div by (try apply Nat.pow_nonzero; lia). f_equal.
    replace (x - g)%nat with (S (x - S g)) by lia. rewrite Nat.pow_succ_r'. lia.
Qed.

Lemma path_turns i j U x : (climbs k n i j <= x)%nat -> (x < n)%nat -> (U < k ^ x)%nat -> top i U x (S x) = top j U x (S x).
Proof.
  intros E Lx HU. cbn [top]. unfold upper.
  pose proof (digits_lt x x U ltac:(lia) HU) as D. f_equal. unfold port.
  destruct (Nat.eqb_spec (S x) n) as [F|F].
  - rewrite !grid_mod by exact D. reflexivity.
  - rewrite !div_power, !grid_div, !grid_mod by exact D. rewrite <- !div_power. f_equal. f_equal.
    destruct (Nat.eq_dec (i / k ^ S x) (j / k ^ S x)) as [G|G]; [exact G|].
    pose proof (climbs_ge i j (S x) ltac:(lia) G). lia.
Qed.

Lemma climb_flow s U x m : (s < N)%nat -> (x < n)%nat -> (U < k ^ x)%nat -> (m <= S x)%nat ->
  unit_flow (fat_tree k n) s (top s U x m) (fun c => sum (fun h => one (c =? link k n h 0 (port k h s U x))%nat) m).
Proof.
  intros Hs Lx HU. induction m as [|m IH]; intros L; [apply flow_nothing|]. cbn [sum].
  pose proof (port_lt m s U x ltac:(lia) Lx HU Hs) as Hv.
  pose proof (flow_channel (fat_tree k n) _ (link_lt m 0 _ ltac:(lia) ltac:(lia) Hv)) as F.
  destruct (link_ends m 0 (port k m s U x) ltac:(lia) Hv) as [T H]. rewrite T, H in F. cbn [Nat.eqb] in F.
  rewrite path_meets in F by (try assumption; lia).
  exact (flow_join _ _ _ _ _ _ _ (IH ltac:(lia)) F).
Qed.

Lemma descent_flow s U x m : (s < N)%nat -> (x < n)%nat -> (U < k ^ x)%nat -> (m <= S x)%nat ->
  unit_flow (fat_tree k n) (top s U x m) s (fun c => sum (fun h => one (c =? link k n h 1 (port k h s U x))%nat) m).
Proof.
  intros Hs Lx HU. induction m as [|m IH]; intros L; [apply flow_nothing|]. cbn [sum].
  pose proof (port_lt m s U x ltac:(lia) Lx HU Hs) as Hv.
  pose proof (flow_channel (fat_tree k n) _ (link_lt m 1 _ ltac:(lia) ltac:(lia) Hv)) as F.
  destruct (link_ends m 1 (port k m s U x) ltac:(lia) Hv) as [T H]. rewrite T, H in F. cbn [Nat.eqb] in F.
  rewrite path_meets in F by (try assumption; lia).
  apply (flow_eq _ _ _ _ (fun c => one (c =? link k n m 1 (port k m s U x))%nat +
    sum (fun h => one (c =? link k n h 1 (port k h s U x))%nat) m)).
  - intros c _. ring.
  - exact (flow_join _ _ _ _ _ _ _ F (IH ltac:(lia))).
Qed.

Lemma path_flow x U i j : (climbs k n i j <= x)%nat -> (x < n)%nat -> (U < k ^ x)%nat -> (i < N)%nat -> (j < N)%nat ->
  unit_flow (fat_tree k n) i j (path k n x U i j).
Proof.
  intros E Lx HU Hi Hj. unfold path. destruct (Nat.eqb_spec i j) as [->|D]; [apply flow_nothing|].
  pose proof (climb_flow i U x (S x) Hi Lx HU (le_n _)) as F1. pose proof (descent_flow j U x (S x) Hj Lx HU (le_n _)) as F2.
  rewrite <- (path_turns i j U x E Lx HU) in F2. exact (flow_join _ _ _ _ _ _ _ F1 F2).
Qed.

Theorem single_path_routing U : chooses k n U -> routing (fat_tree k n) (single_path k n U).
Proof. intros HU i j Hi Hj. apply path_flow; try assumption; apply HU. Qed.

Theorem all_paths_routing : routing (fat_tree k n) (all_paths k n).
Proof.
  intros i j Hi Hj. set (p := (k ^ climbs k n i j)%nat). assert (P : 0 < rational p)
    by (apply rational_pos, power_pos, Hk).
  apply (flow_value _ _ _ (/ rational p * rational p)); [field; lra|].
  apply (flow_scale (fat_tree k n) i j (rational p) (/ rational p) (fun c => sum (fun U => path k n (climbs k n i j) U i j c) p)).
  - apply Qlt_le_weak, Qinv_lt_0_compat, P.
  - apply (flow_sum (fat_tree k n) i j (fun U => path k n (climbs k n i j) U i j)).
    intros U HU. apply path_flow; try assumption; [lia|apply climbs_lt].
Qed.

(* What a path puts on a channel. *)
Lemma path_link x U i j h d v : i <> j -> (x < n)%nat -> (U < k ^ x)%nat -> (i < N)%nat -> (j < N)%nat -> (d < 2)%nat ->
  (v < N)%nat -> path k n x U i j (link k n h d v) ==
    one (h <? S x)%nat * one (v =? port k h (if (d =? 0)%nat then i else j) U x)%nat.
Proof.
  intros E Lx HU Hi Hj Hd Hv. unfold path. rewrite (proj2 (Nat.eqb_neq i j) E).
  assert (Part : forall s d', (s < N)%nat -> (d' < 2)%nat ->
    sum (fun g => one (link k n h d v =? link k n g d' (port k g s U x))%nat) (S x) ==
    one (h <? S x)%nat * (one (d =? d')%nat * one (v =? port k h s U x)%nat)).
  { intros s d' Hs Hd'. rewrite (sum_eq _ (fun g => one (g =? h)%nat * (one (d =? d')%nat *
      one (v =? port k g s U x)%nat))).
    - apply (sum_at (fun g => one (d =? d')%nat * one (v =? port k g s U x)%nat)).
    - intros g Hg. rewrite link_eq by (try assumption; apply port_lt; try assumption; lia).
      rewrite !one_and, (Nat.eqb_sym h g). ring. }
  rewrite !Part by (try assumption; lia). destruct d as [|[|]]; [| |lia]; cbn [Nat.eqb one]; ring.
Qed.

Lemma path_self x U i c : path k n x U i i c == 0.
Proof. unfold path. rewrite Nat.eqb_refl. reflexivity. Qed.

(* ---- Single paths: the lower bound ---- *)

Lemma single_path_needs U g : chooses k n U -> (g < n)%nat ->
  exists x, (k ^ g <= x * x \/ k ^ (n - g) <= x)%nat /\ needs (fat_tree k n) (single_path k n U) x.
Proof.
  intros HU Hg. pose proof (power_pos k g Hk) as Q0. pose proof (power_pos k (n - g) Hk) as K0.
  assert (EN : N = (2 * k ^ (n - g) * k ^ g)%nat) by (apply hosts_split; lia).
  assert (Pair : forall i j v, (v < N)%nat -> (i < N)%nat -> (j < N)%nat -> (i / k ^ g)%nat <> (j / k ^ g)%nat ->
    forall d, (d < 2)%nat ->
     ((if (d =? 0)%nat then i else j) / k ^ g = v / k ^ g)%nat ->
       (snd (U i j) / k ^ (fst (U i j) - g) = v mod k ^ g)%nat ->
     1 <= single_path k n U i j (link k n g d v)).
  { intros i j v Hv Hi Hj E d Hd E1 E2. unfold single_path. assert (E0 : i <> j) by congruence.
    destruct (HU i j) as [L0 [Lx Ls]]. rewrite (path_link _ _ i j g d v E0 Lx Ls Hi Hj Hd Hv).
    pose proof (climbs_ge i j g Hg E) as L. rewrite (proj2 (Nat.ltb_lt _ _)) by lia. unfold port. rewrite E1, E2.
    rewrite <- grid_inv by exact Q0. rewrite Nat.eqb_refl. cbn [one]. lra. }
  destruct (groups_need (fat_tree k n) (single_path k n U) (2 * k ^ (n - g)) (k ^ g)
      (fun i j => snd (U i j) / k ^ (fst (U i j) - g))%nat
      (link k n g 0) (link k n g 1)) as [x [L X]]; try rewrite <- EN; try assumption.
  - lia.
  - reflexivity.
  - apply tree_rates.
  - intros i j Hi Hj E. destruct (HU i j) as [L0 [Lx Ls]]. pose proof (climbs_ge i j g Hg E).
    apply digits_lt; [lia|exact Ls].
  - intros v Hv. cbn [bandwidth fat_tree]. repeat split; try reflexivity; apply link_lt; try assumption; lia.
  - intros v i j Hv Hi Hj T. unfold up_pairs in T. rewrite !andb_true_iff, negb_true_iff, Nat.eqb_neq, !Nat.eqb_eq in T.
    destruct T as [[T1 T2] T3]. apply Pair; auto.
  - intros v i j Hv Hi Hj T. unfold down_pairs in T. rewrite !andb_true_iff, negb_true_iff, Nat.eqb_neq,
      !Nat.eqb_eq in T.
    destruct T as [[T1 T2] T3]. apply Pair; auto.
  - exists x. split; [lia|exact X].
Qed.

(* ---- Upper bounds ---- *)

(* Where every channel carries pairs of sources, or of destinations, of a total weight of at most r: the paper's Lemma 9. *)
Lemma one_sided G f r : unit_rates G ->
  (forall c, (c < channels G)%nat -> exists p : nat -> Q, (forall i, (i < terminals G)%nat ->
    0 <= p i) /\ sum p (terminals G) <= r * bandwidth G c /\
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
    + rewrite (sum_eq (fun i => ejection G i * p i) p) by (intros i Hi; rewrite (proj1 (proj2 (U i Hi))); ring).
      rewrite (sum_0 (fun j => injection G j * 0)) by (intros; ring). lra.
Qed.

(* Numbers below a * b fall into a groups of b. *)
Lemma group_size a b w : (w < a)%nat -> sum (fun p => one (p / b =? w)%nat) (a * b) == rational b.
Proof.
  intros Hw. rewrite sum_grid. rewrite (sum_eq _ (fun g => one (g =? w)%nat * rational b)).
  - rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Hw). cbn [one]. ring.
  - intros g _. rewrite (sum_eq _ (fun _ => one (g =? w)%nat)).
    + rewrite sum_const. fold (rational b). ring.
    + intros q Hq. rewrite grid_div by exact Hq. reflexivity.
Qed.

Theorem all_paths_worst : worst_at_most (fat_tree k n) (all_paths k n) 1.
Proof.
  apply one_sided; [apply tree_rates|]. intros c Hc. destruct (link_inv c Hc) as [h [d [v [Hh [Hd [Hv ->]]]]]].
  cbn [terminals bandwidth fat_tree]. fold N. set (q := (k ^ h)%nat).
  assert (Q : 0 < rational q) by (apply rational_pos, power_pos, Hk).
  assert (q0 : (0 < q)%nat) by (apply power_pos, Hk).
  assert (EN : N = (2 * k ^ (n - h) * q)%nat) by (apply hosts_split; lia).
  assert (Hv' := Hv). rewrite EN in Hv'. apply grid_row in Hv'. destruct Hv' as [Va Vr].
  exists (fun s => one (s / q =? v / q)%nat * / rational q). split; [|split].
  - intros. apply Qmult_nonneg; [apply one_nonneg|apply Qlt_le_weak, Qinv_lt_0_compat, Q].
  - rewrite EN, sum_scale_r, group_size by exact Va. apply Qle_lteq. right. field. lra.
  - assert (Load : forall i j, (i < N)%nat -> (j < N)%nat ->
      all_paths k n i j (link k n h d v) <= one ((if (d =? 0)%nat then i else j) / q =? v / q)%nat * / rational q).
    { intros i j Hi Hj. unfold all_paths. set (s := if (d =? 0)%nat then i else j).
      pose proof (Qmult_nonneg _ _ (one_nonneg (s / q =? v / q)%nat) (Qlt_le_weak _ _ (Qinv_lt_0_compat _ Q))) as Z.
      destruct (Nat.eq_dec i j) as [->|E]; [rewrite sum_0 by (intros; apply path_self); lra|].
      set (x := climbs k n i j) in *. assert (Lx : (x < n)%nat) by apply climbs_lt.
      rewrite (sum_eq _ (fun U => one (h <? S x)%nat * one (v =? port k h s U x)%nat)) by (intros U HU;
        apply path_link; assumption).
      destruct (Nat.ltb_spec h (S x)) as [L|L]; [|rewrite sum_0 by (intros; cbn [one]; ring); lra].
      rewrite (sum_eq _ (fun U => one (s / q =? v / q)%nat * one (U / k ^ (x - h) =? v mod q)%nat)).
      2:{ intros U HU. unfold port. fold q. rewrite (grid_inv v q) at 1 by exact q0.
          rewrite grid_eq, one_and by first [exact Vr|apply digits_lt; [lia|exact HU]].
          rewrite (Nat.eqb_sym (v / q)), (Nat.eqb_sym (v mod q)). cbn [one]. ring. }
      rewrite sum_scale. rewrite (power_split k x h) by lia. rewrite (Nat.mul_comm (k ^ (x - h))). fold q.
      rewrite group_size by exact Vr.
      rewrite rational_mult. assert (R : 0 < rational (k ^ (x - h))) by (apply rational_pos, power_pos, Hk).
      apply Qle_lteq. right. field. split; lra. }
    destruct d as [|[|]]; [left|right|lia]; intros i j Hi Hj; apply (Load i j Hi Hj).
Qed.

(* ---- The oblivious ratio ---- *)

(* A host's channels are all it has, so traffic that any routing carries is admissible. *)
Lemma one_end (e : nat -> nat) g i t0 : (t0 < n * 2)%nat -> (i < N)%nat ->
  (forall v, (v < N)%nat -> e (t0 * N + v)%nat = v) -> (forall t v, (t < n * 2)%nat -> t <> t0 -> (v < N)%nat ->
    (N <= e (t * N + v))%nat) ->
  sum (fun c => one (e c =? i)%nat * g c) (n * 2 * N) == g (t0 * N + i)%nat.
Proof.
  intros Ht Hi E0 E1. rewrite sum_grid. rewrite (sum_eq _ (fun t => one (t =? t0)%nat * g (t * N + i)%nat)).
  - rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Ht). cbn [one]. ring.
  - intros t Lt. destruct (Nat.eqb_spec t t0) as [->|D]; cbn [one].
    + rewrite (sum_eq _ (fun v => one (v =? i)%nat * g (t0 * N + v)%nat)) by (intros v Hv; rewrite (E0 v Hv);
        reflexivity).
      rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Hi). cbn [one]. ring.
    + rewrite sum_0; [ring|]. intros v Hv. pose proof (E1 t v Lt D Hv). rewrite (proj2 (Nat.eqb_neq _ i)) by lia.
      cbn [one]. ring.
Qed.

Lemma switch_ge h e : (N <= switch k n h e)%nat.
Proof. unfold switch. rewrite <- Nat.add_assoc. apply Nat.le_add_r. Qed.

Lemma pair_of t v : (v < N)%nat -> (t * N + v)%nat = link k n (t / 2) (t mod 2) v.
Proof. intros. unfold link. rewrite <- grid_inv by lia. reflexivity. Qed.

Lemma host_out g i : (i < N)%nat -> outflow (fat_tree k n) g i == g (link k n 0 0 i).
Proof.
  intros Hi. unfold outflow. change (channels (fat_tree k n)) with (n * 2 * N)%nat.
  rewrite (one_end (tail (fat_tree k n)) g i 0); [reflexivity|lia|exact Hi| |].
  - intros v Hv. rewrite pair_of by exact Hv. rewrite (proj1 (link_ends (0 / 2) (0 mod 2) v (Nat.mod_upper_bound 0 2
      ltac:(lia)) Hv)). reflexivity.
  - intros t v Lt D Hv. rewrite pair_of
      by exact Hv. rewrite (proj1 (link_ends (t / 2) (t mod 2) v (Nat.mod_upper_bound t 2 ltac:(lia)) Hv)).
    pose proof (Nat.div_mod t 2 ltac:(lia)). destruct (Nat.eqb_spec (t mod 2) 0); [|apply switch_ge].
    destruct (t / 2)%nat as [|h]; [lia|]. cbn [lower]. apply switch_ge.
Qed.

Lemma host_in g i : (i < N)%nat -> inflow (fat_tree k n) g i == g (link k n 0 1 i).
Proof.
  intros Hi. unfold inflow. change (channels (fat_tree k n)) with (n * 2 * N)%nat.
  rewrite (one_end (head (fat_tree k n)) g i 1); [reflexivity|lia|exact Hi| |].
  - intros v Hv. rewrite pair_of by exact Hv. rewrite (proj2 (link_ends (1 / 2) (1 mod 2) v (Nat.mod_upper_bound 1 2
      ltac:(lia)) Hv)). reflexivity.
  - intros t v Lt D Hv. rewrite pair_of
      by exact Hv. rewrite (proj2 (link_ends (t / 2) (t mod 2) v (Nat.mod_upper_bound t 2 ltac:(lia)) Hv)).
    pose proof (Nat.div_mod t 2 ltac:(lia)). pose proof (Nat.mod_upper_bound t 2 ltac:(lia)).
    destruct (Nat.eqb_spec (t mod 2) 0); [apply switch_ge|].
    destruct (t / 2)%nat as [|h]; [lia|]. cbn [lower]. apply switch_ge.
Qed.

Lemma carried_admissible X : traffic (fat_tree k n) X -> carried_within (fat_tree k n) X 1 ->
  admissible (fat_tree k n) X.
Proof.
  intros T [g [G Used]]. unfold traffic in T. unfold carries in G. unfold admissible.
  change (terminals (fat_tree k n)) with N in *. cbn [node injection ejection bandwidth connected fat_tree] in *.
  assert (V : forall i, (i < N)%nat -> (i < nodes (fat_tree k n))%nat) by (intros i Hi; exact (lower_lt 0 i Hn Hi)).
  repeat split.
  - intros i j Hi Hj. apply (T i j Hi Hj).
  - intros i Hi. destruct (G i Hi) as [P C]. specialize (C i (V i Hi)). rewrite host_out, host_in in C by exact Hi.
    rewrite (sum_eq _ (fun j => X i j)) in C.
    2:{ intros j Hj. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec i j) as [E|E]; cbn [one];
          [rewrite (proj2 (T i j Hi Hj) E)|]; ring. }
    pose proof (P (link k n 0 1 i) (link_lt 0 1 i Hn ltac:(lia) Hi)) as P1.
    specialize (Used (link k n 0 0 i) (link_lt 0 0 i Hn ltac:(lia) Hi)).
    assert (S : g i (link k n 0 0 i) <= used (fat_tree k n) g (link k n 0 0 i)).
    { apply (sum_term (fun a => g a (link k n 0 0 i)) N i); [|exact Hi]. intros a Ha. apply (G a Ha).
      apply link_lt; [exact Hn|lia|exact Hi]. }
    lra.
  - intros j Hj. specialize (Used (link k n 0 1 j) (link_lt 0 1 j Hn ltac:(lia) Hj)). rewrite Qmult_1_l in Used.
    eapply Qle_trans; [|exact Used]. unfold used. change (terminals (fat_tree k n)) with N. apply sum_le. intros i Hi.
    destruct (G i Hi) as [P C]. specialize (C j (V j Hj)). rewrite host_out, host_in in C by exact Hj.
    rewrite (sum_eq _ (fun a => one (j =? i)%nat * X i a - one (a =? j)%nat * X i a)) in C.
    2:{ intros a _. rewrite (Nat.eqb_sym a j). ring. }
    rewrite sum_minus, sum_at, (proj2 (Nat.ltb_lt _ _) Hj) in C. cbn [one] in C.
    pose proof (P (link k n 0 0 j) (link_lt 0 0 j Hn ltac:(lia) Hj)) as P1.
    pose proof (P (link k n 0 1 j) (link_lt 0 1 j Hn ltac:(lia) Hj)) as P2.
    destruct (Nat.eqb_spec j i) as [E|E].
    + rewrite (proj2 (T i j Hi Hj) (eq_sym E)). exact P2.
    + rewrite (sum_0 (fun a => one false * X i a)) in C by (intros; cbn [one]; ring). lra.
  - intros. discriminate.
Qed.

Theorem ratio_of_worst f r : worst_at_most (fat_tree k n) f r -> ratio_at_most (fat_tree k n) f r.
Proof. intros W X T C. apply W, carried_admissible; assumption. Qed.

Lemma ratio_of_needs f x : needs (fat_tree k n) f x -> ratio_at_least (fat_tree k n) f (rational x).
Proof.
  intros [X [c [HX [D [Hc B]]]]]. exists X, c. split; [|split; [|split; [exact Hc|exact B]]].
  - intros i j Hi Hj. split; [apply HX; assumption|]. intros <-. apply D, Hi.
  - apply (admissible_carried _ (all_paths k n)); [reflexivity|apply all_paths_routing|apply all_paths_worst|exact HX].
Qed.

(* One packet loads its host's channel with 1. *)
Lemma all_paths_need : needs (fat_tree k n) (all_paths k n) 1.
Proof.
  assert (P : (0 < k ^ n)%nat) by apply power_pos, Hk. assert (H1 : (1 < N)%nat) by (unfold N, hosts; lia).
  set (e := fun i j : nat => ((i =? 0) && (j =? 1))%nat).
  assert (E : forall i j, e i j = true -> i = 0%nat /\ j = 1%nat).
  { intros i j T. apply andb_true_iff in T. rewrite !Nat.eqb_eq in T. exact T. }
  destruct (matching_loads (fat_tree k n) (all_paths k n) e e (link k n 0 0 0)) as [X [c [HX [D [Hc B]]]]].
  - apply tree_rates.
  - intros i j i' j' _ _ _ _ T T'. apply E in T. apply E in T'. lia.
  - intros i j _ _ T. exact T.
  - apply link_lt; lia.
  - reflexivity.
  - intros i _. destruct i; reflexivity.
  - intros i j Hi Hj T. apply E in T. destruct T as [-> ->]. unfold all_paths. set (x := climbs k n 0 1).
    assert (K : 0 < rational (k ^ x)) by (apply rational_pos, power_pos, Hk). apply Qle_lteq. right.
    rewrite (sum_eq _ (fun _ => 1)); [rewrite sum_const; fold (rational (k ^ x)); field; lra|].
    intros U HU. rewrite path_link by (try assumption; try lia; apply climbs_lt). cbn [Nat.eqb].
    unfold port. rewrite Nat.sub_0_r, (Nat.div_small U) by exact HU. reflexivity.
  - exists X, c. split; [exact HX|]. split; [exact D|]. split; [exact Hc|]. eapply Qle_trans; [|exact B].
    apply Qmult_le_compat_r; [|cbn [bandwidth fat_tree]; lra]. apply rational_le. unfold edges.
    eapply Nat.le_trans; [|apply (count_lt (fun _ => false) _ _ 1)].
    + lia.
    + discriminate.
    + change (terminals (fat_tree k n)) with N. nia.
    + reflexivity.
    + change (terminals (fat_tree k n)) with N. rewrite Nat.div_small, Nat.mod_small by exact H1. reflexivity.
Qed.

Theorem all_paths_ratio :
  ratio_at_most (fat_tree k n) (all_paths k n) 1 /\ ratio_at_least (fat_tree k n) (all_paths k n) 1.
Proof. split; [apply ratio_of_worst, all_paths_worst|apply (ratio_of_needs _ 1), all_paths_need]. Qed.

Theorem single_path_ratio U g : chooses k n U -> (g < n)%nat ->
  exists x, (k ^ g <= x * x \/ k ^ (n - g) <= x)%nat /\ ratio_at_least (fat_tree k n) (single_path k n U) (rational x).
Proof.
  intros HU Hg. destruct (single_path_needs U g HU Hg) as [x [L X]]. exists x. split; [exact L|apply ratio_of_needs, X].
Qed.

(* The best height: x^2 >= k^floor(2n/3). *)
Theorem single_path_ratio_best U : chooses k n U ->
  exists x, (k ^ (2 * n / 3) <= x * x)%nat /\ ratio_at_least (fat_tree k n) (single_path k n U) (rational x).
Proof.
  intros HU. assert (D : (3 * (2 * n / 3) <= 2 * n)%nat) by apply Nat.mul_div_le, Nat.neq_succ_0.
  destruct (single_path_ratio U (2 * n / 3) HU ltac:(lia)) as [x [[L|L] X]]; exists x; (split; [|exact X]); [exact L|].
  pose proof (Nat.mul_le_mono _ _ _ _ L L) as M. rewrite <- Nat.pow_add_r in M.
  pose proof (Nat.pow_le_mono_r k (2 * n / 3) (n - 2 * n / 3 + (n - 2 * n / 3)) ltac:(lia) ltac:(lia)). lia.
Qed.

Theorem single_path_ratio_printed U : chooses k n U ->
  exists x, (k ^ ((n - 1) / 3) <= x)%nat /\ ratio_at_least (fat_tree k n) (single_path k n U) (rational x).
Proof.
  intros HU. destruct (single_path_ratio_best U HU) as [x [L X]]. exists x. split; [|exact X].
  apply Nat.square_le_simpl_nonneg; [lia|]. eapply Nat.le_trans; [|exact L]. rewrite <- Nat.pow_add_r.
  apply Nat.pow_le_mono_r; [lia|].
  pose proof (Nat.mul_div_le (n - 1) 3 ltac:(lia)). apply Nat.div_le_lower_bound; lia.
Qed.
End Tree.

Theorem single_path_ratio_2 k U : (0 < k)%nat -> chooses k 2 U ->
  exists x, (k <= x * x)%nat /\ ratio_at_least (fat_tree k 2) (single_path k 2 U) (rational x).
Proof.
  intros Hk HU. destruct (single_path_ratio k 2 Hk ltac:(lia) U 1 HU ltac:(lia)) as [x [L X]]. exists x.
  split; [|exact X].
  cbn [Nat.sub] in L. rewrite !Nat.pow_1_r in L. nia.
Qed.

Theorem single_path_ratio_3 k U : (0 < k)%nat -> chooses k 3 U ->
  exists x, (k <= x)%nat /\ ratio_at_least (fat_tree k 3) (single_path k 3 U) (rational x).
Proof.
  intros Hk HU. destruct (single_path_ratio k 3 Hk ltac:(lia) U 2 HU ltac:(lia)) as [x [L X]]. exists x.
  split; [|exact X].
  cbn [Nat.sub] in L. rewrite Nat.pow_1_r, Nat.pow_2_r in L. destruct L as [L|L]; [apply Nat.square_le_simpl_nonneg;
    lia|exact L].
Qed.

(* ---- OSRM2 ---- *)

Lemma climbs_2 k i j : climbs k 2 i j = if (i / k =? j / k)%nat then 0%nat else 1%nat.
Proof. unfold climbs. cbn [turn Nat.sub]. rewrite Nat.pow_1_r. reflexivity. Qed.

Lemma osrm2_chooses z : (0 < z)%nat -> chooses (z * z) 2 (osrm2 z).
Proof.
  intros Hz i j. rewrite climbs_2. unfold osrm2. destruct (_ =? _)%nat; cbn [fst snd]; [cbn; lia|]. rewrite Nat.pow_1_r.
  assert (G : forall a, ((a mod (z * z)) / z < z)%nat)
    by (intros a; apply Nat.div_lt_upper_bound; [lia|apply Nat.mod_upper_bound; nia]).
  split; [lia|]. split; [lia|]. apply grid_lt; apply G.
Qed.

Lemma sum_leaf k a (g : nat -> Q) : (a < 2 * k)%nat ->
  sum (fun i => one (i / k =? a)%nat * g (i mod k)%nat) (2 * k * k) == sum g k.
Proof.
  intros Ha. rewrite sum_grid. rewrite (sum_eq _ (fun b => one (b =? a)%nat * sum g k)).
  - rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Ha). cbn [one]. ring.
  - intros b Hb. rewrite <- sum_scale. apply sum_eq. intros p Hp. rewrite grid_div, grid_mod by exact Hp. reflexivity.
Qed.

Theorem osrm2_worst z : (0 < z)%nat ->
  worst_at_most (fat_tree (z * z) 2) (single_path (z * z) 2 (osrm2 z)) (rational z).
Proof.
  intros Hz. set (k := (z * z)%nat). assert (Hk : (0 < k)%nat) by (unfold k; nia).
  pose proof (osrm2_chooses z Hz) as U. fold k in U.
  assert (Z1 : 1 <= rational z) by (change 1 with (rational 1); apply rational_le; lia).
  apply one_sided; [apply tree_rates|]. intros c Hc. destruct (link_inv k 2 Hk ltac:(lia) c Hc) as [h [d [v [Hh [Hd [Hv
    ->]]]]]].
  change (terminals (fat_tree k 2)) with (hosts k 2). cbn [bandwidth fat_tree].
  assert (EN : hosts k 2 = (2 * k * k)%nat) by (unfold hosts; rewrite Nat.pow_2_r; lia).
  set (s := fun i j : nat => if (d =? 0)%nat then i else j).
  assert (Side : forall p : nat -> Q, (forall i, 0 <= p i) ->
     (forall i j, (i < hosts k 2)%nat -> (j < hosts k 2)%nat -> i <> j ->
        one (h <? S (fst (osrm2 z i j)))%nat * one (v =? port k h (s i j) (snd (osrm2 z i j)) (fst (osrm2 z i j)))%nat <=
          p (s i j)) ->
     (forall i j, (i < hosts k 2)%nat -> (j < hosts k 2)%nat ->
       single_path k 2 (osrm2 z) i j (link k 2 h d v) <= p i) \/
     (forall i j, (i < hosts k 2)%nat -> (j < hosts k 2)%nat -> single_path k 2 (osrm2 z) i j (link k 2 h d v) <= p j)).
  { intros p P H.
    assert (L : forall i j, (i < hosts k 2)%nat -> (j < hosts k 2)%nat ->
      single_path k 2 (osrm2 z) i j (link k 2 h d v) <= p (s i j)).
    { intros i j Hi Hj. unfold single_path. destruct (Nat.eq_dec i j) as [->|E]; [rewrite path_self; apply P|].
      rewrite path_link by (try assumption; try lia; apply U). apply H; assumption. }
    unfold s in L. destruct d as [|[|]]; [left|right|lia]; exact L. }
  destruct h as [|[|]]; [| |lia].
  - exists (fun i => one (i =? v)%nat). split; [intros; apply one_nonneg|]. split.
    + rewrite (sum_eq _ (fun i => one (i =? v)%nat * 1)) by (intros; ring).
      rewrite sum_at, (proj2 (Nat.ltb_lt _ _) Hv). cbn [one]. lra.
    + apply Side; [intros; apply one_nonneg|]. intros i j Hi Hj E.
      assert (P : port k 0 (s i j) (snd (osrm2 z i j)) (fst (osrm2 z i j)) = s i j).
      { unfold port. rewrite Nat.sub_0_r, (Nat.div_small (snd (osrm2 z i j))) by apply U. cbn [Nat.pow]. rewrite Nat.div_1_r.
        lia. }
      rewrite P, (Nat.eqb_sym v). cbn [Nat.ltb Nat.leb one]. lra.
  - assert (Hv' := Hv). rewrite EN in Hv'. apply grid_row in Hv'. destruct Hv' as [Va Vr].
    pose proof (grid_row (v mod k) z z Vr) as [G1 G2].
    set (w := if (d =? 0)%nat then ((v mod k) / z)%nat else ((v mod k) mod z)%nat).
    exists (fun i => one (i / k =? v / k)%nat * one ((i mod k) / z =? w)%nat).
    split; [intros; apply Qmult_nonneg; apply one_nonneg|]. split.
    + rewrite EN, (sum_leaf k (v / k) (fun p => one (p / z =? w)%nat) Va). unfold k at 1.
      rewrite group_size by (unfold w; destruct (d =? 0)%nat; assumption). lra.
    + apply Side; [intros; apply Qmult_nonneg; apply one_nonneg|]. intros i j Hi Hj E.
      rewrite <- (one_and (s i j / k =? v / k)%nat).
      unfold osrm2. fold k. destruct (Nat.eqb_spec (i / k) (j / k)) as [F|F]; cbn [fst snd]; [cbn [Nat.ltb Nat.leb one];
        pose proof (one_nonneg ((s i j / k =? v / k)%nat && (s i j mod k / z =? w)%nat)); lra|].
      set (a := ((i mod k) / z)%nat). set (b := ((j mod k) / z)%nat).
      assert (Hb : (b < z)%nat) by (apply Nat.div_lt_upper_bound; [lia|apply Nat.mod_upper_bound; lia]).
      assert (Ha : (a < z)%nat) by (apply Nat.div_lt_upper_bound; [lia|apply Nat.mod_upper_bound; lia]).
      unfold port. rewrite Nat.pow_1_r. cbn [Nat.sub Nat.pow Nat.ltb Nat.leb].
      rewrite Nat.div_1_r, (grid_inv v k Hk) at 1.
      rewrite grid_eq by first [exact Vr|apply grid_lt; assumption].
      destruct (Nat.eqb_spec (v / k) (s i j / k)) as [P|P]; [|cbn [andb one];
        pose proof (one_nonneg ((s i j / k =? v / k)%nat && (s i j mod k / z =? w)%nat)); lra].
      destruct (Nat.eqb_spec (v mod k) (a * z + b)) as [R|R]; [|cbn [andb one];
        pose proof (one_nonneg ((s i j / k =? v / k)%nat && (s i j mod k / z =? w)%nat)); lra].
      rewrite <- P, Nat.eqb_refl. unfold w. rewrite R, grid_div, grid_mod by exact Hb. unfold s, a, b.
      destruct (d =? 0)%nat; rewrite Nat.eqb_refl; cbn [andb one]; lra.
Qed.

Theorem osrm2_ratio z : (0 < z)%nat ->
  ratio_at_most (fat_tree (z * z) 2) (single_path (z * z) 2 (osrm2 z)) (rational z) /\
  ratio_at_least (fat_tree (z * z) 2) (single_path (z * z) 2 (osrm2 z)) (rational z).
Proof.
  intros Hz. assert (Hk : (0 < z * z)%nat) by nia. split; [apply ratio_of_worst; [exact Hk|lia|apply osrm2_worst, Hz]|].
  destruct (single_path_ratio_2 (z * z) (osrm2 z) Hk (osrm2_chooses z Hz)) as [x [L [X [c [T [C [Hc B]]]]]]].
  exists X, c. repeat (split; [assumption|]). assert (Lx : (z <= x)%nat) by nia. apply rational_le in Lx.
  cbn [bandwidth fat_tree] in *. lra.
Qed.
