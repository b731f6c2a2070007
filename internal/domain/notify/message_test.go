package notify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var noon = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

func draft(change ...func(*Message)) Message {
	m := Message{
		Kind: ManagementLink, To: "ada@shopper.example", FromName: "demo", Content: Content{"Your link", "open it", "<p>open it"}, Contract: 42,
		Actor: activity.System, DedupeKey: "key",
	}
	for _, f := range change {
		f(&m)
	}
	return m
}

func TestNewMessageIsDueImmediately(t *testing.T) {
	t.Parallel()
	m, err := New(draft(), noon)
	if err != nil || m.Status != Queued || !m.DueAt.Equal(noon) || !m.CreatedAt.Equal(noon) {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestNewRejectsInvalidMessage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Message)
		want   fault.Kind
	}{
		"of an unknown kind": {func(m *Message) { m.Kind = "postcard" }, fault.Internal},
		"without a key":      {func(m *Message) { m.DedupeKey = "" }, fault.Internal},
		"without recipient":  {func(m *Message) { m.To = "" }, fault.Invalid},
	} {
		if _, err := New(draft(test.change), noon); !fault.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, valid := range map[string]bool{
		"ada@shopper.example":                     true,
		"Ada.Lovelace+box@Shopper.Example":        true,
		"älva@shopper.example":                    true,
		"":                                        false,
		"ada":                                     false,
		"ada@":                                    false,
		"@shopper.example":                        false,
		"Ada <ada@shopper.example>":               false,
		"<ada@shopper.example>":                   false,
		"ada@shopper.example, bob@x.example":      false,
		"ada@shopper.example\r\nBcc: x@y.z":       false,
		"ada@shopper.example\n":                   false,
		" ada@shopper.example":                    false,
		"\"a\r\nb\"@shopper.example":              false,
		strings.Repeat("a", 250) + "@x.example":   false,
		"ada@shopper.example\x00":                 false,
		"ada@shopper.example (Ada, the countess)": false,
	} {
		if err := CheckAddress("email", address); (err == nil) != valid || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestHeaderValuesAreOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Your link":                             "Your link",
		"Your link\r\nBcc: evil@x.example":      "Your link Bcc: evil@x.example",
		"a\nb\rc\x00d\u2028e\u0085f\tg":         "a b c d e f g",
		"  Café Müller  ":                       "Café Müller",
		"\r\n\r\n<script>alert(1)</script>\r\n": "<script>alert(1)</script>",
	} {
		m, err := New(draft(func(m *Message) { m.Subject, m.FromName = in, in }), noon)
		if err != nil || m.Subject != want || m.FromName != want {
			t.Errorf("%q became %q and %q, %v", in, m.Subject, m.FromName, err)
		}
	}
}

func TestMessageSettle(t *testing.T) {
	t.Parallel()
	away := errors.New("connection refused")
	for _, tt := range []struct {
		name    string
		tries   int // that failed before
		failure error
		status  Status
		due     time.Duration // 0: never
		entry   activity.Status
	}{
		{"a message that was taken is sent", 0, nil, Sent, 0, activity.Success},
		{"after the first failure it waits a minute", 0, away, Queued, time.Minute, ""},
		{"after the second five", 1, away, Queued, 5 * time.Minute, ""},
		{"after the third half an hour", 2, away, Queued, 30 * time.Minute, ""},
		{"after the fourth two hours", 3, away, Queued, 2 * time.Hour, ""},
		{"after the fifth it has failed", 4, away, Failed, 0, activity.Failure},
		{"the last try may succeed", 4, nil, Sent, 0, activity.Success},
		{"a message that the server rejects is not tried again", 0, fmt.Errorf("%w: no such user", ErrRejected), Failed, 0, activity.Failure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := draft(func(m *Message) { m.Status, m.DueAt, m.Tries = Sending, noon.Add(time.Minute), tt.tries })
			if err := m.settle(tt.failure, DefaultPolicy(), noon); err != nil {
				t.Fatal(err)
			}
			var due time.Time
			if tt.due != 0 {
				due = noon.Add(tt.due)
			}
			if m.Status != tt.status || !m.DueAt.Equal(due) {
				t.Errorf("%s, due %s; want %s, due %s", m.Status, m.DueAt, tt.status, due)
			}
			if forgotten := m.Text == "" && m.HTML == ""; forgotten != (tt.entry != "") {
				t.Errorf("the words of what opens something are %q", m.Text)
			}
			switch e := m.entry(7, noon); {
			case tt.entry == "" && e != nil:
				t.Errorf("entry %+v of what has not ended", e)
			case tt.entry != "" && (e == nil || e.Status != tt.entry || e.Event != activity.SendSubscriptionManagementLink || e.EntityID != 42):
				t.Errorf("entry %+v", e)
			}
		})
	}
}

func TestFinalMessageStaysFinal(t *testing.T) {
	t.Parallel()
	for _, status := range []Status{Sent, Failed, Suppressed} {
		m := draft(func(m *Message) { m.Status = status })
		if err := m.move(Sending); !fault.Is(err, fault.Internal) {
			t.Errorf("%s: %v", status, err)
		}
	}
}

func TestSuppressReason(t *testing.T) {
	t.Parallel()
	off := shop.Settings{DisabledMails: []Kind{ManagementLink}}
	for _, tt := range []struct {
		name     string
		change   func(*Message)
		settings shop.Settings
		needless bool
	}{
		{"an ordinary one is needed", func(*Message) {}, shop.Settings{}, false},
		{"one that holds longer is", func(m *Message) { m.ExpiresAt = noon.Add(1) }, shop.Settings{}, false},
		{"one that has expired is not", func(m *Message) { m.ExpiresAt = noon }, shop.Settings{}, true},
		{"one of a kind that is switched off is not", func(*Message) {}, off, true},
		{"one of another kind is", func(m *Message) { m.Kind = Paused }, off, false},
	} {
		if why, _ := (checker{shop: shop.Shop{Settings: tt.settings}, now: noon}).verdict(draft(tt.change)); (why != "") != tt.needless {
			t.Errorf("%s: %q", tt.name, why)
		}
	}
}

func TestEmailKeepsMessageID(t *testing.T) {
	t.Parallel()
	first := draft().email("demo.myshopify.com", Letter{}, noon)
	if again := draft(func(m *Message) { m.ID, m.Tries = 9, 3 }).email("demo.myshopify.com", Letter{}, noon.Add(time.Hour)); again.ID != first.ID {
		t.Errorf("%s, then %s", first.ID, again.ID)
	}
	if other := draft(func(m *Message) { m.DedupeKey = "other" }).email("demo.myshopify.com", Letter{}, noon); other.ID == first.ID {
		t.Error("two messages share an id")
	}
	if other := draft().email("other.myshopify.com", Letter{}, noon); other.ID == first.ID {
		t.Error("two stores' messages share an id")
	}
}

func TestEveryKindHasOwnEvent(t *testing.T) {
	t.Parallel()
	seen := map[activity.EventType]Kind{}
	for kind, trait := range traits {
		if (kind == Test || kind == FailureDigest) && trait.event == activity.Email || slices.Contains(MemberKinds, kind) && trait.event == activity.InformationalEvent { // about no contract
			continue
		}
		if other, taken := seen[trait.event]; taken || trait.event == "" {
			t.Errorf("%s has the event %q, which is that of %q", kind, trait.event, other)
		}
		seen[trait.event] = kind
	}
}

func TestReminderOfAnAbsenceThatHasEndedIsNotSent(t *testing.T) {
	t.Parallel()
	away := shop.Shop{Domain: "demo.myshopify.com", Guard: shop.Guard{Consent: shop.Consent{DisconnectedAt: noon}}}
	again, back := away, away
	again.Guard.DisconnectedAt, back.Connected = noon.Add(time.Hour), true
	reminder := draft(func(m *Message) { m.DedupeKey = lastCallKey(away) })
	for _, row := range []struct {
		name     string
		of       shop.Shop
		needless bool
	}{
		{"the app is still missing", away, false},
		{"it was installed again", back, true},
		{"and was removed once more", again, true},
	} {
		if why, _ := (checker{shop: row.of, now: noon.Add(2 * time.Hour)}).verdict(reminder); (why != "") != row.needless {
			t.Errorf("%s: %q", row.name, why)
		}
	}
}

func TestEverySwitchSwitchesItsKind(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		for _, sends := range []bool{true, false} {
			c := checker{now: noon}
			c.shop.Settings.SetSends(k, sends)
			if why, _ := c.verdict(Message{Kind: k, To: "ada@shopper.example"}); (why == Disabled) == sends {
				t.Errorf("%s, switched on %t: %q", k, sends, why)
			}
		}
	}
	for _, k := range SMSKinds {
		for _, sends := range []bool{true, false} {
			c := checker{now: noon}
			c.shop.SMS = true
			c.shop.Settings.SetSendsSMS(k, sends)
			if why, _ := c.verdict(Message{Kind: k, Channel: BySMS}); (why == SMSDisabled) == sends {
				t.Errorf("an SMS of %s, switched on %t: %q", k, sends, why)
			}
		}
	}
}
