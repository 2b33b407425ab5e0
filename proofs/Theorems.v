(* Theorems on results of the papers, for all sizes at once; statements only: each proof is the name of a theorem of another
   file. First the definitions that they use, each checked by Coq to be the same by computation (eq_refl); those of
   networks, routings, admissible traffic and worst case are in Network.v up to "Sums", and repeated in Statements.v. The
   quotations are the papers' sentences. *)
Require Import QArith Bool.
From Obliv Require Import Network Mesh Flows Cut Blocks U2turn Optimal Focus Permutations FatTree.
Open Scope Q_scope.

(* ================ U2TURN: uniform 2-turn routing on two-dimensional meshes ================ *)

(* Node (x, y) of the k x k mesh has the number y * k + x, so that x = column and y = row. Direction d of a channel is 0 right,
   1 left, 2 up, 3 down; it leads along the row or column l between the places p and p + 1. All bandwidths and rates are 1. *)
Example column_row_means k v : (column k v, row k v) = (v mod k, v / k)%nat := eq_refl.
Example channel_means k d l p : channel k d l p = ((d * k + l) * (k - 1) + p)%nat := eq_refl.
Example place_means k d l p : place k d l p = (if d <? 2 then l * k + p else p * k + l)%nat := eq_refl.
Example mesh_means k c : let d := direction k c in let l := line k c in let p := position k c in
  nodes (mesh k) = (k * k)%nat /\ channels (mesh k) = (4 * k * (k - 1))%nat /\
  tail (mesh k) c = place k d l (if Nat.even d then p else S p) /\
    head (mesh k) c = place k d l (if Nat.even d then S p else p) /\
  bandwidth (mesh k) c = 1 /\ terminals (mesh k) = (k * k)%nat /\
    node (mesh k) c = c := conj eq_refl (conj eq_refl (conj eq_refl
  (conj eq_refl (conj eq_refl (conj eq_refl eq_refl))))).

(* III-A: "(a) X-segment: choose at uniform random an X position x* in [0, k - 1], and route in X-dimension from source node
   (x1, y1) to (x*, y1). (b) Y-segment: route from (x*, y1) to (x*, y2) in Y-dimension. (c) X-segment: route from (x*, y2) to
   destination node (x2, y2) in X-dimension. Each of these three segments uses minimal-length routing". One packet from a to
   b on its line uses a channel of the line if a is behind it and b is not; z is x*. Then "when y1 = y2, it just needs
   one-segment routing"; YXY is the same with X and Y exchanged; "U2TURN routing consists of two parts: XYX-Routing with 0.5
   probability and YXY-Routing with also 0.5 probability". *)
Example run_means d p a b : run d p a b =
  one ((if Nat.even d then a <=? p else p <? a) && negb (if Nat.even d then b <=? p else p <? b))%nat := eq_refl.
Example xyx_means k z i j c : let d := direction k c in let l := line k c in let p := position k c in
  three_segments true k z i j c =
    if eqb (d <? 2)%nat true
    then one (l =? across k d i)%nat * run d p (along k d i) z + one (l =? across k d j)%nat * run d p z (along k d j)
    else one (l =? z)%nat * run d p (along k d i) (along k d j) := eq_refl.
Example u2turn_means k i j c : u2turn k i j c =
  (1 # 2) * (if (row k i =? row k j)%nat then one_segment true k i j c
             else / rational k * sum (fun z => three_segments true k z i j c) k) +
  (1 # 2) * (if (column k i =? column k j)%nat then one_segment false k i j c
             else / rational k * sum (fun z => three_segments false k z i j c) k) := eq_refl.

(* These paths with their probabilities are one unit flow for each pair of nodes. *)
Theorem u2turn_is_a_routing : forall k, routing (mesh k) (u2turn k).
Proof. exact (u2turn_variant_routing true). Qed.

(* Claim 3: "the worst-case channel load of U2TURN is (2k^2 - k - 1)/4k [...] in odd radix two-dimensional mesh. [...] the
   worst-case channel load of U2TURN is k/2 [...] in even radix two-dimensional mesh." *)
Example least_worst_means k : least_worst k =
  if Nat.even k then rational k / 2 else (rational k - 1) * (2 * rational k + 1) / (4 * rational k) := eq_refl.

Theorem u2turn_claim_3 : forall k, (2 <= k)%nat -> worst_is (mesh k) (u2turn k) (least_worst k).
Proof. exact (u2turn_worst true). Qed.

(* The same without the case y1 = y2 (x1 = x2), that is, with three segments for all pairs, even those of a node with itself;
   and for routings with no more on any channel, such as three segments for all pairs of different nodes. *)
Theorem u2turn_claim_3_three_segments : forall k, (2 <= k)%nat ->
  routing (mesh k) (u2turn_variant false k) /\ worst_is (mesh k) (u2turn_variant false k) (least_worst k).
Proof. exact (fun k H => conj (u2turn_variant_routing false k) (u2turn_worst false k H)). Qed.

Theorem u2turn_claim_3_less : forall s k f, (2 <= k)%nat -> routing (mesh k) f ->
  (forall i j c, (i < k * k)%nat -> (j < k * k)%nat -> (c < channels (mesh k))%nat -> f i j c <= u2turn_variant s k i j c) ->
  worst_is (mesh k) f (least_worst k).
Proof. exact u2turn_worst_below. Qed.

(* Abstract: "For even radix meshes, we prove that U2TURN achieves the optimal worst-case throughput"; for odd ones, III-B:
   "U2TURN achieves the same optimal worst-case throughput as the optimal routing that can be obtained with the method
   proposed in [9]", a linear program for each k. Here for all k: no routing whatsoever has a smaller worst case. *)
Theorem u2turn_is_optimal : forall k, (2 <= k)%nat -> every_worst_at_least (mesh k) any (least_worst k).
Proof. exact mesh_bound. Qed.

(* Abstract: "(k + 1)/(2k + 1) of network capacity for an odd radix two-dimensional mesh", "half of network capacity" for
   even k. Equation (1): the inverse of the network capacity is k/4 for even k, (k^2 - 1)/4k for odd k. *)
Example capacity_means k : capacity_load k =
  if Nat.even k then rational k / 4 else (rational k * rational k - 1) / (4 * rational k) := eq_refl.

Theorem u2turn_as_fraction_of_capacity : forall k, (2 <= k)%nat ->
  capacity_load k / least_worst k == if Nat.even k then 1 / 2 else (rational k + 1) / (2 * rational k + 1).
Proof. exact normalized. Qed.

(* I: "the optimal worst-case throughput for oblivious routing in two-dimensional mesh networks is 1/2 of the network
   capacity when the radix is even". The reason, for any network, set s of nodes and admissible traffic X: the channels
   that leave s carry what X sends from s to the other nodes, so one of them carries its share or more. *)
Example leaves_means G s c : leaves G s c = (s (tail G c) && negb (s (head G c)))%bool := eq_refl.
Example crosses_means G s i j : crosses G s i j = (s (node G i) && negb (s (node G j)))%bool := eq_refl.

Theorem no_routing_beats_a_cut : forall G s X r, proper G -> admissible G X ->
  let out := sum (fun c => one (leaves G s c) * bandwidth G c) (channels G) in
  let sent := sum (fun i => sum (fun j => one (crosses G s i j) * X i j) (terminals G)) (terminals G) in
  0 < out -> r * out <= sent -> every_worst_at_least G any r.
Proof. exact cut_bound. Qed.

(* ================ Towles: Finding Worst-case Permutations for Oblivious Routing Algorithms ================ *)

(* A permutation g of the numbers below n, with its inverse; the traffic that sends all of i to g i. *)
Example permutes_means n g back : permutes n g back =
  (forall i, (i < n)%nat -> (g i < n)%nat /\ (back i < n)%nat /\ back (g i) = i /\ g (back i) = i) := eq_refl.
Example permutation_traffic_means g i j : permutation_traffic g i j = one (j =? g i)%nat := eq_refl.
Example unit_rates_means G : unit_rates G = (forall i, (i < terminals G)%nat ->
  injection G i == 1 /\ ejection G i == 1 /\ forall j, (j < terminals G)%nat -> connected G i j = true) := eq_refl.

(* Theorem 1: "For any oblivious routing algorithm, a permutation matrix can always realize the ideal worst-case throughput."
   For each non-negative w (the loads of one channel by pairs) some permutation is the maximum over all doubly
   substochastic x; and for networks in which all send and receive at rate 1, some permutation on some channel attains the
   worst case r over all admissible traffic and channels. *)
Example doubly_substochastic_means n x : doubly_substochastic n x =
  ((forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= x i j) /\
   (forall i, (i < n)%nat -> sum (fun j => x i j) n <= 1) /\ (forall j, (j < n)%nat ->
     sum (fun i => x i j) n <= 1)) := eq_refl.

Theorem towles_theorem_1_matrices : forall n w, (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= w i j) ->
  exists g back, permutes n g back /\ forall x, doubly_substochastic n x ->
    sum (fun i => sum (fun j => x i j * w i j) n) n <= sum (fun i => w i (g i)) n.
Proof. exact permutation_is_worst. Qed.

Theorem towles_theorem_1 : forall G f, proper G -> unit_rates G -> routing G f -> (0 < channels G)%nat ->
  exists g back c r, permutes (terminals G) g back /\ admissible G (permutation_traffic g) /\ (c < channels G)%nat /\
    worst_at_most G f r /\ load G f (permutation_traffic g) c == r * bandwidth G c.
Proof. exact permutation_attains_worst_case. Qed.

(* 4.1: "a set of focus channels F is formed so that for every channel c in the interconnection network, there exists an
   automorphism g that maps c into c' such that c' in F. The automorphism must also maintain symmetry in the routing
   algorithm, so that gamma_c(pi)_{i,j} = gamma_{c'}(pi)_{g(i),g(j)} for every source-destination pair (i, j)." *)
Example symmetry_means G f g back image : symmetry_of G f g back image =
  (permutes (terminals G) g back /\
   (forall i, (i < terminals G)%nat -> injection G (g i) == injection G i /\ ejection G (g i) == ejection G i) /\
   (forall i j, (i < terminals G)%nat -> (j < terminals G)%nat -> connected G (g i) (g j) = connected G i j) /\
   (forall c, (c < channels G)%nat -> (image c < channels G)%nat /\ bandwidth G (image c) == bandwidth G c) /\
   (forall i j c, (i < terminals G)%nat -> (j < terminals G)%nat -> (c < channels G)%nat ->
     f (g i) (g j) (image c) == f i j c)) := eq_refl.
Example focus_set_means G f F : focus_set G f F =
  (forall c, (c < channels G)%nat -> exists g back image, symmetry_of G f g back image /\ F (image c)) := eq_refl.

(* Theorem 2: "Given a topology, oblivious routing algorithm pi, and their focus channel set F, at least one element of F
   can be loaded as heavily as any other channel in the network for a given traffic pattern." *)
Theorem towles_theorem_2 : forall G f F, focus_set G f F -> forall X c, admissible G X -> (c < channels G)%nat ->
  exists X' c', admissible G X' /\ (c' < channels G)%nat /\ F c' /\ bandwidth G c' == bandwidth G c /\
    load G f X' c' == load G f X c.
Proof. exact focus_as_loaded. Qed.

(* "Using this result, the worst-case channel loading can be expressed as" the maximum over F. *)
Theorem towles_theorem_2_worst_case : forall G f F r, focus_set G f F ->
  (forall X c, admissible G X -> (c < channels G)%nat -> F c -> load G f X c <= r * bandwidth G c) ->
    worst_at_most G f r.
Proof. exact focus_at_most. Qed.

(* ================ Yuan, Nienaber, Duan, Melhem: oblivious routing in fat-trees ================ *)

(* fat_tree k n is FT(m, n) with k = m/2 and n levels. Hosts 0, ..., 2 k^n - 1; the sub-tree of height h with number a, the
   paper's SUBFT(m, h), has the hosts s with s / k^h = a, and k^h channels out of it and into it, of height h, with the
   numbers v from a k^h on. For each height h < n and v < 2 k^n there is one channel up (d = 0), from [lower] to [upper], and
   one down (d = 1), all of bandwidth 1. The lower end is host v, or the switch with the ports v / k * k to v / k * k + k - 1 of
   its sub-tree; the upper end is the switch of the next sub-tree, or the root if h + 1 = n, that joins the v mod k^h-th
   channels of its sub-trees. *)
Example hosts_means k n : hosts k n = (2 * k ^ n)%nat := eq_refl.
Example ends_means k n h v : lower k n 0 v = v /\ lower k n (S h) v = switch k n (S h) (v / k) /\
  upper k n h v = switch k n (S h) ((if S h =? n then 0 else v / k ^ S h * k ^ h) + v mod k ^ h)%nat :=
  conj eq_refl (conj eq_refl eq_refl).
Example switch_means k n h e : switch k n h e = (hosts k n + (h - 1) * (2 * k ^ (n - 1)) + e)%nat := eq_refl.
Example fat_tree_means k n : terminals (fat_tree k n) = hosts k n /\
  channels (fat_tree k n) = (n * 2 * hosts k n)%nat /\
  nodes (fat_tree k n) = (hosts k n + (n - 1) * (2 * k ^ (n - 1)) + k ^ (n - 1))%nat :=
    conj eq_refl (conj eq_refl eq_refl).

Theorem channels_of_the_fat_tree : forall k n, (0 < k)%nat -> (0 < n)%nat -> proper (fat_tree k n) /\
  forall h d v, (d < 2)%nat -> (v < hosts k n)%nat ->
    tail (fat_tree k n) (link k n h d v) = (if (d =? 0)%nat then lower else upper) k n h v /\
    head (fat_tree k n) (link k n h d v) = (if (d =? 0)%nat then upper else lower) k n h v.
Proof. exact (fun k n Hk Hn => conj (fat_tree_proper k n Hk Hn) (link_ends k n)). Qed.

(* A path from i to j climbs to a height x and comes down. The least such height is the greatest one at which i and j are in
   different sub-trees (turn, climbs): that of shortest paths. The path leaves the sub-trees of i by channels whose numbers
   within the sub-tree grow by a digit at each height, the digits of its own number U < k^x, and enters those of j by
   the channels with the same digits. A single-path routing chooses height and number for each pair. *)
Example climbs_means k n i j m : turn k i j 0 = 0%nat /\
  turn k i j (S m) = (if (i / k ^ S m =? j / k ^ S m)%nat then turn k i j m else S m) /\
  climbs k n i j = turn k i j (n - 1) := conj eq_refl (conj eq_refl eq_refl).
Example path_means k n x U i j c : path k n x U i j c =
  if (i =? j)%nat then 0
  else sum (fun h => one (c =? link k n h 0 (i / k ^ h * k ^ h + U / k ^ (x - h)))%nat) (S x) +
       sum (fun h => one (c =? link k n h 1 (j / k ^ h * k ^ h + U / k ^ (x - h)))%nat) (S x) := eq_refl.
Example single_path_means k n U i j c : single_path k n U i j c = path k n (fst (U i j)) (snd (U i j)) i j c := eq_refl.
Example chooses_means k n U : chooses k n U = (forall i j,
  (climbs k n i j <= fst (U i j))%nat /\ (fst (U i j) < n)%nat /\ (snd (U i j) < k ^ fst (U i j))%nat) := eq_refl.
Example all_paths_means k n i j c : all_paths k n i j c =
  / rational (k ^ climbs k n i j) * sum (fun U => path k n (climbs k n i j) U i j c) (k ^ climbs k n i j) := eq_refl.

(* Theorem 1: OMRMN, all shortest paths equally, has "PERF(OMRMN) = 1". PERF is the oblivious ratio of Network.v: the
   largest load of a channel, over its bandwidth, under all traffic that some routing carries within the bandwidths. *)
Theorem yuan_theorem_1 : forall k n, (0 < k)%nat -> (0 < n)%nat ->
  routing (fat_tree k n) (all_paths k n) /\
  ratio_at_most (fat_tree k n) (all_paths k n) 1 /\ ratio_at_least (fat_tree k n) (all_paths k n) 1.
Proof. exact (fun k n Hk Hn => conj (all_paths_routing k n Hk Hn) (all_paths_ratio k n Hk Hn)). Qed.

(* Theorem 3: "Let r be a single path routing algorithm for FT(m, 2), m >= 2, PERF(r) >= sqrt(m/2)." The ratio is at least a
   whole number x with x^2 >= k. *)
Theorem yuan_theorem_3 : forall k U, (0 < k)%nat -> chooses k 2 U ->
  exists x, (k <= x * x)%nat /\ ratio_at_least (fat_tree k 2) (single_path k 2 U) (rational x).
Proof. exact single_path_ratio_2. Qed.

(* Theorem 4: "Let r be a single path routing algorithm for FT(m, 3), PERF(r) >= m/2." *)
Theorem yuan_theorem_4 : forall k U, (0 < k)%nat -> chooses k 3 U ->
  exists x, (k <= x)%nat /\ ratio_at_least (fat_tree k 3) (single_path k 3 U) (rational x).
Proof. exact single_path_ratio_3. Qed.

(* Theorem 5: "Let r be a single path routing algorithm for FT(m, n), PERF(r) >= (m/2)^floor((n-1)/3)." *)
Theorem yuan_theorem_5 : forall k n, (0 < k)%nat -> (0 < n)%nat -> forall U, chooses k n U ->
  exists x, (k ^ ((n - 1) / 3) <= x)%nat /\ ratio_at_least (fat_tree k n) (single_path k n U) (rational x).
Proof. exact single_path_ratio_printed. Qed.

(* Not in the paper, and never less than its Theorems 3 to 5: PERF(r) >= (m/2)^(floor(2n/3)/2). *)
Theorem yuan_strengthened : forall k n, (0 < k)%nat -> (0 < n)%nat -> forall U, chooses k n U ->
  routing (fat_tree k n) (single_path k n U) /\
  exists x, (k ^ (2 * n / 3) <= x * x)%nat /\ ratio_at_least (fat_tree k n) (single_path k n U) (rational x).
Proof. exact (fun k n Hk Hn U HU => conj (single_path_routing k n Hk Hn U HU) (single_path_ratio_best k n Hk Hn U HU)).
Qed.

(* Theorem 6: "When sqrt(m/2) is an integer, PERF(OSRM2) = sqrt(m/2)", with z = sqrt(m/2) and k = z z; Fig. 9: by the root
   "s1/N_s * N_d + d1/N_d", where s1 and d1 are the places of source and destination at their leaves and N_s = N_d = z. *)
Example osrm2_means z i j : osrm2 z i j = let k := (z * z)%nat in
  if (i / k =? j / k)%nat then (0, 0)%nat else (1, (i mod k) / z * z + (j mod k) / z)%nat := eq_refl.

Theorem yuan_theorem_6 : forall z, (0 < z)%nat -> chooses (z * z) 2 (osrm2 z) /\
  ratio_at_most (fat_tree (z * z) 2) (single_path (z * z) 2 (osrm2 z)) (rational z) /\
  ratio_at_least (fat_tree (z * z) 2) (single_path (z * z) 2 (osrm2 z)) (rational z).
Proof. exact (fun z Hz => conj (osrm2_chooses z Hz) (osrm2_ratio z Hz)). Qed.

(* All theorems of this file at once: "Closed under the global context", that is, no axioms and nothing admitted. *)
Definition all_theorems := (
  u2turn_is_a_routing,
  u2turn_claim_3,
  u2turn_claim_3_three_segments,
  u2turn_claim_3_less,
  u2turn_is_optimal,
  u2turn_as_fraction_of_capacity,
  no_routing_beats_a_cut,
  towles_theorem_1_matrices,
  towles_theorem_1,
  towles_theorem_2,
  towles_theorem_2_worst_case,
  channels_of_the_fat_tree,
  yuan_theorem_1,
  yuan_theorem_3,
  yuan_theorem_4,
  yuan_theorem_5,
  yuan_strengthened,
  yuan_theorem_6).
Print Assumptions all_theorems.
