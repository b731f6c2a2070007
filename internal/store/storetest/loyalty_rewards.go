package storetest

import (
	"context"
	"sync"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/platform"
)

func testLoyaltyRewards(t *testing.T, open opener) {
	t.Run("reward is a platform code, used once or refunded", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		redeem := loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk}
		m, err := c.Redeem(t.Context(), c.shop.ID, redeem)
		if err != nil || len(m.Rewards) != 1 || m.Rewards[0].State != loyalty.Issued || m.Rewards[0].PlatformID == "" || m.Sums.Available != 520*loyalty.One {
			t.Fatalf("redeemed: %+v, %+v, %v", m.Rewards, m.Sums, err)
		}
		if made := c.codes.made; len(made) != 1 || made[0].Customer != ada || made[0].Amount != (money.Amount{Minor: 500, Currency: "EUR"}) || made[0].Code != m.Rewards[0].Code {
			t.Errorf("the platform made %+v", made)
		}
		use := loyalty.RewardCommand{Code: m.Rewards[0].Code, Status: loyalty.StatusUsed, Order: 77, OrderName: "#77", Actor: clerk}
		if m, err := c.SetReward(t.Context(), c.shop.ID, use); err != nil || m.Rewards[0].Status() != loyalty.StatusUsed || m.Rewards[0].Order != 77 || m.Rewards[0].Uses != 1 {
			t.Errorf("used: %+v, %v", m.Rewards, err)
		}
		_, err = c.SetReward(t.Context(), c.shop.ID, use)
		c.wantKind(err, fault.FailedPrecondition)
		back := loyalty.RewardCommand{Reward: m.Rewards[0].ID, Status: loyalty.Refunded, Actor: clerk}
		if m, err := c.SetReward(t.Context(), c.shop.ID, back); err != nil || m.Rewards[0].State != loyalty.Cancelled || m.Sums.Available != 1020*loyalty.One || len(c.codes.ended) != 1 {
			t.Errorf("given back: %+v, %+v, %v", m.Rewards, m.Sums, err)
		}
		_, err = c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: redeem.Who, Rule: 3, Points: 1021 * loyalty.One})
		c.wantKind(err, fault.FailedPrecondition)
		c.member(ada)
	})
	t.Run("reward used by an order cannot be refunded", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 2000*loyalty.One)
		for range 2 {
			if _, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk}); err != nil {
				t.Fatal(err)
			}
		}
		rewards := c.member(ada).Rewards // newest first
		c.codes.used = map[string]platform.OrderRef{rewards[1].Code: {ID: 5001, Name: "#1001"}}
		c.work()
		if r := c.member(ada).Rewards[1]; r.State != loyalty.Issued {
			t.Errorf("before anybody ordered: %+v", r)
		}
		c.charge(1, 2, 1000)
		c.work()
		if r := c.member(ada).Rewards; r[1].State != loyalty.Used || r[1].Order != 5001 || r[1].OrderName != "#1001" || !r[1].UsedAt.Equal(day) || r[1].Uses != 1 || r[0].State != loyalty.Issued {
			t.Errorf("after an order: %+v", r)
		}
		spent := c.member(ada).Sums.Available
		c.codes.used[rewards[0].Code] = platform.OrderRef{ID: 5002, Name: "#1002"}
		_, err := c.SetReward(t.Context(), c.shop.ID, loyalty.RewardCommand{Reward: rewards[0].ID, Status: loyalty.Refunded, Actor: clerk})
		c.wantKind(err, fault.FailedPrecondition)
		if m := c.member(ada); m.Rewards[0].State != loyalty.Used || m.Rewards[0].OrderName != "#1002" || m.Sums.Available != spent {
			t.Errorf("given back after it was used: %+v, %+v", m.Rewards[0], m.Sums)
		}
	})
	t.Run("repeated request moves points once", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work() // 20 points
		who := loyalty.CustomerRef{Customer: ada}
		before := c.add(ada, 2000*loyalty.One)
		for _, row := range []struct {
			name   string
			do     func(request string) (loyalty.Member, error)
			points loyalty.Points
			credit int64
		}{
			{"points are added", func(request string) (loyalty.Member, error) {
				return c.Add(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: who, Points: 10 * loyalty.One, Actor: clerk, IdempotencyKey: request})
			}, 10 * loyalty.One, 0},
			{"points are removed", func(request string) (loyalty.Member, error) {
				return c.Remove(t.Context(), c.shop.ID, loyalty.PointsCommand{Who: who, Points: 5 * loyalty.One, Actor: clerk, IdempotencyKey: request})
			}, -5 * loyalty.One, 0},
			{"credit is given", func(request string) (loyalty.Member, error) {
				return c.AddCredit(t.Context(), c.shop.ID, loyalty.CreditCommand{Who: who, Amount: 700, Actor: clerk, IdempotencyKey: request})
			}, 0, 700},
			{"a reward is taken", func(request string) (loyalty.Member, error) {
				return c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: who, Rule: 1, Actor: clerk, IdempotencyKey: request})
			}, -500 * loyalty.One, 0},
		} {
			times := func(request string, n int64) {
				t.Helper()
				m, err := row.do(request)
				if err != nil || m.Sums.Available != before.Sums.Available+row.points*loyalty.Points(n) || m.Credit.Minor != before.Credit.Minor+row.credit*n {
					t.Errorf("%s by %q: %s points and %s, %v; had %s and %s", row.name, request, m.Sums.Available, m.Credit, err, before.Sums.Available, before.Credit)
				}
			}
			times(row.name, 1)
			times(row.name, 1)
			times(row.name+", in other words", 2)
			times("", 3)
			c.clock.Set(c.clock.Now().Add(idempotency.AnswerTTL))
			times(row.name, 4)
			before = c.member(ada)
		}
	})
	t.Run("refused request can be repeated", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		redeem := func() error {
			_, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk, IdempotencyKey: "a"})
			return err
		}
		c.wantKind(redeem(), fault.FailedPrecondition)
		c.add(ada, 1000*loyalty.One)
		if err := redeem(); err != nil || len(c.member(ada).Rewards) != 1 {
			t.Errorf("with enough points: %v", err)
		}
	})
	t.Run("redemption completes when the caller hangs up", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		ctx, hangUp := context.WithCancel(t.Context())
		c.codes.makes = hangUp
		m, err := c.Redeem(ctx, c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk})
		if err != nil || len(m.Rewards) != 1 || m.Rewards[0].State != loyalty.Issued {
			t.Errorf("answered %+v, %v", m.Rewards, err)
		}
	})
	t.Run("reward used during its deactivation is not refunded", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		m, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk})
		if err != nil {
			t.Fatal(err)
		}
		c.codes.ends = func() { c.codes.used = map[string]platform.OrderRef{m.Rewards[0].Code: {ID: 5001, Name: "#1001"}} }
		_, err = c.SetReward(t.Context(), c.shop.ID, loyalty.RewardCommand{Reward: m.Rewards[0].ID, Status: loyalty.Refunded, Actor: clerk})
		c.wantKind(err, fault.FailedPrecondition)
		if after := c.member(ada); after.Rewards[0].State != loyalty.Used || after.Sums.Available != m.Sums.Available || len(c.codes.ended) != 1 {
			t.Errorf("the customer has %+v and %s points, had %s", after.Rewards[0], after.Sums.Available, m.Sums.Available)
		}
	})
	t.Run("unavailable platform postpones the end of a reward", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		m, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1, Actor: clerk})
		if err != nil {
			t.Fatal(err)
		}
		ends := m.Rewards[0].ExpiresAt
		c.clock.Set(ends)
		c.codes.fails = platform.ErrUnknown
		c.work()
		after := c.member(ada).Rewards[0]
		if after.State != loyalty.Issued || !after.DueAt.After(ends) {
			t.Errorf("unanswered: %+v", after)
		}
		c.codes.fails = nil
		c.clock.Set(after.DueAt)
		c.work()
		if r := c.member(ada).Rewards[0]; r.State != loyalty.Lapsed || !r.DueAt.IsZero() {
			t.Errorf("answered: %+v", r)
		}
	})
	t.Run("reward waits for an unavailable platform", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		c.codes.fails = platform.ErrUnknown
		m, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1})
		if err != nil || m.Rewards[0].State != loyalty.Reserved || m.Sums.Available != 520*loyalty.One {
			t.Fatalf("redeemed: %+v, %v", m.Rewards, err)
		}
		c.codes.fails = nil
		c.clock.Set(m.Rewards[0].DueAt)
		c.work()
		issued := c.member(ada).Rewards[0]
		if issued.State != loyalty.Issued || len(c.codes.made) != 1 || c.codes.made[0].Code != m.Rewards[0].Code {
			t.Errorf("later: %+v, made %+v", issued, c.codes.made)
		}
		c.clock.Set(issued.ExpiresAt)
		c.work()
		if r := c.member(ada).Rewards[0]; r.Status() != loyalty.ExpiredCode || !r.DueAt.IsZero() {
			t.Errorf("at its end: %+v", r)
		}
	})
	t.Run("refused code returns the points", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		c.codes.fails = &platform.Refusal{Code: "INVALID", Message: "no"}
		_, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 1})
		c.wantKind(err, fault.FailedPrecondition)
		if m := c.member(ada); m.Sums.Available != 1020*loyalty.One || m.Rewards[0].State != loyalty.Cancelled {
			t.Errorf("after the refusal: %+v, %+v", m.Sums, m.Rewards)
		}
	})
	t.Run("store credit is summed", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 1000*loyalty.One)
		if m, err := c.AddCredit(t.Context(), c.shop.ID, loyalty.CreditCommand{Who: loyalty.CustomerRef{Customer: ada}, Amount: 750, Actor: clerk}); err != nil || m.Credit.Minor != 750 {
			t.Errorf("added: %s, %v", m.Credit, err)
		}
		m, err := c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 4})
		if err != nil || m.Credit.Minor != 1250 || m.Rewards[0].Status() != loyalty.StatusUsed || m.Sums.Available != 520*loyalty.One {
			t.Errorf("redeemed: %s, %+v, %v", m.Credit, m.Rewards, err)
		}
	})
	t.Run("concurrent redemptions spend each point once", func(t *testing.T) {
		c := beginClub(t, open, nil)
		c.put(monthly(1))
		c.work()
		c.add(ada, 980*loyalty.One) // 1000 in all: two rewards
		var together sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			together.Go(func() {
				_, results[i] = c.Redeem(t.Context(), c.shop.ID, loyalty.RedeemCommand{Who: loyalty.CustomerRef{Customer: ada}, Rule: 4})
			})
		}
		together.Wait()
		done := 0
		for _, err := range results {
			if err == nil {
				done++
			} else if !fault.Is(err, fault.FailedPrecondition) {
				t.Errorf("got %v", err)
			}
		}
		if m := c.member(ada); done != 2 || m.Sums.Available != 0 || m.Credit.Minor != 1000 {
			t.Errorf("%d were redeemed: %+v, credit %s", done, m.Sums, m.Credit)
		}
	})
}
