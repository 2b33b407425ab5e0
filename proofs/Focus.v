(* A focus set suffices: channels that symmetries of the network and of the routing map onto others need no worst case of
   their own. *)
Require Import QArith Lia Lqa Arith Bool.
From Obliv Require Import Network.
Open Scope Q_scope.

(* g permutes the numbers below n, and back undoes it. *)
Definition permutes (n : nat) (g back : nat -> nat) : Prop :=
  forall i, (i < n)%nat -> (g i < n)%nat /\ (back i < n)%nat /\ back (g i) = i /\ g (back i) = i.

Lemma sum_permuted n g back f : permutes n g back -> sum (fun i => f (g i)) n == sum f n.
Proof.
  intros H. rewrite (sum_eq _ (fun i => sum (fun a => one (a =? g i)%nat * f a) n)).
  2:{ intros i Hi. destruct (H i Hi) as [L _]. rewrite <- (sum_pick f n (g i) L). apply sum_eq. intros a _.
      now rewrite Nat.eqb_sym. }
  rewrite sum_swap. apply sum_eq. intros a Ha. destruct (H a Ha) as [_ [Lb [_ E]]].
  rewrite (sum_eq _ (fun i => one (back a =? i)%nat * f a)); [apply (sum_pick (fun _ => f a)), Lb|].
  intros i Hi. replace (a =? g i)%nat with (back a =? i)%nat; [reflexivity|].
  destruct (H i Hi) as [_ [_ [Eb _]]]. apply eq_true_iff_eq. rewrite !Nat.eqb_eq. split; congruence.
Qed.

(* A symmetry of the network and of the routing f: a relabeling g of the terminals, that keeps their rates and which pairs
   are connected, and a map of channels, that keeps bandwidths, such that the pair (g i, g j) sends over the image of c what
   (i, j) sends over c. An automorphism of the network also maps ends of channels to ends; the proof does not need it. *)
Definition symmetry_of (G : network) (f : nat -> nat -> nat -> Q) (g back image : nat -> nat) : Prop :=
  permutes (terminals G) g back /\
  (forall i, (i < terminals G)%nat -> injection G (g i) == injection G i /\ ejection G (g i) == ejection G i) /\
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> connected G (g i) (g j) = connected G i j) /\
  (forall c, (c < channels G)%nat -> (image c < channels G)%nat /\ bandwidth G (image c) == bandwidth G c) /\
  (forall i j c, (i < terminals G)%nat -> (j < terminals G)%nat -> (c < channels G)%nat ->
    f (g i) (g j) (image c) == f i j c).

Definition focus_set (G : network) (f : nat -> nat -> nat -> Q) (F : nat -> Prop) : Prop :=
  forall c, (c < channels G)%nat -> exists g back image, symmetry_of G f g back image /\ F (image c).

Lemma mapped_admissible G f g back image X : symmetry_of G f g back image -> admissible G X ->
  admissible G (fun i j => X (back i) (back j)).
Proof.
  intros [P [Rates [Conn _]]] [X0 [Xi [Xj Xc]]].
  assert (P' : permutes (terminals G) back g) by (intros i Hi; destruct (P i Hi) as [A [B [C D]]]; auto).
  repeat split.
  - intros i j Hi Hj. apply X0; [apply (P i Hi)|apply (P j Hj)].
  - intros i Hi. destruct (P i Hi) as [_ [L [_ E]]]. rewrite (sum_permuted _ back g (fun j => X (back i) j) P').
    pose proof (proj1 (Rates _ L)) as R. rewrite E in R. rewrite R. apply Xi, L.
  - intros j Hj. destruct (P j Hj) as [_ [L [_ E]]]. rewrite (sum_permuted _ back g (fun i => X i (back j)) P').
    pose proof (proj2 (Rates _ L)) as R. rewrite E in R. rewrite R. apply Xj, L.
  - intros i j Hi Hj H. destruct (P i Hi) as [_ [Li [_ Ei]]]. destruct (P j Hj) as [_ [Lj [_ Ej]]].
    apply Xc; [exact Li|exact Lj|]. rewrite <- (Conn _ _ Li Lj), Ei, Ej. exact H.
Qed.

Lemma mapped_load G f g back image X c : symmetry_of G f g back image -> (c < channels G)%nat ->
  load G f (fun i j => X (back i) (back j)) (image c) == load G f X c.
Proof.
  intros [P [_ [_ [_ S]]]] Hc. unfold load.
  rewrite <- (sum_permuted _ g back (fun i => sum (fun j => X (back i) (back j) * f i j (image c)) (terminals G)) P).
  apply sum_eq. intros i Hi. destruct (P i Hi) as [_ [_ [Ei _]]]. cbv beta. rewrite Ei.
  rewrite <- (sum_permuted _ g back (fun j => X i (back j) * f (g i) j (image c)) P).
  apply sum_eq. intros j Hj. destruct (P j Hj) as [_ [_ [Ej _]]]. cbv beta. rewrite Ej, (S i j c Hi Hj Hc). reflexivity.
Qed.

(* Whatever traffic does to any channel, some traffic does to one of the focus set. *)
Theorem focus_as_loaded G f F : focus_set G f F -> forall X c, admissible G X -> (c < channels G)%nat ->
  exists X' c', admissible G X' /\ (c' < channels G)%nat /\ F c' /\ bandwidth G c' == bandwidth G c /\
    load G f X' c' == load G f X c.
Proof.
  intros H X c HX Hc. destruct (H c Hc) as [g [back [image [S Fc]]]].
  exists (fun i j => X (back i) (back j)), (image c).
  assert (S' := S). destruct S' as [_ [_ [_ [B _]]]]. destruct (B c Hc).
  repeat split; try assumption; try (apply (mapped_admissible G f g back image X S HX)).
  apply (mapped_load G f g back image X c S Hc).
Qed.

Corollary focus_at_most G f F r : focus_set G f F ->
  (forall X c, admissible G X -> (c < channels G)%nat -> F c -> load G f X c <= r * bandwidth G c) ->
    worst_at_most G f r.
Proof.
  intros H B X HX c Hc. destruct (focus_as_loaded G f F H X c HX Hc) as [X' [c' [A [L [Fc [E1 E2]]]]]].
  rewrite <- E1, <- E2. apply B; assumption.
Qed.

Corollary focus_at_least G f F r : focus_set G f F -> worst_at_least G f r ->
  exists X c, admissible G X /\ (c < channels G)%nat /\ F c /\ r * bandwidth G c <= load G f X c.
Proof.
  intros H [X [c [HX [Hc B]]]]. destruct (focus_as_loaded G f F H X c HX Hc) as [X' [c' [A [L [Fc [E1 E2]]]]]].
  exists X', c'. repeat split; try assumption; try apply A. rewrite E1, E2. exact B.
Qed.
