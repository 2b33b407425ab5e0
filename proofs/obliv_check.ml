(* obliv-check FILE: reads a closed claim and asks the extracted checker. This file is trusted, not proved: it turns
   lines into the data of Checker.v, replaces row numbers by rows, and prints what a true answer of the checker means. *)
module Whole = Z
open Checker
module Z = Whole

exception Malformed of int * string
exception Unproved of int * string

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
  let v = Array.copy hash in
  for t = 0 to 63 do
    let a = v.(0) and e = v.(4) in
    let t1 = v.(7) + (turn e 6 lxor turn e 11 lxor turn e 25) + ((e land v.(5)) lxor (lnot e land v.(6))) + constants.(t) + schedule.(t)
    and t2 = (turn a 2 lxor turn a 13 lxor turn a 22) + ((a land v.(1)) lxor (a land v.(2)) lxor (v.(1) land v.(2))) in
    Array.blit v 0 v 1 7;
    v.(4) <- (v.(4) + t1) land 0xffffffff;
    v.(0) <- (t1 + t2) land 0xffffffff
  done;
  Array.iteri (fun k x -> hash.(k) <- (hash.(k) + x) land 0xffffffff) v

(* ---- Lines: a word and natural numbers ---- *)
let limit = 4_000_000_000 (* bytes after decompression *)
let channel = ref stdin
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
    if !bytes_read > limit then fail "the file is larger than 4,000,000,000 bytes";
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
let small z what = if Z.fits_int z && Z.to_int z <= 50_000_000 then Z.to_int z else fail (what ^ " is beyond 50,000,000")
let positive z what = if Z.sign z = 0 then fail (what ^ " has to be at least 1")
let below z bound what = if Z.geq z bound then fail (Printf.sprintf "%s %s is not below %s" what (Z.to_string z) (Z.to_string bound))
let one_of n = if List.length !numbers <> n then fail (Printf.sprintf "'%s' takes %d numbers" !word n)
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
  let about = if !word = "about" then (let t = !text in advance (); Some t) else None in
  let size = one "nodes" (function [v] -> v | _ -> fail "'nodes' takes 1 number") in
  ignore (small size "the number of nodes");
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
  about, { size; lines = channels; ends = terminals; unit0 = Option.value unit ~default:Z.one; flows; lost }, unit <> None

(* A statement: where it stands, the question to the checker, the sentence that a true answer proves. *)
type statement = { line : int; name : string; holds : unit -> bool; proves : string }

let statement d routed =
  let line = !number and name = !word in
  let n = Z.of_int (List.length d.ends) and m = Z.of_int (List.length d.lines) in
  let make holds proves = { line; name; holds; proves } in
  let needs_flows () = if not routed then fail (Printf.sprintf "'%s' needs the flows of a routing" name) in
  let traffic () = one "traffic" (matrix n n) in
  match name, !numbers with
  | "most", [p; q] ->
    needs_flows (); positive q "Q"; advance ();
    let vectors = lines "price" (steps n) in
    let maps = lines "map" (fun l ->
      if List.length l <> List.length d.ends then fail "a map has one number for each terminal";
      List.iter (fun t -> below t n "terminal") l; l) in
    let known = Z.of_int (List.length vectors) and letters = Z.of_int (List.length maps) in
    let words = exactly (List.length d.lines) "bound" (function
      | k :: word -> below k known "price"; List.iter (fun t -> below t letters "map") word; (k, word)
      | [] -> fail "'bound' takes a price and maps") in
    let x = { price_vectors = vectors; price_maps = maps; price_words = words } in
    make (fun () -> check_most d p q x) (Printf.sprintf "No admissible traffic loads a channel beyond %s of its bandwidth." (quotient p q))
  | "attains", [p; q; c; t] ->
    needs_flows (); positive q "Q"; positive t "T"; below c m "channel"; advance ();
    let x = traffic () in
    make (fun () -> check_attains d p q c t x)
      (Printf.sprintf "An admissible traffic loads channel %s by exactly %s of its bandwidth." (Z.to_string c) (quotient p q))
  | ("most" | "attains"), _ -> fail (Printf.sprintf "'%s' has another number of numbers" name)
  | "", _ -> fail "the file ends before the line 'end'"
  | _ -> fail (Printf.sprintf "unknown word '%s'" name)

let rec statements d routed =
  if !word = "end" then begin
    one_of 0;
    if not (at_end ()) then (incr number; fail "something follows the line 'end'"); []
  end else let s = statement d routed in s :: statements d routed

let check file =
  let about, d, routed = head () in
  let found = statements d routed in
  if found = [] then fail "there is no statement";
  Printf.printf "%s: %d bytes, SHA-256 %s\n" file !bytes_read (String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") hash)));
  Option.iter (fun t -> Printf.printf "It calls itself \"%s\" (not checked).\n" (String.trim t)) about;
  let n = List.length d.ends in
  let network = Printf.sprintf "%s nodes, %d channels, %d terminals" (Z.to_string d.size) (List.length d.lines) n in
  if routed then begin
    if not (check_routing d) then raise (Unproved (1, "the flows are not unit flows of all pairs"));
    Printf.printf "%s; flows of %d pairs are unit flows.\n%!" network (n * n)
  end else Printf.printf "%s; no flows of a routing.\n%!" network;
  List.iter (fun s ->
    if not (s.holds ()) then raise (Unproved (s.line, Printf.sprintf "'%s' is not proved by what follows it" s.name));
    Printf.printf "Proved: %s\n%!" s.proves) found;
  print_string "Believed: nothing but the arithmetic of this checker, which Coq has proved right. That these flows are those of the routing \
                that the file is called after is not proved by it.\n"

let () =
  match Sys.argv with
  | [| _; file |] ->
    let stop code place reason = flush stdout; Printf.eprintf "%s:%d: %s\n" file place reason; exit code in
    (try
      channel := if Filename.check_suffix file ".gz" then Unix.open_process_args_in "gzip" [| "gzip"; "-dc"; "--"; file |] else open_in_bin file;
      check file
    with
    | Malformed (place, reason) -> stop 2 place reason
    | Unproved (place, reason) -> stop 1 place ("not proved: " ^ reason)
    | Sys_error reason -> Printf.eprintf "%s\n" reason; exit 2
    | Stack_overflow -> stop 2 !number "the file is too large for the stack (ulimit -s unlimited)"
    | Out_of_memory -> stop 2 !number "the memory does not suffice")
  | _ -> prerr_endline "usage: obliv-check FILE (a closed claim, gzip if its name ends in .gz)"; exit 2
