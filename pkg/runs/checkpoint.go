package runs

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

func init() { // the models that a checkpoint may hold
	gob.Register(&model.Weights{})
	gob.Register(&model.MLP{})
}

const (
	checkpointName   = "checkpoint"
	checkpointFormat = "learncausal checkpoint"
)

// checkpoint is a run under way. The file is one line of JSON, the
// checkpointHeader, and then the checkpoint in gob.
type checkpoint struct {
	Milestones []train.Snapshot // those already passed
	Now        train.Snapshot
	Spec       []byte // of the run, as JSON
}

type checkpointHeader struct {
	Format  string `json:"format"`
	Version string `json:"version"` // train.Version
	Address string `json:"address"`
	SHA256  string `json:"sha256"` // of the bytes after the line
}

func writeCheckpoint(path, address string, c checkpoint) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(c); err != nil {
		return err
	}
	sum := sum256(body.Bytes())
	h, err := json.Marshal(checkpointHeader{checkpointFormat, train.Version, address, sum})
	if err != nil {
		return err
	}
	return writeFile(path, append(append(h, '\n'), body.Bytes()...))
}

// readCheckpoint returns the checkpoint in the file path if it belongs to the
// run with this address, and a zero one if there is no file.
func readCheckpoint(path, address string) (c checkpoint, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, refuseCheckpoint(path, err.Error())
	}
	line, body, _ := bytes.Cut(b, []byte("\n"))
	var h checkpointHeader
	if err := json.Unmarshal(line, &h); err != nil || h.Format != checkpointFormat {
		return c, refuseCheckpoint(path, fmt.Sprintf("its first line is not that of a %s", checkpointFormat))
	}
	if h.Version != train.Version {
		return c, refuseCheckpoint(path, fmt.Sprintf("written by version %q of the numerics, this is %q",
			h.Version, train.Version))
	}
	if h.Address != address {
		return c, refuseCheckpoint(path, fmt.Sprintf("it belongs to the run %q, want %q", h.Address, address))
	}
	if sum := sum256(body); sum != h.SHA256 {
		return c, refuseCheckpoint(path, fmt.Sprintf("%d bytes with SHA-256 %s, its first line says %q: "+
			"truncated or altered", len(body), sum, h.SHA256))
	}
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&c); err != nil {
		return c, refuseCheckpoint(path, err.Error())
	}
	return c, nil
}

func refuseCheckpoint(path, why string) error {
	return fmt.Errorf("runs: checkpoint %s refused: %s; delete it to train the run from the start", path, why)
}
