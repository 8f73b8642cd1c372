package runs

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"learncausal/pkg/train"
)

const (
	checkpointName   = "checkpoint"
	checkpointFormat = "learncausal checkpoint"
)

// A checkpoint is a run under way.
//
// The file is one line of JSON, the checkpointHeader, and then the numbers, eight
// bytes each, the least significant first: loss and attention of each point of the
// curve, the matrices of the milestones passed, with their moments, and those of the
// state now. How many there are follows from the specification and the step.
type checkpoint struct {
	states     []string         // digests at the marks so far
	milestones []train.Snapshot // those already passed
	now        train.Snapshot
}

type checkpointHeader struct {
	Format  string     `json:"format"`
	Version string     `json:"version"` // train.Version
	Address string     `json:"address"`
	Spec    train.Spec `json:"spec"`
	Step    int        `json:"step"`
	States  []string   `json:"states"`
	SHA256  string     `json:"sha256"` // of the bytes after the line
}

// line returns the header as the first line of a file.
func (h checkpointHeader) line() []byte { return append(must(json.Marshal(h)), '\n') }

// arrays returns all numbers of the checkpoint but those of the curve. The data are
// its own.
func (c *checkpoint) arrays() [][]float64 {
	var all [][]float64
	for _, s := range append(c.milestones, c.now) {
		for _, a := range matrices(s) {
			all = append(all, a.Data)
		}
	}
	return all
}

func encodeCheckpoint(p *plan, c *checkpoint) []byte {
	h := checkpointHeader{
		checkpointFormat, p.Version, p.Address, p.Spec, c.now.Step, c.states, sum256(nil),
	}
	line, all := len(h.line()), c.arrays() // every sum is as long
	size := line + 16*len(c.now.Curve)
	for _, a := range all {
		size += 8 * len(a)
	}
	b := make([]byte, line, size)
	for _, point := range c.now.Curve {
		b = must(binary.Append(b, binary.LittleEndian, []float64{point.Loss, point.Attention}))
	}
	for _, a := range all {
		b = must(binary.Append(b, binary.LittleEndian, a))
	}
	h.SHA256 = sum256(b[line:])
	copy(b, h.line())
	return b
}

// newCheckpoint returns a checkpoint of the plan after so many steps, with zeros for
// numbers and no digests.
func newCheckpoint(p *plan, step int) (c *checkpoint, err error) {
	c = &checkpoint{}
	if c.now, err = p.Spec.NewSnapshot(step); err != nil {
		return nil, err
	}
	for _, at := range p.milestones[:until(step, p.milestones)] {
		c.milestones = append(c.milestones, must(p.Spec.NewSnapshot(at)))
	}
	return c, nil
}

// readCheckpoint returns the checkpoint in the file path and the plan of its run,
// which has this address, and nil if there is no file.
func readCheckpoint(path, address string) (*checkpoint, *plan, error) {
	refuse := func(err error) error {
		return fmt.Errorf("runs: checkpoint %s refused: %w; delete it to train the run from the start", path, err)
	}
	f, size, err := openFile(path)
	if _, missing := os.Lstat(path); err != nil && errors.Is(missing, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, refuse(err)
	}
	defer f.Close()
	c, p, err := decodeCheckpoint(f, size, address)
	if err != nil {
		return nil, nil, refuse(err)
	}
	return c, p, nil
}

// decodeCheckpoint reads the checkpoint of the run with an address from r, which has
// so many bytes. Its body is read once they are right.
func decodeCheckpoint(r io.ReaderAt, size int64, address string) (*checkpoint, *plan, error) {
	line, err := bufio.NewReader(io.NewSectionReader(r, 0, min(size, maxManifest))).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	h, p, err := decodeHeader(line, address)
	if err != nil {
		return nil, nil, err
	}
	c, err := newCheckpoint(p, h.Step)
	if err != nil {
		return nil, nil, err
	}
	c.states = h.States
	if err := checkStates(h.States, until(h.Step, p.marks)); err != nil {
		return nil, nil, err
	}
	arrays := c.arrays()
	numbers := 2 * len(c.now.Curve)
	for _, a := range arrays {
		numbers += len(a)
	}
	n := size - int64(len(line))
	if n != int64(8*numbers) {
		return nil, nil, fmt.Errorf("%d bytes after its first line, want %d: truncated or altered", n, 8*numbers)
	}
	body, err := io.ReadAll(io.NewSectionReader(r, int64(len(line)), n))
	if err != nil {
		return nil, nil, err
	}
	if sum := sum256(body); sum != h.SHA256 {
		return nil, nil, fmt.Errorf("%d bytes with SHA-256 %s, its first line says %q: truncated or altered",
			len(body), sum, h.SHA256)
	}
	next := func(x []float64) {
		n, _ := binary.Decode(body, binary.LittleEndian, x) // there are as many as counted
		body = body[n:]
	}
	for i := range c.now.Curve {
		var point [2]float64
		next(point[:])
		if math.IsNaN(point[0]) {
			return nil, nil, fmt.Errorf("the loss at step %d is no number", c.now.Curve[i].Step)
		}
		c.now.Curve[i].Loss, c.now.Curve[i].Attention = point[0], point[1]
	}
	for _, a := range arrays {
		next(a)
	}
	for i, s := range c.milestones {
		n := until(s.Step, p.evaluations)
		c.milestones[i].Curve = c.now.Curve[:n:n]
	}
	return c, p, nil
}

// decodeHeader returns the header in the first line of a checkpoint of the run with an
// address, and the plan of the run.
func decodeHeader(line []byte, address string) (h checkpointHeader, p *plan, err error) {
	if err := json.Unmarshal(line, &h); err != nil || h.Format != checkpointFormat {
		return h, nil, fmt.Errorf("its first line is not that of a %s", checkpointFormat)
	}
	if h.Version != train.Version {
		return h, nil, fmt.Errorf("written by version %q of the numerics, this is %q", h.Version, train.Version)
	}
	if h.Address != address {
		return h, nil, fmt.Errorf("it belongs to the run %q, want %q", h.Address, address)
	}
	if p, err = newPlan(h.Spec); err != nil {
		return h, nil, err
	}
	if p.Address != address {
		return h, nil, fmt.Errorf("its specification is that of the run %q, want %q", p.Address, address)
	}
	if !bytes.Equal(line, h.line()) {
		return h, nil, errForm
	}
	return h, p, nil
}
