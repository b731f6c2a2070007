package storetest

import (
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

// opener opens an empty, migrated store for a test and closes it afterwards.
type opener func(testing.TB) *store.DB

// Run checks that the stores which open returns do what a store must do.
func Run(t *testing.T, open func(testing.TB) *store.DB) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, opener){
		"shops":               testShops,
		"keys":                testKeys,
		"key limit":           testKeyLimit,
		"partners":            testPartners,
		"buckets":             testBuckets,
		"attempts":            testAttempts,
		"contracts":           testContracts,
		"locking":             testLocking,
		"tenancy":             testTenancy,
		"transactions":        testTransactions,
		"due":                 testDue,
		"dunning":             testDunning,
		"activity":            testActivity,
		"delivery":            testDelivery,
		"guards":              testGuards,
		"bundles":             testBundles,
		"catalogue":           testCatalogue,
		"search":              testSearch,
		"book":                testBook,
		"counts":              testCounts,
		"customers":           testCustomers,
		"reports":             testReports,
		"inbox":               testInbox,
		"answers":             testAnswers,
		"creations":           testCreations,
		"unread":              testUnread,
		"messages":            testMessages,
		"webhooks":            testWebhooks,
		"webhooks-announcing": testAnnouncing,
		"logins":              testLogins,
		"redact":              testRedact,
		"jobs":                testJobs,
		"rests":               testRests,
		"plans":               testPlans,
		"swaps":               testSwaps,
		"one-offs":            testOneOffs,
		"marks":               testMarks,
		"loyalty":             testLoyalty,
		"retention":           testRetention,
		"migrations":          testMigrations,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// day is the instant from which the tests count.
var day = time.Date(2025, time.January, 31, 9, 30, 0, 123_000_000, time.UTC)

// world is a store with one shop.
type world struct {
	*testing.T
	db   *store.DB
	shop shop.Shop
}

func begin(t *testing.T, open opener) world {
	t.Helper()
	w := world{T: t, db: open(t)}
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
}

// queue inserts attempts of the first shop and returns them with their ids.
func (w world) queue(attempts ...billing.Attempt) []billing.Attempt {
	w.Helper()
	var put []billing.Attempt
	w.in(func(tx *store.Tx) error {
		put = fresh(attempts)
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

// fresh copies a list, so that a transaction that runs twice begins anew.
func fresh[T any](list []T) []T { return append([]T(nil), list...) }

// monthly returns an ordinary contract.
func monthly(id contract.ID) contract.Contract {
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	return contract.Contract{
		ID: id, Line: shop.Subscriptions, Revision: 1, Status: contract.Active, Currency: "EUR",
		Customer: contract.Customer{ID: 900 + int64(id), Email: "Ada@Example.com", FirstName: "Ada", LastName: "Lovelace", Name: "Ada Lovelace"},
		Billing:  month, Delivery: month,
		Lines:         []contract.Line{line(1, 1000)},
		OriginOrderID: 1, OriginOrderName: "#1001",
		PaymentMethod: "gid://shopify/CustomerPaymentMethod/1", PaymentUsable: true,
		Series:          contract.Series{Cycle: 2, Start: day},
		NextBillingDate: day, AutoCharge: true,
		DeliveryPrice: money.Amount{Currency: "EUR"}, Lifetime: money.Amount{Currency: "EUR"}, LastOrderAmount: money.Amount{Currency: "EUR"},
		CreatedAt: day.Add(time.Duration(id) * time.Minute), UpdatedAt: day, ActivatedAt: day,
	}
}

func line(n int64, price int64) contract.Line {
	return contract.Line{
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
