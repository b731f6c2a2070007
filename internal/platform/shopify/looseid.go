package shopify

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
)

// looseID is a number that webhooks write as a number, a string, a graph id or
// null, the same field sometimes one way and sometimes another. It is never
// negative; 0 means that there is none.
type looseID int64

// UnmarshalJSON reads any of the spellings.
func (id *looseID) UnmarshalJSON(b []byte) error {
	text := string(b)
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	if text == "" || text == "null" {
		*id = 0
		return nil
	}
	if strings.Contains(text, "/") {
		*id = numberIn(text)
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > gid.Max {
		return fault.New(fault.Invalid, "%q is not an id", text)
	}
	*id = looseID(n)
	return nil
}

// numberIn returns the number in a graph id of any type, or 0.
func numberIn(graphID string) looseID {
	if n := gid.Number(graphID); n > 0 && n <= gid.Max {
		return looseID(n)
	}
	return 0
}
