(* Step functions as lists of runs, arrays as trees, sums of step functions as sorted events: the few data structures of
   the checker, each with the lemma that says what it computes. *)
Require Import ZArith NArith List Lia Bool Arith.
Import ListNotations.
Open Scope N_scope.

(* Equality by comparison, which extraction turns into one of zarith's functions. *)
Definition same (a b : N) : bool := match a ?= b with Eq => true | _ => false end.
Infix "=?" := same : N_scope.

Lemma same_eqb a b : same a b = N.eqb a b.
Proof. unfold same. rewrite N.eqb_compare. destruct (a ?= b); reflexivity. Qed.
Lemma same_eq a b : (a =? b) = true <-> a = b.
Proof. rewrite same_eqb. apply N.eqb_eq. Qed.
Lemma same_neq a b : (a =? b) = false <-> a <> b.
Proof. rewrite same_eqb. apply N.eqb_neq. Qed.

(* ---- Step functions: (first count value)*, the default elsewhere ---- *)

Inductive runs (A : Type) := Done | Run (first count : N) (value : A) (rest : runs A).
Arguments Done {A}.
Arguments Run {A}.

Notation steps := (runs N).        (* value at places first .. first+count-1, 0 elsewhere *)
Notation matrix := (runs (runs N)).  (* a row for each source *)

Fixpoint value_at {A} (default : A) (s : runs A) (j : N) : A :=
  match s with
  | Done => default
  | Run f c v r => if (f <=? j) && (j <? f + c) then v else value_at default r j
  end.

Definition entry (m : matrix) (i j : N) : N := value_at 0 (value_at Done m i) j.

(* Runs ascend from lo, do not overlap, are not empty and end within hi. *)
Fixpoint ordered {A} (lo hi : N) (s : runs A) : bool :=
  match s with
  | Done => true
  | Run f c v r => (lo <=? f) && (1 <=? c) && (f + c <=? hi) && ordered (f + c) hi r
  end.

Fixpoint all_values {A} (test : A -> bool) (s : runs A) : bool :=
  match s with Done => true | Run f c v r => test v && all_values test r end.

Definition ordered_matrix (n m : N) (x : matrix) : bool := ordered 0 n x && all_values (ordered 0 m) x.

Ltac tests := cbv beta in *; repeat match goal with
  | H : (_ && _)%bool = true |- _ => apply andb_true_iff in H; destruct H
  | H : (_ <=? _) = true |- _ => apply N.leb_le in H
  | H : (_ <? _) = true |- _ => apply N.ltb_lt in H
  | H : (_ =? _) = true |- _ => apply same_eq in H
  | H : (_ <=? _) = false |- _ => apply N.leb_gt in H
  | H : (_ <? _) = false |- _ => apply N.ltb_ge in H
  | H : (_ =? _) = false |- _ => apply same_neq in H
  end.

Lemma value_outside {A} (d : A) lo hi s j : ordered lo hi s = true -> j < lo \/ hi <= j -> value_at d s j = d.
Proof.
  revert lo. induction s as [|f c v r IH]; intros lo H L; simpl in *; [reflexivity|].
  tests. destruct (f <=? j) eqn:E1; simpl.
  - destruct (j <? f + c) eqn:E2; tests; [lia|]. apply (IH (f + c)); [assumption|lia].
  - apply (IH (f + c)); [assumption|tests; lia].
Qed.

Lemma all_values_at {A} (test : A -> bool) d s j : all_values test s = true -> test d = true -> test (value_at d s j) = true.
Proof.
  induction s as [|f c v r IH]; simpl; intros H D; [exact D|]. tests.
  destruct ((f <=? j) && (j <? f + c))%bool; [assumption|]. apply IH; assumption.
Qed.

Lemma row_ordered n m x i : ordered_matrix n m x = true -> ordered 0 m (value_at Done x i) = true.
Proof. intros H. apply andb_true_iff in H. destruct H as [_ H]. apply (all_values_at _ _ _ _ H). reflexivity. Qed.

Fixpoint map_runs {A B} (f : A -> B) (s : runs A) : runs B :=
  match s with Done => Done | Run a c v r => Run a c (f v) (map_runs f r) end.

Lemma map_runs_at {A B} (g : A -> B) d s j : value_at (g d) (map_runs g s) j = g (value_at d s j).
Proof.
  induction s as [|f c v r IH]; simpl; [reflexivity|]. destruct ((f <=? j) && (j <? f + c))%bool; [reflexivity|apply IH].
Qed.

Lemma map_runs_ordered {A B} (g : A -> B) lo hi s : ordered lo hi (map_runs g s) = ordered lo hi s.
Proof. revert lo; induction s as [|f c v r IH]; intros lo; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

(* The values of s at pos, pos+1, ..., one for each element of l. *)
Fixpoint along {A B} (default : A) (pos : N) (l : list B) (s : runs A) : list A :=
  match l with
  | [] => []
  | _ :: l' =>
    match s with
    | Done => default :: along default (N.succ pos) l' Done
    | Run f c v r =>
      if pos <? f then default :: along default (N.succ pos) l' s
      else v :: along default (N.succ pos) l' (if N.succ pos =? f + c then r else s)
    end
  end.

Lemma along_length {A B} (d : A) pos (l : list B) s : length (along d pos l s) = length l.
Proof.
  revert pos s; induction l as [|b l IH]; intros pos s; simpl; [reflexivity|].
  destruct s as [|f c v r]; [|destruct (pos <? f)]; simpl; rewrite IH; reflexivity.
Qed.

Lemma ordered_weaken {A} lo lo' hi (s : runs A) : lo' <= lo -> ordered lo hi s = true -> ordered lo' hi s = true.
Proof.
  destruct s as [|f c v r]; simpl; intros L H; [reflexivity|]. tests.
  repeat (apply andb_true_iff; split); try assumption; apply N.leb_le; lia.
Qed.

(* runs of which the first may have begun before pos *)
Definition pending {A} (pos : N) (s : runs A) : Prop :=
  match s with Done => True | Run f c v r => pos < f + c /\ 1 <= c /\ exists hi, ordered (f + c) hi r = true end.

Lemma ordered_pending {A} pos hi (s : runs A) : ordered pos hi s = true -> pending pos s.
Proof. destruct s as [|f c v r]; simpl; intros H; [trivial|]. tests. repeat split; [lia|lia|eauto]. Qed.

Lemma along_nth {A B} (d : A) (l : list B) : forall pos s k, pending pos s -> (k < length l)%nat ->
  nth k (along d pos l s) d = value_at d s (pos + N.of_nat k).
Proof.
  induction l as [|b l IH]; intros pos s k P L; simpl in L; [lia|].
  destruct s as [|f c v r]; cbn [along].
  - destruct k as [|k]; [reflexivity|]. cbn [nth]. rewrite IH; [reflexivity|exact I|lia].
  - destruct P as [P [C [hi O]]]. destruct (pos <? f) eqn:E; tests.
    + destruct k as [|k]; cbn [nth].
      * cbn [value_at]. replace (f <=? pos + N.of_nat 0) with false by (symmetry; apply N.leb_gt; lia). simpl.
        symmetry. apply (value_outside d (f + c) hi); [assumption|lia].
      * rewrite IH; [|repeat split; [lia|lia|eauto]|lia]. f_equal. lia.
    + destruct k as [|k]; cbn [nth].
      * cbn [value_at]. replace (f <=? pos + N.of_nat 0) with true by (symmetry; apply N.leb_le; lia).
        replace (pos + N.of_nat 0 <? f + c) with true by (symmetry; apply N.ltb_lt; lia). reflexivity.
      * destruct (N.succ pos =? f + c) eqn:E2; tests.
        -- rewrite IH; [|rewrite E2; apply (ordered_pending _ hi); assumption|lia]. cbn [value_at].
           replace (pos + N.of_nat (S k) <? f + c) with false by (symmetry; apply N.ltb_ge; lia).
           rewrite andb_false_r. f_equal. lia.
        -- rewrite IH; [|repeat split; [lia|lia|eauto]|lia]. f_equal. lia.
Qed.

Lemma along_at {A B} (d : A) (l : list B) hi s k : ordered 0 hi s = true -> (k < length l)%nat ->
  nth k (along d 0 l s) d = value_at d s (N.of_nat k).
Proof. intros H L. rewrite along_nth; [f_equal; lia|apply (ordered_pending _ hi), H|exact L]. Qed.

(* ---- Lists ---- *)

Definition nsum (l : list N) : N := fold_left N.add l 0.

Lemma fold_add l a : fold_left N.add l a = a + fold_left N.add l 0.
Proof.
  revert a; induction l as [|x l IH]; intros a; cbn [fold_left]; [lia|]. rewrite (IH (a + x)), (IH (0 + x)). lia.
Qed.

Lemma nsum_cons x l : nsum (x :: l) = x + nsum l.
Proof. unfold nsum; cbn [fold_left]. rewrite fold_add. lia. Qed.

Fixpoint map2 {A B C} (f : A -> B -> C) (l : list A) (m : list B) : list C :=
  match l, m with a :: l', b :: m' => f a b :: map2 f l' m' | _, _ => [] end.

Lemma map2_length {A B C} (f : A -> B -> C) l m : length l = length m -> length (map2 f l m) = length l.
Proof. revert m; induction l as [|a l IH]; intros [|b m] H; simpl in *; try lia. rewrite IH; lia. Qed.

Lemma map2_nth {A B C} (f : A -> B -> C) l m k a b c : length l = length m -> (k < length l)%nat ->
  nth k (map2 f l m) c = f (nth k l a) (nth k m b).
Proof.
  revert m k; induction l as [|x l IH]; intros [|y m] k H L; simpl in *; try lia.
  destruct k as [|k]; [reflexivity|]. apply IH; lia.
Qed.

Fixpoint all2 {A B} (f : A -> B -> bool) (l : list A) (m : list B) : bool :=
  match l, m with
  | [], [] => true
  | a :: l', b :: m' => f a b && all2 f l' m'
  | _, _ => false
  end.

Lemma all2_length {A B} (f : A -> B -> bool) l m : all2 f l m = true -> length l = length m.
Proof. revert m; induction l as [|a l IH]; intros [|b m] H; simpl in *; try discriminate; [lia|]. tests. rewrite (IH m); auto. Qed.

Lemma all2_nth {A B} (f : A -> B -> bool) l m k a b : all2 f l m = true -> (k < length l)%nat ->
  f (nth k l a) (nth k m b) = true.
Proof.
  revert m k; induction l as [|x l IH]; intros [|y m] k H L; simpl in *; try discriminate; try lia.
  tests. destruct k as [|k]; [assumption|]. apply IH; [assumption|lia].
Qed.

Lemma forallb_nth {A} (f : A -> bool) l k a : forallb f l = true -> (k < length l)%nat -> f (nth k l a) = true.
Proof. intros H L. rewrite forallb_forall in H. apply H, nth_In, L. Qed.

(* Like forallb, with the number of the element. *)
Fixpoint all_at {A} (f : N -> A -> bool) (pos : N) (l : list A) : bool :=
  match l with [] => true | a :: l' => f pos a && all_at f (N.succ pos) l' end.

Lemma all_at_nth {A} (f : N -> A -> bool) l : forall pos k a, all_at f pos l = true -> (k < length l)%nat ->
  f (pos + N.of_nat k) (nth k l a) = true.
Proof.
  induction l as [|x l IH]; intros pos k a H L; simpl in *; [lia|]. tests. destruct k as [|k].
  - replace (pos + N.of_nat 0) with pos by lia. assumption.
  - replace (pos + N.of_nat (S k)) with (N.succ pos + N.of_nat k) by lia. apply IH; [assumption|lia].
Qed.

(* ---- Arrays: trees over 2^depth places; each fork knows where its right half begins and carries a label ---- *)

Inductive tree (A : Type) := Void | Leaf (a : A) | Fork (half : N) (label : A) (l r : tree A).
Arguments Void {A}.
Arguments Leaf {A}.
Arguments Fork {A}.

Fixpoint pow2 (d : nat) : N := match d with O => 1 | S d => 2 * pow2 d end.

Definition label {A} (default : A) (t : tree A) : A :=
  match t with Void => default | Leaf a => a | Fork _ a _ _ => a end.

Fixpoint build {A} (op : A -> A -> A) (default : A) (d : nat) (l : list A) : tree A * list A :=
  match d with
  | O => match l with [] => (Void, []) | a :: l' => (Leaf a, l') end
  | S d' => let (t1, l1) := build op default d' l in
            let (t2, l2) := build op default d' l1 in
            (Fork (pow2 d') (op (label default t1) (label default t2)) t1 t2, l2)
  end.

Fixpoint get {A} (default : A) (t : tree A) (j : N) : A :=
  match t with
  | Void => default
  | Leaf a => a
  | Fork h _ l r => if j <? h then get default l j else get default r (j - h)
  end.

Lemma pow2_spec d : pow2 d = N.of_nat (2 ^ d).
Proof. induction d as [|d IH]; cbn [pow2]; [reflexivity|]. rewrite IH, Nat.pow_succ_r'. lia. Qed.

Lemma skip_twice {A} n m (l : list A) : skipn n (skipn m l) = skipn (m + n) l.
Proof. revert l; induction m as [|m IH]; intros [|a l]; simpl; auto. apply skipn_nil. Qed.

Lemma skip_nth {A} n (l : list A) i x : nth i (skipn n l) x = nth (n + i) l x.
Proof. revert l; induction n as [|n IH]; intros [|a l]; simpl; auto. destruct i; reflexivity. Qed.

Lemma build_spec {A} op (x : A) d : forall l, snd (build op x d l) = skipn (2 ^ d) l /\
  forall k, (k < 2 ^ d)%nat -> get x (fst (build op x d l)) (N.of_nat k) = nth k l x.
Proof.
  induction d as [|d IH]; intros l.
  - destruct l as [|a l]; simpl.
    + split; [reflexivity|]. intros k _. destruct k; reflexivity.
    + split; [reflexivity|]. intros k H. replace k with O by lia. reflexivity.
  - cbn [build]. destruct (build op x d l) as [t1 l1] eqn:E1. destruct (build op x d l1) as [t2 l2] eqn:E2.
    destruct (IH l) as [S1 G1]. rewrite E1 in S1, G1. destruct (IH l1) as [S2 G2]. rewrite E2 in S2, G2. simpl fst in *; simpl snd in *.
    subst l1. split.
    + rewrite S2. rewrite Nat.pow_succ_r'. replace (2 * 2 ^ d)%nat with (2 ^ d + 2 ^ d)%nat by lia.
      apply skip_twice.
    + intros k Hk. cbn [get]. rewrite pow2_spec. rewrite Nat.pow_succ_r' in Hk.
      destruct (N.of_nat k <? N.of_nat (2 ^ d)) eqn:E; tests.
      * apply G1. lia.
      * replace (N.of_nat k - N.of_nat (2 ^ d)) with (N.of_nat (k - 2 ^ d)) by lia. rewrite G2 by lia.
        rewrite skip_nth. f_equal. lia.
Qed.

(* Depth for n places. *)
Definition depth {A} (l : list A) : nat := N.size_nat (N.of_nat (length l)).

Lemma depth_enough {A} (l : list A) : (length l < 2 ^ depth l)%nat.
Proof.
  unfold depth. pose proof (N.size_gt (N.of_nat (length l))) as H.
  assert (E : N.size (N.of_nat (length l)) = N.of_nat (N.size_nat (N.of_nat (length l)))).
  { destruct (N.of_nat (length l)) as [|p]; [reflexivity|]. cbn [N.size N.size_nat].
    clear H. induction p as [p IHp|p IHp|]; [| |reflexivity]; cbn [Pos.size Pos.size_nat]; rewrite Nat2N.inj_succ, <- IHp; reflexivity. }
  rewrite E in H. assert (P : forall n, 2 ^ N.of_nat n = N.of_nat (2 ^ n)).
  { induction n as [|n IHn]; [reflexivity|]. rewrite Nat2N.inj_succ, N.pow_succ_r', IHn, Nat.pow_succ_r'. lia. }
  rewrite P in H. lia.
Qed.

Definition tree_of {A} (op : A -> A -> A) (default : A) (l : list A) : tree A := fst (build op default (depth l) l).
Definition array {A} (default : A) (l : list A) : tree A := tree_of (fun a _ => a) default l.

Lemma tree_of_get {A} op (x : A) l k : (k < length l)%nat -> get x (tree_of op x l) (N.of_nat k) = nth k l x.
Proof. intros H. apply build_spec. pose proof (depth_enough l). lia. Qed.

(* The smallest of the values at lo .. hi-1, by labels that are minima. *)
Fixpoint lowest (t : tree N) (lo hi : N) : N :=
  match t with
  | Void => 0
  | Leaf a => a
  | Fork h a l r =>
    if (lo =? 0) && (2 * h <=? hi) then a
    else if hi <=? h then lowest l lo hi
    else if h <=? lo then lowest r (lo - h) (hi - h)
    else N.min (lowest l lo h) (lowest r 0 (hi - h))
  end.

Fixpoint minima (t : tree N) : Prop :=
  match t with
  | Fork h a l r => (forall j, a <= get 0 t j) /\ minima l /\ minima r
  | _ => True
  end.

Lemma label_le t j : minima t -> label 0 t <= get 0 t j.
Proof. destruct t; intros H; [simpl; lia|simpl; lia|]. apply H. Qed.

Lemma build_minima d : forall l, minima (fst (build N.min 0 d l)).
Proof.
  induction d as [|d IH]; intros l; [destruct l; exact I|]. cbn [build].
  destruct (build N.min 0 d l) as [t1 l1] eqn:E1. destruct (build N.min 0 d l1) as [t2 l2] eqn:E2.
  pose proof (IH l) as M1. rewrite E1 in M1. pose proof (IH l1) as M2. rewrite E2 in M2. simpl fst in *.
  cbn [minima]. split; [|split; assumption]. intros j. cbn [get].
  pose proof (label_le t1 j M1). pose proof (label_le t2 (j - pow2 d) M2). destruct (j <? pow2 d); lia.
Qed.

Lemma lowest_le t : minima t -> forall lo hi j, lo <= j -> j < hi -> lowest t lo hi <= get 0 t j.
Proof.
  induction t as [|a|h a l IHl r IHr]; intros M lo hi j L H; [simpl; lia|simpl; lia|].
  destruct M as [M [Ml Mr]]. cbn [lowest].
  destruct ((lo =? 0) && (2 * h <=? hi))%bool; [apply M|]. cbn [get].
  destruct (hi <=? h) eqn:E1; tests.
  - replace (j <? h) with true by (symmetry; apply N.ltb_lt; lia). apply IHl; [assumption|lia|lia].
  - destruct (h <=? lo) eqn:E2; tests.
    + replace (j <? h) with false by (symmetry; apply N.ltb_ge; lia). apply IHr; [assumption|lia|lia].
    + destruct (j <? h) eqn:E3; tests.
      * specialize (IHl Ml lo h j). lia.
      * specialize (IHr Mr 0 (hi - h) (j - h)). lia.
Qed.

(* ---- Events: at a place the value changes by a difference; the sum of the differences up to j is the value at j ---- *)

Inductive events := NoEvent | Event (place : N) (change : Z) (rest : events).

Fixpoint events_at (e : events) (j : N) : Z :=
  match e with NoEvent => 0 | Event p d r => (if p <=? j then d else 0) + events_at r j end.

(* A step function as events, each value changed by g. *)
Fixpoint to_events (g : N -> Z) (s : steps) : events :=
  match s with Done => NoEvent | Run f c v r => Event f (g v) (Event (f + c) (- g v) (to_events g r)) end.

Lemma to_events_at g lo hi s j : g 0 = 0%Z -> ordered lo hi s = true -> events_at (to_events g s) j = g (value_at 0 s j).
Proof.
  intros Z0. revert lo. induction s as [|f c v r IH]; intros lo H; [simpl; auto|].
  simpl in H. tests. cbn [to_events events_at value_at]. rewrite (IH (f + c)) by assumption.
  destruct (f <=? j) eqn:E1; simpl; destruct (f + c <=? j) eqn:E2; tests; try lia.
  - replace (j <? f + c) with false by (symmetry; apply N.ltb_ge; lia). lia.
  - replace (j <? f + c) with true by (symmetry; apply N.ltb_lt; lia).
    rewrite (value_outside 0 (f + c) hi) by (assumption || lia). lia.
Qed.

(* The sum of two: places in order, equal places joined. *)
Fixpoint merge (a : events) : events -> events :=
  fix merge_a (b : events) : events :=
    match a, b with
    | NoEvent, _ => b
    | _, NoEvent => a
    | Event p d r, Event q e t =>
      match p ?= q with
      | Lt => Event p d (merge r b)
      | Gt => Event q e (merge_a t)
      | Eq => let x := (d + e)%Z in if (x =? 0)%Z then merge r t else Event p x (merge r t)
      end
    end.

Lemma merge_at a b j : events_at (merge a b) j = (events_at a j + events_at b j)%Z.
Proof.
  revert b. induction a as [|p d r IHa]; intros b.
  - destruct b; simpl; reflexivity.
  - induction b as [|q e t IHb]; [simpl; lia|]. cbn [merge]. destruct (p ?= q) eqn:E.
    + apply N.compare_eq in E. subst q. destruct (d + e =? 0)%Z eqn:Z0.
      * apply Z.eqb_eq in Z0. rewrite IHa. cbn [events_at]. destruct (p <=? j); lia.
      * cbn [events_at]. rewrite IHa. destruct (p <=? j); lia.
    + cbn [events_at]. rewrite IHa. cbn [events_at]. lia.
    + change ((fix merge_a (b : events) : events := _) t) with (merge (Event p d r) t). cbn [events_at].
      rewrite IHb. cbn [events_at]. lia.
Qed.

Fixpoint merge_pairs (l : list events) : list events :=
  match l with a :: b :: l' => merge a b :: merge_pairs l' | _ => l end.

Fixpoint merge_all (fuel : nat) (l : list events) : events :=
  match l with
  | [] => NoEvent
  | [a] => a
  | _ => match fuel with O => fold_right merge NoEvent l | S k => merge_all k (merge_pairs l) end
  end.

Fixpoint total_at (l : list events) (j : N) : Z :=
  match l with [] => 0 | e :: l' => events_at e j + total_at l' j end.

Lemma merge_pairs_at : forall n l j, (length l <= n)%nat -> total_at (merge_pairs l) j = total_at l j.
Proof.
  induction n as [|n IH]; intros l j H.
  - destruct l; [reflexivity|simpl in H; lia].
  - destruct l as [|a [|b l]]; [reflexivity|reflexivity|]. cbn [merge_pairs total_at]. rewrite merge_at, IH by (simpl in H; lia). lia.
Qed.

Lemma merge_all_at fuel : forall l j, events_at (merge_all fuel l) j = total_at l j.
Proof.
  induction fuel as [|k IH]; intros l j.
  - destruct l as [|a [|b l]]; [reflexivity|simpl; lia|]. unfold merge_all.
    generalize (a :: b :: l). intros m. induction m as [|x m IHm]; [reflexivity|]. simpl fold_right. rewrite merge_at, IHm. reflexivity.
  - destruct l as [|a [|b l]]; [reflexivity|simpl; lia|]. cbn [merge_all]. rewrite IH. apply (merge_pairs_at (length (a :: b :: l))). lia.
Qed.

(* Nothing is left: the changes at each place add up to 0. *)
Fixpoint cancels (place : N) (sum : Z) (e : events) : bool :=
  match e with
  | NoEvent => (sum =? 0)%Z
  | Event p d r => if p =? place then cancels place (sum + d) r else (sum =? 0)%Z && cancels p d r
  end.

Lemma cancels_at e : forall place sum j, cancels place sum e = true ->
  ((if (place <=? j)%N then sum else 0) + events_at e j)%Z = 0%Z.
Proof.
  induction e as [|p d r IH]; intros place sum j H; cbn [cancels events_at] in *.
  - apply Z.eqb_eq in H. destruct (place <=? j); lia.
  - destruct (p =? place) eqn:E; tests.
    + subst p. specialize (IH place (sum + d)%Z j H). destruct (place <=? j); lia.
    + apply Z.eqb_eq in H. specialize (IH p d j H0). destruct (place <=? j); lia.
Qed.

Definition vanishes (e : events) : bool := cancels 0 0 e.

Lemma vanishes_at e j : vanishes e = true -> events_at e j = 0%Z.
Proof. intros H. apply (cancels_at _ _ _ j) in H. destruct (0 <=? j); lia. Qed.
