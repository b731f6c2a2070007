package loyalty_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// club is a store with a programme, whose member Ada has no contract, and the service that sends its
// e-mails.
type club struct {
	*testing.T
	*loyalty.Service
	db    *store.DB
	at    *clock.Manual
	post  *notify.Service
	shop  shop.Shop
	taken []string // what was sent
}

const ada = 901

var morning = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// Send takes letters.
func (c *club) Send(_ context.Context, letters []notify.Email) []error {
	for _, l := range letters {
		c.taken = append(c.taken, l.To+" "+l.Subject)
	}
	return make([]error, len(letters))
}

// write writes what a message reports, or leaves it out.
func (c *club) write(ctx context.Context, _ shop.ID, messages []notify.Message) (notify.Letter, error) {
	m := messages[0]
	n, holds, err := c.Notice(ctx, c.shop, m)
	if err != nil || !holds {
		return notify.Letter{LeftOut: map[notify.MessageID]string{m.ID: notify.NoLongerTrue}}, err
	}
	says := []string{string(m.Kind)}
	for _, g := range n.Gains {
		says = append(says, g.Description, g.Points.String())
	}
	for _, e := range n.Expiring {
		says = append(says, e.At.Format("2 Jan"), e.Points.String())
	}
	switch m.Kind {
	case notify.TierReached:
		says = append(says, n.Tier.Name)
	case notify.RewardIssued:
		says = append(says, n.Reward.Description)
	}
	return notify.Letter{Content: notify.Content{Subject: strings.Join(says, " "), Text: "t", HTML: "h"}}, nil
}

func open(t *testing.T, change func(*loyalty.Terms), enabled ...notify.Kind) *club {
	t.Helper()
	c := &club{T: t, db: storetest.SQLite(t), at: clock.NewManual(morning), shop: shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC", Currency: "USD", Connected: true, CreatedAt: morning}}
	c.shop.Settings.EnabledMails = enabled
	if err := c.db.Shops().AddShop(t.Context(), &c.shop); err != nil {
		t.Fatal(err)
	}
	c.Service = &loyalty.Service{Store: c.db.Loyalty(), Reader: c.db, Platform: storetest.DiscountCodes(), Clock: c.at, Log: slog.New(slog.DiscardHandler)}
	c.post = &notify.Service{Store: c.db.Notify(), Transport: c, Write: c.write, Clock: c.at, Log: slog.New(slog.DiscardHandler), Policy: notify.DefaultPolicy()}
	terms := loyalty.DefaultTerms()
	terms.Earn = append(terms.Earn, loyalty.EarnRule{ID: 50, Name: "Birthday", For: loyalty.Birthday, Active: true, Points: 30 * loyalty.One})
	terms.Tiers = []loyalty.Tier{{ID: 1, Name: "Oak", Points: 1000 * loyalty.One}}
	if change != nil {
		change(&terms)
	}
	if err := c.Enable(t.Context(), c.shop.ID, morning.AddDate(-1, 0, 0), terms); err != nil {
		t.Fatal(err)
	}
	c.in(func(tx *store.Tx) error {
		return tx.AddAccounts(t.Context(), []loyalty.Account{{
			Person: loyalty.Person{Customer: ada, Email: "ada@shopper.example", FirstName: "Ada"}, Status: loyalty.Active, ReferralCode: "r", EnrolledAt: morning, ActiveAt: morning,
			CreatedAt: morning, UpdatedAt: morning,
		}})
	})
	return c
}

func (c *club) in(fn func(*store.Tx) error) {
	c.Helper()
	if err := c.db.Update(c.Context(), c.shop.ID, fn); err != nil {
		c.Fatal(err)
	}
}

// to lets time pass until an instant, working an hour after what is due next at the latest.
func (c *club) to(at time.Time) {
	c.Helper()
	for {
		if err := errors.Join(c.Work(c.Context(), c.shop.ID), c.post.Work(c.Context(), c.shop.ID)); err != nil {
			c.Fatal(err)
		}
		now := c.at.Now()
		if !now.Before(at) {
			return
		}
		next, some, err := c.db.Shops().NextDue(c.Context(), now)
		if err != nil {
			c.Fatal(err)
		}
		if !some || next.After(at) {
			next = at
		}
		c.at.Set(now.Add(max(next.Sub(now), min(time.Hour, at.Sub(now)))))
	}
}

// sent checks what was sent since it was asked last.
func (c *club) sent(want ...string) {
	c.Helper()
	for i := range want {
		want[i] = "ada@shopper.example " + want[i]
	}
	if !slices.Equal(c.taken, want) {
		c.Errorf("at %s sent %q, want %q", c.at.Now().Format(time.DateTime), c.taken, want)
	}
	c.taken = nil
}

// earn gives points for an activity, or by hand without a rule, and returns the transaction.
func (c *club) earn(rule loyalty.RuleID, points loyalty.Points) loyalty.EntryID {
	c.Helper()
	if _, err := c.Add(c.Context(), c.shop.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: rule, Points: points * loyalty.One}); err != nil {
		c.Fatal(err)
	}
	list, _, err := c.History(c.Context(), c.shop.ID, loyalty.CustomerRef{Customer: ada}, page.Request{Size: 1})
	if err != nil {
		c.Fatal(err)
	}
	return list[0].ID
}

// reverse takes points of a transaction back; 0: all.
func (c *club) reverse(entry loyalty.EntryID, points loyalty.Points) {
	c.Helper()
	if _, err := c.Remove(c.Context(), c.shop.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: ada}, Entry: entry, Points: points * loyalty.One}); err != nil {
		c.Fatal(err)
	}
}

// spend redeems points for a discount code.
func (c *club) spend(points loyalty.Points) loyalty.RewardID {
	c.Helper()
	m, err := c.Redeem(c.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 3, Points: points * loyalty.One})
	if err != nil {
		c.Fatal(err)
	}
	return m.Rewards[0].ID
}

// next returns an hour of the day after the first one.
func next(hour int) time.Time { return time.Date(2026, 3, 3, hour, 0, 0, 0, time.UTC) }

// purchase is the rule for which a store gives points by hand.
const purchase, birthday = 2, 50

func TestPointsOfADayAreOneEMailInTheMorning(t *testing.T) {
	t.Parallel()
	c := open(t, nil, notify.PointsEarned)
	c.earn(purchase, 20)
	c.to(morning.Add(3 * time.Hour))
	c.earn(purchase, 5)
	c.earn(0, 7)
	c.to(next(7))
	c.sent()
	c.earn(purchase, 1) // of the next day
	c.to(next(8))
	c.sent("points_earned Renew a subscription 20 Renew a subscription 5 Added by the store 7")
	c.to(next(8).Add(48 * time.Hour))
	c.sent("points_earned Renew a subscription 1")
}

func TestPointsThatWereReversedAreNotReported(t *testing.T) {
	t.Parallel()
	c := open(t, nil, notify.PointsEarned)
	gone, part := c.earn(purchase, 20), c.earn(purchase, 10)
	c.reverse(gone, 0)
	c.reverse(part, 4)
	c.to(next(8))
	c.sent("points_earned Renew a subscription 6")
	all := c.earn(purchase, 20)
	c.reverse(all, 0)
	c.to(next(8).Add(24 * time.Hour))
	c.sent()
}

func TestEarnedPointsAndBirthdaysAreReportedWhereTheStoreEnablesIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		enabled []notify.Kind
		want    []string
	}{
		"neither":       {nil, nil},
		"birthdays":     {[]notify.Kind{notify.Birthday}, []string{"birthday Birthday 30"}},
		"earned points": {[]notify.Kind{notify.PointsEarned}, []string{"points_earned Birthday 30 Renew a subscription 20"}},
		"both":          {[]notify.Kind{notify.Birthday, notify.PointsEarned}, []string{"birthday Birthday 30", "points_earned Renew a subscription 20"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t, nil, test.enabled...)
			c.earn(birthday, 0)
			c.earn(purchase, 20)
			c.to(next(8))
			c.sent(test.want...)
		})
	}
}

func TestBirthdayPointsThatWereReversedAreNotReported(t *testing.T) {
	t.Parallel()
	c := open(t, nil, notify.Birthday)
	c.reverse(c.earn(birthday, 0), 0)
	c.to(next(8))
	c.sent()
}

func TestTierIsReportedOnceAndOnlyWhileItIsReached(t *testing.T) {
	t.Parallel()
	c := open(t, nil)
	c.earn(purchase, 999)
	c.to(morning.Add(time.Hour))
	c.sent()
	last := c.earn(purchase, 1)
	c.earn(purchase, 5)
	c.to(morning.Add(2 * time.Hour))
	c.sent("tier_reached Oak")
	c.reverse(last, 0)
	c.at.Set(time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC))
	c.reverse(c.earn(purchase, 1), 0)
	c.to(next(8))
	c.sent() // the tier was never left
	again := c.earn(purchase, 100)
	c.reverse(again, 0)
	c.to(next(12))
	c.sent()
}

func TestTierThatWasLostOverNightIsNotReported(t *testing.T) {
	t.Parallel()
	c := open(t, nil)
	c.at.Set(time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC))
	c.reverse(c.earn(purchase, 1000), 1)
	c.to(next(8))
	c.sent()
	c.wantEntries("tier_reached SKIPPED")
}

// wantEntries checks how messages ended, by the activity log.
func (c *club) wantEntries(want ...string) {
	c.Helper()
	list, _, err := c.db.Entries(c.Context(), c.shop.ID, nil, page.Request{Size: 100, Sort: []page.Sort{{Field: activity.FieldID}}})
	if err != nil {
		c.Fatal(err)
	}
	var got []string
	for _, e := range list {
		if _, rest, is := strings.Cut(e.Info, `"kind":"`); is {
			kind, _, _ := strings.Cut(rest, `"`)
			got = append(got, kind+" "+string(e.Status))
			if e.Event != activity.InformationalEvent || e.EntityType != activity.EntityShopInfo || e.EntityID != int64(c.shop.ID) || !strings.Contains(e.Info, `"customerId":901`) {
				c.Errorf("the entry is %+v", e)
			}
		}
	}
	if !slices.Equal(got, want) {
		c.Errorf("entries are %q, want %q", got, want)
	}
}

func TestRewardIsReportedWhileItCanBeUsed(t *testing.T) {
	t.Parallel()
	const says = "reward_issued As much as you like off an order"
	for name, test := range map[string]struct {
		then func(*club, loyalty.RewardID)
		want []string
	}{
		"it can be used":     {func(*club, loyalty.RewardID) {}, []string{says}},
		"it was used":        {func(c *club, r loyalty.RewardID) { c.set(r, loyalty.StatusUsed) }, nil},
		"it was given back":  {func(c *club, r loyalty.RewardID) { c.set(r, loyalty.Refunded) }, nil},
		"it expired":         {func(c *club, r loyalty.RewardID) { c.set(r, loyalty.ExpiredCode) }, nil},
		"it is used no more": {func(c *club, r loyalty.RewardID) { c.set(r, loyalty.StatusUsed); c.set(r, loyalty.Unused) }, []string{says}},
		"the programme was stopped": {func(c *club, _ loyalty.RewardID) {
			if err := c.Disable(c.Context(), c.shop.ID); err != nil {
				c.Fatal(err)
			}
		}, []string{says}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t, nil)
			c.earn(0, 200)
			c.at.Set(time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC))
			test.then(c, c.spend(150))
			c.to(next(8))
			c.sent(test.want...)
		})
	}
}

func (c *club) set(r loyalty.RewardID, to loyalty.RewardStatus) {
	c.Helper()
	if _, err := c.SetReward(c.Context(), c.shop.ID, loyalty.RewardCommand{Reward: r, Status: to}); err != nil {
		c.Fatal(err)
	}
}

// refusing is a platform that makes no discount code.
type refusing struct{ loyalty.Platform }

func (refusing) CreateDiscountCode(context.Context, platform.Shop, platform.DiscountCode) (string, error) {
	return "", &platform.Refusal{Message: "no"}
}

func TestRefusedCodeIsNotReportedAndStoreCreditIs(t *testing.T) {
	t.Parallel()
	c := open(t, nil)
	c.earn(0, 600)
	made := c.Platform
	c.Platform = refusing{made}
	if _, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1}); err == nil {
		t.Error("a code was made")
	}
	if _, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 4}); err != nil {
		t.Fatal(err)
	}
	c.to(next(8))
	c.sent("reward_issued 5 in store credit")
	c.wantEntries("reward_issued SUCCESS")
}

// yearly lets points expire twelve months after they were earned: on 2 March 2027, at 3:00.
func yearly(t *loyalty.Terms) { t.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 12} }

func on(month time.Month, day, hour int) time.Time {
	return time.Date(2027, month, day, hour, 0, 0, 0, time.UTC)
}

func TestMemberIsRemindedOfExpiringPointsTwice(t *testing.T) {
	t.Parallel()
	c := open(t, yearly)
	c.earn(0, 40)
	c.at.Set(on(1, 31, 2))
	c.to(on(1, 31, 7)) // it is night
	c.sent()
	c.to(on(1, 31, 8))
	c.sent("points_expiring 2 Mar 40")
	c.to(on(2, 27, 7))
	c.sent()
	c.to(on(2, 27, 8))
	c.sent("points_expiring 2 Mar 40")
	c.to(on(3, 4, 8))
	c.sent()
	c.wantEntries("points_expiring SUCCESS", "points_expiring SUCCESS")
	if due, some, err := c.db.Shops().NextDue(t.Context(), c.at.Now()); some || err != nil {
		t.Errorf("due next at %s, %v", due, err)
	}
}

func TestSpentPointsAreNotRemindedOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spends time.Time
		want   []string
	}{
		"before the first reminder":           {on(1, 31, 2), nil},
		"between its instant and its sending": {on(1, 31, 5), nil},
		"between the two":                     {on(2, 20, 12), []string{"points_expiring 2 Mar 200"}},
		"between the second and its sending":  {on(2, 27, 5), []string{"points_expiring 2 Mar 200"}},
		"after both, so that both are sent":   {on(2, 28, 12), []string{"points_expiring 2 Mar 200", "points_expiring 2 Mar 200"}},
		"never, but the member has left":      {time.Time{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t, yearly)
			c.shop.Settings.DisabledMails = []notify.Kind{notify.RewardIssued}
			c.in(func(tx *store.Tx) error { return tx.PutShop(t.Context(), c.shop) })
			c.earn(0, 200)
			if test.spends.IsZero() {
				c.in(func(tx *store.Tx) error {
					list, err := tx.AccountsOf(t.Context(), []int64{ada})
					if err != nil {
						return err
					}
					list[0].Status = loyalty.ExcludedByCustomer
					return tx.PutAccounts(t.Context(), list)
				})
			}
			c.at.Set(on(1, 31, 1))
			if !test.spends.IsZero() {
				c.to(test.spends)
				c.spend(200)
			}
			c.to(on(3, 4, 12))
			c.sent(test.want...)
		})
	}
}

func TestPointsThatExpireDayByDayAreNamedTogether(t *testing.T) {
	t.Parallel()
	c := open(t, yearly)
	for day := range 10 {
		c.at.Set(morning.AddDate(0, 0, day))
		c.earn(0, loyalty.Points(day+1))
	}
	c.at.Set(on(1, 31, 1))
	c.to(on(2, 26, 12))
	c.sent(
		"points_expiring 2 Mar 1 3 Mar 2 4 Mar 3 5 Mar 4 6 Mar 5 7 Mar 6 8 Mar 7 9 Mar 8",
		"points_expiring 2 Mar 1 3 Mar 2 4 Mar 3 5 Mar 4 6 Mar 5 7 Mar 6 8 Mar 7 9 Mar 8 10 Mar 9 11 Mar 10",
	)
	c.to(on(3, 12, 12))
	c.sent("points_expiring 2 Mar 1 3 Mar 2 4 Mar 3 5 Mar 4", "points_expiring 4 Mar 3 5 Mar 4 6 Mar 5 7 Mar 6 8 Mar 7 9 Mar 8", "points_expiring 8 Mar 7 9 Mar 8 10 Mar 9 11 Mar 10")
}

func TestIdleMemberIsRemindedUntilPointsMove(t *testing.T) {
	t.Parallel()
	c := open(t, func(t *loyalty.Terms) { t.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.Inactivity, Days: 60} })
	c.earn(0, 40)                                       // they expire on 1 May
	c.to(time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)) // a first reminder on 1 April
	c.sent("points_expiring 1 May 40")
	c.earn(0, 2) // now they expire on 9 June
	c.to(time.Date(2026, 5, 9, 12, 0, 0, 0, time.UTC))
	c.sent()
	c.to(time.Date(2026, 5, 12, 12, 0, 0, 0, time.UTC))
	c.sent("points_expiring 9 Jun 42")
	c.to(time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC))
	c.sent("points_expiring 9 Jun 42")
	c.earn(0, 1)
	c.to(time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC))
	c.sent()
}

func TestReminderThatIsLateIsSentOnce(t *testing.T) {
	t.Parallel()
	c := open(t, yearly)
	c.earn(0, 40)
	c.at.Set(on(2, 28, 12)) // after an outage of a month
	c.to(on(3, 4, 12))
	c.sent("points_expiring 2 Mar 40")
}

func TestStoppedProgrammeRemindsNoMember(t *testing.T) {
	t.Parallel()
	c := open(t, yearly, notify.PointsEarned)
	c.earn(0, 40)
	if err := c.Disable(t.Context(), c.shop.ID); err != nil {
		t.Fatal(err)
	}
	c.to(next(9))
	c.at.Set(on(1, 31, 1))
	c.to(on(3, 4, 12))
	c.sent()
	c.wantEntries("points_earned SKIPPED")
}
