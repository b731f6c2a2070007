package prepare

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestStoreDisconnectsOnRefusalOfItsOwnTokenOnly(t *testing.T) {
	t.Parallel()
	for token, connected := range map[platform.Token]bool{"theirs": false, "replaced": true} {
		a := billingtest.Sent(time.Minute, time.Minute)
		env, b := billingtest.Open(nil, a)
		b.Store.Token = "theirs"
		asked := b.Store
		asked.Token = token
		s := &Service{Env: env}
		billingtest.Must(t, s.settle(t.Context(), asked, []prepared{{Order: Order{Attempt: a}, err: platform.ErrDisconnected}}))
		if b.Store.Connected != connected || (len(b.Entries) == 0) != connected {
			t.Errorf("with a token that is %s: connected %t, want %t", token, b.Store.Connected, connected)
		}
	}
}
