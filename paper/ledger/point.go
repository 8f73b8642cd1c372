package ledger

import (
	"fmt"
	"reflect"
)

// Of describes a point of a check, a struct: each exported field under its tag "at", and more names with their values.
func Of(point any, more ...any) func() Instance {
	return func() Instance {
		at, v := Instance{}, reflect.ValueOf(point)
		for k := range v.NumField() {
			if name := v.Type().Field(k).Tag.Get("at"); name != "" {
				at[name] = v.Field(k).Interface()
				if s, ok := at[name].(fmt.Stringer); ok && v.Field(k).CanInt() {
					at[name] = s.String()
				}
			}
		}
		for k := 0; k < len(more); k += 2 {
			at[more[k].(string)] = more[k+1]
		}
		return at
	}
}
