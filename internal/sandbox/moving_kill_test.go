//go:build soak

package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	moves "github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// killed is a process with both services and their platform, which is killed again and again.
type killed struct {
	*testing.T
	dir       string
	databases [2]string // of the instances; empty: files in dir
	child     *exec.Cmd
	Manifest
}

// start starts the process.
func (k *killed) start() {
	k.Helper()
	k.child = spawn(k.T, k.dir, childSecond+"=1", childDatabase+"="+k.databases[0], childSecondDatabase+"="+k.databases[1])
	k.Manifest = ready(k.T, k.child, k.dir)
	for _, instance := range []string{"", "?instance=second"} {
		if status, text := ask(k.T, "POST", k.Control+"/settings"+instance, "", `{"requestsPerSecond":1000,"requestBurst":10000}`); status != http.StatusOK {
			k.Fatalf("settings: %d %s", status, text)
		}
	}
}

// now returns the time in the sandbox.
func (k *killed) now() time.Time {
	k.Helper()
	var at struct{ Now time.Time }
	if _, text := ask(k.T, "GET", k.Control+"/clock", "", ""); json.Unmarshal([]byte(text), &at) != nil {
		k.Fatalf("the clock answered %s", text)
	}
	return at.Now
}

// steer lets fn start and steer moves of the second service, from outside of its process.
func (k *killed) steer(fn func(s *moves.Service, of app.ShopRef) error) {
	k.Helper()
	var secrets struct {
		Second struct{ DatabaseKey string }
	}
	text, err := os.ReadFile(filepath.Join(k.dir, "secrets.json"))
	if err == nil {
		err = json.Unmarshal(text, &secrets)
	}
	if err != nil {
		k.Fatal(err)
	}
	d := config.Database{Data: config.Data{Database: cmp.Or(k.databases[1], filepath.Join(k.dir, secondFile))}, SecretKey: config.Secret(secrets.Second.DatabaseKey)}
	if err := app.WithMoves(k.Context(), d, clock.NewManual(k.now()), k.Shop, fn); err != nil {
		k.Fatal(err)
	}
}

// killAt has time pass, and kills the process when a contract is at a stage; false: none was seen there.
func (k *killed) killAt(s *moves.Service, of app.ShopRef, id moving.ID, stage moving.Stage) (seen bool) {
	k.Helper()
	passed := make(chan struct{})
	go func() { // the answer is lost
		defer close(passed)
		if res, err := http.Post(k.Control+"/clock", "application/json", strings.NewReader(`{"advance":"PT5M"}`)); err == nil {
			res.Body.Close()
		}
	}()
	for !seen {
		list, err := s.Items(k.Context(), of.ID, id, moving.Match{Stages: []moving.Stage{stage}}, 0, 1)
		if err != nil {
			k.Fatal(err)
		}
		seen = len(list) > 0
		select {
		case <-passed:
			killAfter(k.T, k.child, 0)
			return seen
		default:
		}
	}
	killAfter(k.T, k.child, 0)
	<-passed
	return seen
}

// Both services and their platform are killed while a contract is at each stage of its move. Each
// customer is charged the same amounts on the same days as without moves and deaths.
func TestMoveGoesOnAfterKillAtEachStage(t *testing.T) {
	t.Parallel()
	goesOnAfterKills(t, file)
}

func goesOnAfterKills(t *testing.T, database func(testing.TB) string) {
	stays := startInline(t, Options{MainOnly: true, Contracts: 16})
	stays.withoutSwaps()
	k := &killed{T: t, dir: t.TempDir(), databases: [2]string{database(t), database(t)}}
	k.start()
	began := k.now()
	if status, text := ask(t, "DELETE", fmt.Sprintf("%s/api/external/v2/product-swaps/%d", k.Subscriptions, k.Examples.SwapRule), k.APIKey, ""); status/100 != 2 {
		t.Fatalf("removing the swap rule answered %d %s", status, text)
	}
	var id moving.ID
	plans := demo.MembershipPlans()
	k.steer(func(s *moves.Service, of app.ShopRef) error {
		m, err := s.Start(t.Context(), of.ID, moves.New{
			Direction: moving.In, Peer: moving.Peer{Address: k.Subscriptions, Memberships: k.Memberships, Key: k.APIKey, Rate: 1000}, By: activity.Operator,
			Plans: map[int64]int64{plans[0]: plans[0], plans[1]: plans[1]},
		})
		id = m.ID
		return err
	})
	if status, text := ask(t, "POST", k.Control+"/clock", "", `{"advance":"PT10M"}`); status != http.StatusOK {
		t.Fatalf("clock: %d %s", status, text)
	}
	k.steer(func(s *moves.Service, of app.ShopRef) error {
		_, err := s.DeclineParts(t.Context(), of.ID, id, activity.Operator)
		return err
	})
	stages := []moving.Stage{moving.Stopping, moving.Making, moving.Made, moving.Cancelling, moving.Opening}
	died := 0
	for n, stage := range stages {
		k.steer(func(s *moves.Service, of app.ShopRef) error {
			if _, err := s.SetWave(t.Context(), of.ID, id, activity.Operator, (n+1)*100/len(stages)); err != nil {
				return err
			}
			if k.killAt(s, of, id, stage) {
				died++
			} else {
				t.Logf("no contract was seen %s", stage)
			}
			return nil
		})
		k.start()
	}
	if died < 3 {
		t.Errorf("the process was killed at %d stages of %d", died, len(stages))
	}
	killAfter(t, k.child, 0)
	b := start(t, Options{DataDir: k.dir, Second: true, Contracts: 16, Database: k.databases[0], SecondDatabase: k.databases[1]})
	b.advance("P1D")
	b.arrived(id)
	var at struct{ Now time.Time }
	b.direct("GET", "/clock", "", &at)
	b.advance(fmt.Sprintf("PT%dS", int(began.AddDate(0, 0, 40).Sub(at.Now).Seconds())))
	stays.advance("P40D")
	b.sameCharges(stays)
}
