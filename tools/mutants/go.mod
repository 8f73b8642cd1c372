module learncausal/tools/mutants

go 1.26.0
