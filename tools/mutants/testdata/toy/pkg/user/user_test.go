package user

import "testing"

func TestTop(t *testing.T) {
	if Top() != 10 {
		t.Error(Top())
	}
}
