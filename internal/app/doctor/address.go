package doctor

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// requestID is the header that the service repeats in its answers.
const requestID = "X-Request-Id"

// certificateSoon is how long before its end a certificate should have been renewed.
const certificateSoon = 14 * 24 * time.Hour

// address checks that the public address leads here, over TLS with a certificate that
// others accept.
func address(ctx context.Context, c *checkup) Finding {
	const forward = "have the proxy in front forward this host to PERENNIAL_LISTEN, with the path and the headers unchanged"
	public := c.Settings.PublicURL
	if public == "" {
		return failed("set PERENNIAL_PUBLIC_URL to the address at which the platform reaches the service", "no public address is set: the platform delivers no webhooks, and no sign-in links can be made")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(public, "/")+"/webhooks", http.NoBody)
	if err != nil {
		return failed("correct PERENNIAL_PUBLIC_URL", "%v", err)
	}
	id := "doctor-" + rand.Text()
	req.Header.Set(requestID, id)
	res, err := c.web.Do(req)
	if err != nil {
		return unreached(public, err)
	}
	_ = res.Body.Close()
	switch {
	case res.Header.Get(requestID) != id || res.StatusCode != http.StatusMethodNotAllowed:
		return failed(forward, "%s/webhooks answers %d, and not as this service does", public, res.StatusCode)
	case res.TLS == nil:
		return failed("put a server that ends TLS in front, and begin PERENNIAL_PUBLIC_URL with https://: the platform delivers to nothing else", "%s is served without TLS", public)
	}
	left := res.TLS.PeerCertificates[0].NotAfter.Sub(c.Clock.Now())
	if left < certificateSoon {
		return warning("renew the certificate, and see why that was not done automatically", "the certificate of %s ends in %s", public, left.Round(time.Hour))
	}
	return ok("%s leads here; its certificate is good for %d days", public, int(left.Hours()/24))
}

// unreached is the finding of an address that does not answer.
func unreached(public string, err error) Finding {
	host := public
	if u, bad := url.Parse(public); bad == nil {
		host = u.Host
	}
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	if unknown || invalid || other {
		return failed("give the server in front a certificate of a public authority for "+host+", with the whole chain", "%v", err)
	}
	return failed("check the DNS entry of "+host+", the firewall and the server in front; if this machine cannot reach its own public address, run perennial doctor elsewhere", "%v", err)
}
