package letters

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/sms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// text returns the SMS about matters that belong together; there is one at least.
func text(list []matter) notify.Content {
	m := list[0]
	v, c := m.visit, m.sheet.Contract
	say, path := "", words.Path(c.ID)
	switch {
	case m.Kind == notify.UpcomingOrder && len(list) > 1:
		amounts := make([]string, len(list))
		for i, one := range list {
			amounts[i] = words.Cost(one.visit, one.order.Record)
		}
		say = v.T("sms.upcomingMany", "store", storeName(v), "n", len(list), "day", v.ShortDay(m.order.BillingDate), "amount", v.Words.List(amounts))
		path = ""
	case m.Kind == notify.UpcomingOrder:
		say = v.T("sms.upcoming", "store", storeName(v), "day", v.ShortDay(m.order.BillingDate), "amount", words.Cost(v, m.order.Record))
		path = words.OrderPath(m.order.Attempt)
	case m.Kind == notify.TransactionFailed:
		say = v.T("sms.failed", "store", storeName(v), "amount", words.Cost(v, m.order.Record))
		path += "/payment"
	default:
		say = v.T("sms.begun", "store", storeName(v))
		if next, comes := m.sheet.Next(); comes && c.Status == contract.Active {
			say = v.T("sms.created", "store", storeName(v), "day", v.ShortDay(next.BillingDate), "amount", words.Cost(v, next.Record))
		}
	}
	return notify.Content{Text: sms.Fit(sms.Plain(say), string(at(v, path)), sms.Plain(v.T("sms.stop")))}
}

func storeName(v portal.Visit) string { return v.View.Look.Name }

// Reply returns the reply to a customer who wrote a word.
func (w *Writer) Reply(ctx context.Context, of shop.ID, customer int64, word optin.Word) (string, error) {
	store, err := w.Shops.Shop(ctx, of)
	if err != nil {
		return "", err
	}
	language, err := w.Languages.Language(ctx, of, customer)
	if err != nil {
		return "", err
	}
	v, err := w.Visits.Visit(ctx, store, shop.Subscriptions, customer, language)
	if err != nil {
		return "", err
	}
	return reply(v, word), nil
}

// reply is Reply in the language of a visit.
func reply(v portal.Visit, word optin.Word) string {
	switch word {
	case optin.Stop:
		return sms.Plain(v.T("sms.stopped", "store", storeName(v)))
	case optin.Start:
		return sms.Plain(v.T("sms.started", "store", storeName(v)))
	case optin.Help:
		return sms.Fit(sms.Plain(v.T("sms.help", "store", storeName(v))), string(at(v, "")), "")
	}
	return ""
}
