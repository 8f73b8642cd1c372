package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"learncausal/paper/trial"
)

// valuesOf returns the values of a setting, at most most: v is a value, a range, or a list
// of values and ranges. A value of heads is a list itself.
func valuesOf(key string, v any, most int) ([]any, error) {
	list, ok := v.([]any)
	if key == "heads" && ok && !slices.ContainsFunc(list, func(h any) bool { _, pair := h.([]any); return pair }) {
		return []any{v}, nil
	}
	if !ok {
		list = []any{v}
	}
	var all []any
	for _, v := range list {
		more := []any{v}
		switch v := v.(type) {
		case map[string]any:
			var err error
			if more, err = rangeOf(v, most); err != nil {
				return nil, err
			}
		case float64:
			if math.IsNaN(v - v) {
				return nil, fmt.Errorf("%v is not a finite number", v)
			}
		case []any:
			if key != "heads" {
				return nil, fmt.Errorf("list %v in a list, want values and ranges", v)
			}
		}
		if all = append(all, more...); len(all) > most {
			return nil, fmt.Errorf("more than %d values", most)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the list is empty, want at least one value")
	}
	return expandNames(key, all), nil
}

// expandNames replaces figure-9 by the names of its graphs.
func expandNames(key string, values []any) []any {
	if key != "graph" {
		return values
	}
	var all []any
	for _, v := range values {
		if v != "figure-9" {
			all = append(all, v)
			continue
		}
		for _, g := range trial.ManyGraphs() {
			all = append(all, g.Name)
		}
	}
	return all
}

// rangeOf returns the values a, a+s, ... up to b of {from = a, to = b, step = s}, where s
// is 1 if there is no step, or the values a, a*s, ... up to b of {from = a, to = b,
// times = s}. Fractions are rounded to twelve digits.
func rangeOf(table map[string]any, most int) ([]any, error) {
	form := errors.New("want numbers in a range {from = 0, to = 9}, which may have a step = 3 or a factor times = 10")
	number := map[string]float64{}
	whole := true
	for key, v := range table {
		x, ok := v.(float64)
		n, isWhole := v.(int64)
		if isWhole {
			x, ok = float64(n), -1<<53 <= n && n <= 1<<53
		}
		if !ok || math.IsNaN(x-x) || !slices.Contains([]string{"from", "to", "step", "times"}, key) {
			return nil, fmt.Errorf("%q is %v; %w", key, v, form)
		}
		number[key], whole = x, whole && isWhole
	}
	from, to := number["from"], number["to"]
	step, adds := number["step"]
	times, multiplies := number["times"]
	switch {
	case table["from"] == nil || table["to"] == nil || adds && multiplies || from > to:
		return nil, fmt.Errorf("%v; %w, from at most to", table, form)
	case !adds:
		step = 1
	}
	if step <= 0 || multiplies && (times <= 1 || from <= 0) {
		return nil, fmt.Errorf("%v, want a step above 0, or times above 1 and from above 0", table)
	}
	var all []any
	for k, x := 0, from; ; k++ {
		if multiplies {
			x = rounded(from * math.Pow(times, float64(k)))
		} else {
			x = rounded(from + float64(step*float64(k)))
		}
		if x > to {
			return all, nil
		}
		if len(all) == most {
			return nil, fmt.Errorf("more than %d values", most)
		}
		if whole {
			all = append(all, int64(x))
		} else {
			all = append(all, x)
		}
	}
}

// rounded returns x rounded to twelve digits, or x itself if x is whole.
func rounded(x float64) float64 {
	if x == math.Trunc(x) {
		return x
	}
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		panic("sweep: " + err.Error()) // impossible: FormatFloat wrote it
	}
	return y
}
