(* Networks, unit flows, admissible traffic, loads and the worst case: the definitions on which all theorems of this
   folder rest, and the rules for sums that their proofs use. Rates, bandwidths and loads are rational numbers; nodes,
   channels and terminals are the numbers below a bound, and a sum over them is [sum f n] = f 0 + ... + f (n-1). *)
Require Import QArith Lia Lqa Arith Bool.
Open Scope Q_scope.

Fixpoint sum (f : nat -> Q) (n : nat) : Q :=
  match n with O => 0 | S k => sum f k + f k end.

(* A network: channels lead from a tail to a head and have a bandwidth; each terminal sits at a node and has a rate of
   injection and one of ejection; connected pairs of terminals are those that a routing has to serve (all, unless
   failures cut some off). Numbers beyond the counts have no meaning. *)
Record network := {
  nodes : nat;
  channels : nat;
  tail : nat -> nat;
  head : nat -> nat;
  bandwidth : nat -> Q;
  terminals : nat;
  node : nat -> nat;
  injection : nat -> Q;
  ejection : nat -> Q;
  connected : nat -> nat -> bool
}.

Definition proper (G : network) : Prop :=
  (forall c, (c < channels G)%nat -> (tail G c < nodes G)%nat /\ (head G c < nodes G)%nat /\ 0 < bandwidth G c) /\
  (forall i, (i < terminals G)%nat -> (node G i < nodes G)%nat /\ 0 <= injection G i /\ 0 <= ejection G i).

(* 1 where a condition holds, 0 elsewhere. *)
Definition one (b : bool) : Q := if b then 1 else 0.

(* What a function on channels carries out of a node and into it. *)
Definition outflow (G : network) (f : nat -> Q) (v : nat) : Q := sum (fun c => one (tail G c =? v)%nat * f c) (channels G).
Definition inflow (G : network) (f : nat -> Q) (v : nat) : Q := sum (fun c => one (head G c =? v)%nat * f c) (channels G).

(* A flow of value x from node s to node t: never negative, and out - in is x at s, -x at t, 0 elsewhere (0 everywhere
   where s = t: a circulation). No paths are named: a routing's paths, taken with their probabilities, are such a flow. *)
Definition flow (G : network) (s t : nat) (x : Q) (f : nat -> Q) : Prop :=
  (forall c, (c < channels G)%nat -> 0 <= f c) /\
  (forall v, (v < nodes G)%nat -> outflow G f v - inflow G f v == x * one (v =? s)%nat - x * one (v =? t)%nat).

Definition unit_flow (G : network) (s t : nat) (f : nat -> Q) : Prop := flow G s t 1 f.

(* An oblivious routing: one unit flow for each connected pair of terminals, nothing for the others;
   f i j c is what the pair (i, j) sends over channel c for each unit of its traffic. *)
Definition routing (G : network) (f : nat -> nat -> nat -> Q) : Prop :=
  forall i j, (i < terminals G)%nat -> (j < terminals G)%nat ->
    if connected G i j then unit_flow G (node G i) (node G j) (f i j)
    else forall c, (c < channels G)%nat -> f i j c == 0.

(* Admissible traffic: never negative, no terminal sends more than its injection or receives more than its ejection
   (doubly substochastic matrices where all rates are 1), nothing between pairs that are not connected. *)
Definition admissible (G : network) (X : nat -> nat -> Q) : Prop :=
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> 0 <= X i j) /\
  (forall i, (i < terminals G)%nat -> sum (fun j => X i j) (terminals G) <= injection G i) /\
  (forall j, (j < terminals G)%nat -> sum (fun i => X i j) (terminals G) <= ejection G j) /\
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> connected G i j = false -> X i j == 0).

(* The load of channel c when the traffic X follows the flows f. *)
Definition load (G : network) (f : nat -> nat -> nat -> Q) (X : nat -> nat -> Q) (c : nat) : Q :=
  sum (fun i => sum (fun j => X i j * f i j c) (terminals G)) (terminals G).

(* The worst case of a routing: the largest load per bandwidth over all admissible traffic and all channels. *)
Definition worst_at_most (G : network) (f : nat -> nat -> nat -> Q) (r : Q) : Prop :=
  forall X, admissible G X -> forall c, (c < channels G)%nat -> load G f X c <= r * bandwidth G c.

Definition worst_at_least (G : network) (f : nat -> nat -> nat -> Q) (r : Q) : Prop :=
  exists X c, admissible G X /\ (c < channels G)%nat /\ r * bandwidth G c <= load G f X c.

Definition worst_is (G : network) (f : nat -> nat -> nat -> Q) (r : Q) : Prop :=
  worst_at_most G f r /\ worst_at_least G f r.

(* No routing of a class has a worst case below r. *)
Definition every_worst_at_least (G : network) (class : (nat -> nat -> nat -> Q) -> Prop) (r : Q) : Prop :=
  forall f, routing G f -> class f -> worst_at_least G f r.

Definition any (f : nat -> nat -> nat -> Q) : Prop := True.

(* Traffic that some routing carries, adaptive ones included: g i c is what source i sends over channel c, to all its
   destinations j together, X i j to each. A routing's flows pair by pair, added up by sources, are such a g. *)
Definition carries (G : network) (X : nat -> nat -> Q) (g : nat -> nat -> Q) : Prop :=
  forall i, (i < terminals G)%nat ->
    (forall c, (c < channels G)%nat -> 0 <= g i c) /\
    (forall v, (v < nodes G)%nat -> outflow G (g i) v - inflow G (g i) v ==
       sum (fun j => X i j * (one (v =? node G i)%nat - one (v =? node G j)%nat)) (terminals G)).

(* What all sources send over channel c. *)
Definition used (G : network) (g : nat -> nat -> Q) (c : nat) : Q := sum (fun i => g i c) (terminals G).

(* The oblivious ratio: whatever traffic between different terminals some routing, adaptive ones included, carries with no
   channel beyond its bandwidth, this routing loads no channel beyond r times its bandwidth; and some such traffic does it. *)
Definition carried_within (G : network) (X : nat -> nat -> Q) (r : Q) : Prop :=
  exists g, carries G X g /\ forall c, (c < channels G)%nat -> used G g c <= r * bandwidth G c.

Definition traffic (G : network) (X : nat -> nat -> Q) : Prop :=
  forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> 0 <= X i j /\ (i = j -> X i j == 0).

Definition ratio_at_most (G : network) (f : nat -> nat -> nat -> Q) (r : Q) : Prop :=
  forall X, traffic G X -> carried_within G X 1 -> forall c, (c < channels G)%nat -> load G f X c <= r * bandwidth G c.

Definition ratio_at_least (G : network) (f : nat -> nat -> nat -> Q) (r : Q) : Prop :=
  exists X c, traffic G X /\ carried_within G X 1 /\ (c < channels G)%nat /\ r * bandwidth G c <= load G f X c.

(* ---- Sums ---- *)

Lemma sum_le f g n : (forall i, (i < n)%nat -> f i <= g i) -> sum f n <= sum g n.
Proof.
  induction n as [|n IH]; intros H; simpl.
  - lra.
  - assert (sum f n <= sum g n) by (apply IH; intros; apply H; lia).
    assert (f n <= g n) by (apply H; lia). lra.
Qed.

Lemma sum_eq f g n : (forall i, (i < n)%nat -> f i == g i) -> sum f n == sum g n.
Proof.
  induction n as [|n IH]; intros H; simpl; [lra|].
  rewrite IH by (intros; apply H; lia). rewrite (H n) by lia. lra.
Qed.

Lemma sum_0 f n : (forall i, (i < n)%nat -> f i == 0) -> sum f n == 0.
Proof.
  induction n as [|n IH]; intros H; simpl; [lra|].
  rewrite IH by (intros; apply H; lia). rewrite (H n) by lia. lra.
Qed.

Lemma sum_nonneg f n : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum f n.
Proof.
  intros H. rewrite <- (sum_0 (fun _ => 0) n) by (intros; lra). apply sum_le. exact H.
Qed.

Lemma sum_plus f g n : sum (fun i => f i + g i) n == sum f n + sum g n.
Proof. induction n as [|n IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_minus f g n : sum (fun i => f i - g i) n == sum f n - sum g n.
Proof. induction n as [|n IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_scale x f n : sum (fun i => x * f i) n == x * sum f n.
Proof. induction n as [|n IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_scale_r x f n : sum (fun i => f i * x) n == sum f n * x.
Proof. induction n as [|n IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_const x n : sum (fun _ => x) n == inject_Z (Z.of_nat n) * x.
Proof.
  induction n as [|n IH]; [cbn [sum]; ring|]. cbn [sum]. rewrite IH.
  rewrite Nat2Z.inj_succ, <- Z.add_1_r, inject_Z_plus. ring.
Qed.

Lemma sum_swap f m n : sum (fun i => sum (fun j => f i j) n) m == sum (fun j => sum (fun i => f i j) m) n.
Proof.
  induction m as [|m IH]; simpl.
  - symmetry. apply sum_0. reflexivity.
  - rewrite IH. rewrite <- sum_plus. apply sum_eq. intros. lra.
Qed.

Lemma sum_split f m n : sum f (m + n) == sum f m + sum (fun i => f (m + i)%nat) n.
Proof.
  induction n as [|n IH]; simpl.
  - rewrite Nat.add_0_r. lra.
  - rewrite Nat.add_succ_r. simpl. rewrite IH. lra.
Qed.

(* A sum with one place that counts. *)
Lemma sum_pick f n k : (k < n)%nat -> sum (fun i => one (k =? i)%nat * f i) n == f k.
Proof.
  induction n as [|n IH]; intros H; [lia|]. cbn [sum]. destruct (Nat.eq_dec k n) as [->|E].
  - rewrite (sum_0 _ n). 2:{ intros i Hi. replace (n =? i)%nat with false by (symmetry; apply Nat.eqb_neq; lia). simpl. lra. }
    rewrite Nat.eqb_refl. simpl. lra.
  - rewrite IH by lia. replace (k =? n)%nat with false by (symmetry; apply Nat.eqb_neq; lia). simpl. lra.
Qed.

Lemma sum_term f n k : (forall i, (i < n)%nat -> 0 <= f i) -> (k < n)%nat -> f k <= sum f n.
Proof.
  induction n as [|n IH]; intros H L; [lia|]. cbn [sum]. destruct (Nat.eq_dec k n) as [->|E].
  - assert (0 <= sum f n) by (apply sum_nonneg; intros; apply H; lia). lra.
  - assert (f k <= sum f n) by (apply IH; [intros; apply H; lia|lia]). assert (0 <= f n) by (apply H; lia). lra.
Qed.

(* An average is reached by a term: if the sum of g is at most that of f, then g is at most f somewhere. *)
Lemma sum_exists f g n : (0 < n)%nat -> sum g n <= sum f n -> exists i, (i < n)%nat /\ g i <= f i.
Proof.
  intros Hn. destruct n as [|n]; [lia|]. clear Hn. induction n as [|n IH]; intros H.
  - exists 0%nat. simpl in H. split; [lia|lra].
  - destruct (Qlt_le_dec (f (S n)) (g (S n))) as [L|L].
    + destruct IH as [i [Hi Hg]].
      * cbn [sum] in *. lra.
      * exists i. split; [lia|exact Hg].
    + exists (S n). split; [lia|exact L].
Qed.

Lemma sum_pairs_le f g m n : (forall i j, (i < m)%nat -> (j < n)%nat -> f i j <= g i j) ->
  sum (fun i => sum (fun j => f i j) n) m <= sum (fun i => sum (fun j => g i j) n) m.
Proof. intros H. apply sum_le; intros. apply sum_le; intros. apply H; assumption. Qed.

Lemma sum_pairs_eq f g m n : (forall i j, (i < m)%nat -> (j < n)%nat -> f i j == g i j) ->
  sum (fun i => sum (fun j => f i j) n) m == sum (fun i => sum (fun j => g i j) n) m.
Proof. intros H. apply sum_eq; intros. apply sum_eq; intros. apply H; assumption. Qed.

(* ---- Flows and potentials ---- *)

(* Sums over channels by their ends. *)
Lemma sum_ends (e : nat -> nat) (f p : nat -> Q) n m : (forall c, (c < n)%nat -> (e c < m)%nat) ->
  sum (fun v => p v * sum (fun c => one (e c =? v)%nat * f c) n) m == sum (fun c => p (e c) * f c) n.
Proof.
  intros H. rewrite (sum_eq _ (fun v => sum (fun c => one (e c =? v)%nat * (p v * f c)) n)).
  2:{ intros v Hv. rewrite <- sum_scale. apply sum_eq; intros. ring. }
  rewrite sum_swap. apply sum_eq. intros c Hc. apply (sum_pick (fun v => p v * f c)). apply H, Hc.
Qed.

(* What a function on channels gains in a potential p is what the nodes take up: the identity behind all lower bounds. *)
Lemma potential_gain G f p : proper G ->
  sum (fun c => (p (head G c) - p (tail G c)) * f c) (channels G) ==
  sum (fun v => p v * (inflow G f v - outflow G f v)) (nodes G).
Proof.
  intros [H _].
  rewrite (sum_eq _ (fun c => p (head G c) * f c - p (tail G c) * f c)) by (intros; ring).
  rewrite sum_minus.
  rewrite <- (sum_ends (head G) f p _ (nodes G)) by (intros; apply H; assumption).
  rewrite <- (sum_ends (tail G) f p _ (nodes G)) by (intros; apply H; assumption).
  rewrite <- sum_minus. apply sum_eq. intros. unfold inflow, outflow. ring.
Qed.

(* A flow of value x from s to t gains x times the difference of potential. *)
Lemma flow_gain G s t x f p : proper G -> (s < nodes G)%nat -> (t < nodes G)%nat -> flow G s t x f ->
  sum (fun c => (p (head G c) - p (tail G c)) * f c) (channels G) == x * (p t - p s).
Proof.
  intros HG Hs Ht [_ Hf]. rewrite potential_gain by assumption.
  rewrite (sum_eq _ (fun v => x * (one (t =? v)%nat * p v) - x * (one (s =? v)%nat * p v))).
  2:{ intros v Hv. specialize (Hf v Hv). rewrite (Nat.eqb_sym t v), (Nat.eqb_sym s v).
      setoid_replace (inflow G f v - outflow G f v) with (- (outflow G f v - inflow G f v)) by ring.
      rewrite Hf. ring. }
  rewrite sum_minus, !sum_scale, !sum_pick by assumption. ring.
Qed.
