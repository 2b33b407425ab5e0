(* The executable checker: what a closed claim is once it is read, what it means, and one function for each kind of
   statement. Nothing is proved here; Soundness.v proves each function right, Statements.v lists the theorems. *)
Require Import ZArith NArith QArith List Bool FMapPositive.
From Obliv Require Import Network Runs.
Import ListNotations.
Open Scope N_scope.

Record channel_line := Channel { from : N; to : N; width : N }.
Record terminal_line := Terminal { at_node : N; sends : N; takes : N }.

(* A closed claim without its statements. Row numbers are already replaced by the rows. *)
Record claim := Claim {
  size : N;                          (* nodes V *)
  lines : list channel_line;         (* channel TAIL HEAD BANDWIDTH *)
  ends : list terminal_line;         (* terminal NODE INJECTION EJECTION *)
  whole : N;                         (* unit D *)
  flows : list matrix;               (* flow: w_c(i,j) in units of 1/D *)
  lost : matrix                      (* pairs with a value > 0 are not connected *)
}.

Definition no_channel := Channel 0 0 0.
Definition no_terminal := Terminal 0 0 0.

(* ---- What a claim means ---- *)

Definition rational (n : N) : Q := inject_Z (Z.of_N n).
Definition ratio (p q : N) : Q := (rational p / rational q)%Q.

Definition channel_of (d : claim) (c : nat) : channel_line := nth c (lines d) no_channel.
Definition terminal_of (d : claim) (i : nat) : terminal_line := nth i (ends d) no_terminal.
Definition entry_of (m : matrix) (i j : nat) : N := entry m (N.of_nat i) (N.of_nat j).

Definition network_of (d : claim) : network := {|
  nodes := N.to_nat (size d);
  channels := length (lines d);
  tail := fun c => N.to_nat (from (channel_of d c));
  head := fun c => N.to_nat (to (channel_of d c));
  bandwidth := fun c => rational (width (channel_of d c));
  terminals := length (ends d);
  node := fun i => N.to_nat (at_node (terminal_of d i));
  injection := fun i => rational (sends (terminal_of d i));
  ejection := fun j => rational (takes (terminal_of d j));
  connected := fun i j => entry_of (lost d) i j =? 0
|}.

Definition routing_of (d : claim) (i j c : nat) : Q := ratio (entry_of (nth c (flows d) Done) i j) (whole d).

Definition traffic_of (x : matrix) (t : N) (i j : nat) : Q := ratio (entry_of x i j) t.

(* ---- The network and the routing ---- *)

Definition count {A} (l : list A) : N := N.of_nat (length l).

Definition check_network (d : claim) : bool :=
  let n := count (ends d) in
  (1 <=? whole d) &&
  forallb (fun c => (from c <? size d) && (to c <? size d) && (1 <=? width c)) (lines d) &&
  forallb (fun t => at_node t <? size d) (ends d) &&
  ordered_matrix n n (lost d) &&
  forallb (ordered_matrix n n) (flows d).

(* For each node the flows of its channels: true for those that leave it, false for those that enter it. *)
Definition adjacency := PositiveMap.t (list (bool * matrix)).
Definition incident (a : adjacency) (v : N) : list (bool * matrix) :=
  match PositiveMap.find (N.succ_pos v) a with Some l => l | None => [] end.
Definition attach (v : N) (x : bool * matrix) (a : adjacency) : adjacency :=
  PositiveMap.add (N.succ_pos v) (x :: incident a v) a.

Fixpoint adjacent (cs : list channel_line) (fs : list matrix) (a : adjacency) : adjacency :=
  match cs, fs with
  | c :: cs', m :: fs' => adjacent cs' fs' (attach (from c) (true, m) (attach (to c) (false, m) a))
  | _, _ => a
  end.

(* The pairs (i, j) that end at node v: D at each place j, where not lost. *)
Fixpoint arrivals (unit v pos : N) (l : list terminal_line) (missing : steps) : events :=
  match l with
  | [] => NoEvent
  | t :: l' =>
    let rest := arrivals unit v (N.succ pos) l' missing in
    if (at_node t =? v) && (value_at 0 missing pos =? 0)
    then Event pos (Z.of_N unit) (Event (N.succ pos) (- Z.of_N unit) rest) else rest
  end.

(* The pairs (i, j) that begin at node v: -D at all places j, where not lost. *)
Definition departures (unit n v : N) (t : terminal_line) (missing : steps) : list events :=
  if at_node t =? v
  then [Event 0 (- Z.of_N unit) (Event n (Z.of_N unit) NoEvent);
        to_events (fun x => if x =? 0 then 0%Z else Z.of_N unit) missing]
  else [].

Definition signed (out : bool) (x : N) : Z := if out then Z.of_N x else (- Z.of_N x)%Z.

(* At node v, for each source i: the events of out - in - (D for pairs that begin here) + (D for pairs that end here),
   as functions of the destination. *)
Definition balance (d : claim) (n v : N) (a : adjacency) : list (list events) :=
  let all := arrivals (whole d) v 0 (ends d) Done in
  fold_right
    (fun x rest => map2 (fun row l => match row with Done => l | _ => to_events (signed (fst x)) row :: l end)
                     (along Done 0 (ends d) (snd x)) rest)
    (map2 (fun t missing => match missing with Done => all | _ => arrivals (whole d) v 0 (ends d) missing end
                            :: departures (whole d) n v t missing)
       (ends d) (along Done 0 (ends d) (lost d)))
    (incident a v).

Fixpoint all_from (pos : N) (n : nat) (test : N -> bool) : bool :=
  match n with O => true | S k => test pos && all_from (N.succ pos) k test end.

Definition conserved (d : claim) : bool :=
  let n := count (ends d) in
  let a := adjacent (lines d) (flows d) (PositiveMap.empty _) in
  all_from 0 (N.to_nat (size d))
    (fun v => forallb (fun l => vanishes (merge_all (length l) l)) (balance d n v a)).

(* No value of one step function where the other has one. *)
Fixpoint clear_of (first last : N) (s : steps) : bool :=
  match s with
  | Done => true
  | Run f c v r => ((v =? 0) || (f + c <=? first) || (last <=? f)) && clear_of first last r
  end.
Fixpoint apart (a b : steps) : bool :=
  match a with Done => true | Run f c v r => ((v =? 0) || clear_of f (f + c) b) && apart r b end.

Definition outside_lost (d : claim) (m : matrix) : bool :=
  match lost d with
  | Done => true
  | _ => all2 apart (along Done 0 (ends d) (lost d)) (along Done 0 (ends d) m)
  end.

Definition check_routing (d : claim) : bool :=
  check_network d && (count (lines d) =? count (flows d)) && conserved d && forallb (outside_lost d) (flows d).

(* ---- most P Q: prices ---- *)

Record prices := Prices {
  price_vectors : list steps;       (* price: over destinations, in units of 1/D *)
  price_maps : list (list N);       (* map: of terminals into terminals *)
  price_words : list (N * list N)   (* bound K m_1 m_2 ...: one for each channel *)
}.

(* The numbers pos, pos+1, ..., one for each element of l. *)
Fixpoint numbers {A} (pos : N) (l : list A) : list N :=
  match l with [] => [] | _ :: l' => pos :: numbers (N.succ pos) l' end.

(* v(j) = price_K (m_1 (m_2 (... j))): the last map first. *)
Definition prices_at (ends : list terminal_line) (vectors : tree steps) (maps : tree (tree N)) (b : N * list N) : list N :=
  let v := along 0 0 ends (get Done vectors (fst b)) in
  match snd b with
  | [] => v
  | word =>
    let at_v := array 0 v in
    map (get 0 at_v) (fold_right (fun m l => map (get 0 (get Void maps m)) l) (numbers 0 ends) word)
  end.

(* The largest w - v where a row w is above the prices v, 0 if nowhere. *)
Fixpoint peak (v : tree N) (w : steps) : N :=
  match w with Done => 0 | Run f c x r => N.max (x - lowest v f (f + c)) (peak v r) end.

Definition dot {A} (weight : A -> N) (l : list A) (s : steps) : N :=
  nsum (map2 (fun a x => weight a * x) l (along 0 0 l s)).

(* sum_i INJECTION_i * u_i + sum_j EJECTION_j * v_j, with the least u for given v *)
Definition price_bound (d : claim) (v : list N) (w : matrix) : N :=
  let t := tree_of N.min 0 v in
  dot sends (ends d) (map_runs (peak t) w) + nsum (map2 (fun t x => takes t * x) (ends d) v).

Definition check_prices (d : claim) (x : prices) : bool :=
  let n := count (ends d) in
  let maps := count (price_maps x) in
  forallb (ordered 0 n) (price_vectors x) &&
  forallb (fun m => (count m =? n) && forallb (fun t => t <? n) m) (price_maps x) &&
  forallb (fun b => (fst b <? count (price_vectors x)) && forallb (fun m => m <? maps) (snd b)) (price_words x).

Definition check_most (d : claim) (p q : N) (x : prices) : bool :=
  let vectors := array Done (price_vectors x) in
  let maps := array Void (map (array 0) (price_maps x)) in
  check_network d && (1 <=? q) && check_prices d x && (count (lines d) =? count (price_words x)) &&
  (count (lines d) =? count (flows d)) &&
  all2 (fun c wb => q * price_bound d (prices_at (ends d) vectors maps (snd wb)) (fst wb) <=? p * width c * whole d)
    (lines d) (combine (flows d) (price_words x)).

(* ---- attains P Q c T ---- *)

Fixpoint runs_total (s : steps) : N := match s with Done => 0 | Run f c v r => c * v + runs_total r end.

(* Sums of the columns of a matrix, over the places of l. *)
Fixpoint columns {A} (l : list A) (x : matrix) : list N :=
  match x with
  | Done => map (fun _ => 0) l
  | Run f c row r => map2 (fun v s => c * v + s) (along 0 0 l row) (columns l r)
  end.

Definition check_admissible (d : claim) (t : N) (x : matrix) : bool :=
  let n := count (ends d) in
  (1 <=? t) && ordered_matrix n n x &&
  all2 (fun e row => runs_total row <=? t * sends e) (ends d) (along Done 0 (ends d) x) &&
  all2 (fun e s => s <=? t * takes e) (ends d) (columns (ends d) x) &&
  outside_lost d x.

(* sum_j w_j x_j, and sum_ij w_ij x_ij *)
Definition row_product {A} (l : list A) (w x : steps) : N :=
  match w, x with
  | Done, _ => 0
  | _, Done => 0
  | _, _ => nsum (map2 N.mul (along 0 0 l w) (along 0 0 l x))
  end.
Definition product {A} (l : list A) (w x : matrix) : N :=
  nsum (map2 (row_product l) (along Done 0 l w) (along Done 0 l x)).

Definition loaded (d : claim) (p q c t : N) (x : matrix) : bool :=
  (c <? count (lines d)) && (count (lines d) =? count (flows d)) &&
  (q * product (ends d) (nth (N.to_nat c) (flows d) Done) x =? p * width (nth (N.to_nat c) (lines d) no_channel) * whole d * t).

Definition check_attains (d : claim) (p q c t : N) (x : matrix) : bool :=
  check_network d && (1 <=? q) && check_admissible d t x && loaded d p q c t x.

(* ---- least P Q: every routing ---- *)

Record lower_bound := LowerBound {
  adversaries : list (N * (N * matrix));  (* adversary c L MATRIX: channel, weight, traffic MATRIX / L *)
  allowed : option (list matrix);         (* allowed: for each source, by destination, a row over channels *)
  potentials : list matrix                (* potential: for each source, by destination, a row over nodes *)
}.

(* Weight and traffic for each channel in order; weight 0 without an adversary. *)
Fixpoint spread {A} (pos : N) (l : list A) (adversaries : list (N * (N * matrix))) : list (N * matrix) :=
  match l with
  | [] => []
  | _ :: l' =>
    match adversaries with
    | (c, x) :: rest => if c =? pos then x :: spread (N.succ pos) l' rest else (0, Done) :: spread (N.succ pos) l' adversaries
    | [] => (0, Done) :: spread (N.succ pos) l' []
    end
  end.

(* What channels a flow of pair (i, j) may use: all of them unless the bound says which. *)
Definition allowed_row (d : claim) (x : lower_bound) : steps :=
  match allowed x with None => Run 0 (count (lines d)) 1 Done | Some _ => Done end.
Definition allowed_rows (d : claim) (x : lower_bound) : list matrix :=
  match allowed x with None => map (fun _ => Done) (ends d) | Some l => l end.

Fixpoint add_all (l : list (option N)) : option N :=
  match l with
  | [] => Some 0
  | Some a :: l' => match add_all l' with Some b => Some (a + b) | None => None end
  | None :: _ => None
  end.

(* The difference of potential of pair (i, j), if the potential rises by no more than the length over each allowed channel;
   0 for pairs that are lost, or whose potential is 0 everywhere. *)
Definition pair_gain (d : claim) (places : list N) (rows : list steps) (missing : steps) (source : terminal_line)
    (to_j : N * terminal_line) (given : steps * steps) : option N :=
  match fst given with
  | Done => Some 0
  | _ =>
    if value_at 0 missing (fst to_j) =? 0 then
      let potential := array 0 (along 0 0 places (fst given)) in
      if all2 (fun c x => (snd x =? 0) || (get 0 potential (to c) <=? get 0 potential (from c) + value_at 0 (fst x) (fst to_j)))
           (lines d) (combine rows (along 0 0 (lines d) (snd given)))
      then Some (get 0 potential (at_node (snd to_j)) - get 0 potential (at_node source))
      else None
    else Some 0
  end.

Definition source_gain (d : claim) (places : list N) (default : steps) (weights : list (N * matrix))
    (from_i : N * terminal_line) (given : matrix * matrix) : option N :=
  let rows := map (fun x => value_at Done (snd x) (fst from_i)) weights in
  let missing := value_at Done (lost d) (fst from_i) in
  add_all (map2 (pair_gain d places rows missing (snd from_i)) (combine (numbers 0 (ends d)) (ends d))
             (combine (along Done 0 (ends d) (fst given)) (along default 0 (ends d) (snd given)))).

Definition all_nodes (d : claim) : list N := repeat 0 (N.to_nat (size d)).

Definition check_least (d : claim) (p q : N) (x : lower_bound) : bool :=
  let n := count (ends d) in
  let weights := spread 0 (lines d) (adversaries x) in
  let total := nsum (map2 (fun c x => width c * fst x) (lines d) weights) in
  check_network d && (1 <=? q) && (1 <=? total) &&
  forallb (fun x => match snd x with Done => fst x =? 0 | _ => false end || check_admissible d (fst x) (snd x)) weights &&
  (count (potentials x) =? n) && forallb (ordered_matrix n (size d)) (potentials x) &&
  (count (allowed_rows d x) =? n) && forallb (ordered_matrix n (count (lines d))) (allowed_rows d x) &&
  match add_all (map2 (source_gain d (all_nodes d) (allowed_row d x) weights) (combine (numbers 0 (ends d)) (ends d))
                   (combine (potentials x) (allowed_rows d x))) with
  | Some gain => p * total <=? q * gain
  | None => false
  end.

(* No flow of the claim uses a channel that the bound does not allow to its pair. *)
Definition pair_keeps (rows : list steps) (to_j : N) (allowed : steps) : bool :=
  all2 (fun row a => (value_at 0 row to_j =? 0) || negb (a =? 0)) rows (along 0 0 rows allowed).
Definition source_keeps (d : claim) (from_i : N) (allowed : matrix) : bool :=
  all_at (pair_keeps (map (fun w => value_at Done w from_i) (flows d))) 0 (along Done 0 (ends d) allowed).
Definition check_within (d : claim) (x : lower_bound) : bool :=
  match allowed x with
  | None => true
  | Some l => (count l =? count (ends d)) && (count (flows d) <=? count (lines d)) &&
              forallb (ordered_matrix (count (ends d)) (count (lines d))) l && all_at (source_keeps d) 0 l
  end.

(* ---- Lengths of channels and potentials by source ---- *)

(* Rows over nodes as arrays. *)
Definition distances (d : claim) (x : matrix) : runs (tree N) := map_runs (fun row => array 0 (along 0 0 (all_nodes d) row)) x.

(* No potential rises by more than the length. *)
Definition feasible (d : claim) (lengths : list N) (x : runs (tree N)) : bool :=
  all_values (fun p => all2 (fun c l => get 0 p (to c) <=? get 0 p (from c) + l) (lines d) lengths) x.

Definition check_lengths (d : claim) (lengths : steps) (x : matrix) : bool :=
  ordered 0 (count (lines d)) lengths && ordered_matrix (count (ends d)) (size d) x &&
  feasible d (along 0 0 (lines d) lengths) (distances d x).

(* ---- ratio P Q: lengths and distances for each channel ---- *)

(* w_c(i, j) M <= D (difference of potential), for all j but i *)
Definition covered (d : claim) (m : N) (from_i : N * terminal_line) (given : steps * tree N) : bool :=
  match fst given with
  | Done => true
  | _ =>
    let start := get 0 (snd given) (at_node (snd from_i)) in
    all2 (fun j w => (w =? 0) || (fst j =? fst from_i) || (w * m <=? whole d * (get 0 (snd given) (at_node (snd j)) - start)))
      (combine (numbers 0 (ends d)) (ends d)) (along 0 0 (ends d) (fst given))
  end.

Definition check_ratio_channel (d : claim) (p q : N) (c : channel_line) (w : matrix) (given : N * (steps * matrix)) : bool :=
  let m := fst given in let lengths := fst (snd given) in let x := snd (snd given) in
  (1 <=? m) && check_lengths d lengths x &&
  (q * dot width (lines d) lengths <=? p * width c * m) &&
  all2 (covered d m) (combine (numbers 0 (ends d)) (ends d))
    (combine (along Done 0 (ends d) w) (along Void 0 (ends d) (distances d x))).

Definition check_ratio (d : claim) (p q : N) (x : list (N * (steps * matrix))) : bool :=
  check_network d && (1 <=? q) && (count (lines d) =? count (flows d)) && (count (lines d) =? count x) &&
  all2 (fun c wx => check_ratio_channel d p q c (fst wx) (snd wx)) (lines d) (combine (flows d) x).

(* ---- carried, ratio-attained, blocked: one traffic ---- *)

(* For source i: at each node out - in of its flow, less what it sends to others and plus what arrives, as masses at nodes. *)
Definition mass (v : N) (x : Z) : events := Event v x NoEvent.

Definition carrier_masses (d : claim) (source : terminal_line) (x g : steps) : list events :=
  fold_right (fun cg l => if snd cg =? 0 then l else
      mass (from (fst cg)) (Z.of_N (snd cg)) :: mass (to (fst cg)) (- Z.of_N (snd cg)) :: l) []
    (combine (lines d) (along 0 0 (lines d) g)) ++
  fold_right (fun tx l => if snd tx =? 0 then l else
      mass (at_node source) (- Z.of_N (snd tx)) :: mass (at_node (fst tx)) (Z.of_N (snd tx)) :: l) []
    (combine (ends d) (along 0 0 (ends d) x)).

Definition check_carried (d : claim) (p q t : N) (x g : matrix) : bool :=
  let n := count (ends d) in
  check_network d && (1 <=? q) && (1 <=? t) && ordered_matrix n n x && ordered_matrix n (count (lines d)) g &&
  all2 (fun s xg => let l := carrier_masses d s (fst xg) (snd xg) in vanishes (merge_all (length l) l))
    (ends d) (combine (along Done 0 (ends d) x) (along Done 0 (ends d) g)) &&
  all2 (fun c s => q * s <=? p * width c * t) (lines d) (columns (lines d) g).

Definition no_self (d : claim) (x : matrix) : bool :=
  all2 (fun i row => value_at 0 row i =? 0) (numbers 0 (ends d)) (along Done 0 (ends d) x).

Definition check_ratio_attained (d : claim) (p q c t : N) (x g : matrix) : bool :=
  (1 <=? q) && check_carried d 1 1 t x g && no_self d x && loaded d p q c t x.

(* sum_j x_j (difference of potential) *)
Definition row_distance (d : claim) (source : terminal_line) (given : steps * tree N) : N :=
  match fst given with
  | Done => 0
  | _ =>
    let start := get 0 (snd given) (at_node source) in
    nsum (map2 (fun t x => if x =? 0 then 0 else x * (get 0 (snd given) (at_node t) - start)) (ends d) (along 0 0 (ends d) (fst given)))
  end.

Definition check_blocked (d : claim) (p q t : N) (x : matrix) (lengths : steps) (y : matrix) : bool :=
  let n := count (ends d) in
  let total := dot width (lines d) lengths in
  check_network d && (1 <=? q) && (1 <=? t) && ordered_matrix n n x && check_lengths d lengths y && (1 <=? total) &&
  (p * t * total <=?
   q * nsum (map2 (row_distance d) (ends d) (combine (along Done 0 (ends d) x) (along Void 0 (ends d) (distances d y))))).

(* ---- cut B ---- *)

(* The bandwidth of channels from side one (value > 0) to the other, and back. *)
Definition crossing (d : claim) (side : steps) : N * N :=
  let at_side := array 0 (along 0 0 (all_nodes d) side) in
  let one_side v := negb (get 0 at_side v =? 0) in
  (nsum (map (fun c => if one_side (from c) && negb (one_side (to c)) then width c else 0) (lines d)),
   nsum (map (fun c => if one_side (to c) && negb (one_side (from c)) then width c else 0) (lines d))).

Definition check_cut (d : claim) (b : N) (side : steps) : bool :=
  let at_side := array 0 (along 0 0 (all_nodes d) side) in
  let ones := nsum (map (fun t => if get 0 at_side (at_node t) =? 0 then 0 else 1) (ends d)) in
  check_network d && ordered 0 (size d) side && (2 * ones <=? count (ends d) + 1) && (count (ends d) <=? 2 * ones + 1) &&
  (fst (crossing d side) =? b).

(* ---- failure: the claim with other flows and other lost pairs ---- *)

Fixpoint replace (pos : N) (l : list matrix) (changed : list (N * matrix)) : list matrix :=
  match l with
  | [] => []
  | m :: l' =>
    match changed with
    | (c, x) :: rest => if c =? pos then x :: replace (N.succ pos) l' rest else m :: replace (N.succ pos) l' changed
    | [] => l
    end
  end.

Definition failed (d : claim) (missing : matrix) (changed : list (N * matrix)) : claim :=
  Claim (size d) (lines d) (ends d) (whole d) (replace 0 (flows d) changed) missing.

Definition check_failure (d : claim) (removed : steps) (missing : matrix) (changed : list (N * matrix)) : bool :=
  let e := failed d missing changed in
  check_routing e && ordered 0 (count (lines d)) removed &&
  all2 (fun r m => (r =? 0) || all_values (all_values (fun v => v =? 0)) m) (along 0 0 (lines d) removed) (flows e).
