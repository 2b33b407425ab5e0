(* Permutations are the worst traffic: for every non-negative w some permutation maximizes the sum of w x over all doubly
   substochastic matrices x. As in the proof of Birkhoff's theorem, a matrix with entries between 0 and 1 has a cycle of
   them, around which some can be raised and others lowered, without loss, until one of them is 0. *)
Require Import QArith Lia Lqa Arith Bool List.
From Obliv Require Import Network Duality Mesh Flows Focus.
Import ListNotations.
Open Scope Q_scope.

Section Matrices.
Variable n : nat.

Definition doubly_stochastic (x : nat -> nat -> Q) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= x i j) /\
  (forall i, (i < n)%nat -> sum (fun j => x i j) n == 1) /\
  (forall j, (j < n)%nat -> sum (fun i => x i j) n == 1).

Definition product (w x : nat -> nat -> Q) : Q := sum (fun i => sum (fun j => x i j * w i j) n) n.

Definition fractional (a : Q) : bool := negb (Qle_bool a 0) && negb (Qle_bool 1 a).

Lemma Qle_bool_false a b : Qle_bool a b = false <-> b < a.
Proof.
  split; intros H.
  - apply Qnot_le_lt. intros L. apply Qle_bool_iff in L. congruence.
  - destruct (Qle_bool a b) eqn:E; [|reflexivity]. apply Qle_bool_iff in E. lra.
Qed.

Lemma fractional_true a : fractional a = true <-> 0 < a /\ a < 1.
Proof. unfold fractional. rewrite andb_true_iff, !negb_true_iff, !Qle_bool_false. reflexivity. Qed.

Lemma fractional_false a : fractional a = false -> a <= 0 \/ 1 <= a.
Proof.
  unfold fractional. rewrite andb_false_iff, !negb_false_iff, !Qle_bool_iff. tauto.
Qed.

(* A second fractional entry of a row or column. *)
Definition other (f : nat -> Q) (j : nat) : nat :=
  match find (fun a => negb (a =? j)%nat && fractional (f a)) (seq 0 n) with Some a => a | None => 0%nat end.

Lemma other_fractional f j : (forall a, (a < n)%nat -> 0 <= f a) -> sum f n == 1 -> (j < n)%nat ->
  fractional (f j) = true ->
  (other f j < n)%nat /\ other f j <> j /\ fractional (f (other f j)) = true.
Proof.
  intros Hf H1 Hj Fj. apply fractional_true in Fj. unfold other.
  destruct (find _ _) as [a|] eqn:E.
  - apply find_some in E. destruct E as [I E]. apply in_seq in I. apply andb_true_iff in E. destruct E as [N E].
    apply negb_true_iff, Nat.eqb_neq in N. repeat split; [lia|exact N|exact E].
  - exfalso. set (rest := fun a => one (negb (j =? a)%nat) * f a).
    assert (R : sum rest n == 1 - f j).
    { rewrite <- H1, <- (sum_pick f n j Hj), <- sum_minus. apply sum_eq. intros a _. unfold rest. rewrite one_neg.
      ring. }
    assert (P : forall a, (a < n)%nat -> 0 <= rest a) by (intros a Ha; apply Qmult_nonneg;
      [apply one_nonneg|apply Hf, Ha]).
    assert (Z : sum rest n == 0).
    { apply sum_0. intros a Ha. pose proof (sum_term rest n a P Ha) as L. pose proof (P a Ha) as P'. unfold rest in *.
      destruct (Nat.eqb_spec j a) as [->|N]; cbn [one negb] in *; [ring|].
      pose proof (find_none _ _ E a ltac:(apply in_seq; lia)) as F. cbv beta in F.
      rewrite (proj2 (Nat.eqb_neq a j)) in F by auto. cbn [negb andb] in F. apply fractional_false in F. lra. }
    lra.
Qed.

(* ---- A cycle ---- *)

Lemma pigeonhole m (f : nat -> nat) : (forall r, (r <= m)%nat -> (f r < m)%nat) ->
  exists s t, (s < t <= m)%nat /\ f s = f t.
Proof.
  intros H.
  assert (D : forall k, NoDup (map f (seq 0 k)) \/ exists s t, (s < t < k)%nat /\ f s = f t).
  { induction k as [|k [IH|[s [t [L E]]]]]; [left; constructor| |right; exists s, t; split; [lia|exact E]].
    destruct (in_dec Nat.eq_dec (f k) (map f (seq 0 k))) as [I|I].
    - right. apply in_map_iff in I. destruct I as [s [E I]]. apply in_seq in I. exists s, k. split; [lia|exact E].
    - left. rewrite seq_S, map_app. cbn [map]. apply (NoDup_Add (a := f k) (l := map f (seq 0 k))); [|split;
        assumption].
      pose proof (Add_app (f k) (map f (seq 0 k)) []) as A. rewrite app_nil_r in A. exact A. }
  destruct (D (S m)) as [N|[s [t [L E]]]]; [|exists s, t; split; [lia|exact E]].
  exfalso. apply (NoDup_incl_length (l' := seq 0 m)) in N.
  - rewrite map_length, !seq_length in N. lia.
  - intros a I. apply in_map_iff in I. destruct I as [r [<- I]]. apply in_seq in I. apply in_seq. specialize (H r). lia.
Qed.

(* From a repetition, one without a repetition inside. *)
Lemma first_return (f : nat -> nat) : forall d s t, (t = s + d)%nat -> (0 < d)%nat -> f s = f t ->
  exists s t, (s < t)%nat /\ f s = f t /\ forall a b, (s <= a)%nat -> (a < b)%nat -> (b <= t)%nat -> f a = f b ->
    a = s /\ b = t.
Proof.
  induction d as [d IH] using lt_wf_ind. intros s t E P F.
  set (inner := existsb (fun a => existsb (fun b =>
    (a <? b)%nat && (f a =? f b)%nat && negb ((a =? s)%nat && (b =? t)%nat)) (seq s (S d))) (seq s (S d))).
  destruct inner eqn:I; unfold inner in I.
  - apply existsb_exists in I. destruct I as [a [Ia I]]. apply existsb_exists in I. destruct I as [b [Ib I]].
    apply in_seq in Ia. apply in_seq in Ib. rewrite !andb_true_iff, negb_true_iff, andb_false_iff, Nat.ltb_lt,
      Nat.eqb_eq, !Nat.eqb_neq in I.
    destruct I as [[L Fab] N]. apply (IH (b - a)%nat) with a b; try assumption; lia.
  - exists s, t. split; [lia|]. split; [exact F|]. intros a b La L Lb Fab.
    destruct (Nat.eq_dec a s) as [Ea|Ea], (Nat.eq_dec b t) as [Eb|Eb]; [auto| | |]; exfalso;
      (assert (T : existsb (fun a => existsb (fun b =>
        (a <? b)%nat && (f a =? f b)%nat && negb ((a =? s)%nat && (b =? t)%nat)) (seq s (S d))) (seq s (S d)) = true);
       [|rewrite T in I; discriminate]);
      (apply existsb_exists; exists a; split; [apply in_seq; lia|]; apply existsb_exists; exists b; split;
        [apply in_seq; lia|]);
      rewrite !andb_true_iff, negb_true_iff, andb_false_iff, Nat.ltb_lt, Nat.eqb_eq, !Nat.eqb_neq; auto.
Qed.

Section Cycle.
Variable x : nat -> nat -> Q.
Hypothesis Hx : doubly_stochastic x.

Definition advance (at_ : nat * nat) : nat * nat :=
  let j := other (x (fst at_)) (snd at_) in (other (fun i => x i j) (fst at_), j).

Definition on_way (at_ : nat * nat) : Prop := (fst at_ < n)%nat /\ (snd at_ < n)%nat /\
  fractional (x (fst at_) (snd at_)) = true.

Lemma advance_way p : on_way p -> on_way (advance p) /\ fst (advance p) <> fst p /\ snd (advance p) <> snd p /\
  fractional (x (fst p) (snd (advance p))) = true.
Proof.
  intros [Hi [Hj F]]. destruct Hx as [P [R C]]. unfold advance. cbn [fst snd].
  destruct (other_fractional (x (fst p)) (snd p)) as [A [B D]]; auto.
  set (j := other (x (fst p)) (snd p)) in *.
  destruct (other_fractional (fun i => x i j) (fst p)) as [A' [B' D']]; auto. repeat split; assumption.
Qed.

(* Matrices with sums 0 of rows and columns, 0 outside the fractional entries, and with a -1 and a 1. *)
Lemma cycle i0 j0 : on_way (i0, j0) -> exists z,
  (forall i, (i < n)%nat -> sum (fun j => z i j) n == 0) /\
  (forall j, (j < n)%nat -> sum (fun i => z i j) n == 0) /\
  (forall i j, fractional (x i j) = false -> z i j == 0) /\
  (exists i j, (i < n)%nat /\ (j < n)%nat /\ z i j == 1) /\
  (exists i j, (i < n)%nat /\ (j < n)%nat /\ z i j == - (1)).
Proof.
  intros H0. set (way r := Nat.iter r advance (i0, j0)).
  assert (W : forall r, on_way (way r)) by (induction r as [|r IH]; [exact H0|apply advance_way, IH]).
  set (row r := fst (way r)). set (col r := snd (way r)).
  assert (Next : forall r, row (S r) <> row r /\ col (S r) <> col r /\ fractional (x (row r) (col (S r))) = true).
  { intros r. apply (advance_way (way r)), W. }
  assert (Here : forall r, fractional (x (row r) (col r)) = true) by (intros r; apply W).
  assert (Lrow : forall r, (row r < n)%nat) by (intros r; apply W).
  assert (Lcol : forall r, (col r < n)%nat) by (intros r; apply W).
  destruct (pigeonhole n row) as [s0 [t0 [L0 E0]]]; [intros; apply Lrow|].
  destruct (first_return row (t0 - s0) s0 t0) as [s [t [L [E First]]]]; [lia|lia|exact E0|]. clear s0 t0 L0 E0.
  assert (T : (S s < t)%nat).
  { destruct (Nat.eq_dec t (S s)) as [->|]; [|lia]. destruct (Next s) as [N _]. congruence. }
  set (term r i j := one (j =? col (S r))%nat * (one (i =? row r)%nat - one (i =? row (S r))%nat)).
  exists (fun i j => sum (fun q => term (s + q)%nat i j) (t - s)).
  assert (Pivot : forall j, sum (fun q => term (s + q)%nat (row (S s)) j) (t - s) ==
    one (j =? col (S (S s)))%nat - one (j =? col (S s))%nat).
  { intros j. rewrite (sum_eq _ (fun q => one (q =? 1)%nat * one (j =? col (S (S s)))%nat - one (q =? 0)%nat *
      one (j =? col (S s))%nat)).
    - rewrite sum_minus. rewrite (sum_at (fun _ => one (j =? col (S (S s)))%nat)),
        (sum_at (fun _ => one (j =? col (S s))%nat)).
      rewrite (proj2 (Nat.ltb_lt 1 (t - s))), (proj2 (Nat.ltb_lt 0 (t - s))) by lia. cbn [one]. ring.
    - intros q Hq. unfold term.
      assert (A : (row (S s) =? row (s + q)%nat)%nat = (q =? 1)%nat).
      { apply eq_true_iff_eq. rewrite !Nat.eqb_eq. split; [|intros ->; f_equal; lia]. intros Er.
        destruct (Nat.lt_trichotomy q 1) as [Q|[Q|Q]]; [|exact Q|].
        - exfalso. assert (q = 0)%nat by lia. subst q. rewrite Nat.add_0_r in Er. apply (proj1 (Next s) Er).
        - exfalso. destruct (First (S s) (s + q)%nat) as [F _]; try lia; assumption. }
      assert (B : (row (S s) =? row (S (s + q))%nat)%nat = (q =? 0)%nat).
      { apply eq_true_iff_eq. rewrite !Nat.eqb_eq. split; [|intros ->; do 2 f_equal; lia]. intros Er.
        destruct (Nat.eq_dec q 0) as [Q|Q]; [exact Q|]. exfalso.
        destruct (First (S s) (S (s + q))%nat) as [F _]; try lia; assumption. }
      rewrite A, B. destruct q as [|[|q]]; cbn [Nat.eqb one].
      + rewrite Nat.add_0_r. ring.
      + replace (s + 1)%nat with (S s) by lia. ring.
      + ring. }
  split; [|split; [|split; [|split]]].
  - intros i Hi. rewrite sum_swap.
    rewrite (sum_eq _ (fun q => one (i =? row (s + q)%nat)%nat - one (i =? row (S (s + q)))%nat)).
    2:{ intros q _. unfold term. rewrite sum_at. rewrite (proj2 (Nat.ltb_lt _ _) (Lcol _)). cbn [one]. ring. }
    assert (Tel : forall m, sum (fun q => one (i =? row (s + q)%nat)%nat - one (i =? row (S (s + q)))%nat) m ==
      one (i =? row s)%nat - one (i =? row (s + m)%nat)%nat).
    { induction m as [|m IH]; cbn [sum]; [rewrite Nat.add_0_r; ring|]. rewrite IH, Nat.add_succ_r. ring. }
    rewrite Tel. replace (s + (t - s))%nat with t by lia. rewrite E. ring.
  - intros j Hj. rewrite sum_swap. apply sum_0. intros q _. unfold term. rewrite sum_scale, sum_minus.
    rewrite (sum_eq (fun i => one (i =? row (s + q)%nat)%nat) (fun i => one (i =? row (s + q)%nat)%nat * 1))
      by (intros; ring).
    rewrite (sum_eq (fun i => one (i =? row (S (s + q)))%nat) (fun i => one (i =? row (S (s + q)))%nat * 1))
      by (intros; ring).
    rewrite !sum_at, !(proj2 (Nat.ltb_lt _ _) (Lrow _)). ring.
  - intros i j F. apply sum_0. intros q _. unfold term.
    destruct (Nat.eqb_spec j (col (S (s + q)))) as [->|]; [|cbn [one]; ring].
    destruct (Nat.eqb_spec i (row (s + q)%nat)) as [->|]; [destruct (Next (s + q)%nat) as [_ [_ N]]; congruence|].
    destruct (Nat.eqb_spec i (row (S (s + q)))) as [->|]; [rewrite Here in F; discriminate|]. cbn [one]. ring.
  - exists (row (S s)), (col (S (S s))). split; [apply Lrow|]. split; [apply Lcol|]. rewrite Pivot, Nat.eqb_refl.
    rewrite (proj2 (Nat.eqb_neq _ _) (proj1 (proj2 (Next (S s))))). reflexivity.
  - exists (row (S s)), (col (S s)). split; [apply Lrow|]. split; [apply Lcol|]. rewrite Pivot, Nat.eqb_refl.
    rewrite (proj2 (Nat.eqb_neq (col (S s)) (col (S (S s))))) by (intros C; apply (proj1 (proj2 (Next (S s)))); auto).
    reflexivity.
Qed.
End Cycle.

(* ---- One step: fewer fractional entries, no less product ---- *)

Definition entries : list (nat * nat) := list_prod (seq 0 n) (seq 0 n).

Lemma in_entries i j : In (i, j) entries <-> (i < n)%nat /\ (j < n)%nat.
Proof. unfold entries. rewrite in_prod_iff, !in_seq. lia. Qed.

Lemma least {A} (q : A -> Q) (l : list A) : l <> [] -> exists a, In a l /\ forall b, In b l -> q a <= q b.
Proof.
  induction l as [|a l IH]; intros N; [contradiction|]. destruct l as [|b l].
  - exists a. split; [left; reflexivity|]. intros b [<-|[]]. lra.
  - destruct IH as [m [I M]]; [discriminate|]. destruct (Qlt_le_dec (q a) (q m)) as [L|L].
    + exists a. split; [left; reflexivity|]. intros c [<-|C]; [lra|]. specialize (M c C). lra.
    + exists m. split; [right; exact I|]. intros c [<-|C]; [exact L|exact (M c C)].
Qed.

Lemma filter_shorter {A} (f g : A -> bool) l : (forall a, In a l -> f a = true -> g a = true) ->
  (length (filter f l) <= length (filter g l))%nat /\
  ((exists a, In a l /\ g a = true /\ f a = false) -> (length (filter f l) < length (filter g l))%nat).
Proof.
  induction l as [|a l IH]; intros H; [split; [reflexivity|intros [a [[] _]]]|].
  destruct IH as [IH1 IH2]; [intros; apply H; [right|]; assumption|]. cbn [filter].
  pose proof (H a (or_introl eq_refl)) as Ha. split.
  - destruct (f a), (g a); cbn [length]; try lia; discriminate (Ha eq_refl).
  - intros [b [[->|I] [G F]]].
    + rewrite F, G. cbn [length]. lia.
    + assert (length (filter f l) < length (filter g l))%nat by (apply IH2; exists b; auto).
      destruct (f a), (g a); cbn [length]; try lia; discriminate (Ha eq_refl).
Qed.

Definition split_entries (x : nat -> nat -> Q) : nat :=
  length (filter (fun e => fractional (x (fst e) (snd e))) entries).

Lemma product_plus w x z a : product w (fun i j => x i j + a * z i j) == product w x + a * product w z.
Proof.
  unfold product. rewrite <- sum_scale, <- sum_plus. apply sum_eq. intros i _. rewrite <- sum_scale, <- sum_plus.
  apply sum_eq. intros j _. ring.
Qed.

Lemma lowered w x z : doubly_stochastic x ->
  (forall i, (i < n)%nat -> sum (fun j => z i j) n == 0) -> (forall j, (j < n)%nat -> sum (fun i => z i j) n == 0) ->
  (forall i j, fractional (x i j) = false -> z i j == 0) -> (exists i j, (i < n)%nat /\ (j < n)%nat /\ z i j < 0) ->
  0 <= product w z ->
  exists y, doubly_stochastic y /\ product w x <= product w y /\ (split_entries y < split_entries x)%nat.
Proof.
  intros [P [R C]] Zr Zc Z0 [i0 [j0 [Hi0 [Hj0 N0]]]] Pz.
  set (falls := filter (fun e => negb (Qle_bool 0 (z (fst e) (snd e)))) entries).
  assert (F : forall i j, In (i, j) falls <-> (i < n)%nat /\ (j < n)%nat /\ z i j < 0).
  { intros i j. unfold falls. rewrite filter_In, in_entries, negb_true_iff, Qle_bool_false. cbn [fst snd]. tauto. }
  destruct (least (fun e => x (fst e) (snd e) / - z (fst e) (snd e)) falls) as [[i1 j1] [I1 M]].
  { intros E. assert (I : In (i0, j0) falls) by (apply F; auto). rewrite E in I. destruct I. }
  apply F in I1. destruct I1 as [Hi1 [Hj1 N1]]. cbn [fst snd] in M. set (a := x i1 j1 / - z i1 j1) in *.
  assert (A : 0 <= a) by (apply Qle_shift_div_l; [lra|]; rewrite Qmult_0_l; apply P; assumption).
  assert (Y0 : forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= x i j + a * z i j).
  { intros i j Hi Hj. destruct (Qlt_le_dec (z i j) 0) as [L|L].
    - assert (Mij : a <= x i j / - z i j) by (apply (M (i, j)), F; auto).
      assert (B : a * - z i j <= x i j / - z i j * - z i j) by (apply Qmult_le_compat_r; [exact Mij|lra]).
      assert (D : x i j / - z i j * - z i j == x i j) by (field; lra). rewrite D in B. lra.
    - pose proof (Qmult_nonneg _ _ A L). pose proof (P i j Hi Hj). lra. }
  exists (fun i j => x i j + a * z i j). split; [|split].
  - split; [exact Y0|split].
    + intros i Hi. rewrite sum_plus, sum_scale, R, Zr by exact Hi. ring.
    + intros j Hj. rewrite sum_plus, (sum_scale a (fun i => z i j)), C, Zc by exact Hj. ring.
  - rewrite product_plus. pose proof (Qmult_nonneg _ _ A Pz). lra.
  - apply filter_shorter.
    + intros [i j] I Fy. apply in_entries in I. cbn [fst snd] in *.
      destruct (fractional (x i j)) eqn:Fx; [reflexivity|].
      apply fractional_true in Fy. rewrite (Z0 i j Fx) in Fy.
      assert (T : fractional (x i j) = true) by (apply fractional_true; lra). congruence.
    + exists (i1, j1). split; [apply in_entries; auto|]. cbn [fst snd]. split.
      * destruct (fractional (x i1 j1)) eqn:Fx; [reflexivity|]. rewrite (Z0 i1 j1 Fx) in N1. lra.
      * assert (D : x i1 j1 + a * z i1 j1 == 0) by (unfold a; field; lra).
        destruct (fractional (x i1 j1 + a * z i1 j1)) eqn:Fy; [|reflexivity]. apply fractional_true in Fy. lra.
Qed.

Lemma improved w x : doubly_stochastic x -> (0 < split_entries x)%nat ->
  exists y, doubly_stochastic y /\ product w x <= product w y /\ (split_entries y < split_entries x)%nat.
Proof.
  intros Hx H. unfold split_entries in H.
  destruct (filter _ entries) as [|[i j] l] eqn:E; [cbn in H; lia|].
  assert (I : In (i, j) (filter (fun e => fractional (x (fst e) (snd e))) entries)) by (rewrite E; left; reflexivity).
  apply filter_In in I. destruct I as [I F]. apply in_entries in I. cbn [fst snd] in F.
  destruct (cycle x Hx i j) as [z [Zr [Zc [Z0 [[i1 [j1 [I1 [J1 Z1]]]] [i2 [j2 [I2 [J2 Z2]]]]]]]]]; [repeat split;
    cbn [fst snd]; tauto|].
  destruct (Qlt_le_dec (product w z) 0) as [L|L].
  - apply (lowered w x (fun i j => - z i j) Hx).
    + intros a Ha. rewrite (sum_eq _ (fun j => - (1) * z a j)) by (intros; ring). rewrite sum_scale, Zr by exact Ha.
      ring.
    + intros b Hb. rewrite (sum_eq _ (fun i => - (1) * z i b)) by (intros; ring).
      rewrite (sum_scale (- (1)) (fun i => z i b)), Zc by exact Hb. ring.
    + intros a b Fab. rewrite (Z0 a b Fab). ring.
    + exists i1, j1. repeat split; try assumption. lra.
    + assert (D : product w (fun i j => - z i j) == - product w z).
      { unfold product. rewrite (sum_eq _ (fun i => - (1) * sum (fun j => z i j * w i j) n)).
        - rewrite sum_scale. ring.
        - intros a _. rewrite <- sum_scale. apply sum_eq. intros. ring. }
      lra.
  - apply (lowered w x z Hx); try assumption. exists i2, j2. repeat split; try assumption. lra.
Qed.

(* ---- Whole matrices are permutations ---- *)

Definition place_of (f : nat -> Q) : nat :=
  match find (fun a => Qle_bool 1 (f a)) (seq 0 n) with Some a => a | None => 0%nat end.

Lemma whole_row f : (forall a, (a < n)%nat -> 0 <= f a) -> sum f n == 1 -> (forall a, (a < n)%nat ->
  fractional (f a) = false) ->
  (place_of f < n)%nat /\ forall a, (a < n)%nat -> f a == one (a =? place_of f)%nat.
Proof.
  intros P S W. unfold place_of. destruct (find _ _) as [b|] eqn:E.
  - apply find_some in E. destruct E as [I B]. apply in_seq in I. apply Qle_bool_iff in B. split; [lia|]. intros a Ha.
    set (rest := fun a => one (negb (b =? a)%nat) * f a).
    assert (R : sum rest n == 1 - f b).
    { rewrite <- S, <- (sum_pick f n b) by lia. rewrite <- sum_minus. apply sum_eq. intros c _. unfold rest.
      rewrite one_neg. ring. }
    assert (Rp : forall c, (c < n)%nat -> 0 <= rest c) by (intros c Hc; apply Qmult_nonneg;
      [apply one_nonneg|apply P, Hc]).
    pose proof (sum_term rest n a Rp Ha) as L. pose proof (Rp a Ha) as L'. pose proof (sum_nonneg rest n Rp).
    unfold rest in *.
    rewrite (Nat.eqb_sym a b). destruct (Nat.eqb_spec b a) as [->|]; cbn [one negb] in *; lra.
  - exfalso. assert (Z : sum f n == 0).
    { apply sum_0. intros a Ha. pose proof (find_none _ _ E a ltac:(apply in_seq; lia)) as F. cbv beta in F.
      apply Qle_bool_false in F.
      pose proof (P a Ha). destruct (fractional_false _ (W a Ha)); lra. }
    lra.
Qed.

Lemma whole x : doubly_stochastic x -> (forall i j, (i < n)%nat -> (j < n)%nat -> fractional (x i j) = false) ->
  exists g back, permutes n g back /\ forall i j, (i < n)%nat -> (j < n)%nat -> x i j == one (j =? g i)%nat.
Proof.
  intros [P [R C]] W. exists (fun i => place_of (x i)), (fun j => place_of (fun i => x i j)).
  assert (Row : forall i, (i < n)%nat -> (place_of (x i) < n)%nat /\ forall a, (a < n)%nat ->
    x i a == one (a =? place_of (x i))%nat).
  { intros i Hi. apply whole_row; auto. }
  assert (Col : forall j, (j < n)%nat -> (place_of (fun i => x i j) < n)%nat /\ forall a, (a < n)%nat ->
    x a j == one (a =? place_of (fun i => x i j))%nat).
  { intros j Hj. apply (whole_row (fun i => x i j)); auto. }
  split; [|intros; apply Row; assumption].
  intros i Hi. destruct (Row i Hi) as [L1 E1]. destruct (Col i Hi) as [L2 E2]. repeat split; try assumption.
  - destruct (Col _ L1) as [_ E]. specialize (E i Hi). rewrite (E1 _ L1), Nat.eqb_refl in E.
    destruct (Nat.eqb_spec i (place_of (fun a => x a (place_of (x i))))) as [D|]; [auto|cbn in E; discriminate].
  - destruct (Row _ L2) as [_ E]. specialize (E i Hi). rewrite (E2 _ L2), Nat.eqb_refl in E.
    destruct (Nat.eqb_spec i (place_of (x (place_of (fun a => x a i))))) as [D|]; [auto|cbn in E; discriminate].
Qed.

Lemma stochastic_below_permutation w : forall x, doubly_stochastic x ->
  exists g back, permutes n g back /\ product w x <= sum (fun i => w i (g i)) n.
Proof.
  intros x. remember (split_entries x) as m eqn:E. revert x E. induction m as [m IH] using lt_wf_ind. intros x E Hx.
  destruct (Nat.eq_dec m 0) as [->|N].
  - destruct (whole x Hx) as [g [back [Pg D]]].
    + intros i j Hi Hj. destruct (fractional (x i j)) eqn:F; [|reflexivity]. exfalso.
      assert (I : In (i, j) (filter (fun e => fractional (x (fst e) (snd e))) entries)) by (apply filter_In; split;
        [apply in_entries; auto|exact F]).
      unfold split_entries in E. destruct (filter _ _); [destruct I|discriminate].
    + exists g, back. split; [exact Pg|]. apply Qle_lteq. right. unfold product. apply sum_eq. intros i Hi.
      rewrite (sum_eq _ (fun j => one (j =? g i)%nat * w i j)) by (intros j Hj; rewrite (D i j Hi Hj); reflexivity).
      rewrite sum_at, (proj2 (Nat.ltb_lt _ _) (proj1 (Pg i Hi))). cbn [one]. ring.
  - destruct (improved w x Hx) as [y [Hy [L S]]]; [lia|].
    destruct (IH (split_entries y)) with y as [g [back [Pg G]]]; [lia|reflexivity|exact Hy|].
    exists g, back. split; [exact Pg|lra].
Qed.

(* ---- Substochastic matrices: fill up what rows and columns lack ---- *)

Definition doubly_substochastic (x : nat -> nat -> Q) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= x i j) /\
  (forall i, (i < n)%nat -> sum (fun j => x i j) n <= 1) /\
  (forall j, (j < n)%nat -> sum (fun i => x i j) n <= 1).

Lemma filled_up x : doubly_substochastic x ->
  exists y, doubly_stochastic y /\ forall i j, (i < n)%nat -> (j < n)%nat -> x i j <= y i j.
Proof.
  intros [P [R C]]. set (r i := 1 - sum (fun j => x i j) n). set (c j := 1 - sum (fun i => x i j) n).
  set (d := sum r n).
  assert (Rn : forall i, (i < n)%nat -> 0 <= r i) by (intros i Hi; specialize (R i Hi); unfold r; lra).
  assert (Cn : forall j, (j < n)%nat -> 0 <= c j) by (intros j Hj; specialize (C j Hj); unfold c; lra).
  assert (D : sum c n == d).
  { unfold d, c, r. rewrite !sum_minus. rewrite (sum_swap (fun i j => x i j)). reflexivity. }
  pose proof (sum_nonneg r n Rn) as Dn. fold d in Dn.
  destruct (Qlt_le_dec 0 d) as [L|L].
  - exists (fun i j => x i j + r i * c j * / d). pose proof (Qlt_le_weak _ _ (Qinv_lt_0_compat _ L)) as Di.
    split; [split; [|split]|].
    + intros i j Hi Hj. pose proof (Qmult_nonneg _ _ (Qmult_nonneg _ _ (Rn i Hi) (Cn j Hj)) Di).
      pose proof (P i j Hi Hj). lra.
    + intros i Hi. rewrite sum_plus. rewrite (sum_eq (fun j => r i * c j * / d) (fun j => r i * / d * c j)) by (intros;
        ring).
      rewrite sum_scale, D. setoid_replace (r i * / d * d) with (r i) by (field; lra).
      transitivity (sum (fun j => x i j) n + (1 - sum (fun j => x i j) n)); [reflexivity|ring].
    + intros j Hj. rewrite sum_plus. rewrite (sum_eq (fun i => r i * c j * / d) (fun i => c j * / d * r i)) by (intros;
        ring).
      rewrite sum_scale. fold d. setoid_replace (c j * / d * d) with (c j) by (field; lra).
      transitivity (sum (fun i => x i j) n + (1 - sum (fun i => x i j) n)); [reflexivity|ring].
    + intros i j Hi Hj. pose proof (Qmult_nonneg _ _ (Qmult_nonneg _ _ (Rn i Hi) (Cn j Hj)) Di). lra.
  - exists x. split; [|intros; lra]. split; [exact P|]. split.
    + intros i Hi. pose proof (sum_term r n i Rn Hi) as T. fold d in T. specialize (Rn i Hi). unfold r in *. lra.
    + intros j Hj. pose proof (sum_term c n j Cn Hj) as T. rewrite D in T. specialize (Cn j Hj). unfold c in *. lra.
Qed.

Lemma below_permutation w x : (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= w i j) -> doubly_substochastic x ->
  exists g back, permutes n g back /\ product w x <= sum (fun i => w i (g i)) n.
Proof.
  intros Hw Hx. destruct (filled_up x Hx) as [y [Hy L]]. destruct (stochastic_below_permutation w y Hy) as [g [back [Pg
    G]]].
  exists g, back. split; [exact Pg|]. apply Qle_trans with (product w y); [|exact G].
  apply sum_pairs_le. intros i j Hi Hj. apply times_le; [apply Hw|apply L]; assumption.
Qed.

(* ---- There are finitely many permutations, so one of them is the worst ---- *)

Fixpoint words (m : nat) : list (list nat) :=
  match m with O => [[]] | S m' => flat_map (fun a => map (cons a) (words m')) (seq 0 n) end.

Lemma in_words m l : length l = m -> (forall a, In a l -> (a < n)%nat) -> In l (words m).
Proof.
  revert l. induction m as [|m IH]; intros [|a l] L H; try discriminate; [left; reflexivity|].
  cbn [words]. apply in_flat_map. exists a. split; [apply in_seq; specialize (H a (or_introl eq_refl)); lia|].
  apply in_map, IH; [simpl in L; lia|]. intros b B. apply H. right. exact B.
Qed.

Definition permutes_b (p : list nat * list nat) : bool :=
  let g i := nth i (fst p) 0%nat in let back i := nth i (snd p) 0%nat in
  forallb (fun i => (g i <? n)%nat && (back i <? n)%nat && (back (g i) =? i)%nat && (g (back i) =? i)%nat) (seq 0 n).

Lemma permutes_b_true p : permutes_b p = true <-> permutes n (fun i => nth i (fst p) 0%nat) (fun i =>
  nth i (snd p) 0%nat).
Proof.
  unfold permutes_b, permutes. rewrite forallb_forall. split.
  - intros H i Hi. specialize (H i). rewrite !andb_true_iff, !Nat.ltb_lt, !Nat.eqb_eq in H.
    destruct H as [[[A B] C] D]; [apply in_seq; lia|auto].
  - intros H i I. apply in_seq in I. destruct (H i) as [A [B [C D]]]; [lia|].
    rewrite !andb_true_iff, !Nat.ltb_lt, !Nat.eqb_eq. auto.
Qed.

Lemma nth_table (g : nat -> nat) i : (i < n)%nat -> nth i (map g (seq 0 n)) 0%nat = g i.
Proof.
  intros Hi. rewrite (nth_indep _ 0%nat (g 0%nat)) by (rewrite map_length, seq_length; exact Hi).
  rewrite map_nth, seq_nth by exact Hi. reflexivity.
Qed.

Theorem permutation_is_worst w : (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= w i j) ->
  exists g back, permutes n g back /\ forall x, doubly_substochastic x -> product w x <= sum (fun i => w i (g i)) n.
Proof.
  intros Hw. set (all := filter permutes_b (list_prod (words n) (words n))).
  assert (All : forall g back, permutes n g back -> In (map g (seq 0 n), map back (seq 0 n)) all).
  { intros g back Pg. apply filter_In. split.
    - apply in_prod; (apply in_words; [rewrite map_length, seq_length; reflexivity|]); intros a I;
        apply in_map_iff in I;
        destruct I as [i [<- I]]; apply in_seq in I; apply (Pg i); lia.
    - apply permutes_b_true. cbn [fst snd]. intros i Hi. destruct (Pg i Hi) as [A [B [C D]]].
      rewrite !nth_table by assumption.
      auto. }
  set (q := fun p : list nat * list nat => - sum (fun i => w i (nth i (fst p) 0%nat)) n).
  destruct (least q all) as [p [Ip M]].
  { intros E. pose proof (All (fun i => i) (fun i => i)) as I. rewrite E in I. apply I. intros i Hi. auto. }
  apply filter_In in Ip. destruct Ip as [_ Ip]. apply permutes_b_true in Ip.
  exists (fun i => nth i (fst p) 0%nat), (fun i => nth i (snd p) 0%nat). split; [exact Ip|].
  intros x Hx. destruct (below_permutation w x Hw Hx) as [g [back [Pg G]]]. specialize (M _ (All g back Pg)).
  unfold q in M. cbn [fst] in M.
  rewrite (sum_eq (fun i => w i (nth i (map g (seq 0 n)) 0%nat)) (fun i => w i (g i))) in M by (intros i Hi;
    rewrite nth_table by exact Hi; reflexivity).
  lra.
Qed.
End Matrices.

(* ---- Networks with rates 1 ---- *)

Definition permutation_traffic (g : nat -> nat) (i j : nat) : Q := one (j =? g i)%nat.

Lemma permutation_admissible G g back : unit_rates G -> permutes (terminals G) g back ->
  admissible G (permutation_traffic g).
Proof.
  intros U P. unfold permutation_traffic. repeat split.
  - intros. apply one_nonneg.
  - intros i Hi. destruct (U i Hi) as [-> _]. rewrite (sum_eq _ (fun j => one (j =? g i)%nat * 1)) by (intros; ring).
    rewrite sum_at, (proj2 (Nat.ltb_lt _ _) (proj1 (P i Hi))). cbn [one]. lra.
  - intros j Hj. destruct (U j Hj) as [_ [-> _]]. destruct (P j Hj) as [_ [L [_ E]]].
    rewrite (sum_eq _ (fun i => one (i =? back j)%nat * 1)).
    + rewrite sum_at, (proj2 (Nat.ltb_lt _ _) L). cbn [one]. lra.
    + intros i Hi. destruct (P i Hi) as [_ [_ [Eb _]]].
      replace (j =? g i)%nat with (i =? back j)%nat; [ring|]. apply eq_true_iff_eq. rewrite !Nat.eqb_eq.
      split; congruence.
  - intros i j Hi Hj E. destruct (U i Hi) as [_ [_ C]]. rewrite (C j Hj) in E. discriminate.
Qed.

Lemma permutation_load G f g back c : permutes (terminals G) g back ->
  load G f (permutation_traffic g) c == sum (fun i => f i (g i) c) (terminals G).
Proof.
  intros P. apply sum_eq. intros i Hi. unfold permutation_traffic.
  rewrite sum_at, (proj2 (Nat.ltb_lt _ _) (proj1 (P i Hi))). cbn [one]. ring.
Qed.

Lemma worst_permutation_of_channel G f c : unit_rates G -> routing G f -> (c < channels G)%nat ->
  exists g back, permutes (terminals G) g back /\ forall X, admissible G X ->
    load G f X c <= load G f (permutation_traffic g) c.
Proof.
  intros U Hf Hc. destruct (permutation_is_worst (terminals G) (fun i j => f i j c)) as [g [back [P M]]].
  - intros i j Hi Hj. specialize (Hf i j Hi Hj). destruct (U i Hi) as [_ [_ C]]. rewrite (C j Hj) in Hf. apply Hf, Hc.
  - exists g, back. split; [exact P|]. intros X [X0 [Xi [Xj _]]]. rewrite (permutation_load G f g back c P). apply M.
    split; [exact X0|split].
    + intros i Hi. destruct (U i Hi) as [E _]. rewrite <- E. apply Xi, Hi.
    + intros j Hj. destruct (U j Hj) as [_ [E _]]. rewrite <- E. apply Xj, Hj.
Qed.

(* The worst case is that over permutations, and some permutation and channel attain it. *)
Theorem permutation_attains_worst_case G f : proper G -> unit_rates G -> routing G f -> (0 < channels G)%nat ->
  exists g back c r, permutes (terminals G) g back /\ admissible G (permutation_traffic g) /\ (c < channels G)%nat /\
    worst_at_most G f r /\ load G f (permutation_traffic g) c == r * bandwidth G c.
Proof.
  intros HG U Hf Hn.
  assert (H : forall m, (0 < m)%nat -> (m <= channels G)%nat ->
    exists g back c r, permutes (terminals G) g back /\ (c < channels G)%nat /\
     load G f (permutation_traffic g) c == r * bandwidth G c /\
     forall X, admissible G X -> forall c, (c < m)%nat -> load G f X c <= r * bandwidth G c).
  { induction m as [|m IH]; intros Hm Lm; [lia|].
    destruct (worst_permutation_of_channel G f m U Hf) as [g [back [P M]]]; [lia|].
    destruct HG as [HB _]. destruct (HB m) as [_ [_ B]]; [lia|].
    set (r := load G f (permutation_traffic g) m / bandwidth G m).
    assert (R : load G f (permutation_traffic g) m == r * bandwidth G m) by (unfold r; field; lra).
    destruct (Nat.eq_dec m 0) as [->|N].
    - exists g, back, 0%nat, r. split; [assumption|split; [lia|split; [assumption|]]]. intros X HX c Hc.
      replace c with 0%nat by lia. rewrite <- R. apply M, HX.
    - destruct IH as [g' [back' [c' [r' [P' [Hc' [R' M']]]]]]]; [lia|lia|].
      destruct (Qlt_le_dec r' r) as [L|L].
      + exists g, back, m, r. split; [assumption|split; [lia|split; [assumption|]]]. intros X HX c Hc.
        destruct (Nat.eq_dec c m) as [->|E]; [rewrite <- R; apply M, HX|].
        apply Qle_trans with (r' * bandwidth G c); [apply M'; [exact HX|lia]|]. destruct (HB c) as [_ [_ Bc]]; [lia|].
        apply Qmult_le_compat_r; lra.
      + exists g', back', c', r'. split; [assumption|split; [lia|split; [assumption|]]]. intros X HX c Hc.
        destruct (Nat.eq_dec c m) as [->|E]; [|apply M'; [exact HX|lia]].
        apply Qle_trans with (r * bandwidth G m); [rewrite <- R; apply M, HX|]. apply Qmult_le_compat_r; lra. }
  destruct (H (channels G) Hn (le_n _)) as [g [back [c [r [P [Hc [R M]]]]]]].
  exists g, back, c, r. split; [exact P|]. split; [apply (permutation_admissible G g back U P)|]. split; [exact Hc|].
  split; [exact M|exact R].
Qed.
