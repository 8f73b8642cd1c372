//go:build js

// Package gonbui shows outputs in a page, with the functions of GoNB's package of this
// name. The page replaces that package, which writes to a pipe, by this one.
package gonbui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strconv"
	"syscall/js"
)

var (
	// IsNotebook reports whether a page shows the outputs.
	IsNotebook = page.Truthy()

	page = js.Global().Get("gokernel")
	ids  int // number of ids that UniqueId has returned
)

// show shows an output in a format. An output with an id replaces the one before it.
func show(id, mime string, content any) {
	if !IsNotebook {
		return
	}
	text, err := json.Marshal(map[string]any{"id": id, "data": map[string]any{mime: content}})
	if err != nil {
		panic("gonbui: " + err.Error())
	}
	page.Call("display", string(text))
}

func DisplayHTML(html string)                 { show("", "text/html", html) }
func DisplayHtml(html string)                 { DisplayHTML(html) }
func DisplayHTMLF(format string, args ...any) { DisplayHTML(fmt.Sprintf(format, args...)) }
func DisplayHtmlf(format string, args ...any) { DisplayHTMLF(format, args...) }
func UpdateHTML(id, html string)              { show(id, "text/html", html) }
func UpdateHtml(id, html string)              { UpdateHTML(id, html) }
func DisplayMarkdown(markdown string)         { show("", "text/markdown", markdown) }
func UpdateMarkdown(id, markdown string)      { show(id, "text/markdown", markdown) }
func DisplayPNG(png []byte)                   { show("", "image/png", png) }
func DisplayPng(png []byte)                   { DisplayPNG(png) }
func DisplaySVG(svg string)                   { DisplayHTML("<div>" + svg + "</div>") }
func DisplaySvg(svg string)                   { DisplaySVG(svg) }

// DisplayImage shows a picture as PNG.
func DisplayImage(m image.Image) error {
	var b bytes.Buffer
	err := png.Encode(&b, m)
	if err == nil {
		DisplayPNG(b.Bytes())
	}
	return err
}

// EmbedImageAsPNGSrc returns a picture as the src of an HTML img.
func EmbedImageAsPNGSrc(m image.Image) (string, error) {
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), err
}

// UniqueId returns an id that no other output of the page has.
func UniqueId() string {
	ids++
	return page.Get("prefix").String() + "gonbui-" + strconv.Itoa(ids)
}

func UniqueID() string { return UniqueId() }

// Sync and Error have nothing to do: an output is shown when it is passed to the page.
func Sync() {}

func Error() error { return nil }
