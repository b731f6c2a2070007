package shopify

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

var (
	_ platform.Epochs = (*Client)(nil)
	_ platform.Books  = (*Client)(nil)
)

// epochKey is the key of the store's metafield. Without a namespace it lies in the
// app's own, which needs no scope and which no other app can write.
const epochKey = "perennial_epoch"

// Epoch returns the store's word.
func (c *Client) Epoch(ctx context.Context, shop platform.Shop) (platform.Epoch, error) {
	got, err := admin.Epoch(ctx, c.session(shop), epochKey)
	if err != nil {
		return platform.Epoch{}, about(err, "read the epoch")
	}
	e := platform.Epoch{Owner: got.Shop.Id}
	if m := got.Shop.Metafield; m != nil {
		e.Word, e.Proof = m.Value, m.CompareDigest
	}
	return e, nil
}

// SetEpoch writes a word over the one that was read.
func (c *Client) SetEpoch(ctx context.Context, shop platform.Shop, was platform.Epoch, word string) error {
	in := admin.MetafieldsSetInput{OwnerId: was.Owner, Key: epochKey, Type: "single_line_text_field", Value: word}
	if was.Proof != "" {
		in.CompareDigest = &was.Proof
	}
	got, err := admin.SetEpoch(ctx, c.session(shop), []admin.MetafieldsSetInput{in})
	if err == nil {
		if p := got.MetafieldsSet; p == nil {
			err = errNoPayload()
		} else {
			err = answered(p.UserErrors)
		}
	}
	return about(err, "write the epoch")
}

// AttemptsSince returns a page of up to 50 billing attempts.
func (c *Client) AttemptsSince(ctx context.Context, shop platform.Shop, since time.Time, cursor string) ([]platform.Attempt, string, error) {
	// The search knows whole seconds: an attempt may be reported once too often.
	at := since.UTC().Truncate(time.Second).Format(time.RFC3339)
	got, err := admin.AttemptsSince(ctx, c.session(shop), "created_at:>='"+at+"'", cursor)
	if err != nil {
		return nil, "", about(err, "read the billing attempts since %s", at)
	}
	page := got.SubscriptionBillingAttempts
	list := make([]platform.Attempt, len(page.Nodes))
	for i := range page.Nodes {
		n := &page.Nodes[i]
		contract, err := gid.Parse(typeContract, n.SubscriptionContract.Id)
		if err != nil {
			return nil, "", fmt.Errorf("read billing attempt %s: %w", n.Id, unknown(err))
		}
		if list[i], err = newAttempt(&n.AttemptFields, contract); err != nil {
			return nil, "", err
		}
	}
	next := ""
	if page.PageInfo.HasNextPage {
		next = page.PageInfo.EndCursor
	}
	return list, next, nil
}
