// Package paper has the prose of the erratum, which stands beside the claims.
package paper

import "embed"

// Prose has a file claims/<section>/<id>.tex for each row of the ledger with prose: a remark if the row fails, and a
// proof if it holds.
//
//go:embed claims/*/*.tex
var Prose embed.FS
