package enum_test

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/enum"
	"github.com/perennialhq/perennial/internal/base/fault"
)

type size string

func TestParseIgnoresLetterCase(t *testing.T) {
	t.Parallel()
	if got, err := enum.Parse("a size", "lArge", size("SMALL"), "LARGE"); got != "LARGE" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestParseOfUnknownNameListsNames(t *testing.T) {
	t.Parallel()
	_, err := enum.Parse("a size", "huge", size("SMALL"), "MEDIUM", "LARGE")
	if want := `"huge" is not a size: use SMALL, MEDIUM or LARGE`; !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
