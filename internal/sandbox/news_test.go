package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

// What a merchant writes to many customers reaches each of them once, through a restart.
func TestWhatMerchantWritesReachesEachCustomerOnce(t *testing.T) {
	t.Parallel()
	o := Options{DataDir: t.TempDir(), MainOnly: true, Contracts: 12}
	b := start(t, o)
	var of []contract.ID
	var to []string
	for _, c := range b.Manifest().Customers[:5] {
		for _, id := range c.Contracts {
			of = append(of, contract.ID(id))
		}
		to = append(to, c.Email)
	}
	write := bulk.Action{Kind: bulk.SendNews, News: notify.News{Subject: "A new tea", Text: "It is here.\n\nCome and see."}}
	chosen, service := bulk.Selection{IDs: of}, b.front.running().Bulk
	shown, err := service.Preview(t.Context(), b.store().ID, chosen, write, activity.Operator)
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.Start(t.Context(), b.store().ID, bulk.Request{
		Action: write, Selection: chosen, Previewed: shown.Fingerprint, Typed: shown.Total, Key: "one", By: activity.Operator,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = start(t, o)
	b.advance("P1D")
	var mails []message
	b.direct("GET", "/mail?kind=store_news", "", &mails)
	var got []string
	for _, m := range mails {
		got = append(got, m.To)
		if m.Subject != "A new tea" || !strings.Contains(m.Text, "Come and see.") {
			t.Errorf("%s got %q:\n%s", m.To, m.Subject, m.Text)
		}
	}
	slices.Sort(got)
	slices.Sort(to)
	if !slices.Equal(got, slices.Compact(to)) {
		t.Errorf("it reached %q, want %q", got, to)
	}
}
