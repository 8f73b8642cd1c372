package claims

import "strings"

// unsettled are the rows whose parts and hypotheses have no controls of their
// own yet. The list only shrinks.
var unsettled = strings.Fields(strings.Join([]string{
	// idealizedgradient.go
	`
	`,

	`
	`,

	// lemmasstagetwo.go
	`
	`,

	// multipleparents.go
	`
	`,

	// stagetwo.go
	`
	`,
}, " "))
