package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// kinds are the types that Register has named.
var kinds struct {
	sync.RWMutex
	names map[reflect.Type]string
	types map[string]reflect.Type
}

// Register names K, a type of the caller's that is a [Task], a [Model] or an [Optimiser], so that runs with a K have
// JSON and an address: the name, and the JSON of the value. The name must change where the numbers of a run change. A
// program that reads such a run must register the same name. Register panics if K is none of these, or K or the name is
// registered already.
func Register[K any](name string) {
	kinds.Lock()
	defer kinds.Unlock()
	k := reflect.TypeFor[K]()
	part := k.Implements(reflect.TypeFor[Task]()) || k.Implements(reflect.TypeFor[Model]()) ||
		k.Implements(reflect.TypeFor[Optimiser]())
	if _, taken := kinds.types[name]; taken || kinds.names[k] != "" || name == "" || !part {
		panic(fmt.Sprintf("train: %v registered as %q, want a task, a model or an optimiser, and a new name", k, name))
	}
	if kinds.names == nil {
		kinds.names, kinds.types = map[reflect.Type]string{}, map[string]reflect.Type{}
	}
	kinds.names[k], kinds.types[name] = name, k
}

// nameOf returns the registered name of the type of v, or the name of the type.
func nameOf(v any) string {
	kinds.RLock()
	defer kinds.RUnlock()
	if name := kinds.names[reflect.TypeOf(v)]; name != "" {
		return name
	}
	return fmt.Sprintf("%T", v)
}

// A setting is the JSON of a value of a registered type.
type setting struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

func (s *setting) String() string { return s.Name + " " + string(s.Value) }

// settingOf returns the setting of v, or an error if its type is not registered.
func settingOf(v any) (*setting, error) {
	name := nameOf(v)
	kinds.RLock()
	registered := kinds.types[name] == reflect.TypeOf(v)
	kinds.RUnlock()
	if !registered {
		return nil, fmt.Errorf("spec: a %T has no JSON, so that its runs are not stored: train.Register names it", v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("spec: %s: %w", name, err)
	}
	return &setting{name, b}, nil
}

// kindOf returns the value of a setting, and compacts its JSON.
func kindOf[P any](s *setting) (value P, err error) {
	kinds.RLock()
	k := kinds.types[s.Name]
	kinds.RUnlock()
	if k == nil || !k.Implements(reflect.TypeFor[P]()) {
		return value, fmt.Errorf("spec: no %v is registered as %q, want the program that trained this run, "+
			"or its train.Register", reflect.TypeFor[P](), s.Name)
	}
	v := reflect.New(k)
	if err := json.Unmarshal(s.Value, v.Interface()); err != nil {
		return value, fmt.Errorf("spec: %s: %w", s.Name, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, s.Value); err != nil {
		return value, fmt.Errorf("spec: %s: %w", s.Name, err)
	}
	s.Value = compact.Bytes()
	return v.Elem().Interface().(P), nil
}
