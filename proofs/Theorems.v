(* What is proved about the papers' results, for all sizes at once, statements only: each proof is the name of a theorem of
   another file. To read: Network.v up to "Sums" says what networks, routings, admissible traffic and the worst case
   are; Mesh.v has the k x k mesh; U2turn.v its routing, on the first page. The quotations are from the papers. *)
Require Import QArith Bool.
From Obliv Require Import Network Mesh Cut Blocks U2turn Optimal Focus.
Open Scope Q_scope.

(* ---- U2TURN: "uniform 2-turn" routing on two-dimensional meshes ---- *)

(* III-A: "choose at uniform random an X position x*, and route in X-dimension from source node (x1, y1) to (x*, y1)";
   "route from (x*, y1) to (x*, y2) in Y-dimension"; "route from (x*, y2) to destination node (x2, y2) in X-dimension".
   "When y1 = y2, it just needs one-segment routing". "U2TURN routing consists of two parts: XYX-Routing with 0.5
   probability and YXY-Routing with also 0.5 probability." These paths, with their probabilities, are one unit flow for
   each pair of nodes; the second theorem is on the routing without the case y1 = y2 (x1 = x2). *)
Theorem u2turn_is_a_routing : forall k, routing (mesh k) (u2turn k).
Proof. exact (u2turn_variant_routing true). Qed.

Theorem u2turn_without_degenerate_case_is_a_routing : forall k, routing (mesh k) (u2turn_variant false k).
Proof. exact (u2turn_variant_routing false). Qed.

(* Claim 3: "the worst-case channel load of U2TURN is 2k^2-k-1 / 4k [...] in odd radix two-dimensional mesh. [...] the
   worst-case channel load of U2TURN is k/2 [...] in even radix two-dimensional mesh."
   least_worst k is k/2 for even k, (k - 1)(2k + 1)/(4k) = (2k^2 - k - 1)/(4k) for odd k. *)
Theorem u2turn_claim_3 : forall k, (2 <= k)%nat -> worst_is (mesh k) (u2turn k) (least_worst k).
Proof. exact (u2turn_worst true). Qed.

Theorem u2turn_claim_3_without_degenerate_case : forall k, (2 <= k)%nat ->
  worst_is (mesh k) (u2turn_variant false k) (least_worst k).
Proof. exact (u2turn_worst false). Qed.

(* Abstract: "U2TURN achieves the optimal worst-case throughput, namely, half of network capacity" for even k; III-B: for
   odd k "U2TURN achieves the same optimal worst-case throughput as the optimal routing", there from linear programs for
   k up to 13. Here: no routing whatsoever, on paths of any length, has less. *)
Theorem u2turn_is_optimal : forall k, (2 <= k)%nat -> every_worst_at_least (mesh k) any (least_worst k).
Proof. exact mesh_bound. Qed.

(* Abstract: "a new worst-case throughput bound of (k + 1)/(2k + 1) of network capacity for an odd radix two-dimensional
   mesh"; "half of network capacity" for even k. Network capacity is the inverse of capacity_load, equation (1): k/4 for
   even k, (k^2 - 1)/(4k) for odd k. *)
Theorem u2turn_as_fraction_of_capacity : forall k, (2 <= k)%nat ->
  capacity_load k / least_worst k == if Nat.even k then 1 / 2 else (rational k + 1) / (2 * rational k + 1).
Proof. exact normalized. Qed.

(* I: "the optimal worst-case throughput for oblivious routing in two-dimensional mesh networks is 1/2 of the network
   capacity when the radix is even". What lies behind it, for any network, set s of nodes and admissible traffic X:
   channels that leave s carry what X sends from s to other nodes, so one of them has the average or more. *)
Theorem no_routing_beats_a_cut : forall G s X r, proper G -> admissible G X ->
  let out := sum (fun c => one (leaves G s c) * bandwidth G c) (channels G) in
  let sent := sum (fun i => sum (fun j => one (crosses G s i j) * X i j) (terminals G)) (terminals G) in
  0 < out -> r * out <= sent -> every_worst_at_least G any r.
Proof. exact cut_bound. Qed.

(* ---- Towles: Finding Worst-case Permutations for Oblivious Routing Algorithms ---- *)

(* Theorem 2: "Given a topology, oblivious routing algorithm pi, and their focus channel set F, at least one element of F
   can be loaded as heavily as any other channel in the network for a given traffic pattern." 4.1: "for every channel c in
   the interconnection network, there exists an automorphism g that maps c into c' such that c' in F. The automorphism must
   also maintain symmetry in the routing algorithm". Then the worst case is that over F. *)
Theorem towles_theorem_2 : forall G f F, focus_set G f F -> forall X c, admissible G X -> (c < channels G)%nat ->
  exists X' c', admissible G X' /\ (c' < channels G)%nat /\ F c' /\ bandwidth G c' == bandwidth G c /\
    load G f X' c' == load G f X c.
Proof. exact focus_as_loaded. Qed.

Theorem towles_theorem_2_worst_case : forall G f F r, focus_set G f F ->
  (forall X c, admissible G X -> (c < channels G)%nat -> F c -> load G f X c <= r * bandwidth G c) -> worst_at_most G f r.
Proof. exact focus_at_most. Qed.

(* All of them at once: closed under the global context, that is, no axioms. *)
Definition all_theorems := (u2turn_is_a_routing,
  u2turn_without_degenerate_case_is_a_routing,
  u2turn_claim_3,
  u2turn_claim_3_without_degenerate_case,
  u2turn_is_optimal,
  u2turn_as_fraction_of_capacity,
  no_routing_beats_a_cut,
  towles_theorem_2,
  towles_theorem_2_worst_case).
Print Assumptions all_theorems.
