package notify

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// Payment is what the e-mails about an order that could not be charged say.
type Payment struct {
	Kind    Kind // TransactionFailed, SecurityChallenge, OutOfStock, SuspensionWarning or Suspension
	Shop    string
	Name    string // of the customer; may be empty
	Amount  money.Amount
	Class   dunning.Class
	NextTry time.Time      // in the time zone of the reader; zero: only when the customer acts
	End     time.Time      // when Action is taken; of SuspensionWarning
	Action  dunning.Action // in the end
	Confirm string         // where the customer confirms the payment; empty: nowhere
	Account string         // where the customer can do something else
}

// day writes a day as people read it.
const day = "Monday, 2 January 2006"

// why explains the failure to a reader who can fix it.
func (p Payment) why() string {
	switch p.Class {
	case dunning.Funds:
		return "Your bank reports that there was not enough money for it."
	case dunning.Card:
		return "Your payment method cannot be used any more: it has expired, was replaced, or its details are not right."
	case dunning.Auth:
		return "Your bank wants you to confirm it."
	case dunning.Address:
		return "We cannot deliver to the address that we have."
	case dunning.Fraud, dunning.Issuer, dunning.Transient:
		return "Your payment method was declined."
	}
	return ""
}

// then says what comes next.
func (p Payment) then() string {
	act := "Please check your payment method"
	switch p.Class {
	case dunning.Address:
		act = "Please check your delivery address"
	case dunning.Auth:
		act = "Please choose another payment method, or ask your bank to allow the payment"
		if p.Confirm != "" {
			act = "Please confirm the payment, or choose another payment method"
		}
	}
	switch {
	case p.NextTry.IsZero() && p.Class == dunning.Auth:
		return act + "."
	case p.NextTry.IsZero():
		return act + ". As soon as it is in order, we charge it and send your order."
	}
	return act + ". We try again on " + p.NextTry.Format(day) + "."
}

// outcome says what becomes of the subscription, after "your subscription".
func (p Payment) outcome() string {
	switch p.Action {
	case dunning.Cancel:
		return "is cancelled"
	case dunning.Pause:
		return "is paused"
	case dunning.Skip:
	}
	return "goes on without this order"
}

// words returns the subject and the paragraphs.
func (p Payment) words() (subject string, paragraphs []string) {
	order := "your order at " + p.Shop + " for " + p.Amount.String() + " " + string(p.Amount.Currency)
	switch p.Kind {
	case OutOfStock:
		return "Your order at " + p.Shop + " is delayed", []string{
			"something of " + order + " is out of stock. You have not been charged.", "You need not do anything: we send your order as soon as we can.",
		}
	case SecurityChallenge:
		subject = "Please confirm your payment at " + p.Shop
		if p.Confirm == "" {
			subject = "Your payment at " + p.Shop + " is not complete"
		}
		return subject, []string{"the payment for " + order + " is not complete. " + p.why(), p.then()}
	case SuspensionWarning:
		return "Your order at " + p.Shop + " is still not paid", []string{
			"we could not charge " + order + ". " + p.why(), "Unless it can be paid by " + p.End.Format(day) + ", your subscription " + p.outcome() + ".", p.then(),
		}
	case Suspension:
		return "Your subscription at " + p.Shop + " " + p.outcome(), []string{
			"we could not charge " + order + ". " + p.why(), "Your subscription " + p.outcome() + ". You are not charged for this order.",
		}
	}
	return "Your payment at " + p.Shop + " did not go through", []string{"we could not charge " + order + ". " + p.why(), p.then()}
}

// layout is what the templates are filled with.
type layout struct {
	Subject, Greeting string
	Paragraphs        []string
	Label, URL        string
}

const paymentText = `{{.Greeting}}
{{range .Paragraphs}}
{{.}}
{{end}}
{{.Label}}: {{.URL}}
`

const paymentHTML = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px;background:#f5f4f0;color:#1f2421;font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:16px;line-height:1.5">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;background:#ffffff;border-radius:8px"><tr><td style="padding:32px">
<p style="margin:0 0 16px">{{.Greeting}}</p>
{{range .Paragraphs}}<p style="margin:0 0 16px">{{.}}</p>
{{end}}<p style="margin:8px 0 0"><a href="{{.URL}}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#205b48;color:#ffffff;text-decoration:none">{{.Label}}</a></p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`

// Content returns the e-mail's words.
func (p Payment) Content() (Content, error) {
	l := layout{Greeting: "Hello,", Label: "Open my account", URL: p.Account}
	if p.Name != "" {
		l.Greeting = "Hello " + oneLine(p.Name) + ","
	}
	if p.Confirm != "" {
		l.Label, l.URL = "Confirm the payment", p.Confirm
	}
	l.Subject, l.Paragraphs = p.words()
	return written(l.Subject, paymentText, paymentHTML, l)
}
