package billing

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// maxExplained is how many entries of the log an explanation holds.
const maxExplained = 500

// termsWait is the longest wait for what the platform has to say. An explanation
// is wanted most when it does not answer.
const termsWait = 5 * time.Second

// Explainer explains attempts.
type Explainer struct {
	*Service
	Trail activity.Trail
}

// Explain explains an attempt of the line, or is NotFound. Nothing is changed.
// What the platform alone knows is left out when it does not answer.
func (s Explainer) Explain(ctx context.Context, of shop.ID, line shop.Line, id AttemptID) (Explanation, error) {
	var f Facts
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		f = Facts{Now: s.Clock.Now(), Policy: s.Policy}
		return f.read(ctx, tx, target{line: line, attempt: id})
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

// read reads what the service keeps.
func (f *Facts) read(ctx context.Context, tx Tx, t target) error {
	if t.attempt == 0 { // which would be somebody's next order
		return fault.New(fault.NotFound, "billing attempt 0 does not exist").Entity(entity).Code("billingAttemptNotFound")
	}
	r, err := find(ctx, tx, t)
	if err != nil {
		return err
	}
	f.Record, f.Shop = r, r.shop
	of := []contract.ID{r.Of.ID}
	if f.Others, err = tx.OpenAttempts(ctx, of, f.Now); err != nil {
		return err
	}
	if err := f.countAhead(ctx, tx); err != nil {
		return err
	}
	if method := r.Of.PaymentMethod; r.Status == Failure && method != "" {
		tries, err := tx.CardTries(ctx, []string{method}, f.Now.Add(-dunning.TryWindow))
		if err != nil {
			return err
		}
		f.CardTries = tries[method]
	}
	contracts := map[contract.ID]*contract.Contract{r.Of.ID: &r.Of}
	needs, err := openPreparations(ctx, tx, f.Shop, contracts)
	if err != nil {
		return err
	}
	errand, needed := needs.errandOf(r.Attempt, r.Of)
	if !r.settled() {
		f.OneOffs = errand.oneOffs
	}
	if !needed {
		return nil
	}
	rules := slices.Concat(errand.lasting, errand.single)
	f.Needs = Needs{
		Prices: r.Of.Priced, Note: r.Note != "", OneOffs: len(errand.oneOffs), Rules: concerns(rules, errand.order(swap.Lines(r.Of.Lines))),
	}
	f.Needs.Undo = f.Needs == Needs{}
	return nil
}

// entries returns the newest entries about an attempt, oldest first, and how many
// there are before them.
func (s Explainer) entries(ctx context.Context, of shop.ID, id AttemptID) (list []activity.Entry, earlier int, err error) {
	where := []page.Criterion{
		{Field: activity.FieldEntityType, Op: page.Equals, Texts: []string{string(activity.EntitySubscriptionBillingAttempt)}},
		{Field: activity.FieldEntityID, Op: page.Equals, Numbers: []int64{int64(id)}},
	}
	newest := page.Request{Size: maxExplained, Sort: []page.Sort{{Field: activity.FieldID, Desc: true}}}
	list, total, err := s.Trail.Entries(ctx, of, where, newest)
	slices.Reverse(list)
	return list, max(0, total-len(list)), err
}

// terms asks the platform for what it keeps of a contract; nil when it does not
// answer in time.
func (s Explainer) terms(ctx context.Context, of shop.Shop, c contract.Contract) *Terms {
	ctx, cancel := context.WithTimeout(platform.Interactive(ctx), termsWait)
	defer cancel()
	d, err := s.Platform.Detail(ctx, of.At(), int64(c.ID))
	if err != nil {
		s.Log.InfoContext(ctx, "an explanation goes without the platform's terms", "shop", of.Domain, "contract", c.ID, "error", err)
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
	if err := s.knowPrices(ctx, of, &is, c); err != nil {
		s.Log.InfoContext(ctx, "an explanation goes without the prices of plans", "shop", of.Domain, "contract", c.ID, "error", err)
		return nil
	}
	t.Plans = is.PlanPricing
	return t
}
