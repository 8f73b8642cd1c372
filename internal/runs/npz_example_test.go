package runs_test

import (
	"archive/zip"
	"bytes"
	"fmt"

	"learncausal/internal/runs"
	"learncausal/pkg/model"
)

// Weights are read in Python by NumPy alone, from this archive or from the weights.npz of paper train:
//
//	import numpy
//	w = numpy.load("weights.npz")
//	w["A1"].shape # (7, 7): S + T coordinates, tokens first; an edge i -> j is large at [3+j, 3+i]
//
// A2 reads the stream of the first layer, and W maps the last stream to the logits.
func ExampleNPZ() {
	archive := runs.NPZ(model.NewWeights(3, 4, 1, 1)) // S = 3, T = 4, a head in each layer
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(err)
	}
	for _, f := range z.File {
		fmt.Println(f.Name, f.UncompressedSize64-128, "bytes of numbers")
	}
	// Output:
	// A1.npy 392 bytes of numbers
	// A2.npy 1568 bytes of numbers
	// W.npy 672 bytes of numbers
}
