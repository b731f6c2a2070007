package bulk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// MaxChecked is how many contracts a preview looks at. The job looks at all.
	MaxChecked = 5000
	// samples is how many effects a preview shows.
	samples = 20
	// readAtOnce is how many contracts one transaction reads.
	readAtOnce = 500
	// shownAtOnce is how many it reads with their orders only to show effects.
	shownAtOnce = 2 * samples
)

// Reason is why an action is not possible for some contracts.
type Reason struct {
	Code    string
	Count   int
	Example contract.ID // one of the contracts, and
	Text    string      // what is said of it
}

// Preview says what an action would do. Nothing is changed by it.
type Preview struct {
	Action      Action
	Selection   Selection
	Fingerprint string   // of the action, the selection and the total: what is started is what was seen
	Total       int      // contracts that are selected
	Checked     int      // of these, how many were looked at: all up to MaxChecked
	Possible    int      // of those that were looked at
	Reasons     []Reason // why the others are not possible, the most frequent first
	Effects     []Effect // on the first ones for which it is possible
}

// Preview says what an action would do to the contracts of a selection.
func (s *Service) Preview(ctx context.Context, of shop.ID, sel Selection, a Action, by activity.Actor) (Preview, error) {
	now := s.Clock.Now()
	if err := a.Check(now); err != nil {
		return Preview{}, err
	}
	sel, err := sel.checked()
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Action: a, Selection: sel}
	if p.Total, err = sel.count(ctx, s.Directory, of); err != nil {
		return Preview{}, fmt.Errorf("count the selected contracts: %w", err)
	}
	p.Fingerprint = fingerprint(a, sel, p.Total)
	by.Source = activity.MerchantPortalBulkAutomation
	sold, err := s.sold(ctx, of, a)
	if err != nil {
		return Preview{}, err
	}
	reasons := make(map[string]Reason)
	var shown []facts // of the contracts whose effects are shown
	var after contract.ID
	for p.Checked < MaxChecked {
		size, orders := readAtOnce, a.Kind.needsOrder()
		if !orders && len(p.Effects) < samples {
			size, orders = shownAtOnce, true
		}
		ids, err := sel.page(ctx, s.Directory, of, after, min(size, MaxChecked-p.Checked))
		if err != nil {
			return Preview{}, fmt.Errorf("read the selected contracts: %w", err)
		}
		if len(ids) == 0 {
			break
		}
		after = ids[len(ids)-1]
		err = s.Store.View(ctx, of, func(tx ReadTx) error {
			known, err := readFacts(ctx, tx, ids, orders)
			if err != nil {
				return err
			}
			for _, id := range ids {
				f, exists := known[id]
				f.sold = sold
				if p.add(id, f, exists, by, now, reasons) {
					shown = append(shown, f)
				}
			}
			return nil
		})
		if err != nil {
			return Preview{}, err
		}
	}
	if a.Kind == SwapVariant {
		for n, f := range shown {
			if p.Effects[n].Is.Amount, err = s.swapped(ctx, f, a); err != nil {
				return Preview{}, err
			}
		}
	}
	for _, r := range reasons {
		p.Reasons = append(p.Reasons, r)
	}
	slices.SortFunc(p.Reasons, func(a, b Reason) int { return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.Code, b.Code)) })
	return p, nil
}

// add counts one contract, and reports whether its effect is shown.
func (p *Preview) add(id contract.ID, f facts, exists bool, by activity.Actor, now time.Time, reasons map[string]Reason) bool {
	p.Checked++
	err := amend.ContractNotFound(id)
	var e Effect
	if exists {
		e, _, err = assess(f, p.Action, by, now)
	}
	if err == nil {
		if p.Possible++; len(p.Effects) == samples {
			return false
		}
		p.Effects = append(p.Effects, e)
		return true
	}
	r, met := reasons[codeOf(err)]
	if !met {
		r = Reason{Code: codeOf(err), Example: id, Text: reasonOf(err)}
	}
	r.Count++
	reasons[r.Code] = r
	return false
}

// readFacts reads what an action on contracts depends on, with their orders if these matter.
// Contracts that do not exist are left out.
func readFacts(ctx context.Context, tx Reader, ids []contract.ID, orders bool) (map[contract.ID]facts, error) {
	store, err := tx.Shop(ctx)
	if err != nil {
		return nil, err
	}
	contracts, err := tx.Contracts(ctx, ids)
	if err != nil {
		return nil, err
	}
	known := make(map[contract.ID]facts, len(contracts))
	for _, c := range contracts {
		known[c.ID] = facts{shop: store, contract: c}
	}
	if !orders {
		return known, nil
	}
	attempts, err := tx.AttemptsOf(ctx, ids, billing.Queued, billing.Skipped)
	if err != nil {
		return nil, err
	}
	for _, at := range attempts {
		f := known[at.Contract]
		f.attempts = append(f.attempts, at)
		known[at.Contract] = f
	}
	byID, _ := billing.ContractsByID(contracts, nil)
	inputs, err := billing.ReadInputs(ctx, tx, store, byID)
	if err != nil {
		return nil, err
	}
	for id, f := range known {
		f.inputs = inputs[id]
		known[id] = f
	}
	return known, nil
}

// fingerprint identifies what a preview was about.
func fingerprint(a Action, sel Selection, total int) string {
	text, err := json.Marshal(struct {
		Action    Action
		Selection Selection
		Total     int
	}{a, sel, total})
	if err != nil {
		panic(fmt.Sprintf("fingerprint of a bulk action: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
