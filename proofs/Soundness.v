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
  (1 <= whole d)%N /\
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
  - apply same_eq in E. subst. rewrite PositiveMap.gss. reflexivity.
  - apply same_neq in E. rewrite PositiveMap.gso; [reflexivity|]. intros H. apply E.
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
  - apply same_eq in E. subst pos. destruct (at_node t =? v)%N; simpl; [|ring].
    destruct (value_at 0%N missing j =? 0)%N; simpl; [|ring].
    rewrite !inject_Z_plus. replace (j <=? j)%N with true by (symmetry; apply N.leb_le; lia).
    replace (N.succ j <=? j)%N with false by (symmetry; apply N.leb_gt; lia). unfold rational. simpl. ring.
  - apply same_neq in E. destruct (at_node t =? v)%N; simpl; [|ring].
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
    + apply Nat.eqb_eq in E. subst k. replace (0 + N.of_nat j =? N.of_nat j)%N with true by (symmetry; apply same_eq; lia).
      simpl. destruct (at_node _ =? v)%N, (value_at _ _ _ =? 0)%N; simpl; ring.
    + apply Nat.eqb_neq in E. replace (0 + N.of_nat k =? N.of_nat j)%N with false by (symmetry; apply same_neq; lia). simpl. ring.
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
  + one (at_node (terminal_of d j) =? v)%N * one (connected (network_of d) i j) * rational (whole d)
  - one (at_node (terminal_of d i) =? v)%N * one (connected (network_of d) i j) * rational (whole d).
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
    assert (E : match missing with Done => arrivals (whole d) v 0 (ends d) Done | _ => arrivals (whole d) v 0 (ends d) missing end
                = arrivals (whole d) v 0 (ends d) missing) by (destruct missing; reflexivity).
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
          (map2 (fun t missing => match missing with Done => arrivals (whole d) v 0 (ends d) Done | _ => arrivals (whole d) v 0 (ends d) missing end
                            :: departures (whole d) n v t missing)
             (ends d) (along Done 0 (ends d) (lost d))) l) []
        | _ => to_events (signed (fst x)) (value_at Done (snd x) I) :: nth i (fold_right
          (fun (x : bool * matrix) rest => map2 (fun row l => match row with Done => l | _ => to_events (signed (fst x)) row :: l end)
                     (along Done 0 (ends d) (snd x)) rest)
          (map2 (fun t missing => match missing with Done => arrivals (whole d) v 0 (ends d) Done | _ => arrivals (whole d) v 0 (ends d) missing end
                            :: departures (whole d) n v t missing)
             (ends d) (along Done 0 (ends d) (lost d))) l) [] end) J)
       == inject_Z (signed_at x I J) + inject_Z (total_at (nth i (fold_right
          (fun (x : bool * matrix) rest => map2 (fun row l => match row with Done => l | _ => to_events (signed (fst x)) row :: l end)
                     (along Done 0 (ends d) (snd x)) rest)
          (map2 (fun t missing => match missing with Done => arrivals (whole d) v 0 (ends d) Done | _ => arrivals (whole d) v 0 (ends d) missing end
                            :: departures (whole d) n v t missing)
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
  intros Hd Hm H Hi Hc. simpl in Hc. apply same_neq in Hc. destruct (network_parts d Hd) as [_ [_ [_ [Lost _]]]].
  unfold entry_of, entry in *. unfold outside_lost in H. destruct (lost d) as [|f c v r] eqn:E; [simpl in Hc; lia|]. rewrite <- E in *.
  assert (H2 : all2 apart (along Done 0 (ends d) (lost d)) (along Done 0 (ends d) m) = true) by (rewrite E; rewrite E in H; exact H).
  apply (all2_nth _ _ _ i Done Done) in H2; [|rewrite along_length; exact Hi].
  unfold ordered_matrix in *. tests. rewrite !(along_at _ _ (count (ends d))) in H2 by assumption.
  apply (apart_at _ _ (N.of_nat j) H2). lia.
Qed.

Lemma one_to_nat a v : one (N.to_nat a =? N.to_nat v)%nat = one (a =? v)%N.
Proof.
  destruct (a =? v)%N eqn:E.
  - apply same_eq in E. subst. now rewrite Nat.eqb_refl.
  - apply same_neq in E. replace (N.to_nat a =? N.to_nat v)%nat with false; [reflexivity|].
    symmetry. apply Nat.eqb_neq. lia.
Qed.

Theorem routing_sound d : check_routing d = true -> proper (network_of d) /\ routing (network_of d) (routing_of d).
Proof.
  unfold check_routing. intros H. rewrite !andb_true_iff in H. destruct H as [[[Hn Hcount] Hcons] Hlost].
  assert (L : length (lines d) = length (flows d)) by (apply same_eq in Hcount; unfold count in Hcount; lia).
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
                one (to (nth c (lines d) no_channel) =? V)%N * rational (entry (nth c (flows d) Done) (N.of_nat i) (N.of_nat j))) * / rational (whole d))).
    2:{ intros c Hc. rewrite <- EV. simpl tail. simpl head. rewrite !one_to_nat. unfold routing_of, ratio, entry_of, channel_of, Qdiv. ring. }
    rewrite sum_scale_r. rewrite <- EV. simpl node. rewrite (Nat.eqb_sym (N.to_nat V)), (Nat.eqb_sym (N.to_nat V)), !one_to_nat.
    set (S := sum _ _) in *. set (x := one (at_node (terminal_of d i) =? V)%N) in *.
    set (y := one (at_node (terminal_of d j) =? V)%N) in *. set (u := rational (whole d)) in *.
    setoid_replace S with (S + 0 + y * 1 * u - x * 1 * u + (x * u - y * u)) by ring.
    rewrite B. field. lra.
Qed.

(* ---- most ---- *)

Lemma peak_at t w j : minima t -> (value_at 0 w j <= peak t w + get 0 t j)%N.
Proof.
  intros M. induction w as [|f c x r IH]; [simpl; lia|]. cbn [value_at peak].
  destruct ((f <=? j) && (j <? f + c))%N%bool eqn:E; [|lia]. tests.
  pose proof (lowest_le t M f (f + c) j ltac:(assumption) ltac:(assumption)). lia.
Qed.

Lemma prices_length es vs ms b : length (prices_at es vs ms b) = length es.
Proof.
  assert (K : forall A (l : list A) p, length (numbers p l) = length l) by (induction l; intros; simpl; auto).
  unfold prices_at. destruct (snd b) as [|m w]; [apply along_length|]. rewrite map_length.
  induction (m :: w) as [|y l IH]; simpl; [apply K|]. rewrite map_length. exact IH.
Qed.

Lemma price_bound_sum d v w : check_network d = true -> ordered_matrix (count (ends d)) (count (ends d)) w = true ->
  length v = length (ends d) ->
  rational (price_bound d v w) ==
  sum (fun i => rational (sends (terminal_of d i)) * rational (peak (tree_of N.min 0%N v) (value_at Done w (N.of_nat i)))) (length (ends d)) +
  sum (fun j => rational (takes (terminal_of d j)) * rational (nth j v 0%N)) (length (ends d)).
Proof.
  intros H O L. apply andb_true_iff in O. destruct O as [O _]. unfold price_bound. rewrite rational_plus. apply Qplus_comp.
  - rewrite (dot_sum _ _ (count (ends d)) _ no_terminal) by (rewrite map_runs_ordered; exact O).
    apply sum_eq. intros i Hi. rewrite <- (map_runs_at (peak (tree_of N.min 0%N v)) Done). reflexivity.
  - rewrite (nsum_map2 _ _ _ no_terminal 0%N) by (symmetry; exact L). apply sum_eq. intros j Hj. apply rational_mult.
Qed.

(* x / D against p / q *)
Lemma scaled_le q x p b u : (1 <= q)%N -> (1 <= u)%N -> (q * x <= p * b * u)%N -> rational x / rational u <= ratio p q * rational b.
Proof.
  intros Hq Hu H. pose proof (rational_pos _ Hq). pose proof (rational_pos _ Hu).
  apply Qle_shift_div_r; [assumption|]. apply (rational_le (q * x)) in H. rewrite !rational_mult in H.
  unfold ratio. setoid_replace (rational p / rational q * rational b * rational u) with
    ((rational p * rational b * rational u) / rational q) by (field; lra).
  apply Qle_shift_div_l; [assumption|]. rewrite Qmult_comm. exact H.
Qed.

Lemma ratio_plus a b u : (1 <= u)%N -> ratio a u + ratio b u == ratio (a + b) u.
Proof. intros H. pose proof (rational_pos _ H). unfold ratio. rewrite rational_plus. field. lra. Qed.

Lemma ratio_mono a b u : (1 <= u)%N -> (a <= b)%N -> ratio a u <= ratio b u.
Proof.
  intros H L. pose proof (rational_pos _ H). unfold ratio, Qdiv. apply times_le.
  - apply Qinv_le_0_compat. lra.
  - apply rational_le, L.
Qed.

Theorem most_sound d p q x : check_most d p q x = true -> worst_at_most (network_of d) (routing_of d) (ratio p q).
Proof.
  unfold check_most. rewrite !andb_true_iff. intros [[[[[Hn Hq] _] Hw] Hf] H] X HX c Hc.
  apply N.leb_le in Hq. apply same_eq in Hw, Hf. unfold count in Hw, Hf. simpl in Hc.
  apply (all2_nth (B := matrix * (N * list N)) _ _ _ c no_channel (Done, (0%N, []))) in H; [|exact Hc]. 
  assert (E : nth c (combine (flows d) (price_words x)) (Done, (0%N, [])) = (nth c (flows d) Done, nth c (price_words x) (0%N, [])))
    by (apply combine_nth; lia).
  cbv beta in H. rewrite E in H. cbn [fst snd] in H.
  set (v := prices_at _ _ _ _) in H. set (w := nth c (flows d) Done) in *. apply N.leb_le in H.
  pose proof (network_parts d Hn) as [Hu [_ [_ [_ Hflows]]]]. specialize (Hflows c). fold w in Hflows.
  assert (Lv : length v = length (ends d)) by apply prices_length.
  set (t := tree_of N.min 0%N v) in *.
  eapply Qle_trans.
  - apply (prices_bound (network_of d) _ _ _ (fun i => ratio (peak t (value_at Done w (N.of_nat i))) (whole d))
      (fun j => ratio (nth j v 0%N) (whole d)) HX); try (intros; apply ratio_nonneg).
    intros i j Hi Hj. simpl in Hi, Hj. rewrite ratio_plus by exact Hu. apply ratio_mono; [exact Hu|].
    unfold entry_of, entry. fold w. pose proof (peak_at t (value_at Done w (N.of_nat i)) (N.of_nat j) (build_minima _ _)) as P.
    unfold t in P at 2. rewrite tree_of_get in P by lia. exact P.
  - simpl. unfold ratio at 1 2. pose proof (rational_pos _ Hu).
    rewrite (sum_eq _ (fun i => (rational (sends (terminal_of d i)) * rational (peak t (value_at Done w (N.of_nat i)))) * / rational (whole d)))
      by (intros; unfold Qdiv; ring).
    rewrite (sum_eq (fun j => rational (takes (terminal_of d j)) * _) (fun j => (rational (takes (terminal_of d j)) * rational (nth j v 0%N)) * / rational (whole d)))
      by (intros; unfold Qdiv; ring).
    rewrite !sum_scale_r. rewrite <- Qmult_plus_distr_l.
    pose proof (price_bound_sum d v w Hn Hflows Lv) as B.
    apply Qle_trans with (rational (price_bound d v w) / rational (whole d)); [unfold Qdiv; rewrite B; apply Qle_refl|].
    apply (scaled_le q); try assumption. 
Qed.

(* ---- traffic ---- *)

Fixpoint runs_sum {A} (h : A -> Q) (s : runs A) : Q :=
  match s with Done => 0 | Run f c v r => rational c * h v + runs_sum h r end.

Lemma runs_sum_at {A} (h : A -> Q) d n s : ordered 0 (N.of_nat n) s = true -> h d == 0 ->
  sum (fun i => h (value_at d s (N.of_nat i))) n == runs_sum h s.
Proof.
  intros O Z. assert (G : forall lo, ordered lo (N.of_nat n) s = true ->
    sum (fun i => h (value_at d s (N.of_nat i))) n == runs_sum h s); [clear O|exact (G 0%N O)].
  induction s as [|f c v r IH]; intros lo O.
  - simpl. apply sum_0. intros. exact Z.
  - cbn [ordered] in O. tests. cbn [runs_sum]. rewrite <- (IH (f + c)%N) by assumption.
    set (a := N.to_nat f). set (k := N.to_nat c). replace n with (a + (k + (n - a - k)))%nat by lia.
    rewrite !sum_split.
    rewrite (sum_eq (fun i => h (value_at d (Run f c v r) (N.of_nat i))) (fun i => h (value_at d r (N.of_nat i))) a).
    2:{ intros i Hi. cbn [value_at]. replace (f <=? N.of_nat i)%N with false by (symmetry; apply N.leb_gt; lia). reflexivity. }
    rewrite (sum_eq (fun i => h (value_at d (Run f c v r) (N.of_nat (a + i)))) (fun i => h v) k).
    2:{ intros i Hi. cbn [value_at]. replace (f <=? N.of_nat (a + i))%N with true by (symmetry; apply N.leb_le; lia).
        replace (N.of_nat (a + i) <? f + c)%N with true by (symmetry; apply N.ltb_lt; lia). reflexivity. }
    rewrite (sum_0 (fun i => h (value_at d r (N.of_nat (a + i)))) k).
    2:{ intros i Hi. rewrite (value_outside d (f + c) (N.of_nat n)) by (assumption || lia). exact Z. }
    rewrite (sum_eq (fun i => h (value_at d (Run f c v r) (N.of_nat (a + (k + i))))) (fun i => h (value_at d r (N.of_nat (a + (k + i)))))).
    2:{ intros i Hi. cbn [value_at]. replace (N.of_nat (a + (k + i)) <? f + c)%N with false by (symmetry; apply N.ltb_ge; lia).
        rewrite andb_false_r. reflexivity. }
    rewrite sum_const. replace (inject_Z (Z.of_nat k)) with (rational c) by (unfold rational, k; f_equal; lia). ring.
Qed.

Lemma runs_total_sum n s : ordered 0 (N.of_nat n) s = true ->
  rational (runs_total s) == sum (fun i => rational (value_at 0%N s (N.of_nat i))) n.
Proof.
  intros O. rewrite (runs_sum_at rational) by (assumption || reflexivity). clear O.
  induction s as [|f c v r IH]; [reflexivity|]. cbn [runs_total runs_sum]. rewrite rational_plus, rational_mult, IH. reflexivity.
Qed.

Lemma columns_length {A} (l : list A) x : length (columns l x) = length l.
Proof.
  induction x as [|f c row r IH]; simpl; [apply map_length|]. rewrite map2_length; rewrite along_length; auto.
Qed.

Lemma columns_at {A} (l : list A) x n m j : ordered_matrix (N.of_nat n) m x = true -> (j < length l)%nat ->
  rational (nth j (columns l x) 0%N) == sum (fun i => rational (entry_of x i j)) n.
Proof.
  intros O L. apply andb_true_iff in O. destruct O as [O R]. unfold entry_of, entry.
  rewrite (runs_sum_at (fun row => rational (value_at 0%N row (N.of_nat j)))) by (assumption || reflexivity).
  clear O. induction x as [|f c row r IH]; simpl columns; simpl runs_sum.
  - assert (E : nth j (map (fun _ : A => 0%N) l) 0%N = 0%N).
    { clear. revert j. induction l as [|a l IH]; intros [|j]; simpl; auto. }
    rewrite E. reflexivity.
  - simpl in R. tests. rewrite (map2_nth _ _ _ _ 0%N 0%N); [| |rewrite along_length; exact L].
    2:{ rewrite along_length, columns_length. reflexivity. }
    rewrite (along_at _ _ m) by assumption. rewrite rational_plus, rational_mult, IH by assumption. reflexivity.
Qed.

Lemma ratio_sum t (a : nat -> N) n : sum (fun i => ratio (a i) t) n == sum (fun i => rational (a i)) n / rational t.
Proof. unfold ratio, Qdiv. apply sum_scale_r. Qed.

Lemma below_ratio s t e : (1 <= t)%N -> (s <= t * e)%N -> rational s / rational t <= rational e.
Proof.
  intros H L. apply Qle_shift_div_r; [apply rational_pos, H|]. rewrite <- rational_mult. apply rational_le. lia.
Qed.

Theorem admissible_sound d t x : check_network d = true -> check_admissible d t x = true ->
  admissible (network_of d) (traffic_of x t).
Proof.
  intros Hn. unfold check_admissible. rewrite !andb_true_iff. intros [[[[Ht O] Hrow] Hcol] Hlost]. apply N.leb_le in Ht.
  pose proof (rational_pos _ Ht) as Tpos. pose proof O as Oo. apply andb_true_iff in Oo. destruct Oo as [Oo _].
  split; [intros; apply ratio_nonneg|]. simpl. split; [|split].
  - intros i Hi. unfold traffic_of. rewrite ratio_sum. unfold entry_of, entry.
    rewrite <- (runs_total_sum (length (ends d)) (value_at Done x (N.of_nat i))) by (apply (row_ordered (count (ends d))), O).
    apply below_ratio; [exact Ht|].
    apply (all2_nth _ _ _ i no_terminal Done) in Hrow; [|exact Hi]. rewrite (along_at _ _ (count (ends d))) in Hrow by assumption.
    apply N.leb_le in Hrow. exact Hrow.
  - intros j Hj. unfold traffic_of. rewrite ratio_sum. rewrite <- (columns_at (ends d) x (length (ends d)) (count (ends d)) j O Hj).
    apply below_ratio; [exact Ht|]. apply (all2_nth _ _ _ j no_terminal 0%N) in Hcol; [|exact Hj]. apply N.leb_le in Hcol. exact Hcol.
  - intros i j Hi Hj Hc. unfold traffic_of. rewrite (outside_lost_at d x i j) by assumption. unfold ratio, Qdiv.
    change (rational 0) with 0. ring.
Qed.

Lemma row_product_sum {A} (l : list A) hi w x : ordered 0 hi w = true -> ordered 0 hi x = true ->
  rational (row_product l w x) == sum (fun j => rational (value_at 0%N w (N.of_nat j)) * rational (value_at 0%N x (N.of_nat j))) (length l).
Proof.
  intros Hw Hx.
  assert (E : rational (nsum (map2 N.mul (along 0%N 0 l w) (along 0%N 0 l x))) ==
              sum (fun j => rational (value_at 0%N w (N.of_nat j)) * rational (value_at 0%N x (N.of_nat j))) (length l)).
  { rewrite (nsum_map2 _ _ _ 0%N 0%N) by (rewrite !along_length; reflexivity). rewrite along_length. apply sum_eq. intros j Hj.
    rewrite !(along_at _ _ hi) by assumption. apply rational_mult. }
  unfold row_product. destruct w; [symmetry; apply sum_0; intros; simpl; change (rational 0) with 0; ring|].
  destruct x; [symmetry; apply sum_0; intros; simpl value_at; change (rational 0) with 0; ring|]. exact E.
Qed.

Lemma product_sum {A} (l : list A) hi w x : ordered_matrix hi hi w = true -> ordered_matrix hi hi x = true ->
  rational (product l w x) == sum (fun i => sum (fun j => rational (entry_of x i j) * rational (entry_of w i j)) (length l)) (length l).
Proof.
  intros Hw Hx. unfold product. rewrite (nsum_map2 (A := steps) (B := steps) _ _ _ Done Done) by (rewrite !along_length; reflexivity). rewrite along_length.
  apply sum_eq. intros i Hi. pose proof Hw as Ow. pose proof Hx as Ox. apply andb_true_iff in Ow, Ox.
  rewrite !(along_at _ _ hi) by (apply Ow || apply Ox || assumption).
  rewrite (row_product_sum l hi) by (apply (row_ordered hi); assumption). apply sum_eq. intros j Hj. apply Qmult_comm.
Qed.

Lemma loaded_load d p q c t x : check_network d = true -> (1 <= q)%N -> (1 <= t)%N ->
  ordered_matrix (count (ends d)) (count (ends d)) x = true -> loaded d p q c t x = true ->
  (N.to_nat c < channels (network_of d))%nat /\
  load (network_of d) (routing_of d) (traffic_of x t) (N.to_nat c) == ratio p q * bandwidth (network_of d) (N.to_nat c).
Proof.
  intros Hn Hq Ht O. unfold loaded. rewrite !andb_true_iff. intros [[Hc _] E]. apply N.ltb_lt in Hc. apply same_eq in E.
  unfold count in Hc. pose proof (network_parts d Hn) as [Hu [_ [_ [_ Hflows]]]]. specialize (Hflows (N.to_nat c)).
  simpl. split; [lia|]. unfold load. simpl terminals. unfold traffic_of, routing_of, ratio.
  pose proof (rational_pos _ Hq). pose proof (rational_pos _ Ht). pose proof (rational_pos _ Hu).
  set (k := N.to_nat c) in *.
  rewrite (sum_pairs_eq _ (fun i j => rational (entry_of x i j) * rational (entry_of (nth k (flows d) Done) i j) * / (rational t * rational (whole d))))
    by (intros; field; lra).
  rewrite (sum_eq _ (fun i => sum (fun j => rational (entry_of x i j) * rational (entry_of (nth k (flows d) Done) i j)) (length (ends d)) * / (rational t * rational (whole d))))
    by (intros; apply sum_scale_r).
  rewrite sum_scale_r. rewrite <- (product_sum (ends d) (count (ends d))) by assumption.
  assert (E2 : rational q * rational (product (ends d) (nth k (flows d) Done) x) ==
               rational p * rational (width (nth k (lines d) no_channel)) * rational (whole d) * rational t)
    by (rewrite <- !rational_mult; rewrite E; reflexivity).
  unfold channel_of. set (w := rational (width _)) in *. set (s := rational (product _ _ _)) in *.
  setoid_replace (s * / (rational t * rational (whole d))) with ((rational q * s) / (rational q * rational t * rational (whole d))) by (field; lra).
  rewrite E2. field. lra.
Qed.

Theorem attains_sound d p q c t x : check_attains d p q c t x = true ->
  admissible (network_of d) (traffic_of x t) /\ (N.to_nat c < channels (network_of d))%nat /\
  load (network_of d) (routing_of d) (traffic_of x t) (N.to_nat c) == ratio p q * bandwidth (network_of d) (N.to_nat c).
Proof.
  unfold check_attains. rewrite !andb_true_iff. intros [[[Hn Hq] Ha] Hl]. apply N.leb_le in Hq.
  split; [apply admissible_sound; assumption|].
  unfold check_admissible in Ha. rewrite !andb_true_iff in Ha. destruct Ha as [[[[Ht O] _] _] _]. apply N.leb_le in Ht.
  apply loaded_load; assumption.
Qed.

(* ---- least ---- *)

Definition value (o : option N) : N := match o with Some x => x | None => 0%N end.

Lemma add_all_spec l : forall s, add_all l = Some s ->
  (forall k, (k < length l)%nat -> nth k l None = Some (value (nth k l None))) /\
  rational s == sum (fun k => rational (value (nth k l None))) (length l).
Proof.
  induction l as [|[a|] l IH]; intros s H; cbn [add_all] in H; try discriminate.
  - injection H as <-. split; [intros k Hk; simpl in Hk; lia|reflexivity].
  - destruct (add_all l) as [b|]; [|discriminate]. injection H as <-. destruct (IH b eq_refl) as [A B]. split.
    + intros [|k] Hk; [reflexivity|]. apply (A k). simpl in Hk. lia.
    + cbn [length]. rewrite sum_first, rational_plus, B. reflexivity.
Qed.

Lemma numbers_nth {A} (l : list A) : forall pos k x, (k < length l)%nat -> nth k (numbers pos l) x = (pos + N.of_nat k)%N.
Proof.
  induction l as [|a l IH]; intros pos k x H; simpl in H; [lia|]. destruct k as [|k]; cbn [numbers nth]; [lia|]. rewrite IH by lia. lia.
Qed.

Lemma numbers_length {A} (l : list A) : forall pos, length (numbers pos l) = length l.
Proof. induction l as [|a l IH]; intros pos; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma numbered_nth {A} (l : list A) k a : (k < length l)%nat -> nth k (combine (numbers 0 l) l) (0%N, a) = (N.of_nat k, nth k l a).
Proof. intros H. rewrite combine_nth by apply numbers_length. now rewrite numbers_nth by exact H. Qed.

Lemma numbered_length {A} (l : list A) : length (combine (numbers 0 l) l) = length l.
Proof. rewrite combine_length, numbers_length. lia. Qed.

Lemma all_nodes_length d : length (all_nodes d) = N.to_nat (size d).
Proof. apply repeat_length. Qed.

Lemma potential_at d row v : ordered 0 (size d) row = true -> (v < size d)%N ->
  get 0%N (array 0%N (along 0%N 0 (all_nodes d) row)) v = value_at 0%N row v.
Proof.
  intros O L. replace v with (N.of_nat (N.to_nat v)) by lia. unfold array.
  rewrite tree_of_get by (rewrite along_length, all_nodes_length; lia).
  apply (along_at _ _ (size d)); [exact O|]. rewrite all_nodes_length. lia.
Qed.

Lemma pair_gain_sound d rows missing s J t prow arow g :
  check_network d = true -> length rows = length (lines d) ->
  ordered 0 (size d) prow = true -> ordered 0 (count (lines d)) arow = true -> (at_node s < size d)%N -> (at_node t < size d)%N ->
  pair_gain d (all_nodes d) rows missing s (J, t) (prow, arow) = Some g ->
  let prow := if (value_at 0 missing J =? 0)%N then prow else Done in
  (forall c, (c < length (lines d))%nat -> value_at 0%N arow (N.of_nat c) <> 0%N ->
     (value_at 0 prow (to (channel_of d c)) <= value_at 0 prow (from (channel_of d c)) + value_at 0 (nth c rows Done) J)%N) /\
  g = if (value_at 0 missing J =? 0)%N then (value_at 0 prow (at_node t) - value_at 0 prow (at_node s))%N else 0%N.
Proof.
  intros Hn Hr Op Oa Hs Ht H. destruct (network_parts d Hn) as [_ [C _]].
  unfold pair_gain in H. cbn [fst snd] in H. set (pot := array 0%N (along 0%N 0 (all_nodes d) prow)) in H.
  assert (P : forall v, (v < size d)%N -> get 0%N pot v = value_at 0%N prow v) by (intros; apply potential_at; assumption).
  assert (Nothing : forall g, Some 0%N = Some g ->
    (forall c, (c < length (lines d))%nat -> value_at 0%N arow (N.of_nat c) <> 0%N ->
     (0 <= 0 + value_at 0 (nth c rows Done) J)%N) /\ g = 0%N) by (intros g0 E; injection E as <-; split; [intros; lia|reflexivity]).
  cbv zeta. destruct (value_at 0 missing J =? 0)%N.
  2:{ simpl. apply Nothing. destruct prow; exact H. }
  destruct prow as [|f k v r] eqn:E; [simpl; apply Nothing; exact H|].
  rewrite <- E in *. clear E. destruct (all2 _ _ _) eqn:A; [|discriminate]. injection H as <-. split.
  - intros c Hc Hv. apply (all2_nth (B := steps * N) _ _ _ c no_channel (Done, 0%N)) in A; [|exact Hc].
    assert (E : nth c (combine rows (along 0%N 0 (lines d) arow)) (Done, 0%N) = (nth c rows Done, value_at 0%N arow (N.of_nat c))).
    { rewrite combine_nth by (rewrite along_length; exact Hr). rewrite (along_at _ _ (count (lines d))) by assumption. reflexivity. }
    cbv beta in A. rewrite E in A. cbn [fst snd] in A. apply orb_true_iff in A. destruct A as [A|A]; [apply same_eq in A; contradiction|].
    apply N.leb_le in A. destruct (C c Hc) as [C1 [C2 _]]. fold (channel_of d c) in A. rewrite !P in A by assumption. exact A.
  - rewrite !P by assumption. reflexivity.
Qed.

Lemma spread_length {A} (l : list A) : forall pos x, length (spread pos l x) = length l.
Proof.
  induction l as [|a l IH]; intros pos x; [reflexivity|]. cbn [spread]. destruct x as [|[c y] r]; [simpl; now rewrite IH|].
  destruct (c =? pos)%N; simpl; now rewrite IH.
Qed.

(* The classes of routings that a bound is about. *)
Definition uses_only (G : network) (permitted : nat -> nat -> nat -> bool) (f : nat -> nat -> nat -> Q) : Prop :=
  forall i j c, (i < terminals G)%nat -> (j < terminals G)%nat -> (c < channels G)%nat -> permitted i j c = false -> f i j c == 0.

Definition permitted_by (l : list matrix) (i j c : nat) : bool :=
  negb (N.eqb (value_at 0%N (value_at Done (nth i l Done) (N.of_nat j)) (N.of_nat c)) 0).

Lemma least_general d p q x : check_least d p q x = true ->
  forall f, routing (network_of d) f ->
  uses_only (network_of d) (fun i j c => negb (value_at 0 (value_at (allowed_row d x) (nth i (allowed_rows d x) Done) (N.of_nat j)) (N.of_nat c) =? 0)%N) f ->
  worst_at_least (network_of d) f (ratio p q).
Proof.
  unfold check_least. rewrite !andb_true_iff. intros [[[[[[[[Hn Hq] Htotal] Hw] Hp] Hpo] Ha] Hao] H].
  apply N.leb_le in Hq, Htotal. apply same_eq in Hp, Ha. unfold count in Hp, Ha.
  set (weights := spread 0 (lines d) (adversaries x)) in *.
  set (n := length (ends d)) in *. set (default := allowed_row d x) in *. set (rows := allowed_rows d x) in *.
  assert (Lw : length weights = length (lines d)) by apply spread_length.
  destruct (network_parts d Hn) as [_ [C [T _]]].
  destruct (add_all _) as [gain|] eqn:G; [|discriminate]. apply N.leb_le in H. apply add_all_spec in G. destruct G as [G1 G2].
  set (outer := map2 _ _ _) in G1, G2.
  assert (Lc : length (combine (potentials x) rows) = n) by (rewrite combine_length; lia).
  assert (Lo : length outer = n) by (unfold outer; rewrite map2_length; rewrite numbered_length; [reflexivity|symmetry; exact Lc]).
  rewrite Lo in G1, G2.
  set (arow := fun i j => value_at default (nth i rows Done) (N.of_nat j)).
  set (lens := fun i => map (fun a : N * matrix => value_at Done (snd a) (N.of_nat i)) weights).
  set (missing := fun i => value_at Done (lost d) (N.of_nat i)).
  set (prow0 := fun i j => value_at Done (nth i (potentials x) Done) (N.of_nat j)).
  set (prow := fun i j => if (value_at 0 (missing i) (N.of_nat j) =? 0)%N then prow0 i j else Done).
  set (inner := fun i j => pair_gain d (all_nodes d) (lens i) (missing i) (terminal_of d i) (N.of_nat j, terminal_of d j) (prow0 i j, arow i j)).
  assert (Op : forall i, (i < n)%nat -> ordered_matrix (count (ends d)) (size d) (nth i (potentials x) Done) = true).
  { intros i Hi. apply (forallb_nth _ _ i Done Hpo). lia. }
  assert (Oa : forall i, (i < n)%nat -> ordered_matrix (count (ends d)) (count (lines d)) (nth i rows Done) = true).
  { intros i Hi. apply (forallb_nth _ _ i Done Hao). lia. }
  assert (Od : ordered 0 (count (lines d)) default = true).
  { unfold default, allowed_row. destruct (allowed x); [reflexivity|]. destruct (lines d) as [|c l] eqn:E.
    - destruct weights; simpl in Htotal; unfold nsum in Htotal; simpl in Htotal; lia.
    - unfold count. cbn [ordered length]. rewrite !andb_true_iff. repeat split; try apply N.leb_le; lia. }
  assert (Oarow : forall i j, (i < n)%nat -> ordered 0 (count (lines d)) (arow i j) = true).
  { intros i j Hi. unfold arow. specialize (Oa i Hi). apply andb_true_iff in Oa. destruct Oa as [_ Oa].
    apply (all_values_at _ _ _ _ Oa Od). }
  (* the gain of a source is the sum of those of its pairs *)
  assert (Hsource : forall i, (i < n)%nat ->
    (forall j, (j < n)%nat -> inner i j = Some (value (inner i j))) /\
    rational (value (nth i outer None)) == sum (fun j => rational (value (inner i j))) n).
  { intros i Hi. specialize (G1 i Hi).
    assert (E : nth i outer None = source_gain d (all_nodes d) default weights (N.of_nat i, terminal_of d i) (nth i (potentials x) Done, nth i rows Done)).
    { unfold outer. rewrite (map2_nth (B := matrix * matrix) _ _ _ _ (0%N, no_terminal) (Done, Done));
        [|rewrite numbered_length; symmetry; exact Lc|rewrite numbered_length; exact Hi].
      rewrite numbered_nth by exact Hi. f_equal. apply combine_nth. lia. }
    rewrite E in G1 |- *. unfold source_gain in G1 at 1. cbn [fst snd] in G1. fold (lens i) in G1. fold (missing i) in G1.
    destruct (add_all_spec _ _ G1) as [A B]. set (l := map2 _ _ _) in A, B.
    assert (Ll : length l = n).
    { unfold l. rewrite map2_length; rewrite numbered_length; [reflexivity|]. rewrite combine_length, !along_length. fold n. lia. }
    rewrite Ll in A, B.
    assert (El : forall j, (j < n)%nat -> nth j l None = inner i j).
    { intros j Hj. unfold l. rewrite (map2_nth (B := steps * steps) _ _ _ _ (0%N, no_terminal) (Done, default));
        [|rewrite numbered_length, combine_length, !along_length; fold n; lia|rewrite numbered_length; exact Hj].
      rewrite numbered_nth by exact Hj. unfold inner, terminal_of. f_equal.
      assert (Ec : nth j (combine (along Done 0 (ends d) (nth i (potentials x) Done)) (along default 0 (ends d) (nth i rows Done))) (Done, default) = 
        (nth j (along Done 0 (ends d) (nth i (potentials x) Done)) Done, nth j (along default 0 (ends d) (nth i rows Done)) default)).
      { apply combine_nth. rewrite !along_length. reflexivity. }
      rewrite Ec. pose proof (Op i Hi) as O1. pose proof (Oa i Hi) as O2. apply andb_true_iff in O1, O2.
      rewrite (along_at _ _ (count (ends d))) by (apply O1 || exact Hj). rewrite (along_at _ _ (count (ends d))) by (apply O2 || exact Hj). reflexivity. }
    split.
    - intros j Hj. rewrite <- (El j Hj). apply (A j Hj).
    - rewrite B. apply sum_eq. intros j Hj. rewrite (El j Hj). reflexivity. }
  assert (Hgain : rational gain == sum (fun i => sum (fun j => rational (value (inner i j))) n) n).
  { rewrite G2. apply sum_eq. intros i Hi. apply (Hsource i Hi). }
  assert (Hpair : forall i j, (i < n)%nat -> (j < n)%nat ->
    (forall c, (c < length (lines d))%nat -> value_at 0%N (arow i j) (N.of_nat c) <> 0%N ->
     (value_at 0 (prow i j) (to (channel_of d c)) <= value_at 0 (prow i j) (from (channel_of d c)) + value_at 0 (nth c (lens i) Done) (N.of_nat j))%N) /\
    value (inner i j) = if (value_at 0 (missing i) (N.of_nat j) =? 0)%N then (value_at 0 (prow i j) (at_node (terminal_of d j)) - value_at 0 (prow i j) (at_node (terminal_of d i)))%N else 0%N).
  { intros i j Hi Hj. destruct (Hsource i Hi) as [S _]. specialize (S j Hj). unfold inner in S at 1.
    apply pair_gain_sound in S; try assumption.
    - unfold lens. rewrite map_length. exact Lw.
    - apply (row_ordered (count (ends d))). apply Op, Hi.
    - apply Oarow, Hi.
    - apply T, Hi.
    - apply T, Hj. }
  set (weight := fun c => rational (fst (nth c weights (0%N, Done)))).
  set (X := fun c => traffic_of (snd (nth c weights (0%N, Done))) (fst (nth c weights (0%N, Done)))).
  assert (Hadm : forall c, (c < length (lines d))%nat ->
    (fst (nth c weights (0%N, Done)) = 0%N /\ snd (nth c weights (0%N, Done)) = Done) \/
    check_admissible d (fst (nth c weights (0%N, Done))) (snd (nth c weights (0%N, Done))) = true).
  { intros c Hc. apply (forallb_nth _ _ c (0%N, Done)) in Hw; [|lia]. cbv beta in Hw. destruct (nth c weights (0%N, Done)) as [w m].
    cbn [fst snd] in *. apply orb_true_iff in Hw. destruct Hw as [Hw|Hw]; [left|right; exact Hw].
    destruct m; [|discriminate]. apply same_eq in Hw. split; [exact Hw|reflexivity]. }
  assert (Hlen : forall c i j, (c < length (lines d))%nat ->
    weight c * X c i j == rational (value_at 0%N (nth c (lens i) Done) (N.of_nat j))).
  { intros c i j Hc. unfold lens. rewrite (nth_indep _ Done (value_at Done (snd (0%N, Done : matrix)) (N.of_nat i))) by (rewrite map_length; lia).
    rewrite (map_nth (fun a : N * matrix => value_at Done (snd a) (N.of_nat i)) weights (0%N, Done) c).
    unfold weight, X, traffic_of, ratio, entry_of, entry. destruct (Hadm c Hc) as [[A B]|A].
    - rewrite A, B. simpl. reflexivity.
    - unfold check_admissible in A. rewrite !andb_true_iff in A. destruct A as [[[[A _] _] _] _]. apply N.leb_le in A.
      pose proof (rational_pos _ A). field. lra. }
  assert (Htot : rational (nsum (map2 (fun c a => width c * fst a)%N (lines d) weights)) ==
                 sum (fun c => weight c * bandwidth (network_of d) c) (length (lines d))).
  { rewrite (nsum_map2 _ _ _ no_channel (0%N, Done)) by (symmetry; exact Lw). apply sum_eq. intros c Hc.
    rewrite rational_mult. unfold weight. simpl. unfold channel_of. ring. }
  intros f Hf Hclass.
  apply (every_routing_bound (network_of d) (fun i j c => negb (value_at 0 (arow i j) (N.of_nat c) =? 0)%N) weight X
           (fun i j => rational (value (inner i j))) (fun i j v => rational (value_at 0%N (prow i j) (N.of_nat v)))); try assumption.
  - apply network_sound, Hn.
  - intros c Hc. apply rational_nonneg.
  - intros c Hc W. destruct (Hadm c Hc) as [[A _]|A]; [|apply admissible_sound; assumption].
    unfold weight in W. rewrite A in W. change (rational 0) with 0 in W. lra.
  - simpl. rewrite <- Htot. apply rational_pos, Htotal.
  - intros i j c Hi Hj Hc Hn0. simpl in Hi, Hj, Hc. rewrite (Hlen c i j Hc). simpl head. simpl tail. rewrite !N2Nat.id.
    rewrite <- rational_plus. apply rational_le. apply (proj1 (Hpair i j Hi Hj)); [exact Hc|].
    apply negb_true_iff, same_neq in Hn0. exact Hn0.
  - intros i j Hi Hj. simpl in Hi, Hj. rewrite (proj2 (Hpair i j Hi Hj)).
    destruct (value_at 0 (missing i) (N.of_nat j) =? 0)%N eqn:M; [|left; apply Qle_refl].
    set (a := value_at 0%N (prow i j) (at_node (terminal_of d j))). set (b := value_at 0%N (prow i j) (at_node (terminal_of d i))).
    destruct (N.le_gt_cases b a) as [L|L].
    + right. split; [exact M|]. simpl node. rewrite !N2Nat.id. fold a b.
      assert (E : rational a == rational (a - b) + rational b) by (rewrite <- rational_plus; replace (a - b + b)%N with a by lia; reflexivity).
      rewrite E. lra.
    + left. replace (a - b)%N with 0%N by lia. apply Qle_refl.
  - simpl channels. simpl terminals. rewrite <- Htot. fold n. rewrite <- Hgain.
    apply rational_le in H. rewrite !rational_mult in H. pose proof (rational_pos _ Hq).
    unfold ratio. setoid_replace (rational p / rational q * rational (nsum (map2 (fun c a => width c * fst a)%N (lines d) weights)))
      with (rational p * rational (nsum (map2 (fun c a => width c * fst a)%N (lines d) weights)) / rational q) by (field; lra).
    apply Qle_shift_div_r; [assumption|]. rewrite (Qmult_comm (rational gain)). exact H.
Qed.

Theorem least_sound d p q x : check_least d p q x = true -> allowed x = None ->
  every_worst_at_least (network_of d) any (ratio p q).
Proof.
  intros H E f Hf _. apply (least_general d p q x H f Hf). intros i j c Hi Hj Hc Hn0. exfalso.
  apply negb_false_iff, same_eq in Hn0. unfold allowed_row, allowed_rows in Hn0. rewrite E in Hn0.
  assert (F : forall (l : list terminal_line) k, nth k (map (fun _ => (Done : matrix)) l) Done = Done).
  { induction l as [|a l IH]; intros [|k]; simpl; auto. }
  rewrite F in Hn0. simpl in Hn0. simpl in Hc.
  replace (N.of_nat c <? count (lines d))%N with true in Hn0 by (symmetry; apply N.ltb_lt; unfold count; lia).
  replace (0 <=? N.of_nat c)%N with true in Hn0 by (symmetry; apply N.leb_le; lia). discriminate.
Qed.

Theorem least_allowed_sound d p q x l : check_least d p q x = true -> allowed x = Some l ->
  every_worst_at_least (network_of d) (uses_only (network_of d) (permitted_by l)) (ratio p q).
Proof.
  intros H E f Hf Hclass. apply (least_general d p q x H f Hf). intros i j c Hi Hj Hc Hn0. apply Hclass; try assumption.
  unfold permitted_by. unfold allowed_row, allowed_rows in Hn0. rewrite E in Hn0. rewrite <- same_eqb. exact Hn0.
Qed.

Theorem within_sound d x l : check_within d x = true -> allowed x = Some l ->
  uses_only (network_of d) (permitted_by l) (routing_of d).
Proof.
  intros H E. unfold check_within in H. rewrite E, !andb_true_iff in H. destruct H as [[[Hl Hf] Ho] H].
  apply same_eq in Hl. apply N.leb_le in Hf. unfold count in Hl, Hf.
  intros i j c Hi Hj Hc P. simpl in Hi, Hj, Hc. unfold routing_of, entry_of, entry, ratio.
  assert (Z : value_at 0%N (value_at Done (nth c (flows d) Done) (N.of_nat i)) (N.of_nat j) = 0%N).
  { destruct (Nat.lt_ge_cases c (length (flows d))) as [L|L]; [|rewrite (nth_overflow _ _ L); reflexivity].
    pose proof (forallb_nth _ _ i Done Ho ltac:(lia)) as O. pose proof (row_ordered _ _ _ (N.of_nat j) O) as Or.
    apply andb_true_iff in O. destruct O as [O _].
    pose proof (all_at_nth _ _ _ i Done H ltac:(lia)) as S. unfold source_keeps in S.
    apply (all_at_nth _ _ _ j Done) in S; [|rewrite along_length; exact Hj]. rewrite !N.add_0_l in S.
    rewrite (along_at _ _ (count (ends d))) in S by assumption. unfold pair_keeps in S.
    set (rows := map _ _) in S. assert (Lr : length rows = length (flows d)) by apply map_length.
    apply (all2_nth _ _ _ c Done 0%N) in S; [|lia]. rewrite (along_at _ _ (count (lines d))) in S by (exact Or || lia).
    unfold rows in S. rewrite (nth_indep _ Done (value_at Done (Done : matrix) (N.of_nat i))) in S by (fold rows; lia).
    rewrite (map_nth (fun w => value_at Done w (N.of_nat i)) (flows d) Done c) in S.
    apply orb_true_iff in S. destruct S as [S|S]; [apply same_eq, S|exfalso].
    unfold permitted_by in P. rewrite <- same_eqb in P. rewrite S in P. discriminate. }
  rewrite Z. unfold rational. simpl. unfold Qdiv. apply Qmult_0_l.
Qed.

(* ---- lengths ---- *)

Lemma all_values_or {A} (test : A -> bool) d s j : all_values test s = true -> test (value_at d s j) = true \/ value_at d s j = d.
Proof.
  induction s as [|f c v r IH]; simpl; intros H; [right; reflexivity|]. tests.
  destruct ((f <=? j) && (j <? f + c))%N%bool; [left; assumption|]. apply IH; assumption.
Qed.

Lemma distances_at d y i v : ordered_matrix (count (ends d)) (size d) y = true -> (v < size d)%N ->
  get 0%N (value_at Void (distances d y) i) v = entry y i v.
Proof.
  intros O L. apply andb_true_iff in O. destruct O as [_ O]. unfold distances, entry.
  induction y as [|f c row r IH]; [reflexivity|]. cbn [all_values] in O. apply andb_true_iff in O. destruct O as [O1 O2].
  cbn [map_runs value_at]. destruct ((f <=? i) && (i <? f + c))%N%bool; [|apply IH; exact O2].
  apply potential_at; assumption.
Qed.

Lemma lengths_feasible d lengths y i c : check_network d = true -> check_lengths d lengths y = true -> (c < length (lines d))%nat ->
  (entry y i (to (channel_of d c)) <= entry y i (from (channel_of d c)) + value_at 0 lengths (N.of_nat c))%N.
Proof.
  intros Hn H Hc. unfold check_lengths in H. rewrite !andb_true_iff in H. destruct H as [[Ol Oy] F].
  destruct (network_parts d Hn) as [_ [C _]]. destruct (C c Hc) as [C1 [C2 _]].
  unfold feasible in F. rewrite <- !(distances_at d y) by assumption.
  destruct (all_values_or _ Void _ i F) as [E|E]; [|rewrite E; simpl; lia].
  apply (all2_nth _ _ _ c no_channel 0%N) in E; [|exact Hc]. cbv beta in E. rewrite (along_at _ _ (count (lines d))) in E by assumption.
  apply N.leb_le in E. exact E.
Qed.

Lemma lengths_ordered d lengths y : check_lengths d lengths y = true ->
  ordered 0 (count (lines d)) lengths = true /\ ordered_matrix (count (ends d)) (size d) y = true.
Proof. unfold check_lengths. rewrite !andb_true_iff. intros [[A B] _]. split; assumption. Qed.

(* what lengths and potentials, both divided by m, prove of flows that carry X: for all sources together *)
Lemma lengths_carry d lengths y m X g b : check_network d = true -> check_lengths d lengths y = true -> (1 <= m)%N ->
  carries (network_of d) X g ->
  (forall i j, (i < length (ends d))%nat -> (j < length (ends d))%nat -> 0 <= X i j) ->
  (forall i j, (i < length (ends d))%nat -> (j < length (ends d))%nat ->
     b i j <= 0 \/ b i j * rational m <= rational (entry y (N.of_nat i) (at_node (terminal_of d j))) - rational (entry y (N.of_nat i) (at_node (terminal_of d i)))) ->
  sum (fun i => sum (fun j => X i j * b i j) (length (ends d))) (length (ends d)) <=
  sum (fun c => ratio (value_at 0%N lengths (N.of_nat c)) m * used (network_of d) g c) (length (lines d)).
Proof.
  intros Hn Hl Hm Hg HX Hb. pose proof (rational_pos _ Hm) as M. pose proof (network_sound d Hn) as HG. set (n := length (ends d)) in *.
  apply Qle_trans with (sum (fun i => sum (fun c => ratio (value_at 0%N lengths (N.of_nat c)) m * g i c) (length (lines d))) n).
  - apply sum_le. intros i Hi.
    apply (carried_bound (network_of d) X g (fun c => ratio (value_at 0%N lengths (N.of_nat c)) m)
             (fun v => ratio (entry y (N.of_nat i) (N.of_nat v)) m) i HG Hi Hg).
    + intros j Hj. apply HX; assumption.
    + intros c Hc. apply ratio_nonneg.
    + intros c Hc. simpl head. simpl tail. rewrite !N2Nat.id, ratio_plus by exact Hm. apply ratio_mono; [exact Hm|].
      apply lengths_feasible; assumption.
    + intros j Hj. destruct (Hb i j Hi Hj) as [L|L]; [left; exact L|right]. simpl node. rewrite !N2Nat.id. unfold ratio.
      setoid_replace (rational (entry y (N.of_nat i) (at_node (terminal_of d j))) / rational m - rational (entry y (N.of_nat i) (at_node (terminal_of d i))) / rational m)
        with ((rational (entry y (N.of_nat i) (at_node (terminal_of d j))) - rational (entry y (N.of_nat i) (at_node (terminal_of d i)))) / rational m) by (field; lra).
      apply Qle_shift_div_l; assumption.
  - rewrite sum_swap. apply Qle_lteq. right. apply sum_eq. intros c Hc. unfold used. simpl terminals. fold n. apply sum_scale.
Qed.

Lemma dot_lengths d lengths : ordered 0 (count (lines d)) lengths = true ->
  rational (dot width (lines d) lengths) ==
  sum (fun c => rational (value_at 0%N lengths (N.of_nat c)) * bandwidth (network_of d) c) (length (lines d)).
Proof.
  intros O. rewrite (dot_sum _ _ _ _ no_channel O). apply sum_eq. intros c Hc. simpl. unfold channel_of. ring.
Qed.

(* ---- ratio ---- *)

Theorem ratio_sound d p q x : check_ratio d p q x = true -> ratio_at_most (network_of d) (routing_of d) (ratio p q).
Proof.
  unfold check_ratio. rewrite !andb_true_iff. intros [[[[Hn Hq] Hf] Hx] H] X HX [g [Hg Hin]] c Hc.
  apply N.leb_le in Hq. apply same_eq in Hf, Hx. unfold count in Hf, Hx. simpl in Hc. set (n := length (ends d)) in *.
  apply (all2_nth _ _ _ c no_channel (Done, (0%N, (Done, Done)))) in H; [|exact Hc].
  assert (E : nth c (combine (flows d) x) (Done, (0%N, (Done, Done))) = (nth c (flows d) Done, nth c x (0%N, (Done, Done)))) by (apply combine_nth; lia).
  cbv beta in H. rewrite E in H. cbn [fst snd] in H. clear E.
  destruct (nth c x (0%N, (Done, Done))) as [m [lengths y]]. set (w := nth c (flows d) Done) in *.
  unfold check_ratio_channel in H. cbn [fst snd] in H. rewrite !andb_true_iff in H. destruct H as [[[Hm Hl] Hd] H].
  apply N.leb_le in Hm, Hd. pose proof (lengths_ordered _ _ _ Hl) as [Ol Oy].
  pose proof (network_parts d Hn) as [Hu [_ [T [_ Hflows]]]]. specialize (Hflows c). fold w in Hflows.
  pose proof (rational_pos _ Hm) as M. pose proof (rational_pos _ Hu) as U. pose proof (rational_pos _ Hq) as Q.
  set (b := fun i j => if Nat.eq_dec i j then 0 else routing_of d i j c).
  apply Qle_trans with (sum (fun i => sum (fun j => X i j * b i j) n) n).
  { unfold load. simpl terminals. fold n. apply sum_pairs_le. intros i j Hi Hj. unfold b. destruct (Nat.eq_dec i j) as [E|E]; [|apply Qle_refl].
    rewrite (proj2 (HX i j Hi Hj) E). lra. }
  eapply Qle_trans.
  { apply (lengths_carry d lengths y m X g b Hn Hl Hm Hg).
    - intros i j Hi Hj. apply (HX i j Hi Hj).
    - intros i j Hi Hj. unfold b. destruct (Nat.eq_dec i j) as [E|E]; [left; apply Qle_refl|]. fold n in Hi, Hj.
      apply (all2_nth _ _ _ i (0%N, no_terminal) (Done, Void)) in H; [|rewrite numbered_length; exact Hi].
      rewrite numbered_nth in H by exact Hi.
      assert (E2 : nth i (combine (along Done 0 (ends d) w) (along Void 0 (ends d) (distances d y))) (Done, Void) =
        (nth i (along Done 0 (ends d) w) Done, nth i (along Void 0 (ends d) (distances d y)) Void)) by (apply combine_nth; rewrite !along_length; reflexivity).
      rewrite E2 in H. pose proof Hflows as O1. pose proof Oy as O2. apply andb_true_iff in O1, O2.
      rewrite !(along_at _ _ (count (ends d))) in H by (try exact Hi; try apply O1; unfold distances; rewrite map_runs_ordered; apply O2).
      unfold covered in H. cbn [fst snd] in H. fold (terminal_of d i) in H. rewrite (distances_at d y) in H by (try exact Oy; apply T, Hi).
      assert (A : all2 (fun (j : N * terminal_line) (w0 : N) => (w0 =? 0)%N || (fst j =? N.of_nat i)%N ||
         (w0 * m <=? whole d * (get 0 (value_at Void (distances d y) (N.of_nat i)) (at_node (snd j)) - entry y (N.of_nat i) (at_node (terminal_of d i))))%N)
         (combine (numbers 0 (ends d)) (ends d)) (along 0%N 0 (ends d) (value_at Done w (N.of_nat i))) = true \/ value_at Done w (N.of_nat i) = Done)
        by (destruct (value_at Done w (N.of_nat i)); [right; reflexivity|left; exact H]).
      clear H E2. unfold routing_of, entry_of. fold w. destruct A as [A|A].
      + apply (all2_nth _ _ _ j (0%N, no_terminal) 0%N) in A; [|rewrite numbered_length; exact Hj]. rewrite numbered_nth in A by exact Hj.
        rewrite (along_at _ _ (count (ends d))) in A by (try exact Hj; apply (row_ordered (count (ends d))), Hflows).
        cbn [fst snd] in A. fold (terminal_of d j) in A. fold (entry w (N.of_nat i) (N.of_nat j)) in A. rewrite (distances_at d y) in A by (try exact Oy; apply T, Hj).
        rewrite !orb_true_iff in A. destruct A as [[A|A]|A].
        * left. apply same_eq in A. rewrite A. unfold ratio. change (rational 0) with 0. unfold Qdiv. rewrite Qmult_0_l. apply Qle_refl.
        * exfalso. apply same_eq in A. apply E. lia.
        * apply N.leb_le in A. set (z := entry w (N.of_nat i) (N.of_nat j)) in *.
          set (a := entry y (N.of_nat i) (at_node (terminal_of d j))) in *. set (s := entry y (N.of_nat i) (at_node (terminal_of d i))) in *.
          destruct (N.le_gt_cases s a) as [L|L].
          -- right. assert (E2 : rational a == rational (a - s) + rational s) by (rewrite <- rational_plus; replace (a - s + s)%N with a by lia; reflexivity).
             apply rational_le in A. rewrite !rational_mult in A. unfold ratio.
             setoid_replace (rational z / rational (whole d) * rational m) with (rational z * rational m / rational (whole d)) by (field; lra).
             apply Qle_shift_div_r; [exact U|]. rewrite E2. rewrite Qmult_comm in A. 
             setoid_replace ((rational (a - s) + rational s - rational s) * rational (whole d)) with (rational (whole d) * rational (a - s)) by ring.
             rewrite (Qmult_comm (rational z)). exact A.
          -- left. replace (a - s)%N with 0%N in A by lia. assert (z = 0%N) by nia. subst z. rewrite H. unfold ratio. change (rational 0) with 0.
             unfold Qdiv. rewrite Qmult_0_l. apply Qle_refl.
      + left. unfold entry. rewrite A. simpl. unfold ratio. change (rational 0) with 0. unfold Qdiv. rewrite Qmult_0_l. apply Qle_refl. }
  apply Qle_trans with (sum (fun e => rational (value_at 0%N lengths (N.of_nat e)) * bandwidth (network_of d) e) (length (lines d)) * / rational m).
  { rewrite <- sum_scale_r. apply sum_le. intros e He. unfold ratio, Qdiv.
    setoid_replace (rational (value_at 0%N lengths (N.of_nat e)) * bandwidth (network_of d) e * / rational m)
      with (rational (value_at 0%N lengths (N.of_nat e)) * / rational m * bandwidth (network_of d) e) by ring.
    rewrite !(Qmult_comm (rational (value_at 0%N lengths (N.of_nat e)) * / rational m)). apply times_le; [apply ratio_nonneg|].
    rewrite <- (Qmult_1_l (bandwidth (network_of d) e)). apply Hin, He. }
  rewrite <- dot_lengths by exact Ol. apply (scaled_le q); try assumption.
Qed.

(* ---- traffic that is carried, or cannot be ---- *)

Fixpoint mass_at (e : events) (v : N) : Z :=
  match e with NoEvent => 0 | Event p x r => (if (p =? v)%N then x else 0) + mass_at r v end.
Fixpoint masses_at (l : list events) (v : N) : Z := match l with [] => 0 | e :: l' => mass_at e v + masses_at l' v end.

Lemma mass_step e v : events_at e (N.succ v) = (events_at e v + mass_at e (N.succ v))%Z.
Proof.
  induction e as [|p x r IH]; [reflexivity|]. cbn [events_at mass_at]. rewrite IH.
  destruct (p <=? N.succ v)%N eqn:A; destruct (p <=? v)%N eqn:B; destruct (p =? N.succ v)%N eqn:C; tests; lia.
Qed.

Lemma mass_0 e : events_at e 0 = mass_at e 0.
Proof.
  induction e as [|p x r IH]; [reflexivity|]. cbn [events_at mass_at]. rewrite IH.
  destruct (p <=? 0)%N eqn:A; destruct (p =? 0)%N eqn:C; tests; lia.
Qed.

Lemma masses_vanish l : (forall v, total_at l v = 0%Z) -> forall v, masses_at l v = 0%Z.
Proof.
  intros H v.
  assert (S : forall v, total_at l (N.succ v) = (total_at l v + masses_at l (N.succ v))%Z).
  { clear. intros v. induction l as [|e l IH]; [reflexivity|]. cbn [total_at masses_at]. rewrite IH, mass_step. lia. }
  assert (Z0 : total_at l 0 = masses_at l 0).
  { clear. induction l as [|e l IH]; [reflexivity|]. cbn [total_at masses_at]. rewrite IH, mass_0. lia. }
  destruct (N.eq_dec v 0) as [->|E].
  - rewrite <- Z0. apply H.
  - replace v with (N.succ (N.pred v)) by lia. specialize (S (N.pred v)). rewrite !H in S. lia.
Qed.

Lemma masses_app a b v : masses_at (a ++ b) v = (masses_at a v + masses_at b v)%Z.
Proof. induction a as [|e a IH]; [reflexivity|]. simpl. rewrite IH. lia. Qed.

Lemma channel_masses cs : forall gs v, length cs = length gs ->
  inject_Z (masses_at (fold_right (fun cg l => if (snd cg =? 0)%N then l else
      mass (from (fst cg)) (Z.of_N (snd cg)) :: mass (to (fst cg)) (- Z.of_N (snd cg)) :: l) [] (combine cs gs)) v) ==
  sum (fun c => one (from (nth c cs no_channel) =? v)%N * rational (nth c gs 0%N) - one (to (nth c cs no_channel) =? v)%N * rational (nth c gs 0%N)) (length cs).
Proof.
  induction cs as [|c cs IH]; intros [|g gs] v H; simpl in H; try discriminate; [reflexivity|].
  cbn [combine fold_right fst snd length]. rewrite sum_first. cbn [nth]. rewrite <- IH by lia. destruct (g =? 0)%N eqn:E.
  - apply same_eq in E. subst g. change (rational 0) with 0. ring.
  - cbn [masses_at mass_at mass]. rewrite !inject_Z_plus. change (inject_Z 0) with 0.
    destruct (from c =? v)%N; destruct (to c =? v)%N; simpl one; try rewrite inject_Z_opp; fold (rational g); change (inject_Z 0) with 0; ring.
Qed.

Lemma terminal_masses s ts : forall xs v, length ts = length xs ->
  inject_Z (masses_at (fold_right (fun tx l => if (snd tx =? 0)%N then l else
      mass s (- Z.of_N (snd tx)) :: mass (at_node (fst tx)) (Z.of_N (snd tx)) :: l) [] (combine ts xs)) v) ==
  sum (fun j => rational (nth j xs 0%N) * (one (at_node (nth j ts no_terminal) =? v)%N - one (s =? v)%N)) (length ts).
Proof.
  induction ts as [|t ts IH]; intros [|x xs] v H; simpl in H; try discriminate; [reflexivity|].
  cbn [combine fold_right fst snd length]. rewrite sum_first. cbn [nth]. rewrite <- IH by lia. destruct (x =? 0)%N eqn:E.
  - apply same_eq in E. subst x. change (rational 0) with 0. ring.
  - cbn [masses_at mass_at mass]. rewrite !inject_Z_plus. change (inject_Z 0) with 0.
    destruct (at_node t =? v)%N; destruct (s =? v)%N; simpl one; try rewrite inject_Z_opp; fold (rational x); change (inject_Z 0) with 0; ring.
Qed.

Definition carrier_of (d : claim) (g : matrix) (t : N) (i c : nat) : Q := ratio (entry_of g i c) t.

Theorem carried_sound d p q t x g : check_carried d p q t x g = true ->
  carries (network_of d) (traffic_of x t) (carrier_of d g t) /\
  forall c, (c < channels (network_of d))%nat -> used (network_of d) (carrier_of d g t) c <= ratio p q * bandwidth (network_of d) c.
Proof.
  unfold check_carried. rewrite !andb_true_iff. intros [[[[[[Hn Hq] Ht] Ox] Og] H] Hw]. apply N.leb_le in Hq, Ht.
  pose proof (rational_pos _ Ht) as T. set (n := length (ends d)) in *. split.
  - intros i Hi. simpl in Hi. split; [intros; apply ratio_nonneg|]. intros v Hv. simpl in Hv.
    set (V := N.of_nat v). assert (EV : N.to_nat V = v) by (unfold V; lia).
    apply (all2_nth _ _ _ i no_terminal (Done, Done)) in H; [|exact Hi].
    assert (E : nth i (combine (along Done 0 (ends d) x) (along Done 0 (ends d) g)) (Done, Done) =
      (nth i (along Done 0 (ends d) x) Done, nth i (along Done 0 (ends d) g) Done)) by (apply combine_nth; rewrite !along_length; reflexivity).
    cbv beta zeta in H. rewrite E in H. cbn [fst snd] in H. clear E. fold (terminal_of d i) in H.
    pose proof Ox as Ox1. pose proof Og as Og1. apply andb_true_iff in Ox1, Og1.
    rewrite (along_at _ _ (count (ends d))) in H by (apply Ox1 || exact Hi). rewrite (along_at _ _ (count (ends d))) in H by (apply Og1 || exact Hi).
    set (xr := value_at Done x (N.of_nat i)) in H. set (gr := value_at Done g (N.of_nat i)) in H.
    assert (Oxr : ordered 0 (count (ends d)) xr = true) by (apply (row_ordered (count (ends d))), Ox).
    assert (Ogr : ordered 0 (count (lines d)) gr = true) by (apply (row_ordered (count (ends d))), Og).
    assert (Z0 : masses_at (carrier_masses d (terminal_of d i) xr gr) V = 0%Z).
    { apply masses_vanish. intros u. rewrite <- (merge_all_at (length (carrier_masses d (terminal_of d i) xr gr))). apply vanishes_at, H. }
    unfold carrier_masses in Z0. rewrite masses_app in Z0. apply (f_equal inject_Z) in Z0. rewrite inject_Z_plus in Z0.
    assert (B : inject_Z (masses_at (fold_right (fun cg l => if (snd cg =? 0)%N then l else
      mass (from (fst cg)) (Z.of_N (snd cg)) :: mass (to (fst cg)) (- Z.of_N (snd cg)) :: l) [] (combine (lines d) (along 0%N 0 (lines d) gr))) V) +
      inject_Z (masses_at (fold_right (fun tx l => if (snd tx =? 0)%N then l else
      mass (at_node (terminal_of d i)) (- Z.of_N (snd tx)) :: mass (at_node (fst tx)) (Z.of_N (snd tx)) :: l) [] (combine (ends d) (along 0%N 0 (ends d) xr))) V) == 0)
      by (rewrite Z0; reflexivity).
    rewrite channel_masses in B by (symmetry; apply along_length). rewrite terminal_masses in B by (symmetry; apply along_length).
    unfold outflow, inflow. simpl channels. rewrite <- sum_minus.
    rewrite (sum_eq _ (fun c => (one (from (nth c (lines d) no_channel) =? V)%N * rational (nth c (along 0%N 0 (lines d) gr) 0%N)
       - one (to (nth c (lines d) no_channel) =? V)%N * rational (nth c (along 0%N 0 (lines d) gr) 0%N)) * / rational t)).
    2:{ intros c Hc. rewrite <- EV. simpl tail. simpl head. rewrite !one_to_nat. rewrite (along_at _ _ (count (lines d))) by assumption.
        unfold carrier_of, ratio, entry_of, entry, channel_of, Qdiv. fold gr. ring. }
    rewrite sum_scale_r. simpl terminals. fold n in B |- *.
    rewrite (sum_eq (fun j => traffic_of x t i j * _) (fun j => (-1 # 1) * (rational (nth j (along 0%N 0 (ends d) xr) 0%N) *
       (one (at_node (nth j (ends d) no_terminal) =? V)%N - one (at_node (terminal_of d i) =? V)%N)) * / rational t)).
    2:{ intros j Hj. rewrite <- EV. simpl node. rewrite !(Nat.eqb_sym (N.to_nat V)), !one_to_nat. rewrite (along_at _ _ (count (ends d))) by assumption.
        unfold traffic_of, ratio, entry_of, entry, Qdiv. fold xr. fold (terminal_of d j). ring. }
    rewrite sum_scale_r, sum_scale.
    set (A := sum _ (length (lines d))) in *. set (C := sum _ n) in *.
    setoid_replace A with (A + C + (-1 # 1) * C) by ring. rewrite B. ring.
  - intros c Hc. simpl in Hc. apply (all2_nth _ _ _ c no_channel 0%N) in Hw; [|exact Hc]. apply N.leb_le in Hw.
    unfold used. simpl terminals. unfold carrier_of. rewrite ratio_sum.
    rewrite <- (columns_at (lines d) g (length (ends d)) (count (lines d)) c Og Hc). simpl bandwidth. apply (scaled_le q); assumption.
Qed.

Theorem ratio_attained_sound d p q c t x g : check_ratio_attained d p q c t x g = true ->
  traffic (network_of d) (traffic_of x t) /\ carried_within (network_of d) (traffic_of x t) 1 /\
  (N.to_nat c < channels (network_of d))%nat /\
  load (network_of d) (routing_of d) (traffic_of x t) (N.to_nat c) == ratio p q * bandwidth (network_of d) (N.to_nat c).
Proof.
  unfold check_ratio_attained. rewrite !andb_true_iff. intros [[[Hq Hc] Hs] Hl]. apply N.leb_le in Hq.
  pose proof (carried_sound _ _ _ _ _ _ Hc) as [C1 C2].
  unfold check_carried in Hc. rewrite !andb_true_iff in Hc. destruct Hc as [[[[[[Hn _] Ht] Ox] _] _] _]. apply N.leb_le in Ht.
  split; [|split; [|apply (loaded_load d p q c t x); assumption]].
  - intros i j Hi Hj. simpl in Hi, Hj. split; [apply ratio_nonneg|]. intros <-. unfold no_self in Hs.
    apply (all2_nth _ _ _ i 0%N Done) in Hs; [|rewrite numbers_length; exact Hi]. rewrite numbers_nth in Hs by exact Hi.
    pose proof Ox as O. apply andb_true_iff in O. rewrite (along_at _ _ (count (ends d))) in Hs by (apply O || exact Hi).
    apply same_eq in Hs. unfold traffic_of, entry_of, entry. rewrite N.add_0_l in Hs. rewrite Hs. reflexivity.
  - exists (carrier_of d g t). split; [exact C1|]. intros e He. apply (C2 e He).
Qed.

Theorem blocked_sound d p q t x lengths y : check_blocked d p q t x lengths y = true ->
  forall g, carries (network_of d) (traffic_of x t) g ->
  exists c, (c < channels (network_of d))%nat /\ ratio p q * bandwidth (network_of d) c <= used (network_of d) g c.
Proof.
  unfold check_blocked. rewrite !andb_true_iff. intros [[[[[[Hn Hq] Ht] Ox] Hl] Htotal] H] g Hg. apply N.leb_le in Hq, Ht, Htotal, H.
  pose proof (lengths_ordered _ _ _ Hl) as [Ol Oy]. pose proof (network_parts d Hn) as [_ [_ [T _]]].
  pose proof (rational_pos _ Ht) as TT. pose proof (rational_pos _ Hq) as QQ. set (n := length (ends d)) in *.
  set (gain := fun i j => (entry y (N.of_nat i) (at_node (terminal_of d j)) - entry y (N.of_nat i) (at_node (terminal_of d i)))%N).
  pose proof (lengths_carry d lengths y 1 (traffic_of x t) g (fun i j => rational (gain i j)) Hn Hl ltac:(lia) Hg) as B. fold n in B.
  assert (B1 : sum (fun i => sum (fun j => traffic_of x t i j * rational (gain i j)) n) n <=
               sum (fun c => ratio (value_at 0%N lengths (N.of_nat c)) 1 * used (network_of d) g c) (length (lines d))).
  { apply B; [intros; apply ratio_nonneg|]. intros i j Hi Hj. unfold gain.
    set (a := entry y (N.of_nat i) (at_node (terminal_of d j))). set (s := entry y (N.of_nat i) (at_node (terminal_of d i))).
    destruct (N.le_gt_cases s a) as [L|L].
    - right. assert (E : rational a == rational (a - s) + rational s) by (rewrite <- rational_plus; replace (a - s + s)%N with a by lia; reflexivity).
      rewrite E. change (rational 1) with 1. lra.
    - left. replace (a - s)%N with 0%N by lia. apply Qle_refl. }
  clear B.
  assert (Hsum : rational (nsum (map2 (row_distance d) (ends d) (combine (along Done 0 (ends d) x) (along Void 0 (ends d) (distances d y))))) ==
                 sum (fun i => sum (fun j => traffic_of x t i j * rational (gain i j)) n) n * rational t).
  { rewrite (nsum_map2 _ _ _ no_terminal (Done, Void)) by (rewrite combine_length, !along_length; lia). rewrite <- sum_scale_r. apply sum_eq. intros i Hi.
    assert (E : nth i (combine (along Done 0 (ends d) x) (along Void 0 (ends d) (distances d y))) (Done, Void) =
      (nth i (along Done 0 (ends d) x) Done, nth i (along Void 0 (ends d) (distances d y)) Void)) by (apply combine_nth; rewrite !along_length; reflexivity).
    rewrite E. clear E. pose proof Ox as O1. pose proof Oy as O2. apply andb_true_iff in O1, O2.
    rewrite !(along_at _ _ (count (ends d))) by (try exact Hi; try apply O1; unfold distances; rewrite map_runs_ordered; apply O2).
    fold (terminal_of d i). set (xr := value_at Done x (N.of_nat i)).
    assert (Oxr : ordered 0 (count (ends d)) xr = true) by (apply (row_ordered (count (ends d))), Ox).
    transitivity (sum (fun j => rational (value_at 0%N xr (N.of_nat j)) * rational (gain i j)) n).
    2:{ rewrite <- sum_scale_r. apply sum_eq. intros j Hj. unfold traffic_of, ratio, entry_of, entry. fold xr. field. lra. }
    assert (A : rational (nsum (map2 (fun u v => if (v =? 0)%N then 0%N else (v * (get 0%N (value_at Void (distances d y) (N.of_nat i)) (at_node u) -
        get 0%N (value_at Void (distances d y) (N.of_nat i)) (at_node (terminal_of d i))))%N) (ends d) (along 0%N 0 (ends d) xr))) ==
        sum (fun j => rational (value_at 0%N xr (N.of_nat j)) * rational (gain i j)) n).
    { rewrite (nsum_map2 _ _ _ no_terminal 0%N) by (symmetry; apply along_length). apply sum_eq. intros j Hj. rewrite (along_at _ _ (count (ends d))) by assumption.
      fold (terminal_of d j). rewrite !(distances_at d y) by (try exact Oy; apply T; assumption). fold (gain i j).
      destruct (value_at 0%N xr (N.of_nat j) =? 0)%N eqn:Z0; [|apply rational_mult]. apply same_eq in Z0. rewrite Z0. change (rational 0) with 0. ring. }
    unfold row_distance. cbn [fst snd]. destruct xr eqn:Exr; [|rewrite <- Exr in *; exact A].
    symmetry. change (rational 0) with 0. apply sum_0. intros j Hj. simpl value_at. change (rational 0) with 0. ring. }
  apply rational_le in H. rewrite !rational_mult in H. rewrite Hsum in H.
  set (S := sum (fun i => sum (fun j => traffic_of x t i j * rational (gain i j)) n) n) in *.
  assert (Hsmall : ratio p q * rational (dot width (lines d) lengths) <= S).
  { unfold ratio. setoid_replace (rational p / rational q * rational (dot width (lines d) lengths)) with (rational p * rational (dot width (lines d) lengths) / rational q) by (field; lra).
    apply Qle_shift_div_r; [exact QQ|]. apply (Qmult_le_r_inv _ _ (rational t)); [exact TT|].
    setoid_replace (rational p * rational (dot width (lines d) lengths) * rational t) with (rational p * rational t * rational (dot width (lines d) lengths)) by ring.
    setoid_replace (S * rational q * rational t) with (rational q * (S * rational t)) by ring. exact H. }
  destruct (weighted_average (length (lines d)) (fun c => rational (value_at 0%N lengths (N.of_nat c))) (used (network_of d) g)
    (fun c => ratio p q * bandwidth (network_of d) c) (bandwidth (network_of d))) as [c [Hc [_ Hle]]].
  - intros; apply rational_nonneg.
  - rewrite <- dot_lengths by exact Ol. apply rational_pos, Htotal.
  - rewrite (sum_eq _ (fun c => ratio p q * (rational (value_at 0%N lengths (N.of_nat c)) * bandwidth (network_of d) c))) by (intros; ring).
    rewrite sum_scale, <- dot_lengths by exact Ol. apply Qle_trans with (1 := Hsmall). apply Qle_trans with (1 := B1).
    apply Qle_lteq. right. apply sum_eq. intros c Hc. unfold ratio. change (rational 1) with 1. field.
  - exists c. split; [exact Hc|exact Hle].
Qed.

(* ---- cut ---- *)

(* The bandwidth of all channels that lead from the nodes of a side to the others. *)
Definition cut_width (G : network) (side : nat -> bool) : Q :=
  sum (fun c => one (side (tail G c) && negb (side (head G c))) * bandwidth G c) (channels G).

Definition side_of (s : steps) (v : nat) : bool := negb (N.eqb (value_at 0%N s (N.of_nat v)) 0).

Lemma nsum_map {A} (f : A -> N) l a : rational (nsum (map f l)) == sum (fun k => rational (f (nth k l a))) (length l).
Proof.
  induction l as [|x l IH]; [reflexivity|]. cbn [map length]. rewrite nsum_cons, rational_plus, IH, sum_first. reflexivity.
Qed.

Theorem cut_sound d b s : check_cut d b s = true ->
  let ones := sum (fun i => one (side_of s (node (network_of d) i))) (terminals (network_of d)) in
  let others := inject_Z (Z.of_nat (terminals (network_of d))) - ones in
  -1 <= ones - others /\ ones - others <= 1 /\
  cut_width (network_of d) (side_of s) == rational b /\
  cut_width (network_of d) (fun v => negb (side_of s v)) == rational (snd (crossing d s)).
Proof.
  unfold check_cut. rewrite !andb_true_iff. intros [[[[Hn Os] H1] H2] Hb]. apply N.leb_le in H1, H2. apply same_eq in Hb.
  destruct (network_parts d Hn) as [_ [C [T _]]].
  assert (P : forall v, (v < size d)%N -> negb (get 0%N (array 0%N (along 0%N 0 (all_nodes d) s)) v =? 0)%N = side_of s (N.to_nat v)).
  { intros v Hv. rewrite potential_at by assumption. unfold side_of. rewrite N2Nat.id, same_eqb. reflexivity. }
  assert (Ones : rational (nsum (map (fun t => if (get 0 (array 0 (along 0 0 (all_nodes d) s)) (at_node t) =? 0)%N then 0%N else 1%N) (ends d))) ==
                 sum (fun i => one (side_of s (node (network_of d) i))) (terminals (network_of d))).
  { rewrite (nsum_map _ _ no_terminal). simpl terminals. apply sum_eq. intros i Hi. simpl node. rewrite <- P by (apply T, Hi).
    fold (terminal_of d i). destruct (_ =? _)%N; reflexivity. }
  cbv zeta. rewrite <- Ones. set (k := nsum _) in *. simpl terminals.
  assert (E : inject_Z (Z.of_nat (length (ends d))) == rational (count (ends d))) by (unfold rational, count; rewrite nat_N_Z; reflexivity).
  rewrite E. apply rational_le in H1, H2. rewrite rational_plus, rational_mult in H1, H2. change (rational 2) with (2 # 1) in *. change (rational 1) with 1 in *.
  split; [lra|]. split; [lra|]. rewrite <- Hb. unfold crossing. cbn [fst snd]. rewrite !(nsum_map _ _ no_channel). unfold cut_width. simpl channels.
  split; apply sum_eq; intros c Hc; destruct (C c Hc) as [C1 [C2 _]]; simpl tail; simpl head; simpl bandwidth;
    fold (channel_of d c); rewrite !P by assumption;
    destruct (side_of s (N.to_nat (from (channel_of d c)))); destruct (side_of s (N.to_nat (to (channel_of d c)))); simpl; change (rational 0) with 0; ring.
Qed.

(* ---- failure ---- *)

Lemma nothing_at m i j : all_values (all_values (fun v => v =? 0)%N) m = true -> entry m i j = 0%N.
Proof.
  intros H. unfold entry. destruct (all_values_or _ Done _ i H) as [E|E]; [|rewrite E; reflexivity].
  destruct (all_values_or _ 0%N _ j E) as [F|F]; [apply same_eq, F|exact F].
Qed.

Theorem failure_sound d removed missing changed : check_failure d removed missing changed = true ->
  let e := failed d missing changed in
  proper (network_of e) /\ routing (network_of e) (routing_of e) /\
  forall i j c, (c < channels (network_of e))%nat -> value_at 0%N removed (N.of_nat c) <> 0%N -> routing_of e i j c == 0.
Proof.
  unfold check_failure. cbv zeta. rewrite !andb_true_iff. intros [[Hr Or] H].
  pose proof (routing_sound _ Hr) as [HG Hf]. split; [exact HG|]. split; [exact Hf|]. intros i j c Hc Hv. simpl in Hc.
  apply (all2_nth _ _ _ c 0%N Done) in H; [|rewrite along_length; exact Hc]. rewrite (along_at _ _ (count (lines d))) in H by assumption.
  apply orb_true_iff in H. destruct H as [H|H]; [apply same_eq in H; contradiction|].
  unfold routing_of, entry_of. rewrite nothing_at by exact H. unfold ratio, Qdiv. change (rational 0) with 0. ring.
Qed.

(* ---- together ---- *)

Theorem worst_case_sound d p q x c t y : check_most d p q x = true -> check_attains d p q c t y = true ->
  worst_is (network_of d) (routing_of d) (ratio p q).
Proof.
  intros H A. split; [exact (most_sound d p q x H)|]. destruct (attains_sound d p q c t y A) as [B [C D]].
  exists (traffic_of y t), (N.to_nat c). split; [exact B|]. split; [exact C|]. rewrite D. apply Qle_refl.
Qed.

Theorem optimal_sound d p q x y : check_routing d = true -> check_most d p q x = true -> check_least d p q y = true -> allowed y = None ->
  routing (network_of d) (routing_of d) /\ worst_is (network_of d) (routing_of d) (ratio p q) /\
  forall f, routing (network_of d) f -> worst_at_least (network_of d) f (ratio p q).
Proof.
  intros R M L E. destruct (routing_sound d R) as [_ F]. pose proof (least_sound d p q y L E) as A.
  split; [exact F|]. split; [split; [exact (most_sound d p q x M)|exact (A _ F I)]|]. intros f Hf. exact (A f Hf I).
Qed.

Theorem optimal_allowed_sound d p q x y l : check_routing d = true -> check_most d p q x = true -> check_least d p q y = true ->
  check_within d y = true -> allowed y = Some l ->
  routing (network_of d) (routing_of d) /\ uses_only (network_of d) (permitted_by l) (routing_of d) /\
  worst_is (network_of d) (routing_of d) (ratio p q) /\
  forall f, routing (network_of d) f -> uses_only (network_of d) (permitted_by l) f -> worst_at_least (network_of d) f (ratio p q).
Proof.
  intros R M L W E. destruct (routing_sound d R) as [_ F]. pose proof (least_allowed_sound d p q y l L E) as A.
  pose proof (within_sound d y l W E) as U.
  split; [exact F|]. split; [exact U|]. split; [split; [exact (most_sound d p q x M)|exact (A _ F U)]|exact A].
Qed.
