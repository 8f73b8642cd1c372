package claims

func auxiliaryTwoClaims() []Claim { return softmaxClaims() }
