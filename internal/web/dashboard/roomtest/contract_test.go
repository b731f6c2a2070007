package roomtest_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	pages "github.com/perennialhq/perennial/internal/web/dashboard/contract"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

const contractPath = dashboardtest.At + "/contracts/8"

// contractServices keep what they are asked for.
type contractServices struct {
	site  *dashboardtest.Site
	sheet support.Sheet
	items []support.Item
	more  bool
	mail  notify.Message
	asked support.Filter

	did    []string
	by     activity.Actor
	status lifecycle.StatusChange
	edit   command.Edit
	line   contractedit.LineChange
	refuse error
}

func (s *contractServices) Contract(_ context.Context, of shop.ID, id contract.ID) (contract.Contract, error) {
	if of != s.site.First.ID || id != s.sheet.Contract.ID {
		return contract.Contract{}, fault.New(fault.NotFound, "contract %d does not exist", id)
	}
	return s.sheet.Contract, nil
}

func (s *contractServices) Sheet(ctx context.Context, of shop.ID, id contract.ID, _ int) (support.Sheet, error) {
	_, err := s.Contract(ctx, of, id)
	return s.sheet, err
}

func (s *contractServices) Timeline(_ context.Context, _ shop.ID, _ contract.ID, f support.Filter) ([]support.Item, bool, error) {
	s.asked = f
	return s.items, s.more, nil
}

func (s *contractServices) Mail(context.Context, shop.ID, contract.ID, notify.MessageID) (notify.Message, error) {
	return s.mail, nil
}

func (s *contractServices) Comment(_ context.Context, _ shop.ID, c support.Comment) error {
	return s.done("comment "+c.Text, activity.Actor{By: c.Author})
}

func (s *contractServices) Uncomment(_ context.Context, _ shop.ID, _ contract.ID, id support.CommentID, author string) error {
	return s.done("uncomment "+strconv.Itoa(int(id)), activity.Actor{By: author})
}

func (s *contractServices) done(what string, by activity.Actor) error {
	s.did, s.by = append(s.did, what), by
	return s.refuse
}

func (s *contractServices) Skip(_ context.Context, _ shop.ID, c command.Skip) (billing.Record, error) {
	return billing.Record{}, s.done("skip", c.Actor)
}

func (s *contractServices) Unskip(_ context.Context, _ shop.ID, c command.Skip) (billing.Record, error) {
	return billing.Record{}, s.done("unskip", c.Actor)
}

func (s *contractServices) Edit(_ context.Context, _ shop.ID, c command.Edit) (billing.Record, error) {
	s.edit = c
	return billing.Record{}, s.done("edit", c.Actor)
}

func (s *contractServices) Trigger(_ context.Context, _ shop.ID, c command.Trigger) error {
	return s.done("trigger", c.Actor)
}

func (s *contractServices) AddOneOff(_ context.Context, _ shop.Shop, c command.OneOff) error {
	return s.done("add one-off", c.Actor)
}

func (s *contractServices) PreviewOneOff(_ context.Context, _ shop.Shop, r billing.Record, c command.OneOff) (billing.Record, error) {
	one := billing.OneOff{Quantity: c.Quantity}
	one.Variant.ID, one.Variant.Price = c.Variant, eur(450)
	return r.Carrying(one, c.Price), nil
}

func (s *contractServices) RemoveOneOff(_ context.Context, _ shop.Shop, c command.OneOff) error {
	return s.done("remove one-off", c.Actor)
}

func (s *contractServices) SetStatus(_ context.Context, _ shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error) {
	s.status = w
	return contract.Detail{}, s.done("status", cmd.Actor)
}

func (s *contractServices) ChangeLine(_ context.Context, _ shop.ID, cmd amend.Command, l contractedit.LineChange) (contract.Detail, error) {
	s.line = l
	return contract.Detail{}, s.done("line", cmd.Actor)
}

func (s *contractServices) RemoveLine(_ context.Context, _ shop.ID, cmd amend.Command, _ string, _ bool) (contract.Detail, error) {
	return contract.Detail{}, s.done("remove line", cmd.Actor)
}

func (s *contractServices) ApplyCode(_ context.Context, _ shop.ID, cmd amend.Command, code string) (contract.Detail, error) {
	return contract.Detail{}, s.done("code "+code, cmd.Actor)
}

func (s *contractServices) AddDiscount(_ context.Context, _ shop.ID, cmd amend.Command, _ contractedit.Discount) (contract.Detail, error) {
	return contract.Detail{}, s.done("add discount", cmd.Actor)
}

func (s *contractServices) RemoveDiscount(_ context.Context, _ shop.ID, cmd amend.Command, _ string) (contract.Detail, error) {
	return contract.Detail{}, s.done("remove discount", cmd.Actor)
}

func (s *contractServices) SetNote(_ context.Context, _ shop.ID, cmd amend.Command, text string) (contract.Detail, error) {
	return contract.Detail{}, s.done("note "+text, cmd.Actor)
}

func (s *contractServices) SetAttributes(_ context.Context, _ shop.ID, cmd amend.Command, list []contract.Attribute, _ bool) (contract.Detail, error) {
	return contract.Detail{}, s.done("attributes "+strconv.Itoa(len(list)), cmd.Actor)
}

func (s *contractServices) SetCycles(_ context.Context, _ shop.ID, cmd amend.Command, _ terms.Cycles) (contract.Detail, error) {
	return contract.Detail{}, s.done("cycles", cmd.Actor)
}

func (s *contractServices) Detail(context.Context, shop.ID, shop.Line, contract.ID) (contract.Detail, error) {
	return contract.Detail{Method: contract.DeliveryMethod{Address: contract.Address{Address1: canary, City: "Portland"}}}, s.refuse
}

func (s *contractServices) SendPaymentUpdate(_ context.Context, _ shop.ID, cmd amend.Command) error {
	return s.done("payment link", cmd.Actor)
}

func (s *contractServices) SendLink(_ context.Context, _ shop.ID, _ login.CustomerRef, by activity.Actor) error {
	return s.done("portal link", by)
}

func (s *contractServices) OpenAs(_ context.Context, _ shop.ID, _ contract.ID, _ int64, by activity.Actor) (login.Credential, error) {
	return login.Credential{Value: "https://perennial.example/p/first/l/secret"}, s.done("open portal", by)
}

func (s *contractServices) Explain(context.Context, shop.ID, shop.Line, billing.AttemptID) (explain.Explanation, error) {
	f := explain.Facts{Record: s.sheet.Upcoming[0], Now: s.site.Clock.Now(), Shop: s.site.First, Policy: billing.DefaultPolicy()}
	var err error
	f.Calendar, err = f.Shop.Calendar()
	return explain.Explain(f), err
}

func (s *contractServices) BundleOf(context.Context, shop.ID, contract.Contract) (bundle.Settings, bool, error) {
	return bundle.Settings{}, false, nil
}

func openContract(t *testing.T) (*dashboardtest.Site, *contractServices) {
	t.Helper()
	d := &contractServices{}
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, pages.New(pages.Options{
			Sheets: d, Orders: d, Statuses: d, Terms: d, Platform: d, Links: d, Explainer: d, Bundles: d, Clock: s.Clock,
		}))
	})
	d.site = s
	now := s.Clock.Now()
	c := contract.Contract{
		ID: 8, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", AutoCharge: true, Version: 3, Note: canary, CreatedAt: now.AddDate(0, -3, 0), ImportedID: "old-8",
		Customer: contract.Customer{ID: 7, Name: canary, Email: "ivan@shopper.example"}, Billing: contract.Policy{Interval: cadence.Month, Count: 1}, Delivery: contract.Policy{Interval: cadence.Week, Count: 1},
		Lines:         []contract.LineItem{{ID: "gid://shopify/SubscriptionLine/1", Title: canary, Quantity: 2, Price: eur(1250), VariantID: 4}, {ID: "gid://shopify/SubscriptionLine/2", Title: "Mug", Quantity: 1, Price: eur(800)}},
		PaymentMethod: "gid://shopify/CustomerPaymentMethod/1", PaymentUsable: true, Card: contract.Card{Brand: "visa", LastDigits: "4242", ExpiryMonth: 12, ExpiryYear: 2026},
		Lifetime: eur(0), DeliveryPrice: eur(0), Dunning: &contract.Dunning{Attempt: 70, Cycle: 2, State: dunning.Open, Class: dunning.Funds, Code: "INSUFFICIENT_FUNDS", RetryAt: now.Add(time.Hour)},
	}
	d.sheet = support.Sheet{
		Contract: c,
		Upcoming: []billing.Record{{Attempt: billing.Attempt{ID: 71, Contract: 8, Cycle: 3, Status: billing.Queued, BillingDate: now.AddDate(0, 0, 6), Version: 5}, Of: c}},
		Past:     []billing.Attempt{{ID: 70, Contract: 8, Cycle: 2, Status: billing.Failure, BillingDate: now.AddDate(0, 0, -1), ErrorCode: "INSUFFICIENT_FUNDS", Try: 1, AttemptedAt: now.AddDate(0, 0, -1)}},
	}
	d.items = []support.Item{
		{Comment: &support.Comment{ID: 4, Contract: 8, Author: dashboardtest.Owner, Text: canary, At: now}},
		{Entry: activity.Entry{ID: 3, EntityID: 8, EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractPaused, Status: activity.Success, Actor: activity.Actor{Source: activity.CustomerPortal, By: "customer", ClientIP: "203.0.113.9", Request: "r-7"}, At: now.AddDate(0, 0, -2), Info: `{"reason":"` + "away" + `"}`}},
	}
	s.SignIn(dashboardtest.Owner)
	return s, d
}

func TestContractShowsWhatItHasAndWhatHappened(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	d.more = true
	p := s.Get(contractPath)
	s.Want(p, http.StatusOK, "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}", "Prepaid", "Imported", "Payment failed", "Not enough money.", `<span class="mono">INSUFFICIENT_FUNDS</span>`, "25 Nov 2026, 13:00 UTC", "in 6 days",
		"Today, Wednesday, 25 November 2026", "Monday, 23 November 2026", "customer, portal · 203.0.113.9 · away", "Visa ending 4242", "Soon", "Show older entries", "See what can be done", "Delete comment", "/api-log?request=r-7")
	if strings.Contains(p.Text, "<script>alert") {
		t.Error("a text of the store is markup")
	}
	if n := len(p.Text); n > 60<<10 {
		t.Errorf("the page has %d bytes", n)
	}
	s.Want(s.Get(contractPath+"?source=CUSTOMER_PORTAL&before=5000.7"), http.StatusOK, "without filters")
	if d.asked.Source != activity.CustomerPortal || d.asked.Before.ID != 7 || !d.asked.Before.At.Equal(time.UnixMilli(5000)) {
		t.Errorf("asked for %+v", d.asked)
	}
	s.Want(s.Get(contractPath+"?source=NOBODY"), http.StatusBadRequest, "is not one of the values of source")
	s.Want(s.Get(contractPath+"/delivery"), http.StatusOK, "Portland", "&lt;script&gt;")
	s.Want(s.Get(contractPath+"/orders/71"), http.StatusOK, "Why will 33.00 EUR be charged on 1 Dec 2026?", "Price, step by step", "2 × 12.50 EUR")
	d.mail = notify.Message{ID: 1, Kind: notify.ManagementLink, Status: notify.Sent, To: "ivan@shopper.example"}
	s.Want(s.Get(contractPath+"/mails/1"), http.StatusOK, "a link that signs the customer in")
	s.Want(s.Get(dashboardtest.At+"/contracts/9"), http.StatusNotFound)
	s.Want(s.Get(dashboardtest.At+"/contracts/x"), http.StatusNotFound)
}

func TestDeliverySaysThatPlatformIsDown(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	d.refuse = fault.New(fault.Unavailable, "the platform does not answer")
	s.Want(s.Get(contractPath+"/delivery"), http.StatusOK, "The platform does not answer now.")
}

func TestActionAsksFirstAndNamesUser(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	for _, a := range []struct {
		action string
		of     string
		fields []string
		says   string // in the question
		did    string
		total  string // that is shown before
	}{
		{"pause", "", []string{"until", "2026-12-24"}, "1 Dec 2026, 33.00 EUR", "status", ""},
		{"resume", "", nil, "Its next order is that of 1 Dec 2026: 33.00 EUR before taxes", "status", ""},
		{"cancel", "", []string{"note", "moved"}, "cannot be resumed", "status", ""},
		{"skip", "71", nil, "1 Dec 2026, 33.00 EUR, is not charged", "skip", ""},
		{"unskip", "71", nil, "after all", "unskip", ""},
		{"move", "71", []string{"date", "2026-12-03"}, "Later orders keep their dates.", "edit", ""},
		{"charge", "71", nil, "is charged to the customer’s payment method, now", "trigger", ""},
		{"charge", "70", nil, "It was declined before.", "trigger", ""},
		{"line", "gid://shopify/SubscriptionLine/1", []string{"quantity", "3", "price", "12.50"}, "2 × 12.50 EUR", "line", "The order of 1 Dec 2026 costs 45.50 EUR before taxes then, and 33.00 EUR now."},
		{"swap", "gid://shopify/SubscriptionLine/2", []string{"variant", "9"}, "Mug is replaced", "line", ""},
		{"remove-line", "gid://shopify/SubscriptionLine/2", nil, "8.00 EUR less", "remove line", ""},
		{"add-one-time", "", []string{"variant", "9", "quantity", "1"}, "The order of 1 Dec 2026 carries", "add one-off", "The order of 1 Dec 2026 costs 37.50 EUR before taxes then, and 33.00 EUR now."},
		{"apply-code", "", []string{"code", "TEN"}, "as the code says", "code TEN", ""},
		{"add-discount", "", []string{"percent", "10"}, "33.00 EUR", "add discount", ""},
		{"note", "", []string{"note", "ring"}, "carries the note", "note ring", ""},
		{"attributes", "", []string{"attributes", "a = 1\n\nb=2"}, "What you leave out is removed.", "attributes 2", ""},
		{"cycles", "", []string{"minCycles", "1", "maxCycles", "3"}, "so far", "cycles", ""},
		{"payment-link", "", nil, "ivan@shopper.example, now", "payment link", ""},
		{"portal-link", "", nil, "within two hours", "portal link", ""},
	} {
		d.did = nil
		ask := s.Get(contractPath + "/do/" + a.action + "?of=" + a.of)
		s.Want(ask, http.StatusOK, a.says)
		fields := append(a.fields, "of", a.of, "seen", hiddenField(t, ask, "seen"))
		if a.total != "" {
			counted := s.Post(contractPath+"/do/"+a.action, append(fields, "do", "count")...)
			s.Want(counted, http.StatusOK, a.total)
			s.Want(s.Post(contractPath+"/do/"+a.action, fields...), http.StatusUnprocessableEntity, "Nothing is changed yet", a.total)
			fields = append(fields, "total", hiddenField(t, counted, "total"))
		}
		p := s.Post(contractPath+"/do/"+a.action, fields...)
		s.Want(p, http.StatusOK)
		if len(d.did) != 1 || d.did[0] != a.did || d.by.By != dashboardtest.Owner || d.by.Source != activity.MerchantPortal || !strings.Contains(p.Path, "done=contract-"+a.action) {
			t.Errorf("%s: did %v by %+v, and leads to %s", a.action, d.did, d.by, p.Path)
		}
	}
	if d.line.Variant == nil || *d.line.Variant != 9 || d.edit.BillingDate.Format(time.DateOnly) != "2026-12-03" {
		t.Errorf("swapped %+v, moved to %v", d.line, d.edit.BillingDate)
	}
}

func TestResumeQuestionNamesLinesAndNeedsPaymentMethod(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	c := d.sheet.Contract
	c.Status, c.Dunning = contract.Paused, nil
	c.Series = contract.Series{Cycle: 2, Start: s.Clock.Now().AddDate(0, -1, 6)}
	once := billing.OneOff{ID: 1, Contract: 8, Cycle: 2, Quantity: 2}
	once.Variant.ID, once.Variant.ProductTitle, once.Variant.Price = 9, "Tin", eur(300)
	d.sheet = support.Sheet{Contract: c, Inputs: billing.Inputs{OneOffs: []billing.OneOff{once}}}
	p := s.Get(contractPath + "/do/resume")
	s.Want(p, http.StatusOK, "Its next order is that of 30 Nov 2026: 39.00 EUR before taxes", "1 × Mug</dt><dd>8.00 EUR", "2 × Tin, in this order only</dt><dd>6.00 EUR", "before taxes</dt><dd>39.00 EUR", "Resume contract</button>")
	d.sheet.Contract.PaymentUsable = false
	p = s.Get(contractPath + "/do/resume")
	s.Want(p, http.StatusOK, "no payment method that can be charged", "/do/payment-link", "Send payment update link")
	if strings.Contains(p.Text, "Resume contract</button>") {
		t.Error("the contract can be resumed without a payment method")
	}
	s.Want(s.Post(contractPath+"/do/resume", "of", "", "seen", "3"), http.StatusUnprocessableEntity, "no payment method that can be charged")
	if len(d.did) > 0 {
		t.Errorf("did %v", d.did)
	}
}

// What a cancellation still charges and delivers stands in its question.
func TestCancelQuestionListsWhatStillComes(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	now := s.Clock.Now()
	c := d.sheet.Contract
	c.Dunning, c.Series, c.NextBillingDate = nil, contract.Series{Cycle: 3, Start: now.AddDate(0, 0, 6)}, now.AddDate(0, 0, 6)
	order := func(id billing.AttemptID, status billing.Status, at time.Time) billing.Record {
		return billing.Record{Attempt: billing.Attempt{ID: id, Contract: 8, Cycle: int(id) - 68, Status: status, BillingDate: at}, Of: c}
	}
	none := []string{"Cancel at once", "Total of"}
	for name, row := range map[string]struct {
		change   func(c *contract.Contract)
		upcoming []billing.Record
		says     []string
		not      []string
	}{
		"at once": {func(*contract.Contract) {}, []billing.Record{order(71, billing.Queued, now.AddDate(0, 0, 6))}, []string{"is cancelled at the platform, now", "The order of 1 Dec 2026, 33.00 EUR, and those after it"}, none},
		"a charge in flight": {
			func(*contract.Contract) {}, []billing.Record{order(71, billing.Requesting, now)},
			[]string{"Order of 25 Nov 2026, being charged now</dt><dd>33.00 EUR", "Total of 1 order, before taxes</dt><dd>33.00 EUR"}, none[:1],
		},
		"deliveries that are paid for": {
			func(c *contract.Contract) { c.LastOrderAt, c.OriginOrderID = now.AddDate(0, 0, -8), 1 }, []billing.Record{order(71, billing.Queued, now.AddDate(0, 0, 20))},
			[]string{"Nothing more is charged", "nothing more is charged", "Delivery of 1 Dec 2026</dt><dd>Paid for", "Cancel at once"}[1:], none[1:],
		},
		"a cancellation that waits for orders": {
			func(c *contract.Contract) {
				c.Delivery, c.MinCycles, c.Ending = c.Billing, 2, &contract.Ending{Why: contract.EndOfMinimum, Cycle: 4, At: now.AddDate(0, 1, 6)}
			},
			[]billing.Record{order(71, billing.Queued, now.AddDate(0, 0, 6)), order(72, billing.Queued, now.AddDate(0, 1, 6))},
			[]string{"A cancellation waits already", "Order of 1 Dec 2026</dt><dd>33.00 EUR", "Order of 31 Dec 2026</dt><dd>33.00 EUR", "Total of 2 orders, before taxes</dt><dd>66.00 EUR", "Cancel at once"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := c
			row.change(&is)
			d.sheet.Contract, d.sheet.Upcoming, d.sheet.Past = is, row.upcoming, nil
			p := s.Get(contractPath + "/do/cancel")
			s.Want(p, http.StatusOK, row.says...)
			for _, text := range row.not {
				if strings.Contains(p.Text, text) {
					t.Errorf("the question says %q", text)
				}
			}
		})
	}
}

func TestFormKeepsInputWhenContractHasChanged(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	p := s.Post(contractPath+"/do/cancel", "of", "", "seen", "2", "note", "keep this")
	s.Want(p, http.StatusUnprocessableEntity, "has changed since the page was opened", "customer, portal", "at 23 Nov 2026, 12:00 UTC", "keep this")
	if len(d.did) != 0 {
		t.Errorf("did %v", d.did)
	}
	d.refuse = fault.New(fault.Unavailable, "the platform does not answer")
	s.Want(s.Post(contractPath+"/do/cancel", "of", "", "seen", hiddenField(t, p, "seen"), "note", "keep this"), http.StatusUnprocessableEntity, "The platform does not answer", "keep this")
	s.Want(s.Post(contractPath+"/do/move", "of", "71", "seen", "3.5", "date", "soon"), http.StatusUnprocessableEntity, "is not a day", `id="e-date"`)
	s.Want(s.Get(contractPath+"/do/skip?of=99"), http.StatusNotFound)
	s.Want(s.Get(contractPath+"/do/nothing"), http.StatusNotFound)
}

func TestEndedContractIsReadOnly(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	d.sheet.Contract.Status, d.sheet.Contract.CancelledAt, d.sheet.Contract.Dunning = contract.Cancelled, s.Clock.Now(), nil
	p := s.Get(contractPath)
	s.Want(p, http.StatusOK, "This contract ended on 25 Nov 2026, 12:00 UTC. It cannot be changed.", "Add comment")
	if strings.Contains(p.Text, "/do/") {
		t.Error("an ended contract offers changes")
	}
	if p := s.Post(contractPath+"/do/note", "of", "", "seen", "3", "note", "x"); p.Status < 400 || len(d.did) != 0 {
		t.Errorf("an ended contract was changed: %d, %v", p.Status, d.did)
	}
}

func TestRolesSeeOnlyWhatTheyMayDo(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	s.Add("eve@staff.example", staff.Analyst)
	s.SignIn("eve@staff.example")
	p := s.Get(contractPath)
	s.Want(p, http.StatusOK, "Timeline")
	for _, hidden := range []string{"/do/", "Add comment", "Open portal as customer", "Delete comment"} {
		if strings.Contains(p.Text, hidden) {
			t.Errorf("an analyst sees %s", hidden)
		}
	}
	for _, path := range []string{"/do/skip", "/portal", "/comments"} {
		s.Want(s.Post(contractPath+path, "of", "71", "seen", "3.5"), http.StatusForbidden)
	}
	if len(d.did) != 0 {
		t.Errorf("did %v", d.did)
	}
}

func TestSupportOpensPortalAndComments(t *testing.T) {
	t.Parallel()
	s, d := openContract(t)
	s.Want(s.Get(contractPath+"/portal"), http.StatusOK, "for 30 minutes", "logged as yours")
	s.Want(s.Post(contractPath+"/portal"), http.StatusOK, "https://perennial.example/p/first/l/secret")
	if d.did[0] != "open portal" || d.by.By != dashboardtest.Owner {
		t.Errorf("did %v by %+v", d.did, d.by)
	}
	s.Want(s.Post(contractPath+"/comments", "text", "called"), http.StatusOK, "The comment was added.")
	s.Want(s.Post(contractPath+"/comments/4/delete"), http.StatusOK, "The comment was deleted.")
	if d.did[1] != "comment called" || d.did[2] != "uncomment 4" || d.by.By != dashboardtest.Owner {
		t.Errorf("did %v by %+v", d.did, d.by)
	}
	d.refuse = fault.New(fault.Invalid, "write a comment").Field("text")
	s.Want(s.Post(contractPath+"/comments", "text", " "), http.StatusUnprocessableEntity, "Write a comment")
}
