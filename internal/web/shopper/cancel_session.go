package shopper

import (
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/web"
)

// cancelSession is a session of cancelling as its shopper sees it.
type cancelSession struct {
	ID           *int64         `json:"id" doc:"The service's number; null when no session is open." example:"601"`
	ContractID   int64          `json:"contractId" doc:"Number of the contract." example:"9001"`
	Version      int32          `json:"flowVersion" minimum:"0" doc:"Version of the store's flow; 0: the one of a store that has published none." example:"3"`
	Mode         string         `json:"mode" enum:"RETENTION,INSTRUCTIONS,IMMEDIATE" doc:"What comes before the confirmation: a question and at most one offer, a text of the store, or nothing."`
	Step         *string        `json:"step" enum:"INSTRUCTIONS,REASON,OFFER,CONFIRM,ACCEPTING,CANCELLING,ENDED" doc:"Where the session is; null when none is open."`
	Instructions *string        `json:"instructions" doc:"The store's text, in plain text; null when there is none." example:"Write to us, and we find a way."`
	Support      *string        `json:"support" doc:"How to contact the store: an e-mail address or an https address; null when it is not said." example:"help@store.example"`
	Reasons      []cancelReason `json:"reasons" nullable:"false" doc:"The reasons to choose from, in their order."`
	Reason       *string        `json:"reason" doc:"Key of the reason that was given; null: none." example:"too-much"`
	Comment      *string        `json:"comment" doc:"What the shopper said; null: nothing." example:"Two bags a month are enough"`
	Offer        *cancelOffer   `json:"offer" doc:"The offer; null: there is none."`
	Effect       cancelEffect   `json:"effect" doc:"What a confirmation does."`
	ContractVer  int64          `json:"version" minimum:"0" doc:"Version of what a shopper sees of the contract, to be sent with what changes it." example:"41"`
	Outcome      *string        `json:"outcome" enum:"ACCEPTED,KEPT,ABANDONED,CANCEL_SCHEDULED,CANCELLED" doc:"How the session ended; null while it is open."`
	EndedAt      *web.Instant   `json:"endedAt" format:"date-time" doc:"When it ended, in UTC; null while it is open." example:"2026-01-31T08:00:00Z"`
	Reference    *string        `json:"reference" doc:"What to quote about a cancellation; null without one." example:"C-9001-601"`
}

// cancelReason is a reason for cancelling.
type cancelReason struct {
	Key     string `json:"key" doc:"Identifies the reason." example:"too-much"`
	Label   string `json:"label" doc:"As the shopper reads it." example:"I have too much"`
	Comment bool   `json:"commentRequired" doc:"Whether the shopper must say more." example:"false"`
}

// cancelOffer is an offer: what accepting it does, and when.
type cancelOffer struct {
	Type    string         `json:"type" enum:"SKIP,PAUSE,DISCOUNT,SWAP,FREQUENCY,QUANTITY,RESCHEDULE,SAMPLE,SUPPORT,PAYMENT_LINK" doc:"What the offer does."`
	Orders  int32          `json:"orders" minimum:"0" doc:"How many orders it is about; 0: it is about none in particular." example:"2"`
	Percent int32          `json:"percent" minimum:"0" maximum:"100" doc:"Percent off each order; 0: another offer, or an amount." example:"15"`
	Amount  *cancelAmount  `json:"amount" doc:"Off each order; null: another offer, or a percentage."`
	Choices []cancelChoice `json:"choices" nullable:"false" doc:"The shopper takes one of them; empty: there is nothing to choose."`
	Skips   []cancelSkip   `json:"skips" nullable:"false" doc:"Orders that are not made."`
	Until   *web.Instant   `json:"pauseTillDate" format:"date-time" doc:"When a pause ends, in UTC; null: another offer." example:"2026-04-01T04:00:00Z"`
	Next    *web.Instant   `json:"nextBillingDate" format:"date-time" doc:"The next order afterwards, in UTC; null: not known." example:"2026-03-10T13:30:00Z"`
	Pays    *cancelAmount  `json:"nextAmount" doc:"What the next order costs afterwards, before taxes; null: not known."`
	Was     *cancelAmount  `json:"presentAmount" doc:"What the next order costs as it is, before taxes; null: there is none."`
	Contact *string        `json:"contact" doc:"How to contact the store; null: another offer." example:"help@store.example"`
}

// cancelChoice is one of the things that an offer can be.
type cancelChoice struct {
	Key      string        `json:"key" doc:"What is sent to accept it." example:"7002"`
	Title    string        `json:"title" doc:"The product or the frequency." example:"Decaf, 250 g"`
	Image    *string       `json:"image" doc:"Address of its picture; null: none." example:"https://cdn.shopify.com/s/files/decaf.jpg"`
	Quantity int32         `json:"quantity" minimum:"0" doc:"Pieces in every order; 0: another offer." example:"1"`
	Every    *string       `json:"every" doc:"The frequency: a number and an interval; null: another offer." example:"2 MONTH"`
	Pays     *cancelAmount `json:"nextAmount" doc:"What the next order costs with it, before taxes; null: not known."`
}

// cancelSkip is an order that is not made.
type cancelSkip struct {
	Attempt int64         `json:"billingAttemptId" doc:"Number of the attempt." example:"9"`
	Date    *web.Instant  `json:"billingDate" nullable:"false" format:"date-time" doc:"When it was due, in UTC." example:"2026-02-10T13:30:00Z"`
	Amount  *cancelAmount `json:"amount" doc:"What it would have cost, before taxes; null: not known."`
}

// cancelEffect is what a confirmation does.
type cancelEffect struct {
	EndsAt    *web.Instant     `json:"endsAt" format:"date-time" doc:"When the contract is cancelled, in UTC; null: at once." example:"2026-06-10T12:30:00Z"`
	Waits     *string          `json:"waitsFor" enum:"PREPAID,MINIMUM,ORDER" doc:"What the cancellation waits for: deliveries that are paid for, orders that are committed to, or the next order, which cannot be changed any more; null: nothing."`
	Left      int32            `json:"deliveriesLeft" minimum:"0" doc:"Deliveries that are paid for and still to come." example:"0"`
	Next      *web.Instant     `json:"nextBillingDate" format:"date-time" doc:"The next order, which is not made when the contract is cancelled at once, in UTC; null: there is none." example:"2026-02-10T13:30:00Z"`
	Pays      *cancelAmount    `json:"nextAmount" doc:"What it would cost, before taxes; null: there is none."`
	Orders    []cancelOrder    `json:"orders" nullable:"false" doc:"Orders that are still charged before the contract ends, in the order in which they are made: those that are committed to, the next one where it cannot be changed any more, and one that is being charged now."`
	Total     *cancelAmount    `json:"ordersTotal" doc:"What these orders cost together, before taxes; null: there are none."`
	Coming    []cancelDelivery `json:"deliveries" nullable:"false" doc:"Deliveries of a prepaid contract that still come: paid for already, or paid for with the orders."`
	Completed int32            `json:"completedOrders" minimum:"0" doc:"Orders that were made, with the one of the checkout." example:"9"`
	Paid      *cancelAmount    `json:"paid" nullable:"false" doc:"What was paid for these orders, before refunds."`
	Exact     bool             `json:"paidExactly" doc:"Whether paid has all of the order of the checkout. When other products were bought with it, it counts with those of the contract alone, without delivery and taxes."`
}

// cancelOrder is an order that is still charged.
type cancelOrder struct {
	Attempt *int64        `json:"billingAttemptId" doc:"Number of the attempt; null: it is not planned yet." example:"9"`
	Date    *web.Instant  `json:"billingDate" nullable:"false" format:"date-time" doc:"When it is due, in UTC." example:"2026-02-10T13:30:00Z"`
	Amount  *cancelAmount `json:"amount" nullable:"false" doc:"What it costs, before taxes."`
}

// cancelDelivery is a delivery that still comes.
type cancelDelivery struct {
	Date *web.Instant `json:"deliveryDate" nullable:"false" format:"date-time" doc:"When it is due, in UTC." example:"2026-02-10T13:30:00Z"`
}

// cancelAmount is an amount of money.
type cancelAmount struct {
	Amount   string `json:"amount" doc:"In main units." example:"24.50"`
	Currency string `json:"currencyCode" doc:"Currency: ISO 4217." example:"USD"`
}

func amountOf(a money.Amount) *cancelAmount {
	if a.Currency == "" {
		return nil
	}
	return &cancelAmount{a.String(), string(a.Currency)}
}

type sessionOut struct{ Body cancelSession }

// newSessionOut is the answer of every operation of the flow.
func newSessionOut(v session.View, locale string, err error) (*sessionOut, error) {
	if err != nil {
		return nil, err
	}
	out := cancelSession{
		ID: web.Some(int64(v.ID)), ContractID: int64(v.Contract.ID), Version: int32(v.Flow.Version), Mode: string(v.Flow.Mode), Step: web.Some(string(v.Step)),
		Instructions: web.Some(v.Flow.Instructions), Support: web.Some(v.Flow.Support), Reasons: []cancelReason{}, Reason: web.Some(v.Reason), Comment: web.Some(v.Session.Comment),
		Effect: cancelEffect{
			EndsAt: web.At(v.Effect.EndsAt), Waits: web.Some(string(v.Effect.Waits)), Left: int32(v.Effect.Left), Next: web.At(v.Effect.Next),
			Pays: amountOf(v.Effect.Pays), Completed: int32(v.Effect.Orders), Paid: amountOf(v.Effect.Paid), Exact: v.Effect.Exact,
		},
		ContractVer: v.Contract.Fingerprint(), Outcome: web.Some(string(v.Outcome)), EndedAt: web.At(v.EndedAt),
	}
	out.Effect.rest(v.Effect.Rest)
	if v.Flow.Mode == flow.Retention {
		for _, r := range v.Reasons {
			out.Reasons = append(out.Reasons, cancelReason{r.Key, r.LabelIn(locale), r.Comment})
		}
	}
	if v.Outcome == session.Cancelled || v.Outcome == session.Scheduled {
		out.Reference = web.Some(v.Reference())
	}
	if !v.OfferedAt.IsZero() && v.Offer != nil {
		out.Offer = newOffer(*v.Offer)
	}
	return &sessionOut{out}, nil
}

// rest sets what is still charged and delivered.
func (e *cancelEffect) rest(r billing.Rest) {
	e.Orders, e.Coming = []cancelOrder{}, []cancelDelivery{}
	for _, o := range r.Orders {
		e.Orders = append(e.Orders, cancelOrder{web.Some(int64(o.ID)), web.At(o.BillingDate), amountOf(o.Pays)})
	}
	if len(r.Orders) > 0 {
		e.Total = amountOf(r.Total)
	}
	for _, d := range r.Deliveries {
		e.Coming = append(e.Coming, cancelDelivery{web.At(d)})
	}
}

// newOffer is an offer that was made. One that is held back is not shown.
func newOffer(p session.Proposal) *cancelOffer {
	o := cancelOffer{
		Type: string(p.Kind), Orders: int32(p.Orders), Percent: int32(p.Percent), Choices: []cancelChoice{}, Skips: []cancelSkip{}, Until: web.At(p.Until), Next: web.At(p.Next),
		Pays: amountOf(p.Pays), Was: amountOf(p.Was), Contact: web.Some(p.Contact),
	}
	if p.Amount.Minor > 0 {
		o.Amount = amountOf(p.Amount)
	}
	for _, c := range p.Choices {
		o.Choices = append(o.Choices, cancelChoice{c.Key, c.Title, web.Some(c.Image), int32(c.Quantity), web.Some(c.Every), amountOf(c.Pays)})
	}
	for _, s := range p.Skips {
		o.Skips = append(o.Skips, cancelSkip{int64(s.Attempt), web.At(s.Date), amountOf(s.Amount)})
	}
	return &o
}
