package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Cursor is a place in a list from the newest to the oldest: what follows is older than the
// element that it names. The zero Cursor is the beginning.
type Cursor struct {
	At time.Time
	ID int64
}

// String returns the cursor as addresses have it: milliseconds and a number, or "" for the
// beginning.
func (c Cursor) String() string {
	if c.At.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d-%d", c.At.UnixMilli(), c.ID)
}

// ParseCursor returns the cursor of a text that String made. Any other text is Invalid.
func ParseCursor(text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	at, id, _ := strings.Cut(text, "-")
	ms, err := strconv.ParseInt(at, 10, 64)
	number, wrong := strconv.ParseInt(id, 10, 64)
	if err != nil || wrong != nil {
		return Cursor{}, fault.New(fault.Invalid, "the page of the list does not exist")
	}
	return Cursor{At: time.UnixMilli(ms), ID: number}, nil
}
