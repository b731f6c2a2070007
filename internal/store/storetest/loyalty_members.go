package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testLoyaltyMembers(t *testing.T, open opener) {
	t.Run("with opt-in only members earn", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) { terms.Enrol = loyalty.OptIn })
		c.put(monthly(1))
		c.work()
		_, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Points: loyalty.One})
		c.wantKind(err, fault.NotFound)
		if _, err := c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Email: "ADA@example.com"}, Born: "1990-02-28", Actor: clerk}); err != nil {
			t.Fatal(err)
		}
		c.charge(1, 2, 1000)
		c.work()
		if m := c.member(ada); m.Sums.Available != 10*loyalty.One || m.Born != "1990-02-28" || m.Person.FirstName != "Ada" || m.ReferralCode == "" {
			t.Errorf("member %+v", m.Account)
		}
		_, err = c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Customer: 4711}})
		c.wantKind(err, fault.NotFound)
	})
	t.Run("existing member is not added again", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		before := c.member(ada)
		c.in(func(tx *store.Tx) error {
			again := before.Account
			again.Sums = loyalty.Sums{}
			return tx.AddAccounts(t.Context(), []loyalty.Account{again})
		})
		if after := c.member(ada); after.ID != before.ID || after.Sums.Available != before.Sums.Available {
			t.Errorf("before %+v, after %+v", before.Account, after.Account)
		}
	})
	t.Run("a member falls due for each reminder of points that expire, and then for the expiry", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) { terms.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 12} })
		c.put(monthly(1))
		c.work()
		first := c.member(ada)
		reminded := func() (n int) {
			t.Helper()
			c.in(func(tx *store.Tx) error {
				list, err := tx.DueMessages(t.Context(), c.clock.Now(), 100)
				for _, m := range list {
					if m.Kind == notify.PointsExpiring && m.Customer == ada && m.Contract == 0 {
						n++
					}
				}
				return err
			})
			return n
		}
		for i, before := range []time.Duration{30 * 24 * time.Hour, 3 * 24 * time.Hour} {
			if m := c.member(ada); !m.DueAt.Equal(first.ExpiresAt.Add(-before)) {
				t.Errorf("before reminder %d the member is due at %s, and the points expire at %s", i, m.DueAt, first.ExpiresAt)
			}
			c.clock.Set(c.member(ada).DueAt)
			c.work()
			c.work()
			if m := c.member(ada); reminded() != i+1 || !m.Reminded[i].Equal(first.ExpiresAt) {
				t.Errorf("there are %d reminders, of points until %v", reminded(), m.Reminded)
			}
		}
		if m := c.member(ada); !m.DueAt.Equal(first.ExpiresAt) {
			t.Errorf("after the reminders the member is due at %s", m.DueAt)
		}
	})
	t.Run("what was posted is read between two instants", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		from := c.clock.Now()
		c.clock.Set(from.Add(time.Hour))
		c.add(ada, 7*loyalty.One)
		c.clock.Set(from.Add(2 * time.Hour))
		c.add(ada, 9*loyalty.One)
		c.in(func(tx *store.Tx) error {
			got, err := tx.EntriesBetween(t.Context(), c.member(ada).Account.ID, from.Add(time.Hour), from.Add(2*time.Hour))
			if len(got) != 1 || got[0].Available != 7*loyalty.One {
				t.Errorf("read %+v", got)
			}
			return err
		})
	})
	t.Run("repeated enrolment keeps release and expiry dates", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			terms.PendingDays, terms.Expiry = 14, loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 1}
		})
		c.put(monthly(1)) // 2 × 10.00
		c.work()
		before := c.member(ada)
		again := func() {
			t.Helper()
			m, err := c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Customer: ada}, Actor: clerk})
			if err != nil || m.DueAt.IsZero() {
				t.Errorf("a member who is enrolled once more is due at %v, %v; before at %v", m.DueAt, err, before.DueAt)
			}
		}
		again()
		c.clock.Set(c.clock.Now().Add(15 * 24 * time.Hour))
		c.work()
		if m := c.member(ada); m.Sums.Available != 20*loyalty.One || m.Sums.Pending != 0 {
			t.Errorf("after their day pending points are %+v", m.Sums)
		}
		again()
		c.clock.Set(c.clock.Now().Add(32 * 24 * time.Hour))
		c.work()
		if m := c.member(ada); m.Sums.Available != 0 || m.Sums.Expired != 20*loyalty.One {
			t.Errorf("after a month the points are %+v", m.Sums)
		}
	})
	t.Run("manual adjustment adds an activity entry", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		if m := c.add(ada, 150*loyalty.One+50); m.Sums.Available != 170*loyalty.One+50 || m.Sums.Earned != 20*loyalty.One {
			t.Errorf("after adding: %+v", m.Sums)
		}
		remove := loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Points: 170 * loyalty.One, Actor: clerk}
		if m, err := c.Remove(t.Context(), c.shop.ID, remove); err != nil || m.Sums.Available != 50 {
			t.Errorf("after removing: %+v, %v", m.Sums, err)
		}
		_, err := c.Remove(t.Context(), c.shop.ID, remove)
		c.wantKind(err, fault.FailedPrecondition)
		c.member(ada)
		var kinds []string
		for _, e := range c.entries(c.shop.ID) {
			if e.Event == activity.InformationalEvent {
				kinds = append(kinds, e.Actor.By+" "+e.Info)
			}
		}
		slices.Sort(kinds)
		want := []string{
			`API key ERP {"what":"points added","customerId":901,"points":150.5,"availablePoints":170.5,"note":"why not"}`,
			`API key ERP {"what":"points removed","customerId":901,"points":-170,"availablePoints":0.5}`,
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("entries %q", kinds)
		}
	})
	t.Run("order in another currency earns nothing", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			for i := range terms.Earn {
				terms.Earn[i].Active = true // those of a fixed number too
			}
		})
		c.put(monthly(1))
		c.work()
		before := c.member(ada)
		a := c.queue(queued(1, 2, day))[0]
		a.Status, a.OrderID, a.PublishAt, a.UpdatedAt = billing.Success, 5001, c.clock.Now(), c.clock.Now()
		a.Amount = money.Amount{Minor: 2354, Currency: "JPY"}
		c.in(func(tx *store.Tx) error { return c.paid(tx, a) })
		c.work()
		if after := c.member(ada); after.Sums.Available != before.Sums.Available || after.Spent != before.Spent {
			t.Errorf("an order in yen gave %s points: %+v", after.Sums.Available-before.Sums.Available, after.Spent)
		}
	})
	t.Run("customer id and email must match", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) { terms.Enrol = loyalty.OptIn })
		c.put(monthly(1))
		c.work()
		right, wrong := loyalty.CustomerRef{Customer: ada, Email: "ADA@example.com"}, loyalty.CustomerRef{Customer: ada, Email: "bo@example.com"}
		_, err := c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: wrong, Actor: clerk})
		c.wantKind(err, fault.Invalid)
		if _, err := c.Enrol(t.Context(), c.shop.ID, loyalty.EnrolCommand{Who: right, Actor: clerk}); err != nil {
			t.Fatal(err)
		}
		_, err = c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: wrong, Points: loyalty.One, Actor: clerk})
		c.wantKind(err, fault.Invalid)
		_, err = c.Member(t.Context(), c.shop, wrong, "")
		c.wantKind(err, fault.Invalid)
		if m, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: right, Points: loyalty.One, Actor: clerk}); err != nil || m.Sums.Available != loyalty.One {
			t.Errorf("with both of one customer: %+v, %v", m.Sums, err)
		}
	})
	t.Run("activity is rewarded once", func(t *testing.T) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			for i := range terms.Earn {
				terms.Earn[i].Active = true
			}
		})
		c.put(monthly(1))
		c.work()
		before := c.member(ada)
		if before.Sums.Rewarded[loyalty.CreateAccount] != 1 || before.Sums.Rewarded[loyalty.Start] != 1 {
			t.Errorf("a new member was rewarded for %v", before.Sums.Rewarded)
		}
		cmd := loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 7, Actor: clerk} // Facebook
		if m, err := c.Add(t.Context(), c.shop.ID, cmd); err != nil || m.Sums.Available != before.Sums.Available+10*loyalty.One || m.Sums.Rewarded[loyalty.Facebook] != 1 {
			t.Errorf("got %+v, %v", m.Sums, err)
		}
		_, err := c.Add(t.Context(), c.shop.ID, cmd)
		c.wantKind(err, fault.FailedPrecondition)
		cmd.Rule = 99
		_, err = c.Add(t.Context(), c.shop.ID, cmd)
		c.wantKind(err, fault.NotFound)
		for range 2 { // friends may be many
			if _, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: cmd.Who, Rule: 15, Points: 5}); err != nil {
				t.Error(err)
			}
		}
		if m := c.member(ada); m.Sums.Rewarded[loyalty.Referral] != 2 {
			t.Errorf("referrals %v", m.Sums.Rewarded)
		}
	})
	t.Run("points of an order are reversed in parts, up to their sum", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 30*loyalty.One)
		entries, _, err := c.History(t.Context(), c.shop.ID, loyalty.CustomerRef{Customer: ada}, page.Request{})
		if err != nil || len(entries) != 2 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		of := entries[1]
		cmd := loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Entry: of.ID, Points: 5 * loyalty.One, Actor: clerk}
		if m, err := c.Remove(t.Context(), c.shop.ID, cmd); err != nil || m.Sums.Available != 45*loyalty.One || m.Sums.Earned != 15*loyalty.One {
			t.Errorf("a part: %+v, %v", m.Sums, err)
		}
		cmd.Points = 0
		if m, err := c.Remove(t.Context(), c.shop.ID, cmd); err != nil || m.Sums.Available != 30*loyalty.One || m.Sums.Earned != 0 || m.Sums.Activities != 0 {
			t.Errorf("the rest: %+v, %v", m.Sums, err)
		}
		_, err = c.Remove(t.Context(), c.shop.ID, cmd)
		c.wantKind(err, fault.FailedPrecondition)
		cmd.Entry = entries[0].ID // added by hand
		_, err = c.Remove(t.Context(), c.shop.ID, cmd)
		c.wantKind(err, fault.FailedPrecondition)
		c.member(ada)
	})
	open.twice(t, "pending points are released on their day, or when the merchant approves them", func(t *testing.T, open opener) {
		c := beginClub(t, open, func(terms *loyalty.Terms) {
			terms.PendingDays, terms.Expiry = 14, loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 1}
		})
		first := monthly(1)
		first.CreatedAt = day
		c.put(first)
		c.remind(c.shop.ID)
		c.work()
		if m := c.member(ada); m.Sums.Pending != 20*loyalty.One || m.Sums.Available != 0 {
			t.Errorf("at first: %+v", m.Sums)
		}
		release := day.AddDate(0, 0, 14)
		c.wantNext(day, release)
		c.clock.Set(release)
		if ids, err := c.across(c.db.Shops().LoyaltyShops, release, 10); err != nil || !reflect.DeepEqual(ids, []shop.ID{c.shop.ID}) {
			t.Errorf("shops %v wait, %v", ids, err)
		}
		c.work()
		m := c.member(ada)
		if m.Sums.Pending != 0 || m.Sums.Available != 20*loyalty.One || m.Expiring != 20*loyalty.One || m.ExpiresAt.IsZero() {
			t.Errorf("on the day: %+v, %d expire at %s", m.Sums, m.Expiring, m.ExpiresAt)
		}
		c.clock.Set(m.ExpiresAt)
		c.work()
		if m := c.member(ada); m.Sums.Available != 0 || m.Sums.Expired != 20*loyalty.One {
			t.Errorf("a month later: %+v", m.Sums)
		}
		c.charge(1, 3, 1000)
		c.work()
		entries, _, err := c.History(t.Context(), c.shop.ID, loyalty.CustomerRef{Customer: ada}, page.Request{})
		if err != nil {
			t.Fatal(err)
		}
		approve := loyalty.ApproveCommand{Who: loyalty.CustomerRef{Customer: ada}, Entries: []loyalty.EntryID{entries[0].ID}, Actor: clerk}
		if m, err := c.Approve(t.Context(), c.shop.ID, approve); err != nil || m.Sums.Available != 10*loyalty.One || m.Sums.Pending != 0 {
			t.Errorf("approved: %+v, %v", m.Sums, err)
		}
		_, err = c.Approve(t.Context(), c.shop.ID, approve)
		c.wantKind(err, fault.FailedPrecondition)
		c.member(ada)
	})
	t.Run("top members are ordered by earned points, then id, without excluded members", func(t *testing.T) {
		c := beginClub(t, open, nil)
		var contracts []contract.Contract
		for id := contract.ID(1); id <= 4; id++ {
			k := monthly(id)
			k.Customer.FirstName = fmt.Sprint("Name ", 9-id)
			contracts = append(contracts, k)
		}
		c.put(contracts...)
		c.charge(3, 2, 500)
		c.work()
		c.in(func(tx *store.Tx) error {
			list, err := tx.AccountsOf(t.Context(), []int64{904})
			if err != nil {
				return err
			}
			list[0].Status = loyalty.Excluded
			return tx.PutAccounts(t.Context(), list)
		})
		for sort, want := range map[string][]int64{"": {903, 901, 902}, loyalty.FieldFirstName: {903, 902, 901}, loyalty.FieldActivities: {901, 902, 903}} {
			p := page.Request{Size: 10}
			if sort != "" {
				p.Sort = []page.Sort{{Field: sort}}
			}
			list, total, err := c.Top(t.Context(), c.shop.ID, p)
			var got []int64
			for _, a := range list {
				got = append(got, a.Person.Customer)
			}
			if err != nil || total != 3 || !slices.Equal(got, want) {
				t.Errorf("by %q: %v of %d, %v; want %v", sort, got, total, err, want)
			}
		}
	})
	t.Run("damaged member is found and repaired", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		who := loyalty.CustomerRef{Customer: ada}
		c.in(func(tx *store.Tx) error {
			list, err := tx.AccountsOf(t.Context(), []int64{ada})
			if err != nil {
				return err
			}
			list[0].Sums.Available += loyalty.One
			return tx.PutAccounts(t.Context(), list)
		})
		for _, test := range []struct{ repair, same bool }{{false, false}, {true, false}, {false, true}} {
			if same, err := c.Audit(t.Context(), c.shop.ID, who, test.repair); err != nil || same != test.same {
				t.Errorf("the audit says %v, %v; want %v", same, err, test.same)
			}
		}
		if m := c.member(ada); m.Sums.Available != 20*loyalty.One {
			t.Errorf("repaired: %+v", m.Sums)
		}
	})
	t.Run("members of another store are not visible", func(t *testing.T) {
		c := beginClub(t, open, nil)
		other := c.addShop("second.myshopify.com")
		c.put(monthly(1))
		c.work()
		if err := c.Enable(t.Context(), other.ID, day, loyalty.DefaultTerms()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Member(t.Context(), other, loyalty.CustomerRef{Customer: ada}, ""); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
		_, err := c.Add(t.Context(), other.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Email: "ada@example.com"}, Points: loyalty.One})
		c.wantKind(err, fault.NotFound)
		if list, total, err := c.Top(t.Context(), other.ID, page.Request{Size: 10}); err != nil || total != 0 || len(list) != 0 {
			t.Errorf("%d members, %v", total, err)
		}
		if _, err := c.Member(t.Context(), c.shop, loyalty.CustomerRef{Customer: ada}, ""); err != nil {
			t.Errorf("the store itself got %v", err)
		}
		if _, err := c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Email: "ada@example.com"}, Points: loyalty.One}); err != nil {
			t.Errorf("the store itself got %v", err)
		}
		if list, total, err := c.Top(t.Context(), c.shop.ID, page.Request{Size: 10}); err != nil || total != 1 || len(list) != 1 {
			t.Errorf("the store itself has %d members, %v; want 1", total, err)
		}
	})
	t.Run("concurrent change of the program is a conflict", func(t *testing.T) {
		c := beginClub(t, open, nil)
		err := c.db.Update(t.Context(), c.shop.ID, func(tx *store.Tx) error {
			p, err := tx.Program(t.Context())
			if err != nil {
				return err
			}
			p.Version++
			return tx.PutProgram(t.Context(), p)
		})
		c.wantKind(err, fault.Conflict)
	})
}
