package webhook

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
)

// Record identifies the record that an entry is about.
type Record struct {
	Type activity.EntityType
	ID   int64
}

// Publish stores the messages that entries publish, in the transaction of the entries. A
// shop without recipients costs one indexed query, and only for entries that may publish.
func Publish(ctx context.Context, tx PublishTx, entries []activity.Entry) error {
	var relevant []activity.Entry
	for _, e := range entries {
		if Publishes(e) {
			relevant = append(relevant, e)
		}
	}
	if len(relevant) == 0 {
		return nil
	}
	endpoints, err := tx.Recipients(ctx, relevant[0].At)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	subjects, err := tx.Subjects(ctx, relevant)
	if err != nil {
		return err
	}
	// A change with several entries publishes one message of a type.
	type key struct {
		kind     Type
		contract contract.ID
		attempt  int64
	}
	published := map[key]bool{}
	var list []Message
	for _, e := range relevant {
		about, known := subjects[Record{e.EntityType, e.EntityID}]
		if !known {
			continue
		}
		for _, t := range TypesOf(e, about) {
			k := key{kind: t, contract: about.Contract}
			if e.EntityType == activity.EntitySubscriptionBillingAttempt && !t.AboutContract() {
				k.attempt = e.EntityID
			}
			if published[k] {
				continue
			}
			published[k] = true
			of := endpoints[0].Shop
			list = append(list, Message{
				ID: NewMessageID(of, e.ID, t, e.At), Shop: of, Type: t, Line: about.Line, Contract: k.contract, Attempt: k.attempt, At: e.At, Cause: causedBy(e.Actor),
			})
		}
	}
	return tx.AddMessages(ctx, Address(endpoints, list)...)
}

// memberTypes holds the type of message about each kind of member event.
var memberTypes = map[loyalty.EventKind]Type{
	loyalty.SignedUp: SignUp, loyalty.PointsEarned: Earned, loyalty.PointsSpent: Redeemed, loyalty.CreditsEarned: CreditsEarned,
	loyalty.TierAchieved: TierAchieved, loyalty.Referred: ReferralReward, loyalty.BirthdayCame: Birthday,
}

// PublishMembers stores the messages about member events, in their transaction. A shop
// without recipients costs one indexed query.
func PublishMembers(ctx context.Context, tx PublishTx, events []loyalty.Event) error {
	endpoints, err := tx.Recipients(ctx, events[0].At)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	list := make([]Message, len(events))
	for i, e := range events {
		t, of := memberTypes[e.Kind], endpoints[0].Shop
		list[i] = Message{ID: NewMessageID(of, e.Record, t, e.At), Shop: of, Type: t, Customer: e.Customer, Record: e.Record, At: e.At, Cause: causedBy(e.Actor)}
	}
	return tx.AddMessages(ctx, Address(endpoints, list)...)
}
