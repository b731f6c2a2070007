package letters

import (
	"context"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// member is a loyalty member without a contract. What messages report holds or does not.
type member struct {
	notice loyalty.Notice
	holds  bool
}

func (m member) Notice(context.Context, shop.Shop, notify.Message) (loyalty.Notice, bool, error) {
	return m.notice, m.holds, nil
}

// only is the one store.
type only struct{}

func (only) Shop(context.Context, shop.ID) (shop.Shop, error) { return hostile, nil }

// german is the language of every customer.
type german struct{}

func (german) Language(context.Context, shop.ID, int64) (string, error) { return "de", nil }

// published is the template of a store.
type published struct{ mailtemplate.Template }

func (p published) Live(context.Context, shop.ID) ([]mailtemplate.Template, error) {
	return []mailtemplate.Template{p.Template}, nil
}

func TestMemberWithoutContractIsWrittenTo(t *testing.T) {
	t.Parallel()
	w := writer(t)
	w.Shops, w.Languages = only{}, german{}
	v, err := w.Visits.Visit(t.Context(), hostile, shop.Subscriptions, 901, "de")
	if err != nil {
		t.Fatal(err)
	}
	ada := *sampleNotice(v, notify.RewardIssued)
	ada.Person = loyalty.Person{Customer: 901, Email: "ada@shopper.example", FirstName: "Ada"}
	message := notify.Message{ID: 7, Kind: notify.RewardIssued, To: "ada@shopper.example", Customer: 901, Facts: notify.Facts{Points: &notify.Points{Reward: 1}}}
	write := func(m member) notify.Letter {
		t.Helper()
		w.Points = m
		l, err := w.Write(t.Context(), hostile.ID, []notify.Message{message})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := write(member{ada, true})
	lint(t, "a reward", "de", l)
	for _, part := range []string{"Hallo Ada,", ada.Reward.Code, "/rewards", "Gültig bis"} {
		if !strings.Contains(l.Text, part) {
			t.Errorf("%q is missing in %s", part, l.Text)
		}
	}
	if l.Unsubscribe != "https://subs.example/u/reward_issued" {
		t.Errorf("it ends by %q", l.Unsubscribe)
	}
	if l := write(member{ada, false}); l.LeftOut[7] != notify.NoLongerTrue || l.Text != "" {
		t.Errorf("what holds no longer is written: %+v", l)
	}
	w.Templates = published{mailtemplate.Template{
		Key: mailtemplate.Key{Kind: notify.RewardIssued, Language: "de"},
		Fields: mailtemplate.Fields{
			Subject: "{{ loyalty.code }} for {{ customer.first_name }}", Body: "<p>{{ loyalty.reward }}, {{ loyalty.balance }}, [{{ subscription.name }}]</p>{{ letter.button }}",
		},
	}}
	if l := write(member{ada, true}); l.Subject != ada.Reward.Code+" for Ada" || !strings.Contains(l.Text, ada.Reward.Description+", 640 Points, []") || !strings.Contains(l.Text, "/rewards") {
		t.Errorf("in the store's words: %s\n%s", l.Subject, l.Text)
	}
}
