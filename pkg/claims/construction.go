package claims

func constructionClaims() []Claim { return nil }
