package claims

func finiteSampleClaims() []Claim { return nil }
