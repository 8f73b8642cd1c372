package train

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/internal/simd"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// bits is a hash of numbers, bit by bit.
type bits struct{ hash.Hash }

func newBits() bits { return bits{sha256.New()} }

func (h bits) put(v ...float64) {
	for _, x := range v {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
	}
}

func (h bits) String() string { return fmt.Sprintf("%x", h.Sum(nil)[:8]) }

// digest hashes a snapshot.
func digest(s Snapshot) string {
	h := newBits()
	for _, w := range append([]model.Model{s.Weights}, s.Moments...) {
		var embeddings []float64 // at the end
		for _, m := range w.Matrices() {
			if m.Name == "E" || m.Name == "P" {
				embeddings = append(embeddings, m.Data...)
			} else {
				h.put(m.Data...)
			}
		}
		h.put(embeddings...)
	}
	for _, p := range s.Curve {
		h.put(float64(p.Step), p.Loss, p.Attention)
		h.put(p.Norms...)
	}
	return h.String()
}

// The bytes of short runs are pinned: stored runs carry Version as the name of
// the arithmetic that made them. Whoever changes a digest here raises Version,
// and the stored runs have to be retrained.
var pinned = map[string]struct {
	spec   Spec
	digest string
}{
	"dirichlet, cosine": {testSpec(), "9cc765d906f6e9bb"},
	"constant rate, wide": {Spec{
		Task:  Task1{Parents: []int{-1, 0, 1, 2, 3, 4, 5, 6, -1}, States: 10, Prior: "dirichlet(0.1)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 10, Schedule: Constant},
		Batch: 64, Steps: 30, Seed: 1, Test: 64, Every: 30,
	}, "9f2aeabe99fe669d"},
	"small alpha": {Spec{
		Task:  Task1{Parents: []int{-1, 0, -1, 1, -1}, States: 4, Prior: "dirichlet(0.001)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 1, Schedule: Constant},
		Batch: 64, Steps: 10, Seed: 1, Test: 64, Every: 10,
	}, "5fd7c21c735087f6"},
	"finite prior": {Spec{
		Task:  Task1{Parents: []int{-1, 0, 1, -1}, States: 2, Prior: "orbit(0.8 0.2; 0.3 0.7)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 1, Schedule: Constant},
		Batch: 64, Steps: 10, Seed: 1, Test: 64, Every: 10,
	}, "1c0336f7451f9453"},
	"sequences of JAX":             {replaySpec(), "add327dc1a6291e6"},
	"sequences and weights of JAX": {replayMulti(), "9d58677b06c11265"},
	"long sequences":               {longSpec(), "1e5c6aaf8865cc10"},
	"many weights": {Spec{
		Task:  Task1{Parents: graph.Chain(40).Parents(), States: 10, Prior: "dirichlet(0.1)"},
		Model: Disentangled{Heads: [2]int{2, 1}}, Optimiser: SGD{Rate: 1, Schedule: Constant},
		Batch: 16, Steps: 4, Seed: 1, Test: 2060, Every: 4,
	}, "90c436ac31c4d0c8"},
	"task 2, adamw":           {multiSpec(), "798a7688ad6fc8cf"},
	"two heads in each layer": {twoHeadsSpec(), "6da3f536125f94d3"},
	"simplified transformer":  {simplifiedSpec(), "062f3eabba08c534"},
	"minimal model":           {minimalSpec(), "a469aefacdc78f48"},
	"mlp, trained embeddings": {mlpSpec(MLP{Width: 8}), "7723531c6d1552e8"},
	"mlp, fixed embeddings":   {mlpSpec(MLP{Width: 8, FixedEmbeddings: true}), "4e1d4e2ec42bc0ab"},
	"mlp, residual":           {mlpSpec(MLP{Width: 8, Residual: true}), "083ae44d6f6e50e4"},
}

// longSpec is of a length at which the sequences of a block go one by one.
func longSpec() Spec {
	parents := []int{-1}
	for len(parents) < 190 {
		parents = append(parents, len(parents)/2)
	}
	parents[7], parents[189] = -1, -1
	return Spec{
		Task:  Task1{Parents: parents, States: 3, Prior: "dirichlet(0.1)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 3, Schedule: Constant},
		Batch: 40, Steps: 6, Seed: 1, Test: 20, Every: 6,
	}
}

func TestBytesArePinned(t *testing.T) {
	for name, c := range pinned {
		if got := digest(run(t, c.spec, 2)); got != c.digest {
			t.Errorf("%s: digest %s, want %s", name, got, c.digest)
		}
	}
}

// Draws of transition matrices with their stationary measures, and the losses of the
// Bayes predictor on some sequences, for each number of states and each alpha. A run
// shows a measure only where a token that is drawn from it changes.
func TestDrawsArePinned(t *testing.T) {
	h := newBits()
	for _, states := range []int{2, 3, 10} {
		for _, alpha := range []float64{0.001, 0.1, 1} {
			prior, err := markov.NewDirichlet(states, alpha)
			if err != nil {
				t.Fatal(err)
			}
			src := num.Stream(1, "pinned")
			pi, mu := make([]float64, states*states), make([]float64, states)
			for range 300 {
				prior.Draw(pi, mu, src)
				h.put(pi...)
				h.put(mu...)
			}
			k := task.Task{Graph: graph.MustNew(-1, 0, -1, 2, 1, -1), Prior: prior}
			batch := k.NewBatch(4)
			k.NewSampler().Fill(batch, src)
			risk, err := task.BayesRisk(t.Context(), k, batch, 20, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			h.put(risk.Loss...)
		}
	}
	if got, want := h.String(), "05b0a2d76e367077"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A platform differs from the platform of the tests. The command exec runs programs compiled
// for it, and requires the program needs. Other tests and make use the same flags,
// so that the standard library is compiled once for a platform.
type platform struct {
	env, needs, exec string
	flags            []string
}

func platforms(t *testing.T) []platform {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	wasm := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	return []platform{
		{env: "LEARNCAUSAL_VECTORS=none", needs: "go"},
		{env: "LEARNCAUSAL_VECTORS=avx2", needs: "go"},
		{"GOOS=js GOARCH=wasm", "node", wasm, []string{"-trimpath", "-gcflags=all=-dwarf=false", "-tags=minimal"}},
		{"GOARCH=arm64", "qemu-aarch64-static", "qemu-aarch64-static", []string{"-trimpath"}},
		{env: "GOARCH=s390x", needs: "qemu-s390x-static", exec: "qemu-s390x-static"}, // the most significant byte first
	}
}

// Every available platform gives the pinned bytes. Where a compiler may round a product and a sum once, as at
// GOAMD64=v3, TestNumericalPackagesFuseNothing of package num finds no place for it.
func TestOtherPlatformsGiveTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it builds this package and markov for other platforms")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("run from amd64")
	}
	if simd.Level() != "avx512" {
		t.Logf("!!! NOT CHECKED: the bytes with more vectors than %s, which is what this processor has", simd.Level())
	}
	for _, p := range platforms(t) {
		t.Run(p.env, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(p.needs); err != nil {
				t.Skipf("!!! NOT CHECKED: %s is not installed, README.md has the apt-get line", p.needs)
			}
			args := append([]string{"test", "-count=1", "-run=ArePinned$", "-exec=" + p.exec}, p.flags...)
			cmd := exec.Command("go", append(args, ".", "../markov")...)
			cmd.Env = append(os.Environ(), strings.Fields(p.env)...)
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "microarchitecture support") {
				t.Skip("!!! NOT CHECKED: this processor has not what it takes")
			}
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
