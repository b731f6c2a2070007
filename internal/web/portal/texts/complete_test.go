//go:build soak

package texts_test

import (
	"os"
	"testing"

	"github.com/perennialhq/perennial/internal/base/locale"
)

func TestEveryTextIsTranslated(t *testing.T) {
	t.Parallel()
	for _, p := range load(t, os.DirFS(".")).Problems() {
		if p.Kind == locale.Missing {
			t.Errorf("%s.json lacks %s", p.Language, p.Key)
		}
	}
}
