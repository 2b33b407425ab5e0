(* Odd meshes, k = 2h + 1: no routing has a worst case below (k - 1)(2k + 1)/(4k). The nodes fall into 3 x 3 blocks, by
   whether their column and row is before the middle, the middle or behind it. Traffic between blocks, spread evenly over
   their nodes, and lengths of the channels between blocks prove the bound; both are polynomials in h. *)
Require Import QArith Lia Lqa Arith Bool List.
From Obliv Require Import Network Duality Mesh.
Import ListNotations.
Open Scope Q_scope.

(* ---- Polynomials in t = h - 1 >= 0: those with no negative coefficient are not negative ---- *)

Definition poly := list Z.

Fixpoint value (x : Q) (p : poly) : Q := match p with [] => 0 | c :: q => inject_Z c + x * value x q end.

Fixpoint add (p q : poly) : poly :=
  match p, q with
  | [], _ => q
  | _, [] => p
  | a :: p', b :: q' => (a + b)%Z :: add p' q'
  end.
Definition scale (a : Z) (p : poly) : poly := map (Z.mul a) p.
Fixpoint mul (p q : poly) : poly := match p with [] => [] | a :: p' => add (scale a q) (0%Z :: mul p' q) end.
Definition at_most (p q : poly) : bool := forallb (Z.leb 0) (add q (scale (-1) p)).
Fixpoint total (f : nat -> poly) (n : nat) : poly := match n with O => [] | S m => add (total f m) (f m) end.

Lemma value_add x p q : value x (add p q) == value x p + value x q.
Proof.
  revert q. induction p as [|a p IH]; intros [|b q]; cbn [add value]; try lra. rewrite IH, inject_Z_plus. ring.
Qed.

Lemma value_scale x a p : value x (scale a p) == inject_Z a * value x p.
Proof. induction p as [|b p IH]; unfold scale in *; cbn [map value]; [ring|]. rewrite IH, inject_Z_mult. ring. Qed.

Lemma value_mul x p q : value x (mul p q) == value x p * value x q.
Proof.
  induction p as [|a p IH]; cbn [mul value]; [ring|]. rewrite value_add, value_scale. cbn [value]. rewrite IH.
  change (inject_Z 0) with 0. ring.
Qed.

Lemma value_total x f n : value x (total f n) == sum (fun i => value x (f i)) n.
Proof. induction n as [|n IH]; cbn [total sum]; [reflexivity|]. rewrite value_add, IH. reflexivity. Qed.

Lemma value_nonneg x p : 0 <= x -> forallb (Z.leb 0) p = true -> 0 <= value x p.
Proof.
  intros Hx. induction p as [|a p IH]; cbn [forallb value]; intros H; [lra|].
  apply andb_true_iff in H. destruct H as [Ha Hp]. apply Z.leb_le in Ha. apply IH in Hp.
  assert (0 <= inject_Z a) by (change 0 with (inject_Z 0); rewrite <- Zle_Qle; exact Ha).
  pose proof (Qmult_nonneg _ _ Hx Hp). lra.
Qed.

Lemma value_at_most x p q : 0 <= x -> at_most p q = true -> value x p <= value x q.
Proof.
  intros Hx H. unfold at_most in H. apply (value_nonneg x) in H; [|exact Hx]. rewrite value_add, value_scale in H.
  change (inject_Z (-1)) with (-1 # 1) in H. lra.
Qed.

(* ---- The blocks ---- *)

(* Blocks are numbered as the nodes of the 3 x 3 mesh, and the channels between blocks as its channels:
     LT MT RT     6 7 8
     LM C  RM     3 4 5
     LB MB RB     0 1 2   *)

Definition h1 : poly := [1; 1]%Z.                       (* h *)
Definition num (a : Z) : poly := [a].
(* a h^3 + b h^2 + c h + d *)
Definition cubic (a b c d : Z) : poly := add (num d) (mul h1 (add (num c) (mul h1 (add (num b) (scale a h1))))).

(* The traffic for LB -> MB and that for LM -> C, before it is scaled to the rates. *)
Definition edge_traffic (i j : nat) : poly :=
  match i, j with
  | 0, 1 => cubic 0 4 0 (-2)
  | 6, 7 => cubic 0 2 0 (-1)
  | 0, 8 => cubic 4 (-2) (-1) 2
  | 6, 2 => cubic 4 0 (-1) 1
  | 3, 5 => cubic 0 4 2 (-1)
  | 7, 1 => cubic 0 0 2 1
  | 5, 2 => cubic 0 2 0 (-1)
  | _, _ => []
  end%nat.
Definition center_traffic (i j : nat) : poly :=
  match i, j with
  | 0, 1 | 6, 7 => cubic 0 4 0 (-2)
  | 0, 8 | 6, 2 => cubic 4 0 (-1) 1
  | 3, 5 => cubic 0 4 4 0
  | 0, 4 | 2, 4 | 6, 4 | 8, 4 => cubic 0 0 1 1
  | _, _ => []
  end%nat.

(* The eight symmetries of the square, on blocks. *)
Definition symmetry (g v : nat) : nat :=
  let x := (v mod 3)%nat in let y := (v / 3)%nat in
  let x' := (if Nat.testbit g 1 then 2 - x else x)%nat in let y' := (if Nat.testbit g 2 then 2 - y else y)%nat in
  (if Nat.testbit g 0 then x' * 3 + y' else y' * 3 + x')%nat.

Definition source (e : nat) : nat := tail (mesh 3) e.
Definition target (e : nat) : nat := head (mesh 3) e.

(* The traffic for channel e: the image of one of the two under the symmetry, perhaps with all arrows reversed, that maps
   the channel to LB -> MB or LM -> C. *)
Definition maps_to (g a b i j : nat) : bool := (symmetry g a =? i)%nat && (symmetry g b =? j)%nat.
Definition demand (e i j : nat) : poly :=
  let a := source e in let b := target e in
  fold_right (fun g other =>
    let i' := symmetry g i in let j' := symmetry g j in
    if maps_to g a b 0 1 then edge_traffic i' j' else if maps_to g b a 0 1 then edge_traffic j' i'
    else if maps_to g a b 3 4 then center_traffic i' j' else if maps_to g b a 3 4 then center_traffic j' i'
    else other) [] (seq 0 8).

Definition table {A} (f : nat -> A) (n : nat) : list A := map f (seq 0 n).
Definition demands : list (list (list poly)) :=
  Eval vm_compute in table (fun e => table (fun i => table (fun j => demand e i j) 9) 9) 24.
Definition demand_at (e i j : nat) : poly := nth j (nth i (nth e demands []) []) [].

(* Distances from block i, where channel e has the length demand e i j: Bellman's rule, repeated. They need not be
   right: what the proof needs of them is checked. *)
Definition relax (i j : nat) (dist : list (option poly)) : list (option poly) :=
  fold_left (fun dist e =>
    match nth (source e) dist None with
    | None => dist
    | Some d =>
      let new := add d (demand_at e i j) in
      let better := match nth (target e) dist None with None => true | Some old => at_most new old end in
      if better then firstn (target e) dist ++ Some new :: skipn (S (target e)) dist else dist
    end) (seq 0 24) dist.
Definition distances (i j : nat) : list poly :=
  map (fun d => match d with Some p => p | None => [] end)
    (Nat.iter 4 (relax i j) (table (fun v => if (v =? i)%nat then Some [] else None) 9)).
Definition potentials : list (list (list poly)) :=
  Eval vm_compute in table (fun i => table (fun j => distances i j) 9) 9.
Definition potential (i j v : nat) : poly := nth v (nth j (nth i potentials []) []) [].

(* Numbers of nodes of blocks, of links between blocks; the least multiple of the rates that the traffic stays within is
   sent e / links e. *)
Definition side (q : nat) : poly := if (q =? 1)%nat then num 1 else h1.
Definition size (v : nat) : poly := mul (side (v / 3)) (side (v mod 3)).
Definition links (l : nat) : poly := side l.
Definition sent (l : nat) : poly := if (l =? 1)%nat then cubic 0 0 4 4 else cubic 0 4 2 (-1).

Definition all (n : nat) (f : nat -> bool) : bool := forallb f (seq 0 n).

Lemma all_at n f i : all n f = true -> (i < n)%nat -> f i = true.
Proof. intros H L. apply (proj1 (forallb_forall f (seq 0 n)) H). apply in_seq. lia. Qed.

Definition channel_fits (e : nat) : bool :=
  let l := line 3 e in
  all 9 (fun i => all 9 (fun j => at_most [] (demand_at e i j))) &&
  all 9 (fun i => at_most (mul (links l) (total (fun j => demand_at e i j) 9)) (mul (sent l) (size i))) &&
  all 9 (fun j => at_most (mul (links l) (total (fun i => demand_at e i j) 9)) (mul (sent l) (size j))) &&
  all 9 (fun i => all 9 (fun j => at_most (potential i j (target e)) (add (potential i j (source e)) (demand_at e i
    j)))).

Lemma channels_fit : all 24 channel_fits = true.
Proof. vm_compute. reflexivity. Qed.

(* In total, 8 h (2h + 1) (4h + 3). *)
Lemma distances_total :
  at_most (cubic 64 80 24 0) (total (fun i => total (fun j =>
    add (potential i j j) (scale (-1) (potential i j i))) 9) 9) = true.
Proof. vm_compute. reflexivity. Qed.

(* ---- The mesh ---- *)

Section Odd.
Variable h : nat.
Hypothesis Hh : (0 < h)%nat.
Let k := (2 * h + 1)%nat.
Let t := rational h - 1.
Let val := value t.

Lemma t_nonneg : 0 <= t.
Proof. unfold t. assert (H : (1 <= h)%nat) by exact Hh. apply rational_le in H. change (rational 1) with 1 in H. lra.
Qed.

Lemma val_cubic a b c d : val (cubic a b c d) ==
  inject_Z a * rational h * rational h * rational h + inject_Z b * rational h * rational h + inject_Z c * rational h +
    inject_Z d.
Proof.
  unfold val, cubic, num, h1. repeat (rewrite ?value_add, ?value_mul, ?value_scale; cbn [value]).
  change (inject_Z 1) with 1. unfold t. ring.
Qed.

(* Before the middle, in the middle, behind it. *)
Definition kind (x : nat) : nat := if (x <? h)%nat then 0 else if (x =? h)%nat then 1 else 2.
Definition block (v : nat) : nat := kind (row k v) * 3 + kind (column k v).

Lemma kind_lt x : (kind x < 3)%nat.
Proof. unfold kind. destruct (x <? h)%nat; [lia|]. destruct (x =? h)%nat; lia. Qed.

Lemma block_lt v : (block v < 9)%nat.
Proof. unfold block. pose proof (kind_lt (row k v)). pose proof (kind_lt (column k v)). lia. Qed.

Lemma block_place d l p : (l < k)%nat -> (p < k)%nat -> block (place k d l p) = place 3 d (kind l) (kind p).
Proof.
  intros. unfold block, place. destruct (horizontal d); unfold row, column; rewrite grid_div, grid_mod by assumption;
    reflexivity.
Qed.

Lemma kind_step p : kind (S p) = kind p \/ (kind (S p) = S (kind p) /\ (kind p < 2)%nat).
Proof.
  unfold kind. destruct (Nat.ltb_spec p h), (Nat.ltb_spec (S p) h), (Nat.eqb_spec p h), (Nat.eqb_spec (S p) h); lia.
Qed.

Lemma side_pos q : 0 < val (side q).
Proof.
  pose proof t_nonneg. unfold val, side. destruct (q =? 1)%nat; cbn [value num h1]; change (inject_Z 1) with 1; lra.
Qed.

Lemma side_h q : val (side q) == if (q =? 1)%nat then 1 else rational h.
Proof. unfold val, side. destruct (q =? 1)%nat; cbn [value num h1]; change (inject_Z 1) with 1; unfold t; ring. Qed.

Lemma size_pos v : 0 < val (size v).
Proof.
  unfold val, size. rewrite value_mul. rewrite <- (Qmult_0_l (val (side (v mod 3)))).
  apply Qmult_lt_compat_r; apply side_pos.
Qed.

(* Sums over nodes, of what each node has its share of. *)
Lemma sum_side (g : nat -> Q) : sum (fun x => g (kind x) * / val (side (kind x))) k == sum g 3.
Proof.
  assert (E : k = (h + (1 + h))%nat) by (unfold k; lia). rewrite E, sum_split, sum_split. cbn [sum].
  rewrite (sum_eq _ (fun _ => g 0%nat * / val (side 0))).
  2:{ intros x Hx. unfold kind. replace (x <? h)%nat with true by (symmetry; apply Nat.ltb_lt; lia). reflexivity. }
  rewrite (sum_eq (fun i => g (kind (h + (1 + i))) * _) (fun _ => g 2%nat * / val (side 2))).
  2:{ intros x Hx. unfold kind. replace (h + (1 + x) <? h)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
      replace (h + (1 + x) =? h)%nat with false by (symmetry; apply Nat.eqb_neq; lia). reflexivity. }
  replace (kind (h + 0)) with 1%nat.
  2:{ unfold kind. replace (h + 0 <? h)%nat with false by (symmetry; apply Nat.ltb_ge; lia).
      replace (h + 0 =? h)%nat with true by (symmetry; apply Nat.eqb_eq; lia). reflexivity. }
  rewrite !sum_const. fold (rational h). rewrite !side_h. cbn [Nat.eqb]. field.
  pose proof (rational_pos h Hh). lra.
Qed.

Lemma sum_blocks (g : nat -> Q) : sum (fun v => g (block v) * / val (size (block v))) (k * k) == sum g 9.
Proof.
  rewrite sum_nodes. change 9%nat with (3 * 3)%nat. rewrite (sum_grid g).
  rewrite <- (sum_side (fun y => sum (fun x => g (y * 3 + x)%nat) 3)). apply sum_eq. intros y Hy.
  rewrite <- (sum_side (fun x => g (kind y * 3 + x)%nat)), <- sum_scale_r. apply sum_eq. intros x Hx.
  unfold block, row, column. rewrite grid_div, grid_mod by assumption. unfold val, size.
  rewrite grid_div, grid_mod by apply kind_lt. rewrite value_mul.
  pose proof (side_pos (kind x)) as A. pose proof (side_pos (kind y)) as B. unfold val in A, B. field. split; lra.
Qed.

(* The channel between blocks to which a channel of the mesh belongs, if it leads from block to block. *)
Definition between (c : nat) : bool := negb (kind (S (position k c)) =? kind (position k c))%nat.
Definition link (c : nat) : nat := channel 3 (direction k c) (kind (line k c)) (kind (position k c)).

Lemma tail_mesh n c : tail (mesh n) c = place n (direction n c) (line n c) (if forward (direction n c)
  then position n c else S (position n c)).
Proof. reflexivity. Qed.

Lemma head_mesh n c : head (mesh n) c = place n (direction n c) (line n c) (if forward (direction n c)
  then S (position n c) else position n c).
Proof. reflexivity. Qed.

Lemma link_parts c : (c < channels (mesh k))%nat ->
  if between c
  then (link c < 24)%nat /\ line 3 (link c) = kind (line k c) /\ source (link c) = block (tail (mesh k) c) /\
    target (link c) = block (head (mesh k) c)
  else block (tail (mesh k) c) = block (head (mesh k) c).
Proof.
  intros Hc. destruct (channel_bounds k c Hc) as [Hd [Hl [Hp _]]]. simpl tail. simpl head.
  rewrite !block_place by (try assumption; destruct (forward _); lia).
  set (d := direction k c) in *. set (l := line k c) in *. set (p := position k c) in *. fold k in Hl, Hp.
  unfold between. fold p. destruct (Nat.eqb_spec (kind (S p)) (kind p)) as [E|E]; cbn [negb].
  - destruct (forward d); rewrite E; reflexivity.
  - destruct (kind_step p) as [E'|[E' B]]; [contradiction|].
    assert (L := kind_lt l). unfold source, target. rewrite tail_mesh, head_mesh. unfold link. fold d l p.
    destruct (channel_parts 3 d (kind l) (kind p) L B) as [-> [-> ->]].
    split; [apply (channel_lt 3); assumption|]. destruct (forward d); rewrite E'; repeat split.
Qed.

Let weight c := if between c then val (sent (kind (line k c))) * / val (links (kind (line k c))) else 0.
Let shares i j := / val (size (block i)) * / val (size (block j)).
Let X c i j := val (demand_at (link c) (block i) (block j)) * shares i j * (val (links (kind (line k c))) *
  / val (sent (kind (line k c)))).

Lemma sent_pos l : 0 < val (sent l).
Proof.
  unfold sent. pose proof (rational_nonneg h). assert (H1 : (1 <= h)%nat) by exact Hh. apply rational_le in H1.
  change (rational 1) with 1 in H1.
  destruct (l =? 1)%nat; rewrite val_cubic; change (inject_Z 0) with 0; change (inject_Z 4) with 4;
    change (inject_Z 2) with 2; change (inject_Z (-1)) with (- (1)).
  - lra.
  - pose proof (Qmult_nonneg (rational h - 1) (rational h - 1)). pose proof (Qmult_nonneg (rational h) (rational h)).
    lra.
Qed.

Lemma inverse_nonneg a : 0 < a -> 0 <= / a.
Proof. intros. apply Qlt_le_weak, Qinv_lt_0_compat. assumption. Qed.

Lemma fits c : (c < channels (mesh k))%nat -> between c = true -> channel_fits (link c) = true.
Proof.
  intros Hc B. pose proof (link_parts c Hc) as L. rewrite B in L. apply (all_at 24); [apply channels_fit|apply L].
Qed.

(* The rates are kept: what a node sends, and takes, is the block's total over its size, scaled. *)
Lemma within_rates a s w z : 0 < s -> 0 < w -> 0 < z -> w * a <= z * s -> a * / s * (w * / z) <= 1.
Proof.
  intros Hs Hw Hz H. assert (P : 0 < z * s) by (rewrite <- (Qmult_0_l s); apply Qmult_lt_compat_r; assumption).
  setoid_replace (a * / s * (w * / z)) with (w * a / (z * s)) by (field; split; lra).
  apply Qle_shift_div_r; [exact P|]. rewrite Qmult_1_l. exact H.
Qed.

Lemma blocks_admissible c : (c < channels (mesh k))%nat -> between c = true -> admissible (mesh k) (X c).
Proof.
  intros Hc B. pose proof (fits c Hc B) as F. pose proof (link_parts c Hc) as L. rewrite B in L.
  destruct L as [_ [L _]].
  unfold channel_fits in F. rewrite L in F. rewrite !andb_true_iff in F. destruct F as [[[F1 F2] F3] _].
  set (l := kind (line k c)) in *.
  pose proof (sent_pos l) as Z. pose proof (side_pos l) as W.
  unfold admissible. simpl terminals. simpl injection. simpl ejection. unfold X, shares. fold l. repeat split.
  - intros i j _ _. apply Qmult_nonneg; [apply Qmult_nonneg|].
    + pose proof (all_at 9 _ _ (all_at 9 _ _ F1 (block_lt i)) (block_lt j)) as D.
      apply (value_at_most t) in D; [exact D|apply t_nonneg].
    + apply Qmult_nonneg; apply inverse_nonneg, size_pos.
    + apply Qmult_nonneg; [apply Qlt_le_weak, W|apply inverse_nonneg, Z].
  - intros i _. rewrite (sum_eq _ (fun j => val (demand_at (link c) (block i) (block j)) * / val (size (block i)) *
      (val (links l) * / val (sent l)) * / val (size (block j)))) by (intros; ring).
    rewrite (sum_blocks (fun b => val (demand_at (link c) (block i) b) * / val (size (block i)) * (val (links l) *
      / val (sent l)))).
    rewrite !sum_scale_r. apply within_rates; [apply size_pos|exact W|exact Z|].
    pose proof (all_at 9 _ _ F2 (block_lt i)) as D. apply (value_at_most t) in D; [|apply t_nonneg].
    rewrite !value_mul, value_total in D. exact D.
  - intros j _. rewrite (sum_eq _ (fun i => val (demand_at (link c) (block i) (block j)) * / val (size (block j)) *
      (val (links l) * / val (sent l)) * / val (size (block i)))) by (intros; ring).
    rewrite (sum_blocks (fun b => val (demand_at (link c) b (block j)) * / val (size (block j)) * (val (links l) *
      / val (sent l)))).
    rewrite !sum_scale_r. apply within_rates; [apply size_pos|exact W|exact Z|].
    pose proof (all_at 9 _ _ F3 (block_lt j)) as D. apply (value_at_most t) in D; [|apply t_nonneg].
    rewrite !value_mul, value_total in D. exact D.
  - intros. discriminate.
Qed.

(* 8 (2 h (4h^2 + 2h - 1) / h + 4 (h + 1)) = 16 k^2 *)
Lemma weights_total : sum (fun c => weight c * bandwidth (mesh k) c) (channels (mesh k)) ==
  16 * rational k * rational k.
Proof.
  set (w := fun l => val (sent l) * / val (links l)).
  rewrite sum_channels. rewrite (sum_eq _ (fun l => 8 * (w (kind l) * val (side (kind l))) * / val (side (kind l)))).
  - rewrite (sum_side (fun q => 8 * (w q * val (side q)))). cbn [sum]. unfold w, links.
    pose proof (side_pos 0) as P0. pose proof (side_pos 1) as P1. pose proof (side_pos 2) as P2. unfold sent.
    cbn [Nat.eqb].
    setoid_replace (val (cubic 0 4 2 (-1)) * / val (side 0) * val (side 0)) with (val (cubic 0 4 2 (-1))) by (field;
      lra).
    setoid_replace (val (cubic 0 0 4 4) * / val (side 1) * val (side 1)) with (val (cubic 0 0 4 4)) by (field; lra).
    rewrite !val_cubic. unfold k. rewrite rational_plus, rational_mult. change (rational 2) with 2.
    change (rational 1) with 1.
    change (inject_Z 0) with 0. change (inject_Z 4) with 4. change (inject_Z 2) with 2.
    change (inject_Z (-1)) with (- (1)). ring.
  - intros l Hl. pose proof (side_pos (kind l)) as P.
    rewrite (sum_eq _ (fun p => one (p =? h - 1)%nat * (4 * w (kind l)) + one (p =? h)%nat * (4 * w (kind l)))).
    + rewrite sum_plus, !sum_at. replace (h - 1 <? k - 1)%nat with true by (symmetry; apply Nat.ltb_lt; unfold k; lia).
      replace (h <? k - 1)%nat with true by (symmetry; apply Nat.ltb_lt; unfold k; lia). cbn [one]. field. lra.
    + intros p Hp. unfold weight, between. simpl bandwidth.
      destruct (channel_parts k 0 l p) as [_ [-> ->]]; [assumption|assumption|].
      destruct (channel_parts k 1 l p) as [_ [-> ->]]; [assumption|assumption|].
      destruct (channel_parts k 2 l p) as [_ [-> ->]]; [assumption|assumption|].
      destruct (channel_parts k 3 l p) as [_ [-> ->]]; [assumption|assumption|].
      fold (w (kind l)). set (a := w (kind l)). unfold kind.
      destruct (Nat.ltb_spec p h), (Nat.ltb_spec (S p) h), (Nat.eqb_spec p h), (Nat.eqb_spec (S p) h),
        (Nat.eqb_spec p (h - 1)); try lia;
        cbn [one negb Nat.eqb]; ring.
Qed.

Theorem odd_mesh_bound : every_worst_at_least (mesh k) any (least_worst k).
Proof.
  intros f Hf _.
  assert (K : 0 < rational k) by (apply rational_pos; unfold k; lia).
  apply (every_routing_bound (mesh k) (fun _ _ _ => true) weight X
           (fun i j => (val (potential (block i) (block j) (block j)) - val (potential (block i) (block j) (block i)))
             * shares i j)
           (fun i j v => val (potential (block i) (block j) (block v)) * shares i j) (least_worst k)); try assumption.
  - apply mesh_proper.
  - intros c Hc. unfold weight. destruct (between c); [|lra].
    apply Qmult_nonneg; [apply Qlt_le_weak, sent_pos|apply inverse_nonneg, side_pos].
  - intros c Hc Hw. apply blocks_admissible; [exact Hc|]. unfold weight in Hw. destruct (between c); [reflexivity|lra].
  - rewrite weights_total. rewrite <- (Qmult_0_l (rational k)). apply Qmult_lt_compat_r; [exact K|]. lra.
  - intros i j c _ _ Hc _. pose proof (link_parts c Hc) as L. unfold weight. destruct (between c) eqn:B.
    + pose proof (fits c Hc B) as F. destruct L as [_ [_ [<- <-]]]. unfold channel_fits in F.
      rewrite !andb_true_iff in F. destruct F as [_ F].
      pose proof (all_at 9 _ _ (all_at 9 _ _ F (block_lt i)) (block_lt j)) as D.
      apply (value_at_most t) in D; [|apply t_nonneg].
      rewrite value_add in D. fold val in D. set (l := kind (line k c)). pose proof (sent_pos l) as Z.
      pose proof (side_pos l) as W. fold (links l) in W.
      apply Qle_trans with ((val (potential (block i) (block j) (source (link c))) +
        val (demand_at (link c) (block i) (block j))) * shares i j).
      * apply times_le; [|exact D]. apply Qmult_nonneg; apply inverse_nonneg, size_pos.
      * apply Qle_lteq. right. unfold X. fold l. field. split; lra.
    + rewrite L. lra.
  - intros i j _ _. right. split; [reflexivity|]. simpl node. apply Qle_lteq. right. ring.
  - rewrite weights_total. simpl terminals.
    rewrite (sum_eq _ (fun i => sum (fun b =>
      val (potential (block i) b b) - val (potential (block i) b (block i))) 9 * / val (size (block i)))).
    2:{ intros i _. rewrite <- (sum_blocks (fun b =>
          val (potential (block i) b b) - val (potential (block i) b (block i)))), <- sum_scale_r.
        apply sum_eq. intros j _. unfold shares. ring. }
    rewrite (sum_blocks (fun a => sum (fun b => val (potential a b b) - val (potential a b a)) 9)).
    pose proof distances_total as D. apply (value_at_most t) in D; [|apply t_nonneg]. rewrite value_total in D.
    fold val in D. rewrite val_cubic in D.
    apply Qle_trans with (inject_Z 64 * rational h * rational h * rational h + inject_Z 80 * rational h * rational h +
      inject_Z 24 * rational h + inject_Z 0).
    + apply Qle_lteq. right. unfold least_worst.
      replace (Nat.even k) with false by (unfold k; rewrite Nat.add_comm, Nat.even_add_mul_2; reflexivity).
      unfold k. rewrite rational_plus, rational_mult. change (rational 2) with 2. change (rational 1) with 1.
      change (inject_Z 64) with 64. change (inject_Z 80) with 80. change (inject_Z 24) with 24.
      change (inject_Z 0) with 0.
      pose proof (rational_nonneg h). field. lra.
    + eapply Qle_trans; [exact D|]. apply Qle_lteq. right. apply sum_eq. intros a _. unfold val. rewrite value_total.
      apply sum_eq. intros b _.
      rewrite value_add, value_scale. change (inject_Z (-1)) with (- (1)). ring.
  - intros. discriminate.
Qed.
End Odd.
