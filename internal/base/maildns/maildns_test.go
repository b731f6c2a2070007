package maildns_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/maildns"
)

// zone is what DNS knows. A name with a text "broken" does not answer, and one with "hanging" never does.
type zone map[string][]string

func (z zone) lookup(name string) ([]string, error) {
	list, known := z[name]
	switch {
	case !known:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	case list[0] == "broken":
		return nil, errors.New("server misbehaving")
	case list[0] == "hanging":
		time.Sleep(time.Hour) // it does not obey its context
	}
	return list, nil
}

func (z zone) LookupTXT(_ context.Context, name string) ([]string, error) { return z.lookup(name) }

func (z zone) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	hosts, err := z.lookup("MX " + name)
	var list []*net.MX
	for _, host := range hosts {
		list = append(list, &net.MX{Host: host, Pref: 10})
	}
	return list, err
}

func good() zone {
	return zone{
		"shop.example.": {"unrelated", "V=SPF1 include:mail.example -all"}, "_dmarc.shop.example.": {"v=DMARC1; p=none"},
		"mail._domainkey.shop.example.": {"v=DKIM1; k=rsa;", " p=MIIB"}, "MX shop.example.": {"mx.shop.example."},
	}
}

func TestChecksSayWhatToDo(t *testing.T) {
	t.Parallel()
	shop := maildns.SenderOf("subs@Shop.example", "mail")
	for name, row := range map[string]struct {
		check  int // in the order of All
		sender maildns.Sender
		change func(z zone)
		state  maildns.State
		says   string
	}{
		"SPF":                         {0, shop, nil, maildns.OK, "has an SPF record"},
		"no SPF record":               {0, shop, func(z zone) { delete(z, "shop.example.") }, maildns.Warning, "no SPF record"},
		"two SPF records":             {0, shop, func(z zone) { z["shop.example."] = []string{"v=spf1 -all", "v=spf1 mx -all"} }, maildns.Failed, "2 SPF records"},
		"SPF that lets everybody":     {0, shop, func(z zone) { z["shop.example."] = []string{"v=spf1 +all"} }, maildns.Warning, "every server"},
		"SPF that lets no server":     {0, shop, func(z zone) { z["shop.example."] = []string{"v=spf1 -all"} }, maildns.Failed, "no server"},
		"no answer about SPF":         {0, shop, func(z zone) { z["shop.example."] = []string{"broken"} }, maildns.NotChecked, "misbehaving"},
		"DKIM":                        {1, shop, nil, maildns.OK, "has a DKIM key"},
		"no DKIM key":                 {1, shop, func(z zone) { delete(z, "mail._domainkey.shop.example.") }, maildns.Failed, "mail._domainkey.shop.example has no DKIM key"},
		"a DKIM key that was revoked": {1, shop, func(z zone) { z["mail._domainkey.shop.example."] = []string{"v=DKIM1; p="} }, maildns.Failed, "revoked"},
		"no selector":                 {1, maildns.SenderOf("subs@shop.example", ""), nil, maildns.NotChecked, "PERENNIAL_MAIL_DKIM_SELECTOR"},
		"DMARC":                       {2, shop, nil, maildns.OK, "has a DMARC record"},
		"DMARC of the domain above":   {2, maildns.SenderOf("subs@mail.shop.example", "mail"), nil, maildns.OK, "shop.example has"},
		"no DMARC record":             {2, shop, func(z zone) { delete(z, "_dmarc.shop.example.") }, maildns.Warning, "_dmarc.shop.example"},
		"two DMARC records":           {2, shop, func(z zone) { z["_dmarc.shop.example."] = []string{"v=DMARC1; p=none", "v=DMARC1; p=reject"} }, maildns.Failed, "2 DMARC records"},
		"DMARC without a policy":      {2, shop, func(z zone) { z["_dmarc.shop.example."] = []string{"v=DMARC1; rua=mailto:x@shop.example"} }, maildns.Failed, "no policy"},
		"no answer about DMARC":       {2, shop, func(z zone) { z["_dmarc.shop.example."] = []string{"broken"} }, maildns.NotChecked, "misbehaving"},
		"MX":                          {3, shop, nil, maildns.OK, "takes e-mails"},
		"no MX record":                {3, shop, func(z zone) { delete(z, "MX shop.example.") }, maildns.Warning, "no MX record"},
		"MX that takes no e-mails":    {3, shop, func(z zone) { z["MX shop.example."] = []string{"."} }, maildns.Failed, "takes no e-mails"},
		"no answer about MX":          {3, shop, func(z zone) { z["MX shop.example."] = []string{"broken"} }, maildns.NotChecked, "misbehaving"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			z := good()
			if row.change != nil {
				row.change(z)
			}
			got := maildns.All(t.Context(), z, row.sender)[row.check]
			if got.State != row.state || !strings.Contains(got.Found+" → "+got.Do, row.says) {
				t.Errorf("%+v; want %s and %q", got, row.state, row.says)
			}
			if got.Type == "" || got.Name == "" || got.Value == "" || (got.Do == "") == (got.State == maildns.Failed || got.State == maildns.Warning) {
				t.Errorf("it does not say what to do: %+v", got)
			}
		})
	}
}

func TestResultsShowWhatThereIs(t *testing.T) {
	t.Parallel()
	list := maildns.All(t.Context(), good(), maildns.SenderOf("subs@shop.example", "mail"))
	for i, want := range []string{"SPF TXT shop.example V=SPF1 include:mail.example -all", "DKIM TXT mail._domainkey.shop.example v=DKIM1; k=rsa;|p=MIIB", "DMARC TXT _dmarc.shop.example v=DMARC1; p=none", "MX MX shop.example mx.shop.example"} {
		if r := list[i]; strings.Join([]string{r.Check, r.Type, r.Name, strings.Join(r.Is, "|")}, " ") != want {
			t.Errorf("%+v, want %s", r, want)
		}
	}
}

func TestChecksEndWithTheirContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		z := good()
		z["shop.example."] = []string{"hanging"}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		begun := time.Now()
		list := maildns.All(ctx, z, maildns.SenderOf("subs@shop.example", "mail"))
		if took := time.Since(begun); took != 4*time.Second {
			t.Errorf("the checks took %s", took)
		}
		if list[0].State != maildns.NotChecked || list[0].Name != "shop.example" || list[1].State != maildns.OK || list[3].State != maildns.OK {
			t.Errorf("found was %+v", list)
		}
		time.Sleep(time.Hour) // until the resolver has ended
	})
}
