package claims

func mainClaims() []Claim { return nil }
