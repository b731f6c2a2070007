package roomtest_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
)

// What a page of the portal loads is small: for telephones on slow networks.
func TestStylesAndScriptAreSmall(t *testing.T) {
	t.Parallel()
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview})}
	})
	p := s.Get(portaltest.At + "/signin")
	for kind, row := range map[string]struct {
		address *regexp.Regexp
		most    int // bytes, uncompressed
	}{
		"styles": {regexp.MustCompile(`href="(/p/assets/[0-9a-f]+\.css)"`), 12 << 10},
		"script": {regexp.MustCompile(`src="(/p/assets/[0-9a-f]+\.js)"`), 45 << 10},
	} {
		at := row.address.FindStringSubmatch(p.Text)
		if at == nil {
			t.Fatalf("the page loads no %s:\n%s", kind, p.Text)
		}
		got := s.Get(at[1])
		if got.Status != http.StatusOK || len(got.Text) == 0 || len(got.Text) > row.most {
			t.Errorf("the %s answer %d with %d bytes, at most %d are allowed", kind, got.Status, len(got.Text), row.most)
		}
	}
}
