(* The checker as an OCaml program on whole numbers of any size (zarith). *)
Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Obliv Require Import Checker Schedule.
Extraction Language OCaml.
Extraction "checker.ml" 
  check_routing check_most check_attains check_least check_within check_ratio check_ratio_attained check_carried check_blocked check_cut
  check_failure check_schedule crossing failed.
