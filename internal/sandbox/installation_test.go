package sandbox

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// until waits for something that a page does after it was loaded.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for ends := time.Now().Add(5 * time.Minute); !done(); {
		if time.Now().After(ends) {
			t.Fatalf("%s did not happen", what)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
}

func TestMerchantInstallsInABrowser(t *testing.T) {
	t.Parallel()
	b := start(t, Options{Empty: true, NotInstalled: true, CheckEvery: reconcileEvery})
	store := func() (shop.Shop, bool) {
		found, err := b.front.running().Store.Shops().ShopByDomain(t.Context(), demo.Main)
		if err != nil && !fault.Is(err, fault.NotFound) {
			t.Fatal(err)
		}
		return found, err == nil && found.Connected
	}
	if _, connected := store(); connected {
		t.Fatal("the store has the app before it was installed")
	}
	tab := browsertest.Start(t).Tab(t)
	title := func() string { return browsertest.Eval[string](tab, "document.title") }
	apps := b.urls.Platform + "/store/" + demo.Main + "/admin"
	install := func(button string) {
		t.Helper()
		if status := tab.Open(apps); status != http.StatusOK {
			t.Fatalf("the admin: %d", status)
		}
		if tab.Click("a.act"); !strings.HasPrefix(title(), "Install Perennial") {
			t.Fatalf("the consent page: %s", title())
		}
		if status := tab.Click(button); status != http.StatusOK || !strings.HasPrefix(title(), "Perennial ") {
			t.Fatalf("the app in the admin: %d %s", status, title())
		}
	}
	install("form button")
	first, connected := store()
	if !connected || first.Token == b.secrets.Tokens[demo.Main] {
		t.Fatalf("after the installation: %+v", first)
	}
	list, err := b.front.running().Connections.Connections(t.Context(), first.ID)
	if err != nil || len(list) != 1 || len(list[0].Missing()) != 0 || list[0].Refresh == "" {
		t.Fatalf("the connection: %+v, %v", list, err)
	}

	tab.Open(apps)
	tab.Click("form[action$=reduce-scopes] button")
	if status, answer := ask(t, http.MethodPost, b.urls.Control+"/clock", "", `{"advance":"P2D"}`); status != http.StatusOK { // the service finds it when it refreshes its token
		t.Fatalf("%d %s", status, answer)
	}
	tab.Click("a.act")
	until(t, "the frame's way to the consent page", func() bool { return strings.HasPrefix(title(), "Perennial asks for more") })
	if status := tab.Click("form button"); status != http.StatusOK || !strings.HasPrefix(title(), "Perennial ") {
		t.Fatalf("after the second consent: %d %s", status, title())
	}
	if list, err = b.front.running().Connections.Connections(t.Context(), first.ID); err != nil || len(list[0].Missing()) != 0 {
		t.Errorf("after the second consent: %+v, %v", list, err)
	}

	tab.Open(apps)
	tab.Click("form[action$=uninstall] button")
	if err := b.steps.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the connection", func() bool { _, connected := store(); return !connected })
	install("form button")
	again, connected := store()
	if !connected || again.ID != first.ID {
		t.Errorf("after the second installation: %+v", again)
	}
}
