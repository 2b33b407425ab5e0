(* obliv-check FILE: reads a closed claim and asks the extracted checker. This file is trusted, not proved: it turns
   lines into the data of Checker.v, replaces row numbers by rows, and prints what a true answer of the checker means. *)
module Whole = Z
open Checker
module Z = Whole

exception Malformed of int * string
exception Unproved of int * string * string (* line, statement, reason *)

(* ---- SHA-256 (FIPS 180-4) of what is read ---- *)
let roots power = (* the first 32 bits of the fractional parts of roots of the first primes *)
  let rec primes n found = if List.length found = 64 then List.rev found
    else primes (n + 1) (if List.exists (fun p -> n mod p = 0) found then found else n :: found) in
  List.map (fun p -> Z.to_int (Z.logand (Z.root (Z.shift_left (Z.of_int p) (32 * power)) power) (Z.of_int 0xffffffff))) (primes 2 [])
let constants = Array.of_list (roots 3)
let hash = Array.sub (Array.of_list (roots 2)) 0 8
let schedule = Array.make 64 0
let compress bytes at =
  let turn x n = ((x lsr n) lor (x lsl (32 - n))) land 0xffffffff in
  for t = 0 to 15 do schedule.(t) <- Int32.to_int (Bytes.get_int32_be bytes (at + 4 * t)) land 0xffffffff done;
  for t = 16 to 63 do
    let x = schedule.(t - 15) and y = schedule.(t - 2) in
    schedule.(t) <- (schedule.(t - 16) + (turn x 7 lxor turn x 18 lxor (x lsr 3)) + schedule.(t - 7)
                     + (turn y 17 lxor turn y 19 lxor (y lsr 10))) land 0xffffffff
  done;
  let rec rounds t a b c d e f g h =
    if t = 64 then List.iteri (fun k x -> hash.(k) <- (hash.(k) + x) land 0xffffffff) [a; b; c; d; e; f; g; h]
    else
      let t1 = h + (turn e 6 lxor turn e 11 lxor turn e 25) + ((e land f) lxor (lnot e land g)) + constants.(t) + schedule.(t)
      and t2 = (turn a 2 lxor turn a 13 lxor turn a 22) + ((a land b) lxor (a land c) lxor (b land c)) in
      rounds (t + 1) ((t1 + t2) land 0xffffffff) a b c ((d + t1) land 0xffffffff) e f g in
  rounds 0 hash.(0) hash.(1) hash.(2) hash.(3) hash.(4) hash.(5) hash.(6) hash.(7)

(* ---- Lines: a word and natural numbers ---- *)
let limit = 1 lsl 29 (* bytes after decompression *)
let channel = ref stdin
let intact = ref (fun () -> true) (* whether gzip has nothing to complain of *)
let buffer = Bytes.create 65536
let filled = ref 0
let next = ref 0
let bytes_read = ref 0
let number = ref 1 (* of the current line *)
let fail reason = raise (Malformed (!number, reason))

(* Whole blocks are hashed when they are read; what is left of the last is closed at the end. *)
let rec fill at = let n = input !channel buffer at (65536 - at) in if n = 0 then at else fill (at + n)
let close n =
  let tail = Bytes.make (if n mod 64 < 56 then 64 else 128) '\000' in
  Bytes.blit buffer (n - n mod 64) tail 0 (n mod 64);
  Bytes.set tail (n mod 64) '\128';
  Bytes.set_int64_be tail (Bytes.length tail - 8) (Int64.of_int (8 * !bytes_read));
  for k = 0 to Bytes.length tail / 64 - 1 do compress tail (64 * k) done
let ended = ref false
let refill () =
  if not !ended then begin
    filled := fill 0; next := 0; bytes_read := !bytes_read + !filled;
    if !bytes_read > limit then fail "the file has more than 536,870,912 bytes";
    for k = 0 to !filled / 64 - 1 do compress buffer (64 * k) done;
    if !filled < 65536 then (ended := true; close !filled)
  end
let peek () = if !next = !filled then refill (); if !next = !filled then '\000' else Bytes.unsafe_get buffer !next
let at_end () = ignore (peek ()); !next = !filled

let rec word_from b = match peek () with
  | 'a'..'z' | '-' as c -> Buffer.add_char b c; incr next; word_from b
  | _ -> Buffer.contents b
let digits = Buffer.create 20
let natural () =
  Buffer.clear digits;
  let rec go value count = match peek () with
    | '0'..'9' as c -> incr next; if count >= 18 then Buffer.add_char digits c;
      if count < 18 then go (10 * value + Char.code c - 48) (count + 1)
      else if count < 4000 then go value (count + 1) else fail "a number has more than 4,000 digits"
    | _ -> value, count in
  let first = peek () in
  let value, count = go 0 0 in
  if count = 0 then fail "a number (decimal digits after a single blank) is missing";
  if first = '0' && count > 1 then fail "a number begins with 0";
  if count <= 18 then Z.of_int value
  else Z.add (Z.mul (Z.of_int value) (Z.pow (Z.of_int 10) (count - 18))) (Z.of_string (Buffer.contents digits))

(* One line ahead: its word, its numbers (last first while read), its text if it is free. *)
let word = ref ""
let numbers : Z.t list ref = ref []
let text = ref ""
let read_line () =
  if at_end () then (word := ""; numbers := [])
  else begin
    word := word_from (Buffer.create 12);
    if !word = "about" then begin
      let b = Buffer.create 80 in
      let rec go () = match peek () with ' '..'~' as c -> Buffer.add_char b c; incr next; go () | _ -> () in
      go (); text := Buffer.contents b; numbers := []
    end else begin
      let rec go found = match peek () with ' ' -> incr next; go (natural () :: found) | _ -> found in
      numbers := List.rev (go [])
    end;
    match peek () with
    | '\n' -> incr next
    | '\000' when at_end () && !word = "end" -> ()
    | '\000' when at_end () -> fail "the file ends within a line"
    | c -> fail (Printf.sprintf "byte %d is not allowed here" (Char.code c))
  end
let advance () = incr number; read_line ()

(* ---- Lines into the data of the checker ---- *)
let positive z what = if Z.sign z = 0 then fail (what ^ " has to be at least 1")
let below z bound what = if Z.geq z bound then fail (Printf.sprintf "%s %s is not below %s" what (Z.to_string z) (Z.to_string bound))
let expect w = if !word <> w then fail (Printf.sprintf "a line '%s' is expected" w)

(* Runs from triples; value turns the third number into what the run holds. *)
let runs bound value =
  let rec go last = function
    | [] -> Done
    | first :: count :: x :: rest ->
      if Z.lt first last then fail "runs do not ascend";
      positive count "the count of a run";
      let stop = Z.add first count in
      (match bound with Some b when Z.gt stop b -> fail (Printf.sprintf "a run ends at %s, beyond %s" (Z.to_string stop) (Z.to_string b)) | _ -> ());
      let v = value x in
      Run (first, count, v, go stop rest)
    | _ -> fail "runs are triples of numbers" in
  go Z.zero

let rows = ref [||]
let row_ends = ref [||]
let row_count = ref 0
let push_row () =
  if !row_count = Array.length !rows then begin
    let n = max 1024 (2 * !row_count) in
    let grow a x = let b = Array.make n x in Array.blit a 0 b 0 !row_count; b in
    rows := grow !rows Done; row_ends := grow !row_ends Z.zero
  end;
  let rec stop z = function Done -> z | Run (f, c, _, r) -> stop (Z.add f c) r in
  let r = runs None (fun x -> x) !numbers in
  !rows.(!row_count) <- r; !row_ends.(!row_count) <- stop Z.zero r; incr row_count

let row_over domain k =
  if Z.geq k (Z.of_int !row_count) then fail (Printf.sprintf "there is no row %s" (Z.to_string k));
  let k = Z.to_int k in
  if Z.gt !row_ends.(k) domain then fail (Printf.sprintf "row %d ends beyond %s" k (Z.to_string domain));
  !rows.(k)
let matrix sources domain = runs (Some sources) (row_over domain)
let steps domain = runs (Some domain) (fun x -> x)

(* All lines that begin with w, each by what read makes of its numbers. *)
let lines w read =
  let found = ref [] in
  while !word = w do found := read !numbers :: !found; advance () done;
  List.rev !found
let exactly n w read = let l = lines w read in
  if List.length l <> n then fail (Printf.sprintf "%d lines '%s' are there, %d are needed" (List.length l) w n); l
let one w read = expect w; let x = read !numbers in advance (); x

let quotient p q = let g = Z.gcd p q in let g = if Z.sign g = 0 then Z.one else g in
  if Z.equal (Z.divexact q g) Z.one then Z.to_string (Z.divexact p g) else Z.to_string (Z.divexact p g) ^ "/" ^ Z.to_string (Z.divexact q g)

let head () =
  read_line ();
  if !word <> "obliv-claim" || !numbers <> [Z.one] then fail "the first line has to be 'obliv-claim 1'";
  advance ();
  let about = if !word <> "about" then None else begin
    let t = !text in
    if t = " " || (t <> "" && t.[0] <> ' ') || String.length t > 1001 then fail "'about' has up to 1,000 characters after a blank";
    advance (); if t = "" then None else Some (String.sub t 1 (String.length t - 1))
  end in
  let size = one "nodes" (function [v] -> v | _ -> fail "'nodes' takes 1 number") in
  if Z.gt size (Z.of_int 10_000_000) then raise (Malformed (!number - 1, "there may be up to 10,000,000 nodes"));
  let channels = lines "channel" (function
    | [t; h; b] -> below t size "node"; below h size "node"; positive b "a bandwidth"; { from = t; to0 = h; width = b }
    | _ -> fail "'channel' takes 3 numbers") in
  let terminals = lines "terminal" (function
    | [v; i; e] -> below v size "node"; { at_node = v; sends = i; takes = e } | _ -> fail "'terminal' takes 3 numbers") in
  while !word = "row" do push_row (); advance () done;
  let n = Z.of_int (List.length terminals) in
  let unit = if !word = "unit" then one "unit" (function [d] -> positive d "the unit"; Some d | _ -> fail "'unit' takes 1 number") else None in
  let flows = if unit = None then [] else exactly (List.length channels) "flow" (matrix n n) in
  let lost = if !word = "lost" then one "lost" (matrix n n) else Done in
  about, { size; lines = channels; ends = terminals; whole = Option.value unit ~default:Z.one; flows; lost }, unit <> None

(* A statement: where it stands, the question to the checker, the sentence that a true answer proves. *)
type statement = { line : int; name : string; holds : unit -> bool; proves : string }

let rec statement d routed within =
  let line = !number and name = !word in
  let n = Z.of_int (List.length d.ends) and m = Z.of_int (List.length d.lines) and v = d.size in
  let make proves holds = { line; name; holds; proves } in
  if List.mem name ["most"; "attains"; "ratio"; "ratio-attained"; "failure"] && not routed then
    fail (Printf.sprintf "'%s' is about flows, and there are none" name);
  if within && not (List.mem name ["most"; "attains"]) then fail "a failure has statements 'most' and 'attains' only";
  let traffic () = one "traffic" (matrix n n) and carrier () = one "carrier" (matrix n m) in
  let lengths () = one "lengths" (function
    | scale :: l -> positive scale "M"; (scale, steps m l) | [] -> fail "'lengths' takes M, then runs") in
  let distance () = one "distance" (matrix n v) in
  (* the numbers of the statement: P Q, then T or c T *)
  let p, q, c, t = match name, !numbers with
    | ("most" | "least" | "ratio"), [p; q] -> p, q, Z.zero, Z.one
    | ("attains" | "ratio-attained"), [p; q; c; t] -> below c m "channel"; p, q, c, t
    | ("carried" | "blocked"), [p; q; t] -> p, q, Z.zero, t
    | ("cut" | "schedule"), [b] -> b, Z.one, Z.zero, Z.one
    | "failure", [] -> Z.zero, Z.one, Z.zero, Z.one
    | "", _ -> fail "the file ends before the line 'end'"
    | ("most" | "least" | "ratio" | "attains" | "ratio-attained" | "carried" | "blocked" | "cut" | "schedule" | "failure"), _ ->
      fail (Printf.sprintf "'%s' has another number of numbers" name)
    | _ -> fail (Printf.sprintf "'%s' is not a statement" name) in
  positive q "Q"; positive t "T"; advance ();
  let times = quotient p q ^ " times its bandwidth" in
  let exactly_loaded () = Printf.sprintf "loads channel %s by exactly %s" (Z.to_string c) times in
  match name with
  | "most" ->
    let price_vectors = lines "price" (steps n) in
    let price_maps = lines "map" (fun l ->
      if List.compare_lengths l d.ends <> 0 then fail "a map has one number for each terminal";
      List.iter (fun t -> below t n "terminal") l; l) in
    let known = Z.of_int (List.length price_vectors) and letters = Z.of_int (List.length price_maps) in
    let price_words = exactly (List.length d.lines) "bound" (function
      | k :: word -> below k known "price"; List.iter (fun t -> below t letters "map") word; (k, word)
      | [] -> fail "'bound' takes a price, then maps") in
    make ("no admissible traffic loads a channel beyond " ^ times) (fun () -> check_most d p q { price_vectors; price_maps; price_words })
  | "attains" ->
    let x = traffic () in
    make ("an admissible traffic " ^ exactly_loaded ()) (fun () -> check_attains d p q c t x)
  | "least" ->
    let last = ref Z.minus_one in
    let adversaries = lines "adversary" (function
      | c :: weight :: l ->
        below c m "channel"; positive weight "WEIGHT";
        if Z.leq c !last then fail "channels of adversaries do not ascend";
        last := c; (c, (weight, matrix n n l))
      | _ -> fail "'adversary' takes a channel and a weight, then runs") in
    let count = List.length d.ends in
    let allowed = if !word = "allowed" then Some (exactly count "allowed" (matrix n m)) else None in
    let potentials = exactly count "potential" (matrix n v) in
    make (Printf.sprintf "every routing%s is loaded by some admissible traffic on some channel by %s or more"
            (if allowed = None then "" else if routed then " that keeps to the channels allowed, as this one does," else " that keeps to the channels allowed") times)
      (fun () -> let bound = { adversaries; allowed; potentials } in check_least d p q bound && check_within d bound)
  | "ratio" ->
    let x = List.map (fun _ -> let scale, l = lengths () in let y = distance () in (scale, (l, y))) d.lines in
    make ("whatever traffic some routing, adaptive or not, carries with no channel beyond its bandwidth, this routing loads no channel beyond "
          ^ times ^ " under it") (fun () -> check_ratio d p q x)
  | "ratio-attained" ->
    let x = traffic () in
    let g = carrier () in
    make ("a traffic that some routing carries with no channel beyond its bandwidth " ^ exactly_loaded ())
      (fun () -> check_ratio_attained d p q c t x g)
  | "carried" ->
    let x = traffic () in
    let g = carrier () in
    make ("some routing carries the traffic given with no channel beyond " ^ times) (fun () -> check_carried d p q t x g)
  | "blocked" ->
    let x = traffic () in
    let _, l = lengths () in
    let y = distance () in
    make (Printf.sprintf "every routing, adaptive or not, loads some channel by %s or more under the traffic" times)
      (fun () -> check_blocked d p q t x l y)
  | "cut" ->
    let side = one "side" (steps v) in
    make (Printf.sprintf "a cut that halves the terminals has the bandwidth %s one way and %s back, in the file's unit"
            (Z.to_string p) (Z.to_string (snd (crossing d side)))) (fun () -> check_cut d p side)
  | "schedule" ->
    let levels = one "levels" (fun l -> if List.length l <> Z.to_int v then fail "'levels' takes one number for each node"; l) in
    let packets = Checker.map (fun x -> x) (lines "packet" (function
      | leaves :: arrives :: starts :: codes ->
        below leaves v "node"; below arrives v "node"; List.iter (fun k -> below k (Z.shift_left m 1) "move") codes;
        { leaves; arrives; starts; codes }
      | _ -> fail "'packet' takes a source, a destination and a start, then moves")) in
    make (Printf.sprintf "without buffers, %d packets are delivered within %s steps, no two over a channel in one direction in one step"
            (List.length packets) (Z.to_string p)) (fun () -> check_schedule d p levels packets)
  | _ -> (* failure *)
    let removed = one "removed" (steps m) in
    let missing = if !word = "lost" then one "lost" (matrix n n) else d.lost in
    let last = ref Z.minus_one in
    let changed = lines "changed" (function
      | c :: l -> below c m "channel"; if Z.leq c !last then fail "changed channels do not ascend"; last := c; (c, matrix n n l)
      | [] -> fail "'changed' takes a channel, then runs") in
    let left = failed d missing changed in
    let rec inner () = if !word = "end" || !word = "failure" then [] else let s = statement left routed true in s :: inner () in
    let found = inner () in
    if found = [] then fail "a failure has at least one statement";
    let prove s = if not (s.holds ()) then raise (Unproved (s.line, s.name, "its numbers do not prove it")); true in
    let rec gone = function Done -> Z.zero | Run (_, k, x, r) -> Z.add (if Z.sign x = 0 then Z.zero else k) (gone r) in
    make (Printf.sprintf "without %s channels: %s" (Z.to_string (gone removed)) (String.concat "; " (List.map (fun s -> s.proves) found)))
      (fun () -> check_failure d removed missing changed && List.for_all prove found)

let rec statements d routed =
  if !word = "end" then begin
    if !numbers <> [] || not (at_end ()) then fail "something follows 'end'"; []
  end else let s = statement d routed false in s :: statements d routed

let grouped z = (* 1,234,567 *)
  let s = Z.to_string z in
  String.concat "" (List.mapi (fun k c -> (if k > 0 && (String.length s - k) mod 3 = 0 then "," else "") ^ String.make 1 c)
    (List.of_seq (String.to_seq s)))

let check file =
  let about, d, routed = head () in
  let found = statements d routed in
  if found = [] then fail "there is no statement";
  if not (!intact ()) then fail "the compressed data is damaged";
  Printf.printf "%s: %s bytes, SHA-256 %s\n" file (grouped (Z.of_int !bytes_read)) (String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") hash)));
  Option.iter (fun t -> Printf.printf "about: \"%s\" (not checked)\n" t) about;
  let n = Z.of_int (List.length d.ends) in
  if routed && not (check_routing d) then raise (Unproved (1, "the flows", "they are not unit flows of all pairs that are not lost"));
  let rec places = function Done -> Z.zero | Run (_, k, x, r) -> Z.add (if Z.sign x = 0 then Z.zero else k) (places r) in
  let rec lost = function Done -> Z.zero | Run (_, k, row, r) -> Z.add (Z.mul k (places row)) (lost r) in
  Printf.printf "%s nodes, %s channels, %s terminals%s\n%!" (grouped d.size) (grouped (Z.of_int (List.length d.lines))) (grouped n)
    (if routed then Printf.sprintf "; the flows of %s pairs are unit flows" (grouped (Z.sub (Z.mul n n) (lost d.lost))) else "");
  List.iter (fun s ->
    if not (s.holds ()) then raise (Unproved (s.line, s.name, "its numbers do not prove it"));
    Printf.printf "proved: %s\n%!" s.proves) found;
  print_string "believed: Coq, which checked a proof that this checker is right; its extraction to OCaml; zarith; and the reader of lines. \
                That these flows are those of the routing that the file is called after is not proved by it.\n"

(* Lists of a million elements need more stack than is usual: start again with all that is allowed. *)
let () =
  if Sys.getenv_opt "OBLIV_CHECK_STACK" = None then begin
    Unix.putenv "OBLIV_CHECK_STACK" "raised";
    let raise_it = "ulimit -s unlimited 2>/dev/null || ulimit -s \"$(ulimit -H -s)\" 2>/dev/null; exec \"$0\" \"$@\"" in
    try Unix.execv "/bin/sh" (Array.append [| "sh"; "-c"; raise_it; Sys.executable_name |] (Array.sub Sys.argv 1 (Array.length Sys.argv - 1)))
    with Unix.Unix_error _ -> ()
  end

let () =
  match Sys.argv with
  | [| _; file |] ->
    Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 150 };
    let stop code kind reason = flush stdout; Printf.eprintf "%s: %s: %s\n" kind file reason; exit code in
    (try
      close_in (open_in_bin file);
      if Filename.check_suffix file ".gz" then begin
        let (output, _, _) as gzip = Unix.open_process_args_full "gzip" [| "gzip"; "-dc"; "--"; file |] (Unix.environment ()) in
        channel := output;
        intact := (fun () -> Unix.close_process_full gzip = Unix.WEXITED 0)
      end else channel := open_in_bin file;
      check file
    with
    | Malformed (line, reason) -> stop 2 "malformed" (Printf.sprintf "line %d: %s" line reason)
    | Unproved (line, name, reason) -> stop 1 "not proved" (Printf.sprintf "line %d: %s: %s" line name reason)
    | Sys_error reason -> Printf.eprintf "malformed: %s\n" reason; exit 2
    | Stack_overflow -> stop 2 "malformed" "it needs more stack than is allowed here (ulimit -s)"
    | Out_of_memory -> stop 2 "malformed" "it does not fit in memory")
  | _ -> prerr_endline "usage: obliv-check CLAIM (a closed claim; decompressed if its name ends in .gz)"; exit 2
