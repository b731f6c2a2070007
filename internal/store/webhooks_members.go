package store

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// ofMembers says of which type a message is that tells news of a member.
var ofMembers = map[loyalty.EventKind]webhook.Type{
	loyalty.SignedUp: webhook.SignUp, loyalty.PointsEarned: webhook.Earned, loyalty.PointsSpent: webhook.Redeemed, loyalty.CreditsEarned: webhook.CreditsEarned,
	loyalty.TierAchieved: webhook.TierAchieved, loyalty.Referred: webhook.ReferralReward, loyalty.BirthdayCame: webhook.Birthday,
}

// PublishMemberEvents owes news of members to the shop's endpoints, in their order. A shop without
// endpoints costs one look into an index.
func (tx *Tx) PublishMemberEvents(ctx context.Context, news ...loyalty.Event) error {
	if len(news) == 0 {
		return nil
	}
	endpoints, err := tx.EnabledEndpoints(ctx)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	list := make([]webhook.Message, len(news))
	for i, n := range news {
		t := ofMembers[n.Kind]
		list[i] = webhook.Message{ID: webhook.NewMessageID(tx.of, n.Record, t, n.At), Shop: tx.of, Type: t, Customer: n.Customer, Record: n.Record, At: n.At}
	}
	return tx.AddMessages(ctx, webhook.Address(endpoints, list)...)
}
