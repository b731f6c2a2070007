package simulator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
)

// rows returns everything that a platform holds.
func rows(t *testing.T, s *Simulator) map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Snapshot(&b); err != nil {
		t.Fatal(err)
	}
	var list []row
	if err := json.Unmarshal(b.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range list {
		out[r.Kind+" "+r.Shop+" "+r.ID] = string(r.JSON)
	}
	return out
}

// busy does something of every kind.
func (w *world) busy() Made {
	w.t.Helper()
	made := w.monthly()
	s := newSink(w.t, 500)
	w.subscribe(s, "SUBSCRIPTION_CONTRACTS_UPDATE", "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS")
	w.edit(w.open(made.Contract), map[string]any{"note": "open"})
	w.skip(made.Contract, 2)
	if err := w.sim.AddCode(CodeSpec{Code: "WELCOME10", Percent: 10, UsageLimit: 3}); err != nil {
		w.t.Fatal(err)
	}
	d := w.open(made.Contract)
	w.redeem(d, "welcome10")
	if code := w.commit(d); code != "" {
		w.t.Fatal(code)
	}
	cycle := w.openCycle(made.Contract, 4)
	w.edit(cycle, map[string]any{"note": "for one"})
	if code := w.commitCycle(cycle); code != "" {
		w.t.Fatal(code)
	}
	if _, err := w.sim.AddPaymentMethod(made.Customer, PayPal); err != nil {
		w.t.Fatal(err)
	}
	if err := w.sim.Outcome(Outcome{Contract: made.Contract, Code: "DO_NOT_HONOR", Cycles: []int{3}}); err != nil {
		w.t.Fatal(err)
	}
	w.pass("2025-02-01T15:00:00Z")
	w.charge(made.Contract, "k1", 1)
	w.pass("2025-02-01T15:00:02Z") // the first webhook failed and waits
	w.charge(made.Contract, "k2", 1)
	if err := w.sim.SetFaults(Faults{Rate: 0.001, Seed: 9}); err != nil {
		w.t.Fatal(err)
	}
	return made
}

func TestPlatformContinuesFromItsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "platform.db")
	w := newWorld(t, func(o *Options) { o.File = file })
	made := w.busy()
	want := rows(t, w.sim)
	// The first one is never closed, as after a kill.
	again, err := New(Options{File: file, Clock: w.clock, ThrottleClock: w.throttle, AppSecret: testSecret, AllowHTTPWebhooks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	got := rows(t, again)
	for k := range want {
		if got[k] != want[k] {
			t.Errorf("%s\n was %s\n  is %s", k, want[k], got[k])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d rows, there were %d", len(got), len(want))
	}
	before, _ := w.sim.NextDue()
	if after, ok := again.NextDue(); !ok || !after.Equal(before) {
		t.Errorf("next due %s, it was %s", after, before)
	}
	w.sim, w.server.Config.Handler = again, again.Handler()
	if k, err := again.Contract(made.Contract); err != nil || len(k.Discounts) != 1 || k.Discounts[0].Code != "WELCOME10" {
		t.Errorf("discounts %+v, %v", k.Discounts, err)
	}
	if c, err := again.Cycles(made.Contract); err != nil || c[3].Own == nil || c[3].Own.Note != "for one" {
		t.Errorf("the cycle's edit: %+v, %v", c[3], err)
	}
	first, _ := w.charge(made.Contract, "k1", 1)
	if first != "gid://shopify/SubscriptionBillingAttempt/900100001" {
		t.Errorf("the key was forgotten: %s", first)
	}
	d := w.ask(`query($id: ID!) { subscriptionBillingAttempt(id: $id) { order { name customer { email } } } }`, map[string]any{"id": first})
	if got := text(dig(d, "subscriptionBillingAttempt", "order")); got != `{"customer":{"email":"ann@example.com"},"name":"#1002"}` {
		t.Errorf("its order is %s", got)
	}
	w.pass("2025-02-01T15:00:04Z")
	if n := len(again.Orders(OrderFilter{Contract: made.Contract})); n != 2 {
		t.Errorf("%d renewals after the pending charge's time", n)
	}
}

func TestSnapshotRestoresEverything(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]bool{"in memory": false, "in a file": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := ""
			if file {
				path = filepath.Join(t.TempDir(), "platform.db")
			}
			w := newWorld(t, func(o *Options) { o.File = path })
			made := w.busy()
			want := rows(t, w.sim)
			var snapshot bytes.Buffer
			if err := w.sim.Snapshot(&snapshot); err != nil {
				t.Fatal(err)
			}
			if err := w.sim.ClearFaults(); err != nil {
				t.Fatal(err)
			}
			w.pass("2025-06-01")
			w.charge(made.Contract, "later", 4)
			w.monthly(func(c *ContractSpec) { c.NextBillingDate = day("2025-07-01") })
			if err := w.sim.Restore(&snapshot); err != nil {
				t.Fatal(err)
			}
			if got := rows(t, w.sim); !reflect.DeepEqual(got, want) {
				t.Errorf("after the restore\n got %v\nwant %v", got, want)
			}
			if !file {
				return
			}
			again, err := New(Options{File: path, Clock: w.clock})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if got := rows(t, again); !reflect.DeepEqual(got, want) {
				t.Error("the file holds something else")
			}
		})
	}
}

// childFile tells a copy of this test's program to be a platform that is killed.
const childFile = "SIMULATOR_TEST_CHILD_FILE"

func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	if file := os.Getenv(childFile); file != "" {
		platformToBeKilled(t, file)
		return
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "platform.db")
	child := osexec.Command(os.Args[0], "-test.run=^TestAcknowledgedWritesSurviveKill$")
	child.Env = append(os.Environ(), childFile+"="+file)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	answered := map[string]string{} // attempts by key
	for lines := bufio.NewScanner(out); len(answered) < 150 && lines.Scan(); {
		if key, id, ok := strings.Cut(lines.Text(), " -> "); ok {
			answered[key] = id
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait() // says that it was killed
	if len(answered) < 150 {
		t.Fatalf("the child answered %d times only", len(answered))
	}
	var w world
	w.sim, err = New(Options{File: file, Clock: clock.NewManual(day("2025-02-01T15:00:00Z"))})
	if err != nil {
		t.Fatal(err)
	}
	defer w.sim.Close()
	known := map[string]string{}
	for i := range 10 {
		c, err := w.sim.Contract(int64(9001 + i))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range c.Attempts {
			known[a.Key] = fmt.Sprint(a.ID)
		}
	}
	for key, id := range answered {
		if known[key] != id {
			t.Errorf("the attempt %s of key %s was answered and is now %q", id, key, known[key])
		}
	}
}

// platformToBeKilled charges without end and says what it answered.
func platformToBeKilled(t *testing.T, file string) {
	w := newWorld(t, func(o *Options) { o.File, o.CostMaximum = file, 1e9 })
	for range 10 {
		w.monthly()
	}
	w.pass("2025-02-01T15:00:00Z")
	for n := range 100_000 {
		key := fmt.Sprintf("key-%d", n)
		id, code := w.charge(int64(9001+n%10), key, 1)
		if code != "" {
			t.Fatal(code)
		}
		fmt.Printf("%s -> %s\n", key, strings.TrimPrefix(id, "gid://shopify/SubscriptionBillingAttempt/"))
		if n%20 == 19 {
			w.stepTo(w.clock.Now().Add(time.Second))
		}
	}
}
