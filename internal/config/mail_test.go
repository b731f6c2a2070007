package config

import (
	"strings"
	"testing"
	"time"
)

func TestMailSettings(t *testing.T) {
	t.Parallel()
	good := Mail{MailHost: "mail.example", MailPort: 587, MailFrom: "subs@service.example", MailTLS: "starttls", MailTimeout: time.Second}
	for name, test := range map[string]struct {
		change func(*Mail)
		want   string // part of the complaint; empty: none
	}{
		"a whole set":           {func(*Mail) {}, ""},
		"nothing at all":        {func(m *Mail) { *m = Mail{} }, ""},
		"no sender":             {func(m *Mail) { m.MailFrom = "" }, "PERENNIAL_MAIL_FROM"},
		"a sender with a name":  {func(m *Mail) { m.MailFrom = "Subs <subs@service.example>" }, "PERENNIAL_MAIL_FROM"},
		"a port beyond the end": {func(m *Mail) { m.MailPort = 65536 }, "port"},
		"no port":               {func(m *Mail) { m.MailPort = 0 }, "port"},
		"no patience":           {func(m *Mail) { m.MailTimeout = 0 }, "timeout"},
	} {
		m := good
		test.change(&m)
		err := m.check()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
