package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ProcessEvents works a shop's events until none is due. Events are only hints: what
// they are about is read anew at the platform, so that their order and their
// number do not matter.
func (s *Service) ProcessEvents(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		b, err := s.takeUp(ctx, of)
		if err != nil {
			return fmt.Errorf("take events: %w", err)
		}
		if err := s.workAll(ctx, b); err != nil {
			return err
		}
		if b.taken < batchSize { // whoever adds another asks for another run
			return nil
		}
	}
	return ctx.Err()
}

// batch is what one transaction took up.
type batch struct {
	store  shop.Shop
	taken  int
	events []InboxEvent // that are to be worked
	known  map[contract.ID]*contract.Contract
}

// takeUp takes events that are due and the contracts as they are kept of which they
// tell. An event of a revision that is known, or of an earlier one, is worked with
// that.
func (s *Service) takeUp(ctx context.Context, of shop.ID) (batch, error) {
	var b batch
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		b = batch{}
		now := s.Clock.Now()
		events, err := tx.ClaimEvents(ctx, now, now.Add(s.Policy.Lease), batchSize)
		if err != nil || len(events) == 0 {
			return err
		}
		b.taken = len(events)
		if b.store, err = tx.Shop(ctx); err != nil {
			return err
		}
		if b.known, err = standing(ctx, tx, contractsOf(events)); err != nil {
			return err
		}
		var past []InboxEvent
		for _, e := range events {
			if c := b.known[contract.ID(e.Contract)]; slices.Contains(contractTopics, e.Topic) && c != nil && e.Revision != 0 && e.Revision <= c.Revision {
				past = append(past, e)
				continue
			}
			b.events = append(b.events, e)
		}
		return tx.FinishEvents(ctx, idsOf(past), now)
	})
	return b, err
}

// contractTopics are those of events that tell that a contract changed.
var contractTopics = []platform.Topic{platform.ContractCreated, platform.ContractUpdated}

// contractsOf returns the contracts of which events tell that they changed.
func contractsOf(events []InboxEvent) []contract.ID {
	told := make(map[contract.ID]bool, len(events))
	for _, e := range events {
		if slices.Contains(contractTopics, e.Topic) {
			told[contract.ID(e.Contract)] = true
		}
	}
	return keys(told)
}

// workAll works a batch, kind by kind. What fails is put off and the rest goes on.
func (s *Service) workAll(ctx context.Context, b batch) error {
	for _, group := range []struct {
		topics []platform.Topic
		work   func(context.Context, batch) error
		unread bool // needs nothing of the platform
	}{
		{topics: []platform.Topic{platform.Uninstalled}, work: s.uninstall, unread: true},
		{topics: []platform.Topic{platform.ShopUpdated}, work: func(ctx context.Context, mine batch) error { // before dates are read of a zone
			return s.look(ctx, &b.store, mine.events)
		}},
		{topics: []platform.Topic{platform.AttemptSucceeded, platform.AttemptFailed, platform.AttemptChallenged}, work: s.settle},
		{topics: contractTopics, work: s.readChanged},
		{topics: []platform.Topic{platform.CycleEditCreated, platform.CycleEditUpdated, platform.CycleEditDeleted}, work: s.readCycles},
		{topics: []platform.Topic{platform.PaymentCreated, platform.PaymentUpdated, platform.PaymentRevoked}, work: s.readPaidWith},
		{topics: []platform.Topic{platform.CustomersMerged}, work: s.merge},
		{topics: []platform.Topic{platform.CustomerRedact, platform.ShopRedact}, work: s.redact, unread: true},
		{topics: []platform.Topic{platform.DataRequest}, work: s.noteRequests, unread: true},
	} {
		mine := b
		mine.events = slices.DeleteFunc(slices.Clone(b.events), func(e InboxEvent) bool { return !slices.Contains(group.topics, e.Topic) })
		b.events = slices.DeleteFunc(slices.Clone(b.events), func(e InboxEvent) bool { return slices.Contains(group.topics, e.Topic) })
		if len(mine.events) == 0 {
			continue
		}
		err := platform.ErrDisconnected // nothing can be read until the store is connected again
		if b.store.Connected || group.unread {
			err = group.work(ctx, mine)
		}
		if err != nil {
			if err := s.putOff(ctx, b.store, mine.events, err); err != nil {
				return err
			}
		}
	}
	if len(b.events) == 0 {
		return nil
	}
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error { return tx.FinishEvents(ctx, idsOf(b.events), s.Clock.Now()) }) // nobody waits for them
}

// putOff lets events wait after a failure. A batch that failed together is split
// by its members' own counts, so that one poisoned event is given up alone. None is
// for a platform that cannot be reached, or a connection that is gone: however long
// that lasts, it says nothing about the events.
func (s *Service) putOff(ctx context.Context, store shop.Shop, events []InboxEvent, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.Log.WarnContext(ctx, "events wait to be worked again", "shop", store.Domain, "events", len(events), "error", cause)
	now := s.Clock.Now()
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		for _, e := range events {
			until, failures := now.Add(s.Policy.backoff(e.Failures)), e.Failures+1
			switch {
			case away(cause):
				failures = e.afterOutage()
			case failures >= maxFailures:
				until = time.Time{}
			}
			if err := tx.DeferEvents(ctx, []string{e.ID}, until, failures, cause.Error()); err != nil {
				return err
			}
		}
		return nil
	})
}

// afterOutage is how often working an event counts as failed when that was not its
// own doing: enough for the waits to grow, and never so often that it is given up.
func (p InboxEvent) afterOutage() int { return max(p.Failures, min(p.Failures+1, outageFailures)) }

// away reports whether a failure is that of a platform that did not answer, or not
// to us.
func away(err error) bool {
	return errors.Is(err, platform.ErrUnknown) || errors.Is(err, platform.ErrThrottled) || errors.Is(err, platform.ErrDisconnected)
}

// settle reads attempts anew and writes how they ended.
func (s *Service) settle(ctx context.Context, b batch) error {
	store, events := b.store, b.events
	ids := distinct(events, func(e InboxEvent) string { return e.Attempt })
	var found []platform.Attempt
	for chunk := range slices.Chunk(ids, platform.MaxIDs) {
		part, err := s.Platform.Attempts(ctx, store.At(), chunk)
		if err != nil {
			return fmt.Errorf("read %d attempts: %w", len(chunk), err)
		}
		found = append(found, part...)
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		if err := s.Billing.Settle(ctx, tx, found); err != nil {
			return err
		}
		return tx.FinishEvents(ctx, idsOf(events), s.Clock.Now())
	})
}

// uninstallTakes is how long the platform may still accept the token after it has reported
// an uninstallation, and uninstallLook how often it is asked meanwhile.
const uninstallTakes, uninstallLook = 5 * time.Minute, time.Minute

// uninstall ends the connection once the platform refuses the token. The report alone does
// not end it: nothing that the platform signs says of which topic it is, and it may be
// older than the connection that there is now.
func (s *Service) uninstall(ctx context.Context, b batch) error {
	store, events := b.store, b.events
	now := s.Clock.Now()
	_, err := s.Platform.Store(ctx, store.At())
	if err == nil {
		return s.Store.Update(ctx, store.ID, func(tx Tx) error {
			for _, e := range events {
				if now.Sub(e.ReceivedAt) < uninstallTakes && !e.happened().Before(store.Guard.ConnectedAt) {
					err = tx.DeferEvents(ctx, []string{e.ID}, now.Add(uninstallLook), e.Failures, "the token still opens the store")
				} else {
					err = tx.FinishEvents(ctx, []string{e.ID}, now)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if !gone(err) {
		return fmt.Errorf("look whether the app is installed: %w", err)
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		now := s.Clock.Now()
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if current.Token != store.Token {
			return fault.New(fault.Conflict, "%s was connected anew meanwhile", store.Domain)
		}
		if current.Connected {
			current.Connected = false
			if err := tx.PutShop(ctx, current); err != nil {
				return err
			}
			if err := tx.Record(ctx, activity.Entry{
				EntityID: int64(store.ID), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Info,
				Actor: activity.Platform, At: now, Info: activity.Details(note{Reason: "the app was uninstalled: the connection is gone and nothing is charged"}),
			}); err != nil {
				return err
			}
		}
		if err := partner.Uninstall(ctx, tx, now); err != nil {
			return err
		}
		return tx.FinishEvents(ctx, idsOf(events), now)
	})
}

// note is the additional information of an entry that intake writes.
type note struct {
	Reason string `json:"reason,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Cycle  int    `json:"cycle,omitempty"`
	Passed []int  `json:"passedCycles,omitempty"`
}

// readChanged reads contracts anew.
func (s *Service) readChanged(ctx context.Context, b batch) error {
	fresh, err := s.fetch(ctx, b.store, contractsOf(b.events))
	if err != nil {
		return err
	}
	found, err := s.weigh(ctx, b.store, fresh, b.known, nil)
	if err != nil {
		return err
	}
	waits := make(waiting)
	return s.Store.Update(ctx, b.store.ID, func(tx Tx) error {
		if found.matter {
			if err := s.write(ctx, tx, found, nil, waits); err != nil {
				return err
			}
		}
		_, err := s.finish(ctx, tx, b.events, func(e InboxEvent) time.Time { return waits[contract.ID(e.Contract)] })
		return err
	})
}

// readPaidWith reads the contracts that use changed payment methods anew, and has
// those of their orders charged again that could not be.
func (s *Service) readPaidWith(ctx context.Context, b batch) error {
	store, events := b.store, b.events
	var told map[contract.ID]time.Time
	err := s.Store.Update(ctx, store.ID, func(tx Tx) (err error) {
		told, err = paidWith(ctx, tx, events)
		return err
	})
	if err != nil {
		return err
	}
	waits := make(waiting)
	if err := s.read(ctx, store, keys(told), waits); err != nil {
		return err
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		now := s.Clock.Now()
		held, err := waits.methods(ctx, tx)
		if err != nil {
			return err
		}
		worked, err := s.finish(ctx, tx, events, func(e InboxEvent) time.Time { return held[e.PaymentMethod] })
		if err != nil {
			return err
		}
		told, err := paidWith(ctx, tx, slices.DeleteFunc(worked, func(e InboxEvent) bool { return e.Topic != platform.PaymentUpdated }))
		if err != nil {
			return err
		}
		if err := dropKnown(ctx, tx, told); err != nil {
			return err
		}
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		return cases.RetryAfter(ctx, tx, current, dunning.NewPayment, keys(told), told, now)
	})
}

// clocksDiffer is by how much the platform's clock and ours may differ when all is well.
const clocksDiffer = time.Minute

// dropKnown leaves out the contracts of which the card was found after the last event
// happened: whoever found it had the order charged.
func dropKnown(ctx context.Context, tx Tx, told map[contract.ID]time.Time) error {
	rows, err := tx.Contracts(ctx, keys(told))
	for _, c := range rows {
		if !c.Card.Since.IsZero() && !told[c.ID].After(c.Card.Since.Add(clocksDiffer)) {
			delete(told, c.ID)
		}
	}
	return err
}

// paidWith returns the contracts that use the payment methods of events, with when
// the last of their events happened.
func paidWith(ctx context.Context, tx Tx, events []InboxEvent) (map[contract.ID]time.Time, error) {
	told := make(map[contract.ID]time.Time)
	for _, method := range distinct(events, func(e InboxEvent) string { return e.PaymentMethod }) {
		paid, err := tx.ContractsPaidWith(ctx, method)
		if err != nil {
			return nil, err
		}
		var last time.Time
		for _, e := range events {
			if e.PaymentMethod == method && e.happened().After(last) {
				last = e.happened()
			}
		}
		for _, id := range paid { // a contract has one method
			told[id] = last
		}
	}
	return told, nil
}

func idsOf(events []InboxEvent) []string {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

// distinct returns the non-empty texts that the events have, once each.
func distinct(events []InboxEvent, of func(InboxEvent) string) []string {
	var texts []string
	for _, e := range events {
		if text := of(e); text != "" {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

func keys[T any](m map[contract.ID]T) []contract.ID {
	ids := make([]contract.ID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// gone reports whether the platform's answer means that the store must be
// connected again before anything can be read.
func gone(err error) bool { return errors.Is(err, platform.ErrDisconnected) }
