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
		for _, a := range w.(interface{ Arrays() [][]float64 }).Arrays() {
			h.put(a...)
		}
	}
	for _, p := range s.Curve {
		h.put(float64(p.Step), p.Loss, p.Attention)
	}
	return h.String()
}

// The bytes of short runs are pinned: stored runs carry Version as the name of
// the arithmetic that made them. Whoever changes a digest here raises Version,
// and the stored runs have to be trained anew.
var pinned = map[string]struct {
	spec   Spec
	digest string
}{
	"dirichlet, cosine": {testSpec(), "6cf06d570b8d9992"},
	"constant rate, wide": {Spec{
		Task:  Task1{Parents: []int{-1, 0, 1, 2, 3, 4, 5, 6, -1}, States: 10, Prior: "dirichlet(0.1)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 10, Schedule: Constant},
		Batch: 64, Steps: 30, Seed: 1, Test: 64, Every: 30,
	}, "0c92dbced0f9c629"},
	"small alpha": {Spec{
		Task:  Task1{Parents: []int{-1, 0, -1, 1, -1}, States: 4, Prior: "dirichlet(0.001)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 1, Schedule: Constant},
		Batch: 64, Steps: 10, Seed: 1, Test: 64, Every: 10,
	}, "4292efdf90c63872"},
	"finite prior": {Spec{
		Task:  Task1{Parents: []int{-1, 0, 1, -1}, States: 2, Prior: "orbit(0.8 0.2; 0.3 0.7)"},
		Model: Disentangled{Heads: [2]int{1, 1}}, Optimiser: SGD{Rate: 1, Schedule: Constant},
		Batch: 64, Steps: 10, Seed: 1, Test: 64, Every: 10,
	}, "915e7368c5f21ed7"},
	"task 2, adamw":           {multiSpec(), "8d6633ffcfd4c61d"},
	"two heads in each layer": {twoHeadsSpec(), "d046fe247f4f7651"},
	"mlp, trained embeddings": {mlpSpec(MLP{Width: 8}), "0d41397721975014"},
	"mlp, fixed embeddings":   {mlpSpec(MLP{Width: 8, FixedEmbeddings: true}), "919eee7251b7f213"},
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
var pinnedDraws = map[string]string{
	"2 dirichlet(0.001)":  "e638a467aef68bcd",
	"2 dirichlet(0.1)":    "05420cb756f56252",
	"2 dirichlet(1)":      "29008466600bf15d",
	"3 dirichlet(0.001)":  "a2002d0e1a363b8d",
	"3 dirichlet(0.1)":    "97f5da4dacd40053",
	"3 dirichlet(1)":      "c156d6ae92798d2a",
	"10 dirichlet(0.001)": "75b243c69bfe6c1b",
	"10 dirichlet(0.1)":   "c3dce68213a5a208",
	"10 dirichlet(1)":     "91ee2ea7efa53487",
}

func TestDrawsArePinned(t *testing.T) {
	for name, want := range pinnedDraws {
		var states int
		var text string
		if _, err := fmt.Sscan(name, &states, &text); err != nil {
			t.Fatal(err)
		}
		prior, err := markov.ParsePrior(text, states)
		if err != nil {
			t.Fatal(err)
		}
		h, src := newBits(), num.Stream(1, "pinned")
		pi, mu := make([]float64, states*states), make([]float64, states)
		for range 300 {
			prior.Draw(pi, mu, src)
			h.put(pi...)
			h.put(mu...)
		}
		g, err := graph.New([]int{-1, 0, -1, 2, 1, -1})
		if err != nil {
			t.Fatal(err)
		}
		k := task.Task{Graph: g, Prior: prior}
		batch := k.NewBatch(4)
		task.NewSampler(k).Fill(batch, src)
		risk, err := task.BayesRisk(k, batch, 20, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		h.put(risk.Loss...)
		if got := h.String(); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A platform is another one than that of the tests. What is compiled for it is run
// by the command exec, which needs a program.
type platform struct{ env, needs, exec string }

func platforms(t *testing.T) []platform {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	wasm := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	return []platform{
		{"GOAMD64=v3", "go", ""},
		{"GOAMD64=v4", "go", ""},
		{"GOOS=js GOARCH=wasm", "node", wasm},
		{"GOARCH=arm64", "qemu-aarch64-static", "qemu-aarch64-static"},
		{"GOARCH=riscv64", "qemu-riscv64-static", "qemu-riscv64-static"},
		{"GOARCH=s390x", "qemu-s390x-static", "qemu-s390x-static"}, // the most significant byte first
	}
}

// The bytes that are pinned are those of every platform at hand.
func TestOtherPlatformsGiveTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it builds this package for other platforms")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("run from amd64")
	}
	for _, p := range platforms(t) {
		t.Run(p.env, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(p.needs); err != nil {
				t.Skipf("!!! NOT CHECKED: %s is not installed, README.md has the apt-get line", p.needs)
			}
			cmd := exec.Command("go", "test", "-count=1", "-run=ArePinned$", "-exec="+p.exec, ".")
			cmd.Env = append(os.Environ(), append(strings.Fields(p.env), "CGO_ENABLED=0")...)
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
