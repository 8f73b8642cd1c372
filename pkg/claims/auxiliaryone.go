package claims

func auxiliaryOneClaims() []Claim { return nil }
