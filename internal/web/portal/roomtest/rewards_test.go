package roomtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/rewards"
)

const rewardsPath = "/rewards"

// newsletterRule is the number of the rule for subscribing to the newsletter, which gives 25 points.
const newsletterRule = 5

// rewardsSite is a portal with the room rewards and, when terms change them, a programme.
type rewardsSite struct {
	*portaltest.Site
	points *loyalty.Service
}

func openRewards(t *testing.T, change func(*loyalty.Terms)) rewardsSite {
	t.Helper()
	var points *loyalty.Service
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		points = s.Points()
		return []portal.Room{
			home.New(home.Options{Homes: s.Overview}),
			rewards.New(rewards.Options{Points: points, Runs: func(ctx context.Context, of shop.Shop) (bool, error) {
				p, err := points.Program(ctx, of.ID)
				return p.Active, err
			}}),
		}
	})
	s.Put(s.First, []contract.Contract{portaltest.Subscription(1)})
	if change != nil {
		terms := loyalty.DefaultTerms()
		terms.Tiers = []loyalty.Tier{{ID: 1, Name: "Oak", Points: 100 * loyalty.One}, {ID: 2, Name: "Elm", Points: 2000 * loyalty.One}}
		change(&terms)
		if err := points.Enable(t.Context(), s.First.ID, s.Clock.Now().AddDate(-1, 0, 0), terms); err != nil {
			t.Fatal(err)
		}
	}
	s.SignIn(portaltest.Maya)
	return rewardsSite{s, points}
}

// add gives points, by hand or by a rule.
func (s rewardsSite) add(n loyalty.Points, rule loyalty.RuleID) {
	s.Helper()
	_, err := s.points.Add(s.Context(), s.First.ID, loyalty.PointsCommand{Who: loyalty.CustomerRef{Customer: portaltest.Maya}, Points: n, Rule: rule, Actor: activity.System})
	if err != nil {
		s.Fatal(err)
	}
}

func TestSubscriberRedeemsPoints(t *testing.T) {
	t.Parallel()
	s := openRewards(t, func(terms *loyalty.Terms) {
		terms.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 12}
		for i := range terms.Earn {
			terms.Earn[i].Active = true
		}
	})
	s.Want(s.Get(portaltest.At+rewardsPath), http.StatusOK, "You have nothing yet.", "Ways to earn", "Renew a subscription", "1 Points for every $1.00")
	s.add(1690*loyalty.One, 0)
	s.add(100*loyalty.One, newsletterRule) // and 50 for joining
	p := s.Get(portaltest.At + rewardsPath)
	s.Want(p, http.StatusOK, "You can spend", "1,840 Points", "Expiring", "You are at Oak. 1,850 Points to Elm.", "5 off an order", "Added by the store", "&#43;1,690 Points", "?ref=", `aria-current="true">Rewards`)
	s.Want(s.Get(portaltest.At+rewardsPath+"/1"), http.StatusOK, "Redeem for “5 off an order”?", "It costs 500 Points. You have 1,840 Points, and 1,340 Points are left.", "It can be used for 90 days.")

	asked := s.Get(portaltest.At + rewardsPath + "/1")
	for range 2 { // the form is sent twice
		s.Want(s.Send(asked, rewardsPath+"/1"), http.StatusOK, "Done. Your reward is below.", "1,340 Points", "LOYAL-")
	}
	asked = s.Get(portaltest.At + rewardsPath + "/3")
	s.Want(asked, http.StatusOK, "100 Points take $1.00 off.", `name="points" type="number" value="100"`)
	s.Want(s.Send(asked, rewardsPath+"/3", "points", "50"), http.StatusUnprocessableEntity, "That is fewer than can be redeemed.", `value="50"`)
	s.Want(s.Send(asked, rewardsPath+"/3", "points", "many"), http.StatusUnprocessableEntity, "Write how many, as a number.")
	s.Want(s.Send(asked, rewardsPath+"/3", "points", "9000"), http.StatusUnprocessableEntity, "You don’t have that many.")
	s.Want(s.Send(asked, rewardsPath+"/3", "points", "300"), http.StatusOK, "1,040 Points")
	s.Want(s.Send(s.Get(portaltest.At+rewardsPath+"/4"), rewardsPath+"/4"), http.StatusOK, "Store credit", "$5.00")
	s.Want(s.Get(portaltest.At+rewardsPath), http.StatusOK, "You need 460 Points more.")
	for _, rule := range []string{"9", "x", "0"} {
		s.Want(s.Get(portaltest.At+rewardsPath+"/"+rule), http.StatusNotFound)
	}
}

func TestPendingPointsSayWhenTheyCanBeSpent(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*loyalty.Terms)
		says   string
	}{
		"after days":              {func(terms *loyalty.Terms) { terms.PendingDays = 14 }, "25 Points, to spend from Friday, March 12"},
		"by approval":             {func(terms *loyalty.Terms) { terms.Approval = true }, "25 Points, once the store approves them"},
		"by the store's own name": {func(terms *loyalty.Terms) { terms.Label, terms.Approval = "Beans", true }, "25 Beans, once the store approves them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openRewards(t, func(terms *loyalty.Terms) {
				terms.Earn[newsletterRule-1].Active = true
				row.change(terms)
			})
			s.add(0, newsletterRule)
			s.Want(s.Get(portaltest.At+rewardsPath), http.StatusOK, row.says)
		})
	}
}

func TestSubscriberTakesPartAndIsLeftOut(t *testing.T) {
	t.Parallel()
	s := openRewards(t, func(terms *loyalty.Terms) { terms.Enrol = loyalty.OptIn })
	p := s.Get(portaltest.At + rewardsPath)
	s.Want(p, http.StatusOK, "Join, and your orders earn from then on.", "Take part")
	s.Want(s.Send(p, rewardsPath+"/join"), http.StatusOK, "You take part now.", "0 Points", "Nothing has happened yet.")
}

func TestStoreWithoutProgrammeHasNoRewards(t *testing.T) {
	t.Parallel()
	s := openRewards(t, nil)
	if p := s.Get(portaltest.At); strings.Contains(p.Text, "Rewards") {
		t.Error("the navigation leads to rewards")
	}
	for _, at := range []string{rewardsPath, rewardsPath + "/1"} {
		s.Want(s.Get(portaltest.At+at), http.StatusNotFound)
	}
}

func TestHistoryHasPages(t *testing.T) {
	t.Parallel()
	s := openRewards(t, func(*loyalty.Terms) {})
	for n := range loyalty.Points(12) {
		s.add((n+1)*loyalty.One, 0)
		s.Clock.Set(s.Clock.Now().Add(time.Minute))
	}
	s.Want(s.Get(portaltest.At+rewardsPath), http.StatusOK, "&#43;12 Points", "Older")
	p := s.Get(portaltest.At + rewardsPath + "?history=1")
	s.Want(p, http.StatusOK, "&#43;1 Points", "&#43;2 Points", "Newer")
	if strings.Contains(p.Text, "&#43;12 Points") || strings.Contains(p.Text, "Older") {
		t.Error("the second page has what the first one has")
	}
}
