package claims

func gradientClaims() []Claim { return nil }
