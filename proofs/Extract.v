(* The checker as an OCaml program on whole numbers of any size (zarith). *)
Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
From Obliv Require Import Checker.
Extraction Language OCaml.
Extraction "checker.ml" check_network check_routing check_most check_attains.
