package shopify

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/platform"
)

// BenchmarkRenewal is what the client itself spends on asking for 25 cycles and
// charging for them, without a network: divide by 25 for one renewal.
func BenchmarkRenewal(b *testing.B) {
	var states, charges []string
	refs, asked := make([]platform.CycleRef, platform.MaxCharges), make([]platform.Charge, platform.MaxCharges)
	old := attemptJSON("5", successJSON, `,"ready":true,"errorCode":null,"errorMessage":null,"nextActionUrl":null,"order":`+orderJSON)
	for i := range refs {
		refs[i] = platform.CycleRef{Contract: int64(9001 + i), Index: 2}
		asked[i] = platform.Charge{CycleRef: refs[i], Key: fmt.Sprintf("0123456789abcdef0123456789abcde%d", i)}
		states = append(states, fmt.Sprintf(`"cycle%d":%s,"contract%d":{"billingAttempts":{"nodes":[%s],"pageInfo":{"hasNextPage":false,"endCursor":null}}}`, i, cycleJSON("2", "UNBILLED", "", "false"), i, old))
		charges = append(charges, fmt.Sprintf(`"charge%d":{"subscriptionBillingAttempt":%s,"userErrors":[]}`, i, attemptJSON("6", pendingJSON, `,"ready":false`)))
	}
	const tail = `},"extensions":{"cost":{"requestedQueryCost":10,"actualQueryCost":0,"throttleStatus":{"maximumAvailable":2000,"currentlyAvailable":2000,"restoreRate":100}}}}`
	stateBody, chargeBody := `{"data":{`+strings.Join(states, ",")+tail, `{"data":{`+strings.Join(charges, ",")+tail
	c := newClient(func(r *http.Request) (*http.Response, error) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(sent[:40], []byte("mutation")) {
			return answers(200, chargeBody)(r)
		}
		return answers(200, stateBody)(r)
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.CycleStates(b.Context(), demo, refs); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Charge(b.Context(), demo, asked); err != nil {
			b.Fatal(err)
		}
	}
}
