package sandbox

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// createAtSecond makes a weekly contract through the second instance's API, for the first customer of the
// demo store and what that customer pays with.
func createAtSecond(t *testing.T, m Manifest) int64 {
	t.Helper()
	customer := m.Customers[0].ID
	var of simulator.Customer
	if status, text := ask(t, "GET", fmt.Sprintf("%s/platform/customers/%d", m.Control, customer), "", ""); status != http.StatusOK || json.Unmarshal([]byte(text), &of) != nil {
		t.Fatalf("the customer: %d %s", status, text)
	}
	var now struct{ Now time.Time }
	if status, text := ask(t, "GET", m.Control+"/clock", "", ""); status != http.StatusOK || json.Unmarshal([]byte(text), &now) != nil {
		t.Fatalf("the clock: %d %s", status, text)
	}
	body := fmt.Sprintf(`{"customerId":%d,"paymentMethodId":%q,"nextBillingDate":%q,"status":"ACTIVE","billingIntervalType":"WEEK","billingIntervalCount":1,
		"deliveryIntervalType":"WEEK","deliveryIntervalCount":1,"deliveryAddress1":"12 Rua Nova","deliveryCity":"Lisboa","deliveryCountryCode":"PT",
		"deliveryPriceAmount":3,"lines":[{"variantId":4001,"quantity":1,"currentPrice":9}]}`, customer, of.PaymentMethods[0].ID, now.Now.AddDate(0, 0, 3).Format(time.RFC3339))
	status, text := ask(t, "POST", m.Second.Subscriptions+"/api/external/v2/subscription-contract-details/create-subscription-contract", m.Second.APIKey, body)
	var made struct{ ID string }
	if status != http.StatusCreated || json.Unmarshal([]byte(text), &made) != nil {
		t.Fatalf("creating answered %d %s", status, text)
	}
	id, err := strconv.ParseInt(made.ID[strings.LastIndexByte(made.ID, '/')+1:], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// checkBooksOfTwo compares the platform's books with its own calendar, for both instances: the second one
// charges its weekly contracts, the first one all others, and each cycle once.
func (b *bench) checkBooksOfTwo(ofSecond ...int64) {
	b.t.Helper()
	b.checkBooks()
	made := map[int64][]int{}
	for _, o := range b.orders("") {
		want := clientID
		if slices.Contains(ofSecond, o.Contract) {
			want = secondClientID
		}
		if o.App != want {
			b.t.Errorf("cycle %d of contract %d was charged by %s, want %s", o.Cycle, o.Contract, o.App, want)
		}
		made[o.Contract] = append(made[o.Contract], o.Cycle)
	}
	for _, id := range ofSecond {
		cycles, err := b.sim.Cycles(id)
		if err != nil {
			b.t.Fatal(err)
		}
		var want []int
		for _, c := range cycles {
			if c.Expected.Before(b.clock.Now()) {
				want = append(want, c.Index)
			}
		}
		if len(want) == 0 || !slices.Equal(made[id], want) {
			b.t.Errorf("contract %d of the second instance: the orders are for cycles %v, want %v", id, made[id], want)
		}
	}
}

// checkKnown compares the contracts that the second instance knows, and those that the first does not.
func (b *bench) checkKnown(ofSecond ...int64) {
	b.t.Helper()
	m := b.Manifest()
	if got := b.found(m.Second.Subscriptions, m.Second.APIKey, ""); !slices.Equal(got, ofSecond) {
		b.t.Errorf("the second instance knows %v, want %v", got, ofSecond)
	}
	first := b.found(m.Subscriptions, m.APIKey, "")
	if len(first) == 0 || slices.ContainsFunc(first, func(id int64) bool { return slices.Contains(ofSecond, id) }) {
		b.t.Errorf("the first instance knows %v", first)
	}
}

func TestTwoInstancesChargeTheirOwnContracts(t *testing.T) {
	t.Parallel()
	b := start(t, Options{Second: true})
	m := b.Manifest()
	b.checkKnown()
	for what, same := range map[string]bool{
		"API keys": m.APIKey == m.Second.APIKey, "tokens": m.PlatformToken == m.Second.PlatformToken, "secrets": m.AppSecret == m.Second.AppSecret,
		"passwords": m.DashboardPassword == m.Second.DashboardPassword, "addresses": m.Subscriptions == m.Second.Subscriptions, "dashboards": m.Dashboard == m.Second.Dashboard,
	} {
		if same {
			t.Errorf("the instances have the same %s", what)
		}
	}
	for _, base := range []string{m.Second.Subscriptions, m.Second.Memberships} {
		if status, _ := ask(t, "GET", base+"/api/external/v2/subscription-contract-details", m.APIKey, ""); status != http.StatusUnauthorized {
			t.Errorf("%s answers %d to a key of the first instance", base, status)
		}
	}
	if status, text := ask(t, "GET", m.Second.Dashboard, "", ""); status != http.StatusOK || !strings.Contains(text, "assword") {
		t.Errorf("the second dashboard answers %d", status)
	}
	made := createAtSecond(t, m)
	b.checkKnown(made)
	r := b.advance("P40D")
	b.checkBooksOfTwo(made)
	if r.Billed != r.Orders || r.Orders != len(b.orders("")) {
		t.Errorf("the report is %+v", r)
	}
	var mails []message
	b.direct("GET", "/mail", "", &mails)
	sent := map[string]int{}
	for _, mail := range mails {
		sent[mail.Instance]++
	}
	if len(sent) != 2 || sent[firstName] == 0 || sent[secondName] == 0 {
		t.Errorf("e-mails by instance: %v", sent)
	}
	b.uninstallsOneOfTwo(made)
}

// uninstallsOneOfTwo removes the app of one instance after that of the other.
func (b *bench) uninstallsOneOfTwo(made int64) {
	b.t.Helper()
	b.direct("POST", "/platform/shops/"+demo.Main+"/uninstall", "", nil)
	before := len(b.orders(fmt.Sprintf("?contractId=%d", made)))
	b.advance("P15D")
	if c, err := b.sim.Contract(9001); err != nil || c.Status != "CANCELLED" {
		b.t.Errorf("the first instance's contract is %s after its app was uninstalled: %v", c.Status, err)
	}
	if after := len(b.orders(fmt.Sprintf("?contractId=%d", made))); after != before+2 {
		b.t.Errorf("the second instance made %d orders in 15 days after the first app was uninstalled", after-before)
	}
	b.direct("POST", "/platform/shops/"+demo.Main+"/uninstall?instance=second", "", nil)
	b.advance("P3D")
	if c, err := b.sim.Contract(made); err != nil || c.Status != "CANCELLED" {
		b.t.Errorf("the second instance's contract is %s after its app was uninstalled: %v", c.Status, err)
	}
}

func TestTwoInstancesAreRestored(t *testing.T) {
	t.Parallel()
	testSnapshotOfTwo(t, Options{Second: true, Contracts: 12})
}

func testSnapshotOfTwo(t *testing.T, o Options) {
	b := start(t, o)
	made := createAtSecond(t, b.Manifest())
	b.advance("P10D")
	var ref snapshotRef
	b.direct("POST", "/snapshot", "", &ref)
	b.advance("P10D")
	then := b.orders("")
	later := createAtSecond(t, b.Manifest())
	b.checkKnown(made, later)
	b.direct("POST", "/restore", `{"id":"`+ref.ID+`"}`, nil)
	b.checkKnown(made)
	b.advance("P10D")
	if got := b.orders(""); !reflect.DeepEqual(got, then) {
		t.Errorf("the same days end in another way:\n%+v\n%+v", got, then)
	}
	b.checkBooksOfTwo(made)
	b.direct("POST", "/reset", "", nil)
	b.checkKnown()
}

func TestTwoInstancesContinueAfterRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{databaseFile, secondFile} {
		migrated(t, home{dir}.path(path))
	}
	first, err := Start(t.Context(), Options{DataDir: dir, Listen: "127.0.0.1:0", Contracts: 12, Second: true})
	if err != nil {
		t.Fatal(err)
	}
	one := &bench{Sandbox: first, t: t}
	made := createAtSecond(t, one.Manifest())
	one.direct("POST", "/snapshot", "", nil)
	one.advance("P10D")
	before, key := one.orders(""), one.Manifest().Second.APIKey
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Options{DataDir: dir, Listen: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "--second") {
		t.Errorf("one instance alone was started: %v", err)
	}
	blocked, err := listen(t.Context(), "127.0.0.1:0", first.secrets.Ports, portCount+instancePorts) // the webhooks must follow to others
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(blocked)
	leaveRunning(t, home{dir}.path(secondFile))
	two := start(t, Options{DataDir: dir, Second: true})
	if two.second.urls.Subscriptions == first.second.urls.Subscriptions {
		t.Fatal("the ports are the same: the test proves nothing")
	}
	if got := two.Manifest().Second.APIKey; got != key {
		t.Errorf("the key is %s and was %s", got, key)
	}
	if got := two.orders(""); !reflect.DeepEqual(got, before) {
		t.Error("it is not what it was")
	}
	two.checkKnown(made)
	bought := two.buyFromSecond()
	two.checkKnown(made, bought)
	two.advance("P20D")
	two.checkBooksOfTwo(made, bought)
	two.direct("POST", "/restore", `{"id":"snapshot-1"}`, nil) // of the addresses before
	bought = two.buyFromSecond()
	two.checkKnown(made, bought)
	two.advance("P30D")
	two.checkBooksOfTwo(made, bought)
}

// leaveRunning marks a job of a database as running, as a process that was killed leaves it.
func leaveRunning(t *testing.T, path string) {
	t.Helper()
	err := sqliteVault{path}.do(t.Context(), func(conn *sql.Conn) error {
		done, err := conn.ExecContext(t.Context(), `UPDATE river_job SET state = 'running', finalized_at = NULL WHERE id = (SELECT max(id) FROM river_job)`)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			return fmt.Errorf("%d jobs: %w", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// buyFromSecond makes a contract of the second instance as a checkout does: its webhook reports it.
func (b *bench) buyFromSecond() int64 {
	b.t.Helper()
	var made simulator.Made
	b.direct("POST", "/platform/contracts", checkoutBody(`"app":"`+secondClientID+`"`), &made)
	return made.Contract
}

func TestSecondInstanceNeedsDatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	const server = "postgres://127.0.0.1:1/first"
	for name, tt := range map[string]struct {
		options Options
		want    string
	}{
		"none at a server":             {Options{Second: true, Database: server}, "--second-database"},
		"the first's":                  {Options{Second: true, Database: server, SecondDatabase: server}, "--second-database"},
		"one without a second":         {Options{SecondDatabase: server}, "--second"},
		"a folder of one instance":     {Options{DataDir: folderOfOne(t), Second: true}, "one instance"},
		"two instances on taken ports": {Options{Second: true, Listen: "127.0.0.1:65529"}, "not a port"},
	} {
		tt.options.DataDir = cmp.Or(tt.options.DataDir, t.TempDir())
		s, err := Start(t.Context(), tt.options)
		if err == nil {
			t.Errorf("%s: it started: %v", name, s.Close())
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func folderOfOne(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := (home{dir}).openSecrets(false); err != nil {
		t.Fatal(err)
	}
	return dir
}

// once asks on a connection of its own, so that no client asks again; the status is 0 when there is no answer.
func once(t *testing.T, method, url, key, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("X-API-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0
	}
	return res.StatusCode
}

func TestRequestsToAnInstanceFail(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Second: true, Empty: true, MainOnly: true, Unconfirmed: true})
	m := b.Manifest()
	two := m.Second
	search := two.Subscriptions + "/api/external/v2/subscription-contract-details"
	endpoints := two.Subscriptions + "/api/external/v2/webhook-endpoints"
	count := func() int {
		t.Helper()
		status, text := ask(t, "GET", endpoints, two.APIKey, "")
		var list []any
		if status != http.StatusOK || json.Unmarshal([]byte(text), &list) != nil {
			t.Fatalf("the endpoints: %d %s", status, text)
		}
		return len(list)
	}
	for i, tt := range []struct {
		kind    simulator.FaultKind
		status  int
		changed []int // endpoints that are made
	}{
		{simulator.TimeoutBefore, 0, []int{0}}, {simulator.TimeoutAfter, 0, []int{1}}, {simulator.HTTP500, 500, []int{0, 1}},
		{simulator.Throttled, 429, []int{0}}, {simulator.ConnectionReset, 0, []int{0, 1}},
	} {
		before := count()
		b.direct("POST", "/instances/faults", fmt.Sprintf(`{"instance":"second","rate":1,"kinds":[%q],"seed":%d,"for":"P1D"}`, tt.kind, i), nil)
		if got := once(t, "POST", endpoints, two.APIKey, fmt.Sprintf(`{"url":"http://127.0.0.1:1/%d","types":["subscription.created"]}`, i)); got != tt.status {
			t.Errorf("%s: the answer has status %d, want %d", tt.kind, got, tt.status)
		}
		if got := once(t, "GET", two.Memberships+"/api/external/v2/subscription-contract-details", two.APIKey, ""); got != tt.status {
			t.Errorf("%s: memberships answer with status %d, want %d", tt.kind, got, tt.status)
		}
		for _, url := range []string{m.Subscriptions + "/healthz", two.Subscriptions + "/healthz", two.Dashboard + "/admin"} {
			if got := once(t, "GET", url, "", ""); got != http.StatusOK {
				t.Errorf("%s: %s answers with status %d", tt.kind, url, got)
			}
		}
		if got := once(t, "GET", m.Subscriptions+"/api/external/v2/subscription-contract-details", m.APIKey, ""); got != http.StatusOK {
			t.Errorf("%s: the first instance answers with status %d", tt.kind, got)
		}
		var views map[string]faultsView
		b.direct("GET", "/instances/faults", "", &views)
		if views[secondName].Counts[tt.kind] != 2 || len(views[firstName].Counts) != 0 {
			t.Errorf("%s: the counts are %+v", tt.kind, views)
		}
		if i%2 == 0 {
			b.direct("DELETE", "/instances/faults", "", nil)
		} else {
			b.advance("P2D")
		}
		if got := count() - before; !slices.Contains(tt.changed, got) {
			t.Errorf("%s: %d endpoints were made, want %v", tt.kind, got, tt.changed)
		}
	}
	draw := func(seed int) (drawn []int) {
		b.direct("POST", "/instances/faults", fmt.Sprintf(`{"instance":"second","rate":0.5,"seed":%d}`, seed), nil)
		for range 30 {
			drawn = append(drawn, once(t, "GET", search, "no key", ""))
		}
		return drawn
	}
	seven := draw(7)
	if again, eight := draw(7), draw(8); !slices.Equal(seven, again) || slices.Equal(seven, eight) || !slices.Contains(seven, http.StatusUnauthorized) || !slices.Contains(seven, 0) {
		t.Errorf("seed 7 draws %v, then %v; seed 8 draws %v", seven, again, eight)
	}
	for body, want := range map[string]int{`{"instance":"third","rate":1}`: 404, `{"instance":"second"}`: 400, `{"rate":1,"kinds":["webhook_lost"]}`: 400, `{"rate":2}`: 400} {
		if status, text := ask(t, "POST", m.Control+"/instances/faults", "", body); status != want {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}

	var consent consentView
	b.direct("GET", "/consent?instance=second", "", &consent)
	if consent.Confirmed {
		t.Error("the second instance is confirmed")
	}
	b.direct("POST", "/consent?instance=second", "", &consent)
	if !consent.Confirmed {
		t.Error("the second instance is not confirmed")
	}
	b.direct("GET", "/consent", "", &consent)
	if consent.Confirmed {
		t.Error("the first instance was confirmed with the second")
	}
}
