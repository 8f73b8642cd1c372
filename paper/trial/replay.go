package trial

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// Today returns the number of days since 1970, by which replays select stretches and runs, or the value of the
// environment variable REPLAY_DAY. It panics if the variable is not such a number.
//
// make sets the variable, because Go's test cache expires when a variable changes, not with the day.
func Today() int {
	text := os.Getenv("REPLAY_DAY")
	if text == "" {
		return int(max(0, time.Now().Unix()) / (24 * 60 * 60))
	}
	day, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		panic(fmt.Sprintf("trial: REPLAY_DAY is %q, want the number of a day since 1970, or nothing", text))
	}
	return int(day)
}
