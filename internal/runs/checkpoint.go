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

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

const (
	checkpointName   = "checkpoint"
	checkpointFormat = "learncausal checkpoint"
)

// A checkpoint is a run under way.
//
// Its file is the line of AddSum, a line of JSON, the checkpointHeader, and then float64 numbers in little
// endian: loss, attention and norms of each point of the curve, the matrices of the milestones passed, with their
// moments, and the matrices of the current state. Spec and step determine their number.
type checkpoint struct {
	states     []string         // digests at the marks passed
	milestones []train.Snapshot // the milestones passed
	now        train.Snapshot
}

type checkpointHeader struct {
	Format  string     `json:"format"`
	Version string     `json:"version"` // train.Version
	Address string     `json:"address"`
	Spec    train.Spec `json:"spec"`
	Step    int        `json:"step"`
	States  []string   `json:"states"`
}

// line returns the header as a line of a file.
func (h checkpointHeader) line() []byte { return append(must(json.Marshal(h)), '\n') }

// arrays returns all numbers of the checkpoint except the curve, sharing its data.
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
	line := checkpointHeader{checkpointFormat, p.Version, p.Address, p.Spec, c.now.Step, c.states}.line()
	all := c.arrays()
	size := files.SumLine + len(line) + 8*(2+len(p.Spec.NormNames()))*len(c.now.Curve)
	for _, a := range all {
		size += 8 * len(a)
	}
	b := append(make([]byte, files.SumLine, size), line...)
	for _, point := range c.now.Curve {
		b = must(binary.Append(b, binary.LittleEndian, append([]float64{point.Loss, point.Attention}, point.Norms...)))
	}
	for _, a := range all {
		b = must(binary.Append(b, binary.LittleEndian, a))
	}
	return files.AddSum(b, "}")
}

// newCheckpoint returns a checkpoint of the plan at a step, with zeros for numbers and no digests.
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

// readCheckpoint returns the checkpoint of the run with an address from the file path, and
// the plan of the run. It returns nil if there is no file.
func readCheckpoint(path, address string) (c *checkpoint, p *plan, err error) {
	f, size, err := files.Open(path)
	if err == nil {
		defer f.Close()
		c, p, err = decodeCheckpoint(f, size, address)
	} else if _, missing := os.Lstat(path); errors.Is(missing, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, files.Refused("runs: checkpoint "+path, err, "delete it to train the run from the start")
	}
	return c, p, nil
}

// decodeCheckpoint decodes the checkpoint of the run with an address from the size bytes of r. It reads the
// numbers only if the header is right and size is the size that follows from it.
func decodeCheckpoint(r io.ReaderAt, size int64, address string) (*checkpoint, *plan, error) {
	line, err := bufio.NewReader(io.NewSectionReader(r, files.SumLine, min(size, maxManifest))).ReadBytes('\n')
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
	each := 2 + len(p.Spec.NormNames()) // numbers of a point
	curve := make([]float64, each*len(c.now.Curve))
	arrays := append([][]float64{curve}, c.arrays()...)
	numbers := 0
	for _, a := range arrays {
		numbers += len(a)
	}
	if n := size - int64(files.SumLine+len(line)); n != int64(8*numbers) {
		return nil, nil, fmt.Errorf("%d bytes after its header, want %d: truncated or altered", n, 8*numbers)
	}
	body, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err == nil {
		body, err = files.CheckSum(body, "}")
	}
	if err != nil {
		return nil, nil, err
	}
	body = body[len(line):]
	for _, a := range arrays {
		body = body[must(binary.Decode(body, binary.LittleEndian, a)):]
	}
	for i := range c.now.Curve {
		point := &c.now.Curve[i]
		copy(point.Norms, curve[each*i+2:])
		if point.Loss, point.Attention = curve[each*i], curve[each*i+1]; math.IsNaN(point.Loss) {
			return nil, nil, fmt.Errorf("the loss at step %d is not a number", point.Step)
		}
	}
	for i, s := range c.milestones {
		n := until(s.Step, p.evaluations)
		c.milestones[i].Curve = c.now.Curve[:n:n]
	}
	return c, p, nil
}

// decodeHeader decodes the header of a checkpoint of the run with an address, and returns the plan of the run.
func decodeHeader(line []byte, address string) (h checkpointHeader, p *plan, err error) {
	if err := json.Unmarshal(line, &h); err != nil || h.Format != checkpointFormat {
		return h, nil, fmt.Errorf("its second line is not the header of a %s", checkpointFormat)
	}
	if p, err = described(identity{Version: h.Version, Spec: h.Spec}, h.Address, address); err != nil {
		return h, nil, err
	}
	if !bytes.Equal(line, h.line()) {
		return h, nil, errForm
	}
	return h, p, nil
}
