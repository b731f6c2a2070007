package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	moves "github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// startMove starts a move from the first instance, without naming a plan.
func (b *bench) startMove(loyalty string) moving.ID {
	b.t.Helper()
	m := b.Manifest()
	move, err := b.second.front.running().Moves.Start(b.t.Context(), b.secondStore(), moves.New{
		Direction: moving.In, By: activity.Operator,
		Peer: moving.Peer{Address: m.Subscriptions, Memberships: m.Memberships, Loyalty: loyalty, Key: m.APIKey, Rate: 1000},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return move.ID
}

// dryRunOfParts has the parts of a move read, and checks that nothing is made and that no wave begins before they are.
func (b *bench) dryRunOfParts(id moving.ID) {
	b.t.Helper()
	b.advance("PT30M")
	if got := b.secondHas(); got != (has{}) {
		b.t.Errorf("a dry run made %+v", got)
	}
	for _, p := range b.parts(id) {
		if goes := p.Stage == moving.PartReady; goes != (p.Kind != moving.ProfilePart) {
			b.t.Errorf("%s %q is %s: %+v", p.Kind, p.Name, p.Stage, p.Findings)
		}
	}
	a, of := b.mover()
	_, err := a.Moves.SetWave(b.t.Context(), of, id, activity.Operator, 100)
	if refused, is := errors.AsType[*fault.Error](err); !is || refused.ErrorKey != "partsNotMade" {
		b.t.Errorf("a wave before the parts were made: %v", err)
	}
}

// makeParts has the parts of a move made and waits until they are.
func (b *bench) makeParts(id moving.ID) moves.Progress {
	b.t.Helper()
	a, of := b.mover()
	if _, err := a.Moves.MakeParts(b.t.Context(), of, id, activity.Operator); err != nil {
		b.t.Fatal(err)
	}
	b.advance("PT30M")
	p := b.progress(id)
	if p.Move.Parts.Make || p.Move.Parts.ReadAt.IsZero() || p.Move.Status != moving.Ready {
		b.t.Fatalf("after half an hour the parts of the move, which is %s, are not made: %+v (%s)", p.Move.Status, p.Move.Parts, p.Move.Failure)
	}
	return p
}

// parts returns the parts of a move.
func (b *bench) parts(id moving.ID) []moving.Part {
	b.t.Helper()
	a, of := b.mover()
	list, err := a.Moves.PartsOf(b.t.Context(), of, id, moving.PartMatch{}, moving.PartKey{}, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// forget has a move forget that its parts were made, as if the process had died before it was noted.
func (b *bench) forget(id moving.ID) {
	b.t.Helper()
	parts := b.parts(id)
	for n := range parts {
		if p := &parts[n]; p.Stage == moving.PartMade {
			p.Stage, p.Here, p.Plans = moving.PartReady, 0, nil
		}
	}
	a, of := b.mover()
	err := a.Store.Moves().Update(b.t.Context(), of, func(tx moving.Tx) error { return tx.PutMoveParts(b.t.Context(), parts) })
	if err != nil {
		b.t.Fatal(err)
	}
}

// has is how much a store has at the second instance.
type has struct{ Groups, Clubs, Rules, Bundles, Members int }

func (b *bench) secondHas() has {
	b.t.Helper()
	db, of, all := b.second.front.running().Store, b.secondStore(), page.Request{Size: 100}
	count := func(_ any, n int, err error) int {
		b.t.Helper()
		if err != nil {
			b.t.Fatal(err)
		}
		return n
	}
	var is has
	groups, n, err := db.PlanGroups(b.t.Context(), of, shop.Subscriptions, all)
	is.Groups = count(groups, n, err)
	groups, n, err = db.PlanGroups(b.t.Context(), of, shop.Memberships, all)
	is.Clubs = count(groups, n, err)
	rules, n, err := db.SwapRulesOf(b.t.Context(), of, shop.Subscriptions, all)
	is.Rules = count(rules, n, err)
	bundles, n, err := db.Bundles(b.t.Context(), of, shop.Subscriptions, all)
	is.Bundles = count(bundles, n, err)
	members, n, err := db.TopMembers(b.t.Context(), of, all)
	is.Members = count(members, n, err)
	return is
}

// balance returns a member's points at an instance.
func (b *bench) balance(loyalty, key string, customer int64) float64 {
	b.t.Helper()
	var is struct{ AvailablePoints float64 }
	status, text := ask(b.t, "GET", loyalty+"/api/external/customer-loyalty?customer_id="+strconv.FormatInt(customer, 10), key, "")
	if err := json.Unmarshal([]byte(text), &is); status != http.StatusOK || err != nil {
		b.t.Fatalf("the points of customer %d: %d %s", customer, status, text)
	}
	return is.AvailablePoints
}

// sameBalances checks that members have the points that they had there when they were made.
func (b *bench) sameBalances(id moving.ID) {
	b.t.Helper()
	m, points := b.Manifest(), 0.0
	for _, p := range b.parts(id) {
		if p.Kind != moving.MemberPart || p.Stage != moving.PartMade {
			continue
		}
		got, want := b.balance(m.Second.Loyalty, m.Second.APIKey, p.Customer), p.Data.Member.Available.Float()
		if points += want; got != want {
			b.t.Errorf("customer %d has %v points, want %v", p.Customer, got, want)
		}
	}
	if points == 0 {
		b.t.Error("no member came with points")
	}
}

func TestPartsMoveBeforeContracts(t *testing.T) {
	t.Parallel()
	movesWithParts(t, file(t))
}

// movesWithParts moves a store with its plan groups, swap rules and members: none is made twice, and each
// customer is charged the same amounts on the same days as without the move, also where a rule applies.
func movesWithParts(t *testing.T, database string) {
	stays := startInline(t, Options{MainOnly: true, Contracts: 16})
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 16, SecondDatabase: database})
	b.unlimit()
	id := b.startMove(b.Manifest().Loyalty)
	b.dryRunOfParts(id)
	b.makeParts(id)
	once := b.secondHas()
	if want := (has{Groups: 1, Clubs: 1, Rules: 1, Bundles: once.Bundles, Members: once.Members}); once != want || once.Members == 0 {
		t.Errorf("made %+v, want %+v and members", once, want)
	}
	b.sameBalances(id)
	b.noMail()
	earner := b.addPoints()
	b.makeParts(id)
	for _, p := range b.parts(id) {
		if p.Kind != moving.ProfilePart && (p.Stage != moving.PartMade || p.Has("changedThere") || p.Has("pointsFollow") != (p.Kind == moving.MemberPart && p.Customer == earner)) {
			t.Errorf("%s %q is %s: %+v", p.Kind, p.Name, p.Stage, p.Findings)
		}
	}
	b.sameBalances(id)
	b.forget(id)
	b.makeParts(id)
	if got := b.secondHas(); got != once {
		t.Errorf("made again: %+v, want %+v", got, once)
	}
	b.sameBalances(id)
	b.noUnknownPlan(id)
	b.wave(id, 100)
	b.advance("P35D")
	b.arrived(id)
	stays.advance("P35DT1H30M")
	b.sameCharges(stays)
	var entries []any
	status, text := ask(t, "GET", b.Manifest().Second.Subscriptions+"/api/external/v2/activity-logs?eventType.equals=SWAP_AUTOMATION_TRIGGERED", b.Manifest().Second.APIKey, "")
	if err := json.Unmarshal([]byte(text), &entries); status != http.StatusOK || err != nil || len(entries) == 0 {
		t.Errorf("no swap rule applied here: %d %s", status, text)
	}
	b.balancesGoBack(id)
}

// balancesGoBack ends a move from the first instance and starts one back, and checks that balances there change by
// what members have earned and spent meanwhile, and not by what they had brought.
func (b *bench) balancesGoBack(id moving.ID) {
	b.t.Helper()
	m := b.Manifest()
	a, of := b.mover()
	if _, err := a.Moves.End(b.t.Context(), of, id, activity.Operator); err != nil {
		b.t.Fatal(err)
	}
	back, err := a.Moves.Start(b.t.Context(), of, moves.New{
		Direction: moving.Out, By: activity.Operator, Peer: moving.Peer{Address: m.Subscriptions, Memberships: m.Memberships, Loyalty: m.Loyalty, Key: m.APIKey, Rate: 1000},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.advance("PT30M")
	want := map[int64]float64{}
	changed := 0
	for _, p := range b.parts(back.ID) {
		if p.Kind == moving.MemberPart {
			here := *p.Data.Member
			want[p.Customer] = b.balance(m.Loyalty, m.APIKey, p.Customer) + here.Available.Float() - here.Brought.Float()
			if here.Brought > 0 && here.Available != here.Brought {
				changed++
			}
		} else if p.Kind == moving.GroupPart && !p.Has("groupTaken") {
			b.t.Errorf("%s %q is not known to be there: %+v", p.Kind, p.Name, p.Findings)
		}
	}
	b.makeParts(back.ID)
	for _, p := range b.parts(back.ID) {
		if p.Kind != moving.MemberPart {
			continue
		}
		if got := b.balance(m.Loyalty, m.APIKey, p.Customer); p.Stage != moving.PartMade || got != want[p.Customer] {
			b.t.Errorf("customer %d has %v points at the first service, want %v: %s, %+v", p.Customer, got, want[p.Customer], p.Stage, p.Findings)
		}
	}
	if changed == 0 {
		b.t.Error("no member who had brought points has earned any")
	}
}

func TestPartsMoveOutBeforeContracts(t *testing.T) {
	t.Parallel()
	movesOutWithParts(t, file)
}

// movesOutWithParts moves a store out with its plan groups, swap rules and members: none is made twice at the
// other service, and each customer is charged the same amounts on the same days as without the move.
func movesOutWithParts(t *testing.T, database func(testing.TB) string) {
	stays := startInline(t, Options{MainOnly: true, Contracts: 16})
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 16, Database: database(t), SecondDatabase: database(t)})
	b.unlimit()
	for _, of := range []*bench{stays, b} { // contracts that move begin with their first order there: the rule must not depend on that
		rule := strings.NewReplacer("PRODUCT_THEN_EXISTING", "EXISTING_PLAN", `"updatedFirstOrder":false`, `"updatedFirstOrder":true`).Replace(of.rules())
		if status, text := ask(t, "PUT", of.Manifest().Subscriptions+"/api/external/v2/product-swaps", of.Manifest().APIKey, rule); status != http.StatusOK {
			t.Fatalf("changing the rule: %d %s", status, text)
		}
	}
	b.out = true
	a, of := b.mover()
	m := b.Manifest()
	move, err := a.Moves.Start(t.Context(), of, moves.New{
		Direction: moving.Out, By: activity.Operator,
		Peer: moving.Peer{Address: m.Second.Subscriptions, Memberships: m.Second.Memberships, Loyalty: m.Second.Loyalty, Key: m.Second.APIKey, Rate: 1000},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := move.ID
	b.dryRunOfParts(id)
	b.makeParts(id)
	once := b.secondHas()
	if want := (has{Groups: 1, Clubs: 1, Rules: 1, Bundles: 1}); once != want {
		t.Errorf("made %+v, want %+v", once, want)
	}
	b.forget(id)
	b.makeParts(id)
	if got := b.secondHas(); got != once {
		t.Errorf("made again: %+v, want %+v", got, once)
	}
	b.noUnknownPlan(id)
	b.wave(id, 100)
	b.advance("P35D")
	b.arrived(id)
	b.membersFollow(id)
	stays.advance("P35DT1H30M")
	b.sameCharges(stays)
}

// membersFollow makes members at the second instance, where they have contracts by now, and checks that each has the
// points of the first one, and those that orders have earned there.
func (b *bench) membersFollow(id moving.ID) {
	b.t.Helper()
	m, before := b.Manifest(), map[int64]float64{}
	for _, p := range b.parts(id) {
		if p.Kind == moving.MemberPart {
			if p.Reason == "" {
				b.t.Errorf("customer %d was made a member before any contract had moved: %+v", p.Customer, p.Findings)
			}
			if status, _ := ask(b.t, "GET", fmt.Sprintf("%s/api/external/customer-loyalty?customer_id=%d", m.Second.Loyalty, p.Customer), m.Second.APIKey, ""); status == http.StatusOK {
				before[p.Customer] = b.balance(m.Second.Loyalty, m.Second.APIKey, p.Customer)
			}
		}
	}
	b.makeParts(id)
	moved := 0.0
	for _, p := range b.parts(id) {
		if p.Kind != moving.MemberPart || p.Stage != moving.PartMade {
			continue
		}
		here := p.Data.Member.Available.Float()
		if got := b.balance(m.Second.Loyalty, m.Second.APIKey, p.Customer); got != before[p.Customer]+here {
			b.t.Errorf("customer %d has %v points there, want %v and %v", p.Customer, got, before[p.Customer], here)
		}
		moved += here
	}
	if moved == 0 {
		b.t.Error("no member went with points")
	}
}

// rules returns the swap rule of the first instance.
func (b *bench) rules() string {
	b.t.Helper()
	status, text := ask(b.t, "GET", b.Manifest().Subscriptions+"/api/external/v2/product-swaps", b.Manifest().APIKey, "")
	var rules []json.RawMessage
	if err := json.Unmarshal([]byte(text), &rules); status != http.StatusOK || err != nil || len(rules) != 1 {
		b.t.Fatalf("the swap rules: %d %s", status, text)
	}
	return string(rules[0])
}

// addPoints gives points to a member of the first instance and returns which.
func (b *bench) addPoints() int64 {
	b.t.Helper()
	m := b.Manifest()
	body := fmt.Sprintf(`{"customerId":%d,"points":5}`, m.Examples.LoyaltyCustomer)
	if status, text := ask(b.t, "POST", m.Loyalty+"/api/external/add-points", m.APIKey, body); status/100 != 2 {
		b.t.Fatalf("adding points: %d %s", status, text)
	}
	return m.Examples.LoyaltyCustomer
}

// secondShop returns the demo store as the second instance has it.
func (b *bench) secondShop() shop.Shop {
	b.t.Helper()
	of, err := b.second.front.running().Store.Shops().ShopByDomain(b.t.Context(), b.Manifest().Shop)
	if err != nil {
		b.t.Fatal(err)
	}
	return of
}

// mailsOff returns the e-mails that a customer of the second instance does not want.
func (b *bench) mailsOff(customer int64) ([]notify.Kind, error) {
	p, err := b.second.front.running().Portal.Preferences(b.t.Context(), portal.Caller{Shop: b.secondShop(), Actor: activity.Actor{Customer: customer}})
	return p.Off, err
}

// noUnknownPlan checks that each plan of the contracts has one that takes its place where they go.
func (b *bench) noUnknownPlan(id moving.ID) {
	b.t.Helper()
	a, of := b.mover()
	items, err := a.Moves.Items(b.t.Context(), of, id, moving.Match{}, 0, 1000)
	if err != nil || len(items) == 0 {
		b.t.Fatalf("%d contracts, %v", len(items), err)
	}
	for _, i := range items {
		for _, f := range i.Findings {
			if f.Code == "planUnknown" || f.Code == "membershipPlanUnknown" {
				b.t.Errorf("contract %d: %s", i.There, f.Text)
			}
		}
	}
}

// noMail checks that the second instance has sent no e-mail.
func (b *bench) noMail() {
	b.t.Helper()
	var mails []message
	b.direct("GET", "/mail", "", &mails)
	for _, m := range mails {
		if m.Instance == secondName {
			b.t.Errorf("%s was written to: %s", m.To, m.Kind)
		}
	}
}
