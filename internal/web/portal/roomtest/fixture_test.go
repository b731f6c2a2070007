package roomtest_test

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
)

// openRooms opens a site where Maya has a subscription, as change makes it, with three orders to come,
// and signs her in.
func openRooms(t *testing.T, change func(*contract.Contract), rooms func(*portaltest.Site) []portal.Room) *portaltest.Site {
	t.Helper()
	s := portaltest.Open(t, rooms)
	is := portaltest.Subscription(1)
	if change != nil {
		change(&is)
	}
	s.Put(s.First, []contract.Contract{is}, portaltest.Orders(1, 3)...)
	s.SignIn(portaltest.Maya)
	return s
}

// hiddenField returns the value of a hidden field of a page.
func hiddenField(t *testing.T, p portaltest.Page, name string) string {
	t.Helper()
	_, rest, _ := strings.Cut(p.Text, `name="`+name+`" value="`)
	value, _, found := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("%s has no field %s:\n%s", p.Path, name, p.Text)
	}
	return value
}
