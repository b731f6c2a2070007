package deliver_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

// report returns a webhook of Mailgun that a key has signed at an instant.
func report(key string, at time.Time, event string) []byte {
	timestamp, token := strconv.FormatInt(at.Unix(), 10), "d4c2e3"
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(timestamp + token))
	return fmt.Appendf(nil, `{"signature":{"timestamp":%q,"token":%q,"signature":%q},"event-data":%s}`, timestamp, token, hex.EncodeToString(mac.Sum(nil)), event)
}

func TestReportsOfMailgun(t *testing.T) {
	t.Parallel()
	const key = "key-1"
	m := deliver.Mailgun{Key: key, Clock: clock.NewManual(noon)}
	event := func(kind, severity, status string) string {
		return `{"event":"` + kind + `","severity":"` + severity + `","recipient":"bob@shopper.example","message":{"headers":{"message-id":"0123456789abcdef@service.example"}},"delivery-status":` + status + `}`
	}
	returned := func(reason notify.SuppressionReason, text string) *notify.Return {
		return &notify.Return{MailID: "0123456789abcdef", To: "bob@shopper.example", Reason: reason, Text: text, Source: "Mailgun"}
	}
	for name, row := range map[string]struct {
		body []byte
		want *notify.Return
		kind fault.Kind
	}{
		"no mailbox":            {body: report(key, noon, event("failed", "permanent", `{"code":550,"enhanced-code":"5.1.1","message":"no such user"}`)), want: returned(notify.HardBounce, "no such user")},
		"a hard bounce":         {body: report(key, noon, event("failed", "permanent", `{"code":605,"bounce-type":"hard","description":"Not delivering to previously bounced address"}`)), want: returned(notify.HardBounce, "Not delivering to previously bounced address")},
		"550 alone":             {body: report(key, noon, event("failed", "permanent", `{"code":550}`)), want: returned(notify.HardBounce, "550 ")},
		"refused as spam":       {body: report(key, noon, event("failed", "permanent", `{"code":550,"enhanced-code":"5.7.1","message":"spam"}`)), want: returned("", "spam")},
		"put off":               {body: report(key, noon, event("failed", "temporary", `{"code":450}`))},
		"a complaint":           {body: report(key, noon, event("complained", "", `{}`)), want: returned(notify.Complaint, "0 ")},
		"delivered":             {body: report(key, noon, event("delivered", "", `{"code":250}`))},
		"signed by another key": {body: report("key-2", noon, event("complained", "", `{}`)), kind: fault.Unauthenticated},
		"signed two days ago":   {body: report(key, noon.AddDate(0, 0, -2), event("complained", "", `{}`)), kind: fault.Unauthenticated},
		"not signed":            {body: []byte(`{"event-data":` + event("complained", "", `{}`) + `}`), kind: fault.Unauthenticated},
		"no JSON":               {body: []byte(`event=complained`), kind: fault.Invalid},
		"no message":            {body: report(key, noon, `{"event":"complained","recipient":"bob@shopper.example"}`), kind: fault.Invalid},
	} {
		got, err := m.Read(row.body)
		if (err == nil) != (row.kind == 0) || err != nil && !fault.Is(err, row.kind) {
			t.Errorf("%s: %v", name, err)
		}
		if (got == nil) != (row.want == nil) || got != nil && *got != *row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}
