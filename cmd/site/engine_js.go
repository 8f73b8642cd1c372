package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"
)

// main carries out the order that the worker holds, {"check": id, "stored": text} or
// {"train": settings}, and answers through the worker's function
// post, with the name of an answer and its JSON.
func main() {
	post := func(name string, answer any) {
		text, err := json.Marshal(answer)
		if err != nil {
			name, text = "error", fmt.Appendf(nil, "%q", err)
		}
		js.Global().Call("post", name, string(text))
	}
	answer, err := carryOut(js.Global().Get("order").String(), func(a any) { post(name(a), a) })
	if err != nil {
		post("error", err.Error())
		return
	}
	post(name(answer), answer)
}

func carryOut(text string, tell func(any)) (any, error) {
	var order struct {
		Check, Stored string
		Train         *settings
	}
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return nil, err
	}
	if order.Train != nil {
		return learn(context.Background(), *order.Train, tell)
	}
	return check(context.Background(), order.Check, []byte(order.Stored))
}

// name returns what the page calls an answer.
func name(answer any) string {
	switch answer.(type) {
	case *checked:
		return "checked"
	case outlook:
		return "outlook"
	case look:
		return "look"
	case float64:
		return "share"
	}
	return "ending"
}
