(* Each function of Checker.v is right: what it accepts is true of the network and the routing that the claim means. *)
Require Import ZArith NArith QArith List Bool Lia Lqa Arith FMapPositive Field.
From Obliv Require Import Network Duality Runs Checker.
Import ListNotations.
Open Scope Q_scope.

(* ---- Natural numbers as rationals ---- *)

Lemma rational_plus a b : rational (a + b) == rational a + rational b.
Proof. unfold rational. rewrite N2Z.inj_add, inject_Z_plus. reflexivity. Qed.
Lemma rational_mult a b : rational (a * b) == rational a * rational b.
Proof. unfold rational. rewrite N2Z.inj_mul, inject_Z_mult. reflexivity. Qed.
Lemma rational_le a b : (a <= b)%N <-> rational a <= rational b.
Proof. unfold rational. rewrite <- Zle_Qle. lia. Qed.
Lemma rational_nonneg a : 0 <= rational a.
Proof. change 0 with (rational 0). apply (rational_le 0). lia. Qed.
Lemma rational_pos a : (1 <= a)%N -> 0 < rational a.
Proof. intros H. apply Qlt_le_trans with (rational 1); [reflexivity|]. apply rational_le, H. Qed.
Lemma rational_sub a b : rational a - rational b <= rational (a - b).
Proof.
  destruct (N.le_gt_cases b a) as [L|L].
  - assert (E : rational a == rational (a - b) + rational b) by (rewrite <- rational_plus; replace (a - b + b)%N with a by lia; reflexivity).
    lra.
  - assert (rational a <= rational b) by (apply (rational_le a b); lia). pose proof (rational_nonneg (a - b)). lra.
Qed.
Lemma rational_inject z n : z = Z.of_N n -> inject_Z z == rational n.
Proof. intros ->. reflexivity. Qed.

Lemma ratio_nonneg a t : 0 <= ratio a t.
Proof.
  unfold ratio. destruct t as [|t].
  - apply Qle_trans with 0; [lra|]. unfold Qdiv. change (/ rational 0) with 0. lra.
  - apply Qle_shift_div_l; [apply rational_pos; lia|]. rewrite Qmult_0_l. apply rational_nonneg.
Qed.

Lemma ratio_le q x y : (1 <= q)%N -> rational x <= y * rational q -> ratio x q <= y.
Proof. intros H L. apply Qle_shift_div_r; [apply rational_pos, H|exact L]. Qed.

Lemma le_ratio (p q : N) y : (1 <= q)%N -> y * rational q <= rational p -> y <= ratio p q.
Proof. intros H L. apply Qle_shift_div_l; [apply rational_pos, H|exact L]. Qed.

(* ---- Sums over lists and sums over numbers ---- *)

Lemma sum_first f n : sum f (S n) == f 0%nat + sum (fun i => f (S i)) n.
Proof. change (S n) with (1 + n)%nat. rewrite sum_split. simpl. ring. Qed.

Lemma nsum_sum l : rational (nsum l) == sum (fun k => rational (nth k l 0%N)) (length l).
Proof.
  induction l as [|x l IH]; [reflexivity|]. rewrite nsum_cons, rational_plus, IH. cbn [length]. rewrite sum_first. reflexivity.
Qed.

Lemma nsum_map2 {A B} (f : A -> B -> N) l m a b : length l = length m ->
  rational (nsum (map2 f l m)) == sum (fun k => rational (f (nth k l a) (nth k m b))) (length l).
Proof.
  intros H. rewrite nsum_sum, map2_length by assumption. apply sum_eq. intros k Hk.
  rewrite (map2_nth f l m k a b) by assumption. reflexivity.
Qed.

Lemma dot_sum {A} (weight : A -> N) l hi s a : ordered 0 hi s = true ->
  rational (dot weight l s) == sum (fun k => rational (weight (nth k l a)) * rational (value_at 0%N s (N.of_nat k))) (length l).
Proof.
  intros H. unfold dot. rewrite (nsum_map2 _ _ _ a 0%N) by (symmetry; apply along_length). apply sum_eq. intros k Hk.
  rewrite (along_at _ _ hi) by assumption. apply rational_mult.
Qed.

(* ---- The network ---- *)

Lemma network_parts d : check_network d = true ->
  (1 <= unit d)%N /\
  (forall c, (c < length (lines d))%nat -> (from (channel_of d c) < size d)%N /\ (to (channel_of d c) < size d)%N /\ (1 <= width (channel_of d c))%N) /\
  (forall i, (i < length (ends d))%nat -> (at_node (terminal_of d i) < size d)%N) /\
  ordered_matrix (count (ends d)) (count (ends d)) (lost d) = true /\
  (forall c, ordered_matrix (count (ends d)) (count (ends d)) (nth c (flows d) Done) = true).
Proof.
  unfold check_network. intros H. rewrite !andb_true_iff in H. destruct H as [[[[U C] T] L] F].
  split; [tests; assumption|]. split; [|split; [|split; [exact L|]]].
  - intros c Hc. apply (forallb_nth _ _ c no_channel) in C; [|exact Hc]. tests. repeat split; assumption.
  - intros i Hi. apply (forallb_nth _ _ i no_terminal) in T; [|exact Hi]. tests. assumption.
  - intros c. destruct (Nat.lt_ge_cases c (length (flows d))) as [H|H].
    + apply (forallb_nth _ _ c Done) in F; assumption.
    + rewrite nth_overflow by assumption. reflexivity.
Qed.

Theorem network_sound d : check_network d = true -> proper (network_of d).
Proof.
  intros H. destruct (network_parts d H) as [_ [C [T _]]]. split; simpl.
  - intros c Hc. destruct (C c Hc) as [A [B W]]. repeat split; [lia|lia|apply rational_pos, W].
  - intros i Hi. specialize (T i Hi). repeat split; [lia|apply rational_nonneg|apply rational_nonneg].
Qed.

(* ---- The routing ---- *)

Definition signed_at (x : bool * matrix) (i j : N) : Z := signed (fst x) (entry (snd x) i j).
Fixpoint net (l : list (bool * matrix)) (i j : N) : Z := match l with [] => 0 | x :: l' => signed_at x i j + net l' i j end.

Lemma incident_attach v w x a i j :
  net (incident (attach w x a) v) i j = ((if (w =? v)%N then signed_at x i j else 0) + net (incident a v) i j)%Z.
Proof.
  unfold attach, incident at 1. destruct (w =? v)%N eqn:E.
  - apply N.eqb_eq in E. subst. rewrite PositiveMap.gss. reflexivity.
  - apply N.eqb_neq in E. rewrite PositiveMap.gso; [reflexivity|]. intros H. apply E.
    apply N.succ_inj. rewrite <- !N.succ_pos_spec. now rewrite H.
Qed.

(* what the channels of cs carry out of v and into it *)
Lemma adjacent_net cs : forall fs a v i j, length cs = length fs -> 
  inject_Z (net (incident (adjacent cs fs a) v) i j) ==
  sum (fun c => one (from (nth c cs no_channel) =? v)%N * rational (entry (nth c fs Done) i j) -
                one (to (nth c cs no_channel) =? v)%N * rational (entry (nth c fs Done) i j)) (length cs)
  + inject_Z (net (incident a v) i j).
Proof.
  induction cs as [|c cs IH]; intros [|m fs] a v i j H; simpl in H; try discriminate; [simpl; ring|].
  cbn [adjacent]. rewrite IH by lia. rewrite !incident_attach, !inject_Z_plus. cbn [length]. rewrite sum_first. cbn [nth].
  unfold signed_at, signed; simpl fst; simpl snd.
  destruct (from c =? v)%N; destruct (to c =? v)%N; simpl one; fold (rational (entry m i j));
    try rewrite inject_Z_opp; fold (rational (entry m i j)); change (inject_Z 0) with 0; ring.
Qed.

Lemma arrivals_at u v missing : forall l pos j, (pos <= j)%N \/ True -> 
  inject_Z (events_at (arrivals u v pos l missing) j) ==
  sum (fun k => if (pos + N.of_nat k =? j)%N && (at_node (nth k l no_terminal) =? v)%N && (value_at 0%N missing j =? 0)%N
                then rational u else 0) (length l).
Proof.
  induction l as [|t l IH]; intros pos j _; [reflexivity|]. cbn [arrivals length]. rewrite sum_first. cbn [nth].
  rewrite (sum_eq _ (fun k => if (N.succ pos + N.of_nat k =? j)%N && (at_node (nth k l no_terminal) =? v)%N && (value_at 0%N missing j =? 0)%N
                then rational u else 0)).
  2:{ intros k _. replace (pos + N.of_nat (S k))%N with (N.succ pos + N.of_nat k)%N by lia. reflexivity. }
  rewrite <- IH by (right; trivial). replace (pos + N.of_nat 0)%N with pos by lia.
  destruct (pos =? j)%N eqn:E; simpl.
  - apply N.eqb_eq in E. subst pos. destruct (at_node t =? v)%N; simpl; [|ring].
    destruct (value_at 0%N missing j =? 0)%N; simpl; [|ring].
    rewrite !inject_Z_plus. replace (j <=? j)%N with true by (symmetry; apply N.leb_le; lia).
    replace (N.succ j <=? j)%N with false by (symmetry; apply N.leb_gt; lia). unfold rational. simpl. ring.
  - apply N.eqb_neq in E. destruct (at_node t =? v)%N; simpl; [|ring].
    destruct (value_at 0%N missing pos =? 0)%N; simpl; [|ring]. rewrite !inject_Z_plus.
    destruct (pos <=? j)%N eqn:A; destruct (N.succ pos <=? j)%N eqn:B; tests; try lia; try rewrite inject_Z_opp; simpl; ring.
Qed.

Lemma arrivals_pick u v missing l j : (j < length l)%nat ->
  inject_Z (events_at (arrivals u v 0 l missing) (N.of_nat j)) ==
  one (at_node (nth j l no_terminal) =? v)%N * one (value_at 0%N missing (N.of_nat j) =? 0)%N * rational u.
Proof.
  intros H. rewrite arrivals_at by (right; trivial).
  rewrite (sum_eq _ (fun k => one (j =? k)%nat * (one (at_node (nth k l no_terminal) =? v)%N * one (value_at 0%N missing (N.of_nat j) =? 0)%N * rational u))).
  - apply sum_pick. exact H.
  - intros k Hk. destruct (j =? k)%nat eqn:E.
    + apply Nat.eqb_eq in E. subst k. replace (0 + N.of_nat j =? N.of_nat j)%N with true by (symmetry; apply N.eqb_eq; lia).
      simpl. destruct (at_node _ =? v)%N, (value_at _ _ _ =? 0)%N; simpl; ring.
    + apply Nat.eqb_neq in E. replace (0 + N.of_nat k =? N.of_nat j)%N with false by (symmetry; apply N.eqb_neq; lia). simpl. ring.
Qed.

Lemma departures_at u n v t missing j : ordered 0 n missing = true -> (j < n)%N ->
  inject_Z (total_at (departures u n v t missing) j) ==
  - (one (at_node t =? v)%N * one (value_at 0%N missing j =? 0)%N * rational u).
Proof.
  intros O L. unfold departures. destruct (at_node t =? v)%N; [|simpl; ring]. cbn [total_at events_at].
  rewrite (to_events_at _ 0 n) by (reflexivity || assumption).
  replace (0 <=? j)%N with true by (symmetry; apply N.leb_le; lia).
  replace (n <=? j)%N with false by (symmetry; apply N.leb_gt; lia).
  rewrite !inject_Z_plus, inject_Z_opp. fold (rational u).
  destruct (value_at 0%N missing j =? 0)%N; simpl; unfold rational; ring.
Qed.

Lemma balance_length d n v a : length (balance d n v a) = length (ends d).
Proof.
  unfold balance. induction (incident a v) as [|x l IH]; simpl.
  - apply map2_length. symmetry. apply along_length.
  - rewrite map2_length; rewrite along_length; [reflexivity|]. symmetry. exact IH.
Qed.

Lemma balance_at d n v a i j : check_network d = true -> n = count (ends d) ->
  (forall x, In x (incident a v) -> ordered_matrix n n (snd x) = true) ->
  (i < length (ends d))%nat -> (j < length (ends d))%nat ->
  let I := N.of_nat i in let J := N.of_nat j in
  inject_Z (total_at (nth i (balance d n v a) []) J) ==
  inject_Z (net (incident a v) I J)
  + one (at_node (terminal_of d j) =? v)%N * one (connected (network_of d) i j) * rational (unit d)
  - one (at_node (terminal_of d i) =? v)%N * one (connected (network_of d) i j) * rational (unit d).
Proof.
  intros Hd Hn Ha Hi Hj I J. destruct (network_parts d Hd) as [_ [_ [_ [Lost _]]]]. rewrite <- Hn in Lost.
  pose proof Lost as Lost2. apply andb_true_iff in Lost2. destruct Lost2 as [LostO _].
  assert (Jn : (J < n)%N) by (unfold J, count in *; lia).
  unfold balance. induction (incident a v) as [|x l IH].
  - cbn [fold_right net]. rewrite (map2_nth _ _ _ _ no_terminal Done) by (rewrite ?along_length; auto).
    rewrite (along_at _ _ n) by assumption. cbn [total_at]. rewrite inject_Z_plus.
    set (missing := value_at Done (lost d) (N.of_nat i)).
    assert (O : ordered 0 n missing = true) by (apply (row_ordered n), Lost).
    rewrite departures_at by assumption.
    assert (E : match missing with Done => arrivals (unit d) v 0 (ends d) Done | _ => arrivals (unit d) v 0 (ends d) missing end
                = arrivals (unit d) v 0 (ends d) missing) by (destruct missing; reflexivity).
    rewrite E. unfold J. rewrite arrivals_pick by assumption.
    unfold terminal_of. simpl connected. unfold entry_of, entry. fold missing. change (inject_Z 0) with 0. ring.
  - cbn [fold_right net]. rewrite (map2_nth _ _ _ _ Done []); [| |rewrite along_length; assumption].
    2:{ rewrite along_length. symmetry. clear IH Ha. induction l as [|y l IHl]; simpl.
        - apply map2_length. symmetry. apply along_length.
        - rewrite map2_length; rewrite along_length; [reflexivity|]. symmetry. exact IHl. }
    assert (Ox : ordered_matrix n n (snd x) = true) by (apply Ha; left; reflexivity).
    pose proof Ox as Ox2. apply andb_true_iff in Ox2. destruct Ox2 as [Ox2 _].
    rewrite (along_at _ _ n) by assumption. fold I.
    assert (E : inject_Z (total_at (match value_at Done (snd x) I with Done => nth i (fold_right
          (fun (x : bool * matrix) rest => map2 (fun row l => match row with Done => l | _ => to_events (signed (fst x)) row :: l end)
                     (along Done 0 (ends d) (snd x)) rest)
          (map2 (fun t missing => match missing with Done => arrivals (unit d) v 0 (ends d) Done | _ => arrivals (unit d) v 0 (ends d) missing end
                            :: departures (unit d) n v t missing)
             (ends d) (along Done 0 (ends d) (lost d))) l) []
        | _ => to_events (signed (fst x)) (value_at Done (snd x) I) :: nth i (fold_right
          (fun (x : bool * matrix) rest => map2 (fun row l => match row with Done => l | _ => to_events (signed (fst x)) row :: l end)
                     (along Done 0 (ends d) (snd x)) rest)
          (map2 (fun t missing => match missing with Done => arrivals (unit d) v 0 (ends d) Done | _ => arrivals (unit d) v 0 (ends d) missing end
                            :: departures (unit d) n v t missing)
             (ends d) (along Done 0 (ends d) (lost d))) l) [] end) J)
       == inject_Z (signed_at x I J) + inject_Z (total_at (nth i (fold_right
          (fun (x : bool * matrix) rest => map2 (fun row l => match row with Done => l | _ => to_events (signed (fst x)) row :: l end)
                     (along Done 0 (ends d) (snd x)) rest)
          (map2 (fun t missing => match missing with Done => arrivals (unit d) v 0 (ends d) Done | _ => arrivals (unit d) v 0 (ends d) missing end
                            :: departures (unit d) n v t missing)
             (ends d) (along Done 0 (ends d) (lost d))) l) []) J)).
    { pose proof (row_ordered n n (snd x) I Ox) as Or.
      unfold signed_at, entry. destruct (value_at Done (snd x) I) as [|f c w r] eqn:Er.
      - simpl. unfold signed. destruct (fst x); simpl; ring.
      - cbn [total_at]. rewrite inject_Z_plus. rewrite (to_events_at _ 0 n); [reflexivity| |exact Or].
        unfold signed. destruct (fst x); reflexivity. }
    rewrite E, IH by (intros y Hy; apply Ha; right; exact Hy). rewrite inject_Z_plus. ring.
Qed.

Lemma all_from_at n : forall pos test k, all_from pos n test = true -> (k < n)%nat -> test (pos + N.of_nat k)%N = true.
Proof.
  induction n as [|n IH]; intros pos test k H L; [lia|]. cbn [all_from] in H. tests. destruct k as [|k].
  - replace (pos + N.of_nat 0)%N with pos by lia. assumption.
  - replace (pos + N.of_nat (S k))%N with (N.succ pos + N.of_nat k)%N by lia. apply IH; [assumption|lia].
Qed.

Lemma incident_ordered n cs : forall fs a v, length cs = length fs ->
  (forall c, ordered_matrix n n (nth c fs Done) = true) ->
  (forall x, In x (incident a v) -> ordered_matrix n n (snd x) = true) ->
  forall x, In x (incident (adjacent cs fs a) v) -> ordered_matrix n n (snd x) = true.
Proof.
  induction cs as [|c cs IH]; intros [|m fs] a v L F A; simpl in L; try discriminate; [exact A|].
  cbn [adjacent]. apply IH; [lia|intros k; apply (F (S k))|].
  assert (S : forall w b s, (forall x, In x (incident s v) -> ordered_matrix n n (snd x) = true) ->
              forall x, In x (incident (attach w (b, m) s) v) -> ordered_matrix n n (snd x) = true).
  { intros w b s Hs x. unfold attach, incident at 1. destruct (N.eq_dec w v) as [->|E].
    - rewrite PositiveMap.gss. intros [<-|Hx]; [apply (F 0%nat)|apply Hs, Hx].
    - rewrite PositiveMap.gso; [apply Hs|]. intros H. apply E. apply N.succ_inj. rewrite <- !N.succ_pos_spec. now rewrite H. }
  apply S, S, A.
Qed.

Lemma clear_of_at first last s j : clear_of first last s = true -> (first <= j)%N -> (j < last)%N -> value_at 0%N s j = 0%N.
Proof.
  induction s as [|f c v r IH]; simpl; intros H A B; [reflexivity|]. tests.
  destruct ((f <=? j) && (j <? f + c))%bool eqn:E; [|apply IH; assumption]. tests.
  apply orb_true_iff in H. destruct H as [H|H]; [|tests; lia]. apply orb_true_iff in H. destruct H; tests; [assumption|lia].
Qed.

Lemma apart_at a b j : apart a b = true -> (0 < value_at 0 a j)%N -> value_at 0%N b j = 0%N.
Proof.
  induction a as [|f c v r IH]; simpl; intros H A; [lia|]. tests.
  destruct ((f <=? j) && (j <? f + c))%bool eqn:E; [|apply IH; assumption]. tests.
  apply orb_true_iff in H. destruct H as [H|H]; [tests; lia|]. apply (clear_of_at f (f + c)); assumption.
Qed.

Lemma outside_lost_at d m i j : check_network d = true -> ordered_matrix (count (ends d)) (count (ends d)) m = true ->
  outside_lost d m = true -> (i < length (ends d))%nat -> connected (network_of d) i j = false -> entry_of m i j = 0%N.
Proof.
  intros Hd Hm H Hi Hc. simpl in Hc. apply N.eqb_neq in Hc. destruct (network_parts d Hd) as [_ [_ [_ [Lost _]]]].
  unfold entry_of, entry in *. unfold outside_lost in H. destruct (lost d) as [|f c v r] eqn:E; [simpl in Hc; lia|]. rewrite <- E in *.
  assert (H2 : all2 apart (along Done 0 (ends d) (lost d)) (along Done 0 (ends d) m) = true) by (rewrite E; rewrite E in H; exact H).
  apply (all2_nth _ _ _ i Done Done) in H2; [|rewrite along_length; exact Hi].
  unfold ordered_matrix in *. tests. rewrite !(along_at _ _ (count (ends d))) in H2 by assumption.
  apply (apart_at _ _ (N.of_nat j) H2). lia.
Qed.

Lemma one_to_nat a v : one (N.to_nat a =? N.to_nat v)%nat = one (a =? v)%N.
Proof.
  destruct (a =? v)%N eqn:E.
  - apply N.eqb_eq in E. subst. now rewrite Nat.eqb_refl.
  - apply N.eqb_neq in E. replace (N.to_nat a =? N.to_nat v)%nat with false; [reflexivity|].
    symmetry. apply Nat.eqb_neq. lia.
Qed.

Theorem routing_sound d : check_routing d = true -> proper (network_of d) /\ routing (network_of d) (routing_of d).
Proof.
  unfold check_routing. intros H. rewrite !andb_true_iff in H. destruct H as [[[Hn Hcount] Hcons] Hlost].
  assert (L : length (lines d) = length (flows d)) by (apply N.eqb_eq in Hcount; unfold count in Hcount; lia).
  pose proof (network_parts d Hn) as [Hunit [_ [_ [_ Hflows]]]].
  pose proof (rational_pos _ Hunit) as Upos.
  split; [apply network_sound, Hn|]. intros i j Hi Hj. simpl in Hi, Hj.
  destruct (connected (network_of d) i j) eqn:C.
  2:{ intros c Hc. simpl in Hc. unfold routing_of. rewrite L in Hc.
      apply (forallb_nth _ _ c Done) in Hlost; [|exact Hc].
      rewrite (outside_lost_at d (nth c (flows d) Done) i j) by auto. unfold ratio. change (rational 0) with 0.
      unfold Qdiv. ring. }
  split.
  - intros c Hc. apply ratio_nonneg.
  - intros v Hv. simpl in Hv. set (V := N.of_nat v). assert (EV : N.to_nat V = v) by (unfold V; lia).
    unfold conserved in Hcons. apply (all_from_at _ _ _ v) in Hcons; [|exact Hv]. fold V in Hcons.
    replace (0 + V)%N with V in Hcons by lia. set (a := adjacent (lines d) (flows d) (PositiveMap.empty (list (bool * matrix)))) in *.
    apply (forallb_nth _ _ i []) in Hcons; [|rewrite balance_length; exact Hi].
    apply (vanishes_at _ (N.of_nat j)) in Hcons. rewrite merge_all_at in Hcons.
    assert (B : inject_Z (total_at (nth i (balance d (count (ends d)) V a) []) (N.of_nat j)) == 0) by (rewrite Hcons; reflexivity).
    assert (Empty : incident (PositiveMap.empty (list (bool * matrix))) V = []) by (unfold incident; rewrite PositiveMap.gempty; reflexivity).
    rewrite balance_at in B; try assumption; [|reflexivity|].
    2:{ unfold a. apply incident_ordered; [exact L|exact Hflows|]. rewrite Empty. intros x []. }
    rewrite C in B. unfold a in B. rewrite adjacent_net in B by exact L. rewrite Empty in B. simpl net in B.
    change (inject_Z 0) with 0 in B. simpl one in B.
    unfold outflow, inflow. simpl channels. rewrite <- sum_minus.
    rewrite (sum_eq _ (fun c => (one (from (nth c (lines d) no_channel) =? V)%N * rational (entry (nth c (flows d) Done) (N.of_nat i) (N.of_nat j)) -
                one (to (nth c (lines d) no_channel) =? V)%N * rational (entry (nth c (flows d) Done) (N.of_nat i) (N.of_nat j))) * / rational (unit d))).
    2:{ intros c Hc. rewrite <- EV. simpl tail. simpl head. rewrite !one_to_nat. unfold routing_of, ratio, entry_of, channel_of, Qdiv. ring. }
    rewrite sum_scale_r. rewrite <- EV. simpl node. rewrite (Nat.eqb_sym (N.to_nat V)), (Nat.eqb_sym (N.to_nat V)), !one_to_nat.
    set (S := sum _ _) in *. set (x := one (at_node (terminal_of d i) =? V)%N) in *.
    set (y := one (at_node (terminal_of d j) =? V)%N) in *. set (u := rational (unit d)) in *.
    setoid_replace S with (S + 0 + y * 1 * u - x * 1 * u + (x * u - y * u)) by ring.
    rewrite B. field. lra.
Qed.
