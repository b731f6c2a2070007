package page_test

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
)

func TestCursorComesBackFromItsText(t *testing.T) {
	t.Parallel()
	for _, c := range []page.Cursor{{}, {At: time.UnixMilli(1_790_000_000_123), ID: 7}} {
		if got, err := page.ParseCursor(c.String()); err != nil || !got.At.Equal(c.At) || got.ID != c.ID {
			t.Errorf("%q is read as %v, %v", c, got, err)
		}
	}
	for _, text := range []string{"x", "1", "1-", "1-x", "x-1", "1.2"} {
		if got, err := page.ParseCursor(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
}
