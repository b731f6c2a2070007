package letters

import (
	"context"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/liquid"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Sample returns a letter of a kind to a made-up customer who reads a language, BCP 47, as the
// product has it.
func (w *Writer) Sample(ctx context.Context, of shop.Shop, kind notify.Kind, language string) (notify.Letter, error) {
	l, _, err := w.Preview(ctx, of, mailtemplate.Key{Kind: kind, Language: language}, mailtemplate.Fields{})
	return l, err
}

// Preview returns a letter to a made-up customer by a template, and what is wrong with the template.
// With something that cannot be published it is the product's letter.
func (w *Writer) Preview(ctx context.Context, of shop.Shop, k mailtemplate.Key, f mailtemplate.Fields) (notify.Letter, []mailtemplate.Problem, error) {
	m, err := w.sampled(ctx, of, k)
	if err != nil {
		return notify.Letter{}, nil, err
	}
	return w.preview(m, f)
}

// PreviewOf is Preview about a contract: with what it is and what comes next, as if what letters of the
// kind report had happened to it. It fails when the customer has no such contract.
func (w *Writer) PreviewOf(ctx context.Context, of shop.Shop, k mailtemplate.Key, f mailtemplate.Fields, id contract.ID, customer int64) (notify.Letter, []mailtemplate.Problem, error) {
	sheet, err := w.Sheets.Sheet(ctx, do.Caller{Shop: of, Actor: activity.Actor{Customer: customer}}, id, 1)
	if err != nil {
		return notify.Letter{}, nil, err
	}
	v, err := w.Visits.Visit(ctx, of, sheet.Contract.Line, customer, k.Language)
	if err != nil {
		return notify.Letter{}, nil, err
	}
	m, err := sample(v, k.Kind)
	if err != nil {
		return notify.Letter{}, nil, err
	}
	if m.notice != nil { // it is about the customer alone
		m.Customer, m.sheet.Contract.Customer = customer, sheet.Contract.Customer
		return w.preview(m, f)
	}
	if len(sheet.Upcoming) == 0 {
		return notify.Letter{}, nil, fault.New(fault.Invalid, "subscription contract %d has no order to come: choose another one", id).Field("contract")
	}
	order := sheet.Upcoming[0]
	if m.sheet.Unpaid != nil { // it is about a decline
		order.Status, order.ErrorCode = m.order.Status, m.order.ErrorCode
		sheet.Contract.Dunning, sheet.Unpaid = m.sheet.Contract.Dunning, &order
	}
	if change, lines := m.Facts.Change, sheet.Contract.Lines; change != nil && len(lines) > 0 {
		change.Title, change.Line, change.Variant, change.Price = lines[0].Title, lines[0].ID, lines[0].VariantID, lines[0].Price.String()
	}
	m.Contract, m.Customer, m.sheet, m.order = id, customer, sheet, &order
	return w.preview(m, f)
}

// preview returns the letter about a matter by a template, and what is wrong with the template.
func (w *Writer) preview(m matter, f mailtemplate.Fields) (notify.Letter, []mailtemplate.Problem, error) {
	p := w.page([]matter{m})
	own, values := p, m.values(p)
	var problems []mailtemplate.Problem
	// Field by field, so that what is wrong with one does not hide what is wrong with the next.
	for _, part := range []mailtemplate.Fields{{Subject: f.Subject}, {Preheader: f.Preheader}, {Heading: f.Heading}, {Body: f.Body}, {Button: f.Button}} {
		if bad := own.customise(part, values); bad != nil {
			problems = append(problems, mailtemplate.Problem{Field: bad.field, Line: bad.line, Text: bad.err.Error()})
		}
	}
	if problems == nil {
		problems = own.doubts(m)
	} else {
		own = p
	}
	l, err := own.letter()
	if len(l.HTML) > cutOff {
		problems = append(problems, mailtemplate.Problem{Field: "body", Text: "The e-mail is longer than 102 KB: Gmail cuts it off.", Warning: true})
	}
	return l, problems, err
}

// sampled returns what a letter to a made-up customer is about.
func (w *Writer) sampled(ctx context.Context, of shop.Shop, k mailtemplate.Key) (matter, error) {
	v, err := w.Visits.Visit(ctx, of, shop.Subscriptions, 1, k.Language)
	if err != nil {
		return matter{}, err
	}
	return sample(v, k.Kind)
}

// Product returns what the product writes, to a made-up customer, in each part that a template can
// replace. The body is plain text; a part that the letter lacks is empty.
func (w *Writer) Product(ctx context.Context, of shop.Shop, k mailtemplate.Key) (mailtemplate.Fields, error) {
	m, err := w.sampled(ctx, of, k)
	if err != nil {
		return mailtemplate.Fields{}, err
	}
	p := w.page([]matter{m})
	f := mailtemplate.Fields{
		Subject: p.Subject, Preheader: p.preheader(), Heading: p.Heading,
		Body: strings.Join(slices.Concat([]string{p.Hello}, p.Says, p.Changes), "\n\n"),
	}
	if p.Button != nil {
		f.Button = p.Button.Text
	}
	return f, nil
}

// Value is what templates may name, with an example.
type Value struct{ Name, Example string }

// Values lists what templates of a kind may name. Those without an example have no value in this kind.
func (w *Writer) Values(ctx context.Context, of shop.Shop, k mailtemplate.Key) ([]Value, error) {
	m, err := w.sampled(ctx, of, k)
	if err != nil {
		return nil, err
	}
	var list []Value
	objects := m.values(w.page([]matter{m}))
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		properties := objects[name].(*liquid.Object).Properties
		for _, property := range slices.Sorted(maps.Keys(properties)) {
			list = append(list, Value{name + "." + property, example(properties[property])})
		}
	}
	return list, nil
}

// example writes a value for people.
func example(value any) string {
	switch is := value.(type) {
	case nil:
		return ""
	case []any:
		return fmt.Sprintf("a list of %d", len(is))
	case liquid.HTML:
		if mark.MatchString(string(is)) {
			return "as the product has it"
		}
		return strings.TrimSpace(tags.ReplaceAllString(string(is), " "))
	}
	return fmt.Sprint(value)
}

var tags = regexp.MustCompile(`<[^>]*>`)

// Check returns what is wrong with a template.
func (w *Writer) Check(ctx context.Context, of shop.Shop, k mailtemplate.Key, f mailtemplate.Fields) ([]mailtemplate.Problem, error) {
	_, problems, err := w.Preview(ctx, of, k, f)
	return problems, err
}

// cutOff is how many bytes of an e-mail Gmail shows.
const cutOff = 102 << 10

// doubts returns what is missing in a merchant's body.
func (p page) doubts(m matter) (list []mailtemplate.Problem) {
	if p.Custom == nil {
		return nil
	}
	var all strings.Builder
	button := false
	for _, is := range p.Custom {
		all.WriteString(string(is.HTML))
		button = button || is.Block == "button"
	}
	body := all.String()
	switch {
	case button || p.Button == nil || strings.Contains(body, html.EscapeString(string(p.Button.URL))):
	case m.Kind == notify.ManagementLink:
		list = append(list, mailtemplate.Problem{Field: "body", Text: "The e-mail needs its link: add {{ letter.button }} or {{ links.sign_in }}."})
	case notify.Required(m.Kind) && !strings.Contains(body, html.EscapeString(string(at(m.visit, words.Path(m.Contract))))):
		list = append(list, mailtemplate.Problem{Field: "body", Text: "This e-mail asks its reader to do something: add {{ letter.button }} or {{ links.manage }}."})
	default:
		list = append(list, mailtemplate.Problem{Field: "body", Text: "Nothing in it can be pressed: {{ letter.button }} leads to the subscription.", Warning: true})
	}
	if slices.ContainsFunc(pictures.FindAllString(body, -1), func(tag string) bool { return !strings.Contains(tag, " alt=") }) {
		list = append(list, mailtemplate.Problem{Field: "body", Text: "A picture has no alt text: readers without pictures miss it.", Warning: true})
	}
	return list
}

var pictures = regexp.MustCompile(`<img[^>]*>`)

// sample returns what a letter of a kind may be about.
func sample(v portal.Visit, kind notify.Kind) (matter, error) {
	home, err := overview.Sample(v.Shop, v.Now)
	if err != nil {
		return matter{}, err
	}
	sheet := home.Sheets[0]
	order := sheet.Upcoming[0]
	c := &sheet.Contract
	m := matter{Message: notify.Message{Kind: kind, Contract: c.ID, Customer: c.Customer.ID}, visit: v}
	day := 24 * time.Hour
	if m.notice = sampleNotice(v, kind); m.notice != nil {
		m.Contract, m.Facts.Points = 0, &notify.Points{Since: v.Now.Add(-day)}
		m.sheet.Contract.Customer = c.Customer
		return m, nil
	}
	switch kind {
	case notify.ManagementLink:
		m.Facts.Link = &notify.Link{URL: v.View.At("/l/sample"), Expires: v.Now.Add(2 * time.Hour)}
	case notify.StoreNews:
		m.Facts.News = &notify.News{Subject: "A new tea is here", Text: "It is green, light and fresh.\n\nYou can add it to your next order."}
	case notify.UpcomingOrder:
		m.Facts.Date = order.BillingDate
	case notify.ExpiringCard:
		before := order.BillingDate.AddDate(0, 0, -order.BillingDate.Day()) // in the month before the order
		c.Card.ExpiryMonth, c.Card.ExpiryYear = int(before.Month()), before.Year()
		m.Facts.Date = c.Card.Ends()
	case notify.TransactionSuccess:
		order.Status, order.OrderName, order.Amount, order.Lines = billing.Success, "#1042", order.Cost(), c.Lines
	case notify.TransactionFailed, notify.SecurityChallenge, notify.OutOfStock, notify.SuspensionWarning, notify.Suspension:
		d := notify.Decline{Class: dunning.Funds, RetryAt: v.Now.Add(3 * day), Action: dunning.Pause}
		order.Status, order.ErrorCode = billing.Failure, "INSUFFICIENT_FUNDS"
		c.Dunning = &contract.Dunning{Attempt: int64(order.ID), Since: v.Now, RetryAt: d.RetryAt}
		switch kind {
		case notify.SecurityChallenge:
			d.Class, d.Confirm = dunning.Auth, v.View.Store
		case notify.OutOfStock:
			d.Class, order.ErrorCode = dunning.Stock, "INSUFFICIENT_INVENTORY"
		case notify.SuspensionWarning:
			d.EndAt = v.Now.Add(5 * day)
		case notify.Suspension:
			c.Status = contract.Paused
		}
		m.Facts.Decline, sheet.Unpaid = &d, &order
	case notify.Canceled:
		c.Status, c.CancelledAt, c.CancelledOrderDate, c.Lifetime = contract.Cancelled, v.Now, order.BillingDate, money.Amount{Minor: 3 * order.Cost().Minor, Currency: c.Currency}
		c.OriginOrderID, c.FirstPaid = 1, order.Cost()
	case notify.Paused:
		c.Status, c.PausedAt, c.Pause = contract.Paused, v.Now, &contract.Pause{Until: v.Now.Add(30 * day)}
	}
	if event, confirms := events[kind]; confirms {
		m.Facts.Change = &notify.Change{
			Event: event, At: v.Now, From: order.BillingDate.Format(time.RFC3339), To: order.BillingDate.Add(7 * day).Format(time.RFC3339),
			Title: c.Lines[1].Title, Line: c.Lines[1].ID, Variant: c.Lines[1].VariantID, Price: c.Lines[1].Price.String(), OldPrice: "7.90",
		}
	}
	m.sheet, m.order = sheet, &order
	return m, nil
}

// events are the events that kinds of message confirm.
var events = map[notify.Kind]activity.EventType{
	notify.Paused: activity.ContractPaused, notify.Resumed: activity.ContractActivated, notify.Canceled: activity.ContractCancelled, notify.OrderSkipped: activity.BillingAttemptSkipped,
	notify.NextDate: activity.NextBillingDateChange, notify.Frequency: activity.BillingIntervalChange, notify.Address: activity.ShippingAddressChange,
	notify.ProductAdded: activity.ProductAdd, notify.ProductRemoved: activity.ProductRemove, notify.ProductReplaced: activity.ProductReplace, notify.PriceUpdated: activity.ProductPriceChange,
}
