package login_test

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

var noon = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

const (
	ada = "ada@shopper.example"
	bob = "bob@shopper.example"
)

// door is a store with two shops: the first one's subscribers are Ada, customer
// 1, and Bob, customer 2, the second one's is another Ada, customer 1.
type door struct {
	*testing.T
	*login.Service
	db     *store.DB
	file   string // of the database
	at     *clock.Manual
	of     shop.ID
	second shop.ID
}

func begin(t *testing.T) *door {
	t.Helper()
	o := storetest.SQLiteOptions(t)
	storetest.SQLiteFile(t, o.URL)
	d := &door{T: t, db: storetest.Open(t, o), file: o.URL, at: clock.NewManual(noon)}
	d.Service = &login.Service{Store: d.db.Login(), Clock: d.at, PublicURL: "https://subs.example/"}
	d.of = d.shop("demo.myshopify.com", subscription(10, 1, ada), subscription(11, 2, bob), subscription(12, 1, ada))
	d.second = d.shop("other.myshopify.com", subscription(20, 1, ada))
	return d
}

func (d *door) shop(domain string, contracts ...contract.Contract) shop.ID {
	d.Helper()
	s := shop.Shop{Domain: domain, TimeZone: "Europe/Berlin", CreatedAt: noon}
	if err := d.db.Shops().AddShop(d.Context(), &s); err != nil {
		d.Fatal(err)
	}
	err := d.db.Update(d.Context(), s.ID, func(tx *store.Tx) error {
		return tx.PutContracts(d.Context(), append([]contract.Contract(nil), contracts...))
	})
	if err != nil {
		d.Fatal(err)
	}
	return s.ID
}

func subscription(id contract.ID, customer int64, email string) contract.Contract {
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	return contract.Contract{
		ID: id, Line: shop.Subscriptions, Status: contract.Cancelled, Currency: "EUR", Billing: month, Delivery: month,
		Customer: contract.Customer{ID: customer, Email: email}, CreatedAt: noon.Add(time.Duration(id) * time.Minute),
	}
}

// letters takes every message that waits.
func (d *door) letters(of shop.ID) []notify.Message {
	d.Helper()
	var list []notify.Message
	err := d.db.Notify().Update(d.Context(), of, func(tx notify.Tx) (err error) {
		list, err = tx.DueMessages(d.Context(), d.at.Now(), 100)
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return list
}

func (d *door) wantKey(err error, key string) {
	d.Helper()
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.ErrorKey != key {
		d.Errorf("got %v, want %s", err, key)
	}
}

// link makes a link for Ada and returns its secret.
func (d *door) link() string {
	d.Helper()
	made, err := d.NewLink(d.Context(), d.of, login.CustomerRef{Email: ada})
	if err != nil {
		d.Fatal(err)
	}
	secret, ok := strings.CutPrefix(made.Value, "https://subs.example/p/demo/l/")
	if !ok {
		d.Fatalf("the link is %s", made.Value)
	}
	return secret
}

func (d *door) enter(link string) string {
	d.Helper()
	session, err := d.Enter(d.Context(), d.of, link)
	if err != nil {
		d.Fatal(err)
	}
	return session
}

var merchant = activity.Actor{Source: activity.MerchantExternalAPI, By: "API key ERP", ClientIP: "192.0.2.1"}

func TestSendLinkMailsSubscriber(t *testing.T) {
	t.Parallel()
	d := begin(t)
	if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: "ADA@shopper.example"}, merchant); err != nil {
		t.Fatal(err)
	}
	list := d.letters(d.of)
	if len(list) != 1 {
		t.Fatalf("letters: %+v", list)
	}
	m := list[0]
	if m.To != ada || m.Kind != notify.ManagementLink || m.Contract != 12 || m.Actor != merchant || !m.ExpiresAt.Equal(noon.Add(2*time.Hour)) || m.Facts.Link == nil || !m.Facts.Link.Expires.Equal(m.ExpiresAt) {
		t.Errorf("letter %+v", m)
	}
	_, secret, _ := strings.Cut(m.Facts.Link.URL, "https://subs.example/p/demo/l/")
	who, err := d.Authenticate(t.Context(), d.of, d.enter(secret), login.ByLink)
	if err != nil || who.Customer != 1 || who.Shop != d.of {
		t.Errorf("signed in as %+v, %v", who, err)
	}
	if others := d.letters(d.second); len(others) != 0 {
		t.Errorf("the other shop's letters: %+v", others)
	}
}

func TestBulkJobSendsCustomerOneLink(t *testing.T) {
	t.Parallel()
	d := begin(t)
	for _, job := range []int64{5, 5, 6} {
		by := merchant
		by.Job = job
		if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, by); err != nil {
			t.Fatal(err)
		}
	}
	if list := d.letters(d.of); len(list) != 2 {
		t.Errorf("two jobs sent %d letters", len(list))
	}
}

func TestSendLinkRejects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		email string
		setup func(*door)
		kind  fault.Kind
		key   string
	}{
		{"to what is no address", "ada", nil, fault.Invalid, "emailInvalid"},
		{"to what would write another header", ada + "\r\nBcc: x@y.z", nil, fault.Invalid, "emailInvalid"},
		{"to an unknown address", "eve@shopper.example", nil, fault.Invalid, "subscriberNotFound"},
		{"when the store has switched the e-mail off", ada, func(d *door) { d.disable() }, fault.FailedPrecondition, "templateDisabled"},
		{"when there is no address to lead to", ada, func(d *door) { d.PublicURL = "" }, fault.FailedPrecondition, "publicUrlMissing"},
		{"more often than five times an hour", ada, func(d *door) {
			for range 5 {
				if err := d.SendLink(d.Context(), d.of, login.CustomerRef{Email: ada}, merchant); err != nil {
					d.Fatal(err)
				}
			}
		}, fault.RateLimited, "linkLimit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := begin(t)
			if tt.setup != nil {
				tt.setup(d)
			}
			before := len(d.letters(d.of))
			err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: tt.email}, merchant)
			d.wantKey(err, tt.key)
			if !fault.Is(err, tt.kind) || len(d.letters(d.of)) != before {
				t.Errorf("got %v and %d letters more", err, len(d.letters(d.of))-before)
			}
		})
	}
}

func (d *door) disable() {
	d.Helper()
	err := d.db.Update(d.Context(), d.of, func(tx *store.Tx) error {
		s, err := tx.Shop(d.Context())
		if err != nil {
			return err
		}
		s.Settings.DisabledMails = []notify.Kind{notify.ManagementLink}
		return tx.PutShop(d.Context(), s)
	})
	if err != nil {
		d.Fatal(err)
	}
}

func TestRateLimitIsPerAddressAndExpires(t *testing.T) {
	t.Parallel()
	d := begin(t)
	for range 5 {
		if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, merchant); err != nil {
			t.Fatal(err)
		}
		d.at.Set(d.at.Now().Add(time.Minute))
	}
	err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: strings.ToUpper(ada)}, merchant)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.RateLimited || f.Wait != 55*time.Minute {
		t.Errorf("the sixth: %+v", err)
	}
	if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: bob}, merchant); err != nil {
		t.Errorf("another address: %v", err)
	}
	if err := d.SendLink(t.Context(), d.second, login.CustomerRef{Email: ada}, merchant); err != nil {
		t.Errorf("another store: %v", err)
	}
	d.at.Set(noon.Add(time.Hour))
	if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, merchant); err != nil {
		t.Errorf("an hour after the first: %v", err)
	}
	d.wantKey(d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, merchant), "linkLimit")
}

func TestRateLimitWindowSlides(t *testing.T) {
	t.Parallel()
	d := begin(t)
	for _, minute := range []time.Duration{0, 56, 57, 58, 59} {
		d.at.Set(noon.Add(minute * time.Minute))
		if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, merchant); err != nil {
			t.Fatal(err)
		}
	}
	d.wantKey(d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, merchant), "linkLimit")
	d.at.Set(noon.Add(time.Hour))
	// A link for another address forgets what counts no more.
	if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: bob}, merchant); err != nil {
		t.Fatal(err)
	}
	if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, merchant); err != nil {
		t.Errorf("an hour after the first: %v", err)
	}
	err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, merchant)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.RateLimited || f.ErrorKey != "linkLimit" || f.Wait != 56*time.Minute {
		t.Errorf("the next one: %+v, want it refused for 56 minutes", err)
	}
}

func TestConcurrentRequestsAreLimitedToFive(t *testing.T) {
	t.Parallel()
	d := begin(t)
	var granted atomic.Int32
	var together sync.WaitGroup
	for range 16 {
		together.Go(func() {
			if err := d.SendLink(context.Background(), d.of, login.CustomerRef{Email: ada}, merchant); err == nil {
				granted.Add(1)
			} else if !fault.Is(err, fault.RateLimited) {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if granted.Load() != 5 || len(d.letters(d.of)) != 5 {
		t.Errorf("%d were granted and %d mailed", granted.Load(), len(d.letters(d.of)))
	}
}

// The answer does not reveal who has a subscription.
func TestRequestLinkRevealsNoSubscriber(t *testing.T) {
	t.Parallel()
	d := begin(t)
	for _, email := range []string{"eve@shopper.example", ada, ada, ada, ada, ada, ada} {
		if err := d.RequestLink(t.Context(), d.of, email, "203.0.113.9"); err != nil {
			t.Errorf("%s: %v", email, err)
		}
	}
	list := d.letters(d.of)
	if len(list) != 5 || list[0].To != ada || list[0].Actor != login.Actor("203.0.113.9") {
		t.Errorf("letters: %+v", list)
	}
	d.disable()
	if err := d.RequestLink(t.Context(), d.of, bob, "203.0.113.9"); err != nil || len(d.letters(d.of)) != 5 {
		t.Errorf("switched off: %v, %d letters", err, len(d.letters(d.of)))
	}
	d.wantKey(d.RequestLink(t.Context(), d.of, "eve", "203.0.113.9"), "emailInvalid")
}

func TestClientOverLimitIsRateLimited(t *testing.T) {
	t.Parallel()
	d := begin(t)
	for range 20 {
		if err := d.RequestLink(t.Context(), d.of, "eve@shopper.example", "203.0.113.9"); err != nil {
			t.Fatal(err)
		}
	}
	d.wantKey(d.RequestLink(t.Context(), d.of, bob, "203.0.113.9"), "linkLimit")
	if err := d.RequestLink(t.Context(), d.of, bob, "203.0.113.10"); err != nil || len(d.letters(d.of)) != 1 {
		t.Errorf("another client: %v, %d letters", err, len(d.letters(d.of)))
	}
}

func TestLinkWorksOnceWithinTwoHoursInItsStore(t *testing.T) {
	t.Parallel()
	d := begin(t)
	first, second := d.link(), d.link()
	for range 3 {
		if err := d.CheckLink(t.Context(), d.of, first); err != nil {
			t.Fatalf("looking uses it up: %v", err)
		}
	}
	_, err := d.Enter(t.Context(), d.second, first)
	d.wantKey(err, "linkUnknown")
	d.enter(first)
	_, err = d.Enter(t.Context(), d.of, first)
	d.wantKey(err, "linkUsed")
	d.wantKey(d.CheckLink(t.Context(), d.of, first), "linkUsed")
	d.at.Set(noon.Add(2*time.Hour - time.Millisecond))
	if err := d.CheckLink(t.Context(), d.of, second); err != nil {
		t.Errorf("just before its end: %v", err)
	}
	d.at.Set(noon.Add(2 * time.Hour))
	_, err = d.Enter(t.Context(), d.of, second)
	d.wantKey(err, "linkExpired")
	for name, link := range map[string]string{"a made-up link": strings.Repeat("A", 43), "a cut-off link": first[:42], "no link": "", "what cannot be one": "../../etc\x00"} {
		_, err := d.Enter(t.Context(), d.of, link)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.ErrorKey != "linkUnknown" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConcurrentUsesOfLinkAdmitOne(t *testing.T) {
	t.Parallel()
	d := begin(t)
	link := d.link()
	var in atomic.Int32
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if _, err := d.Enter(context.Background(), d.of, link); err == nil {
				in.Add(1)
			} else if !fault.Is(err, fault.FailedPrecondition) {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if in.Load() != 1 {
		t.Errorf("%d came in", in.Load())
	}
}

func TestSessionExpiresWhenIdleAndAfterThirtyDays(t *testing.T) {
	t.Parallel()
	d := begin(t)
	session := d.enter(d.link())
	in := func(after time.Duration) bool {
		d.at.Set(noon.Add(after))
		_, err := d.Authenticate(t.Context(), d.of, session, login.ByLink)
		if err != nil && !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
		return err == nil
	}
	const day = 24 * time.Hour
	for after := time.Duration(0); after < 30*day; after += 11 * time.Hour {
		if !in(after) {
			t.Fatalf("ended after %s, although it was used", after)
		}
	}
	if !in(30*day-time.Millisecond) || in(30*day) {
		t.Error("it does not end after thirty days")
	}
	d.at.Set(noon)
	session = d.enter(d.link())
	if !in(12*time.Hour-time.Millisecond) || in(36*time.Hour) {
		t.Error("it does not end after twelve hours without use")
	}
}

func TestSessionBelongsToStoreAndEndsOnSignOut(t *testing.T) {
	t.Parallel()
	d := begin(t)
	session := d.enter(d.link())
	other := d.enter(d.link())
	refused := func(what string, of shop.ID, value string, via login.Via) {
		t.Helper()
		if who, err := d.Authenticate(t.Context(), of, value, via); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %+v, %v", what, who, err)
		}
	}
	refused("in another store", d.second, session, login.ByLink)
	refused("as a token", d.of, session, login.ByToken)
	refused("nothing", d.of, "", login.ByLink)
	refused("a made-up one", d.of, strings.Repeat("A", 43), login.ByLink)
	signOut := func(of shop.ID) {
		t.Helper()
		if elsewhere, err := d.SignOut(t.Context(), shop.Shop{ID: of}, session); err != nil || elsewhere != "" {
			t.Fatalf("signing out leads to %q, %v", elsewhere, err)
		}
	}
	signOut(d.second)
	if _, err := d.Authenticate(t.Context(), d.of, session, login.ByLink); err != nil {
		t.Errorf("left in another store: %v", err)
	}
	for range 2 {
		signOut(d.of)
	}
	refused("left", d.of, session, login.ByLink)
	if _, err := d.Authenticate(t.Context(), d.of, other, login.ByLink); err != nil {
		t.Errorf("another session: %v", err)
	}
}

func TestTokenExpiresAfterTwoHours(t *testing.T) {
	t.Parallel()
	d := begin(t)
	made, err := d.NewToken(t.Context(), d.of, login.CustomerRef{Customer: 2})
	if err != nil || made.Customer != 2 || !made.ExpiresAt.Equal(noon.Add(2*time.Hour)) {
		t.Fatalf("made %+v, %v", made, err)
	}
	d.at.Set(noon.Add(2*time.Hour - time.Millisecond))
	who, err := d.Authenticate(t.Context(), d.of, made.Value, login.ByToken)
	if err != nil || who != (login.Principal{Shop: d.of, Customer: 2, Via: login.ByToken}) {
		t.Errorf("%+v, %v", who, err)
	}
	if list, err := d.Contracts(t.Context(), who); err != nil || len(list) != 1 || list[0].ID != 11 {
		t.Errorf("contracts %+v, %v", list, err)
	}
	if _, err := d.Authenticate(t.Context(), d.of, made.Value, login.ByLink); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("as a session: %v", err)
	}
	d.at.Set(noon.Add(2 * time.Hour))
	if _, err := d.Authenticate(t.Context(), d.of, made.Value, login.ByToken); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("after two hours: %v", err)
	}
}

func TestCustomerByIDOrEmail(t *testing.T) {
	t.Parallel()
	d := begin(t)
	for _, tt := range []struct {
		name string
		who  login.CustomerRef
		want int64
		kind fault.Kind
		key  string
	}{
		{"by number", login.CustomerRef{Customer: 2}, 2, 0, ""},
		{"by address, in any letter case", login.CustomerRef{Email: "Bob@Shopper.Example"}, 2, 0, ""},
		{"by both", login.CustomerRef{Customer: 2, Email: "BOB@shopper.example"}, 2, 0, ""},
		{"by the number of one and the address of another", login.CustomerRef{Customer: 2, Email: ada}, 0, fault.Invalid, "emailMismatch"},
		{"by an unknown number", login.CustomerRef{Customer: 3}, 0, fault.NotFound, "customerNotFound"},
		{"by an unknown address", login.CustomerRef{Email: "eve@shopper.example"}, 0, fault.Invalid, "subscriberNotFound"},
		{"by what is no address", login.CustomerRef{Email: "%"}, 0, fault.Invalid, "emailInvalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for what, made := range map[string]func(context.Context, shop.ID, login.CustomerRef) (login.Credential, error){"link": d.NewLink, "token": d.NewToken} {
				p, err := made(t.Context(), d.of, tt.who)
				if p.Customer != tt.want || (err == nil) != (tt.key == "") {
					t.Errorf("%s: %+v, %v", what, p, err)
				}
				if f, ok := errors.AsType[*fault.Error](err); ok && (f.Kind != tt.kind || f.ErrorKey != tt.key) {
					t.Errorf("%s: %v %s", what, err, f.ErrorKey)
				}
			}
		})
	}
}

func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	d := begin(t)
	link := d.link()
	session := d.enter(link)
	if err := d.SendLink(t.Context(), d.of, login.CustomerRef{Email: ada}, merchant); err != nil {
		t.Fatal(err)
	}
	token, err := d.NewToken(t.Context(), d.of, login.CustomerRef{Customer: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(d.letters(d.of)[0].Facts.Link.URL, "/l/")
	found := false
	for name, secret := range map[string]string{"link": link, "session": session, "token": token.Value, "mailed link": rest[:43]} {
		for _, file := range []string{d.file, d.file + "-wal"} {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("the %s can be read in %s", name, filepath.Base(file))
			}
			found = found || bytes.Contains(text, []byte(ada))
		}
	}
	if !found {
		t.Error("the files hold nothing at all: the test looks in the wrong place")
	}
}

func TestHandles(t *testing.T) {
	t.Parallel()
	for domain, handle := range map[string]string{"demo.myshopify.com": "demo", "shop.example": "shop.example"} {
		if got := login.Handle(domain); got != handle || login.Domain(got) != domain {
			t.Errorf("%s became %s and then %s", domain, got, login.Domain(got))
		}
	}
}

// proxy returns the visit and the error that it is given.
type proxy struct {
	visit platform.Visit
	err   error
}

func (p proxy) Open(url.Values, bool, time.Time) (platform.Visit, error) { return p.visit, p.err }

func TestProxyAuthenticatorAdmitsSignedInCustomer(t *testing.T) {
	t.Parallel()
	d := begin(t)
	wrong := fault.New(fault.Unauthenticated, "the signature is wrong").Code("signatureInvalid")
	for name, row := range map[string]struct {
		proxy proxy
		kind  fault.Kind
		key   string
	}{
		"a shopper":                {proxy{visit: platform.Visit{Shop: "demo.myshopify.com", Customer: 1, Prefix: "/a/b", Query: url.Values{"x": {"1"}}}}, 0, ""},
		"a visitor":                {proxy{visit: platform.Visit{Shop: "demo.myshopify.com"}}, fault.Unauthenticated, "signedOut"},
		"a store without the app":  {proxy{visit: platform.Visit{Shop: "third.myshopify.com", Customer: 1}}, fault.Unauthenticated, "shopUnknown"},
		"a shopper of another one": {proxy{visit: platform.Visit{Shop: "demo.myshopify.com", Customer: 1, Elsewhere: true}}, fault.Invalid, "shopMismatch"},
		"a visitor elsewhere":      {proxy{visit: platform.Visit{Shop: "demo.myshopify.com", Elsewhere: true}}, fault.Unauthenticated, "signedOut"},
		"a stranger":               {proxy{err: wrong}, fault.Unauthenticated, "signatureInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := login.ProxyAuthenticator{Proxy: row.proxy, Shops: d.db.Shops(), Clock: d.at}.Enter(t.Context(), nil, true)
			if row.key == "" {
				want := login.Principal{Shop: d.of, Customer: 1, Via: login.ByProxy}
				if err != nil || got.Principal != want || got.Store.ID != d.of || got.Prefix != "/a/b" || got.Query.Get("x") != "1" {
					t.Errorf("got %+v, %v", got, err)
				}
				if by := got.Actor("192.0.2.1"); by != (activity.Actor{Source: activity.CustomerPortal, By: "customer", ClientIP: "192.0.2.1", Customer: 1}) {
					t.Errorf("acts as %+v", by)
				}
				return
			}
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != row.kind || f.ErrorKey != row.key || got.Customer != 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
