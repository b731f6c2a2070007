package notify_test

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

func TestNewsComeOnceToEachCustomer(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, nil)
	news := func(id int64, of contract.ID, to contract.Customer) error {
		return p.SendNews(p.Context(), p.shop.ID, notify.Mailing{ID: id, Contract: of, Customer: to, News: notify.News{Subject: "A new tea", Text: "It is here."}, Actor: activity.Operator})
	}
	for _, one := range []struct {
		of contract.ID
		to contract.Customer
	}{{1, ada}, {2, ada}, {3, bob}, {3, bob}} {
		if err := news(7, one.of, one.to); err != nil {
			t.Fatal(err)
		}
	}
	p.pass(time.Minute)
	p.sends("ada: 1 store_news", "bob: 3 store_news")
	if err := news(8, 1, ada); err != nil {
		t.Fatal(err)
	}
	p.pass(time.Minute)
	p.sends("ada: 1 store_news")
	if err := news(8, 1, contract.Customer{ID: 9, Email: "nobody"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("to an address that is none: %v", err)
	}
}
