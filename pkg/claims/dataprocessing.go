package claims

func dataProcessingClaims() []Claim { return nil }
