package toy

import "testing"

func TestSum(t *testing.T) {
	if s := Sum([]int{1, 2}); s != 3 {
		t.Error(s)
	}
	if x := Clamp(3); x != 3 {
		t.Error(x)
	}
}

func TestCountdown(t *testing.T) {
	if k := Countdown(4); k != 4 {
		t.Error(k)
	}
}

func TestCheck(t *testing.T) {
	if err := Check(1); err != nil {
		t.Error(err)
	}
}
