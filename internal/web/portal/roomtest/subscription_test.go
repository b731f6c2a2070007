package roomtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// subscriptionChanges notes what was asked for.
type subscriptionChanges struct {
	asked []string
	err   error
}

func (c *subscriptionChanges) Resume(_ context.Context, who do.Caller, ref do.ContractRef, _ time.Time) (contract.Detail, error) {
	c.asked = append(c.asked, "resume")
	return contract.Detail{}, c.err
}

func (c *subscriptionChanges) Keep(context.Context, do.Caller, do.ContractRef) (contract.Detail, error) {
	c.asked = append(c.asked, "keep")
	return contract.Detail{}, c.err
}

func openSubscription(t *testing.T, c *subscriptionChanges) *portaltest.Site {
	t.Helper()
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: c})}
	})
	return s
}

// subscriptionState is a contract in a state, with its orders.
type subscriptionState struct {
	change func(*contract.Contract, []billing.Attempt) []billing.Attempt
	says   []string // on the screen of the subscription
	home   []string // on the first screen
	not    []string // on neither
}

var subscriptionStates = map[string]subscriptionState{
	"active": {
		says: []string{"House Blend Coffee and Earl Grey Loose Leaf", "Active", "Wednesday, March 3", "$24.50", "In 5 days. Charged to Visa ending in 4242", "Whole bean, 1 piece", "Since Oct 14, 9 orders so far", "#1104", "Expires 08/2030"},
		home: []string{"Hello, Maya", "Your next order", "Total before taxes", "$24.50 every 2 weeks", "2 items. Next order: Wednesday, March 3"},
		not:  []string{"Ends soon", "Undo skip"},
	},
	"with a discount for one more order": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Discounts = []contract.Discount{{ID: "gid://shopify/SubscriptionManualDiscount/1", Title: "Half", Percent: 50, AllLines: true, CycleLimit: 1}}
			return list
		},
		says: []string{"$13.50"},
		home: []string{"$13.50", "$24.50 every 2 weeks"},
	},
	"with a skipped order": {
		change: func(_ *contract.Contract, list []billing.Attempt) []billing.Attempt {
			list[3].Status, list[3].DueAt = billing.Skipped, time.Time{}
			list[3].Amount = portaltest.USD(2450)
			return list
		},
		says: []string{"Skipped", "Undo skip", "Wednesday, March 17"},
		home: []string{"Wednesday, March 17"},
	},
	"declined and tried again": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			list[2].ID = 900
			portaltest.Declined(c, &list[2], "INSUFFICIENT_FUNDS")
			return list
		},
		says: []string{"A payment of $24.50 didn’t go through", "There wasn’t enough money in the account.", "We’ll try again on Saturday, February 27", "Payment declined"},
		home: []string{"A payment of $24.50 didn’t go through", "$24.50 due since Wednesday, February 24. Next try: Saturday, February 27"},
	},
	"waiting for stock": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			list[2].ID = 900
			portaltest.Declined(c, &list[2], "INSUFFICIENT_INVENTORY")
			return list
		},
		says: []string{"A product is out of stock", "You’ll be charged $24.50 when it’s sent, and nothing before."},
		home: []string{"A product is out of stock"},
		not:  []string{"didn’t go through"},
	},
	"waiting for the bank": {
		change: func(_ *contract.Contract, list []billing.Attempt) []billing.Attempt {
			list[3].Status, list[3].ActionURL, list[3].BillingDate = billing.Challenge, "https://bank.example/confirm", portaltest.Now.Add(-time.Hour)
			return list
		},
		says: []string{"Confirm your payment of $24.50", "Waits for your bank", "can’t be changed"},
		home: []string{"Confirm your payment of $24.50"},
	},
	"with a card that expires": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Card.ExpiryYear, c.Card.ExpiryMonth = 2027, 2
			return list
		},
		says: []string{"Your Visa ending in 4242 expires soon", "Your next order for House Blend Coffee and Earl Grey Loose Leaf is $24.50 on Wednesday, March 3"},
		home: []string{"Your Visa ending in 4242 expires soon"},
	},
	"paused until a day": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Status, c.Pause, c.PausedAt, c.NextBillingDate = contract.Paused, &contract.Pause{Until: portaltest.Charged(2027, time.May, 1)}, portaltest.Now.AddDate(0, 0, -3), time.Time{}
			return list[:3]
		},
		says: []string{"Paused until", "Saturday, May 1", "No orders and no charges until then.", "Restart now"},
		home: []string{"Restarts on Saturday, May 1", "No charges until then. After that $24.50 every 2 weeks.", "Restart now"},
	},
	"paused without an end": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Status, c.PausedAt, c.NextBillingDate = contract.Paused, portaltest.Now.AddDate(0, 0, -3), time.Time{}
			return list[:3]
		},
		says: []string{"Until you restart it", "Restart now"},
		home: []string{"Paused since Tuesday, February 23", "No charges until you restart it. Then $24.50 every 2 weeks."},
	},
	"cancelled": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Status, c.CancelledAt, c.NextBillingDate, c.CancellationFeedback = contract.Cancelled, portaltest.Now.AddDate(0, 0, -1), time.Time{}, "Too much coffee"
			return list[:3]
		},
		says: []string{"Cancelled on", "Thursday, February 25", "Nothing more will be charged.", "Your reason: “Too much coffee”"},
		home: []string{"None of your subscriptions is running.", "Cancelled on Thursday, February 25"},
		not:  []string{"Your next order", "Pause or cancel"},
	},
	"expired": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Status, c.ExpireAt, c.NextBillingDate = contract.Expired, portaltest.Now.AddDate(0, 0, -1), time.Time{}
			return list[:3]
		},
		says: []string{"Ended on", "Thursday, February 25"},
		home: []string{"Ended on Thursday, February 25"},
	},
	"failed": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Status, c.NextBillingDate = contract.Failed, time.Time{}
			return list[:3]
		},
		says: []string{"Payment failed", "No order is planned"},
		home: []string{"No orders come until it’s paid."},
	},
	"ending": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Ending = &contract.Ending{Why: contract.EndOfMinimum, Cycle: 5, At: portaltest.Next}
			return list[:4]
		},
		says: []string{"Ends soon", "This subscription will end", "Keep my subscription"},
		home: []string{"Ends on Wednesday, March 3", "$24.50 will still be charged on Wednesday, March 3."},
	},
	"in a commitment": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.MinCycles = 12
			return list
		},
		says: []string{"9 of 12 orders completed. Until then orders can’t be skipped or moved."},
		home: []string{"9 of 12 orders completed."},
	},
	"prepaid": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			month := contract.Policy{Interval: cadence.Month, Count: 1}
			c.Billing, c.Delivery = contract.Policy{Interval: cadence.Month, Count: 6}, month
			paid := portaltest.Charged(2026, time.November, 10)
			c.Series, c.LastOrderAt = contract.Series{Cycle: 2, Start: paid.AddDate(0, -6, 0)}, paid
			c.NextBillingDate = portaltest.Charged(2027, time.May, 10)
			last := portaltest.Attempt(c.ID, 3, billing.Success, paid)
			return []billing.Attempt{last, portaltest.Attempt(c.ID, 4, billing.Queued, c.NextBillingDate)}
		},
		says: []string{"Prepaid", "Next delivery", "Wednesday, March 10", "Already paid", "Nothing is charged for this delivery.", "4 of 6 deliveries sent", "$24.50 on Monday, May 10, for 6 deliveries", "A delivery every month, paid for 6 deliveries at a time", "Deliveries to come", "Saturday, April 10", "Upcoming payments"},
		home: []string{"Paid until Saturday, April 10", "4 of 6 deliveries sent. Next delivery: Wednesday, March 10"},
	},
	"prepaid, and not renewed": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Billing, c.Delivery = contract.Policy{Interval: cadence.Month, Count: 6}, contract.Policy{Interval: cadence.Month, Count: 1}
			paid := portaltest.Charged(2026, time.November, 10)
			c.Series, c.LastOrderAt = contract.Series{Cycle: 2, Start: paid.AddDate(0, -6, 0)}, paid
			c.NextBillingDate = portaltest.Charged(2027, time.May, 10)
			c.Ending = &contract.Ending{At: c.NextBillingDate}
			return []billing.Attempt{portaltest.Attempt(c.ID, 3, billing.Success, paid)}
		},
		says: []string{"Ends soon", "Next delivery", "Wednesday, March 10", "Already paid", "Deliveries to come", "Saturday, April 10"},
		not:  []string{"No order is planned."},
	},
	"a membership": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Line, c.Lines = shop.Memberships, c.Lines[:1]
			c.Lines[0].SellingPlanName = "Pantry Club, monthly"
			return list
		},
		says: []string{"Member since", "Your membership renews on", "Your level", "Pantry Club, monthly", "Upcoming renewals"},
		not:  []string{"Add a product", "Change address", "Upcoming orders"},
	},
	"paid for life": {
		change: func(c *contract.Contract, list []billing.Attempt) []billing.Attempt {
			c.Lifelong, c.NextBillingDate = true, time.Time{}
			return list[:3]
		},
		says: []string{"Paid once, for life"},
		home: []string{"Paid once, for life"},
	},
}

func TestScreensShowEveryState(t *testing.T) {
	t.Parallel()
	for name, row := range subscriptionStates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openSubscription(t, &subscriptionChanges{})
			if name == "in a commitment" {
				s.First.Settings.FreezeUntilMinCycles = true
				s.PutShop()
			}
			c, list := portaltest.Subscription(1), portaltest.Orders(1, 8)
			if row.change != nil {
				list = row.change(&c, list)
			}
			// An attempt's number is the store's to give, and the contract names the unpaid one.
			for i := range list {
				list[i].ID = 0
			}
			s.Put(s.First, []contract.Contract{c}, list...)
			s.Settle(c)
			s.SignIn(portaltest.Maya)
			one, all := s.Get(portaltest.At+"/s/1"), s.Get(portaltest.At)
			s.Want(one, http.StatusOK, row.says...)
			s.Want(all, http.StatusOK, row.home...)
			for _, p := range []portaltest.Page{one, all} {
				for _, words := range row.not {
					if strings.Contains(p.Text, words) {
						t.Errorf("%s says %q", p.Path, words)
					}
				}
				if len(p.Text) > 30<<10 {
					t.Errorf("%s has %d bytes, at most 30 KB are allowed", p.Path, len(p.Text))
				}
				if strings.Contains(p.Text, "ZgotmplZ") || strings.Contains(p.Text, "%!") {
					t.Errorf("%s has a value that was not written:\n%s", p.Path, p.Text)
				}
			}
		})
	}
}

func TestResumeNamesEveryLineAndNeedsPaymentMethod(t *testing.T) {
	t.Parallel()
	c := &subscriptionChanges{}
	s := openSubscription(t, c)
	is := portaltest.Subscription(1)
	is.Status, is.OneOffs, is.NextBillingDate = contract.Paused, 1, time.Time{}
	is.Series = contract.Series{Cycle: 2, Start: portaltest.Next.AddDate(0, 0, -28)}
	s.Put(s.First, []contract.Contract{is})
	decaf := portaltest.Product(301, "Decaf", "Default Title", 1300)
	s.PutOneOff(s.First, billing.OneOff{Contract: 1, Cycle: 2, Variant: decaf.Variant, Quantity: 2}) // its order was not made
	s.SignIn(portaltest.Maya)
	const path = "/s/1/resume"
	p := s.Get(portaltest.At + path)
	s.Want(p, http.StatusOK, "Your next order will be on Wednesday, March 3. Visa ending in 4242 will be charged $50.50",
		"<h3>House Blend Coffee</h3>", "<h3>Earl Grey Loose Leaf</h3>", "<h3>Decaf</h3>", "2 pieces", "$26.00", "<dt>Total before taxes</dt><dd>$50.50</dd>")
	is.PaymentMethod, is.PaymentUsable, is.Version = "", false, 1
	s.Put(s.First, []contract.Contract{is})
	without := s.Get(portaltest.At + path)
	s.Want(without, http.StatusOK, "There is no payment method that can be charged. Add one first")
	for _, not := range []string{"No payment method", "<form class=\"stack\"", "will be charged"} {
		if strings.Contains(without.Text, not) {
			t.Errorf("without a payment method the question has %q", not)
		}
	}
	s.Want(s.Send(p, path), http.StatusOK, "There is no payment method that can be charged.")
	if len(c.asked) > 0 {
		t.Errorf("asked for %v", c.asked)
	}
}

func TestAsManyOrdersAreShownAsTheStoreSays(t *testing.T) {
	t.Parallel()
	s := openSubscription(t, &subscriptionChanges{})
	c := portaltest.Subscription(1)
	list := portaltest.Orders(1, 8)
	for i := range list {
		list[i].ID = 0
	}
	s.Put(s.First, []contract.Contract{c}, list...)
	s.Settle(c)
	s.SignIn(portaltest.Maya)
	rows := func() int {
		_, upcoming, _ := strings.Cut(s.Get(portaltest.At+"/s/1").Text, `id="upcoming"`)
		upcoming, _, _ = strings.Cut(upcoming, "</section>")
		return strings.Count(upcoming, "<li")
	}
	if got := rows(); got != 6 {
		t.Errorf("%d orders are shown without a setting, want 6", got)
	}
	if err := s.DB.Update(t.Context(), s.First.ID, func(tx *store.Tx) error {
		return tx.PutPortalSettings(t.Context(), &do.Settings{Upcoming: 2})
	}); err != nil {
		t.Fatal(err)
	}
	if got := rows(); got != 2 {
		t.Errorf("%d orders are shown, want 2", got)
	}
}
