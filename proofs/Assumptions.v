(* The build fails unless each of these is closed under the global context: no axioms, nothing admitted. *)
From Obliv Require Import Statements.
Print Assumptions flows_are_a_routing.
Print Assumptions most.
Print Assumptions attains.
Print Assumptions worst_case.
Print Assumptions least.
Print Assumptions least_allowed.
Print Assumptions within.
Print Assumptions optimal.
Print Assumptions optimal_allowed.
Print Assumptions ratio_upper.
Print Assumptions ratio_lower.
Print Assumptions carried.
Print Assumptions pairs_are_carried.
Print Assumptions carried_by_pairs.
Print Assumptions blocked.
Print Assumptions cut.
Print Assumptions failure.
Print Assumptions schedule.
