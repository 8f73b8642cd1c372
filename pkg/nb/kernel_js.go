package nb

import (
	"encoding/json"
	"strconv"
	"syscall/js"
)

// The page defines the object gokernel: its method display shows an output, and its
// prefix is different for each program.
var page = js.Global().Get("gokernel")

var ids int // number of ids that uniqueID has returned

func inNotebook() bool { return page.Truthy() }

func uniqueID() string {
	if !inNotebook() {
		return ""
	}
	ids++
	return page.Get("prefix").String() + strconv.Itoa(ids)
}

func send(id string, forms, metadata map[string]any) {
	text, err := json.Marshal(map[string]any{"id": id, "data": forms, "metadata": metadata})
	if err != nil {
		panic("nb: " + err.Error())
	}
	page.Call("display", string(text))
}
