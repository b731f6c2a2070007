package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// bench is a sandbox under test.
type bench struct {
	*Sandbox
	t   *testing.T
	out bool // the first instance moves its contracts to the second one
}

// start runs a sandbox on free ports until the test ends. Its database is a copy of a
// migrated one, unless the folder has one or the options name another.
func start(t *testing.T, o Options) *bench {
	t.Helper()
	if o.DataDir == "" {
		o.DataDir = t.TempDir()
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Contracts == 0 {
		o.Contracts = 24
	}
	o.CheckEvery = cmp.Or(o.CheckEvery, rareChecks)
	if o.Database == "" {
		migrated(t, filepath.Join(o.DataDir, databaseFile))
	}
	if o.Second && o.SecondDatabase == "" {
		migrated(t, filepath.Join(o.DataDir, secondFile))
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	running := s
	t.Cleanup(func() {
		if err := running.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		running = nil // package testing keeps every parallel test's cleanups until the last test has ended
	})
	return &bench{Sandbox: s, t: t}
}

// rareChecks is the time between two comparisons with the platform, unless a test is about them: one takes
// as long as all else that happens on a day.
const rareChecks = 7 * 24 * time.Hour

// startInline does the same without workers: for tests of what comes of tasks, not of who carries them out.
func startInline(t *testing.T, o Options) *bench {
	t.Helper()
	o.Inline = true
	return start(t, o)
}

// migrated makes a migrated database unless there is one.
func migrated(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	storetest.SQLiteFile(t, path)
}

// ask sends a request and returns the answer's status and body.
func ask(t *testing.T, method, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// direct calls the control interface and reads the answer into v.
func (b *bench) direct(method, path, body string, v any) {
	b.t.Helper()
	status, text := ask(b.t, method, b.urls.Control+path, "", body)
	if status != http.StatusOK {
		b.t.Fatalf("%s %s %s: %d %s", method, path, body, status, text)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		b.t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
}

// report is the answer to a move of the clock.
type report struct {
	Now                                     string
	Billed, Failed, Mails, Webhooks, Orders int
}

func (b *bench) advance(by string) report {
	b.t.Helper()
	var r report
	b.direct("POST", "/clock", fmt.Sprintf(`{"advance":%q}`, by), &r)
	return r
}

func (b *bench) orders(query string) (list []simulator.Renewal) {
	b.t.Helper()
	b.direct("GET", "/platform/orders"+query, "", &list)
	return list
}

// found returns the numbers of the contracts that a search of the service finds.
func (b *bench) found(base, key, query string) (ids []int64) {
	b.t.Helper()
	status, text := ask(b.t, "GET", base+"/api/external/v2/subscription-contract-details?size=2000&"+query, key, "")
	if status != http.StatusOK {
		b.t.Fatalf("search: %d %s", status, text)
	}
	var rows []struct{ SubscriptionContractID int64 }
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		b.t.Fatal(err)
	}
	for _, r := range rows {
		ids = append(ids, r.SubscriptionContractID)
	}
	slices.Sort(ids)
	return ids
}

func TestManifestListsRequiredFields(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Version: "1.2.3"})
	text, err := os.ReadFile(filepath.Join(b.home.dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"version", "pid", "subscriptions", "memberships", "loyalty", "dashboard", "storefront", "platform", "control", "shop", "apiKey",
		"dashboardUser", "dashboardPassword", "platformToken", "appSecret", "apiVersion", "customers", "otherShop", "examples",
	} {
		if value, ok := fields[name]; !ok || string(value) == `""` || string(value) == "null" {
			t.Errorf("%s is %s", name, value)
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		t.Errorf("unexpected fields: %v", fields)
	}
	m := b.Manifest()
	if m.Version != "1.2.3" || m.PID != os.Getpid() || m.Shop != demo.Main || m.APIVersion != "2026-10" || !strings.HasPrefix(m.APIKey, "prn_") {
		t.Errorf("it says %+v", m)
	}
	if m.Customers[0].ID != 7001 || !slices.Equal(m.Customers[0].Contracts, []int64{9001}) {
		t.Errorf("the first customer is %+v", m.Customers[0])
	}
	info, err := os.Stat(filepath.Join(b.home.dir, "secrets.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secrets can be read by others: %v %v", info.Mode(), err)
	}
}

func TestEveryContractHasLineAndShop(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Contracts: 60})
	m := b.Manifest()
	var all []int64
	for _, c := range m.Customers {
		all = append(all, c.Contracts...)
	}
	slices.Sort(all)
	members := b.found(m.Memberships, m.APIKey, "")
	if len(members) == 0 {
		t.Error("the memberships line shows nothing")
	}
	got := append(b.found(m.Subscriptions, m.APIKey, ""), members...)
	slices.Sort(got)
	if !slices.Equal(got, all) {
		t.Errorf("the service knows %v, the platform %v", got, all)
	}
	others := append(b.found(m.Subscriptions, m.OtherShop.APIKey, ""), b.found(m.Memberships, m.OtherShop.APIKey, "")...)
	slices.Sort(others)
	if len(others) == 0 || !slices.Equal(others, m.OtherShop.Contracts) {
		t.Errorf("the other shop's key shows %v, want %v", others, m.OtherShop.Contracts)
	}
}

func TestFolderMayHaveURLCharacters(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{DataDir: filepath.Join(t.TempDir(), "store #1? 50% & more"), Contracts: 2})
	b.advance("P1D")
}

func TestEveryPortAnswers(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Contracts: 2})
	for _, row := range []struct{ url, want string }{
		{b.urls.Subscriptions + "/docs", "<html"}, {b.urls.Subscriptions + "/openapi.json", `"openapi"`}, {b.urls.Subscriptions + "/healthz", "ok"},
		{b.urls.Dashboard, "Sign in as"}, {b.urls.Storefront, "House Blend"}, {b.urls.Control, "/clock"}, {b.urls.Control + "/mail", "subscription_created"},
	} {
		if status, text := ask(t, "GET", row.url, "", ""); status != http.StatusOK || !strings.Contains(text, row.want) {
			t.Errorf("%s: %d %.200s", row.url, status, text)
		}
	}
	query := `{"query":"{ shop { myshopifyDomain } }"}`
	req, err := http.NewRequestWithContext(t.Context(), "POST", b.urls.Platform+"/admin/api/2026-10/graphql.json", strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Shopify-Access-Token", string(b.Manifest().PlatformToken))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); !strings.Contains(string(text), demo.Main) {
		t.Errorf("the platform answers %d %s", res.StatusCode, text)
	}
}

// Browsers find at the root of each port what is there; programs are answered as ever.
func TestEveryPortHasBrowserPage(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Contracts: 2})
	look := func(url, accept string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	visited := map[string]bool{}
	for _, row := range []struct {
		url, title string
		status     int // and text, for programs
		text       string
	}{
		{b.urls.Subscriptions, "Perennial subscriptions", http.StatusNotFound, `"errorKey":"pathNotFound"`},
		{b.urls.Memberships, "Perennial memberships", http.StatusNotFound, `"errorKey":"pathNotFound"`},
		{b.urls.Dashboard, "Perennial sandbox", http.StatusOK, "For the merchant. Sign in as"},
		{b.urls.Storefront, "Demo Pantry", http.StatusOK, "House Blend"},
		{b.urls.Platform, "Simulated platform", http.StatusNotFound, `{"errors":"Not Found"}`},
		{b.urls.Control, "Sandbox control", http.StatusOK, `[{"rel":"item","href":"` + b.urls.Control + `/clock"}`},
	} {
		status, page := look(row.url+"/", "text/html,*/*;q=0.8")
		if status != http.StatusOK || !strings.Contains(page, "<h1>"+row.title+"</h1>") {
			t.Errorf("%s answered a browser %d:\n%s", row.url, status, page)
		}
		if status, text := look(row.url+"/", "*/*"); status != row.status || !strings.Contains(text, row.text) {
			t.Errorf("%s answered a program %d %.300s", row.url, status, text)
		}
		for _, link := range hrefs.FindAllStringSubmatch(page, -1) {
			to := link[1]
			if strings.HasPrefix(to, "/") {
				to = row.url + to
			}
			if visited[to] || strings.HasPrefix(to, "#") {
				continue
			}
			visited[to] = true
			if status, _ := look(to, "text/html,*/*;q=0.8"); status != http.StatusOK {
				t.Errorf("%s links to %s, which answered %d", row.url, to, status)
			}
		}
	}
}

func TestPrintedCommandsWork(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Contracts: 2})
	var out bytes.Buffer
	b.announce(&out)
	for _, want := range []string{b.urls.Subscriptions + "/docs", b.urls.Storefront, b.urls.Control, b.Manifest().APIKey, "It is 2026-11-01 12:00 UTC"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %s:\n%s", want, out.String())
		}
	}
	_, rest, _ := strings.Cut(out.String(), "curl -s -H 'X-API-Key: ")
	key, rest, _ := strings.Cut(rest, "' '")
	url, _, _ := strings.Cut(rest, "'")
	if status, text := ask(t, "GET", url, key, ""); status != http.StatusOK || !strings.Contains(text, `"status":"active"`) {
		t.Errorf("%s: %d %.300s", url, status, text)
	}
}

func TestSystemClockCannotBeMoved(t *testing.T) {
	t.Parallel()
	b := start(t, Options{Empty: true, WallClock: true})
	next := time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339)
	var made simulator.Made
	b.direct("POST", "/platform/contracts", checkoutBody(`"nextBillingDate":"`+next+`"`), &made)
	m := b.Manifest()
	if got := b.found(m.Subscriptions, m.APIKey, ""); !slices.Equal(got, []int64{made.Contract}) {
		t.Errorf("the service knows %v", got)
	}
	var ref snapshotRef
	b.direct("POST", "/snapshot", "", &ref)
	for _, call := range [][2]string{{"/clock", `{"advance":"P1D"}`}, {"/restore", `{"id":"` + ref.ID + `"}`}, {"/reset", ""}} {
		if status, text := ask(t, "POST", b.urls.Control+call[0], "", call[1]); status != http.StatusBadRequest || !strings.Contains(text, "wallClock") {
			t.Errorf("%s: %d %s", call[0], status, text)
		}
	}
	var now struct{ Now time.Time }
	b.direct("GET", "/clock", "", &now)
	if apart := time.Since(now.Now).Abs(); apart > time.Minute {
		t.Errorf("it is %s", now.Now)
	}
}

func TestCloseStopsClockMove(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{DataDir: t.TempDir(), Listen: "127.0.0.1:0", Contracts: 24})
	if err != nil {
		t.Fatal(err)
	}
	moved := make(chan error)
	go func() {
		res, err := http.Post(s.urls.Control+"/clock", "application/json", strings.NewReader(`{"advance":"P20Y"}`))
		if err == nil {
			res.Body.Close()
		}
		moved <- err
	}()
	eventually(t, "time moves", func() bool { return s.clock.Now().After(beginning()) })
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-moved; err != nil {
		t.Errorf("the move of the clock was cut off: %v", err)
	}
}

func TestListenAddresses(t *testing.T) {
	for _, address := range []string{"8080", "127.0.0.1:x", "127.0.0.1:65531", "127.0.0.1:-1"} {
		if open, err := listen(t.Context(), address, nil, portCount); err == nil {
			closeAll(open)
			t.Errorf("%q is an address", address)
		}
	}
	free, err := listen(t.Context(), "127.0.0.1:0", nil, portCount)
	if err != nil {
		t.Fatal(err)
	}
	var ports []int
	for _, l := range free {
		ports = append(ports, portOf(l))
	}
	closeAll(free)
	again, err := listen(t.Context(), "127.0.0.1:0", ports, portCount)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(again)
	same := 0
	for i, l := range again {
		if portOf(l) == ports[i] {
			same++
		}
	}
	if same < portCount/2 { // others on this machine may have taken some
		t.Errorf("only %d ports are those of the last time", same)
	}
	if _, err := listen(t.Context(), fmt.Sprintf("127.0.0.1:%d", ports[0]), nil, portCount); err == nil {
		t.Error("a port was opened twice")
	}
}
