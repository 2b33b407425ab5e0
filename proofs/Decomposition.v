(* Flows by source split into flows by pair: what is carried by source is carried pair by pair. *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network Duality.
Open Scope Q_scope.

Lemma search (P : nat -> Prop) (dec : forall c, {P c} + {~ P c}) n : (exists c, (c < n)%nat /\ P c) \/ (forall c, (c < n)%nat -> ~ P c).
Proof.
  induction n as [|n [[c [H P1]]|H]]; [right; intros; lia|left; exists c; split; [lia|exact P1]|].
  destruct (dec n) as [D|D]; [left; exists n; split; [lia|exact D]|right].
  intros c Hc. destruct (Nat.eq_dec c n) as [->|E]; [exact D|apply H; lia].
Qed.

Fixpoint number (b : nat -> bool) (n : nat) : nat := match n with O => O | S k => (number b k + if b k then 1 else 0)%nat end.

Lemma number_le b b' n : (forall k, (k < n)%nat -> b k = true -> b' k = true) -> (number b n <= number b' n)%nat.
Proof.
  induction n as [|n IH]; intros H; [simpl; lia|]. cbn [number]. specialize (IH (fun k Hk => H k (Nat.lt_lt_succ_r _ _ Hk))).
  specialize (H n (Nat.lt_succ_diag_r n)). destruct (b n); [rewrite (H eq_refl); lia|destruct (b' n); lia].
Qed.

Lemma number_lt b b' n c : (forall k, (k < n)%nat -> b k = true -> b' k = true) -> (c < n)%nat -> b c = false -> b' c = true ->
  (number b n < number b' n)%nat.
Proof.
  induction n as [|n IH]; intros H Hc F T; [lia|]. cbn [number]. destruct (Nat.eq_dec c n) as [->|E].
  - rewrite F, T. pose proof (number_le b b' n (fun k Hk => H k (Nat.lt_lt_succ_r _ _ Hk))). lia.
  - specialize (IH (fun k Hk => H k (Nat.lt_lt_succ_r _ _ Hk)) ltac:(lia) F T). specialize (H n (Nat.lt_succ_diag_r n)).
    destruct (b n); [rewrite (H eq_refl); lia|destruct (b' n); lia].
Qed.

Section Split.
Variable G : network.
Hypothesis HG : proper G.

Lemma outflow_plus f g v : outflow G (fun c => f c + g c) v == outflow G f v + outflow G g v.
Proof. unfold outflow. rewrite <- sum_plus. apply sum_eq. intros. ring. Qed.
Lemma inflow_plus f g v : inflow G (fun c => f c + g c) v == inflow G f v + inflow G g v.
Proof. unfold inflow. rewrite <- sum_plus. apply sum_eq. intros. ring. Qed.
Lemma outflow_scale x f v : outflow G (fun c => x * f c) v == x * outflow G f v.
Proof. unfold outflow. rewrite <- sum_scale. apply sum_eq. intros. ring. Qed.
Lemma inflow_scale x f v : inflow G (fun c => x * f c) v == x * inflow G f v.
Proof. unfold inflow. rewrite <- sum_scale. apply sum_eq. intros. ring. Qed.
Lemma outflow_one c v : (c < channels G)%nat -> outflow G (fun e => one (c =? e)%nat) v == one (tail G c =? v)%nat.
Proof.
  intros H. unfold outflow. rewrite <- (sum_pick (fun e => one (tail G e =? v)%nat) (channels G) c H). apply sum_eq. intros. ring.
Qed.
Lemma inflow_one c v : (c < channels G)%nat -> inflow G (fun e => one (c =? e)%nat) v == one (head G c =? v)%nat.
Proof.
  intros H. unfold inflow. rewrite <- (sum_pick (fun e => one (head G e =? v)%nat) (channels G) c H). apply sum_eq. intros. ring.
Qed.

(* A path from s to v as a 0/1 flow over channels where g is positive, whose heads are in R. *)
Definition path (g : nat -> Q) (R : nat -> bool) (s v : nat) (p : nat -> Q) : Prop :=
  (forall c, (c < channels G)%nat -> p c == 0 \/ (p c == 1 /\ 0 < g c /\ R (head G c) = true)) /\
  (forall u, (u < nodes G)%nat -> outflow G p u - inflow G p u == one (s =? u)%nat - one (v =? u)%nat).

(* As long as t is not reached, some positive channel leads out of R: otherwise nothing could enter the rest. *)
Lemma reach g s t x : (forall c, (c < channels G)%nat -> 0 <= g c) -> (t < nodes G)%nat -> 0 < x ->
  (forall v, (v < nodes G)%nat -> v <> s -> outflow G g v - inflow G g v <= 0) ->
  outflow G g t - inflow G g t <= - x ->
  forall k R, (number (fun v => negb (R v)) (nodes G) <= k)%nat -> R s = true ->
  (forall v, R v = true -> exists p, path g R s v p) -> exists R p, path g R s t p.
Proof.
  intros Hg Ht Hx Hb Hbt. induction k as [|k IH]; intros R Hk Hs Hp; destruct (R t) eqn:Rt.
  - destruct (Hp t Rt) as [p P]. exists R, p. exact P.
  - exfalso. assert (number (fun _ => false) (nodes G) < number (fun v => negb (R v)) (nodes G))%nat.
    { apply (number_lt _ _ _ t); [intros; discriminate|exact Ht|reflexivity|]. cbv beta. rewrite Rt. reflexivity. }
    lia.
  - destruct (Hp t Rt) as [p P]. exists R, p. exact P.
  - set (out := fun c => 0 < g c /\ R (tail G c) = true /\ R (head G c) = false).
    assert (dec : forall c, {out c} + {~ out c}).
    { intros c. unfold out. destruct (Qlt_le_dec 0 (g c)) as [L|L]; [|right; intros [A _]; lra].
      destruct (R (tail G c)); [|right; intros [_ [A _]]; discriminate]. destruct (R (head G c)); [right; intros [_ [_ A]]; discriminate|].
      left. auto. }
    destruct (search out dec (channels G)) as [[c [Hc [C1 [C2 C3]]]]|No].
    + (* one node more *)
      set (R' := fun v => (v =? head G c)%nat || R v).
      apply (IH R').
      * assert (number (fun v => negb (R' v)) (nodes G) < number (fun v => negb (R v)) (nodes G))%nat; [|lia].
        apply (number_lt _ _ _ (head G c)); unfold R'.
        -- intros v _ H. destruct (R v); [rewrite orb_true_r in H; discriminate|reflexivity].
        -- apply HG, Hc.
        -- rewrite Nat.eqb_refl. reflexivity.
        -- rewrite C3. reflexivity.
      * unfold R'. rewrite Hs. apply orb_true_r.
      * intros v Hv. unfold R' in Hv. apply orb_true_iff in Hv.
        assert (Mono : forall p u, path g R s u p -> path g R' s u p).
        { intros p u [A B]. split; [|exact B]. intros e He. destruct (A e He) as [E|[E [F K]]]; [left; exact E|right].
          repeat split; try assumption. unfold R'. rewrite K. apply orb_true_r. }
        destruct (R v) eqn:Rv; [destruct (Hp v Rv) as [p P]; exists p; apply Mono, P|].
        destruct Hv as [Hv|Hv]; [|discriminate]. apply Nat.eqb_eq in Hv. subst v.
        destruct (Hp _ C2) as [p P]. pose proof P as [A0 _]. exists (fun e => p e + one (c =? e)%nat). split.
        -- intros e He. destruct (c =? e)%nat eqn:E; simpl one.
           ++ apply Nat.eqb_eq in E. subst e. destruct (A0 c Hc) as [Z|[_ [_ Z]]]; [|rewrite Z in C3; discriminate].
              right. repeat split; [rewrite Z; ring|exact C1|]. unfold R'. rewrite Nat.eqb_refl. reflexivity.
           ++ destruct (A0 e He) as [Z|[Z [F K]]]; [left; rewrite Z; ring|right]. repeat split; [rewrite Z; ring|exact F|].
              unfold R'. rewrite K. apply orb_true_r.
        -- intros u Hu. rewrite outflow_plus, inflow_plus, outflow_one, inflow_one by exact Hc. destruct P as [_ B]. specialize (B u Hu). lra.
    + exfalso. set (p := fun v => one (negb (R v))).
      assert (A : sum (fun c => (p (head G c) - p (tail G c)) * g c) (channels G) <= 0).
      { rewrite <- (sum_0 (fun _ => 0) (channels G)) by (intros; lra). apply sum_le. intros c Hc. unfold p. specialize (No c Hc). unfold out in No.
        specialize (Hg c Hc). destruct (Qlt_le_dec 0 (g c)) as [L|L].
        - destruct (R (tail G c)); destruct (R (head G c)); simpl; try lra.
        - assert (Z : g c == 0) by lra. rewrite Z. lra. }
      rewrite potential_gain in A by exact HG.
      assert (B : x <= sum (fun v => p v * (inflow G g v - outflow G g v)) (nodes G)).
      { assert (K : p t * (inflow G g t - outflow G g t) <= sum (fun v => p v * (inflow G g v - outflow G g v)) (nodes G)).
        { apply (sum_term (fun v => p v * (inflow G g v - outflow G g v))); [|exact Ht]. intros v Hv. unfold p. destruct (R v) eqn:Rv; simpl; [lra|].
          assert (v <> s) by (intros ->; rewrite Hs in Rv; discriminate). specialize (Hb v Hv H). lra. }
        unfold p at 1 in K. rewrite Rt in K. simpl one in K. lra. }
      lra.
Qed.

(* How much a path can take. *)
Lemma bottleneck (p g : nat -> Q) x n : 0 < x -> (forall c, (c < n)%nat -> p c == 0 \/ (p c == 1 /\ 0 < g c)) ->
  exists d, 0 < d /\ d <= x /\ (forall c, (c < n)%nat -> d * p c <= g c \/ p c == 0) /\
            (d == x \/ exists c, (c < n)%nat /\ p c == 1 /\ d == g c).
Proof.
  intros Hx. induction n as [|n IH]; intros H.
  - exists x. repeat split; [exact Hx|lra|intros; lia|left; reflexivity].
  - destruct IH as [d [D1 [D2 [D3 D4]]]]; [intros; apply H; lia|]. destruct (H n (Nat.lt_succ_diag_r n)) as [Z|[Z L]].
    + exists d. repeat split; try assumption.
      * intros c Hc. destruct (Nat.eq_dec c n) as [->|E]; [right; exact Z|apply D3; lia].
      * destruct D4 as [D4|[c [C D]]]; [left; exact D4|right; exists c; split; [lia|exact D]].
    + destruct (Qlt_le_dec (g n) d) as [M|M].
      * exists (g n). repeat split; [exact L|lra| |right; exists n; split; [lia|split; [exact Z|reflexivity]]].
        intros c Hc. destruct (Nat.eq_dec c n) as [->|E]; [left; rewrite Z; lra|]. destruct (D3 c ltac:(lia)) as [F|F]; [left|right; exact F].
        destruct (H c Hc) as [Y|[Y K]]; [rewrite Y; rewrite Y in F; lra|rewrite Y in *; lra].
      * exists d. repeat split; try assumption.
        -- intros c Hc. destruct (Nat.eq_dec c n) as [->|E]; [left; rewrite Z; lra|apply D3; lia].
        -- destruct D4 as [D4|[c [C D]]]; [left; exact D4|right; exists c; split; [lia|exact D]].
Qed.

Lemma extract s t : (s < nodes G)%nat -> (t < nodes G)%nat -> s <> t -> forall k g x,
  (number (fun c => if Qlt_le_dec 0 (g c) then true else false) (channels G) <= k)%nat ->
  (forall c, (c < channels G)%nat -> 0 <= g c) -> 0 <= x ->
  (forall v, (v < nodes G)%nat -> v <> s -> outflow G g v - inflow G g v <= 0) ->
  outflow G g t - inflow G g t <= - x ->
  exists f, flow G s t x f /\ forall c, (c < channels G)%nat -> f c <= g c.
Proof.
  intros Hs Ht Hst. induction k as [|k IH]; intros g x Hk Hg Hx Hb Hbt.
  all: destruct (Qlt_le_dec 0 x) as [Lx|Lx].
  2, 4: exists (fun _ => 0); split; [|exact Hg]; split; [intros; lra|]; intros v Hv; unfold outflow, inflow;
        rewrite !sum_0 by (intros; ring); assert (E : x == 0) by lra; rewrite E; ring.
  all: destruct (reach g s t x Hg Ht Lx Hb Hbt (nodes G) (fun v => (v =? s)%nat)) as [R [p [P1 P2]]];
    [ transitivity (number (fun _ => true) (nodes G)); [apply number_le; auto|clear; induction (nodes G) as [|n IHn]; simpl; lia]
    | apply Nat.eqb_refl
    | intros v Hv; apply Nat.eqb_eq in Hv; subst v; exists (fun _ => 0); split; [intros; left; reflexivity|];
      intros u Hu; unfold outflow, inflow; rewrite !sum_0 by (intros; ring); ring |];
    destruct (bottleneck p g x (channels G) Lx) as [d [D1 [D2 [D3 D4]]]];
    [intros c Hc; destruct (P1 c Hc) as [Z|[Z [L _]]]; [left; exact Z|right; split; assumption]|].
  all: assert (Hp0 : forall c, (c < channels G)%nat -> 0 <= d * p c) by
        (intros c Hc; apply Qmult_nonneg; [lra|]; destruct (P1 c Hc) as [Z|[Z _]]; rewrite Z; lra).
  all: assert (Hpg : forall c, (c < channels G)%nat -> d * p c <= g c) by
        (intros c Hc; destruct (D3 c Hc) as [L|Z]; [exact L|rewrite Z; specialize (Hg c Hc); lra]).
  all: assert (Hbal : forall v, (v < nodes G)%nat -> outflow G (fun c => d * p c) v - inflow G (fun c => d * p c) v == d * one (v =? s)%nat - d * one (v =? t)%nat) by
        (intros v Hv; rewrite outflow_scale, inflow_scale; specialize (P2 v Hv); rewrite (Nat.eqb_sym s), (Nat.eqb_sym t) in P2;
         setoid_replace (d * outflow G p v - d * inflow G p v) with (d * (outflow G p v - inflow G p v)) by ring; rewrite P2; ring).
  - (* no positive channel at all: then the path has none, and takes everything *)
    exists (fun c => d * p c). split; [|exact Hpg]. split; [exact Hp0|]. intros v Hv. rewrite Hbal by exact Hv.
    destruct D4 as [D4|[c [Hc [Z D]]]]; [rewrite D4; reflexivity|exfalso].
    assert (number (fun _ => false) (channels G) < number (fun c => if Qlt_le_dec 0 (g c) then true else false) (channels G))%nat; [|lia].
    apply (number_lt _ _ _ c); [intros; discriminate|exact Hc|reflexivity|]. destruct (Qlt_le_dec 0 (g c)); [reflexivity|lra].
  - destruct D4 as [D4|[c [Hc [Z D]]]].
    + exists (fun c => d * p c). split; [|exact Hpg]. split; [exact Hp0|]. intros v Hv. rewrite Hbal by exact Hv. rewrite D4. reflexivity.
    + set (g' := fun c => g c + (-1 # 1) * (d * p c)).
      assert (Hout : forall v, (v < nodes G)%nat -> outflow G g' v - inflow G g' v ==
        outflow G g v - inflow G g v - (d * one (v =? s)%nat - d * one (v =? t)%nat)).
      { intros v Hv. unfold g'. rewrite outflow_plus, inflow_plus, (outflow_scale (-1 # 1)), (inflow_scale (-1 # 1)). rewrite <- (Hbal v Hv). ring. }
      destruct (IH g' (x - d)) as [f [F1 F2]].
      * assert (number (fun c => if Qlt_le_dec 0 (g' c) then true else false) (channels G) <
                number (fun c => if Qlt_le_dec 0 (g c) then true else false) (channels G))%nat; [|lia].
        apply (number_lt _ _ _ c).
        -- intros e He. unfold g'. specialize (Hp0 e He). destruct (Qlt_le_dec 0 (g e)); [reflexivity|].
           destruct (Qlt_le_dec 0 (g e + (-1 # 1) * (d * p e))); [lra|discriminate].
        -- exact Hc.
        -- unfold g'. destruct (Qlt_le_dec 0 (g c + (-1 # 1) * (d * p c))) as [L|L]; [|reflexivity]. rewrite Z in L. lra.
        -- destruct (Qlt_le_dec 0 (g c)); [reflexivity|lra].
      * intros e He. unfold g'. specialize (Hpg e He). lra.
      * lra.
      * intros v Hv Hvs. rewrite Hout by exact Hv. specialize (Hb v Hv Hvs). replace (v =? s)%nat with false by (symmetry; apply Nat.eqb_neq; exact Hvs).
        destruct (v =? t)%nat eqn:E; simpl one; [|lra]. apply Nat.eqb_eq in E. subst v. lra.
      * rewrite Hout by exact Ht. rewrite Nat.eqb_refl. replace (t =? s)%nat with false by (symmetry; apply Nat.eqb_neq; auto). simpl one. lra.
      * exists (fun c => f c + d * p c). destruct F1 as [F0 F1]. split.
        -- split; [intros e He; specialize (F0 e He); specialize (Hp0 e He); lra|]. intros v Hv. rewrite outflow_plus, inflow_plus.
           specialize (F1 v Hv). specialize (Hbal v Hv). 
           setoid_replace (x * one (v =? s)%nat - x * one (v =? t)%nat) with
             ((x - d) * one (v =? s)%nat - (x - d) * one (v =? t)%nat + (d * one (v =? s)%nat - d * one (v =? t)%nat)) by ring.
           rewrite <- F1, <- Hbal. ring.
        -- intros e He. specialize (F2 e He). unfold g' in F2. lra.
Qed.

Lemma split_source s (x : nat -> Q) (t : nat -> nat) : (s < nodes G)%nat -> forall n g,
  (forall j, (j < n)%nat -> (t j < nodes G)%nat /\ 0 <= x j) ->
  (forall c, (c < channels G)%nat -> 0 <= g c) ->
  (forall v, (v < nodes G)%nat -> outflow G g v - inflow G g v == sum (fun j => x j * (one (v =? s)%nat - one (v =? t j)%nat)) n) ->
  exists f, (forall j, (j < n)%nat -> flow G s (t j) (x j) (f j)) /\
            forall c, (c < channels G)%nat -> sum (fun j => f j c) n <= g c.
Proof.
  intros Hs. induction n as [|n IH]; intros g Hj Hg Hb.
  - exists (fun _ _ => 0). split; [intros; lia|]. intros c Hc. simpl. apply Hg, Hc.
  - destruct (Hj n (Nat.lt_succ_diag_r n)) as [Tn Xn].
    assert (E : exists h, flow G s (t n) (x n) h /\ forall c, (c < channels G)%nat -> h c <= g c).
    { destruct (Nat.eq_dec s (t n)) as [Eq|Ne].
      - exists (fun _ => 0). split; [|exact Hg]. split; [intros; lra|]. intros v Hv. unfold outflow, inflow. rewrite !sum_0 by (intros; ring). rewrite <- Eq. ring.
      - assert (Neg : forall v, v <> s -> forall m, (m <= S n)%nat -> sum (fun j => x j * (one (v =? s)%nat - one (v =? t j)%nat)) m <= 0).
        { intros v Hv m Hm. rewrite <- (sum_0 (fun _ => 0) m) by (intros; lra). apply sum_le. intros j Hjm. destruct (Hj j ltac:(lia)) as [_ Xj].
          replace (v =? s)%nat with false by (symmetry; apply Nat.eqb_neq; exact Hv). destruct (v =? t j)%nat; simpl one; lra. }
        apply (extract s (t n) Hs Tn Ne _ g (x n) (Nat.le_refl _) Hg Xn).
        + intros v Hv Hvs. rewrite Hb by exact Hv. apply Neg; [exact Hvs|lia].
        + rewrite Hb by exact Tn. cbn [sum]. pose proof (Neg (t n) (not_eq_sym Ne) n ltac:(lia)).
          rewrite (Nat.eqb_refl (t n)). replace (t n =? s)%nat with false in * by (symmetry; apply Nat.eqb_neq; auto). simpl one in *. lra. }
    destruct E as [h [H1 H2]].
    destruct (IH (fun c => g c + (-1 # 1) * h c)) as [f [F1 F2]].
    + intros j Hjn. apply Hj. lia.
    + intros c Hc. specialize (H2 c Hc). lra.
    + intros v Hv. rewrite outflow_plus, inflow_plus, outflow_scale, inflow_scale. destruct H1 as [_ H1]. specialize (H1 v Hv). specialize (Hb v Hv). cbn [sum] in Hb.
      set (S := sum _ n) in *. setoid_replace S with (S + x n * (one (v =? s)%nat - one (v =? t n)%nat) - (x n * one (v =? s)%nat - x n * one (v =? t n)%nat)) by ring.
      rewrite <- Hb, <- H1. ring.
    + exists (fun j => if Nat.eq_dec j n then h else f j). split.
      * intros j Hjn. destruct (Nat.eq_dec j n) as [->|Ne]; [exact H1|apply F1; lia].
      * intros c Hc. cbn [sum]. destruct (Nat.eq_dec n n) as [_|]; [|contradiction].
        rewrite (sum_eq _ (fun j => f j c)) by (intros j Hjn; destruct (Nat.eq_dec j n); [lia|reflexivity]). specialize (F2 c Hc). lra.
Qed.

(* The decomposition. Less may be used than before: circulations are left out. *)
Theorem carried_by_pairs X g : (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> 0 <= X i j) -> carries G X g ->
  exists f, (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> flow G (node G i) (node G j) (X i j) (f i j)) /\
            forall i c, (i < terminals G)%nat -> (c < channels G)%nat -> sum (fun j => f i j c) (terminals G) <= g i c.
Proof.
  intros HX Hg.
  assert (One : forall i, (i < terminals G)%nat -> exists f, (forall j, (j < terminals G)%nat -> flow G (node G i) (node G j) (X i j) (f j)) /\
            forall c, (c < channels G)%nat -> sum (fun j => f j c) (terminals G) <= g i c).
  { intros i Hi. destruct (Hg i Hi) as [G1 G2]. apply (split_source (node G i) (X i) (node G)).
    - apply HG, Hi.
    - intros j Hj. split; [apply HG, Hj|apply HX; assumption].
    - exact G1.
    - exact G2. }
  assert (All : forall n, (n <= terminals G)%nat -> exists f, forall i, (i < n)%nat ->
     (forall j, (j < terminals G)%nat -> flow G (node G i) (node G j) (X i j) (f i j)) /\
     forall c, (c < channels G)%nat -> sum (fun j => f i j c) (terminals G) <= g i c).
  { induction n as [|n IH]; intros Hn; [exists (fun _ _ _ => 0); intros; lia|]. destruct IH as [f F]; [lia|]. destruct (One n ltac:(lia)) as [h H].
    exists (fun i => if Nat.eq_dec i n then h else f i). intros i Hi. destruct (Nat.eq_dec i n) as [->|Ne]; [exact H|apply F; lia]. }
  destruct (All _ (Nat.le_refl _)) as [f F]. exists f. split; [intros i j Hi Hj; apply (F i Hi), Hj|intros i c Hi Hc; apply (F i Hi), Hc].
Qed.
End Split.
