package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

const (
	// pagesAtOnce is how much of the platform's list one check reads; the next one
	// goes on behind it.
	pagesAtOnce = 20
	// unscheduledBatch limits what a check looks at of a kind; the rest is the next one's.
	unscheduledBatch = 200
	// overlap is how far a comparison that begins looks back before the one before it:
	// a charge may have been under way then.
	overlap = 3 * time.Hour
	// abandoned is how long after its beginning a comparison goes on where it was. One
	// that has not ended then may have a place that the platform never answers.
	abandoned = 24 * time.Hour
	// slack is how long a contract's date may be past before something must be
	// wrong. What an outage made late is spread over two days at most.
	slack = 3 * 24 * time.Hour
)

// Settler writes what the platform says of charges.
type Settler interface {
	Settle(ctx context.Context, tx billing.Tx, found []platform.Attempt) error
	// Claim takes a successful charge over as that of an attempt.
	Claim(ctx context.Context, tx billing.Tx, id billing.AttemptID, p platform.Attempt) error
}

// comparison collects what one comparison sees.
type comparison struct {
	store   shop.Shop
	reading shop.Reading
	covered time.Time // charges before it were seen
	whole   bool      // to the end of the platform's list
	seen    []Finding
	asked   map[string]bool // charges of the platform that were looked at
}

// begin returns the comparison that goes on, or one that begins now.
func begin(store shop.Shop, now time.Time) *comparison {
	c := &comparison{store: store, reading: store.Guard.Comparing, covered: store.Guard.CoveredTo, asked: make(map[string]bool)}
	if c.covered.IsZero() {
		c.covered = store.CreatedAt
	}
	if now.Sub(c.reading.Started) > abandoned { // or there is none
		c.reading = shop.Reading{Started: now, Since: c.covered.Add(-overlap)}
	}
	return c
}

// compare reads what the platform has charged since the last time, adopts what
// belongs to cycles of ours, and notes what does not agree. It never charges. A list
// that is longer than one check reads is read on by the next.
func (s *Service) compare(ctx context.Context, store shop.Shop) error {
	c := begin(store, s.Clock.Now())
	if err := s.readBooks(ctx, c); err != nil {
		if _, refused := errors.AsType[*platform.Refusal](err); refused {
			err = errors.Join(err, s.restart(ctx, c)) // the cursor itself may be what the platform does not take
		}
		return err
	}
	if c.whole {
		if err := s.readOurs(ctx, c); err != nil {
			return err
		}
		if err := s.readUnresolved(ctx, c); err != nil {
			return err
		}
	}
	standing, err := s.recheckFindings(ctx, c)
	if err != nil {
		return err
	}
	if err := s.findUnscheduled(ctx, c); err != nil {
		return err
	}
	return s.change(ctx, store.ID, func(tx Tx, current *shop.Shop) ([]activity.Entry, error) {
		now := s.Clock.Now()
		c.saveProgress(&current.Guard)
		known, err := tx.FindingsLike(ctx, c.seen)
		if err != nil {
			return nil, err
		}
		for _, f := range standing {
			if !slices.ContainsFunc(known, f.about) {
				known = append(known, f)
			}
		}
		put, begun, ended := merge(known, c.seen, c.searched, now)
		var entries []activity.Entry
		for _, f := range begun {
			entries = append(entries, f.entry(activity.Failure, now))
		}
		for _, f := range ended {
			entries = append(entries, f.entry(activity.Success, now))
		}
		return entries, tx.PutFindings(ctx, put)
	})
}

// saveProgress stores the progress of a comparison, unless another worker ended or restarted it.
func (c *comparison) saveProgress(g *shop.Guard) {
	if g.Comparing != c.store.Guard.Comparing {
		return
	}
	g.Comparing, g.CoveredTo = c.reading, c.covered
	if c.whole {
		g.Comparing, g.ComparedAt = shop.Reading{}, c.reading.Started
	}
}

func (s *Service) restart(ctx context.Context, c *comparison) error {
	return s.change(ctx, c.store.ID, func(_ Tx, current *shop.Shop) ([]activity.Entry, error) {
		current.Guard.Comparing = shop.Reading{}
		return nil, nil
	})
}

// searched reports whether a finding would have been seen if it still stood.
func (c *comparison) searched(f Finding) bool { return f.Object == "" || c.asked[f.Object] }

func (f Finding) entry(status activity.Status, now time.Time) activity.Entry {
	e := activity.Entry{
		EntityID: int64(f.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.InformationalEvent, Status: status,
		Actor: activity.System, At: now,
	}
	n := findingNote{Kind: f.Kind, Cycle: f.Cycle, Object: f.Object, Reason: f.What}
	if status == activity.Success {
		n.Reason = "resolved: " + f.What
	}
	e.Info = activity.Details(n)
	return e
}

// findingNote is the additional information of an entry about a finding.
type findingNote struct {
	Kind   Kind   `json:"finding,omitempty"`
	Cycle  int    `json:"cycle,omitempty"`
	Object string `json:"object,omitempty"`
	Reason string `json:"reason"`
}

// readBooks walks through what the platform charged, from where the comparison is.
func (s *Service) readBooks(ctx context.Context, c *comparison) error {
	for range pagesAtOnce {
		page, next, err := s.Platform.AttemptsSince(ctx, c.store.At(), c.reading.Since, c.reading.Cursor)
		if err != nil {
			return fmt.Errorf("read what the platform charged: %w", err)
		}
		if err := s.matchCharges(ctx, c, page); err != nil {
			return err
		}
		if next == "" {
			c.covered, c.whole = c.reading.Started, true
			return nil
		}
		c.reading.Cursor = next
		if n := len(page); n > 0 && page[n-1].CreatedAt.After(c.covered) {
			c.covered = page[n-1].CreatedAt
		}
	}
	return nil
}

// readOurs asks the platform for the charges that we believe in and did not meet
// in its list.
func (s *Service) readOurs(ctx context.Context, c *comparison) error {
	return s.inPages(ctx, c, c.reading.Since, platform.MaxIDs, ReadTx.PaidSince, s.ask)
}

// readUnresolved asks for the cycles of attempts that were given up while the platform
// held a charge of theirs open. The customer may have confirmed it since, long after
// it was made, and word of that may be lost.
func (s *Service) readUnresolved(ctx context.Context, c *comparison) error {
	return s.inPages(ctx, c, c.reading.Started.Add(-queue.LeftOpen), platform.MaxCharges, ReadTx.LeftOpenSince, func(ctx context.Context, c *comparison, page []billing.Attempt) error {
		states, err := s.Platform.CycleStates(ctx, c.store.At(), cyclesOf(page))
		if err != nil {
			return fmt.Errorf("ask for %d charges that were left open: %w", len(page), err)
		}
		var found []platform.Attempt
		for _, state := range states {
			found = append(found, state.Attempts...)
		}
		return s.matchCharges(ctx, c, found)
	})
}

// inPages carries out do with attempts that were written since an instant, page by
// page.
func (s *Service) inPages(ctx context.Context, c *comparison, since time.Time, size int,
	read func(ReadTx, context.Context, time.Time, billing.Attempt, int) ([]billing.Attempt, error),
	do func(context.Context, *comparison, []billing.Attempt) error,
) error {
	var after billing.Attempt
	for {
		var page []billing.Attempt
		err := s.Store.View(ctx, c.store.ID, func(tx ReadTx) error {
			var err error
			page, err = read(tx, ctx, since, after, size)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1]
		if err := do(ctx, c, page); err != nil {
			return err
		}
	}
}

func cyclesOf(attempts []billing.Attempt) []platform.CycleRef {
	refs := make([]platform.CycleRef, len(attempts))
	for i, a := range attempts {
		refs[i] = platform.CycleRef{Contract: int64(a.Contract), Index: a.Cycle}
	}
	return refs
}

// ask asks the platform for the charges of attempts, save those that were seen.
func (s *Service) ask(ctx context.Context, c *comparison, attempts []billing.Attempt) error {
	attempts = slices.DeleteFunc(attempts, func(a billing.Attempt) bool { return c.asked[a.PlatformID] || a.PlatformID == "" })
	if len(attempts) == 0 {
		return nil
	}
	ids := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i] = a.PlatformID
	}
	found, err := s.Platform.Attempts(ctx, c.store.At(), ids)
	if err != nil {
		return fmt.Errorf("ask for %d charges: %w", len(ids), err)
	}
	has := make(map[string]*platform.Attempt, len(found))
	for i := range found {
		has[found[i].ID] = &found[i]
	}
	for _, a := range attempts {
		c.asked[a.PlatformID] = true
		if f, differs := believed(a, has[a.PlatformID]); differs {
			c.seen = append(c.seen, f)
		}
	}
	return nil
}

// recheckFindings queries again the objects of open findings and returns those that still
// hold.
func (s *Service) recheckFindings(ctx context.Context, c *comparison) (standing []Finding, err error) {
	var ours []billing.Attempt
	err = s.Store.View(ctx, c.store.ID, func(tx ReadTx) error {
		ours = nil
		if standing, err = tx.OpenFindings(ctx, unscheduledBatch); err != nil {
			return err
		}
		var contracts []contract.ID
		for _, f := range standing {
			if f.Kind == MissingOrder && !c.asked[f.Object] {
				contracts = append(contracts, f.Contract)
			}
		}
		all, err := tx.AttemptsOf(ctx, contracts, billing.Success)
		for _, a := range all {
			if slices.ContainsFunc(standing, func(f Finding) bool { return f.Kind == MissingOrder && f.Object == a.PlatformID }) {
				ours = append(ours, a)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(ours, platform.MaxIDs) {
		if err := s.ask(ctx, c, chunk); err != nil {
			return nil, err
		}
	}
	var ids []string
	for _, f := range standing {
		if f.Object != "" && !c.asked[f.Object] {
			ids = append(ids, f.Object)
		}
	}
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		found, err := s.Platform.Attempts(ctx, c.store.At(), chunk)
		if err != nil {
			return nil, fmt.Errorf("look at %d charges again: %w", len(chunk), err)
		}
		if err := s.matchCharges(ctx, c, found); err != nil {
			return nil, err
		}
	}
	return standing, nil
}

// findUnscheduled finds active contracts without an order in the queue and fills their
// queues where it can. It also finds charges without an outcome and contracts that cannot be
// read.
func (s *Service) findUnscheduled(ctx context.Context, c *comparison) error {
	return s.Store.Update(ctx, c.store.ID, func(tx Tx) error {
		now := s.Clock.Now()
		var seen []Finding
		open, err := tx.OpenSince(ctx, now.Add(-s.Policy.Horizon), unscheduledBatch, billing.Requesting, billing.Progress, billing.Challenge, billing.PlatformException)
		if err != nil {
			return err
		}
		for _, a := range open {
			seen = append(seen, Finding{
				Kind: OpenCharge, Contract: a.Contract, Cycle: a.Cycle,
				What: fmt.Sprintf("billing attempt %d is %s since %s", a.ID, a.Status, a.SentAt.Format(time.RFC3339)),
			})
		}
		ids, err := tx.Unscheduled(ctx, now.Add(-slack), unscheduledBatch)
		if err != nil {
			return err
		}
		more, err := unscheduled(ctx, tx, c.store, ids, now)
		if err != nil {
			return err
		}
		seen = append(seen, more...)
		unread, err := tx.UnreadContracts(ctx, 0, unscheduledBatch)
		if err != nil {
			return err
		}
		for _, u := range unread {
			seen = append(seen, Finding{Kind: Unreadable, Contract: u.ID, What: "what the platform has of the contract cannot be taken over: " + u.Reason})
		}
		c.seen = append(c.seen, seen...)
		return nil
	})
}

// unscheduled fills the queues of contracts where they can be filled and returns what
// is wrong with the others.
func unscheduled(ctx context.Context, tx Tx, store shop.Shop, ids []contract.ID, now time.Time) ([]Finding, error) {
	contracts, err := tx.Contracts(ctx, ids)
	if err != nil {
		return nil, err
	}
	queues, err := tx.Queues(ctx, ids)
	if err != nil {
		return nil, err
	}
	behind := slices.DeleteFunc(slices.Clone(contracts), func(k contract.Contract) bool {
		return queues[k.ID].Next.Equal(k.NextBillingDate) && queues[k.ID].Waiting > 0
	})
	if err := queue.Refill(ctx, tx, store, behind, now); err != nil {
		return nil, err
	}
	if queues, err = tx.Queues(ctx, ids); err != nil {
		return nil, err
	}
	var seen []Finding
	for _, k := range contracts {
		switch q := queues[k.ID]; {
		case q.Waiting == 0 && (k.Lifelong || k.PastLastCycle(q.LastCycle+1)): // nothing is left to be charged
		case q.Waiting == 0:
			seen = append(seen, Finding{Kind: NoUpcoming, Contract: k.ID, What: "the contract runs and has no order to come"})
		case q.Next.Before(now.Add(-slack)) && store.Guard.ChargesAutomatically(now):
			seen = append(seen, Finding{Kind: NotQueued, Contract: k.ID, What: "the order of " + q.Next.Format(time.RFC3339) + " waits and is not charged"})
		}
	}
	return seen, nil
}
