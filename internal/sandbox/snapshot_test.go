package sandbox

import (
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

func TestSnapshotRestoresEverything(t *testing.T) {
	t.Parallel()
	testSnapshot(t, Options{MainOnly: true, Contracts: 20})
}

func testSnapshot(t *testing.T, o Options) {
	b := start(t, o)
	b.advance("P10D")
	var ref snapshotRef
	b.direct("POST", "/snapshot", "", &ref)
	then := b.history()
	b.advance("P20D")
	after := b.history()
	var made simulator.Made
	b.direct("POST", "/platform/contracts", checkoutBody(`"nextBillingDate":"2026-12-20"`), &made)
	var now clockView
	b.direct("POST", "/restore", `{"id":"`+ref.ID+`"}`, &now)
	if got, _ := now.Now.MarshalText(); string(got) != "2026-11-11T12:00:00Z" {
		t.Errorf("it is %s after the restore", got)
	}
	if got := b.history(); !reflect.DeepEqual(got, then) {
		t.Errorf("it is not what it was")
	}
	m := b.Manifest()
	if got := b.found(m.Subscriptions, m.APIKey, ""); slices.Contains(got, made.Contract) {
		t.Errorf("contract %d of a future that was taken back is still there", made.Contract)
	}
	b.advance("P20D")
	if got := b.history(); !reflect.DeepEqual(got, after) {
		t.Errorf("the same days end in another way")
	}
	b.direct("POST", "/reset", "", &now)
	if got, _ := now.Now.MarshalText(); string(got) != "2026-11-01T12:00:00Z" {
		t.Errorf("it is %s after the reset", got)
	}
	if got := b.orders(""); len(got) != 0 {
		t.Errorf("%d orders are left", len(got))
	}
	if status, text := ask(t, "GET", m.Subscriptions+"/api/external/v2/activity-logs", m.APIKey, ""); status != http.StatusOK {
		t.Errorf("the key: %d %s", status, text)
	}
	b.advance("P30D")
	b.checkBooks()
}

func TestSandboxContinuesAfterRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Start(t.Context(), Options{DataDir: dir, Listen: "127.0.0.1:0", MainOnly: true, Contracts: 16})
	if err != nil {
		t.Fatal(err)
	}
	one := &bench{Sandbox: first, t: t}
	one.advance("P20D")
	before, key, was := one.history(), one.Manifest().APIKey, one.clock.Now()
	if _, err := Start(t.Context(), Options{DataDir: dir, Listen: "127.0.0.1:0"}); err == nil {
		t.Fatal("two sandboxes run on one folder")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	// Other ports: the webhooks must follow.
	two := start(t, Options{DataDir: dir, Listen: "127.0.0.1:0"})
	if got := two.Manifest().APIKey; got != key {
		t.Errorf("the key is %s and was %s", got, key)
	}
	if status, text := ask(t, "GET", two.urls.Subscriptions+"/api/external/v2/activity-logs", key, ""); status != http.StatusOK {
		t.Errorf("the key: %d %s", status, text)
	}
	if got := two.clock.Now(); !got.Equal(was) {
		t.Errorf("it is %s and was %s", got, was)
	}
	if got := two.history(); !reflect.DeepEqual(got, before) {
		t.Error("it is not what it was")
	}
	two.advance("P20D")
	two.checkBooks()
}

func TestWebhooksFollowChangedPorts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Start(t.Context(), Options{DataDir: dir, Listen: "127.0.0.1:0", Contracts: 2})
	if err != nil {
		t.Fatal(err)
	}
	(&bench{Sandbox: first, t: t}).direct("POST", "/snapshot", "", nil)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	blocked, err := listen(t.Context(), "127.0.0.1:0", first.secrets.Ports, portCount) // they stay taken
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(blocked)
	two := start(t, Options{DataDir: dir, Listen: "127.0.0.1:0"})
	if two.urls.Subscriptions == first.urls.Subscriptions {
		t.Fatal("the ports are the same: the test proves nothing")
	}
	known := func(why string) {
		t.Helper()
		var made simulator.Made
		two.direct("POST", "/platform/contracts", checkoutBody(""), &made)
		if got := two.found(two.urls.Subscriptions, two.Manifest().APIKey, ""); !slices.Contains(got, made.Contract) {
			t.Errorf("%s, the service does not have contract %d: %v", why, made.Contract, got)
		}
	}
	known("after the start")
	two.direct("POST", "/restore", `{"id":"snapshot-1"}`, nil)
	known("after a restore of the time before")
}

func TestSnapshotOnPostgreSQL(t *testing.T) {
	t.Parallel()
	testSnapshot(t, Options{Database: storetest.PostgresOptions(t).URL, MainOnly: true, Contracts: 12, Inline: true})
}

func TestEmptyDatabaseIsFilledFromPlatform(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Start(t.Context(), Options{DataDir: dir, Listen: "127.0.0.1:0", Contracts: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	b := start(t, Options{DataDir: dir, Database: filepath.Join(t.TempDir(), "another.db")})
	m := b.Manifest()
	got := append(b.found(m.Subscriptions, m.APIKey, ""), b.found(m.Memberships, m.APIKey, "")...)
	if len(got) != 4 {
		t.Errorf("it knows %v", got)
	}
}
