package shorten_test

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/shorten"
)

func TestTextIsShortened(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "", "café": "café", "cafés": "caf…", "日本語です": "日本語…"} {
		if got := shorten.Text(given, 4); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
