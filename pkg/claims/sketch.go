package claims

func sketchClaims() []Claim { return nil }
