module learncausal

go 1.26.0
