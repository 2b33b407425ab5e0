(* Schedules without buffers on leveled networks: the model's rules, the checker, and its proof. *)
Require Import ZArith NArith List Bool Lia Arith FMapPositive.
From Obliv Require Import Runs Network Checker.
Import ListNotations.

(* A packet outside the network may wait; from its start on it moves at every step, until it is delivered. Move k is made
   in step start + k, over a channel, forwards (true) or backwards. *)
Record packet := { source : nat; destination : nat; start : nat; moves : list (nat * bool) }.

(* From node v the moves lead to node w, each over a channel that is there. *)
Fixpoint leads (G : network) (v : nat) (l : list (nat * bool)) (w : nat) : Prop :=
  match l with
  | [] => v = w
  | (c, true) :: l' => (c < channels G)%nat /\ v = tail G c /\ leads G (head G c) l' w
  | (c, false) :: l' => (c < channels G)%nat /\ v = head G c /\ leads G (tail G c) l' w
  end.

(* Packet p moves over channel c in direction b in step t. *)
Definition moves_over (p : packet) (t c : nat) (b : bool) : Prop :=
  exists k, nth_error (moves p) k = Some (c, b) /\ t = (start p + k)%nat.

Definition leveled (G : network) (level : nat -> nat) : Prop :=
  forall c, (c < channels G)%nat -> level (head G c) = S (level (tail G c)).

(* All packets are delivered within T steps, and no two use a channel in one direction in one step. *)
Definition bufferless (G : network) (l : list packet) (T : nat) : Prop :=
  (forall p, In p l -> leads G (source p) (moves p) (destination p) /\ (start p + length (moves p) <= T)%nat) /\
  (forall i j p q t c b, nth_error l i = Some p -> nth_error l j = Some q -> i <> j ->
     moves_over p t c b -> moves_over q t c b -> False).

(* ---- The checker: a packet line has the source, the destination, the start and moves 2c (forwards) or 2c+1 (back) ---- *)

Open Scope N_scope.
Record packet_line := Packet { leaves : N; arrives : N; starts : N; codes : list N }.

Definition move_of (code : N) : nat * bool := (N.to_nat (N.div2 code), N.even code).
Definition packet_of (x : packet_line) : packet :=
  {| source := N.to_nat (leaves x); destination := N.to_nat (arrives x); start := N.to_nat (starts x); moves := map move_of (codes x) |}.

Definition taken := PositiveMap.t unit.

(* The moves from node v in step t on: where they end, and what is taken then. m is the number of channels. *)
Fixpoint follow (m : N) (net : tree channel_line) (v t : N) (l : list N) (used : taken) : option (N * taken) :=
  match l with
  | [] => Some (v, used)
  | code :: l' =>
    let c := get no_channel net (N.div2 code) in
    let key := N.succ_pos (t * (2 * m) + code) in
    if (N.div2 code <? m) && (v =? if N.even code then from c else to c) && negb (PositiveMap.mem key used)
    then follow m net (if N.even code then to c else from c) (N.succ t) l' (PositiveMap.add key tt used) else None
  end.

Fixpoint follow_all (m : N) (net : tree channel_line) (last : N) (l : list packet_line) (used : taken) : bool :=
  match l with
  | [] => true
  | x :: l' =>
    match follow m net (leaves x) (starts x) (codes x) used with
    | Some (v, used') => (v =? arrives x) && (starts x + count (codes x) <=? last) && follow_all m net last l' used'
    | None => false
    end
  end.

Definition check_schedule (d : claim) (last : N) (levels : list N) (l : list packet_line) : bool :=
  let level := array 0 levels in
  check_network d && (count levels =? size d) &&
  forallb (fun c => get 0 level (to c) =? N.succ (get 0 level (from c))) (lines d) &&
  follow_all (count (lines d)) (array no_channel (lines d)) last l (PositiveMap.empty _).

(* ---- What it accepts is such a schedule ---- *)

Definition level_of (levels : list N) (v : nat) : nat := N.to_nat (nth v levels 0).

Lemma code_eq code code' : move_of code = move_of code' -> code = code'.
Proof.
  unfold move_of. intros E. injection E as A B. apply N2Nat.inj in A.
  rewrite (N.div2_odd code), (N.div2_odd code'), A. rewrite <- !N.negb_even, B. reflexivity.
Qed.

Lemma follow_sound d l : forall v t used w used',
  follow (count (lines d)) (array no_channel (lines d)) v t l used = Some (w, used') ->
  leads (network_of d) (N.to_nat v) (map move_of l) (N.to_nat w) /\
  (forall key, PositiveMap.mem key used = true -> PositiveMap.mem key used' = true) /\
  (forall k code, nth_error l k = Some code -> N.div2 code < count (lines d) /\
     PositiveMap.mem (N.succ_pos ((t + N.of_nat k) * (2 * count (lines d)) + code)) used = false /\
     PositiveMap.mem (N.succ_pos ((t + N.of_nat k) * (2 * count (lines d)) + code)) used' = true).
Proof.
  set (m := count (lines d)).
  assert (Add : forall key key' used, PositiveMap.mem key (PositiveMap.add key' tt used) = true <-> key = key' \/ PositiveMap.mem key used = true).
  { intros key key' used. rewrite !PositiveMap.mem_find. destruct (Pos.eq_dec key key') as [->|E].
    - rewrite PositiveMap.gss. split; auto.
    - rewrite PositiveMap.gso by exact E. split; [auto|intros [H|H]; [contradiction|exact H]]. }
  induction l as [|code l IH]; intros v t used w used' H; cbn [follow] in H.
  - injection H as <- <-. split; [reflexivity|]. split; [auto|]. intros [|k] code Hk; discriminate.
  - destruct (_ && _)%bool eqn:E; [|discriminate]. rewrite !andb_true_iff in E. destruct E as [[E1 E2] E3].
    apply N.ltb_lt in E1. apply same_eq in E2. apply negb_true_iff in E3.
    assert (Hg : get no_channel (array no_channel (lines d)) (N.div2 code) = channel_of d (N.to_nat (N.div2 code))).
    { replace (N.div2 code) with (N.of_nat (N.to_nat (N.div2 code))) at 1 by lia. apply tree_of_get. unfold m, count in E1. lia. }
    rewrite Hg in *. destruct (IH _ _ _ _ _ H) as [A [B C]]. split; [|split].
    + cbn [map]. unfold move_of at 1. set (c := N.to_nat (N.div2 code)) in *.
      assert (Hc : (c < channels (network_of d))%nat) by (simpl; unfold c, m, count in *; lia).
      destruct (N.even code); cbn [leads]; (split; [exact Hc|split; [rewrite E2; reflexivity|exact A]]).
    + intros key Hk. apply B. apply Add. right. exact Hk.
    + intros [|k] code' Hk; simpl in Hk.
      * injection Hk as <-. replace (t + N.of_nat 0) with t by lia. split; [exact E1|]. split; [exact E3|].
        apply B, Add. left. reflexivity.
      * destruct (C k code' Hk) as [C1 [C2 C3]]. replace (t + N.of_nat (S k)) with (N.succ t + N.of_nat k) by lia.
        split; [exact C1|]. split; [|exact C3]. apply not_true_is_false. intros M.
        rewrite (proj2 (Add _ _ used) (or_intror M)) in C2. discriminate.
Qed.

(* keys of the moves of a packet *)
Definition key_of (d : claim) (x : packet_line) (k : nat) (code : N) : positive :=
  N.succ_pos ((starts x + N.of_nat k) * (2 * count (lines d)) + code).

Lemma follow_all_sound d last l : forall used,
  follow_all (count (lines d)) (array no_channel (lines d)) last l used = true ->
  (forall x, In x l -> leads (network_of d) (N.to_nat (leaves x)) (map move_of (codes x)) (N.to_nat (arrives x)) /\
     (N.to_nat (starts x) + length (codes x) <= N.to_nat last)%nat) /\
  (forall x k code, In x l -> nth_error (codes x) k = Some code -> N.div2 code < count (lines d) /\ PositiveMap.mem (key_of d x k code) used = false) /\
  (forall i j x y k code k' code', nth_error l i = Some x -> nth_error l j = Some y -> (i < j)%nat ->
     nth_error (codes x) k = Some code -> nth_error (codes y) k' = Some code' -> key_of d x k code <> key_of d y k' code').
Proof.
  induction l as [|x l IH]; intros used H; cbn [follow_all] in H.
  - repeat split; try (intros; contradiction). intros [|i] j x y k code k' code' Hi; discriminate.
  - destruct (follow _ _ _ _ _ _) as [[v used']|] eqn:F; [|discriminate]. rewrite !andb_true_iff in H. destruct H as [[E1 E2] H].
    apply same_eq in E1. apply N.leb_le in E2. unfold count in E2. destruct (follow_sound _ _ _ _ _ _ _ F) as [A [B C]].
    destruct (IH _ H) as [I1 [I2 I3]]. subst v. split; [|split].
    + intros y [<-|Hy]; [split; [exact A|lia]|apply I1, Hy].
    + intros y k code [<-|Hy] Hk; [destruct (C k code Hk) as [C1 [C2 _]]; split; [exact C1|exact C2]|].
      destruct (I2 y k code Hy Hk) as [J1 J2]. split; [exact J1|]. apply not_true_is_false. intros M.
      rewrite (B _ M) in J2. discriminate.
    + intros [|i] [|j] y z k code k' code' Hi Hj L Hk Hk'; try lia.
      * simpl in Hi, Hj. injection Hi as <-. intros E. destruct (C k code Hk) as [_ [_ C3]].
        destruct (I2 z k' code' (nth_error_In _ _ Hj) Hk') as [_ J]. rewrite <- E in J. unfold key_of in J. rewrite C3 in J. discriminate.
      * simpl in Hi, Hj. apply (I3 i j y z k code k' code' Hi Hj ltac:(lia) Hk Hk').
Qed.

Theorem schedule_sound d last levels l : check_schedule d last levels l = true ->
  leveled (network_of d) (level_of levels) /\ bufferless (network_of d) (map packet_of l) (N.to_nat last).
Proof.
  unfold check_schedule. rewrite !andb_true_iff. intros [[[Hn Hl] Hlev] H].
  assert (Hn2 := Hn). unfold check_network in Hn2. rewrite !andb_true_iff in Hn2. destruct Hn2 as [[[[_ C] _] _] _].
  apply same_eq in Hl. unfold count in Hl. split.
  - intros c Hc. simpl in Hc. apply (forallb_nth _ _ c no_channel) in Hlev; [|exact Hc]. apply (forallb_nth _ _ c no_channel) in C; [|exact Hc].
    cbv beta in C. rewrite !andb_true_iff in C. destruct C as [[C1 C2] _]. apply N.ltb_lt in C1, C2. apply same_eq in Hlev.
    fold (channel_of d c) in *. unfold level_of. simpl head. simpl tail.
    assert (G : forall v, v < size d -> get 0 (array 0 levels) v = nth (N.to_nat v) levels 0).
    { intros v Hv. replace v with (N.of_nat (N.to_nat v)) at 1 by lia. apply tree_of_get. lia. }
    rewrite !G in Hlev by assumption. lia.
  - destruct (follow_all_sound _ _ _ _ H) as [A [B D]]. split.
    + intros p Hp. apply in_map_iff in Hp. destruct Hp as [x [<- Hx]]. destruct (A x Hx) as [A1 A2]. split; [exact A1|].
      simpl. rewrite map_length. exact A2.
    + intros i j p q t c b Hi Hj Hij [k [Hk Ht]] [k' [Hk' Ht']].
      rewrite nth_error_map in Hi, Hj. destruct (nth_error l i) as [x|] eqn:Ex; [|discriminate]. destruct (nth_error l j) as [y|] eqn:Ey; [|discriminate].
      injection Hi as <-. injection Hj as <-. simpl in Hk, Hk', Ht, Ht'. rewrite nth_error_map in Hk, Hk'.
      destruct (nth_error (codes x) k) as [code|] eqn:Ec; [|discriminate]. destruct (nth_error (codes y) k') as [code'|] eqn:Ec'; [|discriminate].
      assert (E : code = code') by (apply code_eq; simpl in Hk, Hk'; congruence). subst code'.
      assert (K : key_of d x k code = key_of d y k' code) by (unfold key_of; do 2 f_equal; f_equal; lia).
      destruct (Nat.lt_total i j) as [L|[L|L]]; [|contradiction|].
      * apply (D i j x y k code k' code Ex Ey L Ec Ec' K).
      * apply (D j i y x k' code k code Ey Ex L Ec' Ec). symmetry. exact K.
Qed.
