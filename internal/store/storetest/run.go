package storetest

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// opener opens a migrated store for a test, which has the neighbours or is empty, and
// closes it afterwards.
type opener struct{ shared, empty func(testing.TB) *store.DB }

// Run checks that stores do what a store must do. Every test gets one from shared,
// beside the rows of the neighbours; a test of what is found across shops gets an empty
// one too.
func Run(t *testing.T, shared, empty func(testing.TB) *store.DB) {
	t.Helper()
	open := opener{shared, empty}
	for name, test := range map[string]func(*testing.T, opener){
		"shops":                testShops,
		"keys":                 testKeys,
		"key limit":            testKeyLimit,
		"partners":             testPartners,
		"buckets":              testBuckets,
		"attempts":             testAttempts,
		"contracts":            testContracts,
		"locking":              testLocking,
		"tenancy":              testTenancy,
		"transactions":         testTransactions,
		"views":                testViews,
		"due":                  testDue,
		"amending":             testAmending,
		"dunning":              testDunning,
		"activity":             testActivity,
		"delivery":             testDelivery,
		"guards":               testGuards,
		"consent":              testConsent,
		"support":              testSupport,
		"developers":           testDevelopers,
		"privacy":              testPrivacy,
		"syncs":                testSyncs,
		"bulk":                 testBulk,
		"moves":                testMoves,
		"saved views":          testSavedViews,
		"overview":             testOverview,
		"portal":               testPortal,
		"SMS":                  testSMS,
		"portal texts":         testPortalTexts,
		"e-mails of a store":   testMailTemplates,
		"portal designs":       testPortalDesigns,
		"queued orders":        testQueuedOrders,
		"finding":              testFinding,
		"bundles":              testBundles,
		"catalogue":            testCatalogue,
		"search":               testSearch,
		"book":                 testBook,
		"counts":               testCounts,
		"customers":            testCustomers,
		"reports":              testReports,
		"inbox":                testInbox,
		"answers":              testAnswers,
		"creations":            testCreations,
		"unread":               testUnread,
		"messages":             testMessages,
		"reminders":            testReminders,
		"webhooks":             testWebhooks,
		"webhook-events":       testEvents,
		"webhooks-announcing":  testAnnouncing,
		"logins":               testLogins,
		"staff":                testStaff,
		"platform-connections": testPlatformConnections,
		"redact":               testRedact,
		"jobs":                 testJobs,
		"rests":                testRests,
		"plans":                testPlans,
		"swaps":                testSwaps,
		"one-offs":             testOneOffs,
		"annotations":          testAnnotations,
		"loyalty":              testLoyalty,
		"retention":            testRetention,
		"cancelling":           testCancelling,
		"analytics":            testAnalytics,
		"cohorts":              testCohorts,
		"queue figures":        testQueueFigures,
		"migrations":           testMigrations,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// day is the instant from which the tests count.
var day = time.Date(2025, time.January, 31, 9, 30, 0, 123_000_000, time.UTC)

// twice runs a test that asks across shops: beside the neighbours, and in a store in
// which nothing is due but what the test puts there.
func (o opener) twice(t *testing.T, name string, test func(*testing.T, opener)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { test(t, o) })
	t.Run(name+", alone", func(t *testing.T) { test(t, opener{shared: o.empty}) })
}

// world is a store with one shop, beside the neighbours if it is shared.
type world struct {
	*testing.T
	db    *store.DB
	shop  shop.Shop
	alone bool // there are no neighbours
}

func begin(t *testing.T, open opener) world {
	t.Helper()
	w := world{T: t, db: open.shared(t)}
	all, err := w.db.Shops().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.alone = len(all) == 0
	w.shop = w.addShop("first.myshopify.com")
	return w
}

func (w world) addShop(domain string) shop.Shop {
	w.Helper()
	s := shop.Shop{
		Domain: domain, PlatformID: 77, Token: "shpat_" + platformToken(domain), TimeZone: "Europe/Berlin", Currency: "EUR", OrderHour: 9,
		Connected: true, Settings: shop.Settings{ImmediateOrders: true, Memberships: []int64{5, 6}}, CreatedAt: day,
	}
	if err := w.db.Shops().AddShop(w.Context(), &s); err != nil {
		w.Fatal(err)
	}
	return s
}

// in runs fn in a transaction on the first shop.
func (w world) in(fn func(*store.Tx) error) {
	w.Helper()
	w.inShop(w.shop.ID, fn)
}

func (w world) inShop(of shop.ID, fn func(*store.Tx) error) {
	w.Helper()
	if err := w.db.Update(w.Context(), of, fn); err != nil {
		w.Fatal(err)
	}
}

// put inserts contracts of the first shop.
func (w world) put(contracts ...contract.Contract) {
	w.Helper()
	w.in(func(tx *store.Tx) error { return tx.PutContracts(w.Context(), fresh(contracts)) })
	w.remind(w.shop.ID)
}

// remind makes all reminders of a shop done, so that none falls due.
func (w world) remind(of shop.ID) {
	w.Helper()
	w.inShop(of, func(tx *store.Tx) error {
		list, err := tx.DueReminders(w.Context(), day.AddDate(100, 0, 0), 1000)
		if err != nil {
			return err
		}
		return tx.MarkReminded(w.Context(), list)
	})
}

// queue inserts attempts of the first shop and returns them with their ids.
func (w world) queue(attempts ...billing.Attempt) []billing.Attempt {
	w.Helper()
	var put []billing.Attempt
	w.in(func(tx *store.Tx) error {
		put = fresh(attempts)
		if _, err := tx.Contracts(w.Context(), billing.ContractIDs(put)); err != nil { // locked, as where they are planned
			return err
		}
		return tx.PutAttempts(w.Context(), put)
	})
	return put
}

// attempt reads an attempt of the first shop.
func (w world) attempt(id billing.AttemptID) billing.Attempt {
	w.Helper()
	var found []billing.Attempt
	w.in(func(tx *store.Tx) (err error) {
		found, err = tx.Attempts(w.Context(), []billing.AttemptID{id})
		return err
	})
	if len(found) != 1 {
		w.Fatalf("attempt %d: %d rows", id, len(found))
	}
	return found[0]
}

// across asks which shops have something due. That rightly finds the neighbours, who have
// everything due, and leaves them out.
func (w world) across(ask func(ctx context.Context, now time.Time, limit int) ([]shop.ID, error), now time.Time, limit int) ([]shop.ID, error) {
	w.Helper()
	if w.alone {
		return ask(w.Context(), now, limit)
	}
	list, err := ask(w.Context(), now, limit+len(neighbours))
	return slices.DeleteFunc(list, isNeighbour), err
}

// isNeighbour reports whether a shop was there before the test.
func isNeighbour(id shop.ID) bool {
	return slices.Contains(slices.Collect(maps.Values(neighbours)), id)
}

// wantNext checks when something falls due next in any shop, where no neighbour has
// something due. A zero instant wants nothing.
func (w world) wantNext(now, want time.Time) {
	w.Helper()
	at, some, err := w.db.Shops().NextDue(w.Context(), now)
	if err != nil || w.alone && (some == want.IsZero() || !at.Equal(want)) {
		w.Errorf("at %s the next is due at %s (%t), %v; want %s", now, at, some, err, want)
	}
}

// entries returns all entries of a shop.
func (w world) entries(of shop.ID) []activity.Entry {
	w.Helper()
	list, total, err := w.db.Entries(w.Context(), of, nil, anyPage)
	if err != nil || total != len(list) {
		w.Fatalf("entries: %d of %d, %v", len(list), total, err)
	}
	return list
}

// wantKind checks the kind of an error.
func (w world) wantKind(err error, kind fault.Kind) {
	w.Helper()
	if !fault.Is(err, kind) {
		w.Errorf("got %v, want a %s", err, kind)
	}
}

// fresh copies a list, so that a transaction that runs twice begins with the same.
func fresh[T any](list []T) []T { return append([]T(nil), list...) }

// monthly returns an ordinary contract.
func monthly(id contract.ID) contract.Contract {
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	return contract.Contract{
		ID: id, Line: shop.Subscriptions, Revision: 1, Status: contract.Active, Currency: "EUR",
		Customer: contract.Customer{ID: 900 + int64(id), Email: "Ada@Example.com", FirstName: "Ada", LastName: "Lovelace", Name: "Ada Lovelace"},
		Billing:  month, Delivery: month,
		Lines:         []contract.LineItem{line(1, 1000)},
		OriginOrderID: 1, OriginOrderName: "#1001",
		PaymentMethod: "gid://shopify/CustomerPaymentMethod/1", PaymentUsable: true,
		Series:          contract.Series{Cycle: 2, Start: day},
		NextBillingDate: day, AutoCharge: true,
		DeliveryPrice: money.Amount{Currency: "EUR"}, Lifetime: money.Amount{Currency: "EUR"}, LastOrderAmount: money.Amount{Currency: "EUR"},
		CreatedAt: day.Add(time.Duration(id) * time.Minute), UpdatedAt: day, ActivatedAt: day,
	}
}

func line(n int64, price int64) contract.LineItem {
	return contract.LineItem{
		ID: "gid://shopify/SubscriptionLine/" + string(rune('a'+n)), ProductID: 10 + n, VariantID: 100 + n, SellingPlanID: 1000 + n,
		SKU: "SKU", Title: "Coffee", VariantTitle: "250 g", Quantity: 2, Price: money.Amount{Minor: price, Currency: "EUR"}, SellingPlanName: "Monthly", Taxable: true,
	}
}

// queued returns an attempt that waits for its date.
func queued(c contract.ID, cycle int, date time.Time) billing.Attempt {
	return billing.Attempt{Contract: c, Cycle: cycle, Status: billing.Queued, BillingDate: date, DueAt: date, CreatedAt: day, UpdatedAt: day}
}

// entry returns an entry about an attempt.
func entry(id int64, event activity.EventType, at time.Time) activity.Entry {
	return activity.Entry{
		EntityID: id, EntityType: activity.EntitySubscriptionBillingAttempt, Event: event, Status: activity.Success, Actor: activity.System, At: at,
	}
}
