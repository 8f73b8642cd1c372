package claims

func auxiliaryTwoClaims() []Claim { return nil }
