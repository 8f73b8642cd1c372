//go:build js

// Command worker exports package cell and a reader of zstd to JavaScript.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"syscall/js"

	"github.com/klauspost/compress/zstd"

	"gokernel/cell"
)

// main sets the global object gocell:
//
//	start(packages)        begins a session; packages is the JSON of a list of cell.Package
//	program(label, source) returns {source, run, text, restore}, or {error}
//	keep()                 keeps the declarations of the last program
//	path(name)             returns the import path of a package, "" if it has none
//	unpack(from, into)     unpacks zstd from one Uint8Array into another; returns an error or ""
func main() {
	var session *cell.Session
	var last *cell.Program
	function := func(f func(args []js.Value) any) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) })
	}
	js.Global().Set("gocell", map[string]any{
		"start": function(func(args []js.Value) any {
			var packages []cell.Package
			if err := json.Unmarshal([]byte(args[0].String()), &packages); err != nil {
				return err.Error()
			}
			session = cell.NewSession(packages)
			return ""
		}),
		"program": function(func(args []js.Value) any {
			p, err := session.Program(args[0].String(), args[1].String())
			if err != nil {
				return map[string]any{"error": err.Error()}
			}
			last = p
			return map[string]any{"source": p.Source, "run": p.Run, "text": p.Text, "restore": p.Restore}
		}),
		"keep": function(func([]js.Value) any {
			session.Keep(last)
			return nil
		}),
		"path": function(func(args []js.Value) any { return session.Path(args[0].String()) }),
		"unpack": function(func(args []js.Value) any {
			if err := unpack(args[0], args[1]); err != nil {
				return err.Error()
			}
			return ""
		}),
	})
	select {}
}

// unpack unpacks zstd from one Uint8Array into another, which it fills.
func unpack(from, into js.Value) error {
	packed := make([]byte, from.Length())
	js.CopyBytesToGo(packed, from)
	const window = 1 << 27 // the largest window of any level
	r, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return err
	}
	defer r.Close()
	buf := make([]byte, 1<<20)
	at := 0
	for {
		n, err := io.ReadFull(r, buf)
		at += js.CopyBytesToJS(into.Call("subarray", at), buf[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if at != into.Length() {
		return errors.New("shorter than in the manifest")
	}
	return nil
}
