package shopify

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// attemptJSON is a billing attempt with the given id, state and other fields.
func attemptJSON(id, state, more string) string {
	return `{"id":"gid://shopify/SubscriptionBillingAttempt/` + id + `","idempotencyKey":"key ` + id + `","createdAt":"2026-01-31T12:00:00Z","completedAt":null,"state":` + state + more + `}`
}

const (
	pendingJSON   = `{"__typename":"SubscriptionBillingAttemptPendingState"}`
	orderJSON     = `{"id":"gid://shopify/Order/77","name":"#1077","totalPriceSet":{"presentmentMoney":{"amount":"10.0","currencyCode":"EUR"}}}`
	successJSON   = `{"__typename":"SubscriptionBillingAttemptSuccessState","order":` + orderJSON + `}`
	challengeJSON = `{"__typename":"SubscriptionBillingAttemptActionRequiredState","action":{"__typename":"SubscriptionBillingAttemptPaymentChallenge","nextActionUrl":"https://bank.example/3ds"}}`
	newStateJSON  = `{"__typename":"SubscriptionBillingAttemptNewState"}`
)

func failedJSON(kind, field, value string) string {
	return `{"__typename":"SubscriptionBillingAttemptFailedState","error":{"__typename":"SubscriptionBillingAttempt` + kind + `","` + field + `":"` + value + `"}}`
}

func TestReadBillingAttempt(t *testing.T) {
	t.Parallel()
	order := platform.OrderRef{ID: 77, Name: "#1077"}
	ten := money.Amount{Minor: 1000, Currency: "EUR"}
	rows := []struct {
		name        string
		state, more string
		want        platform.Attempt
	}{
		{"a pending one", pendingJSON, ``, platform.Attempt{State: platform.Pending}},
		{"a successful one has its order and the order's amount", successJSON, ``, platform.Attempt{State: platform.Succeeded, Order: order, Amount: ten}},
		{"the order may be in the older field", `{"__typename":"SubscriptionBillingAttemptSuccessState","order":null}`, `,"order":` + orderJSON, platform.Attempt{State: platform.Succeeded, Order: order, Amount: ten}},
		{"an order that the token may not read leaves a success", `{"__typename":"SubscriptionBillingAttemptSuccessState","order":null}`, ``, platform.Attempt{State: platform.Succeeded}},
		{"a challenged one says where the customer must go", challengeJSON, ``, platform.Attempt{State: platform.Challenged, NextActionURL: "https://bank.example/3ds"}},
		{"a payment's error has its code", failedJSON("PaymentError", "paymentCode", "INSUFFICIENT_FUNDS"), `,"errorMessage":"No money"`, platform.Attempt{State: platform.Failed, ErrorCode: "INSUFFICIENT_FUNDS", ErrorMessage: "No money"}},
		{"a code in lower case becomes upper case", failedJSON("GeneralError", "generalCode", "contract_paused"), ``, platform.Attempt{State: platform.Failed, ErrorCode: "CONTRACT_PAUSED"}},
		{"an inventory error has its code", failedJSON("InventoryError", "inventoryCode", "INSUFFICIENT_INVENTORY"), ``, platform.Attempt{State: platform.Failed, ErrorCode: "INSUFFICIENT_INVENTORY"}},
		{"an unexpected error has the code of the older field and its own message", failedJSON("UnexpectedError", "message", "Oops"), `,"errorCode":"unexpected_error"`, platform.Attempt{State: platform.Failed, ErrorCode: "UNEXPECTED_ERROR", ErrorMessage: "Oops"}},
		{"an invoice that was paid already stays a failure", failedJSON("GeneralError", "generalCode", "INVOICE_ALREADY_PAID"), ``, platform.Attempt{State: platform.Failed, ErrorCode: "INVOICE_ALREADY_PAID"}},
		{"a state that we do not know is a failure when there is an error code", newStateJSON, `,"ready":true,"errorCode":"EXPIRED_CARD"`, platform.Attempt{State: platform.Failed, ErrorCode: "EXPIRED_CARD"}},
		{"a state that we do not know is a success when there is an order", newStateJSON, `,"ready":true,"order":` + orderJSON, platform.Attempt{State: platform.Succeeded, Order: order, Amount: ten}},
		{"a state that we do not know is a challenge when there is somewhere to go", newStateJSON, `,"nextActionUrl":"https://bank.example"`, platform.Attempt{State: platform.Challenged, NextActionURL: "https://bank.example"}},
		{"a state that we do not know is pending otherwise", newStateJSON, `,"ready":false`, platform.Attempt{State: platform.Pending}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, _ := scripted(t, `{"data":{"charge0":{"subscriptionBillingAttempt":`+attemptJSON("5", row.state, row.more)+`,"userErrors":[]}}}`)
			got, err := c.Charge(t.Context(), demo, []platform.Charge{{CycleRef: platform.CycleRef{Contract: 9001, Index: 2}, Key: "key 5"}})
			if err != nil {
				t.Fatal(err)
			}
			row.want.ID, row.want.Contract, row.want.Key, row.want.CreatedAt = "gid://shopify/SubscriptionBillingAttempt/5", 9001, "key 5", at("2026-01-31T12:00:00Z")
			if d := cmp.Diff([]platform.ChargeAnswer{{Attempt: &row.want}}, got); d != "" {
				t.Errorf("answers differ (- want, + got):\n%s", d)
			}
		})
	}
}

func TestResultOfEachChargeInBatch(t *testing.T) {
	t.Parallel()
	const good = `"charge0":{"subscriptionBillingAttempt":{"id":"gid://shopify/SubscriptionBillingAttempt/5","state":` + pendingJSON + `},"userErrors":[]}`
	rows := []struct {
		name    string
		second  string // the rest of the answer
		refused string // the code with which the second charge is refused
		unknown bool
	}{
		{"a user error refuses the one charge", `,"charge1":{"subscriptionBillingAttempt":null,"userErrors":[{"code":"BILLING_CYCLE_SKIPPED","field":["x","y"],"message":"no"}]}}}`, "BILLING_CYCLE_SKIPPED", false},
		{"an unknown contract refuses the one charge", `,"charge1":null},"errors":[{"message":"Invalid id","path":["charge1"],"extensions":{"code":"RESOURCE_NOT_FOUND"}}]}`, "RESOURCE_NOT_FOUND", false},
		{"a missing scope refuses the one charge", `,"charge1":null},"errors":[{"message":"no","path":["charge1"],"extensions":{"code":"ACCESS_DENIED"}}]}`, "ACCESS_DENIED", false},
		{"an internal error leaves all of them unknown", `,"charge1":null},"errors":[{"message":"?","path":["charge1"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}`, "", true},
		{"an error of another charge explains nothing", `,"charge1":null},"errors":[{"message":"Invalid id","path":["charge0"],"extensions":{"code":"RESOURCE_NOT_FOUND"}}]}`, "", true},
		{"a charge that is not answered leaves all of them unknown", `}}`, "", true},
		{"neither an attempt nor an error leaves all of them unknown", `,"charge1":{"subscriptionBillingAttempt":null,"userErrors":[]}}}`, "", true},
		{"an order that cannot be read leaves all of them unknown", `,"charge1":{"subscriptionBillingAttempt":` + strings.Replace(attemptJSON("6", successJSON, ""), "Order/77", "Basket/77", 1) + `,"userErrors":[]}}}`, "", true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, _ := scripted(t, `{"data":{`+good+row.second)
			got, err := c.Charge(t.Context(), demo, make([]platform.Charge, 2))
			if row.unknown {
				if !errors.Is(err, platform.ErrUnknown) || got != nil {
					t.Errorf("got %v, %v; want ErrUnknown alone", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Attempt == nil || got[0].Refused != nil {
				t.Errorf("the first charge: %+v", got[0])
			}
			if got[1].Attempt != nil || got[1].Refused == nil || got[1].Refused.Code != row.refused {
				t.Errorf("the second charge: %+v, want a refusal with %s", got[1], row.refused)
			}
		})
	}
}

func TestChargeNamesItsCycleOnly(t *testing.T) {
	t.Parallel()
	c, s := scripted(t, `{"data":{}}`)
	_, _ = c.Charge(t.Context(), demo, []platform.Charge{
		{CycleRef: platform.CycleRef{Contract: 9001, Index: 3}, Key: "k1"},
		{CycleRef: platform.CycleRef{Contract: 9002, Index: 4}, Key: "k2"},
	})
	want := `{"contract0":"gid://shopify/SubscriptionContract/9001","charge0":{"billingCycleSelector":{"index":3},"idempotencyKey":"k1"},` +
		`"contract1":"gid://shopify/SubscriptionContract/9002","charge1":{"billingCycleSelector":{"index":4},"idempotencyKey":"k2"}}`
	if s.variables[0] != want {
		t.Errorf("variables\n%s\nwant\n%s", s.variables[0], want)
	}
}

func TestOversizeBatchIsErrorAndEmptyIsNoRequest(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t)
	if _, err := c.Charge(t.Context(), demo, make([]platform.Charge, platform.MaxCharges+1)); err == nil {
		t.Error("26 charges were no error")
	}
	if _, err := c.CycleStates(t.Context(), demo, make([]platform.CycleRef, platform.MaxCharges+1)); err == nil {
		t.Error("26 questions were no error")
	}
	if _, err := c.Attempts(t.Context(), demo, make([]string, platform.MaxIDs+1)); err == nil {
		t.Error("51 attempts were no error")
	}
	if got, err := c.Charge(t.Context(), demo, nil); got != nil || err != nil {
		t.Errorf("no charges: %v, %v", got, err)
	}
	if got, err := c.CycleStates(t.Context(), demo, nil); got != nil || err != nil {
		t.Errorf("no questions: %v, %v", got, err)
	}
	if got, err := c.Attempts(t.Context(), demo, []string{"", "gid://shopify/Order/1", "x"}); got != nil || err != nil {
		t.Errorf("no ids of attempts: %v, %v", got, err)
	}
}

func cycleJSON(index, status, attempts, more string) string {
	return `{"cycleIndex":` + index + `,"cycleStartAt":"2026-01-01T00:00:01Z","cycleEndAt":"2026-02-01T00:00:00Z","billingAttemptExpectedDate":"2026-01-31T12:00:00Z","status":"` + status +
		`","skipped":true,"edited":true,"billingAttempts":{"nodes":[` + attempts + `],"pageInfo":{"hasNextPage":` + more + `,"endCursor":"c"}}}`
}

func TestCycleStateSeparatesItsAttemptsFromLatest(t *testing.T) {
	t.Parallel()
	five, six, seven, eight := attemptJSON("5", pendingJSON, ``), attemptJSON("6", successJSON, ``), attemptJSON("7", pendingJSON, ``), attemptJSON("8", pendingJSON, ``)
	rows := []struct {
		name     string
		answers  []string
		missing  bool
		attempts string
	}{
		{"those of the cycle and the contract's latest",
			[]string{`{"data":{"cycle0":` + cycleJSON("2", "BILLED", six+","+five, "false") + `,"contract0":{"billingAttempts":{"nodes":[` + seven + `,` + six + `],"pageInfo":{"hasNextPage":true}}}}}`}, false, "6 5 | 7 6"},
		{"a cycle with more than a page is read to the end",
			[]string{`{"data":{"cycle0":` + cycleJSON("2", "BILLED", six, "true") + `,"contract0":null}}`,
				`{"data":{"subscriptionBillingCycle":{"billingAttempts":{"nodes":[` + seven + `],"pageInfo":{"hasNextPage":true,"endCursor":"d"}}}}}`,
				`{"data":{"subscriptionBillingCycle":{"billingAttempts":{"nodes":[` + eight + `],"pageInfo":{"hasNextPage":false}}}}}`}, false, "6 7 8 |"},
		{"a cycle that is null is missing, and the contract's attempts are there",
			[]string{`{"data":{"cycle0":null,"contract0":{"billingAttempts":{"nodes":[` + seven + `]}}}}`}, true, "| 7"},
		{"a cycle that is not found is missing",
			[]string{`{"data":{"cycle0":null,"contract0":null},"errors":[{"message":"?","path":["cycle0"],"extensions":{"code":"RESOURCE_NOT_FOUND"}}]}`}, true, "|"},
		{"a cycle that is out of range is missing",
			[]string{`{"data":{"cycle0":null,"contract0":null},"errors":[{"message":"?","path":["cycle0"],"extensions":{"code":"CYCLE_INDEX_OUT_OF_RANGE"}}]}`}, true, "|"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, _ := scripted(t, row.answers...)
			got, err := c.CycleStates(t.Context(), demo, []platform.CycleRef{{Contract: 9001, Index: 2}})
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			list := func(attempts []platform.Attempt) {
				for _, a := range attempts {
					ids = append(ids, strings.TrimPrefix(a.ID, "gid://shopify/SubscriptionBillingAttempt/"))
					if a.Contract != 9001 {
						t.Errorf("attempt %s is of contract %d", a.ID, a.Contract)
					}
				}
			}
			list(got[0].Attempts)
			ids = append(ids, "|")
			list(got[0].Recent)
			if strings.Join(ids, " ") != row.attempts {
				t.Errorf("attempts %v, want %s", ids, row.attempts)
			}
			if got[0].Missing != row.missing || got[0].Contract != 9001 || got[0].Index != 2 {
				t.Errorf("state %+v", got[0])
			}
			want := platform.Cycle{}
			if !row.missing {
				want = platform.Cycle{Index: 2, Start: at("2026-01-01T00:00:01Z"), End: at("2026-02-01T00:00:00Z"), Expected: at("2026-01-31T12:00:00Z"), Billed: true, Skipped: true, Edited: true}
			}
			if got[0].Cycle != want {
				t.Errorf("cycle %+v, want %+v", got[0].Cycle, want)
			}
		})
	}
}

func TestFailedQueryIsNotMissingCycle(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{"data":{"cycle0":null,"contract0":null},"errors":[{"message":"?","path":["cycle0"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}`,
		`{"data":{"contract0":null}}`,
	} {
		c, _ := scripted(t, answer)
		if got, err := c.CycleStates(t.Context(), demo, make([]platform.CycleRef, 1)); !errors.Is(err, platform.ErrUnknown) {
			t.Errorf("%s: got %v, %v; want ErrUnknown", answer, got, err)
		}
	}
}

func TestRefusedCycleEditThatAlreadyHoldsIsSuccess(t *testing.T) {
	t.Parallel()
	const refusedSkip = `{"data":{"subscriptionBillingCycleSkip":{"userErrors":[{"code":"INVALID","message":"already"}]}}}`
	const refusedUnskip = `{"data":{"subscriptionBillingCycleUnskip":{"userErrors":[{"code":"INVALID","message":"already"}]}}}`
	const refusedMove = `{"data":{"subscriptionBillingCycleScheduleEdit":{"userErrors":[{"code":"OUT_OF_BOUNDS","message":"no"}]}}}`
	cycles := func(skipped string) string {
		return `{"data":{"subscriptionBillingCycles":{"nodes":[{"cycleIndex":2,"skipped":` + skipped + `,"billingAttemptExpectedDate":"2026-01-31T12:00:00Z"}],"pageInfo":{"hasNextPage":false}}}}`
	}
	rows := []struct {
		name    string
		call    func(*Client) error
		answers []string
		code    string
	}{
		{"a skip of a skipped cycle", skip(t), []string{refusedSkip, cycles("true")}, ""},
		{"a skip of another cycle is refused", skip(t), []string{refusedSkip, cycles("false")}, "INVALID"},
		{"an unskip of a cycle that is not skipped", unskip(t), []string{refusedUnskip, cycles("false")}, ""},
		{"an unskip of another cycle is refused", unskip(t), []string{refusedUnskip, cycles("true")}, "INVALID"},
		{"a move to where the cycle is", move(t, at("2026-01-31T12:00:00.5Z")), []string{refusedMove, cycles("false")}, ""},
		{"a move to somewhere else is refused", move(t, at("2026-02-01T12:00:00Z")), []string{refusedMove, cycles("false")}, "OUT_OF_BOUNDS"},
		{"a refusal stands when the cycle cannot be read", skip(t), []string{refusedSkip, `{}`}, "INVALID"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, _ := scripted(t, row.answers...)
			err := row.call(c)
			if row.code == "" && err != nil || row.code != "" && !isRefusal(err, row.code) {
				t.Errorf("got %v, want %q", err, row.code)
			}
		})
	}
}

func skip(t *testing.T) func(*Client) error {
	return func(c *Client) error { return c.SkipCycle(t.Context(), demo, 9001, 2) }
}

func unskip(t *testing.T) func(*Client) error {
	return func(c *Client) error { return c.UnskipCycle(t.Context(), demo, 9001, 2) }
}

func move(t *testing.T, to time.Time) func(*Client) error {
	return func(c *Client) error { return c.MoveCycle(t.Context(), demo, 9001, 2, to) }
}
