package letters

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/sms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// TestEverySMSFitsInEveryLanguage writes the SMS of each month: names of months have letters that
// others lack.
func TestEverySMSFitsInEveryLanguage(t *testing.T) {
	t.Parallel()
	inEveryLanguage(t, func(t *testing.T, _ *Writer, v portal.Visit, language string) {
		check := func(name, text string, links int) {
			t.Helper()
			if found := leftover.FindString(text); found != "" || strings.Contains(text, "sms.") || strings.Count(text, "https://") != links || !strings.Contains(text, canary) {
				t.Errorf("%s: %s", name, text)
			}
			if n := sms.Segments(text); n == 0 || n > sms.Most {
				t.Errorf("%s: %d segments: %s", name, n, text)
			}
			if !sms.GSM(text) && language != "ja" {
				t.Errorf("%s: it has a letter that doubles its price: %s", name, text)
			}
		}
		for _, line := range []shop.Line{shop.Subscriptions, shop.Memberships} {
			v := v.About(line)
			for _, kind := range notify.SMSKinds {
				for month := range 12 {
					list, err := several(v, kind, kind)
					if err != nil {
						t.Fatal(err)
					}
					for i := range list {
						day := list[i].order.BillingDate.AddDate(0, month, month)
						list[i].order.BillingDate, list[i].sheet.Upcoming[0].BillingDate = day, day
					}
					check(string(kind), text(list[:1]).Text, 1)
					check("several of "+string(kind), text(list).Text, 1)
				}
			}
			m, err := sample(v, notify.SubscriptionCreated)
			if err != nil {
				t.Fatal(err)
			}
			m.sheet.Contract.Status = contract.Paused
			check("paused", text([]matter{m}).Text, 1)
		}
		for word, links := range map[optin.Word]int{optin.Stop: 0, optin.Start: 0, optin.Help: 1} {
			check(string(word), reply(v, word), links)
		}
	})
}
