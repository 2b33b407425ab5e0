(* All theorems about the checker, alone: what each function of the checker, run on the data of a closed claim, proves.
   Beside each stand the words of docs/reference/formats/closed-claims.md. Proofs are in Soundness.v and Schedule.v;
   here they are only named. First the definitions, repeated from Network.v and Checker.v: each line "means" is checked by
   Coq to be the same by computation (eq_refl), so that this file can be read alone. *)
Require Import ZArith NArith QArith List Bool.
From Obliv Require Import Network Duality Decomposition Runs Checker Soundness Schedule.
Import ListNotations.
Open Scope Q_scope.

(* ================ Definitions ================ *)

(* sum f n = f 0 + ... + f (n-1);  one b = 1 where b holds, else 0. *)
Example sum_means f n : sum f 0 = 0 /\ sum f (S n) = sum f n + f n := conj eq_refl eq_refl.
Example one_means : one true = 1 /\ one false = 0 := conj eq_refl eq_refl.

(* A network G: nodes, channels with tail, head and bandwidth, terminals with node, injection and ejection, connected pairs;
   each a number or a function on numbers below it. *)
Example proper_means G : proper G =
  ((forall c, (c < channels G)%nat -> (tail G c < nodes G)%nat /\ (head G c < nodes G)%nat /\ 0 < bandwidth G c) /\
   (forall i, (i < terminals G)%nat -> (node G i < nodes G)%nat /\ 0 <= injection G i /\ 0 <= ejection G i)) := eq_refl.

(* "A family of unit flows": at each node v, out - in = 1 at the source's node, -1 at the destination's, 0 elsewhere. *)
Example outflow_means G f v : outflow G f v = sum (fun c => one (tail G c =? v)%nat * f c) (channels G) := eq_refl.
Example inflow_means G f v : inflow G f v = sum (fun c => one (head G c =? v)%nat * f c) (channels G) := eq_refl.
Example unit_flow_means G s t f : unit_flow G s t f =
  ((forall c, (c < channels G)%nat -> 0 <= f c) /\
   (forall v, (v < nodes G)%nat -> outflow G f v - inflow G f v == 1 * one (v =? s)%nat - 1 * one (v =? t)%nat)) := eq_refl.
Example routing_means G f : routing G f =
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat ->
     if connected G i j then unit_flow G (node G i) (node G j) (f i j)
     else forall c, (c < channels G)%nat -> f i j c == 0) := eq_refl.

(* Towles and Dally: "doubly sub-stochastic" traffic, here with a rate for each terminal; the load of a channel; the worst case. *)
Example admissible_means G X : admissible G X =
  ((forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> 0 <= X i j) /\
   (forall i, (i < terminals G)%nat -> sum (fun j => X i j) (terminals G) <= injection G i) /\
   (forall j, (j < terminals G)%nat -> sum (fun i => X i j) (terminals G) <= ejection G j) /\
   (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> connected G i j = false -> X i j == 0)) := eq_refl.
Example load_means G f X c : load G f X c = sum (fun i => sum (fun j => X i j * f i j c) (terminals G)) (terminals G) := eq_refl.
Example worst_at_most_means G f r : worst_at_most G f r =
  (forall X, admissible G X -> forall c, (c < channels G)%nat -> load G f X c <= r * bandwidth G c) := eq_refl.
Example worst_at_least_means G f r : worst_at_least G f r =
  (exists X c, admissible G X /\ (c < channels G)%nat /\ r * bandwidth G c <= load G f X c) := eq_refl.
Example every_means G class r : every_worst_at_least G class r = (forall f, routing G f -> class f -> worst_at_least G f r) := eq_refl.

(* Traffic that some routing carries, adaptive ones included: flows by source. *)
Example carries_means G X g : carries G X g =
  (forall i, (i < terminals G)%nat ->
    (forall c, (c < channels G)%nat -> 0 <= g i c) /\
    (forall v, (v < nodes G)%nat -> outflow G (g i) v - inflow G (g i) v ==
       sum (fun j => X i j * (one (v =? node G i)%nat - one (v =? node G j)%nat)) (terminals G))) := eq_refl.
Example used_means G g c : used G g c = sum (fun i => g i c) (terminals G) := eq_refl.
Example carried_within_means G X r : carried_within G X r =
  (exists g, carries G X g /\ forall c, (c < channels G)%nat -> used G g c <= r * bandwidth G c) := eq_refl.
Example traffic_means G X : traffic G X =
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> 0 <= X i j /\ (i = j -> X i j == 0)) := eq_refl.

(* What a file means. A row is a list of runs (first count value): its value at place j; a matrix is a list of runs of rows. *)
Example value_means (default : N) f c v r j : value_at default (Run f c v r) j =
  (if ((f <=? j) && (j <? f + c))%N then v else value_at default r j) := eq_refl.
Example value_done_means (default j : N) : value_at default Done j = default := eq_refl.
Example entry_means m i j : entry_of m i j = value_at 0%N (value_at Done m (N.of_nat i)) (N.of_nat j) := eq_refl.
Example ratio_means p q : ratio p q = inject_Z (Z.of_N p) / inject_Z (Z.of_N q) := eq_refl.
Example network_means d : network_of d = {|
  nodes := N.to_nat (size d);
  channels := length (lines d);
  tail := fun c => N.to_nat (from (nth c (lines d) no_channel));
  head := fun c => N.to_nat (to (nth c (lines d) no_channel));
  bandwidth := fun c => inject_Z (Z.of_N (width (nth c (lines d) no_channel)));
  terminals := length (ends d);
  node := fun i => N.to_nat (at_node (nth i (ends d) no_terminal));
  injection := fun i => inject_Z (Z.of_N (sends (nth i (ends d) no_terminal)));
  ejection := fun j => inject_Z (Z.of_N (takes (nth j (ends d) no_terminal)));
  connected := fun i j => (entry_of (lost d) i j =? 0)%N |} := eq_refl.
Example routing_of_means d i j c : routing_of d i j c = ratio (entry_of (nth c (flows d) Done) i j) (whole d) := eq_refl.
Example traffic_of_means x t i j : traffic_of x t i j = ratio (entry_of x i j) t := eq_refl.

(* ================ Theorems ================ *)

(* "The routing is a family of unit flows [...] for lost pairs 0 everywhere." *)
Theorem flows_are_a_routing d :
  check_routing d = true -> proper (network_of d) /\ routing (network_of d) (routing_of d).
Proof. exact (routing_sound d). Qed.

(* "No admissible traffic loads a channel beyond P/Q of its bandwidth." Any prices will do: of the maps that carry prices
   from one channel to another nothing is supposed but their range. *)
Theorem most d p q prices :
  check_most d p q prices = true -> worst_at_most (network_of d) (routing_of d) (ratio p q).
Proof. exact (most_sound d p q prices). Qed.

(* "This admissible traffic X = matrix / T loads channel c by exactly P/Q of its bandwidth." *)
Theorem attains d p q c t x :
  check_attains d p q c t x = true ->
  admissible (network_of d) (traffic_of x t) /\ (N.to_nat c < channels (network_of d))%nat /\
  load (network_of d) (routing_of d) (traffic_of x t) (N.to_nat c) == ratio p q * bandwidth (network_of d) (N.to_nat c).
Proof. exact (attains_sound d p q c t x). Qed.

(* Both with the same P/Q: the worst case. *)
Theorem worst_case d p q prices c t x :
  check_most d p q prices = true -> check_attains d p q c t x = true -> worst_is (network_of d) (routing_of d) (ratio p q).
Proof. exact (worst_case_sound d p q prices c t x). Qed.

(* "Every routing (every family of unit flows for the pairs that are not lost) is loaded by some admissible traffic on some
   channel by at least P/Q." *)
Theorem least d p q x :
  check_least d p q x = true -> allowed x = None -> every_worst_at_least (network_of d) any (ratio p q).
Proof. exact (least_sound d p q x). Qed.

(* "The statement then is about routings that use allowed channels only." *)
Example uses_only_means G permitted f : uses_only G permitted f =
  (forall i j c, (i < terminals G)%nat -> (j < terminals G)%nat -> (c < channels G)%nat -> permitted i j c = false -> f i j c == 0) := eq_refl.
Example permitted_means l i j c : permitted_by l i j c =
  negb (N.eqb (value_at 0%N (value_at Done (nth i l Done) (N.of_nat j)) (N.of_nat c)) 0) := eq_refl.
Theorem least_allowed d p q x l :
  check_least d p q x = true -> allowed x = Some l ->
  every_worst_at_least (network_of d) (uses_only (network_of d) (permitted_by l)) (ratio p q).
Proof. exact (least_allowed_sound d p q x l). Qed.

(* "The flows of the file keep to them, too." *)
Theorem within d x l :
  check_within d x = true -> allowed x = Some l -> uses_only (network_of d) (permitted_by l) (routing_of d).
Proof. exact (within_sound d x l). Qed.

(* An upper bound of one routing and a lower bound of all: its worst case is the smallest that there is. *)
Theorem optimal d p q prices x :
  check_routing d = true -> check_most d p q prices = true -> check_least d p q x = true -> allowed x = None ->
  routing (network_of d) (routing_of d) /\ worst_is (network_of d) (routing_of d) (ratio p q) /\
  forall f, routing (network_of d) f -> worst_at_least (network_of d) f (ratio p q).
Proof. exact (optimal_sound d p q prices x). Qed.
Theorem optimal_allowed d p q prices x l :
  check_routing d = true -> check_most d p q prices = true -> check_least d p q x = true -> check_within d x = true ->
  allowed x = Some l ->
  routing (network_of d) (routing_of d) /\ uses_only (network_of d) (permitted_by l) (routing_of d) /\
  worst_is (network_of d) (routing_of d) (ratio p q) /\
  forall f, routing (network_of d) f -> uses_only (network_of d) (permitted_by l) f -> worst_at_least (network_of d) f (ratio p q).
Proof. exact (optimal_allowed_sound d p q prices x l). Qed.

(* "Whatever traffic some routing (adaptive ones included) carries with no channel beyond its bandwidth, this routing loads no
   channel beyond P/Q of its bandwidth." *)
Theorem ratio_upper d p q x :
  check_ratio d p q x = true ->
  forall X, traffic (network_of d) X -> carried_within (network_of d) X 1 ->
  forall c, (c < channels (network_of d))%nat -> load (network_of d) (routing_of d) X c <= ratio p q * bandwidth (network_of d) c.
Proof. exact (ratio_sound d p q x). Qed.

(* ratio-attained: some traffic that is carried so loads channel c by exactly P/Q of its bandwidth. *)
Theorem ratio_lower d p q c t x g :
  check_ratio_attained d p q c t x g = true ->
  traffic (network_of d) (traffic_of x t) /\ carried_within (network_of d) (traffic_of x t) 1 /\
  (N.to_nat c < channels (network_of d))%nat /\
  load (network_of d) (routing_of d) (traffic_of x t) (N.to_nat c) == ratio p q * bandwidth (network_of d) (N.to_nat c).
Proof. exact (ratio_attained_sound d p q c t x g). Qed.

(* "Some routing carries the traffic X = matrix / T with no channel beyond P/Q of its bandwidth." *)
Theorem carried d p q t x g :
  check_carried d p q t x g = true -> carried_within (network_of d) (traffic_of x t) (ratio p q).
Proof. exact (fun H => ex_intro _ (carrier_of d g t) (carried_sound d p q t x g H)). Qed.

(* To carry by source, as in these statements, and to carry pair by pair, as routings do, is the same. *)
Example flow_means G s t x f : flow G s t x f =
  ((forall c, (c < channels G)%nat -> 0 <= f c) /\
   (forall v, (v < nodes G)%nat -> outflow G f v - inflow G f v == x * one (v =? s)%nat - x * one (v =? t)%nat)) := eq_refl.
Theorem pairs_are_carried G X (f : nat -> nat -> nat -> Q) :
  (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> flow G (node G i) (node G j) (X i j) (f i j)) ->
  carries G X (fun i c => sum (fun j => f i j c) (terminals G)).
Proof. exact (pairs_carry G X f). Qed.
Theorem carried_by_pairs G X g :
  proper G -> (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> 0 <= X i j) -> carries G X g ->
  exists f, (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> flow G (node G i) (node G j) (X i j) (f i j)) /\
            forall i c, (i < terminals G)%nat -> (c < channels G)%nat -> sum (fun j => f i j c) (terminals G) <= g i c.
Proof. exact (fun H => Decomposition.carried_by_pairs G H X g). Qed.

(* "Every routing, adaptive ones included, that carries X = matrix / T loads some channel by at least P/Q of its bandwidth." *)
Theorem blocked d p q t x lengths y :
  check_blocked d p q t x lengths y = true ->
  forall g, carries (network_of d) (traffic_of x t) g ->
  exists c, (c < channels (network_of d))%nat /\ ratio p q * bandwidth (network_of d) c <= used (network_of d) g c.
Proof. exact (blocked_sound d p q t x lengths y). Qed.

(* "This cut of the nodes splits the terminals into halves that differ by at most one, and channels of total bandwidth B cross
   it from side one to the other, B2 back." *)
Example cut_width_means G side : cut_width G side =
  sum (fun c => one (side (tail G c) && negb (side (head G c))) * bandwidth G c) (channels G) := eq_refl.
Example side_means s v : side_of s v = negb (N.eqb (value_at 0%N s (N.of_nat v)) 0) := eq_refl.
Theorem cut d b s :
  check_cut d b s = true ->
  let ones := sum (fun i => one (side_of s (node (network_of d) i))) (terminals (network_of d)) in
  let others := inject_Z (Z.of_nat (terminals (network_of d))) - ones in
  -1 <= ones - others /\ ones - others <= 1 /\
  cut_width (network_of d) (side_of s) == inject_Z (Z.of_N b) /\
  cut_width (network_of d) (fun v => negb (side_of s v)) == inject_Z (Z.of_N (snd (crossing d s))).
Proof. exact (cut_sound d b s). Qed.

(* A failure: the claim with other flows and other lost pairs; they are a routing that uses no removed channel. The theorems
   above then hold of [failed d ...] as of any claim. *)
Example failed_means d missing changed : failed d missing changed =
  Claim (size d) (lines d) (ends d) (whole d) (replace 0 (flows d) changed) missing := eq_refl.
Theorem failure d removed missing changed :
  check_failure d removed missing changed = true ->
  let e := failed d missing changed in
  proper (network_of e) /\ routing (network_of e) (routing_of e) /\
  forall i j c, (c < channels (network_of e))%nat -> value_at 0%N removed (N.of_nat c) <> 0%N -> routing_of e i j c == 0.
Proof. exact (failure_sound d removed missing changed). Qed.

(* Busch, Kelkar and Magdon-Ismail: "leveled networks", where every edge joins a level to the next; packets that are never
   buffered, one for each edge, direction and step. *)
Example leveled_means G level : leveled G level =
  (forall c, (c < channels G)%nat -> level (head G c) = S (level (tail G c))) := eq_refl.
Example bufferless_means G l T : bufferless G l T =
  ((forall p, In p l -> leads G (source p) (moves p) (destination p) /\ (start p + length (moves p) <= T)%nat) /\
   (forall i j p q t c b, nth_error l i = Some p -> nth_error l j = Some q -> i <> j ->
      moves_over p t c b -> moves_over q t c b -> False)) := eq_refl.
Example leads_means G v c l w : leads G v ((c, true) :: l) w = ((c < channels G)%nat /\ v = tail G c /\ leads G (head G c) l w) /\
  leads G v ((c, false) :: l) w = ((c < channels G)%nat /\ v = head G c /\ leads G (tail G c) l w) /\
  leads G v [] w = (v = w) := conj eq_refl (conj eq_refl eq_refl).
Example moves_over_means p t c b : moves_over p t c b = (exists k, nth_error (moves p) k = Some (c, b) /\ t = (start p + k)%nat) := eq_refl.
Example packet_means x : packet_of x = {| source := N.to_nat (leaves x); destination := N.to_nat (arrives x); start := N.to_nat (starts x);
  moves := map (fun code => (N.to_nat (N.div2 code), N.even code)) (codes x) |} := eq_refl.
Theorem schedule d last levels packets :
  check_schedule d last levels packets = true ->
  leveled (network_of d) (level_of levels) /\ bufferless (network_of d) (map packet_of packets) (N.to_nat last).
Proof. exact (schedule_sound d last levels packets). Qed.
