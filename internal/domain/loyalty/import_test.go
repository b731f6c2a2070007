package loyalty_test

import (
	"context"
	"testing"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// listening keeps the events that are published.
type listening struct {
	loyalty.Store

	published *[]loyalty.Event
}

func (l listening) Update(ctx context.Context, of shop.ID, fn func(loyalty.Tx) error) error {
	return l.Store.Update(ctx, of, func(tx loyalty.Tx) error { return fn(listeningTx{tx, l.published}) })
}

type listeningTx struct {
	loyalty.Tx

	published *[]loyalty.Event
}

func (l listeningTx) PublishMemberEvents(ctx context.Context, events ...loyalty.Event) error {
	*l.published = append(*l.published, events...)
	return l.Tx.PublishMemberEvents(ctx, events...)
}

// bring imports points of a customer under a key.
func (c *club) bring(customer int64, points loyalty.Points, key string) (loyalty.Member, loyalty.Points) {
	c.Helper()
	m, brought, err := c.Import(c.Context(), c.shop.ID, loyalty.ImportCommand{
		Who: loyalty.Person{Customer: customer, Email: "ben@shopper.example", FirstName: "Ben"}, Born: "1990-02-28", Points: points * loyalty.One, Key: key,
	})
	if err != nil {
		c.Fatal(err)
	}
	return m, brought
}

func (c *club) entriesOf(customer int64) []loyalty.Entry {
	c.Helper()
	list, _, err := c.History(c.Context(), c.shop.ID, loyalty.CustomerRef{Customer: customer}, page.Request{Size: 9})
	if err != nil {
		c.Fatal(err)
	}
	return list
}

func TestImportedPointsArePostedOnceWithoutBonusAndEMail(t *testing.T) {
	t.Parallel()
	const ben = 902
	waiting := func(terms *loyalty.Terms) { terms.PendingDays = 14 }
	c := open(t, waiting, notify.PointsEarned, notify.TierReached)
	var published []loyalty.Event
	c.Store = listening{c.Store, &published}
	m, brought := c.bring(ben, 1200, "moved|customer:902")
	if m.Sums.Available != 1200*loyalty.One || brought != 1200*loyalty.One || m.Person.FirstName != "Ben" || m.Born != "1990-02-28" || m.Status != loyalty.Active {
		t.Errorf("brought %s: %+v", brought, m.Account)
	}
	again, brought := c.bring(ben, 1300, "moved|customer:902")
	if again.Sums.Available != 1200*loyalty.One || brought != 1200*loyalty.One {
		t.Errorf("again: %s brought, %s available", brought, again.Sums.Available)
	}
	if list := c.entriesOf(ben); len(list) != 1 || list[0].Source.Type != loyalty.Import {
		t.Errorf("entries: %+v", list)
	}
	c.to(next(12))
	c.sent()
	if len(published) > 0 {
		t.Errorf("published %+v", published)
	}
}

func TestImportOfMemberAddsToPoints(t *testing.T) {
	t.Parallel()
	c := open(t, nil)
	c.earn(0, 20)
	if m, _ := c.bring(ada, 30, "key"); m.Sums.Available != 50*loyalty.One || m.Person.FirstName != "Ada" {
		t.Errorf("%+v", m.Account)
	}
	if m, brought := c.bring(903, 0, "none"); m.Sums.Available != 0 || brought != 0 || len(c.entriesOf(903)) != 0 {
		t.Errorf("without points: %+v", m.Account)
	}
	if err := c.Disable(t.Context(), c.shop.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Import(t.Context(), c.shop.ID, loyalty.ImportCommand{Who: loyalty.Person{Customer: 904}, Key: "off"}); err == nil {
		t.Error("a programme that is not active took points")
	}
}
