package shopify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// Store returns the store's own facts.
func (c *Client) Store(ctx context.Context, shop platform.Shop) (platform.Store, error) {
	got, err := admin.Store(ctx, c.session(shop))
	if err != nil {
		return platform.Store{}, fmt.Errorf("read the store: %w", err)
	}
	id, err := gid.Parse(typeShop, got.Shop.Id)
	if err != nil {
		return platform.Store{}, fmt.Errorf("read the store: %w", unknown(err))
	}
	return platform.Store{
		ID:          id,
		Domain:      got.Shop.MyshopifyDomain,
		Name:        got.Shop.Name,
		Email:       got.Shop.Email,
		TimeZone:    got.Shop.IanaTimezone,
		Currency:    got.Shop.CurrencyCode,
		CountryCode: got.Shop.ShopAddress.CountryCodeV2,
	}, nil
}

// topicWord returns the word of the platform's enumeration for a topic.
func topicWord(t platform.Topic) string {
	return strings.ToUpper(strings.ReplaceAll(string(t), "/", "_"))
}

// Subscribe compares the app's subscriptions with what is wanted and makes the
// fewest changes. Subscriptions that deliver to a queue instead of a web address
// are none of its business.
func (c *Client) Subscribe(ctx context.Context, shop platform.Shop, address string, topics []platform.Topic) error {
	s := c.session(shop)
	words := make([]string, len(topics))
	for i, t := range topics {
		words[i] = topicWord(t)
	}
	if len(words) == 0 {
		return nil
	}
	existing, err := s.subscriptions(ctx, words)
	if err != nil {
		return fmt.Errorf("read the webhook subscriptions: %w", err)
	}
	var refused error
	for _, word := range words {
		err := s.subscribe(ctx, word, address, existing[word])
		if err != nil {
			err = fmt.Errorf("subscribe to %s: %w", word, err)
		}
		if _, no := errors.AsType[*platform.Refusal](err); no { // the other topics can still be subscribed to
			refused = err
			continue
		}
		if err != nil {
			return err
		}
		existing[word] = []admin.Subscription{{Uri: address}} // a topic may be listed twice
	}
	return refused
}

// subscriptions returns the app's subscriptions to web addresses by topic.
func (s session) subscriptions(ctx context.Context, words []string) (map[string][]admin.Subscription, error) {
	found := map[string][]admin.Subscription{}
	for cursor, more := "", true; more; {
		got, err := admin.Subscriptions(ctx, s, words, cursor)
		if err != nil {
			return nil, err
		}
		page := got.WebhookSubscriptions
		for _, n := range page.Nodes {
			if strings.HasPrefix(n.Uri, "https://") || strings.HasPrefix(n.Uri, "http://") {
				found[n.Topic] = append(found[n.Topic], n)
			}
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return found, nil
}

// subscribe leaves exactly one subscription of the topic, to the address.
func (s session) subscribe(ctx context.Context, word, address string, existing []admin.Subscription) error {
	if len(existing) == 0 {
		got, err := admin.CreateSubscription(ctx, s, word, admin.WebhookSubscriptionInput{Uri: address})
		if err != nil {
			return err
		}
		if got.WebhookSubscriptionCreate == nil {
			return errNoPayload()
		}
		return unlessTaken(got.WebhookSubscriptionCreate.UserErrors)
	}
	keep := 0
	for i, e := range existing {
		if e.Uri == address {
			keep = i
			break
		}
	}
	for i, e := range existing {
		if i == keep {
			continue
		}
		got, err := admin.DeleteSubscription(ctx, s, e.Id)
		if err != nil {
			return err
		}
		if got.WebhookSubscriptionDelete == nil {
			return errNoPayload()
		}
		if err := answered(got.WebhookSubscriptionDelete.UserErrors); err != nil {
			return err
		}
	}
	if existing[keep].Uri == address {
		return nil
	}
	got, err := admin.UpdateSubscription(ctx, s, existing[keep].Id, admin.WebhookSubscriptionInput{Uri: address})
	if err != nil {
		return err
	}
	if got.WebhookSubscriptionUpdate == nil {
		return errNoPayload()
	}
	return unlessTaken(got.WebhookSubscriptionUpdate.UserErrors)
}

// unlessTaken returns the refusal, unless it says that the subscription exists:
// another node was faster. The platform gives this error no code.
func unlessTaken(errs []wire.UserError) error {
	if len(errs) > 0 && strings.Contains(errs[0].Message, "already been taken") {
		return nil
	}
	return answered(errs)
}
