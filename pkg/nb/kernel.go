//go:build !js

package nb

import (
	"encoding/gob"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// The kernel registers this type of metadata, and gob requires it at both ends.
func init() { gob.Register(map[string]any{}) }

// inNotebook reports whether a kernel displays the outputs.
func inNotebook() bool { return gonbui.IsNotebook }

// uniqueID returns an id that no other output of the notebook has.
func uniqueID() string { return gonbui.UniqueId() }

// send passes one output, in one or several formats, to the kernel and waits until the kernel has received it.
// An output replaces the earlier output with the same id. The caller holds mu.
func send(id string, forms, metadata map[string]any) {
	data := map[protocol.MIMEType]any{}
	for mime, content := range forms {
		data[protocol.MIMEType(mime)] = content
	}
	gonbui.SendData(&protocol.DisplayData{Data: data, Metadata: metadata, DisplayID: id})
	gonbui.Sync()
}
