package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"
)

// main carries out the order in the global variable order, {"check": id, "stored": text}, {"read": DOT},
// {"train": settings} or {"film": film, "x": sequence}. It passes the name and the JSON of each answer to the
// global function post.
func main() {
	post := func(name string, answer any) {
		text, err := json.Marshal(answer)
		if err != nil {
			name, text = "error", fmt.Appendf(nil, "%q", err)
		}
		js.Global().Call("post", name, string(text))
	}
	if err := carryOut(js.Global().Get("order").String(), post); err != nil {
		post("error", err.Error())
	}
}

func carryOut(text string, post func(name string, answer any)) error {
	var order struct {
		Check, Stored string
		Read          *string
		Train         *settings
		Film          *film
		X             []int
	}
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	if order.Read != nil {
		g, err := readForest(*order.Read)
		if err == nil {
			post("graph", g)
		}
		return err
	}
	if order.Film != nil {
		all, err := order.Film.frames(order.X)
		if err == nil {
			post("frames", all)
		}
		return err
	}
	if order.Train != nil {
		e, err := learn(context.Background(), *order.Train, post)
		if err == nil {
			post("ending", e)
		}
		return err
	}
	c, err := check(context.Background(), order.Check, []byte(order.Stored))
	if err == nil {
		post("checked", c)
	}
	return err
}
