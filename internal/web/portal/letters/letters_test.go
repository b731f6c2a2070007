package letters

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

var noon = time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)

// hostile is a store whose name and customers are hostile.
var hostile = shop.Shop{ID: 1, Domain: "demo.myshopify.com", TimeZone: "America/Los_Angeles", Currency: "USD", OrderHour: 9, Connected: true}

const canary = `<b>"Tea" & more`

// none has no templates.
type none struct{}

func (none) Live(context.Context, shop.ID) ([]mailtemplate.Template, error) { return nil, nil }

type looks struct{}

func (looks) Look(_ context.Context, of shop.Shop) (portal.Look, error) {
	l := portal.LookOf(of)
	l.Name, l.Help = canary, "mailto:help@demo.example"
	return l, nil
}

func writer(t *testing.T) *Writer {
	t.Helper()
	texts, err := locale.Load(os.DirFS("../texts"))
	if err != nil {
		t.Fatal(err)
	}
	visits, err := portal.NewAbsent(portal.Options{Frame: web.Frame{}, Texts: texts, Looks: looks{}, Clock: clock.NewManual(noon)}, func(of shop.Shop) string {
		return "https://subs.example/p/" + of.Domain
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Visits: visits, Templates: none{}, Unsubscribe: func(_ shop.Shop, _ int64, kind notify.Kind) string { return "https://subs.example/u/" + string(kind) }})
}

// variants are samples beside those of the kinds.
var variants = map[string]func(portal.Visit) ([]matter, error){
	"several changes": func(v portal.Visit) ([]matter, error) {
		return several(v, notify.OrderSkipped, notify.NextDate, notify.Frequency, notify.ProductAdded)
	},
	"several orders": func(v portal.Visit) ([]matter, error) {
		return several(v, notify.UpcomingOrder, notify.UpcomingOrder)
	},
	"no link of the bank": func(v portal.Visit) ([]matter, error) { return declined(v, notify.SecurityChallenge, dunning.Auth, "") },
	"left out": func(v portal.Visit) ([]matter, error) {
		return declined(v, notify.Suspension, dunning.Funds, dunning.Skip)
	},
	"ended": func(v portal.Visit) ([]matter, error) {
		return declined(v, notify.Suspension, dunning.Funds, dunning.Cancel)
	},
	"ends soon": func(v portal.Visit) ([]matter, error) {
		return declined(v, notify.SuspensionWarning, dunning.Card, dunning.Cancel)
	},
	"wrong address": func(v portal.Visit) ([]matter, error) {
		return declined(v, notify.TransactionFailed, dunning.Address, dunning.Skip)
	},
	"a price that is announced": func(v portal.Visit) ([]matter, error) {
		m, err := sample(v, notify.PriceUpdated)
		if err != nil {
			return nil, err
		}
		m.Facts.Change.AppliesAt = noon.AddDate(0, 0, 20)
		return []matter{m}, nil
	},
	"a charge in flight": func(v portal.Visit) ([]matter, error) {
		m, err := sample(v, notify.Canceled)
		if err != nil {
			return nil, err
		}
		m.sheet.Orders = []billing.Attempt{{Cycle: 1, Status: billing.Requesting, BillingDate: noon}}
		return []matter{m}, nil
	},
	"a membership": func(v portal.Visit) ([]matter, error) {
		return several(v.About(shop.Memberships), notify.UpcomingOrder)
	},
	"store credit": func(v portal.Visit) ([]matter, error) {
		return noticed(v, notify.RewardIssued, func(n *loyalty.Notice) { n.Reward.Type, n.Reward.Code = loyalty.StoreCredit, "" })
	},
	"a code without an end": func(v portal.Visit) ([]matter, error) {
		return noticed(v, notify.RewardIssued, func(n *loyalty.Notice) { n.Reward.ExpiresAt = time.Time{} })
	},
	"a reward of a programme that was stopped": func(v portal.Visit) ([]matter, error) {
		return noticed(v, notify.RewardIssued, func(n *loyalty.Notice) { n.Program.Active = false })
	},
	"points that expire day by day": func(v portal.Visit) ([]matter, error) {
		return noticed(v, notify.PointsExpiring, func(n *loyalty.Notice) {
			n.Expiring = append(n.Expiring, loyalty.ExpiringPoints{At: n.Expiring[0].At.AddDate(0, 0, 1), Points: 150})
		})
	},
	"the highest tier": func(v portal.Visit) ([]matter, error) {
		return noticed(v, notify.TierReached, func(n *loyalty.Notice) { n.Next = nil })
	},
	"birthday points that wait for the store": func(v portal.Visit) ([]matter, error) {
		return noticed(v, notify.Birthday, func(n *loyalty.Notice) { n.Gains[0].Pending = true })
	},
	"a member without a name": func(v portal.Visit) ([]matter, error) {
		list, err := noticed(v, notify.PointsEarned, func(n *loyalty.Notice) { n.Gains[0].Description = "" })
		if err == nil {
			list[0].sheet.Contract.Customer.FirstName = ""
		}
		return list, err
	},
}

// noticed returns a letter to a loyalty member whose notice was changed.
func noticed(v portal.Visit, kind notify.Kind, change func(*loyalty.Notice)) ([]matter, error) {
	m, err := sample(v, kind)
	if err != nil {
		return nil, err
	}
	change(m.notice)
	return []matter{m}, nil
}

func several(v portal.Visit, kinds ...notify.Kind) (list []matter, err error) {
	for _, kind := range kinds {
		m, err := sample(v, kind)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

func declined(v portal.Visit, kind notify.Kind, class dunning.Class, action dunning.Action) ([]matter, error) {
	m, err := sample(v, kind)
	if err != nil {
		return nil, err
	}
	m.Facts.Decline.Class, m.Facts.Decline.Action, m.Facts.Decline.Confirm = class, action, ""
	return []matter{m}, nil
}

// inEveryLanguage runs a test for a customer of each language of the portal.
func inEveryLanguage(t *testing.T, test func(t *testing.T, w *Writer, v portal.Visit, language string)) {
	t.Helper()
	w := writer(t)
	for _, language := range []string{"en", "de", "fr", "es", "it", "nl", "pt-BR", "ja"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			v, err := w.Visits.Visit(t.Context(), hostile, shop.Subscriptions, 1, language)
			if err != nil {
				t.Fatal(err)
			}
			test(t, w, v, language)
		})
	}
}

func TestEveryLetterReadsWellInEveryLanguage(t *testing.T) {
	t.Parallel()
	inEveryLanguage(t, func(t *testing.T, w *Writer, v portal.Visit, language string) {
		for _, kind := range notify.CustomerKinds() {
			l, err := w.Sample(t.Context(), hostile, kind, language)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			lint(t, string(kind), language, l)
			if dark := Dark(l.HTML); strings.Count(l.HTML, darkRule) != 1 || strings.Contains(dark, darkRule) {
				t.Errorf("%s: its rules for dark screens are not found", kind)
			}
			if (l.Unsubscribe == "") != notify.Required(kind) {
				t.Errorf("%s: it ends by %q", kind, l.Unsubscribe)
			}
		}
		for name, make := range variants {
			list, err := make(v)
			if err != nil {
				t.Fatal(err)
			}
			l, err := w.page(list).letter()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			lint(t, name, language, l)
		}
	})
}

// leftover finds what no reader should see: the key of a text, a placeholder, a value that is missing.
var leftover = regexp.MustCompile(`\bmail\.[a-z]|\{[a-z]+\}|<no value>|ZgotmplZ|%!`)

// lint checks what mail programs and their readers need of a letter.
func lint(t *testing.T, name, language string, l notify.Letter) {
	t.Helper()
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s in %s: "+format, append([]any{name, language}, args...)...)
	}
	if l.ReplyTo != "help@demo.example" {
		bad("replies go to %q", l.ReplyTo)
	}
	for part, text := range map[string]string{"subject": l.Subject, "text": l.Text, "HTML": l.HTML} {
		if found := leftover.FindString(text); found != "" || strings.TrimSpace(text) == "" {
			bad("the %s has %q: %s", part, found, text)
		}
	}
	if len(l.HTML) > 102<<10 {
		bad("%d bytes of HTML are cut off by Gmail", len(l.HTML))
	}
	if !strings.HasPrefix(l.HTML, "<!doctype html>") || !strings.Contains(l.HTML, `<html lang="`+language+`"`) {
		bad("it begins %q", l.HTML[:60])
	}
	if strings.Contains(l.HTML, "<b>") || !strings.Contains(l.Text, canary) || !strings.Contains(l.HTML, html.EscapeString(canary)) && !strings.Contains(l.HTML, "&lt;b&gt;") {
		bad("the store's name is not shown as it is")
	}
	if n := strings.Count(l.HTML, "<h1"); n != 1 {
		bad("%d headings", n)
	}
	links := 0
	var open []string
	tokens := html.NewTokenizer(strings.NewReader(l.HTML))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if len(open) > 0 || links == 0 {
				bad("%d links, and %v stay open", links, open)
			}
			return
		case html.StartTagToken:
			token := tokens.Token()
			attr := map[string]string{}
			for _, a := range token.Attr {
				attr[a.Key] = a.Val
			}
			switch token.Data {
			case "meta", "br":
				continue
			case "img":
				if _, has := attr["alt"]; !has || !strings.HasPrefix(attr["src"], "https://") {
					bad("the picture %v", attr)
				}
				continue
			case "script", "link", "iframe", "form", "video", "svg":
				bad("it has <%s>", token.Data)
			case "table":
				if attr["role"] != "presentation" {
					bad("a table is read out")
				}
			case "a":
				links++
				if !regexp.MustCompile(`^(https?://|mailto:|tel:)`).MatchString(attr["href"]) {
					bad("a link to %q", attr["href"])
				}
			}
			open = append(open, token.Data)
		case html.EndTagToken:
			token := tokens.Token()
			if len(open) == 0 || open[len(open)-1] != token.Data {
				bad("</%s> after %v", token.Data, open)
				return
			}
			open = open[:len(open)-1]
		}
	}
}

func TestLinesOfTextPartAreShort(t *testing.T) {
	t.Parallel()
	w := writer(t)
	l, err := w.Sample(t.Context(), hostile, notify.SubscriptionCreated, "en")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(l.Text, "\n") {
		if len([]rune(line)) > lineLength && !strings.Contains(line, "https://") {
			t.Errorf("%d characters: %s", len([]rune(line)), line)
		}
	}
}

func TestCancellationLetterNamesChargeInFlight(t *testing.T) {
	t.Parallel()
	w := writer(t)
	v, err := w.Visits.Visit(t.Context(), hostile, shop.Subscriptions, 1, "en")
	if err != nil {
		t.Fatal(err)
	}
	list, err := variants["a charge in flight"](v)
	if err != nil {
		t.Fatal(err)
	}
	l, err := w.page(list).letter()
	if err != nil {
		t.Fatal(err)
	}
	cost := words.Cost(v, list[0].sheet.Record(list[0].sheet.Orders[0]))
	if text := strings.Join(strings.Fields(l.Text), " "); !strings.Contains(text, "it still comes, for "+cost+" before taxes") || strings.Contains(text, "Nothing more will be charged") {
		t.Errorf("the letter does not name %s: %s", cost, l.Text)
	}
}

// A card may expire after the next order: the letter names the one that it cannot pay.
func TestLetterAboutACardNamesFirstOrderAfterIt(t *testing.T) {
	t.Parallel()
	w := writer(t)
	v, err := w.Visits.Visit(t.Context(), hostile, shop.Subscriptions, 1, "en")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sample(v, notify.ExpiringCard)
	if err != nil {
		t.Fatal(err)
	}
	first, second := m.sheet.Upcoming[0].BillingDate, m.sheet.Upcoming[1].BillingDate
	card := &m.sheet.Contract.Card
	card.ExpiryMonth, card.ExpiryYear = int(first.Month()), first.Year()
	for _, tt := range []struct {
		month int
		names string
		not   string
	}{{0, v.Day(second), v.Day(first)}, {-1, v.Day(first), v.Day(second)}} {
		card.ExpiryMonth = int(first.AddDate(0, tt.month, 0).Month())
		l, err := w.page([]matter{m}).letter()
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(l.Text), " "); !strings.Contains(text, "comes after that: "+tt.names) || strings.Contains(text, tt.not) {
			t.Errorf("a card that expires in month %d: %s", card.ExpiryMonth, l.Text)
		}
	}
}
