package main

import (
	"github.com/spf13/cobra"
)

func newErrata() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "errata",
		Short: "Write the erratum: what is false, with witnesses and proofs",
		Long: `errata writes errata.tex and, where pdflatex is, errata.pdf: each statement of the
paper that is false as printed, its smallest witness, what holds instead with its
proof, what rests on it, and the main theorem carried through with what holds. It
is made of the stored ledger, which make verify writes. The same ledger gives the
same bytes.`,
		Example: `  paper errata              # figures/ of the checkout
  paper errata -o my-folder`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := named(c.Flags(), "out"); err != nil {
				return err
			}
			return export(c.Context(), c.OutOrStdout(), out, "", []string{"errata"})
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "`folder` to write to (default figures/ of the checkout)")
	return c
}
