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
  unit : N;                          (* unit D *)
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

Definition routing_of (d : claim) (i j c : nat) : Q := ratio (entry_of (nth c (flows d) Done) i j) (unit d).

Definition traffic_of (x : matrix) (t : N) (i j : nat) : Q := ratio (entry_of x i j) t.

(* ---- The network and the routing ---- *)

Definition count {A} (l : list A) : N := N.of_nat (length l).

Definition check_network (d : claim) : bool :=
  let n := count (ends d) in
  (1 <=? unit d) &&
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
  let all := arrivals (unit d) v 0 (ends d) Done in
  fold_right
    (fun x rest => map2 (fun row l => match row with Done => l | _ => to_events (signed (fst x)) row :: l end)
                     (along Done 0 (ends d) (snd x)) rest)
    (map2 (fun t missing => match missing with Done => all | _ => arrivals (unit d) v 0 (ends d) missing end
                            :: departures (unit d) n v t missing)
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
  all2 (fun c wb => q * price_bound d (prices_at (ends d) vectors maps (snd wb)) (fst wb) <=? p * width c * unit d)
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
  (q * product (ends d) (nth (N.to_nat c) (flows d) Done) x =? p * width (nth (N.to_nat c) (lines d) no_channel) * unit d * t).

Definition check_attains (d : claim) (p q c t : N) (x : matrix) : bool :=
  check_network d && (1 <=? q) && check_admissible d t x && loaded d p q c t x.
