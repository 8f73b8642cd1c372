package claims

func concentrationClaims() []Claim { return nil }
