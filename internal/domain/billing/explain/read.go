package explain

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// maxExplained is how many activity entries an explanation holds.
const maxExplained = 500

// termsWait is how long to wait for the platform. Explanations are needed most when it does
// not answer.
const termsWait = 5 * time.Second

// Service explains attempts.
type Service struct {
	*billing.Env
	Trail  activity.Trail
	Prices *prepare.Service
}

// New returns the service.
func New(env *billing.Env, trail activity.Trail) *Service {
	return &Service{env, trail, &prepare.Service{Env: env}}
}

// Explain explains an attempt of the line, or returns NotFound. It leaves out what only the
// platform knows if the platform does not answer.
func (s *Service) Explain(ctx context.Context, of shop.ID, line shop.Line, id billing.AttemptID) (Explanation, error) {
	var f Facts
	err := s.Store.View(ctx, of, func(tx billing.ReadTx) error {
		f = Facts{Now: s.Clock.Now(), Policy: s.Policy}
		return f.read(ctx, tx, line, id)
	})
	if err != nil {
		return Explanation{}, err
	}
	if f.Calendar, err = f.Shop.Calendar(); err != nil {
		return Explanation{}, err
	}
	if f.Entries, f.Earlier, err = s.entries(ctx, of, id); err != nil {
		return Explanation{}, err
	}
	if f.open() && f.Shop.Connected {
		f.Terms = s.terms(ctx, f.Shop, f.Of)
		f.Silent = f.Terms == nil
	}
	return Explain(f), nil
}

// read reads the facts that the store has.
func (f *Facts) read(ctx context.Context, tx billing.ReadTx, line shop.Line, id billing.AttemptID) error {
	r, err := billing.Find(ctx, tx, line, id, activity.Actor{})
	if err != nil {
		return err
	}
	f.Record = r
	if f.Shop, err = tx.Shop(ctx); err != nil {
		return err
	}
	of := []contract.ID{r.Of.ID}
	if f.Others, err = tx.OpenAttempts(ctx, of, f.Now); err != nil {
		return err
	}
	if err := f.ReadOrder(ctx, tx, f.Shop); err != nil {
		return err
	}
	if method := r.Of.PaymentMethod; r.Status == billing.Failure && method != "" {
		tries, err := tx.CardTries(ctx, []string{method}, f.Now.Add(-dunning.TryWindow))
		if err != nil {
			return err
		}
		f.CardTries = tries[method]
	}
	order, needed := prepare.OrderFor(r.Attempt, r.Of, billing.Inputs{OneOffs: f.OneOffs, Rules: f.Rules})
	if r.Settled() {
		f.OneOffs = nil
	}
	if needed {
		f.Needs = order.Needs()
	}
	return nil
}

// entries returns the newest activity entries about an attempt, oldest first, and the number
// of older ones.
func (s *Service) entries(ctx context.Context, of shop.ID, id billing.AttemptID) (list []activity.Entry, earlier int, err error) {
	where := []page.Criterion{
		{Field: activity.FieldEntityType, Op: page.Equals, Texts: []string{string(activity.EntitySubscriptionBillingAttempt)}},
		{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{int64(id)}},
	}
	newest := page.Request{Size: maxExplained, Sort: []page.Sort{{Field: activity.FieldID, Desc: true}}}
	list, total, err := s.Trail.Entries(ctx, of, where, newest)
	slices.Reverse(list)
	return list, max(0, total-len(list)), err
}

// terms reads the platform's terms of a contract; nil if the platform does not answer in time.
func (s *Service) terms(ctx context.Context, of shop.Shop, c contract.Contract) *Terms {
	ctx, cancel := context.WithTimeout(platform.Interactive(ctx), termsWait)
	defer cancel()
	d, err := s.Platform.Detail(ctx, of.At(), int64(c.ID))
	if err != nil {
		s.Log.InfoContext(ctx, "explaining an attempt without the platform's terms", "shop", of.Domain, "contract", c.ID, "error", err)
		return nil
	}
	t := &Terms{Details: d.LineDetails, Discounts: d.Discounts}
	for _, l := range d.Lines {
		t.Lines = append(t.Lines, contract.NewLine(l))
	}
	if !c.Priced {
		return t
	}
	is := c.WithReading(d.Contract)
	if err := s.Prices.KnowPrices(ctx, of, &is, c); err != nil {
		s.Log.InfoContext(ctx, "explaining an attempt without the prices of plans", "shop", of.Domain, "contract", c.ID, "error", err)
		return nil
	}
	t.Plans = is.PlanPricing
	return t
}
