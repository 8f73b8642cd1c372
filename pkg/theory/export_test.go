package theory

// Outcome is outcome.
type Outcome = outcome

// Each calls visit with every outcome of the population. Their weights sum to one.
func (p *Population) Each(m *Reduced, visit func(Outcome)) { p.each(m, p.Prior, nil, visit) }

// E12Limit returns the limit of eq. (39) for states s and t.
func (c *Chain) E12Limit(s, t int, r, beta float64) float64 {
	return e12Limit(c.Pi.At(s, t), c.Mu[s], c.Mu[t], r, beta)
}

// E3Limit returns the limit of eq. (40) for state s.
func (c *Chain) E3Limit(s int, r, beta float64) float64 { return e12Limit(1, c.Mu[s], 1, r, beta) }
