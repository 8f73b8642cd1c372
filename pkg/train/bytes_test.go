package train

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"learncausal/pkg/lanes"
	"learncausal/pkg/model"
)

// digest hashes every bit of a snapshot.
func digest(s Snapshot) string {
	h := sha256.New()
	put := func(v ...float64) {
		for _, x := range v {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	for _, w := range append([]model.Model{s.Weights}, s.Moments...) {
		for _, a := range w.(interface{ Arrays() [][]float64 }).Arrays() {
			put(a...)
		}
	}
	for _, p := range s.Curve {
		put(float64(p.Step), p.Loss, p.Attention)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// The bytes of short runs are pinned: stored runs carry Version as the name of
// the arithmetic that made them. Whoever changes a digest here raises Version,
// and the stored runs have to be trained anew.
var pinned = map[string]struct {
	spec   Spec
	digest string
}{
	"dirichlet, cosine": {testSpec(), "89dbd9995152682a"},
	"constant rate, wide": {Spec{
		Task:  Task1{Parents: []int{-1, 0, 1, 2, 3, 4, 5, 6, -1}, States: 10, Prior: "dirichlet(0.1)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 10, Schedule: Constant},
		Batch: 64, Steps: 30, Seed: 1, Test: 64, Every: 30,
	}, "17827ae72a034199"},
	"small alpha": {Spec{
		Task:  Task1{Parents: []int{-1, 0, -1, 1, -1}, States: 4, Prior: "dirichlet(0.001)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 1, Schedule: Constant},
		Batch: 64, Steps: 10, Seed: 1, Test: 64, Every: 10,
	}, "4642d1758f01c83c"},
	"finite prior": {Spec{
		Task:  Task1{Parents: []int{-1, 0, 1, -1}, States: 2, Prior: "orbit(0.8 0.2; 0.3 0.7)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 1, Schedule: Constant},
		Batch: 64, Steps: 10, Seed: 1, Test: 64, Every: 10,
	}, "a6c19f767cb08a63"},
	"task 2, adamw":           {multiSpec(), "e6a22e715af92124"},
	"two heads in each layer": {twoHeadsSpec(), "5306398826a51194"},
	"mlp, trained embeddings": {mlpSpec(MLP{Width: 8}), "7dba6be2ad26d24b"},
	"mlp, fixed embeddings":   {mlpSpec(MLP{Width: 8, FixedEmbeddings: true}), "822b3246a7cf59df"},
}

func TestBytesArePinned(t *testing.T) {
	for name, c := range pinned {
		if got := digest(run(t, c.spec, 2)); got != c.digest {
			t.Errorf("%s: digest %s, want %s", name, got, c.digest)
		}
	}
}

// TestOtherPlatformsGiveTheSameBytes runs TestBytesArePinned with fused
// multiply-add in reach of the compiler (GOAMD64=v3), with fewer of the vectors of
// this processor, without assembly, and in WebAssembly.
func TestOtherPlatformsGiveTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it builds this package for other platforms")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("run from amd64")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	wasmExec := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	if lanes.Level() != "avx512" {
		t.Logf("NOT CHECKED: the bytes with more vectors than %s, which is what this processor has", lanes.Level())
	}
	for _, env := range [][]string{
		{"GOAMD64=v3"},
		{"LEARNCAUSAL_VECTORS=none"},
		{"LEARNCAUSAL_VECTORS=avx2"},
		{"GOFLAGS=-tags=purego"},
		{"GOOS=js", "GOARCH=wasm"},
	} {
		args := []string{"test", "-count=1", "-run=^TestBytesArePinned$"}
		if len(env) == 2 {
			if _, err := exec.LookPath("node"); err != nil {
				t.Log("NOT CHECKED: the bytes under WebAssembly, because node is not installed")
				continue
			}
			args = append(args, "-exec="+wasmExec)
		}
		cmd := exec.Command("go", append(args, ".")...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "v3 microarchitecture support") {
			t.Log("NOT CHECKED: the bytes with GOAMD64=v3, because this processor lacks it")
		} else if err != nil {
			t.Errorf("%v: %v\n%s", env, err, out)
		}
	}
}
